"""A file of rows as a source of points: DuckDB reads it and counts it out of core."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.checks import shown
from fairtransport.errors import DataError, InputError
from fairtransport.filesystem import is_file
from fairtransport.memory import for_duckdb
from fairtransport.space.binning import Bins, bin_sql
from fairtransport.space.columns import CodedColumn, encode, object_array
from fairtransport.space.counting import (
    MOST_PEOPLE,
    Counted,
    Source,
    check_types,
    checked_counts,
    helper_columns,
)
from fairtransport.space.kinds import with_truth_values
from fairtransport.space.sample_space import native_frame
from fairtransport.space.single_values import is_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import narwhals as nw

# without partitions: a folder called race=a is no column
# without BOOLEAN: DuckDB would read a column of yes and no, or of nothing but F, as truth values
_DETECTION = (
    "sample_size = -1, header = true, "
    "auto_type_candidates = ['NULL', 'BIGINT', 'DOUBLE', 'TIME', 'DATE', 'TIMESTAMP', 'VARCHAR']"
)
_READ_TEXT = f"read_csv(?, hive_partitioning = false, {_DETECTION})"
_READ_LINES = "read_json(?, hive_partitioning = false, format = 'newline_delimited')"
READERS = {
    ".csv": _READ_TEXT,
    ".tsv": _READ_TEXT,
    ".parquet": "read_parquet(?, hive_partitioning = false)",
    ".json": "read_json(?, hive_partitioning = false)",
    ".jsonl": _READ_LINES,
    ".ndjson": _READ_LINES,
}


NUMERIC = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
    "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL",
)  # fmt: skip
CSV_REASONS = (
    "Maximum line size", "Invalid unicode", "Expected Number of Columns",
    "Value with unterminated quote",
)  # fmt: skip
"""How DuckDB begins to say what is wrong with a line."""
NESTED = ("STRUCT", "MAP", "UNION")
"""How DuckDB's names of such types begin; lists end with a bracket."""


@dataclass(frozen=True, eq=False)
class FileSource:
    """A file, counted by DuckDB without reading it into memory."""

    path: Path
    parameter: str = "X"

    def __post_init__(self) -> None:
        suffix = self.path.suffix.lower()
        if suffix not in READERS:
            msg = (
                f"`{self.parameter}` must be a file of type {', '.join(READERS)}, "
                f"got {shown(str(self.path), 200)}"
            )
            raise InputError(msg)
        if not is_file(self.path):
            msg = f"`{self.parameter}` must be an existing file, got {shown(str(self.path), 200)}"
            raise InputError(msg)
        if self.path.stat().st_size == 0:
            msg = f"the file {self.path.name!r} is empty"
            raise DataError(msg)
        if not is_text(self.location):
            msg = f"`{self.parameter}` must have a path of UTF-8 text, got {str(self.path)!r}"
            raise InputError(msg)

    @property
    def location(self) -> str:
        """The file as DuckDB finds it and no other, whatever its name looks like.

        The whole path, as ``~`` or ``file:`` at its beginning would be more than a name; signs of
        a pattern between brackets, where each stands for itself.
        """
        return re.sub(r"[*?[]", r"[\g<0>]", os.path.realpath(self.path))

    @property
    def library(self) -> str:
        """Tables from files are pandas frames."""
        return "pandas"

    @property
    def columns(self) -> list[str]:
        """The file's column names."""
        return list(self.schema)

    def attach(self, name: str, values: Any, parameter: str) -> Source:  # noqa: ARG002
        """Refuse: rows of a file have no array beside them."""
        msg = f"`{parameter}` must be a column's name when the data is a file, got {shown(values)}"
        raise InputError(msg)

    def count(self, names: Sequence[str], bins: Bins, counts: str | None) -> Counted:
        """Count by one SQL group-by."""
        kinds = self.schema
        numeric = {name for name, kind in kinds.items() if kind.startswith(NUMERIC)}
        check_types(kinds, numeric, self._nested, names, bins, counts)
        keys = ", ".join(f"{_sql_key(name, bins, kinds[name])} AS {quoted(name)}" for name in names)
        weight, usable = "1", "true"
        if counts is not None:
            weight = quoted(counts)
            # comparing with NaN is not enough: statistics in a Parquet file leave it out
            is_whole = f"{weight} BETWEEN 0 AND {MOST_PEOPLE} AND {weight} = round({weight})"
            usable = f"NOT isnan({weight}::DOUBLE) AND {is_whole}"
        weight = f"CASE WHEN {usable} THEN {weight} ELSE 0 END"
        wrong = f"CASE WHEN {usable} THEN 0 ELSE 1 END"
        count, bad = helper_columns(names)
        table = self.fetch(
            f"SELECT {keys}, sum(({weight})::DOUBLE) AS {count}, sum({wrong})::BIGINT AS {bad} "  # noqa: S608
            f"FROM {self.reader} GROUP BY ALL HAVING {count} > 0 OR {bad} > 0"
        )
        columns = {name: self._coded(table[name]) for name in names}
        return checked_counts(columns, table[count], table[bad], bins, counts)

    def table(self) -> nw.DataFrame[Any]:
        """Return all rows in their order, with the values that `count` finds."""
        import narwhals as nw

        fetched = self.fetch(f"SELECT * FROM {self.reader}")  # noqa: S608
        single = {name: values for name, values in fetched.items() if name not in self._nested}
        frame = native_frame(
            {name: self._coded(values) for name, values in single.items()}, self.library
        )
        for name in self._nested:  # to be refused by those who look at it
            frame[name] = object_array(list(fetched[name]))
        return nw.from_native(frame[list(fetched)], eager_only=True)

    def _coded(self, values: Any) -> CodedColumn:
        column = encode_fetched(values)
        return with_truth_values(column) if self._is_text else column

    @property
    def _nested(self) -> set[str]:
        """The columns of values that hold others."""
        kinds = self.schema.items()
        return {name for name, kind in kinds if kind.startswith(NESTED) or kind.endswith("]")}

    @property
    def _is_text(self) -> bool:
        return READERS[self.path.suffix.lower()] is _READ_TEXT

    @cached_property
    def reader(self) -> str:
        """How DuckDB reads the file; what a text file looks like is found out once."""
        import duckdb

        reader = READERS[self.path.suffix.lower()]
        if not self._is_text:
            return reader
        try:
            with duckdb.connect(config=for_duckdb()) as connection:
                found = connection.execute(
                    "SELECT Delimiter, Quote, Escape, NewLineDelimiter, Comment, SkipRows, "  # noqa: S608
                    f"Columns, DateFormat, TimestampFormat FROM sniff_csv(?, {_DETECTION})",
                    [self.location],
                ).fetchone()
        except duckdb.Error:
            return reader  # which says what is wrong when it is read
        return reader if found is None else _reader_of(*found)

    @cached_property
    def schema(self) -> dict[str, str]:
        """The type of each column; a text file is read to its end to find out."""
        described = self.fetch(f"DESCRIBE SELECT * FROM {self.reader}")  # noqa: S608
        pairs = zip(described["column_name"], described["column_type"], strict=True)
        return {str(name): str(kind) for name, kind in pairs}

    def fetch(self, query: str) -> dict[str, Any]:
        """Return the columns that a query gives, in which a question mark is the file."""
        import duckdb

        try:
            with duckdb.connect(config=for_duckdb()) as connection:
                result = connection.execute(query, [self.location])
                return dict(result.fetchnumpy())
        except duckdb.Error as error:
            raise self.unreadable(error) from error

    def unreadable(self, error: Exception) -> DataError:
        """Return what DuckDB complains of, with the path as it was given."""
        lines = [line for line in str(error).splitlines() if line.strip()]
        # what is wrong with a line comes after the line itself
        told = [line for line in lines[1:] if line.startswith(CSV_REASONS)]
        reason = "; ".join(lines[:1] + told[:1])
        for name in (self.location, os.path.realpath(self.path)):
            reason = reason.replace(name, str(self.path))
        return DataError(f"the file {self.path.name!r} could not be read: {reason}")


def _reader_of(
    delimiter: str, quote: str, escape: str, new_line: str, comment: str, skipped: int,
    columns: list[dict[str, str]], date: str | None, timestamp: str | None,
) -> str:  # fmt: skip
    """Return how to read a text file of which DuckDB has found out everything."""
    kinds = ", ".join(f"{_literal(one['name'])}: {_literal(one['type'])}" for one in columns)
    options = {"delim": delimiter, "quote": quote, "escape": escape, "new_line": new_line,
               "comment": comment, "dateformat": date, "timestampformat": timestamp}  # fmt: skip
    chosen = "".join(
        f", {name} = {_literal('' if value == '(empty)' else value)}"
        for name, value in options.items()
        if value is not None
    )
    return (
        f"read_csv(?, hive_partitioning = false, auto_detect = false, header = true, "
        f"skip = {skipped}, columns = {{{kinds}}}{chosen})"
    )


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """Return a column's name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _sql_key(name: str, bins: Bins, kind: str) -> str:
    column = quoted(name)
    if name in bins:
        return bin_sql(column, bins[name])
    is_float = kind in {"FLOAT", "DOUBLE"}
    return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END" if is_float else column


def encode_fetched(values: Any) -> CodedColumn:
    """Return a column that DuckDB handed over, coded."""
    mask = np.ma.getmaskarray(values)
    array = np.ma.getdata(values)
    if array.dtype.kind == "f":
        mask = mask | np.isnan(array)
    elif array.dtype.kind not in "biu":
        # bytes come as arrays of them, which cannot be told apart
        listed = [bytes(one) if isinstance(one, bytearray) else one for one in array.tolist()]
        array = object_array(listed)
        mask = mask | np.array([value is None for value in array.tolist()], bool)
    return encode(array, mask)
