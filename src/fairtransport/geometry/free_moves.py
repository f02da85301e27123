"""Costs under which a move is free or forbidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import finite, float_array
from fairtransport.geometry.cost import Cost

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray


@dataclass(frozen=True)
class ZeroCost(Cost):
    """Every move inside a block is free: the paper's COMPAS metric.

    The block decides who is comparable, and the budget plays no part.
    """

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return zeros.

        Parameters
        ----------
        rows, cols
            As in `Cost.between`.
        """
        return np.zeros((len(rows), len(cols)))

    def at(self, points: IntArray) -> ZeroCost:  # noqa: ARG002
        """Return the same: it is free everywhere.

        Parameters
        ----------
        points
            Not looked at.
        """
        return self

    @property
    def allows_all(self) -> bool:
        """It is free everywhere."""
        return True

    @property
    def charges(self) -> bool:
        """Nothing costs anything."""
        return False


@dataclass(frozen=True, eq=False)
class WithinTolerance(Cost):
    """Moves are free between points that are close in every coordinate, else forbidden.

    Attributes
    ----------
    values, limits
        (K, columns) coordinates, and how far apart they may be in each.

    Notes
    -----
    Being close is not transitive: of three people in a row the first and the last may not be
    comparable. So this is a cost, and not a block.

    Examples
    --------
    >>> close = WithinTolerance(np.array([[30.0], [32.0], [34.0]]), np.array([2.0]))
    >>> close.between(np.array([0]), np.array([1, 2])).tolist()
    [[0.0, inf]]
    """

    values: FloatArray
    limits: FloatArray

    def __post_init__(self) -> None:
        values = finite("values", float_array("values", self.values, (None, None)))
        limits = float_array("limits", self.limits, (values.shape[1],))
        object.__setattr__(self, "values", values)
        # 0.4 and 0.3 are 0.1 apart, whatever their last bits say
        slack = 4 * np.finfo(float).eps * np.abs(values).max(axis=0, initial=0)
        object.__setattr__(self, "limits", limits + slack)

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return 0 for close pairs, infinity for the others.

        Parameters
        ----------
        rows, cols
            As in `Cost.between`.
        """
        part = np.zeros((len(rows), len(cols)))
        for values, limit in zip(self.values.T, self.limits, strict=True):
            part[np.abs(values[rows][:, None] - values[cols][None, :]) > limit] = np.inf
        return part

    def at(self, points: IntArray) -> WithinTolerance:
        """Return the rule for some of the points.

        Parameters
        ----------
        points
            As in `Cost.at`.
        """
        return WithinTolerance(self.values[points], self.limits)

    @property
    def size(self) -> int:
        """The number of points."""
        return len(self.values)

    @property
    def charges(self) -> bool:
        """Moves are free or forbidden."""
        return False
