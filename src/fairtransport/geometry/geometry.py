"""Geometry: blocks of comparable points, costs, targets and forbidden moves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from fairtransport._core.ranks import number_rows
from fairtransport._core.validation import (
    check_float_array,
    check_shape,
    check_unmasked,
    shape_of,
    short_repr,
)
from fairtransport.errors import InputError, param
from fairtransport.geometry.costs import (
    Cost,
    CostFunction,
    CostMatrix,
    Moves,
    ZeroCost,
    float_csr,
    is_sparse,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csr_array

    from fairtransport._core.validation import BoolArray, FloatArray, IntArray

    Mask: TypeAlias = BoolArray | csr_array[np.bool_]

MAX_PAIRS_PER_CHUNK = 2**20
"""Number of costs computed at once."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """Which of K points are comparable, and at what cost.

    Attributes
    ----------
    blocks
        (K,) block numbers; mass moves only inside a block.
    cost
        Cost of moves inside a block (squared distances, as in the paper).
    forbidden
        Further forbidden moves, the paper's D: a (K, K) boolean array or sparse matrix.
    targets
        (K,) whether mass may arrive at a point; None: everywhere.
    profiles
        (K, columns) integer codes of the points' columns. Among equally good targets the
        one that changes the fewest columns is taken.

    Raises
    ------
    InputError
        If the arrays do not fit together.

    Examples
    --------
    >>> import numpy as np
    >>> import fairtransport as ft
    >>> geometry = ft.Geometry([0, 0, 0, 1], ft.Embedding([[0.0], [1.0], [3.0], [0.0]]))
    >>> problem = ft.AuditProblem([0.0, 0.5, 1.0, 0.0], geometry, budget=1.0)
    >>> problem.value([0.5, 0.0, 0.0, 0.5])
    0.28125
    """

    blocks: IntArray
    cost: Cost = field(default_factory=ZeroCost)
    forbidden: Mask | None = None
    targets: BoolArray | None = None
    profiles: IntArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", _check_integers("blocks", self.blocks, (None,)))
        size = len(self.blocks)
        if self.targets is not None:
            object.__setattr__(self, "targets", _check_mask("targets", self.targets, (size,)))
        if self.profiles is not None:
            codes = _check_integers("profiles", self.profiles, (size, None))
            object.__setattr__(self, "profiles", codes)
        cost: object = self.cost
        if not isinstance(cost, Cost):
            msg = (
                f"{param('cost')} must be an Embedding or another cost, got {short_repr(self.cost)}"
            )
            raise InputError(msg)
        if self.cost.size not in {None, size}:
            msg = (
                f"{param('cost')} must be over the {size} points of {param('blocks')}, got "
                f"{self.cost.size}"
            )
            raise InputError(msg)
        if self.forbidden is not None:
            object.__setattr__(self, "forbidden", _check_forbidden(self.forbidden, size))

    @property
    def size(self) -> int:
        """The number of points, K."""
        return len(self.blocks)

    @property
    def is_free(self) -> bool:
        """Whether all moves inside a block are allowed and cost nothing."""
        return self.cost.allows_all and self.forbidden is None

    @property
    def searchable(self) -> FloatArray | None:
        """Coordinates, if squared distances are the costs of all moves inside a block."""
        return self.cost.points if self.forbidden is None else None

    @property
    def matrix(self) -> FloatArray | None:
        """Matrix of the costs of all moves inside a block, if there is one."""
        return self.cost.dense if self.forbidden is None else None

    @cached_property
    def members(self) -> list[IntArray]:
        """The points of each block, in order."""
        order = np.argsort(self.blocks, kind="stable")
        cuts = np.flatnonzero(np.diff(self.blocks[order])) + 1
        return [part.astype(np.int64) for part in np.split(order, cuts)] if self.size else []

    def at(self, points: IntArray) -> Geometry:
        """Return the geometry of some points, in the given order."""
        return Geometry(
            self.blocks[points],
            self.cost.at(points),
            None if self.forbidden is None else self.forbidden[points][:, points],
            None if self.targets is None else self.targets[points],
            None if self.profiles is None else self.profiles[points],
        )

    def targets_in(self, points: IntArray) -> IntArray:
        """Return those of ``points`` that mass may move to."""
        return points if self.targets is None else points[self.targets[points]]

    def costs(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the costs of moves from ``rows`` to ``cols``, with all restrictions.

        Parameters
        ----------
        rows
            The points that mass leaves.
        cols
            The points where it arrives.

        Returns
        -------
        ndarray of float
            (rows, cols); infinity forbids a move, staying is free.

        Examples
        --------
        >>> geometry.costs(np.array([0]), np.array([0, 1, 2, 3])).tolist()
        [[0.0, 1.0, 9.0, inf]]
        """
        part = np.array(self.cost.between(rows, cols), dtype=np.float64)
        part[self._apart(rows, cols)] = np.inf
        if self.forbidden is not None:
            part[_dense_rows(self.forbidden, rows)[:, cols]] = np.inf
        if self.targets is not None:
            part[:, ~self.targets[cols]] = np.inf
        # staying is always allowed and free
        stays = np.nonzero(np.isin(rows, cols))[0]
        order = np.argsort(cols, kind="stable")
        part[stays, order[np.searchsorted(cols, rows[stays], sorter=order)]] = 0.0
        return part

    def list_moves(self) -> Moves | None:
        """Return all allowed moves if the cost lists its own, otherwise None."""
        if (moves := self.cost.sparse_moves) is None:
            return None
        row, col, cost = moves
        keep = np.isfinite(cost) & (self.blocks[row] == self.blocks[col])
        if self.targets is not None:
            keep &= self.targets[col]
        if self.forbidden is not None and len(row):  # scipy rejects empty index lists
            keep &= ~np.asarray(self.forbidden[row, col]).ravel().astype(bool)
        return Moves(row[keep], col[keep], cost[keep])

    def _apart(self, rows: IntArray, cols: IntArray) -> BoolArray | slice:
        """Return an index of the pairs in different blocks; an empty one inside a block.

        Solvers work block by block, so that all pairs are rarely compared.
        """
        here, there = self.blocks[rows], self.blocks[cols]
        if (
            len(cols) == 0
            or len(rows) == 0
            or (np.all(here == here[0]) and np.all(there == here[0]))
        ):
            # an empty index avoids a mask of all pairs
            return slice(0)
        return np.not_equal.outer(here, there).astype(np.bool_, copy=False)


def as_geometry(costs: object, size: int, forbidden: object = None) -> Geometry:
    """Return the geometry that ``AuditProblem``'s ``costs`` and ``forbidden`` describe."""
    if isinstance(costs, Geometry):
        geometry = costs
    elif callable(costs):
        geometry = Geometry(np.zeros(size, np.int64), CostFunction(costs))
    else:
        matrix = CostMatrix(cast("FloatArray", costs))  # checks its argument
        geometry = Geometry(np.zeros(matrix.size, np.int64), matrix)
    if geometry.size != size:
        msg = (
            f"{param('costs')} must be over the {size} points of {param('losses')}, got "
            f"{geometry.size}"
        )
        raise InputError(msg)
    if forbidden is None:
        return geometry
    both = _union(geometry.forbidden, _check_forbidden(forbidden, size))
    return replace(geometry, forbidden=both)


def _check_forbidden(value: object, size: int) -> Mask:
    """Return a (K, K) mask of forbidden moves, dense or in compressed rows."""
    if is_sparse(value):
        entries = float_csr("forbidden", value)
        _check_mask("forbidden", entries.data, entries.data.shape)
        mask = entries.astype(np.bool_)
        # explicit zeros would forbid moves, as only positions of entries count below
        mask.eliminate_zeros()
    else:
        return _check_mask("forbidden", value, (size, size))
    if mask.shape != (size, size):
        msg = f"{param('forbidden')} must have shape ({size}, {size}), got {tuple(mask.shape)}"
        raise InputError(msg)
    return mask


def _check_mask(name: str, value: object, shape: tuple[int, ...]) -> BoolArray:
    """Return an array of bools of a given shape."""
    check_unmasked(name, value)
    if (got := shape_of(value)) != shape:
        msg = f"{param(name)} must have shape {shape}, got {got}"
        raise InputError(msg)
    array = np.asarray(value)
    if array.dtype != bool and not np.isin(array, (0, 1)).all():
        odd = array[~np.isin(array, (0, 1))].tolist()[0]
        msg = f"{param(name)} must hold only 0 and 1, got {short_repr(odd)}"
        raise InputError(msg)
    return array.astype(bool)


def _check_integers(name: str, value: object, shape: tuple[int | None, ...]) -> IntArray:
    """Return an array of integers of a given shape; integral floats are accepted."""
    if isinstance(value, np.ndarray) and value.dtype == np.int64:
        check_shape(name, value, shape)
        return value.copy()
    array = check_float_array(name, value, shape)
    odd = array[(array != np.rint(array)) | (np.abs(array) >= 2**63)]
    if len(odd):
        msg = f"{param(name)} must be whole numbers, got {odd[0]:g}"
        raise InputError(msg)
    # from the original value: floats cannot represent every integer
    return np.asarray(value).astype(np.int64)


def _dense_rows(mask: Mask, rows: IntArray) -> BoolArray:
    """Return some rows of a mask as a dense array."""
    return _dense(mask[rows])


def _dense(mask: Mask) -> BoolArray:
    """Return a mask as a dense array."""
    return mask if isinstance(mask, np.ndarray) else mask.toarray()


def _union(first: Mask | None, second: Mask) -> Mask:
    """Return the union of two masks; sparse if both are."""
    if first is None:
        return second
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return _dense(first) | _dense(second)
    return (first + second).astype(np.bool_)


def reaches_other(geometry: Geometry, kinds: IntArray, *, freely: bool = False) -> BoolArray:
    """Return for each point whether it may be moved to a point of another kind."""
    if (moves := geometry.list_moves()) is not None:
        counts = kinds[moves.row] != kinds[moves.col]
        counts &= (moves.cost == 0) | (not freely)
        return np.bincount(moves.row[counts], minlength=geometry.size) > 0
    if geometry.forbidden is None and _is_transitive(geometry):
        return _meets_other(_places(geometry, apart=freely), kinds, geometry.targets)
    result = np.zeros(geometry.size, bool)
    for points in geometry.members:
        arrivals = geometry.targets_in(points)
        for rows in _chunks(points, len(arrivals)):
            costs = geometry.costs(rows, arrivals)
            allowed = costs == 0 if freely else np.isfinite(costs)
            result[rows] = (allowed & (kinds[rows][:, None] != kinds[arrivals])).any(axis=1)
    return result


def are_all_alike(geometry: Geometry, kinds: IntArray) -> bool:
    """Return whether any point may be moved to any other of its kind for free."""
    several = False
    for kind in np.unique(kinds):
        points = np.flatnonzero(kinds == kind)
        arrivals = geometry.targets_in(points)
        several |= len(points) > 1
        # if moves are transitive, one point represents all
        rows = points[:1] if geometry.forbidden is None and _is_transitive(geometry) else points
        for some in _chunks(rows, len(arrivals)):
            if geometry.costs(some, arrivals).any():
                return False
    return several


def _is_transitive(geometry: Geometry) -> bool:
    """Return whether all points of a block can reach each other, freely if they coincide."""
    return geometry.cost.allows_all or geometry.cost.points is not None


def _places(geometry: Geometry, *, apart: bool) -> IntArray:
    """Return a number for each block or, with ``apart``, for each distinct point in a block."""
    blocks = geometry.blocks
    if not apart or geometry.cost.points is None:
        return number_rows([blocks])
    keys = np.column_stack([blocks[:, None], geometry.cost.points])
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)


def _meets_other(places: IntArray, kinds: IntArray, targets: BoolArray | None) -> BoolArray:
    """Return for each point whether its place has a target of another kind.

    There is none exactly if the smallest and the largest kind of the targets equal one's own.
    """
    arrive = slice(None) if targets is None else targets
    size = int(places.max(initial=-1)) + 1
    first, last = np.full(size, np.iinfo(np.int64).max), np.full(size, -1)
    np.minimum.at(first, places[arrive], kinds[arrive])
    np.maximum.at(last, places[arrive], kinds[arrive])
    first, last = first[places], last[places]
    return np.asarray((last >= 0) & ((first != kinds) | (last != kinds)))


def _chunks(points: IntArray, width: int) -> Iterator[IntArray]:
    """Return chunks of points whose costs to ``width`` others fit into memory."""
    step = max(1, MAX_PAIRS_PER_CHUNK // max(1, width))
    return (points[start : start + step] for start in range(0, len(points), step))
