"""Several requests at a time, their answers as they arrive."""

from __future__ import annotations

from collections import deque
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Part = TypeVar("Part")
Said = TypeVar("Said")


def as_they_arrive(
    ask: Callable[[Part], Said], parts: Sequence[Part], at_a_time: int
) -> Iterator[tuple[int, Said]]:
    """Yield which part was answered and how, at most so many of them in hand at once.

    When one fails nothing more is asked; what was in hand still arrives, and then the error is
    raised, so that no answer is lost that was paid for.
    """
    if min(len(parts), at_a_time) == 1:
        yield from ((at, ask(part)) for at, part in enumerate(parts))
        return
    waiting = deque(enumerate(parts))
    done: Queue[tuple[int, Said] | BaseException | None] = Queue()
    # threads that wait for an answer must not keep an interrupted program from ending
    workers = [
        Thread(target=_work, args=(ask, waiting, done), daemon=True)
        for _ in range(min(at_a_time, len(parts)))
    ]
    for worker in workers:
        worker.start()
    failed: BaseException | None = None
    working = len(workers)
    try:
        while working:
            arrived = done.get()
            if arrived is None:
                working -= 1
            elif isinstance(arrived, BaseException):
                failed = failed or arrived
            else:
                yield arrived
    finally:
        waiting.clear()
    if failed is not None:
        raise failed


def _work(
    ask: Callable[[Part], Said], waiting: deque[tuple[int, Part]],
    done: Queue[tuple[int, Said] | BaseException | None],
) -> None:  # fmt: skip
    """Ask about one part after the other, until none is left or one fails."""
    try:
        while waiting:
            try:
                at, part = waiting.popleft()
            except IndexError:  # another one took the last
                break
            done.put((at, ask(part)))
    except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
        waiting.clear()
        done.put(error)
    finally:
        done.put(None)
