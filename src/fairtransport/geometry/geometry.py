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
        """The number of points, K.

        Returns
        -------
        int

        Examples
        --------
        >>> geometry.size
        4
        """
        return len(self.blocks)

    @property
    def is_free(self) -> bool:
        """Whether all moves inside a block are allowed and cost nothing.

        Returns
        -------
        bool

        Examples
        --------
        >>> geometry.is_free, ft.Geometry([0, 0, 1]).is_free
        (False, True)
        """
        return self.cost.allows_all and self.forbidden is None

    @property
    def searchable(self) -> FloatArray | None:
        """Coordinates, where squared distances are the costs of all moves inside a block.

        Returns
        -------
        FloatArray | None

        Examples
        --------
        >>> geometry.searchable.ravel().tolist()
        [0.0, 1.0, 3.0, 0.0]
        """
        return self.cost.points if self.forbidden is None else None

    @property
    def matrix(self) -> FloatArray | None:
        """A matrix of the costs of all moves inside a block, where there is one already.

        Returns
        -------
        FloatArray | None
            (K, K); not where moves are forbidden beside it.

        Examples
        --------
        >>> print(geometry.matrix)
        None
        >>> ft.AuditProblem([0.0, 1.0], [[0.0, 2.0], [2.0, 0.0]]).geometry.matrix.tolist()
        [[0.0, 2.0], [2.0, 0.0]]
        """
        return self.cost.dense if self.forbidden is None else None

    @cached_property
    def members(self) -> list[IntArray]:
        """The points of each block, in order.

        Returns
        -------
        list[IntArray]

        Examples
        --------
        >>> [block.tolist() for block in geometry.members]
        [[0, 1, 2], [3]]
        """
        order = np.argsort(self.blocks, kind="stable")
        cuts = np.flatnonzero(np.diff(self.blocks[order])) + 1
        return [part.astype(np.int64) for part in np.split(order, cuts)] if self.size else []

    def at(self, points: IntArray) -> Geometry:
        """Return what holds among some of the points, numbered anew.

        Parameters
        ----------
        points
            Their numbers.

        Returns
        -------
        Geometry
            Over these points, in the order given.

        Examples
        --------
        >>> geometry.at(np.array([3, 0])).members
        [array([1]), array([0])]
        """
        return Geometry(
            self.blocks[points],
            self.cost.at(points),
            None if self.forbidden is None else self.forbidden[points][:, points],
            None if self.targets is None else self.targets[points],
            None if self.profiles is None else self.profiles[points],
        )

    def targets_in(self, points: IntArray) -> IntArray:
        """Return those of ``points`` that mass may arrive at.

        Parameters
        ----------
        points
            Their numbers.

        Returns
        -------
        ndarray of int
            All of them where no targets were named.

        Examples
        --------
        >>> only_first = ft.Geometry([0, 0, 0], targets=[True, False, False])
        >>> only_first.targets_in(np.array([0, 2])).tolist()
        [0]
        """
        return points if self.targets is None else points[self.targets[points]]

    def costs(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return what moves from ``rows`` to ``cols`` cost, everything laid over.

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
        # to stay is always allowed and free, whatever is forbidden or no target
        stays = np.nonzero(np.isin(rows, cols))[0]
        order = np.argsort(cols, kind="stable")
        part[stays, order[np.searchsorted(cols, rows[stays], sorter=order)]] = 0.0
        return part

    def listed_moves(self) -> Moves | None:
        """Return all allowed moves where the cost lists its own, everything laid over.

        Returns
        -------
        Moves or None
            None where there are too many to be listed, as here.

        Examples
        --------
        >>> print(geometry.listed_moves())
        None
        """
        if (moves := self.cost.listed) is None:
            return None
        row, col, cost = moves
        keep = np.isfinite(cost) & (self.blocks[row] == self.blocks[col])
        if self.targets is not None:
            keep &= self.targets[col]
        if self.forbidden is not None and len(row):  # scipy takes no empty list of places
            keep &= ~np.asarray(self.forbidden[row, col]).ravel().astype(bool)
        return Moves(row[keep], col[keep], cost[keep])

    def _apart(self, rows: IntArray, cols: IntArray) -> BoolArray | slice:
        """Return an index of the pairs in different blocks; an empty one inside a block.

        Parameters
        ----------
        rows, cols
            The points that mass leaves and arrives at.

        Notes
        -----
        Solvers ask block by block, so that the comparison of all pairs is nearly always spared.
        """
        here, there = self.blocks[rows], self.blocks[cols]
        if (
            len(cols) == 0
            or len(rows) == 0
            or (np.all(here == here[0]) and np.all(there == here[0]))
        ):
            # an empty index: nothing is set, and no mask of all pairs is made
            return slice(0)
        return np.not_equal.outer(here, there).astype(np.bool_, copy=False)


def as_geometry(costs: object, size: int, forbidden: object = None) -> Geometry:
    """Return the geometry that ``AuditProblem``'s ``costs`` and ``forbidden`` describe.

    Parameters
    ----------
    costs
        A `Geometry`, a callable, or a (K, K) matrix, dense or sparse.
    size
        K, the number of losses.
    forbidden
        Further moves that are not allowed, added to those of the geometry.

    Raises
    ------
    InputError
        If sizes disagree, or an entry is not what it must be.

    Examples
    --------
    >>> as_geometry([[0.0, 2.0], [2.0, 0.0]], 2).costs(np.array([0]), np.array([0, 1])).tolist()
    [[0.0, 2.0]]
    """
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
    """Return a (K, K) mask of forbidden moves, dense or in compressed rows as it came.

    Raises
    ------
    InputError
        If its shape is wrong, or it holds something else than 0 and 1.
    """
    if is_sparse(value):
        entries = float_csr("forbidden", value)
        _mask("forbidden", entries.data, entries.data.shape)
        mask = entries.astype(np.bool_)
        # stored zeros would forbid what they allow, once only the places of entries are looked at
        mask.eliminate_zeros()
    else:
        return _mask("forbidden", value, (size, size))
    if mask.shape != (size, size):
        msg = f"`forbidden` must have shape ({size}, {size}), got {tuple(mask.shape)}"
        raise InputError(msg)
    return mask


def _mask(name: str, value: object, shape: tuple[int, ...]) -> BoolArray:
    """Return an array of truth values of a given shape.

    Parameters
    ----------
    name
        The parameter, for messages.
    value
        Truth values, or zeros and ones.
    shape
        The shape that it must have.

    Raises
    ------
    InputError
        If it has another shape or other values.

    Examples
    --------
    >>> _mask("targets", [1, 0], (2,)).tolist()
    [True, False]
    """
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
    """Return an array of whole numbers of a given shape; floats that are whole will do.

    Parameters
    ----------
    name
        The parameter, for messages.
    value
        What a caller passed.
    shape
        The shape that it must have; None for any length.

    Raises
    ------
    InputError
        If a number is not whole, or beyond 64 bits.

    Examples
    --------
    >>> _whole_numbers("blocks", [0.0, 2.0], (None,)).tolist()
    [0, 2]
    """
    array = float_array(name, value, shape)
    odd = array[(array != np.rint(array)) | (np.abs(array) >= 2**63)]
    if len(odd):
        msg = f"`{name}` must be whole numbers, got {odd[0]:g}"
        raise InputError(msg)
    # from what was given: a float does not hold every whole number
    return np.asarray(value).astype(np.int64)


def _dense_rows(mask: Mask, rows: IntArray) -> BoolArray:
    """Return some rows of a mask as a dense array."""
    return _dense(mask[rows])


def _dense(mask: Mask) -> BoolArray:
    """Return a mask as a dense array."""
    return mask if isinstance(mask, np.ndarray) else mask.toarray()


def _union(first: Mask | None, second: Mask) -> Mask:
    """Return what either of two masks forbids; sparse if both are."""
    if first is None:
        return second
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return _dense(first) | _dense(second)
    return (first + second).astype(np.bool_)
