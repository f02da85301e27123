"""Does it answer the same twice? A sample of questions is asked again, never of a log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.access.boxes import batches_of, described
from fairtransport.access.logged import Recorded
from fairtransport.access.remembering import Remembering
from fairtransport.access.wrapping import answers_at_random, layers
from fairtransport.errors import InputError

if TYPE_CHECKING:
    from fairtransport.access.boxes import BlackBox

REPEATS = 20
"""Questions that a model behind an endpoint or a prompt is asked a second time, unless told."""
TOLERANCE = 1e-6
"""How far a score may be from what it was: sums depend on how many points are asked at once."""


@dataclass(frozen=True)
class Repeats:
    """Questions that were asked a second time, and how many of them got another answer.

    Attributes
    ----------
    asked, differed
        0 and 0 where nothing was asked again: that says nothing of the model.
    """

    asked: int = 0
    differed: int = 0


def to_repeat(box: object, wanted: int | None) -> int:
    """Return how many questions to ask again.

    Models in this process are asked once unless told: they cost nothing and rarely answer at
    random. Of a log alone nobody can be asked again.

    Parameters
    ----------
    box
        The model.
    wanted
        What the user said, if anything.
    """
    if any(isinstance(one, Recorded) for one in layers(box)):
        return 0
    if wanted is not None:
        return wanted
    return 0 if batches_of(box) is None else REPEATS


def refuse_random(name: str, box: object) -> None:
    """Refuse a model that says it answers at random where nothing but one answer is looked at.

    Parameters
    ----------
    name
        The parameter, for the message.
    box
        The model.

    Raises
    ------
    InputError
        If it says so.
    """
    if answers_at_random(box):
        msg = f"`{name}` must not answer at random, and a model says that it does; `audit` takes it"
        raise InputError(msg)


def to_ask_again(box: BlackBox) -> BlackBox:
    """Return whom to ask again: what remembers first answers remembers the second ones apart.

    Parameters
    ----------
    box
        The model, perhaps shared by several audits.
    """
    remembering = next((one for one in layers(box) if isinstance(one, Remembering)), None)
    return box if remembering is None else described(remembering.second)


def same_answer(before: object, now: object) -> bool:
    """Say whether two answers are the same, but for rounding.

    Parameters
    ----------
    before, now
        Labels must be equal, numbers and scores nearly.

    Examples
    --------
    >>> same_answer(0.5, 0.5 + 1e-9), same_answer("yes", "no")
    (True, False)
    """
    if isinstance(before, float | list) and isinstance(now, float | list):
        return np.shape(before) == np.shape(now) and np.allclose(
            before, now, rtol=TOLERANCE, atol=TOLERANCE
        )
    return bool(before == now)
