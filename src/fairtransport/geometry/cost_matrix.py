"""Costs handed in as a matrix, dense or sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.checks import float_array
from fairtransport.errors import InputError
from fairtransport.geometry.cost import Cost, Moves
from fairtransport.geometry.magnitudes import refuse_bad_costs
from fairtransport.geometry.sparse import float_csr, is_sparse

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from fairtransport.checks import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class CostMatrix(Cost):
    """Costs handed in: dense with infinity, or sparse, where an absent entry is forbidden.

    In a sparse matrix an explicit 0 is a free move. Staying put is always free.

    Attributes
    ----------
    matrix
        (K, K), checked when it is made: non-negative, 0 on the diagonal.

    Examples
    --------
    >>> costs = CostMatrix([[0.0, 2.0], [np.inf, 0.0]])
    >>> costs.between(np.array([1]), np.array([0, 1])).tolist()
    [[inf, 0.0]]
    """

    matrix: FloatArray | csr_array[np.float64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", _checked_costs(self.matrix))

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the part of the matrix, absent entries as infinity.

        Parameters
        ----------
        rows, cols
            As in `Cost.between`.
        """
        if isinstance(self.matrix, np.ndarray):
            return self.matrix[np.ix_(rows, cols)]
        part = np.full((len(rows), self.matrix.shape[1]), np.inf)
        for at, row in enumerate(rows):
            entries = slice(self.matrix.indptr[row], self.matrix.indptr[row + 1])
            part[at, self.matrix.indices[entries]] = self.matrix.data[entries]
        return part[:, cols]

    def at(self, points: IntArray) -> CostMatrix:
        """Return the part of the matrix that is about some of the points.

        Parameters
        ----------
        points
            As in `Cost.at`.
        """
        return CostMatrix(self.matrix[points][:, points])

    @property
    def size(self) -> int:
        """The number of points."""
        return int(self.matrix.shape[0])

    @property
    def dense(self) -> FloatArray | None:
        """The matrix, unless it is sparse."""
        return self.matrix if isinstance(self.matrix, np.ndarray) else None

    @property
    def listed(self) -> Moves | None:
        """The entries of a sparse matrix; None for a dense one."""
        if isinstance(self.matrix, np.ndarray):
            return None
        row = np.repeat(np.arange(self.size), np.diff(self.matrix.indptr))
        return Moves(row, self.matrix.indices.astype(np.int64), np.asarray(self.matrix.data))

    def perturbed(self, eta: float, size: int, rng: np.random.Generator) -> CostMatrix:  # noqa: ARG002
        """Return the matrix with each entry multiplied by a factor of its own.

        Parameters
        ----------
        eta, size, rng
            As in `Cost.perturbed`.
        """
        matrix = self.matrix
        if isinstance(matrix, np.ndarray):
            return CostMatrix(matrix * (1 + eta * rng.uniform(-1, 1, matrix.shape)))
        # arithmetic on the matrix itself would drop free moves, its explicit zeros
        other = matrix.copy()
        other.data = matrix.data * (1 + eta * rng.uniform(-1, 1, len(matrix.data)))
        return CostMatrix(other)


def _checked_costs(value: object) -> FloatArray | csr_array[np.float64]:
    """Return a cost matrix as floats, dense or in compressed rows.

    Raises
    ------
    InputError
        If it is not square, has a diagonal other than 0, or costs that cannot be computed with.
    """
    if is_sparse(value):
        matrix: Any = float_csr("costs", value)
        if matrix.ndim != 2:  # noqa: PLR2004
            msg = f"`costs` must be square, got shape {tuple(matrix.shape)}"
            raise InputError(msg)
        refuse_bad_costs(matrix.data, "costs")
        square, diagonal = matrix.shape, matrix.diagonal()
    else:
        matrix = float_array("costs", value, (None, None))
        refuse_bad_costs(matrix, "costs")
        square, diagonal = matrix.shape, np.diagonal(matrix)
    if square[0] != square[1]:
        msg = f"`costs` must be square, got shape {tuple(square)}"
        raise InputError(msg)
    if np.any(diagonal != 0):
        at = int(np.flatnonzero(diagonal)[0])
        msg = f"`costs` must be 0 on the diagonal, got {diagonal[at]:g} at [{at}, {at}]"
        raise InputError(msg)
    return matrix  # type: ignore[no-any-return]
