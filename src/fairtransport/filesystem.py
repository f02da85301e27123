"""Writes files whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager, suppress
from errno import EINVAL, ENAMETOOLONG
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from fairtransport.errors import FairtransportError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENDING = ".partial"
STREAMS = (1, 2)
"""Standard output and standard error."""


def write_text(path: Path, text: str, parameter: str = "path") -> Path:
    """Replace a text file as a whole; see `write_bytes`.

    Half a character, which has no bytes, is written as its escape.

    Parameters
    ----------
    path, parameter
        As in `write_bytes`.
    text
        Written in UTF-8.
    """
    return write_bytes(path, text.encode("utf-8", "backslashreplace"), parameter)


def write_bytes(path: Path, data: bytes, parameter: str = "path") -> Path:
    """Replace a file as a whole: after a crash it is either the old one or the new one.

    Parameters
    ----------
    path
        Where to. A link stays and its target is replaced. Devices, pipes and what standard
        output is connected to are written to. A file that is replaced keeps its mode.
    data
        What to write.
    parameter
        What an error calls the path.

    Returns
    -------
    Path
        The path, as it was given.

    Raises
    ------
    FairtransportError
        If it cannot be written, with the system's reason.

    Notes
    -----
    The bytes go into a draft beside the target, to the disk by ``fsync``, and only then get its
    name. Where the system allows it the draft has no name of its own before, so that a killed
    process leaves nothing behind.
    """
    try:
        there = _status(path)
        if there is None or (stat.S_ISREG(there.st_mode) and _stream(there) is None):
            _replace(Path(os.path.realpath(path)), data, there)
        else:
            _write_through(path, data, there)
    except (OSError, ValueError) as error:  # a name with a null byte is no OSError
        reason = getattr(error, "strerror", None) or error
        msg = f"`{parameter}` could not be written to {str(path)!r}: {reason}"
        raise FairtransportError(msg) from error
    return path


def is_file(path: Path) -> bool:
    """Say whether there is such a file; a name that is too long for one is none.

    Parameters
    ----------
    path
        Perhaps no path at all: command-line arguments may be a name or a file.
    """
    return _answered(path.is_file)


def is_folder(path: Path) -> bool:
    """Say whether there is such a folder."""
    return _answered(path.is_dir)


def _answered(question: Callable[[], bool]) -> bool:
    try:
        return question()
    except OSError as error:
        if error.errno != ENAMETOOLONG:
            raise
        return False


def _status(path: Path) -> os.stat_result | None:
    """Return what the system knows of a file, None if there is none."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _stream(there: os.stat_result) -> int | None:
    """Return the standard stream that a path leads to: what it held so far must stay.

    Parameters
    ----------
    there
        The status of the path's file.

    Returns
    -------
    int or None
        1 or 2, None if it is neither.
    """
    for stream in STREAMS:
        with suppress(OSError):  # it may be closed
            if os.path.samestat(os.fstat(stream), there):
                return stream
    return None


def _write_through(path: Path, data: bytes, there: os.stat_result) -> None:
    """Write into what cannot be replaced.

    Parameters
    ----------
    path
        A device, a pipe, or a file that a standard stream writes to.
    data
        What to write.
    there
        Its status.

    Raises
    ------
    OSError
        If it is a disk.
    """
    if stat.S_ISBLK(there.st_mode):
        raise OSError(EINVAL, "a disk is no place for a file")
    # a device can be opened again; a file that is standard output goes on where that stands
    stream = None if stat.S_ISCHR(there.st_mode) else _stream(there)
    if stream is not None:
        for own in (sys.stdout, sys.stderr):
            if own is not None:
                own.flush()
    # a pipe waits here for its reader; nothing is created where the node has gone
    handle = os.open(path, os.O_WRONLY | os.O_NOCTTY) if stream is None else os.dup(stream)
    with os.fdopen(handle, "wb") as file:
        file.write(data)


def _replace(target: Path, data: bytes, there: os.stat_result | None) -> None:
    """Replace a file by a finished draft, or make it.

    Parameters
    ----------
    target
        The file itself, links followed.
    data
        What to write.
    there
        The status of the file that is replaced; None if it is new.

    Raises
    ------
    PermissionError
        If the file is read-only: replacing it would only need a writable folder.
    """
    if there is not None and not os.access(target, os.W_OK):
        raise PermissionError(None, "the file is read-only")
    with _opened_folder(target.parent) as folder:
        try:
            _replace_without_name(target, folder, data, there)
        except (AttributeError, OSError):  # not every system or file system has such files
            _replace_by_name(target.name, folder, data, there)
        # the new name itself must survive a power failure too
        os.fsync(folder)


def _replace_without_name(
    target: Path, folder: int, data: bytes, there: os.stat_result | None
) -> None:
    """Replace a file by one that has no name before it is finished.

    A process that is killed takes its draft with it.

    Parameters
    ----------
    target
        The file.
    folder
        A handle of its folder: names are looked up there, wherever the folder has been moved.
    data, there
        As in `_replace`.
    """
    handle = os.open(target.parent, os.O_TMPFILE | os.O_WRONLY, 0o666)
    with os.fdopen(handle, "wb"):
        _fill(handle, data, there)
        source = f"/proc/self/fd/{handle}"
        try:
            os.link(source, target.name, dst_dir_fd=folder)
        except FileExistsError:
            # A link replaces nothing, so the finished file needs a name to be moved from. It is
            # the same each time: who is killed in between leaves a draft that the next write takes.
            draft = f"{_draft(target.name)}{ENDING}"
            with _locked(folder):
                with suppress(FileNotFoundError):
                    os.unlink(draft, dir_fd=folder)
                os.link(source, draft, dst_dir_fd=folder)
                os.replace(draft, target.name, src_dir_fd=folder, dst_dir_fd=folder)


def _fill(handle: int, data: bytes, there: os.stat_result | None) -> None:
    """Write all bytes into an open draft, and to the disk.

    Parameters
    ----------
    handle
        Of the draft.
    data
        The bytes; the system may take them in several bites.
    there
        The file that is replaced, whose owner and mode are kept; None if it is new.
    """
    if there is not None:
        with suppress(PermissionError):  # only a privileged process gives files away
            os.fchown(handle, there.st_uid, there.st_gid)
        os.fchmod(handle, there.st_mode & 0o777)
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]
    os.fsync(handle)


def _replace_by_name(name: str, folder: int, data: bytes, there: os.stat_result | None) -> None:
    """Replace a file where every file has a name, after removing what killed processes left.

    Parameters
    ----------
    name, folder
        The file's name, and a handle of its folder.
    data, there
        As in `_replace`.
    """
    draft = f"{_draft(name)}-{token_hex(4)}{ENDING}"
    how, mode = os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if there is None else 0o600
    with _locked(folder):
        _remove_left_over(name, folder)
        handle = os.open(draft, how, mode, dir_fd=folder)
        _lock(handle)
    with os.fdopen(handle, "wb"):
        try:
            _fill(handle, data, there)
            os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(draft, dir_fd=folder)
            raise


def _remove_left_over(name: str, folder: int) -> None:
    """Remove drafts that nobody holds; the system lets go of a lock when its process ends.

    Parameters
    ----------
    name, folder
        The file's name, and a handle of its folder.
    """
    for found in os.listdir(folder):
        if found.startswith(_draft(name)) and found.endswith(ENDING):
            with suppress(OSError):
                handle = os.open(found, os.O_RDWR, dir_fd=folder)
                with os.fdopen(handle, "wb"):
                    if _lock(handle, wait=False):
                        os.unlink(found, dir_fd=folder)


@contextmanager
def _locked(folder: int) -> Iterator[None]:
    """Let one process at a time handle the drafts in a folder, where folders can be locked.

    Parameters
    ----------
    folder
        Its handle.
    """
    from fcntl import LOCK_UN, flock

    held = _lock(folder)
    try:
        yield
    finally:
        if held:
            flock(folder, LOCK_UN)


def _lock(handle: int, *, wait: bool = True) -> bool:
    """Lock a file and say whether that was possible: some file systems have no locks.

    Parameters
    ----------
    handle
        Of a file or folder.
    wait
        Whether to wait for whoever holds it.
    """
    from fcntl import LOCK_EX, LOCK_NB, flock

    try:
        flock(handle, LOCK_EX if wait else LOCK_EX | LOCK_NB)
    except OSError:
        return False
    return True


def _draft(name: str) -> str:
    """Return the beginning of the names of a file's drafts.

    Examples
    --------
    >>> _draft("report.html") == _draft("report.html"), _draft("a").startswith(".fairtransport-")
    (True, True)
    """
    # by its hash: a long name has no room for an addition
    return f".fairtransport-{sha256(os.fsencode(name)).hexdigest()[:12]}"


@contextmanager
def _opened_folder(folder: Path) -> Iterator[int]:
    """Open a folder as a handle, and close it afterwards."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield handle
    finally:
        os.close(handle)
