"""What is in a file, for people who are to say what its columns mean; and its single rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.checks import whole
from fairtransport.errors import InputError
from fairtransport.space.database import quoted
from fairtransport.space.file_source import NUMERIC
from fairtransport.space.grouping import encode_fetched

if TYPE_CHECKING:
    from fairtransport.space.columns import Value
    from fairtransport.space.file_source import FileSource

LOOKED_AT = 1000
"""So many rows are looked at for values to show."""
EXAMPLES = 6


@dataclass(frozen=True)
class ColumnOverview:
    """One column of a file.

    Attributes
    ----------
    name
        Its name.
    numeric
        Whether it holds numbers.
    distinct
        About how many different values it has.
    missing
        How many of its values are missing.
    examples
        Some of its values, as text.
    """

    name: str
    numeric: bool
    distinct: int
    missing: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class FileOverview:
    """The columns of a file and how many rows it has."""

    rows: int
    columns: tuple[ColumnOverview, ...]


def overview_of(source: FileSource) -> FileOverview:
    """Look at a file: DuckDB reads it, out of core."""
    names = source.columns
    counted = ", ".join(
        f"approx_count_distinct({quoted(name)}), count(*) - count({quoted(name)})" for name in names
    )
    row = source.fetch(f"SELECT {counted}, count(*) FROM {source.relation.rows}")  # noqa: S608
    figures = [int(np.asarray(values)[0]) for values in row.values()]
    some = source.fetch(f"SELECT * FROM {source.relation.rows} LIMIT {LOOKED_AT}")  # noqa: S608
    columns = tuple(
        ColumnOverview(
            name,
            source.schema[name].startswith(NUMERIC),
            min(figures[2 * at], figures[-1]),
            figures[2 * at + 1],
            _examples(some[name]),
        )
        for at, name in enumerate(names)
    )
    return FileOverview(figures[-1], columns)


def _examples(values: Any) -> tuple[str, ...]:
    shown = np.ma.getdata(values)[~np.ma.getmaskarray(values)].tolist()
    return tuple(dict.fromkeys(map(str, shown)))[:EXAMPLES]


def people_in(source: FileSource, counts: str | None) -> int:
    """Return about how many cases a file holds: its rows, or the sum of a column of counts."""
    summed = "count(*)" if counts is None else f"sum(try_cast({quoted(counts)} AS DOUBLE))"
    found = source.fetch(f"SELECT {summed} AS people FROM {source.relation.rows}")  # noqa: S608
    return round(float(np.ma.filled(found["people"], 0)[0]))


def row_of(source: FileSource, number: int, rows: int) -> dict[str, Value]:
    """Return one row of a file, the first being number 1; missing values are None."""
    if not 1 <= whole("row", number) <= rows:
        msg = f"`row` must be a whole number from 1 to {rows}, got {number}"
        raise InputError(msg)
    found = source.fetch(
        f"SELECT * FROM {source.relation.rows} LIMIT 1 OFFSET {number - 1}"  # noqa: S608
    )
    return {name: encode_fetched(values).at(0) for name, values in found.items()}
