"""The input of a monitor: a file that grows at its end."""

from __future__ import annotations

import csv
import json
from contextlib import suppress
from hashlib import sha256
from io import StringIO
from math import isfinite
from typing import TYPE_CHECKING, Any

from fairtransport.errors import DataError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PIECE = 1 << 22
"""Bytes read at a time; the state is saved after each such piece."""
SEPARATORS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")


class GrowingFile:
    """The records that were added to a CSV or JSON-lines file since a position.

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
        self.offset = 0 if position is None else int(position["bytes"])
        self._hash = sha256()
        if position is not None:
            self._check_prefix(position["sha256"])

    def pieces(self) -> Iterator[tuple[list[dict[str, Any]], dict[str, Any]]]:
        """Yield records and the position after them; half a line waits for the next time."""
        with self.path.open("rb") as file:
            file.seek(self.offset)
            rest = b""
            while piece := file.read(PIECE):
                rest += piece
                whole = rest[: self._complete(rest)]
                if not whole:
                    continue
                rest = rest[len(whole) :]
                records = self._records(whole)
                self.offset += len(whole)
                self._hash.update(whole)
                yield records, self.position

    @property
    def position(self) -> dict[str, Any]:
        """Where the next records begin."""
        return {"bytes": self.offset, "sha256": self._hash.hexdigest(), "header": self.header}

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
        try:
            text = data.decode("utf-8-sig" if self.offset == 0 else "utf-8")
        except UnicodeDecodeError as error:
            msg = f"{self.path.name!r} must be UTF-8 text: {error}"
            raise DataError(msg) from error
        if self.path.suffix.lower() in JSON_LINES:
            return [self._object(line) for line in text.split("\n") if line.strip()]
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
        return [dict(zip(header, map(literal, row), strict=True)) for row in rows]

    def _object(self, line: str) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            msg = f"each line of {self.path.name!r} must be a JSON object, got {line[:40]!r}"
            raise DataError(msg)
        return record


def literal(text: str) -> Any:
    """Read a value by itself, so that it means the same whatever rows come with it.

    Examples
    --------
    >>> [literal(text) for text in ("7", "0.5", "True", "", "F", "nan")]
    [7, 0.5, True, None, 'F', 'nan']
    """
    if not text:
        return None
    if text in {"True", "true", "TRUE", "False", "false", "FALSE"}:
        return text.lower() == "true"
    for kind in (int, float):
        with suppress(ValueError):
            value = kind(text)
            return value if isfinite(value) else text
    return text
