"""Proposition 1 and its sharper forms hold for every metric nearby."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tests.conftest import problems

import fairtransport as ft
from fairtransport.geometry import CostFunction, CostMatrix, Embedding, Geometry
from fairtransport.transport import robustness as sensitivity
from fairtransport.transport.robustness import (
    largest_cost,
    lipschitz_constant,
    metric_sensitivity,
    perturb_geometry,
)

TOLERANCE = 1e-9


def random_problem(seed, kind, size=12):
    """Points in blocks with random losses; distances of several kinds."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(size, 3))
    squared = ((points[:, None] - points[None, :]) ** 2).sum(axis=2)
    cost = {
        "embedding": lambda: Embedding(points),
        "dense": lambda: CostMatrix(squared),
        "sparse": lambda: CostMatrix(csr_array(squared)),
        "function": lambda: CostFunction(lambda rows, cols: squared[np.ix_(rows, cols)]),
    }[kind]()
    targets = rng.random(size) < 0.8 if seed % 2 else None
    geometry = Geometry(rng.integers(0, 2, size), cost, targets=targets)
    problem = ft.AuditProblem(rng.random(size), geometry, budget=rng.choice([0.01, 0.1, 1.0]))
    return problem, rng.dirichlet(np.ones(size))


KINDS = ["embedding", "dense", "sparse", "function"]


SEEDS, ETAS = st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.01, 0.1, 0.5, 0.9])


def check_every_bound(seed, kind, eta):
    problem, f = random_problem(seed, kind)
    found = metric_sensitivity(problem, f, eta=eta, draws=10, rng=seed)
    change = np.abs(found.changes)

    assert found.applies
    assert (change <= found.price_bounds + TOLERANCE).all()
    assert (found.changes <= found.rise + TOLERANCE).all()
    assert (change <= found.proposition + TOLERANCE).all()
    assert (found.price_bounds <= found.proposition * (1 + TOLERANCE) + TOLERANCE).all()
    assert (found.value + found.changes >= found.lowest - TOLERANCE).all()
    assert (found.value + found.changes <= found.highest + TOLERANCE).all()


@settings(max_examples=50)
@given(SEEDS, st.sampled_from(KINDS), ETAS)
def test_every_bound_holds_in_every_perturbation(seed, kind, eta):
    check_every_bound(seed, kind, eta)


@pytest.mark.slow
@settings(max_examples=1000)
@given(SEEDS, st.sampled_from(KINDS), ETAS)
def test_every_bound_holds_in_ten_thousand_perturbations(seed, kind, eta):
    check_every_bound(seed, kind, eta)


@settings(max_examples=60)
@given(problems(), st.sampled_from([0.05, 0.5]), st.integers(0, 10**6))
def test_the_bracket_holds_with_free_forbidden_and_asymmetric_moves(drawn, eta, seed):
    problem, f = drawn
    found = metric_sensitivity(problem, f, eta=eta, draws=5, rng=seed)
    after = found.value + found.changes

    assert (after >= found.lowest - TOLERANCE).all()
    assert (after <= found.highest + TOLERANCE).all()
    if found.applies:
        assert (np.abs(found.changes) <= found.price_bounds + TOLERANCE).all()
        assert (np.abs(found.changes) <= found.proposition + TOLERANCE).all()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_changes_when_the_metric_does_not(kind):
    problem, f = random_problem(3, kind)
    found = metric_sensitivity(problem, f, eta=0, draws=3)

    np.testing.assert_allclose(found.changes, 0, atol=1e-12)
    assert found.lowest == found.highest == pytest.approx(found.value)
    assert found.proposition == found.rise == found.largest_change == 0


@pytest.mark.parametrize("kind", KINDS)
def test_perturbed_costs_are_as_close_as_said_and_not_closer(kind):
    problem, _ = random_problem(4, kind, size=40)
    everyone = np.arange(40)
    before = problem.geometry.costs(everyone, everyone)
    after = perturb_geometry(problem.geometry, 0.3, np.random.default_rng(0)).costs(
        everyone, everyone
    )

    np.testing.assert_array_equal(np.isinf(before), np.isinf(after))
    moves = np.isfinite(before) & (before > 0)
    ratio = after[moves] / before[moves]
    assert ratio.min() >= 0.7 - 1e-9
    assert ratio.max() <= 1.3 + 1e-9
    assert ratio.max() - ratio.min() > 0.2
    assert (after[np.isfinite(before) & (before == 0)] == 0).all()


def test_the_ingredients_are_those_of_all_pairs():
    for seed in range(30):
        problem, _ = random_problem(seed, "dense")
        everyone = np.arange(problem.size)
        costs = problem.geometry.costs(everyone, everyone)
        allowed = np.isfinite(costs) & (costs > 0)
        rise = problem.losses[None, :] - problem.losses[:, None]

        ratio = rise[allowed] / np.sqrt(costs[allowed])
        assert lipschitz_constant(problem.frontiers) == pytest.approx(max(0, ratio.max()))
        assert largest_cost(problem.geometry) == costs[allowed].max()


def test_two_people_by_hand():
    # losses 0 and 1 at squared distance 4: L = 1/2, D = 2; with ε = 1, ψ = 1/4 and ν = 1/4
    problem = ft.AuditProblem([0.0, 1.0], [[0.0, 4.0], [4.0, 0.0]], budget=1.0)
    found = metric_sensitivity(problem, [1.0, 0.0], eta=0.19, draws=4)

    assert (found.value, found.price, found.diameter) == pytest.approx((0.25, 0.25, 2.0))
    assert found.lipschitz == pytest.approx(0.5 / 0.9)
    assert found.largest_change == pytest.approx(0.76)
    assert found.rise == pytest.approx(0.19)
    assert found.proposition == pytest.approx(0.5 / 0.9 * 0.76)
    assert (found.lowest, found.highest) == pytest.approx((0.25 / 1.19, 0.25 / 0.81))


@pytest.mark.parametrize(
    ("losses", "costs", "budget", "reason"),
    [
        ([0, 1], [[0, 1], [1, 0]], 0, "the budget is 0"),
        ([0, 1], [[0, np.inf], [np.inf, 0]], 1, "every move is free or forbidden"),
        ([0, 1, 0], [[0, 0, 1], [0, 0, 1], [1, 1, 0]], 1, "people at distance 0 have different"),
    ],
)
def test_it_says_where_the_proposition_does_not_apply(losses, costs, budget, reason):
    problem = ft.AuditProblem(losses, np.array(costs, float), budget=budget)
    found = metric_sensitivity(problem, np.full(len(losses), 1 / len(losses)))

    assert not found.applies
    assert reason in found.reason
    assert found.proposition is found.rise is None
    assert found.lowest <= found.value <= found.highest


def test_free_moves_have_no_diameter():
    problem = ft.AuditProblem([0.0, 1.0], Geometry(np.zeros(2, int)), budget=1)

    assert metric_sensitivity(problem, [0.5, 0.5]).diameter == 0


def test_a_large_embedding_has_a_bound_instead_of_a_search(monkeypatch):
    problem, _ = random_problem(5, "embedding")
    exact = largest_cost(problem.geometry)
    monkeypatch.setattr(sensitivity, "MAX_SEARCHED_PAIRS", 0)

    assert exact <= largest_cost(problem.geometry) <= 3 * exact


@pytest.mark.parametrize("eta", [-0.1, 1.0])
def test_an_error_of_everything_is_refused(eta):
    problem, f = random_problem(0, "dense")

    with pytest.raises(ft.InputError, match="`eta` must be a number of at least 0 and below 1"):
        metric_sensitivity(problem, f, eta=eta)
