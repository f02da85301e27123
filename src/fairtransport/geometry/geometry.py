"""Which points are comparable (blocks) and what a move costs inside a block."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from fairtransport.checks import float_array, refuse_masked, shape_of, shown
from fairtransport.errors import InputError
from fairtransport.geometry.cost import Cost, Moves
from fairtransport.geometry.cost_function import CostFunction
from fairtransport.geometry.cost_matrix import CostMatrix
from fairtransport.geometry.free_moves import ZeroCost
from fairtransport.geometry.sparse import float_csr, is_sparse

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from fairtransport.checks import BoolArray, FloatArray, IntArray

    Mask: TypeAlias = BoolArray | csr_array[np.bool_]


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
    forbidden: Mask | None = None
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
        given: object = self.cost
        if not isinstance(given, Cost):
            msg = f"`cost` must be an Embedding or another cost, got {shown(self.cost)}"
            raise InputError(msg)
        if self.cost.size not in {None, size}:
            msg = f"`cost` must be over the {size} points of `blocks`, got {self.cost.size}"
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
        return self.cost.allows_all and self.forbidden is None

    @property
    def searchable(self) -> FloatArray | None:
        """Coordinates, where squared distances are the costs of all moves inside a block."""
        return self.cost.points if self.forbidden is None else None

    @property
    def matrix(self) -> FloatArray | None:
        """A matrix of the costs of all moves inside a block, where there is one already."""
        return self.cost.dense if self.forbidden is None else None

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

    def listed_moves(self) -> Moves | None:
        """Return all allowed moves where the cost lists its own, everything laid over."""
        if (moves := self.cost.listed) is None:
            return None
        row, col, cost = moves
        keep = np.isfinite(cost) & (self.blocks[row] == self.blocks[col])
        if self.targets is not None:
            keep &= self.targets[col]
        if self.forbidden is not None:
            keep &= ~np.asarray(self.forbidden[row, col]).ravel().astype(bool)
        return Moves(row[keep], col[keep], cost[keep])

    def _apart(self, rows: IntArray, cols: IntArray) -> BoolArray | slice:
        """Return an index of the pairs in different blocks; an empty one inside a block."""
        here, there = self.blocks[rows], self.blocks[cols]
        if (
            len(cols) == 0
            or len(rows) == 0
            or (np.all(here == here[0]) and np.all(there == here[0]))
        ):
            return slice(0)
        return np.not_equal.outer(here, there).astype(np.bool_, copy=False)


def as_geometry(costs: object, size: int, forbidden: object = None) -> Geometry:
    """Return the geometry that ``AuditProblem``'s ``costs`` and ``forbidden`` describe."""
    if isinstance(costs, Geometry):
        geometry = costs
    elif callable(costs):
        geometry = Geometry(np.zeros(size, np.int64), CostFunction(costs))
    else:
        matrix = CostMatrix(cast("FloatArray", costs))  # which looks at what it is given
        geometry = Geometry(np.zeros(matrix.size, np.int64), matrix)
    if geometry.size != size:
        msg = f"`costs` must be over the {size} points of `losses`, got {geometry.size}"
        raise InputError(msg)
    if forbidden is None:
        return geometry
    both = _union(geometry.forbidden, _checked_forbidden(forbidden, size))
    return replace(geometry, forbidden=both)


def _checked_forbidden(value: object, size: int) -> Mask:
    if is_sparse(value):
        entries = float_csr("forbidden", value)
        _mask("forbidden", entries.data, entries.data.shape)
        mask = entries.astype(np.bool_)
        mask.eliminate_zeros()
    else:
        return _mask("forbidden", value, (size, size))
    if mask.shape != (size, size):
        msg = f"`forbidden` must have shape ({size}, {size}), got {tuple(mask.shape)}"
        raise InputError(msg)
    return mask


def _mask(name: str, value: object, shape: tuple[int, ...]) -> BoolArray:
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


def _whole_numbers(name: str, value: object, shape: tuple[int | None, ...]) -> IntArray:
    array = float_array(name, value, shape)
    odd = array[(array != np.rint(array)) | (np.abs(array) >= 2**63)]
    if len(odd):
        msg = f"`{name}` must be whole numbers, got {odd[0]:g}"
        raise InputError(msg)
    # from what was given: a float does not hold every whole number
    return np.asarray(value).astype(np.int64)


def _dense_rows(mask: Mask, rows: IntArray) -> BoolArray:
    return _dense(mask[rows])


def _dense(mask: Mask) -> BoolArray:
    return mask if isinstance(mask, np.ndarray) else mask.toarray()


def _union(first: Mask | None, second: Mask) -> Mask:
    if first is None:
        return second
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return _dense(first) | _dense(second)
    return (first + second).astype(np.bool_)
