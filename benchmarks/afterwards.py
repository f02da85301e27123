"""The stages after the value: every stage of an audit with its report."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from measure import exponent, in_fresh_process, peak_mib
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
QUICK_SIZES = (300, 1_000)
GROWING = 10_000
"""Number of points from which on stages grow; for fewer, most costs are constant."""
DIMENSIONS = 9
STAGES = ("audit", "bounds", "moves", "summary", "html")
WHOLE = "whole"


@dataclass(frozen=True)
class Afterwards:
    """An audit with a continuous loss: CPU seconds by stage, peak memory."""

    points: int
    seconds: dict[str, float]
    html_bytes: int
    peak_mib: float

    @property
    def report_ratio(self) -> float:
        """The cost of summary and report, relative to audit and bounds."""
        own = self.seconds["audit"] + self.seconds["bounds"]
        return (self.seconds["summary"] + self.seconds["html"]) / own


def measure(sizes: tuple[int, ...], progress: Callable[[str], None]) -> dict[str, Any]:
    """Return the stages at each size, and their growth exponents."""
    audits = []
    for size in sizes:
        progress(f"audit and report, K = {size:,}")
        audits.append(in_fresh_process(_audit, size))
    return {
        "audits": [asdict(one) | {"report_ratio": one.report_ratio} for one in audits],
        "exponents": {stage: _growth(audits, stage) for stage in (*STAGES, WHOLE)},
    }


def _audit(size: int) -> Afterwards:
    _stages(2_000)  # loads libraries and all compiled code
    seconds, html_bytes = _stages(size)
    return Afterwards(size, seconds, html_bytes, peak_mib())


def _stages(size: int) -> tuple[dict[str, float], int]:
    import pandas as pd

    import fairtransport as ft

    rng = np.random.default_rng(size)
    places = rng.normal(size=(size, DIMENSIONS))
    people = pd.DataFrame(places, columns=[f"x{at}" for at in range(DIMENSIONS)])
    people["group"] = rng.integers(0, 2, size)
    people["score"] = 1 / (1 + np.exp(-places[:, 0] - 0.3 * people["group"]))
    people["good"] = (rng.random(size) < people["score"]).astype(int)
    similarity = ft.similarity.MixedTabular(scales={f"x{at}": 1.0 for at in range(DIMENSIONS)})
    times = [process_time()]
    result = ft.audit(
        people, "good", y_score="score", sensitive_features="group", similarity=similarity,
        loss="brier", budget=0.05, delta=0.05, rng=0,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        for stage in (
            lambda: None,
            lambda: (result.verdict, result.interval),
            lambda: result.moves,
            lambda: result.summary,
            lambda: result.to_html(report),
        ):
            stage()
            times.append(process_time())
        written = report.stat().st_size
    return dict(zip(STAGES, np.diff(times).tolist(), strict=True)), written


def _growth(audits: list[Afterwards], stage: str) -> float:
    """Return the growth of a stage, or of the whole, over the larger sizes."""
    large = [one for one in audits if one.points >= GROWING] or audits
    seconds = [one.seconds.get(stage, sum(one.seconds.values())) for one in large]
    return exponent([one.points for one in large], seconds)


def table(found: dict[str, Any]) -> Table:
    """Return the stages as a table."""
    made = Table(title="An audit with its report, CPU seconds")
    for name in ("K", *STAGES, WHOLE, "report / audit", "HTML MB", "peak MiB"):
        made.add_column(name, justify="right")
    for one in found["audits"]:
        seconds = one["seconds"]
        made.add_row(
            f"{one['points']:,}", *(f"{seconds[stage]:.2f}" for stage in STAGES),
            f"{sum(seconds.values()):.1f}", f"{one['report_ratio']:.2f}",
            f"{one['html_bytes'] / 1e6:.2f}", f"{one['peak_mib']:.0f}",
        )  # fmt: skip
    grown = (f"{found['exponents'][stage]:.2f}" for stage in (*STAGES, WHOLE))
    made.add_row(f"K^, from {GROWING:,} on", *grown, "", "", "")
    return made
