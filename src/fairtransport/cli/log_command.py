"""fairtransport log: what is in a query log."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from fairtransport.cli.exits import RAN
from fairtransport.cli.outputs import check_target, real_path
from fairtransport.cli.wording import naming

log = App(name="log", help="Show what is in a query log, or hand it over.")


@log.command
def show(file: Path) -> int:
    """Say whose answers are in a query log, and how many.

    Parameters
    ----------
    file
        The query log.
    """
    from fairtransport.access.log_export import contents
    from fairtransport.report.screen.logs import print_log

    with naming():
        print_log(contents(file), file.name)
    return RAN


@log.command
def export(file: Path, output: Path, *, identity: str | None = None) -> int:
    """Write the answers of a query log to a file that others can read.

    Parameters
    ----------
    file
        The query log.
    output
        A table (.csv), one answer a line (.jsonl), or another query log (.sqlite), from which an
        audit can be repeated without the model.
    identity
        Whose answers, by the identity that `log show` prints; default: all.
    """
    from fairtransport.access.log_export import export as write
    from fairtransport.report.screen import print_written

    with naming(identity="--identity"):
        check_target("OUTPUT", output, {real_path(file)})
        print_written([write(file, output, identity)])
    return RAN
