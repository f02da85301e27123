"""The screen of a comparison: the verdict on the last model, all models, all differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.comparison_sections.comparison_finding import (
    LIKE,
    applicability_sentence,
    certificate_sentence,
    comparison_title,
    difference_sentence,
    differences_table,
    intervals_sentence,
    models_table,
    risks_sentence,
)
from fairtransport.report.screen.flagwords import in_flags
from fairtransport.report.screen.lines import line, print_note, terminal
from fairtransport.report.screen.results import COLOURS, framed

if TYPE_CHECKING:
    from rich.table import Table as Drawn

    from fairtransport.comparison_summary import ComparisonSummary
    from fairtransport.report.cells import Table


LEAST_NAME = 6
"""Letters of a model's name on a line."""


def print_comparison(summary: ComparisonSummary, title: str) -> None:
    """Print the verdict on the last model, the tables and notes.

    Parameters
    ----------
    summary
        What the comparison says.
    title
        What stands in the frame.
    """
    from rich.console import Group

    colour = COLOURS[LIKE[summary.verdict]]
    empty = applicability_sentence(summary)
    said = Group(
        line((f"{comparison_title(summary)}.", f"bold {colour}")),
        *([] if empty is None else [line(in_flags(empty))]),
        line(difference_sentence(summary)),
        line(certificate_sentence(summary)),
        line(risks_sentence(summary)),
    )
    terminal().print(framed(said, title, colour))
    terminal().print(_drawn(models_table(summary)))
    terminal().print(_drawn(differences_table(summary)))
    terminal().print(line(intervals_sentence(summary)))
    for warning in summary.warnings:
        print_note(in_flags(warning))


def _drawn(table: Table) -> Drawn:
    """Return a table of a report as a terminal draws it.

    Parameters
    ----------
    table
        Its first two columns are names, which may be broken; numbers never are.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Rich

    # without lines between columns two intervals fit into eighty characters; names may be broken
    made = Rich(title=line(table.caption), title_justify="left", box=SIMPLE_HEAD)
    for at, column in enumerate(table.columns):
        made.add_column(
            line(column.title), justify="right" if column.numeric else "left", overflow="fold",
            no_wrap=at > 1, min_width=None if at > 1 else LEAST_NAME,
        )  # fmt: skip
    for row in table.rows:
        made.add_row(*(line(cell.short) for cell in row))
    return made
