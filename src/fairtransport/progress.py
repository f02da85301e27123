"""A progress bar that shows itself only when work lasts longer than a second."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds of work before a bar appears."""


_silent: ContextVar[bool] = ContextVar("silent", default=False)


@contextmanager
def silence() -> Iterator[None]:
    """Show no bars inside."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def track(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """Yield the items; if they take long and a person watches, show how far they are."""
    if _silent.get() or not sys.stderr.isatty():
        yield from items
        return
    started, bar, task = time.monotonic(), None, None
    try:
        for done, item in enumerate(items):
            yield item
            if bar is None and time.monotonic() - started > PATIENCE:
                from rich.console import Console
                from rich.progress import Progress

                bar = Progress(console=Console(stderr=True), transient=True)
                bar.start()
                task = bar.add_task(what, total=total)
            if bar is not None and task is not None:
                bar.update(task, completed=done + 1)
    finally:
        if bar is not None:
            bar.stop()
