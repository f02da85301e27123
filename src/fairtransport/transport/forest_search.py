"""Compiled searches through a forest: frontiers of points, and their best targets at a price.

Distances in single precision only tell which targets cannot matter, up to what they err by;
what others cost is summed from the coordinates, so the result is that of the exact costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit, prange

from fairtransport.transport.forest import CHILDREN, LEAF
from fairtransport.transport.hull import MARGIN, cost_at, finish, insert

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.transport.forest import Forest

    Single = NDArray[np.float32]

ROWS = 128
"""Points that are searched for one after the other, each starting from what the last found."""
DEPTH = 8 * CHILDREN
"""Nodes that may wait: the children of one node a level, and trees are balanced."""
SEEDS = 64
"""Corners of the point before that are tried first; more are not worth while."""
FARTHEST = 1e29
"""No squared distance in a forest is larger."""


class Points(NamedTuple):
    """What a search asks about points: coordinates, losses and profiles."""

    place: FloatArray
    losses: FloatArray
    profiles: IntArray


@njit(cache=True, fastmath={"contract", "nnan", "ninf", "nsz"})
def _distances(forest: Forest, node: int, i: int, near: Single) -> float:
    """Compute the squared distances of a leaf's targets to point ``i``; return the smallest."""
    first, dimensions = forest.first[node], forest.place.shape[1]
    count = forest.last[node] - first
    for a in range(count):
        near[a] = np.float32(0)
    for k in range(dimensions):
        x = forest.place[i, k]
        # slices have no negative indices, which would keep the loop from being vectorised
        start = first * dimensions + k * count
        part = forest.leaves[start : start + count]
        for a in range(count):
            step = part[a] - x
            near[a] += step * step
    least = np.float32(FARTHEST)
    for a in range(count):
        least = min(least, near[a])
    return float(least)


@njit(cache=True, fastmath={"contract", "nnan", "ninf", "nsz"})
def _to_boxes(forest: Forest, node: int, i: int, near: Single) -> None:
    """Compute the squared distances of point ``i`` to the boxes of a node's children."""
    for c in range(CHILDREN):
        near[c] = np.float32(0)
    box = forest.box[node]
    for k in range(forest.place.shape[1]):
        x = forest.place[i, k]
        low, high = forest.boxes[box, k, 0], forest.boxes[box, k, 1]
        for c in range(CHILDREN):
            step = max(np.float32(0), low[c] - x, x - high[c])
            near[c] += step * step


@njit(cache=True)
def _limit(forest: Forest, node: int, i: int, cost: float) -> float:
    """Return the squared distance in the forest from which on targets of a node cost more."""
    errs = forest.slack * (forest.size[i] + forest.reach[node]) + forest.lost
    return float(min(cost * forest.unit * forest.unit + errs, FARTHEST))


@njit(cache=True)
def _cost(place: FloatArray, i: int, j: int) -> float:
    """Return the squared distance of two points."""
    total = 0.0
    for k in range(place.shape[1]):
        step = place[i, k] - place[j, k]
        total += step * step
    return total


@njit(cache=True)
def _push(
    forest: Forest, node: int, i: int, limit: float, near: Single,
    waiting: IntArray, far: FloatArray, held: int,
) -> int:  # fmt: skip
    """Let a node's children wait, the nearest to be taken first; return how many wait."""
    _to_boxes(forest, node, i, near)
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


@njit(cache=True)
def _longer(array: np.ndarray) -> np.ndarray:
    """Return an array of twice the length that starts the same."""
    longer = np.empty(2 * len(array), array.dtype)
    longer[: len(array)] = array
    return longer


@njit(cache=True)
def _frontiers_of_rows(  # noqa: C901, PLR0912
    rows: IntArray, forest: Forest, points: Points,
    count: IntArray, corners: IntArray, costs: FloatArray,
) -> tuple[int, int]:  # fmt: skip
    """Fill the frontiers of some points one after the other; return corners and pairs looked at.

    Corners for which there is no room are only counted.
    """
    level, price = np.empty(4 * LEAF), np.empty(4 * LEAF)
    corner = np.empty(4 * LEAF, np.int64)
    near = np.empty(LEAF, np.float32)
    waiting, far = np.empty(DEPTH, np.int64), np.empty(DEPTH)
    seeds = np.empty(SEEDS, np.int64)
    sown, before, total, pairs = 0, 0, 0, 0
    for r in range(len(rows)):
        i = rows[r]
        own = points.losses[i]
        level[0], price[0], corner[0] = own, 0.0, i
        n = 1
        from_, to = forest.strata[i]
        if to != before:  # another block
            sown, before = 0, to
        for a in range(sown):
            j = seeds[a]
            if points.losses[j] > own:
                n = insert(i, j, _cost(points.place, i, j), points.losses[j], points.profiles,
                           level, price, corner, n)  # fmt: skip
        for stratum in range(from_, to):
            node = forest.root[stratum]
            if forest.top[node] <= own or forest.top[node] < level[n - 1]:
                break
            waiting[0], far[0] = node, 0.0
            held = 1
            while held > 0:
                held -= 1
                node = waiting[held]
                if forest.top[node] <= own:
                    continue
                limit = _limit(forest, node, i, cost_at(forest.top[node], level, price, n))
                if far[held] > limit:
                    continue
                if forest.children[node]:
                    held = _push(forest, node, i, limit, near, waiting, far, held)
                    continue
                pairs += forest.last[node] - forest.first[node]
                if _distances(forest, node, i, near) > limit:
                    continue
                if n + LEAF > len(level):
                    level, price, corner = _longer(level), _longer(price), _longer(corner)
                n = _take_leaf(i, node, limit, near, forest, points, level, price, corner, n)
        if n <= SEEDS:
            # the point itself need not be a target
            sown = n - 1 if corner[n - 1] == i else n
            seeds[:sown] = corner[:sown]
        n = finish(i, points.losses, price, corner, n)
        count[r] = n
        if total + n <= len(corners):
            corners[total : total + n] = corner[:n]
            costs[total : total + n] = price[:n]
        total += n
    return total, pairs


@njit(cache=True)
def _take_leaf(
    i: int, node: int, limit: float, near: Single, forest: Forest, points: Points,
    level: FloatArray, price: FloatArray, corner: IntArray, n: int,
) -> int:  # fmt: skip
    """Take into the hull of point ``i`` what a leaf has to add; return the hull's new length."""
    first = forest.first[node]
    for a in range(forest.last[node] - first):
        if near[a] > limit:
            continue
        loss = forest.loss[first + a]
        if loss <= points.losses[i]:
            continue
        if near[a] > _limit(forest, node, i, cost_at(loss, level, price, n)):
            continue
        j = forest.target[first + a]
        n = insert(i, j, _cost(points.place, i, j), loss, points.profiles, level, price, corner, n)
    return n


@njit(cache=True, parallel=True)
def frontiers_of_forest(
    rows: IntArray, forest: Forest, points: Points,
    count: IntArray, corners: IntArray, costs: FloatArray, totals: IntArray, pairs: IntArray,
) -> None:  # fmt: skip
    """Fill the frontiers of ``rows`` under squared Euclidean cost, `ROWS` of them a chunk.

    A chunk's corners go one after the other into its row of ``corners`` and ``costs``, as far
    as there is room; ``totals`` tells how many there are, ``pairs`` how many were looked at.
    """
    for chunk in prange(len(totals)):
        part = slice(chunk * ROWS, min(len(rows), (chunk + 1) * ROWS))
        totals[chunk], pairs[chunk] = _frontiers_of_rows(
            rows[part], forest, points, count[part], corners[chunk], costs[chunk]
        )


@njit(cache=True)
def _net(points: Points, i: int, j: int, price: float) -> float:
    """Return l_j − ν c_ij; at an infinite price only free moves are worth anything."""
    cost = _cost(points.place, i, j)
    return float(points.losses[j] - (price * cost if cost > 0.0 else 0.0))


@njit(cache=True)
def _best_of_rows(  # noqa: C901, PLR0912
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
                limit = _limit(forest, node, i, _affordable(forest.top[node], best[r], price))
                if forest.top[node] <= best[r] or far[held] > limit:
                    continue
                if forest.children[node]:
                    held = _push(forest, node, i, limit, near, waiting, far, held)
                    continue
                if _distances(forest, node, i, near) > limit:
                    continue
                first = forest.first[node]
                for a in range(forest.last[node] - first):
                    if near[a] <= limit and forest.loss[first + a] > best[r]:
                        net = _net(points, i, forest.target[first + a], price)
                        if net > best[r]:
                            best[r], target[r] = net, forest.target[first + a]
        if target[r] != i:  # the point itself need not be a target
            seed = target[r]


@njit(cache=True)
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
                limit = _limit(forest, node, i, _affordable(forest.top[node], least[r], price))
                if forest.top[node] < least[r] or far[held] > limit:
                    continue
                if forest.children[node]:
                    held = _push(forest, node, i, limit, near, waiting, far, held)
                    continue
                if _distances(forest, node, i, near) > limit:
                    continue
                first = forest.first[node]
                for a in range(forest.last[node] - first):
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
