"""The command line: arguments in, exit code out."""

from fairtransport.cli.entry import main

__all__ = ["main"]
