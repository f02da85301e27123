import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import problems
from tests.messages import raises

from fairtransport import InputError


@pytest.mark.slow
@given(problems(decimals=2), st.randoms(use_true_random=False))
@settings(max_examples=300)
def test_the_derivative_is_the_limit_of_difference_quotients(case, random):
    problem, f = case
    h = np.array([random.choice([-1.0, 0.0, 0.5, 1.0]) for _ in f])
    h = np.where(f == 0, np.abs(h), h)
    step = 1e-7
    quotient = (problem.value(f + step * h) - problem.value(f)) / step
    assert problem.directional_derivative(f, h) == pytest.approx(quotient, abs=1e-5)


@given(problems(decimals=2), st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_both_sides_differ_exactly_where_the_function_has_a_corner(case, random):
    problem, f = case
    h = np.where(f == 0, 0.0, [random.choice([-1.0, 0.5, 1.0]) for _ in f])
    forward = problem.directional_derivative(f, h)
    backward = -problem.directional_derivative(f, -h)
    # ψ is concave, so the slope falls
    assert forward <= backward + 1e-9
    low, high = problem.solve(f).price_interval
    if low == high:
        assert forward == pytest.approx(backward, abs=1e-9)


def test_at_a_corner_the_derivative_depends_on_the_side(corner):
    problem, f = corner
    h = np.array([1.0, -1.0, 0, 0, 0, 0])
    # φ is (1, .6, …) at price 0 and (0, .4, …) at price 1
    assert problem.directional_derivative(f, h) == pytest.approx(-0.4)
    assert problem.directional_derivative(f, -h) == pytest.approx(-0.4)


def test_an_empty_cell_can_bend_inside_the_interval_of_prices():
    from fairtransport import AuditProblem

    inf = np.inf
    # point 0 makes prices [1, 2] optimal at the corner; empty point 2 bends at price 1.5
    losses = np.array([0.0, 2.0, 1.5, 3.0])
    costs = np.array([[0, 1, inf, inf], [inf, 0, inf, inf], [inf, inf, 0, 1.0], [inf] * 3 + [0]])
    problem = AuditProblem(losses, costs, budget=1.0)
    f = np.array([1.0, 0, 0, 0])
    assert problem.solve(f).price_interval == (0.0, 2.0)
    h = np.array([1.0, 0.0, 1.0, 0.0])
    numeric = (problem.value(f + 1e-8 * h) - problem.value(f)) / 1e-8
    assert problem.directional_derivative(f, h) == pytest.approx(numeric, abs=1e-6)


def test_directions_that_leave_the_cone_are_refused(corner):
    problem, f = corner
    with raises(InputError, "`direction` must be >= 0 ", " got -1 at [4]"):
        problem.directional_derivative(f, [0, 0, 0, 0, -1, 0])
    with pytest.raises(InputError, match="`direction` must be finite"):
        problem.directional_derivative(f, [np.nan] * 6)
