"""fairtransport sample-size: how many cases an audit needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fairtransport.cli.aside import stdout_aside
from fairtransport.cli.exits import RAN
from fairtransport.cli.flags import Answers, Cases, Comparison, MethodName, Running
from fairtransport.cli.naming import naming
from fairtransport.cli.outputs import check_target, real_path
from fairtransport.cli.values import Seed, Whole
from fairtransport.errors import InputError

if TYPE_CHECKING:
    from fairtransport.audit import AuditResult

CASES, ANSWERS, COMPARISON, RUNNING = Cases(), Answers(), Comparison(), Running()


def sample_size(
    pilot: Path | None = None,
    *,
    value: float | None = None,
    delta: float,
    goal: Literal["reject", "certify"] = "reject",
    alpha: float = 0.05,
    power: float = 0.8,
    cases: Cases = CASES,
    counts: str | None = None,
    targets: Path | None = None,
    answers: Answers = ANSWERS,
    comparison: Comparison = COMPARISON,
    method: MethodName = "finite-sample",
    simulations: Whole = 200,
    resamples: Whole = 1000,
    seed: Seed = 0,
    plot: Path | None = None,
    running: Running = RUNNING,
) -> int:
    """Tell how many cases an audit needs to reject δ-fairness, or to certify it.

    Parameters
    ----------
    pilot
        A file with a pilot's cases, as for audit; or give --value.
    value
        The true share of people who can be swapped into an error (no budget, 0-1 loss).
    delta
        The threshold of δ-fairness.
    goal
        Which verdict the audit is to reach.
    alpha
        The level of the audit's bounds.
    power
        The probability with which the goal is to be reached.
    counts
        A column of whole numbers: how many cases a row stands for.
    targets
        A file of people with whom the cases are compared, as the planned audit will have it.
    method
        The method of the planned audit.
    simulations
        How many audits to simulate at each size.
    resamples
        How many resamples each of them draws, for methods that resample.
    seed
        The seed of the simulation.
    plot
        A file for the power curve: .png or .svg.
    """
    from fairtransport.checks import number, whole
    from fairtransport.cli.before import check_before
    from fairtransport.inference import sample_size as plan_for
    from fairtransport.inference.paper.resampling import check_resamples_wanted
    from fairtransport.inference.planning.smallest_sample import MOST_SIMULATIONS
    from fairtransport.report.charts import check_ending

    with naming(**comparison.settings_flags), running.hushed():
        if plot is not None:
            # before a simulation that may take minutes
            check_ending(plot)
            check_target("--plot", plot, set() if pilot is None else {real_path(pilot)})
        if (pilot is None) == (value is None):
            got = "neither" if pilot is None else "both"
            msg = f"`PILOT` or `value` must be given, and not both, got {got}"
            raise InputError(msg)
        goals: dict[str, Any] = {"delta": delta, "goal": goal, "alpha": alpha, "power": power}
        notes = []
        if pilot is None:
            plan = plan_for(value=value, **goals)
        else:
            check_before(pilot, cases, answers, comparison, delta=delta, alpha=alpha)
            number("power", power, above=0, below=1)
            whole("n_simulations", simulations, at_most=MOST_SIMULATIONS)
            check_resamples_wanted(resamples)
            with stdout_aside():
                result = _audit_pilot(pilot, cases, counts, targets, answers, comparison)
            plan = plan_for(
                pilot=result, method=method, n_simulations=simulations, n_resamples=resamples,
                rng=seed, **goals,
            )  # fmt: skip
            notes = [_pilot_note(result)]
        _show(plan, notes, plot, power, running)
    return RAN


def _show(plan: Any, notes: list[str], plot: Path | None, power: float, running: Running) -> None:
    from fairtransport.report.charts import power_chart, power_table, save_chart
    from fairtransport.report.screen import print_plan, print_written

    if not running.quiet:
        print_plan(plan, notes)
    if plot is not None:
        written = save_chart(power_chart(power_table(plan), wanted=power, chosen=plan.n), plot)
        if not running.quiet:
            print_written([written])


def _audit_pilot(
    pilot: Path, cases: Cases, counts: str | None, targets: Path | None, answers: Answers,
    comparison: Comparison,
) -> AuditResult:  # fmt: skip
    from fairtransport.audit import audit
    from fairtransport.cli.before import columns_of

    asked = answers.options()
    columns = columns_of(pilot, cases, answers, asked["model"], counts)
    return audit(
        pilot,
        cases.label,
        **cases.options(),
        **asked,
        **comparison.options(columns),
        counts=counts,
        targets=targets,
    )


def _pilot_note(result: AuditResult) -> str:
    return (
        f"The pilot's value {result.statistic:.4f} is itself an estimate, from {result.n} cases: "
        "the plan is for people like the pilot's."
    )
