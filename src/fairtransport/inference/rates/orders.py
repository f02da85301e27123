"""A random order of the people, from counts: a pilot, and losses that are unsealed after it.

Each person falls into the pilot with one chance, whatever the loss. The losses of the others of
a cell lie in an urn; whoever is unsealed next takes one of them without replacement. Both
together are a uniformly random order of the people of each cell. Up to
``SHUFFLED`` people the urns are shuffled; of more, what is unsealed at once is drawn
hypergeometrically, at no cost in their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.inference.rates.tables import RateTable

SHUFFLED = 100_000
"""People up to whom urns are shuffled; it depends on n alone, and the law is the same."""


class Urns(Protocol):
    """The sealed losses of each cell."""

    def unseal(self, cells: IntArray, people: IntArray) -> FloatArray:
        """Return the sums of the losses of so many further people of cells, one after the other."""


def draw_share(count: IntArray, share: float, rng: np.random.Generator) -> IntArray:
    """Return how many people of each entry are drawn, each with the same chance."""
    return rng.binomial(count, share)


def fill_urns(table: RateTable, count: IntArray, rng: np.random.Generator) -> Urns:
    """Put the losses of so many people of each entry into the urns of their cells."""
    if table.n <= SHUFFLED:
        return ShuffledUrns(table, count, rng)
    return CountedUrns(table, count, rng)


class ShuffledUrns:
    """Urns whose losses lie in a random order already."""

    def __init__(self, table: RateTable, count: IntArray, rng: np.random.Generator) -> None:
        self._losses = np.repeat(table.value, count)
        self._next = np.r_[0, np.cumsum(count)][table.start]
        _shuffle(self._losses, self._next, rng.random(len(self._losses)))

    def unseal(self, cells: IntArray, people: IntArray) -> FloatArray:
        """Return the sums of the next losses."""
        return _take(self._losses, self._next, cells, people)


class CountedUrns:
    """Urns of counts, from which is drawn as people are unsealed."""

    def __init__(self, table: RateTable, count: IntArray, rng: np.random.Generator) -> None:
        self._left, self._value, self._start = count.copy(), table.value, table.start
        self._rng = rng

    def unseal(self, cells: IntArray, people: IntArray) -> FloatArray:
        """Return the sums of losses drawn without replacement."""
        sums = np.zeros(len(cells))
        # each pass draws for the first request of every cell that is still waiting
        order = np.argsort(cells, kind="stable")
        turn = np.arange(len(cells)) - np.searchsorted(cells[order], cells[order])
        for now in range(turn.max() + 1 if len(cells) else 0):
            at = order[turn == now]
            sums[at] = self._draw(cells[at], people[at])
        return sums

    def _draw(self, cells: IntArray, people: IntArray) -> FloatArray:
        first, end = self._start[cells], self._start[cells + 1]
        rest = np.add.reduceat(np.r_[self._left, 0], np.c_[first, end].ravel())[::2]
        rest = np.where(end > first, rest, 0)
        wanted, sums = people.copy(), np.zeros(len(cells))
        for step in range(int((end - first).max(initial=0))):
            here = np.flatnonzero((first + step < end) & (wanted > 0))
            entry = first[here] + step
            own = self._left[entry]
            rest[here] -= own
            drawn = self._rng.hypergeometric(own, rest[here], wanted[here])
            self._left[entry] -= drawn
            wanted[here] -= drawn
            sums[here] += drawn * self._value[entry]
        return sums


@njit(cache=True)
def _shuffle(losses: FloatArray, start: IntArray, uniform: FloatArray) -> None:
    for c in range(len(start) - 1):
        first = start[c]
        for i in range(start[c + 1] - 1, first, -1):
            j = first + int(uniform[i] * (i - first + 1))
            losses[i], losses[j] = losses[j], losses[i]


@njit(cache=True)
def _take(losses: FloatArray, after: IntArray, cells: IntArray, people: IntArray) -> FloatArray:
    sums = np.zeros(len(cells))
    for k in range(len(cells)):
        c = cells[k]
        for i in range(after[c], after[c] + people[k]):
            sums[k] += losses[i]
        after[c] += people[k]
    return sums
