"""What all charts share: colours, sizes, and the reading of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from fairtransport.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    Row: TypeAlias = dict[str, Any]
    Table: TypeAlias = pd.DataFrame | Iterable[Mapping[str, Any]]

# Okabe and Ito's palette, which people with any colour vision can tell apart
BLUE, SKY, ORANGE, VERMILLION, GREEN = "#0072B2", "#56B4E9", "#E69F00", "#D55E00", "#009E73"
INK, MARK, PALE = "#1A1A1A", "#444444", "#F4F4F2"
WIDTH, HEIGHT = 480, 300
LABEL_LIMIT = 220
"""Longer names on an axis end in an ellipsis, in pixels."""


def rows_of(table: Table, needed: Sequence[str]) -> list[Row]:
    """Return a table's rows, or say which column is lacking.

    Parameters
    ----------
    table
        A pandas frame, or rows as mappings.
    needed
        Columns that a chart reads.

    Raises
    ------
    InputError
        If there are no rows, or a column is lacking.
    """
    records = table.to_dict(orient="records") if hasattr(table, "to_dict") else table
    rows = [{str(name): value for name, value in row.items()} for row in records]
    if not rows:
        msg = "`table` must have rows, got none"
        raise InputError(msg)
    check_columns(rows[0], needed)
    return rows


def check_columns(names: Iterable[str], needed: Sequence[str]) -> None:
    """Say which column is lacking.

    Parameters
    ----------
    names, needed
        Columns that there are, and that there must be.

    Raises
    ------
    InputError
        Naming the first that is lacking.

    Examples
    --------
    >>> check_columns(["n"], ["n", "power"])
    Traceback (most recent call last):
        ...
    fairtransport.errors.InputError: `table` must have the columns n, power, got none named 'power'
    """
    there = set(names)
    lacking = [name for name in needed if name not in there]
    if lacking:
        msg = f"`table` must have the columns {', '.join(needed)}, got none named {lacking[0]!r}"
        raise InputError(msg)


def padded(values: Sequence[float], share: float = 0.04) -> list[float]:
    """Return the range of values with a little room on both sides.

    Parameters
    ----------
    values
        At least one.
    share
        Of the range, on each side; of 1 where all values are equal.

    Examples
    --------
    >>> padded([0.0, 1.0], share=0.1)
    [-0.1, 1.1]
    """
    room = share * (max(values) - min(values) or 1.0)
    return [min(values) - room, max(values) + room]


VALUE_AXIS = {"tickCount": 5, "labelOverlap": True, "labelSeparation": 12}
"""The axis of the statistic: few numbers, and room between them on a phone too."""


def looks(title: str, description: str, subtitle: str | list[str] = "") -> Row:
    """Return what a chart's document says of title, alternative text and the shared look.

    Parameters
    ----------
    title, description, subtitle
        As in `finish`.
    """
    return {
        "title": {
            "text": title, "anchor": "start", **({"subtitle": subtitle} if subtitle else {})
        },
        "description": description,
        "usermeta": {"embedOptions": {"actions": False}},
        "config": {
            "view": {"continuousWidth": 300, "continuousHeight": 300, "stroke": None},
            "axis": {
                "labelFontSize": 12,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
                "labelColor": INK,
                "titleColor": INK,
                "labelLimit": LABEL_LIMIT,
                "labelFlush": False,
                "gridColor": "#E4E4E0",
                "domainColor": "#8A8A86",
                "tickColor": "#8A8A86",
            },
            "title": {
                "fontSize": 14,
                "color": INK,
                "subtitleFontSize": 12,
                "subtitleColor": MARK,
                "offset": 14,
                "limit": 640,
            },
            "legend": {
                "labelFontSize": 12,
                "labelColor": INK,
                "labelLimit": LABEL_LIMIT,
                "title": None,
                "symbolOpacity": 1,
            },
        },
    }  # fmt: skip
