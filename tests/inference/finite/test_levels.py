"""P-values from tests that are made anew for each level."""

import numpy as np
import pytest

from fairtransport.inference.finite.ladder import Ladder
from fairtransport.inference.finite.levels import ABOVE, SMALLEST_LEVEL, smallest_level

ALPHA = 0.05


def nested(p):
    """Tests of which each rejects where a p-value is at most its level."""
    return lambda level: p <= level


@pytest.mark.parametrize("p", [1e-9, 1e-5, 0.0031, 0.0123, 0.0301, 0.0489])
def test_below_alpha_it_is_the_last_level_of_an_unbroken_run(p):
    found = smallest_level(nested(p), ALPHA)
    assert found <= ALPHA
    assert p <= Ladder.main_level(found) or found < 2 * SMALLEST_LEVEL
    # finer than by half from α/8 on, by half below
    assert found < (1.22 if p > ALPHA / 8 else 2.1) * max(p, SMALLEST_LEVEL)


@pytest.mark.parametrize("p", [0.06, 0.11, 0.3, 0.44, 0.9])
def test_above_alpha_the_level_is_paid_for(p):
    found = smallest_level(nested(p), ALPHA)
    assert found in {*ABOVE, 1.0}
    assert found >= p + ALPHA or found == 1.0


def test_levels_that_are_asked_for_are_exact():
    levels = (0.05 / 3, 0.01, 0.0471)
    for p in np.geomspace(1e-5, 0.049, 60):
        found = smallest_level(nested(p), ALPHA, levels)
        for level in levels:
            assert (found <= level) == (p <= Ladder.main_level(level))


def test_a_run_that_is_broken_is_not_gone_on_with():
    def rejects(level):
        return level < 0.02 or level > 0.04

    assert smallest_level(rejects, ALPHA) > 0.04
    assert smallest_level(lambda level: level < 0.04, ALPHA) == 1.0


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
def test_it_is_valid_whatever_tests_have_to_do_with_each_other(alpha):
    """Tests that reject with just their level's probability, independently of each other."""
    rng, many = np.random.default_rng(1), 20_000
    found = np.array(
        [smallest_level(lambda level: rng.random() <= level, alpha) for _ in range(many)]
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
        law = sampling_law(case.problem, counts, rng=at, delta=case.truth, loss_range=(0.0, 1.0))
        found.append(law.pvalue(case.truth))
    for x in (0.05, 0.13, 0.25, 0.5, 0.7):
        assert binom.sf(np.sum(np.array(found) <= x) - 1, many, x) > 1e-4, x
    # it was at most .15 when p-values above α were one over the wealth
    assert np.mean(np.array(found) <= 0.5) > 0.2
