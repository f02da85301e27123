"""JSON files that are read as one table, types included: found out from all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.space.database import Database, Relation, literals, location
from fairtransport.space.same_columns import refuse_other_columns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairtransport.space.shards import Shards

# all of it, as a value at the end counts for its column as one at the beginning does
READ = (
    "read_json({}, hive_partitioning = false, format = '{}', sample_size = -1, "
    "maximum_sample_files = {}, union_by_name = true)"
)


def json_relation(database: Database, shards: Shards) -> Relation:
    """Return files as a table, if they have the same columns; a row may lack some of them."""
    form = "auto" if shards.kind == ".json" else "newline_delimited"
    if len(shards.paths) > 1:
        _refuse_other_columns(database, shards.paths, form)
    read = READ.format(literals(shards.locations), form, len(shards.paths))
    return Relation(read, read)


def _refuse_other_columns(database: Database, paths: Sequence[Path], form: str) -> None:
    """Refuse files of which no row has a column that another's rows have, or the other way."""
    filled = [path for path in paths if path.stat().st_size]
    names = {
        path: database.kinds(f"FROM {READ.format(literals([location(path)]), form, 1)}")
        for path in filled
    }
    for path in filled[1:]:
        refuse_other_columns(filled[0], names[filled[0]], path, names[path])
