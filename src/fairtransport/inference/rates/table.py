"""Similar people, who agree in the audited columns, counted by block, group and loss."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from fairtransport._core.validation import (
    check_finite,
    check_float_array,
    check_unmasked,
    is_real,
    shape_of,
    short_repr,
)
from fairtransport.errors import InputError, param

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from fairtransport._core.validation import BoolArray, FloatArray, IntArray

Columns: TypeAlias = "ArrayLike | Sequence[ArrayLike]"
"""One column, or several that count together."""

MAX_DENSE_RANGE = 8
"""Maximum ratio of range to number at which integers are ranked without sorting."""
MAX_CELL_PEOPLE = 10**9 - 1
"""Maximum number of people of a cell, a limit of numpy's hypergeometric draws."""


@dataclass(frozen=True, eq=False)
class RateTable:
    """Counts of people by block, group and loss.

    Attributes
    ----------
    cell, value, count
        The entries, sorted: block · ``groups`` + group, a loss between 0 and 1, and the number of
        people of the cell with it.
    strata
        The stratum of each block, such as the outcome: effects of groups are similar inside it.
    groups
        The number of groups.
    low, width
        The original losses are ``low + width * value``.

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
        """The number of blocks."""
        return len(self.strata)

    @property
    def cells(self) -> int:
        """The number of cells, empty ones too."""
        return self.blocks * self.groups

    @cached_property
    def n(self) -> int:
        """The number of people."""
        return int(self.count.sum())

    @cached_property
    def people(self) -> IntArray:
        """(blocks, groups) people in each cell."""
        return self.sum_by_cell(self.count).astype(np.int64)

    @cached_property
    def losses(self) -> FloatArray:
        """(blocks, groups) the sum of the losses of each cell."""
        return self.sum_by_cell(self.count * self.value)

    @cached_property
    def start(self) -> IntArray:
        """Start and end of the entries of each cell."""
        return np.searchsorted(self.cell, np.arange(self.cells + 1))

    @property
    def shared(self) -> BoolArray:
        """The blocks in which people of two groups or more are."""
        return np.asarray((self.people > 0).sum(axis=1) > 1)

    @property
    def comparable_share(self) -> float:
        """Share of the people in such blocks."""
        return float(self.people[self.shared].sum() / self.n)

    def select(self, blocks: BoolArray) -> RateTable:
        """Return the table of some blocks."""
        places = np.cumsum(blocks) - 1
        block, group = np.divmod(self.cell, self.groups)
        keep = blocks[block]
        return replace(
            self, cell=places[block[keep]] * self.groups + group[keep], value=self.value[keep],
            count=self.count[keep], strata=self.strata[blocks],
        )  # fmt: skip

    def sum_by_cell(self, entries: NDArray[np.number]) -> FloatArray:
        """Return (blocks, groups) the sums of one number per entry, such as ``table.count``."""
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
        One or more columns in which similar people agree; with the outcome, if the loss needs it,
        and with other sensitive features to be held fixed.
    groups
        The sensitive feature, or a list of several whose combinations are the groups.
    losses
        The loss of each row.
    counts
        Number of people of each row; default: 1.
    strata
        A column, such as the outcome, inside which a group's disadvantage is expected to have one
        sign. It only guides the bets. Each block must lie in one stratum.
    loss_range
        The smallest and the largest possible loss, known before the data.

    Returns
    -------
    RateTable
        The input of `RateLaw`.

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
    return count_entries(blocks, groups, losses, counts, strata, loss_range)[0]


def count_entries(
    blocks: Columns, groups: Columns, losses: ArrayLike, counts: ArrayLike | None,
    strata: ArrayLike | None, loss_range: tuple[float, float],
) -> tuple[RateTable, IntArray]:  # fmt: skip
    """Return the table, and the entry of each row; -1 for rows without people."""
    values = check_float_array("losses", losses, (None,))
    length = len(values)
    if length == 0:
        msg = f"{param('losses')} must have one row or more, got none"
        raise InputError(msg)
    low, high = _check_range(loss_range)
    check_finite("losses", values)
    if values.min() < low or values.max() > high:
        worst = values.min() if values.min() < low else values.max()
        msg = (
            f"{param('losses')} must lie in {param('loss_range')}, {low:g} to {high:g}, got "
            f"{worst:g}"
        )
        raise InputError(msg)
    number = _check_counts(counts, length)
    block, group = (
        _encode_columns("blocks", blocks, length),
        _encode_columns("groups", groups, length),
    )
    stratum = (
        np.zeros(length, np.int64) if strata is None else _encode_columns("strata", strata, length)
    )
    occupied = number > 0
    number, values = number[occupied], values[occupied]
    entry = np.full(length, -1)
    if not len(number):
        msg = f"{param('counts')} must have a number above 0, got none"
        raise InputError(msg)
    block, group, stratum = (rank_distinct(codes[occupied])[1] for codes in (block, group, stratum))
    of_block = np.zeros(block.max() + 1, np.int64)
    of_block[block] = stratum
    if (of_block[block] != stratum).any():
        msg = (
            f"{param('strata')} must have one value in each block, got two in one; add it to "
            f"{param('blocks')}"
        )
        raise InputError(msg)
    n_groups = int(group.max()) + 1
    levels, place = np.unique((values - low) / (high - low), return_inverse=True)
    key, row = rank_distinct((block * n_groups + group) * len(levels) + place)
    count = np.zeros(len(key), np.int64)
    np.add.at(count, row, number)
    entry[occupied] = row
    table = RateTable(
        key // len(levels), levels[key % len(levels)], count, of_block, n_groups, low, high - low
    )
    if table.people.max() > MAX_CELL_PEOPLE:
        msg = (
            f"{param('counts')} must add up to less than 10**9 in a cell, got {table.people.max()}"
        )
        raise InputError(msg)
    return table, entry


def _check_range(loss_range: object) -> tuple[float, float]:
    """Return the two ends of a range of losses."""
    try:
        low, high = (float(end) for end in loss_range)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        low, high = 0.0, -1.0
    if not (np.isfinite([low, high]).all() and low < high):
        msg = (
            f"{param('loss_range')} must be two finite numbers, the smaller first, got "
            f"{short_repr(loss_range)}"
        )
        raise InputError(msg)
    return low, high


def _check_counts(counts: ArrayLike | None, length: int) -> IntArray:
    """Return the number of people of each row; 1 by default."""
    if counts is None:
        return np.ones(length, np.int64)
    number = check_finite(
        "counts", check_float_array("counts", counts, (length,)), nonnegative=True
    )
    if (number % 1).any():
        msg = f"{param('counts')} must be whole numbers, got {number[number % 1 > 0][0]:g}"
        raise InputError(msg)
    return number.astype(np.int64)


def _encode_columns(name: str, columns: Columns, length: int) -> IntArray:
    """Return numbers of the distinct values of a column, or of the distinct rows of several."""
    code = np.zeros(length, np.int64)
    for part in as_list(name, columns, length):
        check_unmasked(name, part)
        column = np.asarray(part)
        if column.shape != (length,):
            msg = (
                f"{param(name)} must have a value for each of {length} losses, got {shape_of(part)}"
            )
            raise InputError(msg)
        if column.dtype == object and not is_real(column):
            column = column.astype(str)
        if column.dtype.kind == "f" and np.isnan(column).any():
            msg = f"{param(name)} must not have missing values, got NaN"
            raise InputError(msg)
        levels, own = rank_distinct(column)
        code = rank_distinct(code * len(levels) + own)[1]
    return code


def rank_distinct(values: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    """Return the distinct values in order, and the rank of each; dense integers are not sorted."""
    is_dense = (
        values.dtype.kind in "iu"
        and len(values) > 0
        and values.min() >= 0
        and values.max() < MAX_DENSE_RANGE * len(values)
    )
    if not is_dense:
        return np.unique(values, return_inverse=True)
    present = np.zeros(int(values.max()) + 1, bool)
    present[values] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[values]


def as_list(name: str, columns: Columns, length: int) -> list[ArrayLike]:
    """Return the columns as a list; a single column may be given without one."""
    if not isinstance(columns, list | tuple) or shape_of(columns) == (length,):
        return [cast("ArrayLike", columns)]
    if not columns:
        msg = f"{param(name)} must have a column, got none"
        raise InputError(msg)
    return list(columns)
