"""AuditProblem: losses, costs and a budget, and the exact audit value ψ of frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport._core.parallel import threads_for
from fairtransport._core.ranks import number_rows
from fairtransport._core.validation import (
    BoolArray,
    FloatArray,
    IntArray,
    check_finite,
    check_float_array,
    check_number,
)
from fairtransport.errors import InputError, param
from fairtransport.geometry import MAX_LOSS, Geometry, as_geometry, float_csr
from fairtransport.transport.column_generation import Columns, needs_columns
from fairtransport.transport.frontiers import CHUNK_ENTRIES, Frontiers, PriceSearch, build_frontiers
from fairtransport.transport.solution import (
    TOLERANCE,
    BudgetCurve,
    SearchedCurve,
    Solution,
    Spending,
    compute_gain,
    price_interval,
    spend,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csr_array


class BlockMaxima(NamedTuple):
    """Largest losses that points can be moved to for free."""

    value: FloatArray
    ties: IntArray


class AuditProblem:
    """The auditor's problem on a finite sample space.

    Parameters
    ----------
    losses
        (K,) finite losses l of the K points, at most 1e100 in absolute value.
    costs
        Costs of moves, c_ij = d(z_i, z_j)²: a (K, K) array in which infinity forbids
        a move, a scipy sparse matrix in which an absent entry does, a callable
        ``costs(rows, cols)``, or a `Geometry`. Costs other than 0 and infinity lie between
        1e-200 and 1e200.
    budget
        ε >= 0, the transport budget.
    forbidden
        Further forbidden moves, the paper's D: a (K, K) array or sparse matrix of 0 and 1.

    Raises
    ------
    InputError
        If losses, costs or budget are invalid.

    Notes
    -----
    The audit value (equation 3.1 of the paper) is

        ψ(f) = max over plans Π >= 0 of l'(Π'1 − f)  subject to  ⟨C, Π⟩ <= ε, ⟨D, Π⟩ = 0, Π1 = f
             = min over prices ν >= 0 of εν + Σ_i f_i φ_ν(i),   φ_ν(i) = max_j (l_j − ν c_ij) − l_i.

    Frequencies need not sum to one: ψ is the value of this linear program for any f >= 0,
    with the same budget. The frontiers behind φ are built once, on first use.

    Examples
    --------
    Two people differ only in a sensitive feature; the model errs on the second.

    >>> import fairtransport as ft
    >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 2.0], [2.0, 0.0]], budget=0.5)
    >>> problem.value([1.0, 0.0])
    0.25
    >>> solution = problem.solve([1.0, 0.0])
    >>> solution.price, solution.duality_gap
    (0.5, 0.0)
    """

    def __init__(
        self, losses: object, costs: object, *, budget: float = 0.0, forbidden: object = None
    ) -> None:
        self.losses: FloatArray = check_finite(
            "losses", check_float_array("losses", losses, (None,))
        )
        if not len(self.losses):
            msg = f"{param('losses')} must hold at least one point, got none"
            raise InputError(msg)
        largest = float(np.abs(self.losses).max())
        if largest > MAX_LOSS:
            msg = f"{param('losses')} must be at most {MAX_LOSS:g} in size, got {largest:g}"
            raise InputError(msg)
        self.geometry: Geometry = as_geometry(costs, len(self.losses), forbidden)
        self.budget: float = check_number("budget", budget, at_least=0)

    def __repr__(self) -> str:
        return f"AuditProblem({self.size} points, budget={self.budget:g})"

    @property
    def size(self) -> int:
        """The number of points, K."""
        return len(self.losses)

    @cached_property
    def frontiers(self) -> Frontiers:
        """Frontiers of all points; they do not depend on frequencies or budget."""
        return build_frontiers(self.losses, self.geometry)

    @cached_property
    def columns(self) -> Columns | None:
        """Generated targets if frontiers would be too long; None otherwise."""
        place = self.geometry.searchable
        if place is None or "frontiers" in self.__dict__:
            return None
        if not needs_columns(self.losses, self.geometry, place):
            return None
        return Columns(PriceSearch(self.losses, self.geometry, place))

    def frontiers_for(self, frequencies: FloatArray) -> Frontiers:
        """Return frontiers that are long enough to solve the problem for some frequencies."""
        if self.columns is None:
            return self.frontiers
        columns = self.columns.select(np.flatnonzero(frequencies))
        return columns.solve(frequencies, self.budget)

    def net_gains(self, price: float) -> FloatArray:
        """Return φ_ν(i) = max_j (l_j − ν c_ij) − l_i for every point; ``price`` may be infinite."""
        if self.columns is None:
            return self.frontiers.net_gains(price)
        return self.columns.net_gains(price)

    def with_budget(self, budget: float) -> AuditProblem:
        """Return the same problem with another budget, sharing the frontiers.

        Parameters
        ----------
        budget
            ε >= 0.

        Returns
        -------
        AuditProblem
            Another problem over the same points.

        Raises
        ------
        InputError
            If the budget is not a finite number >= 0.

        Examples
        --------
        >>> [problem.with_budget(budget).value([1.0, 0.0]) for budget in (0, 1, 2, 3)]
        [0.0, 0.5, 1.0, 1.0]
        """
        other = AuditProblem(self.losses, self.geometry, budget=budget)
        # neither frontiers nor columns depend on the budget
        other.__dict__["columns"] = self.columns
        if self.columns is None:
            other.__dict__["frontiers"] = self.frontiers
        return other

    def at(self, points: IntArray) -> AuditProblem:
        """Return the problem restricted to some points, in the given order."""
        return AuditProblem(self.losses[points], self.geometry.at(points), budget=self.budget)

    def value(self, frequencies: object) -> float:
        """Return ψ(f), exactly.

        Parameters
        ----------
        frequencies
            (K,) f >= 0, which need not sum to one.

        Returns
        -------
        float
            The audit value.

        Raises
        ------
        InputError
            If there are not K finite frequencies, none of them negative.

        Examples
        --------
        >>> problem.value([0.5, 0.5])
        0.25
        """
        f = self._frequencies(frequencies)
        if self.geometry.is_free and "frontiers" not in self.__dict__:
            # the largest loss of each block is enough
            return float(f @ (self._find_block_maxima().value - self.losses))
        frontiers = self.frontiers_for(f)
        return compute_gain(frontiers, f, spend(frontiers, f, self.budget))

    def values(self, frequencies: object) -> FloatArray:
        """Return ψ of many frequency vectors, one per row, as an array.

        ``frequencies`` is an array or a scipy sparse matrix of shape (any, K).

        >>> problem.values([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]).tolist()
        [0.25, 0.25, 0.0]
        """
        many = self._many_frequencies(frequencies)
        if self.columns is None:
            return self.filling.values(many)
        vectors = many if isinstance(many, np.ndarray) else (row.toarray()[0] for row in many)
        return np.array([self.value(vector) for vector in vectors])

    @property
    def filling(self) -> Filling:
        """Budget and segments, from which values of many frequency vectors are computed."""
        frontiers = self.frontiers
        return Filling(
            self.budget, frontiers.base_gain, frontiers.row, frontiers.cost, frontiers.gain
        )

    def solve(self, frequencies: object) -> Solution:
        """Return ψ(f) with an optimal plan, the price of the budget and their certificate.

        Parameters
        ----------
        frequencies
            (K,) f >= 0.

        Returns
        -------
        Solution
            With value, price, plan and duality gap.

        Raises
        ------
        InputError
            If there are not K finite frequencies, none of them negative.

        Examples
        --------
        >>> problem.solve([1.0, 0.0]).plan.toarray().tolist()
        [[0.75, 0.25], [0.0, 0.0]]
        """
        f = self._frequencies(frequencies)
        frontiers = self.frontiers_for(f)
        spending = spend(frontiers, f, self.budget)
        interval = price_interval(frontiers, spending, self.budget)
        return Solution(
            problem=self,
            frequencies=f,
            value=compute_gain(frontiers, f, spending),
            price=interval[0],
            price_interval=interval,
            plan=_plan(frontiers, f, spending),
        )

    def budget_curve(self, frequencies: object) -> BudgetCurve:
        """Return ψ(f) at every budget, from the same frontiers.

        Parameters
        ----------
        frequencies
            (K,) f >= 0.

        Returns
        -------
        BudgetCurve
            Its corners; the price of budget is its slope.

        Raises
        ------
        InputError
            If there are not K finite frequencies, none of them negative.

        Examples
        --------
        >>> curve = problem.budget_curve([1.0, 0.0])
        >>> curve(0.5), curve(2.0), curve(100.0)
        (0.25, 1.0, 1.0)
        """
        f = self._frequencies(frequencies)
        if self.columns is not None:
            return SearchedCurve.from_points(self, f, self.columns.trace_curve(f))
        spending = spend(self.frontiers, f, np.inf)
        slope = self.frontiers.slope[spending.segments]
        gained = np.cumsum(spending.mass * self.frontiers.gain[spending.segments])
        # pieces of equal price are one piece
        last = np.flatnonzero(np.r_[slope[1:] < slope[:-1] * (1 - TOLERANCE), True][: len(slope)])
        start = float(f @ self.frontiers.base_gain)
        return BudgetCurve(
            budgets=np.r_[0.0, spending.spent[last]],
            values=np.r_[start, start + gained[last]],
            prices=np.r_[slope[last], 0.0],
        )

    def sweep(self, weights: FloatArray) -> PriceSweep:
        """Return weighted moments of the net gains at all prices where these bend."""
        return sweep_prices(self.frontiers, weights)

    def directional_derivative(self, frequencies: object, direction: object) -> float:
        """Return ψ'_f(h), the derivative of ψ at f in the direction h (Theorem 3).

        Parameters
        ----------
        frequencies
            f >= 0.
        direction
            h, which must not leave the cone: h_i >= 0 where f_i = 0.

        Returns
        -------
        float
            The slope of ψ at f along h.

        Raises
        ------
        InputError
            If the direction leaves the cone of frequencies.

        Notes
        -----
        ψ'_f(h) = min over optimal prices ν of h'φ_ν. It is linear in h exactly when the
        interval of optimal prices does not matter. Between the ends φ_ν(i) is linear for
        points with f_i > 0; at empty points it can bend, so the prices at which it does are
        tried too. The paper's Λ has the multipliers' sign wrong; this is the corrected form.

        Examples
        --------
        The budget moves a quarter of a person, for any others; a large one moves everybody.

        >>> problem.directional_derivative([1.0, 0.0], [-1.0, 1.0])
        0.0
        >>> problem.with_budget(5.0).directional_derivative([1.0, 0.0], [-1.0, 1.0])
        -1.0
        """
        f = self._frequencies(frequencies)
        h = check_finite("direction", check_float_array("direction", direction, (self.size,)))
        if np.any((f == 0) & (h < 0)):
            at = int(np.flatnonzero((f == 0) & (h < 0))[0])
            msg = (
                f"{param('direction')} must be >= 0 where {param('frequencies')} are 0, got "
                f"{h[at]:g} at [{at}]"
            )
            raise InputError(msg)
        low, high = self.solve(f).price_interval
        return self._find_least_mean(h, low, high)

    def _find_least_mean(self, weights: FloatArray, low: float, high: float) -> float:
        """Return the least of w'φ_ν between two prices, where it is convex."""
        prices = {low, high}
        while True:
            least = min(float(weights @ self.net_gains(price)) for price in prices)
            frontiers = self.frontiers if self.columns is None else self.columns.restrict(prices)
            sweep = sweep_prices(frontiers, weights)
            # linear between bends
            inside = np.flatnonzero((sweep.prices > low) & (sweep.prices < high))
            means = sweep.mean[inside]
            if self.columns is None or not len(inside) or means.min() >= least:
                return float(min([least, *means]))
            # restricted frontiers may lack targets at the price where they have the least
            price = float(sweep.prices[inside[np.argmin(means)]])
            if price in prices:
                return least
            prices.add(price)

    def costs_of(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the costs of single moves rows[k] → cols[k].

        Parameters
        ----------
        rows, cols
            Numbers of points, of equal length.

        Returns
        -------
        ndarray of float
            One cost per pair; infinity forbids the move.

        Examples
        --------
        >>> import numpy as np
        >>> problem.costs_of(np.array([0, 1]), np.array([1, 1])).tolist()
        [2.0, 0.0]
        """
        geometry = self.geometry
        if self._all_alike and np.array_equal(geometry.blocks[rows], geometry.blocks[cols]):
            return np.zeros(len(rows))
        if (points := geometry.searchable) is not None:
            costs = np.square(points[rows] - points[cols]).sum(axis=1)
            apart = geometry.blocks[rows] != geometry.blocks[cols]
            if geometry.targets is not None:
                apart |= ~geometry.targets[cols]
            return np.where(rows == cols, 0.0, np.where(apart, np.inf, costs))
        pairs = zip(rows, cols, strict=True)
        return np.array(
            [geometry.costs(np.array([i]), np.array([j]))[0, 0] for i, j in pairs], dtype=float
        )

    def best_by_search(self, price: float, rows: IntArray) -> FloatArray:
        """Return max_j (l_j − ν c_ij) of some points by a search over all targets.

        Parameters
        ----------
        price
            ν >= 0.
        rows
            Numbers of points.

        Returns
        -------
        ndarray of float
            One maximum per row.

        Examples
        --------
        >>> import numpy as np
        >>> problem.best_by_search(0.25, np.array([0, 1])).tolist()
        [0.5, 1.0]
        """
        if self._all_alike or (price == 0 and self.geometry.searchable is not None):
            return self._find_block_maxima().value[rows]
        if (points := self.geometry.searchable) is not None:
            search = PriceSearch(self.losses, self.geometry, points)
            return search.find_best_targets(price, rows).worth
        best = np.empty(self.size)
        for part, net in self._lagrangian(price, rows):
            best[part] = net.max(axis=1)
        return best[rows]

    def count_best_targets(
        self, price: float, rows: IntArray, best: FloatArray | None = None
    ) -> IntArray:
        """Count, for each of ``rows``, the targets that maximise l_j − ν c_ij; 3 means 3 or more.

        Parameters
        ----------
        price
            ν >= 0.
        rows
            Numbers of points.
        best
            (rows,) the maxima from `best_by_search`, or None.

        Returns
        -------
        ndarray of int
            1, 2 or 3 for each row.

        Examples
        --------
        At the price 0.5 staying and moving are as good for the first person.

        >>> import numpy as np
        >>> problem.count_best_targets(0.5, np.array([0, 1])).tolist()
        [2, 1]
        """
        if self._all_alike or (price == 0 and self.geometry.searchable is not None):
            return np.minimum(self._find_block_maxima().ties[rows], 3)
        if (points := self.geometry.searchable) is not None:
            search = PriceSearch(self.losses, self.geometry, points)
            if best is None:
                best = search.find_best_targets(price, rows).worth
            within = TOLERANCE * max(1.0, float(np.abs(self.losses).max()))
            return search.count_ties(price, rows, best - within)
        counts = np.zeros(self.size, np.int64)
        for part, net in self._lagrangian(price, rows):
            counts[part] = _near_best(net).sum(axis=1)
        return np.minimum(counts[rows], 3)

    @property
    def _all_alike(self) -> bool:
        """Whether all points of a block have the same targets, all free."""
        return self.geometry.is_free and self.geometry.targets is None

    def _find_block_maxima(self) -> BlockMaxima:
        """Return the largest loss that each point can be moved to for free, and its ties.

        Blocks are searched once, not point by point: K steps instead of K² pairs.
        """
        place = number_rows([self.geometry.blocks])
        targets = self.geometry.targets_in(np.arange(self.size))
        best, scale = np.full(self.size, -np.inf), np.ones(self.size)
        np.maximum.at(best, place[targets], self.losses[targets])
        # rounding errors are as large as the largest loss of the block, not as the difference
        np.maximum.at(scale, place, np.abs(self.losses))
        within = TOLERANCE * scale
        near = targets[self.losses[targets] >= (best - within)[place[targets]]]
        many = np.bincount(place[near], minlength=self.size)
        # a point that is no target may still stay
        reached = np.maximum(best[place], self.losses)
        count = np.where(best[place] >= reached - within[place], many[place], 0)
        stays = np.ones(self.size, bool)
        stays[targets] = False
        count += stays & (self.losses >= reached - within[place])
        return BlockMaxima(reached, count.astype(np.int64))

    def best_targets(self, price: float, row: int) -> IntArray:
        """Return the targets of one point that maximise l_j − ν c_ij.

        Parameters
        ----------
        price
            ν >= 0.
        row
            The number of a point.

        Returns
        -------
        ndarray of int
            Numbers of targets.

        Examples
        --------
        >>> problem.best_targets(0.25, 0).tolist()
        [1]
        """
        ((_, net),) = self._lagrangian(price, np.array([row]))
        block = self.geometry.blocks == self.geometry.blocks[row]
        return np.asarray(np.flatnonzero(block)[_near_best(net)[0]])

    def _lagrangian(self, price: float, rows: IntArray) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield chunks of l_j − ν c_ij over the targets in the blocks of ``rows``."""
        is_selected = np.zeros(self.size, bool)
        is_selected[rows] = True
        for members in self.geometry.members:
            selected = members[is_selected[members]]
            step = max(1, CHUNK_ENTRIES // len(members))
            for at in range(0, len(selected), step):
                part = selected[at : at + step]
                yield (
                    part,
                    self.losses[members] - _charge(price, self.geometry.costs(part, members)),
                )

    def _frequencies(self, value: object) -> FloatArray:
        """Check one frequency vector: (K,), finite and non-negative."""
        array = check_float_array("frequencies", value, (self.size,))
        return check_finite("frequencies", array, nonnegative=True)

    def _many_frequencies(self, value: object) -> FloatArray | csr_array[np.float64]:
        """Check frequency vectors, one per row, dense or sparse."""
        if not hasattr(value, "tocsr"):
            array = check_float_array("frequencies", value, (None, self.size))
            return check_finite("frequencies", array, nonnegative=True)
        matrix = float_csr("frequencies", value)
        if matrix.ndim != 2 or matrix.shape[1] != self.size:  # noqa: PLR2004
            msg = f"{param('frequencies')} must have shape (any, {self.size}), got {matrix.shape}"
            raise InputError(msg)
        check_finite("frequencies", matrix.data, nonnegative=True)
        return matrix


def _charge(price: float, costs: FloatArray) -> FloatArray:
    """Return ν·c, where forbidden moves stay forbidden and free moves free."""
    if 0 < price < np.inf:
        return price * costs
    # 0 · ∞ is NaN: price 0 forbids infinite costs, an infinite price all positive costs
    limit = np.isinf(costs) if price == 0 else costs > 0
    return np.where(limit, np.inf, 0.0)


def _near_best(net: FloatArray) -> BoolArray:
    """Return which targets of each row reach its maximum, up to rounding."""
    best = net.max(axis=1, keepdims=True)
    finite_part = np.where(np.isfinite(net), np.abs(net), 0.0)
    return np.asarray(net >= best - TOLERANCE * np.maximum(1.0, finite_part.max(axis=1))[:, None])


def _plan(frontiers: Frontiers, f: FloatArray, spending: Spending) -> csr_array[np.float64]:
    """Return the plan of a spending, (K, K) sparse; at most one row is split."""
    from scipy.sparse import csr_array

    target = frontiers.base_target.copy()
    segments = spending.segments[: spending.full]
    # a row's segments come in order, so its mass ends at the last one
    target[frontiers.row[segments]] = frontiers.target[segments]
    rows = np.flatnonzero(f)
    cols, mass = target[rows], f[rows].copy()
    if spending.splits:
        at = spending.segments[spending.full]
        split_mass = spending.rest / frontiers.cost[at]
        # the one point whose mass is split between two targets
        mass[rows == frontiers.row[at]] -= split_mass
        rows = np.r_[rows, frontiers.row[at]]
        cols = np.r_[cols, frontiers.target[at]]
        mass = np.r_[mass, split_mass]
    return csr_array((mass, (rows, cols)), shape=(len(f), len(f)))


@dataclass(frozen=True, eq=False)
class PriceSweep:
    """Weighted moments of φ_ν as functions of the price."""

    prices: FloatArray
    mean: FloatArray
    square: FloatArray

    def spread(self) -> FloatArray:
        """Return the standard deviations of φ_ν; the weights must be probabilities."""
        return np.sqrt(np.maximum(self.square - self.mean**2, 0.0))


def sweep_prices(frontiers: Frontiers, weights: FloatArray) -> PriceSweep:
    """Compute moments of the net gains for weights of any sign, in one pass over the segments.

    At price ν point i sits at the frontier corner (c_i, g_i) that its segments of slope > ν
    lead to, so φ_ν(i) = g_i − ν c_i. The sums Σ w g, Σ w c, Σ w g², Σ w gc and Σ w c² change
    only in the row of the segment that is passed.
    """
    # segments of points without weight change nothing
    segments = np.flatnonzero(weights[frontiers.row])
    w = weights[frontiers.row[segments]]
    far_c, far_g = frontiers.far_cost[segments], frontiers.far_gain[segments]
    near_c, near_g = far_c - frontiers.cost[segments], far_g - frontiers.gain[segments]
    slope = frontiers.slope[segments]

    def along(start: float, steps: FloatArray) -> FloatArray:
        """Return the running sum of what each passed segment changes, from a start on."""
        return np.asarray(start + np.r_[0.0, np.cumsum(w * steps)])

    base = frontiers.base_gain
    gain = along(float(weights @ base), frontiers.gain[segments])
    cost = along(0.0, frontiers.cost[segments])
    # passing a segment swaps its near end for its far end, in squares too: (far)² − (near)²
    gain_gain = along(float(weights @ base**2), far_g**2 - near_g**2)
    gain_cost = along(0.0, far_g * far_c - near_g * near_c)
    cost_cost = along(0.0, far_c**2 - near_c**2)
    # after the first k segments the price lies between slope k − 1 and slope k: state k
    # holds at both, and at 0 after the last; price ∞ is state 0
    prices = np.r_[slope, 0.0]
    mean = gain - prices * cost
    square = gain_gain - 2 * prices * gain_cost + prices**2 * cost_cost
    return PriceSweep(np.r_[np.inf, prices], np.r_[gain[0], mean], np.r_[gain_gain[0], square])


class Filling(NamedTuple):
    """The budget, and the segments of the frontiers along which it is spent."""

    budget: float
    base_gain: FloatArray
    row: IntArray
    cost: FloatArray
    gain: FloatArray

    def values(self, many: FloatArray | csr_array[np.float64]) -> FloatArray:
        """Return ψ of frequency vectors, one per row, in one compiled pass over the segments."""
        if self.budget == 0 or not len(self.row):
            return np.asarray(many @ self.base_gain)
        from fairtransport.transport import kernels

        values = np.empty(many.shape[0])
        with threads_for(len(values) * (len(self.base_gain) + len(self.row))):
            if isinstance(many, np.ndarray):
                kernels.compute_values(many, self, values)
            else:
                start, column = many.indptr.astype(np.int64), many.indices.astype(np.int64)
                rows = kernels.SparseRows(start, column, many.data)
                kernels.compute_sparse_values(rows, self, values)
        return values
