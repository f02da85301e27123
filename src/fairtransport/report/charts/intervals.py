"""Charts of intervals side by side: of decisions, of several methods, of several audits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtransport.documents.verdicts import VERDICTS
from fairtransport.report.charts import style
from fairtransport.report.sections.decisions import (
    direction_rows,
    group_name,
    is_weighted,
    share_text,
)
from fairtransport.report.text import (
    DOWN,
    UP,
    bound,
    decimal,
    interval_text,
    people,
    value_text,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from altair.typing import ChartType

    from fairtransport.explain.decisions import Decisions


DIRECTION_ROW = 52
MAX_SCORE_GROUPS = 10
DIRECTION_COLOURS = {"worse off": style.VERMILLION, "better off": style.BLUE, "": style.INK}


def decisions_chart(decisions: Decisions) -> ChartType:
    """Draw a bar for each direction in which decisions change, with the number of people."""
    return style.to_altair(decisions_document(decisions))


def decisions_document(decisions: Decisions) -> style.Row:
    """Return the Vega-Lite document of `decisions_chart`."""
    if decisions.scores is None:
        rows, title = _direction_bars(decisions), "People"
        heading = "Which decisions would change"
        caption = "Bars: people in the data; black lines: confidence intervals"
    else:
        rows, title = _score_bars(decisions), "Mean change of predictions"
        heading = "How far predictions would change"
        caption = "Bars: average of each person's largest change, by group"
    _, right = style.padded_domain([0.0, *(row["to"] for row in rows)])

    def x(name: str) -> style.Row:
        return style.number(name, title, scale={"domain": [0, right], "nice": False})

    down = style.words("name", sort=[row["name"] for row in rows], title=None,
                 axis={"domain": False, "ticks": False, "labelLimit": 260})  # fmt: skip
    tips = [style.words("name", title="Change"), style.words("label", title=title)]
    layers = [
        style.layer(
            [row for row in rows if row["effect"] == effect], "bar",
            {"color": colour, "opacity": 0.85, "height": 16}, x=x("size"), y=down, tooltip=tips,
        )
        for effect, colour in DIRECTION_COLOURS.items()
    ]  # fmt: skip
    layers += [
        style.layer(rows, "rule", {"color": style.INK}, x=x("from"), x2={"field": "to"}, y=down),
        style.layer(
            rows, "text", {"align": "left", "baseline": "bottom", "dy": -12, "color": style.INK},
            x={"value": 0}, y=down, text=style.words("label"),
        ),
    ]  # fmt: skip
    texts = "; ".join(f"{row['name']} {row['label']}" for row in rows)
    appearance = style.looks(heading, f"{title}: {texts}.", caption)
    height = DIRECTION_ROW * max(1, len(rows))
    return style.layer_document(layers, width=style.WIDTH, height=height, looks=appearance)


def _direction_bars(decisions: Decisions) -> list[style.Row]:
    """Return a row for each direction in which decisions change."""
    return [
        {
            "name": f"{row.decision} → {row.alternative}",
            "size": row.count.share * decisions.n
            if is_weighted(row.count, decisions)
            else row.count.people,
            "from": row.count.lower * decisions.n,
            "to": row.count.upper * decisions.n,
            "label": f"{people(row.count.people)} people ({share_text(row.count)})",
            "effect": row.effect,
        }
        for row in direction_rows(decisions)
    ]


def _score_bars(decisions: Decisions) -> list[style.Row]:
    """Return a row for each group and way in which scores change on average."""
    return [
        {
            "name": f"{group_name(row)}, {way} with another {visible(one.feature)}",
            "size": size,
            "from": size,
            "to": size,
            "label": f"{value_text(size)} {way} on average ({people(row.people)} people)",
            "effect": "",
        }
        for one in decisions.by_feature
        for row in one.groups[:MAX_SCORE_GROUPS]
        for size, way in ((row.mean_rise, "higher"), (row.mean_fall, "lower"))
        if size
    ]


NEEDED = ("method", "guarantee", "lower", "upper", "lower_bound", "upper_bound")
ROW = 44
ENDS = ("lower", "upper", "lower_bound", "upper_bound")
TIPS = (
    ("method", "Method"),
    ("guarantee", "Guarantee"),
    ("range", "Interval"),
    ("bounds", "Bounds"),
)


def methods_chart(table: style.Table, *, estimate: float, delta: float | None = None) -> ChartType:
    """Draw each method's interval as a bar and its one-sided bounds as ticks."""
    return style.to_altair(methods_document(table, estimate=estimate, delta=delta))


def methods_document(
    table: style.Table, *, estimate: float, delta: float | None = None
) -> style.Row:
    """Return the Vega-Lite document of `methods_chart`."""
    rows = [_row(row) for row in style.rows_of(table, NEEDED)]
    marks = style.mark_rows((("estimate", estimate), ("δ", delta)))
    ends = [row[end] for row in rows for end in ENDS]
    x = _draw_to_edges(rows, [*ends, *(mark["at"] for mark in marks)])
    names = [row["method"] for row in rows]
    down = style.words("method", sort=names, title=None, axis={"domain": False, "ticks": False})
    tips = [style.words(name, title=title) for name, title in TIPS]
    layers = [
        style.layer(
            rows, "bar", {"color": style.BLUE, "opacity": 0.55, "height": 14},
            x=x("from"), x2={"field": "to"}, y=down, tooltip=tips,
        )
    ]  # fmt: skip
    for end in ("lower_bound", "upper_bound"):
        ends = [row for row in rows if row[end] is not None]
        if ends:
            look = {"color": style.INK, "thickness": 2.5, "size": 24}
            layers.append(style.layer(ends, "tick", look, x=x(end), y=down))
    layers.append(style.lines(marks, "x", x("at")))
    layers += style.open_ends([row for row in rows if row["upper"] is None], x("to"), down)
    appearance = style.looks(
        "Methods side by side",
        "Intervals of the FaiTH statistic by method: "
        + "; ".join(f"{row['method']} {row['range']}" for row in rows)
        + f". Lines: {style.in_words(marks)}.",
        "Bars: two-sided intervals; ticks: one-sided bounds",
    )
    return style.layer_document(layers, width=style.WIDTH, height=ROW * len(rows), looks=appearance)


def _row(row: style.Row) -> style.Row:
    """Return a row with its words, missing ends as None."""
    ends = {name: _finite(row[name]) for name in ENDS}
    return {
        "method": visible(row["method"]),
        "guarantee": visible(row["guarantee"]),
        "range": interval_text(ends["lower"], ends["upper"]),
        "bounds": f"{bound(ends['lower_bound'], DOWN)} and {bound(ends['upper_bound'], UP)}",
        **ends,
    }


def _draw_to_edges(
    rows: Sequence[style.Row], values: Iterable[float | None]
) -> Callable[[str], style.Row]:
    """Draw open-ended intervals to the edge; return the function from fields to channels."""
    low, high = style.padded_domain([value for value in values if value is not None])
    for row in rows:
        row["from"] = low if row["lower"] is None else row["lower"]
        row["to"] = high if row["upper"] is None else row["upper"]

    def x(name: str) -> style.Row:
        scale = {"domain": [low, high], "nice": False}
        return style.number(name, "FaiTH statistic", axis=style.VALUE_AXIS, scale=scale)

    return x


def _finite(value: float | None) -> float | None:
    """Return a number; None if it is missing or infinite."""
    return None if value is None or not math.isfinite(value) else float(value)


FAMILY_NUMBERS = ("statistic", "lower", "upper", "delta")
FAMILY_FIELDS = ("name", *FAMILY_NUMBERS, "verdict")
FAMILY_ROW = 40
FAMILY_TIPS = (
    ("name", "Audit"),
    ("range", "Interval"),
    ("estimate", "Statistic"),
    ("limit", "Limit δ"),
    ("verdict", "Verdict"),
)


def family_chart(table: style.Table) -> ChartType:
    """Draw each audit's interval as a bar, its statistic as a dot and its δ as a stroke."""
    return style.to_altair(family_document(table))


def family_document(table: style.Table) -> style.Row:
    """Return the Vega-Lite document of `family_chart`."""
    rows = _with_distinct_names([_family_row(row) for row in style.rows_of(table, FAMILY_FIELDS)])
    x = _draw_to_edges(rows, [row[name] for row in rows for name in FAMILY_NUMBERS])
    order = [row["row"] for row in rows]
    down = style.words("row", sort=order, title=None, axis={"domain": False, "ticks": False})
    shared = {"y": down, "tooltip": [style.words(name, title=title) for name, title in FAMILY_TIPS]}
    bar = {"color": style.BLUE, "opacity": 0.5, "height": 12}
    dot = {"color": style.INK, "filled": True, "size": 90, "opacity": 1}
    layers = [
        style.layer(rows, "bar", bar, x=x("from"), x2={"field": "to"}, **shared),
        style.layer(rows, "point", dot, x=x("statistic"), **shared),
    ]
    tested = [row for row in rows if row["delta"] is not None]
    if tested:
        stroke = {"color": style.VERMILLION, "thickness": 3, "size": 26}
        layers.append(style.layer(tested, "tick", stroke, x=x("delta"), **shared))
    layers += style.open_ends([row for row in rows if row["upper"] is None], x("to"), down)
    appearance = style.looks(
        "The audits side by side",
        "Intervals of the FaiTH statistic by audit: "
        + "; ".join(f"{row['name']} {row['range']}, limit {row['limit']}" for row in rows)
        + ".",
        "Bars: intervals; dots: statistics; strokes: limits δ",
    )
    return style.layer_document(
        layers, width=style.WIDTH, height=FAMILY_ROW * len(rows), looks=appearance
    )


def _family_row(row: style.Row) -> style.Row:
    """Return a row with its words, missing ends as None."""
    ends = {name: _finite(row[name]) for name in FAMILY_NUMBERS}
    return {
        "name": visible(row["name"]),
        "range": interval_text(ends["lower"], ends["upper"]),
        "estimate": decimal(ends["statistic"]),
        "limit": decimal(ends["delta"]),
        "verdict": VERDICTS[row["verdict"]].phrase,
        **ends,
    }


def _with_distinct_names(rows: list[style.Row]) -> list[style.Row]:
    """Give each row a distinct name, as equal ones would be drawn as one."""
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["name"]] = counts.get(row["name"], 0) + 1
        copies = counts[row["name"]]
        row["row"] = row["name"] if copies == 1 else f"{row['name']} ({copies})"
    return rows
