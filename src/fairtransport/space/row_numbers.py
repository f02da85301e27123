"""Numbers of rows of codes: equal exactly where the rows are, in the order of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.checks import IntArray

LARGEST_KEY = 2**62


def row_numbers(columns: Sequence[IntArray]) -> IntArray:
    """Return what sorting whole rows would give each as its place among the distinct ones.

    Parameters
    ----------
    columns
        At least one column of whole numbers, all of one length.

    Notes
    -----
    Columns are folded into one key, as digits of a number are. Where the next digit would leave 62
    bits, the key so far is replaced by its places among its distinct values: order is kept, and no
    row is ever sorted as a row.

    Examples
    --------
    >>> row_numbers([np.array([1, 0, 1, 0]), np.array([-1, 5, 2, 5])]).tolist()
    [1, 0, 2, 0]
    """
    key, size = _from_zero(columns[0])
    for column in columns[1:]:
        part, values = _from_zero(column)
        if size * values > LARGEST_KEY:
            key, size = _places(key)
        if size * values > LARGEST_KEY:
            part, values = _places(part)
        key, size = key * values + part, size * values
    return _places(key)[0]


def _from_zero(column: IntArray) -> tuple[IntArray, int]:
    """Return whole numbers moved so that the least is 0, and what none of them reaches.

    Parameters
    ----------
    column
        Of any range; one that is too wide is replaced by places.

    Examples
    --------
    >>> moved, size = _from_zero(np.array([5, 7]))
    >>> moved.tolist(), size
    ([0, 2], 3)
    """
    if not len(column):
        return column.astype(np.int64), 1
    least = int(column.min())
    size = int(column.max()) - least + 1
    return (column.astype(np.int64) - least, size) if size <= LARGEST_KEY else _places(column)


def _places(key: IntArray) -> tuple[IntArray, int]:
    """Return each number's place among the distinct ones, and how many these are.

    Examples
    --------
    >>> places, many = _places(np.array([9, 4, 9]))
    >>> places.tolist(), many
    ([1, 0, 1], 2)
    """
    distinct, place = np.unique(key, return_inverse=True)
    return place.reshape(-1).astype(np.int64), max(1, len(distinct))
