"""What a kind of input is, and what may come of it: a clear sentence or a right result."""

from __future__ import annotations

import atexit
import re
import shutil
import signal
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.errors import FairtransportError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

CLEAR, RIGHT = "clear", "right"
LONGEST_SENTENCE = 500
LONGEST_CALL = 20.0
"""CPU seconds: on a busy machine a first call may compile for longer than that."""
LONGEST_WAIT = 300.0


@dataclass(frozen=True)
class Kind:
    """One kind of bad or odd input.

    Attributes
    ----------
    entry, name
        The public entry that receives it, and what it is.
    call
        Hands it over.
    says
        What the one sentence says, as a pattern; None: the input is odd, but right.
    error
        The documented class of the exception.
    right
        What the call must return, from another source than the package.
    """

    entry: str
    name: str
    call: Callable[[], Any]
    says: str | None = None
    error: type[FairtransportError] = InputError
    right: Any = None


def outcome(kind: Kind) -> str:
    """Run a kind and say what came of it: "clear", "right", or else what happened."""
    try:
        with limited(signal.ITIMER_PROF, LONGEST_CALL), limited(signal.ITIMER_REAL, LONGEST_WAIT):
            got = kind.call()
    except FairtransportError as error:
        return _sentence(kind, error)
    except Exception as error:  # noqa: BLE001 - this is what the campaign looks for
        return f"{type(error).__name__}: {error}"
    if kind.says is not None:
        return f"accepted: {got!r}"
    same = np.allclose(got, kind.right, atol=1e-12) if kind.right is not None else False
    return RIGHT if same else f"returned {got!r} instead of {kind.right!r}"


def _sentence(kind: Kind, error: FairtransportError) -> str:
    text = str(error)
    is_clear = (
        kind.says is not None
        and type(error) is kind.error
        and re.search(kind.says, text) is not None
        and "\n" not in text
        and len(text) <= LONGEST_SENTENCE
    )
    return CLEAR if is_clear else f"{type(error).__name__}: {text}"


@cache
def folder() -> Path:
    """Return a folder for files, which goes when the process does."""
    made = Path(mkdtemp(prefix="campaign"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


class TookTooLongError(Exception):
    """A call that does not come back."""


SIGNALS = {signal.ITIMER_PROF: signal.SIGPROF, signal.ITIMER_REAL: signal.SIGALRM}


@contextmanager
def limited(timer: int, seconds: float):
    """Give up on a call that runs or waits for too long."""

    def stop(*_):
        raise TookTooLongError

    before = signal.signal(SIGNALS[timer], stop)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(SIGNALS[timer], before)
