"""The upper concave frontier of every point: all that ψ needs to know of losses and costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.memory import entries_at_a_time
from fairtransport.threads import threads_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.geometry import Geometry
    from fairtransport.geometry.cost import Moves

CHUNK_ENTRIES = 8_000_000
"""Entries of the largest piece of the cost matrix that exists at a time."""
CORNERS_A_ROW = 16
"""Corners of a row of costs for which there is room at first."""


@dataclass(frozen=True, eq=False)
class Frontiers:
    """The frontiers of K points, cut into segments that are sorted by falling slope.

    Attributes
    ----------
    base_target, base_gain
        (K,) the best free target of each point and what moving there gains, b_i.
    row, target
        (S,) the point whose frontier a segment belongs to, and the target at its far end.
    cost, gain
        (S,) what a unit of mass pays (Δc > 0) and gains (Δl > 0) along a segment.
    far_cost, far_gain
        (S,) what a unit pays and gains in all when it is moved to ``target``.
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

    def targets_at(self, price: float) -> IntArray:
        """Return a target of every point that is worth most at a price.

        Parameters
        ----------
        price
            ν >= 0.

        Returns
        -------
        ndarray of int
            (K,) numbers of points.

        Examples
        --------
        >>> frontiers.targets_at(0.2).tolist()
        [1, 2, 2]
        """
        used = slice(0, int(np.searchsorted(-self.slope, -price, side="left")))
        target = self.base_target.copy()
        # a row's segments come in order, so its last one tells where it ends
        target[self.row[used]] = self.target[used]
        return target

    def net_gains(self, price: float) -> FloatArray:
        """Return φ_ν(i) = max_j (l_j − ν c_ij) − l_i for every point; ``price`` may be infinite.

        Parameters
        ----------
        price
            ν >= 0.

        Returns
        -------
        ndarray of float
            (K,) the net gains.

        Examples
        --------
        >>> frontiers.net_gains(0.2).round(3).tolist()
        [0.4, 0.2, 0.0]
        """
        # slopes fall, so those above the price come first
        used = slice(0, int(np.searchsorted(-self.slope, -price, side="left")))
        net = self.gain[used] - price * self.cost[used] if used.stop else self.gain[used]
        return self.base_gain + np.bincount(self.row[used], net, minlength=len(self.base_gain))


@dataclass(frozen=True, eq=False)
class _Corners:
    """Corners of some rows' frontiers, concatenated; each row starts with a free one.

    Attributes
    ----------
    row
        The point of each corner; those of one point lie together, cheapest first.
    target, cost
        Where it is, and what moving there costs.
    """

    row: IntArray
    target: IntArray
    cost: FloatArray


def build_frontiers(losses: FloatArray, geometry: Geometry) -> Frontiers:
    """Build the frontiers of all points, block by block, never more than a piece of the costs.

    Where every move inside a block is free nothing has to be compiled.

    Parameters
    ----------
    losses
        (K,) of all points.
    geometry
        Who can be compared with whom, and at what cost.

    Notes
    -----
    Ties are broken by rules, not by the way of searching: of targets with equal loss and cost the
    one that changes the fewest sensitive features, then the one that comes first.
    """
    if geometry.is_free:
        target = _best_free_targets(losses, geometry)
        none, nothing = np.empty(0, np.int64), np.empty(0)
        return Frontiers(target, losses[target] - losses, none, none, *[nothing] * 5)
    parts = list(_corners(losses, geometry))
    row, target, cost = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("row", "target", "cost")
    )
    order = np.argsort(row, kind="stable")
    return _sorted_segments(losses, row[order], target[order], cost[order])


def frontiers_of_moves(losses: FloatArray, geometry: Geometry, moves: Moves) -> Frontiers:
    """Build the frontiers of all points as if some moves were the only ones."""
    corners = _corners_of_lists(losses, geometry.size, moves, _profiles(geometry))
    return _sorted_segments(losses, corners.row, corners.target, corners.cost)


def _sorted_segments(
    losses: FloatArray, row: IntArray, target: IntArray, cost: FloatArray
) -> Frontiers:
    """Cut corners (in order of the rows) into segments and sort these by slope.

    Parameters
    ----------
    losses
        Of all points.
    row, target, cost
        The corners, each row's first one free.
    """
    # the first corner of each row is free, and the others end a segment each
    is_base = np.r_[True, row[1:] != row[:-1]]
    base_target = target[is_base]
    end = np.flatnonzero(~is_base)
    seg_cost = cost[end] - cost[end - 1]
    seg_gain = losses[target[end]] - losses[target[end - 1]]
    slope = _falling_within_rows(seg_gain / seg_cost, ~is_base[end - 1])
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


def _falling_within_rows(slope: FloatArray, continues: np.ndarray) -> FloatArray:
    """Undo rounding that makes a segment steeper than the one before it in the same row.

    Parameters
    ----------
    slope
        Of all segments, row by row.
    continues
        By segment: whether the one before is of the same row.

    Examples
    --------
    The second segment of the first row came out steeper, by rounding; the other row begins anew.

    >>> slope = np.array([1.0, 1.0 + 1e-15, 2.0])
    >>> _falling_within_rows(slope, np.array([False, True, False])).tolist()
    [1.0, 1.0, 2.0]
    """
    slope = slope.copy()
    # once may not be enough: lowering one slope can leave the next one steeper than it
    while len(steeper := np.flatnonzero(continues[1:] & (slope[1:] > slope[:-1])) + 1):
        slope[steeper] = slope[steeper - 1]
    return slope


def _best_free_targets(losses: FloatArray, geometry: Geometry) -> IntArray:
    """Return for each point the free target with the largest loss, by the rules for ties.

    Parameters
    ----------
    losses
        Of all points.
    geometry
        In which every move inside a block is free.

    Returns
    -------
    ndarray
        (K,) the point itself where no target of its block has a larger loss.
    """
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
    return _with_fewest_changes(best, np.flatnonzero(gains), first, order, losses, geometry)


def _with_fewest_changes(
    best: IntArray, movers: IntArray, first: IntArray, order: IntArray,
    losses: FloatArray, geometry: Geometry,
) -> IntArray:  # fmt: skip
    """Among a block's targets of equal loss give each mover the one that changes least.

    Parameters
    ----------
    best
        The target of each point so far; changed in place.
    movers
        The points that move.
    first
        By point: where in ``order`` its block's targets begin.
    order
        Targets, block by block, by falling loss.
    losses, geometry
        Of all points; profiles, without which nothing is changed.
    """
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
        # losses are equal, so that ψ stays: only who is named as the target changes
        best[movers[better]] = here[better]
        changes = np.minimum(changes, fewer)
        at = at + 1


def _profiles(geometry: Geometry) -> IntArray:
    if geometry.profiles is None:
        return np.empty((geometry.size, 0), np.int64)
    return geometry.profiles


def _corners(losses: FloatArray, geometry: Geometry) -> Iterator[_Corners]:
    profiles = _profiles(geometry)
    if (moves := geometry.listed_moves()) is not None:
        yield _corners_of_lists(losses, geometry.size, moves, profiles)
        return
    if (points := geometry.searchable) is not None:
        from fairtransport.transport.embedded import corners_of_embedding

        for found in corners_of_embedding(losses, geometry, points, profiles):
            yield _Corners(found.row, found.target, found.cost)
        return
    for members in geometry.members:
        rows = members[np.argsort(-losses[members], kind="stable")]
        targets = geometry.targets_in(members)
        cols = targets[np.lexsort((targets, -losses[targets]))]
        # rows by falling loss: a piece needs only the targets above its lowest row
        limit = np.searchsorted(-losses[cols], -losses[rows], side="left")
        if (matrix := geometry.matrix) is not None:
            yield _corners_of_matrix(losses, matrix, profiles, rows, cols, limit)
            continue
        pieces = max(16, entries_at_a_time(CHUNK_ENTRIES, 24) // max(1, len(cols)))
        for at in range(0, len(rows), pieces):
            part = slice(at, at + pieces)
            yield _corners_of_piece(
                losses, geometry, profiles, rows[part], cols[: limit[part].max()], limit[part]
            )


def _corners_of_matrix(
    losses: FloatArray, matrix: FloatArray, profiles: IntArray,
    rows: IntArray, cols: IntArray, limit: IntArray,
) -> _Corners:  # fmt: skip
    from fairtransport.transport import kernels

    chunks, room = -(-len(rows) // kernels.TOGETHER), CORNERS_A_ROW * kernels.TOGETHER
    candidates = kernels.Candidates(rows, cols, limit)
    count, totals = np.empty(len(rows), np.int64), np.empty(chunks, np.int64)
    while True:
        corners, costs = np.empty((chunks, room), np.int64), np.empty((chunks, room))
        with threads_for(float(len(rows)) * len(cols)):
            kernels.frontiers_of_matrix(
                candidates, matrix, losses, profiles, count, corners, costs, totals
            )
        if totals.max() <= room:
            held = np.arange(room) < totals[:, None]
            return _Corners(np.repeat(rows, count), corners[held], costs[held])
        room = int(totals.max())


def _corners_of_piece(
    losses: FloatArray, geometry: Geometry, profiles: IntArray,
    rows: IntArray, cols: IntArray, limit: IntArray,
) -> _Corners:  # fmt: skip
    """Return the corners of some points of a block from a piece of the cost matrix.

    Parameters
    ----------
    losses, geometry, profiles
        Of all points.
    rows
        The points, by falling loss.
    cols
        Candidates, by falling loss.
    limit
        By row: how many of the candidates have a larger loss than it; others gain nothing.
    """
    from fairtransport.transport import kernels

    # room for every candidate, which only smooth losses come near to
    corner = np.empty((len(rows), len(cols) + 1), np.int64)
    price = np.empty((len(rows), len(cols) + 1))
    count = np.empty(len(rows), np.int64)
    candidates = kernels.Candidates(rows, cols, limit)
    costs = geometry.costs(rows, cols)
    with threads_for(len(rows) * len(cols)):
        kernels.frontiers_of_costs(candidates, costs, losses, profiles, corner, price, count)
    taken = np.repeat(np.arange(len(rows)), count)
    place = np.arange(len(taken)) - np.repeat(np.cumsum(count) - count, count)
    return _Corners(rows[taken], corner[taken, place], price[taken, place])


def _corners_of_lists(losses: FloatArray, size: int, moves: Moves, profiles: IntArray) -> _Corners:
    """Return the corners of all points from a list of the moves that are allowed.

    Parameters
    ----------
    losses
        Of all points.
    size
        K.
    moves
        Rows, targets and costs of the moves.
    profiles
        (K, columns) codes of the sensitive features.
    """
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
    taken = np.repeat(rows, count)
    place = np.arange(len(taken)) - np.repeat(np.cumsum(count) - count, count)
    # each row has room for its candidates and one corner more, the point itself
    at = start[taken] + taken + place
    return _Corners(taken, corner[at], price[at])
