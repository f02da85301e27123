"""POT cannot solve the audit's problem: the nearest one that it can solve, compared with ours.

The audit maximises a gain under a budget and leaves open where mass arrives. POT's exact solver
minimises a cost between two given marginals. So it gets the marginal of our optimal plan, and finds
the cheapest way there. That is less than the audit, and a check of it: no plan with the same
marginal is cheaper than ours.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from measure import in_fresh_process, repeat, shown_ratio, shown_seconds
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES, QUICK_SIZES = (100, 400, 1_000), (50,)
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Nearest:
    """One size: seconds for our value from the arrays, and for POT's cost to a given marginal."""

    points: int
    ours: float
    theirs: float
    difference: float

    @property
    def agrees(self) -> bool:
        """Whether POT finds our plan's cost to be minimal, to its tolerance."""
        return self.difference <= TOLERANCE


def measure(sizes: tuple[int, ...], progress: Callable[[str], None]) -> list[Nearest]:
    """Measure each size in a separate process."""
    found = []
    for size in sizes:
        progress(f"POT, K = {size}")
        found.append(in_fresh_process(_measured, size))
    return found


def _measured(size: int) -> Nearest:
    import ot
    from workloads import dense_instance

    from fairtransport import AuditProblem

    instance = dense_instance(size, resamples=1)

    def ours() -> float:
        problem = AuditProblem(instance.losses, instance.costs, budget=instance.budget)
        return problem.value(instance.frequencies)

    problem = AuditProblem(instance.losses, instance.costs, budget=instance.budget)
    solution = problem.solve(instance.frequencies)
    arrives = np.asarray(solution.plan.sum(axis=0)).ravel()
    arrives *= instance.frequencies.sum() / arrives.sum()

    def theirs() -> float:
        return float(ot.emd2(instance.frequencies, arrives, instance.costs, numItermax=10**7))

    ours()
    least = theirs()
    return Nearest(
        size, repeat(ours).seconds, repeat(theirs).seconds,
        abs(least - solution.plan_cost) / solution.plan_cost,
    )  # fmt: skip


def table(found: list[Nearest]) -> Table:
    """Return both as a table."""
    made = Table(
        title="POT: not the audit, but the cheapest way to where its plan arrives",
        caption="CPU seconds, one thread. Differs by: POT's least cost from our plan's.",
    )
    for name in ("K", "our value", "POT emd2", "ratio", "differs by"):
        made.add_column(name, justify="right")
    for one in found:
        made.add_row(
            f"{one.points:,}", shown_seconds(one.ours), shown_seconds(one.theirs),
            shown_ratio(one.theirs / one.ours),
            f"{one.difference:.0e}" + ("" if one.agrees else " FAILS"),
        )  # fmt: skip
    return made


def as_json(found: list[Nearest]) -> dict[str, Any]:
    """Return all measurements."""
    return {"pot": [asdict(one) for one in found]}
