"""The report for a model card or a pull request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fairtransport.report.headings import TITLE, about_line, heading_of
from fairtransport.report.rendering import environment, render_sections
from fairtransport.report.sections import Output
from fairtransport.report.strings import visible
from fairtransport.summary import AuditSummary

if TYPE_CHECKING:
    from markupsafe import Markup

    from fairtransport.report.cells import Table
    from fairtransport.report.rendering import Document

MOST_MOVES = 10
_CODE = re.compile(r"`([\w.,= -]{1,80})`")
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#!|~$])")
# addresses, names of users, numbers of issues, hashes of commits and emoji, which become links
# or pictures by themselves; escaping does not stop that, for they are looked for in what is shown
_LIVE = re.compile(
    r"@(?=[\w-])|#(?=\d)|:(?=//|[\w+-]+:)|(?<![a-z0-9])www(?=\.)|\bgh(?=-\d)"
    r"|\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f](?=[0-9a-f]{6,39}\b)",
    re.IGNORECASE,
)
_JOINER = "&#8288;"
"""A character that has no width and no link goes across."""


def render_markdown(
    summary: Document, *, title: str | None = None, most_moves: int = MOST_MOVES
) -> str:
    """Return the report as Markdown (tables as on GitHub), the same bytes for the same summary.

    Parameters
    ----------
    summary
        What the audit says, or several audits together.
    title
        The heading; default: the audit's own.
    most_moves
        How many of the largest moves are shown.
    """
    made = environment(_safe, _with_code)
    made.globals["table"] = _table
    head = (heading_of(summary), about_line(summary)) if isinstance(summary, AuditSummary) else ()
    heading, *about = head or (TITLE,)
    said = [f"# {escape(visible(title or heading))}", *map(escape, filter(None, about))]
    for section, body in render_sections(made, summary, Output(html=False, most_moves=most_moves)):
        if body:
            said += [f"## {section.title}"] * bool(section.title) + [body]
    # no string of the data has a line break, so blank lines are those of the templates
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(said)).strip() + "\n"


def escape(text: str) -> str:
    r"""Return text that Markdown shows as it stands, in a table too.

    Parameters
    ----------
    text
        Perhaps of the data: no mark of it may become a link, a picture or a heading.

    Examples
    --------
    >>> escape("a|b <i>"), escape("https://a.org @me")
    ('a\\|b &lt;i&gt;', 'https:&#8288;//a.org @&#8288;me')
    """
    # what could be read as HTML becomes an entity, all other marks get a backslash
    broken = _LIVE.sub("\\g<0>\1", text.replace("\1", "").replace(">", "\0"))
    marked = _SPECIAL.sub(r"\\\1", broken)
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), ("\0", "&gt;"), ("\1", _JOINER)):
        marked = marked.replace(sign, entity)
    return marked


def prose(text: str) -> str:
    r"""Return escaped text in which plain words between backticks stay code.

    Parameters
    ----------
    text
        Of ours, with names of the data in it.

    Examples
    --------
    >>> prose("declare `levels` of a_b")
    'declare `levels` of a\\_b'
    """
    parts = _CODE.split(text)
    return "".join(f"`{part}`" if at % 2 else escape(part) for at, part in enumerate(parts))


def _safe(value: object) -> Markup:
    """Return any value as Markdown that shows it; what is Markdown already stays.

    Parameters
    ----------
    value
        What a template writes.
    """
    from markupsafe import Markup

    # the environment's own escaping, which is for HTML, leaves Markup alone
    return value if isinstance(value, Markup) else Markup(escape(str(value)))  # noqa: S704


def _with_code(text: str) -> Markup:
    """Return escaped text in which words between backticks are code, as safe to write."""
    from markupsafe import Markup

    return Markup(prose(text))  # noqa: S704


def _table(table: Table) -> Markup:
    """Return a table with its caption; nothing if it is empty.

    Parameters
    ----------
    table
        Cells are shown in their short form.
    """
    from markupsafe import Markup

    if not table.rows:
        return Markup()
    titles = (escape(column.title) for column in table.columns)
    rule = "|".join("---:" if column.numeric else "---" for column in table.columns)
    rows = (" | ".join(escape(cell.short) for cell in row) for row in table.rows)
    lines = [f"| {' | '.join(titles)} |", f"|{rule}|", *(f"| {row} |" for row in rows)]
    return Markup(f"**{escape(table.caption)}**\n\n" + "\n".join(lines))  # noqa: S704
