"""The one way to DuckDB: a database in memory, its settings, and SQL's words for names and text."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from weakref import finalize

from fairtransport.errors import DataError
from fairtransport.memory import for_duckdb

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd


class Database:
    """A database in memory; what does not fit goes to a folder that ends with it.

    Attributes
    ----------
    folder
        A folder of its own, for the user alone.
    """

    def __init__(self) -> None:
        self.folder = Path(mkdtemp(prefix="fairtransport-"))
        finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    @cached_property
    def _connection(self) -> Any:
        import duckdb

        # in a folder of its own, as files of other databases have the same names
        settings: dict[str, Any] = {"temp_directory": str(self.folder / "spilled")}
        return duckdb.connect(config=settings | for_duckdb())

    def run(self, statement: str) -> Any:
        """Run a statement and return its open result."""
        # a cursor of its own, as a connection is not for several threads
        return self._connection.cursor().execute(statement)

    def columns(self, query: str) -> dict[str, Any]:
        """Return what a query gives, an array a column."""
        return dict(self.run(query).fetchnumpy())

    def kinds(self, query: str) -> dict[str, str]:
        """Return the columns of a query and their types."""
        return {str(row[0]): str(row[1]) for row in self.run(f"DESCRIBE {query}").fetchall()}

    def size(self, table: str) -> int:
        """Return how many rows a table has."""
        return int(self.run(f"SELECT count(*) FROM {table}").fetchall()[0][0])  # noqa: S608

    def as_parquet(self, table: pd.DataFrame) -> bytes:
        """Return a table as the bytes of a Parquet file; DuckDB writes to paths alone.

        Raises
        ------
        DataError
            If there is no room for the file.
        """
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
    """A table in SQL.

    Attributes
    ----------
    rows
        What all rows are read from, in their order.
    counted
        What rows are counted from, where one may stand for several equal ones.
    times
        The column of ``counted`` that says for how many; None: each for one.
    """

    rows: str
    counted: str
    times: str | None = None


def location(path: Path) -> str:
    """Return a file as DuckDB finds it and no other, whatever its name looks like.

    The whole path, as ``~`` or ``file:`` at its beginning would be more than a name; signs of a
    pattern between brackets, where each stands for itself.
    """
    return re.sub(r"[*?[]", r"[\g<0>]", os.path.realpath(path))


def literal(text: str) -> str:
    """Return text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def literals(texts: Iterable[str]) -> str:
    """Return a list of texts as SQL writes it."""
    return f"[{', '.join(map(literal, texts))}]"


def quoted(name: str) -> str:
    """Return the name of a column as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
