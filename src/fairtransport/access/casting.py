"""A column of points in the type that a model declares, or the sentence why it cannot be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import shown
from fairtransport.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from fairtransport.space.columns import Value, Values

WANTED = {"O": "text", "b": "truth values", "i": "whole numbers", "u": "whole numbers",
          "f": "numbers"}  # fmt: skip
"""What the values of a type are called, by its kind in numpy."""


def plain_column(points: pd.DataFrame, name: str) -> list[Value]:
    """Return the values of a column of a pandas frame as plain Python objects, missing as None.

    Parameters
    ----------
    points
        The frame.
    name
        The column.
    """
    values = points[name].tolist()
    return [None if _is_missing(value) else value for value in values]


def cast(values: Sequence[object], wanted: np.dtype[np.generic], who: str, name: str) -> Values:
    """Return values in a type, or refuse those that it cannot hold as they are.

    Truth values are the numbers 0 and 1 and the other way round; a missing value is NaN among
    numbers with fractions and has no place elsewhere. Numbers are rounded to the precision of
    the type.

    Parameters
    ----------
    values
        Plain values, None where one is missing.
    wanted
        The type that the model declares.
    who, name
        The model and the column, for messages.

    Raises
    ------
    ModelError
        Naming the first value that does not fit.

    Examples
    --------
    >>> cast([1, True], np.dtype("float32"), "the model", "age").tolist()
    [1.0, 1.0]
    """
    made = np.empty(len(values), object if wanted.kind == "O" else wanted)
    for at, value in enumerate(values):
        if not _fits(value, wanted):
            msg = f"{who} takes {WANTED[wanted.kind]} in the column {name!r}, got {shown(value)}"
            raise ModelError(msg)
        made[at] = math.nan if value is None else value
    return made


def _fits(value: object, wanted: np.dtype[np.generic]) -> bool:
    """Say whether a type can hold a value as it is.

    Parameters
    ----------
    value
        A plain value; None where it is missing.
    wanted
        The column's type in the model's signature. Only floats have a value for what is missing, a
        whole number must be one and within the type's limits, and text is never made from a number.

    Examples
    --------
    >>> _fits(3.0, np.dtype("int8")), _fits(3.5, np.dtype("int8")), _fits(300, np.dtype("int8"))
    (True, False, False)
    """
    if wanted.kind == "O":
        return isinstance(value, str)
    if value is None:
        return wanted.kind == "f"
    if not isinstance(value, int | float):
        return False
    if wanted.kind == "b":
        return value in {0, 1}
    if wanted.kind == "f":
        return True
    limits = np.iinfo(wanted.str)
    return math.isfinite(value) and value == int(value) and limits.min <= value <= limits.max


def _is_missing(value: object) -> bool:
    """Say whether a value is None, NaN, NaT or pandas' NA.

    Parameters
    ----------
    value
        Anything that a frame holds.

    Examples
    --------
    >>> _is_missing(float("nan")), _is_missing(0), _is_missing("")
    (True, False, False)
    """
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - NaN and NaT differ from themselves
    except (TypeError, ValueError):  # as pandas.NA does
        return True
