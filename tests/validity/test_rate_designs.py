"""Rates of clusters keep their level, through `audit`."""

import numpy as np
import pytest
from scipy.stats import binom

from tests.validity.rate_designs import ALPHA, DESIGNS, run_world, simulate

RUNS = 60


@pytest.mark.slow
@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("name", DESIGNS)
def test_blind_systems_are_not_rejected_by_clusters(name, mixed):
    results = [run_world(name, 1000 + run, mixed=mixed).rates for run in range(RUNS)]
    most = binom.ppf(0.9987, RUNS, ALPHA)
    assert sum(rates.lower_bound > 0 for rates in results) <= most
    assert sum(rates.pvalue <= ALPHA for rates in results) <= most


@pytest.mark.slow
def test_rows_taken_for_people_are_rejected_falsely():
    assert (simulate("20 × 50", 20, by_rows=True)[:2] > 0.5).all()


@pytest.mark.slow
def test_a_difference_is_found_with_many_clusters():
    bounds = [run_world("100 × 1–30", run, effect=0.5).rates for run in range(20)]
    assert np.mean([rates.lower_bound > 0 for rates in bounds]) > 0.5
    assert np.mean([rates.pvalue <= ALPHA for rates in bounds]) > 0.5
