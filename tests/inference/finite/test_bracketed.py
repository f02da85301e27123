"""Bounds from a bracket hold for ψ itself, wherever the search was stopped."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from fairtransport import AuditProblem, Embedding, Geometry
from fairtransport.errors import InputError
from fairtransport.inference import sampling_law
from fairtransport.transport import bracket
from fairtransport.transport.bracket import Rounds, bracketed

ALPHA = 0.1


def population(seed, size=80, budget=0.05):
    """Return a problem of points in space, and how often each is drawn."""
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(size, 2))
    losses = (np.round(rng.random(size)) - 1 / (1 + np.exp(-place[:, 0]))) ** 2
    problem = AuditProblem(losses, Geometry(np.zeros(size), Embedding(place)), budget=budget)
    return problem, rng.dirichlet(np.ones(size))


def searched(problem, counts, rounds):
    return bracketed(problem, counts / counts.sum(), Rounds(most=rounds), np.random.default_rng(0))


def law_of(problem, counts, **settings):
    settings = {"alpha": ALPHA, "rng": 0, "loss_range": (0.0, 1.0)} | settings
    return sampling_law(problem, counts, **settings)


@pytest.fixture(autouse=True)
def small_rounds(monkeypatch):
    """Make rounds of few points, so that searches stop half way."""
    monkeypatch.setattr(bracket, "ROUND", 8)


@pytest.mark.slow
@pytest.mark.parametrize(("rounds", "budget"), [(8, 0.05), (16, 0.05), (None, 0.05), (3, 0.0)])
def test_bounds_cover_the_true_value(rounds, budget):
    problem, frequencies = population(1, budget=budget)
    true, draws = problem.value(frequencies), 300
    rng, missed, open_ones = np.random.default_rng(2), [0, 0], 0
    for _ in range(draws):
        counts = rng.multinomial(150, frequencies)
        found = searched(problem, counts, rounds)
        open_ones += found.bracket.width > 1e-3
        law = law_of(found, counts)
        missed[0] += law.lower_bound(ALPHA) > true
        missed[1] += law.upper_bound(ALPHA) < true

    assert open_ones > draws / 2 if rounds is not None else open_ones == 0
    assert max(missed) <= binom.ppf(0.999, draws, ALPHA)


@pytest.mark.parametrize("rounds", [6, 15, None])
def test_gains_that_are_known_less_well_give_less_evidence(rounds):
    """By a computation of its own: at each price, each stake's wealth against both sides."""
    problem, frequencies = population(3)
    counts = np.random.default_rng(4).multinomial(400, frequencies)
    found, delta = searched(problem, counts, rounds), problem.value(frequencies)
    for price in np.geomspace(1e-2, 20, 30):
        true = problem.frontiers.net_gains(price) + problem.budget * price
        least = found.frontiers.net_gains(price) + problem.budget * price
        most = found.known.most(price) + problem.budget * price
        for stake in np.geomspace(0.01, 0.7, 8):
            rise, least_rise = (counts @ np.log1p(stake * (one - delta)) for one in (true, least))
            fall, least_fall = (
                counts @ np.log(np.maximum(1 - stake * (one - delta), 1e-9)) for one in (true, most)
            )
            assert least_rise <= rise + 1e-9
            assert least_fall <= fall + 1e-9


def test_wealth_against_a_true_value_is_a_fair_game():
    problem, frequencies = population(5)
    true, rng = problem.value(frequencies), np.random.default_rng(6)
    wealth = []
    for _ in range(400):
        counts = rng.multinomial(60, frequencies)
        law = law_of(searched(problem, counts, 12), counts)
        wealth.append(math.exp(law.above.log_wealth(true)))

    assert np.mean(wealth) <= 1 + 3 * np.std(wealth) / math.sqrt(len(wealth))


def test_bounds_tests_and_p_values_agree():
    problem, frequencies = population(7)
    counts = np.random.default_rng(8).multinomial(20_000, frequencies)
    law = law_of(searched(problem, counts, None), counts)
    lower, upper = law.lower_bound(ALPHA), law.upper_bound(ALPHA)

    assert 0.8 * law.estimate < lower < law.estimate < upper < 1.3 * law.estimate
    assert law.certifies(upper, ALPHA)
    assert not law.certifies(0.99 * upper, ALPHA)
    assert law.pvalue(upper, "less") <= ALPHA
    assert law.pvalue(0.99 * upper, "less") > ALPHA
    assert law.rejects(0.99 * lower, ALPHA)
    assert law.pvalue(0.99 * lower) <= ALPHA
    assert not law.rejects(law.estimate, ALPHA)
    for delta in (upper * (1 - 1e-12), upper - 1e-9, lower):
        declared = law_of(searched(problem, counts, None), counts, delta=delta)
        certified = declared.certifies(delta, ALPHA)
        assert certified == (declared.upper_bound(ALPHA) <= delta)
        assert certified == (declared.pvalue(delta, "less") <= ALPHA)
        assert declared.rejects(delta, ALPHA) == (declared.lower_bound(ALPHA) >= delta)
    interval = law.interval(ALPHA)
    assert interval.lower <= lower
    assert interval.upper >= upper
    assert law.guarantee == "finite-sample"


def test_targets_from_the_sample_give_no_upper_bound():
    problem, frequencies = population(7)
    counts = np.random.default_rng(8).multinomial(500, frequencies)
    law = law_of(searched(problem, counts, None), counts, fixed_targets=False)

    assert law.upper_bound(ALPHA) == math.inf
    assert law.pvalue(0.9, "less") == 1.0
    assert not law.certifies(0.9, ALPHA)
    assert law.lower_bound(ALPHA) > 0


def test_the_points_may_be_the_whole_space():
    problem, frequencies = population(9)
    counts = np.random.default_rng(10).multinomial(5000, frequencies)
    law = law_of(searched(problem, counts, None), counts, loss_range=None)

    assert law.above.limits.most == pytest.approx(problem.frontiers.net_gains(0.0).max())
    assert law.lower_bound(ALPHA) <= problem.value(frequencies) <= law.upper_bound(ALPHA)


@pytest.mark.parametrize("method", ["limit-law", "m-out-of-n", "plug-in"])
def test_methods_that_need_the_exact_value_are_refused(method):
    problem, frequencies = population(11)
    counts = np.random.default_rng(0).multinomial(50, frequencies)
    with pytest.raises(InputError, match=f"`method` must be 'finite-sample' .* got '{method}'"):
        law_of(searched(problem, counts, 2), counts, method=method)
