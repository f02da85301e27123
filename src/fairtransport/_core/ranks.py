"""Ranks of integers and of rows of integers, without sorting where possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport._core.validation import IntArray

MAX_ROW_KEY = 2**62
MAX_DENSE_KEY = 4
"""Maximum ratio of range to number at which integers are ranked without sorting."""


def number_rows(columns: Sequence[IntArray]) -> IntArray:
    """Return the rank of each row among the distinct rows.

    Columns are combined into one key, like the digits of a number. Before the key would exceed 62
    bits it is replaced by its ranks, which keep the order. Whole rows are never sorted.
    """
    key, size = _shift_to_zero(columns[0])
    for column in columns[1:]:
        part, values = _shift_to_zero(column)
        if size * values > MAX_ROW_KEY:
            key, size = _rank_distinct(key, size)
        if size * values > MAX_ROW_KEY:
            part, values = _rank_distinct(part, values)
        key, size = key * values + part, size * values
    return _rank_distinct(key, size)[0]


def sort_rows(columns: Sequence[IntArray]) -> IntArray:
    """Return the stable lexicographic order of rows."""
    return np.argsort(number_rows(columns), kind="stable")


def find_firsts(groups: IntArray, size: int) -> IntArray:
    """Return the first point of each of ``size`` groups, numbered from 0."""
    first = np.empty(size, np.int64)
    first[groups[::-1]] = np.arange(len(groups))[::-1]
    return first


def _shift_to_zero(column: IntArray) -> tuple[IntArray, int]:
    """Return integers shifted to a minimum of 0, and an exclusive upper bound."""
    if not len(column):
        return column.astype(np.int64), 1
    least = int(column.min())
    size = int(column.max()) - least + 1
    if size > MAX_ROW_KEY:
        return _rank_distinct(column, size)
    return column.astype(np.int64) - least, size


def _rank_distinct(key: IntArray, size: int) -> tuple[IntArray, int]:
    """Return the rank of integers below ``size`` among the distinct ones, and their number."""
    if size <= MAX_DENSE_KEY * len(key):
        present = np.zeros(size, bool)
        present[key] = True
        ranks = np.cumsum(present) - 1
        return ranks[key], max(1, int(ranks[-1]) + 1)
    # a stable sort is quick on points that are wholly or partly sorted
    order = np.argsort(key, kind="stable")
    is_new = np.diff(key[order], prepend=key[order[:1]]) != 0
    ranks = np.empty(len(key), np.int64)
    ranks[order] = np.cumsum(is_new)
    return ranks, max(1, int(is_new.sum()) + 1)
