"""Sharing: leaves out cells with so few people that the audit data could be guessed from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fairtransport.checks import BoolArray, FloatArray, IntArray
    from fairtransport.localise.moves import Moved
    from fairtransport.space import SampleSpace

ROUNDING = 1e-6
"""Differences of numbers of people are no more exact than this."""


@dataclass(frozen=True)
class Suppression:
    """What was left out so that a document can be handed over.

    ``at_least`` is the fewest people that a cell shows; ``moved_hidden`` people are in the
    ``moves_hidden`` moves that are left out. Flows, affected profiles and groups are those of
    the moves shown.
    """

    at_least: int
    moves_hidden: int
    moved_hidden: float


def are_few(people: Any, at_least: int) -> Any:
    """Tell whether there is somebody, but fewer than ``at_least`` people."""
    return (people > ROUNDING) & (people < at_least - ROUNDING)


def too_small(
    people: FloatArray,
    at_least: int,
    *,
    rest: FloatArray | None = None,
    also: BoolArray | None = None,
) -> BoolArray:
    """Tell which cells to hide in a list of counts whose total is known.

    Parameters
    ----------
    people
        The counts. Cells with at least one and fewer than ``at_least`` people are hidden.
    at_least
        The fewest people that may be shown.
    rest
        How many people of each cell no other number tells; default: all. Where these are
        few, the cell is hidden.
    also
        Cells that are hidden for other reasons.

    Notes
    -----
    What is hidden is known in total, so more cells are hidden, the smallest first, until
    there are two of them, one may have ``at_least`` people even if all others have one, and
    the people of whom nothing else tells are not few. Empty cells stay.

    Examples
    --------
    >>> too_small(np.array([3, 8, 20, 0]), at_least=5).tolist()
    [True, True, False, False]
    """
    rest = people if rest is None else rest
    hidden = are_few(people, at_least) | are_few(rest, at_least)
    if also is not None:
        hidden |= also

    def can_be_worked_out() -> bool:
        size = int(hidden.sum())
        alone = size == 1 or people[hidden].sum() < size + at_least - 1 - ROUNDING
        return size > 0 and bool(alone or are_few(rest[hidden].sum(), at_least))

    shown = np.flatnonzero(~hidden & (people > 0))
    for at in shown[np.argsort(people[shown], kind="stable")]:
        if not can_be_worked_out():
            break
        hidden[at] = True
    return np.asarray(hidden, dtype=bool)


def hide_small_moves(moved: Moved, at_least: int, telling: BoolArray) -> tuple[Moved, Suppression]:
    """Return the moves that can be shown, and how many were left out.

    ``telling`` are the points that nobody may be seen to be moved to, for they tell of few
    people. Tables that are made from what is left tell no more than it does.
    """
    hidden = too_small(moved.people, at_least, also=telling[moved.targets])
    gone = Suppression(at_least, int(hidden.sum()), float(moved.people[hidden].sum()))
    return moved.take(~hidden), gone


def telling_targets(space: SampleSpace, at_least: int, *, observed: bool) -> BoolArray:
    """Tell which points show, by being targets, what few people in the audit data are.

    With ``observed`` the targets are points of the audit data, or twins of them. A twin's
    sensitive levels are those that somebody has.
    """
    people = [_people_like(space, [name]) for name in space.sensitive]
    if observed and space.has_twins:
        others = [name for name in space.columns if name not in space.sensitive]
        people.append(_people_like(space, others))
    elif observed:
        people.append(space.counts)
    return np.asarray(are_few(np.array(people), at_least).any(axis=0), dtype=bool)


def _people_like(space: SampleSpace, names: list[str]) -> IntArray:
    """Return how many people agree with each point in some columns."""
    groups = space.groups(names)
    return np.bincount(groups, space.counts).astype(np.int64)[groups]
