"""Targets in trees, by loss and by place, so that a search can leave most of them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.geometry import Geometry

    Single = NDArray[np.float32]

LEAF = 64
"""Targets in a leaf: their distances to one point are computed together."""
CHILDREN = 32
"""Children of a node at most: the distances to their boxes are computed together, too."""
FIRST_STRATUM = 256
"""Targets in a block's first stratum; each further stratum is twice as large."""
NOWHERE = 1e15
"""Where the box of a child lies that a node does not have; the points lie around 0, within 2."""


class Tree(NamedTuple):
    """The nodes of all trees.

    Attributes
    ----------
    first, last
        A node's targets, as places in the order of the forest.
    child, children
        The first of a node's children, which lie side by side, and how many; 0: a leaf.
    box
        A node's place in ``Forest.boxes``; -1: a leaf.
    """

    first: IntArray
    last: IntArray
    child: IntArray
    children: IntArray
    box: IntArray


class NodeContents(NamedTuple):
    """What the nodes of all trees hold, see `Forest`."""

    top: FloatArray
    reach: FloatArray
    boxes: Single
    leaves: Single


class Forest(NamedTuple):
    """The targets of every block in strata of falling loss, each stratum a tree by place.

    Attributes
    ----------
    place, size
        (K, d) the points in single precision, brought to size 1, and their squared lengths.
    unit, slack, lost
        What coordinates were multiplied by, a power of two. A squared distance in single
        precision errs by at most ``slack`` times the squared lengths of its ends, and
        ``lost``, what single precision rounds to 0.
    strata
        (K, 2) the strata of each point's block, from and to.
    root
        The root of each stratum; a block's strata come by falling loss.
    first, last, child, children, box
        The nodes of all trees, see `Tree`.
    top, reach
        A node's largest loss and the largest squared length of its targets.
    boxes
        (inner nodes, d, 2, CHILDREN) the least and largest coordinates of a node's children.
    tops, errs
        (inner nodes · CHILDREN) the largest heights of nodes' children, and what the squared
        distances to their targets err by in single precision, but for the other end's share.
    base, rise
        The least loss of each stratum, and by how much the largest exceeds it.
    summit
        A target of the largest loss of each stratum.
    target, loss, height
        The targets and their losses, leaf after leaf; heights are losses in single precision,
        from 0 to 1 within a stratum.
    leaves
        Their coordinates, leaf after leaf; in a leaf one coordinate after the other.
    """

    place: Single
    size: FloatArray
    unit: float
    slack: float
    lost: float
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


def plant(losses: FloatArray, geometry: Geometry, points: FloatArray, *, flat: bool) -> Forest:
    """Put the targets of every block into trees, or leaf after leaf by falling loss if ``flat``."""
    place, unit = _for_single_precision(points)
    dimensions = points.shape[1]
    single = np.finfo(np.float32)
    targets = geometry.targets_in(np.arange(geometry.size))
    order = targets[np.lexsort((targets, -losses[targets], geometry.blocks[targets]))]
    starts, strata = _strata(geometry.blocks, order, losses, LEAF if flat else None)
    summit, base = order[starts[:-1]], losses[order[starts[1:] - 1]]
    rise = losses[summit] - base
    tree, root = _grow(place, order, starts)
    loss, scale = losses[order], np.where(rise > 0, rise, 1.0)
    height = ((loss - np.repeat(base, np.diff(starts))) / np.repeat(scale, np.diff(starts))).astype(
        np.float32
    )
    size = np.einsum("ij,ij->i", place, place, dtype=np.float64)
    inner = int(np.count_nonzero(tree.children))
    boxes = np.full((inner, dimensions, 2, CHILDREN), NOWHERE, np.float32)
    leaves = np.empty(len(order) * dimensions, np.float32)
    held = NodeContents(np.empty(len(tree.first)), np.empty(len(tree.first)), boxes, leaves)
    tops, errs = (np.zeros(inner * CHILDREN, np.float32) for _ in range(2))
    slack = (2 * dimensions + 16) * float(single.eps)
    _fill_nodes(place, size, losses, order, tree, held)
    _fill_tops(tree, height, held.reach, slack, tops, errs)
    return Forest(
        place, size, unit, slack, (dimensions + 8) * 8 * float(single.tiny), strata, root, *tree,
        held.top, held.reach, boxes, tops, errs, base, rise, summit, order, loss, height, leaves,
    )  # fmt: skip


def by_place(place: Single, blocks: IntArray) -> IntArray:
    """Return the points block by block, neighbours close together."""
    order = np.argsort(blocks, kind="stable").astype(np.int64)
    if not len(order):
        return order
    cuts = np.flatnonzero(np.diff(blocks[order])) + 1
    _grow(place, order, np.r_[0, cuts, len(order)].astype(np.int64))
    return order


def _for_single_precision(points: FloatArray) -> tuple[Single, float]:
    """Return coordinates that single precision can hold, and what they were multiplied by.

    That is a power of two, so nothing is rounded; it brings the largest coordinate to 1.
    """
    unit = float(np.ldexp(1.0, -int(np.frexp(np.abs(points).max(initial=0.0))[1])))
    scaled = points * unit
    # centred, so that single precision is spent on differences
    return np.ascontiguousarray(scaled - scaled.mean(axis=0), dtype=np.float32), unit


def _strata(
    blocks: IntArray, order: IntArray, losses: FloatArray, step: int | None
) -> tuple[IntArray, IntArray]:
    """Cut targets, by block and falling loss, into strata that double, or of ``step`` targets.

    Targets of one loss stay together: strata would not tell them apart. Return where the strata
    start and end, and from and to which stratum each point's block has.
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


def _grow(place: Single, order: IntArray, starts: IntArray) -> tuple[Tree, IntArray]:
    """Make a tree of each stratum; ``order`` is sorted so that a node's targets are together."""
    leaves = -(-np.diff(starts) // LEAF)
    room = int(np.sum(2 * leaves - 1))
    tree = Tree(*(np.empty(room, np.int64) for _ in Tree._fields))
    root = np.empty(len(starts) - 1, np.int64)
    used = _split(place, order, starts, tree, root)
    return Tree(*(array[:used] for array in tree)), root


@njit(cache=True)
def _split(place: Single, order: IntArray, starts: IntArray, tree: Tree, root: IntArray) -> int:
    """Halve strata along their widest coordinate until they are leaves; return the nodes used."""
    used, boxes = 0, 0
    for s in range(len(root)):
        root[s] = used
        tree.first[used], tree.last[used] = starts[s], starts[s + 1]
        node = used
        used += 1
        # children come after all nodes made before, so one pass meets every node
        while node < used:
            tree.children[node], tree.child[node], tree.box[node] = 0, used, -1
            if tree.last[node] - tree.first[node] > LEAF:
                tree.children[node] = _divide(place, order, tree, node, used)
                tree.box[node] = boxes
                boxes += 1
            used += tree.children[node]
            node += 1
    return used


@njit(cache=True)
def _divide(place: Single, order: IntArray, tree: Tree, node: int, child: int) -> int:
    """Halve a node again and again into children from ``child`` on; return how many."""
    first, last = tree.first, tree.last
    first[child], last[child] = first[node], last[node]
    # few children of many leaves each, if that fills them: all boxes of a node cost as much
    leaves = (last[node] - first[node] + LEAF - 1) // LEAF
    most = CHILDREN
    while leaves > CHILDREN and most // 2 * CHILDREN >= leaves:
        most //= 2
    count = 1
    while count < most:
        before = count
        for part in range(child, child + before):
            a, b = first[part], last[part]
            if b - a > LEAF:
                # all leaves but the last are full
                middle = a + (b - a + LEAF - 1) // LEAF // 2 * LEAF
                _select(place, order, a, b, middle, _widest(place, order, a, b))
                last[part] = middle
                first[child + count], last[child + count] = middle, b
                count += 1
        if count == before:
            break
    return count


@njit(cache=True)
def _widest(place: Single, order: IntArray, a: int, b: int) -> int:
    """Return the coordinate along which some hundred of the points vary most."""
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
def _select(place: Single, order: IntArray, a: int, b: int, middle: int, k: int) -> None:
    """Sort order[a:b] in part: no coordinate k before ``middle`` is larger than one after it."""
    left, right = a, b - 1
    while left < right:
        pivot = place[order[(left + right) // 2], k]
        i, j = left, right
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
            right = j
        elif middle >= i:
            left = i
        else:
            return


@njit(cache=True)
def _fill_nodes(
    place: Single, size: FloatArray, losses: FloatArray, order: IntArray, tree: Tree,
    held: NodeContents,
) -> None:  # fmt: skip
    """Fill largest losses, lengths and boxes from the leaves up, and the leaves' coordinates."""
    top, reach, boxes, leaves = held.top, held.reach, held.boxes, held.leaves
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
    """Fill in what the tests of a node's children ask about each of them."""
    for node in range(len(tree.first)):
        for c in range(tree.children[node]):
            child = tree.child[node] + c
            tops[tree.box[node] * CHILDREN + c] = height[tree.first[child] : tree.last[child]].max()
            errs[tree.box[node] * CHILDREN + c] = slack * reach[child]
