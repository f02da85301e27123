"""Compiled bets on draws of a model that answers at random.

People are moved to the twin that looks worst on earlier draws; the gain is measured on fresh draws.
Wealth is multiplied by 1 + λX, X the sum over movers of the mean of h(target's loss − own loss),
h(x) = x/unit up to ±1. Clusters are sets of blocks that share questions: the draws of two clusters
are independent. No guarantee depends on the choice of targets, weights and stakes, as long as it
uses the past only: see "Random answers" in ``docs/theory.md``. Each compiled step is for all
orders; `random_answers` makes the guesses between steps.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit, prange

from fairtransport.inference.finite.kernels import digital_hedge

if TYPE_CHECKING:
    from fairtransport._core.validation import BoolArray, FloatArray, IntArray

CUSHION = 0.9
"""Cushion of the aim at 1/α."""
MAX_LOSS_SHARE = 0.9
"""Largest share of wealth that a cluster's bet can lose."""
MAX_STAKE = 1.5
"""Maximum λ of a batch."""
TUPLE_FILL = 0.75
"""A batch's people are split into tuples until λ times their movers is at most this."""
MAX_TUPLES = 10
"""Maximum number of tuples of a cluster in a batch."""
PRIOR_DRAWS = 4.0
"""Prior weight of the target and of a mover, in draws."""
SIGN_SHARPNESS = 2.0
"""Inverse number of standard errors by which a twin must look worse for full weight of movers."""
MIN_SHARED = 0.5
"""Others of a batch who share a person's draws, from which on draws are kept for later."""
MIN_GAIN_VARIANCE = 1e-6


class DrawTable(NamedTuple):
    """Losses by block, group and draw, people by block and group; clusters are contiguous."""

    losses: FloatArray
    people: IntArray
    exists: BoolArray
    strata: IntArray
    n_strata: int
    start: IntArray
    unit: float


class DrawOrders(NamedTuple):
    """Random orders of draws, (orders, draws) and a shift of each cluster, and of people.

    ``batches`` has (orders, batches, blocks, groups) people, ``available`` the batch from which
    on a cell can be known.
    """

    draws: IntArray
    shifts: IntArray
    batches: IntArray
    available: IntArray


class DrawAim(NamedTuple):
    """The threshold that is bet against, in units, and the level that stakes are aimed at."""

    delta: float
    alpha: float


class Observed(NamedTuple):
    """Number, sum and sum of squares of the losses observed by cell, of each order or of one."""

    number: FloatArray
    total: FloatArray
    squares: FloatArray


class Guesses(NamedTuple):
    """Guessed means of cells, and the variance of a draw and of h, for each order or for one."""

    means: FloatArray
    variance: FloatArray | float
    shift_variance: FloatArray | float


@njit(cache=True)
def _observe_cluster(
    past: Observed, table: DrawTable, cluster: int, unsealed: BoolArray, draws: IntArray
) -> None:
    """Add draws of a cluster to the observations."""
    for b in range(table.start[cluster], table.start[cluster + 1]):
        for s in range(unsealed.shape[1]):
            if unsealed[b, s]:
                for t in draws:
                    loss = table.losses[b, s, t]
                    past.number[b, s] += 1.0
                    past.total[b, s] += loss
                    past.squares[b, s] += loss * loss


@njit(cache=True)
def _choose_movers(
    past: Observed, guesses: Guesses, b: int, may_be: BoolArray, weights: FloatArray
) -> int:
    """Return the group of a block that looks worst; fill the weights in [0, 1] of the others.

    The weight of a group increases with the evidence that it fares better than the target.
    """
    target, means = -1, guesses.means
    for s in range(len(weights)):
        if may_be[s] and (target < 0 or means[b, s] > means[b, target]):
            target = s
    for s in range(len(weights)):
        weights[s] = 0.0
        if s == target or not may_be[s]:
            continue
        rise = means[b, target] - means[b, s]
        if rise > 0.0:
            counts = 1.0 / (past.number[b, s] + PRIOR_DRAWS)
            counts += 1.0 / (past.number[b, target] + PRIOR_DRAWS)
            error = math.sqrt(guesses.variance * counts + 1e-9)
            weights[s] = min(1.0, SIGN_SHARPNESS * rise / error)
    return target


@njit(cache=True)
def _mean_shift(table: DrawTable, b: int, target: int, s: int, draws: IntArray) -> float:
    """Return the mean of h(target's loss − own loss) over some draws of a block."""
    shift = 0.0
    for t in draws:
        difference = (table.losses[b, target, t] - table.losses[b, s, t]) / table.unit
        shift += min(max(difference, -1.0), 1.0)
    return float(shift / len(draws))


@njit(cache=True)
def _scale_stake(log_wealth: float, alpha: float, bets_left: int) -> float:
    """Return λ in units of one over a standard deviation: digital, the last all or nothing."""
    missing = -math.log(alpha) - log_wealth
    if missing <= 0.0:
        return 0.0
    if bets_left == 1:
        return math.sqrt(2.0 * missing)
    return digital_hedge(log_wealth, alpha, CUSHION)


@njit(cache=True)
def _pick_draws(orders: DrawOrders, order: int, cluster: int, low: int, high: int) -> IntArray:
    """Return the draws of a cluster from place ``low`` to before ``high`` of an order."""
    m = orders.draws.shape[1]
    shift = orders.shifts[order, cluster]
    picked = np.empty(high - low, np.int64)
    for t in range(low, high):
        picked[t - low] = orders.draws[order, (t + shift) % m]
    return picked


@njit(cache=True)
def _select_past(past: Observed, order: int) -> Observed:
    """Return the observations of one order."""
    return Observed(past.number[order], past.total[order], past.squares[order])


@njit(cache=True)
def _select_guesses(guesses: Guesses, order: int) -> Guesses:
    """Return the guesses of one order."""
    return Guesses(guesses.means[order], guesses.variance[order], guesses.shift_variance[order])  # type: ignore[index]


# ------------------------------------------------------------------ these cases


@njit(cache=True)
def _plan_round(
    past: Observed, guesses: Guesses, table: DrawTable, targets: IntArray, weights: FloatArray
) -> tuple[float, float]:
    """Fill targets and movers' weights of a round; return the variance of X in a draw.

    Also return the smallest sum of movers' weights of a block.
    """
    n, shift_variance = float(table.people.sum()), float(guesses.shift_variance)
    variance, least = 0.0, n
    for b in range(len(targets)):
        targets[b] = _choose_movers(past, guesses, b, table.exists[b], weights[b])
        movers = 0.0
        for s in range(weights.shape[1]):
            mass = weights[b, s] * table.people[b, s]
            movers += mass
            variance += mass * mass * shift_variance
        variance += movers * movers * shift_variance
        if movers > 0.0:
            least = min(least, movers)
    return max(variance, MIN_GAIN_VARIANCE * n * n), least


@njit(cache=True)
def _bet_on_cluster(
    table: DrawTable, cluster: int, targets: IntArray, weights: FloatArray, draws: IntArray,
    stake: float,
) -> tuple[float, float]:  # fmt: skip
    """Return the log-factor of a cluster in a round, and the gain measured."""
    x, movers, gain = 0.0, 0.0, 0.0
    for b in range(table.start[cluster], table.start[cluster + 1]):
        for s in range(weights.shape[1]):
            if weights[b, s] > 0.0 and table.people[b, s] > 0:
                shift = table.people[b, s] * _mean_shift(table, b, targets[b], s, draws)
                movers += weights[b, s] * table.people[b, s]
                x += weights[b, s] * shift
                gain += shift
    if stake * movers == 0.0:
        return 0.0, gain
    # |x| <= movers: the factor stays above .1
    return math.log1p(min(stake, MAX_LOSS_SHARE / movers) * x), gain


@njit(cache=True)
def _bet_on_round(
    table: DrawTable, orders: DrawOrders, order: int, edges: IntArray, j: int, aim: DrawAim,
    past: Observed, guesses: Guesses, log_wealth: float,
) -> tuple[float, float]:  # fmt: skip
    """Return the log-factor of a round of one order, and the gain measured.

    In a round λ is the same for all clusters and depends on earlier rounds, like targets and
    weights.
    Given these E X of a cluster is at most ρ, the sum of r over its people, and clusters are
    independent: E Π(1 + λX) <= Π(1 + λρ) <= (1 + λnδ/B)^B by the inequality of the means.
    """
    blocks, groups, m = table.losses.shape
    clusters, n = len(table.start) - 1, float(table.people.sum())
    targets, weights = np.zeros(blocks, np.int64), np.zeros((blocks, groups))
    size, stake = edges[j + 1] - edges[j], 0.0
    if j > 0:
        variance, least = _plan_round(past, guesses, table, targets, weights)
        # the variance of this round's draws and of the remaining rounds like it
        variance *= (m - edges[j]) / size / size
        stake = _scale_stake(log_wealth, aim.alpha, len(edges) - 1 - j) / math.sqrt(variance)
        # beyond this no cluster's bet would be larger
        stake = min(stake, MAX_LOSS_SHARE / least)
    log_round, gain = 0.0, 0.0
    for c in range(clusters):
        draws = _pick_draws(orders, order, c, edges[j], edges[j + 1])
        log_factor, measured = _bet_on_cluster(table, c, targets, weights, draws, stake)
        log_round += log_factor
        gain += measured * size
        _observe_cluster(past, table, c, table.exists, draws)
    # every cluster has people: points are those of people and of their twins
    return log_round - clusters * math.log1p(stake * n * aim.delta / clusters), gain


@njit(cache=True, parallel=True)
def bet_on_round(
    table: DrawTable, orders: DrawOrders, edges: IntArray, j: int, aim: DrawAim, past: Observed,
    guesses: Guesses, result: FloatArray,
) -> None:  # fmt: skip
    """Add the log-factors and the gains of the j-th round to (orders, 2) of earlier ones."""
    for place in prange(len(result)):
        order = int(np.int64(place))
        log_factor, gain = _bet_on_round(
            table, orders, order, edges, j, aim, _select_past(past, order),
            _select_guesses(guesses, order), result[order, 0],
        )  # fmt: skip
        result[order, 0] += log_factor
        result[order, 1] += gain


# ------------------------------------------------------------------ the population


class Arrivals(NamedTuple):
    """People so far by cell and by cluster, and draws used by cluster, of each order.

    For the current batch: its λ, the cells that its people reveal, and the numbers of sealed draws
    and of their tuples by cluster.
    """

    cells: FloatArray
    clusters: FloatArray
    used: IntArray
    stakes: FloatArray
    unsealed: BoolArray
    shares: IntArray
    tuples: IntArray


@njit(cache=True)
def _choose_batch_stake(
    past: Observed, guesses: Guesses, table: DrawTable, cells: FloatArray, clusters: FloatArray,
    unsealed: BoolArray, here: float, log_wealth: float, alpha: float, batches_left: int,
) -> float:  # fmt: skip
    """Return λ of a batch, from the people and draws of earlier ones only."""
    gone = cells.sum()
    if gone == 0.0 or past.number.sum() == 0.0:
        return 0.0
    n, m = float(table.people.sum()), table.losses.shape[2]
    collisions = 0.0
    for came in clusters:
        collisions += came * (came - 1.0) / 2.0
    # the number of others of the batch with whom a person shares draws
    shared = here * (collisions + 0.25) / (gone * (gone - 1.0) / 2.0 + 5.0)
    differences, twins = 0.0, 0.0
    for b in range(len(cells)):
        came = cells[b].sum()
        if came == 0.0:
            continue
        twins += came * unsealed[b].sum() / gone
        worst = -np.inf
        for s in range(unsealed.shape[1]):
            if unsealed[b, s]:
                worst = max(worst, guesses.means[b, s])
        for s in range(unsealed.shape[1]):
            rise = min((worst - guesses.means[b, s]) / table.unit, 1.0)
            differences += cells[b, s] / gone * rise * rise
    movers = 1.0 - 1.0 / max(twins, 1.0)
    draws = max(m * (here / n if shared > MIN_SHARED else 1.0), 1.0)
    variance = 2.0 * guesses.shift_variance / draws * movers * (1.0 + shared * movers) + differences
    scale = _scale_stake(log_wealth, alpha, batches_left)
    return min(scale / math.sqrt(max(variance, MIN_GAIN_VARIANCE) * (n - gone)), MAX_STAKE)


@njit(cache=True)
def _share_draws(table: DrawTable, arrivals: Arrivals, order: int, batch: IntArray) -> None:
    """Fill the number of a cluster's sealed draws for a batch, and of its tuples.

    ``arrivals`` includes the batch's people.
    """
    shares, tuples, clusters = (
        arrivals.shares[order], arrivals.tuples[order], arrivals.clusters[order]
    )  # fmt: skip
    stake, gone = arrivals.stakes[order], arrivals.cells[order].sum()
    n, m = float(table.people.sum()), table.losses.shape[2]
    once = float((clusters == 1.0).sum())
    twice = float((clusters == 2.0).sum())  # noqa: PLR2004
    for c in range(len(shares)):
        shares[c], tuples[c] = 0, 0
        now, most, movers = 0, 0, 0
        for b in range(table.start[c], table.start[c + 1]):
            now += batch[b].sum()
            most = max(most, batch[b].max())
            movers += batch[b].sum() - batch[b].min()
        rest = m - arrivals.used[order, c]
        if now == 0 or rest == 0:
            continue
        came = clusters[c]
        # the expected share of clusters with one person that get a second
        if came == 1.0:
            came = min(1.0, 2.0 * twice / max(once, 1.0))
        later = (n - gone) * came / gone
        shares[c] = min(rest, max(1, round(rest * now / (now + later))))
        parts = max(most, math.ceil(stake * movers / TUPLE_FILL))
        tuples[c] = min(MAX_TUPLES, shares[c], parts)


@njit(cache=True)
def _bet_on_tuple(
    past: Observed, guesses: Guesses, table: DrawTable, cluster: int, batch: IntArray,
    unsealed: BoolArray, tuples: int, k: int, draws: IntArray, stake: float, weights: FloatArray,
) -> tuple[float, float]:  # fmt: skip
    """Return the log-factor of a cluster's k-th tuple, and the gain measured.

    In the row of a cluster's people, every ``tuples``-th is in the same tuple.
    """
    x, movers, gain, place = 0.0, 0.0, 0.0, 0
    for b in range(table.start[cluster], table.start[cluster + 1]):
        target = _choose_movers(past, guesses, b, unsealed[b], weights)
        for s in range(len(weights)):
            end = place + batch[b, s]
            people = (end + tuples - 1 - k) // tuples - (place + tuples - 1 - k) // tuples
            place = end
            if people > 0 and weights[s] > 0.0:
                shift = people * _mean_shift(table, b, target, s, draws)
                movers += weights[s] * people
                x += weights[s] * shift
                gain += shift
    if stake * movers == 0.0:
        return 0.0, gain
    return math.log1p(min(stake, MAX_LOSS_SHARE / movers) * x), gain


@njit(cache=True)
def _find_known(
    table: DrawTable, orders: DrawOrders, order: int, batch: int, cells: FloatArray
) -> BoolArray:
    """Return the cells that people of batches up to one reveal, given their numbers ``cells``."""
    unsealed: BoolArray = table.exists & (orders.available[order] <= batch)
    for b in range(len(unsealed)):
        # the draws of a block without people so far are not used either
        if cells[b].sum() == 0.0:
            unsealed[b] = False
    return unsealed


@njit(cache=True)
def _admit_batch(
    table: DrawTable, orders: DrawOrders, order: int, e: int, aim: DrawAim, past: Observed,
    guesses: Guesses, arrivals: Arrivals, log_wealth: float,
) -> float:  # fmt: skip
    """Admit the e-th batch of one order; return the log of the growth that ψ <= δ allows it.

    λ is fixed before the batch's people are used. Each of them is in one tuple, and so is each
    draw: given the people E Π(1 + λX) <= Π(1 + λr), whose mean is (1 + λψ)^people. Draws of
    clusters without people so far stay sealed, like cells that only later people reveal: they would
    disclose who is to come.
    """
    batch, cells = orders.batches[order, e], arrivals.cells[order]
    clusters, here, stake = arrivals.clusters[order], float(batch.sum()), 0.0
    if here > 0.0:
        known = _find_known(table, orders, order, e - 1, cells)
        stake = _choose_batch_stake(
            past, guesses, table, cells, clusters, known, here, log_wealth, aim.alpha,
            orders.batches.shape[1] - e,
        )  # fmt: skip
    arrivals.stakes[order] = stake
    # the batch's people are used only from here on
    cells[:] += batch
    for c in range(len(clusters)):
        clusters[c] += batch[table.start[c] : table.start[c + 1]].sum()
    arrivals.unsealed[order] = _find_known(table, orders, order, e, cells)
    _share_draws(table, arrivals, order, batch)
    return here * math.log1p(stake * aim.delta)


@njit(cache=True, parallel=True)
def admit_batch(
    table: DrawTable, orders: DrawOrders, e: int, aim: DrawAim, past: Observed, guesses: Guesses,
    arrivals: Arrivals, result: FloatArray,
) -> None:  # fmt: skip
    """Choose λ of the e-th batch of each order, then add its people and assign draws."""
    for place in prange(len(result)):
        order = int(np.int64(place))
        result[order, 0] -= _admit_batch(
            table, orders, order, e, aim, _select_past(past, order),
            _select_guesses(guesses, order), arrivals, result[order, 0],
        )  # fmt: skip


@njit(cache=True)
def _bet_on_draws(
    table: DrawTable, orders: DrawOrders, order: int, e: int, j: int, past: Observed,
    guesses: Guesses, arrivals: Arrivals,
) -> tuple[float, float]:  # fmt: skip
    """Return the log-factor and the gain of the j-th tuples of one order's clusters."""
    log_wealth, gain, batch = 0.0, 0.0, orders.batches[order, e]
    unsealed, weights = arrivals.unsealed[order], np.zeros(batch.shape[1])
    has_past = past.number.sum() > 0.0
    for c in range(len(table.start) - 1):
        tuples, share, used = (
            arrivals.tuples[order, c], arrivals.shares[order, c], arrivals.used[order, c]
        )  # fmt: skip
        # the last tuples of all clusters are aligned
        k = j - (MAX_TUPLES - tuples)
        if k < 0:
            continue
        low, high = share * k // tuples, share * (k + 1) // tuples
        draws = _pick_draws(orders, order, c, used + low, used + high)
        if has_past:
            log_factor, measured = _bet_on_tuple(
                past, guesses, table, c, batch, unsealed, tuples, k, draws,
                arrivals.stakes[order], weights,
            )  # fmt: skip
            log_wealth += log_factor
            gain += measured
        _observe_cluster(past, table, c, unsealed, draws)
    return log_wealth, gain


@njit(cache=True, parallel=True)
def bet_on_draws(
    table: DrawTable, orders: DrawOrders, e: int, j: int, past: Observed, guesses: Guesses,
    arrivals: Arrivals, result: FloatArray,
) -> None:  # fmt: skip
    """Add the log-factors and the gains of the j-th tuples of the e-th batch to earlier ones."""
    for place in prange(len(result)):
        order = int(np.int64(place))
        log_factor, gain = _bet_on_draws(
            table, orders, order, e, j, _select_past(past, order),
            _select_guesses(guesses, order), arrivals,
        )  # fmt: skip
        result[order, 0] += log_factor
        result[order, 1] += gain
