"""A million points in ten dimensions: the whole audit and its memory.

CPU seconds, each audit in a process of its own. Half a million people are asked about with their
twins; similarity is Euclidean, the model is cheap.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from afterwards import STAGES
from measure import in_fresh_process, peak_mib
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

PEOPLE, QUICK_PEOPLE = 500_000, 10_000
DIMENSIONS = 10
SEED = 17
AUDITS = {"0-1": {"loss": "zero-one"}}


def measure(people: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """Return the stages of each audit."""
    audits = {}
    for name, settings in AUDITS.items():
        progress(f"{name}, {people:,} people")
        audits[name] = in_fresh_process(_audit, people, settings)
    return {"people": people, "dimensions": DIMENSIONS, "audits": audits}


def _audit(people: int, settings: dict[str, Any]) -> dict[str, Any]:
    _stages(500, settings)  # loads libraries and compiled code
    return _stages(people, settings)


def _stages(people: int, settings: dict[str, Any]) -> dict[str, Any]:
    import fairtransport as ft

    table = _people(people)
    columns = [f"x{at}" for at in range(DIMENSIONS)]
    needs_label = settings["loss"] == "zero-one"

    def model(asked: pd.DataFrame) -> np.ndarray:
        scores = _scores(asked)
        return (scores > 0.5).astype(int) if needs_label else scores

    times = [process_time()]
    result = ft.audit(
        table, "good", model=model, sensitive_features="group", budget=0.05, delta=0.05, rng=0,
        similarity=ft.similarity.MixedTabular(scales=dict.fromkeys(columns, 1.0)), **settings,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        for stage in (
            lambda: None,
            lambda: (result.verdict, result.interval),
            lambda: result.write_moves(page.with_suffix(".parquet")),
            lambda: result.summary,
            lambda: result.to_html(page),
        ):
            stage()
            times.append(process_time())
        size = page.stat().st_size
    return {
        "points": result.points,
        "seconds": dict(zip(STAGES, np.diff(times).tolist(), strict=True)),
        "peak_mib": peak_mib(),
        "page_mb": size / 1e6,
        "statistic": result.statistic,
    }


def _people(people: int) -> pd.DataFrame:
    import pandas as pd

    rng = np.random.default_rng(SEED)
    columns = [f"x{at}" for at in range(DIMENSIONS)]
    table = pd.DataFrame(rng.normal(size=(people, DIMENSIONS)), columns=columns)
    table["group"] = rng.integers(0, 2, people)
    table["good"] = (rng.random(people) < _scores(table)).astype(int)
    return table


def _scores(table: pd.DataFrame) -> np.ndarray:
    """Return the scores of a model that is neither linear nor a function of one column."""
    place = table[["x0", "x1", "x2"]].to_numpy()
    inside = place[:, 0] + np.sin(2 * place[:, 1]) - 0.5 * place[:, 2] ** 2
    return np.asarray(1 / (1 + np.exp(-inside - 0.4 * table["group"].to_numpy())))


def table(found: dict[str, Any]) -> Table:
    """Return the stages as a table."""
    made = Table(title=f"{2 * found['people']:,} points, CPU seconds")
    for name in ("audit of", *STAGES, "whole", "peak MiB", "page MB"):
        made.add_column(name, justify="right")
    for name, one in found["audits"].items():
        seconds = one["seconds"]
        made.add_row(
            name, *(f"{seconds[stage]:.1f}" for stage in STAGES), f"{sum(seconds.values()):.0f}",
            f"{one['peak_mib']:.0f}", f"{one['page_mb']:.2f}",
        )  # fmt: skip
    return made
