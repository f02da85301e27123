"""What a single value may be, in a table or a record: one sentence about the first bad one."""

from __future__ import annotations

from datetime import date, time, timedelta
from decimal import Decimal
from itertools import filterfalse
from math import isfinite, isinf
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import shown
from fairtransport.errors import DataError

if TYPE_CHECKING:
    from fairtransport.space.columns import CodedColumn, Value

ENDLESS = ("inf", "infinity", "nan")
"""How numbers without end are spelt."""
WHOLE_NUMBERS = range(-(2**63), 2**64)
"""What fits into 64 bits."""


def refuse_unusable(name: str, column: CodedColumn) -> None:
    """Refuse a column with infinite or complex numbers, or with values that hold others.

    Parameters
    ----------
    name
        The column, for the message.
    column
        Its levels are looked at, not its rows.

    Raises
    ------
    DataError
        Naming the first bad value.
    """
    if column.levels.dtype.kind in "biuUSM":
        return
    if column.levels.dtype.kind == "f" and np.isfinite(column.levels).all():
        return
    for level in column.levels.tolist():
        if is_endless(level):
            msg = f"the column {name!r} must hold finite numbers, got {level}"
            raise DataError(msg)
        if isinstance(level, complex):
            msg = f"the column {name!r} must hold text or real numbers, got {level}"
            raise DataError(msg)
        if isinstance(level, str) and not is_text(level):
            msg = f"the column {name!r} must hold whole characters, got {shown(level)}"
            raise DataError(msg)
    words = [level for level in column.levels.tolist() if isinstance(level, str)]
    endless = [word for word in words if word.strip().lower().lstrip("+-") in ENDLESS]
    # numbers as text, which DuckDB makes of a file's column with an infinity
    if endless and all(_is_number(word) for word in words):
        msg = f"the column {name!r} must hold finite numbers, got {endless[0]!r}"
        raise DataError(msg)


def refuse_mixed(name: str, levels: list[Value]) -> None:
    """Refuse text beside numbers where values are compared with others: "1" would not be 1.

    Parameters
    ----------
    name
        The column, for the message.
    levels
        Its distinct values.

    Raises
    ------
    DataError
        Naming one of each.

    Examples
    --------
    >>> refuse_mixed("label", ["1", 1])
    Traceback (most recent call last):
        ...
    fairtransport.errors.DataError: the column 'label' must be all text or all numbers, got '1' and
    1
    """
    text = [level for level in levels if isinstance(level, str)]
    others = [level for level in levels if not isinstance(level, str)]
    if text and others:
        msg = (
            f"the column {name!r} must be all text or all numbers, got {text[0]!r} and {others[0]}"
        )
        raise DataError(msg)


def refuse_missing(name: str, people: int, missing: str, *, is_profile: bool) -> None:
    """Refuse missing values; ``missing="level"`` makes one of them in a column of the profile.

    Parameters
    ----------
    name
        The column, for the message.
    people
        How many people lack the value.
    missing
        "error" or "level".
    is_profile
        Whether the column describes a person; labels and predictions have no such level.

    Raises
    ------
    DataError
        Saying how many, and what would let them in.
    """
    if not people or (is_profile and missing == "level"):
        return
    way_out = "; missing='level' makes it a level of its own" if is_profile else ""
    msg = f"the column {name!r} must not have missing values, got {people}{way_out}"
    raise DataError(msg)


def plain_values(who: str, values: list[Value]) -> list[Value]:
    """Return the values of a column, missing ones as None; ``who`` names it in messages.

    Parameters
    ----------
    who
        What the values belong to.
    values
        Of a record or a table. Returned as they are, the same list, where nothing changes.

    Raises
    ------
    DataError
        If one cannot be used.

    Examples
    --------
    >>> plain_values("`x`", [np.int64(1), float("nan"), "a"])
    [1, None, 'a']
    >>> plain_values("`x`", [0.5, float("inf")])
    Traceback (most recent call last):
    fairtransport.errors.DataError: `x` must hold finite numbers, got inf
    """
    try:
        # values of different types may be equal, as 1 and True are
        distinct = set(zip(map(type, values), values, strict=True))
    except (TypeError, ValueError):
        raise _not_single(who, next(filterfalse(is_hashable, values))) from None
    plain = {pair: plain_value(who, pair[1]) for pair in distinct}
    if all(value is pair[1] for pair, value in plain.items()):
        return values
    return [plain[type(value), value] for value in values]


def plain_value(who: str, value: object) -> Value:
    """Return one value.

    Parameters
    ----------
    who
        What it belongs to, for messages.
    value
        NumPy's become Python's, NaN and other missing ones None.

    Raises
    ------
    DataError
        If it is infinite, no valid text, beyond 64 bits or holds other values.

    Examples
    --------
    >>> plain_value("age", np.int64(30)), plain_value("age", float("nan"))
    (30, None)
    """
    if isinstance(value, np.datetime64 | np.timedelta64):
        value = value.astype(f"{value.dtype.str[1:3]}[us]")  # nanoseconds would become a number
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or _is_missing(value):
        return None
    if isinstance(value, str):
        if not is_text(value):
            msg = f"{who} must hold valid Unicode text, got {shown(value)}"
            raise DataError(msg)
    elif isinstance(value, int):
        if int(value) not in WHOLE_NUMBERS:
            msg = f"{who} must hold whole numbers of 64 bits, got {_digits(value)}"
            raise DataError(msg)
    elif isinstance(value, float | Decimal):
        if isinf(value):
            msg = f"{who} must hold finite numbers, got {shown(float(value))}"
            raise DataError(msg)
    elif not isinstance(value, date | time | timedelta):
        raise _not_single(who, value)
    return value


def is_endless(value: object) -> bool:
    """Say whether a value is NaN or infinite.

    Parameters
    ----------
    value
        Anything; what is no float is neither.

    Examples
    --------
    >>> is_endless(float("inf")), is_endless(1.0), is_endless("inf")
    (True, False, False)
    """
    return isinstance(value, float | np.floating) and not isfinite(value)


def is_text(text: str) -> bool:
    """Say whether text is more than halves of characters, as undecodable file names are.

    Parameters
    ----------
    text
        What cannot be encoded could not be written into a document.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_number(word: str) -> bool:
    """Say whether Python reads a word as a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def _is_missing(value: object) -> bool:
    """Say whether a value is NaN, NaT or pandas' NA."""
    # pandas' NA is neither equal to itself nor unequal
    is_na = type(value).__name__ == "NAType"
    return is_na or (isinstance(value, float | Decimal | date) and value != value)  # noqa: PLR0124


def is_hashable(value: object) -> bool:
    """Say whether a value can be told apart from others.

    Parameters
    ----------
    value
        Anything; lists and arrays cannot.

    Examples
    --------
    >>> is_hashable("a"), is_hashable([1])
    (True, False)
    """
    try:
        hash(value)
    except (TypeError, ValueError):
        return False
    return True


def _not_single(who: str, value: object) -> DataError:
    """Return the error that a value is none that people can be compared by."""
    msg = f"{who} must hold single values (text, numbers, truth values, dates), got {shown(value)}"
    return DataError(msg)


def _digits(value: int) -> str:
    """Return a number too long to be printed, in words.

    Examples
    --------
    >>> _digits(2**70)
    'one of 71 bits'
    """
    # Python refuses to print numbers of thousands of digits
    return f"one of {value.bit_length()} bits"
