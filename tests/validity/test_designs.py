"""Audits of clusters and weights keep their level, through `audit`."""

import numpy as np
import pytest
from scipy.stats import binom

from tests.validity.designs import ALPHA, PSI, WORLDS, run_costly, run_world

RUNS = 60


def is_within_level(wrong, runs=RUNS):
    """Return whether so many errors are no surprise at the level; three binomial errors."""
    return wrong <= binom.ppf(0.9987, runs, ALPHA)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_bounds_of_designs_keep_their_level(name):
    results = [run_world(name, 1000 + run) for run in range(RUNS)]
    assert is_within_level(sum(result.lower_bound > PSI for result in results))
    assert is_within_level(sum(result.upper_bound < PSI for result in results))
    assert np.mean([result.statistic for result in results]) == pytest.approx(PSI, abs=0.02)


@pytest.mark.slow
def test_bounds_of_designs_with_a_budget_keep_their_level():
    found = [run_costly(1000 + run) for run in range(RUNS // 2)]
    assert is_within_level(sum(r.lower_bound > truth for r, truth in found), RUNS // 2)
    assert is_within_level(sum(r.upper_bound < truth for r, truth in found), RUNS // 2)


@pytest.mark.slow
def test_rows_taken_for_people_are_rejected_falsely():
    wrong = sum(run_world("20 × 50", run, by_rows=True).lower_bound > PSI for run in range(30))
    assert wrong > 5
