"""One group-by: the distinct rows of a table, coded, with how often each occurs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fairtransport.checks import IntArray, cut
from fairtransport.errors import DataError
from fairtransport.space.binning import Bins, bin_names
from fairtransport.space.columns import CodedColumn, object_array
from fairtransport.space.row_numbers import row_numbers

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

MOST_PEOPLE = 2**53
"""More people are refused, in a row and in all: counts are added up as floats, up to here exactly.

NaN is refused with them, also by engines to which it is the largest number.
"""


@dataclass(frozen=True, eq=False)
class Counted:
    """Distinct rows: their columns and counts (all > 0)."""

    columns: dict[str, CodedColumn]
    counts: IntArray


class Source(Protocol):
    """Where rows come from."""

    @property
    def columns(self) -> list[str]:
        """The column names."""
        ...

    @property
    def library(self) -> str:
        """The data frame library of its frames."""
        ...

    def attach(self, name: str, values: Any, parameter: str) -> Source:
        """Return the source with a further column, given row by row in ``parameter``."""
        ...

    def count(self, names: Sequence[str], bins: Bins, counts: str | None) -> Counted:
        """Return the distinct rows over ``names``."""
        ...


def merge_rows(columns: dict[str, CodedColumn], counts: IntArray) -> tuple[Counted, IntArray]:
    """Add up the counts of equal rows, and say where each row went."""
    inverse = row_numbers([column.codes for column in columns.values()])
    first = np.unique(inverse, return_index=True)[1]
    total = np.bincount(inverse, counts).astype(np.int64)
    return Counted({name: column.take(first) for name, column in columns.items()}, total), inverse


def helper_columns(names: Sequence[str]) -> tuple[str, str]:
    """Return two names that no column has."""
    return free_column(names, "c"), free_column(names, "b")


def free_column(names: Sequence[str], letter: str) -> str:
    """Return a name that no column has, in whatever case: SQL does not tell cases apart."""
    return letter * (max(map(len, names), default=0) + 1)


def check_types(
    kinds: Mapping[str, object], numeric: Container[str], nested: Container[str],
    names: Sequence[str], bins: Bins, counts: str | None,
) -> None:  # fmt: skip
    """Refuse columns that nobody can be told apart by, and bins or counts that are no numbers."""
    for name in names:
        if name in nested:
            kind = cut(str(kinds[name]))
            msg = f"the column {name!r} must hold single values, but it is {kind}"
            raise DataError(msg)
    for name in bins:
        if name not in numeric:
            msg = f"`bins[{name!r}]` needs a numeric column, but {name!r} is {kinds[name]}"
            raise DataError(msg)
    if counts is not None and counts not in numeric:
        msg = f"the counts in {counts!r} must be whole numbers >= 0, but it is {kinds[counts]}"
        raise DataError(msg)


def checked_counts(
    columns: dict[str, CodedColumn], counts: Any, bad: Any, bins: Bins, name: str | None
) -> Counted:
    """Return what a group-by counted, if the counts can be used; bins in their order."""
    wrong = int(np.asarray(bad).sum())
    if wrong:
        msg = f"the counts in {name!r} must be whole numbers >= 0; {wrong} rows break this"
        raise DataError(msg)
    if not len(counts):
        msg = "the audit data must have at least one row, got none"
        raise DataError(msg)
    total = float(np.sum(counts))
    if total > MOST_PEOPLE:
        msg = f"the counts in {name!r} must be at most {MOST_PEOPLE:,} in all, got {total:g}"
        raise DataError(msg)
    for key, edges in bins.items():
        columns[key] = columns[key].with_levels(object_array(bin_names(edges)))
    return Counted(columns, np.asarray(counts, dtype=np.int64))
