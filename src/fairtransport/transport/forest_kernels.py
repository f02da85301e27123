"""Compiled searches in a forest for the best targets at a price.

Distances in single precision, with an error bound, only exclude targets. Costs of the others are
summed in double precision, so the result is that of the exact costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit, prange

from fairtransport.transport.forest import LEAF_SIZE, MAX_CHILDREN
from fairtransport.transport.kernels import MARGIN, count_changes, njit_without_refcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.transport.forest import Forest

    Single = NDArray[np.float32]

CHUNK_ROWS = 128
"""Points in a chunk; each search starts from the result of the one before."""
MAX_PENDING_NODES = 8 * MAX_CHILDREN
"""Size of the stack of nodes: the children of one node per level of a balanced tree."""
MAX_SQUARED_DISTANCE = 1e29
"""Bound on the squared distances in a forest."""


class Points(NamedTuple):
    """Coordinates, losses and profiles of the points."""

    place: FloatArray
    losses: FloatArray
    profiles: IntArray


@njit_without_refcount(inline="always")
def sum_squares(
    leaves: Single, first: int, place: Single, i: int, near: Single, count: int
) -> None:
    """Compute the squared distances of a leaf's targets to point ``i``."""
    # unsigned indices: signed ones keep loops from being vectorised
    many, at = np.uint64(count), np.uint64(first * place.shape[1])
    for a in range(many):
        near[a] = np.float32(0)
    for k in range(0, place.shape[1] - 3, 4):  # four coordinates in a pass
        x0, x1, x2, x3 = place[i, k], place[i, k + 1], place[i, k + 2], place[i, k + 3]
        at1, at2, at3 = at + many, at + many + many, at + many + many + many
        for a in range(many):
            step0, step1 = leaves[at + a] - x0, leaves[at1 + a] - x1
            step2, step3 = leaves[at2 + a] - x2, leaves[at3 + a] - x3
            near[a] += step0 * step0 + step1 * step1 + step2 * step2 + step3 * step3
        at = at3 + many
    for k in range(place.shape[1] // 4 * 4, place.shape[1]):
        x0 = place[i, k]
        for a in range(many):
            step0 = leaves[at + a] - x0
            near[a] += step0 * step0
        at += many


@njit_without_refcount(inline="always")
def sum_box_squares(boxes: Single, box: int, place: Single, i: int, near: Single) -> None:
    """Compute the squared distances of point ``i`` to the boxes of a node's children."""
    for c in range(np.uint64(MAX_CHILDREN)):
        near[c] = np.float32(0)
    for k in range(place.shape[1]):
        x = place[i, k]
        for c in range(np.uint64(MAX_CHILDREN)):
            step = max(np.float32(0), boxes[box, k, 0, c] - x, x - boxes[box, k, 1, c])
            near[c] += step * step


@njit_without_refcount(fastmath={"contract", "nnan", "ninf", "nsz"})
def compute_leaf_distances(
    leaves: Single, first: int, place: Single, i: int, near: Single, count: int
) -> None:
    """Compute the squared distances of a leaf's targets to point ``i``."""
    if count == LEAF_SIZE:  # a constant makes faster loops
        sum_squares(leaves, first, place, i, near, LEAF_SIZE)
    else:
        sum_squares(leaves, first, place, i, near, count)


@njit_without_refcount(fastmath={"contract", "nnan", "ninf", "nsz"})
def compute_box_distances(boxes: Single, box: int, place: Single, i: int, near: Single) -> None:
    """Compute the squared distances of point ``i`` to the boxes of a node's children."""
    sum_box_squares(boxes, box, place, i, near)


@njit_without_refcount()
def distance_limit(forest: Forest, node: int, i: int, cost: float) -> float:
    """Return the squared distance in the forest above which targets of a node cost more."""
    errs = forest.slack * (forest.size[i] + forest.reach[node]) + forest.underflow
    return float(min(cost * forest.unit * forest.unit + errs, MAX_SQUARED_DISTANCE))


@njit_without_refcount()
def squared_distance(place: FloatArray, i: int, j: int) -> float:
    """Return the squared distance of two points."""
    total = 0.0
    for k in range(place.shape[1]):
        step = place[i, k] - place[j, k]
        total += step * step
    return total


@njit_without_refcount()
def _push(
    forest: Forest, node: int, i: int, limit: float, near: Single,
    waiting: IntArray, far: FloatArray, pending: int,
) -> int:  # fmt: skip
    """Push a node's children on the stack, the nearest on top; return the stack size."""
    compute_box_distances(forest.boxes, forest.box[node], forest.place, i, near)
    bottom = pending
    for c in range(forest.children[node]):
        if near[c] > limit:
            continue
        at = pending
        while at > bottom and far[at - 1] < near[c]:
            waiting[at], far[at] = waiting[at - 1], far[at - 1]
            at -= 1
        waiting[at], far[at] = forest.child[node] + c, near[c]
        pending += 1
    return pending


@njit_without_refcount()
def _net(points: Points, i: int, j: int, price: float) -> float:
    """Return l_j − ν c_ij; at an infinite price only free moves count."""
    cost = squared_distance(points.place, i, j)
    return float(points.losses[j] - (price * cost if cost > 0.0 else 0.0))


@njit_without_refcount()
def _comes_first(points: Points, i: int, j: int, other: int) -> bool:
    """Whether target ``j`` of point ``i`` precedes another of equal worth.

    The larger loss comes first, then the fewest changed columns, then the first of all. A point
    that can stay at equal worth stays.
    """
    if other == i:
        return False
    if points.losses[j] != points.losses[other]:
        return bool(points.losses[j] > points.losses[other])
    if squared_distance(points.place, i, j) != squared_distance(points.place, i, other):
        return False
    fewer = count_changes(points.profiles, i, j) - count_changes(points.profiles, i, other)
    return bool(fewer < 0 or (fewer == 0 and j < other))


@njit(cache=True)
def _find_best_of_rows(  # noqa: C901
    rows: IntArray, forest: Forest, points: Points, price: float, best: FloatArray,
    target: IntArray,
) -> None:  # fmt: skip
    """Fill max_j (l_j − ν c_ij) of some points in turn, and the best target.

    ``target`` holds an allowed target from which each search begins, or -1.
    """
    near = np.empty(LEAF_SIZE, np.float32)
    waiting, far = np.empty(MAX_PENDING_NODES, np.int64), np.empty(MAX_PENDING_NODES)
    seed, before = -1, 0
    for r in range(len(rows)):
        i = rows[r]
        from_, to = forest.strata[i]
        if to != before:  # another block
            seed, before = -1, to
        best[r], begun, target[r] = points.losses[i], target[r], i
        for j in (begun, seed):
            if j >= 0 and _net(points, i, j, price) > best[r]:
                best[r], target[r] = _net(points, i, j, price), j
        for stratum in range(from_, to):
            waiting[0], far[0] = forest.root[stratum], 0.0
            pending = 1
            while pending > 0:
                pending -= 1
                node = waiting[pending]
                limit = distance_limit(
                    forest, node, i, _affordable(forest.top[node], best[r], price)
                )
                top = forest.top[node]
                # an equal loss is no better than staying, and may precede a free target
                if top < best[r] or (top == best[r] and target[r] == i) or far[pending] > limit:
                    continue
                if forest.children[node]:
                    pending = _push(forest, node, i, limit, near, waiting, far, pending)
                    continue
                first = forest.first[node]
                count = forest.last[node] - first
                compute_leaf_distances(forest.leaves, first, forest.place, i, near, count)
                for a in range(count):
                    if near[a] > limit or forest.loss[first + a] < best[r]:
                        continue
                    j = forest.target[first + a]
                    net = _net(points, i, j, price)
                    if net > best[r] or (net == best[r] and _comes_first(points, i, j, target[r])):
                        best[r], target[r] = net, j
        if target[r] != i:  # the point itself need not be a target
            seed = target[r]


@njit_without_refcount()
def _affordable(loss: float, least: float, price: float) -> float:
    """Return the largest cost at which a loss is worth at least ``least``."""
    return (loss - least) / price * (1 + MARGIN)


@njit(cache=True)
def _count_ties_of_rows(
    rows: IntArray, forest: Forest, points: Points, price: float, least: FloatArray, most: int,
    count: IntArray,
) -> None:  # fmt: skip
    """Count the targets worth at least ``least``, up to ``most``, with the point itself."""
    near = np.empty(LEAF_SIZE, np.float32)
    waiting, far = np.empty(MAX_PENDING_NODES, np.int64), np.empty(MAX_PENDING_NODES)
    for r in range(len(rows)):
        i = rows[r]
        count[r] = 1 if points.losses[i] >= least[r] else 0
        from_, to = forest.strata[i]
        for stratum in range(from_, to):
            waiting[0], far[0] = forest.root[stratum], 0.0
            pending = 1
            while pending > 0 and count[r] < most:
                pending -= 1
                node = waiting[pending]
                limit = distance_limit(
                    forest, node, i, _affordable(forest.top[node], least[r], price)
                )
                if forest.top[node] < least[r] or far[pending] > limit:
                    continue
                if forest.children[node]:
                    pending = _push(forest, node, i, limit, near, waiting, far, pending)
                    continue
                first = forest.first[node]
                size = forest.last[node] - first
                compute_leaf_distances(forest.leaves, first, forest.place, i, near, size)
                for a in range(size):
                    j = forest.target[first + a]
                    if near[a] <= limit and j != i and _net(points, i, j, price) >= least[r]:
                        count[r] += 1


@njit(cache=True, parallel=True)
def best_in_forest(
    rows: IntArray, forest: Forest, points: Points, price: float, best: FloatArray,
    target: IntArray,
) -> None:  # fmt: skip
    """Fill max_j (l_j − ν c_ij) of ``rows`` at a price above 0, which may be infinite.

    ``target`` holds where each search begins (-1: nowhere), and receives the best target.
    """
    for chunk in prange((len(rows) + CHUNK_ROWS - 1) // CHUNK_ROWS):
        part = slice(chunk * CHUNK_ROWS, min(len(rows), (chunk + 1) * CHUNK_ROWS))
        _find_best_of_rows(rows[part], forest, points, price, best[part], target[part])


@njit(cache=True, parallel=True)
def ties_in_forest(
    rows: IntArray, forest: Forest, points: Points, price: float, least: FloatArray, most: int,
    count: IntArray,
) -> None:  # fmt: skip
    """Count, for each of ``rows``, the targets with l_j − ν c_ij >= least, up to ``most``."""
    for chunk in prange((len(rows) + CHUNK_ROWS - 1) // CHUNK_ROWS):
        part = slice(chunk * CHUNK_ROWS, min(len(rows), (chunk + 1) * CHUNK_ROWS))
        _count_ties_of_rows(rows[part], forest, points, price, least[part], most, count[part])
