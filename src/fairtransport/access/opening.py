"""What every model file goes through: it exists, is read, hashed, and its errors are sentences."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from fairtransport.checks import said, shown
from fairtransport.errors import InputError, ModelError
from fairtransport.filesystem import is_file

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE = 1 << 20


@dataclass(frozen=True)
class Permissions:
    """What a user allows when a model is opened; see `load`.

    Attributes
    ----------
    allow_pickle
        Whether code in a pickle may run.
    trusted
        Full names of types that a skops file may hold beyond the reviewed ones.
    max_unpacked
        Bytes that a file may unpack to; None: by its size.
    """

    allow_pickle: bool = False
    trusted: tuple[str, ...] = ()
    max_unpacked: int | None = None


def existing_file(path: str) -> Path:
    """Return the path of a file that is there.

    Parameters
    ----------
    path
        What the user typed.

    Raises
    ------
    InputError
        If there is no such file.
    """
    if not is_file(Path(path)):
        msg = f"`path` must be an existing file, got {shown(path)}"
        raise InputError(msg)
    return Path(path)


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Turn whatever a damaged file makes its reader raise into one sentence.

    Parameters
    ----------
    file
        Named in the sentence, without its folder.

    Raises
    ------
    ModelError
        In place of whatever was raised; an interrupt passes.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        msg = f"the model in {file.name!r} needs the package {error.name!r}, which is not installed"
        raise ModelError(msg) from error
    except (ModelError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a pickle can raise even what ends a program
        msg = f"{file.name!r} could not be read as a model: {said(error)}"
        raise ModelError(msg) from error


def bytes_of(file: Path) -> bytes:
    """Return what a file holds.

    Parameters
    ----------
    file
        Read at once.

    Raises
    ------
    ModelError
        With the system's reason.
    """
    try:
        return file.read_bytes()
    except OSError as error:
        msg = f"{file.name!r} could not be read: {error.strerror or error}"
        raise ModelError(msg) from error


def hash_of(file: Path) -> str:
    """Return the SHA-256 of what a file holds, read a piece at a time.

    Parameters
    ----------
    file
        Of any size.
    """
    digest = sha256()
    with file.open("rb") as opened:
        while piece := opened.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()
