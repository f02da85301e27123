"""A monitor's state as text: which schema, and a checksum over all of it."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from fairtransport.errors import DataError, InputError

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "fairtransport-monitor/"
SCHEMA = f"{FAMILY}3"
KEYS = {"settings", "target_scope", "features", "position", "answers", "history", "stream"}


def dump_state(content: dict[str, Any]) -> str:
    """Return the text of a state file."""
    try:
        body = json.dumps(content, allow_nan=False)
    except (TypeError, ValueError) as error:
        msg = f"a monitor can be saved if values are text, numbers or truth values: {error}"
        raise DataError(msg) from error
    head = json.dumps({"schema": SCHEMA, "sha256": _checksum(body)})
    return f"{head[:-1]}, {body[1:]}"


def load_state(path: Path) -> dict[str, Any]:
    """Return the content of a state file, if it is as it was written."""
    saved = _read(path)
    schema = saved.pop("schema", None) if isinstance(saved, dict) else None
    if schema != SCHEMA:
        is_ours = isinstance(schema, str) and schema.startswith(FAMILY)
        got = f"one of {schema}; begin a new state" if is_ours else "another file"
        msg = f"`path` must be a state file of schema {SCHEMA}, got {got}: {str(path)!r}"
        raise InputError(msg)
    wanted = saved.pop("sha256", None)
    if set(saved) != KEYS or _checksum(json.dumps(saved)) != wanted:
        msg = (
            f"the state file {str(path)!r} was changed after it was written: its checksum does "
            "not fit; bring back a copy or begin a new state"
        )
        raise DataError(msg)
    return dict(saved)


def _read(path: Path) -> Any:
    try:
        # a pipe would wait for somebody to write to it
        if path.exists() and not path.is_file():
            reason = "it is not an ordinary file"
        elif not (data := path.read_bytes()):
            reason = "it is empty"
        else:
            return json.loads(data)
    except OSError as error:
        reason = error.strerror or str(error)
    except RecursionError:
        reason = "it is nested too deep"
    except ValueError as error:
        reason = f"it is incomplete or no state file ({error})"
    msg = f"the state file {str(path)!r} could not be read: {reason}"
    raise DataError(msg)


def _checksum(body: str) -> str:
    # the schema is part of what must not change
    return sha256(f"{SCHEMA}\n{body}".encode()).hexdigest()
