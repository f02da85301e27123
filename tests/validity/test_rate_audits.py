"""Audits of given predictions: small seeded versions of the simulation, and the full one's."""

import json

import pytest
from scipy.stats import betabinom, binom

from tests.validity.rate_audits import ALPHA, BLIND, DIFFERING, DOCS, SAMPLES, measure

pytestmark = pytest.mark.slow

SURPRISE = 3e-5
ROWS = json.loads((DOCS / "rate_audits.json").read_text("utf-8"))
CASES = [*BLIND, *DIFFERING]
NAMES = [
    f"{row['case']}, {row['n']}, {row['blocks']}, {row['groups']}, {row['second']}" for row in ROWS
]


def test_all_cases_are_told():
    assert len(ROWS) == len(CASES)
    for row, case in zip(ROWS, CASES, strict=True):
        assert (row["case"], row["n"], row["blocks"]) == (
            case.world.name, case.world.n, case.world.blocks,
        )  # fmt: skip
    assert all(row["samples"] >= SAMPLES for row in ROWS if row["effect"] == 0)


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_nothing_is_wrong_more_often_than_promised(row):
    """Blind systems are rejected, and bounds pass R, in at most α of the samples."""
    wrong = ("rejected", "rejected_at_0", "misses") if row["effect"] == 0 else ("misses",)
    for side in wrong:
        many = round(row[side] * row["samples"])
        assert binom.sf(many - 1, row["samples"], ALPHA) > SURPRISE, side


@pytest.mark.parametrize(("row", "case"), list(zip(ROWS, CASES, strict=True)), ids=NAMES)
def test_what_is_measured_is_what_the_docs_say(row, case):
    samples = 10
    here = measure(case, samples, seed=1)
    for side in ("differ", "rejected", "rejected_at_0", "misses"):
        many, few = round(row[side] * row["samples"]), round(getattr(here, side) * samples)
        law = betabinom(samples, many + 1, row["samples"] - many + 1)
        assert min(law.cdf(few), law.sf(few - 1)) > SURPRISE, side


def test_differences_are_found():
    assert min(row["rejected"] for row in ROWS if row["effect"] > 0) > 0.6
