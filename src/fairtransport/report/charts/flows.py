"""The change in the number of people by a feature and the groups: the paper's Figure 2."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairtransport.report.charts.style import (
    INK,
    MARK,
    ORANGE,
    PALE,
    SKY,
    looks,
    rows_of,
    to_altair,
)
from fairtransport.report.text import (
    NOT_TOLD,
    interval_text,
    level_texts,
    people,
    signed,
    value_text,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from altair.typing import ChartType

    from fairtransport.explain.flows import FlowTable
    from fairtransport.report.charts.style import Row, Table

NEEDED = ("label", "level", "group", "people", "out", "into", "change")
CELL_HEIGHT = 44
EVERYBODY = "any"
NARROWEST, WIDEST = 60, 110
LINE = 11
"""Maximum characters of a line of a group's name, which breaks at spaces and hyphens."""
MAX_LABEL_LINES = 3
TITLE_LIMIT = 300
TIPS = {
    "of": "Group",
    "level": "Value",
    "people": "People",
    "out": "Leave",
    "into": "Enter",
    "shown": "Change",
    "range": "Interval of the change",
}
SUBTITLE = "People after the swaps minus people before: + more (blue), − fewer (orange)"
LETTER = 5.6
"""About the width of a letter on an axis, in pixels."""


def flow_rows(table: FlowTable) -> list[Row]:
    """Return a table of flows as rows for `flow_heatmaps`."""
    return [vars(cell) for cell in table.cells]


def flow_heatmaps(table: Table, *, feature: str, label: str | None = None) -> ChartType:
    """Draw a heat map for each label: levels of a feature against groups."""
    return to_altair(heatmaps_document(table, feature, label))


def heatmaps_document(table: Table, feature: str, label: str | None = None) -> Row:
    """Return the Vega-Lite document of `flow_heatmaps`."""
    rows = [_cell(row) for row in rows_of(table, NEEDED)]
    maps, data = _maps(rows, label)
    title = f"Change in people by {visible(feature)}"
    parts = {"concat": maps, "columns": 2, "spacing": 28, "datasets": data}
    return parts | looks(title, _description(rows, feature), SUBTITLE)


def stacked_heatmaps(tables: Mapping[str, Table], *, label: str | None = None) -> ChartType:
    """Draw the heat maps of several features, one below the other, by the features' names."""
    import altair as alt

    parts, described = [], []
    data: dict[str, list[Row]] = {}
    for feature, table in tables.items():
        rows = [_cell(row) for row in rows_of(table, NEEDED)]
        maps, own = _maps(rows, label, len(data))
        heading = {"text": visible(feature), "fontSize": 13, "anchor": "start"}
        beside = list(map(to_altair, maps))
        parts.append(alt.HConcatChart(hconcat=beside, spacing=28, title=heading))
        described.append(_description(rows, feature))
        data |= own
    look = looks("Change in people", " ".join(described), SUBTITLE)
    return alt.VConcatChart(vconcat=parts, spacing=24, datasets=data, **look)


def _maps(
    rows: list[Row], label: str | None, first: int = 0
) -> tuple[list[Row], dict[str, list[Row]]]:
    """Return a heat map for each label, all on one scale of colours, and their data by name."""
    largest = max(1.0, *(abs(row["change"]) for row in rows))
    groups = _distinct(row["column"] for row in rows)
    levels = _distinct(row["row"] for row in rows)
    maps, data = [], {}
    for number, value in enumerate(_distinct(row["label"] for row in rows), first):
        part = [row for row in rows if row["label"] == value]
        data[f"cells-{number}"] = part
        title = {
            "text": _map_title(label, value), "fontSize": 13, "anchor": "start",
            "limit": TITLE_LIMIT,
        }  # fmt: skip
        maps.append(
            {"data": {"name": f"cells-{number}"}, "title": title}
            | _heatmap(part, levels, groups, largest)
        )
    return maps, data


def wrap_label(text: str) -> str:
    r"""Return a name in a few short lines; without its line feeds it is the name again."""
    lines = [""]
    for part in re.findall(r"[^\s-]*[\s-]?", text):
        if lines[-1] and len(lines) < MAX_LABEL_LINES and len(lines[-1]) + len(part) > LINE:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def axis_key(text: str) -> str:
    """Return a text as the key of a row or column.

    Keys are looked up in objects with their own properties, such as "constructor". A line feed
    cannot come from the data, in which it is escaped, so no name ends in one.
    """
    return f"{text}\n"


def _cell(row: Mapping[str, Any]) -> Row:
    """Return a row of the table as a cell of the chart, with its tooltip."""
    lower, upper = row.get("lower"), row.get("upper")
    group = row["group"]
    parts = level_texts(group) if isinstance(group, Mapping) else [value_text(group)]
    cell = {
        "label": EVERYBODY if row["label"] is None else value_text(row["label"]),
        "level": value_text(row["level"]),
        "row": axis_key(value_text(row["level"])),
        "column": axis_key("\n".join(map(wrap_label, parts))),
        "of": ", ".join(parts),
        "change": float(row["change"]),
        "shown": signed(row["change"]),
        "people": people(row["people"]),
        "out": people(row["out"]),
        "into": people(row["into"]),
    }
    if lower is not None and upper is not None:
        cell["range"] = interval_text(lower, upper, 1)
    return cell


def _distinct(values: Iterable[str]) -> list[str]:
    """Return values in the order in which they first occur."""
    return list(dict.fromkeys(values))


def _map_title(label: str | None, value: str) -> str:
    """Return the title of one heat map."""
    return "Everybody" if label is None or value == EVERYBODY else f"{visible(label)} = {value}"


def _heatmap(rows: list[Row], levels: list[str], groups: list[str], largest: float) -> Row:
    """Return one heat map, without its data and its title."""
    longest = max(len(line) for group in groups for line in group.split("\n"))
    step = round(min(max(LETTER * longest + 10, NARROWEST), WIDEST))
    across = _places("column", groups) | {
        "axis": {
            "labelAngle": 0, "labelExpr": "split(slice(datum.label, 0, -1), '\\n')",
            "labelLimit": step - 2, "labelFontSize": 11, "domain": False, "ticks": False,
            "labelPadding": 6,
        },
    }  # fmt: skip
    down = _places("row", levels) | {
        "axis": {
            "labelExpr": "slice(datum.label, 0, -1)", "domain": False, "ticks": False,
            "labelPadding": 8, "labelLimit": 150,
        },
    }  # fmt: skip
    tips = [
        {"field": name, "title": title, "type": "nominal"}
        for name, title in TIPS.items()
        if any(row.get(name, NOT_TOLD) != NOT_TOLD for row in rows)
    ]
    colour = {
        "field": "change", "type": "quantitative", "legend": None,
        "scale": {
            "domain": [-largest, 0, largest], "range": [ORANGE, PALE, SKY], "interpolate": "rgb",
        },
    }  # fmt: skip

    def layer(mark: Row, condition: str | None = None, **channels: Row) -> Row:
        """Return a layer of marks, optionally for some cells only."""
        transform = {} if condition is None else {"transform": [{"filter": condition}]}
        encoding = {"x": across, "y": down, "tooltip": tips, **channels}
        return {"mark": {**mark, "aria": False}, "encoding": encoding, **transform}

    text = {"field": "shown", "type": "nominal"}
    # all colours of the scale are light, so that dark numbers can be read on every one
    layers = [
        layer({"type": "rect", "stroke": "#FFFFFF", "strokeWidth": 2}, color=colour),
        layer(
            {"type": "text", "fontSize": 14, "fontWeight": "bold", "color": INK},
            "datum.change != 0", text=text,
        ),
        layer({"type": "text", "fontSize": 12, "color": MARK}, "datum.change == 0", text=text),
    ]  # fmt: skip
    return {"layer": layers, "width": {"step": step}, "height": {"step": CELL_HEIGHT}}


def _places(field: str, keys: list[str]) -> Row:
    """Return a channel of keys in their order, whether or not each occurs."""
    return {
        "field": field, "type": "nominal", "sort": keys, "title": None, "scale": {"domain": keys},
    }  # fmt: skip


def _description(rows: list[Row], feature: str) -> str:
    """Return the alternative text: the content, and the three largest changes."""
    order = sorted(rows, key=lambda row: -abs(row["change"]))[:3]
    largest = "; ".join(
        f"{row['shown']} for {row['level']}, {row['of']}, true label {row['label']}"
        for row in order
        if row["change"]
    )
    return (
        f"Heat maps of the change in the number of people by {visible(feature)} and group, one for "
        f"each true label. {f'Largest changes: {largest}.' if largest else 'Nothing changes.'}"
    )
