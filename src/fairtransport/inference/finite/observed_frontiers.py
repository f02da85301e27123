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

    Attributes
    ----------
    base
        By cell: the gain of its best free target, φ_∞.
    row
        By segment, steepest first: the cell that it belongs to.
    cost, gain
        By segment: what it adds to the cost and the gain of a move.
    far_cost, far_gain
        By segment: cost and gain of the target at its far end, from the cell itself.
    slope
        By segment: gain/cost, the price at which φ bends there; falling.
    first
        By cell, and one more: where its segments begin in ``own_*``.
    own_cost, own_gain, own_slope
        ``far_cost``, ``far_gain`` and ``slope``, cell by cell, steepest first.
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
        """Return φ_ν and its one-sided derivatives at a price.

        Parameters
        ----------
        price
            ν >= 0, finite or not.

        Returns
        -------
        AtPrice
            By cell.
        """
        # slopes fall, so that those above the price are the first ones; segments at the price
        # itself are worth exactly what they cost, and count for the left derivative alone
        above = int(np.searchsorted(-self.slope, -price, side="left"))
        with_equal = int(np.searchsorted(-self.slope, -price, side="right"))
        size = len(self.base)
        gain = np.bincount(self.row[:above], self.gain[:above], size)
        cost = np.bincount(self.row[:above], self.cost[:above], size).astype(float)
        equal = slice(above, with_equal)
        cost_left = np.asarray(
            cost + np.bincount(self.row[equal], self.cost[equal], size), dtype=float
        )
        # an infinite price that nobody pays is no cost; ∞ · 0 would be no number
        paid = price * cost if above else 0.0
        return AtPrice(self.base + gain - paid, cost, cost_left)


class AtPrice(NamedTuple):
    """φ_ν with the cost that a slightly higher and a slightly lower price lead to.

    Attributes
    ----------
    gains
        By cell: φ_ν.
    cost_right, cost_left
        By cell: minus the derivative of φ_ν from the right and from the left. They differ at a
        price that is the slope of a segment of the cell.
    """

    gains: FloatArray
    cost_right: FloatArray
    cost_left: FloatArray


def observed_frontiers(
    problem: AuditProblem, occupied: IntArray, *, with_costs: bool = True
) -> ObservedFrontiers:
    """Restrict a problem's frontiers to the points that carry mass, and to free moves if told.

    Parameters
    ----------
    problem
        The audit problem.
    occupied
        Rising indices of the points that carry mass.
    with_costs
        Whether moves that cost something count. Without them, and without a budget, there are
        no segments.
    """
    frontiers = problem.frontiers
    number = np.full(problem.size, -1)
    number[occupied] = np.arange(len(occupied))
    row = number[frontiers.row]
    costly = with_costs and problem.budget > 0
    kept = np.flatnonzero(row >= 0) if costly else np.empty(0, np.int64)
    row = row[kept]
    # stable, so that the segments of a cell stay steepest first
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
