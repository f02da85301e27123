"""Writes a figure and the table behind it, each file whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.filesystem import write_bytes
from fairtransport.report.charts import chart_bytes

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from altair.typing import ChartType


def write_figure(folder: Path, name: str, chart: ChartType, data: pd.DataFrame) -> list[Path]:
    """Write ``name``.png, .svg and .csv into a folder and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        "png": chart_bytes(chart, ".png"),
        "svg": chart_bytes(chart, ".svg"),
        "csv": data.to_csv(index=False, lineterminator="\n").encode(),
    }
    return [
        write_bytes(folder / f"{name}.{ending}", content, "output")
        for ending, content in contents.items()
    ]
