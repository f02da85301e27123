"""What the statistic could be in other samples, beside estimate, bounds and δ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.charts.documents import drawn, layer, layered, number
from fairtransport.report.charts.marks import in_words, lines, named
from fairtransport.report.charts.style import (
    HEIGHT,
    SKY,
    VALUE_AXIS,
    WIDTH,
    looks,
    padded,
    rows_of,
)

if TYPE_CHECKING:
    from altair.typing import ChartType

    from fairtransport.report.charts.style import Row, Table


def law_chart(
    table: Table,
    *,
    estimate: float,
    lower: float | None,
    upper: float | None,
    delta: float | None = None,
) -> ChartType:
    """Draw the histogram of a sampling law.

    Parameters
    ----------
    table
        Columns ``left``, ``right`` and ``density``, one bin a row.
    estimate, lower, upper, delta
        The statistic, its one-sided bounds and the threshold; None where there is none.
    """
    return drawn(law_document(table, estimate=estimate, lower=lower, upper=upper, delta=delta))


def law_document(
    table: Table,
    *,
    estimate: float,
    lower: float | None,
    upper: float | None,
    delta: float | None = None,
) -> Row:
    """Return the Vega-Lite document of `law_chart`."""
    rows = rows_of(table, ("left", "right", "density"))
    marks = named(
        (("estimate", estimate), ("lower bound", lower), ("upper bound", upper), ("δ", delta))
    )
    known = [row[end] for row in rows for end in ("left", "right")]
    domain = padded([*known, *(mark["at"] for mark in marks)])

    def x(name: str) -> Row:
        scale = {"domain": domain, "nice": False}
        return number(name, "FaiTH statistic", axis=VALUE_AXIS, scale=scale)

    bars = layer(
        rows, "rect", {"color": SKY, "opacity": 0.75, "stroke": "#FFFFFF", "strokeWidth": 0.5},
        x=x("left"),
        x2={"field": "right"},
        y=number("density", "Density"),
        y2={"datum": 0},
        tooltip=[
            number("left", "From", format=".4f"),
            number("right", "To", format=".4f"),
            number("density", "Density", format=".3g"),
        ],
    )  # fmt: skip
    return layered(
        [bars, lines(marks, "x", x("at"))], width=WIDTH, height=HEIGHT * 0.8,
        looks=looks(
            "What the statistic could be in other samples",
            f"Histogram of the sampling law of the FaiTH statistic; {in_words(marks)}.",
        ),
    )  # fmt: skip
