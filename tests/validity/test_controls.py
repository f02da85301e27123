"""Audits with controls keep their level, through `audit`."""

import pytest
from scipy.stats import binom

from tests.validity.controls import ALPHA, WORLDS, run_world, true_difference

RUNS = 60


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_audits_with_controls_keep_their_level(name):
    truth, most = true_difference(name), binom.ppf(0.9987, RUNS, ALPHA)
    results = [run_world(name, 1000 + run) for run in range(RUNS)]
    found = [result.controls for result in results]
    assert sum(one.lower_bound > truth for one in found) <= most
    assert sum(one.upper_bound < truth for one in found) <= most
    rejected = sum(result.verdict == "rejected" for result in results)
    assert rejected <= most if truth == 0 else rejected > RUNS / 2
    # without controls the same audits reject: any edit changes answers
    assert all(result.law.rejects(result.delta, ALPHA) for result in results)
