"""A monitor that follows a growing file from run to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, TypeGuard, Unpack

from fairtransport.checks import shown
from fairtransport.errors import FairtransportError, InputError
from fairtransport.monitor import growing
from fairtransport.monitor.growing import GrowingFile, Position
from fairtransport.monitor.locking import StateLock
from fairtransport.monitor.stream_audit import Monitor
from fairtransport.similarity.base import Parameters

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fairtransport.monitor.stream_settings import Told

SPACING = 0.5
"""A state is as long as what it has seen, so it is saved when that much of the file is new:
all saves together then take no longer than a few of the last one."""


class Mark(TypedDict):
    """What tells the model and the similarity from others.

    Attributes
    ----------
    model_sha256
        Of a model file; None for models that are no files.
    similarity
        What the similarity was told and learned; None where it is told by its name.
    """

    model_sha256: str | None
    similarity: dict[str, object] | None


class Place(Position, Mark):
    """Where the next records begin, and for which model and similarity."""


def follow(file: Path, state: Path, **options: Unpack[Told]) -> tuple[Monitor, int]:
    """Take in the records that were added to a file since the state was saved.

    The state and the place in the file are written together. A model that was read from a file
    has to be the same one at every run.

    Parameters
    ----------
    file
        The growing file.
    state
        The state file; it is made by the first run.
    options
        As for `Monitor`; they must be those of the first run.

    Returns
    -------
    The monitor, and how many bytes at the file's end wait for their row to be completed.

    Raises
    ------
    InputError
        If settings, similarity or model are others than before.
    DataError
        If another monitor works on the state, or the file did not only grow.
    """
    monitor = Monitor(**options)
    mark = _mark(options)
    place = _place(GrowingFile(file).position, mark)
    monitor.position = place
    with StateLock(state) as lock:
        is_new = lock.acquire(lambda: monitor.save(state))
        try:
            if not is_new:
                monitor, place = _resumed(state, monitor, mark, options)
            return monitor, _read_on(monitor, GrowingFile(file, place), mark, state, lock)
        except BaseException:
            if is_new and not monitor.state.n:
                lock.remove()
            raise


def _mark(options: Told) -> Mark:
    """Return what tells the model and the similarity of some options from others."""
    likeness = options.get("similarity", "")
    return {
        "model_sha256": getattr(options.get("model"), "sha256", None),
        "similarity": likeness.to_json() if isinstance(likeness, Parameters) else None,
    }


def _place(position: Position, mark: Mark) -> Place:
    """Return a position with the marks that it was reached under."""
    return {**position, **mark}


def _is_place(position: object) -> TypeGuard[Place]:
    """Say whether a state's position is one of this command's."""
    return isinstance(position, dict) and Place.__required_keys__ <= position.keys()


def _resumed(
    state: Path, given: Monitor, mark: Mark, options: Told
) -> tuple[Monitor, Place]:  # fmt: skip
    """Return the monitor that was saved, if it was one with the same settings, and where.

    Parameters
    ----------
    state
        The state file.
    given
        A monitor with the settings of this run.
    mark, options
        Of this run's model and similarity, and all that it was told.
    """
    likeness = options.get("similarity", "")
    saved = Monitor.resume(
        state,
        model=options.get("model"),
        similarity=None if isinstance(likeness, str) else likeness,
        targets=options.get("targets"),
        query_log=options.get("query_log"),
    )
    place = saved.position
    if not _is_place(place):
        msg = f"`path` must be a state of this command, got one without a file: {str(state)!r}"
        raise InputError(msg)
    _refuse_others(saved.settings.plain, given.settings.plain, place, mark)
    return saved, place


def _read_on(
    monitor: Monitor, source: GrowingFile, mark: Mark, state: Path, lock: StateLock
) -> int:
    """Take in what is new, and save it; return how many bytes wait.

    Parameters
    ----------
    monitor
        Takes in records.
    source
        The file from the saved place on.
    mark
        Goes into the state with every position.
    state, lock
        Where it is saved, and who may.

    Notes
    -----
    After a bad record what came before it is saved: the next run begins there, and says the same.
    """
    saved = reached = source.offset
    columns = source.find_columns()
    if columns is not None:
        monitor.expect(columns)
    try:
        for records, position in source.pieces():
            monitor.update(records)
            monitor.position = _place(position, mark)
            reached = position["bytes"]
            if source.offset - saved >= max(growing.PIECE, SPACING * source.offset):
                lock.replace(lambda: monitor.save(state))
                saved = source.offset
    except FairtransportError:
        # what a bad record came after was counted whole
        if reached > saved:
            lock.replace(lambda: monitor.save(state))
        raise
    if reached > saved:
        lock.replace(lambda: monitor.save(state))
    return source.waiting


def _refuse_others(
    before: Mapping[str, object], now: Mapping[str, object], place: Place, mark: Mark
) -> None:
    """Refuse other settings, another similarity or another model file than before.

    Parameters
    ----------
    before, now
        Settings of the saved monitor and of this run.
    place, mark
        The saved marks, and those of this run.

    Raises
    ------
    InputError
        Evidence of two questions must not be multiplied.
    """
    likeness = "that of the saved state, with the same settings,"
    model = "the file of the saved state, SHA-256"
    rules = [
        *((name, "as in the saved state,", before[name], now[name], 60) for name in before),
        ("similarity", likeness, place["similarity"], mark["similarity"], 60),
        ("model", model, place["model_sha256"], mark["model_sha256"], 16),
    ]
    for name, rule, value, got, width in rules:
        if got != value:
            msg = f"`{name}` must be {rule} {shown(value, width)}, got {shown(got, width)}"
            raise InputError(msg)
