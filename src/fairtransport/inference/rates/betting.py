"""Bets on random orders of the people: a pilot, and losses that are observed after it.

Each person is in the pilot with the same probability, for any loss. The losses of the other people
of a cell are in an urn, and are drawn without replacement. Both together are a uniformly random
order of the people of each cell. Up to ``MAX_SHUFFLED`` people, or if nearly all losses are
different, the urns are shuffled; otherwise losses are drawn hypergeometrically, at a cost that does
not depend on the number of people. The law is the same.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from fairtransport.inference.rates.cell_means import (
    MIN_BERNOULLI_VARIANCE,
    ObservedLosses,
    fit_effects,
    sum_blocks,
    sum_weights,
)
from fairtransport.inference.rates.tuples import bet_on_tuples, count_rounds, plan_tuples

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairtransport._core.units import Units
    from fairtransport._core.validation import BoolArray, FloatArray, IntArray
    from fairtransport.inference.rates.cell_means import BlockSums
    from fairtransport.inference.rates.table import RateTable
    from fairtransport.inference.rates.tuples import Tuples

PILOT, LONG_PILOT = 0.2, 0.45
"""Share of the people in the pilot, who are not bet on; the second if the first shows signs that
differ from block to block."""
MIN_SIGN_ERRORS = 0.5
"""Standard errors by which cells must differ for the long pilot."""
MAX_STAKE = 0.75
"""Maximum λ: as f is limited, a mover is worth no more."""
SHARPNESS, MAX_SCORE = 1.5, 16 / 3
"""Weight of a standardised difference in the log-probability that a group is the target, and the
maximum difference that counts."""
MIN_VARIANCE_RATIO = 0.02
"""Minimum variance of gains, in units of a loss's."""
NO_PILOT_VARIANCE = 0.2
"""Expected variance of gains without anybody in the pilot."""
MAX_SHUFFLED, MAX_ALIKE = 100_000, 10
"""Maximum number of people, in total, or per cell and loss on average, for shuffled urns."""
MAX_ENTRIES_AT_ONCE = 100_000
"""Maximum number of table entries times orders run together, which fit into caches."""


class Wealths(NamedTuple):
    """Log-wealth, λ, N and Σ A·D of bets on random orders of the people, one entry per order."""

    log: FloatArray
    stake: FloatArray
    people: FloatArray
    gain: FloatArray


def run_orders(
    table: RateTable, orders: int, alpha: float, rng: np.random.Generator,
    units: Units | None = None,
) -> Wealths:  # fmt: skip
    """Bet on several random orders of the people, or of one member of each unit.

    The members drawn are independent draws from the weighted law of the units: each order bets on
    its own draws, and orders are exchangeable given the units.
    """
    members = None if units is None else UnitMembers(units, len(table.count))
    streams, size = rng.spawn(orders), max(1, MAX_ENTRIES_AT_ONCE // len(table.count))
    parts = []
    for low in range(0, orders, size):
        own = streams[low : low + size]
        tables = [
            table if members is None else replace(table, count=members.draw(stream))
            for stream in own
        ]
        parts.append(run_orders_at_once(tables, alpha, own))
    return Wealths(*map(np.concatenate, zip(*parts, strict=True)))


class UnitMembers:
    """Draws of one member of each unit; the units' points are the entries of a table."""

    def __init__(self, units: Units, entries: int) -> None:
        order = np.argsort(units.unit, kind="stable")
        self._entry, self._entries = units.point[order], entries
        self._counts, self._chance = units.counts, units.weights / units.largest
        self._last = np.cumsum(np.bincount(units.unit, minlength=len(units.counts))) - 1
        # the shares of a unit's members add up to 1: those of unit u end at u + 1
        self._ends = np.cumsum(units.share[order])

    def draw(self, rng: np.random.Generator) -> IntArray:
        """Return how many people of each entry are drawn.

        A unit is kept with probability weight over the largest possible one, then one of its
        members is drawn with probability equal to its share: each in proportion to its weight.
        """
        unit = np.repeat(np.arange(len(self._counts)), rng.binomial(self._counts, self._chance))
        place = np.searchsorted(self._ends, unit + rng.random(len(unit)), side="right")
        first = np.r_[0, self._last + 1][unit]
        # sums of shares are off by rounding errors, which must not reach into another unit
        member = self._entry[np.clip(place, first, self._last[unit])]
        return np.bincount(member, minlength=self._entries)


def run_orders_at_once(
    tables: Sequence[RateTable], alpha: float, streams: Sequence[np.random.Generator]
) -> Wealths:
    """Bet on one random order of the people of each table; tables differ in ``count`` only.

    Whether the pilot grows depends on its results, but who joins it is random: the others are still
    independent draws from the population.
    """
    rest = [table.count for table in tables]
    pilot = [draw_share(count, PILOT, stream) for count, stream in zip(rest, streams, strict=True)]
    past = _observe_losses(tables, pilot)
    sums = sum_observed(past, len(tables))
    mixed = has_mixed_signs(sums).tolist()
    if any(mixed):
        # the probability for the others that makes LONG_PILOT in total
        share = (LONG_PILOT - PILOT) / (1 - PILOT)
        pilot = [
            drawn + draw_share(count - drawn, share, stream) if is_mixed else drawn
            for is_mixed, count, drawn, stream in zip(mixed, rest, pilot, streams, strict=True)
        ]
        past = _observe_losses(tables, pilot)
        sums = sum_observed(past, len(tables))
    rest = [count - drawn for count, drawn in zip(rest, pilot, strict=True)]
    design = _observe_losses(tables, rest).people.astype(np.int64)
    # in turn, so that only one order's losses are shuffled at once
    urns = map(fill_urns, tables, rest, streams)
    return bet_after_pilot(past, sums, design, urns, alpha)


def bet_after_pilot(
    past: ObservedLosses, sums: BlockSums, design: IntArray, urns: Iterable[Urns], alpha: float
) -> Wealths:
    """Bet on the people who are not in the pilot, whose losses are in the urns of each order.

    The pilot's losses, ``past`` and their ``sums``, determine λ and, with the (groups, blocks)
    ``design`` of the others, the members of tuples.
    """
    orders, groups = len(sums.losses), len(design)
    people = design.reshape(groups, orders, -1).sum(axis=(0, 2))
    # λ from the pilot and N only: with the design, people with a large r could get a large λ, and
    # the lemma would fail
    stake = _choose_stakes(sums, people, alpha)
    tuples = plan_tuples(design, count_rounds(past, sums, design, stake), orders)
    losses = _draw_losses(tuples, urns, orders, design.shape[1] // orders)
    log_wealth, gain = bet_on_tuples(past, sums, tuples, losses, stake)
    return Wealths(log_wealth, stake, people.astype(float), gain)


def _draw_losses(tuples: Tuples, urns: Iterable[Urns], orders: int, blocks: int) -> FloatArray:
    """Return the (groups, tuples) sums of the losses of tuples.

    They are drawn at once, as the members of tuples are fixed; bets use them in turn.
    """
    groups, losses = len(tuples.people), np.empty(tuples.people.shape)
    ends = np.searchsorted(tuples.block, np.arange(orders + 1) * blocks)
    for urn, low, high in zip(urns, ends[:-1], ends[1:], strict=True):
        cells = (tuples.block[low:high] % blocks)[:, None] * groups + np.arange(groups)
        sums = urn.draw_sums(cells.ravel(), tuples.people[:, low:high].T.ravel())
        losses[:, low:high] = sums.reshape(-1, groups).T
    return losses


def has_mixed_signs(sums: BlockSums) -> BoolArray:
    """Return by order whether cells of the pilot differ by more than their groups' effects do.

    Then the worst-treated group has to be found in each block, which takes more people than for a
    stratum: a longer pilot pays off.
    """
    fit = fit_effects(sums)
    widest = np.ptp(fit.effect, axis=0).max(axis=1)
    return np.asarray((fit.spread > MIN_SIGN_ERRORS * fit.error) & (2 * fit.spread > widest**2))


def _observe_losses(tables: Sequence[RateTable], pilot: Sequence[IntArray]) -> ObservedLosses:
    """Return the losses of the pilots' people by group and block, order after order."""
    strata, drawn = int(tables[0].strata.max()) + 1, list(zip(tables, pilot, strict=True))
    people = np.concatenate([table.sum_by_cell(count) for table, count in drawn])
    losses = np.concatenate([table.sum_by_cell(count * table.value) for table, count in drawn])
    places = [order * strata + table.strata for order, table in enumerate(tables)]
    return ObservedLosses(people.T.copy(), losses.T.copy(), np.concatenate(places))


def sum_observed(past: ObservedLosses, orders: int) -> BlockSums:
    """Return the sums of the pilot's losses over the blocks of each order."""
    return sum_blocks(past, orders, (int(past.strata.max()) + 1) // orders)


def _choose_stakes(sums: BlockSums, people: IntArray, alpha: float) -> FloatArray:
    """Return λ: the best against a normal sum with the variance expected from the pilot."""
    size = _estimate_block_sizes(sums, people)
    variance = np.maximum(people, 1) * _estimate_gain_variances(sums, size)
    return np.minimum(np.sqrt(2 * math.log(1 / alpha) / variance), MAX_STAKE)


def _estimate_block_sizes(sums: BlockSums, people: IntArray) -> FloatArray:
    """Return the expected number of people to come in a person's block, from pilot collisions.

    The share of colliding ordered pairs of the pilot estimates the probability that two people are
    in one block. Half a collision is added, so that it is never 0.
    """
    pilot = sums.people.sum(axis=(0, 2))
    collisions = 0.5 + sums.collisions.sum(axis=1)
    return np.asarray(1 + people * collisions / np.maximum(pilot * (pilot - 1), 1))


def _estimate_gain_variances(sums: BlockSums, size: FloatArray) -> FloatArray:
    """Estimate the variance per person of gains from moves, from the pilot.

    With a share p of targets in blocks of ``size`` people, a block has one with probability q = 1 −
    exp(−size · p). Then its movers add their own variance, and the targets that of their mean, once
    per mover.

    The target group is unknown: logarithms of the variance are averaged over groups, weighted by
    the evidence of their standardised differences.
    """
    many, size = sums.people.sum(axis=0), size[:, None]
    mean = (sums.losses + 1) / (many + 2)
    sigma = np.maximum(mean * (1 - mean), MIN_BERNOULLI_VARIANCE)
    exists = sums.people > 0
    p = np.where(exists, sums.people / np.maximum(many, 1), 1.0)
    pairs = np.maximum(sum_weights(sums), 1)
    score = sums.excess / np.sqrt(sigma * pairs)
    # clipped, so that weights are finite and no group is ever ruled out
    chance = np.where(exists, np.exp(SHARPNESS * np.clip(score, -MAX_SCORE, MAX_SCORE)), 0.0)
    q = 1 - np.exp(-size * p)
    ratio = q * (1 - p) * (1 + (1 / size + 1 - p) * q / p)
    logs = (chance * np.log(np.maximum(ratio, MIN_VARIANCE_RATIO))).sum(axis=0)
    # a stratum without people has no chances, and no weight in the mean
    typical = np.exp(logs / np.where(many > 0, chance.sum(axis=0), 1.0))
    pilot = many.sum(axis=1)
    variance = (many * sigma * typical).sum(axis=1) / np.maximum(pilot, 1)
    return np.where(pilot > 0, variance, NO_PILOT_VARIANCE)


def draw_share(count: IntArray, share: float, rng: np.random.Generator) -> IntArray:
    """Return how many people of each entry are drawn, each with the same probability."""
    ends, people = np.cumsum(count), int(count.sum())
    if people > MAX_ALIKE * len(count):
        return rng.binomial(count, share)
    # one uniform number per person costs a tenth of a binomial draw
    drawn = np.r_[0, np.cumsum(rng.random(people) < share)]
    return np.asarray(drawn[ends] - drawn[ends - count])


class Urns(Protocol):
    """The losses of each cell that are not observed yet; two calls take different people."""

    def draw_sums(self, cells: IntArray, people: IntArray) -> FloatArray:
        """Return the sums of the losses of the next ``people`` people of each cell in ``cells``."""


def fill_urns(table: RateTable, count: IntArray, rng: np.random.Generator) -> Urns:
    """Put the losses of ``count`` people of each entry into the urns of their cells."""
    if table.n <= max(MAX_SHUFFLED, MAX_ALIKE * len(table.count)):
        return ShuffledUrns(table, count, rng)
    return CountedUrns(table, count, rng)


class ShuffledUrns:
    """Urns with shuffled losses.

    Shuffling costs one random number per person; draws are then mere sums.
    """

    def __init__(self, table: RateTable, count: IntArray, rng: np.random.Generator) -> None:
        from fairtransport.inference.rates.kernels import shuffle_losses

        self._losses = np.repeat(table.value, count)
        self._next = np.r_[0, np.cumsum(count)][table.start]
        # the next person then has the next loss of the cell
        shuffle_losses(self._losses, self._next, rng.random(len(self._losses)))

    def draw_sums(self, cells: IntArray, people: IntArray) -> FloatArray:
        """Return the sums of the next losses."""
        from fairtransport.inference.rates.kernels import sum_next_losses

        return sum_next_losses(self._losses, self._next, cells, people)


class CountedUrns:
    """Urns of counts, from which losses are drawn when needed."""

    def __init__(self, table: RateTable, count: IntArray, rng: np.random.Generator) -> None:
        self._left, self._value, self._start = count.copy(), table.value, table.start
        self._rng = rng

    def draw_sums(self, cells: IntArray, people: IntArray) -> FloatArray:
        """Return the sums of losses drawn without replacement.

        The joint draw of a cell's requests comes first and is then split, first half of the
        requests against the second, until each has its own: the same law as successive draws.
        """
        order = np.argsort(cells, kind="stable")
        ends = np.r_[0, np.cumsum(people[order])]
        own, low = np.unique(cells[order], return_index=True)
        high = np.r_[low[1:], len(cells)]
        start, end = self._start[own], self._start[own + 1]
        heap = Heaps(low, high, end - start, _concatenate_ranges(start, end))
        draws = self._draw(self._left[heap.entry], heap, ends[high] - ends[low])
        self._left[heap.entry] -= draws
        sums = np.zeros(len(cells))
        # all cells at once, level by level of their trees of halves: NumPy draws what a loop over
        # requests would draw singly
        while len(heap.low):
            single = heap.high - heap.low == 1
            of_single = np.repeat(single, heap.entries)
            whose = np.repeat(heap.low, heap.entries)[of_single]
            worth = draws[of_single] * self._value[heap.entry[of_single]]
            sums += np.bincount(whose, worth, minlength=len(sums))
            heap, draws = heap.select(~single), draws[~of_single]
            middle = (heap.low + heap.high) // 2
            # the first half's draw, given that of both halves
            part = self._draw(draws, heap, ends[middle] - ends[heap.low])
            heap = Heaps(
                np.r_[heap.low, middle], np.r_[middle, heap.high],
                np.r_[heap.entries, heap.entries], np.r_[heap.entry, heap.entry],
            )  # fmt: skip
            draws = np.r_[part, draws - part]
        result = np.empty(len(cells))
        result[order] = sums
        return result

    def _draw(self, count: IntArray, heap: Heaps, sizes: IntArray) -> IntArray:
        """Draw ``sizes`` people of each heap, entry after entry."""
        first = np.cumsum(heap.entries) - heap.entries
        others = np.bincount(
            np.repeat(np.arange(len(first)), heap.entries), count, minlength=len(first)
        ).astype(np.int64)
        missing, draws = sizes.copy(), np.zeros_like(count)
        # the first entries of all heaps, then all second ones: one vectorised draw per step
        for step in range(int(heap.entries.max(initial=0))):
            here = np.flatnonzero((heap.entries > step) & (missing > 0))
            at = first[here] + step
            others[here] -= count[at]
            draws[at] = self._rng.hypergeometric(count[at], others[here], missing[here])
            missing[here] -= draws[at]
        return draws


class Heaps(NamedTuple):
    """Losses of one cell each that several requests share."""

    low: IntArray
    high: IntArray
    entries: IntArray
    entry: IntArray

    def select(self, keep: BoolArray) -> Heaps:
        """Return some of the heaps."""
        return Heaps(
            self.low[keep], self.high[keep], self.entries[keep],
            self.entry[np.repeat(keep, self.entries)],
        )  # fmt: skip


def _concatenate_ranges(start: IntArray, end: IntArray) -> IntArray:
    """Return the numbers from each start to before each end, concatenated."""
    many = end - start
    shift = np.repeat(start - (np.cumsum(many) - many), many)
    return np.asarray(np.arange(many.sum()) + shift)
