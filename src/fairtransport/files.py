"""Writes files whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

from fairtransport.errors import FairtransportError


def write_text(path: Path, text: str, parameter: str = "path") -> Path:
    """Replace a text file as a whole: after a crash it is either the old one or the new one."""
    try:
        # the draft lies beside its target, so that moving it is atomic
        handle, name = mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
        draft = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            draft.chmod(0o666 & ~_umask())
            draft.replace(path)
        except BaseException:
            with suppress(FileNotFoundError):
                draft.unlink()
            raise
        _keep_name(path.parent)
    except OSError as error:
        msg = f"`{parameter}` could not be written to {str(path)!r}: {error.strerror or error}"
        raise FairtransportError(msg) from error
    return path


def _umask() -> int:
    # a draft is private at first; the file gets the rights that any new file would
    current = os.umask(0)
    os.umask(current)
    return current


def _keep_name(folder: Path) -> None:
    # the new name itself must survive a power failure too
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
