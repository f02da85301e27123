"""Cost of the commands from their start: CPU seconds of whole processes.

Files are warm. The first run after an installation is measured, too, with an empty folder for
compiled code.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS, QUICK_RUNS = 3, 1
AUDIT = (
    "audit", "compas.csv", "--counts", "count", "--label", "two_year_recid", "--sensitive",
    "race,sex", "--prediction", "high_risk", "--delta", "0.03", "--seed", "0", "--fail-on", "never",
    "--report", "report.html", "--json", "audit.json",
)  # fmt: skip
"""COMPAS and its own predictions, 144 cells; a report and a document are written."""
COMPARE = (
    "compare", "compas.csv", "--counts", "count", "--label", "two_year_recid", "--sensitive",
    "race,sex", "--prediction", "old=high_risk", "--prediction", "new=nobody", "--seed", "0",
    "--fail-on", "never", "--quiet",
)  # fmt: skip
"""The same predictions compared with those of a model that predicts no rearrests."""
COMMANDS: dict[str, tuple[str, ...]] = {
    "--version": ("--version",),
    "--help": ("--help",),
    "audit --help": ("audit", "--help"),
    "demo": ("demo", "--quiet"),
    "audit, rates": AUDIT,
    "compare": COMPARE,
}


def measure(runs: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """Return the first, the least and the median of some runs of each command.

    Also the least of a bare Python, which is a lower limit.
    """
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        from fairtransport.datasets.compas import load_compas

        load_compas().assign(nobody=0).to_csv(Path(folder, "compas.csv"), index=False)
        for name, arguments in COMMANDS.items():
            progress(f"start-up: {name}")
            line = [sys.executable, "-m", "fairtransport", *arguments]
            compiled = Path(folder, "compiled", name)
            _seconds(line, folder, compiled)  # makes the charts' script, reads the files
            shutil.rmtree(compiled, ignore_errors=True)
            first = _seconds(line, folder, compiled)
            further = sorted(_seconds(line, folder, compiled) for _ in range(runs))
            seconds[name] = {"first": first, "least": further[0], "median": further[runs // 2]}
        bare = min(
            _seconds([sys.executable, "-c", "pass"], folder, Path(folder)) for _ in range(runs)
        )
    return {"commands": seconds, "bare_python": bare, "runs": runs}


def _seconds(line: list[str], folder: str, compiled: Path) -> float:
    """Return the CPU seconds of a process with its own folder for compiled code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603
        line, check=True, stdout=subprocess.DEVNULL, cwd=folder,
        env=os.environ | {"NUMBA_CACHE_DIR": str(compiled)},
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def table(found: dict[str, Any]) -> Table:
    """Return the commands as a table."""
    made = Table(title=f"Start-up, CPU seconds; a bare Python {found['bare_python']:.2f}")
    for name in ("command", "first", "least", "median"):
        made.add_column(name, justify="left" if name == "command" else "right")
    for name, took in found["commands"].items():
        made.add_row(name, *(f"{took[one]:.2f}" for one in ("first", "least", "median")))
    return made
