"""Data files as a source: sets of CSV, Parquet and JSON files, which DuckDB counts out of core."""

from __future__ import annotations

import csv
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

from fairtransport._core.files import check_file, is_file, is_folder
from fairtransport._core.validation import short_repr, shorten
from fairtransport.data import text_files
from fairtransport.data.arrow_schema import find_durations
from fairtransport.data.columns import (
    MAX_EXACT,
    CodedColumn,
    is_text,
    merging_error,
    object_array,
)
from fairtransport.data.database import (
    Database,
    Relation,
    RowCounts,
    Source,
    check_types,
    count_points,
    duckdb_path,
    encode_fetched,
    quote_name,
    quote_text,
    quote_texts,
)
from fairtransport.data.sample_space import native_frame
from fairtransport.errors import DataError, InputError, param

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import narwhals as nw

    from fairtransport._core.validation import Values
    from fairtransport.data.columns import Bins


TEXT_KINDS = (".csv", ".tsv")
NUMERIC_KINDS = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
    "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL",
)  # fmt: skip
CSV_REASONS = (
    "Maximum line size", "Invalid unicode", "Expected Number of Columns",
    "Value with unterminated quote",
)  # fmt: skip
"""Beginnings of DuckDB's messages about a bad line."""
NESTED_KINDS = ("STRUCT", "MAP", "UNION")
"""Beginnings of nested type names; names of list types end with a bracket."""
FILE_KINDS = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson")
"""Extensions of files that can be read."""
WILDCARDS = re.compile(r"[*?]")
"""Wildcards of a pattern, but no brackets, as downloads have names like data[1].csv."""
HIDDEN_PREFIXES = ("_", ".")
"""Prefixes of files that are not data, such as Spark's _SUCCESS."""
PARTITION = re.compile(r"([^=]+)=(.*)", re.DOTALL)
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""Spark's folder name of a missing value."""
# the whole file, as every value counts for the type of its column
READ_JSON = (
    "read_json({}, hive_partitioning = false, format = '{}', sample_size = -1, "
    "maximum_sample_files = {}, union_by_name = true{})"
)
# without DuckDB's partitions: it would also read those above the user's folder
READ_PARQUET = "read_parquet({}, hive_partitioning = false, union_by_name = {})"
TIME_KINDS = ("DATE", "TIMESTAMP")
"""Beginnings of the types of times that Python can hold from the year 1 to 9999."""
WIDE_KINDS = ("HUGEINT", "UHUGEINT", "DECIMAL")
"""Types that are fetched as floats, which may round them."""
WIDENABLE_KINDS = ("VARCHAR", "INTEGER", "BIGINT", "DOUBLE")
"""Types that can be combined with a column without values, which DuckDB reads as integers."""


@dataclass(frozen=True, eq=False)
class FileSource:
    """A file, a folder of files or a pattern; rows are not kept in memory."""

    path: Path
    parameter: str = "X"

    def __post_init__(self) -> None:
        _ = self.shards  # raises if the path cannot be read

    @cached_property
    def shards(self) -> Shards:
        """The files of the path."""
        return find_shards(self.path, self.parameter)

    @cached_property
    def database(self) -> Database:
        """The database that counts the files."""
        return Database(self.shards.paths)

    def close(self) -> None:
        """Close the database, which tracebacks of errors would keep open."""
        if "database" in vars(self):
            self.database.close()

    @property
    def library(self) -> str:
        """The data frame library in which tables are returned: pandas."""
        return "pandas"

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema)

    def attach(self, name: str, values: Any, parameter: str) -> Source:  # noqa: ARG002
        """Raise: arrays cannot be aligned with the rows of a file."""
        msg = (
            f"{param(parameter)} must be a column's name when the data is a file, got "
            f"{short_repr(values)}"
        )
        raise InputError(msg)

    def count(self, names: Sequence[str], bins: Bins, counts: str | None) -> RowCounts:
        """Count the distinct rows over ``names``."""
        kinds = self.schema
        numeric = {name for name, kind in kinds.items() if kind.startswith(NUMERIC_KINDS)}
        check_types(kinds, numeric, self._nested, names, bins, counts)
        with self._translate_errors():
            rows = count_points(self.database, self.relation, kinds, names, bins, counts)
        for name, column in rows.columns.items():
            self._check_faithful(name, kinds[name], column)
        columns = {
            name: self._restore_truth_values(name, column) for name, column in rows.columns.items()
        }
        return RowCounts(columns, rows.counts)

    def _check_faithful(self, name: str, kind: str, column: CodedColumn) -> None:
        """Check that a column has the same values as the file."""
        levels = column.levels
        advice = "read the file as a data frame and pass that"
        if kind.endswith("WITH TIME ZONE"):
            msg = (
                f"the column {name!r} holds times with a time zone, which would reach the model as "
                f"UTC; {advice}"
            )
            raise DataError(msg)
        if name in self._durations:
            msg = (
                f"the column {name!r} holds durations, which would reach the model as whole "
                f"numbers; {advice}"
            )
            raise DataError(msg)
        if kind.startswith(TIME_KINDS) and any(isinstance(level, int) for level in levels.tolist()):
            msg = f"the column {name!r} holds times before the year 1 or after 9999; {advice}"
            raise DataError(msg)
        if levels.dtype.kind == "f":
            self._check_not_rounded(name, kind, levels)
        if self.shards.kind in TEXT_KINDS and levels.dtype == object:
            open_quotes = [
                level for level in levels.tolist()
                if isinstance(level, str) and level.startswith('"') and level.count('"') % 2
            ]  # fmt: skip
            # if all quotes in a file are closed, the value itself begins with one
            if open_quotes and any(map(_has_open_quote, self.shards.paths)):
                msg = (
                    f"the column {name!r} has a value with a quote that is not closed, "
                    f"{short_repr(open_quotes[0])}"
                )
                raise DataError(msg)

    def _check_not_rounded(self, name: str, kind: str, levels: Values) -> None:
        """Check that the numbers of a column were not rounded to floats."""
        column, table = quote_name(name), self.relation.count_table
        if kind.startswith(WIDE_KINDS):
            distinct = self.fetch(
                f"SELECT count(DISTINCT {column}) AS exact, "  # noqa: S608
                f"count(DISTINCT {column}::DOUBLE) AS rounded FROM {table}"
            )
            if distinct["exact"][0] != distinct["rounded"][0]:
                raise merging_error(name)
        if self.relation.texts is not None and np.abs(levels).max(initial=0) >= MAX_EXACT:
            words = self.fetch(
                f"SELECT DISTINCT {column} AS word FROM {self.relation.texts(name)} "  # noqa: S608
                f"WHERE abs(TRY_CAST({column} AS DOUBLE)) >= {MAX_EXACT} "
                f"AND regexp_full_match({column}, '\\s*-?\\d+\\s*')"
            )["word"].tolist()
            text_files.check_not_rounded(name, words)

    def table(self) -> nw.DataFrame[Any]:
        """Return all rows in their order, with the same values as `count`."""
        import narwhals as nw

        fetched = self.fetch(f"SELECT * FROM {self.relation.rows}")  # noqa: S608
        single = {name: values for name, values in fetched.items() if name not in self._nested}
        frame = native_frame(
            {
                name: self._restore_truth_values(name, encode_fetched(values))
                for name, values in single.items()
            },
            self.library,
        )
        for name in self._nested:  # the caller raises if it needs the column
            frame[name] = object_array(list(fetched[name]))
        return nw.from_native(frame[list(fetched)], eager_only=True)

    @cached_property
    def relation(self) -> Relation:
        """The files as a table in SQL; the dialect of text files is detected once."""
        shards = self.shards
        if shards.partitioned_by and shards.kind != ".parquet":
            msg = (
                f"{param(self.parameter)} must be Parquet files where folders name a column, as "
                f"{shards.partitioned_by[0]}=… does, got {shards.kind}"
            )
            raise InputError(msg)
        with self._translate_errors():
            if shards.kind in TEXT_KINDS:
                return text_files.text_relation(self.database, shards)
            if shards.kind == ".parquet":
                return parquet_relation(self.database, shards)
            return json_relation(self.database, shards)

    def _restore_truth_values(self, name: str, column: CodedColumn) -> CodedColumn:
        """Return a text column as bools if it spells nothing else."""
        was_text = self.shards.kind in TEXT_KINDS or name in self.shards.partitioned_by
        return text_files.parse_truth_values(column) if was_text else column

    @property
    def _nested(self) -> set[str]:
        """The columns of nested values."""
        kinds = self.schema.items()
        return {name for name, kind in kinds if kind.startswith(NESTED_KINDS) or kind.endswith("]")}

    @cached_property
    def _durations(self) -> set[str]:
        """Columns of durations, which the files store as integers."""
        if self.shards.kind != ".parquet":
            return set()
        rows = self.database.run(
            f"SELECT value FROM parquet_kv_metadata({quote_texts(self.shards.locations)}) "  # noqa: S608
            "WHERE key = 'ARROW:schema'::BLOB"
        ).fetchall()
        return {name for (value,) in set(rows) for name in find_durations(value)}

    @cached_property
    def schema(self) -> dict[str, str]:
        """The type of each column."""
        with self._translate_errors():
            kinds = self.database.kinds(f"SELECT * FROM {self.relation.count_table}")  # noqa: S608
        for name in kinds:
            if "\0" in name:
                msg = f"column names of {self.path.name!r} must have no null bytes, got {name!r}"
                raise DataError(msg)
        return {name: kind for name, kind in kinds.items() if name != self.relation.times}

    def fetch(self, query: str) -> dict[str, Any]:
        """Return the result of a query, one array per column."""
        with self._translate_errors():
            return self.database.columns(query)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise errors of DuckDB as a DataError with the user's path."""
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            lines = [line for line in str(error).splitlines() if line.strip()]
            # DuckDB prints the bad line before the reason
            reasons = [line for line in lines[1:] if line.startswith(CSV_REASONS)]
            reason = "; ".join(lines[:1] + reasons[:1])
            for path, place in zip(self.shards.paths, self.shards.locations, strict=True):
                for name in (place, os.path.realpath(path)):
                    reason = reason.replace(name, str(path))
            what = f"the file {self.path.name!r}"
            if len(self.shards.paths) > 1:
                what = f"the files of {str(self.path)!r}"
            msg = f"{what} could not be read: {reason}"
            raise DataError(msg) from error


@dataclass(frozen=True)
class Shards:
    """Files of one type that are read as one table."""

    paths: tuple[Path, ...]
    kind: str
    partitions: tuple[dict[str, str | None], ...]

    @property
    def locations(self) -> list[str]:
        """The paths as DuckDB expects them."""
        return [duckdb_path(path) for path in self.paths]

    @property
    def partitioned_by(self) -> list[str]:
        """The columns whose values are in folder names."""
        return list(self.partitions[0])


def find_shards(path: Path, parameter: str) -> Shards:
    """Return the files of a path, a folder or a pattern, as one table."""
    if is_folder(path):
        base, candidates = path, _list_folder(path)
    elif not is_file(path) and WILDCARDS.search(str(path)):
        base, candidates = _match_pattern(path)
    else:
        return _find_file(path, parameter)
    files = list(_check_one_kind(candidates, parameter))
    if not files:
        msg = (
            f"there is no data file in {short_repr(str(path), 200)}: {param(parameter)} must be a "
            "file, a folder with files in it or a pattern such as 'loans/*.csv'"
        )
        raise InputError(msg)
    nonempty = tuple(file for file in files if file.stat().st_size)
    if not nonempty:
        msg = f"the files of {short_repr(str(path), 200)} are empty"
        raise DataError(msg)
    folders = [file.relative_to(base).parent.parts for file in nonempty]
    partitions = tuple(_parse_partition(parts) for parts in folders)
    for file, partition in zip(nonempty, partitions, strict=True):
        if list(partition) != list(partitions[0]):
            msg = (
                f"the folders of {param(parameter)} must name the same columns, as in race=a, but "
                f"those of {_relative_repr(nonempty[0], base)} and "
                f"{_relative_repr(file, base)} do not"
            )
            raise InputError(msg)
    return _check_paths(Shards(nonempty, nonempty[0].suffix.lower(), partitions), parameter)


def _find_file(path: Path, parameter: str) -> Shards:
    kind = path.suffix.lower()
    if kind not in FILE_KINDS:
        advice = "; save the sheet as .csv" if kind.startswith(".xls") else ""
        msg = (
            f"{param(parameter)} must be a file of type {', '.join(FILE_KINDS)}, "
            f"got {short_repr(str(path), 200)}{advice}"
        )  # fmt: skip
        raise InputError(msg)
    check_file(parameter, path)
    if path.stat().st_size == 0:
        msg = f"the file {path.name!r} is empty"
        raise DataError(msg)
    return _check_paths(Shards((path,), kind, ({},)), parameter)


def _list_folder(path: Path) -> Iterator[Path]:
    """Yield the files of a folder, then those of the folders in it."""
    for folder, inner, names in os.walk(path):
        inner[:] = sorted(name for name in inner if not name.startswith(HIDDEN_PREFIXES))
        yield from (
            Path(folder, name) for name in sorted(names) if not name.startswith(HIDDEN_PREFIXES)
        )


def _match_pattern(path: Path) -> tuple[Path, Iterator[Path]]:
    """Return the base folder of a pattern, and the files that match."""
    fixed = next(at for at, part in enumerate(path.parts) if WILDCARDS.search(part))
    base = Path(*path.parts[:fixed])
    pattern = str(path).replace("[", "[[]")
    names = glob(pattern, recursive=True, include_hidden=True)  # noqa: PTH207 - an absolute one
    files = (file for file in sorted(map(Path, names)) if is_file(file))
    return base, (file for file in files if not _is_hidden(file.relative_to(base)))


def _is_hidden(file: Path) -> bool:
    return any(part.startswith(HIDDEN_PREFIXES) for part in file.parts)


def _check_one_kind(files: Iterable[Path], parameter: str) -> Iterator[Path]:
    """Yield files, checking that all have the same readable type."""
    first: Path | None = None
    for file in files:
        first = first or file
        kind = file.suffix.lower()
        if kind not in FILE_KINDS or kind != first.suffix.lower():
            others = "" if file == first else f"{first.name!r} and "
            msg = (
                f"{param(parameter)} must be files of one type ({', '.join(FILE_KINDS)}), "
                f"got {others}{file.name!r}"
            )
            raise InputError(msg)
        yield file


def _parse_partition(folders: Sequence[str]) -> dict[str, str | None]:
    """Return the column values in the names of folders."""
    values: dict[str, str | None] = {}
    for folder in folders:
        if pair := PARTITION.fullmatch(folder):
            values[unquote(pair[1])] = None if pair[2] == NO_VALUE else unquote(pair[2])
    return values


def _check_paths(shards: Shards, parameter: str) -> Shards:
    for path in shards.paths:
        if not is_text(duckdb_path(path)):
            msg = f"{param(parameter)} must have a path of UTF-8 text, got {str(path)!r}"
            raise InputError(msg)
    return shards


def _relative_repr(file: Path, base: Path) -> str:
    return repr(str(file.relative_to(base)))


def json_relation(database: Database, shards: Shards) -> Relation:
    """Return JSON files as one table; all files must have the same columns."""
    form = "auto" if shards.kind == ".json" else "newline_delimited"
    if len(shards.paths) > 1:
        _check_same_columns(database, shards.paths, form)
    reader = _json_reader(shards.locations, form)
    return Relation(
        reader, reader, texts=lambda name: _json_reader(shards.locations, form, {name: "VARCHAR"})
    )


def _json_reader(
    locations: Sequence[str], form: str, kinds: Mapping[str, str] | None = None
) -> str:
    """Return the SQL that reads JSON files, or some of their columns in other types."""
    columns = ", ".join(f"{quote_text(name)}: '{kind}'" for name, kind in (kinds or {}).items())
    chosen = f", columns = {{{columns}}}" if kinds else ""
    return READ_JSON.format(quote_texts(locations), form, len(locations), chosen)


def _check_same_columns(database: Database, paths: Sequence[Path], form: str) -> None:
    """Check that all files have the same columns."""
    filled = [path for path in paths if path.stat().st_size]
    names = {
        path: database.kinds(f"FROM {_json_reader([duckdb_path(path)], form)}") for path in filled
    }
    for path in filled[1:]:
        text_files.check_same_columns(filled[0], names[filled[0]], path, names[path])


def parquet_relation(database: Database, shards: Shards) -> Relation:
    """Return Parquet files as one table; all files must have the same columns.

    Folder names add the columns that the files lack; some writers leave them in the files.
    """
    paths = shards.paths
    _check_distinct_names(database, paths)
    if len(paths) > 1:
        _check_same_kinds(database, paths)
    folder_columns = shards.partitioned_by
    if folder_columns:
        own = _parquet_kinds(database, paths[0])
        folder_columns = [name for name in folder_columns if name not in own]
    if folder_columns:
        reader = _read_partitions(database, shards, folder_columns)
    else:
        reader = READ_PARQUET.format(quote_texts(shards.locations), str(len(paths) > 1).lower())
    return Relation(reader, reader)


def _check_distinct_names(database: Database, paths: Sequence[Path]) -> None:
    """Check that no file has a column twice, of which DuckDB would rename the second."""
    rows = database.run(
        f"SELECT file_name, name FROM parquet_schema({quote_texts(map(duckdb_path, paths))})"  # noqa: S608
    ).fetchall()
    if len({(file, str(name).lower()) for file, name in rows}) == len(rows):
        return
    for path in paths:
        own = {str(name) for file, name in rows if file == os.path.realpath(path)}
        new = [name for name in _parquet_kinds(database, path) if name not in own]
        if new:
            msg = (
                f"the file {path.name!r} must have distinct column names, whatever their capital "
                f"letters, but the second of a name would be read as {new[0]!r}"
            )
            raise DataError(msg)


def _check_same_kinds(database: Database, paths: Sequence[Path]) -> None:
    """Check that all files have the same columns and types."""
    schemas = database.run(
        "SELECT list(hash(name, type, converted_type, logical_type) ORDER BY name) "  # noqa: S608
        f"FROM parquet_schema({quote_texts(map(duckdb_path, paths))}) WHERE num_children IS NULL "
        "GROUP BY file_name"
    ).fetchall()
    if len({tuple(row[0]) for row in schemas}) == 1:
        return
    kinds = {path: _parquet_kinds(database, path) for path in paths}
    nothing = {path: _untyped_columns(database, path) for path in paths}
    for path in paths[1:]:
        text_files.check_same_columns(paths[0], kinds[paths[0]], path, kinds[path])
    for name in kinds[paths[0]]:
        place = next((path for path in paths if name not in nothing[path]), paths[0])
        first_kind = kinds[place][name]
        for path in paths:
            kind = kinds[path][name]
            if kind != first_kind and not (name in nothing[path] and first_kind in WIDENABLE_KINDS):
                msg = (
                    f"files that are read as one must have the same columns, but {name!r} is "
                    f"{shorten(kind)} in {str(path)!r} and {shorten(first_kind)} in {str(place)!r}"
                )
                raise DataError(msg)


def _untyped_columns(database: Database, path: Path) -> set[str]:
    """Return the columns of a file that have no type, because they are empty."""
    rows = database.run(
        f"SELECT name FROM parquet_schema({quote_text(duckdb_path(path))}) "  # noqa: S608
        "WHERE logical_type = 'NullType()'"
    ).fetchall()
    return {str(row[0]) for row in rows}


def _parquet_kinds(database: Database, path: Path) -> dict[str, str]:
    return database.kinds(f"FROM {READ_PARQUET.format(quote_text(duckdb_path(path)), 'false')}")


def _read_partitions(database: Database, shards: Shards, names: Sequence[str]) -> str:
    """Return the SQL that reads each partition with its values as columns."""
    groups: dict[tuple[str | None, ...], list[str]] = {}
    for partition, place in zip(shards.partitions, shards.locations, strict=True):
        groups.setdefault(tuple(partition[name] for name in names), []).append(place)
    parts = []
    for values, files in zip(
        _typed_partitions(database, names, list(groups)), groups.values(), strict=True
    ):
        constants = ", ".join(
            f"{value} AS {quote_name(name)}" for name, value in zip(names, values, strict=True)
        )
        reader = READ_PARQUET.format(quote_texts(files), "true")
        parts.append(f"SELECT *, {constants} FROM {reader}")  # noqa: S608
    return f"({' UNION ALL BY NAME '.join(parts)})"


def _typed_partitions(
    database: Database, names: Sequence[str], partitions: Sequence[tuple[str | None, ...]]
) -> list[list[str]]:
    """Return the values of partitions in SQL, with the types that a CSV file would give them."""
    file = database.folder / "partitions.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened)
        # row numbers first, as DuckDB skips empty lines
        writer.writerow(["", *names])
        writer.writerows([at, *values] for at, values in enumerate(partitions))
    dialect = text_files.Dialect.detect(database, file)
    kinds = [column["type"] for column in dialect.columns[1:]]
    for name, kind, values in zip(names, kinds, zip(*partitions, strict=True), strict=True):
        if kind == "DOUBLE":
            text_files.check_not_rounded(name, filter(None, values))
    rows = database.run(f"FROM {dialect.reader([duckdb_path(file)])}").fetchall()
    file.unlink()
    return [
        [
            f"CAST({'NULL' if value is None else quote_text(str(value))} AS {kind})"
            for value, kind in zip(row[1:], kinds, strict=True)
        ]
        for row in sorted(rows)
    ]


def _has_open_quote(path: Path) -> bool:
    """Return whether a text file has an odd number of quotes."""
    with Path(path).open("rb") as file:
        return sum(piece.count(b'"') for piece in iter(lambda: file.read(2**20), b"")) % 2 == 1
