"""Compiled betting against ψ <= δ: one path of stakes for all prices, aimed at the worst of them.

"ψ <= δ" says that *some* price ν in [0, δ/ε] has E Y_ν <= δ, where Y_ν = φ_ν + εν. It is rejected
when wealth reaches 1/α at every price, so each block's stake is aimed at the price with the least
wealth. A stake may depend on n, δ, α, the known limit of gains, and the records of earlier blocks.
The candidate prices are therefore 0, δ/ε and those at which the gain of a cell *with an earlier
record* bends.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit, prange

from fairtransport.inference.finite.kernels import MAX_MULTIPLIED_RECORDS, digital_stake, log_factor

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray
    from fairtransport.inference.finite.sample import ObservedFrontiers, Orders

PRIOR_FADE_POWER = 0.5
"""The power of the number of records seen with which the prior guess of a variance fades."""
WEALTH_TOLERANCE = 1e-12
"""Relative tolerance of equal wealths, of which the smaller past mean decides."""
MAX_LOG_FACTOR = 700.0
"""The largest logarithm whose exponential is finite."""


class Aim(NamedTuple):
    """Hypothesis, level and limits that a path of stakes is aimed at."""

    delta: float
    alpha: float
    cushion: float
    budget: float
    most_gain: float
    low: float
    high: float
    weight: float
    max_stake: float
    n_prices: int


class Ledger(NamedTuple):
    """An order's past by cell and by price, on which the next stake depends."""

    past: FloatArray
    linear: FloatArray
    square: FloatArray
    prices: FloatArray
    excess: FloatArray
    wealth: FloatArray
    squares: FloatArray
    total: FloatArray
    top: FloatArray
    expansion_error: FloatArray
    logs: FloatArray


@njit(cache=True, parallel=True)
def fill_rejection_stakes(
    orders: Orders, frontiers: ObservedFrontiers, aim: Aim, stakes: FloatArray
) -> None:
    """Fill the stakes of each order."""
    for s in prange(len(stakes)):
        # prange counts unsigned, which would compile everything below a second time
        _choose_stakes(int(np.int64(s)), orders, frontiers, aim, stakes)


@njit(cache=True)
def _choose_stakes(
    s: int, orders: Orders, frontiers: ObservedFrontiers, aim: Aim, stakes: FloatArray
) -> None:
    """Fill the stakes of one order.

    The order of the loop is the proof: whatever a stake depends on was updated by `_take_block` of
    earlier blocks, so that λ is predictable, and at a price with E Y_ν <= δ every factor 1 + λ(Y_ν
    − δ) has a conditional mean of at most 1 (theory page, "Stakes against ψ <= δ"). Aiming at the
    worst price is for power only; any stake between 0 and ``aim.max_stake`` would be as valid.
    """
    blocks = stakes.shape[1]
    ledger = _open_ledger(len(frontiers.base), aim.n_prices)
    # `changed` makes the first block choose prices: the ends of the part, without records
    n_prices, all_bends, changed, due = 0, True, True, 0
    for e in range(blocks):
        # rarely later on, so that replays cost no more than a few passes
        if e >= due and (changed or not all_bends):
            n_prices, all_bends = choose_prices(ledger.past, frontiers, aim, ledger.prices)
            _replay_blocks(orders, frontiers, aim, s, e, stakes, n_prices, ledger)
            changed, due = False, e + max(1, e // 2)
        log_wealth, squares, total, top = _find_least_wealth(n_prices, ledger)
        # with all bends among the kept prices the least wealth is at one of them, and is exact
        if not all_bends:
            log_wealth, squares, total, top = _find_least_wealth_at_bends(
                n_prices, ledger, frontiers, aim, log_wealth, squares, total, top
            )
        n_past = orders.n_before[s, e]
        prior = _prior_variance(aim, n_past, top)
        variance = (aim.weight * prior + squares) / (aim.weight + n_past)
        # a past without spread must not cause a division by 0
        variance = max(variance, 1e-12 * aim.most_gain * aim.most_gain)
        drift, to_come = total / (aim.weight + n_past), max(orders.n - n_past, 1.0)
        stake = digital_stake(log_wealth, aim.alpha, aim.cushion, variance, to_come, drift)
        # .75/(δ − ε·low): the worst outcome, nobody gains at the lowest price, leaves a quarter
        stake = min(stake, aim.max_stake)
        stakes[s, e] = stake
        # only from here on are this block's records used
        changed = _take_block(orders, frontiers, aim, s, e, stake, n_prices, ledger) or changed


@njit(cache=True, inline="always")
def _prior_variance(aim: Aim, n_past: float, top: float) -> float:
    """Return the guess of E(Y − δ)² for the rarest gains with a mean of about δ.

    The largest possible gain loses weight as long as no record has that size.
    """
    # δ may be close to the largest gain: a guess of 0 would give an infinite stake
    most = max(aim.most_gain - aim.delta, 1e-3 * aim.most_gain)
    return float(0.5 * aim.delta * min(most, max(top, most * (1.0 + n_past) ** -PRIOR_FADE_POWER)))


@njit(cache=True)
def _open_ledger(cells: int, prices: int) -> Ledger:
    """Return an empty ledger with room for cells and prices.

    Rows of two arrays, so that compiled code allocates three times per order, not eleven.
    """
    by_cell, by_price = np.zeros((3, cells)), np.zeros((7, prices))
    return Ledger(
        by_cell[0], by_cell[1], by_cell[2], by_price[0], np.zeros((cells, prices)), by_price[1],
        by_price[2], by_price[3], by_price[4], by_price[5], by_price[6],
    )  # fmt: skip


@njit(cache=True)
def choose_prices(
    past: FloatArray, frontiers: ObservedFrontiers, aim: Aim, prices: FloatArray
) -> tuple[int, bool]:
    """Fill decreasing prices from end to end; return their number, and whether all bends are in.

    Between the ends: all at which a cell seen so far bends or, if they are too many, those
    that cut the bends into parts of equal weight, where a bend weighs the records in its cell
    times the cost that it adds.
    """
    if aim.budget == 0.0:
        prices[0] = 0.0
        return 1, True
    row, cost, slope = frontiers.row, frontiers.cost, frontiers.slope
    weight, different, last = 0.0, 0, aim.high
    for k in range(len(row)):
        if aim.low < slope[k] < aim.high and past[row[k]] > 0.0:
            weight += past[row[k]] * cost[k]
            if slope[k] != last:
                # segments come steepest first, so that equal slopes are neighbours
                different, last = different + 1, slope[k]
    # the two ends are always kept: wealth is known there for any bends in between
    room = len(prices) - 2
    passed, last, at = 0.0, aim.high, 1
    prices[0] = aim.high
    for k in range(len(row)):
        if aim.low < slope[k] < aim.high and past[row[k]] > 0.0 and at <= room:
            # quantiles of the bends' weight: prices are dense where the past would spend its budget
            passed += past[row[k]] * cost[k]
            if slope[k] != last and (different <= room or passed * room >= (at - 0.5) * weight):
                prices[at], last, at = slope[k], slope[k], at + 1
    prices[at] = aim.low
    return at + 1, different <= room


@njit(cache=True)
def fill_excess(
    i: int, frontiers: ObservedFrontiers, aim: Aim, n_prices: int, prices: FloatArray,
    excess: FloatArray,
) -> None:  # fmt: skip
    """Fill w(Y_ν − δ) of cell i at the falling prices."""
    # prices decrease and so do the cell's slopes: one pass over both
    k, end = frontiers.first[i], frontiers.first[i + 1]
    cost, gain = 0.0, frontiers.base[i]
    for at in range(n_prices):
        price = prices[at]
        while k < end and frontiers.own_slope[k] > price:
            cost, gain = frontiers.own_cost[k], frontiers.own_gain[k]
            k += 1
        # φ_ν = gain − ν · cost of the target that is best at ν; Y_ν = φ_ν + εν
        excess[i, at] = frontiers.weight[i] * (gain - price * cost + aim.budget * price - aim.delta)


@njit(cache=True)
def _replay_blocks(
    orders: Orders, frontiers: ObservedFrontiers, aim: Aim, s: int, until: int,
    stakes: FloatArray, n_prices: int, ledger: Ledger,
) -> None:  # fmt: skip
    """Recompute the ledger at new prices from the blocks before ``until``."""
    for at in range(n_prices):
        # `linear` and `square` are sums by cell, which do not depend on prices
        ledger.wealth[at], ledger.squares[at], ledger.total[at], ledger.top[at] = 1.0, 0.0, 0.0, 0.0
    for i in range(len(ledger.past)):
        if ledger.past[i] > 0.0:
            fill_excess(i, frontiers, aim, n_prices, ledger.prices, ledger.excess)
            for at in range(n_prices):
                x = ledger.excess[i, at]
                ledger.squares[at] += ledger.past[i] * x * x
                ledger.total[at] += ledger.past[i] * x
                ledger.top[at] = max(ledger.top[at], x)
    for e in range(until):
        # the same bets are replayed at the new prices, without new stakes
        if stakes[s, e] > 0.0:
            _multiply_wealth(orders, s, e, stakes[s, e], n_prices, ledger)


@njit(cache=True, inline="always")
def _take_block(
    orders: Orders, frontiers: ObservedFrontiers, aim: Aim, s: int, e: int, stake: float,
    n_prices: int, ledger: Ledger,
) -> bool:  # fmt: skip
    """Add the records of a block; return whether any is in a new cell."""
    changed = False
    for a in range(orders.start[s, e], orders.start[s, e + 1]):
        i, count = orders.cell[a], orders.records[a]
        if ledger.past[i] == 0.0:
            fill_excess(i, frontiers, aim, n_prices, ledger.prices, ledger.excess)
            changed = True
        # a cell's first record shows at which prices it bends; from the next block on that may be
        # used
        ledger.past[i] += count
        ledger.linear[i] += stake * count
        ledger.square[i] += stake * stake * count
        for at in range(n_prices):
            x = ledger.excess[i, at]
            ledger.squares[at] += count * x * x
            ledger.total[at] += count * x
            ledger.top[at] = max(ledger.top[at], x)
    if stake > 0.0:
        _multiply_wealth(orders, s, e, stake, n_prices, ledger)
    return changed


@njit(cache=True, inline="always")
def _multiply_wealth(
    orders: Orders, s: int, e: int, stake: float, n_prices: int, ledger: Ledger
) -> None:
    """Multiply wealth by a block's factors; those of many records at once by their logarithms.

    Wealth may overflow to infinity, which is won, or underflow to 0, which is lost.
    """
    several = False
    for a in range(orders.start[s, e], orders.start[s, e + 1]):
        i, count = orders.cell[a], orders.records[a]
        # prices are the inner loop: they lie side by side in memory, and the loop is vectorised
        if count <= MAX_MULTIPLIED_RECORDS:
            for _ in range(int(count)):
                for at in range(n_prices):
                    ledger.wealth[at] *= 1.0 + stake * ledger.excess[i, at]
        else:
            if not several:
                ledger.logs[:n_prices] = 0.0
                several = True
            for at in range(n_prices):
                ledger.logs[at] += count * log_factor(stake * ledger.excess[i, at])
    if several:
        for at in range(n_prices):
            # an infinite factor times an underflowed wealth of 0 would be NaN
            ledger.wealth[at] *= math.exp(min(ledger.logs[at], MAX_LOG_FACTOR))


@njit(cache=True)
def _log_wealth(wealth: float) -> float:
    """Return the logarithm of a wealth that may have underflowed to 0."""
    return math.log(wealth) if wealth > 0.0 else -MAX_LOG_FACTOR


@njit(cache=True, inline="always")
def _find_least_wealth(n_prices: int, ledger: Ledger) -> tuple[float, float, float, float]:
    """Return log-wealth, Σ (Y − δ)², Σ (Y − δ) and the largest Y − δ where wealth is least.

    Before any stake the least past mean decides, and before that the lowest price.
    """
    best = 0
    for at in range(1, n_prices):
        here, least = ledger.wealth[at], ledger.wealth[best]
        # equal wealths differ by rounding errors, which must not decide between them
        close = abs(here - least) <= WEALTH_TOLERANCE * least
        if (here < least and not close) or (close and ledger.total[at] <= ledger.total[best]):
            best = at
    return (
        _log_wealth(ledger.wealth[best]),
        ledger.squares[best],
        ledger.total[best],
        ledger.top[best],
    )


@njit(cache=True)
def _fill_expansion_errors(n_prices: int, ledger: Ledger) -> None:
    """Compute the errors of the expansion at the kept prices."""
    for at in range(n_prices):
        # differences of ∞ would make interpolation return NaN
        ledger.expansion_error[at] = min(_log_wealth(ledger.wealth[at]), MAX_LOG_FACTOR)
    for i in range(len(ledger.past)):
        if ledger.linear[i] > 0.0:
            for at in range(n_prices):
                x = ledger.excess[i, at]
                ledger.expansion_error[at] -= ledger.linear[i] * x - 0.5 * ledger.square[i] * x * x


@njit(cache=True)
def _find_least_wealth_at_bends(  # noqa: PLR0915 - one sweep, many sums
    n_prices: int, ledger: Ledger, frontiers: ObservedFrontiers, aim: Aim, least: float,
    least_squares: float, least_total: float, top: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return the same for a bend of a seen cell at which wealth is even less, if there is one.

    One sweep over the segments in slope order gives Σ λN (Y − δ) − ½ Σ λ²N (Y − δ)², the
    log-wealth to second order, at every bend. Its error is known at the kept prices, and
    interpolated between them.

    The price that a stake is aimed at needs no rigour: an approximate log-wealth suffices here, and
    the decisive wealth is computed later at all prices (`least_wealth`). Sums named ``l…`` weight
    records by λw, ``s…`` by (λw)², ``p…`` by w, ``q…`` by w²; ``a`` counts, ``g`` and ``c`` are
    gain and cost of the best target at the price, two letters their products. Passing a segment
    replaces its cell's near end (``nc``, ``ng``) by its far end (``fc``, ``fg``).
    """
    _fill_expansion_errors(n_prices, ledger)
    la = lg = lc = sa = sg = sc = sgg = sgc = scc = 0.0
    pa = pg = pc = qa = qg = qc = qgg = qgc = qcc = 0.0
    for i in range(len(ledger.past)):
        # above all slopes everybody has the best free target, at no cost: sums with c start at 0
        b, v = frontiers.base[i], frontiers.weight[i]
        w, u, t = ledger.linear[i] * v, ledger.square[i] * v * v, ledger.past[i] * v
        q = t * v
        la += w
        lg += w * b
        sa += u
        sg += u * b
        sgg += u * b * b
        pa += t
        pg += t * b
        qa += q
        qg += q * b
        qgg += q * b * b
    at = 0
    for k in range(len(frontiers.row)):
        i, price = frontiers.row[k], frontiers.slope[k]
        v = frontiers.weight[i]
        w, u, t = ledger.linear[i] * v, ledger.square[i] * v * v, ledger.past[i] * v
        q = t * v
        if t == 0.0:
            continue  # the bends of unseen cells must not be used
        fc, fg = frontiers.far_cost[k], frontiers.far_gain[k]
        nc, ng = fc - frontiers.cost[k], fg - frontiers.gain[k]
        gg, gc, cc = fg * fg - ng * ng, fg * fc - ng * nc, fc * fc - nc * nc
        lg += w * (fg - ng)
        lc += w * (fc - nc)
        sg += u * (fg - ng)
        sc += u * (fc - nc)
        sgg += u * gg
        sgc += u * gc
        scc += u * cc
        pg += t * (fg - ng)
        pc += t * (fc - nc)
        qg += q * (fg - ng)
        qc += q * (fc - nc)
        qgg += q * gg
        qgc += q * gc
        qcc += q * cc
        # the sums need every steeper segment, also at prices outside the part
        if price >= aim.high:
            continue
        if price <= aim.low:
            break
        # both lists decrease, so that one pointer finds the kept prices on either side
        while ledger.prices[at + 1] > price:
            at += 1
        here = (ledger.prices[at] - price) / (ledger.prices[at] - ledger.prices[at + 1])
        error = ledger.expansion_error[at] + here * (
            ledger.expansion_error[at + 1] - ledger.expansion_error[at]
        )
        o = aim.budget * price - aim.delta
        # Σ λ²N (φ + o)² with φ = g − νc, multiplied out
        second = sgg - price * (2.0 * sgc - price * scc) + 2.0 * o * (sg - price * sc) + o * o * sa
        wealth = lg - price * lc + o * la - 0.5 * second + error
        total = pg - price * pc + o * pa
        if wealth < least - WEALTH_TOLERANCE or (
            wealth <= least + WEALTH_TOLERANCE and total < least_total
        ):
            # the gains of a lower price are no less than those in between
            least, least_total, top = wealth, total, ledger.top[at + 1]
            least_squares = (
                qgg - price * (2.0 * qgc - price * qcc) + 2.0 * o * (qg - price * qc) + o * o * qa
            )
    return least, max(least_squares, 0.0), least_total, top
