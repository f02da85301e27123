"""Guesses of the mean losses of cells, from losses observed so far, for several orders at once.

The mean of a cell is that of the block, plus an effect of the group that is one in each stratum (by
Mantel and Haenszel's weights, shrunken), plus a deviation of the cell, shrunken by the observed
spread of cells. No guarantee depends on this model, which uses observed losses only.

The blocks of all orders form one row, order after order, and each order has its own strata. Arrays
have groups first, so that operations run along that row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray, IntArray

GROUP_SPREAD = 0.2
"""Prior standard deviation of a group's effect."""
CELL_SPREAD = 0.05
"""Prior standard deviation of a cell's deviation."""
MIN_CELL_SPREAD = 0.003
TINY = 1e-12
BLOCK_WEIGHT = 4.0
"""Weight of the overall mean in a block's variance, in people."""
MIN_LOSS_VARIANCE = 0.005
"""Minimum variance of a loss."""
MIN_BERNOULLI_VARIANCE = 0.01
"""Minimum variance of a loss of two values."""
MEAN_DIGITS = 12
MAX_BLOCKS_AT_ONCE = 16_384
"""Number of blocks or tuples processed at once, which fit into caches."""
MAX_DENSE_GROUPS = 8
"""Maximum number of groups at which empty cells are processed like others."""


class ObservedLosses(NamedTuple):
    """Sums of observed losses: (groups, blocks), and the stratum of each block.

    Stratum y of order o has the number o · strata + y.
    """

    people: FloatArray
    losses: FloatArray
    strata: IntArray

    def select(self, blocks: IntArray | slice) -> ObservedLosses:
        """Return the observations in some blocks."""
        if isinstance(blocks, slice):
            own = self.people[:, blocks], self.losses[:, blocks]
        else:
            # unlike an index, `take` lets groups come first in memory, too
            own = self.people.take(blocks, axis=1), self.losses.take(blocks, axis=1)
        return ObservedLosses(*own, self.strata[blocks])


class BlockSums(NamedTuple):
    """Sums over blocks that guesses depend on, (…, orders, strata) of each.

    With n_s people and losses l_s by group, n and l in all, of a block: people n_s and losses l;
    collisions n(n − 1); excess l_s − n_s·l/n; squares Σ l_s²/n_s − l²/n; polynomials in the
    overall mean o, as a block's variance is one of degree two: `chance` of (groups − 1)·variance,
    `noise` of Σ (1 − n_s/n)²·variance²; products n_s·n_t/n.
    """

    people: FloatArray
    losses: FloatArray
    collisions: FloatArray
    excess: FloatArray
    squares: FloatArray
    chance: FloatArray
    noise: FloatArray
    products: FloatArray


class EffectFit(NamedTuple):
    """Common parts of guesses: the mean loss, effects of groups, the weight of cells' own means.

    All by order, effects (groups, orders, strata). ``spread`` is the moment estimate of the
    variance of cells around the effects, ``error`` its standard error; a cell's own mean has the
    weight of the prior at ``weight`` people.
    """

    overall: FloatArray
    effect: FloatArray
    weight: FloatArray
    spread: FloatArray
    error: FloatArray


def sum_blocks(past: ObservedLosses, orders: int, strata: int) -> BlockSums:
    """Return the sums over all blocks of each order."""
    sums = sum_nothing(len(past.people), orders, strata)
    occupied = np.flatnonzero(past.people.any(axis=0))
    for part in split_blocks(len(occupied)):
        add_blocks(sums, past.select(occupied[part]), 1.0)
    return sums


def sum_nothing(groups: int, orders: int, strata: int) -> BlockSums:
    """Return the sums over no blocks."""
    shapes = (groups,), (), (), (groups,), (), (3,), (5,), (groups, groups)
    return BlockSums(*(np.zeros((*shape, orders, strata)) for shape in shapes))


def split_blocks(blocks: int) -> list[slice]:
    """Return the parts of a row of blocks that are processed at once."""
    return [slice(low, low + MAX_BLOCKS_AT_ONCE) for low in range(0, blocks, MAX_BLOCKS_AT_ONCE)]


def add_blocks(sums: BlockSums, blocks: ObservedLosses, sign: float) -> None:
    """Add blocks to the sums, or with sign −1 remove them."""
    people, losses, strata = blocks
    many, total = people.sum(axis=0), losses.sum(axis=0)
    share = people / np.maximum(many, 1.0)
    # for a block with people of one group, all of the following is 0
    excess = losses - share * total
    squares = (losses**2 / np.maximum(people, 1.0)).sum(axis=0) - total**2 / np.maximum(many, 1.0)
    v0, v1, v2 = _variance_polynomial(many, total)
    exists = people > 0
    chance = np.maximum(exists.sum(axis=0) - 1, 0)
    # the cell is part of the block's mean, which reduces its noise by this factor
    noise = (exists * (1.0 - share) ** 2).sum(axis=0)
    columns = (
        people, [total], [many * (many - 1.0)], excess, [squares],
        [chance * v for v in (v0, v1, v2)],
        [noise * v for v in (v0 * v0, 2 * v0 * v1, v1 * v1 + 2 * v0 * v2, 2 * v1 * v2, v2 * v2)],
    )  # fmt: skip
    for result, parts in zip(sums, columns, strict=False):
        flat = result.reshape(len(parts), -1)
        for place, part in enumerate(parts):
            flat[place] += sign * np.bincount(strata, part, flat.shape[1])
    products = sums.products.reshape(len(people), len(people), -1)
    for s in range(len(people)):
        here = find_occupied(people, s)
        own, places = share[s][here], strata[here]
        for t in range(s, len(people)):
            overlap = np.bincount(places, own * people[t][here], products.shape[2])
            products[s, t] += sign * overlap
            products[t, s] = products[s, t]


def find_occupied(people: FloatArray | IntArray, s: int) -> IntArray | slice:
    """Return the blocks with people of a group; all of them if there are few groups.

    With many groups most cells are empty, and the search for the others pays off.
    """
    return np.flatnonzero(people[s]) if len(people) > MAX_DENSE_GROUPS else slice(None)


def _variance_polynomial(
    many: FloatArray, total: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return blocks' variances of losses, by powers of the overall mean.

    A block of few equal losses is not treated as one without variance: the overall mean counts for
    ``BLOCK_WEIGHT`` people.
    """
    own, common = total / (many + BLOCK_WEIGHT), BLOCK_WEIGHT / (many + BLOCK_WEIGHT)
    return own - own * own + MIN_LOSS_VARIANCE, common - 2.0 * own * common, -common * common


def fit_effects(sums: BlockSums) -> EffectFit:
    """Fit the common parts of guesses."""
    # shrunken a little towards one half
    o = (sums.losses.sum(axis=1) + 1.0) / (sums.people.sum(axis=(0, 2)) + 2.0)
    sigma = np.maximum(o * (1.0 - o), MIN_BERNOULLI_VARIANCE)
    weights = sum_weights(sums)
    effect = _shrink_effects(sums, weights, sigma)
    chance, noise = sums.chance.sum(axis=2), sums.noise.sum(axis=2)
    # the rest of the squares without the effects in the means
    rest = sums.people * effect - np.einsum("stoy,toy->soy", sums.products, effect)
    rest -= 2.0 * sums.excess
    deviation = sums.squares.sum(axis=1) - (chance[0] + o * (chance[1] + o * chance[2]))
    deviation += (effect * rest).sum(axis=(0, 2))
    noise = (noise * o ** np.arange(len(noise))[:, None]).sum(axis=0)
    pairs = weights.sum(axis=(0, 2))
    spread = deviation / np.maximum(pairs, 1.0)
    error = np.sqrt(np.maximum(2.0 * noise, 0.0)) / np.maximum(pairs, TINY)
    # combined with a prior guess, each weighted by its precision
    precision, prior = 1.0 / (error * error + TINY), 1.0 / CELL_SPREAD**4
    believed = (np.maximum(spread, 0.0) * precision + CELL_SPREAD**2 * prior) / (precision + prior)
    # without deviations the weight of the prior must stay finite
    return EffectFit(o, effect, sigma / np.maximum(believed, MIN_CELL_SPREAD**2), spread, error)


def sum_weights(sums: BlockSums) -> FloatArray:
    """Return the sums of n_s(n − n_s)/n over blocks."""
    return np.asarray(sums.people - np.einsum("ssoy->soy", sums.products))


def _shrink_effects(sums: BlockSums, weights: FloatArray, sigma: FloatArray) -> FloatArray:
    """Return the guessed effects of groups in strata, on average 0 over people.

    Mantel and Haenszel's: w = n_s(n − n_s)/n is one over the variance of a block's difference
    from the others, in units of a loss's, and the excess is that difference times w. A sum d of
    weight w is shrunken by a normal prior of variance ``GROUP_SPREAD``²: d/(w + σ²/τ²). The
    difference from the *others* times their share is that from the whole.
    """
    others = 1.0 - sums.people / np.maximum(sums.people.sum(axis=0), 1.0)
    shrunken = sums.excess / (np.maximum(weights, 0.0) + sigma[:, None] / GROUP_SPREAD**2)
    return np.where(weights > 0.0, others * shrunken, 0.0)


def guess_means(past: ObservedLosses, fit: EffectFit) -> tuple[FloatArray, FloatArray]:
    """Return guessed means of cells, up to a constant of the block, and blocks' variances.

    Means are rounded, so that ties between cells do not depend on the order of additions.
    """
    people, losses, strata = past
    groups, _, n_strata = fit.effect.shape
    order, effect = strata // n_strata, fit.effect.reshape(groups, -1).take(strata, axis=1)
    counted = people + fit.weight[order]
    own, believed = (losses - people * effect) / counted, people / counted
    # the block's level is the mean of its cells' residuals, weighted by their reliability
    level = own.sum(axis=0) / np.maximum(believed.sum(axis=0), TINY)
    v0, v1, v2 = _variance_polynomial(people.sum(axis=0), losses.sum(axis=0))
    overall = fit.overall[order]
    means = np.round(effect + own - believed * level, MEAN_DIGITS)
    return means, v0 + overall * (v1 + overall * v2)
