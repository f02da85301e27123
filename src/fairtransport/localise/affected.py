"""Who is affected: who is treated worse than similar people, and what each group's share is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fairtransport.documents import Doc
from fairtransport.localise.profiles import Profile, Profiles, Value

if TYPE_CHECKING:
    from fairtransport.checks import BoolArray, FloatArray, IntArray
    from fairtransport.localise.moves import Moved
    from fairtransport.space import SampleSpace


@dataclass(frozen=True)
class Affected:
    """People at one point for whom the model does worse than for similar people in the data."""

    profile: Annotated[Profile, Doc("Who they are.")]
    label: Annotated[Value, Doc("Their true label.")]
    people: Annotated[
        float | None,
        Doc(
            "How many there are in the data, whose treatment is a fact; 0: the model was asked "
            "about somebody who is not there; null where that is not told."
        ),
    ]
    moved: Annotated[float, Doc("How many similar people, all in the data, do better.")]
    gain: Annotated[float, Doc("How much worse the model does for each than for these.")]
    contribution: Annotated[float, Doc("What the comparison adds to the statistic.")]
    harmful: Annotated[
        float | None,
        Doc("The part of it where they are denied the favourable label; null: not known."),
    ] = None
    lenient: Annotated[float | None, Doc("The part of it where they are granted it.")] = None


@dataclass(frozen=True)
class GroupFlow:
    """How many people are moved out of a group and into it, and what that adds."""

    group: Annotated[Profile, Doc("The levels of the sensitive features.")]
    people: Annotated[
        float | None, Doc("How many people are in the group; null where that is not told.")
    ]
    out: Annotated[float, Doc("How many are moved to other groups.")]
    into: Annotated[float, Doc("How many come from other groups.")]
    change: Annotated[float, Doc("The difference.")]
    contribution: Annotated[float, Doc("What the group's people add to the statistic.")]
    risk: Annotated[float | None, Doc("The group's mean loss; null where that is not told.")]
    risk_after: Annotated[float | None, Doc("The same after the swaps.")]


def most_affected(
    moved: Moved, space: SampleSpace, most: int | None = None, favoured: BoolArray | None = None
) -> tuple[Affected, ...]:
    """Return the points that people are moved to, or ``most`` of them, by falling gain a person.

    ``favoured`` tells of each point whether it gets the favourable label.

    Parameters
    ----------
    moved
        Who is moved where.
    space
        The points.
    most
        How many; all if None.
    favoured
        (K,) truth values; None where no label is known to be favourable. Then ``harmful`` and
        ``lenient`` stay None.
    """
    targets, place = np.unique(moved.targets, return_inverse=True)
    people = np.bincount(place, moved.people)
    total = np.bincount(place, moved.people * moved.gains)
    flips = flipped(moved, place, len(targets), favoured) / space.n
    gain = total / np.maximum(people, np.finfo(float).tiny)
    profiles = Profiles(space)
    # rounded, so that gains that are equal but for rounding go by the number of people
    order = np.lexsort((targets, -people, -np.round(gain, 12)))
    return tuple(
        Affected(
            profiles.profile(int(targets[at])),
            profiles.label(int(targets[at])),
            float(space.counts[targets[at]]),
            float(people[at]),
            float(gain[at]),
            float(total[at] / space.n),
            *(flips[:, at].tolist() if favoured is not None else ()),
        )
        for at in order[:most]
    )


def flipped(moved: Moved, place: IntArray, size: int, favoured: BoolArray | None) -> FloatArray:
    """Return what moves add, by a place each, that deny the favourable label, and that grant it.

    Parameters
    ----------
    moved
        Who is moved where.
    place
        By move: where what it adds is added up.
    size
        How many places there are.
    favoured
        (K,) which points get the favourable label; None: not known, and all is 0.

    Returns
    -------
    ndarray
        (2, size) sums of people times gain; moves between points with the same answer count in
        neither.
    """
    if favoured is None:
        return np.zeros((2, size))
    before, after = favoured[moved.sources], favoured[moved.targets]
    gains = moved.people * moved.gains
    return np.array(
        [np.bincount(place, gains * kind, size) for kind in (before & ~after, after & ~before)]
    )


def group_flows(moved: Moved, space: SampleSpace, losses: FloatArray) -> tuple[GroupFlow, ...]:
    """Return what happens to each combination of the sensitive features.

    Parameters
    ----------
    moved
        Who is moved where.
    space
        The points and people.
    losses
        (K,) of all points.

    Returns
    -------
    tuple of GroupFlow
        In the order in which the groups first occur.
    """
    firsts, group_of = space.first_of_groups, space.sensitive_groups
    size = len(firsts)
    leaves, enters = group_of[moved.sources], group_of[moved.targets]
    # moves inside a group change nobody's group, but what they add is the group's all the same
    cross = leaves != enters
    people = np.bincount(group_of, space.counts, size)
    out = np.bincount(leaves[cross], moved.people[cross], size)
    into = np.bincount(enters[cross], moved.people[cross], size)
    gained = np.bincount(leaves, moved.people * moved.gains, size)
    lost = np.bincount(group_of, space.counts * losses, size)
    profiles = Profiles(space)
    return tuple(
        GroupFlow(
            profiles.group(int(point)),
            float(people[at]),
            float(out[at]),
            float(into[at]),
            float(into[at] - out[at]),
            float(gained[at] / space.n),
            float(lost[at] / people[at]) if people[at] else None,
            float((lost[at] + gained[at]) / people[at]) if people[at] else None,
        )
        for at, point in enumerate(firsts)
    )
