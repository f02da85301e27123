"""Differences of two audits: the figures of the docs are what the code does."""

import json

import numpy as np
import pytest
from scipy.stats import betabinom

from tests.validity.differences import DOCS, PAIRS, measure, passes, shifted

ROWS = json.loads((DOCS / "differences.json").read_text("utf-8"))["coverage"]
FEW = 40


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['case']}, {row['n']}")
def test_measured_coverage_is_what_the_docs_say(row):
    pair = next(made for make in PAIRS if (made := make()).name == row["case"])
    here = measure(pair, row["n"], FEW, 0)
    for side in ("lower", "upper"):
        told, of = round(row[side] * row["repetitions"]), row["repetitions"]
        seen = round(getattr(here, side) * FEW)
        law = betabinom(FEW, told + 1, of - told + 1)
        assert min(law.cdf(seen), law.sf(seen - 1)) > 1e-4


def test_the_tests_that_decide_agree_with_the_bounds():
    rng, pair, passed = np.random.default_rng(1), shifted(0.04), set()
    for _ in range(15):
        law = pair.law(rng.multinomial(150, pair.frequencies), rng)
        for at in (pair.truth, pair.truth - 0.06):
            beyond = law.lower_bound(0.05) > at
            assert passes(law.forward, at) == beyond
            passed.add(beyond)
    assert passed == {True, False}
