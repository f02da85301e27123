"""What the statistic could be in other samples, beside estimate, bounds and δ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.charts.marks import in_words, lines, named
from fairtransport.report.charts.style import (
    HEIGHT,
    SKY,
    WIDTH,
    data_of,
    finish,
    padded,
    rows_of,
    value_axis,
)

if TYPE_CHECKING:
    import altair as alt
    from altair.typing import ChartType

    from fairtransport.report.charts.style import Table


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
    import altair as alt

    rows = rows_of(table, ("left", "right", "density"))
    marks = named(
        (("estimate", estimate), ("lower bound", lower), ("upper bound", upper), ("δ", delta))
    )
    title = "FaiTH statistic"
    known = [row[end] for row in rows for end in ("left", "right")]
    domain = padded([*known, *(mark["at"] for mark in marks)])

    def x(name: str) -> alt.X:
        """Return the channel of the statistic, on one scale for bars and lines."""
        return alt.X(f"{name}:Q", title=title, axis=value_axis()).scale(domain=domain, nice=False)

    bars = (
        alt.Chart(data_of(rows))
        .mark_rect(color=SKY, opacity=0.75, stroke="#FFFFFF", strokeWidth=0.5)
        .encode(
            x=x("left"),
            x2="right:Q",
            y=alt.Y("density:Q", title="Density"),
            y2=alt.datum(0),
            tooltip=[
                alt.Tooltip("left:Q", title="From", format=".4f"),
                alt.Tooltip("right:Q", title="To", format=".4f"),
                alt.Tooltip("density:Q", title="Density", format=".3g"),
            ],
        )
    )
    rules = lines(marks, "x", x("at"))
    return finish(
        alt.layer(bars, rules).properties(width=WIDTH, height=HEIGHT * 0.8),
        title="What the statistic could be in other samples",
        description=f"Histogram of the sampling law of the FaiTH statistic; {in_words(marks)}.",
    )
