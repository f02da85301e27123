"""Rates by group: a small seeded version of the simulation, and the full one."""

import pytest
from scipy.stats import binom

from tests.validity.group_rates import ALPHA, POPULATIONS, REFERENCES, SAMPLES, measure

SURPRISE = 1e-4


def check(population, reference, samples):
    found = measure(population, reference, samples, seed=1)
    assert found["holds"] * samples >= binom.ppf(SURPRISE, samples, 1 - ALPHA)
    return found


@pytest.mark.parametrize("reference", REFERENCES)
def test_small_groups_have_intervals_that_hold(reference):
    check(POPULATIONS[2], reference, 40)


@pytest.mark.slow
@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("population", POPULATIONS, ids=lambda one: one.name)
def test_all_intervals_of_a_table_hold_together(population, reference):
    found = check(population, reference, SAMPLES)
    if reference == "largest":
        assert found["rate"] < 1.05
        assert found["difference"] < 1
