"""Solutions by column generation are those of full frontiers and of HiGHS."""

import numpy as np
import pytest
from tests.transport.reference import reference_value

from fairtransport import AuditProblem, Embedding, Geometry
from fairtransport.transport import column_generation as columns_module
from fairtransport.transport.column_generation import Columns
from fairtransport.transport.frontiers import PriceSearch

KINDS = ("any", "smooth", "two", "lattice", "equal")
BUDGETS = (0.0, 1e-6, 0.01, 0.2, 1.0, 50.0)


def build_problem(seed, size=None, kind=None, dimensions=None, budget=None):
    """Return a random problem in two blocks with forbidden targets, and frequencies with zeros."""
    rng = np.random.default_rng(seed)
    size = size or int(rng.integers(1, 40))
    place = rng.normal(size=(size, dimensions or int(rng.integers(1, 4))))
    kind = kind or KINDS[seed % len(KINDS)]
    if kind == "lattice":
        place = np.round(place)
    losses = {
        "any": rng.random(size),
        "smooth": 1 / (1 + np.exp(-place[:, 0])) ** 2,
        "two": np.round(rng.random(size)),
        "lattice": np.round(4 * rng.random(size)) / 4,
        "equal": np.full(size, 0.3),
    }[kind]
    geometry = Geometry(
        rng.integers(0, 2, size), Embedding(place), targets=rng.random(size) < 0.8,
        profiles=rng.integers(0, 3, (size, 2)),
    )  # fmt: skip
    frequencies = rng.random(size) * (rng.random(size) < 0.7)
    budget = BUDGETS[seed // len(KINDS) % len(BUDGETS)] if budget is None else budget
    return AuditProblem(losses, geometry, budget=budget), frequencies


def generate_columns(problem):
    """Return the same problem, solved by column generation whatever its size."""
    other = AuditProblem(problem.losses, problem.geometry, budget=problem.budget)
    search = PriceSearch(problem.losses, problem.geometry, problem.geometry.searchable)
    other.__dict__["columns"] = Columns(search)
    return other


@pytest.mark.parametrize(
    "seeds", [range(100), pytest.param(range(100, 1000), marks=pytest.mark.slow)]
)
def test_a_thousand_solutions_are_those_of_full_frontiers(seeds):
    for seed in seeds:
        problem, frequencies = build_problem(seed)
        expected, solution = (
            each.solve(frequencies) for each in (problem, generate_columns(problem))
        )

        within = 1e-12 * max(expected.value, 1e-3)
        assert solution.value == pytest.approx(expected.value, rel=0, abs=within), seed
        assert solution.plan_gain == pytest.approx(expected.value, rel=0, abs=within), seed
        assert solution.price_interval == pytest.approx(expected.price_interval, rel=1e-9), seed
        assert solution.duality_gap == pytest.approx(0, abs=within), seed
        assert solution.plan_cost <= problem.budget * (1 + 1e-9), seed


@pytest.mark.parametrize("kind", KINDS)
def test_budgets_at_corners_of_larger_problems(kind):
    for seed in range(4):
        problem, frequencies = build_problem(seed, size=400, kind=kind)
        corners = problem.budget_curve(frequencies).budgets
        for budget in corners[:: max(1, len(corners) // 5)]:
            at_corner = problem.with_budget(float(budget))
            expected = at_corner.solve(frequencies)
            solution = generate_columns(at_corner).solve(frequencies)

            within = 1e-12 * max(expected.value, 1e-3)
            assert solution.value == pytest.approx(expected.value, rel=0, abs=within), seed
            assert solution.duality_gap == pytest.approx(0, abs=within), seed
            assert solution.plan_cost <= budget * (1 + 1e-9), seed


@pytest.mark.parametrize("kind", KINDS)
def test_a_single_point_stays(kind):
    problem, _ = build_problem(0, size=1, kind=kind, budget=1.0)
    solution = generate_columns(problem).solve([1.0])
    assert (solution.value, solution.plan_cost, solution.duality_gap) == (0, 0, 0)


@pytest.mark.parametrize("kind", ["any", "smooth"])
def test_plans_are_those_of_full_frontiers(kind):
    for seed in range(60):
        problem, frequencies = build_problem(seed, kind=kind)
        plans = [each.solve(frequencies).plan for each in (problem, generate_columns(problem))]
        assert abs(plans[0] - plans[1]).max() < 1e-9, seed


def test_equal_targets_are_chosen_as_by_full_frontiers():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        place = rng.normal(size=(8, 2))[rng.integers(0, 8, 40)]
        # copies of a few points that differ in their profiles alone
        losses = np.abs(place[:, 0])
        geometry = Geometry(
            np.zeros(40, np.int64), Embedding(place), profiles=rng.integers(0, 3, (40, 2))
        )
        problem = AuditProblem(losses, geometry, budget=rng.choice([0.0, 0.1, 1.0]))
        frequencies = rng.random(40)
        plans = [each.solve(frequencies).plan for each in (problem, generate_columns(problem))]
        assert abs(plans[0] - plans[1]).max() < 1e-9, seed


@pytest.mark.parametrize("seed", range(30))
def test_values_are_those_of_highs(seed):
    problem, frequencies = build_problem(seed)
    expected = reference_value(problem, frequencies)
    assert generate_columns(problem).value(frequencies) == pytest.approx(expected, abs=1e-8)


def test_values_of_many_frequencies_and_other_budgets():
    problem, _ = build_problem(7, size=60, kind="smooth", budget=0.3)
    generated = generate_columns(problem)
    many = np.random.default_rng(7).random((5, 60)) * [[1], [1], [0.01], [1], [0]]
    many[1, :50] = 0

    assert generated.values(many) == pytest.approx(problem.values(many), rel=1e-12)
    for budget in (0.0, 0.1, 3.0):
        other = generated.with_budget(budget)
        assert other.columns is generated.columns
        assert other.values(many) == pytest.approx(
            problem.with_budget(budget).values(many), rel=1e-12
        )
    assert "frontiers" not in generated.__dict__


def test_directional_derivatives_are_those_of_full_frontiers():
    for seed in range(60):
        problem, frequencies = build_problem(seed)
        rng = np.random.default_rng(seed)
        direction = rng.normal(size=problem.size)
        direction = np.where(frequencies > 0, direction, np.abs(direction))
        expected = problem.directional_derivative(frequencies, direction)
        generated = generate_columns(problem)
        assert generated.directional_derivative(frequencies, direction) == pytest.approx(
            expected, rel=1e-9, abs=1e-12
        ), seed
        assert "frontiers" not in generated.__dict__


@pytest.mark.parametrize("price", [0.0, 1e-9, 0.3, 20.0, np.inf])
def test_net_gains_are_those_of_full_frontiers(price):
    for seed in range(20):
        problem, _ = build_problem(seed)
        expected = problem.frontiers.net_gains(price)
        assert generate_columns(problem).net_gains(price) == pytest.approx(expected, abs=1e-12)


def test_largest_net_gains_are_those_of_full_frontiers():
    prices = [0.0, 1e-9, 0.3, 2.0, 20.0]
    for seed in range(40):
        problem, _ = build_problem(seed)
        expected = [problem.frontiers.net_gains(price).max() for price in prices]
        found = generate_columns(problem).columns.find_largest_net_gains(prices)
        assert found == pytest.approx(expected, abs=1e-12), seed


def test_smooth_losses_need_few_searches_and_few_corners():
    for size in (1_000, 8_000):
        problem, _ = build_problem(1, size=size, kind="smooth", dimensions=1, budget=0.05)
        generated = generate_columns(problem)
        frontiers = generated.frontiers_for(np.full(size, 1 / size))

        # each point is searched a few times whatever the size, and keeps a few corners
        assert generated.columns.searched_rows <= 12 * size
        assert len(frontiers.row) <= 8 * size


def test_a_few_points_alone_are_searched_for_sparse_frequencies():
    problem, _ = build_problem(2, size=1_500, kind="smooth", dimensions=1, budget=0.05)
    generated = generate_columns(problem)
    frequencies = np.zeros(1_500)
    frequencies[::150] = 0.1
    assert generated.value(frequencies) == pytest.approx(problem.value(frequencies), rel=1e-12)
    assert generated.columns.searched_rows == 0


def test_columns_are_generated_only_where_frontiers_are_long(monkeypatch):
    smooth, _ = build_problem(3, size=1_500, kind="smooth", dimensions=1)
    rough, _ = build_problem(3, size=1_500, kind="two", dimensions=2)
    assert smooth.columns is None
    monkeypatch.setattr(columns_module, "MAX_FRONTIER_CORNERS", 50_000)
    long, short = (AuditProblem(each.losses, each.geometry, budget=0.1) for each in (smooth, rough))
    assert long.columns is not None
    assert short.columns is None


@pytest.mark.parametrize("seed", range(6))
def test_budget_curves_pass_through_exact_points(seed):
    problem, frequencies = build_problem(seed, size=60, kind="smooth", budget=0.1)
    expected = problem.budget_curve(frequencies)
    curve = generate_columns(problem).budget_curve(frequencies)
    budgets = np.linspace(0, 1.1 * expected.budgets[-1], 200)
    lines = np.interp(budgets, curve.budgets, curve.values)
    above = np.array([expected(budget) for budget in budgets]) - lines

    listed = [expected(budget) for budget in curve.budgets]
    assert curve.values == pytest.approx(listed, rel=1e-9, abs=1e-12)
    assert curve.budgets[-1] == pytest.approx(expected.budgets[-1])
    assert -1e-12 <= above.min() <= above.max() <= curve.below + 1e-12
    assert curve.thin(400, 1.0) == (curve, curve.below)
    for budget in (0.0, 0.02, 0.3, 100.0):
        assert curve(budget) == pytest.approx(expected(budget), rel=1e-11)
        assert curve.price(budget) == pytest.approx(expected.price(budget), rel=1e-9)
