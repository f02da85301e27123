"""What the command line prints."""

from fairtransport.console.evidence import print_evidence
from fairtransport.console.flagwords import in_flags
from fairtransport.console.plan import print_plan
from fairtransport.console.results import print_result
from fairtransport.console.screen import print_error, print_note, print_written, readable
from fairtransport.console.table1 import print_table1

__all__ = [
    "in_flags",
    "print_error",
    "print_evidence",
    "print_note",
    "print_plan",
    "print_result",
    "print_table1",
    "print_written",
    "readable",
]
