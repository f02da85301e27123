"""E-processes: exact small cases, monotone stakes, the least wealth over prices, state."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import problems

from fairtransport._core.units import Units
from fairtransport.inference import sequential_kernels as eprocess
from fairtransport.inference.finite.sample import observed_frontiers
from fairtransport.inference.sequential import (
    FRACTIONS,
    CostlyMoves,
    FreeMoves,
    MixtureWealth,
    choose_price,
    threshold_grid,
)

outcomes = st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=1, max_size=90)


def direct_wealth(values, delta, sign, top=1.0):
    """The mixture's wealth, multiplied out."""
    room = delta if sign > 0 else top - delta
    stakes = FRACTIONS / room
    return np.mean([np.prod(1 + sign * x * (np.asarray(values) - delta)) for x in stakes])


@given(outcomes, st.sampled_from([0.05, 0.2, 0.6]))
def test_wealth_is_the_average_of_products(values, delta):
    free = FreeMoves(delta, 0.05, 1.0, fixed_targets=True)
    free.bets.take(np.array(values))

    assert free.log_e_value == pytest.approx(math.log(direct_wealth(values, delta, 1)), abs=1e-9)
    assert free.log_e_value_certificate == pytest.approx(
        math.log(direct_wealth(values, delta, -1)), abs=1e-9
    )


@given(outcomes, st.sampled_from([0.05, 0.2, 0.6]))
def test_the_first_crossing_is_noted(values, delta):
    free = FreeMoves(delta, 0.2, 1.0, fixed_targets=True)
    free.bets.take(np.array(values))
    for sign, noted in ((1, free.rejected_at), (-1, free.certified_at)):
        wealth = [direct_wealth(values[: n + 1], delta, sign) for n in range(len(values))]
        crossed = [n + 1 for n, w in enumerate(wealth) if w >= 5 * (1 + 1e-9)]
        assert noted == (crossed[0] if crossed else 0)


@given(outcomes, st.data())
def test_batches_change_no_bit(values, data):
    whole = FreeMoves(0.1, 0.05, 1.0, fixed_targets=True)
    parts = FreeMoves(0.1, 0.05, 1.0, fixed_targets=True)
    whole.bets.take(np.array(values))
    at = 0
    while at < len(values):
        size = data.draw(st.integers(1, len(values) - at))
        parts.bets.take(np.array(values[at : at + size]))
        at += size
    for name in ("log_e_value", "log_e_value_certificate", "lower", "upper", "rejected_at"):
        assert getattr(whole, name) == getattr(parts, name)
    assert whole.bets.as_json() == parts.bets.as_json()


def test_a_killed_run_that_goes_on_has_the_bytes_of_one_that_was_not():
    values = np.random.default_rng(0).choice([0.0, 1.0], 300)
    whole = FreeMoves(0.1, 0.05, 1.0, fixed_targets=True)
    whole.bets.take(values)
    saved = FreeMoves(0.1, 0.05, 1.0, fixed_targets=True).bets.as_json()
    for part in np.split(values, [5, 77, 201]):
        resumed = FreeMoves(0.1, 0.05, 1.0, fixed_targets=True)
        resumed.bets.restore(saved)
        resumed.bets.take(part)
        saved = resumed.bets.as_json()

    assert np.sum(whole.bets.crossed > 0) > 10
    assert saved == whole.bets.as_json()


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_wealth_stays_finite_over_very_many_records(value):
    free = FreeMoves(1e-9, 0.05, 1.0, fixed_targets=True)
    free.bets.take(np.full(20_000, value))

    assert np.isfinite([free.log_e_value, free.log_e_value_certificate]).all()
    assert np.isfinite(free.bets.log_wealth).all()


def test_the_grid_is_rejected_from_its_ends():
    """Each factor is monotone in δ, so crossed thresholds form a beginning and an end."""
    rng = np.random.default_rng(0)
    free = FreeMoves(0.1, 0.05, 2.0, fixed_targets=True)
    free.bets.take(2.0 * (rng.random(3000) < 0.1) * rng.random(3000))
    size = len(threshold_grid(2.0))
    lower, upper = free.bets.crossed[:size] > 0, free.bets.crossed[size + 1 : -1] > 0

    assert lower.any()
    assert upper.any()
    assert np.array_equal(lower, np.sort(lower)[::-1])
    assert np.array_equal(upper, np.sort(upper))
    assert free.lower == threshold_grid(2.0)[lower][-1]
    assert free.upper == threshold_grid(2.0)[upper][0]
    assert 0 < free.lower < 0.1 < free.upper < 2


def test_without_fixed_targets_there_is_no_upper_side():
    free = FreeMoves(0.5, 0.05, 1.0, fixed_targets=False)
    free.bets.take(np.zeros(1000))

    assert free.upper is None
    assert free.log_e_value_certificate is None
    assert free.certified_at == 0


def test_before_any_record_nothing_is_known():
    free = FreeMoves(0.5, 0.05, 3.0, fixed_targets=True)

    assert (free.lower, free.upper, free.log_e_value) == (0.0, 3.0, 0.0)


def test_revised_records_count_as_if_they_had_been_so_from_the_start():
    late, early = (FreeMoves(0.1, 0.05, 1.0, fixed_targets=False) for _ in range(2))
    late.bets.take(np.r_[np.zeros(40), 0.3])
    late.bets.revise(np.array([0.0, 0.3]), np.array([0.7, 1.0]), np.array([15, 1]))
    early.bets.take(np.r_[np.zeros(25), np.full(15, 0.7), 1.0])

    assert late.log_e_value == pytest.approx(early.log_e_value, rel=1e-12)


@settings(max_examples=15)
@given(outcomes)
def test_compiled_kernels_do_what_their_python_does(values):
    size = (len(FRACTIONS), 5)
    rng = np.random.default_rng(1)
    slope = rng.uniform(-0.5, 0.5, size)
    results = []
    for function, change, weigh in (
        (eprocess.advance, eprocess.revise, eprocess.weigh),
        (eprocess.advance.py_func, eprocess.revise.py_func, eprocess.weigh.py_func),
    ):
        log_wealth, product, crossed = np.zeros(size), np.ones(size), np.zeros(5, np.int64)
        threshold, weight, level = np.full(5, 0.2), np.empty(size), np.empty(5)
        weigh(log_wealth, threshold, weight, level)
        function(np.array(values), 7, 1 - 0.1 * slope, slope, log_wealth, product,
                 threshold, weight, level, crossed)  # fmt: skip
        change(np.array([0.1]), np.array([0.4]), np.array([3.0]), 1 - 0.1 * slope, slope,
               log_wealth)  # fmt: skip
        results.append((log_wealth, product, crossed))
    for compiled, plain in zip(*results, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-12, atol=1e-12)


@given(problems(), st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.5]))
def test_the_least_wealth_is_below_that_of_every_price(case, seed, share):
    problem, _ = case
    most = float(np.ptp(problem.losses)) or 1.0
    counts = np.random.default_rng(seed).multinomial(30, np.full(problem.size, 1 / problem.size))
    delta = share * most
    occupied = np.flatnonzero(counts)
    frontiers = observed_frontiers(problem, Units.of_people(counts))
    weights = counts[occupied].astype(float)
    process = CostlyMoves(delta, 0.05, most, fixed_targets=False)
    process.take(problem, np.repeat(np.arange(problem.size), counts), np.zeros_like(counts))
    process.look(problem, counts)

    prices = [math.inf]
    if problem.budget > 0:
        prices = [*np.linspace(0, delta / problem.budget, 50), *problem.frontiers.slope]
        prices = [price for price in prices if problem.budget * price <= delta]
    wealths = []
    for price in prices:
        offset = problem.budget * price if problem.budget > 0 else 0.0
        excess = problem.frontiers.net_gains(price)[occupied] + offset - delta
        with np.errstate(over="ignore"):
            logs = [float(np.log1p(x / delta * excess) @ weights) for x in FRACTIONS]
        wealths.append(max(logs) + math.log(np.mean(np.exp(np.array(logs) - max(logs)))))

    assert process.log_e_value <= min(wealths) + 1e-9
    proven = MixtureWealth(frontiers, weights, problem.budget, delta, most).find_least_wealth(
        -math.inf
    )
    assert proven.value <= min(wealths) + 1e-9


def test_the_least_wealth_is_hardly_below_that_of_the_worst_price():
    from fairtransport.reproduce.figures import regular

    case = regular()
    problem, delta = case.problem, 0.5 * case.truth
    counts = np.random.default_rng(4).multinomial(400, case.frequencies)
    process = CostlyMoves(delta, 0.05, 1.0, fixed_targets=False)
    process.look(problem, counts)
    logs = []
    for price in np.linspace(0, delta / problem.budget, 4000):
        excess = problem.frontiers.net_gains(price) + problem.budget * price - delta
        wealths = [np.exp(np.log1p(x / delta * excess) @ counts) for x in FRACTIONS]
        logs.append(math.log(np.mean(wealths)))

    assert min(logs) - 0.05 <= process.log_e_value <= min(logs) + 1e-3
    assert process.log_e_value > math.log(20)


def test_with_free_moves_both_processes_agree():
    from tests.validity.cases import twins

    case = twins()
    rng = np.random.default_rng(3)
    cells = rng.choice(case.problem.size, 700, p=case.frequencies)
    counts = np.bincount(cells, minlength=case.problem.size)
    costly = CostlyMoves(0.03, 0.05, 1.0, fixed_targets=True)
    costly.take(case.problem, cells, np.zeros_like(counts))
    costly.look(case.problem, counts)
    free = FreeMoves(0.03, 0.05, 1.0, fixed_targets=True)
    free.bets.take(case.problem.frontiers.base_gain[cells])

    assert costly.n == free.n == 700
    assert costly.log_e_value == pytest.approx(free.log_e_value)
    # the free one has looked after every record
    assert 0 < costly.lower <= free.lower
    # the first eight records pass before a price is chosen
    assert costly.log_e_value_certificate == pytest.approx(free.log_e_value_certificate, abs=0.5)


def test_certificates_do_not_depend_on_batches_and_survive_json():
    from fairtransport.reproduce.figures import regular

    case = regular()
    cells = np.random.default_rng(5).choice(case.problem.size, 900, p=case.frequencies)
    whole = CostlyMoves(0.6, 0.05, 1.0, fixed_targets=True)
    whole.take(case.problem, cells, np.zeros(case.problem.size, np.int64))
    parts = CostlyMoves(0.6, 0.05, 1.0, fixed_targets=True)
    for at in range(0, 900, 37):
        before = np.bincount(cells[:at], minlength=case.problem.size)
        parts.take(case.problem, cells[at : at + 37], before)
        again = CostlyMoves(0.6, 0.05, 1.0, fixed_targets=True)
        again.restore(json.loads(json.dumps(parts.as_json())))
        parts = again

    assert parts.log_e_value_certificate == whole.log_e_value_certificate
    assert parts.upper == whole.upper < 1
    assert parts.certified_at == whole.certified_at > 0


def test_the_price_of_a_certificate_is_near_the_optimal_one():
    from fairtransport.reproduce.figures import regular

    case = regular()
    price = choose_price(case.problem, case.frequencies, 10**8)
    value = case.problem.budget * price + case.frequencies @ case.problem.frontiers.net_gains(price)

    assert value == pytest.approx(case.truth, abs=1e-4)
    assert choose_price(case.problem.with_budget(0.0), case.frequencies, 100) == 0.0
