"""Charts of the budget curve, the sampling law, the power of an audit and a monitor's bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtransport.documents.verdicts import VERDICTS
from fairtransport.errors import InputError, param
from fairtransport.report.charts import style
from fairtransport.report.text import DOWN, NO_UPPER, UP, bound, decimal

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    from altair.typing import ChartType

    from fairtransport.inference import SamplePlan


TANGENT = 0.25
"""Share of the chart's width over which the slope is drawn."""
MAX_CIRCLES = 40
"""Maximum number of corners with circles, behind which more would hide the curve."""
SHOWN = 10
"""The chart ends at this multiple of the audit's budget, or at the end of the curve."""


def budget_curve_chart(
    table: style.Table, *, budget: float, statistic: float, price: float | None
) -> ChartType:
    """Draw the budget curve, its corners, and the audit's own point."""
    return style.to_altair(budget_document(table, budget=budget, statistic=statistic, price=price))


def budget_document(
    table: style.Table, *, budget: float, statistic: float, price: float | None
) -> style.Row:
    """Return the Vega-Lite document of `budget_curve_chart`."""
    corners = [
        {"budget": float(row["budget"]), "value": float(row["value"])}
        for row in style.rows_of(table, ("budget", "value"))
    ]
    last = corners[-1]
    end = max(1.15 * last["budget"], 1.3 * budget) or 1.0
    if budget > 0:
        end = min(end, SHOWN * budget)
    curve, visible_corners = _until(end, corners)
    scale = {"domain": [0, end], "nice": False}
    places = {
        "x": style.number("budget", "Budget, ε (squared distance)", scale=scale),
        "y": style.number("value", "FaiTH statistic", scale={"zero": True}),
    }
    tips = [
        style.number("budget", "Budget", format=".4g"),
        style.number("value", "Statistic", format=".4f"),
    ]
    layers = [style.layer(curve, "line", {"color": style.BLUE, "strokeWidth": 2.5}, **places)]
    circles = ""
    if len(visible_corners) < MAX_CIRCLES:
        circles = "; circles: corners of the curve"
        look = {"color": style.BLUE, "fill": "#FFFFFF", "opacity": 1, "size": 40}
        layers.append(style.layer(visible_corners, "point", look, **places, tooltip=tips))
    here = f"budget {budget:g}, statistic {statistic:.4f}"
    if price is not None and math.isfinite(price) and price > 0:
        here += f", price {price:.4g}"
        rise = max(curve[-1]["value"] - statistic, 0.1 * curve[-1]["value"])
        run = min(TANGENT * end, end - budget, rise / price)
        ends = [{"budget": budget + step, "value": statistic + price * step} for step in (0.0, run)]
        look = {"color": style.INK, "strokeDash": [5, 3], "strokeWidth": 1.5, "clip": True}
        layers.append(style.layer(ends, "line", look, **places))
    look = {
        "shape": "diamond",
        "filled": True,
        "size": 150,
        "color": style.VERMILLION,
        "opacity": 1,
    }
    spot = [{"budget": budget, "value": statistic}]
    layers.append(style.layer(spot, "point", look, **places, tooltip=tips))
    appearance = style.looks(
        "The statistic at every budget",
        f"Line chart of the FaiTH statistic against the budget, from {corners[0]['value']:.4f} "
        f"at {corners[0]['budget']:g} to {last['value']:.4f} at {last['budget']:.4g}. "
        f"This audit: {here}.",
        f"Diamond: this audit ({here}){circles}",
    )
    return style.layer_document(
        layers, width=style.WIDTH, height=style.HEIGHT * 0.8, looks=appearance
    )


def _until(
    end: float, corners: list[dict[str, float]]
) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    """Return the curve up to a budget, flat after its last corner, and the corners on it."""
    visible_corners = [corner for corner in corners if corner["budget"] <= end]
    here, there = visible_corners[-1], corners[min(len(visible_corners), len(corners) - 1)]
    width = there["budget"] - here["budget"]
    part = (end - here["budget"]) / width if width > 0 else 0.0
    value = here["value"] + part * (there["value"] - here["value"])
    return [*visible_corners, {"budget": end, "value": value}], visible_corners


def law_chart(
    table: style.Table,
    *,
    estimate: float,
    lower: float | None,
    upper: float | None,
    delta: float | None = None,
) -> ChartType:
    """Draw the histogram of a sampling law."""
    return style.to_altair(
        law_document(table, estimate=estimate, lower=lower, upper=upper, delta=delta)
    )


def law_document(
    table: style.Table,
    *,
    estimate: float,
    lower: float | None,
    upper: float | None,
    delta: float | None = None,
) -> style.Row:
    """Return the Vega-Lite document of `law_chart`."""
    rows = style.rows_of(table, ("left", "right", "density"))
    marks = style.mark_rows(
        (("estimate", estimate), ("lower bound", lower), ("upper bound", upper), ("δ", delta))
    )
    ends = [row[end] for row in rows for end in ("left", "right")]
    domain = style.padded_domain([*ends, *(mark["at"] for mark in marks)])

    def x(name: str) -> style.Row:
        scale = {"domain": domain, "nice": False}
        return style.number(name, "FaiTH statistic", axis=style.VALUE_AXIS, scale=scale)

    bars = style.layer(
        rows, "rect",
        {"color": style.SKY, "opacity": 0.75, "stroke": "#FFFFFF", "strokeWidth": 0.5},
        x=x("left"),
        x2={"field": "right"},
        y=style.number("density", "Density"),
        y2={"datum": 0},
        tooltip=[
            style.number("left", "From", format=".4f"),
            style.number("right", "To", format=".4f"),
            style.number("density", "Density", format=".3g"),
        ],
    )  # fmt: skip
    return style.layer_document(
        [bars, style.lines(marks, "x", x("at"))], width=style.WIDTH, height=style.HEIGHT * 0.8,
        looks=style.looks(
            "What the statistic could be in other samples",
            f"Histogram of the sampling law of the FaiTH statistic; {style.in_words(marks)}.",
        ),
    )  # fmt: skip


COLOURS = {"reject": style.BLUE, "certify": style.VERMILLION}


def power_table(plan: SamplePlan) -> pd.DataFrame:
    """Return a plan's power curve as a table with columns n, power, low, high and goal."""
    import pandas as pd

    curve = plan.curve
    columns = {"n": curve.n, "power": curve.power, "low": curve.low, "high": curve.high}
    return pd.DataFrame({**columns, "goal": plan.goal})


def power_chart(table: pd.DataFrame, *, target_power: float, sample_size: int) -> ChartType:
    """Draw the power of an audit against its size."""
    import altair as alt

    _check_table(table)
    goals = [goal for goal in COLOURS if (table["goal"] == goal).any()]
    legend = None if len(goals) == 1 else alt.Legend(symbolOpacity=1)
    colour = alt.Color("goal:N", title="Goal", legend=legend).scale(
        domain=goals, range=[COLOURS[goal] for goal in goals]
    )
    # layers merge their axes only if they agree on title and scale
    across, up = "Number of people, n", f"Probability to {' or '.join(goals)}"

    def x(name: str) -> alt.X:
        """Return the channel of sizes."""
        return alt.X(f"{name}:Q", title=across).scale(zero=False, nice=False)

    def y(name: str) -> alt.Y:
        """Return the channel of probabilities."""
        return alt.Y(f"{name}:Q", title=up).scale(domain=[0, 1]).axis(format="%")

    curve = alt.Chart(table).encode(x=x("n"), color=colour)
    mark_data = {
        "values": [{"wanted": target_power, "chosen": sample_size, "words": f"n = {sample_size:,}"}]
    }
    marks = alt.Chart(mark_data)
    layers = [
        curve.mark_area(opacity=0.25).encode(y=y("low"), y2="high:Q"),
        curve.mark_line(strokeWidth=2).encode(y=y("power")),
        marks.mark_rule(strokeDash=[6, 4], color=style.MARK).encode(y=y("wanted")),
        marks.mark_rule(strokeDash=[2, 3], color=style.MARK).encode(x=x("chosen")),
        marks.mark_text(align="left", dx=5, dy=-6, color=style.MARK, fontSize=12).encode(
            x=x("chosen"), y=alt.value(style.HEIGHT), text="words:N"
        ),
    ]
    if (table["low"] < table["high"]).any():
        layers.append(curve.mark_point(filled=True, opacity=1).encode(y=y("power")))
    return alt.layer(*layers).properties(
        width=style.WIDTH,
        height=style.HEIGHT,
        title=f"Power of an audit of n people (wanted: {target_power:.0%})",
        description=_description(table, goals, target_power, sample_size),
        usermeta={"embedOptions": {"actions": False}},
    )


def _check_table(table: pd.DataFrame) -> None:
    """Check that a table has rows, and only known goals."""
    style.check_columns(table.columns, ("n", "power", "low", "high", "goal"))
    unknown = [goal for goal in table["goal"] if goal not in COLOURS]
    if unknown or not len(table):
        got = repr(unknown[0]) if unknown else "no row"
        msg = f"{param('table')} must have rows with the goal {' or '.join(COLOURS)}, got {got}"
        raise InputError(msg)


def _description(
    table: pd.DataFrame, goals: list[str], target_power: float, sample_size: int
) -> str:
    """Return the alternative text: the power at both ends, and the meaning of the lines."""
    ordered = table.sort_values("n")
    first, last = ordered.iloc[0], ordered.iloc[-1]
    return (
        f"Line chart of the probability to {' or '.join(goals)} δ-fairness against the number of "
        f"people: {first['power']:.0%} with {first['n']:,} people, {last['power']:.0%} with "
        f"{last['n']:,}. Lines mark the wanted probability, {target_power:.0%}, and the number of "
        f"people that is enough for it, {sample_size:,}."
    )


TIPS = {"lower": "Lower bound", "statistic": "Statistic", "upper": "Upper bound"}
LONG = 20
"""Growth of a stream from which on its scale is logarithmic."""


def first_above(table: style.Table, delta: float) -> int | None:
    """Return the number of cases at the first look whose lower bound is above δ; None if none."""
    rows = style.rows_of(table, ("n", "lower"))
    return next((int(row["n"]) for row in rows if row["lower"] > delta), None)


def since_words(look: int | None) -> str:
    """Return since when something holds, as far as was looked."""
    return "at no look" if look is None else f"from the look after {look:,} people on"


def confidence_sequence_chart(
    table: style.Table, *, delta: float | None = None, decided: tuple[str, int] | None = None
) -> ChartType:
    """Draw the bounds of a stream's statistic against the number of cases."""
    rows = [_look(row) for row in style.rows_of(table, ("n", "lower", "statistic", "upper"))]
    # most happens at the beginning
    is_long = rows[-1]["n"] >= LONG * rows[0]["n"]
    scale = {"nice": False} | ({"type": "log"} if is_long else {"zero": False})
    axis = {"tickCount": 8, "labelOverlap": True}
    across = style.number("n", "Number of people, n", scale=scale, axis=axis)
    shared = {
        "x": across,
        "tooltip": [
            style.number("n", "People", format=","),
            *(style.number(name, title, format=".4f") for name, title in TIPS.items()),
        ],
    }

    def y(name: str) -> style.Row:
        return style.number(name, "FaiTH statistic", scale={"zero": True})

    layers = [
        style.layer(
            rows, "line", {"color": style.BLUE, "strokeWidth": 1.5}, **shared, y=y("lower")
        ),
        style.layer(
            rows, "line", {"color": style.INK, "strokeWidth": 2}, **shared, y=y("statistic")
        ),
    ]
    if any(row["upper"] is not None for row in rows):
        area, upper_end = {"color": style.SKY, "opacity": 0.45}, {"field": "upper"}
        layers.insert(0, style.layer(rows, "area", area, **shared, y=y("lower"), y2=upper_end))
    marks = style.mark_rows((("δ", delta),))
    if marks:
        layers.append(style.lines(marks, "y", y("at")))
    subtitle = ["Black: statistic; blue: confidence bounds, valid at all times at once"]
    if decided is not None:
        verdict, at = decided
        reached = [{"n": at, "words": f"verdict after {at:,} people"}]
        rule, tip = (
            {"color": style.VERMILLION, "strokeWidth": 1.5},
            style.words("words", title="Line"),
        )
        layers.append(style.layer(reached, "rule", rule, x=across, tooltip=tip))
        subtitle.append(
            f"Vertical line: {VERDICTS[verdict].phrase} ({verdict}) after {at:,} people"
        )
    if delta is not None:
        crossed = first_above(rows, delta)
        subtitle.append(f"The lower bound is above δ {since_words(crossed)}")
    appearance = style.looks(
        "The evidence so far", _describe_evidence(rows[-1], marks, subtitle), subtitle
    )
    return style.to_altair(
        style.layer_document(layers, width=style.WIDTH, height=style.HEIGHT, looks=appearance)
    )


def _describe_evidence(last: style.Row, marks: list[style.Row], subtitle: list[str]) -> str:
    upper = NO_UPPER if last["upper"] is None else f"upper bound {bound(last['upper'], UP)}"
    return (
        f"Line chart of the FaiTH statistic with its confidence sequence. After "
        f"{last['n']:,} people: statistic {decimal(last['statistic'])}, lower bound "
        f"{bound(last['lower'], DOWN)}, {upper}"
        f"{'; ' + style.in_words(marks) if marks else ''}."
    ) + "".join(f" {one}." for one in subtitle[1:])


def _look(row: style.Row) -> style.Row:
    """Return a row as plain numbers, a missing upper bound as None."""
    upper = row["upper"]
    is_bounded = upper is not None and math.isfinite(upper)
    return {
        "n": int(row["n"]),
        "lower": float(row["lower"]),
        "statistic": float(row["statistic"]),
        "upper": float(upper) if is_bounded else None,
    }
