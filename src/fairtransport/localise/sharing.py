"""Sharing: leaves out cells with so few people that the audit data could be guessed from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtransport.checks import BoolArray, FloatArray
    from fairtransport.localise.moves import Moved


@dataclass(frozen=True)
class Suppression:
    """What was left out so that a document can be handed over.

    ``at_least`` is the fewest people that a cell shows; ``moved_hidden`` people are in the
    ``moves_hidden`` moves that are left out.
    """

    at_least: int
    moves_hidden: int
    moved_hidden: float


def too_small(people: FloatArray, at_least: int) -> BoolArray:
    """Tell which cells to hide in a list of counts whose total is known.

    Cells with at least one and fewer than ``at_least`` people are hidden. What is hidden can
    be worked out from the total and the rest, so more cells are, the smallest first, until
    there are two of them with ``at_least`` people together. Empty cells stay.

    Examples
    --------
    >>> too_small(np.array([3, 8, 20, 0]), at_least=5).tolist()
    [True, True, False, False]
    """
    hidden = (people > 0) & (people < at_least)
    if not hidden.any():
        return hidden
    for at in np.argsort(people, kind="stable"):
        if hidden.sum() > 1 and people[hidden].sum() >= at_least:
            break
        hidden[at] = people[at] > 0
    return hidden


def hide_small_moves(moved: Moved, at_least: int) -> tuple[Moved, Suppression]:
    """Return the moves that can be shown, and how many were left out.

    Tables that are made from what is left tell no more than it does.
    """
    hidden = too_small(moved.people, at_least)
    gone = Suppression(at_least, int(hidden.sum()), float(moved.people[hidden].sum()))
    return moved.take(~hidden), gone
