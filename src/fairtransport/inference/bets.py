"""Compiled betting: stakes chosen from the past, and the wealth that they lead to.

A bet against "E Y <= δ" multiplies wealth by 1 + λ(Y − δ), one against "E Y >= δ" by
1 − λ(Y − δ), record by record, with a stake λ that depends on earlier records only. Under the
hypothesis the wealth's mean is at most 1, whatever the stakes.

The stakes are *digital*: they hedge an option that pays 1/α at the end if the bet succeeds. If
wealth is W with m records to come, p = CUSHION · α · W is the option's price at variance v,
d = Φ⁻¹(p), and its hedge is λ = pdf(d)/(p √(v m)).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit, prange

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray

CUSHION = 0.7
"""The option aims a little above 1/α, since hedging in steps is not perfect."""
SMALL = 5e-3
OFTEN = 4
"""Blocks at the start in each of which the price is searched for."""
TINY, HUGE = 1e-100, 1e100
"""Products of factors are put into the sum of logarithms before they leave this range."""
SAFE = 0.995
"""Price of the option from which it counts as won and nothing is staked any more."""
HORIZON = 1.02
"""The option ends a little after the sample, which tames the last stakes."""


@njit(cache=True)
def _upper_quantile(p: float) -> float:
    """Return z with P(Z > z) = p for a standard normal Z, by Newton's method."""
    # a start good to .0005 (Abramowitz and Stegun 26.2.23), then two corrections
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
    """Return log(1 + x), for small x by six terms of its series: good to 1e-15."""
    if abs(x) < SMALL:
        series = 1.0 / 5.0 - x / 6.0
        return float(x * (1.0 - x * (0.5 - x * (1.0 / 3.0 - x * (0.25 - x * series)))))
    return math.log(1.0 + x)


@njit(cache=True)
def multiplied(total: float, product: float, x: float, count: float) -> tuple[float, float]:
    """Return log-wealth ``total`` + log ``product`` after ``count`` records of factor 1 + x.

    A single record costs a product; its logarithm is taken before it leaves the range of floats.
    """
    if count != 1.0:
        return total + count * log_factor(x), product
    product *= 1.0 + x
    if not TINY < product < HUGE:
        return total + math.log(product), 1.0
    return total, product


@njit(cache=True)
def digital_hedge(log_wealth: float, alpha: float) -> float:
    """Return pdf(d)/p for the option that pays 1/α: the stake in units of 1/√(v m)."""
    p = max(CUSHION * alpha * math.exp(min(log_wealth, 50.0)), 1e-12)
    if p >= SAFE:
        return 0.0
    z = _upper_quantile(p)
    return float(math.exp(-0.5 * z * z) / (math.sqrt(2.0 * math.pi) * p))


@njit(cache=True)
def digital_stake(
    log_wealth: float, alpha: float, variance: float, left: float, drift: float
) -> float:
    """Return the option's hedge; once it is won, what is above 1/α goes on betting.

    ``drift`` is the past mean of what is bet on. Half of Kelly's stake on the surplus lets
    wealth grow where the evidence is overwhelming, at little risk to 1/α.
    """
    hedge = digital_hedge(log_wealth, alpha)
    if hedge > 0.0:
        return float(hedge / math.sqrt(variance * left))
    surplus = 1.0 - math.exp(-max(log_wealth + math.log(alpha), 0.0))
    return float(0.5 * surplus * max(drift, 0.0) / variance)


@njit(cache=True, parallel=True)
def log_wealths(
    start: IntArray, cell: IntArray, count: FloatArray, stakes: FloatArray,
    outcomes: FloatArray, delta: float, result: FloatArray,
) -> None:  # fmt: skip
    """Fill (outcomes, orders) with the log-wealth of stakes on rows of ``outcomes`` over δ.

    Stakes are signed: negative ones bet against "E Y >= δ".
    """
    orders, blocks = stakes.shape
    for job in prange(outcomes.shape[0] * orders):
        y, s = job // orders, job % orders
        total, product = 0.0, 1.0
        for e in range(blocks):
            stake = stakes[s, e]
            if stake == 0.0:
                continue
            for a in range(start[s, e], start[s, e + 1]):
                x = stake * (outcomes[y, cell[a]] - delta)
                if x <= -1.0:
                    total = -np.inf
                    break
                total, product = multiplied(total, product, x, count[a])
            if total == -np.inf:
                break
        result[y, s] = total + math.log(product)


@njit(cache=True, parallel=True)
def stakes_on_gains(
    start: IntArray, cell: IntArray, count: FloatArray, before: FloatArray, n: int,
    outcomes: FloatArray, delta: float, alpha: float, prior: float, weight: float, most: float,
    sign: float, stakes: FloatArray,
) -> None:  # fmt: skip
    """Fill the digital stakes for one fixed variable: ``outcomes`` by cell.

    ``prior`` is a guess of E(Y − δ)² worth ``weight`` records; ``most`` caps the stake.
    """
    orders, blocks = stakes.shape
    for s in prange(orders):
        log_wealth, squares, total = 0.0, prior * weight, 0.0
        for e in range(blocks):
            seen = before[s, e]
            variance = squares / (weight + seen)
            drift = sign * total / (weight + seen)
            stake = digital_stake(log_wealth, alpha, variance, HORIZON * n - seen, drift)
            stake = sign * min(stake, most)
            stakes[s, e] = stake
            for a in range(start[s, e], start[s, e + 1]):
                excess = outcomes[cell[a]] - delta
                squares += count[a] * excess * excess
                total += count[a] * excess
                if stake != 0.0:
                    log_wealth += count[a] * math.log(max(1.0 + stake * excess, 1e-300))


@njit(cache=True)
def net_gain(
    i: int, price: float, first: IntArray, far_cost: FloatArray, far_gain: FloatArray,
    slope: FloatArray, base: FloatArray,
) -> float:  # fmt: skip
    """Return φ_ν(i) from the segments of point i, which lie together, steepest first."""
    gain = base[i]
    for k in range(first[i], first[i + 1]):
        if slope[k] <= price:
            break
        gain = far_gain[k] - price * far_cost[k]
    return float(gain)


@njit(cache=True, parallel=True)
def stakes_over_prices(
    start: IntArray, cell: IntArray, count: FloatArray, before: FloatArray, n: int,
    row: IntArray, cost: FloatArray, gain: FloatArray, far_cost: FloatArray,
    far_gain: FloatArray, slope: FloatArray, base: FloatArray,
    first: IntArray, own_cost: FloatArray, own_gain: FloatArray, own_slope: FloatArray,
    budget: float, most_gain: float, delta: float, alpha: float, weight: float, most: float,
    every: int, stakes: FloatArray,
) -> None:  # fmt: skip
    """Fill stakes against "some price ν has E φ_ν + εν <= δ", one path for all prices.

    Each block is aimed at the price at which wealth is least. To find it among all prices
    where some φ bends, wealth is expanded to second order: Σ A_i (Y_i − δ) − ½ Σ B_i (Y_i − δ)²
    with A = Σ λ N and B = Σ λ² N over the blocks so far, which one sweep over the segments in
    slope order evaluates everywhere. What the expansion missed at the prices aimed at so far
    is carried along. The price is searched for in every ``every``-th block.
    """
    orders, blocks = stakes.shape
    points = len(base)
    for s in prange(orders):
        linear, square, past = np.zeros(points), np.zeros(points), np.zeros(points)
        missed, price, offset, log_wealth, squares, total = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for e in range(blocks):
            seen = before[s, e]
            # often at first, while little is known
            if e < OFTEN or e % every == 0:
                least, squares, total = _least_wealth(
                    linear, square, past, row, cost, gain, far_cost, far_gain, slope, base,
                    budget, delta,
                )  # fmt: skip
                price = least[0]
                log_wealth = least[1] + missed
                offset = budget * price
            prior = 0.5 * (delta - offset) * max(most_gain + offset - delta, 1e-3 * most_gain)
            variance = (weight * prior + squares) / (weight + seen)
            variance = max(variance, 1e-12 * most_gain * most_gain)
            drift = total / (weight + seen)
            stake = digital_stake(log_wealth, alpha, variance, HORIZON * n - seen, drift)
            stake = min(stake, most)
            stakes[s, e] = stake
            for a in range(start[s, e], start[s, e + 1]):
                i, many = cell[a], count[a]
                past[i] += many
                net = net_gain(i, price, first, own_cost, own_gain, own_slope, base)
                excess = net + offset - delta
                squares += many * excess * excess
                total += many * excess
                if stake > 0.0:
                    linear[i] += stake * many
                    square[i] += stake * stake * many
                    x = stake * excess
                    log_wealth += many * log_factor(x)
                    missed += many * (log_factor(x) - x + 0.5 * x * x)


@njit(cache=True)
def _least_wealth(
    linear: FloatArray, square: FloatArray, past: FloatArray, row: IntArray, cost: FloatArray,
    gain: FloatArray, far_cost: FloatArray, far_gain: FloatArray, slope: FloatArray,
    base: FloatArray, budget: float, delta: float,
) -> tuple[tuple[float, float], float, float]:  # fmt: skip
    """Return (price, expanded log-wealth) where that is least, Σ past (Y − δ)² and Σ (Y − δ)."""
    la = lg = sa = sg = sgg = pa = pg = pgg = 0.0
    for i in range(len(base)):
        b = base[i]
        la += linear[i]
        lg += linear[i] * b
        sa += square[i]
        sg += square[i] * b
        sgg += square[i] * b * b
        pa += past[i]
        pg += past[i] * b
        pgg += past[i] * b * b
    lc = sc = sgc = scc = pc = pgc = pcc = 0.0
    best_price, best, best_squares, best_mean = 0.0, np.inf, 0.0, np.inf
    top = delta / budget
    segments = len(row)
    for k in range(segments + 2):
        # states: before any segment at the top price, at each slope, and at price 0
        if k == 0:
            price = top
        elif k <= segments:
            price = slope[k - 1]
            i = row[k - 1]
            w, u, t = linear[i], square[i], past[i]
            if t == 0.0:
                continue  # a cell not seen yet must not show at which price it bends
            dc, dg = cost[k - 1], gain[k - 1]
            fc, fg = far_cost[k - 1], far_gain[k - 1]
            nc, ng = fc - dc, fg - dg
            lg += w * dg
            lc += w * dc
            sg += u * dg
            sc += u * dc
            sgg += u * (fg * fg - ng * ng)
            sgc += u * (fg * fc - ng * nc)
            scc += u * (fc * fc - nc * nc)
            pg += t * dg
            pc += t * dc
            pgg += t * (fg * fg - ng * ng)
            pgc += t * (fg * fc - ng * nc)
            pcc += t * (fc * fc - nc * nc)
        else:
            price = 0.0
        if price > top or (k == 0 and segments > 0 and slope[0] > top):
            continue
        o = budget * price - delta
        first = lg - price * lc + o * la
        second = (
            sgg - 2.0 * price * sgc + price * price * scc + 2.0 * o * (sg - price * sc) + o * o * sa
        )
        wealth = first - 0.5 * second
        mean = pg - price * pc + o * pa
        # before anything was staked the least past mean decides, and before that price 0
        if wealth < best or (wealth == best and mean <= best_mean):
            best_price, best, best_mean = price, wealth, mean
            best_squares = (
                pgg
                - 2.0 * price * pgc
                + price * price * pcc
                + 2.0 * o * (pg - price * pc)
                + o * o * pa
            )
    return (best_price, best), max(best_squares, 0.0), best_mean
