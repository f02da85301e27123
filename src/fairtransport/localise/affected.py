"""Who is affected: the profiles that do worst, and what happens to each sensitive group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.localise.profiles import Profile, Profiles, Value, first_points

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray
    from fairtransport.localise.moves import Moved
    from fairtransport.space import SampleSpace


@dataclass(frozen=True)
class Affected:
    """People at one point who do worse as someone similar.

    Attributes
    ----------
    profile, label
        Who they are.
    people, moved
        How many there are (None where that is not told), and how many of them are moved.
    gain
        How much worse the model does for each of those, on average.
    contribution
        What they add to the statistic.
    """

    profile: Profile
    label: Value
    people: float | None
    moved: float
    gain: float
    contribution: float


@dataclass(frozen=True)
class GroupFlow:
    """How many people are moved out of a sensitive group and into it, and what that adds.

    ``risk`` is the mean loss of the group's people, ``risk_after`` that of the same people
    after they were swapped, ``contribution`` what they add to the statistic. What is not
    told is None.
    """

    group: Profile
    people: float | None
    out: float
    into: float
    change: float
    contribution: float
    risk: float | None
    risk_after: float | None


def most_affected(moved: Moved, space: SampleSpace) -> tuple[Affected, ...]:
    """Return the points whose people are moved, those with the largest gain a person first."""
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
        for at in order
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
