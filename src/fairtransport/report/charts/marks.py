"""Named lines across a chart: estimate, bounds and δ, with their values in the legend."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtransport.report.charts.style import BLUE, INK, VERMILLION, data_of
from fairtransport.report.numbers import DOWN, NEAREST, NO_UPPER, UP, bound

if TYPE_CHECKING:
    from collections.abc import Iterable

    import altair as alt
    from altair.typing import ChartType

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


def lines(marks: list[Row], axis: str, channel: alt.X | alt.Y) -> ChartType:
    """Draw named lines at right angles to an axis ("x" or "y").

    Parameters
    ----------
    marks
        From `named`.
    axis, channel
        The axis, and the channel on it.
    """
    import altair as alt

    words = [mark["words"] for mark in marks]
    looks = [LOOKS[mark["kind"]] for mark in marks]
    legend = alt.Legend(orient="bottom", columns=2, symbolType="stroke", symbolSize=400)
    drawn: alt.Chart = (
        alt.Chart(data_of(marks))
        .mark_rule(strokeWidth=2)
        .encode(
            **{axis: channel},
            color=alt.Color("words:N", sort=words, legend=legend).scale(
                domain=words, range=[colour for colour, _ in looks]
            ),
            strokeDash=alt.StrokeDash("words:N", sort=words, legend=legend).scale(
                domain=words, range=[dash for _, dash in looks]
            ),
            tooltip=alt.Tooltip("words:N", title="Line"),
        )
    )
    return drawn


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


def open_ends(rows: list[Row], across: alt.X, down: alt.Y) -> list[ChartType]:
    """Draw an arrow at the edge for every interval that goes on for ever.

    Parameters
    ----------
    rows
        Those without an upper end.
    across, down
        The channels of the chart.
    """
    import altair as alt

    if not rows:
        return []
    base = alt.Chart(data_of(rows)).encode(x=across, y=down)
    words = base.encode(text=alt.value(NO_UPPER))
    look: Row = {"align": "right", "dx": 4, "dy": -15, "fontSize": 11}
    return [
        base.mark_point(shape="triangle-right", filled=True, size=260, color=BLUE, opacity=1),
        # a white rim, so that lines behind the words do not cross them out
        words.mark_text(color="#FFFFFF", stroke="#FFFFFF", strokeWidth=4, aria=False, **look),
        words.mark_text(color=INK, **look),
    ]
