"""Compiled loops: frontiers from costs, and values of many frequency vectors.

Each kernel walks the candidates of a row in order of decreasing loss. Only a candidate that
is cheaper than all before it can be a corner of the row's upper concave frontier; these
records are kept and `cheapest_first` turns them into the frontier, cheapest corner first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit, prange

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.transport.filling import Filling

TOGETHER = 16
"""Rows of a matrix whose corners lie together."""
Function = TypeVar("Function", bound="Callable[..., object]")


class Candidates(NamedTuple):
    """Some points, and their targets by falling loss.

    Attributes
    ----------
    rows, cols, limit
        The points and the targets, of which the first ``limit[r]`` have a larger loss than
        ``rows[r]``.
    """

    rows: IntArray
    cols: IntArray
    limit: IntArray


class Lists(NamedTuple):
    """Some points, and a list of targets of each, best loss first.

    Attributes
    ----------
    rows
        The points.
    start, cols, costs
        The targets of ``rows[r]`` and what they cost are the entries ``start[r]`` to
        ``start[r + 1]``.
    """

    rows: IntArray
    start: IntArray
    cols: IntArray
    costs: FloatArray


class SparseRows(NamedTuple):
    """Frequency vectors in compressed rows.

    Attributes
    ----------
    start, column, weight
        Vector b has ``weight`` at ``column``, in the entries ``start[b]`` to ``start[b + 1]``.
    """

    start: IntArray
    column: IntArray
    weight: FloatArray


def uncounted(**options: Any) -> Callable[[Function], Function]:
    """Compile what is called within loops and makes no arrays.

    Otherwise numba counts who holds each array that is passed on, with a locked instruction:
    that took half the time of a search, and threads waited for each other.
    """
    return cast("Callable[[Function], Function]", njit(cache=True, _nrt=False, **options))  # type: ignore[call-overload]


@uncounted()
def changed(profiles: IntArray, i: int, j: int) -> int:
    """Count the columns in which two points differ."""
    count = 0
    for column in range(profiles.shape[1]):
        if profiles[i, column] != profiles[j, column]:
            count += 1
    return count


@uncounted()
def _record(
    i: int, j: int, c: float, n: int, losses: FloatArray, profiles: IntArray,
    corner: IntArray, price: FloatArray,
) -> int:  # fmt: skip
    """Take candidate ``j`` at cost ``c`` into the ``n`` records of row ``i``, if it is one."""
    if n == 0:
        if c < np.inf:
            corner[0] = j
            price[0] = c
            return 1
        return 0
    last = corner[n - 1]
    if c < price[n - 1]:
        at = n - 1 if losses[last] == losses[j] else n
        corner[at] = j
        price[at] = c
        return at + 1
    if (
        c == price[n - 1]
        and losses[last] == losses[j]
        and changed(profiles, i, j) < changed(profiles, i, last)
    ):
        corner[n - 1] = j
    return n


@uncounted()
def cheapest_first(  # noqa: C901, PLR0912
    i: int, n: int, losses: FloatArray, corner: IntArray, price: FloatArray
) -> int:
    """Turn ``n`` records into the frontier's corners, in place, cheapest first; return how many.

    The frontier starts at the best free target, which is the point itself when no record
    is free.
    """
    # the stack grows downwards from the end of the records, which are read in the same
    # direction, so it never overtakes them
    top = n
    for a in range(n - 1, -1, -1):
        c, loss, target = price[a], losses[corner[a]], corner[a]
        while top < n:
            c1, loss1 = price[top], losses[corner[top]]
            if top + 1 < n:
                c0, loss0 = price[top + 1], losses[corner[top + 1]]
            elif c1 > 0.0:
                c0, loss0 = 0.0, losses[i]
            else:
                break
            if (loss - loss1) * (c1 - c0) < (loss1 - loss0) * (c - c1):
                break
            top += 1
        top -= 1
        corner[top] = target
        price[top] = c
    size = n - top
    # the cheapest corner lies last: turn the stack round, then move it to the front
    for a in range(size // 2):
        lower, upper = top + a, n - 1 - a
        corner[lower], corner[upper] = corner[upper], corner[lower]
        price[lower], price[upper] = price[upper], price[lower]
    first = 0
    if size == 0 or price[top] > 0.0:
        first = 1  # the buffers hold one place more than there are candidates
    if first > top:
        for a in range(size - 1, -1, -1):
            corner[first + a], price[first + a] = corner[top + a], price[top + a]
    else:
        for a in range(size):
            corner[first + a], price[first + a] = corner[top + a], price[top + a]
    if first == 1:
        corner[0] = i
        price[0] = 0.0
    return first + size


@njit(cache=True, parallel=True)
def frontiers_of_costs(
    candidates: Candidates, costs: FloatArray, losses: FloatArray, profiles: IntArray,
    corner: IntArray, price: FloatArray, count: IntArray,
) -> None:  # fmt: skip
    """Fill the frontiers of some points from dense costs to all candidates."""
    rows, cols, limit = candidates.rows, candidates.cols, candidates.limit
    for r in prange(len(rows)):
        i = rows[r]
        n = 0
        bar = np.inf
        own_corner, own_price = corner[r], price[r]
        for a in range(limit[r]):
            if costs[r, a] > bar:
                continue
            j = cols[a]
            if bar == 0.0 and losses[j] < losses[own_corner[n - 1]]:
                break
            n = _record(i, j, costs[r, a], n, losses, profiles, own_corner, own_price)
            if n > 0:
                bar = own_price[n - 1]
        count[r] = cheapest_first(i, n, losses, own_corner, own_price)


@uncounted()
def _frontier_in_matrix(
    i: int, cols: IntArray, limit: int, matrix: FloatArray, losses: FloatArray,
    profiles: IntArray, corner: IntArray, price: FloatArray,
) -> int:  # fmt: skip
    """Find the frontier of one row among the first ``limit`` of ``cols``; return its length."""
    n, bar = 0, np.inf
    for a in range(limit):
        j = cols[a]
        if matrix[i, j] > bar:
            continue
        if bar == 0.0 and losses[j] < losses[corner[n - 1]]:
            break
        n = _record(i, j, matrix[i, j], n, losses, profiles, corner, price)
        if n > 0:
            bar = price[n - 1]
    return cheapest_first(i, n, losses, corner, price)


@njit(cache=True, parallel=True)
def frontiers_of_matrix(
    candidates: Candidates, matrix: FloatArray, losses: FloatArray, profiles: IntArray,
    count: IntArray, corners: IntArray, costs: FloatArray, totals: IntArray,
) -> None:  # fmt: skip
    """Fill the frontiers of some points from a matrix of all costs where it stands.

    A row of ``corners`` and ``costs`` holds those of `TOGETHER` rows, as far as there is room;
    ``totals`` tells how many there are.
    """
    rows, cols, limit = candidates.rows, candidates.cols, candidates.limit
    for chunk in prange(len(totals)):
        corner, price = np.empty(len(cols) + 1, np.int64), np.empty(len(cols) + 1)
        total = 0
        for r in range(chunk * TOGETHER, min(len(rows), (chunk + 1) * TOGETHER)):
            n = _frontier_in_matrix(
                rows[r], cols, limit[r], matrix, losses, profiles, corner, price
            )
            count[r] = n
            for a in range(n):
                if total + a < corners.shape[1]:
                    corners[chunk, total + a], costs[chunk, total + a] = corner[a], price[a]
            total += n
        totals[chunk] = total


@njit(cache=True, parallel=True)
def frontiers_of_lists(
    lists: Lists, losses: FloatArray, profiles: IntArray,
    corner: IntArray, price: FloatArray, count: IntArray,
) -> None:  # fmt: skip
    """Fill the frontiers of some points from a list of candidates for each.

    Row r's corners go to ``corner[start[r] + r:]``: one place more than it has candidates.
    """
    rows, start, cols, costs = lists.rows, lists.start, lists.cols, lists.costs
    for r in prange(len(rows)):
        i = rows[r]
        own = slice(start[r] + r, start[r + 1] + r + 1)
        n = 0
        for a in range(start[r], start[r + 1]):
            j = cols[a]
            if losses[j] <= losses[i]:
                break
            n = _record(i, j, costs[a], n, losses, profiles, corner[own], price[own])
        count[r] = cheapest_first(i, n, losses, corner[own], price[own])


@njit(cache=True, parallel=True)
def fill_many(frequencies: FloatArray, filling: Filling, values: FloatArray) -> None:
    """Compute ψ of each row of ``frequencies`` by spending the budget along the slope order."""
    for b in prange(frequencies.shape[0]):
        values[b] = _fill(frequencies[b], filling)


@njit(cache=True, parallel=True)
def fill_many_sparse(frequencies: SparseRows, filling: Filling, values: FloatArray) -> None:
    """Do the same for frequency vectors in compressed rows."""
    start, column, weight = frequencies.start, frequencies.column, frequencies.weight
    for b in prange(len(start) - 1):
        dense = np.zeros(len(filling.base_gain))
        for a in range(start[b], start[b + 1]):
            dense[column[a]] += weight[a]
        values[b] = _fill(dense, filling)


@uncounted()
def _fill(frequencies: FloatArray, filling: Filling) -> float:
    """Compute ψ of one frequency vector."""
    base, row, cost, gain = filling.base_gain, filling.row, filling.cost, filling.gain
    value, left = 0.0, filling.budget
    for i in range(len(base)):
        value += frequencies[i] * base[i]
    for s in range(len(row)):
        mass = frequencies[row[s]]
        if mass == 0.0:
            continue
        use = mass * cost[s]
        if use >= left:
            return float(value + left * (gain[s] / cost[s]))
        left -= use
        value += mass * gain[s]
    return float(value)
