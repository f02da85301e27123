import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array
from tests.conftest import problems
from tests.messages import raises
from tests.transport.reference import reference_value

from fairtransport import AuditProblem, Embedding, Geometry, InputError
from fairtransport.geometry import CostFunction


def brute_force(problem, frequencies):
    """Minimise the dual over every price at which any two targets of any point tie."""
    everyone = np.arange(problem.size)
    costs, losses = problem.geometry.costs(everyone, everyone), problem.losses
    prices = {0.0}
    for row in costs:
        for j in np.flatnonzero(np.isfinite(row)):
            for k in np.flatnonzero(np.isfinite(row)):
                if row[j] > row[k] and losses[j] > losses[k]:
                    prices.add((losses[j] - losses[k]) / (row[j] - row[k]))

    def dual(price):
        charge = np.where(np.isinf(costs), np.inf, price * np.where(np.isinf(costs), 0, costs))
        best = (losses - charge).max(axis=1) - losses
        return problem.budget * price + frequencies @ best

    return min(map(dual, prices))


def close(a, b):
    return abs(a - b) <= 1e-9 * max(1.0, abs(b))


@given(problems())
@settings(max_examples=300)
def test_three_solvers_agree(case):
    problem, f = case
    value = problem.value(f)
    assert close(value, brute_force(problem, f))
    assert close(value, reference_value(problem, f))


@given(problems())
@settings(max_examples=200)
def test_every_way_to_the_value_agrees(case):
    problem, f = case
    value = problem.value(f)
    assert close(problem.values(np.array([f, f]))[1], value)
    assert close(problem.values(csr_array(f[None, :]))[0], value)
    assert close(problem.solve(f).value, value)
    assert close(problem.budget_curve(f)(problem.budget), value)
    assert close(problem.with_budget(problem.budget).value(f), value)


@given(problems())
@settings(max_examples=300)
def test_the_plan_is_feasible_and_proved_optimal(case):
    problem, f = case
    solution = problem.solve(f)
    plan = solution.plan
    assert np.abs(plan.sum(axis=1) - f).max() <= 1e-12
    assert plan.data.min(initial=0) >= 0
    assert solution.plan_cost <= problem.budget * (1 + 1e-10) + 1e-15
    assert close(solution.plan_gain, solution.value)
    assert abs(solution.duality_gap) <= 1e-10
    assert np.diff(plan.indptr).max() <= 2
    assert (np.diff(plan.indptr) == 2).sum() <= 1


@given(problems())
@settings(max_examples=200)
def test_every_price_of_the_interval_is_optimal_and_none_outside(case):
    problem, f = case
    solution = problem.solve(f)
    low, high = solution.price_interval

    def dual(price):
        return problem.budget * price + f @ problem.frontiers.net_gains(price)

    assert solution.price == low
    assert close(dual(low), solution.value)
    if np.isinf(high):
        assert problem.budget == 0
        assert close(f @ problem.frontiers.net_gains(np.inf), solution.value)
    else:
        assert close(dual(high), solution.value)
        assert close(dual((low + high) / 2), solution.value)
        step = 0.01 * max(1.0, high)
        assert dual(high + step) > solution.value or f.sum() == 0 or problem.budget == 0
    if low > 0:
        assert dual(low * 0.9) > solution.value


@given(problems())
@settings(max_examples=100)
def test_net_gains_from_frontiers_are_those_of_a_search(case):
    problem, _ = case
    for price in (0.0, 0.3, 2.0, np.inf):
        searched = problem.best_by_search(price, np.arange(problem.size)) - problem.losses
        assert np.abs(problem.frontiers.net_gains(price) - searched).max() <= 1e-12


@given(problems(), st.randoms(use_true_random=False), st.floats(0, 1))
@settings(max_examples=150)
def test_concave_in_the_frequencies(case, random, share):
    problem, f = case
    g = np.array([random.random() for _ in f])
    mixed = problem.value(share * f + (1 - share) * g)
    assert mixed >= share * problem.value(f) + (1 - share) * problem.value(g) - 1e-9


@given(problems(), st.floats(0, 4), st.floats(0, 4), st.floats(0, 1))
@settings(max_examples=150)
def test_concave_and_monotone_in_the_budget(case, one, other, share):
    problem, f = case
    curve = problem.budget_curve(f)
    assert curve(share * one + (1 - share) * other) >= (
        share * curve(one) + (1 - share) * curve(other) - 1e-9
    )
    assert curve(max(one, other)) >= curve(min(one, other)) - 1e-12
    assert np.all(np.diff(curve.prices) < 0)
    assert np.all(np.diff(curve.budgets) > 0)
    assert close(curve.price(one), problem.with_budget(one).solve(f).price)


@given(problems())
@settings(max_examples=100)
def test_constant_losses_have_nothing_to_gain(case):
    problem, f = case
    constant = AuditProblem(np.full(problem.size, 2.5), problem.geometry, budget=problem.budget)
    solution = constant.solve(f)
    assert solution.value == 0
    assert np.array_equal(solution.plan.toarray(), np.diag(f))


@given(problems(), st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_the_order_of_the_points_does_not_matter(case, random):
    problem, f = case
    order = np.array(random.sample(range(problem.size), problem.size))
    costs = problem.geometry.costs(order, order)
    permuted = AuditProblem(problem.losses[order], costs, budget=problem.budget)
    assert close(permuted.value(f[order]), problem.value(f))


@given(problems())
@settings(max_examples=150)
def test_every_form_of_costs_gives_the_same_frontiers(case):
    problem, f = case
    everyone = np.arange(problem.size)
    costs = problem.geometry.costs(everyone, everyone)
    there = np.isfinite(costs)
    sparse = coo_array((costs[there], np.nonzero(there)), shape=costs.shape)
    no_diagonal = there & ~np.eye(problem.size, dtype=bool)
    bare = coo_array((costs[no_diagonal], np.nonzero(no_diagonal)), shape=costs.shape)
    finite = np.where(there, costs, 7.0)
    for form, forbidden in (
        (sparse, None),
        (bare, None),
        (lambda rows, cols: costs[np.ix_(rows, cols)], None),
        (finite, ~there),
        (finite, csr_array(~there)),
        (coo_array(finite), csr_array(~there)) if np.all(finite > 0) else (sparse, ~there),
    ):
        other = AuditProblem(problem.losses, form, budget=problem.budget, forbidden=forbidden)
        assert np.array_equal(other.solve(f).plan.toarray(), problem.solve(f).plan.toarray())
        assert other.value(f) == problem.value(f)


@pytest.mark.parametrize("budget", [0.0, 0.03, 0.4, 100.0])
@pytest.mark.parametrize("blocks", [1, 5])
def test_embedding_equals_its_distance_matrix(budget, blocks):
    rng = np.random.default_rng(3)
    points = rng.integers(0, 4, (80, 3)) + rng.choice([0, 1e-4], (80, 3)) + 1000.0
    losses, f = rng.integers(0, 6, 80) / 5, rng.dirichlet(np.ones(80))
    block = rng.integers(0, blocks, 80)
    costs = ((points[:, None] - points[None]) ** 2).sum(axis=-1)
    costs[block[:, None] != block[None]] = np.inf
    fast = AuditProblem(losses, Geometry(block, Embedding(points)), budget=budget)
    slow = AuditProblem(losses, costs, budget=budget)
    assert fast.value(f) == pytest.approx(slow.value(f), rel=1e-12)
    assert np.array_equal(fast.frontiers.base_target, slow.frontiers.base_target)
    assert np.array_equal(fast.frontiers.target, slow.frontiers.target)
    assert fast.solve(f).duality_gap == pytest.approx(0, abs=1e-12)


def test_pieces_of_the_cost_matrix_do_not_show(monkeypatch):
    rng = np.random.default_rng(0)
    points, losses = rng.normal(size=(200, 2)), rng.random(200)
    whole = AuditProblem(losses, Geometry(np.zeros(200), Embedding(points))).frontiers
    for module in ("frontiers", "problem"):
        monkeypatch.setattr(f"fairtransport.transport.{module}.CHUNK_ENTRIES", 100)
    pieces = AuditProblem(losses, Geometry(np.zeros(200), Embedding(points)), budget=0.1)
    assert np.array_equal(whole.target, pieces.frontiers.target)
    assert np.array_equal(whole.cost, pieces.frontiers.cost)
    assert abs(pieces.solve(np.full(200, 1 / 200)).duality_gap) < 1e-12


def test_targets_restrict_where_mass_arrives():
    losses = np.array([0.0, 1.0, 2.0, 3.0])
    targets = np.array([False, True, False, False])
    for geometry in (
        Geometry(np.zeros(4), targets=targets),
        Geometry(np.zeros(4), Embedding(np.zeros((4, 1))), targets=targets),
        Geometry(
            np.zeros(4), CostFunction(lambda r, c: np.zeros((len(r), len(c)))), targets=targets
        ),
    ):
        problem = AuditProblem(losses, geometry)
        assert problem.frontiers.base_target.tolist() == [1, 1, 2, 3]
        assert problem.solve(np.ones(4)).duality_gap == 0


def test_no_targets_at_all_means_everyone_stays():
    geometry = Geometry(np.zeros(2), targets=np.zeros(2, bool))
    assert AuditProblem([0.0, 1.0], geometry).value([1, 0]) == 0


@pytest.mark.parametrize("positive", [False, True])
def test_among_equal_targets_the_one_that_changes_fewest_columns_is_taken(positive):
    profiles = np.array([[0, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 0]])
    losses = np.array([0.0, 1.0, 1.0, 0.5])
    cost = Embedding(np.zeros((4, 1))) if positive else Geometry(np.zeros(1)).cost
    frontiers = AuditProblem(losses, Geometry(np.zeros(4), cost, profiles=profiles)).frontiers
    # 0 differs from 2 in one column, from 1 in two; 3 differs from 1 in one, from 2 in two
    assert frontiers.base_target.tolist() == [2, 1, 2, 1]


def test_frequencies_need_not_sum_to_one():
    problem = AuditProblem([0.0, 1.0], [[0, 2.0], [2.0, 0]], budget=1.0)
    assert problem.value([0.25, 0.0]) == 0.25
    assert problem.value([8.0, 0.0]) == 0.5
    assert problem.value([0.0, 0.0]) == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(losses=[]), "`losses` must hold at least one point"),
        (dict(losses=[0.0, np.nan]), r"`losses` must be finite, got nan at \[1\]"),
        (dict(losses=["a", "b"]), "`losses` must be numeric"),
        (dict(losses=[[0.0]]), r"`losses` must have shape \(any\), got \(1, 1\)"),
        (dict(costs=[[0.0, -1], [1, 0]]), "`costs` must be >= 0"),
        (dict(costs=[[0.0, np.nan], [1, 0]]), "`costs` must be >= 0 .* got nan"),
        (dict(costs=[[0.0, 1], [1, 2]]), r"0 on the diagonal, got 2 at \[1, 1\]"),
        (dict(costs=[[0.0, 1]]), r"`costs` must be square, got shape \(1, 2\)"),
        (dict(costs=np.zeros((3, 3))), "over the 2 points of `losses`, got 3"),
        (dict(costs=csr_array([[0.0, -1], [1, 0]])), "`costs` must be >= 0"),
        (dict(costs=csr_array([[2.0, 1], [1, 0]])), "0 on the diagonal"),
        (dict(budget=-1), "`budget` must be a number of at least 0, got -1"),
        (dict(budget=np.nan), "`budget` must be a finite number of at least 0, got nan"),
        (dict(budget=np.inf), "`budget` must be a finite number of at least 0, got inf"),
        (dict(budget="1"), "`budget` must be a number of at least 0, got '1'"),
        (dict(budget=True), "`budget` must be a finite number of at least 0, got True"),
        (dict(forbidden=np.zeros((3, 3))), r"`forbidden` must have shape \(2, 2\)"),
        (dict(forbidden=np.full((2, 2), 0.5)), "`forbidden` must hold only 0 and 1"),
    ],
)
def test_bad_problems_are_refused(arguments, message):
    good = dict(losses=[0.0, 1.0], costs=np.zeros((2, 2)), budget=0.0)
    with pytest.raises(InputError, match=message):
        AuditProblem(**{**good, **arguments})


@pytest.mark.parametrize(
    ("frequencies", "message"),
    [
        ([0.5, -0.5], "`frequencies` must be finite and >= 0, got -0.5 at [1]"),
        ([np.nan, 0.5], "got nan at"),
        ([np.inf, 0.5], "got inf at"),
        ([1.0], "`frequencies` must have shape (2), got (1,)"),
    ],
)
def test_bad_frequencies_are_refused(frequencies, message):
    problem = AuditProblem([0.0, 1.0], np.zeros((2, 2)))
    for call in (problem.value, problem.solve, problem.budget_curve):
        with raises(InputError, message):
            call(frequencies)


def test_bad_frequency_matrices_are_refused():
    problem = AuditProblem([0.0, 1.0], np.zeros((2, 2)))
    for bad in (
        np.ones((2, 3)),
        csr_array(np.ones((2, 3))),
        -np.ones((1, 2)),
        csr_array([[-1.0, 0]]),
    ):
        with pytest.raises(InputError, match="`frequencies` must"):
            problem.values(bad)


def test_a_bad_answer_of_a_cost_callable_is_refused():
    with raises(InputError, "`costs(rows, cols)` must have shape"):
        AuditProblem([0.0, 1.0], lambda rows, cols: np.zeros(3)).value([1, 0])
    with raises(InputError, "`costs(rows, cols)` must be >= 0"):
        AuditProblem([0.0, 1.0], lambda r, c: np.full((len(r), len(c)), -1.0)).value([1, 0])


def test_forbidden_moves_add_up():
    first = Geometry(np.zeros(3), forbidden=np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]]))
    losses = [0.0, 2.0, 1.0]
    for more in (np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]]), csr_array(([1], ([0], [2])), (3, 3))):
        assert AuditProblem(losses, first, forbidden=more).value([1, 0, 0]) == 0
    assert AuditProblem(losses, first).value([1, 0, 0]) == 1
    sparse = Geometry(np.zeros(3), forbidden=csr_array(([1], ([0], [1])), (3, 3)))
    both = AuditProblem(losses, sparse, forbidden=csr_array(([1], ([0], [2])), (3, 3)))
    assert both.value([1, 0, 0]) == 0


def test_a_problem_shows_its_size():
    assert repr(AuditProblem([0.0, 1.0], np.zeros((2, 2)), budget=0.5)) == (
        "AuditProblem(2 points, budget=0.5)"
    )
