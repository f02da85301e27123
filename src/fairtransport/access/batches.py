"""Asks many questions: those that a log knows are read, the others asked, kept as they arrive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from fairtransport.access.boxes import batches_of
from fairtransport.access.logged import is_recorded, log_of
from fairtransport.access.query_log import written
from fairtransport.access.wrapping import arriving_of
from fairtransport.checks import shown, whole
from fairtransport.errors import ModelError
from fairtransport.progress import track_questions
from fairtransport.space.columns import Values

if TYPE_CHECKING:
    from collections.abc import Sequence, Sized

    from fairtransport.access.boxes import BlackBox
    from fairtransport.access.query_log import Asked as Key
    from fairtransport.access.query_log import QueryLog, Store, System

Asked: TypeAlias = Callable[[list[int]], Iterator[tuple[list[int], Values]]]
"""Asks about questions by their places, and yields some places and answers after the other."""
BATCH = 64
"""Questions in a batch where a log is kept, unless the box says how many it takes at once.

A batch is written down when it is there: whoever is killed loses the one that is under way.
"""


def parts_of(box: BlackBox, places: list[int]) -> list[list[int]]:
    """Return what a box is asked about at once.

    That is everything, where its answers come some after the other or all are to come together;
    else a batch.

    Parameters
    ----------
    box
        Whom to ask.
    places
        Of the questions.
    """
    size = batches_of(box)
    if size is not None:
        whole(f"the batches of the model {box.name}", size)
    elif log_of(box) is not None:
        size = BATCH
    if size is None or arriving_of(box) is not None:
        return [places] if places else []
    return [places[at : at + size] for at in range(0, len(places), size)]


def ask_all(
    box: BlackBox, questions: Sequence[tuple[object, ...]], asked: Asked,
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
        Asks the box about some of them, by their places, and yields what comes back, checked.
    check
        Refuses answers of a log that could not have come back so.
    system
        Who answers what, for a log.
    draw
        Which of several answers to each question these are.
    """
    everything, log = list(range(len(questions))), log_of(box)
    if log is not None:
        with log.opened(reading=is_recorded(box)) as store:
            return _from_log(box, log, store, questions, asked, check, system(), draw)
    if batches_of(box) is None:
        ((_, at_once),) = asked(everything)
        return at_once, 0
    said: dict[int, object] = {}
    for places, came in _arriving(box, everything, asked, 0):
        said.update(zip(places, came.tolist(), strict=True))
    return [said[at] for at in everything], 0


def _from_log(
    box: BlackBox, log: QueryLog, store: Store, questions: Sequence[tuple[object, ...]],
    asked: Asked, check: Callable[[str, list[object]], None], system: System, draw: int,
) -> tuple[list[object], int]:  # fmt: skip
    """Return answers that a log has, and ask for the others, keeping each batch as it comes.

    Parameters
    ----------
    box, questions, asked, check, draw
        As in `ask_all`.
    log, store
        The log and its open file.
    system
        Who answers what: answers of another system are none.

    Raises
    ------
    ModelError
        If answers are missing and the model is not here.
    """
    keys: list[Key] = [(written(one), draw) for one in questions]
    # answers under the same question, draw and system: nothing is asked that was paid for
    there = store.answers(system, keys)
    said = {key: there[key] for key in keys if key in there}
    known = len(said)
    # a log is a file that others can write to: what is in it is checked as a model's answers are
    check(log.name, list(said.values()))
    left = [at for at, key in enumerate(keys) if key not in said]
    if left and is_recorded(box):
        msg = (
            f"{log.name} has no answer of this kind to {len(left)} of {len(keys)} questions, such "
            f"as {shown(questions[left[0]])}, and the model is not here to be asked"
        )
        raise ModelError(msg)
    with _telling(log, said, len(keys)):
        for places, came in _arriving(box, left, asked, known):
            now = zip([keys[at] for at in places], came.tolist(), strict=True)
            # what the store kept, not what came: another process may have been first, and its
            # answer counts
            said.update(store.keep(system, now))
    return [said[key] for key in keys], known


def _arriving(
    box: BlackBox, places: list[int], asked: Asked, known: int
) -> Iterator[tuple[list[int], Values]]:
    """Yield answers as they come, while whoever watches sees how many there are.

    Parameters
    ----------
    box
        Whom to ask.
    places
        Of the questions that are left.
    asked
        Asks.
    known
        How many were known before.
    """
    came = (one for part in parts_of(box, places) for one in asked(part))
    return track_questions(came, len(places) + known, known)


@contextmanager
def _telling(log: QueryLog, said: Sized, total: int) -> Iterator[None]:
    """Say to whoever is stopped or let down where the answers so far are.

    Parameters
    ----------
    log
        Where they are.
    said
        Those so far; it grows while inside.
    total
        How many there are to be.
    """
    try:
        yield
    except ModelError as error:
        msg = f"{error}; {_where(log, said, total)}"
        raise ModelError(msg) from error
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_where(log, said, total)) from None


def _where(log: QueryLog, said: Sized, total: int) -> str:
    """Return where the answers so far are, as the end of a sentence."""
    return f"{len(said)} of {total} answers are in {log.name}: run the same audit again to go on"
