"""Common parts of charts: colours, sizes, reading of tables, marks, offline display and saving.

Charts are plain Vega-Lite documents, since Altair takes as long to load as an audit of a hundred
people; it is loaded only for charts that a user asks for.
"""

from __future__ import annotations

import hashlib
import json
import math
from functools import cache
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any, TypeAlias

from fairtransport._core.files import write_bytes
from fairtransport.errors import InputError, param
from fairtransport.report.bundle import converter_version, javascript_bundle
from fairtransport.report.text import DOWN, NEAREST, NO_UPPER, UP, bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from altair.typing import ChartType

    Row: TypeAlias = dict[str, Any]
    Table: TypeAlias = pd.DataFrame | Iterable[Mapping[str, Any]]


# Okabe and Ito's palette, which people with any colour vision can distinguish
BLUE, SKY, ORANGE, VERMILLION = "#0072B2", "#56B4E9", "#E69F00", "#D55E00"
INK, MARK, PALE = "#1A1A1A", "#444444", "#F4F4F2"
WIDTH, HEIGHT = 480, 300
LABEL_LIMIT = 220
"""Longer names on an axis end in an ellipsis, in pixels."""


def rows_of(table: Table, columns: Sequence[str]) -> list[Row]:
    """Return a table's rows; raise if a column is missing."""
    records = table.to_dict(orient="records") if hasattr(table, "to_dict") else table
    rows = [{str(name): value for name, value in row.items()} for row in records]
    if not rows:
        msg = f"{param('table')} must have rows, got none"
        raise InputError(msg)
    check_columns(rows[0], columns)
    return rows


def check_columns(names: Iterable[str], columns: Sequence[str]) -> None:
    """Raise if a column is missing."""
    there = set(names)
    lacking = [name for name in columns if name not in there]
    if lacking:
        msg = (
            f"{param('table')} must have the columns {', '.join(columns)}, got none named "
            f"{lacking[0]!r}"
        )
        raise InputError(msg)


def padded_domain(values: Sequence[float]) -> list[float]:
    """Return the range of values with a little room on both sides."""
    room = 0.04 * (max(values) - min(values) or 1.0)
    return [min(values) - room, max(values) + room]


VALUE_AXIS = {"tickCount": 5, "labelOverlap": True, "labelSeparation": 12}
"""The axis of the statistic: few numbers, with room between them on a phone, too."""


def looks(title: str, description: str, subtitle: str | list[str] = "") -> Row:
    """Return title, alternative text and common style of a chart's document."""
    return {
        "title": {
            "text": title, "anchor": "start", **({"subtitle": subtitle} if subtitle else {})
        },
        "description": description,
        "usermeta": {"embedOptions": {"actions": False}},
        "config": {
            "view": {"continuousWidth": 300, "continuousHeight": 300, "stroke": None},
            "axis": {
                "labelFontSize": 12,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
                "labelColor": INK,
                "titleColor": INK,
                "labelLimit": LABEL_LIMIT,
                "labelFlush": False,
                "gridColor": "#E4E4E0",
                "domainColor": "#8A8A86",
                "tickColor": "#8A8A86",
            },
            "title": {
                "fontSize": 14,
                "color": INK,
                "subtitleFontSize": 12,
                "subtitleColor": MARK,
                "offset": 14,
                "limit": 640,
            },
            "legend": {
                "labelFontSize": 12,
                "labelColor": INK,
                "labelLimit": LABEL_LIMIT,
                "title": None,
                "symbolOpacity": 1,
            },
        },
    }  # fmt: skip


# distinguished by dashes, too, so that a grey print is enough
LOOKS = {
    "estimate": (INK, [1, 0]),
    "lower bound": (BLUE, [8, 3]),
    "upper bound": (BLUE, [3, 3]),
    "δ": (VERMILLION, [8, 3, 2, 3]),
}
ROUNDINGS = {"lower bound": DOWN, "upper bound": UP}


def mark_rows(pairs: Iterable[tuple[str, float | None]]) -> list[Row]:
    """Return the finite lines with the words of their legend, bounds rounded so that they hold."""
    return [
        {"kind": kind, "at": value, "words": f"{kind} {bound(value, ROUNDINGS.get(kind, NEAREST))}"}
        for kind, value in pairs
        if value is not None and math.isfinite(value)
    ]


def lines(marks: list[Row], axis: str, channel: Row) -> Row:
    """Return named lines at right angles to an axis ("x" or "y")."""
    order = [mark["words"] for mark in marks]
    colours, dashes = zip(*(LOOKS[mark["kind"]] for mark in marks), strict=True)
    shared = {
        "sort": order,
        "legend": {"orient": "bottom", "columns": 2, "symbolType": "stroke", "symbolSize": 400},
    }
    return layer(
        marks, "rule", {"strokeWidth": 2},
        **{axis: channel},
        color=words("words", **shared, scale={"domain": order, "range": list(colours)}),
        strokeDash=words("words", **shared, scale={"domain": order, "range": list(dashes)}),
        tooltip=words("words", title="Line"),
    )  # fmt: skip


def in_words(marks: list[Row]) -> str:
    """Return the lines as part of an alternative text."""
    return ", ".join(mark["words"] for mark in marks)


def open_ends(rows: list[Row], across: Row, down: Row) -> list[Row]:
    """Return an arrow at the edge for every open end of an interval."""
    if not rows:
        return []
    places: Row = {"x": across, "y": down}
    encoding: Row = places | {"text": {"value": NO_UPPER}}
    look: Row = {"align": "right", "dx": 4, "dy": -15, "fontSize": 11}
    arrow = {"shape": "triangle-right", "filled": True, "size": 260, "color": BLUE, "opacity": 1}
    rim = {"color": "#FFFFFF", "stroke": "#FFFFFF", "strokeWidth": 4, "aria": False}
    return [
        layer(rows, "point", arrow, **places),
        # a white rim, so that lines behind the words do not cross them out
        layer(rows, "text", look | rim, **encoding),
        layer(rows, "text", look | {"color": INK}, **encoding),
    ]


def number(field: str, title: str | None, **more: Any) -> Row:
    """Return a channel of numbers."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def words(field: str, **more: Any) -> Row:
    """Return a channel of words."""
    return {"field": field, "type": "nominal", **more}


def layer(rows: Sequence[Row], mark: str, looks: Row, **channels: Any) -> Row:
    """Return a layer: its rows, its mark with its style, and its channels."""
    return {"data": rows, "mark": {"type": mark, **looks}, "encoding": channels}


def layer_document(layers: Sequence[Row], *, width: float, height: float, looks: Row) -> Row:
    """Return the document of layers, with their data, equal data once."""
    data: list[list[Row]] = []
    chart_layers = []
    for one in layers:
        rows = [{name: _plain_value(value) for name, value in row.items()} for row in one["data"]]
        if rows not in data:
            data.append(rows)
        chart_layers.append({**one, "data": {"name": f"rows-{data.index(rows)}"}})
    return {
        "layer": chart_layers, "width": width, "height": height,
        "datasets": {f"rows-{at}": rows for at, rows in enumerate(data)}, **looks,
    }  # fmt: skip


def to_altair(document: Row) -> ChartType:
    """Return a document as Altair's chart.

    Marks, scales etc. are not parsed, which would take Altair half a second.
    """
    import altair as alt

    if "concat" in document:
        return alt.ConcatChart(**document | {"concat": list(map(to_altair, document["concat"]))})
    layers = [
        alt.Chart(**one | {"encoding": alt.FacetedEncoding(**one["encoding"])})
        for one in document["layer"]
    ]
    return alt.LayerChart(**document | {"layer": layers})


def _plain_value(value: Any) -> Any:
    """Return a value for JSON, without NaN and infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


OPTIONS = {"mode": "vega-lite", "renderer": "svg", "actions": False}
PAGE = """<div id="{name}">{picture}</div>
<script>
if (!window.fairtransportEmbed) {{
(function () {{
const amd = window.define;
window.define = undefined;
{bundle}
window.define = amd;
window.fairtransportEmbed = window.vegaEmbed;
}})();
}}
window.fairtransportEmbed(document.getElementById("{name}"), {spec}, {options});
</script>"""
"""Without scripts the static picture remains."""


def offline(chart: ChartType) -> ChartType:
    """Return the chart for display in a notebook with local scripts only.

    Altair would load them from the network. The result is still an Altair chart.
    """
    copy: Any = chart.copy(deep=False)
    # attributes set on a chart would become a part of its document
    kind: Any = type(chart)
    object.__setattr__(copy, "__class__", _offline_kind(kind))
    return copy  # type: ignore[no-any-return]


@cache
def _offline_kind(kind: type[Any]) -> type[Any]:
    """Return a chart class with offline display."""
    return type(
        kind.__name__, (kind,), {"_repr_mimebundle_": _offline_bundle, "__doc__": kind.__doc__}
    )


def _offline_bundle(chart: Any, *_: Any, **__: Any) -> dict[str, Any]:
    """Return the display of a notebook: the picture, interactive if scripts run."""
    from fairtransport.report.html import safe_json

    spec = chart.to_dict()
    text = json.dumps(spec, sort_keys=True)
    page = PAGE.format(
        # the same name for the same chart
        name=f"fairtransport-{hashlib.sha256(text.encode()).hexdigest()[:16]}",
        picture=_still_picture(spec),
        bundle=javascript_bundle(),
        spec=safe_json(spec),
        options=json.dumps(OPTIONS),
    )
    return {"text/html": page, "text/plain": spec.get("description", repr(chart))}


def _still_picture(spec: Row) -> str:
    """Return a chart as SVG; empty without the extra ``images``, as scripts draw it, too."""
    try:
        import vl_convert
    except ModuleNotFoundError:
        return ""
    return vl_convert.vegalite_to_svg(spec)


ENDINGS, PICTURES = (".png", ".svg"), "PNG and SVG files of charts"


def save_chart(chart: ChartType, path: Path) -> Path:
    """Write a chart as PNG or SVG, by the ending of the path, atomically."""
    check_ending(path)
    return write_bytes(path, chart_bytes(chart, path.suffix.lower()), "plot")


def chart_bytes(chart: ChartType, ending: str) -> bytes:
    """Return a chart as the bytes of a file with this ending."""
    converter_version(PICTURES)
    if ending == ".png":
        picture = BytesIO()
        chart.save(picture, format="png", scale_factor=2)
        return picture.getvalue()
    text = StringIO()
    chart.save(text, format="svg")
    return text.getvalue().encode("utf-8", "backslashreplace")


def check_ending(path: Path) -> None:
    """Check that a file is PNG or SVG, and can be drawn."""
    if path.suffix.lower() not in ENDINGS:
        msg = f"{param('plot')} must end in {' or '.join(ENDINGS)}, got {path.name!r}"
        raise InputError(msg)
    converter_version(PICTURES)
