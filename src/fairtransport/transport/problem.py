"""AuditProblem: losses, costs and a budget, and the exact audit value ψ of any frequencies."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.checks import BoolArray, FloatArray, IntArray, finite, float_array, number
from fairtransport.errors import InputError
from fairtransport.geometry import LARGEST_LOSS, Geometry, as_geometry, float_csr
from fairtransport.transport.filling import Filling
from fairtransport.transport.frontiers import CHUNK_ENTRIES, Frontiers, build_frontiers
from fairtransport.transport.prices import PriceSweep, sweep_prices
from fairtransport.transport.solution import (
    TOLERANCE,
    BudgetCurve,
    Solution,
    Spending,
    price_interval,
    spend,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csr_array


class BestOfBlocks(NamedTuple):
    """The largest losses that points can be moved to for nothing.

    Attributes
    ----------
    place
        (K,) the number of each point's block.
    reached
        (K,) max over the targets of the point's block, or its own loss if that is larger.
    is_best
        (K,) whether the point's own loss is that, up to rounding.
    many
        (K,) how many targets reach it up to rounding, the point itself among them.
    """

    place: IntArray
    reached: FloatArray
    is_best: BoolArray
    many: IntArray


class AuditProblem:
    """The auditor's problem on a finite sample space.

    Parameters
    ----------
    losses
        (K,) finite losses l of the K points, at most 1e100 in size.
    costs
        What moving mass costs, c_ij = d(z_i, z_j)²: a (K, K) array in which infinity forbids
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
        If losses, costs or budget break a rule above.

    Notes
    -----
    The audit value (equation 3.1 of the paper) is

        ψ(f) = max over plans Π >= 0 of l'(Π'1 − f)  subject to  ⟨C, Π⟩ <= ε, ⟨D, Π⟩ = 0, Π1 = f
             = min over prices ν >= 0 of εν + Σ_i f_i φ_ν(i),   φ_ν(i) = max_j (l_j − ν c_ij) − l_i.

    Frequencies need not sum to one: ψ is the value of this linear program for any f >= 0,
    with the budget as it stands. The frontiers behind φ are built once, when first needed.

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
        self.losses: FloatArray = finite("losses", float_array("losses", losses, (None,)))
        if not len(self.losses):
            msg = "`losses` must hold at least one point, got none"
            raise InputError(msg)
        largest = float(np.abs(self.losses).max())
        if largest > LARGEST_LOSS:
            msg = f"`losses` must be at most {LARGEST_LOSS:g} in size, got {largest:g}"
            raise InputError(msg)
        self.geometry: Geometry = as_geometry(costs, len(self.losses), forbidden)
        self.budget: float = number("budget", budget, at_least=0)

    def __repr__(self) -> str:
        return f"AuditProblem({self.size} points, budget={self.budget:g})"

    @property
    def size(self) -> int:
        """The number of points, K.

        Returns
        -------
        int

        Examples
        --------
        >>> problem.size
        2
        """
        return len(self.losses)

    @cached_property
    def frontiers(self) -> Frontiers:
        """The frontiers of all points; they depend neither on frequencies nor on the budget.

        Returns
        -------
        Frontiers

        Examples
        --------
        What each point can gain at which cost, the best first.

        >>> problem.frontiers.cost.tolist(), problem.frontiers.gain.tolist()
        ([2.0], [1.0])
        """
        return build_frontiers(self.losses, self.geometry)

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
            If the budget is negative or no finite number.

        Examples
        --------
        >>> [problem.with_budget(budget).value([1.0, 0.0]) for budget in (0, 1, 2, 3)]
        [0.0, 0.5, 1.0, 1.0]
        """
        other = AuditProblem(self.losses, self.geometry, budget=budget)
        # frontiers know nothing of the budget: they are computed once for the whole curve
        other.__dict__["frontiers"] = self.frontiers
        return other

    def at(self, points: IntArray) -> AuditProblem:
        """Return the problem of some of the points alone, in the order given.

        Parameters
        ----------
        points
            Their numbers.

        Returns
        -------
        AuditProblem
            Over these points alone.

        Examples
        --------
        >>> import numpy as np
        >>> problem.at(np.array([1])).losses.tolist()
        [1.0]
        """
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
            # the largest loss of each block is enough; who has it need not be known
            return float(f @ (self._best_of_blocks().reached - self.losses))
        return _gain(self.frontiers, f, spend(self.frontiers, f, self.budget))

    def values(self, frequencies: object) -> FloatArray:
        """Return ψ of many frequency vectors, one a row, dense or sparse.

        A compiled pass over the segments each, which ends when the budget is spent; in
        parallel over the rows.

        Parameters
        ----------
        frequencies
            (any, K) an array or a scipy sparse matrix.

        Returns
        -------
        ndarray of float
            One audit value a row.

        Raises
        ------
        InputError
            If the rows are not frequencies of K points.

        Examples
        --------
        >>> problem.values([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]).tolist()
        [0.25, 0.25, 0.0]
        """
        return self.filling.values(self._many_frequencies(frequencies))

    @property
    def filling(self) -> Filling:
        """What values of many frequency vectors need to know of this problem.

        Returns
        -------
        Filling
            Plain arrays, which can be sent to another process.

        Examples
        --------
        >>> problem.filling.budget, problem.filling.cost.tolist(), problem.filling.gain.tolist()
        (0.5, [2.0], [1.0])
        """
        known = self.frontiers
        return Filling(self.budget, known.base_gain, known.row, known.cost, known.gain)

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
        spending = spend(self.frontiers, f, self.budget)
        interval = price_interval(self.frontiers, spending, self.budget)
        return Solution(
            problem=self,
            frequencies=f,
            value=_gain(self.frontiers, f, spending),
            price=interval[0],
            price_interval=interval,
            plan=_plan(self.frontiers, f, spending),
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
        """Return moments of the net gains at all prices where they bend.

        Parameters
        ----------
        weights
            (K,) of the points, such as frequencies.

        Returns
        -------
        PriceSweep
            Prices where some net gain bends, and at each the weighted mean and mean square.

        Examples
        --------
        >>> import numpy as np
        >>> problem.sweep(np.array([1.0, 0.0])).prices.tolist()
        [inf, 0.5, 0.0]
        """
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
        The budget moves a quarter of a person, whoever else is there; a large one moves everybody.

        >>> problem.directional_derivative([1.0, 0.0], [-1.0, 1.0])
        0.0
        >>> problem.with_budget(5.0).directional_derivative([1.0, 0.0], [-1.0, 1.0])
        -1.0
        """
        f = self._frequencies(frequencies)
        h = finite("direction", float_array("direction", direction, (self.size,)))
        if np.any((f == 0) & (h < 0)):
            at = int(np.flatnonzero((f == 0) & (h < 0))[0])
            msg = f"`direction` must be >= 0 where `frequencies` are 0, got {h[at]:g} at [{at}]"
            raise InputError(msg)
        low, high = self.solve(f).price_interval
        sweep = self.sweep(h)
        inside = sweep.mean[(sweep.prices >= low) & (sweep.prices <= high)]
        # concave between bends, so that the least is at a bend or at an end of the interval
        ends = [float(h @ self.frontiers.net_gains(price)) for price in (low, high)]
        return float(min([*ends, *inside]))

    def costs_of(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the costs of single moves rows[k] → cols[k].

        Parameters
        ----------
        rows, cols
            Numbers of points, of equal length.

        Returns
        -------
        ndarray of float
            One cost a pair; infinity forbids the move.

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

    def net_gains_by_search(self, price: float, wanted: BoolArray) -> FloatArray:
        """Return φ_ν by a search over all targets instead of the frontiers; 0 where not wanted.

        Parameters
        ----------
        price
            ν >= 0.
        wanted
            (K,) for which points.

        Returns
        -------
        ndarray of float
            (K,) the net gains.

        Examples
        --------
        >>> import numpy as np
        >>> problem.net_gains_by_search(0.25, np.array([True, False])).tolist()
        [0.5, 0.0]
        """
        gains, rows = np.zeros(self.size), np.flatnonzero(wanted)
        gains[rows] = self.best_by_search(price, rows) - self.losses[rows]
        return gains

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
            One maximum a row.

        Examples
        --------
        >>> import numpy as np
        >>> problem.best_by_search(0.25, np.array([0, 1])).tolist()
        [0.5, 1.0]
        """
        if self._all_alike or (price == 0 and self.geometry.searchable is not None):
            return self._best_of_blocks().reached[rows]
        if (points := self.geometry.searchable) is not None:
            from fairtransport.transport.embedded import best_at_price

            return best_at_price(self.losses, self.geometry, points, price, rows)
        best = np.empty(self.size)
        for part, net in self._lagrangian(price, rows):
            best[part] = net.max(axis=1)
        return best[rows]

    def count_best_targets(
        self, price: float, rows: IntArray, best: FloatArray | None = None
    ) -> IntArray:
        """Count, for each of ``rows``, the targets that maximise l_j − ν c_ij; 3: or more.

        ``best`` is that maximum, where `best_by_search` has found it.

        Parameters
        ----------
        price
            ν >= 0.
        rows
            Numbers of points.
        best
            (rows,) the maxima, or None.

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
            return np.minimum(self._best_of_blocks().many[rows], 3)
        if (points := self.geometry.searchable) is not None:
            from fairtransport.transport.embedded import ties_at_price

            within = TOLERANCE * max(1.0, float(np.abs(self.losses).max()))
            return ties_at_price(self.losses, self.geometry, points, price, rows, within, best)
        counts = np.zeros(self.size, np.int64)
        for part, net in self._lagrangian(price, rows):
            counts[part] = _near_best(net).sum(axis=1)
        return np.minimum(counts[rows], 3)

    @property
    def _all_alike(self) -> bool:
        """Whether all points of a block have the same targets, each of them free."""
        return self.geometry.is_free and self.geometry.targets is None

    def _best_of_blocks(self) -> BestOfBlocks:
        """Return the largest loss that each point can be moved to for nothing, and where it is.

        Notes
        -----
        Blocks are searched once, not point by point: where all moves are free this replaces K²
        pairs by K.
        """
        _, place = np.unique(self.geometry.blocks, return_inverse=True)
        targets = self.geometry.targets_in(np.arange(self.size))
        best, scale = np.full(self.size, -np.inf), np.ones(self.size)
        np.maximum.at(best, place[targets], self.losses[targets])
        # rounding errors are as large as the largest loss of the block, not as the difference
        np.maximum.at(scale, place, np.abs(self.losses))
        within = TOLERANCE * scale
        near = targets[self.losses[targets] >= (best - within)[place[targets]]]
        many = np.bincount(place[near], minlength=self.size)
        # a point that is no target may stay all the same
        reached = np.maximum(best[place], self.losses)
        count = np.where(best[place] >= reached - within[place], many[place], 0)
        stays = np.ones(self.size, bool)
        stays[targets] = False
        is_best = self.losses >= reached - within[place]
        count += stays & is_best
        return BestOfBlocks(place.astype(np.int64), reached, is_best, count.astype(np.int64))

    def best_in_blocks(self) -> tuple[IntArray, BoolArray] | None:
        """Return each point's block, and whether its loss is the largest there.

        Returns
        -------
        tuple of ndarray, or None
            None where moves inside blocks cost something or have targets of their own.

        Examples
        --------
        >>> print(problem.best_in_blocks())
        None
        """
        if not self._all_alike:
            return None
        blocks = self._best_of_blocks()
        return blocks.place, blocks.is_best

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
        """Yield pieces of l_j − ν c_ij over the targets in the rows' blocks.

        Parameters
        ----------
        price
            ν, 0 and infinity included.
        rows
            The points that are wanted.

        Yields
        ------
        part, net
            Some of the points, all in one block, and (points, members of the block) the values; −∞
            where a move is forbidden.
        """
        wanted = np.zeros(self.size, bool)
        wanted[rows] = True
        for members in self.geometry.members:
            chosen = members[wanted[members]]
            step = max(1, CHUNK_ENTRIES // len(members))
            for at in range(0, len(chosen), step):
                part = chosen[at : at + step]
                yield (
                    part,
                    self.losses[members] - _charge(price, self.geometry.costs(part, members)),
                )

    def _frequencies(self, value: object) -> FloatArray:
        """Return one frequency vector, checked: (K,), finite and non-negative."""
        array = float_array("frequencies", value, (self.size,))
        return finite("frequencies", array, nonnegative=True)

    def _many_frequencies(self, value: object) -> FloatArray | csr_array[np.float64]:
        """Return frequency vectors, one a row, checked, dense or sparse as they came.

        Raises
        ------
        InputError
            If the shape is wrong or an entry is negative or not finite.
        """
        if not hasattr(value, "tocsr"):
            array = float_array("frequencies", value, (None, self.size))
            return finite("frequencies", array, nonnegative=True)
        matrix = float_csr("frequencies", value)
        if matrix.ndim != 2 or matrix.shape[1] != self.size:  # noqa: PLR2004
            msg = f"`frequencies` must have shape (any, {self.size}), got {matrix.shape}"
            raise InputError(msg)
        finite("frequencies", matrix.data, nonnegative=True)
        return matrix


def _charge(price: float, costs: FloatArray) -> FloatArray:
    """Return ν·c where 0 · ∞ means what it should: forbidden stays forbidden, free stays free.

    Parameters
    ----------
    price
        ν in [0, ∞].
    costs
        c, infinite where a move is forbidden.

    Examples
    --------
    >>> _charge(np.inf, np.array([0.0, 2.0])).tolist()
    [0.0, inf]
    >>> _charge(0.0, np.array([2.0, np.inf])).tolist()
    [0.0, inf]
    """
    if 0 < price < np.inf:
        return price * costs
    # 0 · ∞ is no number: a free price forbids what is forbidden, an infinite one all that costs
    limit = np.isinf(costs) if price == 0 else costs > 0
    return np.where(limit, np.inf, 0.0)


def _near_best(net: FloatArray) -> BoolArray:
    """Return which targets of each row reach its maximum, up to rounding.

    Parameters
    ----------
    net
        (rows, targets) l_j − ν c_ij; −∞ where forbidden.

    Examples
    --------
    >>> _near_best(np.array([[0.3, 0.1 + 0.2, 0.2, -np.inf]])).tolist()
    [[True, True, False, False]]
    """
    best = net.max(axis=1, keepdims=True)
    finite_part = np.where(np.isfinite(net), np.abs(net), 0.0)
    return np.asarray(net >= best - TOLERANCE * np.maximum(1.0, finite_part.max(axis=1))[:, None])


def _gain(frontiers: Frontiers, f: FloatArray, spending: Spending) -> float:
    """Return ψ(f): free gains, those of used-up segments, and the part of the split one."""
    used = spending.segments[: spending.full]
    value = f @ frontiers.base_gain + spending.mass[: spending.full] @ frontiers.gain[used]
    if spending.splits:
        # the next segment is bought in part: its slope is what a unit of budget gains there
        value += spending.rest * frontiers.slope[spending.segments[spending.full]]
    return float(value)


def _plan(frontiers: Frontiers, f: FloatArray, spending: Spending) -> csr_array[np.float64]:
    """Return the plan of a spending, (K, K) sparse: at most one row is split.

    Parameters
    ----------
    frontiers
        The segments of all points.
    f
        The mass of each point.
    spending
        How the budget was spent.
    """
    from scipy.sparse import csr_array

    target = frontiers.base_target.copy()
    used = spending.segments[: spending.full]
    # a row's segments come in order, so its last one tells where its mass ends
    target[frontiers.row[used]] = frontiers.target[used]
    rows = np.flatnonzero(f)
    cols, mass = target[rows], f[rows].copy()
    if spending.splits:
        at = spending.segments[spending.full]
        moved = spending.rest / frontiers.cost[at]
        # the one point whose mass is split between two targets
        mass[rows == frontiers.row[at]] -= moved
        rows = np.r_[rows, frontiers.row[at]]
        cols = np.r_[cols, frontiers.target[at]]
        mass = np.r_[mass, moved]
    return csr_array((mass, (rows, cols)), shape=(len(f), len(f)))
