"""Who is affected: the profiles that do worst, and what happens to each sensitive group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fairtransport.documents import Doc
from fairtransport.localise.profiles import Profile, Profiles, Value, first_points

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray
    from fairtransport.localise.moves import Moved
    from fairtransport.space import SampleSpace


@dataclass(frozen=True)
class Affected:
    """People at one point who do worse as someone similar."""

    profile: Annotated[Profile, Doc("Who they are.")]
    label: Annotated[Value, Doc("Their true label.")]
    people: Annotated[float | None, Doc("How many there are; null where that is not told.")]
    moved: Annotated[float, Doc("How many of them are moved.")]
    gain: Annotated[float, Doc("How much worse each of them does.")]
    contribution: Annotated[float, Doc("What all of them add to the statistic.")]


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
    moved: Moved, space: SampleSpace, most: int | None = None
) -> tuple[Affected, ...]:
    """Return the points whose people are moved, or ``most`` of them, by falling gain a person."""
    sources, place = np.unique(moved.sources, return_inverse=True)
    people = np.bincount(place, moved.people)
    total = np.bincount(place, moved.people * moved.gains)
    gain = total / np.maximum(people, np.finfo(float).tiny)
    profiles = Profiles(space)
    # rounded, so that gains that are equal but for rounding go by the number of people
    order = np.lexsort((sources, -people, -np.round(gain, 12)))
    return tuple(
        Affected(
            profiles.profile(int(sources[at])),
            profiles.label(int(sources[at])),
            float(space.counts[sources[at]]),
            float(people[at]),
            float(gain[at]),
            float(total[at] / space.n),
        )
        for at in order[:most]
    )


def group_flows(moved: Moved, space: SampleSpace, losses: FloatArray) -> tuple[GroupFlow, ...]:
    """Return what happens to each combination of the sensitive features."""
    firsts, group_of = first_points(space.groups(space.sensitive))
    size = len(firsts)
    leaves, enters = group_of[moved.sources], group_of[moved.targets]
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
