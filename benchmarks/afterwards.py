"""What comes after the value: every stage of an audit with its report, and start-up.

CPU seconds and ratios in one run, so that they mean something on a machine that is shared.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from measure import in_fresh_process
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (3_000, 10_000, 30_000, 100_000)
QUICK_SIZES = (1_000, 3_000)
DIMENSIONS = 9
STAGES = ("audit", "bounds", "moves", "summary", "html")
COMMANDS = ("--version", "--help")


@dataclass(frozen=True)
class Afterwards:
    """An audit of so many points with a continuous loss: CPU seconds by stage, peak memory."""

    points: int
    seconds: dict[str, float]
    peak_mib: float

    @property
    def report_ratio(self) -> float:
        """What summary and report cost, beside audit and bounds."""
        own = self.seconds["audit"] + self.seconds["bounds"]
        return (self.seconds["summary"] + self.seconds["html"]) / own


def measure(sizes: tuple[int, ...], progress: Callable[[str], None]) -> dict[str, Any]:
    """Return the stages at each size, their growth exponents, and start-up."""
    audits = []
    for size in sizes:
        progress(f"audit and report, K = {size:,}")
        audits.append(in_fresh_process(_audit, size))
    progress("start-up")
    started = {name: _started(name) for name in COMMANDS}
    return {
        "audits": [asdict(one) | {"report_ratio": one.report_ratio} for one in audits],
        "exponents": {stage: _exponent(audits, stage) for stage in STAGES},
        "start_up": started,
        "bare_python": _started(None),
    }


def _audit(size: int) -> Afterwards:
    _stages(500)  # loads libraries and compiled code
    return Afterwards(
        size, _stages(size), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    )


def _stages(size: int) -> dict[str, float]:
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
        loss="brier", budget=0.05, delta=0.05, rng=0, disagreement="bias",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for stage in (
            lambda: None,
            lambda: (result.verdict, result.interval),
            lambda: result.moves,
            lambda: result.summary,
            lambda: result.to_html(Path(folder) / "report.html"),
        ):
            stage()
            times.append(process_time())
    return dict(zip(STAGES, np.diff(times).tolist(), strict=True))


def _exponent(audits: list[Afterwards], stage: str) -> float:
    """Return the slope of a straight line through the logarithms."""
    sizes = np.log([one.points for one in audits])
    return float(np.polyfit(sizes, np.log([one.seconds[stage] for one in audits]), 1)[0])


def _started(flag: str | None) -> float:
    """Return the least CPU seconds of three processes."""
    code = [sys.executable, "-c", "pass"] if flag is None else [
        sys.executable, "-m", "fairtransport", flag
    ]  # fmt: skip

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(code, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(once() for _ in range(3))


def table(found: dict[str, Any]) -> Table:
    """Return the stages as a table."""
    made = Table(title="An audit with its report, CPU seconds")
    for name in ("K", *STAGES, "report / audit", "peak MiB"):
        made.add_column(name, justify="right")
    for one in found["audits"]:
        made.add_row(
            f"{one['points']:,}", *(f"{one['seconds'][stage]:.2f}" for stage in STAGES),
            f"{one['report_ratio']:.2f}", f"{one['peak_mib']:.0f}",
        )  # fmt: skip
    made.add_row("K^", *(f"{found['exponents'][stage]:.2f}" for stage in STAGES), "", "")
    return made


def lines(found: dict[str, Any]) -> list[str]:
    """Say what start-up costs."""
    started = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in found["start_up"].items())
    return [f"Start-up, CPU: {started}; a bare Python {found['bare_python']:.2f} s."]
