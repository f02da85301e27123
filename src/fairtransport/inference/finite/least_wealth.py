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

    Attributes
    ----------
    value
        A log-wealth; compared first, so that ``min`` of several finds the least.
    price
        Where it was found, or where the least of what was evaluated is.
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
    frontiers
        φ_ν and its one-sided derivatives of occupied cells.
    budget
        ε, positive.
    ends
        The lowest and the highest price.
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

    Returns
    -------
    Least
        A value below the target after ``MOST_EVALUATIONS`` prices as well: what could not be
        proved counts as not rejected.

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
    # a single price below the target settles it: the hypothesis names some price, and this may be
    # it
    if average(logs[found]) < target or low == high:
        return Least(average(logs[found]), found)
    intervals = list(pairwise(prices))
    lowest, evaluations = math.inf, len(prices)
    while intervals:
        # all intervals of a round at once: one call of a parallel kernel instead of many small ones
        limits = _interval_limits(intervals, states, logs, budget, wealth, average)
        evaluations += 2 * len(intervals)
        open_ones = [pair for pair, limit in zip(intervals, limits, strict=True) if limit < target]
        # settled intervals are never opened again; what is told is the least of their limits
        lowest = min([lowest, *(limit for limit in limits if limit >= target)])
        if not open_ones:
            break
        # cut at a bend, where tangents are worst: on either side they are nearer to φ
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
    """Return the logarithm of the mean of exponentials.

    Parameters
    ----------
    logs
        Logarithms; −∞ for what is 0.

    Notes
    -----
    The largest is taken out first, so that nothing overflows; where it is infinite it is the
    answer.

    Examples
    --------
    >>> round(log_mean(np.log([1.0, 3.0])), 6) == round(math.log(2.0), 6)
    True
    >>> log_mean(np.array([1000.0, 1000.0]))
    1000.0
    """
    top = float(np.max(logs))
    return top if math.isinf(top) else top + math.log(float(np.mean(np.exp(logs - top))))


def log_best_mean(logs: FloatArray, fewest: int) -> float:
    """Return the largest logarithm of the mean of exponentials over the first k, k >= ``fewest``.

    Where the terms are exchangeable with mean at most 1, the chance that it reaches log(1/α) is
    at most α: the means of the first k, taken from the last to the first, are a martingale
    [Ramdas and Manole 2023].

    Parameters
    ----------
    logs
        Logarithms of exchangeable terms, in the order in which they were drawn. They must not
        be sorted: that would make the first ones the best.
    fewest
        The least k, from 1; its only use is that bounds move less with the seed.

    Examples
    --------
    The first order alone reaches 4; all three have a mean of 2.

    >>> logs = np.log([4.0, 1.0, 1.0])
    >>> [round(float(np.exp(log_best_mean(logs, fewest))), 3) for fewest in (1, 2, 3)]
    [4.0, 2.5, 2.0]
    """
    top = float(np.max(logs))
    if math.isinf(top):
        return top
    means = np.cumsum(np.exp(logs - top)) / np.arange(1, len(logs) + 1)
    most = float(np.max(means[fewest - 1 :]))
    return top + math.log(most) if most > 0 else -math.inf


def _outcomes(states: dict[float, AtPrice], prices: list[float], budget: float) -> FloatArray:
    """Return (prices, cells) Y_ν = φ_ν + εν at some prices."""
    return np.array([states[price].gains + budget * price for price in prices])


def _interval_limits(
    intervals: list[tuple[float, float]], states: dict[float, AtPrice],
    logs: dict[float, FloatArray], budget: float, wealth: Callable[[FloatArray], FloatArray],
    average: Average,
) -> list[float]:  # fmt: skip
    """Return a lower limit of the average log-wealth over each of some intervals of prices.

    Parameters
    ----------
    intervals
        Pairs of prices (a, b), a < b.
    states, logs
        φ and its derivatives, and the log-wealths of the paths, at every end.
    budget
        ε.
    wealth, average
        As in `least_log_wealth`.

    Returns
    -------
    list of float
        In the order of the intervals.

    Notes
    -----
    Write T_a for the tangent at a. Of each path, W >= min(W(a), W along T_a at b) over [a, b], and
    the same from the other end: the larger of the two limits holds. Both are taken path by path,
    and only then averaged: the average of log-concave functions need not be one.
    """
    tangents = []
    for a, b in intervals:
        width = b - a
        # dφ/dν = −cost, to the right of a by the targets that are best there, to the left of b
        # by those of the segments that are about to be given up
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
    """Return the median price inside (a, b) at which a frontier bends, else the midpoint.

    Parameters
    ----------
    frontiers
        Whose slopes, falling, are the prices at which gains bend.
    a, b
        The ends, a < b.

    Returns
    -------
    float
        A price strictly inside. Without bends the midpoint: tangents are exact there, and
        what is left is that paths differ.
    """
    slopes = frontiers.slope
    first = int(np.searchsorted(-slopes, -b, side="right"))
    last = int(np.searchsorted(-slopes, -a, side="left"))
    inside = float(slopes[(first + last) // 2]) if last > first else (a + b) / 2
    return inside if a < inside < b else (a + b) / 2
