"""Does it answer the same twice? A sample of questions is asked again, never of a log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairtransport.access.boxes import batches_of
from fairtransport.access.logged import Recorded
from fairtransport.access.remembering import Remembering
from fairtransport.access.wrapping import layers

REPEATS = 20
"""Questions that a model behind an endpoint or a prompt is asked a second time, unless told."""
TOLERANCE = 1e-6
"""How far a score may be from what it was: sums depend on how many points are asked at once."""


@dataclass(frozen=True)
class Repeats:
    """Questions that were asked a second time, and how many of them got another answer."""

    asked: int = 0
    differed: int = 0


def to_repeat(box: object, wanted: int | None) -> int:
    """Return how many questions to ask again.

    Models in this process are asked once unless told: they cost nothing and rarely answer at
    random. What only remembers cannot be asked again.
    """
    if any(isinstance(one, Remembering | Recorded) for one in layers(box)):
        return 0
    if wanted is not None:
        return wanted
    return 0 if batches_of(box) is None else REPEATS


def same_answer(before: object, now: object) -> bool:
    """Say whether two answers are the same, but for rounding."""
    if isinstance(before, float | list) and isinstance(now, float | list):
        return np.shape(before) == np.shape(now) and np.allclose(
            before, now, rtol=TOLERANCE, atol=TOLERANCE
        )
    return bool(before == now)
