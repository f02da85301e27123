"""Compiled search for frontiers that skips targets below a hull, many at once.

A hull bounds the cost of a target of some loss: as a function of the loss, the bound is the
maximum of a few lines, one per segment. The targets of a leaf, or the children of a node, are
therefore screened in a few passes in single precision, with an error bound. Neighbours are
searched together, so that nodes stay in the processor's cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit, prange

from fairtransport.transport.forest import LEAF_SIZE, MAX_CHILDREN
from fairtransport.transport.forest_kernels import (
    CHUNK_ROWS,
    MAX_PENDING_NODES,
    MAX_SQUARED_DISTANCE,
    distance_limit,
    squared_distance,
    sum_box_squares,
    sum_squares,
)
from fairtransport.transport.kernels import (
    Hull,
    NewCorner,
    count_above,
    finish_hull,
    hull_cost,
    insert_corner,
    njit_without_refcount,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.transport.forest import Forest
    from fairtransport.transport.forest_kernels import Points

    Single = NDArray[np.float32]

GROUP_SIZE = 16
"""Neighbours searched together, one bit each in a 32-bit mask."""
MAX_SEEDS = 64
"""Corners of previous neighbours that are tried first."""
INITIAL_HULL_ROOM = 4 * LEAF_SIZE
"""Corners per hull for which memory is allocated first."""
LINE_ROUNDING = 1e-6
"""Relative error bound of a line in single precision: more than six roundings."""


class Hulls(NamedTuple):
    """The hulls of some neighbours, and the lines that bound costs in a stratum."""

    level: FloatArray
    price: FloatArray
    corner: IntArray
    size: IntArray
    start: Single
    slope: Single
    lines: IntArray


class Scratch(NamedTuple):
    """Buffers for distances and bounds, and for the stack of nodes with masks of neighbours."""

    near: Single
    most: Single
    asks: IntArray
    waiting: IntArray
    masks: IntArray


@njit(cache=True)
def _allocate_hulls(room: int) -> Hulls:
    floats = np.empty((2, GROUP_SIZE, room))
    singles = np.empty((2, GROUP_SIZE, room), np.float32)
    counts = np.zeros((2, GROUP_SIZE), np.int64)
    return Hulls(
        floats[0], floats[1], np.empty((GROUP_SIZE, room), np.int64), counts[0],
        singles[0], singles[1], counts[1],
    )  # fmt: skip


@njit_without_refcount()
def _add_target(points: Points, i: int, j: int, hulls: Hulls, g: int) -> None:
    """Insert target ``j`` into hull ``g`` of point ``i`` if it is a corner."""
    new = NewCorner(j, squared_distance(points.place, i, j), points.losses[j])
    hull = Hull(hulls.level[g], hulls.price[g], hulls.corner[g])
    hulls.size[g] = insert_corner(i, new, points.profiles, hull, hulls.size[g])


@njit_without_refcount()
def _draw_lines(base: float, rise: float, unit: float, hulls: Hulls, g: int) -> None:
    """Compute the lines of hull ``g`` over losses from ``base`` to ``base + rise``."""
    level, price, n = hulls.level[g], hulls.price[g], hulls.size[g]
    if n == 1:
        # the largest loss is free: only an equal loss can replace it
        hulls.start[g, 0], hulls.slope[g, 0], hulls.lines[g] = 0.0, 0.0, 1
        return
    scale = rise if rise > 0.0 else 1.0
    count = 0
    # from the segment with the smallest loss of the stratum to that with the largest
    for k in range(min(max(count_above(base, level, n) - 1, 0), n - 2), -1, -1):
        if count > 0 and level[k + 1] > base + rise:
            break
        step = 1 / (level[k] - level[k + 1])
        gap = (base - level[k + 1]) * step
        run = (price[k] - price[k + 1]) * unit
        start, slope = price[k + 1] * unit + run * gap, run * (scale * step)
        start += LINE_ROUNDING * (slope + abs(start) + LINE_ROUNDING * run * abs(gap))
        if not (slope < MAX_SQUARED_DISTANCE and start < MAX_SQUARED_DISTANCE):
            start, slope = MAX_SQUARED_DISTANCE, 0.0
        hulls.start[g, count], hulls.slope[g, count] = max(start, -MAX_SQUARED_DISTANCE), slope
        count += 1
    hulls.lines[g] = count


@njit_without_refcount(inline="always")
def _bound_costs(
    height: Single, first: int, hulls: Hulls, g: int, errs: float, most: Single, count: int
) -> None:
    """Compute upper bounds on the costs of ``count`` targets from ``first``."""
    at, many = np.uint64(first), np.uint64(count)
    start, slope = hulls.start[g, 0] + np.float32(errs), hulls.slope[g, 0]
    for a in range(many):
        most[a] = start + slope * height[at + a]
    for k in range(1, hulls.lines[g]):
        start, slope = hulls.start[g, k] + np.float32(errs), hulls.slope[g, k]
        for a in range(many):
            bound = start + slope * height[at + a]
            most[a] = max(most[a], bound)


@njit_without_refcount(inline="always")
def _count_hits(near: Single, most: Single, count: int) -> int:
    """Count the distances within their bounds."""
    hits = np.int32(0)
    for a in range(np.uint64(count)):
        hits += np.int32(near[a] <= most[a])
    return int(hits)


@njit_without_refcount(inline="always")
def _screen_leaf(
    forest: Forest, first: int, count: int, i: int, g: int, errs: float, hulls: Hulls,
    scratch: Scratch,
) -> int:  # fmt: skip
    """Compute squared distances and bounds of a leaf's targets for point ``i``; count the hits."""
    leaves, place, height = forest.leaves, forest.place, forest.height
    near, most = scratch.near, scratch.most
    if count == LEAF_SIZE:  # a constant makes faster loops
        sum_squares(leaves, first, place, i, near, LEAF_SIZE)
        _bound_costs(height, first, hulls, g, errs, most, LEAF_SIZE)
        return _count_hits(near, most, LEAF_SIZE)
    sum_squares(leaves, first, place, i, near, count)
    _bound_costs(height, first, hulls, g, errs, most, count)
    return _count_hits(near, most, count)


@njit_without_refcount(inline="always")
def _mark_children(
    forest: Forest, box: int, i: int, g: int, errs: float, hulls: Hulls, scratch: Scratch
) -> None:
    """Set bit ``g`` of the children of a node that may add to the hull of point ``i``."""
    near, most, asks, share = scratch.near, scratch.most, scratch.asks, forest.errs
    sum_box_squares(forest.boxes, box, forest.place, i, near)
    first, bit = box * MAX_CHILDREN, np.int32(1 << g)
    _bound_costs(forest.tops, first, hulls, g, errs, most, MAX_CHILDREN)
    for c in range(np.uint64(MAX_CHILDREN)):
        asks[c] |= bit if near[c] <= most[c] + share[np.uint64(first) + c] else np.int32(0)


@njit_without_refcount()
def _add_leaf(
    forest: Forest, points: Points, node: int, i: int, g: int, hulls: Hulls, scratch: Scratch
) -> None:
    """Insert the near targets of a leaf into hull ``g`` of point ``i``."""
    first = forest.first[node]
    for a in range(forest.last[node] - first):
        if scratch.near[a] > scratch.most[a] or forest.loss[first + a] <= points.losses[i]:
            continue
        cost = hull_cost(forest.loss[first + a], hulls.level[g], hulls.price[g], hulls.size[g])
        if scratch.near[a] <= distance_limit(forest, node, i, cost):
            _add_target(points, i, forest.target[first + a], hulls, g)


@njit_without_refcount(fastmath={"contract", "nnan", "ninf", "nsz"})
def _search(  # noqa: C901, PLR0912
    forest: Forest, points: Points, rows: IntArray, hulls: Hulls, scratch: Scratch
) -> int:
    """Find the hulls of neighbours in a block; return the compared pairs, or -1 if out of room."""
    children, child, firsts, lasts = forest.children, forest.child, forest.first, forest.last
    reach, size, slack, underflow = forest.reach, forest.size, forest.slack, forest.underflow
    waiting, masks, asks = scratch.waiting, scratch.masks, scratch.asks
    pairs, unit = 0, forest.unit * forest.unit
    for stratum in range(forest.strata[rows[0], 0], forest.strata[rows[0], 1]):
        base, rise = forest.base[stratum], forest.rise[stratum]
        node, mask = forest.root[stratum], 0
        for g in range(len(rows)):
            own, least = points.losses[rows[g]], hulls.level[g, hulls.size[g] - 1]
            if forest.top[node] > own and forest.top[node] >= least:
                mask |= 1 << g
                _draw_lines(base, rise, unit, hulls, g)
        if mask == 0:
            break
        waiting[0], masks[0] = node, mask
        pending = 1
        while pending > 0:
            pending -= 1
            node, mask = waiting[pending], masks[pending]
            if children[node]:
                asks[:] = 0
                for g in range(len(rows)):
                    if mask >> g & 1:
                        errs = slack * size[rows[g]] + underflow
                        _mark_children(forest, forest.box[node], rows[g], g, errs, hulls, scratch)
                for c in range(children[node] - 1, -1, -1):
                    waiting[pending], masks[pending] = child[node] + c, asks[c]
                    pending += asks[c] != 0
                continue
            first, count = firsts[node], lasts[node] - firsts[node]
            for g in range(len(rows)):
                if mask >> g & 1 == 0:
                    continue
                pairs += count
                errs = slack * (size[rows[g]] + reach[node]) + underflow
                if _screen_leaf(forest, first, count, rows[g], g, errs, hulls, scratch):
                    if hulls.size[g] + LEAF_SIZE > hulls.level.shape[1]:
                        return -1
                    _add_leaf(forest, points, node, rows[g], g, hulls, scratch)
                    _draw_lines(base, rise, unit, hulls, g)
    return pairs


@njit_without_refcount()
def _start_hulls(
    forest: Forest, points: Points, rows: IntArray, seeds: IntArray, hulls: Hulls
) -> None:
    """Start hulls with the point itself, its block's largest loss and the seeds."""
    from_, to = forest.strata[rows[0]]
    for g in range(len(rows)):
        i = rows[g]
        own = points.losses[i]
        hulls.level[g, 0], hulls.price[g, 0], hulls.corner[g, 0] = own, 0.0, i
        hulls.size[g] = 1
        if from_ < to and points.losses[forest.summit[from_]] > own:
            _add_target(points, i, forest.summit[from_], hulls, g)
        for j in seeds:
            if points.losses[j] > own:
                _add_target(points, i, j, hulls, g)


@njit(cache=True)
def _frontiers_of_rows(
    rows: IntArray, forest: Forest, points: Points,
    count: IntArray, corners: IntArray, costs: FloatArray,
) -> tuple[int, int]:  # fmt: skip
    """Fill the frontiers of some points; return the number of corners and of compared pairs.

    Corners for which there is no room are only counted.
    """
    hulls = _allocate_hulls(INITIAL_HULL_ROOM)
    scratch = Scratch(
        np.empty(LEAF_SIZE, np.float32), np.empty(LEAF_SIZE, np.float32),
        np.empty(MAX_CHILDREN, np.int32),
        np.empty(MAX_PENDING_NODES, np.int64), np.empty(MAX_PENDING_NODES, np.int64),
    )  # fmt: skip
    seeds = np.empty(MAX_SEEDS, np.int64)
    total, pairs, seed_count, at = 0, 0, 0, 0
    while at < len(rows):
        end = at + 1
        while end < min(at + GROUP_SIZE, len(rows)) and (
            forest.strata[rows[end], 1] == forest.strata[rows[at], 1]
        ):
            end += 1
        group = rows[at:end]
        _start_hulls(forest, points, group, seeds[:seed_count], hulls)
        group_pairs = _search(forest, points, group, hulls, scratch)
        if group_pairs < 0:
            hulls = _allocate_hulls(2 * hulls.level.shape[1])
            continue
        pairs += group_pairs
        seed_count = _collect_seeds(hulls, rows, at, end, forest, seeds)
        for g in range(end - at):
            corner, price = hulls.corner[g], hulls.price[g]
            n = finish_hull(rows[at + g], points.losses, price, corner, hulls.size[g])
            count[at + g] = n
            if total + n <= len(corners):
                corners[total : total + n], costs[total : total + n] = corner[:n], price[:n]
            total += n
        at = end
    return total, pairs


@njit_without_refcount()
def _collect_seeds(
    hulls: Hulls, rows: IntArray, at: int, end: int, forest: Forest, seeds: IntArray
) -> int:
    """Store corners of the last neighbour as seeds if the next point is in the same block."""
    last = end - at - 1
    n = hulls.size[last]
    if (
        n > MAX_SEEDS
        or end == len(rows)
        or forest.strata[rows[end], 1] != forest.strata[rows[at], 1]
    ):
        return 0
    # the point itself need not be a target
    if hulls.corner[last, n - 1] == rows[end - 1]:
        n -= 1
    for a in range(n):
        seeds[a] = hulls.corner[last, a]
    return int(n)


@njit(cache=True, parallel=True)
def frontiers_of_forest(
    rows: IntArray, forest: Forest, points: Points,
    count: IntArray, corners: IntArray, costs: FloatArray, totals: IntArray, pairs: IntArray,
) -> None:  # fmt: skip
    """Fill the frontiers of ``rows`` under squared Euclidean cost, `CHUNK_ROWS` per chunk.

    The corners of a chunk go into its row of ``corners`` and ``costs``, as far as there is room;
    ``totals`` receives their number, ``pairs`` the number of compared pairs.
    """
    for chunk in prange(len(totals)):
        part = slice(chunk * CHUNK_ROWS, min(len(rows), (chunk + 1) * CHUNK_ROWS))
        totals[chunk], pairs[chunk] = _frontiers_of_rows(
            rows[part], forest, points, count[part], corners[chunk], costs[chunk]
        )
