"""A small seeded version of the coverage simulation against the full one's figures."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.validity.cases import CASES
from tests.validity.run import SIZES
from tests.validity.simulation import METHODS, applies, measure

pytestmark = pytest.mark.slow

REPETITIONS, RESAMPLES = 200, 500
FEW = 40
"""Repetitions for the finite-sample method, which takes longer."""
FULL = json.loads((Path(__file__).parents[2] / "docs" / "validity.json").read_text("utf-8"))
STRICTNESS = 4.0
"""Standard errors of the difference; hundreds of comparisons are made."""


@pytest.mark.parametrize("row", FULL, ids=lambda row: f"{row['case']}, {row['method']}, {row['n']}")
def test_measured_coverage_is_what_the_docs_say(row):
    """The docs' figure, good or bad, is the truth about a method."""
    case = next(make() for make in CASES if make().name == row["case"])
    repetitions = FEW if row["method"] == "finite-sample" else REPETITIONS
    here = measure(case, row["method"], row["n"], repetitions, RESAMPLES)
    for side in ("two_sided", "lower", "upper"):
        told, seen = row[side], getattr(here, side)
        # one more success and failure each, so that a share of 0 or 1 has a spread too
        share = (told * row["repetitions"] + 1) / (row["repetitions"] + 2)
        error = np.sqrt(share * (1 - share) * (1 / repetitions + 1 / row["repetitions"]))
        assert abs(seen - told) <= STRICTNESS * error, side


def test_the_table_is_complete():
    wanted = {
        (make().name, method, n)
        for make in CASES
        for method in METHODS
        if applies(make(), method)
        for n in SIZES
    }
    assert {(row["case"], row["method"], row["n"]) for row in FULL} == wanted


def test_the_finite_sample_bounds_hold_their_level_in_every_case():
    """At least nominal, within three binomial standard errors."""
    for row in FULL:
        if row["method"] == "finite-sample":
            tolerance = 3 * np.sqrt(0.05 * 0.95 / row["repetitions"])
            for side in ("two_sided", "lower", "upper"):
                assert row[side] >= 0.95 - tolerance, row


LOWER_RATIOS = {
    "regular": 1.3,
    "slack budget": 1.3,
    "near a corner": 1.3,
    "near a corner, 2 times": 1.3,
    "exact corner": 1.3,
    "heavy ties": 1.3,
    "continuous losses": 1.3,
    "free moves, 0-1 loss": 1.3,
}
UPPER_RATIOS = {
    "regular": 1.3,
    "slack budget": 1.3,
    "heavy ties": 1.3,
    "continuous losses": 1.3,
    "free moves, 0-1 loss": 1.3,
    "near a corner": 1.8,
    "near a corner, 2 times": 1.8,
    "exact corner": 1.8,
}


@pytest.mark.parametrize("n", [1000, 5000])
def test_the_finite_sample_bounds_are_not_much_wider_than_normal_ones(n):
    """Median distances from the estimate over those of the plug-in normal law."""
    found = {(row["case"], row["method"]): row for row in FULL if row["n"] == n}
    for side, ratios in (("lower_distance", LOWER_RATIOS), ("upper_distance", UPPER_RATIOS)):
        for case, most in ratios.items():
            ours, normal = found[case, "finite-sample"], found[case, "plug-in"]
            assert ours[side] <= most * normal[side], (case, side)


def test_the_limit_laws_lower_bound_holds_its_level_in_every_case():
    """The intersection–union form; one percent is left for n = 200, where normals are rough."""
    for row in FULL:
        if row["method"] == "limit-law" and row["n"] >= 200:
            tolerance = 3 * np.sqrt(0.05 * 0.95 / row["repetitions"]) + 0.01
            assert row["lower"] >= 0.95 - tolerance, row
