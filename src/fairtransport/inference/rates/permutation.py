"""The exact stratified permutation test: losses are permuted among the people of a block.

If loss and group are independent given the block, every permutation of a block's losses is as
likely as the observed one. For losses of two values that is R = 0. One statistic finds groups that
fare worse across the blocks of a stratum, another one finds differences of any sign in single
blocks. Both are standardised by separate permutations, and the larger is tested. Permutations end
early by Besag and Clifford's sequential rule (Biometrika 78, 1991).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.inference.rates.betting import MAX_ALIKE, MAX_SHUFFLED
from fairtransport.inference.rates.kernels import deal_losses, deal_units

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport._core.units import Units
    from fairtransport._core.validation import BoolArray, FloatArray, IntArray
    from fairtransport.inference.rates.table import RateTable

TINY = 1e-12
"""Variances below this are rounding errors."""
MAX_PERMUTED_SUMS = 2_000_000
"""Maximum number of sums drawn at once."""
MAX_EXCEEDANCES = 20
"""Number of permutations at least as extreme as the sample that end the test."""
CALIBRATION_DEALS, LARGE_SAMPLE_DEALS = 50, 20
"""Numbers of permutations to standardise with; the second beyond ``MAX_SHUFFLED`` people."""
ROUNDING = 1e-9
"""Tolerance of equal standardised statistics, whose sums differ with their order."""


class Standards(NamedTuple):
    """Mean and variance of the two statistics over permutations; 0 means no information."""

    mean: FloatArray
    variance: FloatArray

    def combine(self, statistics: FloatArray) -> FloatArray:
        """Return the larger of the two statistics of each table, as standard normal quantiles.

        Wilson and Hilferty: the cube root of a gamma variable over its mean is nearly normal.
        """
        varies = self.variance > TINY * self.mean**2
        if not varies.any():
            return np.zeros(len(statistics))
        mean = self.mean[varies]
        error = self.variance[varies] / (9 * mean**2)
        roots = np.cbrt(statistics[:, varies] / mean)
        return np.asarray(((roots - 1 + error) / np.sqrt(error)).max(axis=1))


def permutation_pvalue(
    table: RateTable, resamples: int, rng: np.random.Generator, units: Units | None = None
) -> float:
    """Return the p-value of "losses do not depend on the group, given the block".

    It is at most α with probability at most α, at every n. With ``units``, whose points are the
    entries of the table, whole units are permuted: the hypothesis is then that the losses of a
    unit's members, together, do not depend on their groups.

    Blocks with people of one group, or with one loss, never change. Statistics are standardised by
    separate permutations, so that the sample and its permutations are exchangeable under the
    hypothesis.
    """
    informative = table.shared & (find_block_variances(table) > 0)
    if not informative.any():
        return 1.0
    deck = build_deck(table.select(informative)) if units is None else UnitDeck(table, units)
    standards = fit_standards(deck, rng)
    observed = standards.combine(deck.compute_statistics(deck.table.losses[None]))[0]

    def exceed(many: int) -> BoolArray:
        """Return which of some further permutations are at least as extreme as the sample."""
        statistics = deck.compute_statistics(deck.deal(many, rng))
        return np.asarray(standards.combine(statistics) >= observed - ROUNDING)

    return find_sequential_pvalue(exceed, resamples, deck.max_deals)


def find_sequential_pvalue(
    exceed: Callable[[int], BoolArray], resamples: int, max_batch: int = MAX_EXCEEDANCES
) -> float:
    """Return Besag and Clifford's p-value: h/l if the h-th exceedance is draw l, else (g+1)/(n+1).

    h/l or less means fewer than h exceedances among the first l − 1 draws: of l exchangeable
    numbers the sample's is one of the h largest, with probability at most h/l.
    """
    exceedances, dealt = 0, 0
    while dealt < resamples:
        many = min(MAX_EXCEEDANCES, max_batch, resamples - dealt)
        totals = exceedances + np.cumsum(exceed(many))
        if totals[-1] >= MAX_EXCEEDANCES:
            last = dealt + 1 + int(np.argmax(totals >= MAX_EXCEEDANCES))
            return MAX_EXCEEDANCES / last
        exceedances, dealt = int(totals[-1]), dealt + many
    return (exceedances + 1) / (resamples + 1)


def fit_standards(deck: Deck, rng: np.random.Generator) -> Standards:
    """Return mean and variance of the statistics over separate permutations."""
    deals = CALIBRATION_DEALS if deck.table.n <= MAX_SHUFFLED else LARGE_SAMPLE_DEALS
    statistics = np.concatenate([
        deck.compute_statistics(deck.deal(min(deck.max_deals, deals - first), rng))
        for first in range(0, deals, deck.max_deals)
    ])  # fmt: skip
    return Standards(statistics.mean(axis=0), statistics.var(axis=0))


def find_block_variances(table: RateTable) -> FloatArray:
    """Return the variance of the losses of each block; 0 if it is a rounding error."""
    many, total = table.people.sum(axis=1), table.losses.sum(axis=1)
    squares = table.sum_by_cell(table.count * table.value**2).sum(axis=1)
    variance = np.maximum(squares - total**2 / many, 0) / np.maximum(many - 1, 1)
    # equal losses leave a rounding error, which must not become a divisor
    return np.where(variance < TINY, 0.0, variance)


def build_deck(table: RateTable) -> Deck:
    """Return the losses of independent people in the deck that deals fastest."""
    few = table.n <= max(MAX_SHUFFLED, MAX_ALIKE * len(table.count))
    return ShuffledDeck(table) if few else CountedDeck(table)


class Deck:
    """Losses to be permuted."""

    def __init__(self, table: RateTable) -> None:
        self.table = table
        many = table.people.sum(axis=1, keepdims=True)
        variance = find_block_variances(table)[:, None]
        self._expected = table.people * (table.losses.sum(axis=1, keepdims=True) / many)
        informative = (variance > 0) & (table.people > 0)
        self._weight = np.zeros(table.people.shape)
        np.divide(1, table.people * variance, out=self._weight, where=informative)
        # blocks by stratum; the variance of a group's sum when losses are dealt out, without
        # replacement
        self._order = np.argsort(table.strata, kind="stable")
        self._first = np.flatnonzero(np.diff(table.strata[self._order], prepend=-1))
        spread = self._sum_strata(table.people * (many - table.people) / many * variance)
        self._precision = np.divide(1, spread, out=np.zeros(spread.shape), where=spread > 0)
        self.max_deals = max(1, MAX_PERMUTED_SUMS // table.cells)

    def deal(self, many: int, rng: np.random.Generator) -> FloatArray:
        """Return (many, blocks, groups) sums of losses."""
        raise NotImplementedError

    def compute_statistics(self, losses: FloatArray) -> FloatArray:
        """Return (tables, 2) statistics of (tables, blocks, groups) sums of losses.

        The first adds up, over strata, the largest squared standardised excess of a group; the
        second, over blocks, the chi-squared distance of the groups' means from the block's.
        """
        excess = np.where(self._weight > 0, losses - self._expected, 0.0)
        by_group = self._sum_strata(excess) ** 2 * self._precision
        by_block = np.einsum("tbs,bs->t", excess**2, self._weight)
        return np.column_stack([by_group.max(axis=2).sum(axis=1), by_block])

    def _sum_strata(self, values: FloatArray) -> FloatArray:
        """Add up (…, blocks, groups) values over the blocks of each stratum."""
        return np.add.reduceat(values[..., self._order, :], self._first, axis=-2)


class ShuffledDeck(Deck):
    """Losses that are shuffled in each block."""

    def __init__(self, table: RateTable) -> None:
        super().__init__(table)
        self._losses = np.repeat(table.value, table.count)

    def deal(self, many: int, rng: np.random.Generator) -> FloatArray:
        """Permute the losses of each block by shuffling."""
        result = np.empty((many, *self.table.people.shape))
        for sums in result:
            deal_losses(self._losses, self.table.people, rng.random(len(self._losses)), sums)
        return result


class CountedDeck(Deck):
    """Losses that are counted in each block by value."""

    def __init__(self, table: RateTable) -> None:
        super().__init__(table)
        self._values, place = np.unique(table.value, return_inverse=True)
        self._counts = np.zeros((table.blocks, len(self._values)), np.int64)
        np.add.at(self._counts, (table.cell // table.groups, place), table.count)

    def deal(self, many: int, rng: np.random.Generator) -> FloatArray:
        """Permute the losses of each block by hypergeometric draws, group after group."""
        table = self.table
        rest = np.broadcast_to(self._counts, (many, *self._counts.shape)).copy()
        result = np.zeros((many, table.blocks, table.groups))
        for s in range(table.groups - 1):
            missing = np.broadcast_to(table.people[:, s], (many, table.blocks)).copy()
            others = rest.sum(axis=2)
            for v, value in enumerate(self._values[:-1]):
                others -= rest[:, :, v]
                draws = rng.hypergeometric(rest[:, :, v], others, missing)
                rest[:, :, v] -= draws
                missing -= draws
                result[:, :, s] += draws * value
            # the last value and the last group are determined by the others
            rest[:, :, -1] -= missing
            result[:, :, s] += missing * self._values[-1]
        result[:, :, -1] = rest @ self._values
        return result


class UnitDeck(Deck):
    """Losses of whole units, permuted among units whose members are in the same blocks.

    Under the hypothesis the law of a unit's losses depends on its members' blocks only. So the
    losses of units with the same blocks are exchangeable as wholes, and those of one unit in one
    block among each other.
    """

    def __init__(self, table: RateTable, units: Units) -> None:
        super().__init__(table)
        unit, entry = _list_members(units)
        block = table.cell[entry] // table.groups
        order = np.lexsort((block, unit))
        kind = _number_units(unit[order], block[order])
        # units with the same blocks are adjacent, and so are a unit's members of one block
        order = order[np.argsort(kind[unit[order]], kind="stable")]
        self._cell, self._losses = table.cell[entry[order]], table.value[entry[order]]
        unit, block = unit[order], block[order]
        self._start = np.r_[0, np.flatnonzero(np.diff(unit)) + 1, len(unit)]
        kinds = kind[unit[self._start[:-1]]]
        self._end = np.searchsorted(kinds, kinds, side="right")
        run = np.cumsum(np.r_[True, (np.diff(unit) != 0) | (np.diff(block) != 0)])
        self._run_end = np.searchsorted(run, run, side="right")

    def deal(self, many: int, rng: np.random.Generator) -> FloatArray:
        """Permute units among those with the same blocks, and losses inside units and blocks."""
        result = np.zeros((many, *self.table.people.shape))
        for sums in result:
            uniform = rng.random(len(self._losses)), rng.random(len(self._end))
            deal_units(
                self._losses, self._cell, self._run_end, self._start, self._end, *uniform,
                sums.reshape(-1),
            )  # fmt: skip
        return result


def _list_members(units: Units) -> tuple[IntArray, IntArray]:
    """Return unit and entry of each member; copies of a kind of unit are separate units."""
    copies = units.counts[units.unit]
    many = units.people * copies
    first = (np.cumsum(units.counts) - units.counts)[units.unit]
    place = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    return np.repeat(first, many) + place % np.repeat(copies, many), np.repeat(units.point, many)


def _number_units(unit: IntArray, block: IntArray) -> IntArray:
    """Return a number for each unit, the same if members are in the same blocks."""
    ends = np.cumsum(np.bincount(unit))
    kinds: dict[bytes, int] = {}
    return np.array([
        kinds.setdefault(block[low:high].tobytes(), len(kinds))
        for low, high in pairwise([0, *ends.tolist()])
    ])  # fmt: skip
