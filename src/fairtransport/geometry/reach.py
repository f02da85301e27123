"""Who can be moved to whom at all, before any loss is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtransport.checks import BoolArray, IntArray
    from fairtransport.geometry.geometry import Geometry

MOST_PAIRS = 2**20
"""So many costs are looked at together."""


def reaches_other(geometry: Geometry, kinds: IntArray, *, freely: bool = False) -> BoolArray:
    """Return for each point whether it may be moved to one of another kind.

    Parameters
    ----------
    geometry
        Who is comparable.
    kinds
        (K,) the kind of each point.
    freely
        Whether only moves that cost nothing count.

    Returns
    -------
    ndarray
        (K,) truth values.

    Examples
    --------
    Two blocks; in the second everybody is of one kind.

    >>> from fairtransport.geometry import Geometry
    >>> reaches_other(Geometry([0, 0, 1, 1]), np.array([0, 1, 2, 2])).tolist()
    [True, True, False, False]
    """
    if (moves := geometry.listed_moves()) is not None:
        counts = kinds[moves.row] != kinds[moves.col]
        counts &= (moves.cost == 0) | (not freely)
        return np.bincount(moves.row[counts], minlength=geometry.size) > 0
    if geometry.forbidden is None and _is_transitive(geometry):
        return _meets_other(_places(geometry, apart=freely), kinds, geometry.targets)
    found = np.zeros(geometry.size, bool)
    for points in geometry.members:
        arrivals = geometry.targets_in(points)
        for rows in _chunks(points, len(arrivals)):
            costs = geometry.costs(rows, arrivals)
            allowed = costs == 0 if freely else np.isfinite(costs)
            found[rows] = (allowed & (kinds[rows][:, None] != kinds[arrivals])).any(axis=1)
    return found


def are_all_alike(geometry: Geometry, kinds: IntArray) -> bool:
    """Say whether any point may be moved to any other of its kind for nothing.

    Where no kind has two points there is nothing to be alike.

    Parameters
    ----------
    geometry
        Who is comparable.
    kinds
        (K,) the kind of each point.
    """
    several = False
    for kind in np.unique(kinds):
        points = np.flatnonzero(kinds == kind)
        arrivals = geometry.targets_in(points)
        several |= len(points) > 1
        # equal coordinates and blocks go on from one point to the next
        rows = points[:1] if geometry.forbidden is None and _is_transitive(geometry) else points
        for some in _chunks(rows, len(arrivals)):
            if geometry.costs(some, arrivals).any():
                return False
    return several


def _is_transitive(geometry: Geometry) -> bool:
    """Whether all points of a block may be moved to each other, freely where they coincide."""
    return geometry.cost.allows_all or geometry.cost.points is not None


def _places(geometry: Geometry, *, apart: bool) -> IntArray:
    """Return a number for each block or, if distances set apart, for each place in a block.

    Parameters
    ----------
    geometry
        Whose points are numbered.
    apart
        Whether points of a block at different coordinates get different numbers.
    """
    blocks = geometry.blocks
    if not apart or geometry.cost.points is None:
        return np.unique(blocks, return_inverse=True)[1].reshape(-1)
    keys = np.column_stack([blocks[:, None], geometry.cost.points])
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)


def _meets_other(places: IntArray, kinds: IntArray, targets: BoolArray | None) -> BoolArray:
    """Return for each point whether its place has a target of another kind.

    Parameters
    ----------
    places, kinds
        By point: the number of its place, and its kind.
    targets
        By point: whether mass may arrive there; None: everywhere.

    Notes
    -----
    The least and the largest kind of each place's targets tell it: both equal to one's own say no.

    Examples
    --------
    Two places; only the first holds people of two kinds.

    >>> _meets_other(np.array([0, 0, 1]), np.array([0, 1, 1]), None).tolist()
    [True, True, False]
    """
    arrive = slice(None) if targets is None else targets
    size = int(places.max(initial=-1)) + 1
    least, most = np.full(size, np.iinfo(np.int64).max), np.full(size, -1)
    np.minimum.at(least, places[arrive], kinds[arrive])
    np.maximum.at(most, places[arrive], kinds[arrive])
    least, most = least[places], most[places]
    return np.asarray((most >= 0) & ((least != kinds) | (most != kinds)))


def _chunks(points: IntArray, width: int) -> Iterator[IntArray]:
    """Return pieces of some points, so small that their costs to ``width`` others fit."""
    step = max(1, MOST_PAIRS // max(1, width))
    return (points[start : start + step] for start in range(0, len(points), step))
