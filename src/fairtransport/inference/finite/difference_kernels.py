"""Compiled betting against Δ = ψ − ψ' <= d, from one sample that two audits share.

"Δ <= d" says that *some* price ν of the first audit has E Y_ν <= d + ψ', and E Y'_μ >= ψ' at
*every* price μ of the second. So the second audit's price is one path, chosen from the past, and
the bet is on Y_ν − Y'_μ; it must win at every price ν of the first. A price or a stake may depend
on n, d, α, the known limits of gains, and the records of earlier blocks; the candidate prices are
known ends and those at which the gain of a cell with an earlier record bends.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit, prange

from fairtransport.inference.finite.kernels import (
    MAX_MULTIPLIED_RECORDS,
    digital_stake,
    log_factor,
    net_gain,
)
from fairtransport.inference.finite.rejection_kernels import (
    MAX_LOG_FACTOR,
    choose_prices,
    fill_excess,
)

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray
    from fairtransport.inference.finite.rejection_kernels import Aim
    from fairtransport.inference.finite.sample import ObservedFrontiers, Orders

DENSE_PRICE_BLOCKS = 4
"""Number of first blocks, in each of which a price is chosen."""
PRIOR_VARIANCE_SHARE = 0.5
"""Prior guess of the variance of a difference, over the squared largest gain; with a smaller one,
stakes lose too much at the first difference that comes late."""


class OtherOutcomes(NamedTuple):
    """The second audit's part of a bet."""

    entries: FloatArray
    tops: FloatArray


class PairedLedger(NamedTuple):
    """An order's past by cell and by price, on which the next stake depends."""

    past: FloatArray
    prices: FloatArray
    excess: FloatArray
    wealth: FloatArray
    squares: FloatArray
    total: FloatArray
    logs: FloatArray


@njit(cache=True, parallel=True)
def fill_price_paths(
    orders: Orders,
    frontiers: ObservedFrontiers,
    budget: float,
    price_interval: int,
    prices: FloatArray,
) -> None:
    """Fill (orders, blocks) with the prices at which the past mean of Y'_μ is least."""
    for s in prange(len(prices)):
        # prange counts unsigned, which would compile everything below a second time
        _fill_price_path(int(np.int64(s)), orders, frontiers, budget, price_interval, prices)


@njit(cache=True)
def _fill_price_path(
    s: int, orders: Orders, frontiers: ObservedFrontiers, budget: float, price_interval: int,
    prices: FloatArray,
) -> None:  # fmt: skip
    """Fill the second audit's prices of one order, each from the blocks before it."""
    # the price before any records; nothing is staked on it
    past, total, price = np.zeros(len(frontiers.base)), 0.0, 0.0
    for e in range(prices.shape[1]):
        if e < DENSE_PRICE_BLOCKS or e % price_interval == 0:
            price = _find_least_mean_price(past, total, frontiers, budget)
        prices[s, e] = price
        for a in range(orders.start[s, e], orders.start[s, e + 1]):
            # after the price was stored: the price of a block depends on earlier blocks only
            mass = orders.records[a] * frontiers.weight[orders.cell[a]]
            past[orders.cell[a]] += mass
            total += mass


@njit(cache=True)
def _find_least_mean_price(
    past: FloatArray, total: float, frontiers: ObservedFrontiers, budget: float
) -> float:
    """Return the price with the least past mean of Y', where past costs equal the budget.

    The mean of Y'_μ has the derivative ε' − (cost of the best targets at μ): it is least where the
    sign changes. A better price wins more, a worse one is as valid.
    """
    cost = 0.0
    # unseen cells have past 0 and add nothing, so that their bends are not used
    for k in range(len(frontiers.row)):
        cost += past[frontiers.row[k]] * frontiers.cost[k]
        if cost > budget * total:
            return float(frontiers.slope[k])
    return 0.0


@njit(cache=True, parallel=True)
def fill_other_outcomes(
    orders: Orders, frontiers: ObservedFrontiers, budget: float, prices: FloatArray,
    entries: FloatArray,
) -> None:  # fmt: skip
    """Fill Y'_μ of every entry at its block's price; only free moves count without a budget."""
    for s in prange(len(prices)):
        for e in range(prices.shape[1]):
            price = prices[s, e]
            for a in range(orders.start[s, e], orders.start[s, e + 1]):
                i = orders.cell[a]
                if budget == 0.0:
                    # without a budget only free moves are allowed, at any price
                    entries[a] = frontiers.base[i]
                else:
                    entries[a] = budget * price + net_gain(
                        i, price, frontiers.first, frontiers.own_cost, frontiers.own_gain,
                        frontiers.own_slope, frontiers.base,
                    )  # fmt: skip


@njit(cache=True, parallel=True)
def fill_paired_stakes(
    orders: Orders, frontiers: ObservedFrontiers, aim: Aim, others: FloatArray, tops: FloatArray,
    stakes: FloatArray,
) -> None:  # fmt: skip
    """Fill the stakes of each order."""
    for s in prange(len(stakes)):
        # prange counts unsigned, which would compile everything below a second time
        _choose_stakes(int(np.int64(s)), orders, frontiers, aim, others, tops, stakes)


@njit(cache=True)
def _choose_stakes(
    s: int, orders: Orders, frontiers: ObservedFrontiers, aim: Aim, others: FloatArray,
    tops: FloatArray, stakes: FloatArray,
) -> None:  # fmt: skip
    """Fill the stakes of one order.

    Under "Δ <= d" the mean of Y_ν* − Y'_μ − d given earlier blocks is at most 0, for any μ and λ >=
    0 chosen from them: wealth at ν* has a mean of at most 1 (theory page, "Differences of two
    audits").
    """
    blocks = stakes.shape[1]
    ledger = _open_ledger(len(frontiers.base), aim.n_prices)
    n_prices, all_bends, changed, due = 0, True, True, 0
    for e in range(blocks):
        # rarely later on, so that replays cost no more than a few passes
        if e >= due and (changed or not all_bends):
            n_prices, all_bends = choose_prices(ledger.past, frontiers, aim, ledger.prices)
            _reset_prices(frontiers, aim, n_prices, ledger)
            _replay_blocks(orders, others, s, e, stakes, n_prices, ledger)
            changed, due = False, e + max(1, e // 2)
        worst = _find_least_wealth(n_prices, ledger)
        # wealth is positive, but may underflow
        log_wealth = (
            math.log(ledger.wealth[worst]) if ledger.wealth[worst] > 0.0 else -MAX_LOG_FACTOR
        )
        if orders.n_before[s, e] == 0.0:
            # nothing is known of the second audit's price before the first records
            stake = 0.0
        else:
            stake = _choose_stake(orders.n_before[s, e], orders.n, aim, log_wealth, worst, ledger)
            # the worst case: the largest outcome of the second audit, and ε times the part's lowest
            # price for the first. Even then the factor is 1 − cap; all of it is known beforehand.
            reach = aim.delta + tops[s, e] - aim.budget * aim.low
            stake = min(stake, aim.max_stake / max(reach, 1e-9 * aim.most_gain))
        # from here on the block's records may be used
        stakes[s, e] = stake
        changed = _take_block(orders, frontiers, aim, s, e, n_prices, ledger) or changed
        _multiply_wealth(orders, others, s, e, stake, n_prices, ledger)


@njit(cache=True)
def _choose_stake(
    n_past: float, n: int, aim: Aim, log_wealth: float, worst: int, ledger: PairedLedger
) -> float:
    """Return the stake of a block before it is capped.

    The prior guess of the variance, ``PRIOR_VARIANCE_SHARE`` of the largest gain squared, is
    deliberately large: a sample's first differences may come late, and a stake for a small variance
    would then lose most at the first of them.
    """
    prior = PRIOR_VARIANCE_SHARE * aim.most_gain * aim.most_gain
    variance = (aim.weight * prior + ledger.squares[worst]) / (aim.weight + n_past)
    drift, to_come = ledger.total[worst] / (aim.weight + n_past), max(n - n_past, 1.0)
    return digital_stake(log_wealth, aim.alpha, aim.cushion, variance, to_come, drift)


@njit(cache=True)
def _open_ledger(cells: int, prices: int) -> PairedLedger:
    """Return an empty ledger with room for cells and prices.

    Rows of one array, so that compiled code allocates once per order.
    """
    by_price = np.zeros((5, prices))
    return PairedLedger(
        np.zeros(cells), by_price[0], np.zeros((cells, prices)), by_price[1], by_price[2],
        by_price[3], by_price[4],
    )  # fmt: skip


@njit(cache=True)
def _reset_prices(
    frontiers: ObservedFrontiers, aim: Aim, n_prices: int, ledger: PairedLedger
) -> None:
    """Begin at new prices, without bets so far, with the cells seen so far."""
    for at in range(n_prices):
        ledger.wealth[at], ledger.squares[at], ledger.total[at] = 1.0, 0.0, 0.0
    for i in range(len(ledger.past)):
        if ledger.past[i] > 0.0:
            fill_excess(i, frontiers, aim, n_prices, ledger.prices, ledger.excess)


@njit(cache=True)
def _replay_blocks(
    orders: Orders, others: FloatArray, s: int, until: int, stakes: FloatArray, n_prices: int,
    ledger: PairedLedger,
) -> None:  # fmt: skip
    """Replay the blocks before ``until``.

    Prices change as cells are seen, stakes do not: the same bets are replayed at the new prices.
    """
    for e in range(until):
        _multiply_wealth(orders, others, s, e, stakes[s, e], n_prices, ledger)


@njit(cache=True)
def _take_block(
    orders: Orders, frontiers: ObservedFrontiers, aim: Aim, s: int, e: int, n_prices: int,
    ledger: PairedLedger,
) -> bool:  # fmt: skip
    """Store the cells of a block's records; return whether any is new."""
    changed = False
    for a in range(orders.start[s, e], orders.start[s, e + 1]):
        i = orders.cell[a]
        if ledger.past[i] == 0.0:
            fill_excess(i, frontiers, aim, n_prices, ledger.prices, ledger.excess)
            changed = True
        ledger.past[i] += orders.records[a]
    return changed


@njit(cache=True)
def _multiply_wealth(
    orders: Orders,
    others: FloatArray,
    s: int,
    e: int,
    stake: float,
    n_prices: int,
    ledger: PairedLedger,
) -> None:
    """Store a block's records, and multiply wealth by their factors.

    Factors of many records at once are multiplied by their logarithms. Wealth may overflow to
    infinity, which is won, or underflow to 0, which is lost.
    """
    several = False
    ledger.logs[:n_prices] = 0.0
    for a in range(orders.start[s, e], orders.start[s, e + 1]):
        i, count = orders.cell[a], orders.records[a]
        several = several or count > MAX_MULTIPLIED_RECORDS
        for at in range(n_prices):
            # Y_ν − d − Y'_μ: the second audit's price is that of the block, so it belongs to the
            # entry
            x = ledger.excess[i, at] - others[a]
            ledger.squares[at] += count * x * x
            ledger.total[at] += count * x
            if stake > 0.0 and count <= MAX_MULTIPLIED_RECORDS:
                for _ in range(int(count)):
                    ledger.wealth[at] *= 1.0 + stake * x
            elif stake > 0.0:
                ledger.logs[at] += count * log_factor(stake * x)
    if several:
        for at in range(n_prices):
            # an infinite factor times an underflowed wealth of 0 would be NaN
            ledger.wealth[at] *= math.exp(min(ledger.logs[at], MAX_LOG_FACTOR))


@njit(cache=True)
def _find_least_wealth(n_prices: int, ledger: PairedLedger) -> int:
    """Return the index of the least wealth; before any stake, of the least past mean."""
    best = 0
    for at in range(1, n_prices):
        here, least = ledger.wealth[at], ledger.wealth[best]
        if here < least or (here == least and ledger.total[at] <= ledger.total[best]):
            best = at
    return best
