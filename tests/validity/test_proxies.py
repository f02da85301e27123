"""Bounds for made-up twins hold for these twins; observed people show less."""

import numpy as np
import pytest
from scipy.stats import binom

from fairtransport import similarity
from fairtransport.similarity.twins import Twins
from tests.validity import proxies


@pytest.mark.slow
def test_bounds_cover_the_value_of_the_stated_twins():
    found = proxies.coverage()
    most = binom.ppf(0.999, found["runs"], 0.05) / found["runs"]
    assert found["lower_above"] <= most
    assert found["upper_below"] <= most
    # the estimate is the mean of a fixed function of the person
    error = np.sqrt(found["truth"] * (1 - found["truth"]) / (found["runs"] * found["n"]))
    assert abs(found["mean"] - found["truth"]) < 4 * error


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
