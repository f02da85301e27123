"""The HTML report, one file without network or foreign code, and the fragment for notebooks."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from fairtransport.documents.audit import AuditSummary
from fairtransport.documents.family import FamilySummary
from fairtransport.documents.verdicts import VERDICTS
from fairtransport.report.bundle import javascript_bundle
from fairtransport.report.charts.intervals import family_document
from fairtransport.report.charts.specs import chart_specs
from fairtransport.report.rendering import entry_of, environment, render_sections
from fairtransport.report.sections import FRAGMENTS
from fairtransport.report.sections.section import Output
from fairtransport.report.text import subtitle, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jinja2 import Environment
    from markupsafe import Markup

    from fairtransport._core.schema import Document


HTML_MACROS = ("table", "chart", "fact_list", "glossary_list", "verdict_glyph")
"""Macros of ``pieces.html.j2`` that every template may call."""
_CODE = re.compile(r"`([^`]{1,80})`")


def render_html(document: Document, *, title: str | None = None) -> str:
    """Return a report as one HTML document.

    Scripts and styles are inline and allowed only by their hashes (Content-Security-Policy), so
    nothing in the data can run. Strings of the data are escaped in HTML and in the charts' JSON,
    and hidden characters are spelled out.
    """
    style, script, specs = style_sheet() + dark_style_sheet(), _part("report.js"), _charts(document)
    # the bundle is nearly a megabyte: pages without charts omit it
    scripts = [javascript_bundle(), script] if specs else [script]
    templates = html_environment()
    return templates.get_template("report.html.j2").render(
        title=visible(title or document.report_title),
        version=document.package_version,
        subtitle=subtitle(document),
        parts=render_sections(templates, document, Output(html=True, charts=specs)),
        charts_json=safe_json(specs),
        style=style,
        scripts=scripts,
        policy=_policy(style, scripts),
    )


def _charts(document: Document) -> dict[str, Any]:
    """Return the specifications of a report's charts, by the keys that sections use."""
    if isinstance(document, AuditSummary):
        return chart_specs(document)
    if isinstance(document, FamilySummary):
        return {"family": family_document(list(map(vars, document.members)))}
    return {}


def render_fragment(document: Document) -> str:
    """Return an HTML fragment without scripts, for light and dark notebooks."""
    fragment = entry_of(FRAGMENTS, document)(document)
    return html_environment().get_template("notebook.html.j2").render(f=fragment)


def html_environment() -> Environment:
    """Return the environment of HTML templates."""
    templates = environment(_keep_together, _with_code)
    pieces = vars(templates.get_template("pieces.html.j2").module)
    templates.globals |= {name: pieces[name] for name in HTML_MACROS}
    return templates


def _keep_together(value: object) -> object:
    """Return text without line breaks before percent signs; other values unchanged."""
    return re.sub(r"(?<=\d) %", "\u00a0%", value) if type(value) is str else value


def _with_code(text: str) -> Markup:
    """Return escaped text in which words between backticks are code."""
    from markupsafe import Markup, escape

    # the text is escaped first, so that nothing of it but the backticks becomes a tag
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(_keep_together(text)))))  # noqa: S704


def style_sheet() -> str:
    """Return the style of a page, with the colours of verdicts."""
    colours = ((row.css_class, row.page_colours) for row in VERDICTS.values())
    return _part("report.css") + _colour_rules(colours)


def dark_style_sheet() -> str:
    """Return the style of a report for readers who prefer dark pages."""
    colours = ((row.css_class, row.dark_colours) for row in VERDICTS.values())
    rules = _colour_rules(colours)
    return f"{_part('dark.css')}@media screen and (prefers-color-scheme: dark) {{\n{rules}}}\n"


def _colour_rules(colours: Iterable[tuple[str, tuple[str, str] | None]]) -> str:
    """Return the rules of accent and tint by class."""
    return "".join(
        f".{name} {{ --accent: {pair[0]}; --tint: {pair[1]}; }}\n" for name, pair in colours if pair
    )


def _part(name: str) -> str:
    """Return a file of the templates' folder as text."""
    from importlib.resources import files

    return files("fairtransport.report").joinpath("templates", name).read_text("utf-8")


def safe_json(value: Any) -> str:
    r"""Return JSON that cannot end a script element, for any strings in it."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    # inside a script element nothing of the data may end it, or begin a comment or an entity
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(style: str, scripts: list[str]) -> str:
    """Return the page's Content-Security-Policy, which allows only these scripts and this style."""
    allowed = " ".join(_source(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_source(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    """Return the source of a script or a style in a policy: its hash."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
