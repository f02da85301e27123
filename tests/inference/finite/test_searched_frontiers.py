"""Bounds from searches at single prices, where frontiers are too long to be listed."""

import numpy as np
import pytest
from scipy.stats import binom
from tests.transport.test_column_generation import build_problem, generate_columns

from fairtransport._core.units import Units
from fairtransport.inference import sampling_law
from fairtransport.inference.finite import law as law_module
from fairtransport.inference.finite.bets import RUNG_PARTS
from fairtransport.inference.finite.evidence import Ladder
from fairtransport.inference.finite.sample import (
    PRICE_RATIO,
    observed_frontiers,
    round_price,
    search_frontiers,
)


def draw_case(seed, size=80, n=300):
    """Return a smooth problem in one dimension, the same with columns, and a sample's counts."""
    problem, _ = build_problem(seed, size=size, kind="smooth", dimensions=1, budget=0.1)
    counts = np.random.default_rng(seed).multinomial(n, np.full(size, 1 / size))
    return problem, generate_columns(problem), counts


@pytest.mark.parametrize("price", [0.0, 0.01, 0.4, 5.0])
def test_gains_are_exact_and_tangents_are_nowhere_above(price):
    problem, generated, counts = draw_case(1)
    units = Units.of_people(counts)
    listed, searched = observed_frontiers(problem, units), search_frontiers(generated, units)
    values = searched.evaluate(price)

    assert values.gains == pytest.approx(listed.evaluate(price).gains, abs=1e-12)
    assert searched.base == pytest.approx(listed.base, abs=1e-12)
    for other in np.linspace(0, 2 * price + 1, 30):
        tangent = values.gains - (other - price) * values.cost_right
        assert np.all(tangent <= listed.evaluate(other).gains + 1e-12)


def test_frontiers_are_listed_where_they_are_short():
    problem, _, counts = draw_case(1)
    assert search_frontiers(problem, Units.of_people(counts)) is None


@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_fixed_stakes_are_those_of_listed_frontiers(seed):
    problem, generated, counts = draw_case(seed)
    laws = [
        sampling_law(each, counts, rng=0, fixed_targets=False, loss_range=(0, 1))
        for each in (problem, generated)
    ]
    lower = [law.lower_bound() for law in laws]

    assert 0 < lower[0] < laws[0].estimate
    # a bound is found to a part of a rung
    ladder = Ladder(laws[0].n, laws[0].most_gain)
    rung = ladder.rung_below(lower[0])
    part = (ladder.threshold(rung + 1) - ladder.threshold(rung)) / RUNG_PARTS
    assert lower[1] == pytest.approx(lower[0], abs=part)
    assert "frontiers" not in generated.__dict__


def test_certificates_need_no_listed_frontiers():
    _, generated, counts = draw_case(5, n=3_000)
    law = sampling_law(generated, counts, rng=0)
    low, high = law.interval()

    assert 0 < low < law.estimate < high < law.limits.data_free_bound(0.1)
    assert law.certifies(1.2 * high)
    assert law.rejects(0.8 * low)
    assert "frontiers" not in generated.__dict__


@pytest.mark.slow
def test_bounds_are_wrong_no_more_often_than_promised():
    problem, generated, _ = draw_case(6)
    frequencies = np.random.default_rng(6).dirichlet(np.ones(problem.size))
    value, repetitions = problem.value(frequencies), 100
    wrong = np.zeros(2)
    for seed in range(repetitions):
        counts = np.random.default_rng(seed).multinomial(200, frequencies)
        law = sampling_law(generated, counts, rng=0)
        wrong += [law.lower_bound() > value, law.upper_bound() < value]

    assert np.all(wrong <= binom.ppf(0.999, repetitions, 0.05))


def test_prices_are_rounded_to_powers():
    for price in (1e-9, 0.37, 12.0):
        low, high = (round_price(price, rounding) for rounding in (np.floor, np.ceil))
        assert low <= price <= high <= low * PRICE_RATIO * (1 + 1e-12)
    assert round_price(0.0, np.floor) == 0
    assert round_price(np.inf, np.floor) == np.inf


def test_stakes_are_fixed_where_frontiers_have_many_segments(monkeypatch):
    problem, _, counts = draw_case(2)
    assert sampling_law(problem, counts, rng=0)._evidence.adaptive
    monkeypatch.setattr(law_module, "MAX_SWEPT_SEGMENTS", len(problem.frontiers.row) - 1)
    long = sampling_law(problem, counts, rng=0)

    assert not long._evidence.adaptive
    assert 0 <= long.lower_bound() < long.estimate < long.upper_bound()


def test_both_bounds_need_few_searches():
    """Counts of searched points, which do not depend on the machine."""
    _, generated, counts = draw_case(3, size=600, n=600)
    law = sampling_law(generated, counts, rng=0)
    law.lower_bound()
    law.upper_bound()

    # more than half of the points are there, so that all are searched
    assert law._evidence.gain_curves.columns is generated.columns
    assert generated.columns.searched_rows <= 25 * 600
