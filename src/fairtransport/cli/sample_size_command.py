"""fairtransport sample-size: how many cases an audit needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fairtransport.cli.argument_types import MethodName, Seed, Whole, told
from fairtransport.cli.exits import RAN
from fairtransport.cli.flags import Answers, Cases, Comparing, Running, asked_before, audit_file
from fairtransport.cli.outputs import check_target, real_path
from fairtransport.cli.stdout import stdout_aside
from fairtransport.cli.wording import naming
from fairtransport.errors import InputError
from fairtransport.settings import AuditSettings, checked

if TYPE_CHECKING:
    from fairtransport.audit import AuditResult
    from fairtransport.inference.planning.smallest_sample import SamplePlan

CASES, ANSWERS, COMPARISON, RUNNING = Cases(), Answers(), Comparing(), Running()


def sample_size(
    pilot: Path | None = None,
    *,
    value: float | None = None,
    delta: float,
    goal: Literal["reject", "certify"] = "reject",
    alpha: float = AuditSettings.alpha,
    power: float = 0.8,
    cases: Cases = CASES,
    counts: Annotated[str | None, told("counts")] = None,
    targets: Path | None = None,
    answers: Answers = ANSWERS,
    comparison: Comparing = COMPARISON,
    method: MethodName = AuditSettings.method,
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
    from fairtransport.inference import sample_size as plan_for
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
        checked("alpha", alpha)
        notes = []
        if pilot is None:
            plan = plan_for(value=value, **goals)
        else:
            settings = asked_before(
                pilot, cases, answers, comparison, counts=counts, targets=targets, delta=delta,
                alpha=alpha, n_resamples=resamples,
            )  # fmt: skip
            number("power", power, above=0, below=1)
            whole("n_simulations", simulations, at_most=MOST_SIMULATIONS)
            # the goals are those of the audit to come, not of the pilot's
            settings = replace(
                settings,
                delta=None,
                alpha=AuditSettings.alpha,
                n_resamples=AuditSettings.n_resamples,
            )
            with stdout_aside():
                result = audit_file(pilot, settings, cases, answers, comparison)
            plan = plan_for(
                pilot=result, method=method, n_simulations=simulations, n_resamples=resamples,
                rng=seed, **goals,
            )  # fmt: skip
            notes = [_pilot_note(result)]
        _show(plan, notes, plot, power, running)
    return RAN


def _show(
    plan: SamplePlan, notes: list[str], plot: Path | None, power: float, running: Running
) -> None:
    """Print a plan and draw its power curve, as far as that was asked for."""
    from fairtransport.report.charts import power_chart, power_table, save_chart
    from fairtransport.report.screen import print_plan, print_written

    if not running.quiet:
        print_plan(plan, notes)
    if plot is not None:
        written = save_chart(power_chart(power_table(plan), wanted=power, chosen=plan.n), plot)
        if not running.quiet:
            print_written([written])


def _pilot_note(result: AuditResult) -> str:
    """Return that the pilot's value is an estimate itself."""
    return (
        f"The pilot's value {result.statistic:.4f} is itself an estimate, from {result.n} cases: "
        "the plan is for people like the pilot's."
    )
