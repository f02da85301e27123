"""Audits of clusters and weights keep their level, through `audit`."""

import numpy as np
import pytest
from scipy.stats import binom

from tests.validity.designs import ALPHA, WORLDS, run_world

RUNS = 60


def is_within_level(wrong, runs=RUNS):
    """Return whether so many errors are no surprise at the level; three binomial errors."""
    return wrong <= binom.ppf(0.9987, runs, ALPHA)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_bounds_of_designs_keep_their_level(name):
    results = [run_world(name, 1000 + run) for run in range(RUNS)]
    assert is_within_level(sum(result.lower_bound > psi for result, psi in results))
    assert is_within_level(sum(result.upper_bound < psi for result, psi in results))
    errors = [result.statistic - psi for result, psi in results]
    assert np.mean(errors) == pytest.approx(0, abs=0.02)


@pytest.mark.slow
def test_rows_taken_for_people_are_rejected_falsely():
    results = [run_world("20 × 50", run, by_rows=True) for run in range(30)]
    assert sum(result.lower_bound > psi for result, psi in results) > 5
