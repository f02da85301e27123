"""fairtransport combine: earlier audits, put together."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from fairtransport.cli.argument_types import Switch, told
from fairtransport.cli.exits import RAN, REJECTED, FailOn, family_exit_code
from fairtransport.cli.outputs import Outputs, real_path
from fairtransport.cli.wording import naming
from fairtransport.errors import InputError
from fairtransport.progress import silence
from fairtransport.settings import AuditSettings


def combine(
    *files: Path,
    independent: Switch = False,
    alpha: Annotated[float, told("alpha")] = AuditSettings.alpha,
    fail_on: FailOn = "rejected",
    report: Path | None = None,
    json: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    quiet: Switch = False,
) -> int:
    """Put earlier audits together: verdicts that hold for all of them.

    Exit codes as for audit; 3 when δ-fairness is rejected in any of them, or by all together.

    Parameters
    ----------
    files
        The JSON documents of at least two audits.
    independent
        Say that the samples are independent: evidence about one and the same question is then
        multiplied.
    fail_on
        When to exit with 3, 4 or 5; never turns all of them off.
    report
        A file for the report: .html or .md.
    json
        A file for the result as JSON; "-" prints it instead of the screen.
    quiet
        Print nothing but errors.
    """
    from fairtransport.audit.combining import combine as put_together
    from fairtransport.audit.earlier import read_earlier
    from fairtransport.report.screen import print_written
    from fairtransport.report.screen.families import print_family

    outputs = Outputs(report=report, json=json)
    outputs.check(*files)
    with (
        naming(files="FILES", independent="--independent"),
        silence() if quiet else nullcontext(),
    ):
        _refuse_twice(files)
        stems = [path.stem for path in files]
        names = [
            path.stem if stems.count(path.stem) == 1 else str(path) for path in files
        ]  # fmt: skip
        earlier = [read_earlier(path, name) for path, name in zip(files, names, strict=True)]
        found = put_together(earlier, alpha=alpha, independent=independent)
        written = outputs.write_family(found)
    if not quiet and not outputs.fills_stdout:
        print_family(found, f"{len(files)} earlier audits")
        print_written(written)
    if found.multiplied is not None and found.multiplied.rejected and fail_on != "never":
        return REJECTED
    return family_exit_code((one.verdict for one in found.members), fail_on) or RAN


def _refuse_twice(files: tuple[Path, ...]) -> None:
    """Refuse a file that is named twice: it would be its own witness.

    Parameters
    ----------
    files
        Compared by where they lead, links followed.
    """
    seen = set()
    for path in files:
        if (real := real_path(path)) in seen:
            msg = f"`files` must be different files, got {str(path)!r} twice"
            raise InputError(msg)
        seen.add(real)
