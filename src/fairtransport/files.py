"""Writes files whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from fairtransport.errors import FairtransportError


def write_text(path: Path, text: str, parameter: str = "path") -> Path:
    """Write a text file; a reader sees the old file or the new one, never a part."""
    draft = None
    try:
        # the draft lies beside its target, so that moving it is atomic
        with NamedTemporaryFile(
            "w", dir=path.parent, prefix=f".{path.name}.", encoding="utf-8", newline="\n",
            delete=False,
        ) as file:  # fmt: skip
            draft = Path(file.name)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(0o666 & ~_umask())
        draft.replace(path)
    except OSError as error:
        if draft is not None:
            draft.unlink(missing_ok=True)
        msg = f"`{parameter}` could not be written to {str(path)!r}: {error.strerror or error}"
        raise FairtransportError(msg) from error
    return path


def _umask() -> int:
    # a draft is private at first; the file gets the rights that any new file would
    current = os.umask(0)
    os.umask(current)
    return current
