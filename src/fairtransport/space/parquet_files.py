"""Parquet files that are read as one table, with what the names of their folders say."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from fairtransport.checks import cut
from fairtransport.errors import DataError
from fairtransport.space.database import Database, Relation, literal, literals, location, quoted
from fairtransport.space.same_columns import refuse_other_columns
from fairtransport.space.text_files import Look

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairtransport.space.shards import Shards

# without DuckDB's own partitions: those above the given folder are no columns
READ = "read_parquet({}, hive_partitioning = false, union_by_name = {})"
WIDENED = ("VARCHAR", "INTEGER", "BIGINT", "DOUBLE")
"""Types whose values stay as they are beside a column that was written without a type, which
DuckDB takes for whole numbers."""


def parquet_relation(database: Database, shards: Shards) -> Relation:
    """Return files as a table, if they have the same columns.

    Folders tell a column that the files lack; some writers leave it in the files.
    """
    paths = shards.paths
    if len(paths) > 1:
        _refuse_other_kinds(database, paths)
    told = shards.partitioned_by
    if told:
        own = _kinds(database, paths[0])
        told = [name for name in told if name not in own]
    if told:
        read = _with_partitions(database, shards, told)
    else:
        read = READ.format(literals(shards.locations), str(len(paths) > 1).lower())
    return Relation(read, read)


def _refuse_other_kinds(database: Database, paths: Sequence[Path]) -> None:
    """Refuse files with other columns or types than the first."""
    found = database.run(
        "SELECT list(hash(name, type, converted_type, logical_type) ORDER BY name) "  # noqa: S608
        f"FROM parquet_schema({literals(map(location, paths))}) WHERE num_children IS NULL "
        "GROUP BY file_name"
    ).fetchall()
    if len({tuple(row[0]) for row in found}) == 1:
        return
    kinds = {path: _kinds(database, path) for path in paths}
    nothing = {path: _without_values(database, path) for path in paths}
    for path in paths[1:]:
        refuse_other_columns(paths[0], kinds[paths[0]], path, kinds[path])
    for name in kinds[paths[0]]:
        place = next((path for path in paths if name not in nothing[path]), paths[0])
        wanted = kinds[place][name]
        for path in paths:
            kind = kinds[path][name]
            if kind != wanted and not (name in nothing[path] and wanted in WIDENED):
                msg = (
                    f"files that are read as one must have the same columns, but {name!r} is "
                    f"{cut(kind)} in {str(path)!r} and {cut(wanted)} in {str(place)!r}"
                )
                raise DataError(msg)


def _without_values(database: Database, path: Path) -> set[str]:
    """Return the columns of a file that were written without a type, as nothing was in them."""
    found = database.run(
        f"SELECT name FROM parquet_schema({literal(location(path))}) "  # noqa: S608
        "WHERE logical_type = 'NullType()'"
    ).fetchall()
    return {str(row[0]) for row in found}


def _kinds(database: Database, path: Path) -> dict[str, str]:
    return database.kinds(f"FROM {READ.format(literal(location(path)), 'false')}")


def _with_partitions(database: Database, shards: Shards, names: Sequence[str]) -> str:
    """Return the files of each partition with its values, which are read as text files are."""
    groups: dict[tuple[str | None, ...], list[str]] = {}
    for said, place in zip(shards.partitions, shards.locations, strict=True):
        groups.setdefault(tuple(said[name] for name in names), []).append(place)
    parts = []
    for values, files in zip(_typed(database, names, list(groups)), groups.values(), strict=True):
        told = ", ".join(
            f"{value} AS {quoted(name)}" for name, value in zip(names, values, strict=True)
        )
        parts.append(f"SELECT *, {told} FROM {READ.format(literals(files), 'true')}")  # noqa: S608
    return f"({' UNION ALL BY NAME '.join(parts)})"


def _typed(
    database: Database, names: Sequence[str], partitions: Sequence[tuple[str | None, ...]]
) -> list[list[str]]:
    """Return the values of partitions in SQL, of the types that a text file of them would have."""
    file = database.folder / "partitions.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        # a number before them, as an empty line would be no row
        writer.writerow(["", *names])
        writer.writerows([at, *values] for at, values in enumerate(partitions))
    look = Look.through(database, file)
    kinds = [one["type"] for one in look.columns[1:]]
    found = database.run(f"FROM {look.reader([location(file)])}").fetchall()
    file.unlink()
    return [
        [
            f"CAST({'NULL' if value is None else literal(str(value))} AS {kind})"
            for value, kind in zip(row[1:], kinds, strict=True)
        ]
        for row in sorted(found)
    ]
