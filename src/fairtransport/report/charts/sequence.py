"""A monitor's confidence sequence: bounds that hold at all times at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtransport.report.charts.marks import in_words, lines, named
from fairtransport.report.charts.style import (
    HEIGHT,
    INK,
    SKY,
    VERMILLION,
    WIDTH,
    data_of,
    finish,
    rows_of,
)
from fairtransport.report.numbers import DOWN, NO_UPPER, UP, bound, decimal

if TYPE_CHECKING:
    import altair as alt
    from altair.typing import ChartType

    from fairtransport.report.charts.style import Row, Table

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
    import altair as alt

    rows = [_look(row) for row in rows_of(table, ("n", "lower", "statistic", "upper"))]
    bounded = any(row["upper"] is not None for row in rows)
    up = "FaiTH statistic"
    # most happens at the beginning
    is_long = rows[-1]["n"] >= LONG * rows[0]["n"]
    scale = alt.Scale(type="log", nice=False) if is_long else alt.Scale(zero=False, nice=False)

    def y(name: str) -> alt.Y:
        """Return the channel of the statistic, from 0 on."""
        return alt.Y(f"{name}:Q", title=up).scale(zero=True)

    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("n:Q", title="Number of cases, n", scale=scale).axis(
            tickCount=8, labelOverlap=True
        ),
        tooltip=[alt.Tooltip("n:Q", title="Cases", format=",")]
        + [
            alt.Tooltip(f"{name}:Q", title=title, format=".4f")
            for name, title in (
                ("lower", "Lower bound"),
                ("statistic", "Statistic"),
                ("upper", "Upper bound"),
            )
        ],
    )
    layers = [base.mark_line(color=INK, strokeWidth=2).encode(y=y("statistic"))]
    if bounded:
        layers.insert(0, base.mark_area(color=SKY, opacity=0.45).encode(y=y("lower"), y2="upper:Q"))
    layers.insert(1, base.mark_line(color="#0072B2", strokeWidth=1.5).encode(y=y("lower")))
    marks = named((("δ", delta),))
    if marks:
        layers.append(lines(marks, "y", y("at")))
    subtitle = ["Black: statistic; blue: bounds that hold at all times at once"]
    if decided is not None:
        verdict, at = decided
        layers.append(_decision(base, at))
        subtitle.append(f"Vertical: {verdict} at case {at:,}, when the evidence sufficed")
    if delta is not None:
        crossed = first_above(rows, delta)
        subtitle.append(f"The lower bound is above δ {since_words(crossed)}")
    last = rows[-1]
    upper = NO_UPPER if last["upper"] is None else f"upper bound {bound(last['upper'], UP)}"
    return finish(
        alt.layer(*layers).properties(width=WIDTH, height=HEIGHT),
        title="The evidence so far",
        subtitle=subtitle,
        description=(
            f"Line chart of the FaiTH statistic with its confidence sequence. After "
            f"{last['n']:,} cases: statistic {decimal(last['statistic'])}, lower bound "
            f"{bound(last['lower'], DOWN)}, {upper}"
            f"{'; ' + in_words(marks) if marks else ''}."
            + "".join(f" {one}." for one in subtitle[1:])
        ),
    )


def _decision(base: alt.Chart, at: int) -> ChartType:
    """Draw a line where the verdict was reached.

    Parameters
    ----------
    base
        The chart whose axis is shared.
    at
        After how many cases.
    """
    import altair as alt

    across = base.encoding.x
    drawn: alt.Chart = (
        alt.Chart(data_of([{"n": at, "words": f"verdict at case {at:,}"}]))
        .mark_rule(color=VERMILLION, strokeWidth=1.5)
        .encode(x=across, tooltip=alt.Tooltip("words:N", title="Line"))
    )
    return drawn


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
