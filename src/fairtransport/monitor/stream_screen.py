"""The screen of a monitor: where the evidence of a stream stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.charts.sequence import since_words
from fairtransport.report.numbers import percent
from fairtransport.report.screen.flagwords import in_flags
from fairtransport.report.screen.lines import line, print_note, terminal
from fairtransport.report.screen.results import COLOURS, compared_with, framed, two_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtransport.monitor.stream_audit import Monitor

MOST_SHOWN = 1e6
"""Larger e-values are shown as larger than this."""


def print_evidence(monitor: Monitor, title: str, waiting: int = 0) -> None:
    """Print the verdict on a stream so far, its numbers and its notes.

    ``waiting`` is how many bytes at the end of the file were not counted yet.

    Parameters
    ----------
    monitor
        Where the evidence stands.
    title
        What stands in the frame.
    waiting
        0 where the file ends with a complete row.
    """
    from rich.console import Group

    state, settings = monitor.state, monitor.settings
    certificate = state.e_value_certificate
    upper = "" if state.upper is None else f" and at most {state.upper:.4f}"
    rows = {
        "FaiTH statistic": f"{state.statistic:.4f}",
        "At all times": f"at least {state.lower:.4f}{upper}",
        "Evidence of bias": f"{_evidence(state.e_value)}, enough at {1 / settings.alpha:g}",
        "Compared with": compared_with(state.target_scope, asked=settings.box is not None),
    }
    rows["Lower bound above δ"] = since_words(monitor.above_since)
    if state.applicability is not None:  # of what is no evidence only the description is left
        kept = ("FaiTH statistic", "Compared with")
        rows = {name: rows[name] for name in kept}
    elif certificate is not None:
        rows["Evidence of at most δ"] = (
            f"{_evidence(certificate)}, enough at {1 / settings.alpha:g}"
        )
    colour = COLOURS[state.verdict]
    content = Group(line((_verdict(monitor), f"bold {colour}")), line(""), two_columns(rows))
    terminal().print(framed(content, f"{title}, {state.n} cases", colour))
    if waiting:
        print_note(
            f"The last {waiting} bytes of the file are not counted yet: they are no complete row, "
            "as a row ends with a line break and its quotes are closed."
        )
    for warning in (*_separate(monitor), *state.warnings):
        print_note(in_flags(warning))


def _evidence(e_value: float) -> str:
    """Return an e-value in words.

    Examples
    --------
    >>> _evidence(12.34567), _evidence(1e9)
    ('12.35', '> 10^6')
    """
    return f"{e_value:.4g}" if e_value <= MOST_SHOWN else "> 10^6"


def _separate(monitor: Monitor) -> Iterator[str]:
    """Explain a verdict that the other numbers, as they stand now, do not show.

    Parameters
    ----------
    monitor
        Evidence that reached 1/α once may have fallen since, and that changes nothing.
    """
    state, settings = monitor.state, monitor.settings
    if state.verdict not in {"rejected", "certified"}:
        return
    is_rejected = state.verdict == "rejected"
    evidence = state.e_value if is_rejected else state.e_value_certificate
    bound = state.lower if is_rejected else state.upper
    faded = evidence is not None and evidence < 1 / settings.alpha
    behind = bound is not None and (bound <= settings.delta) == is_rejected
    if faded or behind:
        yield (
            f"δ-fairness was {state.verdict} at case {state.stopped_at}, when the evidence reached "
            f"{1 / settings.alpha:g}, and that stands. The evidence and the bounds are separate "
            "processes, each valid at all times: either may be behind the other."
        )


def _verdict(monitor: Monitor) -> str:
    """Return the verdict so far in a sentence.

    Parameters
    ----------
    monitor
        The monitor. A verdict that was reached stays, and the case at which it was is told.
    """
    state, settings = monitor.state, monitor.settings
    if state.applicability is not None:
        return in_flags(
            f"Not applicable: {state.applicability[0].lower()}{state.applicability[1:]}"
        )
    when = ""
    if state.stopped_at is not None:
        when = f" at case {state.stopped_at:,}, when the evidence sufficed"
    alpha = percent(settings.alpha, 4)
    words = {
        "rejected": f"δ-fairness rejected at level {alpha}",
        "certified": f"certified at level {alpha}",
        "inconclusive": "inconclusive",
    }
    return f"δ = {settings.delta:g}: {words[state.verdict]}{when}."
