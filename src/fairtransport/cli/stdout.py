"""What a model prints while it is read and asked goes to standard error."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

STDOUT, STDERR = 1, 2


@contextmanager
def stdout_aside() -> Iterator[None]:
    """Keep standard output for the command's own words, whoever prints meanwhile.

    That is Python's stream, and the system's under it, to which libraries and programs write
    that a model calls.
    """
    with redirect_stdout(sys.stderr), _system_stream_aside():
        yield


@contextmanager
def _system_stream_aside() -> Iterator[None]:
    """Let the system's standard output lead to standard error inside, whoever writes to it."""
    _flush()
    try:
        kept = os.dup(STDOUT)
        os.dup2(STDERR, STDOUT)
    except OSError:  # one of them is closed
        yield
        return
    try:
        yield
    finally:
        # what was written to the stream behind ours must not wait for it to come back
        _flush()
        os.dup2(kept, STDOUT)
        os.close(kept)


def _flush() -> None:
    """Write out what Python's own stream still holds."""
    with suppress(AttributeError, OSError, ValueError):  # there is none, or it is closed
        sys.__stdout__.flush()  # type: ignore[union-attr]
