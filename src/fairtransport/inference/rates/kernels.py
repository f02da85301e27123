"""Compiled loops that shuffle losses in cells and blocks, and add them up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray, IntArray


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
    """Return the sums of the next losses of cells, and advance."""
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
        end, at = first, first
        for s in range(people.shape[1]):
            end += people[b, s]
        for s in range(people.shape[1]):
            total = 0.0
            if at + people[b, s] == end:
                # the rest, in any order
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
