"""Plausibility: a made-up person must be as near to somebody as people are to each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from fairtransport.space.row_numbers import row_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.neighbors import NearestNeighbors

    from fairtransport.checks import BoolArray, FloatArray, IntArray

MOST_ROWS = 2000
"""People of the fitting data with whom made-up ones are compared; of more, so many at random."""


@dataclass(frozen=True, eq=False)
class Nearest:
    """How far some points are from the nearest of some people, and where that one is."""

    far: FloatArray
    place: FloatArray

    def take(self, rows: BoolArray) -> Nearest:
        """Return those of some points."""
        return Nearest(self.far[rows], self.place[rows])


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Some people of the fitting data, and how near to one of them a plausible person is.

    Attributes
    ----------
    people
        (any, coordinates) who they are.
    neighbours
        Finds the nearest of them.
    limit
        The largest distance to the nearest of them at which somebody is plausible.

    Notes
    -----
    The limit is that quantile of the distances of these people to the nearest other one which a
    share of them does not exceed. It depends on the fitting data alone.
    """

    people: FloatArray
    neighbours: NearestNeighbors
    limit: float

    @classmethod
    def fit(cls, rows: FloatArray, share: float, rng: np.random.Generator) -> Self:
        """Return the neighbourhood of distinct encoded people that a share of them is inside of."""
        from sklearn.neighbors import NearestNeighbors

        chosen = rows if len(rows) <= MOST_ROWS else rows[rng.permutation(len(rows))[:MOST_ROWS]]
        neighbours = NearestNeighbors(n_neighbors=1).fit(chosen)
        if len(chosen) == 1:
            return cls(chosen, neighbours, np.inf)
        # asked without points, everybody's nearest is another one
        apart = neighbours.kneighbors()[0][:, 0]
        limit = float(np.quantile(apart, share, method="inverted_cdf"))
        return cls(chosen, neighbours, limit)

    def without(self, coordinates: BoolArray) -> Neighbourhood:
        """Return these people in the other coordinates, as near to each other as before."""
        from sklearn.neighbors import NearestNeighbors

        people = _seen(self.people, coordinates)
        return replace(self, people=people, neighbours=NearestNeighbors(n_neighbors=1).fit(people))

    def nearest(self, points: FloatArray) -> Nearest:
        """Return how far each point is from the nearest of these people, and where that one is."""
        far, rows = self.neighbours.kneighbors(points)
        return Nearest(far[:, 0], self.people[rows[:, 0]])

    def accepts(self, twins: FloatArray, people: Nearest) -> BoolArray:
        """Say which twins are plausible: as near as the limit, or as near as their own person is.

        ``people`` are those nearest to these persons. Most twins are near to them too, so that
        the others need not be looked at.
        """
        allowed = np.maximum(self.limit, people.far) * (1 + 1e-9)
        near: BoolArray = np.linalg.norm(twins - people.place, axis=1) <= allowed
        if not near.all():
            near[~near] = self.nearest(twins[~near]).far <= allowed[~near]
        return near


class Judge:
    """Says which twins of some people are plausible.

    Who has a value that nobody of the fitting data has is far from all of these in that column
    alone: such people and their twins are looked at in the other columns.

    Parameters
    ----------
    neighbourhood
        Of the fitting data.
    people
        (n, coordinates) whose twins are judged.
    unknown
        (n, columns) where they have a value that nobody has there.
    sizes
        How many coordinates each column has.
    """

    def __init__(
        self, neighbourhood: Neighbourhood, people: FloatArray, unknown: BoolArray,
        sizes: Sequence[int],
    ) -> None:  # fmt: skip
        self.parts: list[tuple[IntArray, BoolArray, Neighbourhood, Nearest]] = []
        # nearly everybody has values that are known in every column
        pattern = row_numbers([*unknown.T.astype(np.int64)])
        for first in np.unique(pattern, return_index=True)[1]:
            rows = np.flatnonzero(pattern == pattern[first])
            coordinates = np.repeat(unknown[first], sizes)
            hood = neighbourhood.without(coordinates) if coordinates.any() else neighbourhood
            nearest = hood.nearest(_seen(people[rows], coordinates))
            self.parts.append((rows, coordinates, hood, nearest))

    def accepts(self, twins: FloatArray, asked: BoolArray) -> BoolArray:
        """Say which twins that are asked about are plausible, each person having one."""
        likely = np.zeros(len(twins), bool)
        for rows, coordinates, hood, nearest in self.parts:
            some = asked[rows]
            if some.any():
                there = _seen(twins[rows[some]], coordinates)
                likely[rows[some]] = hood.accepts(there, nearest.take(some))
        return likely


def _seen(points: FloatArray, left_out: BoolArray) -> FloatArray:
    """Return points without some coordinates; where none is left everybody is in one place."""
    seen = points[:, ~left_out]
    return seen if seen.shape[1] else np.zeros((len(points), 1))
