"""A monitor's state as text: which schema, and a checksum over all of it."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, TypedDict, cast

from fairtransport.errors import DataError, InputError

if TYPE_CHECKING:
    from pathlib import Path

    from fairtransport.monitor.stream_audit import Look
    from fairtransport.monitor.stream_settings import Plain
    from fairtransport.monitor.streams import SavedStream
    from fairtransport.space.columns import Value

FAMILY = "fairtransport-monitor/"
SCHEMA = f"{FAMILY}3"


class SavedMonitor(TypedDict):
    """What a state file keeps of a monitor.

    Attributes
    ----------
    settings
        Those that are words and numbers.
    target_scope
        Whom people are compared with, which says whether a reference frame has to be given again.
    features
        The columns that describe a person; None before the first record.
    position
        Whatever the user keeps beside the state, as a place in a file.
    answers
        Questions and what the model said.
    history
        Looks on the way.
    stream
        Points, counts and evidence.
    """

    settings: Plain
    target_scope: str
    features: list[str] | None
    position: object
    answers: list[tuple[list[Value], object]]
    history: list[Look]
    stream: SavedStream


def dump_state(content: SavedMonitor) -> str:
    """Return the text of a state file.

    Parameters
    ----------
    content
        What it keeps.

    Raises
    ------
    DataError
        If a value is none that JSON has.
    """
    try:
        body = json.dumps(content, allow_nan=False)
    except (TypeError, ValueError) as error:
        msg = f"a monitor can be saved if values are text, numbers or truth values: {error}"
        raise DataError(msg) from error
    head = json.dumps({"schema": SCHEMA, "sha256": _checksum(body)})
    return f"{head[:-1]}, {body[1:]}"


def load_state(path: Path) -> SavedMonitor:
    """Return the content of a state file, if it is as it was written.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        If it is another file, or of another schema.
    DataError
        If it cannot be read, or its checksum does not fit.
    """
    read = _read(path)
    saved = read if isinstance(read, dict) else {}
    schema = saved.pop("schema", None)
    if schema != SCHEMA:
        is_ours = isinstance(schema, str) and schema.startswith(FAMILY)
        got = f"one of {schema}; begin a new state" if is_ours else "another file"
        msg = f"`path` must be a state file of schema {SCHEMA}, got {got}: {str(path)!r}"
        raise InputError(msg)
    wanted = saved.pop("sha256", None)
    if set(saved) != SavedMonitor.__required_keys__ or _checksum(json.dumps(saved)) != wanted:
        msg = (
            f"the state file {str(path)!r} was changed after it was written: its checksum does "
            "not fit; bring back a copy or begin a new state"
        )
        raise DataError(msg)
    return cast("SavedMonitor", saved)  # as it was written


def _read(path: Path) -> object:
    """Return what a file holds as JSON, or say in a sentence why not."""
    try:
        # a pipe would wait for somebody to write to it
        if path.exists() and not path.is_file():
            reason = "it is not an ordinary file"
        elif not (data := path.read_bytes()):
            reason = "it is empty"
        else:
            found: object = json.loads(data)
            return found
    except OSError as error:
        reason = error.strerror or str(error)
    except RecursionError:
        reason = "it is nested too deep"
    except ValueError as error:
        reason = f"it is incomplete or no state file ({error})"
    msg = f"the state file {str(path)!r} could not be read: {reason}"
    raise DataError(msg)


def _checksum(body: str) -> str:
    """Return the hash of a state's body together with its schema."""
    # the schema is part of what must not change
    return sha256(f"{SCHEMA}\n{body}".encode()).hexdigest()
