"""The least wealth over all prices, bounded from below by tangents."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport._core.validation import FloatArray
    from fairtransport.inference.finite.sample import FrontierValues, GainCurves

Average: TypeAlias = "Callable[[FloatArray], float]"

MAX_EVALUATIONS = 4_000
"""Maximum number of prices before an unresolved minimum counts as too low."""


class LeastWealth(NamedTuple):
    """Result of a search for the least log-wealth over prices.

    If ``value`` reaches the target of the search, it is a rigorous lower limit of the least
    log-wealth; otherwise it only shows, at ``price``, that the target is not reached.
    """

    value: float
    price: float


def least_log_wealth(
    frontiers: GainCurves, budget: float, ends: tuple[float, float],
    wealth: Callable[[FloatArray], FloatArray], average: Average, target: float,
    hints: list[float],
) -> LeastWealth:  # fmt: skip
    """Bound the least log-wealth over the prices between two from below, if it reaches a target.

    φ_ν is convex in ν, so its tangents at the ends of an interval [a, b] lie below it. Along a
    tangent each factor 1 + λ(Y − δ) is linear in ν, so each path's wealth is log-concave there
    and least at an end. That bounds every path over [a, b] from below, and so their average.
    Intervals whose bound does not reach the target are halved.
    """
    low, high = ends
    prices = sorted({low, high, *(hint for hint in hints if low < hint < high)})
    states = {price: frontiers.evaluate(price) for price in prices}
    logs = dict(zip(prices, wealth(_compute_outcomes(states, prices, budget)), strict=True))
    worst_price = min(prices, key=lambda price: average(logs[price]))
    # one price below the target settles it: it may be the price of the hypothesis
    if average(logs[worst_price]) < target or low == high:
        return LeastWealth(average(logs[worst_price]), worst_price)
    intervals = list(pairwise(prices))
    lowest, evaluations = math.inf, len(prices)
    while intervals:
        # all intervals of a round at once: one call of a parallel kernel instead of many small ones
        limits = _bound_intervals(intervals, states, logs, budget, wealth, average)
        evaluations += 2 * len(intervals)
        open_intervals = [
            pair for pair, limit in zip(intervals, limits, strict=True) if limit < target
        ]
        # settled intervals are never reopened; the least of their limits is returned
        lowest = min([lowest, *(limit for limit in limits if limit >= target)])
        if not open_intervals:
            break
        # split at a bend, where tangents are worst: on either side they are closer to φ
        middles = [frontiers.find_middle(a, b) for a, b in open_intervals]
        states.update({price: frontiers.evaluate(price) for price in middles})
        logs.update(zip(middles, wealth(_compute_outcomes(states, middles, budget)), strict=True))
        evaluations += len(middles)
        worst_price = min(middles, key=lambda price: average(logs[price]))
        if average(logs[worst_price]) < target or evaluations > MAX_EVALUATIONS:
            return LeastWealth(min(average(logs[worst_price]), *limits), worst_price)
        intervals = [
            half
            for (a, b), middle in zip(open_intervals, middles, strict=True)
            for half in ((a, middle), (middle, b))
        ]
    return LeastWealth(lowest, worst_price)


def log_mean(logs: FloatArray) -> float:
    """Return the logarithm of the mean of exponentials.

    The largest is factored out, so that nothing overflows; if infinite, it is the result.
    """
    top = float(np.max(logs))
    return top if math.isinf(top) else top + math.log(float(np.mean(np.exp(logs - top))))


def log_best_mean(logs: FloatArray, min_count: int) -> float:
    """Return the largest log of the mean of exponentials over the first k, k >= ``min_count``.

    If the terms are exchangeable with mean at most 1, it reaches log(1/α) with probability at most
    α: the means of the first k, taken from the last to the first, are a martingale [Ramdas and
    Manole 2023].
    """
    top = float(np.max(logs))
    if math.isinf(top):
        return top
    means = np.cumsum(np.exp(logs - top)) / np.arange(1, len(logs) + 1)
    most = float(np.max(means[min_count - 1 :]))
    return top + math.log(most) if most > 0 else -math.inf


def _compute_outcomes(
    states: dict[float, FrontierValues], prices: list[float], budget: float
) -> FloatArray:
    """Return (prices, cells) Y_ν = φ_ν + εν at some prices."""
    return np.array([states[price].gains + budget * price for price in prices])


def _bound_intervals(
    intervals: list[tuple[float, float]], states: dict[float, FrontierValues],
    logs: dict[float, FloatArray], budget: float, wealth: Callable[[FloatArray], FloatArray],
    average: Average,
) -> list[float]:  # fmt: skip
    """Return a lower limit of the average log-wealth over each of some intervals of prices.

    Write T_a for the tangent at a. For each path, W >= min(W(a), W along T_a at b) over [a, b], and
    the same from the other end: the larger of the two limits holds. Both are computed per path and
    only then averaged, as the average of log-concave functions need not be log-concave.
    """
    tangents = []
    for a, b in intervals:
        width = b - a
        # dφ/dν = −cost: to the right of a by the best targets there, to the left of b with the
        # segments whose slope equals b
        tangents.append(states[a].gains - width * states[a].cost_right + budget * b)
        tangents.append(states[b].gains + width * states[b].cost_left + budget * a)
    ends = wealth(np.array(tangents))
    return [
        average(
            np.maximum(np.minimum(logs[a], ends[2 * at]), np.minimum(logs[b], ends[2 * at + 1]))
        )
        for at, (a, b) in enumerate(intervals)
    ]
