"""The upper concave frontier of every point, from which ψ is computed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport._core.parallel import check_fits, count_workers, spread, threads_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.geometry import Geometry
    from fairtransport.geometry.costs import Moves
    from fairtransport.transport.forest import Forest
    from fairtransport.transport.forest_kernels import Points


MAX_CHUNKS_PER_PASS = 512
"""Chunks of points searched in one pass."""
INITIAL_CORNERS_PER_POINT = 8
"""Corners per point for which memory is allocated first."""
MAX_CORNERS_PER_PASS = 16_000_000
"""Corners for which memory is allocated in one pass, unless two chunks need more."""
CORNER_BYTES = 270
"""Measured peak memory of a corner during an audit, in bytes: sorted segments, and those of the
same audit with sensitive features held fixed."""
BLOCKS_PER_WORKER = 4
"""Blocks of points per joblib worker; a lost block is searched again."""
PROBE_POINTS = 64
"""Points searched first to estimate the length of frontiers."""
MAX_TREE_CORNERS = 100
"""Mean corners per frontier above which targets are visited by falling loss only: a new corner is
then appended, while in trees it may be inserted anywhere."""


class Corners(NamedTuple):
    """Corners of some frontiers, row after row, and the number of pairs compared."""

    row: IntArray
    target: IntArray
    cost: FloatArray
    pairs: int


def corners_of_embedding(
    losses: FloatArray, geometry: Geometry, place: FloatArray, profiles: IntArray
) -> Iterator[Corners]:
    """Yield the corners of all frontiers, part by part."""
    from fairtransport.transport.forest import build_forest, order_by_place
    from fairtransport.transport.forest_kernels import CHUNK_ROWS, Points

    points = Points(np.ascontiguousarray(place), losses, profiles)
    forest = build_forest(losses, geometry, place, flat=False)
    rows = order_by_place(forest.place, geometry.blocks)
    corners = _probe_corners(rows, forest, points)
    check_fits(
        corners * len(rows) * CORNER_BYTES,
        f"{len(rows):,} different rows with about {corners:.0f} comparisons each",
    )
    if corners > MAX_TREE_CORNERS:
        forest = build_forest(losses, geometry, place, flat=True)
    room = INITIAL_CORNERS_PER_POINT * CHUNK_ROWS
    if (workers := count_workers()) == 1:
        yield from _search_rows(rows, forest, points, room)
        return
    # whole chunks, so that the compared pairs do not depend on the number of workers
    step = -(-len(rows) // (BLOCKS_PER_WORKER * workers * CHUNK_ROWS)) * CHUNK_ROWS
    blocks = (rows[at : at + step] for at in range(0, len(rows), step))
    for parts in spread(_search_block, ((block, forest, points, room) for block in blocks)):
        yield from parts


def estimate_corners(losses: FloatArray, geometry: Geometry, place: FloatArray) -> float:
    """Estimate the mean number of corners per frontier from a few points."""
    from fairtransport.transport.forest import build_forest, order_by_place
    from fairtransport.transport.forest_kernels import Points

    points = Points(np.ascontiguousarray(place), losses, _profiles(geometry))
    forest = build_forest(losses, geometry, place, flat=False)
    return _probe_corners(order_by_place(forest.place, geometry.blocks), forest, points)


def _probe_corners(rows: IntArray, forest: Forest, points: Points) -> float:
    """Return the mean number of corners of evenly spaced points."""
    from fairtransport.transport.forest_kernels import CHUNK_ROWS

    # contiguous, as the search is compiled for one array layout
    probes = np.ascontiguousarray(rows[:: max(1, len(rows) // PROBE_POINTS)])
    room = INITIAL_CORNERS_PER_POINT * CHUNK_ROWS
    corners = sum(len(part.row) for part in _search_rows(probes, forest, points, room))
    return corners / max(1, len(probes))


def _search_block(rows: IntArray, forest: Forest, points: Points, room: int) -> list[Corners]:
    return list(_search_rows(rows, forest, points, room))


def _search_rows(rows: IntArray, forest: Forest, points: Points, room: int) -> Iterator[Corners]:
    """Yield the corners of some points; ``room`` is the first guess of corners per chunk."""
    from fairtransport.transport.forest_kernels import CHUNK_ROWS
    from fairtransport.transport.nearest_kernels import frontiers_of_forest

    start = 0
    while start < len(rows):
        chunks = min(
            MAX_CHUNKS_PER_PASS,
            max(2, MAX_CORNERS_PER_PASS // room),
            -(-(len(rows) - start) // CHUNK_ROWS),
        )
        part = rows[start : start + chunks * CHUNK_ROWS]
        count, totals, pairs = (np.empty(size, np.int64) for size in (len(part), chunks, chunks))
        corner, cost = np.empty((chunks, room), np.int64), np.empty((chunks, room))
        with threads_for(float(len(part)) * len(forest.target)):
            frontiers_of_forest(part, forest, points, count, corner, cost, totals, pairs)
        if totals.max() > room:
            room = int(totals.max() * 5 // 4)
            continue
        is_filled = np.arange(room) < totals[:, None]
        yield Corners(np.repeat(part, count), corner[is_filled], cost[is_filled], int(pairs.sum()))
        start += len(part)


CHUNK_ENTRIES = 8_000_000
"""Largest number of entries of the cost matrix in memory at once."""
INITIAL_CORNERS_PER_ROW = 16
"""Corners per row for which memory is allocated first."""


@dataclass(frozen=True, eq=False)
class Frontiers:
    """The frontiers of K points, cut into segments that are sorted by falling slope.

    Attributes
    ----------
    base_target, base_gain
        (K,) best free target of each point, and the gain of moving there, b_i.
    row, target
        (S,) point of each segment, and the target at its far end.
    cost, gain
        (S,) cost (Δc > 0) and gain (Δl > 0) per unit of mass along a segment.
    far_cost, far_gain
        (S,) total cost and gain per unit of mass of a move to ``target``.
    slope
        (S,) gain per cost, falling; within a point the segments keep their order.

    Notes
    -----
    The frontier of point i is the upper concave hull of {(c_ij, l_j)}. It depends neither
    on the frequencies nor on the budget. Since only the row sums of a plan are fixed and one
    budget couples the rows, the audit value is a fractional multiple-choice knapsack, and
    spending the budget along the segments in slope order solves it.

    Examples
    --------
    >>> import fairtransport as ft
    >>> problem = ft.AuditProblem([0.0, 0.6, 1.0], [[0, 1, 4], [1, 0, 1], [4, 1, 0]])
    >>> frontiers = problem.frontiers
    >>> frontiers.row.tolist(), frontiers.target.tolist(), frontiers.slope.round(3).tolist()
    ([0, 1, 0], [1, 2, 2], [0.6, 0.4, 0.133])
    """

    base_target: IntArray
    base_gain: FloatArray
    row: IntArray
    target: IntArray
    cost: FloatArray
    gain: FloatArray
    far_cost: FloatArray
    far_gain: FloatArray
    slope: FloatArray

    def net_gains(self, price: float) -> FloatArray:
        """Return φ_ν(i) = max_j (l_j − ν c_ij) − l_i for every point; ``price`` may be infinite."""
        # slopes fall, so those above the price come first
        segments = slice(0, int(np.searchsorted(-self.slope, -price, side="left")))
        net = (
            self.gain[segments] - price * self.cost[segments]
            if segments.stop
            else self.gain[segments]
        )
        return self.base_gain + np.bincount(self.row[segments], net, minlength=len(self.base_gain))


@dataclass(frozen=True, eq=False)
class _Corners:
    """Corners of some frontiers, concatenated; each row starts with a free one."""

    row: IntArray
    target: IntArray
    cost: FloatArray


def build_frontiers(losses: FloatArray, geometry: Geometry) -> Frontiers:
    """Build the frontiers of all points, block by block, from chunks of the costs.

    If every move inside a block is free, nothing has to be compiled.

    Ties do not depend on the search: of targets with equal loss and cost the one that changes the
    fewest columns is taken, then the first.
    """
    if geometry.is_free:
        target = _best_free_targets(losses, geometry)
        none, nothing = np.empty(0, np.int64), np.empty(0)
        return Frontiers(target, losses[target] - losses, none, none, *[nothing] * 5)
    parts = list(_find_corners(losses, geometry))
    row, target, cost = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("row", "target", "cost")
    )
    order = np.argsort(row, kind="stable")
    return build_segments(losses, row[order], target[order], cost[order])


def build_segments(
    losses: FloatArray, row: IntArray, target: IntArray, cost: FloatArray
) -> Frontiers:
    """Cut corners, in order of the rows, into segments sorted by slope; other points stay."""
    # the first corner of each row is free, and the others end a segment each
    is_base = np.r_[True, row[1:] != row[:-1]]
    base_target = np.arange(len(losses))
    base_target[row[is_base]] = target[is_base]
    end = np.flatnonzero(~is_base)
    seg_cost = cost[end] - cost[end - 1]
    seg_gain = losses[target[end]] - losses[target[end - 1]]
    slope = _clip_slopes(seg_gain / seg_cost, ~is_base[end - 1])
    # stable: equal slopes of one row keep their order, or a later segment could be used first
    order = np.argsort(-slope, kind="stable")
    return Frontiers(
        base_target=base_target,
        base_gain=losses[base_target] - losses,
        row=row[end][order],
        target=target[end][order],
        cost=seg_cost[order],
        gain=seg_gain[order],
        far_cost=cost[end][order],
        far_gain=(losses[target[end]] - losses[row[end]])[order],
        slope=slope[order],
    )


def _clip_slopes(slope: FloatArray, continues: np.ndarray) -> FloatArray:
    """Undo rounding that makes a segment steeper than the one before it in its row."""
    slope = slope.copy()
    # once may not be enough: lowering one slope can leave the next one steeper than it
    while len(steeper := np.flatnonzero(continues[1:] & (slope[1:] > slope[:-1])) + 1):
        slope[steeper] = slope[steeper - 1]
    return slope


def _best_free_targets(losses: FloatArray, geometry: Geometry) -> IntArray:
    """Return the free target with the largest loss of each point."""
    targets = geometry.targets_in(np.arange(geometry.size))
    order = targets[np.lexsort((targets, -losses[targets], geometry.blocks[targets]))]
    block, loss = geometry.blocks[order], losses[order]
    starts = np.flatnonzero(np.r_[True, block[1:] != block[:-1]]) if len(order) else order
    best = np.arange(geometry.size)
    if not len(order):
        return best
    # position in `order` of the first (best) target of each point's block, if it has one
    slot = np.searchsorted(block[starts], geometry.blocks)
    has_target = (slot < len(starts)) & (
        block[starts][np.minimum(slot, len(starts) - 1)] == geometry.blocks
    )
    first = starts[np.where(has_target, slot, 0)]
    gains = has_target & (loss[first] > losses)
    best[gains] = order[first[gains]]
    return _minimise_changes(best, np.flatnonzero(gains), first, order, losses, geometry)


def _minimise_changes(
    best: IntArray, movers: IntArray, first: IntArray, order: IntArray,
    losses: FloatArray, geometry: Geometry,
) -> IntArray:  # fmt: skip
    """Give each mover the target with the fewest changes among those of equal loss."""
    if geometry.profiles is None:
        return best
    profiles = geometry.profiles
    changes = (profiles[movers] != profiles[best[movers]]).sum(axis=1)
    at = first[movers] + 1
    while True:
        # walk all blocks' ties in step until every block has run out of them
        here = order[np.minimum(at, len(order) - 1)]
        tied = (
            (at < len(order))
            & (geometry.blocks[here] == geometry.blocks[movers])
            & (losses[here] == losses[best[movers]])
        )
        movers, changes, at, here = movers[tied], changes[tied], at[tied], here[tied]
        if not len(movers):
            return best
        fewer = (profiles[movers] != profiles[here]).sum(axis=1)
        better = fewer < changes
        # losses are equal, so ψ does not change
        best[movers[better]] = here[better]
        changes = np.minimum(changes, fewer)
        at = at + 1


def _profiles(geometry: Geometry) -> IntArray:
    if geometry.profiles is None:
        return np.empty((geometry.size, 0), np.int64)
    return geometry.profiles


def _find_corners(losses: FloatArray, geometry: Geometry) -> Iterator[_Corners]:
    profiles = _profiles(geometry)
    if (moves := geometry.list_moves()) is not None:
        yield _corners_of_lists(losses, geometry.size, moves, profiles)
        return
    if (points := geometry.searchable) is not None:
        for corners in corners_of_embedding(losses, geometry, points, profiles):
            yield _Corners(corners.row, corners.target, corners.cost)
        return
    for members in geometry.members:
        rows = members[np.argsort(-losses[members], kind="stable")]
        targets = geometry.targets_in(members)
        cols = targets[np.lexsort((targets, -losses[targets]))]
        # rows by falling loss: a chunk needs only the targets above its lowest row
        limit = np.searchsorted(-losses[cols], -losses[rows], side="left")
        if (matrix := geometry.matrix) is not None:
            yield _corners_of_matrix(losses, matrix, profiles, rows, cols, limit)
            continue
        step = max(16, CHUNK_ENTRIES // max(1, len(cols)))
        for at in range(0, len(rows), step):
            part = slice(at, at + step)
            yield _corners_of_piece(
                losses, geometry, profiles, rows[part], cols[: limit[part].max()], limit[part]
            )


def _corners_of_matrix(
    losses: FloatArray, matrix: FloatArray, profiles: IntArray,
    rows: IntArray, cols: IntArray, limit: IntArray,
) -> _Corners:  # fmt: skip
    from fairtransport.transport import kernels

    chunks, room = (
        -(-len(rows) // kernels.ROWS_PER_CHUNK),
        INITIAL_CORNERS_PER_ROW * kernels.ROWS_PER_CHUNK,
    )
    candidates = kernels.Candidates(rows, cols, limit)
    count, totals = np.empty(len(rows), np.int64), np.empty(chunks, np.int64)
    while True:
        corners, costs = np.empty((chunks, room), np.int64), np.empty((chunks, room))
        with threads_for(float(len(rows)) * len(cols)):
            kernels.frontiers_of_matrix(
                candidates, matrix, losses, profiles, count, corners, costs, totals
            )
        if totals.max() <= room:
            is_filled = np.arange(room) < totals[:, None]
            return _Corners(np.repeat(rows, count), corners[is_filled], costs[is_filled])
        room = int(totals.max())


def _corners_of_piece(
    losses: FloatArray, geometry: Geometry, profiles: IntArray,
    rows: IntArray, cols: IntArray, limit: IntArray,
) -> _Corners:  # fmt: skip
    """Return the corners of some points of a block from a chunk of the cost matrix."""
    from fairtransport.transport import kernels

    # room for every candidate, although few become corners
    corner = np.empty((len(rows), len(cols) + 1), np.int64)
    price = np.empty((len(rows), len(cols) + 1))
    count = np.empty(len(rows), np.int64)
    candidates = kernels.Candidates(rows, cols, limit)
    costs = geometry.costs(rows, cols)
    with threads_for(len(rows) * len(cols)):
        kernels.frontiers_of_costs(candidates, costs, losses, profiles, corner, price, count)
    index = np.repeat(np.arange(len(rows)), count)
    place = np.arange(len(index)) - np.repeat(np.cumsum(count) - count, count)
    return _Corners(rows[index], corner[index, place], price[index, place])


def _corners_of_lists(losses: FloatArray, size: int, moves: Moves, profiles: IntArray) -> _Corners:
    """Return the corners of all points from a list of the allowed moves."""
    from fairtransport.transport import kernels

    row, col, cost = moves
    # each point's place when points are sorted by falling loss makes one integer sort key
    rank = np.argsort(np.argsort(-losses, kind="stable"))
    order = np.argsort(row * size + rank[col])
    row, col, cost = row[order], col[order], cost[order]
    rows = np.arange(size)
    start = np.searchsorted(row, np.arange(size + 1))
    corner = np.empty(len(col) + size, np.int64)
    price = np.empty(len(corner))
    count = np.empty(size, np.int64)
    lists = kernels.Lists(rows, start, col, cost)
    with threads_for(len(col)):
        kernels.frontiers_of_lists(lists, losses, profiles, corner, price, count)
    index = np.repeat(rows, count)
    place = np.arange(len(index)) - np.repeat(np.cumsum(count) - count, count)
    # each row has room for its candidates and one corner more, the point itself
    at = start[index] + index + place
    return _Corners(index, corner[at], price[at])


MAX_TIES = 3
"""Ties are counted up to this number."""


class BestTargets(NamedTuple):
    """The best target j of some points i at a price ν.

    ``worth`` is l_j − ν c_ij, ``net_gain`` is that minus l_i.
    """

    target: IntArray
    worth: FloatArray
    net_gain: FloatArray


class PriceSearch:
    """All targets of a problem in trees, built once for searches at many prices.

    Prices are above 0 and may be infinite. A search at one price skips far more targets than one
    for whole frontiers, which need the best target at every price.
    """

    def __init__(self, losses: FloatArray, geometry: Geometry, place: FloatArray) -> None:
        from fairtransport.transport.forest import build_forest, order_by_place
        from fairtransport.transport.forest_kernels import Points

        self.losses, self.geometry = losses, geometry
        self.forest = build_forest(losses, geometry, place, flat=False)
        self.points = Points(np.ascontiguousarray(place), losses, _profiles(geometry))
        # the rank of each point in an order in which neighbours are close together
        self.rank = np.empty(len(losses), np.int64)
        self.rank[order_by_place(self.forest.place, geometry.blocks)] = np.arange(len(losses))

    def find_best_targets(
        self, price: float, rows: IntArray, start: IntArray | None = None
    ) -> BestTargets:
        """Return the best target of each of ``rows``; a point may also stay.

        Of targets with equal loss and cost the one that changes the fewest columns is taken, then
        the first, as in frontiers.

        ``start`` holds an allowed target of each row from which its search begins, or -1.
        """
        from fairtransport.transport.forest_kernels import best_in_forest

        order, sorted_rows = self._sort(rows)
        sorted_worth = np.empty(len(rows))
        sorted_target = np.full(len(rows), -1) if start is None else start[order]
        with threads_for(float(len(rows)) * len(self.forest.target)):
            best_in_forest(
                sorted_rows, self.forest, self.points, float(price), sorted_worth, sorted_target
            )
        target, worth = np.empty(len(rows), np.int64), np.empty(len(rows))
        target[order], worth[order] = sorted_target, sorted_worth
        return BestTargets(target, worth, worth - self.losses[rows])

    def find_nearest_maxima(self, rows: IntArray) -> IntArray:
        """Return the nearest of the best targets of each of ``rows`` at price 0."""
        targets, blocks = (
            self.geometry.targets_in(np.arange(len(self.losses))),
            self.geometry.blocks,
        )
        _, block = np.unique(blocks, return_inverse=True)
        largest = np.full(len(self.losses), -np.inf)
        np.maximum.at(largest, block[targets], self.losses[targets])
        is_largest = np.zeros(len(self.losses), bool)
        is_largest[targets] = self.losses[targets] == largest[block[targets]]
        # among equal losses the cheapest target is best at any price; other points may not stay
        losses = np.where(is_largest, 0.0, -np.finfo(float).max)
        geometry = replace(self.geometry, targets=is_largest)
        search = PriceSearch(losses, geometry, self.points.place)
        target = search.find_best_targets(1.0, rows).target
        return np.where(self.losses[target] > self.losses[rows], target, rows)

    def count_ties(self, price: float, rows: IntArray, least: FloatArray) -> IntArray:
        """Count the targets of each row worth at least ``least``; 3 means 3 or more."""
        from fairtransport.transport.forest_kernels import ties_in_forest

        order, sorted_rows = self._sort(rows)
        sorted_count = np.empty(len(rows), np.int64)
        with threads_for(float(len(rows)) * len(self.forest.target)):
            ties_in_forest(
                sorted_rows, self.forest, self.points, float(price), least[order], MAX_TIES,
                sorted_count,
            )  # fmt: skip
        count = np.empty(len(rows), np.int64)
        count[order] = np.minimum(sorted_count, MAX_TIES)
        return count

    def _sort(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Return the order in which neighbours are close together, and the rows in it."""
        order = np.argsort(self.rank[rows])
        return order, np.asarray(rows, np.int64)[order]
