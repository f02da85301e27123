"""Atomic writes of files, sizes of zip archives before they are unpacked, the cache folder."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager, suppress
from copy import copy
from difflib import get_close_matches
from errno import EINVAL, ENAMETOOLONG
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from fairtransport._core.validation import short_repr
from fairtransport.errors import FairtransportError, InputError, param

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from zipfile import ZipFile, ZipInfo


ENDING = ".partial"
STREAMS = (1, 2)
"""Standard output and standard error."""


def write_text(path: Path, text: str, parameter: str = "path") -> Path:
    """Replace a text file as a whole; lone surrogates are written as escapes."""
    return write_bytes(path, text.encode("utf-8", "backslashreplace"), parameter)


def write_bytes(path: Path, data: bytes, parameter: str = "path") -> Path:
    """Replace a file atomically: after a crash it is either the old or the new one.

    The bytes are written to a draft beside the target and synced before it takes the target's name.
    Where the system allows it, the draft is unnamed until then, so that a killed process leaves
    nothing behind.
    """
    try:
        there = _status(path)
        if there is None or (stat.S_ISREG(there.st_mode) and _stream(there) is None):
            _replace(Path(os.path.realpath(path)), data, there)
        else:
            _write_through(path, data, there)
    except (OSError, ValueError) as error:  # a null byte in the name is a ValueError
        reason = getattr(error, "strerror", None) or error
        msg = f"{param(parameter)} could not be written to {str(path)!r}: {reason}"
        raise FairtransportError(msg) from error
    return path


def remove_file(path: Path) -> None:
    """Remove a file that `write_bytes` would replace; keep devices, pipes and streams."""
    there = _status(path)
    if there is not None and stat.S_ISREG(there.st_mode) and _stream(there) is None:
        os.unlink(os.path.realpath(path))  # noqa: PTH108 - where a link leads, as it stays


def is_file(path: Path) -> bool:
    """Return whether a file exists; False for too long a name."""
    return _call_path_check(path.is_file)


def is_folder(path: Path) -> bool:
    """Return whether a folder exists."""
    return _call_path_check(path.is_dir)


def check_file(parameter: str, path: Path, what: str = "file") -> None:
    """Check that a file exists; the error has the nearest name in its folder."""
    if is_file(path):
        return
    names: dict[str, str] = {}
    with suppress(OSError, ValueError):
        # of files of one stem that of the same kind is meant
        others = sorted(path.parent.iterdir(), key=lambda one: one.suffix == path.suffix)
        names = {one.stem.casefold(): one.name for one in others}
    near = get_close_matches(path.stem.casefold(), names, n=1, cutoff=0.75)
    hint = f"; did you mean {names[near[0]]!r}?" if near else ""
    msg = f"there is no {what} {short_repr(str(path), 200)} for {param(parameter)}{hint}"
    raise InputError(msg)


def _call_path_check(question: Callable[[], bool]) -> bool:
    try:
        return question()
    except OSError as error:
        if error.errno != ENAMETOOLONG:
            raise
        return False


def _status(path: Path) -> os.stat_result | None:
    """Return the status of a file; None if it does not exist."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _stream(there: os.stat_result) -> int | None:
    """Return the standard stream that a path leads to, if any."""
    for stream in STREAMS:
        with suppress(OSError):  # it may be closed
            if os.path.samestat(os.fstat(stream), there):
                return stream
    return None


def _write_through(path: Path, data: bytes, there: os.stat_result) -> None:
    """Write into a device, pipe or stream, which cannot be replaced."""
    if stat.S_ISBLK(there.st_mode):
        raise OSError(EINVAL, "a disk is no place for a file")
    # devices can be reopened; a file that is standard output is continued at its position
    stream = None if stat.S_ISCHR(there.st_mode) else _stream(there)
    if stream is not None:
        for own in (sys.stdout, sys.stderr):
            if own is not None:
                own.flush()
    # opening a pipe waits for its reader; without O_CREAT, a vanished node is not recreated
    handle = os.open(path, os.O_WRONLY | os.O_NOCTTY) if stream is None else os.dup(stream)
    with os.fdopen(handle, "wb") as file:
        file.write(data)


def _replace(target: Path, data: bytes, there: os.stat_result | None) -> None:
    """Replace or create a file by a finished draft."""
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
    """Replace a file by an unnamed draft, which vanishes with its process."""
    handle = os.open(target.parent, os.O_TMPFILE | os.O_WRONLY, 0o666)
    with os.fdopen(handle, "wb"):
        _fill(handle, data, there)
        source = f"/proc/self/fd/{handle}"
        try:
            os.link(source, target.name, dst_dir_fd=folder)
        except FileExistsError:
            # A link cannot replace a file, so the draft gets a name to be renamed from. The name is
            # fixed: the next write reuses a draft that a killed process left behind.
            draft = f"{_draft(target.name)}{ENDING}"
            with _locked(folder):
                with suppress(FileNotFoundError):
                    os.unlink(draft, dir_fd=folder)
                os.link(source, draft, dst_dir_fd=folder)
                os.replace(draft, target.name, src_dir_fd=folder, dst_dir_fd=folder)


def _fill(handle: int, data: bytes, there: os.stat_result | None) -> None:
    """Write all bytes to an open draft and sync it."""
    if there is not None:
        with suppress(PermissionError):  # only privileged processes can give files away
            os.fchown(handle, there.st_uid, there.st_gid)
        os.fchmod(handle, there.st_mode & 0o777)
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[os.write(handle, remaining) :]
    os.fsync(handle)


def _replace_by_name(name: str, folder: int, data: bytes, there: os.stat_result | None) -> None:
    """Replace a file by a named draft, after removing those of killed processes."""
    draft = f"{_draft(name)}-{os.urandom(4).hex()}{ENDING}"
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
    """Remove drafts that no process has locked."""
    for file_name in os.listdir(folder):
        if file_name.startswith(_draft(name)) and file_name.endswith(ENDING):
            with suppress(OSError):
                handle = os.open(file_name, os.O_RDWR, dir_fd=folder)
                with os.fdopen(handle, "wb"):
                    if _lock(handle, wait=False):
                        os.unlink(file_name, dir_fd=folder)


@contextmanager
def _locked(folder: int) -> Iterator[None]:
    """Lock a folder, where folders can be locked, against other writers of drafts."""
    from fcntl import LOCK_UN, flock

    is_locked = _lock(folder)
    try:
        yield
    finally:
        if is_locked:
            flock(folder, LOCK_UN)


def _lock(handle: int, *, wait: bool = True) -> bool:
    """Lock a file and return whether that was possible: some file systems have no locks."""
    from fcntl import LOCK_EX, LOCK_NB, flock

    try:
        flock(handle, LOCK_EX if wait else LOCK_EX | LOCK_NB)
    except OSError:
        return False
    return True


def _draft(name: str) -> str:
    """Return how the names of a file's drafts begin."""
    from hashlib import sha256

    # hashed, as a long name leaves no room for a suffix
    return f".fairtransport-{sha256(os.fsencode(name)).hexdigest()[:12]}"


@contextmanager
def _opened_folder(folder: Path) -> Iterator[int]:
    """Open a folder as a handle, and close it afterwards."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield handle
    finally:
        os.close(handle)


MAX_UNPACKED_BYTES = 1 << 30
"""Bytes that any archive may unpack to."""
MAX_UNPACKED_RATIO = 10
"""Maximum ratio of unpacked to packed size, where that allows more."""
PIECE = 1 << 12
"""Bytes per read: some compression methods return all that a piece unpacks to at once."""
ENDLESS = 1 << 62
ARCHIVE = b"PK"
"""First bytes of a zip archive."""


class TooLargeError(Exception):
    """An archive unpacks to more than it may."""


def max_unpacked_bytes(size: int) -> int:
    """Return the maximum unpacked size in bytes of an archive of this size."""
    return max(MAX_UNPACKED_BYTES, MAX_UNPACKED_RATIO * size)


def describe_unpacked_limit(limit: int) -> str:
    """Return the limit of an archive's unpacked size, as the end of a sentence."""
    return (
        f"must not unpack to more than {limit / (1 << 20):.4g} MiB; one that was saved without "
        "compression may be as large as it is"
    )


def unpacked_sizes(archive: Path | BytesIO, limit: int, *, inner: bool = True) -> dict[str, int]:
    """Return the unpacked size of each file of a zip archive.

    Declared and real sizes must both be within the limit; if they differ, the file is damaged.
    """
    from zipfile import ZipFile

    sizes: dict[str, int] = {}
    remaining = limit
    with ZipFile(archive) as opened_archive:
        for info in opened_archive.infolist():
            size = _size(opened_archive, info, remaining)
            if inner:
                size += _inner_size(opened_archive, info, remaining - size)
            remaining -= size
            sizes[info.filename] = size
    return sizes


def _size(archive: ZipFile, info: ZipInfo, limit: int) -> int:
    """Return the real size of a file in an archive, reading it piece by piece."""
    if info.file_size > limit:
        raise TooLargeError
    endless, size = copy(info), 0
    endless.file_size = ENDLESS  # else the reader stops at the declared size
    with archive.open(endless) as file:
        while piece := file.read(PIECE):
            size += len(piece)
            if size > limit:
                raise TooLargeError
    if size != info.file_size:
        from zipfile import BadZipFile

        msg = f"{info.filename!r} in it must have {info.file_size} bytes, got {size}"
        raise BadZipFile(msg)
    return size


def _inner_size(archive: ZipFile, info: ZipInfo, limit: int) -> int:
    """Return the unpacked size of a nested archive; 0 for other files."""
    with archive.open(info) as file:
        if file.read(len(ARCHIVE)) != ARCHIVE:
            return 0
    from zipfile import is_zipfile

    content = BytesIO(archive.read(info))
    return sum(unpacked_sizes(content, limit, inner=False).values()) if is_zipfile(content) else 0


def user_cache_folder(owner: str) -> Path:
    """Return a program's cache folder of this user, which may not exist."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.expanduser fails without a home
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home), owner, "Cache")
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / owner
    return Path(os.environ.get("XDG_CACHE_HOME", home / ".cache"), owner)


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def escape_formula(value: object) -> object:
    """Put an apostrophe before text that a spreadsheet would take for a formula."""
    is_formula = isinstance(value, str) and value.startswith(FORMULA_STARTS)
    return f"'{value}" if is_formula else value
