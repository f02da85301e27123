"""Costs of moves: the base class `Cost`, its subclasses, and limits that keep products exact."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from fairtransport._core.validation import (
    FloatArray,
    IntArray,
    check_finite,
    check_float_array,
    explain_failures,
    is_real,
)
from fairtransport.errors import InputError, param

if TYPE_CHECKING:
    from scipy.sparse import csr_array

CostCallable: TypeAlias = Callable[[IntArray, IntArray], FloatArray]
MAX_COST = 1e200
MIN_COST = 1e-200
"""Costs other than 0 and infinity lie between these."""
MAX_LOSS = 1e100
MAX_COSTS_PER_CHECK = 32_768
"""Number of costs checked at once, which fit into the processor's cache."""


class Moves(NamedTuple):
    """Single moves: source, target and cost."""

    row: IntArray
    col: IntArray
    cost: FloatArray


class Cost(ABC):
    """Cost of moves, before blocks and forbidden moves apply.

    A subclass needs `between` and `at`; the other members offer shortcuts to solvers.

    Notes
    -----
    Costs are squared distances, c_ij = d(z_i, z_j)², as in the paper. Staying costs nothing,
    which `Geometry.costs` ensures. A shortcut must give the same numbers as `between`.

    Examples
    --------
    A custom cost, the squared difference in years:

    >>> class Years(Cost):
    ...     def __init__(self, age):
    ...         self.age = age
    ...
    ...     def between(self, rows, cols):
    ...         return np.square(np.subtract.outer(self.age[rows], self.age[cols]))
    ...
    ...     def at(self, points):
    ...         return Years(self.age[points])
    >>> Years(np.array([30.0, 32.0, 40.0])).between(np.array([0]), np.array([1, 2])).tolist()
    [[4.0, 100.0]]
    """

    @abstractmethod
    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the (rows, cols) array of costs; infinity forbids a move.

        Parameters
        ----------
        rows, cols
            Indices of the sources and of the targets.
        """

    @abstractmethod
    def at(self, points: IntArray) -> Cost:
        """Return the cost of some points.

        Parameters
        ----------
        points
            Indices of the points, in their new order.
        """

    @property
    def size(self) -> int | None:
        """Number of points; None if the cost does not depend on particular points."""
        return None

    @property
    def allows_all(self) -> bool:
        """Whether every move is allowed and free."""
        return False

    @property
    def charges(self) -> bool:
        """Whether some move may have a positive cost; otherwise each is free or forbidden."""
        return True

    @property
    def points(self) -> FloatArray | None:
        """Coordinates whose squared Euclidean distances are the costs, if there are any.

        Frontiers are then searched by trees instead of through all pairs.
        """
        return None

    @property
    def dense(self) -> FloatArray | None:
        """Matrix of the costs of all moves, if there is one."""
        return None

    @property
    def sparse_moves(self) -> Moves | None:
        """All allowed moves, if they are few and listed."""
        return None

    def perturb(self, eta: float, size: int, rng: np.random.Generator) -> Cost:
        """Return random costs within (1 ± η) times these; some costs do not know their ``size``."""
        if not self.charges:
            return self
        # two weights of at most η/2 each: a symmetric factor within 1 ± η without a K × K array
        return PerturbedCost(self, eta * rng.uniform(-0.5, 0.5, size))


class PerturbedCost(Cost):
    """A cost with a factor 1 + w_i + w_j on the move from i to j."""

    def __init__(self, cost: Cost, weights: FloatArray) -> None:
        self.cost, self.weights = cost, weights

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the costs times the factors."""
        factors = 1 + self.weights[rows][:, None] + self.weights[cols][None, :]
        return np.asarray(self.cost.between(rows, cols) * factors)

    def at(self, points: IntArray) -> PerturbedCost:
        """Return the cost of some points."""
        return PerturbedCost(self.cost.at(points), self.weights[points])


@dataclass(frozen=True, eq=False)
class CostFunction(Cost):
    """Costs from a callable ``function(rows, cols)`` that returns a (rows, cols) array."""

    function: CostCallable

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the costs of the callable, checked."""
        name = "costs(rows, cols)"
        with explain_failures(name):
            costs = self.function(rows, cols)
        part = check_float_array(name, costs, (len(rows), len(cols)))
        check_costs(part, name)
        return part

    def at(self, points: IntArray) -> CostFunction:
        """Return the cost of some points."""
        return CostFunction(lambda rows, cols: self.function(points[rows], points[cols]))


@dataclass(frozen=True, eq=False)
class CostMatrix(Cost):
    """Costs as a matrix: dense, where infinity forbids, or sparse, where absent entries do."""

    matrix: FloatArray | csr_array[np.float64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", _check_matrix(self.matrix))

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the part of the matrix, absent entries as infinity."""
        if isinstance(self.matrix, np.ndarray):
            return self.matrix[np.ix_(rows, cols)]
        part = np.full((len(rows), self.matrix.shape[1]), np.inf)
        for index, row in enumerate(rows):
            entries = slice(self.matrix.indptr[row], self.matrix.indptr[row + 1])
            part[index, self.matrix.indices[entries]] = self.matrix.data[entries]
        return part[:, cols]

    def at(self, points: IntArray) -> CostMatrix:
        """Return the matrix of some points."""
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
    def sparse_moves(self) -> Moves | None:
        """The entries of a sparse matrix; None for a dense one."""
        if isinstance(self.matrix, np.ndarray):
            return None
        row = np.repeat(np.arange(self.size), np.diff(self.matrix.indptr))
        return Moves(row, self.matrix.indices.astype(np.int64), np.asarray(self.matrix.data))

    def perturb(self, eta: float, size: int, rng: np.random.Generator) -> CostMatrix:  # noqa: ARG002
        """Return the matrix with each entry multiplied by its own factor."""
        matrix = self.matrix
        if isinstance(matrix, np.ndarray):
            return CostMatrix(matrix * (1 + eta * rng.uniform(-1, 1, matrix.shape)))
        # arithmetic on the matrix itself would drop free moves, its explicit zeros
        other = matrix.copy()
        other.data = matrix.data * (1 + eta * rng.uniform(-1, 1, len(matrix.data)))
        return CostMatrix(other)


def _check_matrix(value: object) -> FloatArray | csr_array[np.float64]:
    """Return a cost matrix as floats, dense or in compressed rows."""
    if is_sparse(value):
        matrix: Any = float_csr("costs", value)
        if matrix.ndim != 2:  # noqa: PLR2004
            msg = f"{param('costs')} must be square, got shape {tuple(matrix.shape)}"
            raise InputError(msg)
        check_costs(matrix.data, "costs")
        square, diagonal = matrix.shape, matrix.diagonal()
    else:
        matrix = check_float_array("costs", value, (None, None))
        check_costs(matrix, "costs")
        square, diagonal = matrix.shape, np.diagonal(matrix)
    if square[0] != square[1]:
        msg = f"{param('costs')} must be square, got shape {tuple(square)}"
        raise InputError(msg)
    if np.any(diagonal != 0):
        index = int(np.flatnonzero(diagonal)[0])
        msg = (
            f"{param('costs')} must be 0 on the diagonal, got {diagonal[index]:g} at [{index}, "
            f"{index}]"
        )
        raise InputError(msg)
    return matrix  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Embedding(Cost):
    """Squared Euclidean distance between the rows of ``coordinates``.

    Every Mahalanobis-like metric is of this form: ``d(x, y)² = |Ax − Ay|²``.

    Parameters
    ----------
    coordinates
        (K, any) finite numbers, one row per point.

    Raises
    ------
    InputError
        If they are not finite, or squares of their differences overflow or underflow.

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
        array = check_float_array("coordinates", self.coordinates, (None, None))
        object.__setattr__(self, "coordinates", check_coordinates("coordinates", array))

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the squared distances of shape (rows, cols).

        They are computed from differences, so that equal rows cost exactly 0.

        >>> cost.between(np.array([0]), np.array([1, 2])).tolist()
        [[25.0, 1.0]]
        """
        from scipy.spatial.distance import cdist

        return cdist(self.coordinates[rows], self.coordinates[cols], "sqeuclidean")

    def at(self, points: IntArray) -> Embedding:
        """Return the embedding of some points, in the given order."""
        return Embedding(self.coordinates[points])

    @property
    def size(self) -> int:
        """The number of points."""
        return len(self.coordinates)

    @property
    def points(self) -> FloatArray:
        """The coordinates."""
        return self.coordinates

    def perturb(self, eta: float, size: int, rng: np.random.Generator) -> Embedding:  # noqa: ARG002
        """Return the points after a random linear map.

        It changes squared lengths by at most the share ``eta``; ``size`` is ignored.

        >>> other = cost.perturb(0.1, 3, np.random.default_rng(0))
        >>> ratio = other.between([0], [1, 2]) / cost.between([0], [1, 2])
        >>> bool(abs(ratio - 1).max() <= 0.1)
        True
        """
        columns = self.coordinates.shape[1]
        turn = np.linalg.qr(rng.normal(size=(columns, columns)))[0]
        # a symmetric map with eigenvalues √(1 ± η): every squared length changes by a factor within
        # 1 ± η
        factors = np.sqrt(1 + eta * rng.uniform(-1, 1, columns))
        return Embedding(self.coordinates @ np.asarray((turn * factors) @ turn.T))


def check_coordinates(name: str, array: FloatArray) -> FloatArray:
    """Return coordinates if all their squared distances are valid costs."""
    check_finite(name, array)
    size = np.abs(array)
    # two points can lie on either side of 0
    span = 2 * float(size.max(initial=0.0))
    if span > (MAX_COST / max(1, array.shape[-1])) ** 0.5:
        msg = f"{param(name)} must make squared distances of at most {MAX_COST:g}, got {span / 2:g}"
        raise InputError(msg)
    min_gap = MIN_COST**0.5
    # larger numbers are equal or farther apart than that
    if np.any((size > 0) & (size < min_gap / np.finfo(float).eps)):
        gaps = np.diff(np.sort(array.reshape(len(array), -1), axis=0), axis=0)
        close = gaps[(gaps > 0) & (gaps < min_gap)]
        if len(close):
            msg = (
                f"{param(name)} must be equal or make squared distances of at least "
                f"{MIN_COST:g}, got numbers that are {close[0]:g} apart"
            )
            raise InputError(msg)
    return array


@dataclass(frozen=True)
class ZeroCost(Cost):
    """Every move inside a block is free, as in the paper's COMPAS metric."""

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return zeros."""
        return np.zeros((len(rows), len(cols)))

    def at(self, points: IntArray) -> ZeroCost:  # noqa: ARG002
        """Return the same cost."""
        return self

    @property
    def allows_all(self) -> bool:
        """True: every move is free."""
        return True

    @property
    def charges(self) -> bool:
        """False: no move has a cost."""
        return False


@dataclass(frozen=True, eq=False)
class WithinTolerance(Cost):
    """Moves are free between points that are close in every coordinate, else forbidden.

    Closeness is not transitive: of three people in a row the first and the last may not be
    comparable. So this is a cost, and not a block.
    """

    values: FloatArray
    limits: FloatArray

    def __post_init__(self) -> None:
        values = check_finite("values", check_float_array("values", self.values, (None, None)))
        limits = check_float_array("limits", self.limits, (values.shape[1],))
        object.__setattr__(self, "values", values)
        # 0.4 and 0.3 must count as 0.1 apart in spite of rounding
        slack = 4 * np.finfo(float).eps * np.abs(values).max(axis=0, initial=0)
        object.__setattr__(self, "limits", limits + slack)

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return 0 for close pairs, infinity for the others."""
        part = np.zeros((len(rows), len(cols)))
        for values, limit in zip(self.values.T, self.limits, strict=True):
            part[np.abs(values[rows][:, None] - values[cols][None, :]) > limit] = np.inf
        return part

    def at(self, points: IntArray) -> WithinTolerance:
        """Return the cost of some points."""
        return WithinTolerance(self.values[points], self.limits)

    @property
    def size(self) -> int:
        """The number of points."""
        return len(self.values)

    @property
    def charges(self) -> bool:
        """False: moves are free or forbidden."""
        return False


def is_sparse(value: object) -> bool:
    """Return whether a value is a sparse matrix."""
    # without importing scipy.sparse
    return hasattr(value, "tocsr") and not isinstance(value, np.ndarray)


def float_csr(name: str, value: Any) -> csr_array[np.float64]:
    """Return a sparse matrix as compressed rows of floats whose indices lie inside its shape."""
    from scipy.sparse import csr_array

    if not is_real(np.asarray(value.data)):
        msg = f"{param(name)} must be numeric, got a sparse matrix of type {value.dtype}"
        raise InputError(msg)
    try:
        matrix: Any = csr_array(value, dtype=np.float64)
        if matrix.ndim == 2:  # noqa: PLR2004
            # indices outside of the shape would crash compiled loops
            matrix.check_format(full_check=True)
    except (ValueError, IndexError) as error:
        msg = f"{param(name)} must be a well-formed sparse matrix: {' '.join(str(error).split())}"
        raise InputError(msg) from None
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix  # type: ignore[no-any-return]


def check_costs(values: FloatArray, name: str) -> None:
    """Check that costs are >= 0 and neither overflow nor underflow in products.

    Slopes are quotients and hulls compare products of two costs and a loss: within these limits
    none of them overflows or underflows to 0.
    """
    flat = values.ravel()
    if not all(
        _are_good(flat[start : start + MAX_COSTS_PER_CHECK])
        for start in range(0, len(flat), MAX_COSTS_PER_CHECK)
    ):
        _raise_bad_costs(values, name)


def _are_good(costs: FloatArray) -> bool:
    fit = costs >= MIN_COST
    fit &= costs <= MAX_COST
    if fit.all():
        return True
    others = costs[~fit]
    return bool(np.all((others == 0) | (others == np.inf)))


def _raise_bad_costs(values: FloatArray, name: str) -> None:
    bad = values[np.isnan(values) | (values < 0)]
    if len(bad):
        msg = f"{param(name)} must be >= 0 (infinity forbids a move), got {bad[0]:g}"
        raise InputError(msg)
    odd = (values > 0) & (values < MIN_COST) | (values > MAX_COST) & (values < np.inf)
    if odd.any():
        msg = (
            f"{param(name)} must be 0, infinity or between {MIN_COST:g} and {MAX_COST:g}, "
            f"got {values[odd][0]:g}"
        )
        raise InputError(msg)
