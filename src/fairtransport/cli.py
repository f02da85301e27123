"""The command line: arguments in, exit code out."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from fairtransport import __version__
from fairtransport.checks import choice
from fairtransport.console import (
    print_error,
    print_evidence,
    print_plan,
    print_result,
    print_table1,
    print_written,
)
from fairtransport.errors import FairtransportError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.audit import AuditResult

RAN, FAILED, WRONG_USAGE, REJECTED, NOT_CERTIFIED = 0, 1, 2, 3, 4
FAIL_ON = ("rejected", "not-certified", "never")


def _split_commas(_: Any, tokens: Sequence[Any]) -> tuple[str, ...]:
    return tuple(part.strip() for token in tokens for part in token.value.split(",") if part)


Names = Annotated[
    tuple[str, ...] | None, Parameter(converter=_split_commas, negative=(), n_tokens=1)
]
Text = Annotated[str | None, Parameter(negative=())]

app = App(
    name="fairtransport",
    help="Audit machine-learning models for individual bias.",
    version=__version__,
)


@app.command
def demo(*, seed: int = 0) -> int:
    """Audit a logistic regression on the embedded COMPAS counts.

    It is trained on 70 % of 5278 people; the other 30 % are the audit data.

    Parameters
    ----------
    seed
        Which random split to take.
    """
    from fairtransport.audit import audit as run
    from fairtransport.datasets.compas import DELTA, LABEL, LEVELS, SENSITIVE
    from fairtransport.reproduce.compas_study import logistic_regression, split_compas

    split = split_compas(seed)
    result = run(
        split.audit.drop(columns="high_risk"),
        LABEL,
        model=logistic_regression(split.training),
        sensitive_features=list(SENSITIVE),
        levels=LEVELS,
        delta=DELTA,
        rng=seed,
    )
    print_result(result, f"A logistic regression on COMPAS, audited with {result.n} people")
    return RAN


@app.command
def audit(
    data: Path,
    /,
    *,
    label: Text = None,
    sensitive: Names,
    prediction: Text = None,
    score: Names = None,
    features: Names = None,
    counts: Text = None,
    positive: Text = None,
    bins: Annotated[dict[str, str] | None, Parameter(negative=())] = None,
    missing: str = "error",
    similarity: str = "ignore-sensitive",
    loss: str = "zero-one",
    loss_range: Names = None,
    budget: float = 0.0,
    delta: float | None = None,
    alpha: float = 0.05,
    method: str = "finite-sample",
    resamples: int = 2000,
    seed: int | None = None,
    fail_on: str = "rejected",
    quiet: Annotated[bool, Parameter(negative=())] = False,
    debug: Annotated[bool, Parameter(negative=())] = False,  # noqa: ARG001
) -> int:
    """Audit the predictions in a file.

    Parameters
    ----------
    data
        A CSV, Parquet or JSON-lines file, one case a row.
    label
        The column of true labels.
    sensitive
        The sensitive columns, separated by commas.
    prediction
        The column of predicted labels or numbers.
    score
        The column of the positive label's scores, or one column a class.
    features
        The columns that describe a case; default: all but label, counts and predictions.
    counts
        A column of whole numbers: how many cases a row stands for.
    positive
        The positive label.
    bins
        Edges for a numeric column, as in --bins.age 25,45.
    missing
        "error", or "level": a missing value is a level of its own.
    similarity
        Who is comparable.
    loss
        zero-one, log, brier, absolute, squared or outcome.
    loss_range
        Lower and upper limit of a loss that has none of its own.
    budget
        How far people may be moved on average, as a squared distance.
    delta
        How much worse the model may do; there is a verdict only with it.
    alpha
        The level of bounds and tests.
    method
        finite-sample, m-out-of-n, numerical, subsampling, limit-law or efron.
    resamples
        The number of draws of the resampling methods.
    seed
        The seed of everything random; default: drawn and printed.
    fail_on
        When to exit with 3 or 4: "rejected", "not-certified" or "never".
    quiet
        Print nothing but errors.
    debug
        Show the traceback of an error.
    """
    from fairtransport.audit import audit as run

    choice("fail-on", fail_on, FAIL_ON)
    result = run(
        data,
        label,
        y_pred=prediction,
        y_score=None if score is None else list(score),
        sensitive_features=list(sensitive or ()),
        features=features,
        counts=counts,
        pos_label=_literal(positive),
        bins={
            name: _numbers(f"bins.{name}", edges.split(",")) for name, edges in (bins or {}).items()
        },
        missing=missing,
        similarity=similarity,
        loss=loss,
        loss_range=None if loss_range is None else _numbers("loss-range", loss_range),
        budget=budget,
        delta=delta,
        alpha=alpha,
        method=method,
        n_resamples=resamples,
        rng=seed,
    )
    if not quiet:
        print_result(result, f"{data.name}, {result.n} cases")
    return _exit_code(result, fail_on)


def _exit_code(result: AuditResult, fail_on: str) -> int:
    if fail_on == "never" or result.verdict is None:
        return RAN
    if result.verdict == "rejected":
        return REJECTED
    return NOT_CERTIFIED if fail_on == "not-certified" and result.verdict != "certified" else RAN


reproduce = App(name="reproduce", help="Remake the paper's table and figures.")
app.command(reproduce)


@reproduce.command
def figure1(*, output: Path = Path(), seed: int = 0) -> int:
    """Write Figure 1: the sampling law beside its limit and beside the bootstrap.

    Parameters
    ----------
    output
        The folder for figure1.png, figure1.svg and figure1.csv.
    seed
        The seed of the simulation.
    """
    from fairtransport.reproduce.figure1 import write_figure1

    print_written(write_figure1(output, seed))
    return RAN


@reproduce.command
def figure3(*, output: Path = Path(), seed: int = 0) -> int:
    """Write Figure 3: accuracy and FaiTH along the l1 path, and the chosen model.

    Parameters
    ----------
    output
        The folder for figure3.png, figure3.svg and figure3.csv.
    seed
        Which random split to take.
    """
    from fairtransport.reproduce.figure3 import write_figure3

    print_written(write_figure3(output, seed))
    return RAN


@reproduce.command
def figure4(*, output: Path = Path(), seed: int = 0) -> int:
    """Write Figure 4: the coefficients along the l1 path.

    Parameters
    ----------
    output
        The folder for figure4.png, figure4.svg and figure4.csv.
    seed
        Which random split to take.
    """
    from fairtransport.reproduce.figure4 import write_figure4

    print_written(write_figure4(output, seed))
    return RAN


@reproduce.command
def table1(
    *,
    splits: int = 50,
    output: Path = Path(),
    jobs: int | None = None,
    seed: int = 0,
    cache: Path | None = None,
) -> int:
    """Remake Table 1: five methods audited over random splits, the paper's figures beside ours.

    Parameters
    ----------
    splits
        The number of splits; 5 give a quick look.
    output
        The folder for table1.md, table1.csv and table1.json.
    jobs
        How many processes work at the same time; default: one a processor.
    seed
        The first split's seed.
    cache
        The folder that keeps finished splits, so that a run can be taken up again; default:
        table1-cache in the output folder.
    """
    from fairtransport.reproduce.table1 import table1 as run
    from fairtransport.reproduce.table1_files import write_table1

    found = run(
        splits,
        seed=seed,
        cache=output / "table1-cache" if cache is None else cache,
        jobs=os.cpu_count() or 1 if jobs is None else jobs,
    )
    print_table1(found)
    print_written(write_table1(found, output))
    return RAN


@app.command
def monitor(
    file: Path,
    /,
    *,
    state: Path,
    label: Text = None,
    sensitive: Names,
    prediction: Text = None,
    score: Names = None,
    features: Names = None,
    labels: Names = None,
    positive: Text = None,
    bins: dict[str, str] | None = None,
    missing: str = "error",
    similarity: str = "ignore-sensitive",
    loss: str = "zero-one",
    loss_range: Names = None,
    budget: float = 0.0,
    delta: float,
    alpha: float = 0.05,
    quiet: Annotated[bool, Parameter(negative=())] = False,
    debug: Annotated[bool, Parameter(negative=())] = False,  # noqa: ARG001
) -> int:
    """Take in what was added to a file of cases, and say where the evidence stands.

    Valid however often you look, and when you stop.

    Parameters
    ----------
    file
        A CSV, TSV or JSON-lines file that only grows, one case a line.
    state
        Where the evidence is kept from run to run.
    label
        The column of true labels.
    sensitive
        The sensitive columns, separated by commas.
    prediction
        The column of predicted labels or numbers.
    score
        The column of the positive label's scores, or one column a class.
    features
        The columns that describe a case; default: all but label and predictions.
    labels
        All labels that can occur, where scores are given.
    positive
        The positive label.
    bins
        Edges for a numeric column, as in --bins.age 25,45.
    missing
        "error", or "level": a missing value is a level of its own.
    similarity
        Who is comparable.
    loss
        zero-one, log, brier, absolute, squared or outcome.
    loss_range
        Lower and upper limit of a loss that has none of its own.
    budget
        How far people may be moved on average, as a squared distance.
    delta
        The largest bias that counts as fair.
    alpha
        The error probability over all time.
    quiet
        Print nothing but errors.
    debug
        Show the traceback of an error.
    """
    from fairtransport.monitor.following import follow

    found = follow(
        file,
        state,
        y=label,
        y_pred=prediction,
        y_score=None if score is None else list(score),
        sensitive_features=list(sensitive or ()),
        features=features,
        labels=None if labels is None else [_literal(one) for one in labels],
        pos_label=_literal(positive),
        bins={
            name: _numbers(f"bins.{name}", edges.split(",")) for name, edges in (bins or {}).items()
        },
        missing=missing,
        similarity=similarity,
        loss=loss,
        loss_range=None if loss_range is None else _numbers("loss-range", loss_range),
        budget=budget,
        delta=delta,
        alpha=alpha,
    )
    if not quiet:
        print_evidence(found, file.name)
    return REJECTED if found.state.verdict == "rejected" else RAN


@app.command(name="sample-size")
def sample_size(
    pilot: Path | None = None,
    /,
    *,
    value: float | None = None,
    delta: float,
    goal: str = "reject",
    alpha: float = 0.05,
    power: float = 0.8,
    label: Text = None,
    sensitive: Names = None,
    prediction: Text = None,
    features: Names = None,
    counts: Text = None,
    similarity: str = "ignore-sensitive",
    loss: str = "zero-one",
    budget: float = 0.0,
    method: str = "finite-sample",
    simulations: int = 200,
    resamples: int = 1000,
    seed: int = 0,
    plot: Annotated[Path | None, Parameter(negative=())] = None,
    debug: Annotated[bool, Parameter(negative=())] = False,  # noqa: ARG001
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
        "reject" or "certify".
    alpha
        The level of the audit's bounds.
    power
        The probability with which the goal is to be reached.
    label
        The pilot's column of true labels.
    sensitive
        The pilot's sensitive columns, separated by commas.
    prediction
        The pilot's column of predicted labels or numbers.
    features
        The pilot's columns that describe a case; default: all but label, counts and predictions.
    counts
        The pilot's column of whole numbers: how many cases a row stands for.
    similarity
        Who is comparable.
    loss
        zero-one, log, brier, absolute, squared or outcome.
    budget
        How far people may be moved on average, as a squared distance.
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
    debug
        Show the traceback of an error.
    """
    from fairtransport.inference import sample_size as plan_for
    from fairtransport.report.charts import check_ending, power_chart, power_table, save_chart

    if plot is not None:
        check_ending(plot)  # before a simulation that may take minutes
    if (pilot is None) == (value is None):
        got = "neither" if pilot is None else "both"
        msg = f"`PILOT` or `value` must be given, and not both, got {got}"
        raise InputError(msg)
    goals: dict[str, Any] = {"delta": delta, "goal": goal, "alpha": alpha, "power": power}
    notes: tuple[str, ...] = ()
    if pilot is None:
        plan = plan_for(value=value, **goals)
    else:
        from fairtransport.audit import audit as run

        result = run(
            pilot, label, y_pred=prediction, sensitive_features=list(sensitive or ()),
            features=features, counts=counts, similarity=similarity, loss=loss, budget=budget,
        )  # fmt: skip
        plan = plan_for(
            problem=result.problem, frequencies=result.space.frequencies, method=method,
            loss_range=result.loss.range, n_simulations=simulations, n_resamples=resamples,
            rng=seed, **goals,
        )  # fmt: skip
        notes = _pilot_notes(result, goal)
    print_plan(plan, notes)
    if plot is not None:
        chart = power_chart(power_table(plan), wanted=power, chosen=plan.n)
        print_written([save_chart(chart, plot)])
    return RAN


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    tokens = sys.argv[1:] if arguments is None else list(arguments)
    try:
        return int(app(tokens, result_action="return_value") or RAN)
    except FairtransportError as error:
        if "--debug" in tokens:
            raise
        print_error(str(error))
        return WRONG_USAGE if isinstance(error, InputError) else FAILED


def _literal(text: str | None) -> Any:
    """Read a label as a truth value or a number where it is one: files hold typed columns."""
    if text is not None and text.lower() in {"true", "false"}:
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return None if text is None else kind(text)
        except ValueError:
            continue
    return text


def _numbers(parameter: str, parts: Sequence[str]) -> list[float]:
    try:
        return [float(part) for part in parts]
    except ValueError:
        msg = f"`{parameter}` must be numbers separated by commas, got {','.join(parts)!r}"
        raise InputError(msg) from None


def _pilot_notes(result: AuditResult, goal: str) -> tuple[str, ...]:
    estimate = (
        f"The pilot's value {result.statistic:.4f} is itself an estimate, from {result.n} cases: "
        "the plan is for people like the pilot's."
    )
    if goal == "reject" or result.target_scope != "observed":
        return (estimate,)
    scope = (
        "Predictions alone certify nothing: the planned audit has to ask the model, or needs a "
        "reference frame."
    )
    return estimate, scope
