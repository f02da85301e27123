"""Solution of an audit problem: value, plan, price and certificate; and the budget curve."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.validation import FloatArray, check_number

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from fairtransport._core.validation import BoolArray, IntArray
    from fairtransport.transport.column_generation import CurvePoints
    from fairtransport.transport.frontiers import Frontiers
    from fairtransport.transport.problem import AuditProblem

TOLERANCE = 1e-12
"""Relative rounding error within which a budget ends at a corner."""


@dataclass(frozen=True, eq=False)
class BudgetCurve:
    """The audit value as a function of the budget: concave, increasing, piecewise linear.

    Attributes
    ----------
    budgets, values
        The curve's corners; it starts at budget 0 and is flat after the last corner.
    prices
        The slope of the piece that starts at each corner; the last is 0.

    Examples
    --------
    >>> import fairtransport as ft
    >>> problem = ft.AuditProblem([0.0, 0.6, 1.0], [[0, 1, 4], [1, 0, 1], [4, 1, 0]])
    >>> curve = problem.budget_curve([1.0, 0.0, 0.0])
    >>> curve.budgets.tolist(), curve.values.round(3).tolist(), curve.prices.round(3).tolist()
    ([0.0, 1.0, 4.0], [0.0, 0.6, 1.0], [0.6, 0.133, 0.0])
    >>> round(curve(0.5), 3)
    0.3
    """

    budgets: FloatArray
    values: FloatArray
    prices: FloatArray

    def __call__(self, budget: float) -> float:
        """Return ψ at another budget."""
        budget = check_number("budget", budget, at_least=0)
        return float(np.interp(budget, self.budgets, self.values))

    def price(self, budget: float) -> float:
        """Return the slope of the curve just to the right of a budget."""
        budget = check_number("budget", budget, at_least=0)
        return float(self.prices[np.searchsorted(self.budgets, budget, side="right") - 1])

    def thin(self, most: int, end: float) -> tuple[BudgetCurve, float]:
        """Return a curve with at most ``most`` corners, and its largest distance from this one.

        Parameters
        ----------
        most
            Maximum number of corners, the first and the last included.
        end
            Half of the corners are placed at budgets up to this one, half at all.

        Returns
        -------
        tuple of BudgetCurve and float
            The thinner curve and the distance.

        Notes
        -----
        The thinner curve is concave and rising too, and nowhere above this one.

        Examples
        --------
        >>> thin, below = curve.thin(2, 4.0)
        >>> thin.budgets.tolist(), round(below, 3)
        ([0.0, 4.0], 0.35)
        """
        if len(self.budgets) <= most:
            return self, 0.0
        places = (self._spread(most // 2, until) for until in (end, self.budgets[-1]))
        corners = np.unique(np.concatenate(list(places)))
        thin = BudgetCurve(
            self.budgets[corners],
            self.values[corners],
            np.r_[np.diff(self.values[corners]) / np.diff(self.budgets[corners]), self.prices[-1]],
        )
        below = self.values - np.interp(self.budgets, thin.budgets, thin.values)
        return thin, float(below.max())

    def _spread(self, most: int, end: float) -> IntArray:
        """Return corners up to a budget, each the farthest from the line between two others.

        Greedy: the corner farthest from the thinner curve is added next, from a heap.
        """
        last = max(1, int(np.searchsorted(self.budgets, end, side="right")) - 1)

        def farthest(low: int, high: int) -> tuple[float, int, int, int]:
            part, start, first = slice(low, high), self.budgets[low], self.values[low]
            slope = (self.values[high] - first) / (self.budgets[high] - start)
            above = self.values[part] - (slope * (self.budgets[part] - start) + first)
            at = int(above.argmax())
            return -float(above[at]), low, low + at, high

        # a new corner splits one interval; the heap keeps the farthest corner of the others
        corners, heap = [0, last], [farthest(0, last)]
        while len(corners) < most and heap[0][0] < 0:
            _, low, at, high = heappop(heap)
            corners.append(at)
            heappush(heap, farthest(low, at))
            heappush(heap, farthest(at, high))
        return np.array(corners, np.int64)


@dataclass(frozen=True, eq=False)
class SearchedCurve(BudgetCurve):
    """A budget curve with too many corners to list: some points on it, others on demand.

    The curve is above the lines between the listed points by at most ``below``.
    """

    problem: AuditProblem
    frequencies: FloatArray
    below: float

    @classmethod
    def from_points(
        cls, problem: AuditProblem, frequencies: FloatArray, points: CurvePoints
    ) -> SearchedCurve:
        """Return the curve of a problem through some of its points."""
        slopes = np.diff(points.values) / np.diff(points.budgets)
        return cls(
            points.budgets, points.values, np.r_[slopes, 0.0], problem, frequencies, points.below
        )

    def __call__(self, budget: float) -> float:
        """Return ψ at another budget."""
        return self.problem.with_budget(budget).value(self.frequencies)

    def price(self, budget: float) -> float:
        """Return the slope of the curve just to the right of a budget."""
        return self.problem.with_budget(budget).solve(self.frequencies).price

    def thin(self, most: int, end: float) -> tuple[BudgetCurve, float]:
        """Return a curve with at most ``most`` corners, and its largest distance from this one."""
        curve, below = super().thin(most, end)
        return curve, below + self.below


@dataclass(frozen=True, eq=False)
class Spending:
    """Spending of a budget along the segments in slope order, for one frequency vector.

    ``segments`` are those with mass in their rows; the first ``full`` of them are used in full,
    and ``rest`` of the budget goes into the next one.
    """

    segments: IntArray
    mass: FloatArray
    spent: FloatArray
    full: int
    rest: float

    @property
    def splits(self) -> bool:
        """Whether one point's mass is split between two targets."""
        return self.rest > 0 and self.full < len(self.segments)


def spend(frontiers: Frontiers, frequencies: FloatArray, budget: float) -> Spending:
    """Spend the budget greedily along the slope order.

    A fractional multiple-choice knapsack: within a point segments come in order because its
    frontier is concave, so that the greedy order never takes a later one first.
    """
    mass = frequencies[frontiers.row]
    segments = np.flatnonzero(mass)
    mass = mass[segments]
    spent = np.cumsum(mass * frontiers.cost[segments])
    # with a tolerance, as the rounding error of a sum would otherwise split a point's mass
    full = int(np.searchsorted(spent, budget * (1 + TOLERANCE), side="right"))
    before = float(spent[full - 1]) if full else 0.0
    rest = budget - before
    return Spending(segments, mass, spent, full, rest if rest > budget * TOLERANCE else 0.0)


def compute_gain(frontiers: Frontiers, f: FloatArray, spending: Spending) -> float:
    """Return ψ(f): free gains, those of full segments, and the part of the split one."""
    segments = spending.segments[: spending.full]
    value = f @ frontiers.base_gain + spending.mass[: spending.full] @ frontiers.gain[segments]
    if spending.splits:
        # the next segment is used in part; its slope is the gain per unit of budget
        value += spending.rest * frontiers.slope[spending.segments[spending.full]]
    return float(value)


def price_interval(frontiers: Frontiers, spending: Spending, budget: float) -> tuple[float, float]:
    """Return the interval of optimal prices [ν_lo, ν_hi]; a single point except at corners."""
    slope = frontiers.slope[spending.segments]
    lower = float(slope[spending.full]) if spending.full < len(slope) else 0.0
    if budget == 0:
        return lower, np.inf
    if spending.rest > 0:
        return lower, lower
    return lower, float(slope[spending.full - 1])


@dataclass(frozen=True, eq=False)
class Solution:
    """The solution of an audit problem for one frequency vector.

    Attributes
    ----------
    value
        ψ(f), the FaiTH statistic when f is the empirical distribution.
    price
        ν_lo, the right derivative of the budget curve.
    price_interval
        All optimal prices; the upper end is infinite exactly when the budget is 0.
    plan
        (K, K) sparse optimal plan: mass of each row's point by target. At most one row is
        split between two targets that cost differently.
    problem, frequencies
        The problem and the frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> import fairtransport as ft
    >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 2.0], [2.0, 0.0]], budget=0.5)
    >>> solution = problem.solve([1.0, 0.0])
    >>> solution.value, solution.price_interval
    (0.25, (0.5, 0.5))
    >>> solution.plan.toarray().tolist()
    [[0.75, 0.25], [0.0, 0.0]]
    """

    problem: AuditProblem
    frequencies: FloatArray
    value: float
    price: float
    price_interval: tuple[float, float]
    plan: csr_array[np.float64]

    @property
    def plan_gain(self) -> float:
        """Gain of the plan, recomputed from the plan: l'(Π'1 − f)."""
        moves = self.plan.tocoo()
        losses = self.problem.losses
        return float(np.sum(moves.data * (losses[moves.col] - losses[moves.row])))

    @property
    def plan_cost(self) -> float:
        """Cost of the plan, recomputed from the plan: ⟨C, Π⟩."""
        moves = self.plan.tocoo()
        rows, cols = moves.row.astype(np.int64), moves.col.astype(np.int64)
        return float(np.sum(moves.data * self.problem.costs_of(rows, cols)))

    @cached_property
    def duality_gap(self) -> float:
        """The dual value at the price minus the plan's gain, both recomputed from the costs.

        Notes
        -----
        By weak duality εν + Σ f_i φ_ν(i) is at least ψ(f) at any price, and a feasible plan
        gains at most ψ(f): a gap of 0 proves both optimal. The maxima in φ_ν are taken over
        all allowed targets, not over the frontiers, so that the proof does not rest on them.
        """
        gains = np.zeros(self.problem.size)
        gains[self._moving] = self._best - self.problem.losses[self._moving]
        return self.problem.budget * self.price + float(self.frequencies @ gains) - self.plan_gain

    @cached_property
    def plan_is_unique(self) -> bool:
        """Whether no other plan reaches the value.

        Notes
        -----
        A plan is optimal exactly when, at an optimal price ν, each row's mass sits at
        maximisers of l_j − ν c_ij and the budget is spent (or ν = 0). So it is unique when
        every row has one maximiser at a price inside the interval of optimal prices. When
        that interval is one positive price, one row may have two maximisers of different
        cost: the budget then fixes its split.
        """
        lower, upper = self.price_interval
        ties = self._ties[self._moving]
        tied = np.flatnonzero(ties > 1)
        if not len(tied):
            return True
        fixed_by_budget = lower == upper > 0 and ties[tied].tolist() == [2]
        if not fixed_by_budget:
            return False
        row = self._moving[tied[0]]
        # between two targets of equal cost, the budget does not fix the split
        targets = self.problem.best_targets(self._inner_price, int(row))
        costs = self.problem.costs_of(np.full(2, row), targets)
        return bool(costs[0] != costs[1])

    @cached_property
    def _moving(self) -> IntArray:
        """The points with mass."""
        return np.flatnonzero(self.frequencies > 0)

    @cached_property
    def _best(self) -> FloatArray:
        """Worth of the best target of each point with mass at the price, by a search."""
        return self.problem.best_by_search(self.price, self._moving)

    @property
    def _inner_price(self) -> float:
        """A price inside the interval of optimal prices."""
        lower, upper = self.price_interval
        # at an infinite price only free moves remain
        return upper if np.isinf(upper) else (lower + upper) / 2

    @cached_property
    def _ties(self) -> IntArray:
        """Number of best targets of each point with mass at the inner price; 3 means 3 or more."""
        ties = np.zeros(self.problem.size, np.int64)
        price = self._inner_price
        best = self._best if price == self.price else None
        ties[self._moving] = self.problem.count_best_targets(price, self._moving, best)
        return ties

    def tied(self, rows: IntArray) -> BoolArray:
        """Return for each of some points with mass whether another target is equally good.

        Parameters
        ----------
        rows
            Numbers of points.

        Returns
        -------
        ndarray of bool
            One value per row.

        Examples
        --------
        >>> solution.tied(np.array([0])).tolist()
        [False]
        """
        if self.plan_is_unique:
            return np.zeros(len(rows), bool)
        return np.asarray(self._ties[rows] > 1)
