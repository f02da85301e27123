"""Scales for a stated distance: what difference of each number is a typical one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtransport.similarity.base import is_numeric
from fairtransport.space.reader import coded_columns, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairtransport.checks import IntArray
    from fairtransport.space import SampleSpace
    from fairtransport.space.columns import CodedColumn


def suggest_scales(X: object) -> dict[str, float]:  # noqa: N803
    """Return a scale for each numeric column of a table: its standard deviation, to two digits.

    Parameters
    ----------
    X
        A frame, or a path to a file. Columns with missing values and constant ones are left out.

    Returns
    -------
    dict[str, float]
        The standard deviation of each numeric column, rounded to two digits.

    Raises
    ------
    InputError
        If it is no table.

    Notes
    -----
    A scale is the difference that counts 1 in `MixedTabular`. A standard deviation is where to
    begin, no statement that people so far apart are similar: with a budget of .01 they are moved
    by a tenth of it on average.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"age": [20, 30, 40, 50], "job": ["a", "b", "b", "c"]})
    >>> ft.similarity.suggest_scales(people)
    {'age': 11.0}
    """
    table = read_table(X, "X")
    return _scales(coded_columns(table, table.columns, "X"))


def typical_scales(space: SampleSpace, columns: Sequence[str]) -> dict[str, float]:
    """Return the same for some columns of a sample, each person counted.

    Parameters
    ----------
    space
        The audit's points.
    columns
        Their names.
    """
    return _scales({name: space.columns[name] for name in columns}, space.counts)


def _scales(columns: Mapping[str, CodedColumn], counts: IntArray | None = None) -> dict[str, float]:
    """Return standard deviations, to two digits, of columns that are numbers and vary."""
    found = {}
    for name, column in columns.items():
        if not is_numeric(column.levels) or column.has_missing:
            continue
        values = column.levels.astype(np.float64)[column.codes]
        mean = np.average(values, weights=counts)
        spread = float(np.sqrt(np.average((values - mean) ** 2, weights=counts)))
        if spread > 0:
            # two digits: a suggestion that a reader is to look at and to round further
            found[name] = float(f"{spread:.2g}")
    return found
