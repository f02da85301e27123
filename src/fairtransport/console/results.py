"""The screen of an audit: verdict first, then who is affected, then notes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fairtransport.console.flagwords import in_flags
from fairtransport.console.screen import line, print_note, screen
from fairtransport.report.text import (
    DOWN,
    UP,
    bound,
    interval_text,
    level,
    pvalue,
    shorten,
)
from fairtransport.report.words import change_in_words

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.panel import Panel
    from rich.table import Table

    from fairtransport.audit import AuditResult
    from fairtransport.inference import Interval
    from fairtransport.localise.moves import Move

MOST_MOVES = 10
"""Rows of the moves table; a report has all of them."""
MOST_NAMES = 100
"""Characters of the list of features."""
COLOURS = {"rejected": "red", "certified": "green", "inconclusive": "yellow", None: "blue"}
"""The frame's colour; the words say the same."""


def print_result(result: AuditResult, title: str) -> None:
    """Print the verdict of an audit and its numbers, then moves and notes."""
    from rich.console import Group

    colour = COLOURS[result.verdict]
    head = [] if result.verdict is None else [line((_verdict(result), f"bold {colour}"))]
    content = Group(*head, line(_meaning(result)), line(""), _numbers(result))
    screen().print(framed(content, title, colour))
    print_moves(result)
    for warning in (*result.warnings, *result.law.notes):
        print_note(in_flags(warning))


def print_moves(result: AuditResult) -> None:
    """Print the largest moves: how many people, who they are, who they would have to be."""
    from rich.table import Table

    if not len(result.moved):
        return
    table = Table(title=line("Who would be swapped with whom"), title_justify="left")
    table.add_column("people", justify="right")
    for name in ("who", "would have to be", "label", "prediction"):
        table.add_column(name, overflow="fold")
    for move in result.largest_moves(MOST_MOVES):
        change = _change(move) + (" (or another)" if move.tied else "")
        said = f"{_cell(move.prediction)} → {_cell(move.prediction_after)}"
        cells = (f"{move.people:.6g}", _kept(move), change, _cell(move.label), said)
        table.add_row(*map(line, cells))
    hidden = len(result.moved) - MOST_MOVES
    if hidden > 0:
        table.caption = line(f"and {hidden} more")
    screen().print(table)


def _kept(move: Move) -> str:
    """Return what stays as it is, as in "age 30, charge F"."""
    kept = [(name, value) for name, value in move.from_profile.items() if name not in move.changed]
    return ", ".join(f"{name} {_cell(value)}" for name, value in kept)


def _change(move: Move) -> str:
    """Return what changes, as in "sex: Male → Female"; predictions alone may differ."""
    before, after = move.from_profile, move.to_profile
    parts = [f"{name}: {_cell(before[name])} → {_cell(after[name])}" for name in move.changed]
    return ", ".join(parts) or "the same profile"


def _numbers(result: AuditResult) -> Table:
    observed = int(result.space.observed.sum())
    rows = {
        "FaiTH statistic": f"{result.statistic:.4f}",
        **_split(result),
        "Features": shorten(", ".join(result.space.features), MOST_NAMES) or "none",
        "Points": f"{result.points} distinct, {observed} of them observed",
        "Questions asked": f"{result.queried}" if result.queried else "none (predictions only)",
        "Compared with": compared_with(result.target_scope, result.space.has_twins),
        "Budget": f"{result.problem.budget:g}, price {result.price:g}",
        "Interval": f"{_range(result.interval)} at level {level(1 - result.alpha)}",
        "Method": f"{result.method}, seed {result.seed}; guarantee: {result.guarantee}",
    }
    return two_columns(rows)


def compared_with(target_scope: str, has_twins: bool) -> str:  # noqa: FBT001
    """Return whom people are compared with; those who can be asked about have twins."""
    if target_scope == "twins" or not has_twins:
        return target_scope
    who = "observed" if target_scope == "observed" else "reference"
    return f"{who} people and their twins"


def _split(result: AuditResult) -> dict[str, str]:
    """Return the part of the statistic that no change of a sensitive feature explains."""
    part = result.disagreement
    return {"  of which disagreement": f"{part:.4f}, inside profiles"} if part > 0 else {}


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
    return change_in_words(
        result.loss.name, result.statistic, result.baseline_risk, result.worst_case_risk
    )


def _verdict(result: AuditResult) -> str:
    delta, alpha = f"δ = {result.delta:g}", level(result.alpha)
    lower = f"lower bound {bound(result.lower_bound, DOWN)}"
    upper = bound(result.upper_bound, UP)
    known = f"upper bound {upper}" if math.isfinite(result.upper_bound) else upper
    if result.verdict == "rejected":
        # without blanks, at which a line would be broken
        evidence = pvalue(result.pvalue or 0.0).replace(" ", "")
        return f"δ-fairness rejected at level {alpha}: {delta}, {lower}, {evidence}."
    if result.verdict == "certified":
        return f"δ-fairness certified at level {alpha}: {delta}, {known}."
    return f"Inconclusive at level {alpha}: {delta}, {lower}, {known}."


def _range(interval: Interval) -> str:
    lower, upper = (end if math.isfinite(end) else None for end in interval)
    return interval_text(lower, upper)


def _cell(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_cell, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return "missing" if value is None else str(value)
