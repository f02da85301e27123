"""What the command line prints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairtransport.audit import AuditResult
    from fairtransport.inference import Interval, SamplePlan
    from fairtransport.monitor import Monitor
    from fairtransport.reproduce.table1 import Table1

SMALLEST_SHOWN = 0.0001
"""Smaller p-values are shown as smaller than this."""


def print_error(message: str) -> None:
    """Print one sentence about what went wrong."""
    from rich.console import Console
    from rich.text import Text as Line

    Console(stderr=True, soft_wrap=True).print(Line.assemble(("Error: ", "bold red"), message))


def _range(interval: Interval) -> str:
    upper = f"{interval.upper:.4f}" if math.isfinite(interval.upper) else "no upper bound"
    return f"{interval.lower:.4f} to {upper}"


def _verdict_line(result: AuditResult) -> str:
    delta, alpha = f"δ = {result.delta:g}", f"{result.alpha:.0%}"
    lower, upper = f"lower bound {result.lower_bound:.4f}", f"upper bound {result.upper_bound:.4f}"
    if result.verdict == "rejected":
        return f"δ-fairness rejected at level {alpha}: {delta}, {lower}, p {_small(result.pvalue)}."
    if result.verdict == "certified":
        return f"δ-fairness certified at level {alpha}: {delta}, {upper}."
    known = upper if math.isfinite(result.upper_bound) else "no upper bound"
    return f"Inconclusive at level {alpha}: {delta}, {lower}, {known}."


def _small(pvalue: float | None) -> str:
    return (
        f"= {pvalue:.2g}"
        if pvalue is not None and pvalue >= SMALLEST_SHOWN
        else f"< {SMALLEST_SHOWN}"
    )


def print_written(paths: Sequence[Path]) -> None:
    """Say which files were written."""
    from rich.console import Console

    for path in paths:
        Console(soft_wrap=True).print(f"Wrote {path}", markup=False, highlight=False)


def print_result(result: AuditResult, title: str) -> None:
    """Print the panel of an audit, what it means, its verdict and its notes."""
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
    lines.add_row("Interval", f"{_range(result.interval)} at level {1 - result.alpha:.0%}")
    lines.add_row("Method", f"{result.method}, seed {result.seed}; guarantee: {result.guarantee}")
    console = Console()
    console.print(Panel(lines, title=Line(title), title_align="left", expand=False))
    console.print(
        f"{what} would go from {share(result.baseline_risk)} to {share(result.worst_case_risk)} "
        "if people were swapped with similar people."
    )
    if result.delta is not None:
        console.print(_verdict_line(result), highlight=False)
    for warning in (*result.warnings, *result.law.notes):
        console.print(Line.assemble(("Note: ", "bold yellow"), warning))


def print_evidence(monitor: Monitor, title: str) -> None:
    """Print where the evidence of a stream stands."""
    from rich.console import Console
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text as Line

    state, settings = monitor.state, monitor.settings
    certificate = state.e_value_certificate
    upper = "" if state.upper is None else f" and at most {state.upper:.4f}"
    lines = Table.grid(padding=(0, 2))
    lines.add_row("FaiTH statistic", f"{state.statistic:.4f}")
    lines.add_row("At all times", f"at least {state.lower:.4f}{upper}")
    lines.add_row("Evidence of bias", f"{state.e_value:.4g}, enough at {1 / settings.alpha:g}")
    if certificate is not None:
        lines.add_row("Evidence of fairness", f"{certificate:.4g}")
    lines.add_row("Compared with", state.target_scope)
    console = Console()
    heading = Line(f"{title}, {state.n} cases")
    console.print(Panel(lines, title=heading, title_align="left", expand=False))
    when = "" if state.stopped_at is None else f", since case {state.stopped_at}"
    words = {
        "rejected": f"δ-fairness rejected at level {settings.alpha:g}",
        "certified": f"certified at level {settings.alpha:g}",
        "inconclusive": "inconclusive",
    }
    console.print(f"δ = {settings.delta:g}: {words[state.verdict]}{when}.")
    for warning in state.warnings:
        console.print(Line.assemble(("Note: ", "bold yellow"), warning))


def print_plan(plan: SamplePlan, notes: Sequence[str]) -> None:
    """Print how many cases an audit needs."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text as Line

    curve = plan.curve
    # a few sizes around the answer, which is one of them
    parts = (0.5, 0.75, 1, 1.25, 1.5)
    around = sorted({int(abs(curve.n - plan.n * part).argmin()) for part in parts})
    table = Table("n", "power", "", title_justify="left")
    for at in around:
        error = f" ± {curve.error[at]:.1%}" if curve.error[at] else ""
        mark = "planned" if curve.n[at] == plan.n else ""
        table.add_row(f"{curve.n[at]:,}", f"{curve.power[at]:.1%}{error}", mark)
    console = Console()
    console.print(Line(plan.words))
    console.print(table)
    for note in (*plan.notes, *notes):
        console.print(Line.assemble(("Note: ", "bold yellow"), note))


def print_table1(table: Table1) -> None:
    """Print Table 1, the paper's figures beside ours, and its notes."""
    from rich.console import Console
    from rich.table import Table

    from fairtransport.reproduce.table1_files import comparison, notes

    drawn = Table("Method", "Column", "Paper", "Ours", "Agrees", title="Table 1")
    for method, rows in comparison(table).items():
        for place, (column, paper, ours, agrees) in enumerate(rows):
            verdict = "yes" if agrees else "[bold red]no[/]"
            last = place == len(rows) - 1
            drawn.add_row("" if place else method, column, paper, ours, verdict, end_section=last)
    console = Console()
    console.print(drawn)
    for note in notes(table):
        console.print(note, markup=False, highlight=False)
