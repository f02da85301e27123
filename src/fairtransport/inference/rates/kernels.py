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

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray, IntArray


TUPLE_ROUNDS = 8
"""Tuples that a block is cut into, if it has the people for them."""
MAX_TUPLE_STAKE = 0.8
"""Tuples are cut further until λA is no more than this."""
REFITS = 32
"""How often cell means are fitted anew, beside at the beginning of each round."""
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
SHARPNESS, MAX_SCORE = 1.5, 16 / 3
"""How much a standardised difference of 1 makes a group likelier to be the target, and the
largest that counts."""
MIN_VARIANCE_RATIO = 0.02
"""Least variance of gains, in units of a loss's."""


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
    blocks, groups = people.shape
    rounds = np.zeros(blocks, np.int64)
    for b in range(blocks):
        total = people[b].sum()
        others = total - people[b].max()
        if others == 0:
            continue
        # A is at most a tuple's people: so many tuples, if there are people for them, keep λA
        # below its limit
        parts = max(TUPLE_ROUNDS, math.ceil(stake * total / MAX_TUPLE_STAKE))
        g, _ = choose_target(means[b], variances[b], people[b], min(parts, others), stake)
        partner = 0
        for s in range(groups):
            if s != g:
                partner = max(partner, people[b, s])
        rounds[b] = min(parts, people[b, g], partner)
    block = np.empty(rounds.sum(), np.int64)
    take = np.empty((len(block), groups), np.int64)
    at = 0
    # round after round, not block after block: each block's later tuples profit from all earlier
    # ones
    for j in range(rounds.max()):
        for b in range(blocks):
            if j < rounds[b]:
                block[at] = b
                for s in range(groups):
                    many = people[b, s]
                    # differences of a rounded line: sizes differ by one at most and add up to the
                    # group
                    take[at, s] = many * (j + 1) // rounds[b] - many * j // rounds[b]
                at += 1
    return block, take


@njit(cache=True)
def choose_target(
    means: FloatArray, variance: float, people: IntArray, parts: int, stake: float
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
    past: ObservedLosses,
    strata: int,
    block: IntArray,
    take: IntArray,
    sums: FloatArray,
    stake: float,
) -> tuple[float, float]:
    """Bet on the tuples one after the other; return log W and the sum of A·D.

    ``sums`` has the losses of the people in ``take``; those of a tuple are looked at after its
    target and f are chosen. What is observed is added to ``past``.
    """
    blocks, groups = past.people.shape
    means, variances = np.zeros((blocks, groups)), np.zeros(blocks)
    # beyond any block, so that the first tuple is preceded by a fit
    before, interval = blocks, max(len(block) // REFITS, 1)
    log_wealth, gain = 0.0, 0.0
    for k in range(len(block)):
        b = block[k]
        if b <= before or k % interval == 0:  # a new round, or much was learnt since
            fit_cell_means(past, strata, means, variances)
        before = b
        # from losses observed before this tuple: E[1 + fD | past] <= 1 + λ Σ r over its movers
        g, f = choose_target(means[b], variances[b], take[k], 1, stake)
        if g >= 0:
            movers, theirs = 0.0, 0.0
            for s in range(groups):
                if s != g and means[b, s] <= means[b, g]:
                    movers += take[k, s]
                    theirs += sums[k, s]
            difference = sums[k, g] / take[k, g] - theirs / movers
            log_wealth += math.log(1.0 + f * difference)
            gain += movers * difference
        for s in range(groups):
            # only now may later guesses know of this tuple
            past.people[b, s] += take[k, s]
            past.losses[b, s] += sums[k, s]
    return log_wealth, gain


@njit(cache=True)
def fit_cell_means(
    past: ObservedLosses, strata: int, means: FloatArray, variances: FloatArray
) -> tuple[float, float, float]:
    """Fill the guesses: means of cells, up to what is common to a block, and blocks' variances.

    Return by how much cells deviate from their groups' effects: the variance as moments have it
    and its standard error; and the largest difference of two groups' effects in a stratum.
    """
    overall = estimate_mean_loss(past)
    sigma = _bernoulli_variance(overall)
    effect = _shrink_effects(past, strata, sigma)
    variance, error = _estimate_cell_spread(past, effect, overall, variances)
    # beside a prior guess, each by its precision
    precision, prior = 1.0 / (error * error + TINY), 1.0 / CELL_SPREAD**4
    spread = (max(variance, 0.0) * precision + CELL_SPREAD**2 * prior) / (precision + prior)
    # where no deviations were found their prior weight must stay finite
    _fill_means(past, effect, sigma / max(spread, MIN_CELL_SPREAD**2), means)
    widest = 0.0
    for y in range(strata):
        widest = max(widest, effect[y].max() - effect[y].min())
    return variance, error, widest


@njit(cache=True)
def estimate_mean_loss(past: ObservedLosses) -> float:
    """Return the mean of all observed losses, drawn a little towards one half."""
    return float((past.losses.sum() + 1.0) / (past.people.sum() + 2.0))


@njit(cache=True)
def _bernoulli_variance(mean: float) -> float:
    """Return the variance of a loss of two values with a given mean, at least .01."""
    return float(max(mean * (1.0 - mean), 0.01))


@njit(cache=True)
def _shrink_effects(past: ObservedLosses, strata: int, sigma: float) -> FloatArray:
    """Return the guessed effect of each stratum and group, on average 0 over people.

    Notes
    -----
    A difference d from the others with weight w is shrunken as a normal prior of variance
    ``GROUP_SPREAD``² asks: d/(w + σ²/τ²) if d is the weighted sum. The difference from the *others*
    times their share is that from the whole.
    """
    effect, weight, people = estimate_group_effects(past, strata)
    for y in range(strata):
        many = people[y].sum()
        for s in range(effect.shape[1]):
            if weight[y, s] > 0.0:
                share = people[y, s] / many
                effect[y, s] *= (1.0 - share) / (weight[y, s] + sigma / GROUP_SPREAD**2)
    return effect


@njit(cache=True)
def estimate_group_effects(
    past: ObservedLosses, strata: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return, by stratum and group: the weighted difference from the rest, its weight, people."""
    blocks, groups = past.people.shape
    difference = np.zeros((strata, groups))
    weight = np.zeros((strata, groups))
    people = np.zeros((strata, groups))
    for b in range(blocks):
        y = past.strata[b]
        many, total = 0.0, 0.0
        for s in range(groups):
            many += past.people[b, s]
            total += past.losses[b, s]
        for s in range(groups):
            own = past.people[b, s]
            people[y, s] += own
            if 0.0 < own < many:
                # Mantel and Haenszel: one over the variance of the difference, in units of a loss's
                w = own * (many - own) / many
                rest = (total - past.losses[b, s]) / (many - own)
                difference[y, s] += w * (past.losses[b, s] / own - rest)
                weight[y, s] += w
    return difference, weight, people


@njit(cache=True)
def _estimate_cell_spread(
    past: ObservedLosses, effect: FloatArray, overall: float, variances: FloatArray
) -> tuple[float, float]:
    """Return the variance of cells around their groups' effects, by moments, and its error.

    Fill the blocks' variances of losses.
    """
    blocks, groups = past.people.shape
    excess, pairs, noise = 0.0, 0.0, 0.0
    for b in range(blocks):
        y = past.strata[b]
        many, total, rest = 0.0, 0.0, 0.0
        for s in range(groups):
            many += past.people[b, s]
            total += past.losses[b, s]
            rest += past.losses[b, s] - past.people[b, s] * effect[y, s]
        # a block whose few losses agree is not taken for one without variance
        mean = (total + BLOCK_WEIGHT * overall) / (many + BLOCK_WEIGHT)
        variances[b] = mean * (1.0 - mean) + MIN_LOSS_VARIANCE
        for s in range(groups):
            own = past.people[b, s]
            if 0.0 < own < many:
                z = past.losses[b, s] / own - rest / many - effect[y, s]
                # the cell is part of the block's mean, so that chance alone moves z by this much
                # less
                part = 1.0 - own / many
                excess += own * z * z - part * variances[b]
                noise += 2.0 * (part * variances[b]) ** 2
                pairs += own * part
    return excess / max(pairs, 1.0), math.sqrt(noise) / max(pairs, TINY)


@njit(cache=True)
def _fill_means(past: ObservedLosses, effect: FloatArray, weight: float, means: FloatArray) -> None:
    """Fill the guessed means; a cell's own mean counts as the prior does at ``weight`` people."""
    blocks, groups = past.people.shape
    for b in range(blocks):
        y = past.strata[b]
        base, total = 0.0, 0.0
        for s in range(groups):
            own = past.people[b, s]
            means[b, s] = effect[y, s]
            if own > 0.0:
                base += (past.losses[b, s] - own * effect[y, s]) / (own + weight)
                total += own / (own + weight)
        for s in range(groups):
            own = past.people[b, s]
            if own > 0.0:
                # the block's level is the mean of what its cells leave, each by how far it is
                # believed
                z = past.losses[b, s] / own - effect[y, s] - base / total
                means[b, s] += own / (own + weight) * z


@njit(cache=True)
def estimate_block_size(people: FloatArray, to_come: float) -> float:
    """Return how many people to come share a person's block, from collisions in the pilot.

    Notes
    -----
    Two people of the pilot are in one block with the chance that any two are: ordered pairs that
    collide, over all of them, estimate it. Half a collision is added, so that it is never 0.
    """
    pilot, collisions = 0.0, 0.5
    for b in range(len(people)):
        many = people[b].sum()
        pilot += many
        collisions += many * (many - 1.0)
    return float(1.0 + to_come * collisions / max(pilot * (pilot - 1.0), 1.0))


@njit(cache=True)
def estimate_gain_variance(past: ObservedLosses, strata: int, size: float) -> float:
    """Estimate the variance of what people gain when moved, a person, from the pilot.

    With a share p of targets in blocks of ``size`` people, a block has one with probability
    q = 1 − exp(−size · p). Then its movers add their own variance, and the targets that of their
    mean as often as there are movers.

    Notes
    -----
    Which group will be the target is not known: logarithms of the variance are averaged over
    groups, weighted by how much their standardised differences speak for them.
    """
    difference, weight, people = estimate_group_effects(past, strata)
    groups = people.shape[1]
    sums = np.zeros(strata)
    for b in range(len(past.strata)):
        sums[past.strata[b]] += past.losses[b].sum()
    total, all_people = 0.0, 0.0
    for y in range(strata):
        many = people[y].sum()
        if many == 0.0:
            continue
        sigma = _bernoulli_variance((sums[y] + 1.0) / (many + 2.0))
        chances, logs = 0.0, 0.0
        for s in range(groups):
            p = people[y, s] / many
            if p == 0.0:
                continue
            score = difference[y, s] / math.sqrt(sigma * max(weight[y, s], 1.0))
            # clamped, so that a chance stays a number and no group is ever ruled out
            chance = math.exp(SHARPNESS * min(max(score, -MAX_SCORE), MAX_SCORE))
            q = 1.0 - math.exp(-size * p)
            ratio = q * (1.0 - p) * (1.0 + (1.0 / size + 1.0 - p) * q / p)
            chances += chance
            logs += chance * math.log(max(ratio, MIN_VARIANCE_RATIO))
        total += many * sigma * math.exp(logs / chances)
        all_people += many
    return float(total / all_people) if all_people > 0.0 else 0.2


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
def compute_statistics(
    losses: FloatArray, people: FloatArray, mean: FloatArray, variance: FloatArray,
    stratum: IntArray, strata: int,
) -> FloatArray:  # fmt: skip
    """Compute both statistics of every table."""
    tables, blocks, groups = losses.shape
    spread = np.zeros((strata, groups))
    for b in range(blocks):
        many = people[b].sum()
        for s in range(groups):
            part = people[b, s] * (many - people[b, s]) / many
            # the variance of a group's sum when the block's losses are dealt out, without
            # replacement
            spread[stratum[b], s] += part * variance[b]
    result = np.zeros((tables, 2))
    excess = np.zeros((strata, groups))
    for i in range(tables):
        excess[:] = 0.0
        for b in range(blocks):
            for s in range(groups):
                if variance[b] > 0.0 and people[b, s] > 0.0:
                    more = losses[i, b, s] - people[b, s] * mean[b]
                    excess[stratum[b], s] += more
                    result[i, 1] += more * more / (people[b, s] * variance[b])
        result[i, 0] = _sum_largest_squares(excess, spread)
    return result


@njit(cache=True)
def _sum_largest_squares(excess: FloatArray, spread: FloatArray) -> float:
    """Return the sum over strata of the largest standardised square."""
    total = 0.0
    for y in range(excess.shape[0]):
        largest = 0.0
        for s in range(excess.shape[1]):
            if spread[y, s] > 0.0:
                largest = max(largest, excess[y, s] ** 2 / spread[y, s])
        total += largest
    return total


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
            for _ in range(people[b, s]):
                j = at + int(uniform[at] * (end - at))
                losses[at], losses[j] = losses[j], losses[at]
                total += losses[at]
                at += 1
            result[b, s] = total
        first = end
