"""Which points are comparable (blocks) and what a move costs inside a block; arrays only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from fairtransport.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    calling,
    finite,
    float_array,
    is_real,
    refuse_masked,
    shape_of,
    shown,
)
from fairtransport.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LARGEST_COST = 1e200
SMALLEST_COST = 1e-200
"""Costs other than 0 and infinity lie between these: products with losses stay exact numbers."""
LARGEST_LOSS = 1e100


class Cost(Protocol):
    """What a move costs, before blocks and forbidden moves are laid over it."""

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the (rows, cols) array of costs; infinity forbids a move."""
        ...

    def at(self, points: IntArray) -> Cost:
        """Return the costs between some of the points, numbered anew."""
        ...


@dataclass(frozen=True)
class ZeroCost:
    """Every move inside a block is free: the paper's COMPAS metric."""

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return zeros."""
        return np.zeros((len(rows), len(cols)))

    def at(self, points: IntArray) -> ZeroCost:  # noqa: ARG002
        """Return the same: it is free everywhere."""
        return self


@dataclass(frozen=True, eq=False)
class Embedding:
    """Squared Euclidean distance between the rows of ``coordinates``.

    Every Mahalanobis-like metric is of this form: d(x, y)² = |Ax − Ay|².
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

    def at(self, points: IntArray) -> WithinTolerance:
        """Return the rule for some of the points."""
        return WithinTolerance(self.values[points], self.limits)


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

    def at(self, points: IntArray) -> Precomputed:
        """Return the part of the matrix that is about some of the points."""
        return Precomputed(self.matrix[points][:, points])


CostCallable: TypeAlias = Callable[[IntArray, IntArray], FloatArray]


@dataclass(frozen=True, eq=False)
class CostFunction:
    """Costs from a callable ``function(rows, cols)`` that returns a (rows, cols) array."""

    function: CostCallable

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the callable's answer, checked."""
        name = "costs(rows, cols)"
        with calling(name):
            given = self.function(rows, cols)
        part = float_array(name, given, (len(rows), len(cols)))
        _refuse_bad_costs(part, name)
        return part

    def at(self, points: IntArray) -> CostFunction:
        """Return the callable for some of the points."""
        return CostFunction(lambda rows, cols: self.function(points[rows], points[cols]))


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
        if not hasattr(self.cost, "between"):
            msg = f"`cost` must be an Embedding or another cost, got {shown(self.cost)}"
            raise InputError(msg)
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

    def at(self, points: IntArray) -> Geometry:
        """Return what holds among some of the points, numbered anew."""
        return Geometry(
            self.blocks[points],
            self.cost.at(points),
            None if self.forbidden is None else self.forbidden[points][:, points],
            None if self.targets is None else self.targets[points],
            None if self.profiles is None else self.profiles[points],
        )

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


def float_csr(name: str, value: Any) -> csr_array[Any]:
    """Return a sparse matrix as compressed rows of floats whose indices lie inside its shape."""
    from scipy.sparse import csr_array

    if not is_real(np.asarray(value.data)):
        msg = f"`{name}` must be numeric, got a sparse matrix of type {value.dtype}"
        raise InputError(msg)
    try:
        matrix: Any = csr_array(value, dtype=np.float64)
        if matrix.ndim == 2:  # noqa: PLR2004
            # a matrix put together by hand may point outside of itself, where compiled loops go
            matrix.check_format(full_check=True)
    except (ValueError, IndexError) as error:
        msg = f"`{name}` must be a well-formed sparse matrix: {' '.join(str(error).split())}"
        raise InputError(msg) from None
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix  # type: ignore[no-any-return]


def _checked_costs(value: Any) -> FloatArray | csr_array[Any]:
    if _is_sparse(value):
        matrix: Any = float_csr("costs", value)
        if matrix.ndim != 2:  # noqa: PLR2004
            msg = f"`costs` must be square, got shape {tuple(matrix.shape)}"
            raise InputError(msg)
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


def check_coordinates(name: str, array: FloatArray) -> FloatArray:
    """Return coordinates if all their squared distances are costs that can be computed with."""
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


def _refuse_bad_costs(values: FloatArray, name: str) -> None:
    bad = values[np.isnan(values) | (values < 0)]
    if len(bad):
        msg = f"`{name}` must be >= 0 (infinity forbids a move), got {bad[0]:g}"
        raise InputError(msg)
    odd = (values > 0) & (values < SMALLEST_COST) | (values > LARGEST_COST) & (values < np.inf)
    if odd.any():
        msg = (
            f"`{name}` must be 0, infinity or between {SMALLEST_COST:g} and {LARGEST_COST:g}, "
            f"got {values[odd][0]:g}"
        )
        raise InputError(msg)


def _checked_forbidden(value: Any, size: int) -> BoolArray | csr_array[Any]:
    if _is_sparse(value):
        entries = float_csr("forbidden", value)
        _mask("forbidden", entries.data, entries.data.shape)
        mask: Any = entries.astype(bool)
        mask.eliminate_zeros()
    else:
        return _mask("forbidden", value, (size, size))
    if mask.shape != (size, size):
        msg = f"`forbidden` must have shape ({size}, {size}), got {tuple(mask.shape)}"
        raise InputError(msg)
    return mask  # type: ignore[no-any-return]


def _mask(name: str, value: Any, shape: tuple[int, ...]) -> BoolArray:
    refuse_masked(name, value)
    if (got := shape_of(value)) != shape:
        msg = f"`{name}` must have shape {shape}, got {got}"
        raise InputError(msg)
    array = np.asarray(value)
    if array.dtype != bool and not np.isin(array, (0, 1)).all():
        odd = array[~np.isin(array, (0, 1))].tolist()[0]
        msg = f"`{name}` must hold only 0 and 1, got {shown(odd)}"
        raise InputError(msg)
    return array.astype(bool)


def _whole_numbers(name: str, value: Any, shape: tuple[int | None, ...]) -> IntArray:
    array = float_array(name, value, shape)
    odd = array[(array != np.rint(array)) | (np.abs(array) >= 2**63)]
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
