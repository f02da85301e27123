"""A table that was counted once, as a source that several audits count over fewer columns."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import shown
from fairtransport.errors import DataError, InputError
from fairtransport.space.binning import Bins, bin_names, bin_values
from fairtransport.space.columns import MISSING, CodedColumn, object_array
from fairtransport.space.counting import Counted, Source, merge_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.checks import BoolArray
    from fairtransport.space.columns import Value


@dataclass(frozen=True, eq=False)
class CountedSource:
    """Distinct rows with how often each occurs.

    Attributes
    ----------
    columns
        The columns of the table that was counted, in its order.
    library
        The data frame library of that table.
    rows
        The distinct rows over some of the columns.
    bins
        The edges of columns that were cut when they were counted.
    weight
        The column of counts that rows were weighted by, if there was one.
    """

    columns: list[str]
    library: str
    rows: Counted
    bins: Bins
    weight: str | None = None

    @classmethod
    def of(
        cls, source: Source, names: Sequence[str], bins: Bins, weight: str | None
    ) -> CountedSource:
        """Count a source over everything that several audits will look at."""
        return cls(source.columns, source.library, source.count(names, bins, weight), bins, weight)

    def attach(self, name: str, values: object, parameter: str) -> Source:  # noqa: ARG002
        """Refuse: what was counted has no rows any more."""
        msg = f"`{parameter}` must be a column's name where several audits share one counting"
        raise InputError(msg)

    def count(self, names: Sequence[str], bins: Bins, counts: str | None) -> Counted:
        """Return the distinct rows over fewer columns, with the counts of those they stand for."""
        if counts != self.weight:
            msg = f"`counts` must be the same column for all audits, got {shown(counts)}"
            raise InputError(msg)
        columns = {name: self._column(name, bins) for name in names}
        return merge_rows(columns, self.rows.counts)[0]

    def where(self, wanted: object) -> CountedSource:
        """Return the rows whose columns have certain values, as in ``{"site": ["a", "b"]}``."""
        if not isinstance(wanted, Mapping) or not wanted:
            msg = f"`where` must map columns to values, as in {{'site': 'a'}}, got {shown(wanted)}"
            raise InputError(msg)
        there = np.ones(len(self.rows.counts), bool)
        for name, values in wanted.items():
            there &= self._has(name, values)
        if not there.any():
            msg = f"`where` must leave at least one case, got none for {shown(dict(wanted))}"
            raise DataError(msg)
        kept = {
            # bins are levels whether anybody is in them or not
            name: column.take(there) if name in self.bins else _used(column.take(there))
            for name, column in self.rows.columns.items()
        }
        return replace(self, rows=Counted(kept, self.rows.counts[there]))

    def _has(self, name: str, values: object) -> BoolArray:
        """Say which rows have one of some values in a column."""
        listed = list(values) if isinstance(values, list | tuple | set) else [values]
        column = self.rows.columns[name]
        place: dict[Value, int] = {value: at for at, value in enumerate(column.levels.tolist())}
        place |= {None: MISSING} if column.has_missing else {}
        for value in listed:
            if not isinstance(value, Hashable) or value not in place:
                known = shown(list(place))
                msg = f"`where[{name!r}]` must be values of that column ({known}), got "
                raise InputError(msg + shown(value))
        return np.isin(column.codes, [place[value] for value in listed])

    def _column(self, name: str, bins: Bins) -> CodedColumn:
        column = self.rows.columns[name]
        if name not in bins or name in self.bins:
            return column
        order = bin_names(bins[name])
        named = bin_values(name, column.levels.tolist(), bins[name])
        place = np.array([*(order.index(str(one)) for one in named), MISSING], np.int64)
        return CodedColumn(object_array(order), place[column.codes])


def _used(column: CodedColumn) -> CodedColumn:
    """Return a column without the levels that no row has any more: a slice has its own twins."""
    there = column.codes[column.codes != MISSING]
    used = np.unique(there)
    place = np.full(len(column.levels) + 1, MISSING, np.int64)
    place[used] = np.arange(len(used))
    return CodedColumn(column.levels[used], place[column.codes], column.categories)
