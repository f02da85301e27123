"""Common parts of benchmarks: CPU time, fresh processes, provenance, result files.

Everything is CPU time on one thread: its ratios in one run are meaningful on a shared machine,
where elapsed time depends on other work.
"""

from __future__ import annotations

import json
import os
import platform
import re
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

P = ParamSpec("P")
T = TypeVar("T")

RESULTS = Path(__file__).parent / "results"
PUBLISHED = Path(__file__).parents[1] / "docs" / "speed.json"
"""The source of the docs' page on speed."""
LIBRARIES = ("numpy", "scipy", "numba", "highspy", "ortools", "cvxpy", "clarabel", "POT")
MIB = 2**20
ONE_THREAD = {"NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
QUICK = "QUICK_BENCHMARKS"
"""The variable that marks the processes of a quick run."""


@dataclass(frozen=True)
class Timing:
    """The median of repeated runs, in seconds, and their number."""

    seconds: float
    runs: int


def timed(function: Callable[[], T]) -> tuple[float, T]:
    """Return the CPU seconds that one call took, and what it returned."""
    start = process_time()
    answer = function()
    return process_time() - start, answer


def patience(seconds: float) -> float:
    """Return the seconds to repeat something for: a tenth in a quick run."""
    return seconds / 10 if QUICK in os.environ else seconds


def repeat(function: Callable[[], Any], *, seconds: float = 1.0, at_least: int = 3) -> Timing:
    """Run ``function`` until ``seconds`` have passed and ``at_least`` runs are done."""
    took: list[float] = []
    while len(took) < at_least or sum(took) < patience(seconds):
        took.append(timed(function)[0])
    return Timing(median(took), len(took))


def in_fresh_process(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what ``function`` returns in a new interpreter that has run nothing else."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args, **kwargs).result()


class Neighbours:
    """The number of cores used by other processes since construction (Linux)."""

    def __init__(self) -> None:
        self._start = perf_counter()
        self._used = self._used_by_others()

    def cores(self) -> float:
        """Return the average; our own children count as ours once they have ended."""
        return (self._used_by_others() - self._used) / (perf_counter() - self._start)

    @staticmethod
    def _used_by_others() -> float:
        with Path("/proc/stat").open(encoding="ascii") as file:
            user, nice, system = map(int, file.readline().split()[1:4])
        return (user + nice + system) / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


def memory(field: str) -> int:
    """Return a field of Linux' /proc/self/status in bytes.

    Unlike ``ru_maxrss``, for which a child starts with its parent's peak, so that a large parent
    hides the child's memory.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(rf"{field}:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


def peak_mib() -> float:
    """Return the peak memory of this process."""
    return memory("VmHWM") / MIB


def forget_peak_memory() -> None:
    """Reset the process's peak memory to its current memory, if the kernel allows it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def provenance() -> dict[str, Any]:
    """Return the versions and the machine that the numbers belong to."""
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        **{library: version(library) for library in LIBRARIES},
    }


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Return the growth of values: the slope of a straight line through the logarithms."""
    from numpy import log, polyfit

    return float(polyfit(log(sizes), log(values), 1)[0])


def write_result(path: Path, content: dict[str, Any]) -> Path:
    """Write a file atomically."""
    path.parent.mkdir(exist_ok=True)
    partial = path.with_suffix(".json.partial")
    partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return partial.replace(path)


def shown_seconds(seconds: float) -> str:
    """Return a duration with three digits and a fitting unit.

    Examples
    --------
    >>> shown_seconds(0.00123)
    '1.23 ms'
    """
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{seconds:.3g} s"


def shown_ratio(ratio: float) -> str:
    """Return a ratio with at least two digits.

    Examples
    --------
    >>> shown_ratio(1234.5)
    '1,234×'
    """
    return f"{ratio:,.0f}×" if ratio >= 10 else f"{ratio:.2g}×"
