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

from fairtransport.inference.finite.bets import FEW, GIVEN_UP, digital_stake, log_factor

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.inference.finite.observed_frontiers import ObservedFrontiers
    from fairtransport.inference.finite.orders import Orders
    from fairtransport.inference.finite.plans import Stakes

FADE = 0.5
"""The power of the number of records seen with which the prior guess of a variance fades."""
TIE = 1e-12
"""Wealths that differ by less, as a share, are equal: then the smaller past mean decides."""
MOST_LOG = 700.0
"""The largest logarithm whose exponential is a number."""


class Aim(NamedTuple):
    """What a path of stakes is for.

    Attributes
    ----------
    delta, alpha, cushion
        The threshold, the level, and how closely wealth is aimed at it.
    budget, most_gain
        ε (0 where only free moves matter) and the largest gain there can be.
    low, high
        The part of the prices that the stakes are for.
    weight
        The records that the prior guess of a variance counts for.
    most
        The largest stake.
    prices
        How many prices are looked at, at the most.
    gives_up
        Whether an order that is as good as lost stakes nothing any more.
    """

    delta: float
    alpha: float
    cushion: float
    budget: float
    most_gain: float
    low: float
    high: float
    weight: float
    most: float
    prices: int
    gives_up: bool


class Book(NamedTuple):
    """What one order knows of its past, from which the next stake is chosen.

    Attributes
    ----------
    past, linear, square
        By cell: Σ N, Σ λN and Σ λ²N over the blocks so far, N the records in it.
    prices, excess
        The prices that wealth is kept at, falling, and Y_ν − δ of each cell seen there.
    wealth, squares, total, top, missed
        At these prices: the wealth, Σ (Y − δ)², Σ (Y − δ), the largest Y − δ, and what the
        expansion of the wealth's logarithm to second order misses.
    logs
        Room for the logarithms of a block's factors.
    """

    past: FloatArray
    linear: FloatArray
    square: FloatArray
    prices: FloatArray
    excess: FloatArray
    wealth: FloatArray
    squares: FloatArray
    total: FloatArray
    top: FloatArray
    missed: FloatArray
    logs: FloatArray


@njit(cache=True, parallel=True)
def rejection_stakes(
    orders: Orders, frontiers: ObservedFrontiers, aim: Aim, held: Stakes, stakes: FloatArray,
    given_up: IntArray,
) -> None:  # fmt: skip
    """Fill the stakes of each order, and the block in which it was given up, if it was.

    Parameters
    ----------
    orders
        The random orders of the sample.
    frontiers
        The frontiers of occupied cells.
    aim
        What the stakes are for.
    held
        Stakes that are laid as long as they last; with ``until`` 0 there are none.
    stakes, given_up
        Filled. Orders run side by side: none looks at another.
    """
    for s in prange(len(stakes)):
        # Numba numbers parallel rounds unsigned: as they are, all below is compiled a second time
        given_up[s] = _bet_on(int(np.int64(s)), orders, frontiers, aim, held, stakes)


@njit(cache=True)
def _bet_on(
    s: int, orders: Orders, frontiers: ObservedFrontiers, aim: Aim, held: Stakes,
    stakes: FloatArray,
) -> int:  # fmt: skip
    """Fill the stakes of one order; return the block in which it was given up.

    Parameters
    ----------
    s
        The order.
    orders, frontiers, aim, held
        As in `rejection_stakes`.
    stakes
        Row ``s`` is filled.

    Returns
    -------
    int
        The first block before which wealth at some price had fallen to ``GIVEN_UP``, else the
        number of blocks.

    Notes
    -----
    The loop's order is the proof: whatever a stake is made of was brought up to date by `_play`
    of the blocks before, so that λ is predictable, and at a price with E Y_ν <= δ every factor
    1 + λ(Y_ν − δ) has a conditional mean of at most 1 (theory page, "Stakes against ψ <= δ").
    That the stake is aimed at the worst price is for power alone; a stake of any size between 0
    and ``aim.most`` would be as valid.
    """
    blocks = stakes.shape[1]
    book = _open_book(len(frontiers.base), aim.prices)
    # `changed` makes the first block choose prices: the ends of the part, as nobody was seen
    many, all_bends, changed, due, given_up = 0, True, True, 0, blocks
    for e in range(blocks):
        # seldom later on, so that looking back costs no more than a few passes
        if e >= due and (changed or not all_bends):
            many, all_bends = choose_prices(book.past, frontiers, aim, book.prices)
            _take_stock(orders, frontiers, aim, s, e, stakes, many, book)
            changed, due = False, e + max(1, e // 2)
        log_wealth, squares, total, top = _farthest(many, book)
        # with all bends among the kept prices the least wealth is at one of them, and is exact
        if not all_bends:
            log_wealth, squares, total, top = _farthest_bend(
                many, book, frontiers, aim, log_wealth, squares, total, top
            )
        # noted even where stakes are held or go on: other tests read it as the end of these stakes
        if log_wealth < GIVEN_UP:
            given_up = min(given_up, e)
        if e < held.until[s]:
            # laid by a run with the same past up to here, so predictable here as well
            stake = held.values[s, e]
        elif aim.gives_up and given_up < blocks:
            stake = 0.0
        else:
            seen = orders.before[s, e]
            prior = _prior_variance(aim, seen, top)
            variance = (aim.weight * prior + squares) / (aim.weight + seen)
            # a past without any spread must not lead to a division by 0
            variance = max(variance, 1e-12 * aim.most_gain * aim.most_gain)
            drift, left = total / (aim.weight + seen), max(orders.n - seen, 1.0)
            stake = digital_stake(log_wealth, aim.alpha, aim.cushion, variance, left, drift)
            # .75/(δ − ε·low): the worst outcome, nobody gains at the lowest price, leaves a quarter
            stake = min(stake, aim.most)
        stakes[s, e] = stake
        # only now are this block's records looked at
        changed = _play(orders, frontiers, aim, s, e, stake, many, book) or changed
    return int(given_up)


@njit(cache=True, inline="always")
def _prior_variance(aim: Aim, seen: float, top: float) -> float:
    """Return the guess of E(Y − δ)² for gains as rare as their mean of about δ allows.

    The largest gain there can be loses weight as records show none of that size.

    Parameters
    ----------
    aim
        The threshold and the largest gain G.
    seen
        How many records came before.
    top
        The largest Y − δ among them.

    Returns
    -------
    float
        ½δ · min(G − δ, max(top, (G − δ)/√(1 + seen))).
    """
    # δ may be next to the largest gain: a guess of 0 would ask for an endless stake
    most = max(aim.most_gain - aim.delta, 1e-3 * aim.most_gain)
    return float(0.5 * aim.delta * min(most, max(top, most * (1.0 + seen) ** -FADE)))


@njit(cache=True)
def _open_book(cells: int, prices: int) -> Book:
    """Return an empty book with room for cells and prices.

    Rows of two arrays: compiled code allocates three times an order, not eleven.
    """
    by_cell, by_price = np.zeros((3, cells)), np.zeros((7, prices))
    return Book(
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

    Parameters
    ----------
    past
        By cell: earlier records. Bends of other cells are passed over, since at which price a
        cell bends tells that somebody is in it.
    frontiers
        The frontiers of occupied cells, segments steepest first.
    aim
        The ends of the part, and the budget.
    prices
        Filled; its length is the most that are kept.

    Returns
    -------
    many
        How many prices there are; 1 without a budget, where ν plays no part.
    all_bends
        Whether no bend was left out. Then wealth, log-concave between bends, is least at one of
        these prices.
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
def lay_out(
    i: int, frontiers: ObservedFrontiers, aim: Aim, many: int, prices: FloatArray,
    excess: FloatArray,
) -> None:  # fmt: skip
    """Fill Y_ν − δ of cell i at the falling prices.

    Parameters
    ----------
    i
        The cell.
    frontiers, aim
        Its segments; the budget and the threshold.
    many, prices
        The prices, falling.
    excess
        (cells, prices), row i is filled.
    """
    # prices fall and the cell's slopes fall: one pass over both together
    k, end = frontiers.first[i], frontiers.first[i + 1]
    cost, gain = 0.0, frontiers.base[i]
    for at in range(many):
        price = prices[at]
        while k < end and frontiers.own_slope[k] > price:
            cost, gain = frontiers.own_cost[k], frontiers.own_gain[k]
            k += 1
        # φ_ν = gain − ν · cost of the target that is best at ν; Y_ν = φ_ν + εν
        excess[i, at] = gain - price * cost + aim.budget * price - aim.delta


@njit(cache=True)
def _take_stock(
    orders: Orders, frontiers: ObservedFrontiers, aim: Aim, s: int, until: int,
    stakes: FloatArray, many: int, book: Book,
) -> None:  # fmt: skip
    """Compute what is kept at new prices from the blocks before ``until``, from the first on.

    Parameters
    ----------
    orders, frontiers, aim
        As in `rejection_stakes`.
    s, until
        The order, and the block that is about to be bet on.
    stakes
        Those laid so far; they stay as they are, whichever prices are looked at.
    many
        How many prices there are now.
    book
        Changed in place.
    """
    for at in range(many):
        # `linear` and `square` stay: they are sums by cell, whichever prices are looked at
        book.wealth[at], book.squares[at], book.total[at], book.top[at] = 1.0, 0.0, 0.0, 0.0
    for i in range(len(book.past)):
        if book.past[i] > 0.0:
            lay_out(i, frontiers, aim, many, book.prices, book.excess)
            for at in range(many):
                x = book.excess[i, at]
                book.squares[at] += book.past[i] * x * x
                book.total[at] += book.past[i] * x
                book.top[at] = max(book.top[at], x)
    for e in range(until):
        # stakes were laid already: the same bets are replayed at the new prices, none is made anew
        if stakes[s, e] > 0.0:
            _multiply(orders, s, e, stakes[s, e], many, book)


@njit(cache=True, inline="always")
def _play(
    orders: Orders, frontiers: ObservedFrontiers, aim: Aim, s: int, e: int, stake: float,
    many: int, book: Book,
) -> bool:  # fmt: skip
    """Take in the records of a block; return whether one was in a cell not seen before.

    Parameters
    ----------
    orders, frontiers, aim
        As in `rejection_stakes`.
    s, e
        The order and the block.
    stake
        What was staked on it.
    many
        How many prices are kept.
    book
        Changed in place.
    """
    changed = False
    for a in range(orders.start[s, e], orders.start[s, e + 1]):
        i, count = orders.cell[a], orders.number[a]
        if book.past[i] == 0.0:
            lay_out(i, frontiers, aim, many, book.prices, book.excess)
            changed = True
        # a cell's first record shows at which prices it bends; from the next block on that may be
        # used
        book.past[i] += count
        book.linear[i] += stake * count
        book.square[i] += stake * stake * count
        for at in range(many):
            x = book.excess[i, at]
            book.squares[at] += count * x * x
            book.total[at] += count * x
            book.top[at] = max(book.top[at], x)
    if stake > 0.0:
        _multiply(orders, s, e, stake, many, book)
    return changed


@njit(cache=True, inline="always")
def _multiply(orders: Orders, s: int, e: int, stake: float, many: int, book: Book) -> None:
    """Multiply wealth by a block's factors; those of many records at once by their logarithms.

    Wealth may overflow to infinity, which is won, or underflow to 0, which is lost.

    Parameters
    ----------
    orders
        The records.
    s, e
        The order and the block.
    stake
        What was staked on it, positive.
    many
        How many prices are kept.
    book
        Its wealth is changed in place.
    """
    several = False
    for a in range(orders.start[s, e], orders.start[s, e + 1]):
        i, count = orders.cell[a], orders.number[a]
        # prices are the inner loop: they lie side by side in memory, and the loop is vectorised
        if count <= FEW:
            for _ in range(int(count)):
                for at in range(many):
                    book.wealth[at] *= 1.0 + stake * book.excess[i, at]
        else:
            if not several:
                book.logs[:many] = 0.0
                several = True
            for at in range(many):
                book.logs[at] += count * log_factor(stake * book.excess[i, at])
    if several:
        for at in range(many):
            # an infinite factor times a wealth that underflowed to 0 would be no number
            book.wealth[at] *= math.exp(min(book.logs[at], MOST_LOG))


@njit(cache=True)
def _log(wealth: float) -> float:
    """Return the logarithm of a wealth that may have underflowed to 0."""
    return math.log(wealth) if wealth > 0.0 else -MOST_LOG


@njit(cache=True, inline="always")
def _farthest(many: int, book: Book) -> tuple[float, float, float, float]:
    """Return log-wealth, Σ (Y − δ)², Σ (Y − δ) and the largest Y − δ where wealth is least.

    Before anything was staked the least past mean decides, and before that the lowest price.

    Parameters
    ----------
    many
        How many prices are kept.
    book
        The order's past.
    """
    best = 0
    for at in range(1, many):
        here, least = book.wealth[at], book.wealth[best]
        # equal wealths differ by rounding, and which of them is taken must not depend on that
        close = abs(here - least) <= TIE * least
        if (here < least and not close) or (close and book.total[at] <= book.total[best]):
            best = at
    return _log(book.wealth[best]), book.squares[best], book.total[best], book.top[best]


@njit(cache=True)
def _note_missed(many: int, book: Book) -> None:
    """Compute what the expansion misses at the prices where wealth is kept.

    Parameters
    ----------
    many
        How many prices are kept.
    book
        Its ``missed`` is filled: log W − (Σ λN x − ½ Σ λ²N x²), x = Y_ν − δ.
    """
    for at in range(many):
        # ∞ less a number would stay ∞, and interpolation between two of them be no number
        book.missed[at] = min(_log(book.wealth[at]), MOST_LOG)
    for i in range(len(book.past)):
        if book.linear[i] > 0.0:
            for at in range(many):
                x = book.excess[i, at]
                book.missed[at] -= book.linear[i] * x - 0.5 * book.square[i] * x * x


@njit(cache=True)
def _farthest_bend(
    many: int, book: Book, frontiers: ObservedFrontiers, aim: Aim, least: float,
    least_squares: float, least_total: float, top: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return the same for the bend of a cell seen so far where wealth is less still, if it is.

    One sweep over the segments in slope order gives Σ λN (Y − δ) − ½ Σ λ²N (Y − δ)², the
    log-wealth to second order, at every bend. What that misses is known at the prices where
    wealth is kept, and is interpolated between them.

    Parameters
    ----------
    many
        How many prices are kept.
    book
        The order's past.
    frontiers, aim
        The segments; the part of the prices, the budget and the threshold.
    least, least_squares, least_total, top
        What `_farthest` found at the kept prices.

    Returns
    -------
    least, least_squares, least_total, top
        What `_farthest` returns, for a bend if one is worse.

    Notes
    -----
    Which price a stake is aimed at needs no rigour: an approximate log-wealth will do here, and
    the wealth that decides is computed afterwards at all prices (`least_wealth`). Sums named
    ``l…`` weigh records by λ, ``s…`` by λ², ``p…`` by 1; ``a`` counts, ``g`` and ``c`` are gain and
    cost of the target that is best at the price, two letters their products. Passing a segment
    replaces its cell's near end (``nc``, ``ng``) by its far end (``fc``, ``fg``).
    """
    _note_missed(many, book)
    la = lg = lc = sa = sg = sc = sgg = sgc = scc = pa = pg = pc = pgg = pgc = pcc = 0.0
    for i in range(len(book.past)):
        # above all slopes everybody has the best free target, at no cost: sums with c start at 0
        b, w, u, t = frontiers.base[i], book.linear[i], book.square[i], book.past[i]
        la += w
        lg += w * b
        sa += u
        sg += u * b
        sgg += u * b * b
        pa += t
        pg += t * b
        pgg += t * b * b
    at = 0
    for k in range(len(frontiers.row)):
        i, price = frontiers.row[k], frontiers.slope[k]
        w, u, t = book.linear[i], book.square[i], book.past[i]
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
        pgg += t * gg
        pgc += t * gc
        pcc += t * cc
        # the sums need every steeper segment, also of prices outside the part
        if price >= aim.high:
            continue
        if price <= aim.low:
            break
        # both lists fall, so that one pointer finds the kept prices on either side
        while book.prices[at + 1] > price:
            at += 1
        here = (book.prices[at] - price) / (book.prices[at] - book.prices[at + 1])
        missed = book.missed[at] + here * (book.missed[at + 1] - book.missed[at])
        o = aim.budget * price - aim.delta
        # Σ λ²N (φ + o)² with φ = g − νc, multiplied out
        second = sgg - price * (2.0 * sgc - price * scc) + 2.0 * o * (sg - price * sc) + o * o * sa
        wealth = lg - price * lc + o * la - 0.5 * second + missed
        total = pg - price * pc + o * pa
        if wealth < least - TIE or (wealth <= least + TIE and total < least_total):
            # the gains of a lower price are no less than those in between
            least, least_total, top = wealth, total, book.top[at + 1]
            least_squares = (
                pgg - price * (2.0 * pgc - price * pcc) + 2.0 * o * (pg - price * pc) + o * o * pa
            )
    return least, max(least_squares, 0.0), least_total, top
