"""The complete rows of text that may end anywhere."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

from fairtransport.checks import shown
from fairtransport.errors import DataError

OPEN = "unexpected end of data"
"""What the csv module says of a quote that is still open at the end."""


def ended(data: bytes) -> int:
    """Return where the last line that has an end ends; a carriage return alone is one too."""
    return 1 + max(data.rfind(b"\n"), data.rfind(b"\r"))


def lines_of(text: str) -> list[str]:
    """Return lines with their ends, whichever these are."""
    return list(StringIO(text, newline=""))


def csv_rows(lines: list[str], separator: str, file: str) -> tuple[list[list[str]], int]:
    r"""Return the rows of complete lines, and how many lines they take.

    Fewer than all are taken where a quote is open: its value may go on in lines to come.
    Empty lines are no rows.

    Examples
    --------
    >>> csv_rows(["a,b\n", '1,"x\n', 'y"\n', '2,"z\n'], ",", "cases.csv")
    ([['a', 'b'], ['1', 'x\ny']], 3)
    """
    reader = csv.reader(lines, delimiter=separator, strict=True)
    rows, taken = [], 0
    try:
        for row in reader:
            taken = reader.line_num
            if row:
                rows.append(row)
    except csv.Error as error:
        if str(error) != OPEN:
            msg = (
                f"{file!r} could not be read where it says {shown(lines[taken])}: {error}; "
                "is there a quote too many?"
            )
            raise DataError(msg) from error
    return rows, taken


def refuse_unclosed(lines: list[str], columns: int | None, separator: str, file: str) -> None:
    """Refuse an open quote if lines after it look like rows of their own.

    A value of several lines may still be being written, but none of them is expected to have
    as many values as a row.
    """
    wanted = lines[0].count(separator) + 1 if columns is None else columns
    for line in lines[1:]:
        if len(next(csv.reader([line], delimiter=separator), ())) == wanted > 1:
            msg = f"{file!r} must close every quote, but none closes the one in {shown(lines[0])}"
            raise DataError(msg)


def json_record(line: str, file: str) -> dict[str, Any]:
    """Return the record of a line of JSON."""
    try:
        record = json.loads(line, object_pairs_hook=_distinct)
    except KeyError as error:
        msg = f"each line of {file!r} must name each column once, got {error} twice"
        raise DataError(msg) from None
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        msg = f"each line of {file!r} must be a JSON object, got {shown(line.strip(), 42)}"
        raise DataError(msg)
    return record


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for name, value in pairs:
        if name in record:
            raise KeyError(name)
        record[name] = value
    return record
