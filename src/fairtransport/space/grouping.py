"""One SQL group-by: distinct rows in a database, coded there, so that only codes come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.space.binning import Bins, bin_sql
from fairtransport.space.columns import MISSING, CodedColumn, encode, object_array
from fairtransport.space.counting import MOST_PEOPLE, Counted, checked_counts, helper_columns
from fairtransport.space.database import Database, Relation, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FLOATS = ("FLOAT", "DOUBLE")


def count_points(
    database: Database, relation: Relation, kinds: Mapping[str, str], names: Sequence[str],
    bins: Bins, counts: str | None,
) -> Counted:  # fmt: skip
    """Return the distinct rows over ``names``, and how many people each stands for."""
    keys = ", ".join(f"{_key(name, bins, kinds[name])} AS {quoted(name)}" for name in names)
    count, bad = helper_columns(names)
    people, wrong = _sums(relation.times, counts)
    database.run(
        f"CREATE OR REPLACE TABLE points AS SELECT {keys}, {people} AS {count}, "  # noqa: S608
        f"{wrong} AS {bad} FROM {relation.counted} GROUP BY ALL HAVING {count} > 0 OR {bad} > 0"
    )
    texts = [name for name in names if name in bins or kinds[name] == "VARCHAR"]
    levels = {name: _levels(database, name, at) for at, name in enumerate(texts)}
    codes = (
        f"enum_code({quoted(name)}::levels_{texts.index(name)}) AS {quoted(name)}"
        if name in levels
        else quoted(name)
        for name in names
    )
    found = database.columns(f"SELECT {', '.join([*codes, count, bad])} FROM points")  # noqa: S608
    columns = {
        name: _coded(levels[name], found[name]) if name in levels else encode_fetched(found[name])
        for name in names
    }
    return checked_counts(columns, found[count], found[bad], bins, counts)


def _key(name: str, bins: Bins, kind: str) -> str:
    if name in bins:
        return bin_sql(quoted(name), bins[name])
    column = quoted(name)
    return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END" if kind in FLOATS else column


def _sums(times: str | None, counts: str | None) -> tuple[str, str]:
    """Return how many people a point stands for, and how many of its rows break the rule."""
    if counts is None:
        return "count(*)" if times is None else f"sum({times})::BIGINT", "0"
    weight, each = quoted(counts), times or "1"
    # comparing with NaN is not enough: statistics in a Parquet file leave it out
    is_whole = f"{weight} BETWEEN 0 AND {MOST_PEOPLE} AND {weight} = round({weight})"
    usable = f"NOT isnan({weight}::DOUBLE) AND {is_whole}"
    people = f"sum((CASE WHEN {usable} THEN {weight} ELSE 0 END)::DOUBLE * {each})"
    return people, f"sum(CASE WHEN {usable} THEN 0 ELSE {each} END)::BIGINT"


def _levels(database: Database, name: str, at: int) -> list[str]:
    """Return the distinct words of a column, sorted, of which the database makes a type.

    It sorts by bytes of UTF-8, which is the order of characters.
    """
    column = quoted(name)
    distinct = f"SELECT DISTINCT {column} FROM points WHERE {column} IS NOT NULL ORDER BY {column}"  # noqa: S608
    database.run(f"DROP TYPE IF EXISTS levels_{at}")
    database.run(f"CREATE TYPE levels_{at} AS ENUM ({distinct})")
    found = database.run(f"SELECT unnest(enum_range(NULL::levels_{at}))").fetchall()
    return [level for (level,) in found]


def _coded(levels: Sequence[str], codes: Any) -> CodedColumn:
    filled = np.ma.filled(np.ma.asarray(codes, np.int64), MISSING)
    return CodedColumn(object_array(levels), filled)


def encode_fetched(values: Any) -> CodedColumn:
    """Code values as DuckDB hands them out."""
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
