"""Squared Euclidean distances, which run on the fast path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import finite, float_array
from fairtransport.errors import InputError
from fairtransport.geometry.cost import Cost
from fairtransport.geometry.magnitudes import LARGEST_COST, SMALLEST_COST

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Embedding(Cost):
    """Squared Euclidean distance between the rows of ``coordinates``.

    Every Mahalanobis-like metric is of this form: ``d(x, y)² = |Ax − Ay|²``.

    Parameters
    ----------
    coordinates
        (K, any) finite numbers, one row a point.

    Raises
    ------
    InputError
        If they are not finite, or so large or so close that squares of differences are lost.

    Examples
    --------
    >>> import numpy as np
    >>> import fairtransport as ft
    >>> cost = ft.Embedding([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    >>> ft.AuditProblem([0.0, 1.0, 0.0], ft.Geometry([0, 0, 0], cost), budget=5.0).value([1, 0, 0])
    0.2
    """

    coordinates: FloatArray

    def __post_init__(self) -> None:
        array = float_array("coordinates", self.coordinates, (None, None))
        object.__setattr__(self, "coordinates", check_coordinates("coordinates", array))

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return Σ_d (x_id − x_jd)², from the differences, so that equal rows cost exactly 0.

        Parameters
        ----------
        rows, cols
            Numbers of points.

        Returns
        -------
        ndarray of float
            (rows, cols) squared distances.

        Examples
        --------
        >>> cost.between(np.array([0]), np.array([1, 2])).tolist()
        [[25.0, 1.0]]
        """
        from scipy.spatial.distance import cdist

        return cdist(self.coordinates[rows], self.coordinates[cols], "sqeuclidean")

    def at(self, points: IntArray) -> Embedding:
        """Return the distances between some of the points.

        Parameters
        ----------
        points
            Their numbers.

        Returns
        -------
        Embedding
            Over these points, in the order given.

        Examples
        --------
        >>> cost.at(np.array([2, 1])).coordinates.tolist()
        [[0.0, 1.0], [3.0, 4.0]]
        """
        return Embedding(self.coordinates[points])

    @property
    def size(self) -> int:
        """The number of points.

        Returns
        -------
        int

        Examples
        --------
        >>> cost.size
        3
        """
        return len(self.coordinates)

    @property
    def points(self) -> FloatArray:
        """The coordinates.

        Returns
        -------
        ndarray of float

        Examples
        --------
        >>> cost.points.shape
        (3, 2)
        """
        return self.coordinates

    def perturbed(self, eta: float, size: int, rng: np.random.Generator) -> Embedding:  # noqa: ARG002
        """Return the points after a random linear map that changes no squared length by more.

        Parameters
        ----------
        eta
            The largest change of a squared length, as a share of it.
        size
            The number of points; not needed here, where they are known.
        rng
            Draws the map.

        Returns
        -------
        Embedding
            Another embedding of the same points.

        Examples
        --------
        >>> other = cost.perturbed(0.1, 3, np.random.default_rng(0))
        >>> ratio = other.between([0], [1, 2]) / cost.between([0], [1, 2])
        >>> bool(abs(ratio - 1).max() <= 0.1)
        True
        """
        columns = self.coordinates.shape[1]
        turn = np.linalg.qr(rng.normal(size=(columns, columns)))[0]
        factors = np.sqrt(1 + eta * rng.uniform(-1, 1, columns))
        return Embedding(self.coordinates @ np.asarray((turn * factors) @ turn.T))


def check_coordinates(name: str, array: FloatArray) -> FloatArray:
    """Return coordinates if all their squared distances are costs that can be computed with.

    Parameters
    ----------
    name
        The parameter, for messages.
    array
        One point a row.

    Raises
    ------
    InputError
        If a number is not finite, so large that a squared distance would overflow, or so near
        another that it would underflow to 0: unlike people would pass for alike.

    Examples
    --------
    >>> check_coordinates("scales", np.array([[1e200]]))
    Traceback (most recent call last):
        ...
    fairtransport.errors.InputError: `scales` must make squared distances of at most ...
    """
    finite(name, array)
    size = np.abs(array)
    span = 2 * float(size.max(initial=0.0))
    if span > (LARGEST_COST / max(1, array.shape[-1])) ** 0.5:
        msg = f"`{name}` must make squared distances of at most {LARGEST_COST:g}, got {span / 2:g}"
        raise InputError(msg)
    least = SMALLEST_COST**0.5
    # larger numbers are equal or farther apart than that
    if np.any((size > 0) & (size < least / np.finfo(float).eps)):
        gaps = np.diff(np.sort(array.reshape(len(array), -1), axis=0), axis=0)
        close = gaps[(gaps > 0) & (gaps < least)]
        if len(close):
            msg = (
                f"`{name}` must be equal or make squared distances of at least "
                f"{SMALLEST_COST:g}, got numbers that are {close[0]:g} apart"
            )
            raise InputError(msg)
    return array
