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

from fairtransport.inference.rates.betting import MAX_ALIKE, MAX_SHUFFLED
from fairtransport.inference.rates.kernels import compute_statistics, deal_losses

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray
    from fairtransport.inference.rates.table import RateTable

TINY = 1e-12
"""A variance that is a rounding error."""
MAX_PERMUTED_SUMS = 2_000_000
"""Numbers that are drawn at a time."""


def permutation_pvalue(table: RateTable, resamples: int, rng: np.random.Generator) -> float:
    """Return the p-value of "losses do not depend on the group, given the block".

    The observed table counts as one of the draws, so that it is at least 1/(resamples + 1) and
    at most α with probability at most α, at every n.
    """
    shared = table.shared
    if not shared.any():
        return 1.0
    # the observed table is one of the draws: that makes the level exact at any number of them
    draws = [compute_table_statistics(table, table.losses[None])]
    at_a_time = max(1, MAX_PERMUTED_SUMS // table.cells)
    for first in range(0, resamples, at_a_time):
        many = min(at_a_time, resamples - first)
        few = table.n <= max(MAX_SHUFFLED, MAX_ALIKE * len(table.count))
        deal_tables = _deal_by_shuffling if few else _deal_by_counts
        draws.append(compute_table_statistics(table, deal_tables(table, many, rng)))
    return combine_pvalues(np.concatenate(draws))


def combine_pvalues(draws: FloatArray) -> float:
    """Return the p-value of the first row: the rank of the smaller of its two ranks."""
    # sums in another order differ in the last digits: nearly equal is equal
    rounded = np.round(draws, 9)
    ranks = [
        len(column) - np.searchsorted(np.sort(column), column, side="left") for column in rounded.T
    ]
    # the smaller of two ranks is not uniform; ranked among the draws' own it is again
    least = np.min(ranks, axis=0)
    return float(np.mean(least <= least[0]))


def compute_table_statistics(table: RateTable, losses: FloatArray) -> FloatArray:
    """Return (tables, 2) statistics of (tables, blocks, groups) sums of losses.

    The first adds up, over strata, the largest squared standardised excess of a group; the
    second, over blocks, the chi-squared distance of the groups' means from the block's.
    """
    people = table.people
    many = people.sum(axis=1)
    squares = table.sum_by_cell(table.count * table.value**2).sum(axis=1)
    total = table.losses.sum(axis=1)
    variance = np.maximum(squares - total**2 / many, 0) / np.maximum(many - 1, 1)
    # losses that are all alike leave a rounding error, which must not be divided by
    variance[variance < TINY] = 0
    return compute_statistics(
        losses, people.astype(float), total / many, variance, table.strata,
        int(table.strata.max()) + 1,
    )  # fmt: skip


def _deal_by_shuffling(table: RateTable, many: int, rng: np.random.Generator) -> FloatArray:
    """Deal out the losses of each block by shuffling them."""
    losses = np.repeat(table.value, table.count)
    result = np.empty((many, table.blocks, table.groups))
    people = table.people
    for i in range(many):
        deal_losses(losses, people, rng.random(len(losses)), result[i])
    return result


def _deal_by_counts(table: RateTable, many: int, rng: np.random.Generator) -> FloatArray:
    """Deal out the losses of each block by hypergeometric draws, group after group."""
    values, place = np.unique(table.value, return_inverse=True)
    block = table.cell // table.groups
    people = np.zeros((table.blocks, len(values)), np.int64)
    np.add.at(people, (block, place), table.count)
    rest = np.broadcast_to(people, (many, *people.shape)).copy()
    result = np.zeros((many, table.blocks, table.groups))
    for s in range(table.groups):
        missing = np.broadcast_to(table.people[:, s], (many, table.blocks)).copy()
        others = rest.sum(axis=2)
        for v, value in enumerate(values):
            others -= rest[:, :, v]
            draws = rng.hypergeometric(rest[:, :, v], others, missing)
            rest[:, :, v] -= draws
            missing -= draws
            result[:, :, s] += draws * value
    return result
