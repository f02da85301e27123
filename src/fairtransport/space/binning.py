"""Explicit bins for numeric columns: which there are, how they are named, how they are applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import finite, float_array, shown
from fairtransport.errors import DataError, InputError

if TYPE_CHECKING:
    import narwhals as nw

    from fairtransport.space.columns import Value

Bins = dict[str, tuple[float, ...]]


def check_bins(bins: object, columns: Sequence[str]) -> Bins:
    """Return the edges of each binned column, rising.

    Parameters
    ----------
    bins
        Maps columns to edges; None for no bins.
    columns
        The columns that may be binned: features and sensitive ones, never the label.

    Raises
    ------
    InputError
        If a column is unknown, or its edges are not finite and rising.

    Examples
    --------
    >>> check_bins({"age": [25, 45]}, ["age", "sex"])
    {'age': (25.0, 45.0)}
    """
    if bins is None:
        return {}
    if not isinstance(bins, Mapping):
        msg = f"`bins` must map columns to edges, as in {{'age': [25, 45]}}, got {shown(bins)}"
        raise InputError(msg)
    checked: Bins = {}
    for name, edges in bins.items():
        if name not in columns:
            msg = f"`bins` must name columns of the points, got {shown(name)}"
            raise InputError(msg)
        array = finite(f"bins[{name!r}]", float_array(f"bins[{name!r}]", edges, (None,)))
        if not len(array) or np.any(np.diff(array) <= 0):
            msg = f"`bins[{name!r}]` must be rising edges, at least one, got {shown(edges)}"
            raise InputError(msg)
        checked[name] = tuple(array.tolist())
    return checked


def bin_names(edges: Sequence[float]) -> list[str]:
    """Return the names of the bins; each contains its lower edge.

    Parameters
    ----------
    edges
        Rising, at least one.

    Examples
    --------
    >>> bin_names([25, 45])
    ['< 25', '25 to < 45', '>= 45']
    """
    # all digits, so that different edges have different names
    shortest = [np.format_float_positional(edge, trim="-") for edge in edges]
    inner = [f"{low} to < {high}" for low, high in pairwise(shortest)]
    return [f"< {shortest[0]}", *inner, f">= {shortest[-1]}"]


def bin_rule(edges: Sequence[float]) -> tuple[list[tuple[float, str]], str]:
    """Return the names of values below each edge, the first that fits, and of all others.

    Whoever bins, a data frame, SQL or Python, follows it; missing stays missing.

    Parameters
    ----------
    edges
        Rising, at least one.

    Examples
    --------
    >>> bin_rule([25, 45])
    ([(25, '< 25'), (45, '25 to < 45')], '>= 45')
    """
    *below, others = bin_names(edges)
    return list(zip(edges, below, strict=True)), others


def bin_expression(column: nw.Expr, edges: Sequence[float], *, may_be_nan: bool) -> nw.Expr:
    """Return the narwhals expression that bins a column.

    Parameters
    ----------
    column
        The column as an expression.
    edges
        Rising, at least one.
    may_be_nan
        Whether the column's type has NaN, which then counts as missing; other types cannot be
        asked for it.
    """
    import narwhals as nw

    below, others = bin_rule(edges)
    binned = nw.lit(others)
    for edge, name in reversed(below):
        binned = nw.when(column < edge).then(nw.lit(name)).otherwise(binned)
    there = ~column.is_null()
    if may_be_nan:
        there = there & ~column.is_nan()
    return nw.when(there).then(binned)


def bin_sql(quoted: str, edges: Sequence[float]) -> str:
    """Return the SQL expression that bins a column.

    Parameters
    ----------
    quoted
        The column's name, quoted already.
    edges
        Rising, at least one; written with all digits, so that files and frames agree.
    """
    below, others = bin_rule(edges)
    cases = " ".join(f"WHEN {quoted} < {edge!r} THEN '{name}'" for edge, name in below)
    unknown = f"WHEN {quoted} IS NULL OR isnan({quoted}::DOUBLE) THEN NULL"
    return f"CASE {unknown} {cases} ELSE '{others}' END"


def bin_values(column: str, values: Sequence[Value], edges: Sequence[float]) -> list[Value]:
    """Return the bins of plain values, None where one is missing.

    Parameters
    ----------
    column
        Its name, for messages.
    values
        Numbers or None.
    edges
        Rising, at least one.

    Raises
    ------
    DataError
        If a value is no number; a truth value is none.

    Examples
    --------
    >>> bin_values("age", [24, 25.5, None], [25, 45])
    ['< 25', '25 to < 45', None]
    """
    below, others = bin_rule(edges)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            msg = f"`bins[{column!r}]` needs a numeric column, got {shown(value)}"
            raise DataError(msg)
    named: dict[Value, str] = {
        value: next((name for edge, name in below if value < edge), others)
        for value in values
        if isinstance(value, int | float)
    }
    return [named.get(value) for value in values]
