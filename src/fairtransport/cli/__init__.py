"""The command line: arguments in, exit code out."""

from fairtransport.cli.entry_point import main

__all__ = ["main"]
