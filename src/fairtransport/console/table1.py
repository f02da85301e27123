"""The screen of the paper's Table 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.console.screen import line, screen

if TYPE_CHECKING:
    from fairtransport.reproduce.table1 import Table1


def print_table1(table: Table1) -> None:
    """Print the paper's figures beside ours, and notes."""
    from rich.table import Table

    from fairtransport.reproduce.table1_files import comparison, notes

    drawn = Table("Method", "Column", "Paper", "Ours", "Agrees", title="Table 1")
    for method, rows in comparison(table).items():
        for place, (column, paper, ours, agrees) in enumerate(rows):
            verdict = line("yes") if agrees else line(("no", "bold red"))
            last = place == len(rows) - 1
            drawn.add_row("" if place else method, column, paper, ours, verdict, end_section=last)
    screen().print(drawn)
    for note in notes(table):
        screen().print(line(note))
