"""CSV and TSV files: dialect, column types and uneven rows.

The type of a column depends on every line, and detection takes DuckDB longer than counting. If
lines repeat, they are counted first and the dialect is detected from the distinct lines.
"""

from __future__ import annotations

import codecs
import csv
import math
import re
import shutil
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.validation import short_repr, shorten
from fairtransport.data.columns import ROUNDING_ADVICE
from fairtransport.data.database import (
    Database,
    Relation,
    duckdb_path,
    free_column,
    quote_text,
    quote_texts,
)
from fairtransport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from fairtransport.data.columns import CodedColumn
    from fairtransport.data.files import Shards


# without BOOLEAN: DuckDB would read yes and no, or a column of F alone, as bools
DETECTION = (
    "sample_size = -1, header = true, "
    "auto_type_candidates = ['NULL', 'BIGINT', 'DOUBLE', 'TIME', 'DATE', 'TIMESTAMP', 'VARCHAR']"
)
# without partitions: a folder race=a is not a column of a text file
READ_CSV = f"read_csv({{}}, hive_partitioning = false, {DETECTION})"
READ_LINES = (
    "read_csv({}, hive_partitioning = false, auto_detect = false, header = false, "
    "columns = {{'line': 'VARCHAR'}}, delim = '\x1f', quote = '', escape = '', comment = '')"
)
"""Reads whole lines; fails on a line that contains the unit separator."""
NOT_DETECTED = "(empty)"
"""DuckDB's word for a character that does not occur."""
MAX_LINE_BYTES = 1 << 21
"""Longest line that DuckDB reads."""
SAMPLE_PIECES, PIECE_BYTES = 16, 1 << 16
"""Number and size of the pieces from which repetition of lines is estimated."""
DELIMITERS = (",", ";", "\t", "|")
"""Possible delimiters."""
SPELLINGS = ({"True", "False"}, {"true", "false"}, {"TRUE", "FALSE"})
"""Spellings of bools in a column, as in pandas."""
WHOLE, NUMBER, TRUTH, TEXT = "whole numbers", "numbers", "truth values", "text"
DIGITS = re.compile(r"\s*-?\d+\s*", re.ASCII)
CODE = re.compile(r"\s*(\+|0\d|.*(_|inf))", re.ASCII | re.IGNORECASE)
"""Words that only Python reads as numbers: codes such as 007 and +49, 1_000, infinity."""
INT64_RANGE = range(-(2**63), 2**63)


@dataclass(frozen=True)
class Dialect:
    """CSV dialect and column types that DuckDB detected."""

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
    def detect(cls, database: Database, file: Path) -> Dialect:
        """Detect the dialect from all lines of a file."""
        rows = database.run(
            "SELECT Delimiter, Quote, Escape, NewLineDelimiter, Comment, SkipRows, "  # noqa: S608
            "Columns, DateFormat, TimestampFormat "
            f"FROM sniff_csv({quote_text(duckdb_path(file))}, {DETECTION})"
        ).fetchall()
        dialect = cls(*rows[0])
        _check_header(dialect, _Header.of(file))
        return dialect

    @property
    def of_text(self) -> Dialect:
        """The same dialect with all columns as text."""
        return replace(self, columns=[{**column, "type": "VARCHAR"} for column in self.columns])

    def reader(self, files: Sequence[str], new_line: str | None = None) -> str:
        """Return the SQL table function that reads files, with another line end if set."""
        kinds = ", ".join(
            f"{quote_text(column['name'])}: {quote_text(column['type'])}" for column in self.columns
        )
        options = {"delim": self.delimiter, "quote": self.quote, "escape": self.escape,
                   "new_line": new_line or self.new_line, "comment": self.comment,
                   "dateformat": self.date, "timestampformat": self.timestamp}  # fmt: skip
        arguments = "".join(
            f", {name} = {quote_text('' if value == NOT_DETECTED else value)}"
            for name, value in options.items()
            if value is not None
        )
        return (
            f"read_csv({quote_texts(files)}, hive_partitioning = false, auto_detect = false, "
            f"header = true, skip = {self.skipped}, columns = {{{kinds}}}{arguments})"
        )


def text_relation(database: Database, shards: Shards) -> Relation:
    """Return text files as one table in SQL."""
    import duckdb

    heads = [_Header.of(path) for path in shards.paths]
    if len(heads) > 1:
        _check_same_columns(database, shards.paths, heads)
    if lines_repeat(shards.paths):
        try:
            relation = _distinct_lines(database, shards.locations, heads)
        except (duckdb.Error, UnicodeDecodeError):
            relation = None  # reading the files unchanged reports the error
        if relation is not None:
            return relation
    try:
        dialect = _detect_dialect(database, shards, heads)
    except duckdb.Error as error:
        for path in shards.paths:
            check_line_widths(path)
        if len(heads) > 1:
            msg = (
                f"the text files of {str(shards.paths[0].parent)!r} could not be read as one: the "
                "separator of their values is not clear"
            )
            raise DataError(msg) from error
        reader = texts = READ_CSV.format(quote_texts(shards.locations))  # DuckDB reports the error
    else:
        _check_no_lines_skipped(dialect, shards.paths)
        reader = _reader_of_files(dialect, shards.locations, heads)
        texts = _reader_of_files(dialect.of_text, shards.locations, heads)
    return Relation(reader, reader, texts=lambda _: texts)


def _check_no_lines_skipped(dialect: Dialect, paths: Sequence[Path]) -> None:
    """Check that DuckDB neither skips rows of another width nor reads them as one column."""
    if dialect.skipped:
        check_skipped_lines(paths[0], dialect.skipped, dialect.delimiter)
    (name, *more) = (column["name"] for column in dialect.columns)
    if not more and any(delimiter in name for delimiter in DELIMITERS):
        for path in paths:
            check_line_widths(path)


def _reader_of_files(dialect: Dialect, locations: Sequence[str], heads: Sequence[_Header]) -> str:
    """Return the SQL that reads files, each with its own line end."""
    by_end: dict[str, list[str]] = {}
    for place, head in zip(locations, heads, strict=True):
        by_end.setdefault(head.new_line, []).append(place)
    readers = [dialect.reader(places, end) for end, places in by_end.items()]
    return readers[0] if len(readers) == 1 else f"(FROM {' UNION ALL FROM '.join(readers)})"


def _check_header(dialect: Dialect, head: _Header) -> None:
    """Check that no column is twice in a header: DuckDB would rename the second.

    An unclosed quote would become part of a name.
    """
    for column in dialect.columns:
        if column["name"].startswith('"') and head.line.count(b'"') % 2:
            msg = f"the header has a quote that is not closed, in {short_repr(column['name'])}"
            raise DataError(msg)
    quote = None if dialect.quote == NOT_DETECTED else dialect.quote
    line = head.line.decode(errors="replace")
    (names,) = csv.reader(
        [line], delimiter=dialect.delimiter, quotechar=quote,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
    )  # fmt: skip
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names, 1):
        places.setdefault(name.strip().lower(), []).append(place)
    for name, (first, *more) in places.items():
        if name and more:
            msg = (
                "the header must have distinct column names, whatever their capital letters, "
                f"but column {first} is {short_repr(names[first - 1])} and column {more[0]} is "
                f"{short_repr(names[more[0] - 1])}"
            )
            raise DataError(msg)


def lines_repeat(paths: Sequence[Path]) -> bool:
    """Return whether at most about half of the lines are distinct.

    Estimated from pieces of the files: if N/2 of N lines are distinct, a sample of n lines has
    about N/2 (1 - exp(-2n/N)) distinct ones.
    """
    sizes = [path.stat().st_size for path in paths]
    sample = [line for piece in _sample_lines(paths, sizes) for line in piece]
    if not sample:
        return False
    length = sum(map(len, sample)) / len(sample) + 1
    lines = max(len(sample), sum(sizes) / length)
    return len(set(sample)) <= lines / 2 * -math.expm1(-2 * len(sample) / lines)


def _sample_lines(paths: Sequence[Path], sizes: Sequence[int]) -> Iterator[list[bytes]]:
    """Yield the complete lines of evenly spaced pieces of all files."""
    step = max(PIECE_BYTES, sum(sizes) / SAMPLE_PIECES)
    before = 0
    for path, size in zip(paths, sizes, strict=True):
        steps = range(math.ceil(before / step), math.ceil((before + size) / step))
        with path.open("rb") as file:
            for place in (int(at * step) - before for at in steps):
                file.seek(place)
                lines = file.read(PIECE_BYTES).splitlines()
                is_last = place + PIECE_BYTES >= size
                yield lines[bool(place) : None if is_last else -1]
        before += size


@dataclass(frozen=True)
class _Header:
    """The first line of a file, with its byte order mark and line end."""

    mark: bytes
    line: bytes
    end: bytes

    @classmethod
    def of(cls, path: Path) -> _Header:
        with path.open("rb") as file:
            beginning = file.readline(MAX_LINE_BYTES)
        mark = codecs.BOM_UTF8 if beginning.startswith(codecs.BOM_UTF8) else b""
        whole = b"".join(beginning.removeprefix(mark).splitlines(keepends=True)[:1])
        line = whole.rstrip(b"\r\n")
        return cls(mark, line, whole[len(line) :])

    @property
    def size(self) -> int:
        """Number of bytes."""
        return len(self.mark + self.line + self.end)

    @property
    def new_line(self) -> str:
        """Line end in DuckDB's notation."""
        return self.end.decode().replace("\r", "\\r").replace("\n", "\\n") or "\\n"


def _distinct_lines(
    database: Database, locations: Sequence[str], heads: Sequence[_Header]
) -> Relation | None:
    """Count whole lines and detect the dialect of the distinct ones; None if lines are not rows."""
    _count_lines(database, READ_LINES.format(quote_texts(locations)), heads)
    # a quoted value that continues on the next line
    unclosed = "(length(line) - length(replace(line, '\"', ''))) % 2 = 1"
    if database.size(f"lines WHERE {unclosed}"):
        return None
    file = database.folder / "lines.csv"
    database.run(
        f"COPY (SELECT line FROM lines) TO {quote_text(str(file))} "  # noqa: S608
        "(FORMAT csv, HEADER false, DELIMITER '\x1f', QUOTE '', ESCAPE '')"
    )
    dialect = Dialect.detect(database, file)
    # with a single column, an empty line would be a row
    is_plain = (
        not dialect.skipped
        and dialect.comment == NOT_DETECTED
        and dialect.columns[1:]
        and heads[0].line
    )
    if not is_plain:
        return None
    database.run(f"CREATE TABLE distinct_rows AS FROM {dialect.reader([duckdb_path(file)])}")
    file.unlink()
    times = free_column([column["name"] for column in dialect.columns], "t")
    database.run(f"CREATE TABLE times AS SELECT times AS {times} FROM lines WHERE times > 0")  # noqa: S608
    database.run("DROP TABLE lines")
    if database.size("distinct_rows") != database.size("times"):
        return None
    rows = _reader_of_files(dialect, locations, heads)
    texts = _reader_of_files(dialect.of_text, locations, heads)
    return Relation(rows, "distinct_rows POSITIONAL JOIN times", times, lambda _: texts)


def _count_lines(database: Database, reader: str, heads: Sequence[_Header]) -> None:
    """Create a sorted table of the distinct lines and their counts; the header comes first."""
    names = Counter(head.line.decode() for head in heads)
    headers = " ".join(f"WHEN {quote_text(line)} THEN {count}" for line, count in names.items())
    first = quote_text((heads[0].mark + heads[0].line).decode())
    database.run(
        f"CREATE TABLE lines AS FROM (SELECT {first} AS line, 0 AS times UNION ALL "  # noqa: S608
        f"SELECT line, count(*) - CASE line {headers} ELSE 0 END AS times FROM {reader} "
        "WHERE line IS NOT NULL GROUP BY line HAVING times > 0) ORDER BY times > 0, line"
    )


def _detect_dialect(database: Database, shards: Shards, heads: Sequence[_Header]) -> Dialect:
    """Detect the dialect of one file, or of several joined under one header."""
    if len(shards.paths) == 1:
        return Dialect.detect(database, shards.paths[0])
    together = database.folder / "together.csv"
    end = next((head.end for head in heads if head.end), b"\n")
    with together.open("wb") as file:
        file.write(heads[0].mark + heads[0].line + end)
        for path, head in zip(shards.paths, heads, strict=True):
            with path.open("rb") as shard:
                shard.seek(head.size)
                if head.end == end:
                    shutil.copyfileobj(shard, file, MAX_LINE_BYTES)
                else:
                    file.writelines(line.replace(head.end or b"\n", end) for line in shard)
            file.write(end)  # the last line may lack one; empty lines are not rows
    try:
        dialect = Dialect.detect(database, together)
    finally:
        together.unlink()
    if dialect.skipped:
        for path in shards.paths:
            check_line_widths(path)
        msg = (
            "text files that are read as one must begin with the names of their columns and have "
            f"as many values in each row, but those of {str(shards.paths[0].parent)!r} do not"
        )
        raise DataError(msg)
    return dialect


def _check_same_columns(
    database: Database, paths: Sequence[Path], heads: Sequence[_Header]
) -> None:
    """Check that all headers name the same columns in the same order."""
    import duckdb

    def names(path: Path) -> list[str]:
        try:
            kinds = database.kinds(f"FROM read_csv({quote_text(duckdb_path(path))}, header = true)")
        except duckdb.Error:
            return []  # reading the file reports the error
        return list(kinds)

    for path, head in zip(paths[1:], heads[1:], strict=True):
        if head.line == heads[0].line:
            continue
        first, other = names(paths[0]), names(path)
        check_same_columns(paths[0], first, path, other)
        if first != other:
            misplaced = next(name for name, at in zip(first, other, strict=True) if name != at)
            msg = (
                "text files that are read as one must have their columns in the same order, but "
                f"{misplaced!r} stands elsewhere in {str(path)!r} than in {str(paths[0])!r}"
            )
            raise DataError(msg)


def check_line_widths(path: Path) -> None:
    """Check that all lines have the same number of values and the same line end."""
    # reading the file reports invalid bytes and too long values
    with suppress(csv.Error, UnicodeDecodeError):
        _check_line_ends(path)
        _check_row_widths(path)


def check_skipped_lines(path: Path, skipped: int, delimiter: str) -> None:
    """Check that the lines skipped before the header are not rows."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        left_out = [line for line in islice(file, skipped) if not line.startswith("#")]
    if not any(delimiter in line for line in left_out):
        return
    check_line_widths(path)
    msg = (
        f"rows must have as many values as there are columns, but the first {skipped} lines of "
        f"{str(path)!r} are unlike the others"
    )
    raise DataError(msg)


def _check_line_ends(path: Path) -> None:
    """Check that all lines end alike."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        first_end = None
        for at, line in enumerate(file, 1):
            if not line.endswith("\n"):
                return
            end = r"\r\n" if line.endswith("\r\n") else r"\n"
            first_end = first_end or end
            if end != first_end:
                msg = (
                    f"the lines of a file must end alike, but line 1 of {str(path)!r} ends in "
                    f"{first_end} and line {at} in {end}"
                )
                raise DataError(msg)


def _check_row_widths(path: Path) -> None:
    """Check that all rows have as many values as the first; empty lines are not rows."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        delimiter = max(DELIMITERS, key=file.readline().count)
        file.seek(0)
        rows = csv.reader(file, delimiter=delimiter)
        width = len(next(rows, []))
        for row in rows if width > 1 else ():
            if row and len(row) != width:
                some = "1 value" if len(row) == 1 else f"{len(row)} values"
                msg = (
                    f"rows must have as many values as there are columns, but line {rows.line_num} "
                    f"of {str(path)!r} has {some} and line 1 has {width}"
                )
                raise DataError(msg)


def widen_kind(kind: str | None, values: Iterable[str]) -> str | None:
    """Return the kind of a column after adding values; None if all are empty, that is missing."""
    words = {value for value in values if value}
    if kind == TEXT or not words:
        return kind
    if kind != TRUTH and all(map(is_whole, words)):
        return kind or WHOLE
    if kind != TRUTH and all(map(is_number, words)):
        return NUMBER
    if kind in {None, TRUTH} and are_truth_values(words):
        return TRUTH
    return TEXT


def parse_value(text: str, kind: str | None, column: str) -> str | bool | float | None:
    """Return the value of a text in a column of a kind; None if missing."""
    if not text:
        return None
    if kind == TEXT:
        return text
    if kind == TRUTH and are_truth_values({text}):
        return truth_value(text)
    if kind == WHOLE and is_whole(text):
        return int(text)
    if kind in {WHOLE, NUMBER} and is_number(text):
        check_not_rounded(column, [text])
        value = float(text)
        if math.isnan(value):
            return None
        if kind == NUMBER or value.is_integer():
            return value
    msg = (
        f"the column {column!r} held {kind} when the monitor began and must go on to, "
        f"got {short_repr(text)}; a new state begins with the file as it is now"
    )
    raise DataError(msg)


def are_truth_values(words: Collection[str]) -> bool:
    """Return whether all words are bools in one spelling."""
    return any(pair.issuperset(words) for pair in SPELLINGS)


def truth_value(word: str) -> bool:
    """Return the bool that a word spells."""
    return word.lower() == "true"


def parse_truth_values(column: CodedColumn) -> CodedColumn:
    """Return a column as bools if its words spell nothing else."""
    words = column.levels.tolist()
    if not words or not are_truth_values(words):
        return column
    return replace(column, levels=np.array([truth_value(word) for word in words]))


def is_whole(text: str) -> bool:
    """Return whether text is an integer of 64 bits."""
    looks_whole = DIGITS.fullmatch(text) and not CODE.match(text)
    return bool(looks_whole) and int(text) in INT64_RANGE


def check_not_rounded(column: str, texts: Iterable[str]) -> None:
    """Check that the integers among texts are exact as floats."""
    for text in texts:
        if DIGITS.fullmatch(text) and Decimal(float(text)) != Decimal(text):
            msg = (
                f"the column {column!r} holds whole numbers that would be rounded, as "
                f"{shorten(text.strip())} would; {ROUNDING_ADVICE}"
            )
            raise DataError(msg)


def is_number(text: str) -> bool:
    """Return whether text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return not CODE.match(text)


def check_same_columns(
    first: Path, names: Collection[str], other: Path, others: Collection[str]
) -> None:
    """Check that two files have the same columns."""
    lacking = [(other, name, first) for name in names if name not in others]
    lacking += [(first, name, other) for name in others if name not in names]
    for file, name, there in lacking:
        msg = (
            f"files that are read as one must have the same columns, but {str(file)!r} lacks "
            f"{name!r}, which {str(there)!r} has"
        )
        raise DataError(msg)
