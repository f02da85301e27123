"""Rates: small seeded versions of the simulation, and the full one's figures."""

import json

import pytest
from scipy.stats import betabinom, binom

from tests.validity.rates import ALPHA, BLIND, DIFFERING, DOCS, compas, measure

pytestmark = pytest.mark.slow

SURPRISE = 3e-5
FOUND = json.loads((DOCS / "rates.json").read_text("utf-8"))
ROWS = FOUND["cases"]
CASES = {
    (case.name, case.n, case.blocks, case.shares, getattr(case, "effect", 0.0)): case
    for case in [*BLIND, *DIFFERING]
}
SMALL = [row for row in ROWS if row["n"] <= 5000]


def case_of(row):
    return CASES[row["case"], row["n"], row["blocks"], tuple(row["shares"]), row["effect"]]


def named(row):
    return f"{row['case']}, {row['n']}, {row['blocks']}, {row['shares'][-1]}, {row['effect']}"


def test_all_cases_are_told():
    assert len(ROWS) == len(CASES) == len(BLIND) + len(DIFFERING)
    assert all(row["repetitions"] >= 500 for row in ROWS if row["effect"] == 0)


@pytest.mark.parametrize("row", SMALL[::3], ids=named)
def test_what_is_measured_is_what_the_docs_say(row):
    repetitions = 30
    here = measure(case_of(row), repetitions, seed=1)
    for side in ("found", "permutation", "misses", "upper_misses"):
        told, seen = row[side], getattr(here, side)
        if told is not None:
            many, few = round(told * row["repetitions"]), round(seen * repetitions)
            law = betabinom(repetitions, many + 1, row["repetitions"] - many + 1)
            assert min(law.cdf(few), law.sf(few - 1)) > SURPRISE, side


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_nothing_is_wrong_more_often_than_promised(row):
    wrong = ("found", "permutation") if row["effect"] == 0 else ("misses", "upper_misses")
    for side in wrong:
        if row[side] is not None:
            many = round(row[side] * row["repetitions"])
            assert binom.sf(many - 1, row["repetitions"], ALPHA) > SURPRISE, side


def test_the_estimate_is_at_most_the_truth_on_average():
    for row in ROWS:
        assert row["estimate"] <= row["value"] + 0.002, named(row)


def test_the_permutation_test_finds_more_than_the_bound():
    for row in ROWS:
        if row["effect"] > 0:
            assert row["permutation"] >= row["found"], named(row)


def test_the_scores_of_compas_are_as_told():
    told = {(row["loss"], row["feature"]): row for row in FOUND["compas"]}
    for row in compas(seeds=2):
        known = told[row.loss, row.feature]
        # the last digits are up to the processor
        assert known["least"] - 1e-12 <= row.least <= row.most <= known["most"] + 1e-12
        assert row.permutation == known["permutation"]
        assert row.plug_in == pytest.approx(known["plug_in"])
