"""Compiled loops: frontiers from costs, concave hulls, values of many frequencies, and pair ratios.

Each frontier kernel visits the candidates of a row by falling loss. Only a candidate that is
cheaper than all before it can be a corner of the upper concave frontier; `cheapest_first` turns
these records into the frontier.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit, prange

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.transport.problem import Filling


ROWS_PER_CHUNK = 16
"""Rows of a matrix whose corners are stored together."""
Function = TypeVar("Function", bound="Callable[..., object]")
MARGIN = 1e-12
"""Relative rounding error by which candidates below a hull stay on it until the end."""


class Candidates(NamedTuple):
    """Points, and their targets by falling loss."""

    rows: IntArray
    cols: IntArray
    limit: IntArray


class Lists(NamedTuple):
    """Points, and a list of targets of each by falling loss."""

    rows: IntArray
    start: IntArray
    cols: IntArray
    costs: FloatArray


class SparseRows(NamedTuple):
    """Frequency vectors in compressed rows."""

    start: IntArray
    column: IntArray
    weight: FloatArray


def njit_without_refcount(**options: Any) -> Callable[[Function], Function]:
    """Compile a function that is called in loops and creates no arrays.

    Numba otherwise counts references to every array argument with atomic instructions, which took
    half the time of a search and made threads wait for each other.
    """
    return cast("Callable[[Function], Function]", njit(cache=True, _nrt=False, **options))  # type: ignore[call-overload]


@njit_without_refcount()
def count_changes(profiles: IntArray, i: int, j: int) -> int:
    """Count the columns in which two points differ."""
    count = 0
    for column in range(profiles.shape[1]):
        if profiles[i, column] != profiles[j, column]:
            count += 1
    return count


@njit_without_refcount()
def _record(
    i: int, j: int, c: float, n: int, losses: FloatArray, profiles: IntArray,
    corner: IntArray, price: FloatArray,
) -> int:  # fmt: skip
    """Add candidate ``j`` at cost ``c`` to the ``n`` records of row ``i``; return their number."""
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
        and count_changes(profiles, i, j) < count_changes(profiles, i, last)
    ):
        corner[n - 1] = j
    return n


@njit_without_refcount()
def cheapest_first(  # noqa: C901, PLR0912
    i: int, n: int, losses: FloatArray, corner: IntArray, price: FloatArray
) -> int:
    """Turn ``n`` records into the corners of the frontier, in place, and return their number.

    The cheapest corner comes first: the best free target, or the point itself if no record is free.
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
    # the cheapest corner is last: reverse the stack, then move it to the front
    for a in range(size // 2):
        lower, upper = top + a, n - 1 - a
        corner[lower], corner[upper] = corner[upper], corner[lower]
        price[lower], price[upper] = price[upper], price[lower]
    first = 0
    if size == 0 or price[top] > 0.0:
        first = 1  # the buffers have one more entry than there are candidates
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


@njit_without_refcount()
def _frontier_in_matrix(
    i: int, cols: IntArray, limit: int, matrix: FloatArray, losses: FloatArray,
    profiles: IntArray, corner: IntArray, price: FloatArray,
) -> int:  # fmt: skip
    """Find the frontier of a row among the first ``limit`` of ``cols``; return its length."""
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
    """Fill the frontiers of some points from the matrix of all costs.

    A row of ``corners`` and ``costs`` holds those of `ROWS_PER_CHUNK` rows, as far as there is
    room; ``totals`` receives their number.
    """
    rows, cols, limit = candidates.rows, candidates.cols, candidates.limit
    for chunk in prange(len(totals)):
        corner, price = np.empty(len(cols) + 1, np.int64), np.empty(len(cols) + 1)
        total = 0
        for r in range(chunk * ROWS_PER_CHUNK, min(len(rows), (chunk + 1) * ROWS_PER_CHUNK)):
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

    The corners of row r go to ``corner[start[r] + r:]``: one more than it has candidates.
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
def compute_values(frequencies: FloatArray, filling: Filling, values: FloatArray) -> None:
    """Compute ψ of each row of ``frequencies`` by spending the budget along the slope order."""
    for b in prange(frequencies.shape[0]):
        values[b] = _fill(frequencies[b], filling)


@njit(cache=True, parallel=True)
def compute_sparse_values(frequencies: SparseRows, filling: Filling, values: FloatArray) -> None:
    """Compute ψ of frequency vectors in compressed rows."""
    start, column, weight = frequencies.start, frequencies.column, frequencies.weight
    for b in prange(len(start) - 1):
        dense = np.zeros(len(filling.base_gain))
        for a in range(start[b], start[b + 1]):
            dense[column[a]] += weight[a]
        values[b] = _fill(dense, filling)


@njit_without_refcount()
def _fill(frequencies: FloatArray, filling: Filling) -> float:
    """Compute ψ of one frequency vector."""
    base, row, cost, gain = filling.base_gain, filling.row, filling.cost, filling.gain
    value, remaining = 0.0, filling.budget
    for i in range(len(base)):
        value += frequencies[i] * base[i]
    for s in range(len(row)):
        mass = frequencies[row[s]]
        if mass == 0.0:
            continue
        use = mass * cost[s]
        if use >= remaining:
            return float(value + remaining * (gain[s] / cost[s]))
        remaining -= use
        value += mass * gain[s]
    return float(value)


@njit(cache=True, parallel=True)
def largest_ratios(
    rows: IntArray, cols: IntArray, place: FloatArray, predictions: FloatArray, labels: bool,  # noqa: FBT001
    floor: float, result: FloatArray,
) -> None:  # fmt: skip
    """Fill ``result`` with the largest squared ratio of difference and distance of each row.

    Differences are sums over the columns of ``predictions``, or 1 for ``labels`` that differ.
    Ratios up to ``floor`` are skipped.
    """
    for at in prange(len(rows)):
        i, best = rows[at], floor
        for j in cols:
            apart = 0.0
            for column in range(predictions.shape[1]):
                apart += abs(predictions[i, column] - predictions[j, column])
            gap = apart * apart
            if labels and apart > 0.0:
                gap = 1.0
            cost = 0.0
            for column in range(place.shape[1]):
                cost += (place[i, column] - place[j, column]) ** 2
                if cost * best >= gap:
                    break
            if cost > 0.0 and cost * best < gap:
                best = gap / cost
        result[at] = best if best > floor else 0.0


class Hull(NamedTuple):
    """Memory for corners, of which the first n are the hull; n is passed separately.

    Losses and costs fall strictly, and the last corner is free: at first the point itself.
    """

    level: FloatArray
    price: FloatArray
    corner: IntArray


class NewCorner(NamedTuple):
    """A target that may become a corner."""

    target: int
    cost: float
    loss: float


@njit_without_refcount()
def hull_cost(loss: float, level: FloatArray, price: FloatArray, n: int) -> float:
    """Return the cost at which a hull reaches a loss; costlier candidates are not corners."""
    if loss > level[0]:
        return np.inf
    if loss < level[n - 1]:
        return -1.0
    low, high = 0, n - 1
    # level[low] >= loss, and what follows `high` is smaller
    while low < high:
        # rounded up, so that `low = middle` moves on: rounded down the loop might not end
        middle = (low + high + 1) // 2
        if level[middle] >= loss:
            low = middle
        else:
            high = middle - 1
    if level[low] == loss:
        return float(price[low])
    # interpolated with a margin: a candidate on the line up to rounding must be considered, or
    # the result would depend on the order of the search
    share = (loss - level[low + 1]) / (level[low] - level[low + 1])
    return float((price[low + 1] + (price[low] - price[low + 1]) * share) * (1 + MARGIN))


@njit_without_refcount()
def count_above(loss: float, level: FloatArray, n: int) -> int:
    """Return the number of corners with a larger loss."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if level[middle] > loss:
            low = middle + 1
        else:
            high = middle
    return low


@njit_without_refcount()
def insert_corner(i: int, new: NewCorner, profiles: IntArray, hull: Hull, n: int) -> int:  # noqa: C901
    """Insert a candidate into the hull of point ``i`` if it is a corner; return the new length.

    Slopes are compared by cross-multiplication, so that nothing is divided by a cost difference
    that may be tiny.
    """
    level, price, corner = hull.level, hull.price, hull.corner
    j, c, loss = new.target, new.cost, new.loss
    p = q = count_above(loss, level, n)
    if p > 0 and price[p - 1] <= c:
        return n
    if p < n and level[p] == loss:
        if c > price[p]:
            return n
        if c == price[p]:
            fewer = count_changes(profiles, i, j) - count_changes(profiles, i, corner[p])
            if fewer < 0 or (fewer == 0 and j < corner[p]):
                corner[p] = j
            return n
    # the new corner lies between p - 1 and q; dominated corners are dropped
    while q < n and price[q] >= c:
        q += 1
    if p > 0 and q < n:
        rise, run = level[p - 1] - level[q], price[p - 1] - price[q]
        # below the line between its neighbours, up to rounding: not a corner
        if (loss - level[q]) * run < rise * (c - price[q]) * (1 - MARGIN):
            return n
    # drop neighbours below the lines through the new corner
    while p > 1:
        rise, run = level[p - 2] - loss, price[p - 2] - c
        if (level[p - 1] - loss) * run >= rise * (price[p - 1] - c) * (1 - MARGIN):
            break
        p -= 1
    while q < n - 1:
        rise, run = loss - level[q + 1], c - price[q + 1]
        if (level[q] - level[q + 1]) * run >= rise * (price[q] - price[q + 1]) * (1 - MARGIN):
            break
        q += 1
    return _replace(p, q, new, hull, n)


@njit_without_refcount()
def _replace(p: int, q: int, new: NewCorner, hull: Hull, n: int) -> int:
    """Replace corners p to q - 1 by a new one; return the new length."""
    level, price, corner = hull.level, hull.price, hull.corner
    # close the gap if several are dropped, or make room from the end if none is
    if q > p + 1:
        for a in range(q, n):
            to = a + p + 1 - q
            level[to], price[to], corner[to] = level[a], price[a], corner[a]
    elif q == p:
        for a in range(n - 1, q - 1, -1):
            level[a + 1], price[a + 1], corner[a + 1] = level[a], price[a], corner[a]
    level[p], price[p], corner[p] = new.loss, new.cost, new.target
    return n + p + 1 - q


@njit_without_refcount()
def finish_hull(i: int, losses: FloatArray, price: FloatArray, corner: IntArray, n: int) -> int:
    """Turn a hull into the frontier, in place, cheapest corner first; return its length.

    The margin keeps candidates that lie below the hull by a rounding error; `cheapest_first` drops
    them at the end, so that every search yields the same corners.
    """
    # the point itself is where a frontier starts, not a target
    own = 1 if corner[n - 1] == i else 0
    return cheapest_first(i, n - own, losses, corner, price)
