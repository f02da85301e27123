"""The least wealth over all prices, bounded from below by tangents."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport.checks import FloatArray
    from fairtransport.inference.finite.observed_frontiers import AtPrice, ObservedFrontiers

Average: TypeAlias = "Callable[[FloatArray], float]"

MOST_EVALUATIONS = 4_000
"""Prices looked at before a minimum that cannot be pinned down counts as too low."""


class Least(NamedTuple):
    """What a search for the least log-wealth found.

    If ``value`` reaches the target of the search, it is a rigorous lower limit of the least
    log-wealth; otherwise it only shows, at ``price``, that the target is not reached.
    """

    value: float
    price: float


def least_log_wealth(
    frontiers: ObservedFrontiers, budget: float, ends: tuple[float, float],
    wealth: Callable[[FloatArray], FloatArray], average: Average, target: float,
    hints: list[float],
) -> Least:  # fmt: skip
    """Say whether the log-wealth reaches a target at all prices between two, and bound it if so.

    Parameters
    ----------
    wealth
        Maps rows of outcomes Y_ν to rows of log-wealths, one column for each term of the
        average (a path of stakes).
    average
        Puts the log-wealths of the paths together; it grows with each of them.
    target
        What the caller wants to know: the search ends as soon as the least value is known to
        be at least this, or a price with less is found.
    hints
        Prices where the least value may well be.

    Notes
    -----
    φ_ν is convex in ν, so its tangents at the ends of an interval [a, b] lie below it. Along a
    tangent each factor 1 + λ(Y − δ) is linear in ν, so each path's wealth is log-concave there
    and least at an end. That bounds every path over [a, b] from below, and so their average.
    Intervals whose bound does not reach the target are halved.
    """
    low, high = ends
    prices = sorted({low, high, *(hint for hint in hints if low < hint < high)})
    states = {price: frontiers.at(price) for price in prices}
    logs = dict(zip(prices, wealth(_outcomes(states, prices, budget)), strict=True))
    found = min(prices, key=lambda price: average(logs[price]))
    if average(logs[found]) < target or low == high:
        return Least(average(logs[found]), found)
    intervals = list(pairwise(prices))
    lowest, evaluations = math.inf, len(prices)
    while intervals:
        limits = _interval_limits(intervals, states, logs, budget, wealth, average)
        evaluations += 2 * len(intervals)
        open_ones = [pair for pair, limit in zip(intervals, limits, strict=True) if limit < target]
        lowest = min([lowest, *(limit for limit in limits if limit >= target)])
        if not open_ones:
            break
        middles = [_middle(frontiers, a, b) for a, b in open_ones]
        states.update({price: frontiers.at(price) for price in middles})
        logs.update(zip(middles, wealth(_outcomes(states, middles, budget)), strict=True))
        evaluations += len(middles)
        found = min(middles, key=lambda price: average(logs[price]))
        if average(logs[found]) < target or evaluations > MOST_EVALUATIONS:
            return Least(min(average(logs[found]), *limits), found)
        intervals = [
            half
            for (a, b), middle in zip(open_ones, middles, strict=True)
            for half in ((a, middle), (middle, b))
        ]
    return Least(lowest, found)


def log_mean(logs: FloatArray) -> float:
    """Return the logarithm of the mean of exponentials."""
    top = float(np.max(logs))
    return top if math.isinf(top) else top + math.log(float(np.mean(np.exp(logs - top))))


def log_best_mean(logs: FloatArray, fewest: int) -> float:
    """Return the largest logarithm of the mean of exponentials over the first k, k >= ``fewest``.

    Where the terms are exchangeable with mean at most 1, the chance that it reaches log(1/α) is
    at most α: the means of the first k, taken from the last to the first, are a martingale
    [Ramdas and Manole 2023].
    """
    top = float(np.max(logs))
    if math.isinf(top):
        return top
    means = np.cumsum(np.exp(logs - top)) / np.arange(1, len(logs) + 1)
    most = float(np.max(means[fewest - 1 :]))
    return top + math.log(most) if most > 0 else -math.inf


def _outcomes(states: dict[float, AtPrice], prices: list[float], budget: float) -> FloatArray:
    return np.array([states[price].gains + budget * price for price in prices])


def _interval_limits(
    intervals: list[tuple[float, float]], states: dict[float, AtPrice],
    logs: dict[float, FloatArray], budget: float, wealth: Callable[[FloatArray], FloatArray],
    average: Average,
) -> list[float]:  # fmt: skip
    tangents = []
    for a, b in intervals:
        width = b - a
        tangents.append(states[a].gains - width * states[a].cost_right + budget * b)
        tangents.append(states[b].gains + width * states[b].cost_left + budget * a)
    ends = wealth(np.array(tangents))
    return [
        average(
            np.maximum(np.minimum(logs[a], ends[2 * at]), np.minimum(logs[b], ends[2 * at + 1]))
        )
        for at, (a, b) in enumerate(intervals)
    ]


def _middle(frontiers: ObservedFrontiers, a: float, b: float) -> float:
    """Return the median price inside (a, b) at which a frontier bends, else the midpoint."""
    slopes = frontiers.slope
    first = int(np.searchsorted(-slopes, -b, side="right"))
    last = int(np.searchsorted(-slopes, -a, side="left"))
    inside = float(slopes[(first + last) // 2]) if last > first else (a + b) / 2
    return inside if a < inside < b else (a + b) / 2
