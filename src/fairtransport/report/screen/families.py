"""The screen of several audits: what became of them, a table with a verdict each, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.family_sections.family_finding import (
    evalue_text,
    family_title,
    intervals_sentence,
    multiplied_sentence,
    promise_sentence,
    worst_verdict,
)
from fairtransport.report.numbers import NONE, decimal, interval_text, people, short_pvalue
from fairtransport.report.screen.flagwords import in_flags
from fairtransport.report.screen.lines import line, print_note, terminal
from fairtransport.report.screen.results import COLOURS, framed

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from fairtransport.family import FamilySummary, Member


def print_family(summary: FamilySummary, title: str) -> None:
    """Print what several audits say together.

    Parameters
    ----------
    summary
        What the family says.
    title
        What stands in the frame.
    """
    from rich.console import Group

    colour = COLOURS[worst_verdict(summary)]
    said = [line((f"{family_title(summary)}.", f"bold {colour}")), line(promise_sentence(summary))]
    multiplied = multiplied_sentence(summary)
    if multiplied is not None:
        said += [line(""), line(multiplied)]
    terminal().print(framed(Group(*said), title, colour))
    terminal().print(_table(summary))
    terminal().print(line(intervals_sentence(summary)))
    for warning in summary.warnings:
        print_note(in_flags(warning))


def _table(summary: FamilySummary) -> Table:
    """Return the audits, a row each, as a terminal draws them.

    Parameters
    ----------
    summary
        The family. The column of evidence is there only where evidence was multiplied; names fold
        and verdicts never do, so that a narrow terminal still shows what was found.
    """
    from rich.table import Table

    table = Table()
    table.add_column("audit", overflow="fold")
    for name in ("people", "statistic", "interval", "δ", "p, adjusted"):
        table.add_column(name, justify="right")
    if summary.multiplied is not None:
        table.add_column("evidence", justify="right")
    table.add_column("verdict", no_wrap=True)
    for one in summary.members:
        table.add_row(*_cells(one, multiplied=summary.multiplied is not None))
    return table


def _cells(one: Member, *, multiplied: bool) -> list[Text]:
    """Return one audit's cells, the verdict in its colour.

    Parameters
    ----------
    one
        The audit.
    multiplied
        Whether there is a column for its evidence.
    """
    texts = [
        one.name, people(one.n), decimal(one.statistic), interval_text(one.lower, one.upper),
        NONE if one.delta is None else f"{one.delta:g}", short_pvalue(one.pvalue_adjusted),
    ]  # fmt: skip
    if multiplied:
        texts.append(NONE if one.evalue is None else evalue_text(one.evalue))
    colour = COLOURS[one.verdict]
    return [*map(line, texts), line((one.verdict or "untested", colour))]
