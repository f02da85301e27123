"""What text files look like, types included: found out from all lines, wherever they stand.

A value at the end of a file counts for the type of its column as one at the beginning does, and
looking through a file takes DuckDB longer than counting it. So where lines repeat, they are
counted as they are, and the distinct ones are what is looked at, as a file of their own.
"""

from __future__ import annotations

import codecs
import math
import shutil
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtransport.errors import DataError
from fairtransport.space.counting import free_column
from fairtransport.space.database import Database, Relation, literal, literals, location
from fairtransport.space.same_columns import refuse_other_columns
from fairtransport.space.uneven_lines import SIGNS, refuse_left_out, refuse_uneven_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fairtransport.space.shards import Shards

# without BOOLEAN: DuckDB would read a column of yes and no, or of nothing but F, as truth values
DETECTION = (
    "sample_size = -1, header = true, "
    "auto_type_candidates = ['NULL', 'BIGINT', 'DOUBLE', 'TIME', 'DATE', 'TIMESTAMP', 'VARCHAR']"
)
# without partitions: a folder called race=a is no column
READ = f"read_csv({{}}, hive_partitioning = false, {DETECTION})"
READ_LINES = (
    "read_csv({}, hive_partitioning = false, auto_detect = false, header = false, "
    "columns = {{'line': 'VARCHAR'}}, delim = '\x1f', quote = '', escape = '', comment = '')"
)
"""Reads whole lines; one with the sign that stands between units is refused."""
NONE = "(empty)"
"""What DuckDB calls a sign that it did not find."""
LONGEST = 1 << 21
"""Bytes of a line; DuckDB refuses longer ones."""
PIECES, PIECE = 16, 1 << 16
"""How many pieces tell whether lines repeat, and how many bytes each is."""


@dataclass(frozen=True)
class Look:
    """What DuckDB has found out about text files."""

    delimiter: str
    quote: str
    escape: str
    new_line: str
    comment: str
    skipped: int
    columns: list[dict[str, str]]
    date: str | None
    timestamp: str | None

    @classmethod
    def through(cls, database: Database, file: Path) -> Look:
        """Look through a file to its end."""
        found = database.run(
            "SELECT Delimiter, Quote, Escape, NewLineDelimiter, Comment, SkipRows, "  # noqa: S608
            "Columns, DateFormat, TimestampFormat "
            f"FROM sniff_csv({literal(location(file))}, {DETECTION})"
        ).fetchall()
        return cls(*found[0])

    def reader(self, files: Sequence[str], new_line: str | None = None) -> str:
        """Return the table function that reads files; their lines may end in another way."""
        kinds = ", ".join(f"{literal(one['name'])}: {literal(one['type'])}" for one in self.columns)
        options = {"delim": self.delimiter, "quote": self.quote, "escape": self.escape,
                   "new_line": new_line or self.new_line, "comment": self.comment,
                   "dateformat": self.date, "timestampformat": self.timestamp}  # fmt: skip
        chosen = "".join(
            f", {name} = {literal('' if value == NONE else value)}"
            for name, value in options.items()
            if value is not None
        )
        return (
            f"read_csv({literals(files)}, hive_partitioning = false, auto_detect = false, "
            f"header = true, skip = {self.skipped}, columns = {{{kinds}}}{chosen})"
        )


def text_relation(database: Database, shards: Shards) -> Relation:
    """Find out what text files look like, and how to count them in the least time."""
    import duckdb

    heads = [_Head.of(path) for path in shards.paths]
    if len(heads) > 1:
        _refuse_other_columns(database, shards.paths, heads)
    if lines_repeat(shards.paths):
        try:
            found = _distinct_lines(database, shards.locations, heads)
        except (duckdb.Error, UnicodeDecodeError):
            found = None  # what is wrong is said by those who read the files as they are
        if found is not None:
            return found
    try:
        look = _whole_look(database, shards, heads)
    except duckdb.Error as error:
        for path in shards.paths:
            refuse_uneven_lines(path)
        if len(heads) > 1:
            msg = (
                f"the text files of {str(shards.paths[0].parent)!r} could not be read as one: what "
                "stands between their values was not found out"
            )
            raise DataError(msg) from error
        read = READ.format(literals(shards.locations))  # which says what is wrong
    else:
        _refuse_lines_left_out(look, shards.paths)
        read = _rows(look, shards.locations, heads)
    return Relation(read, read)


def _refuse_lines_left_out(look: Look, paths: Sequence[Path]) -> None:
    """Refuse what DuckDB makes of rows of several widths: it leaves some out, or splits none."""
    if look.skipped:
        refuse_left_out(paths[0], look.skipped, look.delimiter)
    (name, *more) = (one["name"] for one in look.columns)
    if not more and any(sign in name for sign in SIGNS):
        for path in paths:
            refuse_uneven_lines(path)


def _rows(look: Look, locations: Sequence[str], heads: Sequence[_Head]) -> str:
    """Return what reads files as rows, each file by the ends that its own lines have."""
    by_end: dict[str, list[str]] = {}
    for place, head in zip(locations, heads, strict=True):
        by_end.setdefault(head.new_line, []).append(place)
    readers = [look.reader(places, end) for end, places in by_end.items()]
    return readers[0] if len(readers) == 1 else f"(FROM {' UNION ALL FROM '.join(readers)})"


def lines_repeat(paths: Sequence[Path]) -> bool:
    """Say whether there seem to be at most half as many distinct lines as lines.

    Pieces from all over the files tell it: of N lines of which N/2 are distinct, n of them show
    about N/2 (1 - exp(-2n/N)) distinct ones.
    """
    sizes = [path.stat().st_size for path in paths]
    seen = [line for piece in _pieces(paths, sizes) for line in piece]
    if not seen:
        return False
    length = sum(map(len, seen)) / len(seen) + 1
    lines = max(len(seen), sum(sizes) / length)
    return len(set(seen)) <= lines / 2 * -math.expm1(-2 * len(seen) / lines)


def _pieces(paths: Sequence[Path], sizes: Sequence[int]) -> Iterator[list[bytes]]:
    """Yield the whole lines of pieces that begin at even steps through all files."""
    step = max(PIECE, sum(sizes) / PIECES)
    before = 0
    for path, size in zip(paths, sizes, strict=True):
        steps = range(math.ceil(before / step), math.ceil((before + size) / step))
        with path.open("rb") as file:
            for place in (int(at * step) - before for at in steps):
                file.seek(place)
                lines = file.read(PIECE).splitlines()
                is_last = place + PIECE >= size
                yield lines[bool(place) : None if is_last else -1]
        before += size


@dataclass(frozen=True)
class _Head:
    """The first line of a file: what stands before it, itself, and how it ends."""

    mark: bytes
    line: bytes
    end: bytes

    @classmethod
    def of(cls, path: Path) -> _Head:
        with path.open("rb") as file:
            beginning = file.readline(LONGEST)
        mark = codecs.BOM_UTF8 if beginning.startswith(codecs.BOM_UTF8) else b""
        whole = b"".join(beginning.removeprefix(mark).splitlines(keepends=True)[:1])
        line = whole.rstrip(b"\r\n")
        return cls(mark, line, whole[len(line) :])

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        return len(self.mark + self.line + self.end)

    @property
    def new_line(self) -> str:
        """The end of lines, as DuckDB writes it."""
        return self.end.decode().replace("\r", "\\r").replace("\n", "\\n") or "\\n"


def _distinct_lines(
    database: Database, locations: Sequence[str], heads: Sequence[_Head]
) -> Relation | None:
    """Count lines as they are, and look at the distinct ones; None where they are not rows."""
    _count_lines(database, READ_LINES.format(literals(locations)), heads)
    # a quote that goes on in the next line
    unclosed = "(length(line) - length(replace(line, '\"', ''))) % 2 = 1"
    if database.size(f"lines WHERE {unclosed}"):
        return None
    file = database.folder / "lines.csv"
    database.run(
        f"COPY (SELECT line FROM lines) TO {literal(str(file))} "  # noqa: S608
        "(FORMAT csv, HEADER false, DELIMITER '\x1f', QUOTE '', ESCAPE '')"
    )
    look = Look.through(database, file)
    # of one column, an empty line would be a row
    is_plain = not look.skipped and look.comment == NONE and look.columns[1:] and heads[0].line
    if not is_plain:
        return None
    database.run(f"CREATE TABLE distinct_rows AS FROM {look.reader([location(file)])}")
    file.unlink()
    times = free_column([one["name"] for one in look.columns], "t")
    database.run(f"CREATE TABLE times AS SELECT times AS {times} FROM lines WHERE times > 0")  # noqa: S608
    database.run("DROP TABLE lines")
    if database.size("distinct_rows") != database.size("times"):
        return None
    rows = _rows(look, locations, heads)
    return Relation(rows, "distinct_rows POSITIONAL JOIN times", times)


def _count_lines(database: Database, reader: str, heads: Sequence[_Head]) -> None:
    """Make a table of the distinct lines, sorted, and their counts; that of the names is first."""
    names = Counter(head.line.decode() for head in heads)
    headers = " ".join(f"WHEN {literal(line)} THEN {count}" for line, count in names.items())
    first = literal((heads[0].mark + heads[0].line).decode())
    database.run(
        f"CREATE TABLE lines AS FROM (SELECT {first} AS line, 0 AS times UNION ALL "  # noqa: S608
        f"SELECT line, count(*) - CASE line {headers} ELSE 0 END AS times FROM {reader} "
        "WHERE line IS NOT NULL GROUP BY line HAVING times > 0) ORDER BY times > 0, line"
    )


def _whole_look(database: Database, shards: Shards, heads: Sequence[_Head]) -> Look:
    """Look through files as they are; several are one after the other, with one line of names."""
    if len(shards.paths) == 1:
        return Look.through(database, shards.paths[0])
    together = database.folder / "together.csv"
    end = next((head.end for head in heads if head.end), b"\n")
    with together.open("wb") as file:
        file.write(heads[0].mark + heads[0].line + end)
        for path, head in zip(shards.paths, heads, strict=True):
            with path.open("rb") as shard:
                shard.seek(head.size)
                if head.end == end:
                    shutil.copyfileobj(shard, file, LONGEST)
                else:
                    file.writelines(line.replace(head.end or b"\n", end) for line in shard)
            file.write(end)  # the last line may have none; empty ones are no rows
    try:
        look = Look.through(database, together)
    finally:
        together.unlink()
    if look.skipped:
        for path in shards.paths:
            refuse_uneven_lines(path)
        msg = (
            "text files that are read as one must begin with the names of their columns and have "
            f"as many values in each row, but those of {str(shards.paths[0].parent)!r} do not"
        )
        raise DataError(msg)
    return look


def _refuse_other_columns(
    database: Database, paths: Sequence[Path], heads: Sequence[_Head]
) -> None:
    """Refuse files whose first lines name other columns than that of the first."""
    import duckdb

    def names(path: Path) -> list[str]:
        try:
            found = database.kinds(f"FROM read_csv({literal(location(path))}, header = true)")
        except duckdb.Error:
            return []  # said by those who read it
        return list(found)

    for path, head in zip(paths[1:], heads[1:], strict=True):
        if head.line == heads[0].line:
            continue
        first, other = names(paths[0]), names(path)
        refuse_other_columns(paths[0], first, path, other)
        if first != other:
            moved = next(name for name, at in zip(first, other, strict=True) if name != at)
            msg = (
                "text files that are read as one must have their columns in the same order, but "
                f"{moved!r} stands elsewhere in {str(path)!r} than in {str(paths[0])!r}"
            )
            raise DataError(msg)
