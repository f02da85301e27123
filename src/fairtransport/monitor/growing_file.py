"""The input of a monitor: a file that grows at its end."""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Callable
from hashlib import sha256
from io import StringIO
from typing import TYPE_CHECKING, TypeAlias, TypedDict, TypeVar

from fairtransport._core.files import check_file
from fairtransport._core.validation import short_repr
from fairtransport.data.columns import Value
from fairtransport.data.text_files import parse_value, widen_kind
from fairtransport.errors import DataError, InputError, param

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

Record: TypeAlias = dict[str, Value]
"""A case: its values by the names of the columns."""
Row = TypeVar("Row")
Split: TypeAlias = Callable[[list[str]], tuple[list[Row], int]]
"""Converts complete lines into rows; also returns the number of lines used."""

PIECE = 1 << 22
"""Number of bytes per read, and so the maximum length of a row."""
SEPARATORS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
MARKUP = (b"<!doctype", b"<html", b"<?xml")
"""The beginnings of error pages that a server sends instead of a file."""
OPEN_QUOTE = "unexpected end of data"
"""The csv module's message about a quote that is still open at the end."""


class Position(TypedDict):
    """The position of the next records in a file, with its properties so far."""

    bytes: int
    sha256: str
    header: list[str] | None
    kinds: dict[str, str | None]


class GrowingFile:
    """The records that were added to a CSV or JSON-lines file since a position.

    The type of a column of a CSV file is determined by the whole file when the column has its first
    value; later values must fit. The file is read up to its size at construction.
    """

    def __init__(self, path: Path, position: Position | None = None) -> None:
        kinds = (*SEPARATORS, *JSON_LINES)
        if path.suffix.lower() not in kinds:
            msg = f"{param('FILE')} must be of type {', '.join(kinds)}, got {str(path)!r}"
            raise InputError(msg)
        check_file("FILE", path)
        self.path = path
        self.size = path.stat().st_size
        self.header: list[str] | None = None if position is None else position["header"]
        self.kinds: dict[str, str | None] = {} if position is None else dict(position["kinds"])
        self.offset = 0 if position is None else int(position["bytes"])
        self._hash = sha256()
        self._has_columns = self.is_json
        if position is not None:
            self._check_prefix(position["sha256"])

    @property
    def is_json(self) -> bool:
        """Whether each line is a JSON object."""
        return self.path.suffix.lower() in JSON_LINES

    @property
    def waiting(self) -> int:
        """Number of bytes of an incomplete row at the end, which are not counted."""
        return self.size - self.offset

    @property
    def position(self) -> Position:
        """The position of the next records."""
        return {
            "bytes": self.offset,
            "sha256": self._hash.hexdigest(),
            "header": self.header,
            "kinds": self.kinds,
        }

    def find_columns(self) -> list[str] | None:
        """Find the columns of a CSV file and their types, as far as unknown.

        None: there is no header yet, or each record has its own names.

        Types are those of the whole file as it is now, as in an audit of it: the first lines alone
        could turn codes into numbers.
        """
        if self._has_columns or (self.header and all(map(self.kinds.get, self.header))):
            return self.header
        header, typed_columns = self.header, {name for name, kind in self.kinds.items() if kind}
        for rows, _ in self._batches(self._csv_rows):
            cases = self._without_header(rows)
            for name, values in zip(self.header or (), zip(*cases, strict=True), strict=False):
                if name not in typed_columns:
                    self.kinds[name] = widen_kind(self.kinds.get(name), values)
        self._has_columns = True
        columns, self.header = self.header, header  # the records that follow begin with it
        return columns

    def pieces(self) -> Iterator[tuple[list[Record], Position]]:
        """Yield records and the position after them; an incomplete row waits."""
        self.find_columns()
        for records, whole in self._record_batches():
            self.offset += len(whole)
            self._hash.update(whole)
            yield records, self.position

    def _record_batches(self) -> Iterator[tuple[list[Record], bytes]]:
        """Yield records and their bytes, piece by piece of the file."""
        if self.is_json:
            yield from self._batches(self._json_records)
            return
        for rows, whole in self._batches(self._csv_rows):
            yield self._records(self._without_header(rows)), whole

    def _batches(self, split: Split[Row]) -> Iterator[tuple[list[Row], bytes]]:
        """Yield the unread rows and their bytes."""
        rest, at = b"", self.offset
        with self.path.open("rb") as file:
            file.seek(at)
            # up to the initial size only: later additions are for the next run
            while piece := file.read(min(PIECE, self.size - at - len(rest))):
                rest += piece
                rows, end = self._complete(rest, split, is_first=at == 0)
                if end:
                    yield rows, rest[:end]
                    rest, at = rest[end:], at + end
                elif len(rest) > PIECE:
                    msg = (
                        f"each row of {self.path.name!r} must end within {PIECE:,} bytes, "
                        f"but the one after byte {at:,} does not"
                    )
                    raise DataError(msg)
        if rest:
            self._check_waiting(rest, is_first=at == 0)

    def _complete(
        self, data: bytes, split: Split[Row], *, is_first: bool
    ) -> tuple[list[Row], int]:  # fmt: skip
        """Return the complete rows at the beginning, and their number of bytes."""
        end = last_line_end(data)
        lines = split_lines(self._text(data[:end], is_first=is_first))
        rows, count = split(lines)
        # without the lines of an incomplete row, in bytes
        return (rows, end - len("".join(lines[count:]).encode())) if count else ([], 0)

    def _json_records(self, lines: list[str]) -> tuple[list[Record], int]:
        """Return the records of JSON lines, without empty lines."""
        records = [json_record(line, self.path.name) for line in lines if line.strip()]
        return records, len(lines)

    def _csv_rows(self, lines: list[str]) -> tuple[list[list[str]], int]:
        """Return the rows of CSV lines."""
        return csv_rows(lines, self._separator, self.path.name)

    def _check_waiting(self, rest: bytes, *, is_first: bool) -> None:
        """Check that further bytes can complete the last row."""
        text = self._text(rest, is_first=is_first, is_last=False)
        if self.is_json:
            if text.strip() and not text.lstrip().startswith("{"):
                json_record(text, self.path.name)
            return
        lines = split_lines(text[: last_line_end(text.encode())])
        if len(lines) > 1:
            columns = None if self.header is None else len(self.header)
            check_quotes(lines, columns, self._separator, self.path.name)

    def _text(self, data: bytes, *, is_first: bool, is_last: bool = True) -> str:
        """Return bytes as text; unless they are the last, they may end inside a character."""
        if is_first and data.lstrip(codecs.BOM_UTF8 + b" \r\n\t").lower().startswith(MARKUP):
            msg = f"{self.path.name!r} must hold a table, but it is an HTML or XML page"
            raise DataError(msg)
        try:
            # only the first bytes of a file can be a byte order mark
            decoder = codecs.getincrementaldecoder("utf-8-sig" if is_first else "utf-8")()
            text = decoder.decode(data, final=is_last)
        except UnicodeDecodeError as error:
            msg = f"{self.path.name!r} must be UTF-8 text: {error}"
            raise DataError(msg) from error
        if "\0" in text:
            msg = f"{self.path.name!r} must be UTF-8 text, but it has null bytes"
            raise DataError(msg)
        return text

    def _without_header(self, rows: list[list[str]]) -> list[list[str]]:
        """Return rows without the header, with as many values as there are columns."""
        if self.header is None and rows:
            self.header, *rows = rows
            if len(set(self.header)) < len(self.header):
                twice = next(name for name in self.header if self.header.count(name) > 1)
                msg = f"{self.path.name!r} must have distinct column names, got {twice!r} twice"
                raise DataError(msg)
        width = len(self.header or ())
        for row in rows:
            if len(row) != width:
                msg = (
                    f"each row of {self.path.name!r} must have {width} values, got {len(row)} "
                    f"in {short_repr(row)}"
                )
                raise DataError(msg)
        return rows

    def _records(self, rows: list[list[str]]) -> list[Record]:
        """Return rows as records, each column in its own type."""
        header = self.header or []
        columns = [
            self._values(name, words)
            for name, words in zip(header, zip(*rows, strict=True), strict=False)
        ]
        return [dict(zip(header, row, strict=True)) for row in zip(*columns, strict=True)]

    def _values(self, name: str, words: Sequence[str]) -> list[Value]:
        """Return a column's values in its type; each distinct text is parsed once."""
        kind = self.kinds.get(name)
        values = {word: parse_value(word, kind, name) for word in set(words)}
        return [values[word] for word in words]

    @property
    def _separator(self) -> str:
        """The separator of values in this kind of file."""
        return SEPARATORS[self.path.suffix.lower()]

    def _check_prefix(self, digest: str) -> None:
        """Check that the part of the file that was read has not changed."""
        rest = self.offset
        if self.size < rest:
            msg = (
                f"{self.path.name!r} must only grow: {rest} bytes were read, now it has {self.size}"
            )
            raise DataError(msg)
        with self.path.open("rb") as file:
            while rest:
                piece = file.read(min(PIECE, rest))
                self._hash.update(piece)
                rest -= len(piece)
        if self._hash.hexdigest() != digest:
            msg = f"{self.path.name!r} must only grow, but its first {self.offset} bytes changed"
            raise DataError(msg)


def last_line_end(data: bytes) -> int:
    r"""Return the end of the last complete line; a carriage return alone ends one, too."""
    return 1 + max(data.rfind(b"\n"), data.rfind(b"\r"))


def split_lines(text: str) -> list[str]:
    r"""Return lines with their ends, of any kind."""
    return list(StringIO(text, newline=""))


def csv_rows(lines: list[str], separator: str, file: str) -> tuple[list[list[str]], int]:
    r"""Return the rows of complete lines, and the number of lines used.

    Lines from an open quote on are left, as its value may continue in later lines. Empty lines are
    no rows.
    """
    reader = csv.reader(lines, delimiter=separator, strict=True)
    rows, count = [], 0
    try:
        for row in reader:
            count = reader.line_num
            if row:
                rows.append(row)
    except csv.Error as error:
        # an open quote at the end may be an incomplete row, which waits
        if str(error) != OPEN_QUOTE:
            msg = (
                f"{file!r} could not be read where it says {short_repr(lines[count])}: {error}; "
                "is there a quote too many?"
            )
            raise DataError(msg) from error
    return rows, count


def check_quotes(lines: list[str], columns: int | None, separator: str, file: str) -> None:
    """Check that no lines after an open quote look like rows.

    A value of several lines may still be incomplete, but none of these lines is expected to have as
    many values as a row.
    """
    width = lines[0].count(separator) + 1 if columns is None else columns
    for line in lines[1:]:
        if len(next(csv.reader([line], delimiter=separator), ())) == width > 1:
            msg = (
                f"{file!r} must close every quote, but none closes the one in "
                f"{short_repr(lines[0])}"
            )
            raise DataError(msg)


def json_record(line: str, file: str) -> Record:
    """Return the record of a line of JSON."""
    try:
        record = json.loads(line, object_pairs_hook=_distinct)
    except KeyError as error:
        msg = f"each line of {file!r} must name each column once, got {error} twice"
        raise DataError(msg) from None
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        msg = f"each line of {file!r} must be a JSON object, got {short_repr(line.strip(), 42)}"
        raise DataError(msg)
    return record


def _distinct(pairs: list[tuple[str, Value]]) -> Record:
    """Return pairs as a record; KeyError if a name occurs twice, of which JSON keeps the last."""
    record: Record = {}
    for name, value in pairs:
        if name in record:
            raise KeyError(name)
        record[name] = value
    return record
