"""Asks many questions: those that a log knows are read, the others asked in batches and kept."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from fairtransport.access.boxes import batches_of
from fairtransport.access.logged import is_recorded, log_of
from fairtransport.access.query_log import written
from fairtransport.checks import shown, whole
from fairtransport.errors import ModelError
from fairtransport.progress import track_questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairtransport.access.boxes import BlackBox
    from fairtransport.access.query_log import Asked, QueryLog, Store, System
    from fairtransport.space.columns import Values

BATCH = 64
"""Questions in a batch where a log is kept, unless the box says how many it takes at once.

A batch is written down when it is there: whoever is killed loses the one that is under way.
"""


def batch_of(box: BlackBox) -> int | None:
    """Return how many questions a box takes at once; None: however many there are."""
    size = batches_of(box)
    if size is not None:
        return whole(f"the batches of the model {box.name}", size)
    return BATCH if log_of(box) is not None else None


def ask_all(
    box: BlackBox, questions: Sequence[tuple[object, ...]], asked: Callable[[list[int]], Values],
    check: Callable[[str, list[object]], None], system: Callable[[], System], draw: int = 0,
) -> tuple[Values | list[object], int]:  # fmt: skip
    """Return the answers to some questions, and how many of them were known before.

    Parameters
    ----------
    box
        Whom to ask.
    questions
        What about.
    asked
        Asks the box about some of them, by their places, and checks what comes back.
    check
        Refuses answers of a log that could not have come back so.
    system
        Who answers what, for a log.
    draw
        Which of several answers to each question these are.
    """
    size, everything = batch_of(box), list(range(len(questions)))
    if size is None:
        return asked(everything), 0
    log = log_of(box)
    if log is None:
        said = [
            one for part in _batches(everything, size, 0) for one in asked(part).tolist()
        ]  # fmt: skip
        return said, 0
    with log.opened(reading=is_recorded(box)) as store:
        return _from_log(box, log, store, questions, asked, check, system(), draw, size)


def _from_log(
    box: BlackBox, log: QueryLog, store: Store, questions: Sequence[tuple[object, ...]],
    asked: Callable[[list[int]], Values], check: Callable[[str, list[object]], None],
    system: System, draw: int, size: int,
) -> tuple[list[object], int]:  # fmt: skip
    keys: list[Asked] = [(written(one), draw) for one in questions]
    there = store.answers(system)
    said = {key: there[key] for key in keys if key in there}
    known = len(said)
    check(log.name, list(said.values()))
    left = [at for at, key in enumerate(keys) if key not in said]
    if left and is_recorded(box):
        msg = (
            f"{log.name} has no answer of this kind to {len(left)} of {len(keys)} questions, such "
            f"as {shown(questions[left[0]])}, and the model is not here to be asked"
        )
        raise ModelError(msg)
    for part in _batches(left, size, known):
        with _telling(log, len(said), len(keys)):
            answers = asked(part).tolist()
            came = zip([keys[at] for at in part], answers, strict=True)
            said.update(store.keep(system, came))
    return [said[key] for key in keys], known


def _batches(places: list[int], size: int, known: int) -> Iterator[list[int]]:
    parts = [places[at : at + size] for at in range(0, len(places), size)]
    return track_questions(parts, len(places) + known, known)


@contextmanager
def _telling(log: QueryLog, done: int, total: int) -> Iterator[None]:
    """Say to whoever is stopped or let down where the answers so far are."""
    where = f"{done} of {total} answers are in {log.name}: run the same audit again to go on"
    try:
        yield
    except ModelError as error:
        msg = f"{error}; {where}"
        raise ModelError(msg) from error
    except KeyboardInterrupt:
        raise KeyboardInterrupt(where) from None
