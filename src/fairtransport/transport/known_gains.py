"""What searches at some prices tell of the gains at all prices: limits from below and above."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.geometry.cost import Moves
from fairtransport.transport.frontiers import Frontiers, frontiers_of_moves

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.transport.problem import AuditProblem


class Searched(NamedTuple):
    """The best targets of some points at a price, and what they gain net of it."""

    price: float
    rows: IntArray
    gains: FloatArray
    targets: IntArray


class KnownGains:
    """φ_ν between two limits, known exactly for the points and prices that were searched.

    From below: the frontiers of the moves that were found. From above: φ_ν(i) is convex in
    ν and falls, so that between two prices that were searched it lies on or under the line
    between them, and beyond the highest it is at most what it was there. At price 0 it is
    known of all points, without a search.
    """

    def __init__(self, problem: AuditProblem) -> None:
        self.problem = problem
        rows = np.arange(problem.size)
        self.at_no_price: FloatArray = problem.best_by_search(0.0, rows) - problem.losses
        self._searched: list[Searched] = []
        self._frontiers: Frontiers | None = None

    def add(self, price: float, rows: IntArray, best: FloatArray, targets: IntArray) -> None:
        """Take in what a search found: max_j (l_j − ν c_ij) of some points, and who has it."""
        gains = best - self.problem.losses[rows]
        self._searched.append(Searched(price, rows, gains, targets))
        self._frontiers = None

    @property
    def frontiers(self) -> Frontiers:
        """The frontiers of the moves that were found; their gains are φ_ν at most."""
        if self._frontiers is None:
            self._frontiers = frontiers_of_moves(
                self.problem.losses, self.problem.geometry, self._moves()
            )
        return self._frontiers

    def most(self, price: float) -> FloatArray:
        """Return what φ_ν of every point is at most, at a price."""
        low, high = self.at_no_price.copy(), np.zeros(self.problem.size)
        low_price, high_price = np.zeros(self.problem.size), np.full(self.problem.size, np.inf)
        parts = sorted(self._searched, key=lambda part: part.price)
        for part in (one for one in parts if one.price <= price):
            low[part.rows], low_price[part.rows] = part.gains, part.price
        for part in (one for one in parts[::-1] if one.price >= price):
            high[part.rows], high_price[part.rows] = part.gains, part.price
        between = np.flatnonzero(np.isfinite(high_price) & (high_price > low_price))
        start, end = low_price[between], high_price[between]
        share = (price - start) / (end - start)
        low[between] = (1 - share) * low[between] + share * high[between]
        return low

    def _moves(self) -> Moves:
        """Return all moves that were found, each once."""
        size = self.problem.size
        none = [np.empty(0, np.int64)]
        keys = np.unique(
            np.concatenate([part.rows * size + part.targets for part in self._searched] or none)
        )
        row, col = keys // size, keys % size
        moves = row != col
        row, col = row[moves], col[moves]
        return Moves(row, col, self.problem.costs_of(row, col))
