"""Writes a figure and the table behind it, each file whole or not at all."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def write_figure(folder: Path, name: str, chart: Any, data: pd.DataFrame) -> list[Path]:
    """Write ``name``.png, .svg and .csv into a folder and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    targets = [folder / f"{name}.{ending}" for ending in ("png", "svg", "csv")]
    # drafts beside the targets, so that moving them is atomic
    with TemporaryDirectory(dir=folder) as drafts:
        png, svg, csv = (Path(drafts) / target.name for target in targets)
        chart.save(png, scale_factor=2)
        chart.save(svg)
        data.to_csv(csv, index=False, lineterminator="\n")
        for target in targets:
            (Path(drafts) / target.name).replace(target)
    return targets
