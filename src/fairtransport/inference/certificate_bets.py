"""Compiled betting for a certificate: against ψ >= δ, at prices chosen from the past."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit, prange

from fairtransport.inference.bets import (
    HORIZON,
    OFTEN,
    digital_hedge,
    digital_stake,
    multiplied,
    net_gain,
)

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray


@njit(cache=True, parallel=True)
def certificate_wealths(
    start: IntArray, cell: IntArray, count: FloatArray, before: FloatArray, n: int,
    row: IntArray, cost: FloatArray, gain: FloatArray, far_cost: FloatArray,
    far_gain: FloatArray, slope: FloatArray, base: FloatArray,
    first: IntArray, own_cost: FloatArray, own_gain: FloatArray, own_slope: FloatArray,
    budget: float, bound_prices: FloatArray, bounds: FloatArray,
    aim: float, deltas: FloatArray, alpha: float, weight: float, cap: float, every: int,
    result: FloatArray,
) -> None:  # fmt: skip
    """Fill (deltas, orders) with the log-wealth of bets against ψ >= δ at predictable prices.

    The price of a block has the largest excess of ``aim`` over the past mean of
    Y_ν = φ_ν + εν, in standard deviations; stakes are aimed at ``aim``. Wealth is kept for
    several δ, with the same prices and stakes but for the cap that each δ needs.
    ``bounds`` are upper limits of φ_ν at the rising ``bound_prices``.
    """
    orders, blocks = before.shape
    points = len(base)
    for s in prange(orders):
        past = np.zeros(points)
        aimed, price, variance, top, drift = 0.0, 0.0, 1.0, 1.0, 0.0
        wealth = np.zeros(len(deltas))
        for e in range(blocks):
            seen = before[s, e]
            if seen > 0.0:
                left = HORIZON * n - seen
                scale = digital_hedge(aimed, alpha) / math.sqrt(left)
                if e < OFTEN or e % every == 0:
                    price, variance, top, drift = _best_price(
                        past, seen, row, cost, gain, far_cost, far_gain, slope, base, budget,
                        bound_prices, bounds, aim, weight, scale / cap,
                    )  # fmt: skip
                stake = digital_stake(aimed, alpha, variance, left, drift)
                offset = 0.0 if budget == 0.0 else budget * price
                if stake > 0.0:
                    own = min(stake, cap / max(top - aim, 1e-300))
                    aimed += _block_wealth(
                        start[s, e], start[s, e + 1], cell, count, price, offset, own, aim,
                        first, own_cost, own_gain, own_slope, base,
                    )  # fmt: skip
                    for d in range(len(deltas)):
                        own = min(stake, cap / max(top - deltas[d], 1e-300))
                        wealth[d] += _block_wealth(
                            start[s, e], start[s, e + 1], cell, count, price, offset, own,
                            deltas[d], first, own_cost, own_gain, own_slope, base,
                        )  # fmt: skip
            for a in range(start[s, e], start[s, e + 1]):
                past[cell[a]] += count[a]
        for d in range(len(deltas)):
            result[d, s] = wealth[d]


@njit(cache=True)
def _block_wealth(
    begin: int, end: int, cell: IntArray, count: FloatArray, price: float, offset: float,
    stake: float, delta: float, first: IntArray, own_cost: FloatArray, own_gain: FloatArray,
    own_slope: FloatArray, base: FloatArray,
) -> float:  # fmt: skip
    """Return Σ log(1 − λ(Y_ν − δ)) over the records of a block."""
    total, product = 0.0, 1.0
    for a in range(begin, end):
        y = offset + net_gain(cell[a], price, first, own_cost, own_gain, own_slope, base)
        x = max(-stake * (y - delta), -1.0 + 1e-15)
        total, product = multiplied(total, product, x, count[a])
    return total + math.log(product)


@njit(cache=True)
def _best_price(  # noqa: C901
    past: FloatArray, seen: float, row: IntArray, cost: FloatArray, gain: FloatArray,
    far_cost: FloatArray, far_gain: FloatArray, slope: FloatArray, base: FloatArray,
    budget: float, bound_prices: FloatArray, bounds: FloatArray, aim: float, weight: float,
    scale: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return the price with the best past score; E(Y − aim)², the top of Y, aim − E Y there.

    A variance so small that the stake it asks for, ``scale``/√v, exceeds the cap 1/(top − aim)
    is of no use: it counts as that at which the stake meets the cap.
    """
    g = gg = c = gc = cc = 0.0
    for i in range(len(base)):
        g += past[i] * base[i]
        gg += past[i] * base[i] * base[i]
    best_price, best, best_variance, best_top, best_drift = 0.0, -np.inf, 1.0, 1.0, 0.0
    segments = len(row)
    at = len(bounds) - 1
    for k in range(segments + 2):
        if k == 0:
            if budget > 0.0:
                continue  # price ∞ is for a budget of 0 only
            price = np.inf
        elif k <= segments:
            i = row[k - 1]
            t = past[i]
            if t == 0.0 or budget == 0.0:
                continue
            price = slope[k - 1]
            fc, fg = far_cost[k - 1], far_gain[k - 1]
            nc, ng = fc - cost[k - 1], fg - gain[k - 1]
            g += t * gain[k - 1]
            c += t * cost[k - 1]
            gg += t * (fg * fg - ng * ng)
            gc += t * (fg * fc - ng * nc)
            cc += t * (fc * fc - nc * nc)
        else:
            if budget == 0.0:
                continue
            price = 0.0
        while bound_prices[at] > price:
            at -= 1
        if price == np.inf:
            offset, mean, square = 0.0, g, gg
        else:
            offset = budget * price
            mean = g - price * c
            square = gg - 2.0 * price * gc + price * price * cc
        top = bounds[at] + offset
        o = offset - aim
        prior = 0.5 * aim * max(top - aim, 1e-3 * top)
        squares = max(square + 2.0 * o * mean + o * o * seen, 0.0)
        variance = (weight * prior + squares) / (weight + seen)
        variance = max(variance, (scale * (top - aim)) ** 2 if top > aim else 0.0)
        score = -(mean / seen + o) / math.sqrt(max(variance, 1e-300))
        if score > best:
            best_price, best = price, score
            best_variance, best_top = max(variance, 1e-12 * top * top), top
            best_drift = -(mean / seen + o)
    return best_price, best_variance, best_top, best_drift
