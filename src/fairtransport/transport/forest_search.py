"""Compiled searches through a forest: frontiers of points, and their best targets at a price.

Distances in single precision only tell which targets cannot matter, up to what they err by;
what others cost is summed from the coordinates, so the result is that of the exact costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit, prange

from fairtransport.transport.forest import CHILDREN, LEAF
from fairtransport.transport.hull import MARGIN
from fairtransport.transport.kernels import uncounted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.transport.forest import Forest

    Single = NDArray[np.float32]

ROWS = 128
"""Points that are searched for one after the other, each starting from what the last found."""
DEPTH = 8 * CHILDREN
"""Nodes that may wait: the children of one node a level, and trees are balanced."""
FARTHEST = 1e29
"""No squared distance in a forest is larger."""


class Points(NamedTuple):
    """What a search asks about points: coordinates, losses and profiles."""

    place: FloatArray
    losses: FloatArray
    profiles: IntArray


@uncounted(inline="always")
def sum_squares(
    leaves: Single, first: int, place: Single, i: int, near: Single, count: int
) -> None:
    """Compute the squared distances of a leaf's targets to point ``i``."""
    # indices without a sign: those that might be negative keep loops from being vectorised
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


@uncounted(inline="always")
def to_boxes(boxes: Single, box: int, place: Single, i: int, near: Single) -> None:
    """Compute the squared distances of point ``i`` to the boxes of a node's children."""
    for c in range(np.uint64(CHILDREN)):
        near[c] = np.float32(0)
    for k in range(place.shape[1]):
        x = place[i, k]
        for c in range(np.uint64(CHILDREN)):
            step = max(np.float32(0), boxes[box, k, 0, c] - x, x - boxes[box, k, 1, c])
            near[c] += step * step


@uncounted(fastmath={"contract", "nnan", "ninf", "nsz"})
def distances(leaves: Single, first: int, place: Single, i: int, near: Single, count: int) -> None:
    """Compute the squared distances of a leaf's targets to point ``i``."""
    if count == LEAF:  # a number that the compiler knows makes faster loops
        sum_squares(leaves, first, place, i, near, LEAF)
    else:
        sum_squares(leaves, first, place, i, near, count)


@uncounted(fastmath={"contract", "nnan", "ninf", "nsz"})
def distances_to_boxes(boxes: Single, box: int, place: Single, i: int, near: Single) -> None:
    """Compute the squared distances of point ``i`` to the boxes of a node's children."""
    to_boxes(boxes, box, place, i, near)


@uncounted()
def limit_of(forest: Forest, node: int, i: int, cost: float) -> float:
    """Return the squared distance in the forest from which on targets of a node cost more."""
    errs = forest.slack * (forest.size[i] + forest.reach[node]) + forest.lost
    return float(min(cost * forest.unit * forest.unit + errs, FARTHEST))


@uncounted()
def cost_of(place: FloatArray, i: int, j: int) -> float:
    """Return the squared distance of two points."""
    total = 0.0
    for k in range(place.shape[1]):
        step = place[i, k] - place[j, k]
        total += step * step
    return total


@uncounted()
def _push(
    forest: Forest, node: int, i: int, limit: float, near: Single,
    waiting: IntArray, far: FloatArray, held: int,
) -> int:  # fmt: skip
    """Let a node's children wait, the nearest to be taken first; return how many wait."""
    distances_to_boxes(forest.boxes, forest.box[node], forest.place, i, near)
    bottom = held
    for c in range(forest.children[node]):
        if near[c] > limit:
            continue
        at = held
        while at > bottom and far[at - 1] < near[c]:
            waiting[at], far[at] = waiting[at - 1], far[at - 1]
            at -= 1
        waiting[at], far[at] = forest.child[node] + c, near[c]
        held += 1
    return held


@uncounted()
def _net(points: Points, i: int, j: int, price: float) -> float:
    """Return l_j − ν c_ij; at an infinite price only free moves are worth anything."""
    cost = cost_of(points.place, i, j)
    return float(points.losses[j] - (price * cost if cost > 0.0 else 0.0))


@njit(cache=True)
def _best_of_rows(  # noqa: C901
    rows: IntArray, forest: Forest, points: Points, price: float, best: FloatArray,
    target: IntArray,
) -> None:  # fmt: skip
    """Fill max_j (l_j − ν c_ij) of some points one after the other, and who has it.

    ``target`` says where to begin: at a point that may be moved to, or nowhere (-1).
    """
    near = np.empty(LEAF, np.float32)
    waiting, far = np.empty(DEPTH, np.int64), np.empty(DEPTH)
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
            held = 1
            while held > 0:
                held -= 1
                node = waiting[held]
                limit = limit_of(forest, node, i, _affordable(forest.top[node], best[r], price))
                if forest.top[node] <= best[r] or far[held] > limit:
                    continue
                if forest.children[node]:
                    held = _push(forest, node, i, limit, near, waiting, far, held)
                    continue
                first = forest.first[node]
                count = forest.last[node] - first
                distances(forest.leaves, first, forest.place, i, near, count)
                for a in range(count):
                    if near[a] <= limit and forest.loss[first + a] > best[r]:
                        net = _net(points, i, forest.target[first + a], price)
                        if net > best[r]:
                            best[r], target[r] = net, forest.target[first + a]
        if target[r] != i:  # the point itself need not be a target
            seed = target[r]


@uncounted()
def _affordable(loss: float, least: float, price: float) -> float:
    """Return the largest cost at which a loss is worth at least ``least``."""
    return (loss - least) / price * (1 + MARGIN)


@njit(cache=True)
def _ties_of_rows(
    rows: IntArray, forest: Forest, points: Points, price: float, least: FloatArray, most: int,
    count: IntArray,
) -> None:  # fmt: skip
    """Count the targets worth at least ``least``, up to ``most``, the point itself included."""
    near = np.empty(LEAF, np.float32)
    waiting, far = np.empty(DEPTH, np.int64), np.empty(DEPTH)
    for r in range(len(rows)):
        i = rows[r]
        count[r] = 1 if points.losses[i] >= least[r] else 0
        from_, to = forest.strata[i]
        for stratum in range(from_, to):
            waiting[0], far[0] = forest.root[stratum], 0.0
            held = 1
            while held > 0 and count[r] < most:
                held -= 1
                node = waiting[held]
                limit = limit_of(forest, node, i, _affordable(forest.top[node], least[r], price))
                if forest.top[node] < least[r] or far[held] > limit:
                    continue
                if forest.children[node]:
                    held = _push(forest, node, i, limit, near, waiting, far, held)
                    continue
                first = forest.first[node]
                size = forest.last[node] - first
                distances(forest.leaves, first, forest.place, i, near, size)
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

    ``target`` tells where to begin (-1: nowhere), and then who has the maximum.
    """
    for chunk in prange((len(rows) + ROWS - 1) // ROWS):
        part = slice(chunk * ROWS, min(len(rows), (chunk + 1) * ROWS))
        _best_of_rows(rows[part], forest, points, price, best[part], target[part])


@njit(cache=True, parallel=True)
def ties_in_forest(
    rows: IntArray, forest: Forest, points: Points, price: float, least: FloatArray, most: int,
    count: IntArray,
) -> None:  # fmt: skip
    """Count, for each of ``rows``, the targets with l_j − ν c_ij >= least, up to some ``most``."""
    for chunk in prange((len(rows) + ROWS - 1) // ROWS):
        part = slice(chunk * ROWS, min(len(rows), (chunk + 1) * ROWS))
        _ties_of_rows(rows[part], forest, points, price, least[part], most, count[part])
