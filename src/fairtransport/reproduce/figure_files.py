"""Writes the paper's figures and the tables behind them, each file whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.filesystem import write_bytes
from fairtransport.report.charts import chart_bytes
from fairtransport.reproduce.figure1 import figure1_chart, figure1_data
from fairtransport.reproduce.figure2 import figure2_chart, figure2_data
from fairtransport.reproduce.figure3 import figure3_chart, figure3_data
from fairtransport.reproduce.figure4 import figure4_chart, figure4_data

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd
    from altair.typing import ChartType


FIGURES: dict[int, tuple[Callable[[int], pd.DataFrame], Callable[[pd.DataFrame], ChartType]]] = {
    1: (figure1_data, figure1_chart),
    2: (figure2_data, figure2_chart),
    3: (figure3_data, figure3_chart),
    4: (figure4_data, figure4_chart),
}
"""How the table behind each figure is made from a seed, and the figure from the table."""


def write_figure(folder: Path, number: int, seed: int = 0) -> list[Path]:
    """Write a figure as PNG and SVG with the data behind it as CSV, and return their paths.

    Parameters
    ----------
    folder
        Made if it is not there.
    number
        Of the figure, 1 to 4.
    seed
        Of its data.
    """
    table, draw = FIGURES[number]
    data = table(seed)
    chart = draw(data)
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        "png": chart_bytes(chart, ".png"),
        "svg": chart_bytes(chart, ".svg"),
        "csv": data.to_csv(index=False, lineterminator="\n").encode(),
    }
    return [
        write_bytes(folder / f"figure{number}.{ending}", content, "output")
        for ending, content in contents.items()
    ]
