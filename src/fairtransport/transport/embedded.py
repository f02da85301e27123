"""Frontiers of points in space: a forest of targets, searched for many points at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.memory import entries_at_a_time, expect
from fairtransport.threads import threads_for
from fairtransport.workers import count_workers, spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.geometry import Geometry
    from fairtransport.transport.forest import Forest
    from fairtransport.transport.forest_search import Points

CHUNKS = 512
"""Chunks of points whose corners are held at a time, before they are put together."""
CORNERS_A_POINT = 8
"""For which there is room at first."""
CORNERS_AT_A_TIME = 16_000_000
"""For which there is room at most, unless two chunks need more."""
CORNER_SIZE = 270
"""Bytes that a corner takes at most while an audit goes on, as measured: its segments, sorted, and
those of the same audit with sensitive features held fixed."""
BLOCKS_A_WORKER = 4
"""Blocks of points that each of joblib's workers gets; one that is lost is searched again."""
PROBES = 64
"""Points that are searched for first, to see how long frontiers are."""
LONG = 100
"""Corners a frontier from which on targets are taken by falling loss alone: a new corner then
belongs at the end of those that are known, while in trees it may go anywhere among them."""


class Found(NamedTuple):
    """Corners of some frontiers, row after row, and how many pairs were looked at for them."""

    row: IntArray
    target: IntArray
    cost: FloatArray
    pairs: int


def corners_of_embedding(
    losses: FloatArray, geometry: Geometry, place: FloatArray, profiles: IntArray
) -> Iterator[Found]:
    """Yield the corners of all frontiers, part by part."""
    from fairtransport.transport.forest import by_place, plant
    from fairtransport.transport.forest_search import ROWS, Points

    points = Points(np.ascontiguousarray(place), losses, profiles)
    forest = plant(losses, geometry, place, flat=False)
    rows = by_place(forest.place, geometry.blocks)
    # contiguous, as all rows are: the search is compiled for one kind of array
    probes = np.ascontiguousarray(rows[:: max(1, len(rows) // PROBES)])
    room = CORNERS_A_POINT * ROWS
    probed = sum(len(part.row) for part in _searched(probes, forest, points, room))
    corners = probed / max(1, len(probes))
    expect(
        corners * len(rows) * CORNER_SIZE,
        f"frontiers of about {corners:.0f} corners for each of {len(rows):,} points, unless the "
        "search for the statistic is limited (`time_limit`)",
    )
    if corners > LONG:
        forest = plant(losses, geometry, place, flat=True)
    if (workers := count_workers()) == 1:
        yield from _searched(rows, forest, points, room)
        return
    # whole chunks: these then look at the same pairs wherever they are searched
    step = -(-len(rows) // (BLOCKS_A_WORKER * workers * ROWS)) * ROWS
    blocks = (rows[at : at + step] for at in range(0, len(rows), step))
    for parts in spread(_found, ((block, forest, points, room) for block in blocks)):
        yield from parts


def _found(rows: IntArray, forest: Forest, points: Points, room: int) -> list[Found]:
    return list(_searched(rows, forest, points, room))


def _searched(rows: IntArray, forest: Forest, points: Points, room: int) -> Iterator[Found]:
    """Yield the corners of some points, with room for so many in a chunk, or for what it takes."""
    from fairtransport.transport.forest_search import ROWS
    from fairtransport.transport.frontier_search import frontiers_of_forest

    done = 0
    while done < len(rows):
        most = entries_at_a_time(CORNERS_AT_A_TIME, 16)
        chunks = min(CHUNKS, max(2, most // room), -(-(len(rows) - done) // ROWS))
        part = rows[done : done + chunks * ROWS]
        count, totals, pairs = (np.empty(size, np.int64) for size in (len(part), chunks, chunks))
        corner, cost = np.empty((chunks, room), np.int64), np.empty((chunks, room))
        with threads_for(float(len(part)) * len(forest.target)):
            frontiers_of_forest(part, forest, points, count, corner, cost, totals, pairs)
        if totals.max() > room:
            room = int(totals.max() * 5 // 4)
            continue
        held = np.arange(room) < totals[:, None]
        yield Found(np.repeat(part, count), corner[held], cost[held], int(pairs.sum()))
        done += len(part)


def best_at_price(
    losses: FloatArray, geometry: Geometry, place: FloatArray, price: float, rows: IntArray
) -> FloatArray:
    """Return max_j (l_j − ν c_ij) of some points, by a search of its own, at a price above 0."""
    search = _Search(losses, geometry, place, price, rows)
    best = np.empty(len(rows))
    best[search.order] = search.best()
    return best


def ties_at_price(
    losses: FloatArray, geometry: Geometry, place: FloatArray, price: float, rows: IntArray,
    within: float, best: FloatArray | None = None,
) -> IntArray:  # fmt: skip
    """Count each point's targets whose l_j − ν c_ij is the best but for ``within``; 3: or more.

    ``best`` is what `best_at_price` found; default: it is searched for.
    """
    search = _Search(losses, geometry, place, price, rows)
    ties = np.empty(len(rows), np.int64)
    known = search.best() if best is None else best[search.order]
    ties[search.order] = search.ties(known - within)
    return ties


class _Search:
    """Some points, neighbours close together, whose best targets at a price are wanted."""

    def __init__(
        self, losses: FloatArray, geometry: Geometry, place: FloatArray, price: float,
        rows: IntArray,
    ) -> None:  # fmt: skip
        from fairtransport.transport.forest import by_place, plant
        from fairtransport.transport.forest_search import Points

        self.forest = plant(losses, geometry, place, flat=False)
        profiles = np.empty((len(losses), 0), np.int64)
        self.points = Points(np.ascontiguousarray(place), losses, profiles)
        self.price = float(price)
        self.order = by_place(self.forest.place[rows], geometry.blocks[rows])
        self.rows = np.asarray(rows, np.int64)[self.order]

    def best(self) -> FloatArray:
        """Return what the best target of each point is worth."""
        from fairtransport.transport.forest_search import best_in_forest

        best, target = np.empty(len(self.rows)), np.full(len(self.rows), -1)
        with threads_for(float(len(self.rows)) * len(self.forest.target)):
            best_in_forest(self.rows, self.forest, self.points, self.price, best, target)
        return best

    def ties(self, least: FloatArray) -> IntArray:
        """Count each point's targets that are worth at least so much; 3: or more."""
        from fairtransport.transport.forest_search import ties_in_forest

        count = np.empty(len(self.rows), np.int64)
        with threads_for(float(len(self.rows)) * len(self.forest.target)):
            ties_in_forest(self.rows, self.forest, self.points, self.price, least, 3, count)
        return np.minimum(count, 3)
