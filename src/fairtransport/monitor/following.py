"""A monitor that follows a growing file from run to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtransport.checks import shown
from fairtransport.errors import FairtransportError, InputError
from fairtransport.monitor import growing
from fairtransport.monitor.growing import GrowingFile
from fairtransport.monitor.locking import StateLock
from fairtransport.monitor.stream_audit import Monitor

if TYPE_CHECKING:
    from pathlib import Path

SPACING = 0.5
"""A state is as long as what it has seen, so it is saved when that much of the file is new:
all saves together then take no longer than a few of the last one."""


def follow(file: Path, state: Path, **options: Any) -> tuple[Monitor, int]:
    """Take in the records that were added to a file since the state was saved.

    The state and the place in the file are written together. A model that was read from a file
    has to be the same one at every run.

    Returns
    -------
    The monitor, and how many bytes at the file's end wait for their row to be completed.
    """
    monitor = Monitor(**options)
    mark = _mark(options)
    monitor.position = GrowingFile(file).position | mark
    with StateLock(state) as lock:
        is_new = lock.acquire(lambda: monitor.save(state))
        try:
            if not is_new:
                monitor = _resumed(state, monitor, mark, options)
            return monitor, _read_on(
                monitor, GrowingFile(file, monitor.position), mark, state, lock
            )
        except BaseException:
            if is_new and not monitor.state.n:
                lock.remove()
            raise


def _mark(options: dict[str, Any]) -> dict[str, Any]:
    """Return what tells the model and the similarity from others."""
    likeness = options.get("similarity", "")
    return {
        "model_sha256": getattr(options.get("model"), "sha256", None),
        "similarity": None if isinstance(likeness, str) else likeness.to_json(),
    }


def _resumed(state: Path, given: Monitor, mark: dict[str, Any], options: dict[str, Any]) -> Monitor:
    """Return the monitor that was saved, if it was one with the same settings."""
    likeness = options.get("similarity", "")
    saved = Monitor.resume(
        state,
        model=options.get("model"),
        similarity=None if isinstance(likeness, str) else likeness,
        targets=options.get("targets"),
    )
    if not isinstance(saved.position, dict) or not given.position.keys() <= saved.position.keys():
        msg = f"`path` must be a state of this command, got one without a file: {str(state)!r}"
        raise InputError(msg)
    _refuse_others(saved, given, mark)
    return saved


def _read_on(
    monitor: Monitor, source: GrowingFile, mark: dict[str, Any], state: Path, lock: StateLock
) -> int:
    """Take in what is new, and save it; return how many bytes wait."""
    saved = source.offset
    columns = source.find_columns()
    if columns is not None:
        monitor.expect(columns)
    try:
        for records, position in source.pieces():
            monitor.update(records)
            monitor.position = position | mark
            if source.offset - saved >= max(growing.PIECE, SPACING * source.offset):
                lock.replace(lambda: monitor.save(state))
                saved = source.offset
    except FairtransportError:
        # what a bad record came after was counted whole
        if monitor.position["bytes"] > saved:
            lock.replace(lambda: monitor.save(state))
        raise
    if monitor.position["bytes"] > saved:
        lock.replace(lambda: monitor.save(state))
    return source.waiting


def _refuse_others(saved: Monitor, given: Monitor, mark: dict[str, Any]) -> None:
    """Refuse other settings, another similarity or another model file than before."""
    before, now = saved.settings.plain, given.settings.plain
    rules = [(name, "as in the saved state,", before[name], now[name], 60) for name in before]
    for name, key, rule, width in (
        ("similarity", "similarity", "that of the saved state, with the same settings,", 60),
        ("model", "model_sha256", "the file of the saved state, SHA-256", 16),
    ):
        rules.append((name, rule, saved.position[key], mark[key], width))
    for name, rule, value, got, width in rules:
        if got != value:
            msg = f"`{name}` must be {rule} {shown(value, width)}, got {shown(got, width)}"
            raise InputError(msg)
