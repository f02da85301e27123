"""The embedded Adult table."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import fairtransport as ft
from fairtransport.datasets.adult import FEATURES, LABEL, LEVELS, SENSITIVE, load_adult

ADULT = load_adult()
VALUES = {
    **{name: set(levels) for name, levels in LEVELS.items()},
    "age": {"17 to 24", "25 to 39", "40 to 54", "55 and over"},
    "education": {"No diploma", "High school", "Some college", "Bachelor", "Advanced"},
    "marital": {"Married", "Never married", "Other"},
    "occupation": {"Professional", "Office", "Service", "Manual", "Unknown"},
    "hours": {"Under 40", "40", "Over 40"},
    "over_50k": {0, 1},
}


def people_in(name):
    return ADULT.groupby(name)["count"].sum().to_dict()


def test_it_holds_everyone_of_both_files_once_a_cell():
    assert ADULT["count"].sum() == 32561 + 16281
    assert ADULT["count"].min() >= 1
    assert not ADULT.drop(columns="count").duplicated().any()


def test_its_columns_and_values_are_those_documented():
    assert ADULT.columns.tolist() == [*FEATURES, LABEL, "count"]
    assert {name: set(ADULT[name]) for name in VALUES} == VALUES
    assert set(SENSITIVE) == set(LEVELS) <= set(FEATURES)


def test_its_margins_are_those_the_repository_describes():
    # 23.93 % above the threshold is what the file adult.names says
    assert people_in(LABEL)[1] / ADULT["count"].sum() == pytest.approx(0.2393, abs=5e-5)
    assert people_in("sex") == {"Female": 16192, "Male": 32650}
    assert people_in("race") == {
        "Amer-Indian-Eskimo": 470, "Asian-Pac-Islander": 1519, "Black": 4685, "Other": 406,
        "White": 41762,
    }  # fmt: skip


def logistic_regression(counts):
    model = make_pipeline(OneHotEncoder(drop="first"), LogisticRegression())
    rows, weights = counts[list(FEATURES)], counts["count"]
    return model.fit(rows, counts[LABEL], logisticregression__sample_weight=weights)


def test_an_audit_of_race_and_sex_compares_ten_twins_a_profile():
    rng = np.random.default_rng(0)
    training = rng.binomial(ADULT["count"], 0.5)
    audited = ADULT.assign(count=ADULT["count"] - training).query("count > 0")
    model = logistic_regression(ADULT.assign(count=training).query("count > 0"))

    result = ft.audit(
        audited, LABEL, model=model, sensitive_features=list(SENSITIVE), counts="count",
        levels=LEVELS, delta=0.0, rng=0,
    )  # fmt: skip

    others = [name for name in FEATURES if name not in SENSITIVE]
    profiles = audited[[*others, LABEL]].drop_duplicates()
    assert result.points == 10 * len(profiles)
    assert result.target_scope == "twins"
    assert result.verdict == "rejected"
    assert result.statistic == pytest.approx(statistic_by_hand(model, audited, others))


def statistic_by_hand(model, audited, others):
    """Everyone who is predicted right and has a twin who is not becomes an error."""
    right = model.predict(audited[list(FEATURES)]) == audited[LABEL]
    has_wrong_twin = np.zeros(len(audited), bool)
    for race in LEVELS["race"]:
        for sex in LEVELS["sex"]:
            twins = audited[others].assign(race=race, sex=sex)[list(FEATURES)]
            has_wrong_twin |= model.predict(twins) != audited[LABEL]
    moved = audited["count"][right & has_wrong_twin].sum()
    return moved / audited["count"].sum()
