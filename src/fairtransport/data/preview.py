"""Preview of a data file: its columns, number of people and single rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport._core.validation import check_integer
from fairtransport.data.database import encode_fetched, quote_name
from fairtransport.data.files import NUMERIC_KINDS
from fairtransport.errors import InputError, param

if TYPE_CHECKING:
    from fairtransport.data.columns import Value
    from fairtransport.data.files import FileSource

PREVIEW_ROWS = 1000
"""Number of rows from which examples of values are taken."""
MAX_EXAMPLES = 6


@dataclass(frozen=True)
class ColumnPreview:
    """Type, counts and examples of a column."""

    name: str
    numeric: bool
    distinct: int
    missing: int
    examples: tuple[str, ...]
    is_boolean: bool = False
    total: float = 0.0
    """Sum of a column of numbers."""


@dataclass(frozen=True)
class FilePreview:
    """Number of rows and columns of a file."""

    rows: int
    columns: tuple[ColumnPreview, ...]

    def count_people(self, counts: str | None) -> int:
        """Return the number of people: the rows, or the sum of a column of counts."""
        totals = {column.name: column.total for column in self.columns}
        people = self.rows if counts is None else totals[counts]
        return round(people) if math.isfinite(people) else self.rows


def preview_file(source: FileSource) -> FilePreview:
    """Return an overview of a file's columns."""
    kinds = {name: source.schema[name] for name in source.columns}
    numeric = {name: kind.startswith(NUMERIC_KINDS) for name, kind in kinds.items()}
    aggregates = ", ".join(
        f"approx_count_distinct({column}) AS distinct_{at}, "
        f"count(*) - count({column}) AS missing_{at}, {total} AS total_{at}"
        for at, (column, total) in enumerate(
            (quote_name(name), f"sum({quote_name(name)}::DOUBLE)" if is_number else "0")
            for name, is_number in numeric.items()
        )
    )
    row = source.fetch(f"SELECT {aggregates}, count(*) FROM {source.relation.rows}")  # noqa: S608
    figures = [float(np.ma.filled(values, 0)[0]) for values in row.values()]
    some = source.fetch(f"SELECT * FROM {source.relation.rows} LIMIT {PREVIEW_ROWS}")  # noqa: S608
    rows = int(figures[-1])
    columns = tuple(
        ColumnPreview(
            name, numeric[name], min(int(distinct), rows), int(missing), _examples(some[name]),
            is_boolean=kinds[name] == "BOOLEAN", total=total,
        )
        for name, distinct, missing, total in zip(
            kinds, figures[:-1:3], figures[1:-1:3], figures[2:-1:3], strict=True
        )
    )  # fmt: skip
    return FilePreview(rows, columns)


def _examples(values: Any) -> tuple[str, ...]:
    present = np.ma.getdata(values)[~np.ma.getmaskarray(values)].tolist()
    return tuple(dict.fromkeys(map(str, present)))[:MAX_EXAMPLES]


def fetch_row(source: FileSource, number: int, rows: int) -> dict[str, Value]:
    """Return one row of a file, numbered from 1; missing values are None."""
    if not 1 <= check_integer("row", number) <= rows:
        msg = f"{param('row')} must be a whole number from 1 to {rows}, got {number}"
        raise InputError(msg)
    arrays = source.fetch(
        f"SELECT * FROM {source.relation.rows} LIMIT 1 OFFSET {number - 1}"  # noqa: S608
    )
    return {name: encode_fetched(values).at(0) for name, values in arrays.items()}
