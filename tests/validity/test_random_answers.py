"""Audits of random answers keep their level and find a rise of 3 δ, through `audit`."""

import pytest
from scipy.stats import binom

from tests.validity.asking import ALPHA, audit_draws

RUNS = 40
CASES = {
    ("noise alone", 5): (0, 0),
    ("one group", 20): (18, 22),
    ("signs differ", 20): (0, 0),
}
"""Least detections at ψ = 3 δ, about the population and about these cases."""


@pytest.mark.slow
@pytest.mark.parametrize("about", ["population", "these"])
@pytest.mark.parametrize("case", CASES)
def test_audits_of_random_answers_keep_their_level(case, about):
    results = [audit_draws(*case, about, 1000 + run) for run in range(RUNS)]
    alarms = sum(result.verdict == "rejected" for result, _ in results)
    detections = sum(result.law.rejects(truth / 3, ALPHA) for result, truth in results)
    assert alarms <= binom.ppf(0.9987, RUNS, ALPHA)
    assert detections >= CASES[case][about == "these"]
