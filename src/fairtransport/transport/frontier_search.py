"""The compiled search for frontiers: what lies below a hull is left out, many targets at a time.

A hull says what a target of some loss may cost at most. As a function of the loss that is the
largest of a few lines, one for each of its segments, so a leaf's targets, or a node's children,
are tried in a few passes of single precision, with room for what it errs by. Neighbours go
through the forest together: what one of them has fetched is near when the next one asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit, prange

from fairtransport.transport.forest import CHILDREN, LEAF
from fairtransport.transport.forest_search import (
    DEPTH,
    FARTHEST,
    ROWS,
    cost_of,
    limit_of,
    sum_squares,
    to_boxes,
)
from fairtransport.transport.hull import Hull, Newcomer, cost_at, finish, insert, place_of
from fairtransport.transport.kernels import uncounted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.transport.forest import Forest
    from fairtransport.transport.forest_search import Points

    Single = NDArray[np.float32]

TOGETHER = 16
"""Neighbours that go through the forest together; a bit each in a mask of 32."""
SEEDS = 64
"""Corners of the neighbours before that are tried first; more are not worth while."""
ROOM = 4 * LEAF
"""Corners of a hull for which there is room at first."""
ROUNDING = 1e-6
"""What a line in single precision errs by, relatively: six roundings, and room to spare."""


class Hulls(NamedTuple):
    """The hulls of some neighbours, and for each the lines that it draws across a stratum.

    Attributes
    ----------
    level, price, corner, size
        Losses, costs and targets of the corners, one hull a row, and how many there are.
    start, slope, lines
        A target of some height may cost at most the largest of ``start + slope · height``,
        in the forest's unit, in one of so many lines.
    """

    level: FloatArray
    price: FloatArray
    corner: IntArray
    size: IntArray
    start: Single
    slope: Single
    lines: IntArray


class Scratch(NamedTuple):
    """Room for distances and their bounds, and for nodes that wait with the masks of who asks."""

    near: Single
    most: Single
    asks: IntArray
    waiting: IntArray
    masks: IntArray


@njit(cache=True)
def _hulls(room: int) -> Hulls:
    floats = np.empty((2, TOGETHER, room))
    singles = np.empty((2, TOGETHER, room), np.float32)
    counts = np.zeros((2, TOGETHER), np.int64)
    return Hulls(
        floats[0], floats[1], np.empty((TOGETHER, room), np.int64), counts[0],
        singles[0], singles[1], counts[1],
    )  # fmt: skip


@uncounted()
def _take(points: Points, i: int, j: int, hulls: Hulls, g: int) -> None:
    """Take target ``j`` into hull ``g``, that of point ``i``, if it is a corner."""
    new = Newcomer(j, cost_of(points.place, i, j), points.losses[j])
    hull = Hull(hulls.level[g], hulls.price[g], hulls.corner[g])
    hulls.size[g] = insert(i, new, points.profiles, hull, hulls.size[g])


@uncounted()
def _draw(base: float, rise: float, unit: float, hulls: Hulls, g: int) -> None:
    """Draw the lines of hull ``g`` across a stratum of losses from ``base`` up by ``rise``."""
    level, price, n = hulls.level[g], hulls.price[g], hulls.size[g]
    if n == 1:
        # the largest loss is free: only its like can be better
        hulls.start[g, 0], hulls.slope[g, 0], hulls.lines[g] = 0.0, 0.0, 1
        return
    scale = rise if rise > 0.0 else 1.0
    count = 0
    # from the segment that holds the least loss of the stratum to the one that holds its largest
    for k in range(min(max(place_of(base, level, n) - 1, 0), n - 2), -1, -1):
        if count > 0 and level[k + 1] > base + rise:
            break
        step = 1 / (level[k] - level[k + 1])
        gap = (base - level[k + 1]) * step
        run = (price[k] - price[k + 1]) * unit
        start, slope = price[k + 1] * unit + run * gap, run * (scale * step)
        start += ROUNDING * (slope + abs(start) + ROUNDING * run * abs(gap))
        if not (slope < FARTHEST and start < FARTHEST):
            start, slope = FARTHEST, 0.0
        hulls.start[g, count], hulls.slope[g, count] = max(start, -FARTHEST), slope
        count += 1
    hulls.lines[g] = count


@uncounted(inline="always")
def _bound(
    height: Single, first: int, hulls: Hulls, g: int, errs: float, most: Single, count: int
) -> None:
    """Compute what ``count`` targets, from ``first`` on, may cost at most."""
    at, many = np.uint64(first), np.uint64(count)
    start, slope = hulls.start[g, 0] + np.float32(errs), hulls.slope[g, 0]
    for a in range(many):
        most[a] = start + slope * height[at + a]
    for k in range(1, hulls.lines[g]):
        start, slope = hulls.start[g, k] + np.float32(errs), hulls.slope[g, k]
        for a in range(many):
            bound = start + slope * height[at + a]
            most[a] = max(most[a], bound)


@uncounted(inline="always")
def _hits(near: Single, most: Single, count: int) -> int:
    """Count the distances that are not too large."""
    hits = np.int32(0)
    for a in range(np.uint64(count)):
        hits += np.int32(near[a] <= most[a])
    return int(hits)


@uncounted(inline="always")
def _screen(
    forest: Forest, first: int, count: int, i: int, g: int, errs: float, hulls: Hulls,
    scratch: Scratch,
) -> int:  # fmt: skip
    """Compute a leaf's squared distances to point ``i`` and their bounds; count the hits."""
    leaves, place, height = forest.leaves, forest.place, forest.height
    near, most = scratch.near, scratch.most
    if count == LEAF:  # a number that the compiler knows makes faster loops
        sum_squares(leaves, first, place, i, near, LEAF)
        _bound(height, first, hulls, g, errs, most, LEAF)
        return _hits(near, most, LEAF)
    sum_squares(leaves, first, place, i, near, count)
    _bound(height, first, hulls, g, errs, most, count)
    return _hits(near, most, count)


@uncounted(inline="always")
def _ask(
    forest: Forest, box: int, i: int, g: int, errs: float, hulls: Hulls, scratch: Scratch
) -> None:
    """Set bit ``g`` of those of a node's children that may add to the hull of point ``i``."""
    near, most, asks, share = scratch.near, scratch.most, scratch.asks, forest.errs
    to_boxes(forest.boxes, box, forest.place, i, near)
    first, bit = box * CHILDREN, np.int32(1 << g)
    _bound(forest.tops, first, hulls, g, errs, most, CHILDREN)
    for c in range(np.uint64(CHILDREN)):
        asks[c] |= bit if near[c] <= most[c] + share[np.uint64(first) + c] else np.int32(0)


@uncounted()
def _take_leaf(
    forest: Forest, points: Points, node: int, i: int, g: int, hulls: Hulls, scratch: Scratch
) -> None:
    """Take into hull ``g``, that of point ``i``, what is near enough in a leaf."""
    first = forest.first[node]
    for a in range(forest.last[node] - first):
        if scratch.near[a] > scratch.most[a] or forest.loss[first + a] <= points.losses[i]:
            continue
        cost = cost_at(forest.loss[first + a], hulls.level[g], hulls.price[g], hulls.size[g])
        if scratch.near[a] <= limit_of(forest, node, i, cost):
            _take(points, i, forest.target[first + a], hulls, g)


@uncounted(fastmath={"contract", "nnan", "ninf", "nsz"})
def _search(  # noqa: C901, PLR0912
    forest: Forest, points: Points, rows: IntArray, hulls: Hulls, scratch: Scratch
) -> int:
    """Find the hulls of neighbours in one block; return the pairs looked at, or -1: no room."""
    children, child, firsts, lasts = forest.children, forest.child, forest.first, forest.last
    reach, size, slack, lost = forest.reach, forest.size, forest.slack, forest.lost
    waiting, masks, asks = scratch.waiting, scratch.masks, scratch.asks
    pairs, unit = 0, forest.unit * forest.unit
    for stratum in range(forest.strata[rows[0], 0], forest.strata[rows[0], 1]):
        base, rise = forest.base[stratum], forest.rise[stratum]
        node, mask = forest.root[stratum], 0
        for g in range(len(rows)):
            own, least = points.losses[rows[g]], hulls.level[g, hulls.size[g] - 1]
            if forest.top[node] > own and forest.top[node] >= least:
                mask |= 1 << g
                _draw(base, rise, unit, hulls, g)
        if mask == 0:
            break
        waiting[0], masks[0] = node, mask
        held = 1
        while held > 0:
            held -= 1
            node, mask = waiting[held], masks[held]
            if children[node]:
                asks[:] = 0
                for g in range(len(rows)):
                    if mask >> g & 1:
                        errs = slack * size[rows[g]] + lost
                        _ask(forest, forest.box[node], rows[g], g, errs, hulls, scratch)
                for c in range(children[node] - 1, -1, -1):
                    waiting[held], masks[held] = child[node] + c, asks[c]
                    held += asks[c] != 0
                continue
            first, count = firsts[node], lasts[node] - firsts[node]
            for g in range(len(rows)):
                if mask >> g & 1 == 0:
                    continue
                pairs += count
                errs = slack * (size[rows[g]] + reach[node]) + lost
                if _screen(forest, first, count, rows[g], g, errs, hulls, scratch):
                    if hulls.size[g] + LEAF > hulls.level.shape[1]:
                        return -1
                    _take_leaf(forest, points, node, rows[g], g, hulls, scratch)
                    _draw(base, rise, unit, hulls, g)
    return pairs


@uncounted()
def _start(forest: Forest, points: Points, rows: IntArray, seeds: IntArray, hulls: Hulls) -> None:
    """Start hulls with the point itself, its block's largest loss and what neighbours found."""
    from_, to = forest.strata[rows[0]]
    for g in range(len(rows)):
        i = rows[g]
        own = points.losses[i]
        hulls.level[g, 0], hulls.price[g, 0], hulls.corner[g, 0] = own, 0.0, i
        hulls.size[g] = 1
        if from_ < to and points.losses[forest.summit[from_]] > own:
            _take(points, i, forest.summit[from_], hulls, g)
        for j in seeds:
            if points.losses[j] > own:
                _take(points, i, j, hulls, g)


@njit(cache=True)
def _frontiers_of_rows(
    rows: IntArray, forest: Forest, points: Points,
    count: IntArray, corners: IntArray, costs: FloatArray,
) -> tuple[int, int]:  # fmt: skip
    """Fill the frontiers of some points; return the number of corners and of pairs looked at.

    Corners for which there is no room are only counted.
    """
    hulls = _hulls(ROOM)
    scratch = Scratch(
        np.empty(LEAF, np.float32), np.empty(LEAF, np.float32), np.empty(CHILDREN, np.int32),
        np.empty(DEPTH, np.int64), np.empty(DEPTH, np.int64),
    )  # fmt: skip
    seeds = np.empty(SEEDS, np.int64)
    total, pairs, sown, at = 0, 0, 0, 0
    while at < len(rows):
        end = at + 1
        while end < min(at + TOGETHER, len(rows)) and (
            forest.strata[rows[end], 1] == forest.strata[rows[at], 1]
        ):
            end += 1
        group = rows[at:end]
        _start(forest, points, group, seeds[:sown], hulls)
        seen = _search(forest, points, group, hulls, scratch)
        if seen < 0:
            hulls = _hulls(2 * hulls.level.shape[1])
            continue
        pairs += seen
        sown = _sow(hulls, rows, at, end, forest, seeds)
        for g in range(end - at):
            corner, price = hulls.corner[g], hulls.price[g]
            n = finish(rows[at + g], points.losses, price, corner, hulls.size[g])
            count[at + g] = n
            if total + n <= len(corners):
                corners[total : total + n], costs[total : total + n] = corner[:n], price[:n]
            total += n
        at = end
    return total, pairs


@uncounted()
def _sow(hulls: Hulls, rows: IntArray, at: int, end: int, forest: Forest, seeds: IntArray) -> int:
    """Keep the corners of the last of some neighbours as seeds, if the next is in their block."""
    last = end - at - 1
    n = hulls.size[last]
    if n > SEEDS or end == len(rows) or forest.strata[rows[end], 1] != forest.strata[rows[at], 1]:
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
    """Fill the frontiers of ``rows`` under squared Euclidean cost, `ROWS` of them a chunk.

    A chunk's corners go one after the other into its row of ``corners`` and ``costs``, as far
    as there is room; ``totals`` tells how many there are, ``pairs`` how many were looked at.
    """
    for chunk in prange(len(totals)):
        part = slice(chunk * ROWS, min(len(rows), (chunk + 1) * ROWS))
        totals[chunk], pairs[chunk] = _frontiers_of_rows(
            rows[part], forest, points, count[part], corners[chunk], costs[chunk]
        )
