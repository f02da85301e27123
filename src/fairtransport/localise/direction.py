"""Direction: between which levels of a sensitive feature the worse treatment goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fairtransport.documents import Doc
from fairtransport.localise.affected import flipped
from fairtransport.localise.profiles import Value, plain

if TYPE_CHECKING:
    from fairtransport.checks import BoolArray, IntArray
    from fairtransport.localise.moves import Moved
    from fairtransport.space import SampleSpace


@dataclass(frozen=True)
class Direction:
    """People of one level of a sensitive feature who do worse as similar people of another."""

    feature: Annotated[str, Doc("The sensitive feature.")]
    better: Annotated[Value, Doc("The level of the people who are moved: they do better.")]
    worse: Annotated[Value, Doc("The level they are moved to, as which they would do worse.")]
    people: Annotated[float, Doc("How many are moved so.")]
    contribution: Annotated[float, Doc("What these moves add to the statistic.")]
    harmful: Annotated[
        float | None,
        Doc(
            "The part of it where they would be denied the favourable label; null where that is "
            "not known."
        ),
    ] = None
    lenient: Annotated[
        float | None, Doc("The part of it where they would be granted it instead.")
    ] = None
    per_person: Annotated[
        float | None,
        Doc("What these moves add to the mean loss of the level that does better; null if shared."),
    ] = None
    back_at_most: Annotated[
        float | None,
        Doc(
            "The most that moves the other way round add in any swaps with this statistic; null "
            "where a budget leaves that open."
        ),
    ] = None


def find_directions(
    moved: Moved, space: SampleSpace, favoured: BoolArray | None = None,
    best: tuple[IntArray, BoolArray] | None = None,
) -> tuple[Direction, ...]:  # fmt: skip
    """Return the pairs of levels that moves go between, those that add most first.

    A move that changes several sensitive features counts for each of them. ``favoured`` tells of
    each point whether it gets the favourable label.

    Parameters
    ----------
    moved
        Who is moved where.
    space
        The points.
    favoured
        (K,) truth values; None where no label is known to be favourable.
    best
        (K,) each point's block and whether it is as bad as any there, where all moves inside
        blocks are free; None where more than that decides where people could go as well.
    """
    found = [
        one for name in space.sensitive for one in _of_feature(moved, space, name, favoured, best)
    ]
    return tuple(sorted(found, key=lambda one: -one.contribution))


def _of_feature(
    moved: Moved, space: SampleSpace, name: str, favoured: BoolArray | None,
    best: tuple[IntArray, BoolArray] | None,
) -> list[Direction]:  # fmt: skip
    """Return the pairs of levels of one sensitive feature that moves go between.

    Parameters
    ----------
    moved, space, favoured, best
        As in `find_directions`.
    name
        The feature.
    """
    codes = space.columns[name].codes
    leave, enter = codes[moved.sources], codes[moved.targets]
    change = np.flatnonzero(leave != enter)
    pairs, place = np.unique(np.column_stack([leave, enter])[change], axis=0, return_inverse=True)
    place = place.reshape(-1)
    people = np.bincount(place, moved.people[change], len(pairs))
    gained = np.bincount(place, (moved.people * moved.gains)[change], len(pairs)) / space.n
    flips = flipped(moved.take(change), place, len(pairs), favoured) / space.n
    most = _most_each_way(moved, codes, space.n, best)
    # what is missing has the code −1
    of_level = np.bincount(codes + 1, space.counts, len(space.columns[name].levels) + 1)
    levels = [*map(plain, space.columns[name].levels.tolist()), None]
    return [
        Direction(
            name,
            levels[first],
            levels[second],
            float(people[at]),
            float(gained[at]),
            None if favoured is None else float(flips[0, at]),
            None if favoured is None else float(flips[1, at]),
            float(gained[at] * space.n / of_level[first + 1]),
            None if most is None else most.get((second, first), 0.0),
        )
        for at, (first, second) in enumerate(pairs.tolist())
    ]


def _most_each_way(
    moved: Moved, codes: IntArray, n: int, best: tuple[IntArray, BoolArray] | None
) -> dict[tuple[int, int], float] | None:
    """Return the most that moves from a level to another add in any swaps with this statistic.

    Parameters
    ----------
    moved, n
        Who is moved where, and how many people there are.
    codes
        (K,) the points' levels.
    best
        As in `find_directions`. Who has several targets counts for the levels of all of them;
        without it that is known where nobody has.
    """
    if best is None and moved.tied.any():
        return None
    added = moved.people * moved.gains / n
    leave, enter, worth = codes[moved.sources], codes[moved.targets], added
    # two numbers are sorted as one; the missing level has the code −1
    size = int(codes.max()) + 2
    if best is not None:
        block, is_best = best
        some = np.unique((block * size + codes + 1)[is_best])
        own = block[moved.sources]
        start, end = (np.searchsorted(some // size, own, side) for side in ("left", "right"))
        many = np.where(moved.tied, end - start, 0)
        again = np.repeat(np.arange(len(own)), many)
        within = np.arange(len(again)) - np.repeat(np.cumsum(many) - many, many)
        fixed = ~moved.tied
        leave = np.r_[leave[fixed], leave[again]]
        enter = np.r_[enter[fixed], some[np.repeat(start, many) + within] % size - 1]
        worth = np.r_[added[fixed], added[again]]
    ways, place = np.unique((leave + 1) * size + enter + 1, return_inverse=True)
    total = np.bincount(place, worth, len(ways))
    named = [(int(way) // size - 1, int(way) % size - 1) for way in ways]
    return dict(zip(named, total.tolist(), strict=True))
