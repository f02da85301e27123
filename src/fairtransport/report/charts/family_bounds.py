"""Several audits' intervals side by side, each with its threshold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtransport.report.charts.documents import drawn, layer, layered, number, words
from fairtransport.report.charts.marks import open_ends
from fairtransport.report.charts.style import (
    BLUE,
    INK,
    VALUE_AXIS,
    VERMILLION,
    WIDTH,
    looks,
    padded,
    rows_of,
)
from fairtransport.report.numbers import decimal, interval_text
from fairtransport.report.strings import visible

if TYPE_CHECKING:
    from altair.typing import ChartType

    from fairtransport.report.charts.style import Row, Table

NEEDED = ("name", "statistic", "lower", "upper", "delta", "verdict")
ROW = 40
TIPS = (("name", "Audit"), ("range", "Interval"), ("estimate", "Statistic"), ("limit", "δ"),
        ("verdict", "Verdict"))  # fmt: skip


def family_chart(table: Table) -> ChartType:
    """Draw each audit's interval as a bar, its statistic as a dot and its δ as a stroke.

    Parameters
    ----------
    table
        Columns ``name``, ``statistic``, ``lower``, ``upper``, ``delta`` and ``verdict``, one audit
        a row; what does not exist is None or infinite.
    """
    return drawn(family_document(table))


def family_document(table: Table) -> Row:
    """Return the Vega-Lite document of `family_chart`."""
    rows = _told_apart([_row(row) for row in rows_of(table, NEEDED)])
    names = ("statistic", "lower", "upper", "delta")
    left, right = padded([row[name] for row in rows for name in names if row[name] is not None])
    for row in rows:
        row["from"] = left if row["lower"] is None else row["lower"]
        row["to"] = right if row["upper"] is None else row["upper"]

    def x(name: str) -> Row:
        scale = {"domain": [left, right], "nice": False}
        return number(name, "FaiTH statistic", axis=VALUE_AXIS, scale=scale)

    order = [row["row"] for row in rows]
    down = words("row", sort=order, title=None, axis={"domain": False, "ticks": False})
    shared = {"y": down, "tooltip": [words(name, title=title) for name, title in TIPS]}
    bar = {"color": BLUE, "opacity": 0.5, "height": 12}
    dot = {"color": INK, "filled": True, "size": 90, "opacity": 1}
    layers = [
        layer(rows, "bar", bar, x=x("from"), x2={"field": "to"}, **shared),
        layer(rows, "point", dot, x=x("statistic"), **shared),
    ]
    tested = [row for row in rows if row["delta"] is not None]
    if tested:
        stroke = {"color": VERMILLION, "thickness": 3, "size": 26}
        layers.append(layer(tested, "tick", stroke, x=x("delta"), **shared))
    layers += open_ends([row for row in rows if row["upper"] is None], x("to"), down)
    told = looks(
        "The audits side by side",
        "Intervals of the FaiTH statistic by audit: "
        + "; ".join(f"{row['name']} {row['range']}, δ {row['limit']}" for row in rows)
        + ".",
        "Bars: intervals; dots: statistics; strokes: thresholds δ",
    )
    return layered(layers, width=WIDTH, height=ROW * len(rows), looks=told)


def _row(row: Row) -> Row:
    """Return a row with its words, ends that do not exist as None.

    Parameters
    ----------
    row
        One audit of the family's table; what does not exist is None or infinite.

    Returns
    -------
    dict
        Numbers for the marks; ``range``, ``estimate`` and ``limit`` as texts for the tooltip,
        rounded as in the report's tables; "untested" as the verdict of an audit without δ.
    """
    ends = {name: _finite(row[name]) for name in ("statistic", "lower", "upper", "delta")}
    return {
        "name": visible(row["name"]),
        "range": interval_text(ends["lower"], ends["upper"]),
        "estimate": decimal(ends["statistic"]),
        "limit": decimal(ends["delta"]),
        "verdict": row["verdict"] or "untested",
        **ends,
    }


def _told_apart(rows: list[Row]) -> list[Row]:
    """Give each row a name of its own: two that look alike would be drawn as one.

    Parameters
    ----------
    rows
        Changed in place.

    Examples
    --------
    >>> [row["row"] for row in _told_apart([{"name": "women"}, {"name": "women"}])]
    ['women', 'women (2)']
    """
    seen: dict[str, int] = {}
    for row in rows:
        seen[row["name"]] = seen.get(row["name"], 0) + 1
        copies = seen[row["name"]]
        row["row"] = row["name"] if copies == 1 else f"{row['name']} ({copies})"
    return rows


def _finite(value: float | None) -> float | None:
    """Return a number, None for one that is missing or infinite.

    Examples
    --------
    >>> _finite(0.5), _finite(math.inf), _finite(None)
    (0.5, None, None)
    """
    return None if value is None or not math.isfinite(value) else float(value)
