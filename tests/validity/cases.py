"""The populations on which coverage is measured, from kind to nasty."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fairtransport import AuditProblem, Embedding, Geometry
from fairtransport.reproduce.populations import Population, regular

if TYPE_CHECKING:
    from collections.abc import Callable


def slack_budget() -> Population:
    """The same points with more budget than can be used: the price is 0."""
    case = regular()
    return Population("slack budget", case.problem.with_budget(5.0), case.frequencies)


def _flip(budget: float) -> AuditProblem:
    """A rare profile can be moved at cost 1 into an error."""
    costs = np.full((3, 3), np.inf)
    np.fill_diagonal(costs, 0)
    costs[1, 2] = 1
    return AuditProblem([0.0, 0.0, 1.0], costs, budget=budget)


def near_corner(slack: float = 1.3) -> Population:
    """Budget 1.3 times what the rare profile needs, or as told."""
    name = "near a corner" if slack == 1.3 else f"near a corner, {slack:g} times"
    return Population(name, _flip(0.05 * slack), np.array([0.95, 0.05, 0.0]))


def heavy_ties() -> Population:
    """Twenty points with three losses and costs of 0 to 3: slopes, costs and losses tie."""
    rng = np.random.default_rng(21)
    losses = rng.choice([0.0, 0.5, 1.0], 20)
    costs = rng.choice([0.0, 1.0, 2.0, 3.0, np.inf], (20, 20), p=[0.05, 0.2, 0.25, 0.25, 0.25])
    np.fill_diagonal(costs, 0)
    return Population(
        "heavy ties", AuditProblem(losses, costs, budget=0.3), rng.dirichlet(np.full(20, 2.0))
    )


def exact_corner() -> Population:
    """Cells with (cost, gain) (1, 1), (.2, .6), (0, 0), (0, 1); the budget ends at a corner."""
    costs = np.full((6, 6), np.inf)
    np.fill_diagonal(costs, 0)
    costs[0, 4], costs[1, 5], costs[3, 4] = 1, 0.2, 0
    problem = AuditProblem([0, 0, 0, 0, 1, 0.6], costs, budget=0.54)
    return Population("exact corner", problem, np.array([0.45, 0.45, 0.05, 0.05, 0, 0]))


def _twins(name: str, share: float) -> Population:
    """72 cells in blocks of four twins, 0-1 loss; ψ is the share of people who can be flipped."""
    rng = np.random.default_rng(5)
    losses = np.zeros(72)
    flippable = np.arange(0, 24, 4)
    losses[flippable] = 1
    frequencies = rng.dirichlet(np.full(72, 2.0))
    inside = np.repeat(np.arange(18), 4) < len(flippable)
    moved = inside & (losses == 0)
    frequencies[moved] *= share / frequencies[moved].sum()
    frequencies[~moved] *= (1 - share) / frequencies[~moved].sum()
    problem = AuditProblem(losses, Geometry(np.repeat(np.arange(18), 4)))
    return Population(name, problem, frequencies)


def twins() -> Population:
    """The paper's COMPAS metric with ψ = .055."""
    return _twins("free moves, 0-1 loss", 0.055)


def rare_bias() -> Population:
    """The same with ψ = .005."""
    return _twins("rare bias", 0.005)


def no_bias() -> Population:
    """The same cells, but nobody has a twin with another loss: ψ = 0."""
    rng = np.random.default_rng(6)
    losses = np.repeat(rng.integers(0, 2, 18), 4).astype(float)
    problem = AuditProblem(losses, Geometry(np.repeat(np.arange(18), 4)))
    return Population("no bias", problem, rng.dirichlet(np.full(72, 2.0)))


def continuous() -> Population:
    """300 points in three dimensions with continuous losses."""
    rng = np.random.default_rng(7)
    points = rng.normal(size=(300, 3))
    losses = 1 / (1 + np.exp(-2 * points[:, 0] - rng.normal(size=300)))
    geometry = Geometry(np.zeros(300), Embedding(points))
    problem = AuditProblem(losses, geometry, budget=0.1)
    return Population("continuous losses", problem, rng.dirichlet(np.ones(300)))


CASES: list[Callable[[], Population]] = [
    regular,
    slack_budget,
    near_corner,
    partial(near_corner, 1.05),
    partial(near_corner, 2.0),
    exact_corner,
    heavy_ties,
    twins,
    rare_bias,
    no_bias,
    continuous,
]
