"""The command line: arguments in, exit code out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from fairtransport import __version__
from fairtransport.errors import FairtransportError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.audit import AuditResult

RAN, FAILED, WRONG_USAGE = 0, 1, 2


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
    from fairtransport.datasets.compas import LABEL, SENSITIVE
    from fairtransport.reproduce.compas_study import logistic_regression, split_compas

    split = split_compas(seed)
    result = run(
        split.audit.drop(columns="high_risk"),
        LABEL,
        model=logistic_regression(split.training),
        sensitive_features=list(SENSITIVE),
    )
    _print_result(result, f"A logistic regression on COMPAS, audited with {result.n} people")
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
    quiet
        Print nothing but errors.
    debug
        Show the traceback of an error.
    """
    from fairtransport.audit import audit as run

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
    )
    if not quiet:
        _print_result(result, f"{data.name}, {result.n} cases")
    return RAN


reproduce = App(name="reproduce", help="Remake the paper's figures.")
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

    _print_written(write_figure1(output, seed))
    return RAN


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    tokens = sys.argv[1:] if arguments is None else list(arguments)
    try:
        return int(app(tokens, result_action="return_value") or RAN)
    except FairtransportError as error:
        if "--debug" in tokens:
            raise
        _print_error(str(error))
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


def _print_error(message: str) -> None:
    from rich.console import Console
    from rich.text import Text as Line

    Console(stderr=True, soft_wrap=True).print(Line.assemble(("Error: ", "bold red"), message))


def _print_written(paths: Sequence[Path]) -> None:
    from rich.console import Console

    for path in paths:
        Console(soft_wrap=True).print(f"Wrote {path}", markup=False, highlight=False)


def _print_result(result: AuditResult, title: str) -> None:
    from rich.console import Console
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text as Line

    share = "{:.1%}".format if result.loss.name == "zero-one" else "{:.4f}".format
    what = "Errors" if result.loss.name == "zero-one" else f"The mean {result.loss.name} loss"
    lines = Table.grid(padding=(0, 2))
    lines.add_row("FaiTH statistic", f"{result.statistic:.4f}")
    lines.add_row(
        "Points", f"{result.points} distinct, {int(result.space.observed.sum())} of them observed"
    )
    lines.add_row(
        "Questions asked", f"{result.queried}" if result.queried else "none (predictions only)"
    )
    lines.add_row("Compared with", result.target_scope)
    lines.add_row("Budget", f"{result.problem.budget:g}, price {result.price:g}")
    console = Console()
    console.print(Panel(lines, title=Line(title), title_align="left", expand=False))
    console.print(
        f"{what} would go from {share(result.baseline_risk)} to {share(result.worst_case_risk)} "
        "if people were swapped with similar people."
    )
    for warning in result.warnings:
        console.print(Line.assemble(("Note: ", "bold yellow"), warning))
