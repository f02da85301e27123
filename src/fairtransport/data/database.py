"""DuckDB: connection, quoting, and the group-by that counts the distinct rows of a source."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Protocol
from weakref import finalize

import numpy as np

from fairtransport._core.ranks import find_firsts, number_rows
from fairtransport._core.validation import IntArray, short_repr, shorten
from fairtransport.data.columns import (
    MISSING,
    Bins,
    CodedColumn,
    bin_names,
    bin_sql,
    bin_values,
    encode,
    object_array,
)
from fairtransport.errors import DataError, InputError, param

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    import pandas as pd

    from fairtransport._core.validation import BoolArray
    from fairtransport.data.columns import Value


FLOATS = ("FLOAT", "DOUBLE")


class Database:
    """An in-memory DuckDB database that spills to a temporary folder and reads only named files."""

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self.paths = tuple(paths)
        self.folder = Path(mkdtemp(prefix="fairtransport-"))
        self._remove_folder = finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    @cached_property
    def _connection(self) -> Any:
        import duckdb

        # its own folder, as databases spill into files of the same names
        connection = duckdb.connect(
            config={
                "temp_directory": str(self.folder / "spilled"),
                "autoinstall_known_extensions": False,
            }
        )
        files = [os.path.realpath(path) for path in self.paths]
        names = dict.fromkeys([*files, *map(duckdb_path, self.paths)])
        connection.execute(f"SET allowed_paths = {quote_texts(names)}")
        connection.execute(f"SET allowed_directories = {quote_texts([str(self.folder)])}")
        connection.execute("SET enable_external_access = false")
        return connection

    def close(self) -> None:
        """Close the connection with its threads, and remove the folder."""
        if "_connection" in vars(self):
            self._connection.close()
        self._remove_folder()

    def run(self, statement: str) -> Any:
        """Run a statement and return its open result."""
        # its own cursor, as connections are not thread-safe
        return self._connection.cursor().execute(statement)

    def columns(self, query: str) -> dict[str, Any]:
        """Return the result of a query, one array per column."""
        return dict(self.run(query).fetchnumpy())

    def kinds(self, query: str) -> dict[str, str]:
        """Return the type of each column of a query."""
        return {str(row[0]): str(row[1]) for row in self.run(f"DESCRIBE {query}").fetchall()}

    def size(self, table: str) -> int:
        """Return the number of rows of a table."""
        return int(self.run(f"SELECT count(*) FROM {table}").fetchall()[0][0])  # noqa: S608

    def as_parquet(self, table: pd.DataFrame) -> bytes:
        """Return a table as the bytes of a Parquet file."""
        import duckdb

        place = self.folder / "table.parquet"
        cursor = self._connection.cursor()
        cursor.register("written", table)
        try:
            cursor.table("written").write_parquet(str(place))
        except duckdb.IOException as error:
            reason = str(error).splitlines()[0]
            msg = f"a Parquet file could not be made in {str(self.folder.parent)!r}: {reason}"
            raise DataError(msg) from error
        return place.read_bytes()


@dataclass(frozen=True)
class Relation:
    """A table in SQL: all rows, and the table to count with its column of multiplicities.

    ``texts`` returns the table in which a column holds the words of a text file.
    """

    rows: str
    count_table: str
    times: str | None = None
    texts: Callable[[str], str] | None = None


def duckdb_path(path: Path) -> str:
    """Return the absolute path of a file, with wildcards escaped for DuckDB."""
    return re.sub(r"[*?[]", r"[\g<0>]", os.path.realpath(path))


def quote_text(text: str) -> str:
    """Return text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def quote_texts(texts: Iterable[str]) -> str:
    """Return texts as an SQL list."""
    return f"[{', '.join(map(quote_text, texts))}]"


def quote_name(name: str) -> str:
    """Return a column name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def count_points(
    database: Database, relation: Relation, kinds: Mapping[str, str], names: Sequence[str],
    bins: Bins, counts: str | None,
) -> RowCounts:  # fmt: skip
    """Count the distinct rows over ``names``."""
    keys = ", ".join(
        f"{_key_expression(name, bins, kinds[name])} AS {quote_name(name)}" for name in names
    )
    count, bad = helper_columns(names)
    people, wrong = _count_expressions(relation.times, counts)
    database.run(
        f"CREATE OR REPLACE TABLE points AS SELECT {keys}, {people} AS {count}, "  # noqa: S608
        f"{wrong} AS {bad} FROM {relation.count_table} GROUP BY ALL HAVING {count} > 0 OR {bad} > 0"
    )
    texts = [name for name in names if name in bins or kinds[name] == "VARCHAR"]
    levels = {name: _create_levels(database, name, at) for at, name in enumerate(texts)}
    codes = (
        f"enum_code({quote_name(name)}::levels_{texts.index(name)}) AS {quote_name(name)}"
        if name in levels
        else quote_name(name)
        for name in names
    )
    arrays = database.columns(f"SELECT {', '.join([*codes, count, bad])} FROM points")  # noqa: S608
    columns = {
        name: _column_of_codes(levels[name], arrays[name])
        if name in levels
        else encode_fetched(arrays[name])
        for name in names
    }
    return check_counts(columns, arrays[count], arrays[bad], bins, counts)


def _key_expression(name: str, bins: Bins, kind: str) -> str:
    if name in bins:
        return bin_sql(quote_name(name), bins[name])
    column = quote_name(name)
    return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END" if kind in FLOATS else column


def _count_expressions(times: str | None, counts: str | None) -> tuple[str, str]:
    """Return the SQL expressions of a point's count and of its number of invalid rows."""
    if counts is None:
        return "count(*)" if times is None else f"sum({times})::BIGINT", "0"
    weight, each = quote_name(counts), times or "1"
    # a comparison alone may miss NaN, which statistics in a Parquet file omit
    is_whole = f"{weight} BETWEEN 0 AND {MAX_TOTAL_PEOPLE} AND {weight} = round({weight})"
    usable = f"NOT isnan({weight}::DOUBLE) AND {is_whole}"
    people = f"sum((CASE WHEN {usable} THEN {weight} ELSE 0 END)::DOUBLE * {each})"
    return people, f"sum(CASE WHEN {usable} THEN 0 ELSE {each} END)::BIGINT"


def _create_levels(database: Database, name: str, at: int) -> list[str]:
    """Create an ENUM type of the sorted distinct words of a column, and return them.

    DuckDB sorts by UTF-8 bytes, which is the order of characters.
    """
    column = quote_name(name)
    distinct = f"SELECT DISTINCT {column} FROM points WHERE {column} IS NOT NULL ORDER BY {column}"  # noqa: S608
    database.run(f"DROP TYPE IF EXISTS levels_{at}")
    database.run(f"CREATE TYPE levels_{at} AS ENUM ({distinct})")
    rows = database.run(f"SELECT unnest(enum_range(NULL::levels_{at}))").fetchall()
    return [level for (level,) in rows]


def _column_of_codes(levels: Sequence[str], codes: Any) -> CodedColumn:
    filled = np.ma.filled(np.ma.asarray(codes, np.int64), MISSING)
    return CodedColumn(object_array(levels), filled)


def encode_fetched(values: Any) -> CodedColumn:
    """Encode an array that DuckDB returned."""
    mask = np.ma.getmaskarray(values)
    array = np.ma.getdata(values)
    if array.dtype.kind == "f":
        mask = mask | np.isnan(array)
    elif array.dtype == "datetime64[ns]":
        import pandas as pd

        array = object_array(pd.Series(array).tolist())  # NumPy would convert them to numbers
    elif array.dtype.kind not in "biu":
        # DuckDB returns bytes as bytearray, which is not hashable
        items = [bytes(item) if isinstance(item, bytearray) else item for item in array.tolist()]
        array = object_array(items)
        mask = mask | np.array([value is None for value in array.tolist()], bool)
    return encode(array, mask)


MAX_TOTAL_PEOPLE = 2**53
"""Largest count, of a row and in total: up to here floats are exact for integers.

The limit also excludes NaN in engines where NaN is the largest number.
"""


@dataclass(frozen=True, eq=False)
class RowCounts:
    """Distinct rows with their counts, all positive."""

    columns: dict[str, CodedColumn]
    counts: IntArray


class Source(Protocol):
    """A table whose distinct rows can be counted."""

    @property
    def columns(self) -> list[str]:
        """The column names."""
        ...

    @property
    def library(self) -> str:
        """The data frame library in which tables are returned."""
        ...

    def attach(self, name: str, values: Any, parameter: str) -> Source:
        """Return the source with a further column; ``parameter`` names it in messages."""
        ...

    def count(self, names: Sequence[str], bins: Bins, counts: str | None) -> RowCounts:
        """Count the distinct rows over ``names``."""
        ...


def merge_rows(columns: dict[str, CodedColumn], counts: IntArray) -> tuple[RowCounts, IntArray]:
    """Add up the counts of equal rows, and return the new index of each row."""
    inverse = number_rows([column.codes for column in columns.values()])
    total = np.bincount(inverse, counts).astype(np.int64)
    first = find_firsts(inverse, len(total))
    return RowCounts({name: column.take(first) for name, column in columns.items()}, total), inverse


def helper_columns(names: Sequence[str]) -> tuple[str, str]:
    """Return two names that no column has."""
    return free_column(names, "c"), free_column(names, "b")


def free_column(names: Sequence[str], letter: str) -> str:
    """Return an unused column name, ignoring case as SQL does."""
    return letter * (max(map(len, names), default=0) + 1)


def check_types(
    kinds: Mapping[str, object], numeric: Container[str], nested: Container[str],
    names: Sequence[str], bins: Bins, counts: str | None,
) -> None:  # fmt: skip
    """Check that columns hold single values, and that binned columns and counts are numeric."""
    for name in names:
        if name in nested:
            kind = shorten(str(kinds[name]))
            msg = f"the column {name!r} must hold single values, but its type is {kind}"
            raise DataError(msg)
    for name in bins:
        if name not in numeric:
            msg = (
                f"{param('bins', name)} needs a column of numbers, but the type of {name!r} is "
                f"{kinds[name]}"
            )
            raise DataError(msg)
    if counts is not None and counts not in numeric:
        msg = f"the counts in {counts!r} must be whole numbers >= 0, got type {kinds[counts]}"
        raise DataError(msg)


def check_counts(
    columns: dict[str, CodedColumn], counts: Any, bad: Any, bins: Bins, name: str | None
) -> RowCounts:
    """Check the counts of a group-by and return its rows, with bins in their order."""
    wrong = int(np.asarray(bad).sum())
    if wrong:
        msg = (
            f"the counts in {name!r} must be whole numbers >= 0; {wrong} rows break this. For "
            f"survey weights pass {param('sample_weight')}"
        )
        raise DataError(msg)
    if not len(counts):
        msg = "the audit data must have at least one row, got none"
        raise DataError(msg)
    total = float(np.sum(counts))
    if total > MAX_TOTAL_PEOPLE:
        msg = f"the counts in {name!r} must be at most {MAX_TOTAL_PEOPLE:,} in all, got {total:g}"
        raise DataError(msg)
    for key, edges in bins.items():
        columns[key] = columns[key].with_levels(object_array(bin_names(edges)))
    return RowCounts(columns, np.asarray(counts, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class CountedSource:
    """A table that was counted once and is counted again over fewer columns."""

    columns: list[str]
    library: str
    rows: RowCounts
    bins: Bins
    weight: str | None = None

    @classmethod
    def of(
        cls, source: Source, names: Sequence[str], bins: Bins, weight: str | None
    ) -> CountedSource:
        """Count a source over all columns that several audits need."""
        return cls(source.columns, source.library, source.count(names, bins, weight), bins, weight)

    def attach(self, name: str, values: object, parameter: str) -> Source:  # noqa: ARG002
        """Raise, as counted tables have no single rows."""
        msg = f"{param(parameter)} must be a column's name in a family of audits"
        raise InputError(msg)

    def count(self, names: Sequence[str], bins: Bins, counts: str | None) -> RowCounts:
        """Count the distinct rows over fewer columns."""
        if counts != self.weight:
            msg = (
                f"{param('counts')} must be the same column for all audits, got "
                f"{short_repr(counts)}"
            )
            raise InputError(msg)
        columns = {name: self._column(name, bins) for name in names}
        return merge_rows(columns, self.rows.counts)[0]

    def where(self, conditions: object) -> CountedSource:
        """Return the rows that meet all conditions, as in ``{"site": ["a", "b"]}``."""
        if not isinstance(conditions, Mapping) or not conditions:
            msg = (
                f"{param('where')} must map columns to values, as in {{'site': 'a'}}, got "
                f"{short_repr(conditions)}"
            )
            raise InputError(msg)
        present = np.ones(len(self.rows.counts), bool)
        for name, values in conditions.items():
            present &= self._matches(name, values)
        if not present.any():
            msg = (
                f"{param('where')} must leave at least one row, got none for "
                f"{short_repr(dict(conditions))}"
            )
            raise DataError(msg)
        columns = {
            # bins stay levels even if they are empty
            name: column.take(present)
            if name in self.bins
            else column.take(present).without_unused()  # a slice has its own twins
            for name, column in self.rows.columns.items()
        }
        return replace(self, rows=RowCounts(columns, self.rows.counts[present]))

    def _matches(self, name: str, values: object) -> BoolArray:
        """Return which rows have one of some values in a column."""
        choices = list(values) if isinstance(values, list | tuple | set) else [values]
        column = self.rows.columns[name]
        place: dict[Value, int] = {value: at for at, value in enumerate(column.levels.tolist())}
        place |= {None: MISSING} if column.has_missing else {}
        for value in choices:
            if not isinstance(value, Hashable) or value not in place:
                level_text = short_repr(list(place))
                msg = f"{param('where', name)} must be values of that column ({level_text}), got "
                raise InputError(msg + short_repr(value))
        return np.isin(column.codes, [place[value] for value in choices])

    def _column(self, name: str, bins: Bins) -> CodedColumn:
        column = self.rows.columns[name]
        if name not in bins or name in self.bins:
            return column
        order = bin_names(bins[name])
        names = bin_values(name, column.levels.tolist(), bins[name])
        place = np.array([*(order.index(str(bin_name)) for bin_name in names), MISSING], np.int64)
        return CodedColumn(object_array(order), place[column.codes])
