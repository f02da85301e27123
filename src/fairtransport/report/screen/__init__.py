"""What the command line prints; nothing in the data can colour, move or hide any of it."""

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
