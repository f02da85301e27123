"""How much ψ can change when the metric does: Proposition 1, sharper bounds, and what happens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import number, whole
from fairtransport.transport.frontiers import CHUNK_ENTRIES
from fairtransport.transport.problem import AuditProblem

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.geometry import Geometry
    from fairtransport.transport.frontiers import Frontiers

MOST_PAIRS = 400_000_000
"""Pairs among which the largest cost is searched; beyond, a bound on it is used."""


@dataclass(frozen=True, eq=False)
class MetricSensitivity:
    """What a relative error η of all squared distances can do to the audit value.

    Attributes
    ----------
    value, budget, eta
        ψ, ε, and the largest relative error of a squared distance.
    lowest, highest
        ψ at the budgets ε/(1 + η) and ε/(1 − η). With all costs inside (1 ± η) times what
        they were, ψ stays between these; that also holds at ε = 0 and for 0/∞ metrics.
    diameter, lipschitz
        D, the largest distance (or a bound on it in very large spaces), and L, the loss's
        Lipschitz constant under all such metrics; infinite where people at distance 0 have
        different losses.
    largest_change
        η D², by how much a squared distance can change.
    proposition
        Proposition 1's bound L η D²/√ε; None where it does not apply.
    price, rise
        ν, what a unit of budget is worth, and ν η D²: the sharper bound of the proof on how
        much larger ψ can become; None where it does not apply.
    changes, price_bounds
        For each random metric, how much ψ changed, and the proof's bound on its size, the
        larger of both metrics' prices times η D².
    reason
        Why Proposition 1 does not apply; None where it does.
    """

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
        """Whether Proposition 1 does; ``lowest`` and ``highest`` hold in any case."""
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

    Parameters
    ----------
    problem, frequencies
        The audit problem and f.
    eta
        η in [0, 1): every squared distance may be off by this share of it.
    draws
        The number of random metrics to try.
    rng
        A seed or a numpy generator.

    Returns
    -------
    MetricSensitivity
        Bounds and what happened.

    Notes
    -----
    Proposition 1 of the paper. By duality ψ = min over ν of εν + Σ f_i φ_ν(i), and φ_ν(i)
    changes by at most ν max|Δc|; so ψ* − ψ <= ν max|Δc| with ν the price under the old metric,
    and ψ − ψ* <= ν* max|Δc| with the price under the new one. Any optimal price is at most
    L/√ε if |l_i − l_j| <= L min(d, d*), which gives the proposition. A2 as printed lacks the
    bracket around the minimum, and "minimise over t" in the proof is a maximum.

    If (1 − η) c <= c* <= (1 + η) c, a plan that is affordable under c with the budget
    ε/(1 + η) is so under c* with ε, and one under c* with ε is so under c with ε/(1 − η).

    Examples
    --------
    >>> problem = AuditProblem([0.0, 1.0], [[0.0, 2.0], [2.0, 0.0]], budget=0.5)
    >>> found = metric_sensitivity(problem, [1.0, 0.0], eta=0.1, draws=2)
    >>> round(found.lowest, 3), found.value, round(found.highest, 3)
    (0.227, 0.25, 0.278)
    """
    share = number("eta", eta, at_least=0, below=1)
    number_of_draws = whole("draws", draws, at_least=0)
    generator = np.random.default_rng(rng)
    solution = problem.solve(frequencies)
    curve = problem.budget_curve(frequencies)
    diameter = np.sqrt(largest_cost(problem.geometry))
    # under the smallest of the metrics the loss is steepest
    lipschitz = lipschitz_constant(problem.frontiers) / np.sqrt(1 - share)
    change = share * diameter**2
    reason = _why_not(problem.budget, diameter, lipschitz)
    tried = [_changed(problem, frequencies, share, generator) for _ in range(number_of_draws)]
    prices = np.array([price for _, price in tried])
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
        changes=np.array([value for value, _ in tried]) - solution.value,
        price_bounds=np.maximum(prices, solution.price) * change,
        reason=reason,
    )


def lipschitz_constant(frontiers: Frontiers) -> float:
    """Return the largest (l_j − l_i)/d_ij over all moves that gain.

    The corners of the frontiers are enough: the moves under the curve L√c form a convex set,
    so it holds all moves once it holds the corners.

    Parameters
    ----------
    frontiers
        The frontiers of all points.

    Returns
    -------
    float
        Infinite where somebody gains for nothing.

    Examples
    --------
    >>> problem = AuditProblem([0.0, 1.0], [[0.0, 4.0], [4.0, 0.0]])
    >>> lipschitz_constant(problem.frontiers)
    0.5
    """
    if (frontiers.base_gain > 0).any():
        return np.inf
    # costs are squared distances: d = √c
    steepest = frontiers.far_gain / np.sqrt(frontiers.far_cost)
    return float(steepest.max(initial=0.0))


def largest_cost(geometry: Geometry) -> float:
    """Return the largest finite cost of a move, or a bound on it in a very large embedding.

    Parameters
    ----------
    geometry
        Who can be compared with whom, and at what cost.

    Returns
    -------
    float
        0 where all moves are free. Beyond ``MOST_PAIRS`` pairs the squared diagonal of the box
        around each block's points.

    Examples
    --------
    >>> problem = AuditProblem([0.0, 1.0], [[0.0, 4.0], [np.inf, 0.0]])
    >>> largest_cost(problem.geometry)
    4.0
    """
    if geometry.cost.allows_all:
        return 0.0
    if (moves := geometry.cost.listed) is not None:
        return float(moves.cost[np.isfinite(moves.cost)].max(initial=0.0))
    pairs = sum(len(members) ** 2 for members in geometry.members)
    if (points := geometry.cost.points) is not None and pairs > MOST_PAIRS:
        return max(float((np.ptp(points[part], axis=0) ** 2).sum()) for part in geometry.members)
    return max((_largest_inside(geometry, part) for part in geometry.members), default=0.0)


def perturbed(geometry: Geometry, eta: float, rng: np.random.Generator) -> Geometry:
    """Return a geometry whose costs are within (1 ± η) times what they were, at random.

    Parameters
    ----------
    geometry
        As it is.
    eta
        η in [0, 1).
    rng
        Draws an error for each move, or for what the cost is made of.
    """
    return replace(geometry, cost=geometry.cost.perturbed(eta, geometry.size, rng))


def _why_not(budget: float, diameter: float, lipschitz: float) -> str | None:
    """Return why Proposition 1 does not apply, or None where it does.

    Parameters
    ----------
    budget, diameter, lipschitz
        ε, D and L: the bound L η D²/√ε needs a positive budget, a distance and a finite L.
    """
    if budget == 0:
        return "not applicable: the budget is 0"
    if diameter == 0:
        return "not applicable: every move is free or forbidden"
    if np.isinf(lipschitz):
        return "not applicable: people at distance 0 have different losses"
    return None


def _changed(
    problem: AuditProblem, frequencies: object, eta: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Return ψ and the price under a random metric.

    Parameters
    ----------
    problem, frequencies
        As in `metric_sensitivity`.
    eta, rng
        How large errors may be, and the generator that draws them.
    """
    geometry = perturbed(problem.geometry, eta, rng)
    other = AuditProblem(problem.losses, geometry, budget=problem.budget).solve(frequencies)
    return other.value, other.price


def _largest_inside(geometry: Geometry, members: IntArray) -> float:
    """Return the largest finite cost inside one block, a piece of the matrix at a time.

    Parameters
    ----------
    geometry
        Whose costs they are.
    members
        The block's points.
    """
    targets = geometry.targets_in(members)
    step = max(1, CHUNK_ENTRIES // max(1, len(targets)))
    most = 0.0
    for at in range(0, len(members), step):
        part = geometry.costs(members[at : at + step], targets)
        most = max(most, float(part[np.isfinite(part)].max(initial=0.0)))
    return most
