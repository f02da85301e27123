"""A random order of the people, from counts: a pilot, and losses that are unsealed after it.

Each person falls into the pilot with one chance, whatever the loss. The losses of the others of
a cell lie in an urn; whoever is unsealed next takes one of them without replacement. Both
together are a uniformly random order of the people of each cell. Up to ``SHUFFLED`` people, or
where nearly everybody has a loss of their own, the urns are shuffled; otherwise what is unsealed
is drawn hypergeometrically, at no cost in the number of people. The law is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from fairtransport.checks import BoolArray, FloatArray, IntArray
    from fairtransport.inference.rates.tables import RateTable

SHUFFLED, ALIKE = 100_000, 10
"""People, in all and of one cell and loss on average, up to whom urns are shuffled."""


class Urns(Protocol):
    """The sealed losses of each cell.

    What is unsealed cannot be sealed again: two calls take different people.
    """

    def unseal(self, cells: IntArray, people: IntArray) -> FloatArray:
        """Return the sums of the losses of so many further people of cells, one after the other.

        Parameters
        ----------
        cells
            Which cells are asked, any number of times each.
        people
            By request: how many of the cell's people, no more than are left.
        """


def draw_share(count: IntArray, share: float, rng: np.random.Generator) -> IntArray:
    """Return how many people of each entry are drawn, each with the same chance.

    Parameters
    ----------
    count
        By entry of a table: its people.
    share
        The chance of each.
    rng
        The order's stream.
    """
    return rng.binomial(count, share)


def fill_urns(table: RateTable, count: IntArray, rng: np.random.Generator) -> Urns:
    """Put the losses of so many people of each entry into the urns of their cells.

    Parameters
    ----------
    table
        The sample; its size decides which kind of urn is faster.
    count
        By entry: the people who are not in the pilot.
    rng
        The order's stream.
    """
    if table.n <= max(SHUFFLED, ALIKE * len(table.count)):
        return ShuffledUrns(table, count, rng)
    return CountedUrns(table, count, rng)


class ShuffledUrns:
    """Urns whose losses lie in a random order already.

    Parameters
    ----------
    table, count, rng
        As in `fill_urns`.

    Notes
    -----
    Costs a number a person, and is then no more than adding up.
    """

    def __init__(self, table: RateTable, count: IntArray, rng: np.random.Generator) -> None:
        self._losses = np.repeat(table.value, count)
        self._next = np.r_[0, np.cumsum(count)][table.start]
        # whoever is unsealed next is then simply the next loss of the cell
        _shuffle(self._losses, self._next, rng.random(len(self._losses)))

    def unseal(self, cells: IntArray, people: IntArray) -> FloatArray:
        """Return the sums of the next losses.

        Parameters
        ----------
        cells, people
            As in `Urns.unseal`.
        """
        return _take(self._losses, self._next, cells, people)


class CountedUrns:
    """Urns of counts, from which is drawn as people are unsealed.

    Parameters
    ----------
    table, count, rng
        As in `fill_urns`.
    """

    def __init__(self, table: RateTable, count: IntArray, rng: np.random.Generator) -> None:
        self._left, self._value, self._start = count.copy(), table.value, table.start
        self._rng = rng

    def unseal(self, cells: IntArray, people: IntArray) -> FloatArray:
        """Return the sums of losses drawn without replacement.

        What a cell's requests take together is drawn first and then halved, the first half of
        them against the second, until each has its own: as if drawn one after the other.

        Parameters
        ----------
        cells, people
            As in `Urns.unseal`.
        """
        order = np.argsort(cells, kind="stable")
        wanted = np.r_[0, np.cumsum(people[order])]
        own, low = np.unique(cells[order], return_index=True)
        high = np.r_[low[1:], len(cells)]
        start, end = self._start[own], self._start[own + 1]
        heap = Heaps(low, high, end - start, _ranges(start, end))
        drawn = self._draw(self._left[heap.entry], heap, wanted[high] - wanted[low])
        self._left[heap.entry] -= drawn
        sums = np.zeros(len(cells))
        # all cells at once, level by level of their trees of halves: NumPy draws what a loop over
        # requests would draw one by one
        while len(heap.low):
            single = heap.high - heap.low == 1
            of_single = np.repeat(single, heap.entries)
            whose = np.repeat(heap.low, heap.entries)[of_single]
            worth = drawn[of_single] * self._value[heap.entry[of_single]]
            sums += np.bincount(whose, worth, minlength=len(sums))
            heap, drawn = heap.kept(~single), drawn[~of_single]
            middle = (heap.low + heap.high) // 2
            # what the first half of the requests takes, given what both halves take together
            part = self._draw(drawn, heap, wanted[middle] - wanted[heap.low])
            heap = Heaps(
                np.r_[heap.low, middle], np.r_[middle, heap.high],
                np.r_[heap.entries, heap.entries], np.r_[heap.entry, heap.entry],
            )  # fmt: skip
            drawn = np.r_[part, drawn - part]
        result = np.empty(len(cells))
        result[order] = sums
        return result

    def _draw(self, count: IntArray, heap: Heaps, wanted: IntArray) -> IntArray:
        """Draw so many of each heap, entry after entry.

        Parameters
        ----------
        count
            By entry of the heaps: how many there are.
        heap
            Which entries belong together.
        wanted
            By heap: how many are drawn.

        Returns
        -------
        ndarray
            By entry: how many were. A multivariate hypergeometric draw, as a chain of ordinary
            ones, each entry against the rest of its heap.
        """
        first = np.cumsum(heap.entries) - heap.entries
        rest = np.bincount(
            np.repeat(np.arange(len(first)), heap.entries), count, minlength=len(first)
        ).astype(np.int64)
        missing, drawn = wanted.copy(), np.zeros_like(count)
        # the first entries of all heaps, then all second ones: a vector draw a step, not one an
        # entry
        for step in range(int(heap.entries.max(initial=0))):
            here = np.flatnonzero((heap.entries > step) & (missing > 0))
            at = first[here] + step
            rest[here] -= count[at]
            drawn[at] = self._rng.hypergeometric(count[at], rest[here], missing[here])
            missing[here] -= drawn[at]
        return drawn


class Heaps(NamedTuple):
    """Losses of one cell each that several requests share.

    Attributes
    ----------
    low, high
        The first of the requests, and the one after the last.
    entries
        How many entries of the table each heap has.
    entry
        These entries, heap after heap.
    """

    low: IntArray
    high: IntArray
    entries: IntArray
    entry: IntArray

    def kept(self, keep: BoolArray) -> Heaps:
        """Return some of the heaps.

        Parameters
        ----------
        keep
            By heap.
        """
        return Heaps(
            self.low[keep], self.high[keep], self.entries[keep],
            self.entry[np.repeat(keep, self.entries)],
        )  # fmt: skip


def _ranges(start: IntArray, end: IntArray) -> IntArray:
    """Return the numbers from each start to before each end, one after the other.

    Parameters
    ----------
    start, end
        Of each range, end >= start.

    Examples
    --------
    >>> _ranges(np.array([0, 10]), np.array([2, 13])).tolist()
    [0, 1, 10, 11, 12]
    """
    many = end - start
    shift = np.repeat(start - (np.cumsum(many) - many), many)
    return np.asarray(np.arange(many.sum()) + shift)


@njit(cache=True)
def _shuffle(losses: FloatArray, start: IntArray, uniform: FloatArray) -> None:
    """Shuffle the losses of every cell among themselves, by Fisher and Yates.

    Parameters
    ----------
    losses
        Cell after cell; changed in place.
    start
        Where each cell begins, and the end.
    uniform
        A number in [0, 1) for each loss, drawn outside: compiled code then needs no generator.
    """
    for c in range(len(start) - 1):
        first = start[c]
        for i in range(start[c + 1] - 1, first, -1):
            j = first + int(uniform[i] * (i - first + 1))
            losses[i], losses[j] = losses[j], losses[i]


@njit(cache=True)
def _take(losses: FloatArray, after: IntArray, cells: IntArray, people: IntArray) -> FloatArray:
    """Return the sums of the next losses of cells, and move on behind them.

    Parameters
    ----------
    losses
        Shuffled within cells, cell after cell.
    after
        By cell: the next loss; changed in place.
    cells, people
        As in `Urns.unseal`.
    """
    sums = np.zeros(len(cells))
    for k in range(len(cells)):
        c = cells[k]
        for i in range(after[c], after[c] + people[k]):
            sums[k] += losses[i]
        after[c] += people[k]
    return sums
