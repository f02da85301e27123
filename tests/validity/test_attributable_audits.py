"""The attributable part: a small seeded version of the simulation, and the full one's figures."""

import json

import pytest
from scipy.stats import binom

from tests.validity.attributable_audits import ALPHA, DOCS, cases, measure

SURPRISE = 3e-5
ROWS = json.loads((DOCS / "attributable_audits.json").read_text("utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["case"])
def test_bounds_hold_as_often_as_promised_and_are_narrower_than_apart(row):
    for side in ("lower", "upper"):
        misses = round((1 - row[side]) * row["samples"])
        assert binom.sf(misses - 1, row["samples"], ALPHA) > SURPRISE, side
    assert row["paired_over_apart"] < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(ROWS)), ids=[row["case"] for row in ROWS])
def test_what_is_measured_is_what_the_docs_say(place):
    # made here, as the corner of a curve takes an audit, which no collection of tests needs
    row, case = list(zip(ROWS, cases(), strict=True))[place]
    here = measure(case, 3, seed=1)

    assert (row["case"], row["part"]) == (case.name, pytest.approx(here.part))
    assert row["samples"] >= 60
    assert here.paired_over_apart < 0.8
    for side in ("lower", "upper"):
        assert binom.sf(round((1 - getattr(here, side)) * 3) - 1, 3, ALPHA) > SURPRISE
