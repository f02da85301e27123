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
    """

    coordinates: FloatArray

    def __post_init__(self) -> None:
        array = float_array("coordinates", self.coordinates, (None, None))
        object.__setattr__(self, "coordinates", check_coordinates("coordinates", array))

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return Σ_d (x_id − x_jd)², from the differences, so that equal rows cost exactly 0."""
        from scipy.spatial.distance import cdist

        return cdist(self.coordinates[rows], self.coordinates[cols], "sqeuclidean")

    def at(self, points: IntArray) -> Embedding:
        """Return the distances between some of the points."""
        return Embedding(self.coordinates[points])

    @property
    def size(self) -> int:
        """The number of points."""
        return len(self.coordinates)

    @property
    def points(self) -> FloatArray:
        """The coordinates."""
        return self.coordinates

    def perturbed(self, eta: float, size: int, rng: np.random.Generator) -> Embedding:  # noqa: ARG002
        """Return the points after a random linear map that changes no squared length by more."""
        columns = self.coordinates.shape[1]
        turn = np.linalg.qr(rng.normal(size=(columns, columns)))[0]
        # a symmetric map with eigenvalues √(1 ± η): every squared length changes by a factor within
        # 1 ± η
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
    # two points can lie on either side of 0
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
