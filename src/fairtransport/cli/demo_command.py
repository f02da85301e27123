"""fairtransport demo: an audit to look at, on data that comes with the package."""

from __future__ import annotations

from pathlib import Path

from fairtransport.cli.argument_types import Seed, Switch
from fairtransport.cli.exits import RAN
from fairtransport.cli.outputs import check_report_ending, check_target, write_report


def demo(*, seed: Seed = 0, output: Path = Path("report.html"), quiet: Switch = False) -> int:
    """Audit a logistic regression on the embedded COMPAS counts.

    It is trained on 70 % of 5278 people; the other 30 % are the audit data.

    Parameters
    ----------
    seed
        Which random split to take.
    output
        Where the report goes: a file that ends in .html or .md.
    quiet
        Print nothing but errors.
    """
    from fairtransport.report.screen import print_result, print_written
    from fairtransport.reproduce.compas_study import audit_of_split

    check_report_ending("--output", output)
    check_target("--output", output)
    result = audit_of_split(seed)
    written = [write_report("--output", output, result)]
    if not quiet:
        print_result(result.headline, f"A logistic regression on COMPAS, {result.n} people")
        print_written(written)
    return RAN
