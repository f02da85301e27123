"""Precomputed: costs from a matrix, keyed by the profiles of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.checks import shown
from fairtransport.errors import DataError, InputError
from fairtransport.geometry import CostFunction, Geometry
from fairtransport.geometry import Precomputed as MatrixCost
from fairtransport.similarity.base import label_columns, tie_breaking_codes
from fairtransport.space.columns import encode_series

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.space import SampleSpace


@dataclass(frozen=True, eq=False)
class Precomputed:
    """Costs handed in as a matrix over profiles.

    Parameters
    ----------
    matrix
        Squared distances: a square array in which infinity forbids a move, or a scipy sparse
        matrix in which an absent entry does and an explicit 0 is a free move.
    points
        A data frame with one row for each row of the matrix; its columns (features, sensitive
        ones or both) tell which profile a row is about.
    """

    matrix: Any
    points: Any

    @property
    def moves_only_to_twins(self) -> bool:
        """A matrix may connect anyone."""
        return False

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return the matrix's costs between the space's points of equal label."""
        matrix = MatrixCost(self.matrix)
        row_of = self._rows(space, matrix.matrix.shape[0])

        def between(rows: IntArray, cols: IntArray) -> FloatArray:
            part = matrix.between(row_of[rows], row_of[cols])
            # one profile with different predictions is a free move, also without a diagonal
            part[row_of[rows][:, None] == row_of[cols][None, :]] = 0.0
            return part

        return Geometry(
            blocks=space.groups(label_columns(space)),
            cost=CostFunction(between),
            targets=space.targets,
            profiles=tie_breaking_codes(space),
        )

    def describe(self) -> str:
        """Return a plain sentence for the report."""
        size = np.shape(self.matrix)[0]
        return f"Costs between {size} profiles were handed in as a matrix of squared distances."

    def _rows(self, space: SampleSpace, size: int) -> IntArray:
        """Return the matrix row of each point of the space."""
        import narwhals as nw

        try:
            frame = nw.from_native(self.points, eager_only=True)
        except TypeError:
            msg = f"`points` must be an eager data frame, got {shown(self.points)}"
            raise InputError(msg) from None
        if len(frame) != size:
            msg = f"`points` must have one row for each of the matrix's {size}, got {len(frame)}"
            raise InputError(msg)
        names = list(frame.columns)
        unknown = [name for name in names if name not in space.profile]
        if unknown or not names:
            msg = f"`points` must have columns of the profile {space.profile}, got {names}"
            raise InputError(msg)
        place: dict[tuple[Any, ...], int] = {}
        for at, key in enumerate(
            zip(*(encode_series(frame[name]).to_list() for name in names), strict=True)
        ):
            if place.setdefault(key, at) != at:
                msg = f"`points` must be distinct profiles, got {key} twice"
                raise InputError(msg)
        keys = list(zip(*(space.columns[name].to_list() for name in names), strict=True))
        found = [place.get(key, -1) for key in keys]
        if -1 in found:
            absent = dict(zip(names, keys[found.index(-1)], strict=True))
            msg = f"the matrix has no row for {found.count(-1)} points, one is {absent}"
            raise DataError(msg)
        return np.array(found, np.int64)
