"""Compiled bets on tuples: who is in a tuple, which group is bet on, and the wealth.

A tuple has some people of a target group and A movers of other groups of the same block. Wealth
is multiplied by 1 + f·D, D the mean loss of the targets less that of the movers. Who is in a
tuple, its target and f depend on the design and on losses observed before, and f <= λA with a λ
that the pilot fixed. So the mean wealth is at most Π(1 + λ r_i) over all people, whatever the
rule: see "Rates" in ``docs/theory.md``.

Bets are chosen from a model of the cells' means: that of the block, plus an effect of the group
that is one in each stratum (by Mantel and Haenszel's weights, shrunken), plus a deviation of the
cell, shrunken by how much cells were seen to differ. No promise depends on this model, which
knows observed losses alone.

Compiled loops of the permutation test: dealing out losses, and the two statistics.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from fairtransport.transport.kernels import njit_without_refcount

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray, IntArray


TUPLE_ROUNDS = 8
"""Tuples that a block is cut into, if it has the people for them."""
MAX_TUPLE_STAKE = 0.8
"""Tuples are cut further until λA is no more than this."""
REFITS = 32
"""How often effects are fitted anew, beside at the beginning of each round."""
MIN_COMPARED_GROUPS = 2
"""Groups that a block must have people of for it to tell anything of groups."""
MAX_BET = 0.9
"""The largest f."""
MAX_KELLY_MULTIPLE = 4.0
"""Largest f, as a multiple of Kelly's fraction by the guessed means."""
GROUP_SPREAD = 0.2
"""Prior standard deviation of a group's effect."""
CELL_SPREAD = 0.05
"""Prior standard deviation of a cell's deviation."""
MIN_CELL_SPREAD = 0.003
TINY = 1e-12
BLOCK_WEIGHT = 4.0
"""People that the overall mean counts for in a block's variance."""
MIN_LOSS_VARIANCE = 0.005
"""Least variance of a loss."""
MIN_BERNOULLI_VARIANCE = 0.01
"""Least variance of a loss of two values."""


class ObservedLosses(NamedTuple):
    """Losses that were observed, added up by block and group."""

    people: FloatArray
    losses: FloatArray
    strata: IntArray


@njit(cache=True)
def plan_tuples(
    people: IntArray, means: FloatArray, variances: FloatArray, stake: float
) -> tuple[IntArray, IntArray]:
    """Return the blocks of all tuples, round after round, and (tuples, groups) their people.

    A block has no more tuples than people of the group that is guessed to be the target, nor
    than those of the largest other one; each group is spread over them evenly.

    Notes
    -----
    Who is in a tuple depends on the design and the pilot, never on a loss that is not observed yet.
    """
    groups = people.shape[1]
    rounds = _count_rounds(people, means, variances, stake)
    # the blocks that have a tuple in this round, at the beginning of `active`
    active, remaining, tuples = np.empty(len(rounds), np.int64), 0, 0
    for b in range(len(rounds)):
        tuples += rounds[b]
        if rounds[b] > 0:
            active[remaining] = b
            remaining += 1
    block = np.empty(tuples, np.int64)
    take = np.empty((tuples, groups), np.int64)
    # round after round, not block after block: each block's later tuples profit from all earlier
    # ones
    at, j = 0, 0
    while remaining > 0:
        here, remaining = remaining, 0
        for i in range(here):
            b = active[i]
            block[at] = b
            for s in range(groups):
                many = people[b, s]
                # differences of a rounded line: sizes differ by one at most and add up to the
                # group
                take[at, s] = many * (j + 1) // rounds[b] - many * j // rounds[b]
            at += 1
            if rounds[b] > j + 1:
                active[remaining] = b
                remaining += 1
        j += 1
    return block, take


@njit(cache=True)
def _count_rounds(
    people: IntArray, means: FloatArray, variances: FloatArray, stake: float
) -> IntArray:
    """Return into how many tuples each block is cut."""
    rounds = np.zeros(len(people), np.int64)
    for b in range(len(people)):
        total, largest = 0, 0
        for s in range(people.shape[1]):
            total += people[b, s]
            largest = max(largest, people[b, s])
        if largest == total:
            continue
        # A is at most a tuple's people: so many tuples, if there are people for them, keep λA
        # below its limit
        parts = max(TUPLE_ROUNDS, math.ceil(stake * total / MAX_TUPLE_STAKE))
        limit = float(min(parts, total - largest))
        g, _ = choose_target(means[b], variances[b], people[b], limit, stake)
        partner = 0
        for s in range(people.shape[1]):
            if s != g:
                partner = max(partner, people[b, s])
        rounds[b] = min(parts, people[b, g], partner)
    return rounds


@njit_without_refcount()
def choose_target(
    means: FloatArray, variance: float, people: IntArray, parts: float, stake: float
) -> tuple[int, float]:
    """Return the group to bet on and f, by the guessed growth of wealth; -1 if there is none.

    The people of each group are cut into ``parts``. Groups whose guessed mean is not above
    the target's are its movers.
    """
    best_growth, best_group, best_bet = -1.0, -1, 0.0
    for g in range(len(means)):
        # nobody of the group is at hand who could be a target
        if people[g] == 0:
            continue
        movers, rise = 0.0, 0.0
        for s in range(len(means)):
            if s != g and people[s] > 0 and means[s] <= means[g]:
                # a tuple has whole people: one at least of every group that has any
                part = max(people[s] / parts, 1.0)
                movers += part
                rise += part * (means[g] - means[s])
        if movers == 0.0:
            continue
        rise /= movers
        spread = variance * (1.0 / max(people[g] / parts, 1.0) + 1.0 / movers) + rise * rise
        # λA is the lemma's limit, .9 keeps 1 + fD positive as D >= −1; Kelly's is for power
        f = min(stake * movers, MAX_BET, MAX_KELLY_MULTIPLE * rise / spread)
        # not quite the growth: as f may exceed Kelly's, so may what it risks
        growth = f * rise - 0.5 * f * f * spread / MAX_KELLY_MULTIPLE
        if growth > best_growth:
            best_growth, best_group, best_bet = growth, g, f
    return best_group, best_bet


@njit(cache=True)
def bet_on_tuples(
    past: ObservedLosses, sums: BlockSums, block: IntArray, take: IntArray, losses: FloatArray,
    stake: float,
) -> tuple[float, float]:  # fmt: skip
    """Bet on the tuples one after the other; return log W and the sum of A·D.

    ``losses`` has the sums of the people in ``take``; those of a tuple are looked at after its
    target and f are chosen. What is observed is added to ``past`` and ``sums``.

    Notes
    -----
    A block has one tuple a round, so that its guesses are made from its own losses when its turn
    comes, and nothing is fitted to all blocks again.
    """
    means = np.zeros(take.shape[1])
    # beyond any block, so that the first tuple is preceded by a fit
    before, interval = len(past.strata), max(len(block) // REFITS, 1)
    log_wealth, gain = 0.0, 0.0
    fit = fit_effects(sums)
    for k in range(len(block)):
        b = block[k]
        if b <= before or k % interval == 0:  # a new round, or much was learnt since
            fit = fit_effects(sums)
        before = b
        variance = _fill_block_means(past, b, fit, means)
        # from losses observed before this tuple: E[1 + fD | past] <= 1 + λ Σ r over its movers
        g, f = choose_target(means, variance, take[k], 1.0, stake)
        if g >= 0:
            movers, theirs = 0.0, 0.0
            for s in range(len(means)):
                if s != g and means[s] <= means[g]:
                    movers += take[k, s]
                    theirs += losses[k, s]
            difference = losses[k, g] / take[k, g] - theirs / movers
            log_wealth += math.log(1.0 + f * difference)
            gain += movers * difference
        # only now may later guesses know of this tuple
        _add_block(sums, past, b, -1.0)
        for s in range(len(means)):
            past.people[b, s] += take[k, s]
            past.losses[b, s] += losses[k, s]
        _add_block(sums, past, b, 1.0)
    return log_wealth, gain


class BlockSums(NamedTuple):
    """Sums over blocks that guesses depend on; a block that changes is taken out and added anew.

    With n_s people and losses l_s by group, n and l in all, by stratum: people n_s and losses l;
    excess l_s − n_s·l/n; products n_s·[s = t] − n_s·n_t/n. Over all blocks: `squares` Σ l_s²/n_s −
    l²/n, `collisions` n(n − 1), and polynomials in the overall mean o, as a block's variance is
    one of degree two: `chance` of (groups − 1)·variance, `noise` of Σ (1 − n_s/n)²·variance².
    """

    people: FloatArray
    losses: FloatArray
    excess: FloatArray
    products: FloatArray
    squares: FloatArray
    collisions: FloatArray
    chance: FloatArray
    noise: FloatArray


class EffectFit(NamedTuple):
    """What guesses have in common: the mean loss, effects of groups, how far cells are believed.

    ``spread`` is the variance of cells around the effects as moments have it, ``error`` its
    standard error; a cell's own mean counts as the prior does at ``weight`` people.
    """

    overall: float
    effect: FloatArray
    weight: float
    spread: float
    error: float


@njit(cache=True)
def sum_blocks(past: ObservedLosses, strata: int) -> BlockSums:
    """Return the sums over all blocks."""
    groups = past.people.shape[1]
    sums = BlockSums(
        np.zeros((strata, groups)), np.zeros(strata), np.zeros((strata, groups)),
        np.zeros((strata, groups, groups)), np.zeros(1), np.zeros(1), np.zeros(3), np.zeros(5),
    )  # fmt: skip
    for b in range(len(past.strata)):
        _add_block(sums, past, b, 1.0)
    return sums


@njit_without_refcount()
def _add_block(sums: BlockSums, past: ObservedLosses, b: int, sign: float) -> None:
    """Add a block to the sums, or with sign −1 take it out."""
    y, groups = past.strata[b], past.people.shape[1]
    many, total, own_groups = 0.0, 0.0, 0
    for s in range(groups):
        many += past.people[b, s]
    if many == 0.0:
        return
    for s in range(groups):
        if past.people[b, s] > 0.0:
            total += past.losses[b, s]
            own_groups += 1
            sums.people[y, s] += sign * past.people[b, s]
    sums.losses[y] += sign * total
    sums.collisions[0] += sign * many * (many - 1.0)
    if own_groups < MIN_COMPARED_GROUPS:
        return
    squares, parts = -total * total / many, 0.0
    for s in range(groups):
        own, loss = past.people[b, s], past.losses[b, s]
        if own > 0.0:
            sums.excess[y, s] += sign * (loss - own * total / many)
            sums.products[y, s, s] += sign * own
            share = sign * own / many
            for t in range(groups):
                sums.products[y, s, t] -= share * past.people[b, t]
            squares += loss * loss / own
            # the cell is part of the block's mean, so that chance alone moves it by this much less
            parts += (1.0 - own / many) ** 2
    sums.squares[0] += sign * squares
    _add_variance(sums, _variance_polynomial(many, total), sign * (own_groups - 1), sign * parts)


@njit_without_refcount()
def _add_variance(
    sums: BlockSums, variance: tuple[float, float, float], chance: float, noise: float
) -> None:
    """Add multiples of a block's variance and of its square."""
    v0, v1, v2 = variance
    for i, v in enumerate((v0, v1, v2)):
        sums.chance[i] += chance * v
    for i, v in enumerate((v0 * v0, 2 * v0 * v1, v1 * v1 + 2 * v0 * v2, 2 * v1 * v2, v2 * v2)):
        sums.noise[i] += noise * v


@njit_without_refcount()
def _variance_polynomial(many: float, total: float) -> tuple[float, float, float]:
    """Return a block's variance of losses, by powers of the overall mean.

    A block whose few losses agree is not taken for one without variance: the overall mean counts
    in its own for ``BLOCK_WEIGHT`` people.
    """
    own, common = total / (many + BLOCK_WEIGHT), BLOCK_WEIGHT / (many + BLOCK_WEIGHT)
    return own - own * own + MIN_LOSS_VARIANCE, common - 2.0 * own * common, -common * common


@njit(cache=True)
def fit_cell_means(
    past: ObservedLosses, strata: int, means: FloatArray, variances: FloatArray
) -> None:
    """Fill the guesses: means of cells, up to what is common to a block, and blocks' variances."""
    fill_means(past, fit_effects(sum_blocks(past, strata)), means, variances)


@njit(cache=True)
def fill_means(
    past: ObservedLosses, fit: EffectFit, means: FloatArray, variances: FloatArray
) -> None:
    """Fill the guessed means and variances of all blocks."""
    for b in range(len(means)):
        variances[b] = _fill_block_means(past, b, fit, means[b])


@njit(cache=True)
def fit_effects(sums: BlockSums) -> EffectFit:
    """Fit what guesses have in common."""
    # drawn a little towards one half
    o = (sums.losses.sum() + 1.0) / (sums.people.sum() + 2.0)
    sigma = max(o * (1.0 - o), MIN_BERNOULLI_VARIANCE)
    effect, pairs = np.zeros(sums.excess.shape), 0.0
    deviation = sums.squares[0] - (sums.chance[0] + o * (sums.chance[1] + o * sums.chance[2]))
    for y in range(len(effect)):
        for s in range(len(effect[y])):
            effect[y, s] = _shrink_effect(sums, y, s, sigma)
            pairs += sums.products[y, s, s]
        # what is left of the squares once the effects are taken out of the means
        for s in range(len(effect[y])):
            rest = -2.0 * sums.excess[y, s]
            for t in range(len(effect[y])):
                rest += sums.products[y, s, t] * effect[y, t]
            deviation += effect[y, s] * rest
    noise = 0.0
    for i in range(len(sums.noise)):
        noise += sums.noise[i] * o**i
    spread, error = deviation / max(pairs, 1.0), math.sqrt(max(2.0 * noise, 0.0)) / max(pairs, TINY)
    # beside a prior guess, each by its precision
    precision, prior = 1.0 / (error * error + TINY), 1.0 / CELL_SPREAD**4
    believed = (max(spread, 0.0) * precision + CELL_SPREAD**2 * prior) / (precision + prior)
    # where no deviations were found their prior weight must stay finite
    return EffectFit(o, effect, sigma / max(believed, MIN_CELL_SPREAD**2), spread, error)


@njit_without_refcount()
def _shrink_effect(sums: BlockSums, y: int, s: int, sigma: float) -> float:
    """Return the guessed effect of a group in a stratum, on average 0 over people.

    Notes
    -----
    Mantel and Haenszel's: w = n_s(n − n_s)/n is one over the variance of a block's difference
    from the others, in units of a loss's, and the excess is that difference times w. A sum d of
    weight w is shrunken as a normal prior of variance ``GROUP_SPREAD``² asks: d/(w + σ²/τ²). The
    difference from the *others* times their share is that from the whole.
    """
    if sums.products[y, s, s] <= 0.0:
        return 0.0
    others = 1.0 - sums.people[y, s] / sums.people[y].sum()
    shrunken = sums.excess[y, s] / (sums.products[y, s, s] + sigma / GROUP_SPREAD**2)
    return float(others * shrunken)


@njit_without_refcount()
def _fill_block_means(past: ObservedLosses, b: int, fit: EffectFit, means: FloatArray) -> float:
    """Fill the guessed means of a block's groups, and return its variance of losses."""
    effect, weight = fit.effect[past.strata[b]], fit.weight
    base, believed, many, total = 0.0, 0.0, 0.0, 0.0
    for s in range(len(means)):
        own = past.people[b, s]
        means[s] = effect[s]
        if own > 0.0:
            many += own
            total += past.losses[b, s]
            base += (past.losses[b, s] - own * effect[s]) / (own + weight)
            believed += own / (own + weight)
    for s in range(len(means)):
        own = past.people[b, s]
        if own > 0.0:
            # the block's level is the mean of what its cells leave, each by how far it is
            # believed
            z = past.losses[b, s] / own - effect[s] - base / believed
            means[s] += own / (own + weight) * z
    v0, v1, v2 = _variance_polynomial(many, total)
    return float(v0 + fit.overall * (v1 + fit.overall * v2))


@njit(cache=True)
def shuffle_losses(losses: FloatArray, start: IntArray, uniform: FloatArray) -> None:
    """Shuffle the losses of every cell among themselves, by Fisher and Yates."""
    for c in range(len(start) - 1):
        first = start[c]
        for i in range(start[c + 1] - 1, first, -1):
            j = first + int(uniform[i] * (i - first + 1))
            losses[i], losses[j] = losses[j], losses[i]


@njit(cache=True)
def sum_next_losses(
    losses: FloatArray, after: IntArray, cells: IntArray, people: IntArray
) -> FloatArray:
    """Return the sums of the next losses of cells, and move on behind them."""
    sums = np.zeros(len(cells))
    for k in range(len(cells)):
        c = cells[k]
        for i in range(after[c], after[c] + people[k]):
            sums[k] += losses[i]
        after[c] += people[k]
    return sums


@njit(cache=True)
def deal_losses(
    losses: FloatArray, people: IntArray, uniform: FloatArray, result: FloatArray
) -> None:
    """Deal one table: the first people of each block are those of its first group, and so on."""
    first = 0
    for b in range(people.shape[0]):
        end = first + people[b].sum()
        at = first
        for s in range(people.shape[1]):
            total = 0.0
            if at + people[b, s] == end:
                # whoever is left over, in whatever order
                while at < end:
                    total += losses[at]
                    at += 1
                result[b, s] = total
                continue
            for _ in range(people[b, s]):
                j = at + int(uniform[at] * (end - at))
                losses[at], losses[j] = losses[j], losses[at]
                total += losses[at]
                at += 1
            result[b, s] = total
        first = end


@njit(cache=True)
def deal_units(
    losses: FloatArray, cell: IntArray, run_end: IntArray, start: IntArray, end: IntArray,
    uniform: FloatArray, unit_uniform: FloatArray, result: FloatArray,
) -> None:  # fmt: skip
    """Deal one table: losses of whole units among units up to ``end``, then inside runs."""
    for u in range(len(end)):
        shift = start[u + int(unit_uniform[u] * (end[u] - u))] - start[u]
        for i in range(start[u], start[u + 1]):
            losses[i], losses[i + shift] = losses[i + shift], losses[i]
        for i in range(start[u], start[u + 1]):
            j = i + int(uniform[i] * (run_end[i] - i))
            losses[i], losses[j] = losses[j], losses[i]
            result[cell[i]] += losses[i]
