"""The report for a model card or a pull request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fairtransport.report.rendering import environment, render_sections
from fairtransport.report.sections.section import Output
from fairtransport.report.text import subtitle, visible

if TYPE_CHECKING:
    from markupsafe import Markup

    from fairtransport._core.schema import Document
    from fairtransport.report.tables import Table

_CODE = re.compile(r"`([\w.,= -]{1,80})`")
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#!|~$])")
# addresses, user names, issue numbers, commit hashes and emoji become links or pictures
# automatically; escaping does not prevent it, as they are sought in the rendered text
_LIVE = re.compile(
    r"@(?=[\w-])|#(?=\d)|:(?=//|[\w+-]+:)|(?<![a-z0-9])www(?=\.)|\bgh(?=-\d)"
    r"|\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f](?=[0-9a-f]{6,39}\b)",
    re.IGNORECASE,
)
_JOINER = "&#8288;"
"""A zero-width character that breaks links."""


def render_markdown(document: Document, *, title: str | None, max_moves: int) -> str:
    """Return a report as Markdown (tables as on GitHub)."""
    templates = environment(_safe, _with_code)
    templates.globals["table"] = _table
    heading = visible(title or document.report_title)
    parts = [f"# {escape(heading)}", escape(subtitle(document))]
    output = Output(html=False, max_moves=max_moves)
    for section, body in render_sections(templates, document, output):
        if body:
            parts += [f"## {section.title}"] * bool(section.title) + [body]
    # no string of the data has a line break, so blank lines are those of the templates
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(filter(None, parts))).strip() + "\n"


def escape(text: str) -> str:
    r"""Return text that Markdown shows verbatim, also in a table."""
    # what could be read as HTML becomes an entity, all other marks get a backslash
    broken = _LIVE.sub("\\g<0>\1", text.replace("\1", "").replace(">", "\0"))
    escaped = _SPECIAL.sub(r"\\\1", broken)
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), ("\0", "&gt;"), ("\1", _JOINER)):
        escaped = escaped.replace(sign, entity)
    return escaped


def prose(text: str) -> str:
    r"""Return escaped text in which plain words between backticks stay code."""
    parts = _CODE.split(text)
    return "".join(f"`{part}`" if at % 2 else escape(part) for at, part in enumerate(parts))


def _safe(value: object) -> Markup:
    """Return any value as Markdown that shows it; Markdown unchanged."""
    from markupsafe import Markup

    # the environment's own escaping, which is for HTML, leaves Markup alone
    return value if isinstance(value, Markup) else Markup(escape(str(value)))  # noqa: S704


def _with_code(text: str) -> Markup:
    """Return escaped text in which words between backticks are code, as safe to write."""
    from markupsafe import Markup

    return Markup(prose(text))  # noqa: S704


def _table(table: Table) -> Markup:
    """Return a table with its caption; nothing if it is empty."""
    from markupsafe import Markup

    if not table.rows:
        return Markup()
    titles = (escape(column.title) for column in table.columns)
    rule = "|".join("---:" if column.numeric else "---" for column in table.columns)
    rows = (" | ".join(escape(cell.short) for cell in row) for row in table.rows)
    lines = [f"| {' | '.join(titles)} |", f"|{rule}|", *(f"| {row} |" for row in rows)]
    return Markup(f"**{escape(table.caption)}**\n\n" + "\n".join(lines))  # noqa: S704
