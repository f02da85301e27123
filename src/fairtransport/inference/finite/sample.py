"""An audit sample as bets need it: random orders in blocks, frontiers of its units."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport._core.units import Units
    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.transport import AuditProblem
    from fairtransport.transport.column_generation import Columns


MAX_ORDERS, MIN_ORDERS = 32, 2
MAX_ORDER_STEPS = 300_000
"""Maximum number of steps of all orders together; larger samples get fewer orders."""


class Orders(NamedTuple):
    """Several random orders of one sample, each cut into the same number of blocks."""

    start: IntArray
    cell: IntArray
    records: FloatArray
    n_before: FloatArray
    n: int


def draw_orders(
    counts: IntArray, blocks: int, further_work: int, rng: np.random.Generator
) -> Orders:
    """Draw random orders that depend only on the seed and the sample's multiset.

    ``further_work`` is the cost of an order besides its entries: costly orders are fewer.

    With as many blocks as records the sample is shuffled. Otherwise each record falls into a
    block at random, independently of the others, so that the blocks' counts are multinomial
    splits of the cells' counts and the cost grows with the number of cells, not of records. Blocks
    shrink towards the end, where a hedge needs the most care. Either way the records of a block are
    independent draws from the population given its size. The choice depends on n only, and not on
    the sample.
    """
    n = int(counts.sum())
    blocks = min(blocks, n)
    occupied = np.flatnonzero(counts)
    entries = min(n, blocks * len(occupied))
    work = entries + further_work
    # how many orders there are may depend on the sample, as no stake depends on their number
    n_orders = int(np.clip(MAX_ORDER_STEPS // work, MIN_ORDERS, MAX_ORDERS))
    # few records are ordered singly; with many, a block's stakes depend on earlier blocks only, so
    # that counts by block and cell are enough
    draw_order = _shuffle_records if n <= blocks else _split_counts
    parts = [draw_order(counts, occupied, n, blocks, stream) for stream in rng.spawn(n_orders)]
    shift = np.cumsum([0, *(len(part[1]) for part in parts)])
    sizes = np.array([part[3] for part in parts])
    return Orders(
        start=np.array([part[0] for part in parts]) + shift[:-1, None],
        cell=np.concatenate([part[1] for part in parts]),
        records=np.concatenate([part[2] for part in parts]),
        n_before=np.cumsum(sizes, axis=1) - sizes,
        n=n,
    )


def _shuffle_records(
    counts: IntArray, occupied: IntArray, n: int, blocks: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return one order, record by record: starts of blocks, cells, ones, and the blocks' sizes."""
    records = rng.permutation(np.repeat(occupied, counts[occupied]))
    start = np.arange(blocks + 1) * n // blocks
    return start, records, np.ones(n), np.diff(start).astype(float)


def _split_counts(
    counts: IntArray, occupied: IntArray, n: int, blocks: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return one order by counts: starts of blocks, their cells, counts and sizes."""
    del n
    # blocks shrink towards the end, where wealth is close to its aim and stakes have to follow it
    shares = -np.diff((1 - np.arange(blocks + 1) / blocks) ** 2)
    # records fall into blocks independently, so that given their sizes blocks are independent draws
    table = rng.multinomial(counts[occupied], shares).T
    block, place = np.nonzero(table)
    start = np.searchsorted(block, np.arange(blocks + 1))
    count = table[block, place].astype(float)
    return start, occupied[place], count, table.sum(axis=1).astype(float)


def build_single_block(counts: IntArray, paths: int) -> Orders:
    """Return the sample as one block, shared by several paths of fixed stakes.

    The wealth of a constant stake does not depend on the order, so nothing is drawn.
    """
    start = np.tile([0, len(counts)], (paths, 1))
    cells = np.arange(len(counts))
    return Orders(start, cells, counts.astype(float), np.zeros((paths, 1)), int(counts.sum()))


class ObservedFrontiers(NamedTuple):
    """Frontiers of the observed kinds of units, numbered 0, 1, …, and their weights.

    ``weight`` is relative to the largest possible one. ``row`` to ``slope`` are in slope order, as
    in `Frontiers`; ``first`` and ``own_*`` hold the same segments kind by kind.
    """

    weight: FloatArray
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

    def evaluate(self, price: float) -> FrontierValues:
        """Return φ_ν and its one-sided derivatives at a price."""
        # slopes decrease, so that those above the price come first; segments at the price itself
        # are worth exactly their cost, and count for the left derivative only
        above = int(np.searchsorted(-self.slope, -price, side="left"))
        with_equal = int(np.searchsorted(-self.slope, -price, side="right"))
        size = len(self.base)
        gain = np.bincount(self.row[:above], self.gain[:above], size)
        cost = np.bincount(self.row[:above], self.cost[:above], size).astype(float)
        equal = slice(above, with_equal)
        cost_left = np.asarray(
            cost + np.bincount(self.row[equal], self.cost[equal], size), dtype=float
        )
        # an infinite price that nobody pays costs nothing; ∞ · 0 would be NaN
        paid = price * cost if above else 0.0
        return FrontierValues(self.base + gain - paid, cost, cost_left)

    def find_middle(self, low: float, high: float) -> float:
        """Return the median price between two at which a frontier bends, else the midpoint."""
        first = int(np.searchsorted(-self.slope, -high, side="right"))
        last = int(np.searchsorted(-self.slope, -low, side="left"))
        inside = float(self.slope[(first + last) // 2]) if last > first else (low + high) / 2
        return inside if low < inside < high else (low + high) / 2

    def widen(self, low: float, high: float) -> tuple[float, float]:
        """Return two prices unchanged: all prices take the same time."""
        return low, high


PRICE_RATIO = 1.2
"""Ratio of the prices at which searches over all targets are repeated."""


class SearchedFrontiers(NamedTuple):
    """Frontiers of kinds of units that are too long to list, searched at single prices.

    The gains are those of all targets. Adaptive stakes need the prices at which frontiers bend, so
    that stakes on these are fixed.
    """

    weight: FloatArray
    columns: Columns
    units: Units

    @property
    def base(self) -> FloatArray:
        """Gains of free moves."""
        return self.evaluate(np.inf).gains

    def evaluate(self, price: float) -> FrontierValues:
        """Return φ_ν at a price and the cost of a best target there.

        The value of one target is linear in the price and never above φ: it is a tangent on both
        sides, for any of several best targets.
        """
        gains, costs = np.zeros((2, self.columns.search.losses.size))
        rows, target = self.columns.rows, self.columns.find_targets(price)
        gains[rows] = self.columns.net_gains(price)
        costs[rows] = self.columns.costs(target)
        cost = self._means(costs)
        return FrontierValues(self._means(gains), cost, cost)

    def _means(self, values: FloatArray) -> FloatArray:
        """Return the mean over the members of each kind of unit."""
        if self.units.has_one_member_each:
            return values[self.units.point]
        return self.units.means(values)

    def find_middle(self, low: float, high: float) -> float:
        """Return a searched price near the middle of two, else a round one."""
        middle, reach = (low + high) / 2, (high - low) / 4
        near = [price for price in self.columns.prices if abs(price - middle) < reach]
        if near:
            return min(near, key=lambda price: abs(price - middle))
        rounded = round_price(middle, round)
        return rounded if low < rounded < high else middle

    def widen(self, low: float, high: float) -> tuple[float, float]:
        """Return round prices at or below ``low``, and at or above ``high``."""
        return round_price(low, math.floor), round_price(high, math.ceil)


def round_price(price: float, rounding: Callable[[float], int]) -> float:
    """Return a power of `PRICE_RATIO` near a price; 0 and ∞ unchanged."""
    if not 0 < price < math.inf:
        return price
    return float(PRICE_RATIO ** rounding(math.log(price) / math.log(PRICE_RATIO)))


GainCurves: TypeAlias = ObservedFrontiers | SearchedFrontiers
"""The gains of units at any price."""


class FrontierValues(NamedTuple):
    """φ_ν, with its cost at a slightly higher and at a slightly lower price."""

    gains: FloatArray
    cost_right: FloatArray
    cost_left: FloatArray


def observed_frontiers(
    problem: AuditProblem, units: Units, *, with_costs: bool = True
) -> ObservedFrontiers:
    """Return the mean frontiers of the members of each kind of unit; without costs of free moves.

    A mean of frontiers is a frontier: its segments are those of all members, cost and gain times
    the member's share, by decreasing slope.
    """
    frontiers, size = problem.frontiers, len(units.counts)
    costly = with_costs and problem.budget > 0
    alone = units.has_one_member_each
    entry, segments = _list_segments(frontiers.row, units.point, problem.size, costly=costly)
    row, share, slope = units.unit[entry], units.share[entry], frontiers.slope[segments]
    cost, gain = share * frontiers.cost[segments], share * frontiers.gain[segments]
    # stable, so that the segments of a kind stay steepest first
    own = np.argsort(row, kind="stable")
    first = np.searchsorted(row[own], np.arange(size + 1))
    base = frontiers.base_gain[units.point] if alone else units.means(frontiers.base_gain)
    if alone:
        far_cost, far_gain = frontiers.far_cost[segments], frontiers.far_gain[segments]
    else:
        far_cost, far_gain = np.empty_like(cost), np.empty_like(gain)
        far_cost[own] = _sum_along(cost[own], first, np.zeros(size))
        far_gain[own] = _sum_along(gain[own], first, base)
    return ObservedFrontiers(
        weight=units.weights / units.largest,
        base=base,
        row=row,
        cost=cost,
        gain=gain,
        far_cost=far_cost,
        far_gain=far_gain,
        slope=slope,
        first=first,
        own_cost=far_cost[own],
        own_gain=far_gain[own],
        own_slope=slope[own],
    )


def search_frontiers(problem: AuditProblem, units: Units) -> SearchedFrontiers | None:
    """Return searched frontiers if those of the problem are too long to list."""
    if problem.columns is None:
        return None
    columns = problem.columns.select(np.unique(units.point))
    return SearchedFrontiers(units.weights / units.largest, columns, units)


def _list_segments(
    rows: IntArray, points: IntArray, size: int, *, costly: bool
) -> tuple[IntArray, IntArray]:
    """Return the entries of units with the segments of their points, in slope order."""
    if not costly:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    by_point = np.argsort(rows, kind="stable")
    first = np.searchsorted(rows[by_point], np.arange(size + 1))
    counts = np.diff(first)[points]
    entry = np.repeat(np.arange(len(points)), counts)
    inside = np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
    segments = by_point[first[points][entry] + inside]
    # the problem's segments are in slope order already
    order = np.lexsort((entry, segments))
    return entry[order], segments[order]


def _sum_along(values: FloatArray, first: IntArray, start: FloatArray) -> FloatArray:
    """Return the running sums of each part of an array, from its start on."""
    sums, running, lengths = np.empty_like(values), start.copy(), np.diff(first)
    for step in range(int(lengths.max(initial=0))):
        parts = np.flatnonzero(lengths > step)
        running[parts] += values[first[parts] + step]
        sums[first[parts] + step] = running[parts]
    return sums
