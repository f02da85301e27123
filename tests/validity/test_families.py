"""Families of audits: a small seeded version of the simulation against the full one's figures."""

import json

import pytest
from scipy.stats import betabinom, binom

from tests.validity.families import ALPHA, CASES, DOCS, measure

pytestmark = pytest.mark.slow

SURPRISE = 3e-5
ROWS = json.loads((DOCS / "families.json").read_text("utf-8"))
PLACES = {(case.name, case.n): case for case in CASES}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['case']}, {row['n']}")
def test_measured_families_are_what_the_docs_say(row):
    case = PLACES[row["case"], row["n"]]
    repetitions = 300 if case.binary else 15
    here = measure(case, repetitions, seed=1, intervals=repetitions if case.binary else 0)
    for side in ("wrong", "false_rejections", "intervals_miss"):
        told, seen = row[side], getattr(here, side)
        if told is not None:
            many, few = round(told * row["repetitions"]), round(seen * repetitions)
            law = betabinom(repetitions, many + 1, row["repetitions"] - many + 1)
            assert min(law.cdf(few), law.sf(few - 1)) > SURPRISE


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['case']}, {row['n']}")
def test_nothing_is_wrong_more_often_than_promised(row):
    for side in ("wrong", "false_rejections", "intervals_miss"):
        if row[side] is not None:
            wrong = round(row[side] * row["repetitions"])
            assert binom.sf(wrong - 1, row["repetitions"], ALPHA) > SURPRISE, side


def test_stepping_down_finds_more_than_bonferroni():
    for row in ROWS:
        assert row["bonferroni_rejected"] <= row["rejected"] <= row["holm_rejected"]
    assert any(row["rejected"] > row["bonferroni_rejected"] for row in ROWS)
