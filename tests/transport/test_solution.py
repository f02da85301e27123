import numpy as np
import pytest
from hypothesis import assume, given, settings
from tests.conftest import problems

from fairtransport import AuditProblem
from fairtransport.geometry import Geometry


def optimal_plans_differ(problem, f):
    """Say by linear programming whether any entry of an optimal plan can vary."""
    from scipy.optimize import linprog

    everyone = np.arange(problem.size)
    costs = problem.geometry.costs(everyone, everyone)
    row, col = np.nonzero(np.isfinite(costs))
    gain = problem.losses[col] - problem.losses[row]
    sums = np.array([row == i for i in everyone], float)
    value = problem.value(f)
    tolerance = 1e-9
    common = dict(
        A_ub=np.array([costs[row, col], -gain]),
        b_ub=[problem.budget + tolerance, -value + tolerance],
        A_eq=sums,
        b_eq=f,
    )
    for entry in range(len(row)):
        pick = np.zeros(len(row))
        pick[entry] = 1
        low, high = linprog(pick, **common), linprog(-pick, **common)
        if -high.fun - low.fun > 1e-4:
            return True
    return False


@pytest.mark.slow
@given(problems(largest=4, decimals=2))
@settings(max_examples=150)
def test_uniqueness_of_the_plan_is_honest(case):
    problem, f = case
    # the linear program sees no difference that a smaller budget could make
    assume(problem.budget == 0 or problem.budget >= 0.01)
    assert problem.solve(f).plan_is_unique == (not optimal_plans_differ(problem, f))


def solve(losses, costs, budget, f):
    costs = np.array(costs, float)
    return AuditProblem(losses, costs, budget=budget).solve(f)


def test_a_split_point_is_fixed_by_the_budget():
    solution = solve([0.0, 1.0], [[0, 1], [1, 0]], 0.5, [1.0, 0.0])
    assert solution.plan.toarray().tolist() == [[0.5, 0.5], [0, 0]]
    assert solution.plan_is_unique


def test_two_points_of_equal_slope_share_the_budget_at_will():
    inf = np.inf
    costs = [[0, inf, 1], [inf, 0, 1], [inf, inf, 0]]
    solution = solve([0.0, 0.0, 1.0], costs, 0.25, [0.5, 0.5, 0])
    assert not solution.plan_is_unique


def test_a_slack_budget_lets_equal_losses_be_reached_at_any_cost():
    solution = solve([0.0, 1.0, 1.0], [[0, 1, 2], [1, 0, 1], [1, 1, 0]], 5.0, [1.0, 0, 0])
    assert solution.price_interval == (0.0, 0.0)
    assert solution.plan.toarray()[0].tolist() == [0, 1, 0]
    assert not solution.plan_is_unique


def test_a_budget_that_ends_at_a_corner_has_an_interval_of_prices(corner):
    problem, f = corner
    solution = problem.solve(f)
    # .2 · .45 is spent at slope 3, then 1 · .45 at slope 1, which uses up .54 exactly
    assert solution.price_interval == (0.0, 1.0)
    assert solution.value == pytest.approx(0.77)
    inner = problem.with_budget(0.09).solve(f)
    assert inner.price_interval == pytest.approx((1.0, 3.0))


def test_prices_at_the_ends():
    costs = [[0, 2], [2, 0]]
    assert solve([0.0, 1.0], costs, 0.0, [1.0, 0.0]).price_interval == (0.5, np.inf)
    assert solve([0.0, 1.0], costs, 0.0, [0.0, 1.0]).price_interval == (0.0, np.inf)
    assert solve([0.0, 1.0], costs, 9.0, [1.0, 0.0]).price_interval == (0.0, 0.0)
    assert solve([0.0, 1.0], costs, 9.0, [0.0, 1.0]).price_interval == (0.0, 0.0)
    assert solve([0.0, 1.0], costs, 2.0, [1.0, 0.0]).price_interval == (0.0, 0.5)


def test_the_budget_curve_refuses_a_negative_budget():
    curve = AuditProblem([0.0, 1.0], [[0.0, 2], [2, 0]]).budget_curve([1.0, 0.0])
    assert (curve(1.0), curve.price(1.0), curve(3.0), curve.price(2.0)) == (0.5, 0.5, 1.0, 0.0)
    for call in (curve, curve.price):
        with pytest.raises(ValueError, match="`budget` must be a number of at least 0"):
            call(-1)


def test_a_wrong_plan_has_a_gap():
    """The certificate can fail: it is recomputed from the plan it is given."""
    from dataclasses import replace

    from scipy.sparse import csr_array

    right = solve([0.0, 1.0], [[0, 1], [1, 0]], 0.5, [1.0, 0.0])
    wrong = replace(right, plan=csr_array([[1.0, 0], [0, 0]]))
    assert wrong.duality_gap == pytest.approx(0.5)
    assert replace(right, price=0.2).duality_gap == pytest.approx(0.4)


def test_free_moves_need_no_search_and_give_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    losses, blocks = rng.integers(0, 3, 60) / 2, rng.integers(0, 9, 60)
    problem = AuditProblem(losses, Geometry(blocks))
    rows = np.flatnonzero(rng.random(60) < 0.7)
    quick = problem.best_by_search(0.0, rows), problem.count_best_targets(0.0, rows)
    monkeypatch.setattr(AuditProblem, "_all_alike", False)

    assert np.array_equal(quick[0], problem.best_by_search(0.0, rows))
    assert np.array_equal(quick[1], problem.count_best_targets(0.0, rows))


@pytest.mark.parametrize("end", [0.0, 0.02, 5.0])
def test_a_thinned_curve_shows_what_the_whole_one_shows(end):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(80, 2))
    costs = np.square(points[:, None] - points[None]).sum(axis=2)
    curve = AuditProblem(rng.random(80), costs).budget_curve(np.full(80, 1 / 80))
    thin, below = curve.thin(40, end)
    budgets = np.linspace(0, 1.2 * curve.budgets[-1], 500)
    gaps = [curve(budget) - thin(budget) for budget in budgets]

    assert len(curve.budgets) > 200
    assert len(thin.budgets) <= 40
    assert -1e-12 < min(gaps) <= max(gaps) <= below + 1e-12
    assert below < 0.01 * curve.values[-1]
    assert thin(0.0) == curve(0.0)
    assert thin.budgets[-1] == curve.budgets[-1]
    assert curve.thin(10_000, end) == (curve, 0.0)
