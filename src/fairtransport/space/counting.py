"""One group-by: the distinct rows of a frame or a file, coded, with how often each occurs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fairtransport.checks import IntArray, shown
from fairtransport.errors import DataError, InputError
from fairtransport.space.binning import Bins, bin_expression, bin_names, bin_sql
from fairtransport.space.columns import Column, encode, encode_series, object_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw

COUNT, BAD = "fairtransport_count", "fairtransport_bad"
"""Names of the helper columns of the group-by."""


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

    def attach(self, name: str, values: Any) -> Source:
        """Return the source with a further column, given row by row."""
        ...

    def count(self, names: Sequence[str], bins: Bins, counts: str | None) -> Counted:
        """Return the distinct rows over ``names``."""
        ...


def as_source(data: Any, parameter: str = "X") -> Source:
    """Return the source behind a data frame of any library narwhals knows, or a path."""
    if isinstance(data, str | Path):
        return FileSource(Path(data))
    import narwhals as nw

    try:
        return FrameSource(nw.from_native(data))
    except TypeError:
        msg = f"`{parameter}` must be a data frame or a path to a file, got {shown(data)}"
        raise InputError(msg) from None


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

    def attach(self, name: str, values: Any) -> FrameSource:
        """Return the frame with a further column."""
        import narwhals as nw

        if not isinstance(self.frame, nw.DataFrame):
            msg = f"`{name}` must be a column's name when the data frame is lazy, got an array"
            raise InputError(msg)
        listed = np.asarray(values).tolist() if not hasattr(values, "to_list") else values.to_list()
        if len(listed) != len(self.frame):
            msg = f"`{name}` must have one value a row ({len(self.frame)}), got {len(listed)}"
            raise InputError(msg)
        series = nw.new_series(name, listed, backend=self.frame.implementation)
        return FrameSource(self.frame.with_columns(series))

    def count(self, names: Sequence[str], bins: Bins, counts: str | None) -> Counted:
        """Count by one narwhals group-by, done by the frame's own engine."""
        import narwhals as nw

        schema = self.frame.collect_schema()
        for name in bins:
            if not schema[name].is_numeric():
                msg = f"`bins[{name!r}]` needs a numeric column, but {name!r} is {schema[name]}"
                raise DataError(msg)
        weight = nw.lit(1) if counts is None else nw.col(counts)
        if counts is not None and not schema[counts].is_numeric():
            msg = f"the counts in {counts!r} must be whole numbers >= 0, but it is {schema[counts]}"
            raise DataError(msg)
        usable = (weight >= 0) & (weight == weight.round(0)) if counts is not None else nw.lit(True)  # noqa: FBT003
        exprs = [
            bin_expression(name, bins[name], may_be_nan=schema[name].is_float())
            if name in bins
            else nw.col(name)
            for name in names
        ]
        grouped = (
            self.frame.select(
                *exprs,
                weight.alias(COUNT),
                nw.when(usable).then(nw.lit(0)).otherwise(nw.lit(1)).alias(BAD),
            )
            .group_by(*names, drop_null_keys=False)
            .agg(nw.col(COUNT).sum(), nw.col(BAD).sum())
        )
        table = _collected(grouped)
        columns = {name: encode_series(table[name]) for name in names}
        return _counted(columns, table[COUNT].to_numpy(), table[BAD].to_numpy(), bins, counts)


def _collected(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    import narwhals as nw

    if isinstance(frame, nw.DataFrame):
        return frame
    # polars collects to itself; engines without eager frames of their own to pandas
    return frame.collect(backend="polars" if frame.implementation.is_polars() else "pandas")


READERS = {
    ".csv": "read_csv(?, sample_size = -1)",
    ".tsv": "read_csv(?, sample_size = -1)",
    ".parquet": "read_parquet(?)",
    ".json": "read_json(?)",
    ".jsonl": "read_json(?, format = 'newline_delimited')",
    ".ndjson": "read_json(?, format = 'newline_delimited')",
}


@dataclass(frozen=True, eq=False)
class FileSource:
    """A file, or files given by a pattern, counted by DuckDB without reading them into memory."""

    path: Path

    def __post_init__(self) -> None:
        suffix = self.path.suffix.lower()
        if suffix not in READERS:
            msg = f"`X` must be a file of type {', '.join(READERS)}, got {str(self.path)!r}"
            raise InputError(msg)
        if "*" not in str(self.path) and not self.path.is_file():
            msg = f"`X` must be an existing file, got {str(self.path)!r}"
            raise InputError(msg)

    @property
    def library(self) -> str:
        """Tables from files are pandas frames."""
        return "pandas"

    @property
    def columns(self) -> list[str]:
        """The file's column names."""
        return [name for name, _ in self._schema()]

    def attach(self, name: str, values: Any) -> Source:  # noqa: ARG002
        """Refuse: rows of a file have no array beside them."""
        msg = f"`{name}` must be a column's name when the data is a file, got an array"
        raise InputError(msg)

    def count(self, names: Sequence[str], bins: Bins, counts: str | None) -> Counted:
        """Count by one SQL group-by."""
        kinds = dict(self._schema())
        for name in bins:
            if kinds[name] in {"VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP"}:
                msg = f"`bins[{name!r}]` needs a numeric column, but {name!r} is {kinds[name]}"
                raise DataError(msg)
        keys = ", ".join(
            f"{bin_sql(_quoted(name), bins[name]) if name in bins else _quoted(name)} "
            f"AS {_quoted(name)}"
            for name in names
        )
        weight, bad = "1", "0"
        if counts is not None:
            number = f"TRY_CAST({_quoted(counts)} AS DOUBLE)"
            weight = f"coalesce({number}, 0)"
            bad = f"CASE WHEN {number} >= 0 AND {number} = round({number}) THEN 0 ELSE 1 END"
        table = self._fetch(
            f"SELECT {keys}, sum({weight})::BIGINT AS {COUNT}, sum({bad})::BIGINT AS {BAD} "  # noqa: S608
            f"FROM {self._reader} GROUP BY ALL"
        )
        columns = {name: _encode_fetched(table[name]) for name in names}
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


def _encode_fetched(values: Any) -> Column:
    mask = np.ma.getmaskarray(values)
    array = np.ma.getdata(values)
    if array.dtype.kind == "f":
        mask = mask | np.isnan(array)
    elif array.dtype.kind not in "biu":
        array = object_array(list(array.tolist()))
        mask = mask | np.array([value is None for value in array.tolist()], bool)
    return encode(array, mask)


def _counted(
    columns: dict[str, Column], counts: Any, bad: Any, bins: Bins, name: str | None
) -> Counted:
    wrong = int(np.asarray(bad).sum())
    if wrong:
        msg = f"the counts in {name!r} must be whole numbers >= 0; {wrong} rows break this"
        raise DataError(msg)
    whole = np.asarray(counts, dtype=np.int64)
    # a row that stands for nobody is no row
    there = whole > 0
    for key, edges in bins.items():
        columns[key] = columns[key].with_levels(object_array(bin_names(edges)))
    kept = {key: column.take(there) for key, column in columns.items()}
    if not there.any():
        msg = "the audit data must have at least one row, got none"
        raise DataError(msg)
    return Counted(kept, whole[there])
