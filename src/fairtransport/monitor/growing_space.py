"""The sample space of a stream: its points in order of arrival, and how many people are at each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairtransport.checks import IntArray
    from fairtransport.monitor.points import Key


class GrowingSpace:
    """Points that were seen so far; each has a cell, and keeps it.

    Attributes
    ----------
    cell_of
        The cell of each point.
    counts
        (cells,) how many people are at each point.
    """

    def __init__(self) -> None:
        self.cell_of: dict[Key, int] = {}
        self.counts: IntArray = np.zeros(0, np.int64)

    def new(self, keys: Iterable[Key]) -> list[Key]:
        """Return the points that have not been seen, each once, in order."""
        return list(dict.fromkeys(key for key in keys if key not in self.cell_of))

    def admit(self, keys: Sequence[Key]) -> None:
        """Give new points a cell, with nobody at it yet."""
        for key in keys:
            self.cell_of[key] = len(self.cell_of)
        self.counts = np.r_[self.counts, np.zeros(len(keys), np.int64)]

    def cells(self, keys: Sequence[Key]) -> IntArray:
        """Return the cells of points that were seen."""
        return np.array([self.cell_of[key] for key in keys], np.int64)

    def count(self, cells: IntArray) -> None:
        """Count people at some cells."""
        self.counts += np.bincount(cells, minlength=len(self.counts))

    def as_json(self) -> dict[str, Any]:
        """Return all that a later run needs."""
        return {"points": [list(key) for key in self.cell_of], "counts": self.counts.tolist()}

    def restore(self, saved: dict[str, Any]) -> None:
        """Take over what `as_json` returned."""
        self.cell_of = {tuple(key): cell for cell, key in enumerate(saved["points"])}
        self.counts = np.array(saved["counts"], np.int64)
