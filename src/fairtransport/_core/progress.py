"""A progress bar that appears only if work takes longer than a second."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    Listener: TypeAlias = Callable[[str, int, int], None]
    """Called with a description, the amount done, and the total."""

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds of work before a bar appears."""
PAUSE = 0.2
"""Seconds between calls of a listener."""


_silent: ContextVar[bool] = ContextVar("silent", default=False)
_price: ContextVar[float | None] = ContextVar("price", default=None)
_draw: ContextVar[str] = ContextVar("draw", default="")
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def silence() -> Iterator[None]:
    """Hide progress bars inside."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


@contextmanager
def with_listener(listener: Listener) -> Iterator[None]:
    """Report progress inside to a listener instead of a bar."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def with_price(per_1000: float | None) -> Iterator[None]:
    """Show the cost of questions in progress bars inside, at a price per 1000."""
    token = _price.set(per_1000)
    try:
        yield
    finally:
        _price.reset(token)


@contextmanager
def with_draw(draw: int, draws: int) -> Iterator[None]:
    """Show the number of the draw, from 0, in progress bars inside."""
    token = _draw.set(f"draw {draw + 1} of {draws}: ")
    try:
        yield
    finally:
        _draw.reset(token)


def print_notice(sentence: str) -> None:
    """Print a sentence before long work if standard error is a terminal."""
    if not _silent.get() and sys.stderr.isatty():
        print(sentence, file=sys.stderr)  # noqa: T201


def track(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """Yield the items, with a progress bar at a terminal if they take long."""
    return _track(items, total, 0, lambda _: 1, lambda *_: what)


def track_questions(
    answers: Iterable[tuple[Sequence[int], T]], total: int, known_count: int
) -> Iterator[tuple[Sequence[int], T]]:
    """Yield questions and answers with a progress bar; ``known_count`` are already answered."""

    def words(count: int, seconds: float) -> str:
        """Return the text beside the bar."""
        return _draw.get() + _format_progress(count, known_count, total, seconds, _price.get())

    return _track(answers, total, known_count, lambda item: len(item[0]), words)


def _format_progress(
    count: int, known_count: int, total: int, seconds: float, price: float | None
) -> str:
    """Return the number of answers, their rate and their cost as text."""
    new_count = count - known_count
    cost = ""
    if price is not None:
        cost = (
            f", cost {new_count * price / 1000:.2f} of {(total - known_count) * price / 1000:.2f}"
        )
    rate = new_count / max(seconds, 1e-9)
    speed = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"  # noqa: PLR2004 - two digits
    return f"{count:,} of {total:,} queries ({speed} a second{cost})"


def _track(
    items: Iterable[T], total: int, before: int, size: Callable[[Any], int],
    words: Callable[[int, float], str],
) -> Iterator[T]:  # fmt: skip
    if (listener := _listener.get()) is not None:
        yield from _notify(items, total, before, size, words, listener)
        return
    if _silent.get() or not sys.stderr.isatty():
        yield from items
        return
    started, bar, task, count = time.monotonic(), None, None, before
    try:
        for item in items:
            yield item
            count += size(item)
            lasted = time.monotonic() - started
            if bar is None and lasted > PATIENCE:
                from rich.console import Console
                from rich.progress import Progress

                bar = Progress(console=Console(stderr=True), transient=True)
                bar.start()
                task = bar.add_task(words(count, lasted), total=total, completed=count)
            if bar is not None and task is not None:
                bar.update(task, completed=count, description=words(count, lasted))
    finally:
        if bar is not None:
            bar.stop()


def _notify(
    items: Iterable[T], total: int, before: int, size: Callable[[Any], int],
    words: Callable[[int, float], str], listener: Listener,
) -> Iterator[T]:  # fmt: skip
    """Yield the items; call the listener at the start, every `PAUSE` seconds and at the end."""
    started, last, count = time.monotonic(), -PAUSE, before
    for item in items:
        lasted = time.monotonic() - started
        if lasted - last >= PAUSE:
            listener(words(count, lasted), count, total)
            last = lasted
        yield item
        count += size(item)
    listener(words(count, time.monotonic() - started), count, total)
