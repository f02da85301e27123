"""Files of rows as a source of points: DuckDB reads them and counts them out of core."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fairtransport.checks import shown
from fairtransport.errors import DataError, InputError
from fairtransport.space.columns import CodedColumn, object_array
from fairtransport.space.counting import Counted, Source, check_types
from fairtransport.space.database import Database, Relation
from fairtransport.space.grouping import count_points, encode_fetched
from fairtransport.space.json_files import json_relation
from fairtransport.space.kinds import with_truth_values
from fairtransport.space.parquet_files import parquet_relation
from fairtransport.space.sample_space import native_frame
from fairtransport.space.shards import Shards, find_shards
from fairtransport.space.text_files import text_relation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import narwhals as nw

    from fairtransport.space.binning import Bins

TEXT = (".csv", ".tsv")
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
    """A file, a folder of files, or those that match a pattern; no rows are kept in memory."""

    path: Path
    parameter: str = "X"

    def __post_init__(self) -> None:
        _ = self.shards  # refuses what cannot be read

    @cached_property
    def shards(self) -> Shards:
        """The files that are meant."""
        return find_shards(self.path, self.parameter)

    @cached_property
    def database(self) -> Database:
        """Where the files are counted."""
        return Database()

    @property
    def library(self) -> str:
        """Tables from files are pandas frames."""
        return "pandas"

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
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
        with self._told():
            found = count_points(self.database, self.relation, kinds, names, bins, counts)
        columns = {name: self._as_read(name, column) for name, column in found.columns.items()}
        return Counted(columns, found.counts)

    def table(self) -> nw.DataFrame[Any]:
        """Return all rows in their order, with the values that `count` finds."""
        import narwhals as nw

        fetched = self.fetch(f"SELECT * FROM {self.relation.rows}")  # noqa: S608
        single = {name: values for name, values in fetched.items() if name not in self._nested}
        frame = native_frame(
            {name: self._as_read(name, encode_fetched(one)) for name, one in single.items()},
            self.library,
        )
        for name in self._nested:  # to be refused by those who look at it
            frame[name] = object_array(list(fetched[name]))
        return nw.from_native(frame[list(fetched)], eager_only=True)

    @cached_property
    def relation(self) -> Relation:
        """The files as a table in SQL; what text looks like is found out once."""
        shards = self.shards
        if shards.partitioned_by and shards.kind != ".parquet":
            msg = (
                f"`{self.parameter}` must be Parquet files where folders tell a column, as "
                f"{shards.partitioned_by[0]}=… does, got {shards.kind}"
            )
            raise InputError(msg)
        with self._told():
            if shards.kind in TEXT:
                return text_relation(self.database, shards)
            if shards.kind == ".parquet":
                return parquet_relation(self.database, shards)
            return json_relation(self.database, shards)

    def _as_read(self, name: str, column: CodedColumn) -> CodedColumn:
        """Return a column, with truth values if it is text that spells nothing else."""
        was_text = self.shards.kind in TEXT or name in self.shards.partitioned_by
        return with_truth_values(column) if was_text else column

    @property
    def _nested(self) -> set[str]:
        """The columns of values that hold others."""
        kinds = self.schema.items()
        return {name for name, kind in kinds if kind.startswith(NESTED) or kind.endswith("]")}

    @cached_property
    def schema(self) -> dict[str, str]:
        """The type of each column."""
        with self._told():
            kinds = self.database.kinds(f"SELECT * FROM {self.relation.counted}")  # noqa: S608
        return {name: kind for name, kind in kinds.items() if name != self.relation.times}

    def fetch(self, query: str) -> dict[str, Any]:
        """Return what a query of the relation gives, an array a column."""
        with self._told():
            return self.database.columns(query)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what DuckDB complains of, with the path as it was given."""
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            lines = [line for line in str(error).splitlines() if line.strip()]
            # what is wrong with a line comes after the line itself
            told = [line for line in lines[1:] if line.startswith(CSV_REASONS)]
            reason = "; ".join(lines[:1] + told[:1])
            for path, place in zip(self.shards.paths, self.shards.locations, strict=True):
                for name in (place, os.path.realpath(path)):
                    reason = reason.replace(name, str(path))
            what = f"the file {self.path.name!r}"
            if len(self.shards.paths) > 1:
                what = f"the files of {str(self.path)!r}"
            msg = f"{what} could not be read: {reason}"
            raise DataError(msg) from error
