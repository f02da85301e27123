"""Trees of targets by loss and coordinates, so that a search can skip most of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.geometry import Geometry

    Single = NDArray[np.float32]


LEAF_SIZE = 64
"""Targets in a leaf: their distances to one point are computed together."""
MAX_CHILDREN = 32
"""Children of a node; the distances to their boxes are computed together."""
FIRST_STRATUM = 256
"""Targets in a block's first stratum; each further stratum is twice as large."""
ABSENT_BOX = 1e15
"""Coordinate of the box of an absent child; all points lie within 2 of 0."""


class Tree(NamedTuple):
    """The nodes of all trees."""

    first: IntArray
    last: IntArray
    child: IntArray
    children: IntArray
    box: IntArray


class NodeContents(NamedTuple):
    """Bounds and coordinates of the nodes of all trees; see `Forest`."""

    top: FloatArray
    reach: FloatArray
    boxes: Single
    leaves: Single


class Forest(NamedTuple):
    """The targets of each block in strata of falling loss, each stratum a tree by coordinates."""

    place: Single
    size: FloatArray
    unit: float
    slack: float
    underflow: float
    strata: IntArray
    root: IntArray
    first: IntArray
    last: IntArray
    child: IntArray
    children: IntArray
    box: IntArray
    top: FloatArray
    reach: FloatArray
    boxes: Single
    tops: Single
    errs: Single
    base: FloatArray
    rise: FloatArray
    summit: IntArray
    target: IntArray
    loss: FloatArray
    height: Single
    leaves: Single


def build_forest(
    losses: FloatArray, geometry: Geometry, points: FloatArray, *, flat: bool
) -> Forest:
    """Build the trees of all targets; ``flat`` makes strata of single leaves by falling loss."""
    place, unit = _scale_to_single(points)
    dimensions = points.shape[1]
    single = np.finfo(np.float32)
    targets = geometry.targets_in(np.arange(geometry.size))
    order = targets[np.lexsort((targets, -losses[targets], geometry.blocks[targets]))]
    starts, strata = _cut_strata(geometry.blocks, order, losses, LEAF_SIZE if flat else None)
    summit, base = order[starts[:-1]], losses[order[starts[1:] - 1]]
    rise = losses[summit] - base
    tree, root = _build_trees(place, order, starts)
    loss, scale = losses[order], np.where(rise > 0, rise, 1.0)
    height = ((loss - np.repeat(base, np.diff(starts))) / np.repeat(scale, np.diff(starts))).astype(
        np.float32
    )
    size = np.einsum("ij,ij->i", place, place, dtype=np.float64)
    inner = int(np.count_nonzero(tree.children))
    boxes = np.full((inner, dimensions, 2, MAX_CHILDREN), ABSENT_BOX, np.float32)
    leaves = np.empty(len(order) * dimensions, np.float32)
    contents = NodeContents(np.empty(len(tree.first)), np.empty(len(tree.first)), boxes, leaves)
    tops, errs = (np.zeros(inner * MAX_CHILDREN, np.float32) for _ in range(2))
    slack = (2 * dimensions + 16) * float(single.eps)
    _fill_nodes(place, size, losses, order, tree, contents)
    _fill_tops(tree, height, contents.reach, slack, tops, errs)
    return Forest(
        place, size, unit, slack, (dimensions + 8) * 8 * float(single.tiny), strata, root, *tree,
        contents.top, contents.reach, boxes, tops, errs, base, rise, summit, order, loss, height,
        leaves,
    )  # fmt: skip


def order_by_place(place: Single, blocks: IntArray) -> IntArray:
    """Return the points block by block, with neighbours close together."""
    order = np.argsort(blocks, kind="stable").astype(np.int64)
    if not len(order):
        return order
    cuts = np.flatnonzero(np.diff(blocks[order])) + 1
    _build_trees(place, order, np.r_[0, cuts, len(order)].astype(np.int64))
    return order


def _scale_to_single(points: FloatArray) -> tuple[Single, float]:
    """Return centred coordinates in single precision, and their scale.

    The scale is a power of two, so it rounds nothing; it brings the largest coordinate to 1.
    """
    unit = float(np.ldexp(1.0, -int(np.frexp(np.abs(points).max(initial=0.0))[1])))
    scaled = points * unit
    # centred, so that single precision is spent on differences
    return np.ascontiguousarray(scaled - scaled.mean(axis=0), dtype=np.float32), unit


def _cut_strata(
    blocks: IntArray, order: IntArray, losses: FloatArray, step: int | None
) -> tuple[IntArray, IntArray]:
    """Cut targets, by block and falling loss, into strata that double or have ``step`` targets.

    Targets of equal loss stay in one stratum. Return the bounds of the strata, and the first and
    last stratum of each point's block.
    """
    block, loss = blocks[order], losses[order]
    changes = np.r_[True, block[1:] != block[:-1]][: len(order)]
    begins = np.flatnonzero(changes)
    length = np.diff(np.r_[begins, len(order)])
    if step is None:
        # strata of f, 2f, 4f, ... end at f (2^s − 1)
        many = np.ceil(np.log2(length / FIRST_STRATUM + 1)).astype(np.int64)
    else:
        many = -(-length // step)
    nth = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    offset = nth * step if step is not None else FIRST_STRATUM * (2**nth - 1)
    falls = changes | np.r_[True, loss[1:] < loss[:-1]][: len(order)]
    first_alike = np.maximum.accumulate(np.where(falls, np.arange(len(order)), 0))
    starts = np.unique(first_alike[np.repeat(begins, many) + offset])
    bounds = np.asarray(np.searchsorted(starts, np.r_[begins, len(order)]))
    # blocks without targets have the strata from 0 to 0
    slot = np.searchsorted(block[begins], blocks)
    slot = np.where(np.isin(blocks, block[begins]), slot, len(begins))
    pairs = np.column_stack([np.r_[bounds[:-1], 0][slot], np.r_[bounds[1:], 0][slot]])
    return np.r_[starts, len(order)].astype(np.int64), pairs


def _build_trees(place: Single, order: IntArray, starts: IntArray) -> tuple[Tree, IntArray]:
    """Build a tree of each stratum, sorting ``order`` so that a node's targets are together."""
    leaves = -(-np.diff(starts) // LEAF_SIZE)
    room = int(np.sum(2 * leaves - 1))
    tree = Tree(*(np.empty(room, np.int64) for _ in Tree._fields))
    root = np.empty(len(starts) - 1, np.int64)
    node_count = _split_strata(place, order, starts, tree, root)
    return Tree(*(array[:node_count] for array in tree)), root


@njit(cache=True)
def _split_strata(
    place: Single, order: IntArray, starts: IntArray, tree: Tree, root: IntArray
) -> int:
    """Halve strata along their widest coordinate down to leaves; return the number of nodes."""
    node_count, boxes = 0, 0
    for s in range(len(root)):
        root[s] = node_count
        tree.first[node_count], tree.last[node_count] = starts[s], starts[s + 1]
        node = node_count
        node_count += 1
        # children are appended at the end, so one pass visits every node
        while node < node_count:
            tree.children[node], tree.child[node], tree.box[node] = 0, node_count, -1
            if tree.last[node] - tree.first[node] > LEAF_SIZE:
                tree.children[node] = _split_node(place, order, tree, node, node_count)
                tree.box[node] = boxes
                boxes += 1
            node_count += tree.children[node]
            node += 1
    return node_count


@njit(cache=True)
def _split_node(place: Single, order: IntArray, tree: Tree, node: int, child: int) -> int:
    """Halve a node repeatedly into children from index ``child``; return their number."""
    first, last = tree.first, tree.last
    first[child], last[child] = first[node], last[node]
    # fewer children with more leaves each, if that fills them: an absent box costs the same time
    leaves = (last[node] - first[node] + LEAF_SIZE - 1) // LEAF_SIZE
    most = MAX_CHILDREN
    while leaves > MAX_CHILDREN and most // 2 * MAX_CHILDREN >= leaves:
        most //= 2
    count = 1
    while count < most:
        before = count
        for part in range(child, child + before):
            a, b = first[part], last[part]
            if b - a > LEAF_SIZE:
                # all leaves but the last are full
                middle = a + (b - a + LEAF_SIZE - 1) // LEAF_SIZE // 2 * LEAF_SIZE
                _partition_targets(place, order, a, b, middle, _find_widest(place, order, a, b))
                last[part] = middle
                first[child + count], last[child + count] = middle, b
                count += 1
        if count == before:
            break
    return count


@njit(cache=True)
def _find_widest(place: Single, order: IntArray, a: int, b: int) -> int:
    """Return the coordinate with the largest variance among a few hundred points."""
    step = max(1, (b - a) // 256)
    best, widest = -1.0, 0
    for k in range(place.shape[1]):
        total = squares = 0.0
        count = 0
        for p in range(a, b, step):
            x = np.float64(place[order[p], k])
            total += x
            squares += x * x
            count += 1
        spread = squares / count - (total / count) ** 2
        if spread > best:
            best, widest = spread, k
    return widest


@njit(cache=True)
def _partition_targets(place: Single, order: IntArray, a: int, b: int, middle: int, k: int) -> None:
    """Sort order[a:b] partially by coordinate k, around ``middle``."""
    low, high = a, b - 1
    while low < high:
        pivot = place[order[(low + high) // 2], k]
        i, j = low, high
        while i <= j:
            while place[order[i], k] < pivot:
                i += 1
            while place[order[j], k] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@njit(cache=True)
def _fill_nodes(
    place: Single, size: FloatArray, losses: FloatArray, order: IntArray, tree: Tree,
    contents: NodeContents,
) -> None:  # fmt: skip
    """Fill bounds on losses, lengths and boxes from the leaves up, and the leaf coordinates."""
    top, reach, boxes, leaves = contents.top, contents.reach, contents.boxes, contents.leaves
    nodes, dimensions = len(tree.first), place.shape[1]
    low = np.full((nodes, dimensions), np.float32(np.inf))
    high = -low
    for node in range(nodes - 1, -1, -1):
        top[node], reach[node] = -np.inf, 0.0
        for c in range(tree.children[node]):
            child = tree.child[node] + c
            top[node] = max(top[node], top[child])
            reach[node] = max(reach[node], reach[child])
            for k in range(dimensions):
                boxes[tree.box[node], k, 0, c] = low[child, k]
                boxes[tree.box[node], k, 1, c] = high[child, k]
                low[node, k] = min(low[node, k], low[child, k])
                high[node, k] = max(high[node, k], high[child, k])
        if tree.children[node]:
            continue
        first, count = tree.first[node], tree.last[node] - tree.first[node]
        for a in range(count):
            j = order[first + a]
            top[node] = max(top[node], losses[j])
            reach[node] = max(reach[node], size[j])
            for k in range(dimensions):
                x = place[j, k]
                low[node, k] = min(low[node, k], x)
                high[node, k] = max(high[node, k], x)
                leaves[first * dimensions + k * count + a] = x


@njit(cache=True)
def _fill_tops(
    tree: Tree, height: Single, reach: FloatArray, slack: float, tops: Single, errs: Single
) -> None:
    """Fill the largest loss and the error bound of each node's children."""
    for node in range(len(tree.first)):
        for c in range(tree.children[node]):
            child = tree.child[node] + c
            tops[tree.box[node] * MAX_CHILDREN + c] = height[
                tree.first[child] : tree.last[child]
            ].max()
            errs[tree.box[node] * MAX_CHILDREN + c] = slack * reach[child]
