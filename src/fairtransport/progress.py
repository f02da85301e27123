"""A progress bar that shows itself only when work lasts longer than a second."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    Listener: TypeAlias = Callable[[str, int, int], None]
    """Is told what goes on in words, how much of it is done, and of how much."""

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds of work before a bar appears."""
PAUSE = 0.2
"""Seconds between what a listener is told."""


_silent: ContextVar[bool] = ContextVar("silent", default=False)
_price: ContextVar[float | None] = ContextVar("price", default=None)
_draw: ContextVar[str] = ContextVar("draw", default="")
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def silence() -> Iterator[None]:
    """Show no bars inside."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Tell a listener inside how far the work is, instead of showing a bar."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def priced(per_1000: float | None) -> Iterator[None]:
    """Say inside what questions cost, at a price of a thousand of them.

    Parameters
    ----------
    per_1000
        In whatever currency the user thinks; None: nothing is said of costs.
    """
    token = _price.set(per_1000)
    try:
        yield
    finally:
        _price.reset(token)


@contextmanager
def drawing(draw: int, draws: int) -> Iterator[None]:
    """Say inside which of several answers to each question is asked for, from 0 on.

    Parameters
    ----------
    draw, draws
        Which, and of how many.
    """
    token = _draw.set(f"draw {draw + 1} of {draws}: ")
    try:
        yield
    finally:
        _draw.reset(token)


def tell(sentence: str) -> None:
    """Say something before work that lasts, to a person who watches."""
    if not _silent.get() and sys.stderr.isatty():
        print(sentence, file=sys.stderr)  # noqa: T201


def track(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """Yield the items; if they take long and a person watches, show how far they are.

    Parameters
    ----------
    items
        The work, done as they are asked for.
    total
        How many there are.
    what
        What is being done, beside the bar.

    Examples
    --------
    >>> list(track("ab", 2, "Reading"))
    ['a', 'b']
    """
    return _track(items, total, 0, lambda _: 1, lambda *_: what)


def track_questions(
    answered: Iterable[tuple[list[int], T]], total: int, known: int
) -> Iterator[tuple[list[int], T]]:
    """Yield questions and their answers; show how many there are, how fast, at what cost.

    ``known`` of the ``total`` were answered before.

    Parameters
    ----------
    answered
        Places of questions with their answers, some at a time.
    total, known
        How many questions there are, and how many needed no asking.
    """

    def words(done: int, seconds: float) -> str:
        """Return the line beside the bar."""
        return _draw.get() + _asked(done, known, total, seconds, _price.get())

    return _track(answered, total, known, lambda one: len(one[0]), words)


def _asked(done: int, known: int, total: int, seconds: float, price: float | None) -> str:
    """Return how far the asking is, in words.

    Parameters
    ----------
    done, known, total
        Questions answered by now, answered before, and in all.
    seconds
        Since the asking began.
    price
        Of a thousand questions; known ones cost nothing.

    Examples
    --------
    >>> _asked(300, 100, 1000, 50.0, 2.5)
    'asked 300 of 1000 (4 a second, cost 0.50 of 2.25)'
    """
    asked = done - known
    cost = ""
    if price is not None:
        cost = f", cost {asked * price / 1000:.2f} of {(total - known) * price / 1000:.2f}"
    return f"asked {done} of {total} ({asked / max(seconds, 1e-9):.2g} a second{cost})"


def _track(
    items: Iterable[T], total: int, before: int, size: Callable[[Any], int],
    words: Callable[[int, float], str],
) -> Iterator[T]:  # fmt: skip
    if (listener := _listener.get()) is not None:
        yield from _told(items, total, before, size, words, listener)
        return
    if _silent.get() or not sys.stderr.isatty():
        yield from items
        return
    started, bar, task, done = time.monotonic(), None, None, before
    try:
        for item in items:
            yield item
            done += size(item)
            lasted = time.monotonic() - started
            if bar is None and lasted > PATIENCE:
                from rich.console import Console
                from rich.progress import Progress

                bar = Progress(console=Console(stderr=True), transient=True)
                bar.start()
                task = bar.add_task(words(done, lasted), total=total, completed=done)
            if bar is not None and task is not None:
                bar.update(task, completed=done, description=words(done, lasted))
    finally:
        if bar is not None:
            bar.stop()


def _told(
    items: Iterable[T], total: int, before: int, size: Callable[[Any], int],
    words: Callable[[int, float], str], listener: Listener,
) -> Iterator[T]:  # fmt: skip
    """Yield the items; tell the listener first and last, and in between now and then."""
    started, told, done = time.monotonic(), -PAUSE, before
    for item in items:
        lasted = time.monotonic() - started
        if lasted - told >= PAUSE:
            listener(words(done, lasted), done, total)
            told = lasted
        yield item
        done += size(item)
    listener(words(done, time.monotonic() - started), done, total)
