"""Bounds for made-up twins hold for these twins; observed people show less."""

import json

import numpy as np
import pytest
from scipy.stats import binom

from fairtransport import similarity
from fairtransport.similarity.twins import Twins, steps_for
from tests.validity import proxies, proxies_run
from tests.validity.proxy_truth import Stated, population


def misses_at_most(runs):
    """As many misses as a level of 5 % leaves to chance in all but one of a thousand studies."""
    return binom.ppf(0.999, runs, proxies_run.ALPHA)


@pytest.mark.slow
@pytest.mark.parametrize("cell", proxies_run.CELLS, ids=lambda cell: cell.name)
def test_bounds_cover_the_value_of_the_stated_twins(cell):
    tally = proxies_run.Tally(cell.name, cell.n)
    proxies_run.go_on(tally, cell, 30)
    assert tally.above <= misses_at_most(tally.runs)
    assert tally.below <= misses_at_most(tally.runs)


@pytest.mark.parametrize("cell", proxies_run.CELLS, ids=lambda cell: cell.name)
def test_the_truth_is_worked_out_for_the_twins_that_are_asked_about(cell):
    """In the sample itself, as if it were the population."""
    result, stated = proxies_run.sample(cell, 1)
    columns, seen = result.space.columns, result.space.observed
    people = np.column_stack([columns[name].values()[seen] for name in proxies.FEATURES])
    own = stated.value(people.astype(float), result.made.steps.rows)
    assert own == pytest.approx(result.statistic, abs=1e-6)


def test_the_closed_form_is_that_of_the_twins():
    like = similarity.SensitiveSubspace(["sex"]).fit(proxies.history())
    twins = proxies_run.CELLS[0].twins
    everybody = population(400, 50, np.random.default_rng(0))
    stated = Stated(like, proxies.history(), twins, 0.0)
    steps = steps_for(like.making(None), twins, 0.0, 0)
    wanted = proxies.value_of_twins(like, twins)
    assert stated.value(everybody, steps.rows) == pytest.approx(wanted, abs=0.002)


def test_the_published_misses_are_no_more_than_chance():
    found = json.loads(proxies_run.DOCS.read_text("utf-8"))
    cells = {row["name"]: row for row in found["coverage"]}
    assert set(cells) == {cell.name for cell in proxies_run.CELLS}
    assert {row["runs"] for row in found["power"]} == {*proxies_run.POWER.values()}
    for row in cells.values():
        assert row["runs"] == proxies_run.RUNS
        assert row["above"] <= misses_at_most(row["runs"])
        assert row["below"] <= misses_at_most(row["runs"])
        # the estimate is nearly the mean of a fixed function of the person; a budget biases it
        assert abs(row["statistic"] - row["truth"]) < 4 * 0.5 / np.sqrt(row["runs"] * 100) + 0.01


def test_the_closed_form_at_a_budget_is_what_the_budget_buys():
    grades = np.random.default_rng(0).normal(size=1_000_000)
    below = np.sort(-grades[grades <= 0])
    bought = np.searchsorted(np.cumsum(below**2), 0.05 * len(grades)) / len(grades)
    wanted = proxies.value_of_all_twins() + bought
    assert proxies.value_of_all_twins(0.05) == pytest.approx(wanted, abs=0.002)


def test_more_twins_come_nearer_to_the_value_of_all():
    like = similarity.SensitiveSubspace(["sex"]).fit(proxies.history())
    values = [
        proxies.value_of_twins(like, Twins("generate", per_person=many, plausibility=0))
        for many in (4, 10, 50)
    ]
    assert values == sorted(values)
    assert values[-1] <= proxies.value_of_all_twins()
    assert values[-1] > 0.99 * proxies.value_of_all_twins()


def test_made_up_twins_show_what_observed_people_do_not():
    like = similarity.SensitiveSubspace(["sex"]).fit(proxies.history())
    cases = proxies.draw(300, np.random.default_rng(1))
    observed = proxies.audited(cases, like, twins="observed")
    made_up = proxies.audited(cases, like)
    assert observed.statistic == 0
    assert observed.verdict == "inconclusive"
    assert made_up.verdict == "rejected"
    assert made_up.target_scope == "twins"
    assert made_up.lower_bound < proxies.value_of_all_twins()
    assert np.isfinite(made_up.upper_bound)
    # all of it goes along what tells the sex
    assert made_up.attributable.value == made_up.statistic
