"""Growth of solving and bounding with the number of points, by dimensions and kinds of losses.

Points are normal, and everybody may move to everybody at the squared distance. The time is that of
ψ with its plan and price.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from measure import MIB, exponent, forget_peak_memory, in_fresh_process, memory, timed
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport import AuditProblem

SIZES, QUICK_SIZES = (1_000, 10_000, 100_000), (500, 1_000)
DIMENSIONS = (1, 2, 3, 10)
LOSSES = ("smooth", "random", "0-1")
BUDGET = 0.05
WARM_UP_POINTS = (500, 6_000)
"""Few, and enough that frontiers of smooth losses on a line are not listed."""


def measure(sizes: tuple[int, ...], progress: Callable[[str], None]) -> dict[str, Any]:
    """Return the cost of every size by kind of losses and number of dimensions."""
    growths = []
    for losses in LOSSES:
        for dimensions in DIMENSIONS:
            rows = []
            for size in sizes:
                progress(f"{losses} losses, {dimensions} dimensions, K = {size:,}")
                rows.append(in_fresh_process(measure_size, losses, dimensions, size))
            growths.append({
                "losses": losses, "dimensions": dimensions, "sizes": rows,
                "time_exponent": exponent(sizes, [row["solve"] for row in rows]),
            })  # fmt: skip
    return {"budget": BUDGET, "growths": growths}


def measure_size(losses: str, dimensions: int, size: int) -> dict[str, Any]:
    """Return CPU seconds and the memory that a solution takes above its input."""
    for points in (each for each in WARM_UP_POINTS if each <= max(size, WARM_UP_POINTS[0])):
        problem, frequencies = _build_problem("smooth", 1, points)
        problem.solve(frequencies)  # loads libraries and compiled code
    problem, frequencies = _build_problem(losses, dimensions, size)
    forget_peak_memory()
    before = memory("VmRSS")
    solve, solution = timed(lambda: problem.solve(frequencies))
    peak, held = memory("VmHWM") - before, memory("VmRSS") - before
    free, _ = timed(lambda: problem.with_budget(0.0).solve(frequencies))
    return {
        "points": size,
        "solve": solve,
        "without_budget": free,
        "peak_bytes": max(peak, 1),
        "held_bytes": held,
        "input_bytes": size * (dimensions + 2) * 8,
        "process_mib": memory("VmHWM") / MIB,
        "value": solution.value,
        "gap": solution.duality_gap,
        "generates_columns": problem.columns is not None,
    }


def _build_problem(losses: str, dimensions: int, size: int) -> tuple[AuditProblem, np.ndarray]:
    from fairtransport import AuditProblem, Embedding, Geometry

    rng = np.random.default_rng([size, dimensions])
    place = rng.normal(size=(size, dimensions))
    good = rng.random(size) < 1 / (1 + np.exp(-place[:, 0]))
    values = {
        # the Brier loss of a logistic regression
        "smooth": np.square(good - 1 / (1 + np.exp(-place.sum(axis=1) / np.sqrt(dimensions)))),
        "random": rng.random(size),
        "0-1": good.astype(float),
    }[losses]
    # true labels are not moved: people of one label are a block
    blocks = good.astype(np.int64) if losses == "smooth" else np.zeros(size, np.int64)
    frequencies = np.full(size, 1 / size)
    return AuditProblem(values, Geometry(blocks, Embedding(place)), budget=BUDGET), frequencies


def table(found: dict[str, Any]) -> Table:
    """Return the exponents as a table."""
    made = Table(title="Growth with the number of points K")
    sizes = [f"{row['points']:,}" for row in found["growths"][0]["sizes"]]
    for name in (
        "losses", "dimensions", *(f"K = {size}" for size in sizes), "grows as", "peak MiB",
    ):  # fmt: skip
        made.add_column(name, justify="right")
    for growth in found["growths"]:
        last = growth["sizes"][-1]
        made.add_row(
            growth["losses"], str(growth["dimensions"]),
            *(f"{row['solve']:.3f}" for row in growth["sizes"]),
            f"K^{growth['time_exponent']:.2f}",
            f"{last['peak_bytes'] / MIB:.0f}",
        )  # fmt: skip
    return made
