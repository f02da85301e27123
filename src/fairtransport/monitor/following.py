"""A monitor that follows a growing file from run to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtransport.checks import shown
from fairtransport.errors import InputError
from fairtransport.monitor.growing import GrowingFile
from fairtransport.monitor.monitor import Monitor

if TYPE_CHECKING:
    from pathlib import Path


def follow(file: Path, state: Path, **options: Any) -> Monitor:
    """Take in the records that were added to a file since the state was saved.

    The state and the place in the file are written together, after every piece of the file. A
    model that was read from a file has to be the same one at every run.
    """
    monitor = Monitor(**options)
    model = options.get("model")
    likeness = options.get("similarity", "")
    made = None if isinstance(likeness, str) else likeness
    mark = {
        "model_sha256": getattr(model, "sha256", None),
        "similarity": None if made is None else made.to_json(),
    }
    if state.exists():
        saved = Monitor.resume(state, model=model, similarity=made, targets=options.get("targets"))
        _refuse_other_settings(saved, monitor)
        _refuse_other_similarity(saved.position, mark)
        _refuse_other_model(saved.position, mark)
        monitor = saved
    growing = GrowingFile(file, monitor.position)
    for records, position in growing.pieces():
        monitor.update(records)
        monitor.position = position | mark
        monitor.save(state)
    if not state.exists():
        monitor.position = growing.position | mark
        monitor.save(state)
    return monitor


def _refuse_other_similarity(position: Any, mark: dict[str, Any]) -> None:
    saved, given = (position or {}).get("similarity"), mark["similarity"]
    if saved != given:
        msg = (
            "`similarity` must be that of the saved state, with the same settings, "
            f"{shown(saved)}, got {shown(given)}"
        )
        raise InputError(msg)


def _refuse_other_model(position: Any, mark: dict[str, Any]) -> None:
    saved, given = (position or {}).get("model_sha256"), mark["model_sha256"]
    if saved != given:
        msg = (
            f"`model` must be the file of the saved state, SHA-256 {shown(saved, 16)}, "
            f"got {shown(given, 16)}"
        )
        raise InputError(msg)


def _refuse_other_settings(saved: Monitor, given: Monitor) -> None:
    for name, value in saved.settings.plain.items():
        if given.settings.plain[name] != value:
            msg = (
                f"`{name}` must be as in the saved state, {shown(value)}, "
                f"got {shown(given.settings.plain[name])}"
            )
            raise InputError(msg)
