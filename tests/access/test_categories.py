"""Models that want other types: categories come back, and errors say what to pass."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairtransport as ft

RNG = np.random.default_rng(0)
SIZE = 300
PEOPLE = pd.DataFrame({
    "sex": RNG.choice(["f", "m"], SIZE), "age": RNG.integers(20, 60, SIZE),
    "zip": RNG.integers(1, 4, SIZE), "job": RNG.choice(["a", "b", "c"], SIZE),
})  # fmt: skip
LABEL = ((PEOPLE["sex"] == "m") ^ (PEOPLE["age"] > 40)).astype(int)
CATEGORIES = {"sex": "category", "zip": "category", "job": "category"}


@pytest.fixture(scope="module")
def boosted():
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(n_estimators=8, verbose=-1, n_jobs=1, min_child_samples=5)
    return model.fit(PEOPLE.astype(CATEGORIES), LABEL)


def audited(people, model):
    return ft.audit(people, "good", model=model, sensitive_features="sex", rng=0)


def test_lightgbm_gets_its_categories_from_any_library_and_from_files(boosted, tmp_path):
    frame = PEOPLE.assign(good=LABEL)
    expected = audited(frame.astype(CATEGORIES), boosted)
    frame.to_csv(tmp_path / "people.csv", index=False)

    assert expected.statistic > 0.3
    assert expected.baseline_risk == np.mean(boosted.predict(PEOPLE.astype(CATEGORIES)) != LABEL)
    for people in (frame, pl.from_pandas(frame), tmp_path / "people.csv"):
        found = audited(people, boosted)
        assert found.statistic == expected.statistic
        assert found.baseline_risk == expected.baseline_risk


def test_a_level_that_the_model_does_not_know_is_left_to_it(boosted):
    frame = PEOPLE.assign(good=LABEL)
    frame.loc[:5, "job"] = "unheard of"
    own = boosted.predict(frame.drop(columns="good").astype(CATEGORIES))

    assert audited(frame, boosted).baseline_risk == np.mean(own != LABEL)


def test_a_model_that_wants_other_types_says_what_to_pass():
    class Numbers:
        feature_names_in_ = np.array(["sex", "age"])
        classes_ = np.array([0, 1])

        def predict(self, points):
            return points["sex"].astype(float)

    with pytest.raises(ft.ModelError) as caught:
        audited(PEOPLE[["sex", "age"]].assign(good=LABEL), Numbers())
    assert "it received sex (String)" in str(caught.value)
    assert "x.astype({'sex': 'category'})" in str(caught.value)


def test_a_regressor_under_a_classification_loss_says_which_loss_to_take():
    with pytest.raises(
        ft.ModelError,
        match="Probabilities take loss='log' or loss='brier'; for labels, pass a function",
    ):
        audited(PEOPLE.assign(good=LABEL), lambda points: points["age"] / 100)

    class Regressor:
        feature_names_in_ = np.array(["sex", "age", "zip", "job"])

        def predict(self, points):
            return points["age"] / 100

    with pytest.raises(ft.ModelError, match=r"has no `predict_proba`.*: pass loss='zero-one'"):
        ft.audit(PEOPLE.assign(good=LABEL), "good", model=Regressor(), sensitive_features="sex",
                 loss="log", rng=0)  # fmt: skip
