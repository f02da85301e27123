"""What the commands cost from their start: CPU seconds of whole processes, files warm."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS, QUICK_RUNS = 5, 1
AUDIT = (
    "audit", "compas.csv", "--counts", "count", "--label", "two_year_recid", "--sensitive",
    "race,sex", "--prediction", "high_risk", "--delta", "0.03", "--seed", "0", "--fail-on", "never",
    "--report", "report.html", "--json", "audit.json",
)  # fmt: skip
"""COMPAS and the predictions that it came with, 144 cells; a report and a document are written."""
COMMANDS: dict[str, tuple[str, ...]] = {
    "--version": ("--version",),
    "--help": ("--help",),
    "audit --help": ("audit", "--help"),
    "demo": ("demo", "--quiet"),
    "audit, rates": AUDIT,
}


def measure(runs: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """Return the least and the median of so many runs of each command, and of a bare Python."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        from fairtransport.datasets.compas import load_compas

        load_compas().to_csv(Path(folder, "compas.csv"), index=False)
        for name, arguments in COMMANDS.items():
            progress(f"start-up: {name}")
            line = [sys.executable, "-m", "fairtransport", *arguments]
            _seconds(line, folder)  # fills the caches
            found[name] = sorted(_seconds(line, folder) for _ in range(runs))
        bare = min(_seconds([sys.executable, "-c", "pass"], folder) for _ in range(runs))
    seconds = {
        name: {"least": took[0], "median": took[len(took) // 2]} for name, took in found.items()
    }
    return {"commands": seconds, "bare_python": bare, "runs": runs}


def _seconds(line: list[str], folder: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL, cwd=folder)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def table(found: dict[str, Any]) -> Table:
    """Return the commands as a table."""
    made = Table(title=f"Start-up, CPU seconds; a bare Python {found['bare_python']:.2f}")
    for name in ("command", "least", "median"):
        made.add_column(name, justify="left" if name == "command" else "right")
    for name, took in found["commands"].items():
        made.add_row(name, f"{took['least']:.2f}", f"{took['median']:.2f}")
    return made
