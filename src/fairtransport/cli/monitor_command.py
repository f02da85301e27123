"""fairtransport monitor: evidence about a file of cases that grows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fairtransport.cli.argument_types import Names, told
from fairtransport.cli.exits import FailOn, exit_code
from fairtransport.cli.flags import (
    Answers,
    Cases,
    Comparing,
    Keeping,
    Running,
    asked_before,
    columns_of,
)
from fairtransport.cli.outputs import check_target, real_path
from fairtransport.cli.stdout import stdout_aside
from fairtransport.cli.wording import naming
from fairtransport.literals import literal
from fairtransport.settings import MONITOR, AuditSettings

CASES, ANSWERS, COMPARISON, RUNNING = Cases(), Answers(), Comparing(), Running()
KEEPING = Keeping()


def monitor(
    data: Annotated[Path, told("X", MONITOR)],
    *,
    state: Path,
    delta: Annotated[float, told("delta", MONITOR)],
    alpha: Annotated[float, told("alpha", MONITOR)] = AuditSettings.alpha,
    cases: Cases = CASES,
    labels: Annotated[Names, told("labels", MONITOR)] = None,
    answers: Answers = ANSWERS,
    keeping: Keeping = KEEPING,
    comparison: Comparing = COMPARISON,
    fail_on: FailOn = "rejected",
    plot: Path | None = None,
    running: Running = RUNNING,
) -> int:
    """Take in what was added to a file of cases, and say where the evidence stands.

    Valid however often you look, and when you stop.

    Parameters
    ----------
    state
        Where the evidence is kept from run to run.
    fail_on
        When to exit with 3 or 4.
    plot
        A file for a picture of the evidence so far: .png or .svg.
    """
    from fairtransport.monitor.following import follow
    from fairtransport.monitor.growing import GrowingFile
    from fairtransport.monitor.stream_screen import print_evidence
    from fairtransport.report.charts import check_ending, save_chart
    from fairtransport.report.screen import print_written

    check_target("--state", state, {real_path(data)})
    if plot is not None:
        check_ending(plot)
        check_target("--plot", plot, {real_path(data), real_path(state)})
    with naming(path="--state", FILE="DATA"), running.hushed(), stdout_aside(), keeping.counted():
        GrowingFile(data)  # checks ending and existence
        asked_before(None, cases, answers, comparison, delta=delta, alpha=alpha)
        asked = answers.options()
        columns = columns_of(data, cases, answers, [asked["model"]])
        found, waiting = follow(
            data,
            state,
            y=cases.label,
            **cases.options(),
            **asked,
            **comparison.options(columns),
            labels=None if labels is None else [literal(one) for one in labels],
            delta=delta,
            alpha=alpha,
            query_log=keeping.query_log,
        )
    written = [] if plot is None else [save_chart(found.plot(), plot)]
    if not running.quiet:
        print_evidence(found, data.name, waiting)
        print_written(written)
    return exit_code(found.state.verdict, fail_on)
