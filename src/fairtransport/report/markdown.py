"""The report for a model card or a pull request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fairtransport.report import tables, words
from fairtransport.report.text import decimal, percent, pvalue, shorten, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtransport.report.tables import Table
    from fairtransport.summary import AuditSummary

MOST_MOVES = 10
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#!|~$])")


def render_markdown(
    summary: AuditSummary, *, title: str = "Audit for individual bias", most_moves: int = MOST_MOVES
) -> str:
    """Return the report as Markdown (tables as on GitHub), the same bytes for the same summary.

    Parameters
    ----------
    summary
        What the audit says.
    title
        The heading.
    most_moves
        How many of the largest moves are shown.
    """
    parts = [
        f"# {escape(visible(title))}",
        f"**{words.verdict_title(summary)}.** {escape(words.meaning(summary))}",
        words.verdict_sentence(summary),
        _figures(summary),
        *_who(summary, most_moves),
        "## How sure",
        words.guarantee_meaning(summary),
        words.NOT_SAID,
        *_table(tables.methods_table(summary)),
        "## What it depends on",
        "\n".join(f"- {sentence}" for sentence in words.delta_sentences(summary)),
        words.budget_sentence(summary),
        "## How it was done",
        "\n".join(
            f"- {name}: {escape(shorten(value, 400))}" for name, value in tables.facts(summary)
        ),
        words.CAUTION,
    ]
    notes = words.notes(summary)
    if notes:
        parts += [
            "## What to keep in mind",
            "\n".join(f"- {escape(shorten(n, 600))}" for n in notes),
        ]
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    r"""Return text that Markdown shows as it stands, in a table too.

    Examples
    --------
    >>> escape("a|b <i>")
    'a\\|b &lt;i&gt;'
    """
    # what could be read as HTML becomes an entity, all other marks get a backslash
    marked = _SPECIAL.sub(r"\\\1", text.replace(">", "\0"))
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), ("\0", "&gt;")):
        marked = marked.replace(sign, entity)
    return marked


def _figures(summary: AuditSummary) -> str:
    delta = "none given" if summary.delta is None else decimal(summary.delta)
    upper = "∞" if summary.interval.upper is None else decimal(summary.interval.upper)
    rows = (
        ("FaiTH statistic", decimal(summary.statistic)),
        (
            f"Confidence interval, {percent(1 - summary.alpha)}",
            f"{decimal(summary.interval.lower)} to {upper}",
        ),
        ("Lower bound, one-sided", decimal(summary.lower_bound)),
        ("Upper bound, one-sided", decimal(summary.upper_bound)),
        ("Threshold δ", delta),
        ("p-value", "none" if summary.pvalue is None else pvalue(summary.pvalue)),
    )
    lines = [f"| {name} | {escape(value)} |" for name, value in rows]
    return "\n".join(["| | |", "|---|---|", *lines])


def _who(summary: AuditSummary, most_moves: int) -> Iterator[str]:
    yield "## Who is affected"
    yield f"{words.moved_sentence(summary)} {words.scope_meaning(summary)}"
    for sentence in (words.disagreement_sentence(summary), words.ties_sentence(summary)):
        if sentence is not None:
            yield sentence
    yield from _table(tables.moves_table(summary, most_moves))
    left_out = len(summary.moves) - most_moves
    if left_out > 0:
        yield f"The JSON document has {left_out:,} more."
    yield from _table(tables.groups_table(summary))
    yield from _table(tables.metrics_table(summary))


def _table(table: Table) -> Iterator[str]:
    if not table.rows:
        return
    yield f"**{table.caption}**"
    head = "| " + " | ".join(column.title for column in table.columns) + " |"
    rule = "|" + "|".join("---:" if column.numeric else "---" for column in table.columns) + "|"
    rows = ["| " + " | ".join(escape(cell.short) for cell in row) + " |" for row in table.rows]
    yield "\n".join([head, rule, *rows])
