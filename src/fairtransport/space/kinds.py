"""What a column of a text file holds: decided for the column as a whole, whoever reads it."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import shown
from fairtransport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fairtransport.space.columns import CodedColumn

SPELLINGS = ({"True", "False"}, {"true", "false"}, {"TRUE", "FALSE"})
"""How truth values are spelt in a column that holds nothing else, as pandas reads it."""
WHOLE, NUMBER, TRUTH, TEXT = "whole numbers", "numbers", "truth values", "text"
DIGITS = re.compile(r"\s*-?\d+\s*", re.ASCII)
CODE = re.compile(r"\s*(\+|0\d|.*(_|inf))", re.ASCII | re.IGNORECASE)
"""What only Python reads as a number: a code as 007 or +49, 1_000, infinity."""
LARGEST = 2**63


def widened(kind: str | None, values: Iterable[str]) -> str | None:
    """Return the kind of a column that held ``kind`` and has these values too.

    An empty value is missing and tells nothing; None is the kind of a column without values.

    Parameters
    ----------
    kind
        What it held so far.
    values
        Further values as the file spells them.

    Examples
    --------
    >>> [widened(None, values) for values in (["0", "7"], ["0", "0.5"], ["0", "1 to 3"], [""])]
    ['whole numbers', 'numbers', 'text', None]
    >>> widened(None, ["True", "False"]), widened("whole numbers", ["0.5"])
    ('truth values', 'numbers')
    """
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


def value_of(text: str, kind: str | None, column: str) -> str | bool | float | None:
    """Return a value of a column of some kind; None where it is missing.

    Parameters
    ----------
    text
        As the file spells it; empty is missing.
    kind
        What the column held when reading began.
    column
        Its name, for the message.

    Raises
    ------
    DataError
        If the text is of another kind: people seen before would have to be read anew.

    Examples
    --------
    >>> value_of("7", "whole numbers", "age"), value_of("", "numbers", "age")
    (7, None)
    """
    if not text:
        return None
    if kind == TEXT:
        return text
    if kind == TRUTH and are_truth_values({text}):
        return truth_value(text)
    if kind == WHOLE and is_whole(text):
        return int(text)
    if kind in {WHOLE, NUMBER} and is_number(text):
        value = float(text)
        return None if math.isnan(value) else value
    msg = (
        f"the column {column!r} held {kind} when the monitor began and must go on to, "
        f"got {shown(text)}; a new state begins with the file as it is now"
    )
    raise DataError(msg)


def are_truth_values(words: Collection[str]) -> bool:
    """Say whether words spell truth values, all in one way.

    Parameters
    ----------
    words
        The distinct values of a column. "True" beside "false" is text.

    Examples
    --------
    >>> are_truth_values(["True", "False"]), are_truth_values(["True", "no"])
    (True, False)
    """
    return any(pair.issuperset(words) for pair in SPELLINGS)


def truth_value(word: str) -> bool:
    """Return the truth value that a word spells.

    Parameters
    ----------
    word
        One of ``SPELLINGS``.
    """
    return word.lower() == "true"


def with_truth_values(column: CodedColumn) -> CodedColumn:
    """Return a column with truth values where its words spell nothing else.

    Parameters
    ----------
    column
        A column of text, missing values aside.
    """
    words = column.levels.tolist()
    if not words or not are_truth_values(words):
        return column
    return replace(column, levels=np.array([truth_value(word) for word in words]))


def is_whole(text: str) -> bool:
    """Say whether text is a whole number of 64 bits.

    Parameters
    ----------
    text
        Leading zeros and plus signs make it a code, as of a telephone or a post office.

    Examples
    --------
    >>> is_whole("-12"), is_whole("007"), is_whole("1.0")
    (True, False, False)
    """
    looks_whole = DIGITS.fullmatch(text) and not CODE.match(text)
    return bool(looks_whole) and -LARGEST <= int(text) < LARGEST


def is_number(text: str) -> bool:
    """Say whether text is a number.

    Parameters
    ----------
    text
        As for `is_whole`; "1_000" and "inf", which Python would read, are none.

    Examples
    --------
    >>> is_number("3.5"), is_number("x"), is_number("007")
    (True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return not CODE.match(text)
