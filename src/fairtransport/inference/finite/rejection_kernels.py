"""Compiled betting against ψ <= δ: one path of stakes for all prices, aimed at the worst of them.

"ψ <= δ" says that *some* price ν in [0, δ/ε] has E Y_ν <= δ, where Y_ν = φ_ν + εν. It is rejected
when wealth reaches 1/α at every price, so each block of records is bet on as the price that is
farthest from it would like. What a stake may depend on: n, δ, α, the known limit of gains, and the
records of earlier blocks. The prices that are looked at are therefore 0, δ/ε and those at which the
gain of a cell bends *in which an earlier record was*.
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
"""Wealths that differ by less, as a share, are equal: then the smaller past mean decides."""
MAX_LOG_FACTOR = 700.0
"""The largest logarithm whose exponential is a number."""


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
    """An order's past by cell and by price, from which the next stake is chosen."""

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
        # Numba numbers parallel rounds unsigned: as they are, all below is compiled a second time
        _choose_stakes(int(np.int64(s)), orders, frontiers, aim, stakes)


@njit(cache=True)
def _choose_stakes(
    s: int, orders: Orders, frontiers: ObservedFrontiers, aim: Aim, stakes: FloatArray
) -> None:
    """Fill the stakes of one order.

    The loop's order is the proof: whatever a stake is made of was brought up to date by
    `_take_block` of the blocks before, so that λ is predictable, and at a price with E Y_ν <= δ
    every factor 1 + λ(Y_ν − δ) has a conditional mean of at most 1 (theory page, "Stakes against ψ
    <= δ"). That the stake is aimed at the worst price is for power alone; a stake of any size
    between 0 and ``aim.max_stake`` would be as valid.
    """
    blocks = stakes.shape[1]
    ledger = _open_ledger(len(frontiers.base), aim.n_prices)
    # `changed` makes the first block choose prices: the ends of the part, as nobody was seen
    n_prices, all_bends, changed, due = 0, True, True, 0
    for e in range(blocks):
        # seldom later on, so that looking back costs no more than a few passes
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
        # a past without any spread must not lead to a division by 0
        variance = max(variance, 1e-12 * aim.most_gain * aim.most_gain)
        drift, to_come = total / (aim.weight + n_past), max(orders.n - n_past, 1.0)
        stake = digital_stake(log_wealth, aim.alpha, aim.cushion, variance, to_come, drift)
        # .75/(δ − ε·low): the worst outcome, nobody gains at the lowest price, leaves a quarter
        stake = min(stake, aim.max_stake)
        stakes[s, e] = stake
        # only now are this block's records looked at
        changed = _take_block(orders, frontiers, aim, s, e, stake, n_prices, ledger) or changed


@njit(cache=True, inline="always")
def _prior_variance(aim: Aim, n_past: float, top: float) -> float:
    """Return the guess of E(Y − δ)² for gains as rare as their mean of about δ allows.

    The largest gain there can be loses weight as records show none of that size.
    """
    # δ may be next to the largest gain: a guess of 0 would ask for an endless stake
    most = max(aim.most_gain - aim.delta, 1e-3 * aim.most_gain)
    return float(0.5 * aim.delta * min(most, max(top, most * (1.0 + n_past) ** -PRIOR_FADE_POWER)))


@njit(cache=True)
def _open_ledger(cells: int, prices: int) -> Ledger:
    """Return an empty ledger with room for cells and prices.

    Rows of two arrays: compiled code allocates three times an order, not eleven.
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
    """Fill falling prices, end to end; return how many, and whether all bends are among them.

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
    # the two ends are always kept: wealth is known there whatever bends in between
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
    # prices fall and the cell's slopes fall: one pass over both together
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
    """Compute what is kept at new prices from the blocks before ``until``, from the first on."""
    for at in range(n_prices):
        # `linear` and `square` stay: they are sums by cell, whichever prices are looked at
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
        # stakes were laid already: the same bets are replayed at the new prices, none is made anew
        if stakes[s, e] > 0.0:
            _multiply_wealth(orders, s, e, stakes[s, e], n_prices, ledger)


@njit(cache=True, inline="always")
def _take_block(
    orders: Orders, frontiers: ObservedFrontiers, aim: Aim, s: int, e: int, stake: float,
    n_prices: int, ledger: Ledger,
) -> bool:  # fmt: skip
    """Take in the records of a block; return whether one was in a cell not seen before."""
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
            # an infinite factor times a wealth that underflowed to 0 would be no number
            ledger.wealth[at] *= math.exp(min(ledger.logs[at], MAX_LOG_FACTOR))


@njit(cache=True)
def _log_wealth(wealth: float) -> float:
    """Return the logarithm of a wealth that may have underflowed to 0."""
    return math.log(wealth) if wealth > 0.0 else -MAX_LOG_FACTOR


@njit(cache=True, inline="always")
def _find_least_wealth(n_prices: int, ledger: Ledger) -> tuple[float, float, float, float]:
    """Return log-wealth, Σ (Y − δ)², Σ (Y − δ) and the largest Y − δ where wealth is least.

    Before anything was staked the least past mean decides, and before that the lowest price.
    """
    best = 0
    for at in range(1, n_prices):
        here, least = ledger.wealth[at], ledger.wealth[best]
        # equal wealths differ by rounding, and which of them is taken must not depend on that
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
    """Compute what the expansion misses at the prices where wealth is kept."""
    for at in range(n_prices):
        # ∞ less a number would stay ∞, and interpolation between two of them be no number
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
    """Return the same for the bend of a cell seen so far where wealth is less still, if it is.

    One sweep over the segments in slope order gives Σ λN (Y − δ) − ½ Σ λ²N (Y − δ)², the
    log-wealth to second order, at every bend. What that misses is known at the prices where
    wealth is kept, and is interpolated between them.

    Which price a stake is aimed at needs no rigour: an approximate log-wealth will do here, and
    the wealth that decides is computed afterwards at all prices (`least_wealth`). Sums named
    ``l…`` weigh records by λw, ``s…`` by (λw)², ``p…`` by w, ``q…`` by w²; ``a`` counts, ``g``
    and ``c`` are gain and cost of the target that is best at the price, two letters their products.
    Passing a segment replaces its cell's near end (``nc``, ``ng``) by its far end (``fc``, ``fg``).
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
            continue  # a cell not seen yet must not show at which price it bends
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
        # the sums need every steeper segment, also of prices outside the part
        if price >= aim.high:
            continue
        if price <= aim.low:
            break
        # both lists fall, so that one pointer finds the kept prices on either side
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
