"""Searches at single prices bracket ψ, whatever they were stopped at, and end at ψ itself."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairtransport import AuditProblem, Embedding, Geometry
from fairtransport.errors import InputError
from fairtransport.transport import bracket
from fairtransport.transport.bracket import PriceSearch, Rounds, bracketed, can_be_bracketed
from fairtransport.transport.known_gains import KnownGains

PRICES = np.geomspace(1e-3, 1e3, 25)


def spread(seed, size=300, kind="any", budget=0.05, dimensions=3):
    """Return a problem of points in space in two blocks, some of them no targets, and people."""
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(size, dimensions))
    losses = {
        "any": rng.random(size), "two": np.round(rng.random(size)),
        "smooth": (np.round(rng.random(size)) - 1 / (1 + np.exp(-place[:, 0]))) ** 2,
        "signed": rng.normal(size=size), "equal": np.full(size, 0.3),
    }[kind]  # fmt: skip
    geometry = Geometry(
        rng.integers(0, 2, size), Embedding(place), targets=rng.random(size) < 0.8,
        profiles=rng.integers(0, 3, (size, 2)),
    )  # fmt: skip
    people = rng.multinomial(3 * size, rng.dirichlet(np.ones(size)))
    return AuditProblem(losses, geometry, budget=budget), people / people.sum()


def search(problem, f, rounds=None):
    return bracketed(problem, f, Rounds(most=rounds), np.random.default_rng(0))


@pytest.fixture
def small_rounds(monkeypatch):
    """Make rounds and pilots of few points, so that small problems have many of them."""
    monkeypatch.setattr(bracket, "ROUND", 40)
    monkeypatch.setattr(bracket, "PILOT", 16)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6), rounds=st.integers(1, 40),
    kind=st.sampled_from(["any", "two", "smooth", "signed", "equal"]),
    budget=st.sampled_from([0.0, 1e-6, 0.05, 1.0, 1e3]),
)  # fmt: skip
def test_the_value_lies_in_the_bracket_wherever_the_search_stops(seed, rounds, kind, budget):
    problem, f = spread(seed, kind=kind, budget=budget)
    exact = problem.value(f)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bracket, "ROUND", 40)
        patch.setattr(bracket, "PILOT", 16)
        found = search(problem, f, rounds)

    assert found.bracket.rounds <= rounds
    assert found.bracket.lower <= exact + 1e-12
    assert exact <= found.bracket.upper + 1e-12
    # the lower value is that of a plan, which keeps to the budget
    solution = found.solve(f)
    assert solution.value == pytest.approx(found.bracket.lower, abs=1e-12)
    assert solution.plan_gain == pytest.approx(found.bracket.lower, abs=1e-12)
    assert solution.plan_cost <= budget * (1 + 1e-9)
    assert np.allclose(solution.plan.sum(axis=1), f)
    assert solution.duality_gap == pytest.approx(
        found.bracket.upper - found.bracket.lower, abs=1e-12
    )


@pytest.mark.usefixtures("small_rounds")
@pytest.mark.parametrize("kind", ["any", "two", "smooth", "signed", "equal"])
@pytest.mark.parametrize("budget", [0.0, 1e-6, 0.05, 1.0, 1e3])
def test_a_search_without_end_finds_the_value(kind, budget):
    problem, f = spread(7, kind=kind, budget=budget)
    found = search(problem, f)

    assert found.bracket.lower == pytest.approx(problem.value(f), rel=1e-9, abs=1e-12)
    assert found.bracket.upper == pytest.approx(problem.value(f), rel=1e-9, abs=1e-12)


@pytest.mark.usefixtures("small_rounds")
def test_a_bracket_narrows_from_round_to_round():
    problem, f = spread(3, size=600)
    found = [search(problem, f, rounds).bracket for rounds in range(1, 60, 6)]
    lower, upper = [one.lower for one in found], [one.upper for one in found]

    assert lower == sorted(lower)
    assert upper == sorted(upper, reverse=True)
    assert found[0].width > 0.5
    assert found[-1].width < 1e-9


@pytest.mark.usefixtures("small_rounds")
def test_gains_lie_between_their_limits_at_all_prices():
    problem, f = spread(5)
    found = search(problem, f, 9)
    for price in (0.0, *PRICES, np.inf):
        true = problem.frontiers.net_gains(price)
        assert np.all(found.frontiers.net_gains(price) <= true + 1e-12)
        assert np.all(true <= found.known.most(price) + 1e-12)


def test_what_was_searched_is_known_exactly():
    problem, _ = spread(11)
    known, rows = KnownGains(problem), np.arange(0, problem.size, 2)
    nobody = np.full(len(rows), -1)
    for price in (0.3, 2.0):
        known.add(price, *PriceSearch(problem).best(price, rows, nobody))
        true = problem.frontiers.net_gains(price)
        assert np.allclose(known.most(price)[rows], true[rows], atol=1e-12)
        assert np.allclose(known.frontiers.net_gains(price)[rows], true[rows], atol=1e-12)


def test_targets_are_those_of_the_best_value():
    problem, _ = spread(2)
    rows = np.arange(problem.size)
    begin = np.random.default_rng(0).permuted(np.flatnonzero(problem.geometry.targets))[:1]
    alike = problem.geometry.blocks == problem.geometry.blocks[begin[0]]
    known = np.where(alike, begin[0], -1)
    points, best, target = PriceSearch(problem).best(0.7, rows, known[rows])

    assert sorted(points) == rows.tolist()
    assert np.allclose(best, problem.best_by_search(0.7, points))
    worth = problem.losses[target] - 0.7 * problem.costs_of(points, target)
    assert np.allclose(worth, best)


@pytest.mark.usefixtures("small_rounds")
def test_the_same_rounds_give_the_same_result():
    problem, f = spread(13, size=800)
    one, other = search(problem, f, 11), search(problem, f, 11)

    assert one.bracket == other.bracket
    assert (one.solve(f).plan != other.solve(f).plan).nnz == 0


@pytest.mark.usefixtures("small_rounds")
def test_time_ends_a_search_after_at_least_one_round():
    problem, f = spread(13, size=800)
    rounds = Rounds(seconds=1e-9)
    found = bracketed(problem, f, rounds, np.random.default_rng(0))

    assert found.bracket.rounds == rounds.made == 1
    assert found.bracket.lower <= problem.value(f) <= found.bracket.upper


def test_another_budget_is_refused():
    problem, f = spread(1)
    with pytest.raises(InputError, match=r"`budget` must stay 0\.05 .* got 0\.1"):
        search(problem, f, 2).with_budget(0.1)


def test_only_points_in_space_are_searched_for():
    assert can_be_bracketed(spread(1)[0])
    assert not can_be_bracketed(AuditProblem([0.0, 1.0], [[0.0, 1.0], [1.0, 0.0]]))
    assert not can_be_bracketed(AuditProblem([0.0, 1.0], Geometry(np.zeros(2))))


DIGEST = """
import hashlib, numpy as np
from tests.transport.test_bracket import search, spread
problem, f = spread(4, size=6000)
found = search(problem, f, 7)
plan = found.solve(f).plan
parts = (plan.indices, plan.data, found.known.most(0.5), np.array([*vars(found.bracket).values()]))
print(hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest())
"""


@pytest.mark.slow
def test_threads_do_not_change_a_bit():
    digests = set()
    for threads in ("1", "2"):
        environment = os.environ | {"NUMBA_NUM_THREADS": threads}
        line = [sys.executable, "-c", DIGEST]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
        digests.add(done.stdout)

    assert len(digests) == 1


@pytest.mark.parametrize("budget", [0.0, 0.02])
def test_a_search_without_an_end_closes_every_bracket(budget):
    """Also where the optimal price falls below the first rung of the ladder in between."""
    for seed in range(40):
        problem, f = spread(seed, size=150, kind="smooth", budget=budget)
        found = search(problem, f)
        assert found.bracket.lower == pytest.approx(problem.value(f), abs=1e-9)
        assert found.bracket.width <= bracket.CLOSED
        # upper bounds need two prices of the ladder
        assert len(set(found.rungs)) == (2 if budget and found.bracket.upper else 0)
