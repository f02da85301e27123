"""What a verdict depends on, against audits done anew."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom
from tests.explain.audits import compas_audit, priced_audit, random_people

import fairtransport as ft
from fairtransport.audits import sensitivity as dependence
from fairtransport.audits.sensitivity import BUDGETS, find_flips, without_each_feature


@pytest.mark.parametrize("budget", [0.0, 0.02, 0.3])
def test_another_budget_gives_the_result_of_an_audit_with_that_budget(budget):
    moved, anew = priced_audit(1, delta=0.2).at_budget(budget), priced_audit(1, budget, delta=0.2)

    assert moved.statistic == anew.statistic
    assert moved.summary.to_json() == anew.summary.to_json()


def test_a_negative_budget_is_refused():
    with pytest.raises(ft.InputError, match="`budget` must be a number of at least 0, got -1"):
        priced_audit(1).at_budget(-1)


def test_a_feature_that_may_not_change_is_one_that_is_not_sensitive():
    people = random_people(7, n=200)
    both = ft.audit(people, "good", y_pred="guess", sensitive_features=["group", "sex"])
    roles = {role.feature: role for role in without_each_feature(both)}
    for held, free in (("group", "sex"), ("sex", "group")):
        alone = ft.audit(people, "good", y_pred="guess", sensitive_features=[free])
        assert roles[held].statistic == pytest.approx(alone.statistic)
        assert roles[held].share == pytest.approx(1 - alone.statistic / both.statistic)


def test_the_sensitivity_of_a_result_has_all_parts():
    result = priced_audit(2, budget=0.01, delta=0.25)
    found = result.sensitivity(eta=0.2, draws=5)

    assert found.flips == find_flips(result)
    assert found.features == without_each_feature(result)
    assert found.metric.value == result.statistic
    assert found.metric.lowest == result.at_budget(0.01 / 1.2).statistic
    assert found.metric.highest == pytest.approx(result.at_budget(0.01 / 0.8).statistic)
    assert len(found.metric.changes) == 5
    again = result.sensitivity(eta=0.2, draws=5)
    assert found.metric.changes.tolist() == again.metric.changes.tolist()


def test_a_metric_of_free_moves_has_nothing_to_be_wrong_about():
    metric = compas_audit().sensitivity().metric

    assert metric.reason == "not applicable: the budget is 0"
    assert metric.lowest == metric.highest == pytest.approx(metric.value)
    assert not metric.changes.any()


def test_the_verdict_flips_where_it_is_said_to():
    result = priced_audit(2, budget=0.01, delta=0.25)
    flips = find_flips(result)

    assert flips.rejected_below == result.lower_bound
    assert flips.certified_from is None
    assert flips.budget_certified_until is None
    rising = sorted({*BUDGETS, 0.01})
    at = rising.index(flips.budget_rejected_from)
    verdicts = [result.at_budget(budget).verdict for budget in rising[at - 1 :]]
    assert verdicts == ["inconclusive"] + ["rejected"] * (len(rising) - at)


def test_rejections_stop_at_the_first_budget_that_is_not_rejected(monkeypatch):
    """A smaller budget that would be rejected again is not looked at: its level is spent."""
    seen = []

    def reaches(law, goal, delta, alpha):
        assert (delta, alpha) == (0.25, 0.05)
        seen.append(law.budget)
        return goal == "reject" and law.budget not in (0.5, 0.25)

    result = priced_audit(2, budget=0.01, delta=0.25)
    at_budget = lambda _, budget: SimpleNamespace(law=SimpleNamespace(budget=budget))  # noqa: E731
    monkeypatch.setattr(type(result), "at_budget", at_budget)
    monkeypatch.setattr(dependence, "reaches", reaches)

    flips = find_flips(result)

    assert flips.budget_rejected_from == 2**-0.5
    assert seen[:-1] == sorted((budget for budget in BUDGETS if budget >= 0.5), reverse=True)
    assert (seen[-1], flips.budget_certified_until) == (0.0, None)


@pytest.mark.slow
def test_false_rejections_at_any_budget_are_as_rare_as_at_one():
    """ψ = δ exactly at a budget of the grid: neither it nor a smaller one may be rejected."""
    rng = np.random.default_rng(8)
    everyone = random_people(11, n=3000).assign(x=rng.integers(0, 5, 3000) / 2)
    wrong = (everyone["x"] == 2) & (everyone["group"] == "a")
    everyone["guess"] = everyone["good"].where(~wrong, 1 - everyone["good"])
    options = dict(
        y_pred="guess", sensitive_features="group", features=["group", "x"], targets=everyone,
        similarity=ft.similarity.MixedTabular({"x": 1.0}), method="limit-law",
    )  # fmt: skip
    worst = 2**-2
    delta = ft.audit(everyone, "good", **options, budget=worst).statistic
    found = []
    for repetition in range(100):
        sample = everyone.iloc[rng.integers(0, len(everyone), 300)]
        result = ft.audit(sample, "good", **options, delta=delta, rng=repetition)
        found.append(find_flips(result).budget_rejected_from)

    assert sum(budget <= worst for budget in found) <= binom.ppf(0.999, 100, 0.05)
    # larger ones are, so that the test has something to say
    assert max(found) <= 4 * worst


def test_the_budgets_that_are_looked_at_do_not_depend_on_the_sample():
    froms = {find_flips(priced_audit(seed, delta=0.2)).budget_rejected_from for seed in range(4)}
    assert froms <= {None, 0.2, *BUDGETS}


def test_where_every_allowed_move_is_free_no_budget_matters():
    people = random_people(3, n=300).assign(guess=lambda x: (x["group"] == "a").astype(int))
    result = ft.audit(
        people, "good", y_pred="guess", sensitive_features="group", delta=0.05, rng=0,
        similarity=ft.similarity.IgnoreSensitive(tolerance={"x": 1}),
    )  # fmt: skip
    assert result.verdict == "rejected"
    assert find_flips(result).budget_rejected_from == 0


def test_a_verdict_that_holds_at_every_budget_has_no_flip():
    flips = find_flips(compas_audit())

    assert flips.budget_rejected_from == 0
    assert flips.certified_from == compas_audit().upper_bound


def test_a_certificate_that_holds_at_every_budget_has_no_last_one():
    people = random_people(0, n=400)
    result = ft.audit(
        people, "good", sensitive_features="group", features=["group", "x"],
        model=lambda points: ((points["group"] != "c") | (points["x"] > 0)).astype(int), delta=0.4,
        rng=0,
    )  # fmt: skip
    assert result.verdict == "certified"
    assert find_flips(result).budget_certified_until == np.inf
    assert find_flips(result).budget_rejected_from is None


def test_without_a_threshold_only_the_bounds_are_told():
    flips = find_flips(priced_audit(0))
    assert flips.budget_rejected_from is flips.budget_certified_until is None
