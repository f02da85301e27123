"""The seeded problems that the benchmarks solve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fairtransport import AuditProblem, Embedding, Geometry
from fairtransport.geometry import CostMatrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray: TypeAlias = NDArray[np.float64]

DIMENSIONS = 10
CASES_A_POINT = 20
MOVES_A_POINT = 50
BUDGET_SHARE = 0.5
"""The budget, as a share of the smallest one that does not bind."""


@dataclass(frozen=True, eq=False)
class Instance:
    """One audit problem with the frequencies it is solved for.

    Attributes
    ----------
    losses, costs, budget
        The problem.
    frequencies, resamples
        (K,) the empirical frequencies and (B, K) multinomial resamples of them.
    """

    losses: FloatArray
    costs: FloatArray
    budget: float
    frequencies: FloatArray
    resamples: FloatArray

    @property
    def size(self) -> int:
        """The number of points, K."""
        return len(self.losses)

    @property
    def gains(self) -> FloatArray:
        """(K²,) gain of each move, l_j − l_i, row by row."""
        return np.asarray(self.losses[None, :] - self.losses[:, None]).ravel()


def dense_instance(size: int, resamples: int) -> Instance:
    """Return an instance with positive costs between all points and a binding budget."""
    rng = np.random.default_rng(size)
    points = rng.normal(size=(size, DIMENSIONS))
    costs = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    losses = rng.random(size)
    cases = CASES_A_POINT * size
    frequencies = rng.multinomial(cases, rng.dirichlet(np.ones(size))) / cases
    curve = AuditProblem(losses, costs).budget_curve(frequencies)
    budget = BUDGET_SHARE * float(curve.budgets[-1])
    assert curve.price(budget) > 0
    many = rng.multinomial(cases, frequencies, size=resamples) / cases
    return Instance(losses, costs, budget, frequencies, many)


def embedded(size: int) -> tuple[FloatArray, Geometry]:
    """Return random losses of random points, any of which may move to any other."""
    rng = np.random.default_rng(size)
    points = rng.normal(size=(size, DIMENSIONS))
    return rng.random(size), Geometry(np.zeros(size, np.int64), Embedding(points))


def sparse(size: int) -> tuple[FloatArray, Geometry]:
    """Return random losses and, for each point, random costs to the same number of others."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(size)
    # steps of at least 1 that stay below one round: distinct targets, none of them the point
    steps = rng.integers(1, size // MOVES_A_POINT, (size, MOVES_A_POINT), dtype=np.int32)
    targets = np.cumsum(steps, axis=1, dtype=np.int32)
    targets += np.arange(size, dtype=np.int32)[:, None]
    targets %= size
    targets.sort(axis=1)
    starts = np.arange(size + 1, dtype=np.int32) * MOVES_A_POINT
    costs = csr_array((rng.random(targets.size), targets.ravel(), starts), shape=(size, size))
    return rng.random(size), Geometry(np.zeros(size, np.int64), CostMatrix(costs))


def warm_up() -> None:
    """Compile, or load from Numba's cache, every kernel that the benchmarks use."""
    small = dense_instance(8, resamples=4)
    problem = AuditProblem(small.losses, small.costs, budget=small.budget)
    problem.values(small.resamples)
    for losses, geometry in (embedded(200), sparse(200)):
        _ = AuditProblem(losses, geometry).frontiers
