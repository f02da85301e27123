"""Small populations with known ψ(f*), on which laws and bounds can be compared with the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.geometry import Embedding, Geometry
from fairtransport.transport import AuditProblem

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray


@dataclass(frozen=True, eq=False)
class Population:
    """An audit problem, the true frequencies f*, and what an audit of it knows of losses.

    Attributes
    ----------
    name
        What figures call it.
    problem, frequencies
        The problem and f*, so that ψ(f*) is known exactly.
    loss_range, binary_losses
        What is known before the data.
    """

    name: str
    problem: AuditProblem
    frequencies: FloatArray
    loss_range: tuple[float, float] = (0.0, 1.0)
    binary_losses: bool = False

    @property
    def truth(self) -> float:
        """ψ(f*)."""
        return self.problem.value(self.frequencies)


def regular() -> Population:
    """Return twelve points in the plane, the budget inside a piece of the budget curve."""
    rng = np.random.default_rng(11)
    losses, points = rng.random(12), rng.random((12, 2))
    problem = AuditProblem(losses, Geometry(np.zeros(12, np.int64), Embedding(points)), budget=0.03)
    return Population("regular", problem, rng.dirichlet(np.full(12, 2.0)))


def skewed_corner() -> Population:
    """Return a budget that ends at a corner, with normals of very different spread behind it.

    Forty percent can be moved at cost 1 for a gain of 1, which uses the budget up exactly;
    five percent gain .3 for free. The limit is the minimum of normals with standard
    deviations .48 and .07.
    """
    costs = np.full((5, 5), np.inf)
    np.fill_diagonal(costs, 0)
    costs[0, 3], costs[2, 4] = 1, 0
    problem = AuditProblem([0, 0, 0, 1, 0.3], costs, budget=0.4)
    return Population("corner", problem, np.array([0.4, 0.55, 0.05, 0, 0]))
