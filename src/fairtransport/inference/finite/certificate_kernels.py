"""Compiled betting for a certificate: against ψ >= δ, at prices chosen from the past.

"ψ >= δ" says that E Y_ν >= δ at *every* price ν, where Y_ν = φ_ν + εν, so any price is valid, and
each block may have its own. A price and a stake may depend on n, δ, α, the known limits of gains,
and the records of earlier blocks; the candidate prices are 0 and those at which the gain of a cell
with an earlier record bends.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit, prange

from fairtransport.inference.finite.kernels import (
    accumulate_wealth,
    digital_hedge,
    digital_stake,
    log_factor,
    net_gain,
)

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray
    from fairtransport.inference.finite.sample import ObservedFrontiers, Orders

DENSE_PRICE_BLOCKS = 4
"""Number of first blocks, in each of which a price is chosen."""


class CertificateAim(NamedTuple):
    """Hypothesis, level and limits that a path of prices and stakes is aimed at."""

    delta: float
    alpha: float
    cushion: float
    deltas: FloatArray
    budget: float
    limit_prices: FloatArray
    limits: FloatArray
    weight: float
    cap: float
    price_interval: int


class Choice(NamedTuple):
    """A score, the price that has it, and E(Y − δ)², the top of Y and δ − E Y there."""

    score: float
    price: float
    variance: float
    top: float
    drift: float


class Moments(NamedTuple):
    """Sums or means over earlier records at the best targets for a price.

    ``a``, ``g`` and ``c`` (one, gain, cost) weigh records by w, all others by w².
    """

    a: float
    g: float
    c: float
    aa: float
    ag: float
    ac: float
    gg: float
    gc: float
    cc: float


class Path(NamedTuple):
    """Prices and stakes, (orders, blocks)."""

    prices: FloatArray
    stakes: FloatArray


@njit(cache=True, parallel=True)
def fill_certificate_wealths(
    orders: Orders, frontiers: ObservedFrontiers, aim: CertificateAim, prices: FloatArray,
    stakes: FloatArray, result: FloatArray,
) -> None:  # fmt: skip
    """Fill (deltas, orders) with the log-wealth of one path against ψ >= δ for increasing δ.

    Prices and stakes are filled, too; not in a tuple, as a parallel loop would write to copies of
    its arrays. The δ are at the aim or above it, so that stakes valid at the aim are valid for all,
    and wealth increases with δ.
    """
    for s in prange(len(stakes)):
        # prange counts unsigned, which would compile everything below a second time
        _run_order(int(np.int64(s)), orders, frontiers, aim, prices, stakes, result)


@njit(cache=True)
def _run_order(
    s: int, orders: Orders, frontiers: ObservedFrontiers, aim: CertificateAim,
    prices: FloatArray, stakes: FloatArray, result: FloatArray,
) -> None:  # fmt: skip
    """Bet on one order.

    The price of a block has the largest excess of the aim over the past mean of Y_ν, in
    standard deviations.

    Whatever a block's price and stake depend on (``past``, ``log_wealth``, ``n_past``) is updated
    after they are stored. So they are functions of earlier blocks,
    E[1 − λw(Y_ν − δ) | past] <= 1 under ψ >= δ, and the wealth's mean is at most 1.
    """
    blocks, deltas = stakes.shape[1], aim.deltas
    past, product = np.zeros(len(frontiers.base)), np.ones(len(deltas))
    # placeholders: nothing is staked before the first records, after which a price is chosen
    price, variance, top, drift, stake = 0.0, 1.0, 1.0, 0.0, 0.0
    log_wealth = 0.0
    for d in range(len(deltas)):
        result[d, s] = 0.0
    for e in range(blocks):
        n_past = orders.n_before[s, e]
        # a random split may leave the last block empty: √0 must not divide
        to_come = max(orders.n - n_past, 1.0)
        if n_past == 0.0:
            # without records there is no preferable price, and an arbitrary one would only lose
            stake = 0.0
        else:
            # a price may be kept for some blocks, as it depends on earlier records only
            if e < DENSE_PRICE_BLOCKS or e % aim.price_interval == 0:
                scale = digital_hedge(log_wealth, aim.alpha, aim.cushion) / math.sqrt(to_come)
                price, variance, top, drift = _choose_price(past, n_past, frontiers, aim, scale)
            stake = digital_stake(log_wealth, aim.alpha, aim.cushion, variance, to_come, drift)
            # Y_ν <= top for every possible point, so that each factor is at least 1 − cap;
            # otherwise a record could make wealth negative, which would void the proof
            stake = min(stake, aim.cap / max(top - aim.delta, 1e-300))
        # stored before the block's records are used: predictable by construction
        prices[s, e], stakes[s, e] = price, stake
        # without a budget the price is infinite, and 0 · ∞ would be NaN
        offset = 0.0 if aim.budget == 0.0 else aim.budget * price
        for a in range(orders.start[s, e], orders.start[s, e + 1]):
            i, count = orders.cell[a], orders.records[a]
            # only from here on may stakes depend on these records
            past[i] += count
            if stake == 0.0:
                continue
            y = offset + net_gain(
                i, price, frontiers.first, frontiers.own_cost, frontiers.own_gain,
                frontiers.own_slope, frontiers.base,
            )  # fmt: skip
            weighted = stake * frontiers.weight[i]
            # stakes follow the wealth against the aim, for any thresholds
            log_wealth += count * log_factor(-weighted * (y - aim.delta))
            for d in range(len(deltas)):
                result[d, s], product[d] = accumulate_wealth(
                    result[d, s], product[d], -weighted * (y - deltas[d]), count
                )
    for d in range(len(deltas)):
        # the factors not yet in the sum; each is at least 1 − cap, so positive
        result[d, s] += math.log(product[d])


@njit(cache=True)
def _choose_price(
    past: FloatArray, n_past: float, frontiers: ObservedFrontiers, aim: CertificateAim, scale: float
) -> tuple[float, float, float, float]:
    """Return the price with the best past score; E(Y − δ)², the top of Y, δ − E Y there.

    A variance so small that its stake, ``scale``/√v, exceeds the cap is useless: it counts as the
    one at which the stake equals the cap.

    One sweep down the slopes. ``g`` and ``c`` are the sums over earlier records of gain and cost
    at the current price's targets, ``gg``, ``gc``, ``cc`` those of their products; each segment
    that is passed replaces its cell's target, which adds the differences of far and near end.
    Between two bends Σ φ and Σ φ² are polynomials in ν, so that the score's stationary point
    there is known in closed form.
    """
    a = g = c = aa = ag = ac = gg = gc = cc = 0.0
    for i in range(len(past)):
        t = past[i] * frontiers.weight[i]
        u = t * frontiers.weight[i]
        a += t
        g += t * frontiers.base[i]
        aa += u
        ag += u * frontiers.base[i]
        gg += u * frontiers.base[i] * frontiers.base[i]
    if aim.budget == 0.0:
        # only free moves matter, and the price is infinite in effect
        sums = Moments(a, g, c, aa, ag, ac, gg, gc, cc)
        _, variance, top, drift = _score(0.0, sums, n_past, aim, aim.limits[-1], 0.0, scale)
        return np.inf, variance, top, drift
    best, last, segments = Choice(-np.inf, 0.0, 1.0, 1.0, 0.0), np.inf, len(frontiers.row)
    for k in range(segments + 1):
        if k < segments and past[frontiers.row[k]] == 0.0:
            continue  # the bends of unseen cells must not be used
        # after the last bend comes the price 0, at which everybody takes the best target
        price = frontiers.slope[k] if k < segments else 0.0
        means = Moments(
            a / n_past, g / n_past, c / n_past, aa / n_past, ag / n_past, ac / n_past, gg / n_past,
            gc / n_past, cc / n_past,
        )  # fmt: skip
        between = _find_stationary_price(means, aim)
        if price < between < last < np.inf:
            sums = Moments(a, g, c, aa, ag, ac, gg, gc, cc)
            best = _choose_better(best, between, sums, n_past, aim, scale)
        last = price
        # below its bend a cell's target is the segment's far end: swap near for far in all sums
        if k < segments:
            weight = frontiers.weight[frontiers.row[k]]
            t = past[frontiers.row[k]] * weight
            u = t * weight
            fc, fg = frontiers.far_cost[k], frontiers.far_gain[k]
            nc, ng = fc - frontiers.cost[k], fg - frontiers.gain[k]
            g += t * frontiers.gain[k]
            c += t * frontiers.cost[k]
            ag += u * frontiers.gain[k]
            ac += u * frontiers.cost[k]
            gg += u * (fg * fg - ng * ng)
            gc += u * (fg * fc - ng * nc)
            cc += u * (fc * fc - nc * nc)
        sums = Moments(a, g, c, aa, ag, ac, gg, gc, cc)
        best = _choose_better(best, price, sums, n_past, aim, scale)
    return best.price, best.variance, best.top, best.drift


@njit(cache=True, inline="always")
def _choose_better(
    best: Choice, price: float, sums: Moments, n_past: float, aim: CertificateAim, scale: float
) -> Choice:
    """Return the better of a choice and a price at which the past has these sums."""
    # φ decreases in ν, so the limit at the next lower known price holds here
    at = np.searchsorted(aim.limit_prices, price, side="right") - 1
    score, variance, top, drift = _score(
        price, sums, n_past, aim, aim.limits[at], aim.budget * price, scale
    )
    return Choice(score, price, variance, top, drift) if score > best.score else best


@njit(cache=True, inline="always")
def _find_stationary_price(means: Moments, aim: CertificateAim) -> float:
    """Return the price at which the score is stationary while no gain bends; NaN without one.

    With the past means of gain, cost and their products, w(δ − Y) has mean A + Bν and mean square
    P + Qν + Rν².
    """
    a, b = aim.delta * means.a - means.g, means.c - aim.budget * means.a
    aa, g, c = means.aa, means.ag, means.ac
    p = means.gg - 2.0 * aim.delta * g + aim.delta * aim.delta * aa
    q = 2.0 * (aim.budget * g - means.gc + aim.delta * c - aim.delta * aim.budget * aa)
    r = means.cc - 2.0 * aim.budget * c + aim.budget * aim.budget * aa
    below = 0.5 * b * q - a * r
    return (0.5 * a * q - b * p) / below if below != 0.0 else np.nan


@njit(cache=True)
def _score(
    price: float, sums: Moments, n_past: float, aim: CertificateAim, limit: float, offset: float,
    scale: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return E w(δ − Y) in standard deviations; E w²(Y − δ)², the top of Y and E w(δ − Y).

    ``sums`` are over the past, ``offset`` is εν.

    The prior guess ½δ(top − δ) is of the order of the variance of a gain of the largest size with
    mean δ; it counts for ``aim.weight`` records.
    """
    top = limit + offset
    o = offset - aim.delta
    prior = 0.5 * aim.delta * max(top - aim.delta, 1e-3 * top)
    # Σ w²(φ + o)², multiplied out so that one sweep serves all prices; rounding may make it
    # negative
    square = sums.gg - 2.0 * price * sums.gc + price * price * sums.cc
    squares = max(square + 2.0 * o * (sums.ag - price * sums.ac) + o * o * sums.aa, 0.0)
    variance = (aim.weight * prior + squares) / (aim.weight + n_past)
    if top > aim.delta:
        # at this variance the stake scale/√v equals its cap; less is of no use, and with it the
        # score ranks prices by what they can win
        variance = max(variance, (scale / aim.cap * (top - aim.delta)) ** 2)
    drift = -((sums.g - price * sums.c) / n_past + o * (sums.a / n_past))
    score = drift / math.sqrt(max(variance, 1e-300))
    return score, max(variance, 1e-12 * top * top), top, drift
