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
    """Return whole numbers moved so that the least is 0, and what none of them reaches."""
    if not len(column):
        return column.astype(np.int64), 1
    least = int(column.min())
    size = int(column.max()) - least + 1
    return (column.astype(np.int64) - least, size) if size <= LARGEST_KEY else _places(column)


def _places(key: IntArray) -> tuple[IntArray, int]:
    distinct, place = np.unique(key, return_inverse=True)
    return place.reshape(-1).astype(np.int64), max(1, len(distinct))
