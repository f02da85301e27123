"""Column generation: exact solutions from a few targets per point where frontiers are long."""

from __future__ import annotations

import math
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.transport.frontiers import (
    Frontiers,
    PriceSearch,
    build_segments,
    estimate_corners,
)
from fairtransport.transport.solution import TOLERANCE, compute_gain, price_interval, spend

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.geometry import Geometry

MAX_FRONTIER_CORNERS = 2_000_000
"""Maximum estimated number of corners of the targets' frontiers to build all in full."""
MAX_CORNERS_PER_POINT = 50
"""Maximum estimated corners per frontier to build them in full, for any number of points."""
PROBE_TARGETS = 4_000
"""Number of targets among which frontiers are searched first to estimate their length."""
MAX_BRACKET = 1e-6
"""Logarithmic width of a bracket of prices at which narrowing stops."""
MIN_MOVES = 100
"""Number of points with different targets at two prices at which narrowing stops."""
FIRST_STEP = 1.05
"""Ratio of the first prices to the price of a sample of points."""
MAX_STEP = 1e100
"""Ratio at which the search for prices on both sides stops."""
GUESS_POINTS = 1_000
"""Number of points in that sample."""
CURVE_POINTS = 32
"""Number of points of a budget curve that is not listed in full."""
CURVE_STEP = 4.0
"""Ratio of prices if there is no price yet on one side."""
MAX_KEPT_PRICES = 64
"""Maximum number of prices whose targets are kept."""
MAX_ROUNDS = 200
"""Maximum number of rounds; the duality gap then shows what is missing."""


def needs_columns(losses: FloatArray, geometry: Geometry, place: FloatArray) -> bool:
    """Whether full frontiers would be too long, by a sample of the targets.

    The result depends on the targets only: if these were fixed before a sample, so was the kind of
    bets on it.
    """
    targets = geometry.targets_in(np.arange(geometry.size))
    # a frontier has at most one corner per target
    if len(targets) ** 2 <= MAX_FRONTIER_CORNERS:
        return False
    # frontiers get longer with the number of targets: those among a few are searched faster
    for step in sorted({len(targets) // PROBE_TARGETS or 1, 1}, reverse=True):
        part = targets[::step]
        corners = estimate_corners(losses[part], geometry.at(part), place[part])
        if corners > MAX_CORNERS_PER_POINT and corners * len(targets) > MAX_FRONTIER_CORNERS:
            return True
    return False


class Columns:
    """The best targets of some points, all by default, at the prices evaluated so far.

    The best target at a price is a corner of the point's frontier. So the targets at some prices
    are corners of all frontiers in order, and a problem restricted to them has the dual function
    of the whole problem at these prices, and less in between.
    """

    def __init__(self, search: PriceSearch, rows: IntArray | None = None) -> None:
        self.search, self.losses = search, search.losses
        self.rows = np.arange(len(search.losses)) if rows is None else rows
        self.searched_rows = 0
        self._targets: dict[float, NDArray[np.int32]] = {}

    def select(self, rows: IntArray) -> Columns:
        """Return columns for some points only, or these if that would hardly save a search."""
        # a sparse vector does not need the targets of points without mass
        return Columns(self.search, rows) if 0 < len(rows) <= len(self.rows) // 2 else self

    @property
    def prices(self) -> list[float]:
        """The prices evaluated so far."""
        return sorted(self._targets)

    def find_targets(self, price: float) -> IntArray:
        """Return the best target of each point at a price; at 0 the nearest of largest loss."""
        if price not in self._targets:
            self._targets[price] = self._search(price).astype(np.int32)
            if len(self._targets) > MAX_KEPT_PRICES:
                del self._targets[next(p for p in self._targets if 0 < p < np.inf)]
        return self._targets[price].astype(np.int64)

    def _search(self, price: float) -> IntArray:
        """Return the best targets at a new price.

        The value of each target is linear in the price: one that is best at a lower and at a higher
        price is best in between.
        """
        if price == 0:
            return self.search.find_nearest_maxima(self.rows)
        lower = self._targets.get(max((p for p in self._targets if p < price), default=-1.0))
        higher = self._targets.get(min((p for p in self._targets if p > price), default=-1.0))
        if lower is None or higher is None:
            self.searched_rows += len(self.rows)
            return self.search.find_best_targets(price, self.rows).target
        target, places = lower.astype(np.int64), np.flatnonzero(lower != higher)
        self.searched_rows += len(places)
        if len(places):
            rows = self.rows[places]
            target[places] = self.search.find_best_targets(price, rows, target[places]).target
        return target

    def costs(self, target: IntArray) -> FloatArray:
        """Return the cost of each point's move to its target."""
        total = np.zeros(len(target))
        # column by column, as the search sums squares
        for column in self.search.points.place.T:
            total += np.square(column[self.rows] - column[target])
        return total

    def net_gains(self, price: float) -> FloatArray:
        """Return φ_ν of each point; ``price`` may be infinite."""
        target = self.find_targets(price)
        gains = self.losses[target] - self.losses[self.rows]
        return gains if np.isinf(price) else gains - price * self.costs(target)

    def find_largest_net_gains(self, prices: Collection[float]) -> FloatArray:
        """Return the largest φ_ν of all points at increasing prices.

        φ_ν decreases in ν, so only points are searched whose φ at a lower price exceeds the
        largest.
        """
        limits, result = self.net_gains(0.0), []
        for price in prices:
            order, largest, first, step = np.argsort(-limits), 0.0, 0, GUESS_POINTS
            while first < len(order) and limits[order[first]] > largest:
                part = order[first : first + step]
                if price > 0:
                    limits[part] = self.search.find_best_targets(price, self.rows[part]).net_gain
                largest = max(largest, float(limits[part].max()))
                first, step = first + step, 2 * step
            result.append(largest)
        return np.array(result)

    def solve(self, frequencies: FloatArray, budget: float) -> Frontiers:
        """Return restricted frontiers whose solution for some frequencies is that of all targets.

        The restricted value is at most ψ, and the dual value at any price is at least ψ. Targets
        at both ends of the restricted problem's interval of optimal prices are added until their
        dual values are the restricted value. All optimal prices lie between evaluated prices, so
        targets at prices farther away are not needed.
        """
        mass = frequencies[self.rows]
        prices = self._approach(mass, budget)
        for _ in range(MAX_ROUNDS):
            frontiers = self.restrict(prices)
            spending = spend(frontiers, frequencies, budget)
            low, high = price_interval(frontiers, spending, budget)
            new = {low, high} - set(prices)
            value = compute_gain(frontiers, frequencies, spending)
            if not new or self._find_gap(new, mass, budget, value) <= TOLERANCE * value:
                break
            prices = _keep_nearest({*prices, *new}, low, high)
        return frontiers

    def restrict(self, prices: Collection[float]) -> Frontiers:
        """Return the frontiers whose corners are the best targets at some prices, with ∞."""
        falling = sorted({*prices, np.inf}, reverse=True)
        target = np.array([self.find_targets(price) for price in falling])
        cost = np.array([self.costs(column) for column in target])
        loss = self.losses[target]
        # at a lower price a point moves to a larger loss at a larger cost, or does not change
        is_corner = np.ones(target.shape, bool)
        is_corner[1:] = (cost[1:] > np.maximum.accumulate(cost[:-1])) & (
            loss[1:] > np.maximum.accumulate(loss[:-1])
        )
        row = np.broadcast_to(self.rows, target.shape)
        by_row = is_corner.T
        return build_segments(self.losses, row.T[by_row], target.T[by_row], cost.T[by_row])

    def trace_curve(self, mass: FloatArray) -> CurvePoints:
        """Return points of the budget curve: the plans at prices chosen in turn.

        A plan of best targets at a price is optimal for the budget that it costs, and the price is
        a slope of the curve there. Between two points the curve lies above their chord and below
        both tangents; the next price is where these leave the most room.
        """
        points = {price: self._find_curve_point(mass, price) for price in (np.inf, 0.0)}
        price = points[0.0][1] / max(points[0.0][0], sys.float_info.min)
        while len(points) < CURVE_POINTS and 0 < price < np.inf and price not in points:
            points[price] = self._find_curve_point(mass, price)
            pairs = pairwise(sorted(points, reverse=True))
            room, price = max((_find_room(points, *pair), _split_prices(*pair)) for pair in pairs)
            if room <= TOLERANCE * points[0.0][1]:
                break
        budgets, values = np.array([points[each] for each in sorted(points, reverse=True)]).T
        rooms = [_find_room(points, *pair) for pair in pairwise(sorted(points, reverse=True))]
        is_new = np.r_[True, budgets[1:] > budgets[:-1]]
        return CurvePoints(budgets[is_new], values[is_new], max(rooms))

    def _find_curve_point(self, mass: FloatArray, price: float) -> tuple[float, float]:
        """Return the cost and the gain of the plan at a price."""
        target = self.find_targets(price)
        return self._cost(mass, price), float(mass @ (self.losses[target] - self.losses[self.rows]))

    def _find_gap(
        self, prices: Collection[float], mass: FloatArray, budget: float, value: float
    ) -> float:
        """Return the largest distance of the dual values at some prices above a value."""
        duals = [
            (budget * price if budget > 0 else 0.0) + float(mass @ self.net_gains(price))
            for price in prices
        ]
        return max(duals) - value

    def _approach(self, mass: FloatArray, budget: float) -> list[float]:
        """Return 0, ∞ and prices close to that of a budget, on both sides where it is positive.

        The cost of the plan decreases in the price. For smooth losses it is nearly a power of it,
        so that a secant in logarithms comes close to where the budget is spent.
        """
        self.find_targets(0.0)
        self.find_targets(np.inf)
        if not 0 < budget < self._cost(mass, 0.0):
            return [0.0, np.inf]
        low, high = self._bracket(mass, budget)
        if not 0 < low < high < np.inf:
            return [0.0, np.inf]
        while math.log(high / low) > MAX_BRACKET and self._count_moves(low, high) > MIN_MOVES:
            end = math.log(high / low) / 2
            for price in self._cross_secant(mass, budget, low, high):
                low, high = self._narrow(mass, budget, low, high, price)
            # the secant was far off: halve
            if math.log(high / low) > end:
                low, high = self._narrow(mass, budget, low, high, math.sqrt(low * high))
        return _keep_nearest(self.prices, low, high)

    def _cross_secant(
        self, mass: FloatArray, budget: float, low: float, high: float
    ) -> tuple[float, float]:
        """Return prices on both sides of where the secant of the plan's cost meets the budget."""
        at_low, at_high, width = self._cost(mass, low), self._cost(mass, high), math.log(high / low)
        share = math.log(at_low / budget) / math.log(at_low / at_high) if at_high > 0 else 0.5
        # allows for the curvature of a smooth function
        margin = min(width**2, width) / 4
        return low * math.exp(share * width - margin), low * math.exp(share * width + margin)

    def _narrow(
        self, mass: FloatArray, budget: float, low: float, high: float, price: float
    ) -> tuple[float, float]:
        """Return the part of a bracket in which the plan costs the budget."""
        if not low < price < high:
            return low, high
        return (price, high) if self._cost(mass, price) > budget else (low, price)

    def _bracket(self, mass: FloatArray, budget: float) -> tuple[float, float]:
        """Return two positive prices between which the plan's cost falls to a budget or less."""
        prices = [price for price in self.prices if 0 < price < np.inf]
        is_above = [self._cost(mass, price) > budget for price in prices]
        # the cost decreases in the price: all that are above the budget come first
        above = sum(is_above)
        low = prices[above - 1] if above else 0.0
        high = prices[above] if above < len(prices) else 0.0
        step, guess = FIRST_STEP, high or low or self._guess_price(mass, budget)
        while not (low and high) and step < MAX_STEP:
            price = guess * step if low else guess / step
            if self._cost(mass, price) > budget:
                low = max(low, price)
            else:
                high = min(high, price) if high else price
            step *= step
        return low, high or np.inf

    def _guess_price(self, mass: FloatArray, budget: float) -> float:
        """Return the approximate price of a budget, from a sample of the points with mass."""
        places = np.flatnonzero(mass)
        places = places[:: max(1, len(places) // GUESS_POINTS)]
        share, rows = mass[places] * (mass.sum() / mass[places].sum()), self.rows[places]
        place = self.search.points.place
        low, high = -math.log(sys.float_info.max) / 2, math.log(sys.float_info.max) / 2
        while high - low > math.log(FIRST_STEP) / 4:
            middle = (low + high) / 2
            target = self.search.find_best_targets(math.exp(middle), rows).target
            cost = share @ np.square(place[rows] - place[target]).sum(axis=1)
            low, high = (middle, high) if cost > budget else (low, middle)
        return math.exp(low)

    def _cost(self, mass: FloatArray, price: float) -> float:
        """Return the cost of the plan at a price."""
        return float(mass @ self.costs(self.find_targets(price)))

    def _count_moves(self, low: float, high: float) -> int:
        """Count the points whose targets at two prices differ."""
        return int(np.count_nonzero(self.find_targets(low) != self.find_targets(high)))


def _keep_nearest(prices: Collection[float], low: float, high: float) -> list[float]:
    """Return 0, ∞, the prices between two, and the two nearest on either side."""
    ordered = sorted(prices)
    first = int(np.searchsorted(ordered, low, side="right"))
    last = int(np.searchsorted(ordered, high, side="left"))
    return sorted({0.0, np.inf, *ordered[max(0, first - 2) : last + 2]})


class CurvePoints(NamedTuple):
    """Points of a budget curve, and its maximum height above the lines between them."""

    budgets: FloatArray
    values: FloatArray
    below: float


def _find_room(points: dict[float, tuple[float, float]], high: float, low: float) -> float:
    """Return the largest distance between the chord and the tangents of two points of a curve."""
    (b0, v0), (b1, v1) = points[high], points[low]
    if b1 <= b0:
        return 0.0
    chord = (v1 - v0) / (b1 - b0)
    if np.isinf(high):
        return v1 - low * (b1 - b0) - v0
    # tangents meet where v0 + high (b − b0) = v1 − low (b1 − b)
    across = (v1 - v0 - low * (b1 - b0)) / (high - low)
    return max((high - chord) * across, 0.0)


def _split_prices(high: float, low: float) -> float:
    """Return a price between two."""
    if low == 0 or np.isinf(high):
        return low * CURVE_STEP if low > 0 else high / CURVE_STEP
    return math.sqrt(low * high)
