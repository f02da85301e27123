"""The statistic at every budget, with the price of a little more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtransport.report.charts.documents import drawn, layer, layered, number
from fairtransport.report.charts.style import BLUE, HEIGHT, INK, VERMILLION, WIDTH, looks, rows_of

if TYPE_CHECKING:
    from altair.typing import ChartType

    from fairtransport.report.charts.style import Row, Table

TANGENT = 0.25
"""How much of the picture's width the slope is drawn over."""
MOST_CIRCLES = 40
"""More corners than these would hide the curve behind their circles."""
SHOWN = 10
"""The picture ends at so many times the audit's budget, if the curve goes on beyond."""


def budget_curve_chart(
    table: Table, *, budget: float, statistic: float, price: float | None
) -> ChartType:
    """Draw the budget curve, its corners, and where the audit stands on it.

    Parameters
    ----------
    table
        Columns ``budget`` and ``value``, one corner of the curve a row.
    budget, statistic, price
        The audit's budget, its statistic, and the slope of the curve to the right.
    """
    return drawn(budget_document(table, budget=budget, statistic=statistic, price=price))


def budget_document(table: Table, *, budget: float, statistic: float, price: float | None) -> Row:
    """Return the Vega-Lite document of `budget_curve_chart`."""
    corners = [
        {"budget": float(row["budget"]), "value": float(row["value"])}
        for row in rows_of(table, ("budget", "value"))
    ]
    last = corners[-1]
    end = max(1.15 * last["budget"], 1.3 * budget) or 1.0
    if budget > 0:
        end = min(end, SHOWN * budget)
    curve, shown = _until(end, corners)
    scale = {"domain": [0, end], "nice": False}
    places = {
        "x": number("budget", "Budget, ε (squared distance)", scale=scale),
        "y": number("value", "FaiTH statistic", scale={"zero": True}),
    }
    tips = [
        number("budget", "Budget", format=".4g"), number("value", "Statistic", format=".4f")
    ]  # fmt: skip
    layers = [layer(curve, "line", {"color": BLUE, "strokeWidth": 2.5}, **places)]
    circles = ""
    if len(shown) < MOST_CIRCLES:
        circles = "; circles: corners of the curve"
        look = {"color": BLUE, "fill": "#FFFFFF", "opacity": 1, "size": 40}
        layers.append(layer(shown, "point", look, **places, tooltip=tips))
    here = f"budget {budget:g}, statistic {statistic:.4f}"
    if price is not None and math.isfinite(price) and price > 0:
        here += f", price {price:.4g}"
        rise = max(curve[-1]["value"] - statistic, 0.1 * curve[-1]["value"])
        run = min(TANGENT * end, end - budget, rise / price)
        ends = [{"budget": budget + step, "value": statistic + price * step} for step in (0.0, run)]
        look = {"color": INK, "strokeDash": [5, 3], "strokeWidth": 1.5, "clip": True}
        layers.append(layer(ends, "line", look, **places))
    look = {"shape": "diamond", "filled": True, "size": 150, "color": VERMILLION, "opacity": 1}
    spot = [{"budget": budget, "value": statistic}]
    layers.append(layer(spot, "point", look, **places, tooltip=tips))
    told = looks(
        "The statistic at every budget",
        f"Line chart of the FaiTH statistic against the budget, from {corners[0]['value']:.4f} "
        f"at {corners[0]['budget']:g} to {last['value']:.4f} at {last['budget']:.4g}. "
        f"This audit: {here}.",
        f"Diamond: this audit ({here}){circles}",
    )
    return layered(layers, width=WIDTH, height=HEIGHT * 0.8, looks=told)


def _until(
    end: float, corners: list[dict[str, float]]
) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    """Return the curve up to a budget, behind its last corner flat, and the corners on it.

    Parameters
    ----------
    end
        Where the picture ends.
    corners
        Of the whole curve, rising.

    Examples
    --------
    >>> corners = [{"budget": 0.0, "value": 0.0}, {"budget": 1.0, "value": 0.5}]
    >>> curve, shown = _until(0.5, corners)
    >>> curve[-1], len(shown)
    ({'budget': 0.5, 'value': 0.25}, 1)
    """
    shown = [corner for corner in corners if corner["budget"] <= end]
    here, there = shown[-1], corners[min(len(shown), len(corners) - 1)]
    width = there["budget"] - here["budget"]
    part = (end - here["budget"]) / width if width > 0 else 0.0
    value = here["value"] + part * (there["value"] - here["value"])
    return [*shown, {"budget": end, "value": value}], shown
