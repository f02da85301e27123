"""Several requests at a time, their answers as they arrive."""

from __future__ import annotations

from itertools import islice
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

    A part is in hand until whoever is waiting has taken its answer and comes back for more: so
    many can be lost at most when the program is killed. When one fails nothing more is asked;
    what was in hand still arrives, and then the error is raised, so that no answer is lost that
    was paid for.

    Parameters
    ----------
    ask
        Asks about one part; called in threads.
    parts
        What is asked about.
    at_a_time
        How many may be under way.

    Examples
    --------
    >>> sorted(as_they_arrive(lambda part: 10 * part, [1, 2, 3], at_a_time=2))
    [(0, 10), (1, 20), (2, 30)]
    """
    if min(len(parts), at_a_time) == 1:
        yield from ((at, ask(part)) for at, part in enumerate(parts))
        return
    waiting = iter(enumerate(parts))
    to_do: Queue[tuple[int, Part] | None] = Queue()
    done: Queue[tuple[int, Said] | BaseException] = Queue()
    in_hand = min(at_a_time, len(parts))
    for one in islice(waiting, in_hand):
        to_do.put(one)
    # threads that wait for an answer must not keep an interrupted program from ending
    workers = [Thread(target=_work, args=(ask, to_do, done), daemon=True) for _ in range(in_hand)]
    for worker in workers:
        worker.start()
    failed: BaseException | None = None
    try:
        while in_hand:
            arrived = done.get()
            if isinstance(arrived, BaseException):
                failed = failed or arrived
            else:
                yield arrived
            following = None if failed else next(waiting, None)
            if following is None:
                in_hand -= 1
            else:
                to_do.put(following)
    finally:
        for _ in workers:
            to_do.put(None)
    if failed is not None:
        raise failed


def _work(
    ask: Callable[[Part], Said], to_do: Queue[tuple[int, Part] | None],
    done: Queue[tuple[int, Said] | BaseException],
) -> None:  # fmt: skip
    """Ask about one part after the other, until there is none.

    Parameters
    ----------
    ask
        Asks about one part.
    to_do
        Places and parts; None ends the work.
    done
        Takes answers, and errors, which are raised where they are waited for.
    """
    while (one := to_do.get()) is not None:
        try:
            done.put((one[0], ask(one[1])))
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            done.put(error)
