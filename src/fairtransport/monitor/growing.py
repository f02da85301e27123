"""The input of a monitor: a file that grows at its end."""

from __future__ import annotations

import csv
import json
from hashlib import sha256
from io import StringIO
from typing import TYPE_CHECKING, Any

from fairtransport.errors import DataError, InputError
from fairtransport.monitor.kinds import value_of, widened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PIECE = 1 << 22
"""Bytes read at a time; the state is saved after each such piece."""
SEPARATORS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")


class GrowingFile:
    """The records that were added to a CSV or JSON-lines file since a position.

    What a column of a CSV file holds is decided by the whole file as it is when the column has
    its first value; later values have to fit.

    Parameters
    ----------
    path
        The file; the ending tells what it is.
    position
        What `pieces` gave last time; None: from the beginning.
    """

    def __init__(self, path: Path, position: dict[str, Any] | None = None) -> None:
        kinds = (*SEPARATORS, *JSON_LINES)
        if path.suffix.lower() not in kinds:
            msg = f"`FILE` must be of type {', '.join(kinds)}, got {str(path)!r}"
            raise InputError(msg)
        if not path.is_file():
            msg = f"`FILE` must be an existing file, got {str(path)!r}"
            raise InputError(msg)
        self.path = path
        self.header: list[str] | None = None if position is None else position["header"]
        self.kinds: dict[str, str | None] = {} if position is None else dict(position["kinds"])
        self.offset = 0 if position is None else int(position["bytes"])
        self._hash = sha256()
        if position is not None:
            self._check_prefix(position["sha256"])

    def pieces(self) -> Iterator[tuple[list[dict[str, Any]], dict[str, Any]]]:
        """Yield records and the position after them; half a line waits for the next time."""
        if self.path.suffix.lower() in SEPARATORS:
            self._find_kinds()
        for whole in self._complete_pieces():
            records = self._records(whole)
            self.offset += len(whole)
            self._hash.update(whole)
            yield records, self.position

    def _complete_pieces(self) -> Iterator[bytes]:
        """Yield what has not been read, cut where records end."""
        with self.path.open("rb") as file:
            file.seek(self.offset)
            rest = b""
            while piece := file.read(PIECE):
                rest += piece
                whole = rest[: self._complete(rest)]
                if whole:
                    rest = rest[len(whole) :]
                    yield whole

    def _find_kinds(self) -> None:
        """Look through the file for what the columns hold of which that is not known yet."""
        if self.header is not None and all(self.kinds.get(name) for name in self.header):
            return
        header, known = self.header, {name for name, kind in self.kinds.items() if kind}
        for at, whole in enumerate(self._complete_pieces()):
            rows = self._rows(self._text(whole, is_first=at == 0 and self.offset == 0))
            for name, values in zip(self.header or (), zip(*rows, strict=True), strict=False):
                if name not in known:
                    self.kinds[name] = widened(self.kinds.get(name), values)
        self.header = header  # the records that follow begin with it

    @property
    def position(self) -> dict[str, Any]:
        """Where the next records begin."""
        return {
            "bytes": self.offset,
            "sha256": self._hash.hexdigest(),
            "header": self.header,
            "kinds": self.kinds,
        }

    def _check_prefix(self, wanted: str) -> None:
        size, left = self.path.stat().st_size, self.offset
        if size < left:
            msg = f"{self.path.name!r} must only grow: {left} bytes were read, now it has {size}"
            raise DataError(msg)
        with self.path.open("rb") as file:
            while left:
                piece = file.read(min(PIECE, left))
                self._hash.update(piece)
                left -= len(piece)
        if self._hash.hexdigest() != wanted:
            msg = f"{self.path.name!r} must only grow, but its first {self.offset} bytes changed"
            raise DataError(msg)

    def _complete(self, data: bytes) -> int:
        """Return where the last complete record ends."""
        if self.path.suffix.lower() in JSON_LINES:
            return data.rfind(b"\n") + 1
        end, at, quotes = 0, 0, 0
        for line in data.split(b"\n")[:-1]:
            at += len(line) + 1
            quotes += line.count(b'"')
            # a line break inside quotes belongs to a value
            if quotes % 2 == 0:
                end = at
        return end

    def _records(self, data: bytes) -> list[dict[str, Any]]:
        text = self._text(data, is_first=self.offset == 0)
        if self.path.suffix.lower() in JSON_LINES:
            return [self._object(line) for line in text.split("\n") if line.strip()]
        rows = self._rows(text)
        columns = [(name, self.kinds.get(name)) for name in self.header or ()]
        return [
            {
                name: value_of(word, kind, name)
                for (name, kind), word in zip(columns, row, strict=True)
            }
            for row in rows
        ]

    def _text(self, data: bytes, *, is_first: bool) -> str:
        try:
            return data.decode("utf-8-sig" if is_first else "utf-8")
        except UnicodeDecodeError as error:
            msg = f"{self.path.name!r} must be UTF-8 text: {error}"
            raise DataError(msg) from error

    def _rows(self, text: str) -> list[list[str]]:
        """Return the rows of CSV text, the header apart."""
        separator = SEPARATORS[self.path.suffix.lower()]
        lines = csv.reader(StringIO(text, newline=""), delimiter=separator)
        rows = [row for row in lines if row]
        if self.header is None and rows:
            self.header = rows.pop(0)
        header = self.header or []
        for row in rows:
            if len(row) != len(header):
                msg = (
                    f"each row of {self.path.name!r} must have {len(header)} values, got {len(row)}"
                )
                raise DataError(msg)
        return rows

    def _object(self, line: str) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            msg = f"each line of {self.path.name!r} must be a JSON object, got {line[:40]!r}"
            raise DataError(msg)
        return record
