"""Gain of a second thread: frontiers with one thread and with two, in turn, in one process.

Elapsed seconds, as nothing else would show it: on a machine with other work the ratio is too small.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from measure import in_fresh_process, shown_seconds
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES, QUICK_SIZES = (30_000, 100_000), (1_000,)
TURNS = 15


@dataclass(frozen=True)
class Spread:
    """Elapsed seconds for the frontiers: medians of the turns.

    Attributes
    ----------
    ratio
        The median ratio of one thread to two, by turn.
    least, most
        The range of that ratio.
    same
        Whether both gave the same bits, in all turns.
    """

    points: int
    one: float
    two: float
    ratio: float
    least: float
    most: float
    same: bool


def measure(sizes: tuple[int, ...], progress: Callable[[str], None]) -> dict[str, Any]:
    """Return the gain of two threads at each size."""
    found = []
    for size in sizes:
        progress(f"one thread and two, K = {size:,}")
        found.append(asdict(in_fresh_process(_turns, size)))
    return {"sizes": found, "turns": TURNS}


def _turns(size: int) -> Spread:
    # before Numba is loaded, which reads it once
    os.environ["NUMBA_NUM_THREADS"] = "2"
    import numba
    from workloads import embedded, warm_up

    from fairtransport.transport.frontiers import build_frontiers

    warm_up()
    losses, geometry = embedded(size)
    took: dict[int, list[float]] = {1: [], 2: []}
    bits = set()
    for _ in range(TURNS):
        for threads, seconds in took.items():
            numba.set_num_threads(threads)
            start = perf_counter()
            frontiers = build_frontiers(losses, geometry)
            seconds.append(perf_counter() - start)
            bits.add(b"".join(array.tobytes() for array in vars(frontiers).values()))
    ratios = [one / two for one, two in zip(took[1], took[2], strict=True)]
    return Spread(
        size, median(took[1]), median(took[2]), median(ratios), min(ratios), max(ratios),
        same=len(bits) == 1,
    )  # fmt: skip


def table(found: dict[str, Any]) -> Table:
    """Return the sizes as a table."""
    made = Table(title="Frontiers with one thread and with two, seconds of the clock")
    for name in ("K", "one", "two", "ratio", "same bits"):
        made.add_column(name, justify="right")
    for row in found["sizes"]:
        made.add_row(
            f"{row['points']:,}", shown_seconds(row["one"]), shown_seconds(row["two"]),
            f"{row['ratio']:.2f} ({row['least']:.2f} to {row['most']:.2f})",
            "yes" if row["same"] else "NO",
        )  # fmt: skip
    return made
