"""The screen of an audit: verdict first, then who is affected, then notes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fairtransport.console.flagwords import in_flags
from fairtransport.console.screen import line, print_note, screen

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.panel import Panel
    from rich.table import Table

    from fairtransport.audit import AuditResult
    from fairtransport.inference import Interval

SMALLEST_SHOWN = 0.0001
"""Smaller p-values are shown as smaller than this."""
MOST_MOVES = 10
"""Rows of the moves table; a report has all of them."""
COLOURS = {"rejected": "red", "certified": "green", "inconclusive": "yellow", None: "blue"}
"""The frame's colour; the words say the same."""


def print_result(result: AuditResult, title: str) -> None:
    """Print the verdict of an audit and its numbers, then moves and notes."""
    from rich.console import Group

    colour = COLOURS[result.verdict]
    head = [] if result.verdict is None else [line((_verdict(result), f"bold {colour}"))]
    content = Group(*head, line(_meaning(result)), line(""), _numbers(result))
    screen().print(framed(content, title, colour))
    print_moves(getattr(result, "moves", None))
    for warning in (*result.warnings, *result.law.notes):
        print_note(in_flags(warning))


def print_moves(moves: Any) -> None:
    """Print the first rows of the moves table, a data frame of any library."""
    if moves is None:
        return
    import narwhals as nw
    from rich.table import Table

    frame = nw.from_native(moves, eager_only=True)
    if not len(frame):
        return
    table = Table(title=line("Who would be swapped with whom"), title_justify="left")
    for name in frame.columns:
        is_number = frame[name].dtype.is_numeric()
        table.add_column(line(name), justify="right" if is_number else "left", overflow="fold")
    for row in frame.head(MOST_MOVES).iter_rows():
        table.add_row(*(line(_cell(value)) for value in row))
    hidden = len(frame) - MOST_MOVES
    if hidden > 0:
        table.caption = line(f"and {hidden} more")
    screen().print(table)


def _numbers(result: AuditResult) -> Table:
    observed = int(result.space.observed.sum())
    rows = {
        "FaiTH statistic": f"{result.statistic:.4f}",
        "Points": f"{result.points} distinct, {observed} of them observed",
        "Questions asked": f"{result.queried}" if result.queried else "none (predictions only)",
        "Compared with": result.target_scope,
        "Budget": f"{result.problem.budget:g}, price {result.price:g}",
        "Interval": f"{_range(result.interval)} at level {1 - result.alpha:.0%}",
        "Method": f"{result.method}, seed {result.seed}; guarantee: {result.guarantee}",
    }
    return two_columns(rows)


def framed(content: RenderableType, title: str, colour: str) -> Panel:
    """Return content in a frame as wide as it needs, its title cut if that is wider."""
    from rich.panel import Panel

    heading = line(title, short=True)
    return Panel(content, title=heading, title_align="left", border_style=colour, expand=False)


def two_columns(rows: dict[str, str]) -> Table:
    """Return names and what they are, side by side; only the second column is folded."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(line(name), line(value))
    return table


def _meaning(result: AuditResult) -> str:
    is_share = result.loss.name == "zero-one"
    share = "{:.1%}".format if is_share else "{:.4f}".format
    what = "Errors" if is_share else f"The mean {result.loss.name} loss"
    return (
        f"{what} would go from {share(result.baseline_risk)} to {share(result.worst_case_risk)} "
        "if people were swapped with similar people."
    )


def _verdict(result: AuditResult) -> str:
    delta, alpha = f"δ = {result.delta:g}", f"{result.alpha:.0%}"
    lower, upper = f"lower bound {result.lower_bound:.4f}", f"upper bound {result.upper_bound:.4f}"
    if result.verdict == "rejected":
        return f"δ-fairness rejected at level {alpha}: {delta}, {lower}, p {_small(result.pvalue)}."
    if result.verdict == "certified":
        return f"δ-fairness certified at level {alpha}: {delta}, {upper}."
    known = upper if math.isfinite(result.upper_bound) else "no upper bound"
    return f"Inconclusive at level {alpha}: {delta}, {lower}, {known}."


def _range(interval: Interval) -> str:
    upper = f"{interval.upper:.4f}" if math.isfinite(interval.upper) else "no upper bound"
    return f"{interval.lower:.4f} to {upper}"


def _small(pvalue: float | None) -> str:
    is_shown = pvalue is not None and pvalue >= SMALLEST_SHOWN
    return f"= {pvalue:.2g}" if is_shown else f"< {SMALLEST_SHOWN}"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)
