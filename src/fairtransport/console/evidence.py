"""The screen of a monitor: where the evidence of a stream stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.console.flagwords import in_flags
from fairtransport.console.results import COLOURS, compared_with, framed, two_columns
from fairtransport.console.screen import line, print_note, screen

if TYPE_CHECKING:
    from fairtransport.monitor import Monitor


def print_evidence(monitor: Monitor, title: str) -> None:
    """Print the verdict on a stream so far, its numbers and its notes."""
    from rich.console import Group

    state, settings = monitor.state, monitor.settings
    certificate = state.e_value_certificate
    upper = "" if state.upper is None else f" and at most {state.upper:.4f}"
    rows = {
        "FaiTH statistic": f"{state.statistic:.4f}",
        "At all times": f"at least {state.lower:.4f}{upper}",
        "Evidence of bias": f"{state.e_value:.4g}, enough at {1 / settings.alpha:g}",
        "Compared with": compared_with(state.target_scope, settings.box is not None),
    }
    if certificate is not None:
        rows["Evidence of fairness"] = f"{certificate:.4g}"
    colour = COLOURS[state.verdict]
    content = Group(line((_verdict(monitor), f"bold {colour}")), line(""), two_columns(rows))
    screen().print(framed(content, f"{title}, {state.n} cases", colour))
    for warning in state.warnings:
        print_note(in_flags(warning))


def _verdict(monitor: Monitor) -> str:
    state, settings = monitor.state, monitor.settings
    when = "" if state.stopped_at is None else f", since case {state.stopped_at}"
    words = {
        "rejected": f"δ-fairness rejected at level {settings.alpha:g}",
        "certified": f"certified at level {settings.alpha:g}",
        "inconclusive": "inconclusive",
    }
    return f"δ = {settings.delta:g}: {words[state.verdict]}{when}."
