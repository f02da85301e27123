"""Sharing: leaves out cells with so few people that the audit data could be guessed from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias, overload

import numpy as np

from fairtransport.documents import Doc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtransport.checks import BoolArray, IntArray
    from fairtransport.localise.moves import Moved
    from fairtransport.space import SampleSpace

    Numbers: TypeAlias = NDArray[np.float64] | NDArray[np.signedinteger]

ROUNDING = 1e-6
"""Differences of numbers of people are no more exact than this."""


@dataclass(frozen=True)
class Suppression:
    """What was left out so that the document can be handed over.

    Flows, affected profiles and groups are those of the moves shown.
    """

    at_least: Annotated[
        int, Doc("Cells with fewer people were left out; people are multiples of this.")
    ]
    step: Annotated[float, Doc("Mean losses and their bounds are multiples of this.")]
    moved_hidden: Annotated[float, Doc("About how many people are in moves that are not shown.")]


@overload
def are_few(people: float, at_least: int) -> bool: ...
@overload
def are_few(people: Numbers, at_least: int) -> BoolArray: ...
def are_few(people: float | Numbers, at_least: int) -> bool | BoolArray:
    """Tell whether there is somebody, but fewer than ``at_least`` people.

    Parameters
    ----------
    people
        A number or an array of them; no whole numbers where a budget ends half way.
    at_least
        From how many on a cell may be shown.
    """
    return (people > ROUNDING) & (people < at_least - ROUNDING)


def can_be_shown(moved: Moved, at_least: int, telling: BoolArray) -> BoolArray:
    """Tell which moves can be shown.

    ``telling`` are the points that nobody may be seen to be moved to, for they tell of few
    people. No other move is hidden to cover a small one: numbers of people are rounded, so a
    small move cannot be had from a total, and what is hidden for it would tell that it is there.

    Parameters
    ----------
    moved
        Who is moved where.
    at_least
        From how many people on a move may be shown.
    telling
        (K,) truth values, from `telling_targets`.
    """
    return (moved.people >= at_least - ROUNDING) & ~telling[moved.targets]


def telling_targets(space: SampleSpace, at_least: int, *, observed: bool) -> BoolArray:
    """Tell which points show, by being targets, what few people in the audit data are.

    With ``observed`` the targets are points of the audit data, or twins of them. A twin's
    sensitive levels are those that somebody has. Points that few people are at count as if
    nobody were there, or what is told would depend on them.

    Parameters
    ----------
    space
        The points and people.
    at_least
        From how many people on a point counts as known.
    observed
        Whether targets were taken from the audit data.
    """
    counts = counts_of_many(space, at_least)
    people = [_people_like(space, counts, [name]) for name in space.sensitive]
    if observed and space.has_twins:
        others = [name for name in space.columns if name not in space.sensitive]
        people.append(_people_like(space, counts, others))
    elif observed:
        people.append(counts)
    return np.asarray((np.array(people) == 0).any(axis=0), dtype=bool)


def counts_of_many(space: SampleSpace, at_least: int) -> IntArray:
    """Return how many people are at each point, 0 where they are few.

    Parameters
    ----------
    space
        The points and people.
    at_least
        From how many on they are told.
    """
    return np.where(space.counts >= at_least, space.counts, 0)


def _people_like(space: SampleSpace, counts: IntArray, names: list[str]) -> IntArray:
    """Return how many people agree with each point in some columns.

    Parameters
    ----------
    space
        The points.
    counts
        By point: its people, or 0 where they do not count.
    names
        The columns.
    """
    groups = space.groups(names)
    return np.bincount(groups, counts).astype(np.int64)[groups]
