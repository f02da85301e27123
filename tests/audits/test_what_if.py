"""Another budget or threshold after an audit: the same bounds, and no new test."""

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.audits.what_if import look_at
from fairtransport.errors import InputError


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(5)
    people = pd.DataFrame({"sex": rng.choice(["f", "m"], 300), "age": rng.integers(18, 40, 300)})
    people["good"] = (people["age"] > 30).astype(int)
    return ft.audit(
        people, "good", sensitive_features="sex", delta=0.1, budget=0.2, rng=0,
        model=lambda points: (points["age"] + 3 * (points["sex"] == "m") > 30).astype(int),
        similarity=ft.similarity.MixedTabular(scales={"age": 5}), targets=people,
    )  # fmt: skip


def test_as_it_was_asked_it_is_the_audit_itself(result):
    seen = look_at(result)

    assert seen.result is result
    assert (seen.delta, seen.same_budget, seen.same_delta) == (0.1, True, True)
    assert look_at(result, budget=0.2, delta=0.1).result is result


def test_bounds_stay_what_they_are_whatever_threshold_is_held_against_them(result):
    lower = result.lower_bound
    places = {delta: look_at(result, delta=delta).place for delta in (0.0, lower / 2, lower, 0.99)}

    assert all(look_at(result, delta=delta).result is result for delta in places)
    assert list(places.values()) == ["below", "below", "between", "between"]
    assert result.upper_bound == np.inf  # the reference is the sample itself


def test_another_budget_is_on_the_exact_curve(result):
    for budget in (0.0, 0.05, 1.0, 7.0):
        seen = look_at(result, budget=budget)

        assert not seen.same_budget
        assert seen.result.statistic == pytest.approx(result.budget_curve(budget))
        assert seen.result.delta == result.delta
    assert look_at(result, budget=0.4).result.statistic > result.statistic


def test_an_upper_bound_can_be_below_a_threshold():
    people = pd.DataFrame({"sex": ["f", "m"] * 200, "age": list(range(20, 40)) * 20})
    people["good"] = (people["age"] > 30).astype(int)
    certified = ft.audit(
        people, "good", sensitive_features="sex", delta=0.1, rng=0,
        levels={"sex": ["f", "m"]},
        model=lambda points: (points["age"] + (points["sex"] == "m") > 30).astype(int),
    )  # fmt: skip

    assert look_at(certified, delta=certified.upper_bound).place == "above"
    assert look_at(certified, delta=certified.statistic).place == "between"


@pytest.mark.parametrize(("given", "rule"), [({"budget": -1}, "budget"), ({"delta": 3}, "delta")])
def test_what_is_no_budget_or_threshold_is_refused(result, given, rule):
    with pytest.raises(InputError, match=f"`{rule}` must be"):
        look_at(result, **given)
