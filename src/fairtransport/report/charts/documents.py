"""Charts as the documents that they are: written here, drawn by Altair only if asked.

A report shows several charts. Altair takes as long to load as an audit of a hundred people, and
a tenth of a second for each.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from altair.typing import ChartType

    from fairtransport.report.charts.style import Row


def number(field: str, title: str | None, **more: Any) -> Row:
    """Return a channel of numbers."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def words(field: str, **more: Any) -> Row:
    """Return a channel of words."""
    return {"field": field, "type": "nominal", **more}


def layer(rows: Sequence[Row], mark: str, looks: Row, **channels: Any) -> Row:
    """Return a layer: its rows, its mark with looks, and what is drawn where."""
    return {"data": rows, "mark": {"type": mark, **looks}, "encoding": channels}


def layered(layers: Sequence[Row], *, width: float, height: float, looks: Row) -> Row:
    """Return the document of layers, the data beside them, equal data once."""
    data: list[list[Row]] = []
    drawn = []
    for one in layers:
        rows = [{name: _told(value) for name, value in row.items()} for row in one["data"]]
        if rows not in data:
            data.append(rows)
        drawn.append({**one, "data": {"name": f"rows-{data.index(rows)}"}})
    return {
        "layer": drawn, "width": width, "height": height,
        "datasets": {f"rows-{at}": rows for at, rows in enumerate(data)}, **looks,
    }  # fmt: skip


def drawn(document: Row) -> ChartType:
    """Return a document as Altair's chart.

    Marks, scales and the like stay as they are: reading all of them takes Altair half a second.
    """
    import altair as alt

    if "concat" in document:
        return alt.ConcatChart(**document | {"concat": list(map(drawn, document["concat"]))})
    layers = [
        alt.Chart(**one | {"encoding": alt.FacetedEncoding(**one["encoding"])})
        for one in document["layer"]
    ]
    return alt.LayerChart(**document | {"layer": layers})


def _told(value: Any) -> Any:
    """Return a value as JSON can tell it: no numbers that are none or endless."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
