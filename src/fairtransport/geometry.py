"""Which points are comparable (blocks) and what a move costs inside a block; arrays only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from fairtransport.checks import BoolArray, FloatArray, IntArray, finite, float_array, shown
from fairtransport.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Cost(Protocol):
    """What a move costs, before blocks and forbidden moves are laid over it."""

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the (rows, cols) array of costs; infinity forbids a move."""
        ...


@dataclass(frozen=True)
class ZeroCost:
    """Every move inside a block is free: the paper's COMPAS metric."""

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return zeros."""
        return np.zeros((len(rows), len(cols)))


@dataclass(frozen=True, eq=False)
class Embedding:
    """Squared Euclidean distance between the rows of ``coordinates``.

    Every Mahalanobis-like metric is of this form: d(x, y)² = |Ax − Ay|².
    """

    coordinates: FloatArray

    def __post_init__(self) -> None:
        array = float_array("coordinates", self.coordinates, (None, None))
        object.__setattr__(self, "coordinates", finite("coordinates", array))

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return Σ_d (x_id − x_jd)², from the differences, so that equal rows cost exactly 0."""
        from scipy.spatial.distance import cdist

        return cdist(self.coordinates[rows], self.coordinates[cols], "sqeuclidean")


@dataclass(frozen=True, eq=False)
class WithinTolerance:
    """Moves are free between points that are close in every coordinate, else forbidden.

    Attributes
    ----------
    values, limits
        (K, columns) coordinates, and how far apart they may be in each.
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
        """Return 0 for close pairs, infinity for the others."""
        part = np.zeros((len(rows), len(cols)))
        for values, limit in zip(self.values.T, self.limits, strict=True):
            part[np.abs(values[rows][:, None] - values[cols][None, :]) > limit] = np.inf
        return part


@dataclass(frozen=True, eq=False)
class Precomputed:
    """Costs handed in: dense with infinity, or sparse, where an absent entry is forbidden.

    In a sparse matrix an explicit 0 is a free move. Staying put is always free.
    """

    matrix: FloatArray | csr_array[Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", _checked_costs(self.matrix))

    @property
    def is_sparse(self) -> bool:
        """Whether absent entries stand for forbidden moves."""
        return not isinstance(self.matrix, np.ndarray)

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the part of the matrix, absent entries as infinity."""
        if isinstance(self.matrix, np.ndarray):
            return self.matrix[np.ix_(rows, cols)]
        part = np.full((len(rows), self.matrix.shape[1]), np.inf)
        for at, row in enumerate(rows):
            entries = slice(self.matrix.indptr[row], self.matrix.indptr[row + 1])
            part[at, self.matrix.indices[entries]] = self.matrix.data[entries]
        return part[:, cols]


CostCallable: TypeAlias = Callable[[IntArray, IntArray], FloatArray]


@dataclass(frozen=True, eq=False)
class CostFunction:
    """Costs from a callable ``function(rows, cols)`` that returns a (rows, cols) array."""

    function: CostCallable

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the callable's answer, checked."""
        name = "costs(rows, cols)"
        part = float_array(name, self.function(rows, cols), (len(rows), len(cols)))
        _refuse_bad_costs(part, name)
        return part


@dataclass(frozen=True, eq=False)
class Geometry:
    """Which of K points are comparable, and at what cost.

    Attributes
    ----------
    blocks
        (K,) block numbers; mass moves only inside a block.
    cost
        What a move costs there (squared distances, as in the paper).
    forbidden
        Further forbidden moves, the paper's D: a (K, K) boolean array or sparse matrix.
    targets
        (K,) whether mass may arrive at a point; None: everywhere.
    profiles
        (K, columns) integer codes of the points' columns. Among equally good targets the
        one that changes the fewest columns is taken.
    """

    blocks: IntArray
    cost: Cost = field(default_factory=ZeroCost)
    forbidden: BoolArray | csr_array[Any] | None = None
    targets: BoolArray | None = None
    profiles: IntArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", _whole_numbers("blocks", self.blocks, (None,)))
        size = len(self.blocks)
        if self.targets is not None:
            object.__setattr__(self, "targets", _mask("targets", self.targets, (size,)))
        if self.profiles is not None:
            codes = _whole_numbers("profiles", self.profiles, (size, None))
            object.__setattr__(self, "profiles", codes)
        if isinstance(self.cost, Embedding | Precomputed):
            content = (
                self.cost.coordinates if isinstance(self.cost, Embedding) else self.cost.matrix
            )
            if content.shape[0] != size:
                msg = f"`cost` must be over the {size} points of `blocks`, got {content.shape[0]}"
                raise InputError(msg)
        if self.forbidden is not None:
            object.__setattr__(self, "forbidden", _checked_forbidden(self.forbidden, size))

    @property
    def size(self) -> int:
        """The number of points, K."""
        return len(self.blocks)

    @property
    def is_free(self) -> bool:
        """Whether all moves inside a block are allowed and cost nothing."""
        return isinstance(self.cost, ZeroCost) and self.forbidden is None

    @cached_property
    def members(self) -> list[IntArray]:
        """The points of each block, in order."""
        order = np.argsort(self.blocks, kind="stable")
        cuts = np.flatnonzero(np.diff(self.blocks[order])) + 1
        return [part.astype(np.int64) for part in np.split(order, cuts)] if self.size else []

    def targets_in(self, points: IntArray) -> IntArray:
        """Return those of ``points`` that mass may arrive at."""
        return points if self.targets is None else points[self.targets[points]]

    def costs(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return what moves from ``rows`` to ``cols`` cost, everything laid over."""
        part = np.array(self.cost.between(rows, cols), dtype=np.float64)
        part[self._apart(rows, cols)] = np.inf
        if self.forbidden is not None:
            part[_dense_rows(self.forbidden, rows)[:, cols]] = np.inf
        if self.targets is not None:
            part[:, ~self.targets[cols]] = np.inf
        stays = np.nonzero(np.isin(rows, cols))[0]
        order = np.argsort(cols, kind="stable")
        part[stays, order[np.searchsorted(cols, rows[stays], sorter=order)]] = 0.0
        return part

    def _apart(self, rows: IntArray, cols: IntArray) -> Any:
        """Return an index of the pairs in different blocks; an empty one inside a block."""
        here, there = self.blocks[rows], self.blocks[cols]
        if (
            len(cols) == 0
            or len(rows) == 0
            or (np.all(here == here[0]) and np.all(there == here[0]))
        ):
            return slice(0)
        return here[:, None] != there[None, :]


def as_geometry(costs: Any, size: int, forbidden: Any = None) -> Geometry:
    """Return the geometry that ``AuditProblem``'s ``costs`` and ``forbidden`` describe."""
    if isinstance(costs, Geometry):
        geometry = costs
        if forbidden is not None:
            both = _union(geometry.forbidden, _checked_forbidden(forbidden, size))
            geometry = Geometry(
                geometry.blocks, geometry.cost, both, geometry.targets, geometry.profiles
            )
    elif callable(costs):
        geometry = Geometry(np.zeros(size, np.int64), CostFunction(costs), forbidden)
    else:
        matrix = Precomputed(costs)
        geometry = Geometry(np.zeros(matrix.matrix.shape[0], np.int64), matrix, forbidden)
    if geometry.size != size:
        msg = f"`costs` must be over the {size} points of `losses`, got {geometry.size}"
        raise InputError(msg)
    return geometry


def _is_sparse(value: Any) -> bool:
    # scipy.sparse is imported only by those who hold such a matrix already
    return hasattr(value, "tocsr") and not isinstance(value, np.ndarray)


def _checked_costs(value: Any) -> FloatArray | csr_array[Any]:
    if _is_sparse(value):
        from scipy.sparse import csr_array

        matrix: Any = csr_array(value, dtype=np.float64)
        _refuse_bad_costs(matrix.data, "costs")
        square, diagonal = matrix.shape, matrix.diagonal()
    else:
        matrix = float_array("costs", value, (None, None))
        _refuse_bad_costs(matrix, "costs")
        square, diagonal = matrix.shape, np.diagonal(matrix)
    if square[0] != square[1]:
        msg = f"`costs` must be square, got shape {tuple(square)}"
        raise InputError(msg)
    if np.any(diagonal != 0):
        at = int(np.flatnonzero(diagonal)[0])
        msg = f"`costs` must be 0 on the diagonal, got {diagonal[at]:g} at [{at}, {at}]"
        raise InputError(msg)
    return matrix  # type: ignore[no-any-return]


def _refuse_bad_costs(values: FloatArray, name: str) -> None:
    bad = values[np.isnan(values) | (values < 0)]
    if len(bad):
        msg = f"`{name}` must be >= 0 (infinity forbids a move), got {bad[0]:g}"
        raise InputError(msg)


def _checked_forbidden(value: Any, size: int) -> BoolArray | csr_array[Any]:
    if _is_sparse(value):
        from scipy.sparse import csr_array

        mask: Any = csr_array(value).astype(bool)
        mask.eliminate_zeros()
    else:
        return _mask("forbidden", value, (size, size))
    if mask.shape != (size, size):
        msg = f"`forbidden` must have shape ({size}, {size}), got {tuple(mask.shape)}"
        raise InputError(msg)
    return mask  # type: ignore[no-any-return]


def _mask(name: str, value: Any, shape: tuple[int, ...]) -> BoolArray:
    array = np.asarray(value)
    if array.shape != shape:
        msg = f"`{name}` must have shape {shape}, got {array.shape}"
        raise InputError(msg)
    if array.dtype != bool and not np.isin(array, (0, 1)).all():
        odd = array[~np.isin(array, (0, 1))].tolist()[0]
        msg = f"`{name}` must hold only 0 and 1, got {shown(odd)}"
        raise InputError(msg)
    return array.astype(bool)


def _whole_numbers(name: str, value: Any, shape: tuple[int | None, ...]) -> IntArray:
    array = float_array(name, value, shape)
    odd = array[array != np.rint(array)]
    if len(odd):
        msg = f"`{name}` must be whole numbers, got {odd[0]:g}"
        raise InputError(msg)
    # from what was given: a float does not hold every whole number
    return np.asarray(value).astype(np.int64)


def _dense_rows(mask: BoolArray | csr_array[Any], rows: IntArray) -> BoolArray:
    part = mask[rows]
    return part if isinstance(part, np.ndarray) else part.toarray()


def _union(first: Any, second: Any) -> Any:
    if first is None:
        return second
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        dense = [
            part if isinstance(part, np.ndarray) else part.toarray() for part in (first, second)
        ]
        return dense[0] | dense[1]
    return (first + second).astype(bool)
