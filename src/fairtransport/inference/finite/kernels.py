"""Compiled primitives of betting: stakes chosen from the past, and their wealth.

A bet against "E Y <= δ" multiplies wealth by 1 + λ(Y − δ), one against "E Y >= δ" by
1 − λ(Y − δ), record by record, with a stake λ that depends on earlier records only. Under the
hypothesis the wealth's mean is at most 1, whatever the stakes.

The stakes are *digital*: they hedge an option that pays 1/α at the end if the bet succeeds. If
wealth is W with m records to come, p = c · α · W is the option's price at variance v, d = Φ⁻¹(p),
and its hedge is λ = pdf(d)/(p √(v m)). The cushion c < 1 makes the option aim a little above 1/α,
as hedging in steps is imperfect; with more records, it can be closer to 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit, prange

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.inference.finite.sample import Orders

MAX_SERIES_ARGUMENT = 5e-3
MIN_PRODUCT, MAX_PRODUCT = 1e-100, 1e100
"""Products of factors are put into the sum of logarithms before they leave this range."""
MAX_MULTIPLIED_RECORDS = 8.0
"""Maximum number of records of a cell to multiply factors of; beyond it, logarithms are faster."""
WON_OPTION_PRICE = 0.9999
"""Price of the option from which on it counts as won and nothing is staked."""


@njit(cache=True)
def _upper_quantile(p: float) -> float:
    """Return z with P(Z > z) = p for a standard normal Z, by Newton's method.

    A rational start good to .0005 (Abramowitz and Stegun 26.2.23) in the smaller tail, then two
    Newton steps on P(Z > z) − q, each of which about squares the error. Compiled code cannot
    call ``scipy.special.ndtri``, and a stake needs no more digits than these.
    """
    # the formula is for the upper half; in the lower one, where p != q, z is mirrored
    q = min(p, 1.0 - p)
    t = math.sqrt(-2.0 * math.log(q))
    z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (
        1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))
    )
    for _ in range(2):
        density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        z += (0.5 * math.erfc(z / math.sqrt(2.0)) - q) / density
    return z if p == q else -z


@njit(cache=True)
def log_factor(x: float) -> float:
    """Return log(1 + x), for small x by six terms of its series: good to 1e-15.

    A stake is of the order of 1/√n, so that most factors are close to 1: there the nested
    polynomial is both faster than a logarithm and free of the cancellation in 1 + x.
    """
    if abs(x) < MAX_SERIES_ARGUMENT:
        series = 1.0 / 5.0 - x / 6.0
        return float(x * (1.0 - x * (0.5 - x * (1.0 / 3.0 - x * (0.25 - x * series)))))
    return math.log(1.0 + x)


@njit(cache=True)
def accumulate_wealth(total: float, product: float, x: float, count: float) -> tuple[float, float]:
    """Return log-wealth ``total`` + log ``product`` after ``count`` records of factor 1 + x.

    Few records are multiplied; a logarithm is taken before the product leaves the range of floats.
    """
    # a cell's records are equal: their factors are a power, and its logarithm a product
    if count > MAX_MULTIPLIED_RECORDS:
        return total + count * log_factor(x), product
    for _ in range(int(count)):
        product *= 1.0 + x
    # at most eight factors since the last check: only those beyond 1e26 or below 1e-26 could leave
    # the range of floats
    if not MIN_PRODUCT < product < MAX_PRODUCT:
        return total + math.log(product), 1.0
    return total, product


@njit(cache=True)
def digital_hedge(log_wealth: float, alpha: float, cushion: float) -> float:
    """Return pdf(d)/p for the option that pays 1/α: the stake in units of 1/√(v m).

    p = cushion · α · W is the price of the option if the bet is fair, d its normal quantile. Any
    function of the past may be staked, so the rule needs no proof, only a lower limit of 0 and the
    caller's cap.
    """
    # a price must lie inside (0, 1), also for a tiny wealth; e⁵⁰ exceeds any 1/α in use: there the
    # option is won anyway
    p = max(cushion * alpha * math.exp(min(log_wealth, 50.0)), 1e-12)
    if p >= WON_OPTION_PRICE:
        return 0.0
    z = _upper_quantile(p)
    return float(math.exp(-0.5 * z * z) / (math.sqrt(2.0 * math.pi) * p))


@njit(cache=True)
def digital_stake(
    log_wealth: float, alpha: float, cushion: float, variance: float, to_come: float, drift: float
) -> float:
    """Return the option's hedge; once it is won, the surplus over 1/α is bet.

    ``drift`` is the past mean of the excess. Half of Kelly's stake on the surplus lets wealth grow
    when the evidence is overwhelming, at little risk to 1/α.
    """
    hedge = digital_hedge(log_wealth, alpha, cushion)
    if hedge > 0.0:
        return float(hedge / math.sqrt(variance * to_come))
    # of a wealth W > 1/α only the share 1 − 1/(αW) is at risk; nothing at W <= 1/α
    surplus = 1.0 - math.exp(-max(log_wealth + math.log(alpha), 0.0))
    return float(0.5 * surplus * max(drift, 0.0) / variance)


@njit(cache=True, parallel=True)
def fill_log_wealths(
    orders: Orders,
    stakes: FloatArray,
    outcomes: FloatArray,
    thresholds: FloatArray,
    result: FloatArray,
) -> None:
    """Fill (outcomes, orders) with the log-wealth of stakes on rows of ``outcomes``.

    ``thresholds`` are those of the entries' outcomes.
    """
    n_orders, n_blocks = stakes.shape
    # one loop over both, so that threads are busy with few rows and many orders, and vice versa
    for job in prange(outcomes.shape[0] * n_orders):
        y, s = job // n_orders, job % n_orders
        total, product = 0.0, 1.0
        for e in range(n_blocks):
            # a block without a stake multiplies wealth by 1, as in most lost orders: it is skipped
            stake = stakes[s, e]
            if stake == 0.0:
                continue
            for a in range(orders.start[s, e], orders.start[s, e + 1]):
                x = stake * (outcomes[y, orders.cell[a]] - thresholds[a])
                # impossible for real outcomes, as stakes are capped; tangents of φ, which
                # `least_wealth` bets on, too, may be far below it, and a lost wealth stays 0
                if x <= -1.0:
                    total = -np.inf
                    break
                total, product = accumulate_wealth(total, product, x, orders.records[a])
            if total == -np.inf:
                break
        result[y, s] = total + math.log(product)


@njit(cache=True, parallel=True)
def fill_mixture_log_wealths(
    counts: FloatArray, stakes: FloatArray, outcomes: FloatArray, thresholds: FloatArray,
    result: FloatArray,
) -> None:  # fmt: skip
    """Fill (outcomes, stakes) with the log-wealth of constant stakes.

    The same numbers as `fill_log_wealths`, for ``counts`` records of each cell. All stakes are bet
    on a record at once, as their products are independent.

    The wealth of a constant stake is a symmetric function of the records: cells come in any order,
    and the whole sample is one block.
    """
    n_stakes = len(stakes)
    for y in prange(outcomes.shape[0]):
        totals, products = np.zeros(n_stakes), np.ones(n_stakes)
        for a in range(len(counts)):
            gain = outcomes[y, a] - thresholds[a]
            # continuous data have one record in nearly every cell: one multiplication per stake, no
            # loop
            if counts[a] == 1.0:
                inside = True
                for s in range(n_stakes):
                    products[s] *= 1.0 + stakes[s] * gain
                    inside &= (products[s] > MIN_PRODUCT) & (products[s] < MAX_PRODUCT)
                if not inside:
                    _fold_products(totals, products)
            else:
                _bet_on_several(counts[a], stakes, gain, totals, products)
        for s in range(n_stakes):
            result[y, s] = totals[s] + math.log(products[s])


@njit(cache=True)
def _fold_products(totals: FloatArray, products: FloatArray) -> None:
    """Move products that left their range into the sums; one that is not positive lost all."""
    for s in range(len(products)):
        # checked after every record, so that two negative factors, which only tangents below φ
        # have, do not look like a gain
        if products[s] <= 0.0:
            totals[s], products[s] = -np.inf, 1.0
        elif not MIN_PRODUCT < products[s] < MAX_PRODUCT:
            totals[s], products[s] = totals[s] + math.log(products[s]), 1.0


@njit(cache=True)
def _bet_on_several(
    count: float, stakes: FloatArray, gain: float, totals: FloatArray, products: FloatArray
) -> None:
    """Bet all stakes on several records of one outcome."""
    for s in range(len(stakes)):
        x = stakes[s] * gain
        if x <= -1.0:
            totals[s] = -np.inf
        else:
            totals[s], products[s] = accumulate_wealth(totals[s], products[s], x, count)


@njit(cache=True)
def net_gain(
    i: int, price: float, first: IntArray, far_cost: FloatArray, far_gain: FloatArray,
    slope: FloatArray, base: FloatArray,
) -> float:  # fmt: skip
    """Return φ_ν(i) from the segments of point i, contiguous and steepest first.

    A frontier is concave, so the segments worth their price come first: the best target is the far
    end of the last of them. A segment whose slope equals the price changes nothing, and is left
    out.
    """
    # without any segment worth its price the person stays, or moves for free
    gain = base[i]
    for k in range(first[i], first[i + 1]):
        if slope[k] <= price:
            break
        gain = far_gain[k] - price * far_cost[k]
    return float(gain)
