"""Named lines across a chart: estimate, bounds and δ, with their values in the legend."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtransport.report.charts.documents import layer, words
from fairtransport.report.charts.style import BLUE, INK, VERMILLION
from fairtransport.report.numbers import DOWN, NEAREST, NO_UPPER, UP, bound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtransport.report.charts.style import Row

# told apart by dashes too, so that a grey print is enough
LOOKS = {
    "estimate": (INK, [1, 0]),
    "lower bound": (BLUE, [8, 3]),
    "upper bound": (BLUE, [3, 3]),
    "δ": (VERMILLION, [8, 3, 2, 3]),
}
ROUNDINGS = {"lower bound": DOWN, "upper bound": UP}


def named(pairs: Iterable[tuple[str, float | None]]) -> list[Row]:
    """Return the lines that exist, each with the words of its legend.

    Parameters
    ----------
    pairs
        Kinds of lines and where they are; bounds are rounded so that they still hold.

    Examples
    --------
    A lower bound is rounded down, and a bound that does not exist has no line.

    >>> [mark["at"] for mark in named([("δ", 0.05), ("upper bound", math.inf)])]
    [0.05]
    """
    return [
        {"kind": kind, "at": value, "words": f"{kind} {bound(value, ROUNDINGS.get(kind, NEAREST))}"}
        for kind, value in pairs
        if value is not None and math.isfinite(value)
    ]


def lines(marks: list[Row], axis: str, channel: Row) -> Row:
    """Return named lines at right angles to an axis ("x" or "y")."""
    order = [mark["words"] for mark in marks]
    colours, dashes = zip(*(LOOKS[mark["kind"]] for mark in marks), strict=True)
    shared = {
        "sort": order,
        "legend": {"orient": "bottom", "columns": 2, "symbolType": "stroke", "symbolSize": 400},
    }
    return layer(
        marks, "rule", {"strokeWidth": 2},
        **{axis: channel},
        color=words("words", **shared, scale={"domain": order, "range": list(colours)}),
        strokeDash=words("words", **shared, scale={"domain": order, "range": list(dashes)}),
        tooltip=words("words", title="Line"),
    )  # fmt: skip


def in_words(marks: list[Row]) -> str:
    """Return the lines as part of an alternative text.

    Parameters
    ----------
    marks
        From `named`.

    Examples
    --------
    >>> in_words([{"words": "δ 0.05"}, {"words": "statistic 0.1"}])
    'δ 0.05, statistic 0.1'
    """
    return ", ".join(mark["words"] for mark in marks)


def open_ends(rows: list[Row], across: Row, down: Row) -> list[Row]:
    """Return an arrow at the edge for every interval that goes on for ever."""
    if not rows:
        return []
    places: Row = {"x": across, "y": down}
    said: Row = places | {"text": {"value": NO_UPPER}}
    look: Row = {"align": "right", "dx": 4, "dy": -15, "fontSize": 11}
    arrow = {"shape": "triangle-right", "filled": True, "size": 260, "color": BLUE, "opacity": 1}
    rim = {"color": "#FFFFFF", "stroke": "#FFFFFF", "strokeWidth": 4, "aria": False}
    return [
        layer(rows, "point", arrow, **places),
        # a white rim, so that lines behind the words do not cross them out
        layer(rows, "text", look | rim, **said),
        layer(rows, "text", look | {"color": INK}, **said),
    ]
