"""The frontiers of the points that carry mass, as compiled bets need them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.transport import AuditProblem


class ObservedFrontiers(NamedTuple):
    """Frontiers of the points that carry mass, renumbered 0, 1, ….

    ``row`` to ``slope`` are in slope order, as in `Frontiers`; ``first`` and ``own_*`` hold the
    same segments point by point.
    """

    base: FloatArray
    row: IntArray
    cost: FloatArray
    gain: FloatArray
    far_cost: FloatArray
    far_gain: FloatArray
    slope: FloatArray
    first: IntArray
    own_cost: FloatArray
    own_gain: FloatArray
    own_slope: FloatArray

    def at(self, price: float) -> AtPrice:
        """Return φ_ν and its one-sided derivatives at a price."""
        above = int(np.searchsorted(-self.slope, -price, side="left"))
        with_equal = int(np.searchsorted(-self.slope, -price, side="right"))
        size = len(self.base)
        gain = np.bincount(self.row[:above], self.gain[:above], size)
        cost = np.bincount(self.row[:above], self.cost[:above], size).astype(float)
        equal = slice(above, with_equal)
        cost_left = np.asarray(
            cost + np.bincount(self.row[equal], self.cost[equal], size), dtype=float
        )
        paid = price * cost if above else 0.0
        return AtPrice(self.base + gain - paid, cost, cost_left)


class AtPrice(NamedTuple):
    """φ_ν with the cost that a slightly higher and a slightly lower price lead to."""

    gains: FloatArray
    cost_right: FloatArray
    cost_left: FloatArray


def observed_frontiers(
    problem: AuditProblem, occupied: IntArray, *, with_costs: bool = True
) -> ObservedFrontiers:
    """Restrict a problem's frontiers to the points that carry mass, and to free moves if told."""
    frontiers = problem.frontiers
    number = np.full(problem.size, -1)
    number[occupied] = np.arange(len(occupied))
    row = number[frontiers.row]
    costly = with_costs and problem.budget > 0
    kept = np.flatnonzero(row >= 0) if costly else np.empty(0, np.int64)
    row = row[kept]
    own = np.argsort(row, kind="stable")
    far_cost, far_gain = frontiers.far_cost[kept], frontiers.far_gain[kept]
    slope = frontiers.slope[kept]
    return ObservedFrontiers(
        base=frontiers.base_gain[occupied],
        row=row,
        cost=frontiers.cost[kept],
        gain=frontiers.gain[kept],
        far_cost=far_cost,
        far_gain=far_gain,
        slope=slope,
        first=np.searchsorted(row[own], np.arange(len(occupied) + 1)),
        own_cost=far_cost[own],
        own_gain=far_gain[own],
        own_slope=slope[own],
    )
