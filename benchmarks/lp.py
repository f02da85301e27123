"""One value and many resamples, compared with general-purpose LP solvers in the same run."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from measure import Timing, in_fresh_process, patience, repeat, shown_ratio, shown_seconds, timed
from peers import PEERS
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from peers import Peer, Solver
    from workloads import FloatArray

SIZES, QUICK_SIZES = (100, 400, 1_000), (30,)
RESAMPLES = 1000
SECONDS_A_PEER = 4.0
OUR_TOLERANCE = 1e-12
"""Relative tolerance between our two ways to a value."""


@dataclass(frozen=True)
class Ours:
    """Our CPU seconds at one size; medians, on one thread like the peers."""

    points: int
    segments: int
    build: float
    value_after_build: float
    value_with_build: float
    resamples: float
    largest_difference: float

    @property
    def agrees(self) -> bool:
        """Whether ``value`` and ``values`` agree."""
        return self.largest_difference <= OUR_TOLERANCE


@dataclass(frozen=True)
class Theirs:
    """A peer's CPU seconds at one size; medians, the resamples extrapolated from ``solves``.

    The ratios are to ours on one thread: the first value with the build, a further one and
    the resamples after it.
    """

    points: int
    peer: str
    first_value: float
    further_value: float
    resamples: float
    solves: int
    first_ratio: float
    further_ratio: float
    resamples_ratio: float
    largest_difference: float
    tolerance: float

    @property
    def agrees(self) -> bool:
        """Whether all of the peer's values agree with ours, to its tolerance."""
        return self.largest_difference <= self.tolerance


@dataclass(frozen=True, eq=False)
class PeerRun:
    """Times and answers of one peer: for the frequencies themselves, then for resamples."""

    first: Timing
    further: Timing
    values: list[float]
    resampled_values: list[float]


def compile_seconds(*, quick: bool) -> dict[str, float]:
    """Return Numba's cost in a new process: with an empty cache, and with a filled one.

    For small sizes only, nothing is compiled that was compiled before.
    """
    with TemporaryDirectory() as empty:
        cache = os.environ.get("NUMBA_CACHE_DIR", empty) if quick else empty
        return {
            name: in_fresh_process(_warm_up_seconds, cache)
            for name in ("empty_cache", "filled_cache")
        }


def _warm_up_seconds(cache: str) -> float:
    os.environ["NUMBA_CACHE_DIR"] = cache
    from workloads import warm_up

    return timed(warm_up)[0]


def measure_size(size: int, progress: Callable[[str], None]) -> tuple[Ours, list[Theirs]]:
    """Measure ours and every peer on the same instance, in turn.

    Each runs in a separate process: the wheels of highspy and OR-tools bring different libraries
    called libhighs.so.1 and cannot be loaded together (google/or-tools#5246).
    """
    progress(f"K = {size}: ours")
    ours, value, values = in_fresh_process(_measure_ours, size)
    theirs = []
    for peer in PEERS:
        if size > peer.largest:
            continue
        progress(f"K = {size}: {peer.name}")
        run = in_fresh_process(_measure_peer, peer, size)
        theirs.append(_compared(peer, run, ours, value, values))
    return ours, theirs


def _measure_ours(size: int) -> tuple[Ours, float, FloatArray]:
    """Return our times, the value of the frequencies and those of all resamples."""
    from workloads import dense_instance

    from fairtransport import AuditProblem
    from fairtransport.transport.frontiers import build_frontiers

    instance = dense_instance(size, RESAMPLES)
    problem = AuditProblem(instance.losses, instance.costs, budget=instance.budget)

    def build() -> None:
        build_frontiers(problem.losses, problem.geometry)

    def resample() -> FloatArray:
        return problem.values(instance.resamples)

    def from_arrays() -> float:
        fresh = AuditProblem(instance.losses, instance.costs, budget=instance.budget)
        return fresh.value(instance.frequencies)

    # these also load the kernels, before anything is timed
    values, value = resample(), problem.value(instance.frequencies)
    single = np.array([problem.value(f) for f in instance.resamples])
    ours = Ours(
        points=size,
        segments=len(problem.frontiers.row),
        build=repeat(build).seconds,
        value_after_build=repeat(lambda: problem.value(instance.frequencies)).seconds,
        value_with_build=repeat(from_arrays).seconds,
        resamples=repeat(resample).seconds,
        largest_difference=_largest_difference(single, values),
    )
    return ours, value, values


def _measure_peer(peer: Peer, size: int) -> PeerRun:
    """Time first values from the arrays, then as many warm resamples as time allows."""
    from workloads import dense_instance

    tiny, instance = dense_instance(5, resamples=1), dense_instance(size, RESAMPLES)
    for prepare in (peer.first, peer.again):
        prepare(tiny)(tiny.frequencies)  # imports are not timed
    values: list[float] = []
    first = repeat(
        lambda: values.append(peer.first(instance)(instance.frequencies)),
        seconds=SECONDS_A_PEER / 2,
        at_least=2,
    )
    solve = peer.again(instance)
    values.append(solve(instance.frequencies))
    further, resampled_values = _further_values(solve, instance.resamples)
    return PeerRun(first, further, values, resampled_values)


def _further_values(solve: Solver, resamples: FloatArray) -> tuple[Timing, list[float]]:
    took: list[float] = []
    values: list[float] = []
    for frequencies in resamples:
        seconds, value = timed(partial(solve, frequencies))
        took.append(seconds)
        values.append(value)
        if len(took) >= 3 and sum(took) >= patience(SECONDS_A_PEER):
            break
    return Timing(median(took), len(took)), values


def _compared(peer: Peer, run: PeerRun, ours: Ours, value: float, values: FloatArray) -> Theirs:
    """Return a peer's times and values compared with ours."""
    answers = np.r_[run.values, run.resampled_values]
    expected = np.r_[[value] * len(run.values), values[: len(run.resampled_values)]]
    resamples = RESAMPLES * run.further.seconds
    return Theirs(
        points=ours.points,
        peer=peer.name,
        first_value=run.first.seconds,
        further_value=run.further.seconds,
        resamples=resamples,
        solves=run.further.runs,
        first_ratio=run.first.seconds / ours.value_with_build,
        further_ratio=run.further.seconds / ours.value_after_build,
        resamples_ratio=resamples / ours.resamples,
        largest_difference=_largest_difference(answers, expected),
        tolerance=peer.tolerance,
    )


def _largest_difference(values: FloatArray, expected: FloatArray) -> float:
    return float(np.max(np.abs(values - expected) / np.abs(expected)))


def our_table(measured: list[Ours]) -> Table:
    """Return the table of our own seconds."""
    table = Table(
        title="fairtransport: dense positive costs, a budget that binds",
        caption=(
            "CPU, medians, on one thread like the peers; kernels compiled beforehand. One value "
            f"with the build starts from the arrays and includes their checks. The {RESAMPLES} "
            "resamples run on the frontiers already built."
        ),
    )
    for name in (
        "K", "segments", "build once", "one value after it", "one value with it",
        f"{RESAMPLES} resamples", "value, values differ by",
    ):  # fmt: skip
        table.add_column(name, justify="right")
    for row in measured:
        seconds = (row.build, row.value_after_build, row.value_with_build, row.resamples)
        table.add_row(
            str(row.points), str(row.segments), *map(shown_seconds, seconds),
            f"{row.largest_difference:.0e}",
        )  # fmt: skip
    return table


def peer_table(measured: list[Theirs]) -> Table:
    """Return the table of the peers' seconds and their ratios to ours."""
    table = Table(
        title="The same values by linear programming, and how many times longer than ours",
        caption=(
            "First value: from the arrays to the number, model building included (ours: with the "
            "build). Further value: another f in the model already built, warm where the solver "
            f"can (ours: after the build, one call). {RESAMPLES} resamples: EXTRAPOLATED, "
            f"{RESAMPLES} times the median further value over the number of solves shown (ours: "
            "one call). All on one thread, each solver in a process of its own. Differs by: the "
            "largest relative difference over all values solved."
        ),
    )
    table.add_column("K", justify="right")
    table.add_column("solver", no_wrap=True)
    for name in (
        "first value", "ratio", "further value", "ratio",
        f"{RESAMPLES} resamples", "ratio", "solves", "differs by",
    ):  # fmt: skip
        table.add_column(name, justify="right")
    for at, row in enumerate(measured):
        last = at + 1 == len(measured) or measured[at + 1].points != row.points
        table.add_row(
            str(row.points), row.peer,
            shown_seconds(row.first_value), shown_ratio(row.first_ratio),
            shown_seconds(row.further_value), shown_ratio(row.further_ratio),
            shown_seconds(row.resamples), shown_ratio(row.resamples_ratio),
            str(row.solves), f"{row.largest_difference:.0e}" + ("" if row.agrees else " FAILS"),
            end_section=last,
        )  # fmt: skip
    return table


def best_lines(measured: list[Theirs]) -> list[str]:
    """Return the comparison with the fastest peer at the largest size."""
    size = max(row.points for row in measured)
    rows = [row for row in measured if row.points == size]
    first = min(rows, key=lambda row: row.first_value)
    further = min(rows, key=lambda row: row.further_value)
    return [
        f"Fastest peer at K = {size}:",
        f"  one value, everything included: {first.peer}, {shown_ratio(first.first_ratio)}",
        f"  one value, models already built: {further.peer}, {shown_ratio(further.further_ratio)}",
        f"  {RESAMPLES} resamples: {further.peer}, {shown_ratio(further.resamples_ratio)}",
    ]


def as_json(compiling: dict[str, float], ours: list[Ours], theirs: list[Theirs]) -> dict[str, Any]:
    """Return all measurements."""
    return {
        "resamples": RESAMPLES,
        "peer_resamples_are_extrapolated": True,
        "compile_seconds": compiling,
        "ours": [asdict(row) for row in ours],
        "peers": [asdict(row) for row in theirs],
    }
