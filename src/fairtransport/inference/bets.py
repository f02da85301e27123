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
def _log_factor(x: float) -> float:
    """Return log(1 + x), for small x by six terms of its series: good to 1e-15."""
    if abs(x) < SMALL:
        series = 1.0 / 5.0 - x / 6.0
        return float(x * (1.0 - x * (0.5 - x * (1.0 / 3.0 - x * (0.25 - x * series)))))
    return math.log(1.0 + x)


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
                if count[a] == 1.0:
                    product *= 1.0 + x
                    if not TINY < product < HUGE:
                        total += math.log(product)
                        product = 1.0
                else:
                    total += count[a] * _log_factor(x)
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
def _net_gain(
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
                net = _net_gain(i, price, first, own_cost, own_gain, own_slope, base)
                excess = net + offset - delta
                squares += many * excess * excess
                total += many * excess
                if stake > 0.0:
                    linear[i] += stake * many
                    square[i] += stake * stake * many
                    x = stake * excess
                    log_wealth += many * _log_factor(x)
                    missed += many * (_log_factor(x) - x + 0.5 * x * x)


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
        y = offset + _net_gain(cell[a], price, first, own_cost, own_gain, own_slope, base)
        x = max(-stake * (y - delta), -1.0 + 1e-15)
        if count[a] == 1.0:
            product *= 1.0 + x
            if not TINY < product < HUGE:
                total += math.log(product)
                product = 1.0
        else:
            total += count[a] * _log_factor(x)
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
