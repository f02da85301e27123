"""Templates of the pages, which use the report's pieces and filters."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse

from fairtransport.report.html import html_environment
from fairtransport.report.strings import visible

if TYPE_CHECKING:
    from jinja2 import Environment

PLACE = Path(__file__).parent


@cache
def templates() -> Environment:
    """Return the templates' environment: escaping always, unknown names an error."""
    from jinja2 import ChoiceLoader, FileSystemLoader

    theirs = html_environment()
    assert theirs.loader is not None  # noqa: S101 - the report has templates
    loader = ChoiceLoader([FileSystemLoader(PLACE / "templates"), theirs.loader])
    made = theirs.overlay(loader=loader)
    made.filters["visible_lines"] = _visible_lines
    return made


def _visible_lines(text: str) -> str:
    """Return code whose hidden characters are spelled out, line by line."""
    return "\n".join(visible(line) for line in text.split("\n"))


def page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page."""
    return HTMLResponse(templates().get_template(f"{template}.html.j2").render(**values), status)


def static_file(name: str) -> tuple[str, str] | None:
    """Return a file that pages load, and its type; None for a name that is none of them."""
    if name == "app.css":
        return _style(), "text/css"
    if name == "app.js":
        return (PLACE / "static" / "app.js").read_text("utf-8"), "text/javascript"
    return None


@cache
def _style() -> str:
    """Return the report's style with that of the forms after it."""
    report = PLACE.parent / "report" / "templates" / "report.css"
    return report.read_text("utf-8") + (PLACE / "static" / "app.css").read_text("utf-8")
