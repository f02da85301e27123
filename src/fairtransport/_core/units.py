"""Units: the independent records of a sample, their members' points and their weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtransport._core.validation import BoolArray, FloatArray, IntArray

PEOPLE, CLUSTERS = TARGETS = ("people", "clusters")
"""Whether every person counts once, or every cluster."""


@dataclass(frozen=True, eq=False)
class Units:
    """The units of a sample, drawn independently of each other, by kind.

    A person is a unit of one member and weight 1; a household has several members, and a person
    of a survey has a weight. Units of one kind have the same members and weight.

    Attributes
    ----------
    counts
        (U,) number of units of each kind.
    weights
        (U,) the weight of a unit.
    unit, point, share
        (E,) kind, point, and share of the unit's weight at the point.
    people
        (E,) number of members of a unit at the point.
    limit
        Upper limit of the weights, known before the data; None: statements are conditional on the
        weights.
    is_single
        Whether every unit is declared to be one person of weight 1.
    name
        Name of the units: the column of clusters or of weights.
    has_clusters
        Whether units have several members.
    target
        Whether people or clusters count once.
    weighed_by
        The column of people's weights; None without one.
    """

    counts: IntArray
    weights: FloatArray
    unit: IntArray
    point: IntArray
    share: FloatArray
    people: IntArray
    limit: float | None = 1.0
    is_single: bool = True
    name: str = "people"
    has_clusters: bool = False
    target: str = PEOPLE
    weighed_by: str | None = None

    @classmethod
    def of_people(cls, counts: IntArray) -> Units:
        """Return the units of independent people, one kind for each occupied point."""
        points = np.flatnonzero(counts)
        ones = np.ones(len(points))
        return cls(
            counts[points], ones, np.arange(len(points)), points, ones,
            np.ones(len(points), np.int64),
        )  # fmt: skip

    @cached_property
    def n(self) -> int:
        """The number of units."""
        return int(self.counts.sum())

    @property
    def largest(self) -> float:
        """Declared limit of the weights, or their maximum."""
        return float(self.weights.max()) if self.limit is None else self.limit

    @property
    def has_one_member_each(self) -> bool:
        """Whether every kind is one person at a separate point."""
        return len(self.unit) == len(self.counts) and bool(np.bincount(self.point).max() <= 1)

    @property
    def is_adaptive(self) -> bool:
        """Whether stakes may depend on past units: weights have a known limit or are all equal.

        Conditional on unequal weights that may be correlated with gains, the past predicts the
        future: once the units of small gains are seen, those of large gains remain.
        """
        return self.limit is not None or float(np.ptp(self.weights)) == 0.0

    @property
    def effective_n(self) -> float:
        """Number of units of equal weight with as much information (Kish)."""
        total = float(self.counts @ self.weights)
        return total * total / float(self.counts @ self.weights**2)

    @property
    def mass(self) -> FloatArray:
        """(E,) the weight of all units of a kind at a point."""
        return np.asarray(self.share * (self.counts * self.weights)[self.unit])

    def frequencies(self, size: int) -> FloatArray:
        """Return the weighted distribution over the points."""
        mass = np.bincount(self.point, self.mass, size)
        return np.asarray(mass / mass.sum())

    def count_people(self, size: int) -> IntArray:
        """Return the number of people at each point."""
        return np.bincount(self.point, self.people * self.counts[self.unit], size).astype(np.int64)

    def list_members(self) -> tuple[IntArray, IntArray]:
        """Return the point and the unit number of every person, unit by unit."""
        first = np.cumsum(self.counts) - self.counts
        copies = self.counts[self.unit]
        entry = np.repeat(np.arange(len(self.unit)), copies)
        copy = np.arange(len(entry)) - np.repeat(np.cumsum(copies) - copies, copies)
        row = np.repeat(np.arange(len(entry)), self.people[entry])
        unit = (first[self.unit[entry]] + copy)[row]
        order = np.argsort(unit, kind="stable")
        return self.point[entry[row]][order], unit[order]

    def place_members(self, points: IntArray) -> Units:
        """Return the units with their members, in the order of `list_members`, at other points."""
        _, unit = self.list_members()
        pairs, people = np.unique(np.column_stack([unit, points]), axis=0, return_counts=True)
        kind = np.repeat(np.arange(len(self.counts)), self.counts)
        return replace(
            self, counts=np.ones(self.n, np.int64), weights=self.weights[kind],
            unit=pairs[:, 0], point=pairs[:, 1], people=people.astype(np.int64),
            share=people / np.bincount(unit)[pairs[:, 0]],
        )  # fmt: skip

    def means(self, values: FloatArray) -> FloatArray:
        """Return the mean of point values over the members of each kind of unit."""
        means = np.bincount(self.unit, self.share * values[self.point], len(self.counts))
        return np.asarray(means, dtype=np.float64)

    def move(self, places: IntArray) -> Units:
        """Return the units with renumbered points."""
        return replace(self, point=places[self.point])

    def take(self, counts: IntArray) -> Units:
        """Return the units with another number of each kind."""
        kinds = np.flatnonzero(counts)
        places = np.full(len(self.counts), -1)
        places[kinds] = np.arange(len(kinds))
        entries = places[self.unit] >= 0
        return replace(
            self, counts=counts[kinds], weights=self.weights[kinds],
            unit=places[self.unit[entries]], point=self.point[entries],
            share=self.share[entries], people=self.people[entries],
        )  # fmt: skip

    def among(self, points: BoolArray) -> Units:
        """Return the part of each unit at the selected points, if any.

        A unit's weight is then that of its members there. The units that remain are again
        independent draws, and their mean is the mean among the people there.
        """
        inside = points[self.point]
        share = np.bincount(self.unit[inside], self.share[inside], len(self.counts))
        units = replace(
            self, weights=np.asarray(self.weights * share), unit=self.unit[inside],
            point=self.point[inside], share=self.share[inside] / share[self.unit[inside]],
            people=self.people[inside],
        )  # fmt: skip
        return units.take(np.where(share > 0, units.counts, 0))
