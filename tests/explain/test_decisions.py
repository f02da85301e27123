"""Whose decision would change: counts against brute force, intervals, and when there are none."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from tests.explain.audits import compas_audit

import fairtransport as ft
from fairtransport.errors import InputError

LABELS = {2: ["no", "yes"], 3: ["low", "middle", "high"]}


def population(seed, n, levels, labels):
    """Return people with two sensitive features, one feature that is not, and a true label."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "race": rng.choice([f"r{at}" for at in range(levels)], n),
            "grade": rng.integers(0, 6, n),
            "truth": rng.choice(LABELS[labels], n),
        }
    )


def model_of(seed, labels):
    """Return a model whose answers depend on everything, in no particular way."""
    names = np.array(LABELS[labels], object)

    def answer(asked):
        keys = asked["sex"] + asked["race"] + asked["grade"].astype(str) + str(seed)
        return names[[sum(key.encode()) * 7919 % 11 % labels for key in keys]]

    return answer


def by_hand(people, model, order, changing=("sex", "race")):
    """Return who is changed, worse off and better off, person by person."""
    levels = {name: sorted(people[name].unique()) for name in changing}
    rank = {label: at for at, label in enumerate(order)} if len(order) > 1 else None
    own = model(people)
    changed, worse, better = (np.zeros(len(people), bool) for _ in range(3))
    for values in itertools.product(*levels.values()):
        other = model(people.assign(**dict(zip(levels, values, strict=True))))
        changed |= other != own
        if rank is None:
            worse |= (own != order[0]) & (other == order[0])
            better |= (own == order[0]) & (other != order[0])
        else:
            gains = [rank[b] - rank[a] for a, b in zip(own, other, strict=True)]
            worse |= np.array(gains) > 0
            better |= np.array(gains) < 0
    return changed, worse, better


@pytest.mark.parametrize(
    ("seed", "n", "levels", "favourable"),
    [
        (0, 40, 2, "yes"),
        (1, 300, 5, "yes"),
        (2, 700, 3, "middle"),
        (3, 700, 4, ["low", "middle", "high"]),
    ],
)
def test_the_counts_are_those_of_brute_force(seed, n, levels, favourable):
    labels = 2 if favourable == "yes" else 3
    people, model = population(seed, n, levels, labels), model_of(seed, labels)
    order = favourable if isinstance(favourable, list) else [favourable]

    result = ft.audit(
        people, "truth", model=model, sensitive_features=["sex", "race"], favourable=favourable,
        rng=0,
    )  # fmt: skip
    decisions = result.decisions

    changed, worse, better = by_hand(people, model, order)
    for count, members in (
        (decisions.changed, changed), (decisions.worse_off, worse), (decisions.better_off, better)
    ):  # fmt: skip
        assert count.people == members.sum()
        interval = binomtest(int(members.sum()), n).proportion_ci(0.95)
        assert (count.lower, count.upper) == pytest.approx((interval.low, interval.high))
    assert decisions.alternatives == 2 * levels - 1

    singles = []
    for part in decisions.by_feature:
        alone = by_hand(people, model, order, changing=[part.feature])
        singles.append(alone)
        assert part.total.changed == alone[0].sum()
        for row in part.groups:
            inside = people[part.feature] == row.group[part.feature]
            assert (row.people, row.worse_off) == (inside.sum(), (alone[1] & inside).sum())
    together = [
        (whole & ~singles[0][at] & ~singles[1][at]).sum()
        for at, whole in enumerate((changed, worse, better))
    ]
    rest = decisions.only_together
    assert [rest.changed, rest.worse_off, rest.better_off] == together

    for row in decisions.by_group:
        inside = np.all([people[name] == value for name, value in row.group.items()], axis=0)
        assert row.people == inside.sum()
        assert row.better_off == (better & inside).sum()
    for row in decisions.by_label:
        inside = people["truth"] == row.label
        assert row.total.people == inside.sum()
        assert row.total.worse_off == (worse & inside).sum()
    assert sum(case.people for case in decisions.cases) == changed.sum()


def test_each_listed_case_is_decided_as_it_says():
    people, model = population(4, 300, 3, 2), model_of(4, 2)
    decisions = ft.audit(
        people, "truth", model=model, sensitive_features=["sex", "race"], favourable="yes", rng=0
    ).decisions
    assert decisions.cases
    for case in decisions.cases:
        own = pd.DataFrame([case.profile])
        alternative = own.assign(**case.changes)
        assert (model(own)[0], model(alternative)[0]) == (case.decision, case.alternative)
        assert case.effect == ("worse off" if case.decision == "no" else "better off")
        like = (people[["sex", "race", "grade"]] == alternative.iloc[0]).all(axis=1)
        assert case.is_observed == like.any()


def test_compas():
    decisions = compas_audit(0).decisions

    assert (decisions.worse_off.people, decisions.better_off.people) == (134, 9)
    assert decisions.changed.people == 143
    innocent = next(row for row in decisions.by_label if row.label == 0)
    assert innocent.total.worse_off == 55
    alone = {part.feature: {tuple(row.group.values()): row for row in part.groups}
             for part in decisions.by_feature}  # fmt: skip
    assert alone["sex"]["Male",].worse_off == 60
    assert alone["sex"]["Female",].worse_off == 0
    assert alone["race"]["African-American",].worse_off == 5
    assert decisions.only_together.worse_off == 69
    assert "143 of 1,584 people (9 %; with 95 % confidence 7.6–10.6 %)" in str(decisions)


def test_without_a_favourable_label_nothing_is_called_better_or_worse():
    people, model = population(0, 100, 2, 2), model_of(0, 2)
    result = ft.audit(people, "truth", model=model, sensitive_features="sex", rng=0)
    decisions = result.decisions
    assert decisions.worse_off is None
    assert decisions.better_off is None
    assert {(one.decision, one.alternative) for one in decisions.changes} <= {
        ("no", "yes"), ("yes", "no")
    }  # fmt: skip
    assert "worse" not in str(decisions)
    assert "better" not in str(decisions)


def test_scores_and_numbers_are_changes_in_their_unit():
    people = pd.DataFrame({"sex": ["f", "m"] * 50, "good": [0, 0, 1, 1] * 25})

    def score(asked):
        high = np.where(asked["sex"] == "f", 0.4, 0.7)
        return np.column_stack([1 - high, high])

    class Model:
        classes_ = np.array([0, 1])
        feature_names_in_ = np.array(["sex"], object)

        def predict_proba(self, asked):
            return score(asked)

        def predict(self, asked):
            return (score(asked)[:, 1] > 0.5).astype(int)

    result = ft.audit(people, "good", model=Model(), sensitive_features="sex", loss="brier", rng=0)
    change = result.decisions.scores
    assert change.of == 1
    assert (change.largest_rise, change.mean_rise) == pytest.approx((0.3, 0.15))
    assert (change.largest_fall, change.mean_fall) == pytest.approx((0.3, 0.15))
    assert result.decisions.changed.people == 100
    means = {row.group["sex"]: (row.mean_rise, row.mean_fall) for row in result.decisions.by_group}
    assert means["f"] == pytest.approx((0.3, 0))
    assert means["m"] == pytest.approx((0, 0.3))
    # nearly everybody's score changes by a little: how far it does is told, not for how many
    page = result.to_markdown().replace("\\", "")
    assert "Scores of 1 would be up to 0.3 higher (0.15 on average) or up to 0.3 lower" in page
    assert "With another sex, predictions are on average: f 0.3 higher; m 0.3 lower." in page
    assert "get another" not in page
    assert "f, higher with another sex 0.3 higher on average" in result.decisions.plot().to_json()
    assert result.document(5).decisions is None
    assert "A shared document does not show" in result.document(5).decisions_missing


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"y_pred": "guess"}, "Without the model"),
        ({"queries": ft.Queries(draws=2)}, "at random"),
    ],
)
def test_where_there_are_none_a_sentence_says_why(settings, reason):
    people = population(0, 60, 2, 2).assign(guess="yes")
    if "y_pred" not in settings:
        people = people.drop(columns="guess")
        settings = {"model": model_of(0, 2), **settings}
    result = ft.audit(people, "truth", sensitive_features="sex", rng=0, **settings)
    assert result.decisions is None
    assert reason in result.summary.decisions_missing


def test_an_order_must_have_every_label_once():
    people, model = population(0, 60, 2, 3), model_of(0, 3)
    with pytest.raises(InputError, match="from worst to best"):
        ft.audit(people, "truth", model=model, sensitive_features="sex", favourable=["low", "high"])


def test_shared_documents_have_coarse_shares_and_no_groups():
    shared = compas_audit(0).document(share=5).decisions
    assert shared.cases == shared.by_group == shared.by_feature == shared.by_label == ()
    exact = compas_audit(0).decisions
    for name in ("changed", "worse_off", "better_off"):
        coarse, fine = getattr(shared, name), getattr(exact, name)
        assert coarse.lower <= fine.lower
        assert coarse.upper >= fine.upper
    assert shared.worse_off.people != exact.worse_off.people


def test_it_has_tables_and_a_chart():
    decisions = compas_audit(0).decisions
    assert decisions.table()["people"].sum() == 1584
    assert decisions.people()["people"].sum() == 143
    assert decisions.plot().to_dict()["layer"]


def test_one_hot_columns_are_counted_as_the_feature_they_encode():
    people, model = population(5, 300, 3, 2), model_of(5, 2)
    encoded = pd.get_dummies(people, columns=["race"], dtype=int)

    def model_of_dummies(asked):
        race = asked.filter(like="race_").to_numpy().argmax(axis=1)
        return model(asked.assign(race=[f"r{at}" for at in race]))

    plain, dummies = (
        ft.audit(data, "truth", model=one, sensitive_features=names, favourable="yes", rng=0)
        for data, one, names in (
            (people, model, ["sex", "race"]), (encoded, model_of_dummies, ["sex", "race_r0"])
        )
    )  # fmt: skip
    for name in ("changed", "worse_off", "better_off"):
        assert getattr(plain.decisions, name) == getattr(dummies.decisions, name)
    assert [part.total.changed for part in plain.decisions.by_feature] == [
        part.total.changed for part in dummies.decisions.by_feature
    ]


def test_columns_that_change_together_are_one_feature():
    people, model = population(6, 300, 3, 2), model_of(6, 2)
    together = ft.audit(
        people, "truth", model=model, sensitive_features=["sex", "race"], favourable="yes", rng=0,
        together=[["sex", "race"]],
    ).decisions  # fmt: skip
    [part] = together.by_feature
    assert part.feature == "sex and race"
    assert part.total.changed == together.changed.people
    assert together.only_together is None


@pytest.mark.parametrize("settings", [{}, {"loss": "outcome"}])
def test_without_true_labels_the_limit_is_on_those_who_are_worse_off(settings):
    people = population(3, 200, 2, 2).drop(columns="truth")
    model = model_of(3, 2)
    result = ft.audit(people, model=model, sensitive_features="sex", favourable="yes", delta=0.01,
                      rng=0, **settings)  # fmt: skip
    worse = result.decisions.worse_off

    assert result.statistic * result.n == pytest.approx(worse.people)
    # one-sided at α where the interval has α / 2 on a side
    assert worse.lower < result.lower_bound < worse.share < result.upper_bound < worse.upper
    text = " ".join(str(result).split())
    assert "of all people (2 of these 200) may get “yes” only with another sex." in text
    assert f"of these people ({worse.people} people). In the population" in text
