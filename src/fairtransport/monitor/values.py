"""The values of records: plain Python objects, or one sentence about the first that is none."""

from __future__ import annotations

from datetime import date, time, timedelta
from decimal import Decimal
from itertools import filterfalse
from math import isinf
from typing import Any

import numpy as np

from fairtransport.checks import shown
from fairtransport.errors import DataError

WHOLE_NUMBERS = range(-(2**63), 2**64)
"""What fits into 64 bits."""


def plain_values(who: str, values: list[Any]) -> list[Any]:
    """Return the values of a column, missing ones as None; ``who`` names it in messages.

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
        raise _not_single(who, next(filterfalse(_is_hashable, values))) from None
    plain = {pair: plain_value(who, pair[1]) for pair in distinct}
    if all(value is pair[1] for pair, value in plain.items()):
        return values
    return [plain[type(value), value] for value in values]


def plain_value(who: str, value: Any) -> Any:
    """Return one value."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        value = value.astype(f"{value.dtype.str[1:3]}[us]")  # nanoseconds would become a number
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or _is_missing(value):
        return None
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
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


def _is_missing(value: Any) -> bool:
    # pandas' NA is neither equal to itself nor unequal
    is_na = type(value).__name__ == "NAType"
    return is_na or (isinstance(value, float | Decimal | date) and value != value)  # noqa: PLR0124


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except (TypeError, ValueError):
        return False
    return True


def _not_single(who: str, value: Any) -> DataError:
    msg = f"{who} must hold single values (text, numbers, truth values, dates), got {shown(value)}"
    return DataError(msg)


def _digits(value: int) -> str:
    # Python refuses to print numbers of thousands of digits
    return f"one of {value.bit_length()} bits"
