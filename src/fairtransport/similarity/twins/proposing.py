"""Proposals: the twins of each person, a fixed function of the person, similarity and seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from fairtransport.similarity.twins.displacements import Steps, fixed_steps
from fairtransport.similarity.twins.plausibility import Judge, Neighbourhood
from fairtransport.space.columns import merge_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtransport.checks import BoolArray, IntArray
    from fairtransport.similarity.twins.asked import Twins
    from fairtransport.similarity.twins.support import Making, Support
    from fairtransport.space import SampleSpace
    from fairtransport.space.columns import CodedColumn

DECIMALS = 10
"""Places are rounded, so that who differs in nothing that counts is at distance 0."""


@runtime_checkable
class Maker(Protocol):
    """A similarity that can make up twins."""

    def making(self, space: SampleSpace) -> Making | None:
        """Return how twins of a space's points are made up; None if no data show it."""
        ...


@dataclass(frozen=True, eq=False)
class Proposals:
    """Twins that were made up for points.

    Attributes
    ----------
    person
        (M,) the point whose twin each is.
    columns
        The twins' columns, those of the encoding.
    step
        (M,) the number of the step that made each.
    proposed
        How many there were before any was left out.
    equal, costly, implausible
        How many were their own person, were no longer at distance 0 where nothing else is allowed,
        and were not plausible.
    """

    person: IntArray
    columns: dict[str, CodedColumn]
    step: IntArray
    proposed: int
    equal: int
    costly: int
    implausible: int


def steps_for(making: Making, twins: Twins, budget: float, seed: int) -> Steps:
    """Return the steps by which twins are made up, which depend on no sample."""
    rng = np.random.default_rng([seed, 16])
    return fixed_steps(making.support.rows, making.metric, budget, twins.per_person, rng)


def propose(
    making: Making, space: SampleSpace, steps: Steps, twins: Twins, budget: float, seed: int
) -> Proposals:
    """Return the twins that steps make of the observed points of a space."""
    support, points = making.support, np.flatnonzero(space.observed)
    names = support.encoding.columns
    own = {name: space.columns[name].take(points) for name in names}
    screen = _Screen(making, own, twins, budget, seed)
    made = [support.moved(own, step, exactly=budget == 0) for step in steps.rows]
    kept = [screen.passes(one) for one in made]
    person = [points[rows] for rows in kept]
    columns = {
        name: merge_columns(*(one[name].take(rows) for one, rows in zip(made, kept, strict=True)))
        for name in names
    }
    step = np.repeat(np.arange(len(kept)), [int(rows.sum()) for rows in kept])
    return Proposals(
        np.concatenate(person), columns, step, len(points) * len(steps.rows),
        screen.equal, screen.costly, screen.implausible,
    )  # fmt: skip


@lru_cache(maxsize=2)  # a search proposes twins again and again
def _neighbourhood(support: Support, share: float, seed: int) -> Neighbourhood:
    return Neighbourhood.fit(support.rows, share, np.random.default_rng([seed, 17]))


class _Screen:
    """Leaves out twins that are nobody new, cost what is not allowed, or are implausible."""

    def __init__(
        self, making: Making, own: Mapping[str, CodedColumn], twins: Twins, budget: float, seed: int
    ) -> None:
        self.support, self.metric, self.budget = making.support, making.metric, budget
        self.own = self.support.encoding.coordinates(own)
        self.place = np.round(self.own @ self.metric, DECIMALS)
        self.unknown = self.support.encoding.unknown(own)
        self.equal = self.costly = self.implausible = 0
        self.judge = None
        if twins.plausibility > 0:
            neighbourhood = _neighbourhood(self.support, twins.plausibility, seed)
            sizes = self.support.encoding.sizes
            self.judge = Judge(neighbourhood, self.own, self.unknown, sizes)

    def passes(self, columns: Mapping[str, CodedColumn]) -> BoolArray:
        """Say which twins of one step count, each person having one."""
        there = self.support.encoding.coordinates(columns)
        new: BoolArray = (there != self.own).any(axis=1)
        self.equal += int((~new).sum())
        if self.budget == 0:
            free = (np.round(there @ self.metric, DECIMALS) == self.place).all(axis=1)
            free &= (self.support.encoding.unknown(columns) == self.unknown).all(axis=1)
            self.costly += int((new & ~free).sum())
            new &= free
        if self.judge is None or not new.any():
            return new
        likely = self.judge.accepts(there, new)
        self.implausible += int((new & ~likely).sum())
        return likely
