"""A monitor that follows a growing file from run to run, and prints the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from fairtransport._core.validation import short_repr
from fairtransport.documents.verdicts import VERDICTS
from fairtransport.errors import FairtransportError, InputError, param
from fairtransport.monitor import growing_file
from fairtransport.monitor.growing_file import GrowingFile, Position
from fairtransport.monitor.monitor import Monitor
from fairtransport.monitor.state import lock_state
from fairtransport.report.charts.curves import since_words
from fairtransport.report.console import line, print_note, terminal
from fairtransport.report.sections.decisions import NOT_TRAINED_ON, RANDOM_SAMPLE, decision_lines
from fairtransport.report.terminal import compared_with, frame_panel, two_columns
from fairtransport.report.text import percent
from fairtransport.similarity.base import BaseSimilarity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


MAX_PRINTED_E_VALUE = 1e6
"""Maximum e-value that is printed in full."""


def print_evidence(monitor: Monitor, title: str, waiting: int = 0) -> None:
    """Print the verdict on a stream so far, its numbers and its notes.

    ``waiting`` is the number of bytes at the end of the file that were not counted yet.
    """
    from rich.console import Group

    state, settings = monitor.state, monitor.settings
    certificate = state.e_value_certificate
    upper = "" if state.upper is None else f" and at most {state.upper:.4f}"
    rows = {
        "FaiTH statistic": f"{state.statistic:.4f}",
        "At all times": f"at least {state.lower:.4f}{upper}",
        "Evidence of bias": f"{_evidence(state.e_value)}, enough at {1 / settings.audit.alpha:g}",
        "Compared with": compared_with(state.target_scope, has_model=settings.box is not None),
    }
    rows["Valid only if"] = RANDOM_SAMPLE.format(units="people") + NOT_TRAINED_ON
    rows["Lower bound above δ"] = since_words(monitor.above_since)
    if state.applicability is not None:  # without evidence only the description is left
        rows = {name: rows[name] for name in ("FaiTH statistic", "Compared with")}
    elif certificate is not None:
        rows["Evidence of at most δ"] = (
            f"{_evidence(certificate)}, enough at {1 / settings.audit.alpha:g}"
        )
    colour = VERDICTS[state.verdict].colour
    decisions = monitor.decisions
    lines = [] if decisions is None else [*decision_lines(decisions), ""]
    heading = line((describe_verdict(monitor), f"bold {colour}"))
    content = Group(*map(line, lines), heading, line(""), two_columns(rows))
    who = "1 person" if state.n == 1 else f"{state.n:,} people"
    terminal().print(frame_panel(content, f"{title}, {who}", colour))
    if waiting:
        print_note(
            f"The last {waiting} bytes of the file are not counted yet: they are not a complete "
            "row, which ends with a line break and has all quotes closed."
        )
    for warning in (*_separate(monitor), *state.warnings):
        print_note(warning)


def _evidence(e_value: float) -> str:
    """Return an e-value as text."""
    return f"{e_value:.4g}" if e_value <= MAX_PRINTED_E_VALUE else "> 10^6"


def _separate(monitor: Monitor) -> Iterator[str]:
    """Explain a verdict that the current numbers do not show."""
    state, settings = monitor.state, monitor.settings
    if not VERDICTS[state.verdict].decides:
        return
    is_rejected = state.verdict == "rejected"
    evidence = state.e_value if is_rejected else state.e_value_certificate
    bound = state.lower if is_rejected else state.upper
    faded = evidence is not None and evidence < 1 / settings.audit.alpha
    behind = bound is not None and (bound <= settings.delta) == is_rejected
    if faded or behind:
        yield (
            f"δ-fairness was {state.verdict} at case {state.stopped_at}, when the evidence reached "
            f"{1 / settings.audit.alpha:g}, and that stands. The evidence and the bounds are "
            "separate processes, each valid at all times: either may be behind the other."
        )


def describe_verdict(monitor: Monitor) -> str:
    """Return the verdict so far in a sentence."""
    state, settings = monitor.state, monitor.settings
    if state.applicability is not None:
        title = VERDICTS["not-applicable"].title
        return f"{title}: {state.applicability[0].lower()}{state.applicability[1:]}"
    when = ""
    if state.stopped_at is not None:
        when = f" at case {state.stopped_at:,}, when the evidence sufficed"
    row = VERDICTS[state.verdict]
    at = f" at level {percent(settings.audit.alpha, 4)}" if row.decides else ""
    return f"δ = {settings.delta:g}: {row.formal if row.decides else row.phrase}{at}{when}."


SPACING = 0.5
"""Share of new content of the file at which the state is saved: a state is as large as its data, so
all saves together take no longer than a few of the last one."""


class Place(Position):
    """The position of the next records, with model and similarity."""

    model_sha256: str | None
    similarity: dict[str, object] | None


def follow(file: Path, state: Path, **options: Any) -> tuple[Monitor, int]:
    """Process the records added to a file since the state was saved.

    ``options`` are those of `Monitor`. Returns the monitor and the number of bytes that wait at the
    end of the file. The state and the position in the file are written together. A model from a
    file has to be the same at every run.
    """
    monitor = Monitor(**options)
    place = _place(GrowingFile(file).position, options)
    with lock_state(state):
        is_new = not state.exists()
        if not is_new:
            monitor, place = _resume(state, monitor, place, options)
        return monitor, _read_on(monitor, GrowingFile(file, place), place, state, is_new=is_new)


def _place(position: Position, options: Mapping[str, Any]) -> Place:
    """Return a position with its model and its similarity."""
    similarity = options.get("similarity")
    return {
        **position,
        "model_sha256": getattr(options.get("model"), "sha256", None),
        "similarity": similarity.to_json() if isinstance(similarity, BaseSimilarity) else None,
    }


def _is_place(position: object) -> TypeGuard[Place]:
    """Return whether a state's position is one of this command's."""
    return isinstance(position, dict) and Place.__required_keys__ <= position.keys()


def _resume(
    state: Path, fresh: Monitor, start: Place, options: Mapping[str, Any]
) -> tuple[Monitor, Place]:  # fmt: skip
    """Return the saved monitor and its place, if its settings are those of a fresh one."""
    similarity = options.get("similarity", "")
    monitor = Monitor.resume(
        state,
        model=options.get("model"),
        similarity=None if isinstance(similarity, str) else similarity,
        targets=options.get("targets"),
        queries=options.get("queries"),
    )
    place = monitor.position
    if not _is_place(place):
        msg = (
            f"{param('path')} must be a state of this command, got one without a file: "
            f"{str(state)!r}"
        )
        raise InputError(msg)
    _check_same(monitor.settings.saved, fresh.settings.saved, place, start)
    return monitor, place


def _read_on(
    monitor: Monitor, source: GrowingFile, place: Place, state: Path, *, is_new: bool
) -> int:
    """Process and save new records; return the number of waiting bytes.

    Records before a bad one are saved: the next run begins there, with the same error.
    """
    last_save = reached = source.offset
    monitor.position = place
    columns = source.find_columns()
    if columns is not None:
        monitor.expect(columns)
    try:
        for records, position in source.pieces():
            monitor.update(records)
            monitor.position = {**place, **position}
            reached = position["bytes"]
            if source.offset - last_save >= max(growing_file.PIECE, SPACING * source.offset):
                monitor.save(state)
                last_save = source.offset
    except FairtransportError:
        # the records before a bad one were counted
        if reached > last_save:
            monitor.save(state)
        raise
    if reached > last_save or is_new:
        monitor.save(state)
    return source.waiting


def _check_same(
    before: Mapping[str, object], now: Mapping[str, object], place: Place, start: Place
) -> None:
    """Check that settings, similarity and model file are as before."""
    rule = "that of the saved state, with the same settings,"
    model_rule = "the file of the saved state, SHA-256"
    rules = [
        *((name, "as in the saved state,", before[name], now[name], 60) for name in before),
        ("similarity", rule, place["similarity"], start["similarity"], 60),
        ("model", model_rule, place["model_sha256"], start["model_sha256"], 16),
    ]
    for name, rule, value, got, width in rules:
        if got != value:
            msg = (
                f"{param(name)} must be {rule} {short_repr(value, width)}, got "
                f"{short_repr(got, width)}"
            )
            raise InputError(msg)
