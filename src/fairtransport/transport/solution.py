"""What solving an audit problem returns: value, plan, price and their certificate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import FloatArray, number

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from fairtransport.checks import BoolArray, IntArray
    from fairtransport.transport.frontiers import Frontiers
    from fairtransport.transport.problem import AuditProblem

TOLERANCE = 1e-12
"""Relative rounding error up to which a budget is taken to end at a corner."""


@dataclass(frozen=True, eq=False)
class BudgetCurve:
    """The audit value as a function of the budget: concave, rising, piecewise linear.

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
        """Return ψ at another budget.

        Parameters
        ----------
        budget
            ε >= 0; beyond the last corner more of it brings nothing.

        Raises
        ------
        InputError
            If it is not a finite number >= 0.
        """
        budget = number("budget", budget, at_least=0)
        return float(np.interp(budget, self.budgets, self.values))

    def price(self, budget: float) -> float:
        """Return the right derivative of the curve: what a little more budget would bring.

        Parameters
        ----------
        budget
            ε >= 0.

        Returns
        -------
        float
            The slope just to the right of the budget.

        Raises
        ------
        InputError
            If the budget is negative or no finite number.

        Examples
        --------
        >>> round(curve.price(0.5), 3), curve.price(10.0)
        (0.6, 0.0)
        """
        budget = number("budget", budget, at_least=0)
        return float(self.prices[np.searchsorted(self.budgets, budget, side="right") - 1])

    @property
    def elbow(self) -> float:
        """The budget of the corner that is farthest above the line from the first to the last.

        Before it a unit of budget brings more than on average over the whole curve, after it
        less.

        Returns
        -------
        float

        Examples
        --------
        >>> curve.elbow
        1.0
        """
        if len(self.budgets) == 1:
            return float(self.budgets[0])
        ends = [0, -1]
        above = self.values - np.interp(self.budgets, self.budgets[ends], self.values[ends])
        return float(self.budgets[above.argmax()])

    def thinned(self, most: int, end: float) -> tuple[BudgetCurve, float]:
        """Return a curve through ``most`` corners at most, and how far it is below this one.

        Parameters
        ----------
        most
            The number of corners, the first and the last included.
        end
            Half of the corners are spread over the budgets up to this one, half over all.

        Returns
        -------
        tuple of BudgetCurve and float
            The thinner curve, and the largest distance to this one.

        Notes
        -----
        What is left is concave and rising too, and nowhere above the curve.

        Examples
        --------
        >>> thin, below = curve.thinned(2, 4.0)
        >>> thin.budgets.tolist(), round(below, 3)
        ([0.0, 4.0], 0.35)
        """
        if len(self.budgets) <= most:
            return self, 0.0
        places = (self._spread(most // 2, until) for until in (end, self.budgets[-1]))
        kept = np.unique(np.concatenate(list(places)))
        thin = BudgetCurve(
            self.budgets[kept],
            self.values[kept],
            np.r_[np.diff(self.values[kept]) / np.diff(self.budgets[kept]), self.prices[-1]],
        )
        below = self.values - np.interp(self.budgets, thin.budgets, thin.values)
        return thin, float(below.max())

    def _spread(self, most: int, end: float) -> IntArray:
        """Return corners up to a budget, each the farthest from the line between two others.

        Parameters
        ----------
        most
            How many, the ends included.
        end
            The budget up to which corners are looked at.

        Notes
        -----
        Greedy: the corner that the thinned curve misses by most is put in next, from a heap.
        """
        last = max(1, int(np.searchsorted(self.budgets, end, side="right")) - 1)

        def farthest(left: int, right: int) -> tuple[float, int, int, int]:
            part, start, first = slice(left, right), self.budgets[left], self.values[left]
            slope = (self.values[right] - first) / (self.budgets[right] - start)
            above = self.values[part] - (slope * (self.budgets[part] - start) + first)
            at = int(above.argmax())
            return -float(above[at]), left, left + at, right

        # a heap: each new corner cuts one interval in two, and the others keep their worst corner
        kept, heap = [0, last], [farthest(0, last)]
        while len(kept) < most and heap[0][0] < 0:
            _, left, at, right = heappop(heap)
            kept.append(at)
            heappush(heap, farthest(left, at))
            heappush(heap, farthest(at, right))
        return np.array(kept, np.int64)


@dataclass(frozen=True, eq=False)
class Spending:
    """How a budget is spent along the segments in slope order, for one frequency vector.

    ``segments`` lists those with mass in their rows; the first ``full`` of them are used up
    and ``rest`` of the budget goes into the next one.

    Attributes
    ----------
    segments
        Indices into the frontiers' segments, steepest first.
    mass
        The mass of each one's point.
    spent
        The budget that is gone when each is used up.
    full
        How many are.
    rest
        What is left of the budget for the next; 0 where it ends at a corner, up to rounding.
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

    Parameters
    ----------
    frontiers
        The segments of all points.
    frequencies
        f >= 0, the mass of each point.
    budget
        ε; infinite to use up everything.

    Notes
    -----
    A fractional multiple-choice knapsack: within a point segments come in order because its
    frontier is concave, so that the greedy order never takes a later one first.
    """
    mass = frequencies[frontiers.row]
    segments = np.flatnonzero(mass)
    mass = mass[segments]
    spent = np.cumsum(mass * frontiers.cost[segments])
    # a budget that ends at a corner up to rounding ends there: else the last ulp of a sum would
    # split somebody's mass
    full = int(np.searchsorted(spent, budget * (1 + TOLERANCE), side="right"))
    before = float(spent[full - 1]) if full else 0.0
    rest = budget - before
    return Spending(segments, mass, spent, full, rest if rest > budget * TOLERANCE else 0.0)


def price_interval(frontiers: Frontiers, spending: Spending, budget: float) -> tuple[float, float]:
    """Return the interval of optimal prices [ν_lo, ν_hi]; longer than a point at corners only.

    Parameters
    ----------
    frontiers, spending
        The segments, and how the budget was spent along them.
    budget
        ε.

    Returns
    -------
    tuple of float
        The slope of what would be bought next, 0 if nothing is left, and of what was bought last;
        infinite at budget 0.

    Examples
    --------
    Half of the budget that would move everybody: one price, the slope of the segment half way.

    >>> from fairtransport import AuditProblem
    >>> problem = AuditProblem([0.0, 1.0], [[0.0, 2.0], [2.0, 0.0]], budget=1.0)
    >>> spending = spend(problem.frontiers, np.array([1.0, 0.0]), 1.0)
    >>> price_interval(problem.frontiers, spending, 1.0)
    (0.5, 0.5)
    """
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
        What was solved.

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
        """What the plan gains, recomputed from the plan: l'(Π'1 − f).

        Returns
        -------
        float

        Examples
        --------
        >>> solution.plan_gain == solution.value
        True
        """
        moves = self.plan.tocoo()
        losses = self.problem.losses
        return float(np.sum(moves.data * (losses[moves.col] - losses[moves.row])))

    @property
    def plan_cost(self) -> float:
        """What the plan costs, recomputed from the plan: ⟨C, Π⟩.

        Returns
        -------
        float

        Examples
        --------
        >>> solution.plan_cost
        0.5
        """
        moves = self.plan.tocoo()
        rows, cols = moves.row.astype(np.int64), moves.col.astype(np.int64)
        return float(np.sum(moves.data * self.problem.costs_of(rows, cols)))

    @cached_property
    def duality_gap(self) -> float:
        """The dual value at the price minus the plan's gain, both recomputed from the costs.

        Returns
        -------
        float

        Notes
        -----
        By weak duality εν + Σ f_i φ_ν(i) is at least ψ(f) at any price, and a feasible plan
        gains at most ψ(f): a gap of 0 proves both optimal. The maxima in φ_ν are taken over
        all allowed targets, not over the frontiers, so that the proof does not rest on them.

        Examples
        --------
        >>> solution.duality_gap
        0.0
        """
        gains = np.zeros(self.problem.size)
        gains[self._moving] = self._best - self.problem.losses[self._moving]
        return self.problem.budget * self.price + float(self.frequencies @ gains) - self.plan_gain

    @cached_property
    def plan_is_unique(self) -> bool:
        """Whether no other plan reaches the value.

        Returns
        -------
        bool

        Notes
        -----
        A plan is optimal exactly when, at an optimal price ν, each row's mass sits at
        maximisers of l_j − ν c_ij and the budget is spent (or ν = 0). So it is unique when
        every row has one maximiser at a price inside the interval of optimal prices. When
        that interval is one positive price, one row may have two maximisers of different
        cost: the budget then fixes its split.

        Examples
        --------
        >>> solution.plan_is_unique
        True
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
        # two targets of equal cost are no split that the budget could fix
        targets = self.problem.best_targets(self._inner_price, int(row))
        costs = self.problem.costs_of(np.full(2, row), targets)
        return bool(costs[0] != costs[1])

    @cached_property
    def _moving(self) -> IntArray:
        """The points with mass."""
        return np.flatnonzero(self.frequencies > 0)

    @cached_property
    def _best(self) -> FloatArray:
        """What the best target of each point with mass is worth at the price, by a search."""
        return self.problem.best_by_search(self.price, self._moving)

    @property
    def _inner_price(self) -> float:
        """A price inside the interval of optimal ones."""
        lower, upper = self.price_interval
        # above every slope the maximisers at price ∞ are taken, by free moves only
        return upper if np.isinf(upper) else (lower + upper) / 2

    @cached_property
    def _ties(self) -> IntArray:
        """How many targets of each point with mass are best at the inner price; 3: or more."""
        ties = np.zeros(self.problem.size, np.int64)
        price = self._inner_price
        best = self._best if price == self.price else None
        ties[self._moving] = self.problem.count_best_targets(price, self._moving, best)
        return ties

    def tied(self, rows: IntArray) -> BoolArray:
        """Tell for each of some points with mass whether another target is as good.

        Parameters
        ----------
        rows
            Numbers of points.

        Returns
        -------
        ndarray of bool
            One answer a row.

        Examples
        --------
        >>> solution.tied(np.array([0])).tolist()
        [False]
        """
        if self.plan_is_unique:
            return np.zeros(len(rows), bool)
        return np.asarray(self._ties[rows] > 1)
