"""The populations on which coverage is measured, from kind to nasty.

`CASES` also served to choose constants of the finite-sample method. None was fitted to `FURTHER`,
but the power at *rare gains* and *tiny budget* was known when stakes and prior were last changed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fairtransport import AuditProblem, Embedding, Geometry
from fairtransport.reproduce.figures import Population, regular

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
    return Population(name, problem, frequencies, binary_losses=True)


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
    frequencies = rng.dirichlet(np.full(72, 2.0))
    return Population("no bias", problem, frequencies, binary_losses=True)


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


def _cells(
    name: str, moves: list[tuple[float, float]], frequencies: list[float], budget: float
) -> Population:
    """Cells that can each be moved to a target of their own, given as (cost, gain)."""
    size = len(moves)
    costs = np.full((2 * size, 2 * size), np.inf)
    np.fill_diagonal(costs, 0)
    costs[np.arange(size), size + np.arange(size)] = [cost for cost, _ in moves]
    losses = np.r_[np.zeros(size), [gain for _, gain in moves]]
    problem = AuditProblem(losses, costs, budget=budget)
    return Population(name, problem, np.r_[frequencies, np.zeros(size)])


def drifting_corner(n: int) -> Population:
    """A budget that ends half a standard error beside a corner, at every n."""
    drift = 0.25 / np.sqrt(n)
    moves = [(1.0, 1.0), (0.2, 0.6), (0.0, 0.0), (0.0, 1.0)]
    return _cells("drifting corner", moves, [0.45 - drift, 0.45, 0.05 + drift, 0.05], 0.54)


def hundred_kinks() -> Population:
    """One hundred cells, each of which bends at a price of its own."""
    rng = np.random.default_rng(101)
    gains = rng.uniform(0.1, 1.0, 100)
    moves = list(zip(gains / np.linspace(0.3, 6.0, 100), gains, strict=True))
    return _cells("one hundred kinks", moves, rng.dirichlet(np.ones(100)).tolist(), 0.15)


def log_losses() -> Population:
    """Logarithmic losses clipped at .01, a range of 4.6, rarely near its end."""
    rng = np.random.default_rng(102)
    points = rng.normal(size=(60, 2))
    scores = 1 / (1 + np.exp(-1.5 * points[:, 0] - 0.5 * rng.normal(size=60)))
    losses = -np.log(np.maximum(scores, 0.01))
    geometry = Geometry(np.zeros(60), Embedding(points))
    problem = AuditProblem(losses, geometry, budget=0.05)
    return Population(
        "clipped log loss", problem, rng.dirichlet(np.ones(60)), (0.0, -float(np.log(0.01)))
    )


def rare_gains(budget: float, name: str) -> Population:
    """Nothing for most, a gain of 1 at cost 1 for some, a free gain of 1 for few."""
    moves = [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    return _cells(name, moves, [128 / 150, 17 / 150, 5 / 150], budget)


def skewed_gains() -> Population:
    """Small gains for most and large ones for few, all at a cost."""
    moves = [(0.1, 0.02), (0.05, 0.03), (0.4, 0.9), (0.0, 0.0), (0.0, 0.6)]
    return _cells("skewed gains", moves, [0.5, 0.3, 0.03, 0.15, 0.02], 0.05)


def _plane(name: str, size: int, budget: float, seed: int) -> Population:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(size, 2))
    losses = 1 / (1 + np.exp(-points.sum(axis=1) - 0.7 * rng.normal(size=size)))
    geometry = Geometry(np.zeros(size), Embedding(points))
    problem = AuditProblem(losses, geometry, budget=budget)
    return Population(name, problem, rng.dirichlet(np.ones(size)))


def three_cells() -> Population:
    """Three cells, of which two can be moved."""
    return _cells("three cells", [(0.3, 0.7), (0.0, 0.4), (0.0, 0.0)], [0.3, 0.1, 0.6], 0.06)


FURTHER: list[tuple[Callable[[int], Population], tuple[int, ...]]] = [
    (lambda _: near_corner(1.02), (200, 1000)),
    (lambda _: near_corner(1.15), (200, 1000)),
    (lambda _: near_corner(1.5), (200, 1000)),
    (drifting_corner, (200, 1000, 5000)),
    (lambda _: hundred_kinks(), (200, 1000)),
    (lambda _: log_losses(), (200, 1000)),
    (lambda _: rare_gains(0.02, "rare gains"), (20, 150, 1000)),
    (lambda _: rare_gains(1e-4, "rare gains, tiny budget"), (150, 1000)),
    (lambda _: skewed_gains(), (150, 1000)),
    (lambda _: _plane("tiny budget", 40, 1e-3, 103), (50, 1000)),
    (lambda _: _plane("large budget", 40, 0.8, 104), (50, 1000)),
    (lambda _: three_cells(), (20, 1000)),
    (lambda _: _plane("500 points", 500, 0.05, 105), (200, 1000)),
]
"""Populations, which may depend on n, and the sizes at which they are measured."""
