"""Growth of time and memory of the frontiers with the number of points."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from measure import (
    MIB,
    exponent,
    forget_peak_memory,
    in_fresh_process,
    memory,
    patience,
    shown_seconds,
    timed,
)
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from workloads import FloatArray

    from fairtransport import Geometry

SIZES = {"embedding": (1_000, 3_000, 10_000, 30_000, 100_000), "sparse": (10_000, 100_000)}
QUICK_SIZES = {"embedding": (1_000, 3_000), "sparse": (1_000, 3_000)}
SECONDS_A_SIZE = 5.0


@dataclass(frozen=True)
class Build:
    """Building the frontiers of one problem, in a separate process.

    Attributes
    ----------
    points, pairs, segments
        K; the number of possible moves; the segments of the frontiers.
    seconds, fastest, runs
        The median and the fastest of the runs, in seconds.
    peak_bytes
        Increase of the process's memory by the first build, once libraries are loaded, kernels
        compiled and the input is there.
    input_bytes
        Memory of losses and costs.
    looked_at
        Number of pairs whose distance was computed; all of them if costs are listed.
    product_seconds
        Time of the bare product in single precision of all pairs in the same process; 0 if costs
        are listed. In half of the pairs the loss rises, and sorted points would need only these.
    """

    points: int
    pairs: int
    segments: int
    seconds: float
    fastest: float
    runs: int
    peak_bytes: int
    input_bytes: int
    looked_at: int
    product_seconds: float


@dataclass(frozen=True)
class Growth:
    """The builds of one kind of geometry, and the exponents in K fitted to them."""

    kind: str
    builds: list[Build]
    time_exponent: float
    fastest_exponent: float
    memory_exponent: float
    last_memory_exponent: float


def measure_growth(kind: str, sizes: tuple[int, ...], progress: Callable[[str], None]) -> Growth:
    """Build frontiers at each size, each in a fresh process."""
    builds = []
    for size in sizes:
        progress(f"frontiers, {kind}, K = {size:,}")
        builds.append(in_fresh_process(_build, kind, size))
    memory = [build.peak_bytes for build in builds]
    return Growth(
        kind=kind,
        builds=builds,
        time_exponent=exponent(sizes, [build.seconds for build in builds]),
        fastest_exponent=exponent(sizes, [build.fastest for build in builds]),
        memory_exponent=exponent(sizes, memory),
        last_memory_exponent=exponent(sizes[-2:], memory[-2:]),
    )


def _build(kind: str, size: int) -> Build:
    from workloads import embedded, sparse, warm_up

    from fairtransport.transport.frontiers import build_frontiers

    warm_up()
    losses, geometry = {"embedding": embedded, "sparse": sparse}[kind](size)
    forget_peak_memory()
    before = memory("VmRSS")
    seconds, frontiers = timed(lambda: build_frontiers(losses, geometry))
    peak = memory("VmHWM") - before
    segments = len(frontiers.row)
    del frontiers
    took = [seconds]
    while len(took) < 3 or (sum(took) < patience(SECONDS_A_SIZE) and len(took) < 100):
        took.append(timed(lambda: build_frontiers(losses, geometry))[0])
    pairs, content = _contents(geometry)
    return Build(
        points=size,
        pairs=pairs,
        segments=segments,
        seconds=float(np.median(took)),
        fastest=min(took),
        runs=len(took),
        peak_bytes=peak,
        input_bytes=content + losses.nbytes,
        looked_at=_looked_at(losses, geometry, pairs),
        product_seconds=_product_seconds(geometry),
    )


def _looked_at(losses: FloatArray, geometry: Geometry, pairs: int) -> int:
    from fairtransport.transport.frontiers import corners_of_embedding

    if (points := geometry.searchable) is None:
        return pairs
    profiles = np.empty((geometry.size, 0), np.int64)
    return sum(part.pairs for part in corners_of_embedding(losses, geometry, points, profiles))


def _product_seconds(geometry: Geometry) -> float:
    if geometry.searchable is None:
        return 0.0
    points = geometry.searchable.astype(np.float32)
    out = np.empty((500, len(points)), np.float32)

    def multiply() -> None:
        for at in range(0, len(points), 500):
            rows = points[at : at + 500]
            np.matmul(rows, points.T, out=out[: len(rows)])

    return min(timed(multiply)[0] for _ in range(3))


def _contents(geometry: Geometry) -> tuple[int, int]:
    """Return the number of moves of a geometry, and its memory in bytes."""
    from fairtransport import Embedding
    from fairtransport.geometry import CostMatrix

    cost = geometry.cost
    if isinstance(cost, Embedding):
        return geometry.size * (geometry.size - 1), cost.coordinates.nbytes
    assert isinstance(cost, CostMatrix)
    matrix: Any = cost.matrix
    return matrix.nnz, matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes


def growth_table(growth: Growth) -> Table:
    """Return the table of one kind of geometry."""
    titles = {
        "embedding": "Frontiers of points in 10 dimensions, every move allowed",
        "sparse": "Frontiers of sparse costs, 50 random moves a point",
    }
    table = Table(
        title=titles[growth.kind],
        caption=(
            "Time: the median of the runs; kernels compiled beforehand, a fresh process for each "
            "K. Peak: how far the first build lifts the process above libraries and input. Pairs: "
            "all moves that exist, those to smaller losses included, which need no look. Product: "
            "of all pairs in single precision, in the same process."
        ),
    )
    for name in (
        "K", "pairs", "segments", "time", "fastest", "runs", "pairs/s", "looked at", "product",
        "input MiB", "peak MiB",
    ):  # fmt: skip
        table.add_column(name, justify="right")
    for build in growth.builds:
        table.add_row(
            f"{build.points:,}", f"{build.pairs:.2e}", f"{build.segments:,}",
            shown_seconds(build.seconds), shown_seconds(build.fastest), str(build.runs),
            f"{build.pairs / build.seconds:.2e}", f"{build.looked_at / build.pairs:.0%}",
            shown_seconds(build.product_seconds) if build.product_seconds else "",
            f"{build.input_bytes / MIB:.1f}", f"{build.peak_bytes / MIB:.1f}",
        )  # fmt: skip
    return table


def growth_line(growth: Growth) -> str:
    """Return the growth of time and memory in a sentence."""
    first, before, last = (f"{growth.builds[at].points:,}" for at in (0, -2, -1))
    return (
        f"From K = {first} to {last} time grows as K^{growth.time_exponent:.2f} "
        f"(fastest runs: K^{growth.fastest_exponent:.2f}), memory as "
        f"K^{growth.memory_exponent:.2f} (from {before} on: K^{growth.last_memory_exponent:.2f})"
    )


def as_json(growths: list[Growth]) -> dict[str, Any]:
    """Return all measurements."""
    return {growth.kind: asdict(growth) for growth in growths}
