"""Made-up twins can occur: they keep to ranges, kinds and levels, and models can take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import fairtransport as ft
from fairtransport import similarity
from fairtransport.datasets.adult import load_adult_people
from fairtransport.datasets.compas import load_compas

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


def people(n: int, seed: int) -> pd.DataFrame:
    """Return people of every kind of column."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n)
    is_b = group == "b"
    part = rng.choice(3, n, p=[0.3, 0.3, 0.4])
    return pd.DataFrame({
        "group": group,
        "height": 160 + 10 * is_b + 5 * rng.normal(size=n),
        "children": rng.poisson(1 + is_b),
        "married": rng.random(n) < 0.3 + 0.4 * is_b,
        "job": pd.Categorical(rng.choice(["cook", "clerk", "nurse"], n)),
        "since": pd.to_datetime(rng.choice(["2020-01-01", "2021-06-30", "2022-03-15"], n)),
        **{f"part_{at}": (part == at).astype(int) for at in range(3)},
        "good": (rng.random(n) < 0.5).astype(int),
    })  # fmt: skip


def counted(frame: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """Return people at random from a table of counts."""
    return frame.sample(n, weights="count", replace=True, random_state=seed).drop(columns="count")


def pipeline(frame: pd.DataFrame, features: list[str], label: str) -> Pipeline:
    """Return a model that refuses levels it has not seen."""
    words = [name for name in features if not pd.api.types.is_numeric_dtype(frame[name])]
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="error"), words), remainder=StandardScaler()
    )
    return make_pipeline(encode, LogisticRegression(max_iter=500)).fit(
        frame[features], frame[label]
    )


CASES = {
    "mixed": (people, "good", ["group"]),
    "adult": (lambda n, seed: counted(load_adult_people(), n, seed), "over_50k", ["sex"]),
    "compas": (lambda n, seed: counted(load_compas(), n, seed), "two_year_recid", ["sex"]),
}


@pytest.mark.slow
@pytest.mark.versions
@pytest.mark.parametrize("name", CASES)
def test_ten_thousand_twins_are_valid_for_a_pipeline(name: str) -> None:
    draw, label, sensitive = CASES[name]
    history, cases = draw(2000, 1), draw(300, 2)
    features = [one for one in history if one not in (label, *sensitive)]
    # of counts some levels are rare
    for one in features:
        if not pd.api.types.is_numeric_dtype(cases[one]):
            cases = cases[cases[one].isin(history[one])]
    like = similarity.SensitiveSubspace(sensitive, features).fit(history)
    asked: list[pd.DataFrame] = []
    model = pipeline(history, features, label)

    class Listening:
        feature_names_in_ = np.array(features)
        classes_ = model.classes_

        def predict(self, x: pd.DataFrame) -> np.ndarray:
            asked.append(x.copy())
            return model.predict(x)

    result = ft.audit(
        cases, label, model=Listening(), sensitive_features=sensitive, similarity=like,
        budget=0.3, twins=similarity.Twins("generate", per_person=200, plausibility=0), rng=0,
    )  # fmt: skip
    made = result.space.made_up
    assert result.target_scope == "twins"
    assert made is not None
    assert result.made.proposed > 10_000
    assert len(made.person) > (500 if name == "compas" else 10_000)
    seen = pd.concat(asked)
    # each distinct question once
    assert len(seen) == len(seen.drop_duplicates()) == result.queried
    for one in features:
        assert seen[one].dtype.kind == history[one].dtype.kind, one
        if history[one].dtype.kind in "if":
            assert seen[one].min() >= min(history[one].min(), cases[one].min())
            assert seen[one].max() <= max(history[one].max(), cases[one].max())
        else:
            assert set(seen[one]) <= set(history[one])
    if name == "mixed":
        flags = seen[["part_0", "part_1", "part_2"]]
        assert (flags.sum(axis=1) == 1).all()
        assert flags.isin([0, 1]).all(axis=None)
        assert len(np.unique(result.space.groups(["part_0", "part_1", "part_2"])[made.twin])) == 3


def test_twins_depend_on_nobody_else() -> None:
    history, cases = people(500, 1), people(60, 2)
    like = similarity.SensitiveSubspace(["group"]).fit(history.drop(columns="good"))

    def twins_of_the_first(frame: pd.DataFrame) -> set[tuple[object, ...]]:
        result = ft.audit(
            frame, "good", model=lambda x: x["married"].astype(int), sensitive_features=["group"],
            features=[name for name in frame if name not in ("group", "good")], similarity=like,
            budget=0.1, rng=7,
        )  # fmt: skip
        space = result.space
        first = {name: frame[name].tolist()[0] for name in ("height", "good", "group")}
        own = np.logical_and.reduce([space.values(name) == value for name, value in first.items()])
        made = space.made_up
        chosen = made.twin[np.isin(made.person, np.flatnonzero(own & space.observed))]
        rows = space.frame(list(space.columns), chosen)
        return set(rows.itertuples(index=False, name=None))

    everybody, few = twins_of_the_first(cases), twins_of_the_first(cases[:3])
    assert len(everybody) > 10
    assert everybody == few


def test_without_a_budget_twins_are_at_distance_0() -> None:
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 400)
    frame = pd.DataFrame({
        "sex": sex, "height": 170 + 12 * (sex == "m") + 6 * rng.normal(size=400),
        "grade": rng.normal(size=400),
    })  # fmt: skip
    like = similarity.SensitiveSubspace(["sex"]).fit(frame[:200])
    cases = frame[200:].assign(good=(frame["grade"] > 0).astype(int))
    result = ft.audit(
        cases, "good", model=lambda x: (x["height"] > 175).astype(int), rng=0,
        features=["height", "grade"], sensitive_features=["sex"], similarity=like,
    )  # fmt: skip
    moves = result.problem.geometry.listed_moves()
    assert result.comparable_share > 0.9
    assert moves is not None
    assert not moves.cost.any()
    # far fewer are plausible than were proposed, and none is outside of the data
    assert result.made.implausible > 0
    assert result.space.values("height").max() <= frame["height"].max()
