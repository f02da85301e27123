"""A monitor's state file: JSON with its schema and a checksum, used by one monitor at a time."""

from __future__ import annotations

import errno
import json
import os
import sys
import warnings
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, TypedDict, cast

from fairtransport.errors import DataError, InputError, param

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairtransport.data.columns import Value
    from fairtransport.monitor.monitor import Look
    from fairtransport.monitor.streams import SavedStream

if sys.platform != "win32":
    import fcntl

FAMILY = "fairtransport-monitor/"
SCHEMA = f"{FAMILY}3"
WITHOUT_LOCKS = {errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""The errors of file systems that have no locks."""


class SavedMonitor(TypedDict):
    """The content of a state file."""

    settings: dict[str, object]
    target_scope: str
    features: list[str] | None
    position: object
    answers: list[tuple[list[Value], object]]
    history: list[Look]
    stream: SavedStream


def dump_state(content: SavedMonitor) -> str:
    """Return the text of a state file."""
    try:
        body = json.dumps(content, allow_nan=False)
    except (TypeError, ValueError) as error:
        msg = f"a monitor can be saved if values are text, numbers or truth values: {error}"
        raise DataError(msg) from error
    head = json.dumps({"schema": SCHEMA, "sha256": _checksum(body)})
    return f"{head[:-1]}, {body[1:]}"


def load_state(path: Path) -> SavedMonitor:
    """Return the content of a state file, if it is unchanged."""
    document = _read_json(path)
    content = document if isinstance(document, dict) else {}
    schema = content.pop("schema", None)
    if schema != SCHEMA:
        is_ours = isinstance(schema, str) and schema.startswith(FAMILY)
        got = f"one of {schema}; begin a new state" if is_ours else "another file"
        msg = f"{param('path')} must be a state file of schema {SCHEMA}, got {got}: {str(path)!r}"
        raise InputError(msg)
    checksum = content.pop("sha256", None)
    is_whole = set(content) == SavedMonitor.__required_keys__
    if not is_whole or _checksum(json.dumps(content)) != checksum:
        msg = (
            f"the state file {str(path)!r} was changed after it was written: its checksum does "
            "not fit; bring back a copy or begin a new state"
        )
        raise DataError(msg)
    return cast("SavedMonitor", content)  # as it was written


def _read_json(path: Path) -> object:
    """Return the JSON in a file; raise with the reason if there is none."""
    try:
        # reading a pipe would wait for a writer
        if path.exists() and not path.is_file():
            reason = "it is not an ordinary file"
        elif not (data := path.read_bytes()):
            reason = "it is empty"
        else:
            document: object = json.loads(data)
            return document
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
    return sha256(f"{SCHEMA}\n{body}".encode()).hexdigest()


@contextmanager
def lock_state(path: Path) -> Iterator[None]:
    """Lock a state against other monitors; the lock ends with the process, however it ends.

    The lock is on a file beside the state, as every save replaces the state by another file.
    """
    state = path.resolve()
    lock = state.with_name(f".{state.name}.lock")
    handle = _acquire(lock, state)
    try:
        yield
    finally:
        # still locked, so that others who opened the file find it without its name
        lock.unlink(missing_ok=True)
        os.close(handle)


def _acquire(lock: Path, state: Path) -> int:
    """Return the handle of a lock file that is locked and has its name."""
    while True:
        try:
            handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            msg = f"{param('path')} could not be locked, {str(state)!r}: {error.strerror}"
            raise DataError(msg) from error
        try:
            _flock(handle, state)
            if os.path.samestat(os.fstat(handle), lock.stat()):
                return handle
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _flock(handle: int, state: Path) -> None:
    """Lock a file at once or raise; warn if the file system has no locks."""
    if sys.platform == "win32":  # pragma: no cover - it has no flock
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        msg = f"{param('path')} is in use by another monitor, {str(state)!r}: run one at a time"
        raise DataError(msg) from None
    except OSError as error:
        if error.errno not in WITHOUT_LOCKS:
            raise
        warnings.warn(
            f"{str(state)!r} cannot be locked here ({error.strerror}): make sure that "
            "no two monitors use it at the same time.",
            stacklevel=2,
        )
