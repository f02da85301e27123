"""Rejections where twins take the levels that occur: enumerated over all samples."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from tests.inference.finite.enumeration import as_orders

import fairtransport as ft
from fairtransport import AuditProblem
from fairtransport.inference import sampling_law

N_PEOPLE, LEVEL = 4, 0.3


def population(seed):
    """Return the losses of two profiles at three levels, and how frequent the six cells are."""
    rng = np.random.default_rng(seed)
    losses = rng.choice([0.0, 0.3, 0.6, 1.0], (2, 3))
    return losses, rng.dirichlet(np.full(6, 0.7)).reshape(2, 3)


def mean_wealth(losses, chances, *, fixed_levels):
    """Return E W against the true ψ, where each sample has the twins of its own levels."""
    truth = float((chances * (losses.max(axis=1, keepdims=True) - losses)).sum())
    total = 0.0
    for sequence in product(range(6), repeat=N_PEOPLE):
        profile, level = np.divmod(np.array(sequence), 3)
        levels = np.unique(level)
        cells = [(one, other) for one in np.unique(profile) for other in levels]
        costs = [[0.0 if a[0] == b[0] else np.inf for b in cells] for a in cells]
        place = [cells.index(pair) for pair in zip(profile, level, strict=True)]
        counts = np.bincount(place, minlength=len(cells))
        problem = AuditProblem([losses[cell] for cell in cells], costs)
        law = sampling_law(problem, counts, rng=0, loss_range=(0, 1), fixed_levels=fixed_levels)
        evidence = law._rejection.evidence
        if fixed_levels:
            order = np.searchsorted(np.flatnonzero(counts), place)
            evidence.__dict__["orders"] = as_orders(order[None, :])
        plan = law._rejection._build_plan(truth, LEVEL)
        outcomes = evidence.frontiers.base[None, :]
        logs = evidence.log_wealths(law._rejection._choose_stakes(plan, 0), truth, outcomes)
        total += np.exp(evidence.average(logs[0])) * np.prod(chances[profile, level])
    return total


@pytest.mark.slow
def test_mean_wealth_is_at_most_one_with_levels_that_nobody_declared():
    for seed in range(3):
        assert mean_wealth(*population(seed), fixed_levels=False) <= 1 + 1e-12


@pytest.mark.parametrize("levels", [None, {"group": ["a", "b"]}])
def test_an_audit_with_levels_that_nobody_declared_has_fixed_stakes(levels):
    rng = np.random.default_rng(0)
    people = {"group": rng.choice(["a", "b"], 150), "x": rng.integers(5, size=150)}
    frame = pd.DataFrame(people | {"good": rng.integers(2, size=150)})

    def model(points):
        return 0.2 + 0.1 * points["x"] + 0.15 * (points["group"] == "a")

    bounds = [
        ft.audit(frame, "good", model=ft.access.Function(model, [0, 1]), loss="brier", rng=seed,
                 sensitive_features="group", levels=levels).lower_bound
        for seed in range(2)
    ]  # fmt: skip
    # stakes that are fixed beforehand need no random order of the people
    assert (bounds[0] == bounds[1]) == (levels is None)
