"""Small populations whose samples can all be enumerated, and the mean wealth of bets on them."""

from __future__ import annotations

from itertools import product

import numpy as np

from fairtransport import AuditProblem, Geometry
from fairtransport._core.units import Units
from fairtransport.inference.finite.evidence import Evidence, find_loss_limits, find_space_limits
from fairtransport.inference.finite.sample import Orders

COSTS = np.array([0.0, 0.01, 0.1, 0.2, 0.5, 1.0, np.inf])


def random_population(rng):
    """Return a problem and frequencies on its first K <= 4 points; the others are targets."""
    cells, further = int(rng.integers(2, 5)), int(rng.integers(1, 3))
    size = cells + further
    losses = np.r_[rng.choice([0.0, 0.0, 0.3, 1.0], cells), rng.choice([0.5, 1.0], further)]
    chances = np.r_[rng.dirichlet(np.ones(cells)), np.zeros(further)]
    if rng.random() < 0.15:
        return AuditProblem(losses, Geometry(rng.integers(0, 2, size))), chances, cells
    costs = rng.choice(COSTS, (size, size), p=[0.1, 0.1, 0.15, 0.15, 0.15, 0.15, 0.2])
    np.fill_diagonal(costs, 0)
    budget = float(rng.choice([0.01, 0.05, 0.1, 0.3]))
    return AuditProblem(losses, costs, budget=budget), chances, cells


def interesting_populations(many, seed):
    """Yield populations with 0 < ψ < 1."""
    rng = np.random.default_rng(seed)
    while many:
        problem, chances, cells = random_population(rng)
        if 1e-9 < problem.value(chances) < 1 - 1e-9:
            many -= 1
            yield problem, chances, cells


def samples_by_cells(problem, chances, cells, n, *, known_space=False, fixed_targets=True):
    """Yield, for each set of occupied cells, its samples as the package sees them.

    Yields
    ------
    evidence
        With the frontiers of these cells alone, and every sequence that occupies just them in
        the place of random orders.
    chance
        Each sequence's probability.
    """
    sequences = np.array(list(product(range(cells), repeat=n)))
    occupied_by = np.bitwise_or.reduce(1 << sequences, axis=1)
    limits = find_space_limits(problem) if known_space else find_loss_limits(
        problem, (0.0, 1.0), binary=False
    )  # fmt: skip
    for code in np.unique(occupied_by):
        own = sequences[occupied_by == code]
        occupied = np.flatnonzero(code >> np.arange(cells) & 1)
        counts = np.zeros(problem.size, np.int64)
        counts[occupied] = 1
        counts[occupied[0]] += n - len(occupied)
        units = Units.of_people(counts)
        evidence = Evidence(problem, units, limits, fixed_targets, np.random.default_rng(0))
        evidence.__dict__["orders"] = as_orders(np.searchsorted(occupied, own))
        yield evidence, chances[own].prod(axis=1)


def as_orders(sequences):
    """Return sequences of cells as orders with a block for each record."""
    many, n = sequences.shape
    return Orders(
        start=np.arange(n + 1)[None, :] + n * np.arange(many)[:, None],
        cell=sequences.ravel(),
        records=np.ones(many * n),
        n_before=np.tile(np.arange(n, dtype=float), (many, 1)),
        n=n,
    )


def true_prices(problem, chances):
    """Return the ends of the interval of optimal prices, as far as they are finite."""
    if problem.budget == 0:
        return {0.0}
    return {price for price in problem.solve(chances).price_interval if np.isfinite(price)}


def outcomes_at(evidence, price):
    """Return Y_ν of the occupied cells."""
    return evidence.frontiers.evaluate(price).gains + evidence.budget * price
