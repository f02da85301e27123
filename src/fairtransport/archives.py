"""How much a zip archive holds, found out before anybody unpacks it."""

from __future__ import annotations

from copy import copy
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile, is_zipfile

if TYPE_CHECKING:
    from pathlib import Path
    from zipfile import ZipInfo

MOST = 1 << 30
"""Bytes that any archive may unpack to."""
TIMES = 10
"""How many times its own size an archive may unpack to, where that is more."""
PIECE = 1 << 12
"""Bytes asked for at a time: some ways to compress give all that a piece unpacks to at once."""
ENDLESS = 1 << 62
ARCHIVE = b"PK"
"""How a zip archive begins."""


class TooLargeError(Exception):
    """An archive unpacks to more than it may."""


def most_unpacked(size: int) -> int:
    """Return to how many bytes an archive of this size may unpack.

    Parameters
    ----------
    size
        Of the archive as it lies there.

    Examples
    --------
    >>> most_unpacked(1) == MOST, most_unpacked(MOST) == TIMES * MOST
    (True, True)
    """
    return max(MOST, TIMES * size)


def in_words(most: int) -> str:
    """Return what such an archive may not do, as the end of a sentence.

    Parameters
    ----------
    most
        Bytes, from `most_unpacked`.

    Examples
    --------
    >>> in_words(1 << 30)[:42]
    'must not unpack to more than 1024 MiB; one'
    """
    return (
        f"must not unpack to more than {most / (1 << 20):.4g} MiB; one that was saved without "
        "compression may be as large as it is"
    )


def unpacked_sizes(archive: Path | BytesIO, most: int, *, inner: bool = True) -> dict[str, int]:
    """Return how many bytes each file of a zip archive has when unpacked.

    Both what the archive says of its files and what is really in them must be within the limit;
    a file of which the two differ is damaged.

    Parameters
    ----------
    archive
        The archive.
    most
        How many bytes all of them may have.
    inner
        Whether a file that is an archive, as arrays can be, counts with what it unpacks to.

    Raises
    ------
    TooLargeError
        As soon as the limit is passed: no more than that is ever unpacked.
    BadZipFile
        If a file is not as long as the archive says.
    """
    sizes: dict[str, int] = {}
    left = most
    with ZipFile(archive) as opened:
        for info in opened.infolist():
            size = _size(opened, info, left)
            if inner:
                size += _inner_size(opened, info, left - size)
            left -= size
            sizes[info.filename] = size
    return sizes


def _size(archive: ZipFile, info: ZipInfo, most: int) -> int:
    """Return how many bytes a file of an archive really has, reading it piece by piece.

    Parameters
    ----------
    archive, info
        The archive and what it says of the file.
    most
        At how many bytes to stop.
    """
    if info.file_size > most:
        raise TooLargeError
    whole, size = copy(info), 0
    whole.file_size = ENDLESS  # else the reader stops where the archive says that it ends
    with archive.open(whole) as file:
        while piece := file.read(PIECE):
            size += len(piece)
            if size > most:
                raise TooLargeError
    if size != info.file_size:
        msg = f"{info.filename!r} in it must have {info.file_size} bytes, got {size}"
        raise BadZipFile(msg)
    return size


def _inner_size(archive: ZipFile, info: ZipInfo, most: int) -> int:
    """Return what a file unpacks to that is an archive itself; 0 if it is none.

    Parameters
    ----------
    archive, info
        The archive and the file in it.
    most
        How many bytes it may unpack to.
    """
    with archive.open(info) as file:
        if file.read(len(ARCHIVE)) != ARCHIVE:
            return 0
    found = BytesIO(archive.read(info))
    return sum(unpacked_sizes(found, most, inner=False).values()) if is_zipfile(found) else 0
