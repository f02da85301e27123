"""Which line of a text file is unlike the first: said where DuckDB can only leave lines out."""

from __future__ import annotations

import csv
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from fairtransport.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

SIGNS = (",", ";", "\t", "|")
"""What stands between values."""


def refuse_uneven_lines(path: Path) -> None:
    """Refuse a file in which a row has more or fewer values than the first, or ends otherwise.

    Parameters
    ----------
    path
        Of a text file that could not be read as it is; of one without a flaw nothing is said.
    """
    # bytes that are no text, and values longer than any reader takes, are told of by who reads them
    with suppress(csv.Error, UnicodeDecodeError):
        _refuse_other_ends(path)
        _refuse_other_widths(path)


def refuse_left_out(path: Path, skipped: int, sign: str) -> None:
    """Refuse a file whose first lines would be left out though they are no titles.

    Parameters
    ----------
    path
        Of a text file.
    skipped
        How many lines would be left out: those before the first that is as the last ones are.
    sign
        What stands between values, which a title or a remark has none of.
    """
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        left_out = [line for line in islice(file, skipped) if not line.startswith("#")]
    if not any(sign in line for line in left_out):
        return
    refuse_uneven_lines(path)
    msg = (
        f"rows must have as many values as there are columns, but the first {skipped} lines of "
        f"{str(path)!r} are unlike the others"
    )
    raise DataError(msg)


def _refuse_other_ends(path: Path) -> None:
    """Refuse a file in which some lines end as on Windows, and others do not."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        wanted = None
        for at, line in enumerate(file, 1):
            if not line.endswith("\n"):
                return
            end = r"\r\n" if line.endswith("\r\n") else r"\n"
            wanted = wanted or end
            if end != wanted:
                msg = (
                    f"the lines of a file must end alike, but line 1 of {str(path)!r} ends in "
                    f"{wanted} and line {at} in {end}"
                )
                raise DataError(msg)


def _refuse_other_widths(path: Path) -> None:
    """Refuse a row that has another number of values than the first; empty lines are no rows."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        sign = max(SIGNS, key=file.readline().count)
        file.seek(0)
        rows = csv.reader(file, delimiter=sign)
        wanted = len(next(rows, []))
        for row in rows if wanted > 1 else ():
            if row and len(row) != wanted:
                some = "1 value" if len(row) == 1 else f"{len(row)} values"
                msg = (
                    f"rows must have as many values as there are columns, but line {rows.line_num} "
                    f"of {str(path)!r} has {some} and line 1 has {wanted}"
                )
                raise DataError(msg)
