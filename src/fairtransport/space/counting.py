"""One group-by: the distinct rows of a frame or a file, coded, with how often each occurs."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fairtransport.checks import IntArray, cut, refuse_masked, shape_of, shown
from fairtransport.errors import DataError, InputError
from fairtransport.files import is_file
from fairtransport.space.binning import Bins, bin_expression, bin_names, bin_sql
from fairtransport.space.columns import Column, encode, encode_series, object_array, plain_list

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    import narwhals as nw

MOST_PEOPLE = 2**53
"""More people are refused, in a row and in all: counts are added up as floats, up to here exactly.

NaN is refused with them, also by engines to which it is the largest number.
"""


@dataclass(frozen=True, eq=False)
class Counted:
    """Distinct rows: their columns and counts (all > 0)."""

    columns: dict[str, Column]
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


def as_source(data: Any, parameter: str = "X") -> Source:
    """Return the source behind a data frame of any library narwhals knows, or a path."""
    if isinstance(data, str | Path):
        return FileSource(Path(data), parameter)
    import narwhals as nw

    try:
        source = FrameSource(nw.from_native(data))
        names: list[Any] = source.columns
    except TypeError:
        msg = f"`{parameter}` must be a data frame or a path to a file, got {shown(data)}"
        raise InputError(msg) from None
    except nw.exceptions.DuplicateError as error:
        reason = " ".join(str(error).split())
        msg = f"`{parameter}` must have distinct column names: {reason}"
        raise InputError(msg) from None
    for name in names:
        if not isinstance(name, str):
            msg = f"`{parameter}` must have text as column names, got {shown(name)}"
            raise InputError(msg)
        if not _is_text(name):
            msg = f"`{parameter}` must have whole characters in column names, got {shown(name)}"
            raise InputError(msg)
    return source


@dataclass(frozen=True, eq=False)
class FrameSource:
    """A data frame, eager or lazy."""

    frame: nw.DataFrame[Any] | nw.LazyFrame[Any]

    @property
    def columns(self) -> list[str]:
        """The frame's column names."""
        return list(self.frame.collect_schema().names())

    @property
    def library(self) -> str:
        """The library tables are handed back in: the frame's own, pandas for remote engines."""
        name = self.frame.implementation.name.lower()
        return name if name in {"pandas", "polars", "pyarrow", "modin", "cudf"} else "pandas"

    def attach(self, name: str, values: Any, parameter: str) -> FrameSource:
        """Return the frame with a further column."""
        import narwhals as nw

        if not isinstance(self.frame, nw.DataFrame):
            msg = (
                f"`{parameter}` must be a column's name when the data frame is lazy, "
                f"got {shown(values)}"
            )
            raise InputError(msg)
        refuse_masked(parameter, values)
        shape, wanted = shape_of(values), (len(self.frame),)
        if shape != wanted:
            msg = f"`{parameter}` must have one value a row, shape {wanted}, got {shape}"
            raise InputError(msg)
        listed = plain_list(values)
        with _whole_characters(f"`{parameter}`"):
            series = nw.new_series(name, listed, backend=self.frame.implementation)
        return FrameSource(self.frame.with_columns(series))

    def count(self, names: Sequence[str], bins: Bins, counts: str | None) -> Counted:
        """Count by one narwhals group-by, done by the frame's own engine."""
        import narwhals as nw

        schema = self.frame.collect_schema()
        count, bad = _helper_columns(names)
        numeric = {name for name, kind in schema.items() if kind.is_numeric()}
        nested = {name for name, kind in schema.items() if kind.is_nested()}
        _check_types(schema, numeric, nested, names, bins, counts)
        weight = nw.lit(1) if counts is None else nw.col(counts)
        usable = weight.is_between(0, MOST_PEOPLE)
        if counts is not None:
            # engines differ in where a null condition leads
            usable = (usable & (weight == weight.round(0))).fill_null(value=False)
        rows = self.frame.select(
            *[_key(name, bins, schema[name]) for name in names],
            weight.cast(nw.Float64).alias(count),
            nw.when(usable).then(nw.lit(0)).otherwise(nw.lit(1)).alias(bad),
        )
        try:
            with _whole_characters(f"the columns {', '.join(names)}"):
                grouped = rows.group_by(*names, drop_null_keys=False)
                counted = grouped.agg(nw.col(count).sum(), nw.col(bad).sum())
                # a row that stands for nobody is no row
                table = _collected(counted.filter((nw.col(count) > 0) | (nw.col(bad) > 0)))
        except TypeError as error:  # a column of mixed objects, some of them not hashable
            msg = f"the columns {', '.join(names)} must hold single values: {error}"
            raise DataError(msg) from error
        columns = {name: encode_series(table[name]) for name in names}
        return _counted(columns, table[count].to_numpy(), table[bad].to_numpy(), bins, counts)


def _helper_columns(names: Sequence[str]) -> tuple[str, str]:
    """Return two names that no column has, in whatever case: SQL does not tell cases apart."""
    longest = max(map(len, names), default=0)
    return "c" * (longest + 1), "b" * (longest + 1)


@contextmanager
def _whole_characters(what: str) -> Iterator[None]:
    """Say that half a character, which engines cannot store, is none."""
    try:
        yield
    except UnicodeEncodeError as error:
        msg = f"{what} must hold whole characters, got {shown(error.object)}"
        raise DataError(msg) from error


def _collected(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    import narwhals as nw

    if isinstance(frame, nw.DataFrame):
        return frame
    # polars collects to itself; engines without eager frames of their own to pandas
    return frame.collect(backend="polars" if frame.implementation.is_polars() else "pandas")


def _key(name: str, bins: Bins, kind: Any) -> nw.Expr:
    """Return what rows are grouped by; NaN and null are one key."""
    import narwhals as nw

    # pandas groups by no half precision
    column = nw.col(name).cast(nw.Float32) if str(kind) == "Float16" else nw.col(name)
    if name in bins:
        return bin_expression(column, bins[name], may_be_nan=kind.is_float()).alias(name)
    return column.fill_nan(None) if kind.is_float() else column


def _check_types(
    kinds: Mapping[str, object], numeric: Container[str], nested: Container[str],
    names: Sequence[str], bins: Bins, counts: str | None,
) -> None:  # fmt: skip
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


# without partitions: a folder called race=a is no column
# without BOOLEAN: DuckDB would read a column of yes and no, or of nothing but F, as truth values
_READ_TEXT = (
    "read_csv(?, hive_partitioning = false, sample_size = -1, header = true, "
    "auto_type_candidates = ['NULL', 'BIGINT', 'DOUBLE', 'TIME', 'DATE', 'TIMESTAMP', 'VARCHAR'])"
)
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
SPELLINGS = ({"True", "False"}, {"true", "false"}, {"TRUE", "FALSE"})
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
        if not _is_text(self.location):
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
        return list(self._schema)

    def attach(self, name: str, values: Any, parameter: str) -> Source:  # noqa: ARG002
        """Refuse: rows of a file have no array beside them."""
        msg = f"`{parameter}` must be a column's name when the data is a file, got {shown(values)}"
        raise InputError(msg)

    def count(self, names: Sequence[str], bins: Bins, counts: str | None) -> Counted:
        """Count by one SQL group-by."""
        kinds = self._schema
        numeric = {name for name, kind in kinds.items() if kind.startswith(NUMERIC)}
        nested = {
            name for name, kind in kinds.items() if kind.startswith(NESTED) or kind.endswith("]")
        }
        _check_types(kinds, numeric, nested, names, bins, counts)
        keys = ", ".join(
            f"{_sql_key(name, bins, kinds[name])} AS {_quoted(name)}" for name in names
        )
        weight, usable = "1", "true"
        if counts is not None:
            weight = _quoted(counts)
            # comparing with NaN is not enough: statistics in a Parquet file leave it out
            is_whole = f"{weight} BETWEEN 0 AND {MOST_PEOPLE} AND {weight} = round({weight})"
            usable = f"NOT isnan({weight}::DOUBLE) AND {is_whole}"
        weight = f"CASE WHEN {usable} THEN {weight} ELSE 0 END"
        wrong = f"CASE WHEN {usable} THEN 0 ELSE 1 END"
        count, bad = _helper_columns(names)
        table = self._fetch(
            f"SELECT {keys}, sum(({weight})::DOUBLE) AS {count}, sum({wrong})::BIGINT AS {bad} "  # noqa: S608
            f"FROM {self._reader} GROUP BY ALL HAVING {count} > 0 OR {bad} > 0"
        )
        columns = {name: _encode_fetched(table[name]) for name in names}
        if self._reader is _READ_TEXT:
            columns = {name: _with_truth_values(column) for name, column in columns.items()}
        return _counted(columns, table[count], table[bad], bins, counts)

    @property
    def _reader(self) -> str:
        return READERS[self.path.suffix.lower()]

    @cached_property
    def _schema(self) -> dict[str, str]:
        """The type of each column; a text file is read to its end to find out."""
        described = self._fetch(f"DESCRIBE SELECT * FROM {self._reader}")  # noqa: S608
        pairs = zip(described["column_name"], described["column_type"], strict=True)
        return {str(name): str(kind) for name, kind in pairs}

    def _fetch(self, query: str) -> dict[str, Any]:
        import duckdb

        try:
            with duckdb.connect() as connection:
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


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sql_key(name: str, bins: Bins, kind: str) -> str:
    quoted = _quoted(name)
    if name in bins:
        return bin_sql(quoted, bins[name])
    is_float = kind in {"FLOAT", "DOUBLE"}
    return f"CASE WHEN isnan({quoted}) THEN NULL ELSE {quoted} END" if is_float else quoted


def _encode_fetched(values: Any) -> Column:
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


def _with_truth_values(column: Column) -> Column:
    """Return truth values where a text file spells nothing else, as pandas reads it."""
    words = set(column.levels.tolist())
    if words and any(words <= pair for pair in SPELLINGS):
        return replace(column, levels=np.array([word.lower() == "true" for word in column.levels]))
    return column


def _counted(
    columns: dict[str, Column], counts: Any, bad: Any, bins: Bins, name: str | None
) -> Counted:
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
