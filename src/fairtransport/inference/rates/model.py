"""What unsealed losses say of the cells: a guess of their means, from which bets are chosen.

A cell's mean is modelled as that of its block, plus an effect of its group that is one in each
stratum (by Mantel and Haenszel's weights, shrunken), plus a deviation of its own, shrunken by how
much cells were seen to differ. Nothing that is promised depends on this guess: it is made from
losses that are unsealed, and that is all.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray

GROUP_SPREAD = 0.2
"""Prior standard deviation of a group's effect."""
CELL_SPREAD = 0.05
"""Prior standard deviation of a cell's deviation."""
LEAST_SPREAD = 0.003
TINY = 1e-12
BLOCK_WEIGHT = 4.0
"""People that the overall mean counts for in a block's variance."""
FLOOR = 0.005
"""Least variance of a loss."""
SHARPNESS, MOST_SCORE = 1.5, 16 / 3
"""How much a standardised difference of 1 makes a group likelier to be the target, and the
largest that counts."""
LEAST_RATIO = 0.02
"""Least variance of gains, in units of a loss's."""


class Seen(NamedTuple):
    """Losses that are unsealed, added up by block and group.

    Attributes
    ----------
    people, losses
        (blocks, groups) how many are unsealed and what their losses add up to.
    strata
        The stratum of each block.
    """

    people: FloatArray
    losses: FloatArray
    strata: IntArray


@njit(cache=True)
def _variance(mean: float) -> float:
    """Return the variance of a loss of two values with a given mean, at least .01."""
    return float(max(mean * (1.0 - mean), 0.01))


@njit(cache=True)
def group_effects(seen: Seen, strata: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return, by stratum and group: the weighted difference from the rest, its weight, people.

    Parameters
    ----------
    seen
        The unsealed losses.
    strata
        How many strata there are.

    Returns
    -------
    difference
        (strata, groups) Σ over blocks of w · (mean of the group − mean of the others).
    weight
        (strata, groups) Σ w, with Mantel and Haenszel's w = n_own · n_rest/n, which is what a block
        with so many of both tells in units of one loss's precision.
    people
        (strata, groups) how many are unsealed.

    Examples
    --------
    Two people of each group in one block; the second group always loses.

    >>> seen = Seen(np.array([[2.0, 2.0]]), np.array([[0.0, 2.0]]), np.array([0]))
    >>> difference, weight, _ = group_effects(seen, 1)
    >>> difference.tolist(), weight.tolist()
    ([[-1.0, 1.0]], [[1.0, 1.0]])
    """
    blocks, groups = seen.people.shape
    difference = np.zeros((strata, groups))
    weight = np.zeros((strata, groups))
    people = np.zeros((strata, groups))
    for b in range(blocks):
        y = seen.strata[b]
        many, total = 0.0, 0.0
        for s in range(groups):
            many += seen.people[b, s]
            total += seen.losses[b, s]
        for s in range(groups):
            own = seen.people[b, s]
            people[y, s] += own
            if 0.0 < own < many:
                # Mantel and Haenszel: one over the variance of the difference, in units of a loss's
                w = own * (many - own) / many
                rest = (total - seen.losses[b, s]) / (many - own)
                difference[y, s] += w * (seen.losses[b, s] / own - rest)
                weight[y, s] += w
    return difference, weight, people


@njit(cache=True)
def overall_mean(seen: Seen) -> float:
    """Return the mean of all unsealed losses, drawn a little towards one half.

    Parameters
    ----------
    seen
        The unsealed losses; two imaginary ones, 0 and 1, are added.

    Examples
    --------
    >>> seen = Seen(np.array([[2.0, 0.0]]), np.array([[2.0, 0.0]]), np.array([0]))
    >>> overall_mean(seen)
    0.75
    """
    return float((seen.losses.sum() + 1.0) / (seen.people.sum() + 2.0))


@njit(cache=True)
def _shrunken_effects(seen: Seen, strata: int, sigma: float) -> FloatArray:
    """Return the guessed effect of each stratum and group, on average 0 over people.

    Parameters
    ----------
    seen, strata
        The unsealed losses, and how many strata there are.
    sigma
        The variance of a loss.

    Notes
    -----
    A difference d from the others with weight w is shrunken as a normal prior of variance
    ``GROUP_SPREAD``² asks: d/(w + σ²/τ²) if d is the weighted sum. The difference from the *others*
    times their share is that from the whole.
    """
    effect, weight, people = group_effects(seen, strata)
    for y in range(strata):
        many = people[y].sum()
        for s in range(effect.shape[1]):
            if weight[y, s] > 0.0:
                share = people[y, s] / many
                effect[y, s] *= (1.0 - share) / (weight[y, s] + sigma / GROUP_SPREAD**2)
    return effect


@njit(cache=True)
def _spread_of_cells(
    seen: Seen, effect: FloatArray, overall: float, variances: FloatArray
) -> tuple[float, float]:
    """Return the variance of cells around their groups' effects, by moments, and its error.

    Fill the blocks' variances of losses.

    Parameters
    ----------
    seen
        The unsealed losses.
    effect
        (strata, groups) from `_shrunken_effects`.
    overall
        The mean of all, which a block's mean is drawn towards.
    variances
        By block, filled.

    Returns
    -------
    found
        The excess of squared deviations over what chance alone gives, a pair of people; it
        may be negative.
    error
        Its standard error if cells did not deviate.
    """
    blocks, groups = seen.people.shape
    excess, pairs, noise = 0.0, 0.0, 0.0
    for b in range(blocks):
        y = seen.strata[b]
        many, total, rest = 0.0, 0.0, 0.0
        for s in range(groups):
            many += seen.people[b, s]
            total += seen.losses[b, s]
            rest += seen.losses[b, s] - seen.people[b, s] * effect[y, s]
        # a block whose few losses agree is not taken for one without variance
        mean = (total + BLOCK_WEIGHT * overall) / (many + BLOCK_WEIGHT)
        variances[b] = mean * (1.0 - mean) + FLOOR
        for s in range(groups):
            own = seen.people[b, s]
            if 0.0 < own < many:
                z = seen.losses[b, s] / own - rest / many - effect[y, s]
                # the cell is part of the block's mean, so that chance alone moves z by this much
                # less
                part = 1.0 - own / many
                excess += own * z * z - part * variances[b]
                noise += 2.0 * (part * variances[b]) ** 2
                pairs += own * part
    return excess / max(pairs, 1.0), math.sqrt(noise) / max(pairs, TINY)


@njit(cache=True)
def _fill_means(seen: Seen, effect: FloatArray, weight: float, means: FloatArray) -> None:
    """Fill the guessed means; a cell's own mean counts as the prior does at ``weight`` people.

    Parameters
    ----------
    seen
        The unsealed losses.
    effect
        (strata, groups) the groups' effects.
    weight
        σ²/τ², variance of a loss over that of cells: many people, few deviations.
    means
        (blocks, groups), filled: effect plus shrunken deviation. What all groups of a block
        share is left out, as bets compare within blocks.
    """
    blocks, groups = seen.people.shape
    for b in range(blocks):
        y = seen.strata[b]
        base, total = 0.0, 0.0
        for s in range(groups):
            own = seen.people[b, s]
            means[b, s] = effect[y, s]
            if own > 0.0:
                base += (seen.losses[b, s] - own * effect[y, s]) / (own + weight)
                total += own / (own + weight)
        for s in range(groups):
            own = seen.people[b, s]
            if own > 0.0:
                # the block's level is the mean of what its cells leave, each by how far it is
                # believed
                z = seen.losses[b, s] / own - effect[y, s] - base / total
                means[b, s] += own / (own + weight) * z


@njit(cache=True)
def fit(
    seen: Seen, strata: int, means: FloatArray, variances: FloatArray
) -> tuple[float, float, float]:
    """Fill the guesses: means of cells, up to what is common to a block, and blocks' variances.

    Return by how much cells deviate from their groups' effects: the variance as moments have it
    and its standard error; and the largest difference of two groups' effects in a stratum.

    Parameters
    ----------
    seen
        The unsealed losses, and nothing else: that makes the guesses predictable.
    strata
        How many strata there are.
    means, variances
        (blocks, groups) and (blocks,), filled.

    Returns
    -------
    found, error, widest
        What decides whether a longer pilot pays.
    """
    overall = overall_mean(seen)
    sigma = _variance(overall)
    effect = _shrunken_effects(seen, strata, sigma)
    found, error = _spread_of_cells(seen, effect, overall, variances)
    # beside a prior guess, each by its precision
    known, prior = 1.0 / (error * error + TINY), 1.0 / CELL_SPREAD**4
    spread = (max(found, 0.0) * known + CELL_SPREAD**2 * prior) / (known + prior)
    # where no deviations were found their prior weight must stay finite
    _fill_means(seen, effect, sigma / max(spread, LEAST_SPREAD**2), means)
    widest = 0.0
    for y in range(strata):
        widest = max(widest, effect[y].max() - effect[y].min())
    return found, error, widest


@njit(cache=True)
def block_size(people: FloatArray, to_come: float) -> float:
    """Return how many people to come share a person's block, from collisions in the pilot.

    Parameters
    ----------
    people
        (blocks, groups) the pilot.
    to_come
        How many people are sealed.

    Notes
    -----
    Two people of the pilot are in one block with the chance that any two are: ordered pairs that
    collide, over all of them, estimate it. Half a collision is added, so that it is never 0.

    Examples
    --------
    Ten people of the pilot in one block, and ninety to come: all of them share it.

    >>> block_size(np.array([[5.0, 5.0]]), 90.0)
    91.5
    """
    pilot, collisions = 0.0, 0.5
    for b in range(len(people)):
        many = people[b].sum()
        pilot += many
        collisions += many * (many - 1.0)
    return float(1.0 + to_come * collisions / max(pilot * (pilot - 1.0), 1.0))


@njit(cache=True)
def variance_of_gains(seen: Seen, strata: int, size: float) -> float:
    """Guess the variance of what people gain when moved, a person, from the pilot.

    With a share p of targets in blocks of ``size`` people, a block has one with probability
    q = 1 − exp(−size · p). Then its movers add their own variance, and the targets that of their
    mean as often as there are movers.

    Parameters
    ----------
    seen
        The pilot's losses.
    strata
        How many strata there are.
    size
        How many people a block will have, from `block_size`.

    Returns
    -------
    float
        v of λ = √(2 log(1/α)/(N v)); a bad guess makes a bound weaker, never wrong.

    Notes
    -----
    Which group will be the target is not known: logarithms of the variance are averaged over
    groups, weighted by how much their standardised differences speak for them.
    """
    difference, weight, people = group_effects(seen, strata)
    groups = people.shape[1]
    sums = np.zeros(strata)
    for b in range(len(seen.strata)):
        sums[seen.strata[b]] += seen.losses[b].sum()
    total, all_people = 0.0, 0.0
    for y in range(strata):
        many = people[y].sum()
        if many == 0.0:
            continue
        sigma = _variance((sums[y] + 1.0) / (many + 2.0))
        chances, logs = 0.0, 0.0
        for s in range(groups):
            p = people[y, s] / many
            if p == 0.0:
                continue
            score = difference[y, s] / math.sqrt(sigma * max(weight[y, s], 1.0))
            # clamped, so that a chance stays a number and no group is ever ruled out
            chance = math.exp(SHARPNESS * min(max(score, -MOST_SCORE), MOST_SCORE))
            q = 1.0 - math.exp(-size * p)
            ratio = q * (1.0 - p) * (1.0 + (1.0 / size + 1.0 - p) * q / p)
            chances += chance
            logs += chance * math.log(max(ratio, LEAST_RATIO))
        total += many * sigma * math.exp(logs / chances)
        all_people += many
    return float(total / all_people) if all_people > 0.0 else 0.2
