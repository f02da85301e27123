"""P-values from tests that are made anew for each level."""

import numpy as np
import pytest

from fairtransport.inference.finite.law import LEVELS_ABOVE_ALPHA, MIN_PVALUE, find_pvalue

ALPHA = 0.05


def of_nested_tests(p, levels=()):
    """Return what is told where each test rejects if a p-value is at most its level."""
    return find_pvalue(lambda level: p <= level, ALPHA, levels, rejected=p <= ALPHA)


@pytest.mark.parametrize("p", [1e-9, 1e-5, 0.0031, 0.0123, 0.0301, 0.0489])
def test_below_alpha_it_is_the_last_level_of_an_unbroken_run(p):
    found = of_nested_tests(p)
    assert found <= ALPHA
    assert p <= found or found < 2 * MIN_PVALUE
    # finer than by half from α/8 on, by half below
    assert found < (1.22 if p > ALPHA / 8 else 2.1) * max(p, MIN_PVALUE)


@pytest.mark.parametrize("p", [0.06, 0.11, 0.3, 0.44, 0.9])
def test_above_alpha_the_level_is_paid_for(p):
    found = of_nested_tests(p)
    assert found in {*LEVELS_ABOVE_ALPHA, 1.0}
    assert found >= p + ALPHA or found == 1.0


def test_levels_that_are_asked_for_are_exact():
    levels = (0.05 / 3, 0.01, 0.0471)
    for p in np.geomspace(1e-5, 0.049, 60):
        found = of_nested_tests(p, levels)
        for level in levels:
            assert (found <= level) == (p <= level)


def test_a_run_that_is_broken_is_not_gone_on_with():
    def rejects(level):
        return level < 0.02 or level > 0.04

    assert find_pvalue(rejects, ALPHA, rejected=True) > 0.04
    assert find_pvalue(lambda level: level < 0.04, ALPHA, rejected=False) == 1.0


@pytest.mark.parametrize("everywhere", [True, False])
def test_it_is_at_most_alpha_exactly_if_the_bound_rejects(everywhere):
    """Whatever the tests at other levels say."""
    for alpha in (0.01, 0.05, 0.3, 0.8):
        for rejected in (True, False):
            found = find_pvalue(lambda _: everywhere, alpha, rejected=rejected)
            assert (found <= alpha) == rejected


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
def test_it_is_valid_whatever_tests_have_to_do_with_each_other(alpha):
    """Tests that reject with just their level's probability, independently of each other."""
    rng, many = np.random.default_rng(1), 20_000
    found = np.array(
        [
            find_pvalue(lambda level: rng.random() <= level, alpha, rejected=rng.random() <= alpha)
            for _ in range(many)
        ]
    )
    for x in {*found.tolist()} - {1.0}:
        assert np.mean(found <= x) <= x + 4 * np.sqrt(x * (1 - x) / many)


@pytest.mark.slow
def test_p_values_at_the_threshold_are_valid_and_not_too_large():
    """At ψ = δ, over 300 samples: at most x in x of them, and no longer in nearly none."""
    from scipy.stats import binom
    from tests.validity.cases import CASES

    from fairtransport.inference import sampling_law

    case, many = CASES[0](), 300
    found = []
    for at in range(many):
        counts = np.random.default_rng([7, at]).multinomial(150, case.frequencies)
        law = sampling_law(case.problem, counts, rng=at, loss_range=(0.0, 1.0))
        found.append(law.pvalue(case.truth))
    for x in (0.05, 0.13, 0.25, 0.5, 0.7):
        assert binom.sf(np.sum(np.array(found) <= x) - 1, many, x) > 1e-4, x
    # it was at most .15 when p-values above α were one over the wealth
    assert np.mean(np.array(found) <= 0.5) > 0.2
