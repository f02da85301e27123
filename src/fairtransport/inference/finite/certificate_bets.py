"""Compiled betting for a certificate: against ψ >= δ, at prices chosen from the past.

"ψ >= δ" says that E Y_ν >= δ at *every* price ν, where Y_ν = φ_ν + εν, so any price will do, and
one may be chosen anew for each block. What a price and a stake may depend on: n, δ, α, the known
limits of gains, and the records of earlier blocks; the prices that are looked at are 0 and those
at which the gain of a cell bends in which an earlier record was.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit, prange

from fairtransport.inference.finite.bets import (
    GIVEN_UP,
    digital_hedge,
    digital_stake,
    log_factor,
    multiplied,
    net_gain,
)

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.inference.finite.observed_frontiers import ObservedFrontiers
    from fairtransport.inference.finite.orders import Orders

OFTEN = 4
"""Blocks at the start in each of which a price is chosen."""


class CertificateAim(NamedTuple):
    """What a path of prices and stakes is for.

    Attributes
    ----------
    delta, alpha, cushion
        The threshold that stakes are aimed at, the level, and how closely wealth is aimed at it.
    deltas
        Rising thresholds, none below the aim, that the path is played against.
    budget
        ε; 0 where only free moves matter.
    limit_prices, limits
        Upper limits of φ_ν from each of the rising prices on, known before the data.
    weight
        The records that the prior guess of a variance counts for.
    cap
        The largest share of wealth that one record can lose.
    every
        For how many blocks a price is kept.
    gives_up
        Whether an order that is as good as lost stakes nothing any more.
    """

    delta: float
    alpha: float
    cushion: float
    deltas: FloatArray
    budget: float
    limit_prices: FloatArray
    limits: FloatArray
    weight: float
    cap: float
    every: int
    gives_up: bool


class Choice(NamedTuple):
    """A score, the price that has it, and E(Y − δ)², the top of Y and δ − E Y there."""

    score: float
    price: float
    variance: float
    top: float
    drift: float


class Moments(NamedTuple):
    """Sums or means over earlier records of what the targets that are best at a price bring.

    Attributes
    ----------
    g, c, gg, gc, cc
        Of gain, cost, gain², gain · cost and cost².
    """

    g: float
    c: float
    gg: float
    gc: float
    cc: float


class Path(NamedTuple):
    """Prices and stakes, (orders, blocks), laid down in the first ``until`` blocks.

    Attributes
    ----------
    prices, stakes
        What each block of each order was bet on at, and how much.
    until
        By order: the block in which it was given up, else the number of blocks. A test that
        holds this path lays it in the blocks before.
    """

    prices: FloatArray
    stakes: FloatArray
    until: IntArray


@njit(cache=True, parallel=True)
def certificate_wealths(
    orders: Orders, frontiers: ObservedFrontiers, aim: CertificateAim, held: Path,
    prices: FloatArray, stakes: FloatArray, until: IntArray, result: FloatArray,
) -> None:  # fmt: skip
    """Fill (deltas, orders) with the log-wealth of one path against ψ >= δ for rising δ.

    What was done and where an order was given up is filled in as well; not in a tuple, since a
    parallel loop writes to a copy of what a tuple holds. The δ lie at the aim or above it, so
    that what can be staked there can be staked on all, and all stakes are the same: wealth
    grows with δ.

    Parameters
    ----------
    orders
        The random orders of the sample.
    frontiers
        The frontiers of occupied cells.
    aim
        What the path is for.
    held
        A path that is followed as long as it lasts; one with ``until`` 0 if there is none.
    prices, stakes, until
        Filled with the path.
    result
        (deltas, orders), filled with log-wealths.
    """
    for s in prange(len(stakes)):
        # Numba numbers parallel rounds unsigned: as they are, all below is compiled a second time
        order = int(np.int64(s))
        until[s] = _bet_on(order, orders, frontiers, aim, held, prices, stakes, result)


@njit(cache=True)
def _bet_on(  # noqa: C901
    s: int, orders: Orders, frontiers: ObservedFrontiers, aim: CertificateAim, held: Path,
    prices: FloatArray, stakes: FloatArray, result: FloatArray,
) -> int:  # fmt: skip
    """Bet on one order; return the block in which it was given up.

    The price of a block has the largest excess of the aim over the past mean of Y_ν, in
    standard deviations.

    Parameters
    ----------
    s
        The order.
    orders, frontiers, aim, held
        As in `certificate_wealths`.
    prices, stakes, result
        Row or column ``s`` of them is filled.

    Returns
    -------
    int
        The first block before which wealth against the aim had fallen to ``GIVEN_UP``, else
        the number of blocks.

    Notes
    -----
    Everything that a block's price and stake are made of (``past``, ``aimed``, ``seen``) is
    brought up to date after they are written down. So they are functions of earlier blocks,
    E[1 − λ(Y_ν − δ) | past] <= 1 under ψ >= δ, and the wealth's mean is at most 1.
    """
    blocks, deltas = stakes.shape[1], aim.deltas
    past, wealth = np.zeros(len(frontiers.base)), np.ones(len(deltas))
    # placeholders: nothing is staked before the first records, and then a price is chosen first
    price, variance, top, drift, stake = 0.0, 1.0, 1.0, 0.0, 0.0
    aimed, given_up = 0.0, blocks
    for d in range(len(deltas)):
        result[d, s] = 0.0
    for e in range(blocks):
        seen = orders.before[s, e]
        # a random split may leave the last block empty: then nothing is to come, and √0 must not
        # divide
        left = max(orders.n - seen, 1.0)
        # noted even where stakes are held or go on: other tests read it as the end of this path
        if aimed < GIVEN_UP:
            given_up = min(given_up, e)
        if e < held.until[s]:
            price, stake = held.prices[s, e], held.stakes[s, e]
        elif seen == 0.0 or (aim.gives_up and given_up < blocks):
            # without records there is no price to prefer, and one out of the air would only cost
            stake = 0.0
        else:
            # a price may be kept for some blocks: it is still one that was chosen from earlier
            # records
            if e < OFTEN or e % aim.every == 0 or e == held.until[s]:
                scale = digital_hedge(aimed, aim.alpha, aim.cushion) / math.sqrt(left)
                price, variance, top, drift = _best_price(past, seen, frontiers, aim, scale)
            stake = digital_stake(aimed, aim.alpha, aim.cushion, variance, left, drift)
            # Y_ν <= top for every point that could be drawn, so that the factor stays at 1 − cap or
            # above; without this a record could make wealth negative, and nothing would be proved
            stake = min(stake, aim.cap / max(top - aim.delta, 1e-300))
        # written down before the block's records are looked at: predictable by construction
        prices[s, e], stakes[s, e] = price, stake
        # without a budget the price is infinite, and 0 · ∞ would be no number
        offset = 0.0 if aim.budget == 0.0 else aim.budget * price
        for a in range(orders.start[s, e], orders.start[s, e + 1]):
            i, count = orders.cell[a], orders.number[a]
            # only from here on may stakes know of these records
            past[i] += count
            if stake == 0.0:
                continue
            y = offset + net_gain(
                i, price, frontiers.first, frontiers.own_cost, frontiers.own_gain,
                frontiers.own_slope, frontiers.base,
            )  # fmt: skip
            # the wealth against the aim steers, whichever thresholds are asked about
            aimed += count * log_factor(-stake * (y - aim.delta))
            for d in range(len(deltas)):
                result[d, s], wealth[d] = multiplied(
                    result[d, s], wealth[d], -stake * (y - deltas[d]), count
                )
    for d in range(len(deltas)):
        # the factors that have not been put into the sum yet; each is at least 1 − cap, so positive
        result[d, s] += math.log(wealth[d])
    return int(given_up)


@njit(cache=True)
def _best_price(
    past: FloatArray, seen: float, frontiers: ObservedFrontiers, aim: CertificateAim, scale: float
) -> tuple[float, float, float, float]:
    """Return the price with the best past score; E(Y − δ)², the top of Y, δ − E Y there.

    A variance so small that the stake it asks for, ``scale``/√v, exceeds the cap is of no use:
    it counts as that at which the stake meets the cap.

    Parameters
    ----------
    past
        By cell: the records of earlier blocks.
    seen
        Their number, positive.
    frontiers
        The frontiers of occupied cells.
    aim
        What the path is for.
    scale
        The stake in units of 1/√v, from `digital_hedge` and the number of records to come.

    Returns
    -------
    price, variance, top, drift
        ν; E(Y_ν − δ)² with its prior; the most that Y_ν can be at any point; δ minus the past
        mean of Y_ν.

    Notes
    -----
    One sweep down the slopes. ``g`` and ``c`` are the sums over earlier records of gain and cost
    at the current price's targets, ``gg``, ``gc``, ``cc`` those of their products; each segment
    that is passed replaces its cell's target, which adds the differences of far and near end.
    Between two bends Σ φ and Σ φ² are polynomials in ν, so that the score's stationary point
    there is known in closed form.
    """
    g = gg = c = gc = cc = 0.0
    for i in range(len(past)):
        g += past[i] * frontiers.base[i]
        gg += past[i] * frontiers.base[i] * frontiers.base[i]
    if aim.budget == 0.0:
        # only free moves matter, and the price is as good as infinite
        _, variance, top, drift = _score(g, gg, seen, aim, aim.limits[-1], 0.0, scale)
        return np.inf, variance, top, drift
    best, last, segments = Choice(-np.inf, 0.0, 1.0, 1.0, 0.0), np.inf, len(frontiers.row)
    for k in range(segments + 1):
        if k < segments and past[frontiers.row[k]] == 0.0:
            continue  # a cell not seen yet must not show at which price it bends
        # after the last bend comes the price 0, at which everybody takes the best target there is
        price = frontiers.slope[k] if k < segments else 0.0
        means = Moments(g / seen, c / seen, gg / seen, gc / seen, cc / seen)
        between = _between_bends(means, aim)
        if price < between < last < np.inf:
            best = _better(best, between, Moments(g, c, gg, gc, cc), seen, aim, scale)
        last = price
        # below its bend a cell's target is the segment's far end: swap near for far in all sums
        if k < segments:
            t = past[frontiers.row[k]]
            fc, fg = frontiers.far_cost[k], frontiers.far_gain[k]
            nc, ng = fc - frontiers.cost[k], fg - frontiers.gain[k]
            g += t * frontiers.gain[k]
            c += t * frontiers.cost[k]
            gg += t * (fg * fg - ng * ng)
            gc += t * (fg * fc - ng * nc)
            cc += t * (fc * fc - nc * nc)
        best = _better(best, price, Moments(g, c, gg, gc, cc), seen, aim, scale)
    return best.price, best.variance, best.top, best.drift


@njit(cache=True, inline="always")
def _better(
    best: Choice, price: float, sums: Moments, seen: float, aim: CertificateAim, scale: float
) -> Choice:
    """Return the better of a choice and a price at which the past has these sums.

    Parameters
    ----------
    best
        The best choice so far.
    price
        ν, finite.
    sums
        Those over earlier records.
    seen
        The number of these records.
    aim, scale
        As in `_best_price`.
    """
    # φ falls in ν, so that the limit at the next lower known price is one here
    at = np.searchsorted(aim.limit_prices, price, side="right") - 1
    mean = sums.g - price * sums.c
    square = sums.gg - 2.0 * price * sums.gc + price * price * sums.cc
    score, variance, top, drift = _score(
        mean, square, seen, aim, aim.limits[at], aim.budget * price, scale
    )
    return Choice(score, price, variance, top, drift) if score > best.score else best


@njit(cache=True, inline="always")
def _between_bends(means: Moments, aim: CertificateAim) -> float:
    """Return the price at which the score is stationary while no gain bends; NaN if none is.

    With the past means of gain, cost and their products, δ − Y has mean A + Bν and mean square
    P + Qν + Rν².

    Parameters
    ----------
    means
        Those over earlier records.
    aim
        The threshold and the budget.

    Returns
    -------
    float
        The root of d/dν (A + Bν)/√(P + Qν + Rν²), which is linear in ν: (½AQ − BP)/(½BQ − AR).
        It may lie outside the two bends; the caller looks.
    """
    g, c = means.g, means.c
    a, b = aim.delta - g, c - aim.budget
    p = means.gg - 2.0 * aim.delta * g + aim.delta * aim.delta
    q = 2.0 * (aim.budget * g - means.gc + aim.delta * c - aim.delta * aim.budget)
    r = means.cc - 2.0 * aim.budget * c + aim.budget * aim.budget
    below = 0.5 * b * q - a * r
    return (0.5 * a * q - b * p) / below if below != 0.0 else np.nan


@njit(cache=True)
def _score(
    mean: float, square: float, seen: float, aim: CertificateAim, limit: float, offset: float,
    scale: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return δ − E Y in standard deviations; E(Y − δ)², the top of Y and δ − E Y.

    ``mean`` and ``square`` are Σ φ and Σ φ² over the past, ``offset`` is εν.

    Parameters
    ----------
    mean, square
        Sums over earlier records.
    seen
        Their number.
    aim
        What the path is for.
    limit
        The most that φ_ν can be at any point, known before the data.
    offset
        εν.
    scale
        The stake in units of 1/√v.

    Returns
    -------
    score, variance, top, drift
        How much this price promises, and what a stake at it is made of.

    Notes
    -----
    The prior guess ½δ(top − δ) is of the variance that a gain of the largest size would have
    whose mean is about δ; it counts for ``aim.weight`` records.
    """
    top = limit + offset
    o = offset - aim.delta
    prior = 0.5 * aim.delta * max(top - aim.delta, 1e-3 * top)
    # Σ(φ + o)², multiplied out so that one sweep serves all prices; rounding may take it below 0
    squares = max(square + 2.0 * o * mean + o * o * seen, 0.0)
    variance = (aim.weight * prior + squares) / (aim.weight + seen)
    if top > aim.delta:
        # a stake cannot exceed the cap, so that less variance than this is worth nothing
        # here the stake scale/√v just meets its cap; with it the score ranks prices by what they
        # can win
        variance = max(variance, (scale / aim.cap * (top - aim.delta)) ** 2)
    drift = -(mean / seen + o)
    score = drift / math.sqrt(max(variance, 1e-300))
    return score, max(variance, 1e-12 * top * top), top, drift
