"""A monitor's confidence sequence: bounds that hold at all times at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtransport.report.charts.documents import drawn, layer, layered, number, words
from fairtransport.report.charts.marks import in_words, lines, named
from fairtransport.report.charts.style import (
    BLUE,
    HEIGHT,
    INK,
    SKY,
    VERMILLION,
    WIDTH,
    looks,
    rows_of,
)
from fairtransport.report.numbers import DOWN, NO_UPPER, UP, bound, decimal

if TYPE_CHECKING:
    from altair.typing import ChartType

    from fairtransport.report.charts.style import Row, Table

TIPS = {"lower": "Lower bound", "statistic": "Statistic", "upper": "Upper bound"}
LONG = 20
"""A stream that grew this many times over is shown on a logarithmic scale."""


def first_above(table: Table, delta: float) -> int | None:
    """Return the number of cases at the first look whose lower bound is above δ; None if none.

    Parameters
    ----------
    table
        Looks in their order.
    delta
        The threshold.
    """
    rows = rows_of(table, ("n", "lower"))
    return next((int(row["n"]) for row in rows if row["lower"] > delta), None)


def since_words(look: int | None) -> str:
    """Return since when something holds, as far as was looked.

    Parameters
    ----------
    look
        The number of cases at the first look, None: never.

    Examples
    --------
    >>> since_words(1200), since_words(None)
    ('from the look at case 1,200 on', 'at no look')
    """
    return "at no look" if look is None else f"from the look at case {look:,} on"


def confidence_sequence_chart(
    table: Table, *, delta: float | None = None, decided: tuple[str, int] | None = None
) -> ChartType:
    """Draw the bounds of a stream's statistic against the number of cases.

    Parameters
    ----------
    table
        Columns ``n``, ``lower``, ``statistic`` and ``upper``, one look a row; an upper bound
        that does not exist is None or infinite.
    delta
        The threshold.
    decided
        The verdict that the evidence came to, and after how many cases.
    """
    rows = [_look(row) for row in rows_of(table, ("n", "lower", "statistic", "upper"))]
    # most happens at the beginning
    is_long = rows[-1]["n"] >= LONG * rows[0]["n"]
    scale = {"nice": False} | ({"type": "log"} if is_long else {"zero": False})
    axis = {"tickCount": 8, "labelOverlap": True}
    across = number("n", "Number of cases, n", scale=scale, axis=axis)
    shared = {
        "x": across,
        "tooltip": [
            number("n", "Cases", format=","),
            *(number(name, title, format=".4f") for name, title in TIPS.items()),
        ],
    }

    def y(name: str) -> Row:
        return number(name, "FaiTH statistic", scale={"zero": True})

    layers = [
        layer(rows, "line", {"color": BLUE, "strokeWidth": 1.5}, **shared, y=y("lower")),
        layer(rows, "line", {"color": INK, "strokeWidth": 2}, **shared, y=y("statistic")),
    ]
    if any(row["upper"] is not None for row in rows):
        area, upper_end = {"color": SKY, "opacity": 0.45}, {"field": "upper"}
        layers.insert(0, layer(rows, "area", area, **shared, y=y("lower"), y2=upper_end))
    marks = named((("δ", delta),))
    if marks:
        layers.append(lines(marks, "y", y("at")))
    subtitle = ["Black: statistic; blue: bounds that hold at all times at once"]
    if decided is not None:
        verdict, at = decided
        reached = [{"n": at, "words": f"verdict at case {at:,}"}]
        rule, tip = {"color": VERMILLION, "strokeWidth": 1.5}, words("words", title="Line")
        layers.append(layer(reached, "rule", rule, x=across, tooltip=tip))
        subtitle.append(f"Vertical: {verdict} at case {at:,}, when the evidence sufficed")
    if delta is not None:
        crossed = first_above(rows, delta)
        subtitle.append(f"The lower bound is above δ {since_words(crossed)}")
    told = looks("The evidence so far", _described(rows[-1], marks, subtitle), subtitle)
    return drawn(layered(layers, width=WIDTH, height=HEIGHT, looks=told))


def _described(last: Row, marks: list[Row], subtitle: list[str]) -> str:
    upper = NO_UPPER if last["upper"] is None else f"upper bound {bound(last['upper'], UP)}"
    return (
        f"Line chart of the FaiTH statistic with its confidence sequence. After "
        f"{last['n']:,} cases: statistic {decimal(last['statistic'])}, lower bound "
        f"{bound(last['lower'], DOWN)}, {upper}"
        f"{'; ' + in_words(marks) if marks else ''}."
    ) + "".join(f" {one}." for one in subtitle[1:])


def _look(row: Row) -> Row:
    """Return a row as plain numbers, an upper bound that does not exist as None.

    Parameters
    ----------
    row
        A look of a monitor. Its upper bound is None or infinite where targets come from the sample,
        so that nothing can be certified; JSON has no infinity.

    Examples
    --------
    >>> _look({"n": 8, "lower": 0.0, "statistic": 0.1, "upper": math.inf})["upper"] is None
    True
    """
    upper = row["upper"]
    known = upper is not None and math.isfinite(upper)
    return {
        "n": int(row["n"]),
        "lower": float(row["lower"]),
        "statistic": float(row["statistic"]),
        "upper": float(upper) if known else None,
    }
