"""One group-by: the distinct rows of a frame or a file, coded, with how often each occurs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fairtransport.checks import IntArray, shown
from fairtransport.errors import DataError, InputError
from fairtransport.space.binning import Bins, bin_expression, bin_names, bin_sql
from fairtransport.space.columns import Column, encode, encode_series, object_array, plain_list

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    import narwhals as nw

COUNT, BAD = "fairtransport_count", "fairtransport_bad"
"""Names of the helper columns of the group-by."""

MOST_PEOPLE = 2**53
"""Larger counts are refused: in an engine that adds up floats they would not be exact.

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
        shape, wanted = np.shape(values), (len(self.frame),)
        if shape != wanted:
            msg = f"`{parameter}` must have one value a row, shape {wanted}, got {shape}"
            raise InputError(msg)
        listed = plain_list(values)
        series = nw.new_series(name, listed, backend=self.frame.implementation)
        return FrameSource(self.frame.with_columns(series))

    def count(self, names: Sequence[str], bins: Bins, counts: str | None) -> Counted:
        """Count by one narwhals group-by, done by the frame's own engine."""
        import narwhals as nw

        schema = self.frame.collect_schema()
        numeric = {name for name, kind in schema.items() if kind.is_numeric()}
        nested = {name for name, kind in schema.items() if kind.is_nested()}
        _check_types(schema, numeric, nested, names, bins, counts)
        weight = nw.lit(1) if counts is None else nw.col(counts)
        usable = weight.is_between(0, MOST_PEOPLE)
        if counts is not None:
            usable = usable & (weight == weight.round(0))
        exprs = [_key(name, bins, is_float=schema[name].is_float()) for name in names]
        rows = self.frame.select(
            *exprs,
            weight.alias(COUNT),
            nw.when(usable).then(nw.lit(0)).otherwise(nw.lit(1)).alias(BAD),
        )
        try:
            grouped = rows.group_by(*names, drop_null_keys=False)
            counted = grouped.agg(nw.col(COUNT).sum(), nw.col(BAD).sum())
            # a row that stands for nobody is no row
            table = _collected(counted.filter((nw.col(COUNT) > 0) | (nw.col(BAD) > 0)))
        except TypeError as error:  # a column of mixed objects, some of them not hashable
            msg = f"the columns {', '.join(names)} must hold single values: {error}"
            raise DataError(msg) from error
        columns = {name: encode_series(table[name]) for name in names}
        return _counted(columns, table[COUNT].to_numpy(), table[BAD].to_numpy(), bins, counts)


def _collected(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    import narwhals as nw

    if isinstance(frame, nw.DataFrame):
        return frame
    # polars collects to itself; engines without eager frames of their own to pandas
    return frame.collect(backend="polars" if frame.implementation.is_polars() else "pandas")


def _key(name: str, bins: Bins, *, is_float: bool) -> nw.Expr:
    """Return what rows are grouped by; NaN and null are one key."""
    import narwhals as nw

    if name in bins:
        return bin_expression(name, bins[name], may_be_nan=is_float)
    return nw.col(name).fill_nan(None) if is_float else nw.col(name)


def _check_types(
    kinds: Mapping[str, object], numeric: Container[str], nested: Container[str],
    names: Sequence[str], bins: Bins, counts: str | None,
) -> None:  # fmt: skip
    for name in names:
        if name in nested:
            msg = f"the column {name!r} must hold single values, but it is {kinds[name]}"
            raise DataError(msg)
    for name in bins:
        if name not in numeric:
            msg = f"`bins[{name!r}]` needs a numeric column, but {name!r} is {kinds[name]}"
            raise DataError(msg)
    if counts is not None and counts not in numeric:
        msg = f"the counts in {counts!r} must be whole numbers >= 0, but it is {kinds[counts]}"
        raise DataError(msg)


# without BOOLEAN: DuckDB would read a column of yes and no, or of nothing but F, as truth values
_READ_TEXT = (
    "read_csv(?, sample_size = -1, header = true, auto_type_candidates = "
    "['NULL', 'BIGINT', 'DOUBLE', 'TIME', 'DATE', 'TIMESTAMP', 'VARCHAR'])"
)
READERS = {
    ".csv": _READ_TEXT,
    ".tsv": _READ_TEXT,
    ".parquet": "read_parquet(?)",
    ".json": "read_json(?)",
    ".jsonl": "read_json(?, format = 'newline_delimited')",
    ".ndjson": "read_json(?, format = 'newline_delimited')",
}


NUMERIC = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
    "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL",
)  # fmt: skip
SPELLINGS = ({"True", "False"}, {"true", "false"}, {"TRUE", "FALSE"})
NESTED = ("STRUCT", "MAP", "UNION")
"""How DuckDB's names of such types begin; lists end with a bracket."""


@dataclass(frozen=True, eq=False)
class FileSource:
    """A file, or files given by a pattern, counted by DuckDB without reading them into memory."""

    path: Path
    parameter: str = "X"

    def __post_init__(self) -> None:
        suffix = self.path.suffix.lower()
        if suffix not in READERS:
            msg = (
                f"`{self.parameter}` must be a file of type {', '.join(READERS)}, "
                f"got {str(self.path)!r}"
            )
            raise InputError(msg)
        if "*" not in str(self.path) and not self.path.is_file():
            msg = f"`{self.parameter}` must be an existing file, got {str(self.path)!r}"
            raise InputError(msg)
        if "*" not in str(self.path) and self.path.stat().st_size == 0:
            msg = f"the file {self.path.name!r} is empty"
            raise DataError(msg)

    @property
    def library(self) -> str:
        """Tables from files are pandas frames."""
        return "pandas"

    @property
    def columns(self) -> list[str]:
        """The file's column names."""
        return [name for name, _ in self._schema()]

    def attach(self, name: str, values: Any, parameter: str) -> Source:  # noqa: ARG002
        """Refuse: rows of a file have no array beside them."""
        msg = f"`{parameter}` must be a column's name when the data is a file, got {shown(values)}"
        raise InputError(msg)

    def count(self, names: Sequence[str], bins: Bins, counts: str | None) -> Counted:
        """Count by one SQL group-by."""
        kinds = dict(self._schema())
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
        bad = f"CASE WHEN {usable} THEN 0 ELSE 1 END"
        table = self._fetch(
            f"SELECT {keys}, sum({weight})::BIGINT AS {COUNT}, sum({bad})::BIGINT AS {BAD} "  # noqa: S608
            f"FROM {self._reader} GROUP BY ALL HAVING {COUNT} > 0 OR {BAD} > 0"
        )
        columns = {name: _encode_fetched(table[name]) for name in names}
        if self._reader is _READ_TEXT:
            columns = {name: _with_truth_values(column) for name, column in columns.items()}
        return _counted(columns, table[COUNT], table[BAD], bins, counts)

    @property
    def _reader(self) -> str:
        return READERS[self.path.suffix.lower()]

    def _schema(self) -> list[tuple[str, str]]:
        described = self._fetch(f"DESCRIBE SELECT * FROM {self._reader}")  # noqa: S608
        pairs = zip(described["column_name"], described["column_type"], strict=True)
        return [(str(name), str(kind)) for name, kind in pairs]

    def _fetch(self, query: str) -> dict[str, Any]:
        import duckdb

        try:
            with duckdb.connect() as connection:
                result = connection.execute(query, [str(self.path)])
                return dict(result.fetchnumpy())
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            msg = f"the file {self.path.name!r} could not be read: {reason}"
            raise DataError(msg) from error


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
        array = object_array(list(array.tolist()))
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
    for key, edges in bins.items():
        columns[key] = columns[key].with_levels(object_array(bin_names(edges)))
    return Counted(columns, np.asarray(counts, dtype=np.int64))
