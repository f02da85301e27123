"""The report for a model card or a pull request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fairtransport.report import reading, tables, words
from fairtransport.report.facts import facts
from fairtransport.report.text import (
    DOWN,
    UP,
    bound,
    decimal,
    interval_text,
    level,
    shorten,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtransport.report.cells import Table
    from fairtransport.summary import AuditSummary

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
        *_headline(summary),
        _figures(summary),
        *_who(summary, most_moves),
        "## How sure",
        words.guarantee_meaning(summary),
        words.NOT_SAID,
        *_table(tables.methods_table(summary)),
        "## What it depends on",
        "\n".join(f"- {sentence}" for sentence in words.delta_sentences(summary)),
        prose(words.budget_sentence(summary)),
        "## How it was done",
        "\n".join(f"- {name}: {prose(shorten(value, 400))}" for name, value in facts(summary)),
        words.caution(summary),
    ]
    notes = reading.notes(summary)
    if notes:
        parts += [
            "## What to keep in mind",
            "\n".join(f"- {prose(shorten(n, 600))}" for n in notes),
        ]
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    r"""Return text that Markdown shows as it stands, in a table too.

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

    Examples
    --------
    >>> prose("declare `levels` of a_b")
    'declare `levels` of a\\_b'
    """
    parts = _CODE.split(text)
    return "".join(f"`{part}`" if at % 2 else escape(part) for at, part in enumerate(parts))


def _headline(summary: AuditSummary) -> Iterator[str]:
    sentence = reading.disagreement_sentence(summary)
    if sentence is not None and reading.has_much_disagreement(summary):
        yield sentence


def _figures(summary: AuditSummary) -> str:
    delta = "none given" if summary.delta is None else decimal(summary.delta)
    rows = (
        ("FaiTH statistic", decimal(summary.statistic)),
        (
            f"Confidence interval, {level(1 - summary.alpha)}",
            interval_text(summary.interval.lower, summary.interval.upper),
        ),
        ("Lower bound, one-sided", bound(summary.lower_bound, DOWN)),
        ("Upper bound, one-sided", bound(summary.upper_bound, UP)),
        ("Threshold δ", delta),
        ("p-value", words.pvalue_words(summary)),
    )
    lines = [f"| {name} | {escape(value)} |" for name, value in rows]
    return "\n".join(["| | |", "|---|---|", *lines])


def _who(summary: AuditSummary, most_moves: int) -> Iterator[str]:
    yield "## Who is affected"
    yield f"{words.moved_sentence(summary)} {words.scope_meaning(summary)}"
    if not reading.has_much_disagreement(summary):
        yield from filter(None, [reading.disagreement_sentence(summary)])
    for say in (reading.ties_sentence, reading.fractions_sentence, reading.hidden_sentence):
        yield from filter(None, [say(summary)])
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
