"""A small seeded version of the coverage simulation against the full one's figures."""

import json

import numpy as np
import pytest
from scipy.stats import betabinom

from tests.validity.cases import CASES
from tests.validity.run import DOCS, all_jobs, file_of, population
from tests.validity.simulation import audited, bounds_cover, measure, measure_verdicts

pytestmark = pytest.mark.slow

REPETITIONS, RESAMPLES = 100, 500
FEW = 8
"""Repetitions for the finite-sample method, which takes longer."""
FEWER = {"finite-sample": FEW, "numerical": 40}
"""Repetitions of methods that take longer: bets, and draws from a truncated law."""
SURPRISE = 3e-5
"""The chance of a share so far out that it counts as another one; thousands are compared."""


def read(name):
    return json.loads((DOCS / f"{name}.json").read_text("utf-8"))


FULL, FURTHER, VERDICTS = read("validity"), read("further"), read("verdicts")
PLACES = {(population(*job[:3]).name, job[2]): job[:3] for job in all_jobs()}


LARGE, LARGE_CASES = 1000, ("regular", "near a corner", "free moves, 0-1 loss")
"""At large sizes bets take long: few cases are made, by the same code as at small ones."""
SIDES = ("two_sided", "lower", "upper")


def simulated(rows):
    """Return the rows that are simulated again here; `make validity` makes them all."""
    return [
        row
        for row in rows
        if row["n"] < LARGE
        or row["case"] in LARGE_CASES
        or row.get("method", "finite-sample") != "finite-sample"
    ]


def number_of(row, side):
    """Return the number of samples behind a share."""
    return row["intervals" if side == "two_sided" else "repetitions"]


def name_of(row):
    return ", ".join(str(row[key]) for key in ("case", "method", "n") if key in row)


def check_share(told, seen, of, repetitions):
    """Check a share of few samples against that of many: its predictive law is beta-binomial."""
    many, few = round(told * of), round(seen * repetitions)
    law = betabinom(repetitions, many + 1, of - many + 1)
    assert min(law.cdf(few), law.sf(few - 1)) > SURPRISE


@pytest.mark.parametrize("row", simulated(FULL + FURTHER), ids=name_of)
def test_measured_coverage_is_what_the_docs_say(row):
    """The docs' figure, good or bad, is the truth about a method."""
    case = population(*PLACES[row["case"], row["n"]])
    repetitions = FEWER.get(row["method"], REPETITIONS)
    here = measure(case, row["method"], row["n"], repetitions, RESAMPLES)
    for side in SIDES:
        check_share(row[side], getattr(here, side), number_of(row, side), repetitions)


@pytest.mark.parametrize("row", simulated(VERDICTS), ids=name_of)
def test_measured_verdicts_are_what_the_docs_say(row):
    here = measure_verdicts(population(*PLACES[row["case"], row["n"]]), row["n"], FEW)
    for side in ("rejected", "normal_rejected", "false_rejections", "false_certificates"):
        check_share(row[side], getattr(here, side), row["repetitions"], FEW)


def test_the_tables_are_complete():
    wanted = {(population(*job[:3]).name, job[2], job[3], file_of(job)) for job in all_jobs()}
    found = {
        (row["case"], row["n"], row.get("method", "verdicts"), name)
        for name, rows in (("validity", FULL), ("further", FURTHER), ("verdicts", VERDICTS))
        for row in rows
    }
    assert found == wanted


def test_the_finite_sample_bounds_hold_their_level_in_every_case():
    """At least nominal, within three binomial standard errors."""
    for row in FULL + FURTHER:
        if row["method"] == "finite-sample":
            for side in SIDES:
                tolerance = 3 * np.sqrt(0.05 * 0.95 / number_of(row, side))
                assert row[side] >= 0.95 - tolerance, row


def test_verdicts_err_in_at_most_their_level_of_audits():
    for row in VERDICTS:
        most = 0.05 + 3 * np.sqrt(0.05 * 0.95 / row["repetitions"])
        assert row["false_rejections"] <= most, row
        assert row["false_certificates"] <= most, row


def test_verdicts_have_two_thirds_of_the_normal_tests_power():
    """From n = 150 on, where that test is valid itself."""
    for row in VERDICTS:
        valid = row["normal_false_rejections"] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)
        if valid and row["n"] >= 150:
            assert row["rejected"] >= 2 / 3 * row["normal_rejected"], row


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
    "near a corner": 1.5,
    "near a corner, 2 times": 1.5,
    "exact corner": 1.4,
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


@pytest.mark.parametrize("at", [0, 2, 5])
def test_the_tests_that_decide_agree_with_the_bounds(at):
    """Most of the samples behind the coverage of bounds by betting were judged by these alone."""
    case, rng, beyond = CASES[at](), np.random.default_rng(3), set()
    for seed in range(6):
        counts = rng.multinomial(150, case.frequencies)
        law = audited(case, counts, rng=seed)
        lower, upper = law.lower_bound(0.05), law.upper_bound(0.05)
        for truth in (0.4 * case.truth, case.truth, 1.9 * case.truth):
            assert bounds_cover(law, truth) == (lower <= truth, truth <= upper)
            beyond |= {lower > truth, truth > upper}
    assert beyond == {True, False}
