"""Change of ψ under another metric: Proposition 1, sharper bounds and random perturbations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.validation import check_integer, check_number
from fairtransport.transport.frontiers import CHUNK_ENTRIES
from fairtransport.transport.problem import AuditProblem

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.geometry import Geometry
    from fairtransport.transport.frontiers import Frontiers

MAX_SEARCHED_PAIRS = 400_000_000
"""Maximum number of pairs to search for the largest cost; above, a bound is used."""


@dataclass(frozen=True, eq=False)
class MetricSensitivity:
    """Effect of a relative error η of all squared distances on the audit value."""

    value: float
    budget: float
    eta: float
    lowest: float
    highest: float
    diameter: float
    lipschitz: float
    largest_change: float
    proposition: float | None
    price: float
    rise: float | None
    changes: FloatArray
    price_bounds: FloatArray
    reason: str | None

    @property
    def applies(self) -> bool:
        """Whether Proposition 1 applies; ``lowest`` and ``highest`` always hold."""
        return self.reason is None


def metric_sensitivity(
    problem: AuditProblem,
    frequencies: object,
    *,
    eta: float = 0.1,
    draws: int = 20,
    rng: int | np.random.Generator | None = 0,
) -> MetricSensitivity:
    """Bound the change of ψ under an error of the metric, and try random errors.

    Proposition 1 of the paper. By duality ψ = min over ν of εν + Σ f_i φ_ν(i), and φ_ν(i)
    changes by at most ν max|Δc|; so ψ* − ψ <= ν max|Δc| with ν the price under the old metric,
    and ψ − ψ* <= ν* max|Δc| with the price under the new one. Any optimal price is at most
    L/√ε if |l_i − l_j| <= L min(d, d*), which gives the proposition. A2 as printed lacks the
    bracket around the minimum, and "minimise over t" in the proof is a maximum.

    If (1 − η) c <= c* <= (1 + η) c, a plan that is affordable under c with the budget
    ε/(1 + η) is so under c* with ε, and one under c* with ε is so under c with ε/(1 − η).
    """
    share = check_number("eta", eta, at_least=0, below=1)
    number_of_draws = check_integer("draws", draws, at_least=0)
    generator = np.random.default_rng(rng)
    solution = problem.solve(frequencies)
    curve = problem.budget_curve(frequencies)
    diameter = np.sqrt(largest_cost(problem.geometry))
    # under the smallest of the metrics the loss is steepest
    lipschitz = lipschitz_constant(problem.frontiers) / np.sqrt(1 - share)
    change = share * diameter**2
    reason = _explain_inapplicable(problem.budget, diameter, lipschitz)
    results = [
        _solve_perturbed(problem, frequencies, share, generator) for _ in range(number_of_draws)
    ]
    prices = np.array([price for _, price in results])
    return MetricSensitivity(
        value=solution.value,
        budget=problem.budget,
        eta=share,
        lowest=curve(problem.budget / (1 + share)),
        highest=curve(problem.budget / (1 - share)),
        diameter=float(diameter),
        lipschitz=float(lipschitz),
        largest_change=float(change),
        proposition=None if reason else float(lipschitz * change / np.sqrt(problem.budget)),
        price=solution.price,
        rise=None if reason else float(solution.price * change),
        changes=np.array([value for value, _ in results]) - solution.value,
        price_bounds=np.maximum(prices, solution.price) * change,
        reason=reason,
    )


def lipschitz_constant(frontiers: Frontiers) -> float:
    """Return the largest (l_j − l_i)/d_ij over all moves that gain.

    The corners of the frontiers are enough: the moves under the curve L√c form a convex set,
    so it holds all moves once it holds the corners.
    """
    if (frontiers.base_gain > 0).any():
        return np.inf
    # costs are squared distances: d = √c
    steepest = frontiers.far_gain / np.sqrt(frontiers.far_cost)
    return float(steepest.max(initial=0.0))


def largest_cost(geometry: Geometry) -> float:
    """Return the largest finite cost of a move, or a bound on it in a very large embedding."""
    if geometry.cost.allows_all:
        return 0.0
    if (moves := geometry.cost.sparse_moves) is not None:
        return float(moves.cost[np.isfinite(moves.cost)].max(initial=0.0))
    pairs = sum(len(members) ** 2 for members in geometry.members)
    if (points := geometry.cost.points) is not None and pairs > MAX_SEARCHED_PAIRS:
        return max(float((np.ptp(points[part], axis=0) ** 2).sum()) for part in geometry.members)
    return max((_largest_inside(geometry, part) for part in geometry.members), default=0.0)


def perturb_geometry(geometry: Geometry, eta: float, rng: np.random.Generator) -> Geometry:
    """Return a geometry with random costs within (1 ± η) times the given ones."""
    return replace(geometry, cost=geometry.cost.perturb(eta, geometry.size, rng))


def _explain_inapplicable(budget: float, diameter: float, lipschitz: float) -> str | None:
    """Return why Proposition 1 does not apply, or None if it does."""
    if budget == 0:
        return "not applicable: the budget is 0"
    if diameter == 0:
        return "not applicable: every move is free or forbidden"
    if np.isinf(lipschitz):
        return "not applicable: people at distance 0 have different losses"
    return None


def _solve_perturbed(
    problem: AuditProblem, frequencies: object, eta: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Return ψ and the price under a random metric."""
    geometry = perturb_geometry(problem.geometry, eta, rng)
    other = AuditProblem(problem.losses, geometry, budget=problem.budget).solve(frequencies)
    return other.value, other.price


def _largest_inside(geometry: Geometry, members: IntArray) -> float:
    """Return the largest finite cost inside a block, from chunks of the matrix."""
    targets = geometry.targets_in(members)
    step = max(1, CHUNK_ENTRIES // max(1, len(targets)))
    most = 0.0
    for at in range(0, len(members), step):
        part = geometry.costs(members[at : at + step], targets)
        most = max(most, float(part[np.isfinite(part)].max(initial=0.0)))
    return most
