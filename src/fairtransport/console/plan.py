"""The screen of a plan: how many cases an audit needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.console.flagwords import in_flags
from fairtransport.console.screen import line, print_note, screen
from fairtransport.report.text import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.inference import SamplePlan

AROUND = (0.5, 0.75, 1, 1.25, 1.5)
"""The sizes shown, as parts of the planned one."""


def print_plan(plan: SamplePlan, notes: Sequence[str]) -> None:
    """Print the plan's sentence, the power at sizes around it, and notes."""
    from rich.table import Table

    curve = plan.curve
    around = sorted({int(abs(curve.n - plan.n * part).argmin()) for part in AROUND})
    table = Table("n", "power", "")
    for at in around:
        error = f" ± {percent(curve.error[at])}" if curve.error[at] else ""
        mark = "planned" if curve.n[at] == plan.n else ""
        table.add_row(f"{curve.n[at]:,}", f"{percent(curve.power[at])}{error}", mark)
    screen().print(line(plan.words))
    screen().print(table)
    for note in (*plan.notes, *notes):
        print_note(in_flags(note))
