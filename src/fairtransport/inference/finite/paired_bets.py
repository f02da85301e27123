"""Compiled betting against Δ = ψ − ψ' <= d, from one sample that two audits share.

"Δ <= d" says that *some* price ν of the first audit has E Y_ν <= d + ψ', and E Y'_μ >= ψ' at
*every* price μ of the second. So the second audit's price is one path, chosen from the past, and
the bet is on Y_ν − Y'_μ; it must win at every price ν of the first. What a price or a stake may
depend on: n, d, α, the known limits of gains, and the records of earlier blocks; the prices that
are looked at are ends that are known and those at which the gain of a cell bends in which an
earlier record was.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit, prange

from fairtransport.inference.finite.bets import (
    FEW,
    GIVEN_UP,
    digital_stake,
    log_factor,
    net_gain,
)
from fairtransport.inference.finite.rejection_bets import MOST_LOG, choose_prices, lay_out

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.inference.finite.observed_frontiers import ObservedFrontiers
    from fairtransport.inference.finite.orders import Orders
    from fairtransport.inference.finite.plans import Stakes
    from fairtransport.inference.finite.rejection_bets import Aim

OFTEN = 4
"""Blocks at the start in each of which a price is chosen."""
GUESS = 0.5
"""The variance of a difference that is guessed beforehand, over the squared largest gain; stakes
that hope for less lose too much at the first difference that comes late."""


class Paid(NamedTuple):
    """The second audit's part of a bet.

    Attributes
    ----------
    entries
        For each entry of the orders, Y'_μ of its cell at its block's price.
    tops
        (orders, blocks) the most that Y'_μ − Y_0 can be at that price, known before the data.
    """

    entries: FloatArray
    tops: FloatArray


class Ledger(NamedTuple):
    """What one order knows of its past, from which the next stake is chosen.

    Attributes
    ----------
    past
        By cell: the records so far.
    prices, excess
        The prices that wealth is kept at, falling, and Y_ν − d of each cell seen there.
    wealth, squares, total
        At these prices: the wealth, Σ x² and Σ x of x = Y_ν − Y'_μ − d.
    logs
        Room for the logarithms of a block's factors.
    """

    past: FloatArray
    prices: FloatArray
    excess: FloatArray
    wealth: FloatArray
    squares: FloatArray
    total: FloatArray
    logs: FloatArray


@njit(cache=True, parallel=True)
def price_paths(
    orders: Orders, frontiers: ObservedFrontiers, budget: float, every: int, prices: FloatArray
) -> None:
    """Fill (orders, blocks) with the prices at which the past mean of Y'_μ is least.

    Parameters
    ----------
    orders
        The random orders of the sample.
    frontiers
        Those of the second audit.
    budget
        The second audit's ε, positive.
    every
        For how many blocks a price is kept.
    prices
        Filled.
    """
    for s in prange(len(prices)):
        # Numba numbers parallel rounds unsigned: as they are, all below is compiled a second time
        _follow(int(np.int64(s)), orders, frontiers, budget, every, prices)


@njit(cache=True)
def _follow(
    s: int, orders: Orders, frontiers: ObservedFrontiers, budget: float, every: int,
    prices: FloatArray,
) -> None:  # fmt: skip
    """Fill the second audit's prices of one order, each from the blocks before it.

    Parameters
    ----------
    s
        The order.
    orders, frontiers, budget, every
        As in `price_paths`.
    prices
        Row ``s`` is filled.
    """
    # the price before anybody was seen; no stake is laid on it
    past, price = np.zeros(len(frontiers.base)), 0.0
    for e in range(prices.shape[1]):
        if e < OFTEN or e % every == 0:
            price = _least_mean(past, orders.before[s, e], frontiers, budget)
        prices[s, e] = price
        for a in range(orders.start[s, e], orders.start[s, e + 1]):
            # after the price was written down: the price of a block knows earlier blocks alone
            past[orders.cell[a]] += orders.number[a]


@njit(cache=True)
def _least_mean(
    past: FloatArray, seen: float, frontiers: ObservedFrontiers, budget: float
) -> float:
    """Return the price at which the past mean of Y' is least: the past costs the budget there.

    Parameters
    ----------
    past
        By cell: earlier records.
    seen
        Their number.
    frontiers
        Those of the second audit, segments steepest first.
    budget
        Its ε.

    Returns
    -------
    float
        The first slope at which spending has passed the budget, 0 if it never does or nobody was
        seen yet.

    Notes
    -----
    The mean of Y'_μ has the derivative ε' − (cost of the targets that are best at μ): it is least
    where that changes its sign. A better price is worth more, a worse one is as valid.
    """
    cost = 0.0
    # cells that were not seen have past 0 and add nothing, so that their bends stay unknown
    for k in range(len(frontiers.row)):
        cost += past[frontiers.row[k]] * frontiers.cost[k]
        if cost > budget * seen:
            return float(frontiers.slope[k])
    return 0.0


@njit(cache=True, parallel=True)
def outcomes_paid(
    orders: Orders, frontiers: ObservedFrontiers, budget: float, prices: FloatArray,
    entries: FloatArray,
) -> None:  # fmt: skip
    """Fill Y'_μ of every entry at its block's price; only free moves count without a budget.

    Parameters
    ----------
    orders, frontiers, budget
        The random orders; the second audit's frontiers and ε.
    prices
        (orders, blocks) μ.
    entries
        By entry of the orders, filled.
    """
    for s in prange(len(prices)):
        for e in range(prices.shape[1]):
            price = prices[s, e]
            for a in range(orders.start[s, e], orders.start[s, e + 1]):
                i = orders.cell[a]
                if budget == 0.0:
                    # no budget: only free moves are allowed, and the price plays no part
                    entries[a] = frontiers.base[i]
                else:
                    entries[a] = budget * price + net_gain(
                        i, price, frontiers.first, frontiers.own_cost, frontiers.own_gain,
                        frontiers.own_slope, frontiers.base,
                    )  # fmt: skip


@njit(cache=True, parallel=True)
def paired_stakes(
    orders: Orders, frontiers: ObservedFrontiers, aim: Aim, paid: FloatArray, tops: FloatArray,
    held: Stakes, stakes: FloatArray, given_up: IntArray,
) -> None:  # fmt: skip
    """Fill the stakes of each order, and the block in which it was given up, if it was.

    Parameters
    ----------
    orders
        The random orders of the sample.
    frontiers
        Those of the first audit, whose prices must all be won at.
    aim
        What the stakes are for; its ``delta`` is d, its ``most`` the share of wealth that a
        record may lose.
    paid, tops
        What the second audit takes from each entry, and the most that it can take.
    held
        Stakes that are laid as long as they last.
    stakes, given_up
        Filled.
    """
    for s in prange(len(stakes)):
        # Numba numbers parallel rounds unsigned: as they are, all below is compiled a second time
        given_up[s] = _bet_on(int(np.int64(s)), orders, frontiers, aim, paid, tops, held, stakes)


@njit(cache=True)
def _bet_on(
    s: int, orders: Orders, frontiers: ObservedFrontiers, aim: Aim, paid: FloatArray,
    tops: FloatArray, held: Stakes, stakes: FloatArray,
) -> int:  # fmt: skip
    """Fill the stakes of one order; return the block in which it was given up.

    Parameters
    ----------
    s
        The order.
    orders, frontiers, aim, paid, tops, held
        As in `paired_stakes`.
    stakes
        Row ``s`` is filled.

    Returns
    -------
    int
        The first block before which wealth at some price had fallen to ``GIVEN_UP``, else the
        number of blocks.

    Notes
    -----
    Under "Δ <= d" the mean of Y_ν* − Y'_μ − d given earlier blocks is at most 0, whatever μ and
    λ >= 0 were chosen from them: wealth at ν* has a mean of at most 1 (theory page, "Differences of
    two audits").
    """
    blocks = stakes.shape[1]
    ledger = _open_ledger(len(frontiers.base), aim.prices)
    many, all_bends, changed, due, given_up = 0, True, True, 0, blocks
    for e in range(blocks):
        # seldom later on, so that looking back costs no more than a few passes
        if e >= due and (changed or not all_bends):
            many, all_bends = choose_prices(ledger.past, frontiers, aim, ledger.prices)
            _start_anew(frontiers, aim, many, ledger)
            _replay(orders, paid, s, e, stakes, many, ledger)
            changed, due = False, e + max(1, e // 2)
        worst = _farthest(many, ledger)
        # wealth itself is positive, its float may not be
        log_wealth = math.log(ledger.wealth[worst]) if ledger.wealth[worst] > 0.0 else -MOST_LOG
        if log_wealth < GIVEN_UP:
            given_up = min(given_up, e)
        if e < held.until[s]:
            # laid by a run with the same past up to here, so predictable here as well
            stake = held.values[s, e]
        elif orders.before[s, e] == 0.0 or (aim.gives_up and given_up < blocks):
            # nothing is known of the second audit's price before the first records
            stake = 0.0
        else:
            stake = _stake(orders.before[s, e], orders.n, aim, log_wealth, worst, ledger)
            # the worst that can come: the second audit takes its most, and the first one gives no
            # more than ε times the part's lowest price. The factor is then still 1 − cap; known
            # beforehand.
            reach = aim.delta + tops[s, e] - aim.budget * aim.low
            stake = min(stake, aim.most / max(reach, 1e-9 * aim.most_gain))
        # from here on the block's records may be looked at
        stakes[s, e] = stake
        changed = _meet(orders, frontiers, aim, s, e, many, ledger) or changed
        _count(orders, paid, s, e, stake, many, ledger)
    return int(given_up)


@njit(cache=True)
def _stake(seen: float, n: int, aim: Aim, log_wealth: float, worst: int, ledger: Ledger) -> float:
    """Return the stake of a block before it is capped.

    Parameters
    ----------
    seen, n
        How many records came before, and how many there are.
    aim
        What the stakes are for.
    log_wealth
        The least log-wealth over the prices.
    worst
        Where among the kept prices that is.
    ledger
        The order's past.

    Notes
    -----
    The prior guess of the variance, ``GUESS`` of the largest gain squared, is wide on purpose: a
    sample's first differences may be long in coming, and a stake that took their absence for a
    small variance would lose most at the first of them.
    """
    prior = GUESS * aim.most_gain * aim.most_gain
    variance = (aim.weight * prior + ledger.squares[worst]) / (aim.weight + seen)
    drift, left = ledger.total[worst] / (aim.weight + seen), max(n - seen, 1.0)
    return digital_stake(log_wealth, aim.alpha, aim.cushion, variance, left, drift)


@njit(cache=True)
def _open_ledger(cells: int, prices: int) -> Ledger:
    """Return an empty ledger with room for cells and prices.

    One array is cut into rows: compiled code allocates once an order.
    """
    by_price = np.zeros((5, prices))
    return Ledger(
        np.zeros(cells), by_price[0], np.zeros((cells, prices)), by_price[1], by_price[2],
        by_price[3], by_price[4],
    )  # fmt: skip


@njit(cache=True)
def _start_anew(frontiers: ObservedFrontiers, aim: Aim, many: int, ledger: Ledger) -> None:
    """Begin at new prices, at which nothing was bet yet, with the cells that were seen.

    Parameters
    ----------
    frontiers, aim
        As in `paired_stakes`.
    many
        How many prices there are now.
    ledger
        Changed in place.
    """
    for at in range(many):
        ledger.wealth[at], ledger.squares[at], ledger.total[at] = 1.0, 0.0, 0.0
    for i in range(len(ledger.past)):
        if ledger.past[i] > 0.0:
            lay_out(i, frontiers, aim, many, ledger.prices, ledger.excess)


@njit(cache=True)
def _replay(
    orders: Orders, paid: FloatArray, s: int, until: int, stakes: FloatArray, many: int,
    ledger: Ledger,
) -> None:  # fmt: skip
    """Count the blocks before ``until`` again, from the first on.

    Prices move as cells are met, stakes do not: the same bets are replayed at the new prices.

    Parameters
    ----------
    orders, paid
        As in `paired_stakes`.
    s, until
        The order, and the block that is about to be bet on.
    stakes
        Those laid so far.
    many
        How many prices are kept.
    ledger
        Changed in place.
    """
    for e in range(until):
        _count(orders, paid, s, e, stakes[s, e], many, ledger)


@njit(cache=True)
def _meet(
    orders: Orders, frontiers: ObservedFrontiers, aim: Aim, s: int, e: int, many: int,
    ledger: Ledger,
) -> bool:  # fmt: skip
    """Note the cells of a block's records; return whether one was not seen before.

    Parameters
    ----------
    orders, frontiers, aim
        As in `paired_stakes`.
    s, e
        The order and the block.
    many
        How many prices are kept.
    ledger
        Changed in place.
    """
    changed = False
    for a in range(orders.start[s, e], orders.start[s, e + 1]):
        i = orders.cell[a]
        if ledger.past[i] == 0.0:
            lay_out(i, frontiers, aim, many, ledger.prices, ledger.excess)
            changed = True
        ledger.past[i] += orders.number[a]
    return changed


@njit(cache=True)
def _count(
    orders: Orders, paid: FloatArray, s: int, e: int, stake: float, many: int, ledger: Ledger
) -> None:
    """Count a block's records, and multiply wealth by their factors.

    Factors of many records at once are multiplied by their logarithms. Wealth may overflow to
    infinity, which is won, or underflow to 0, which is lost.

    Parameters
    ----------
    orders, paid
        The records, and what the second audit takes from each entry.
    s, e
        The order and the block.
    stake
        What was staked on it; without any, only sums change.
    many
        How many prices are kept.
    ledger
        Changed in place.
    """
    several = False
    ledger.logs[:many] = 0.0
    for a in range(orders.start[s, e], orders.start[s, e + 1]):
        i, count = orders.cell[a], orders.number[a]
        several = several or count > FEW
        for at in range(many):
            # Y_ν − d − Y'_μ: the second audit's price is that of the block, so it belongs to the
            # entry
            x = ledger.excess[i, at] - paid[a]
            ledger.squares[at] += count * x * x
            ledger.total[at] += count * x
            if stake > 0.0 and count <= FEW:
                for _ in range(int(count)):
                    ledger.wealth[at] *= 1.0 + stake * x
            elif stake > 0.0:
                ledger.logs[at] += count * log_factor(stake * x)
    if several:
        for at in range(many):
            # an infinite factor times a wealth that underflowed to 0 would be no number
            ledger.wealth[at] *= math.exp(min(ledger.logs[at], MOST_LOG))


@njit(cache=True)
def _farthest(many: int, ledger: Ledger) -> int:
    """Return where wealth is least; before anything was staked the least past mean decides.

    Parameters
    ----------
    many
        How many prices are kept.
    ledger
        The order's past.

    Returns
    -------
    int
        An index into the falling prices; of equals the lowest price.
    """
    best = 0
    for at in range(1, many):
        here, least = ledger.wealth[at], ledger.wealth[best]
        if here < least or (here == least and ledger.total[at] <= ledger.total[best]):
            best = at
    return best
