"""Several methods' intervals side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtransport.report.charts.documents import drawn, layer, layered, number, words
from fairtransport.report.charts.marks import in_words, lines, named, open_ends
from fairtransport.report.charts.style import (
    BLUE,
    INK,
    VALUE_AXIS,
    WIDTH,
    looks,
    padded,
    rows_of,
)
from fairtransport.report.numbers import DOWN, UP, bound, interval_text
from fairtransport.report.strings import visible

if TYPE_CHECKING:
    from altair.typing import ChartType

    from fairtransport.report.charts.style import Row, Table

NEEDED = ("method", "guarantee", "lower", "upper", "lower_bound", "upper_bound")
ROW = 44
ENDS = ("lower", "upper", "lower_bound", "upper_bound")
TIPS = (
    ("method", "Method"),
    ("guarantee", "Guarantee"),
    ("range", "Interval"),
    ("bounds", "Bounds"),
)


def methods_chart(table: Table, *, estimate: float, delta: float | None = None) -> ChartType:
    """Draw each method's interval as a bar and its one-sided bounds as ticks.

    Parameters
    ----------
    table
        Columns ``method``, ``guarantee``, ``lower``, ``upper``, ``lower_bound`` and
        ``upper_bound``, one method a row; an end that does not exist is None or infinite.
    estimate, delta
        The statistic and the threshold.
    """
    return drawn(methods_document(table, estimate=estimate, delta=delta))


def methods_document(table: Table, *, estimate: float, delta: float | None = None) -> Row:
    """Return the Vega-Lite document of `methods_chart`."""
    rows = [_row(row) for row in rows_of(table, NEEDED)]
    marks = named((("estimate", estimate), ("δ", delta)))
    known = [row[end] for row in rows for end in ENDS if row[end] is not None]
    left, right = padded([*known, *(mark["at"] for mark in marks)])
    for row in rows:
        row["from"] = left if row["lower"] is None else row["lower"]
        row["to"] = right if row["upper"] is None else row["upper"]

    def x(name: str) -> Row:
        scale = {"domain": [left, right], "nice": False}
        return number(name, "FaiTH statistic", axis=VALUE_AXIS, scale=scale)

    names = [row["method"] for row in rows]
    down = words("method", sort=names, title=None, axis={"domain": False, "ticks": False})
    tips = [words(name, title=title) for name, title in TIPS]
    layers = [
        layer(
            rows, "bar", {"color": BLUE, "opacity": 0.55, "height": 14},
            x=x("from"), x2={"field": "to"}, y=down, tooltip=tips,
        )
    ]  # fmt: skip
    for end in ("lower_bound", "upper_bound"):
        known = [row for row in rows if row[end] is not None]
        if known:
            look = {"color": INK, "thickness": 2.5, "size": 24}
            layers.append(layer(known, "tick", look, x=x(end), y=down))
    layers.append(lines(marks, "x", x("at")))
    layers += open_ends([row for row in rows if row["upper"] is None], x("to"), down)
    told = looks(
        "Methods side by side",
        "Intervals of the FaiTH statistic by method: "
        + "; ".join(f"{row['method']} {row['range']}" for row in rows)
        + f". Lines: {in_words(marks)}.",
        "Bars: two-sided intervals; ticks: one-sided bounds",
    )
    return layered(layers, width=WIDTH, height=ROW * len(rows), looks=told)


def _row(row: Row) -> Row:
    """Return a row with its words, ends that do not exist as None.

    Parameters
    ----------
    row
        One method's interval and one-sided bounds.

    Returns
    -------
    dict
        Bounds in words are rounded outwards, lower ones down and upper ones up: what is read off
        the tooltip is never stronger than what was proved.
    """
    ends = {name: _finite(row[name]) for name in ENDS}
    return {
        "method": visible(row["method"]),
        "guarantee": visible(row["guarantee"]),
        "range": interval_text(ends["lower"], ends["upper"]),
        "bounds": f"{bound(ends['lower_bound'], DOWN)} and {bound(ends['upper_bound'], UP)}",
        **ends,
    }


def _finite(value: float | None) -> float | None:
    """Return a number, None for one that is missing or infinite."""
    return None if value is None or not math.isfinite(value) else float(value)
