"""Compiled betting: stakes chosen from the past, and the wealth that they lead to.

A bet against "E Y <= δ" multiplies wealth by 1 + λ(Y − δ), one against "E Y >= δ" by
1 − λ(Y − δ), record by record, with a stake λ that depends on earlier records only. Under the
hypothesis the wealth's mean is at most 1, whatever the stakes.

The stakes are *digital*: they hedge an option that pays 1/α at the end if the bet succeeds. If
wealth is W with m records to come, p = c · α · W is the option's price at variance v, d = Φ⁻¹(p),
and its hedge is λ = pdf(d)/(p √(v m)). The cushion c < 1 makes the option aim a little above 1/α,
since hedging in steps is not perfect; the more records, the less it needs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit, prange

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.inference.finite.orders import Orders

SMALL = 5e-3
TINY, HUGE = 1e-100, 1e100
"""Products of factors are put into the sum of logarithms before they leave this range."""
FEW = 8.0
"""Records of a cell whose factors are multiplied one by one; of more, logarithms are faster."""
GIVEN_UP = math.log(1 / 300)
"""The log-wealth at which an order counts as lost."""
SAFE = 0.9999
"""Price of the option from which it counts as won and nothing is staked any more."""


@njit(cache=True)
def _upper_quantile(p: float) -> float:
    """Return z with P(Z > z) = p for a standard normal Z, by Newton's method.

    Parameters
    ----------
    p
        A tail probability strictly between 0 and 1.

    Returns
    -------
    float
        The upper p-quantile, negative for p > ½.

    Notes
    -----
    A rational start good to .0005 (Abramowitz and Stegun 26.2.23) in the smaller tail, then two
    Newton steps on P(Z > z) − q, each of which about squares the error. Compiled code cannot
    call ``scipy.special.ndtri``, and a stake needs no more digits than these.
    """
    # a start good to .0005 (Abramowitz and Stegun 26.2.23), then two corrections
    # the formula is for the upper half; the lower one is its mirror image, told apart by `p == q`
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

    Parameters
    ----------
    x
        What one record adds to wealth, as a share of it; more than −1.

    Returns
    -------
    float
        The logarithm of the record's factor.

    Notes
    -----
    A stake is of the order of 1/√n, so that most factors are close to 1: there the nested
    polynomial is both faster than a logarithm and free of the cancellation in 1 + x.

    Examples
    --------
    >>> log_factor(0.5) == math.log(1.5)
    True
    >>> abs(log_factor(1e-3) - math.log1p(1e-3)) < 1e-15
    True
    """
    if abs(x) < SMALL:
        series = 1.0 / 5.0 - x / 6.0
        return float(x * (1.0 - x * (0.5 - x * (1.0 / 3.0 - x * (0.25 - x * series)))))
    return math.log(1.0 + x)


@njit(cache=True)
def multiplied(total: float, product: float, x: float, count: float) -> tuple[float, float]:
    """Return log-wealth ``total`` + log ``product`` after ``count`` records of factor 1 + x.

    Few records cost a product each; a logarithm is taken before it leaves the range of floats.

    Parameters
    ----------
    total, product
        The wealth so far, exp(total) · product: a sum of logarithms and a product that was not
        put into it yet.
    x
        The stake times what one record won, more than −1.
    count
        How many records have this outcome; a whole number.

    Returns
    -------
    total, product
        The same pair afterwards.

    Examples
    --------
    Three records that each win half of a wealth, not put into the sum of logarithms yet:

    >>> multiplied(0.0, 1.0, 0.5, 3.0)
    (0.0, 3.375)
    """
    # a cell's records are alike: their factors are one power, and its logarithm is one product
    if count > FEW:
        return total + count * log_factor(x), product
    for _ in range(int(count)):
        product *= 1.0 + x
    # at most eight factors came since the last look: from inside this range only factors beyond
    # 1e26 or below 1e-26 could leave that of floats
    if not TINY < product < HUGE:
        return total + math.log(product), 1.0
    return total, product


@njit(cache=True)
def digital_hedge(log_wealth: float, alpha: float, cushion: float) -> float:
    """Return pdf(d)/p for the option that pays 1/α: the stake in units of 1/√(v m).

    Parameters
    ----------
    log_wealth
        The logarithm of the wealth so far.
    alpha
        The level: wealth that reaches 1/α rejects.
    cushion
        Below 1: the option is aimed at 1/(cushion · α), a little more than what is needed.

    Returns
    -------
    float
        0 once the option is as good as won.

    Notes
    -----
    p = cushion · α · W is what the option costs now if the bet is fair, d its normal quantile.
    Any function of the past may be staked, so the rule needs no proof, only a lower limit of 0
    and the caller's cap.

    Examples
    --------
    At the start a level of .05 is far off; close to 1/α the stake falls, and beyond it is 0.

    >>> [round(digital_hedge(math.log(wealth), 0.05, 0.95), 2) for wealth in (1.0, 10.0, 25.0)]
    [2.08, 0.84, 0.0]
    """
    # p is a price, so it must lie inside (0, 1): a wealth of next to nothing still has a quantile,
    # and e⁵⁰ is beyond any 1/α in use: there the option is won in either case
    p = max(cushion * alpha * math.exp(min(log_wealth, 50.0)), 1e-12)
    if p >= SAFE:
        return 0.0
    z = _upper_quantile(p)
    return float(math.exp(-0.5 * z * z) / (math.sqrt(2.0 * math.pi) * p))


@njit(cache=True)
def digital_stake(
    log_wealth: float, alpha: float, cushion: float, variance: float, left: float, drift: float
) -> float:
    """Return the option's hedge; once it is won, what is above 1/α goes on betting.

    ``drift`` is the past mean of what is bet on. Half of Kelly's stake on the surplus lets
    wealth grow where the evidence is overwhelming, at little risk to 1/α.

    Parameters
    ----------
    log_wealth, alpha, cushion
        The wealth so far, the level and how closely wealth is aimed at 1/α, as in
        `digital_hedge`.
    variance
        The guess of E(Y − δ)², positive.
    left
        The number of records to come, this block's included; positive.
    drift
        The guess of E(Y − δ), from the past.

    Returns
    -------
    float
        λ >= 0, not yet capped: the caller knows how much a record can lose.
    """
    hedge = digital_hedge(log_wealth, alpha, cushion)
    if hedge > 0.0:
        return float(hedge / math.sqrt(variance * left))
    # of a wealth W > 1/α only the share 1 − 1/(αW) is put at risk; nothing of it is at W <= 1/α
    surplus = 1.0 - math.exp(-max(log_wealth + math.log(alpha), 0.0))
    return float(0.5 * surplus * max(drift, 0.0) / variance)


@njit(cache=True, parallel=True)
def log_wealths(
    records: Orders, stakes: FloatArray, outcomes: FloatArray, over: FloatArray, result: FloatArray
) -> None:
    """Fill (outcomes, orders) with the log-wealth of stakes on rows of ``outcomes``.

    ``over`` is what the outcome of each entry is bet to exceed.

    Parameters
    ----------
    records
        The orders whose blocks are bet on.
    stakes
        (orders, blocks), one stake for all records of a block.
    outcomes
        (rows, cells) what a record of each cell turns out as, Y_ν at one price a row.
    over
        By entry of ``records``: δ, or d + Y'_μ in a bet on a difference.
    result
        (rows, orders), filled: log Π(1 + λ(Y − over)).
    """
    orders, blocks = stakes.shape
    # one loop over both, so that threads are busy with few rows and many orders as well as the
    # reverse
    for job in prange(outcomes.shape[0] * orders):
        y, s = job // orders, job % orders
        total, product = 0.0, 1.0
        for e in range(blocks):
            # a block without a stake multiplies wealth by 1: passed over, and most lost orders are
            # such
            stake = stakes[s, e]
            if stake == 0.0:
                continue
            for a in range(records.start[s, e], records.start[s, e + 1]):
                x = stake * (outcomes[y, records.cell[a]] - over[a])
                # stakes are capped so that this cannot be for outcomes that there are; tangents of
                # φ, which `least_wealth` bets on too, may lie far below it, and whoever lost
                # everything stays at 0
                if x <= -1.0:
                    total = -np.inf
                    break
                total, product = multiplied(total, product, x, records.number[a])
            if total == -np.inf:
                break
        result[y, s] = total + math.log(product)


@njit(cache=True, parallel=True)
def log_wealths_of_mixture(
    number: FloatArray, stakes: FloatArray, outcomes: FloatArray, over: FloatArray,
    result: FloatArray,
) -> None:  # fmt: skip
    """Fill (outcomes, stakes) with the log-wealth of stakes that never change.

    The same numbers as `log_wealths`, ``number`` records of each cell in their order. All stakes
    are bet on a record at once: their products do not wait for each other.

    Parameters
    ----------
    number
        By cell: its records.
    stakes
        The stakes of the mixture, each fixed before the data.
    outcomes
        (rows, cells) Y_ν at one price a row.
    over
        By cell: what its outcome is bet to exceed.
    result
        (rows, stakes), filled with log Π(1 + λ(Y − over)).

    Notes
    -----
    A wealth of fixed stakes is a symmetric function of the records: cells come in any order, and
    the whole sample is one block.
    """
    many = len(stakes)
    for y in prange(outcomes.shape[0]):
        totals, products = np.zeros(many), np.ones(many)
        for a in range(len(number)):
            gain = outcomes[y, a] - over[a]
            # continuous data have a record in nearly every cell: one multiplication a stake, no
            # loop
            if number[a] == 1.0:
                inside = True
                for s in range(many):
                    products[s] *= 1.0 + stakes[s] * gain
                    inside &= (products[s] > TINY) & (products[s] < HUGE)
                if not inside:
                    _take_logarithms(totals, products)
            else:
                _bet_several(number[a], stakes, gain, totals, products)
        for s in range(many):
            result[y, s] = totals[s] + math.log(products[s])


@njit(cache=True)
def _take_logarithms(totals: FloatArray, products: FloatArray) -> None:
    """Put products that left their range into the sums; one that is not positive lost all.

    Parameters
    ----------
    totals, products
        By stake: the two parts of the log-wealth, changed in place. Products of 1 afterwards
        where something was moved.
    """
    for s in range(len(products)):
        # looked at after every record, so that two negative factors, which only tangents below φ
        # have, cannot pass for a gain
        if products[s] <= 0.0:
            totals[s], products[s] = -np.inf, 1.0
        elif not TINY < products[s] < HUGE:
            totals[s], products[s] = totals[s] + math.log(products[s]), 1.0


@njit(cache=True)
def _bet_several(
    count: float, stakes: FloatArray, gain: float, totals: FloatArray, products: FloatArray
) -> None:
    """Bet all stakes on several records of one outcome.

    Parameters
    ----------
    count
        The records of the cell.
    stakes
        The stakes of the mixture.
    gain
        What each of these records wins for a stake of 1, Y − δ.
    totals, products
        By stake: the two parts of the log-wealth, changed in place.
    """
    for s in range(len(stakes)):
        x = stakes[s] * gain
        if x <= -1.0:
            totals[s] = -np.inf
        else:
            totals[s], products[s] = multiplied(totals[s], products[s], x, count)


@njit(cache=True)
def net_gain(
    i: int, price: float, first: IntArray, far_cost: FloatArray, far_gain: FloatArray,
    slope: FloatArray, base: FloatArray,
) -> float:  # fmt: skip
    """Return φ_ν(i) from the segments of point i, which lie together, steepest first.

    Parameters
    ----------
    i
        The cell.
    price
        ν; infinite where only free moves count.
    first
        Where the segments of each cell begin, and of the next one.
    far_cost, far_gain
        By segment: cost and gain of the target at its far end, counted from the cell itself.
    slope
        By segment: gain a unit of cost, falling within a cell.
    base
        By cell: the gain of its best free target, φ_∞.

    Returns
    -------
    float
        max over targets of (gain − ν · cost).

    Notes
    -----
    A frontier is concave, so the segments that are worth their price are its first ones: the
    target at the far end of the last of them is the best. A segment whose slope equals the price
    changes nothing, and is left out.

    Examples
    --------
    A cell with targets of gain 1 at cost 2, and of gain 1.2 at cost 4: slopes ½ and .1.

    >>> segments = [np.array(column) for column in ([2.0, 4.0], [1.0, 1.2], [0.5, 0.1])]
    >>> first, base = np.array([0, 2]), np.array([0.0])
    >>> [round(net_gain(0, price, first, *segments, base), 3) for price in (1.0, 0.25, 0.05)]
    [0.0, 0.5, 1.0]
    """
    # without any segment worth its price the person stays, or moves for free
    gain = base[i]
    for k in range(first[i], first[i + 1]):
        if slope[k] <= price:
            break
        gain = far_gain[k] - price * far_cost[k]
    return float(gain)
