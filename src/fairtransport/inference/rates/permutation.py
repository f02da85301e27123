"""The exact stratified permutation test: losses are dealt out anew among the people of a block.

If loss and group are independent given the block, every way of dealing out a block's losses is
as likely as what was observed. For losses of two values that is R = 0. Two statistics are used: one
finds groups that fare worse across the blocks of a stratum, one finds differences of any sign,
block by block. The smaller of their two ranks among all draws is ranked once more among those of
the draws, so that the level is exact for both together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from fairtransport.inference.rates.orders import ALIKE, SHUFFLED

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.inference.rates.tables import RateTable

TINY = 1e-12
"""A variance that is a rounding error."""
MOST_NUMBERS = 2_000_000
"""Numbers that are drawn at a time."""


def permutation_pvalue(table: RateTable, resamples: int, rng: np.random.Generator) -> float:
    """Return the p-value of "losses do not depend on the group, given the block".

    The observed table counts as one of the draws, so that it is at least 1/(resamples + 1) and
    at most α with probability at most α, at every n.

    Parameters
    ----------
    table
        The sample.
    resamples
        How many tables are dealt out.
    rng
        Deals.

    Returns
    -------
    float
        1 if no block has people of two groups: there is nothing to deal out.
    """
    shared = table.shared
    if not shared.any():
        return 1.0
    # the observed table is one of the draws: that makes the level exact at any number of them
    drawn = [statistics(table, table.losses[None])]
    at_a_time = max(1, MOST_NUMBERS // table.cells)
    for first in range(0, resamples, at_a_time):
        many = min(at_a_time, resamples - first)
        few = table.n <= max(SHUFFLED, ALIKE * len(table.count))
        deal = _shuffled if few else _counted
        drawn.append(statistics(table, deal(table, many, rng)))
    return combined_pvalue(np.concatenate(drawn))


def combined_pvalue(drawn: FloatArray) -> float:
    """Return the p-value of the first row: the rank of the smaller of its two ranks.

    Parameters
    ----------
    drawn
        (tables, 2) statistics, the observed table's first; large values speak against the
        hypothesis.

    Examples
    --------
    The largest of both among four tables, and one in the middle of them:

    >>> combined_pvalue(np.array([[9.0, 9.0], [1.0, 2.0], [2.0, 1.0], [3.0, 3.0]]))
    0.25
    >>> combined_pvalue(np.array([[2.0, 2.0], [1.0, 3.0], [3.0, 1.0], [0.0, 0.0]]))
    0.75
    """
    # sums in another order differ in the last digits: nearly equal is equal
    rounded = np.round(drawn, 9)
    ranks = [
        len(column) - np.searchsorted(np.sort(column), column, side="left") for column in rounded.T
    ]
    # the smaller of two ranks is not uniform; ranked among the draws' own it is again
    least = np.min(ranks, axis=0)
    return float(np.mean(least <= least[0]))


def statistics(table: RateTable, losses: FloatArray) -> FloatArray:
    """Return (tables, 2) statistics of (tables, blocks, groups) sums of losses.

    The first adds up, over strata, the largest squared standardised excess of a group; the
    second, over blocks, the chi-squared distance of the groups' means from the block's.

    Parameters
    ----------
    table
        The sample. Blocks' means and variances are those of its losses, which dealing out
        does not change.
    losses
        Sums by block and group: the observed ones, or dealt out.
    """
    people = table.people
    many = people.sum(axis=1)
    squares = table.added(table.count * table.value**2).sum(axis=1)
    total = table.losses.sum(axis=1)
    variance = np.maximum(squares - total**2 / many, 0) / np.maximum(many - 1, 1)
    # losses that are all alike leave a rounding error, which must not be divided by
    variance[variance < TINY] = 0
    return _statistics(
        losses, people.astype(float), total / many, variance, table.strata,
        int(table.strata.max()) + 1,
    )  # fmt: skip


@njit(cache=True)
def _statistics(
    losses: FloatArray, people: FloatArray, mean: FloatArray, variance: FloatArray,
    stratum: IntArray, strata: int,
) -> FloatArray:  # fmt: skip
    """Compute both statistics of every table.

    Parameters
    ----------
    losses
        (tables, blocks, groups) sums.
    people
        (blocks, groups).
    mean, variance
        By block; a block whose losses are all alike has variance 0 and tells nothing.
    stratum, strata
        The stratum of each block, and how many there are.

    Returns
    -------
    ndarray
        (tables, 2).
    """
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
        result[i, 0] = _largest(excess, spread)
    return result


@njit(cache=True)
def _largest(excess: FloatArray, spread: FloatArray) -> float:
    """Return the sum over strata of the largest standardised square.

    Parameters
    ----------
    excess
        (strata, groups) losses beyond what the blocks' means let expect.
    spread
        (strata, groups) their variances; 0 where nothing can vary.

    Examples
    --------
    >>> float(_largest(np.array([[2.0, -1.0]]), np.array([[4.0, 0.0]])))
    1.0
    """
    total = 0.0
    for y in range(excess.shape[0]):
        largest = 0.0
        for s in range(excess.shape[1]):
            if spread[y, s] > 0.0:
                largest = max(largest, excess[y, s] ** 2 / spread[y, s])
        total += largest
    return total


def _shuffled(table: RateTable, many: int, rng: np.random.Generator) -> FloatArray:
    """Deal out the losses of each block by shuffling them.

    Parameters
    ----------
    table
        The sample, its entries block after block.
    many
        How many tables.
    rng
        Draws a number a person and table.

    Returns
    -------
    ndarray
        (many, blocks, groups) sums. The losses are shuffled on from where the last table left
        them: a uniform shuffle of any order is uniform.
    """
    losses = np.repeat(table.value, table.count)
    result = np.empty((many, table.blocks, table.groups))
    people = table.people
    for i in range(many):
        _deal(losses, people, rng.random(len(losses)), result[i])
    return result


@njit(cache=True)
def _deal(losses: FloatArray, people: IntArray, uniform: FloatArray, result: FloatArray) -> None:
    """Deal one table: the first people of each block are those of its first group, and so on.

    Parameters
    ----------
    losses
        Block after block; shuffled in place.
    people
        (blocks, groups).
    uniform
        A number in [0, 1) for each person.
    result
        (blocks, groups), filled with sums.
    """
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


def _counted(table: RateTable, many: int, rng: np.random.Generator) -> FloatArray:
    """Deal out the losses of each block by hypergeometric draws, group after group.

    Parameters
    ----------
    table, many, rng
        As in `_shuffled`.

    Returns
    -------
    ndarray
        (many, blocks, groups) sums; the cost grows with distinct losses, not with people.
    """
    values, place = np.unique(table.value, return_inverse=True)
    block = table.cell // table.groups
    left = np.zeros((table.blocks, len(values)), np.int64)
    np.add.at(left, (block, place), table.count)
    rest = np.broadcast_to(left, (many, *left.shape)).copy()
    result = np.zeros((many, table.blocks, table.groups))
    for s in range(table.groups):
        wanted = np.broadcast_to(table.people[:, s], (many, table.blocks)).copy()
        others = rest.sum(axis=2)
        for v, value in enumerate(values):
            others -= rest[:, :, v]
            drawn = rng.hypergeometric(rest[:, :, v], others, wanted)
            rest[:, :, v] -= drawn
            wanted -= drawn
            result[:, :, s] += drawn * value
    return result
