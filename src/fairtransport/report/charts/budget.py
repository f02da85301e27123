"""The statistic at every budget, with the price of a little more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtransport.report.charts.style import (
    BLUE,
    HEIGHT,
    INK,
    VERMILLION,
    WIDTH,
    data_of,
    finish,
    rows_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt
    from altair.typing import ChartType

    from fairtransport.report.charts.style import Table

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
    import altair as alt

    corners = [
        {"budget": float(row["budget"]), "value": float(row["value"])}
        for row in rows_of(table, ("budget", "value"))
    ]
    last = corners[-1]
    end = max(1.15 * last["budget"], 1.3 * budget) or 1.0
    if budget > 0:
        end = min(end, SHOWN * budget)
    curve, shown = _until(end, corners)

    def x(name: str) -> alt.X:
        """Return the channel of budgets, on one scale for all layers."""
        return alt.X(f"{name}:Q", title="Budget, ε (squared distance)").scale(
            domain=[0, end], nice=False
        )

    def y(name: str) -> alt.Y:
        """Return the channel of the statistic, from 0 on."""
        return alt.Y(f"{name}:Q", title="FaiTH statistic").scale(zero=True)

    tips = [
        alt.Tooltip("budget:Q", title="Budget", format=".4g"),
        alt.Tooltip("value:Q", title="Statistic", format=".4f"),
    ]
    here = f"budget {budget:g}, statistic {statistic:.4f}"
    line = alt.Chart(data_of(curve)).encode(x=x("budget"), y=y("value"))
    spot = alt.Chart(data_of([{"budget": budget, "value": statistic}]))
    layers = [line.mark_line(color=BLUE, strokeWidth=2.5)]
    circles = ""
    if len(shown) < MOST_CIRCLES:
        circles = "; circles: corners of the curve"
        points = alt.Chart(data_of(shown)).mark_point(
            color=BLUE, fill="#FFFFFF", opacity=1, size=40
        )
        layers.append(points.encode(x=x("budget"), y=y("value"), tooltip=tips))
    slope = ""
    if price is not None and math.isfinite(price) and price > 0:
        slope = f"price {price:.4g}"
        rise = max(curve[-1]["value"] - statistic, 0.1 * curve[-1]["value"])
        run = min(TANGENT * end, end - budget, rise / price)
        layers.append(_tangent(budget, statistic, price, run, y, x))
    layers.append(
        spot.mark_point(shape="diamond", filled=True, size=150, color=VERMILLION, opacity=1).encode(
            x=x("budget"), y=y("value"), tooltip=tips
        )
    )
    words = ", ".join(part for part in (here, slope) if part)
    return finish(
        alt.layer(*layers).properties(width=WIDTH, height=HEIGHT * 0.8),
        title="The statistic at every budget",
        subtitle=f"Diamond: this audit ({words}){circles}",
        description=(
            f"Line chart of the FaiTH statistic against the budget, from {corners[0]['value']:.4f} "
            f"at {corners[0]['budget']:g} to {last['value']:.4f} at {last['budget']:.4g}. "
            f"This audit: {words}."
        ),
    )


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


def _tangent(
    budget: float,
    statistic: float,
    price: float,
    run: float,
    y: Callable[[str], alt.Y],
    x: Callable[[str], alt.X],
) -> ChartType:
    """Draw the slope of the curve at the audit's budget as a dashed line.

    Parameters
    ----------
    budget, statistic, price
        Where the audit stands, and the slope there.
    run
        How far the line goes.
    y, x
        Make the channels.
    """
    import altair as alt

    ends = [{"budget": budget + step, "value": statistic + price * step} for step in (0.0, run)]
    drawn: alt.Chart = (
        alt.Chart(data_of(ends))
        .mark_line(color=INK, strokeDash=[5, 3], strokeWidth=1.5, clip=True)
        .encode(x=x("budget"), y=y("value"))
    )
    return drawn
