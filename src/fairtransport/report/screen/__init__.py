"""What the command line prints; nothing in the data can colour, move or hide any of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.lazy import lazily

if TYPE_CHECKING:
    from fairtransport.report.screen.flagwords import in_flags
    from fairtransport.report.screen.lines import print_error, print_note, print_written, readable
    from fairtransport.report.screen.results import print_plan, print_result

__all__ = [
    "in_flags",
    "print_error",
    "print_note",
    "print_plan",
    "print_result",
    "print_written",
    "readable",
]

_HOMES = {
    "in_flags": "report.screen.flagwords",
    "print_error": "report.screen.lines",
    "print_note": "report.screen.lines",
    "print_plan": "report.screen.results",
    "print_result": "report.screen.results",
    "print_written": "report.screen.lines",
    "readable": "report.screen.lines",
}

__getattr__ = lazily("fairtransport", _HOMES)
