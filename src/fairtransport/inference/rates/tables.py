"""People who are alike in the audited columns, counted by block, group and loss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from fairtransport.checks import finite, float_array, is_real, refuse_masked, shape_of, shown
from fairtransport.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from fairtransport.checks import BoolArray, FloatArray, IntArray

Columns: TypeAlias = "ArrayLike | Sequence[ArrayLike]"
"""One column, or several that count together."""

MOST_PEOPLE = 10**9 - 1
"""People that a cell can hold: numpy draws hypergeometrically from no more."""


@dataclass(frozen=True, eq=False)
class RateTable:
    """Counts of people by block, group and loss.

    Attributes
    ----------
    cell, value, count
        The entries, sorted: block · ``groups`` + group, a loss between 0 and 1, and how many
        people of the cell have it.
    strata
        The stratum of each block, as the outcome: effects of groups are alike inside it.
    groups
        The number of groups.
    low, width
        The losses as they were are ``low + width * value``.

    Examples
    --------
    >>> import numpy as np
    >>> import fairtransport as ft
    >>> table = ft.inference.rate_table(["a", "a", "b"], ["f", "m", "f"], [1, 0, 1])
    >>> table.groups, table.n
    (2, 3)
    """

    cell: IntArray
    value: FloatArray
    count: IntArray
    strata: IntArray
    groups: int
    low: float = 0.0
    width: float = 1.0

    @property
    def blocks(self) -> int:
        """The number of blocks.

        Returns
        -------
        int

        Examples
        --------
        >>> table.blocks
        2
        """
        return len(self.strata)

    @property
    def cells(self) -> int:
        """The number of cells, empty ones too.

        Returns
        -------
        int

        Examples
        --------
        >>> table.cells
        4
        """
        return self.blocks * self.groups

    @cached_property
    def n(self) -> int:
        """The number of people.

        Returns
        -------
        int

        Examples
        --------
        >>> table.n
        3
        """
        return int(self.count.sum())

    @cached_property
    def people(self) -> IntArray:
        """(blocks, groups) people in each cell.

        Returns
        -------
        ndarray of int

        Examples
        --------
        >>> table.people.tolist()
        [[1, 1], [1, 0]]
        """
        return self.added(self.count).astype(np.int64)

    @cached_property
    def losses(self) -> FloatArray:
        """(blocks, groups) the sum of the losses of each cell.

        Returns
        -------
        ndarray of float

        Examples
        --------
        >>> table.losses.tolist()
        [[1.0, 0.0], [1.0, 0.0]]
        """
        return self.added(self.count * self.value)

    @cached_property
    def start(self) -> IntArray:
        """Where the entries of each cell begin and end.

        Returns
        -------
        ndarray of int

        Examples
        --------
        >>> table.start.tolist()
        [0, 1, 2, 3, 3]
        """
        return np.searchsorted(self.cell, np.arange(self.cells + 1))

    @property
    def shared(self) -> BoolArray:
        """The blocks in which people of two groups or more are.

        Returns
        -------
        ndarray of bool

        Examples
        --------
        >>> table.shared.tolist()
        [True, False]
        """
        return np.asarray((self.people > 0).sum(axis=1) > 1)

    @property
    def comparable_share(self) -> float:
        """The share of the people who are in such a block.

        Returns
        -------
        float

        Examples
        --------
        >>> round(table.comparable_share, 3)
        0.667
        """
        return float(self.people[self.shared].sum() / self.n)

    def added(self, entries: NDArray[np.number]) -> FloatArray:
        """Return (blocks, groups) what the entries of each cell add up to.

        Parameters
        ----------
        entries
            One number an entry, as ``table.count``.

        Returns
        -------
        ndarray of float
            Their sums.

        Examples
        --------
        >>> table.added(table.count).tolist()
        [[1.0, 1.0], [1.0, 0.0]]
        """
        sums = np.bincount(self.cell, entries.astype(float), minlength=self.cells).astype(float)
        return sums.reshape(self.blocks, self.groups)


def rate_table(
    blocks: Columns,
    groups: Columns,
    losses: ArrayLike,
    *,
    counts: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    loss_range: tuple[float, float] = (0.0, 1.0),
) -> RateTable:
    """Count people by block, group and loss.

    Parameters
    ----------
    blocks
        The columns that people are alike in, one or several; the outcome too, if the loss needs
        it, and sensitive features that are held fixed.
    groups
        The sensitive feature, or several whose combinations are the groups.
    losses
        The loss of each row.
    counts
        How many people each row stands for; one if left out.
    strata
        A column, as the outcome, inside which a group's disadvantage is thought to have one
        sign. It only guides the bets. Each block must lie in one stratum.
    loss_range
        The least and the largest loss there can be, known before the data.

    Returns
    -------
    RateTable
        What `RateLaw` is about.

    Raises
    ------
    InputError
        If columns differ in length, losses leave the range, or a block lies in two strata.

    Examples
    --------
    >>> import fairtransport as ft
    >>> table = ft.inference.rate_table(["a", "a", "b"], ["f", "m", "f"], [1, 0, 1])
    >>> table.people.tolist()
    [[1, 1], [1, 0]]
    """
    given = float_array("losses", losses, (None,))
    length = len(given)
    if length == 0:
        msg = "`losses` must have one row or more, got none"
        raise InputError(msg)
    low, high = _range(loss_range)
    finite("losses", given)
    if given.min() < low or given.max() > high:
        worst = given.min() if given.min() < low else given.max()
        msg = f"`losses` must lie in `loss_range`, {low:g} to {high:g}, got {worst:g}"
        raise InputError(msg)
    number = _counts(counts, length)
    block, group = _codes("blocks", blocks, length), _codes("groups", groups, length)
    stratum = np.zeros(length, np.int64) if strata is None else _codes("strata", strata, length)
    kept = number > 0
    number, given = number[kept], given[kept]
    if not len(number):
        msg = "`counts` must have a number above 0, got none"
        raise InputError(msg)
    block, group, stratum = (
        np.unique(codes[kept], return_inverse=True)[1] for codes in (block, group, stratum)
    )
    of_block = np.zeros(block.max() + 1, np.int64)
    of_block[block] = stratum
    if (of_block[block] != stratum).any():
        msg = "`strata` must have one value in each block, got two in one; add it to `blocks`"
        raise InputError(msg)
    many = int(group.max()) + 1
    values, place = np.unique((given - low) / (high - low), return_inverse=True)
    key, row = np.unique((block * many + group) * len(values) + place, return_inverse=True)
    count = np.zeros(len(key), np.int64)
    np.add.at(count, row, number)
    table = RateTable(
        key // len(values), values[key % len(values)], count, of_block, many, low, high - low
    )
    if table.people.max() > MOST_PEOPLE:
        msg = f"`counts` must add up to less than 10**9 in a cell, got {table.people.max()}"
        raise InputError(msg)
    return table


def _range(given: object) -> tuple[float, float]:
    """Return the two ends of a range of losses.

    Parameters
    ----------
    given
        What a caller passed for it.

    Raises
    ------
    InputError
        If it is not two finite numbers, the smaller first.
    """
    try:
        low, high = (float(end) for end in given)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        low, high = 0.0, -1.0
    if not (np.isfinite([low, high]).all() and low < high):
        msg = f"`loss_range` must be two finite numbers, the smaller first, got {shown(given)}"
        raise InputError(msg)
    return low, high


def _counts(counts: ArrayLike | None, length: int) -> IntArray:
    """Return how many people each row stands for, one each if not told.

    Parameters
    ----------
    counts
        Whole numbers of at least 0.
    length
        How many there must be.

    Raises
    ------
    InputError
        If they are not such numbers.

    Examples
    --------
    >>> _counts([2, 1], 2).tolist(), _counts(None, 2).tolist()
    ([2, 1], [1, 1])
    """
    if counts is None:
        return np.ones(length, np.int64)
    number = finite("counts", float_array("counts", counts, (length,)), nonnegative=True)
    if (number % 1).any():
        msg = f"`counts` must be whole numbers, got {number[number % 1 > 0][0]:g}"
        raise InputError(msg)
    return number.astype(np.int64)


def _codes(name: str, columns: Columns, length: int) -> IntArray:
    """Return numbers of the distinct values of a column, or of the distinct rows of several.

    Parameters
    ----------
    name
        The parameter, for messages.
    columns
        One column, or several that count together.
    length
        How many values each must have.

    Returns
    -------
    ndarray
        (length,) codes 0, 1, …; rows with equal values in all columns share one.

    Raises
    ------
    InputError
        If a length is wrong or a value is missing.

    Examples
    --------
    >>> _codes("blocks", [["a", "a", "b"], [1, 2, 1]], 3).tolist()
    [0, 1, 2]
    """
    code = np.zeros(length, np.int64)
    for part in as_list(name, columns, length):
        refuse_masked(name, part)
        column = np.asarray(part)
        if column.shape != (length,):
            msg = f"`{name}` must have a value for each of {length} losses, got {shape_of(part)}"
            raise InputError(msg)
        if column.dtype == object and not is_real(column):
            column = column.astype(str)
        if column.dtype.kind == "f" and np.isnan(column).any():
            msg = f"`{name}` must not have missing values, got NaN"
            raise InputError(msg)
        levels, own = np.unique(column, return_inverse=True)
        code = np.unique(code * len(levels) + own, return_inverse=True)[1]
    return code


def as_list(name: str, columns: Columns, length: int) -> list[ArrayLike]:
    """Return the columns as a list: one column may stand for itself.

    Parameters
    ----------
    name
        The parameter, for messages.
    columns
        A column, or a list or tuple of them.
    length
        A list with so many plain values is one column, not many.

    Raises
    ------
    InputError
        If the list is empty.

    Examples
    --------
    >>> as_list("blocks", ["a", "b"], 2)
    [['a', 'b']]
    >>> as_list("blocks", [["a", "b"], [1, 2]], 2)
    [['a', 'b'], [1, 2]]
    """
    if not isinstance(columns, list | tuple) or shape_of(columns) == (length,):
        return [cast("ArrayLike", columns)]
    if not columns:
        msg = f"`{name}` must have a column, got none"
        raise InputError(msg)
    return list(columns)
