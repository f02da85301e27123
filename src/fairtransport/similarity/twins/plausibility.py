"""Plausibility: a made-up person must be as near to somebody as people are to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from sklearn.neighbors import NearestNeighbors

    from fairtransport.checks import BoolArray, FloatArray

MOST_ROWS = 2000
"""People of the fitting data with whom made-up ones are compared; of more, so many at random."""


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Some people of the fitting data, and how near to one of them a plausible person is.

    Attributes
    ----------
    neighbours
        Finds the nearest of them.
    limit
        The largest distance to the nearest of them at which somebody is plausible.

    Notes
    -----
    The limit is that quantile of the distances of these people to the nearest other one which a
    share of them does not exceed. It depends on the fitting data alone.
    """

    neighbours: NearestNeighbors
    limit: float

    @classmethod
    def fit(cls, rows: FloatArray, share: float, rng: np.random.Generator) -> Self:
        """Return the neighbourhood of distinct encoded people that a share of them is inside of."""
        from sklearn.neighbors import NearestNeighbors

        chosen = rows if len(rows) <= MOST_ROWS else rows[rng.permutation(len(rows))[:MOST_ROWS]]
        neighbours = NearestNeighbors(n_neighbors=1).fit(chosen)
        if len(chosen) == 1:
            return cls(neighbours, np.inf)
        # asked without points, everybody's nearest is another one
        apart = neighbours.kneighbors()[0][:, 0]
        return cls(neighbours, float(np.quantile(apart, share, method="inverted_cdf")))

    def distances(self, points: FloatArray) -> FloatArray:
        """Return how far each point is from the nearest of these people."""
        return np.asarray(self.neighbours.kneighbors(points)[0][:, 0])

    def accepts(self, twins: FloatArray, people: FloatArray) -> BoolArray:
        """Say which twins are plausible: as near as the limit, or as near as their own person is.

        ``people`` are the distances of these persons.
        """
        return self.distances(twins) <= np.maximum(self.limit, people) * (1 + 1e-9)
