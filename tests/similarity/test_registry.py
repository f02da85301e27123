"""Similarities by name, with settings; scikit-learn's conventions; documents of them."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.similarity import (
    SIMILARITIES,
    ComparableGroups,
    ComparablePairs,
    Custom,
    IgnoreSensitive,
    MixedTabular,
    Precomputed,
    SensitiveSubspace,
    Similarity,
    as_similarity,
    similarity_from_settings,
)

POINTS = pd.DataFrame({"g": ["a", "b"]})
MADE = [
    IgnoreSensitive(exact=["sex"], tolerance={"age": 2}),
    MixedTabular({"age": 5}, {"job": 1.0}, default_scale=2),
    SensitiveSubspace(["race"], ["age"], penalty=0.5),
    ComparablePairs(penalty=0.1),
    ComparableGroups(dimensions=2),
    Precomputed(np.zeros((2, 2)), POINTS),
    Custom(max, takes="rows"),
]


@pytest.mark.parametrize("similarity", MADE, ids=lambda made: made.name)
def test_all_obey_scikit_learns_conventions(similarity):
    copy = clone(similarity)

    assert isinstance(similarity, Similarity)
    assert type(copy) is type(similarity)
    assert copy is not similarity
    assert list(copy.get_params()) == list(similarity.get_params())
    for name, value in similarity.get_params().items():
        assert np.all(np.asarray(copy.get_params()[name] == value))
    assert copy.set_params(**similarity.get_params()) is copy
    with pytest.raises(ft.InputError, match="`height` must be a parameter of"):
        copy.set_params(height=1)


def test_parameters_change_all_or_none():
    similarity = MixedTabular({"age": 5})

    with pytest.raises(ft.InputError, match="`default_scale`"):
        similarity.set_params(scales={"age": 1}, default_scale=-1)
    assert similarity.scales == {"age": 5}


def test_a_clone_is_not_fitted():
    frame = pd.DataFrame({"race": ["a", "b"] * 5, "age": range(10)})
    similarity = SensitiveSubspace(["race"]).fit(frame)

    assert similarity.is_fitted
    assert not clone(similarity).is_fitted


@pytest.mark.parametrize("similarity", MADE, ids=lambda made: made.name)
def test_all_become_json(similarity):
    document = similarity.to_json()

    assert document["name"] == similarity.name
    assert json.loads(json.dumps(document, allow_nan=False)) == document


@pytest.mark.parametrize(
    ("similarity", "words"),
    [
        (IgnoreSensitive(), "budget has no effect"),
        (MADE[1], "equivalent of 2.5 of age, or another job for 0.25 of the people."),
        (MixedTabular(default_scale=2), "squared distance of 0.25"),
        (MADE[2], "0.5 standard deviations of a feature"),
        # 2 / (1 + exp .25)
        (MADE[3], "judged comparable with probability 0.876"),
        (MADE[6], "squared distance of 0.25"),
    ],
)
def test_all_say_what_a_budget_means(similarity, words):
    assert words in similarity.describe_budget(0.25)


def test_settings_come_back_from_json():
    for similarity in MADE[:2]:
        document = json.loads(json.dumps(similarity.to_json()))
        again = similarity_from_settings(document["name"], document["settings"])
        assert again.to_json() == similarity.to_json()


def test_names_that_need_no_settings():
    assert as_similarity("ignore-sensitive") == IgnoreSensitive()
    assert isinstance(as_similarity("mixed-tabular"), MixedTabular)
    assert next(iter(SIMILARITIES)) == "ignore-sensitive"
    assert all(kind.name == name for name, kind in SIMILARITIES.items())


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"race": ["a", "b"] * 20, "age": rng.normal(size=40)})
    people.assign(case=np.repeat(range(20), 2)).to_csv(tmp_path / "people.csv", index=False)
    pairs = pd.DataFrame({"age_1": rng.normal(size=30), "age_2": rng.normal(size=30)})
    pairs["same"] = (abs(pairs["age_1"] - pairs["age_2"]) < 0.5).astype(int)
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    np.savez(tmp_path / "costs.npz", matrix=np.zeros((2, 2)))
    POINTS.to_csv(tmp_path / "points.csv", index=False)
    return tmp_path


def test_learned_similarities_are_fitted_on_files(folder):
    subspace = similarity_from_settings(
        "sensitive-subspace",
        {"sensitive_features": ["race"], "features": ["age"], "fit": "people.csv"},
        folder,
    )
    groups = similarity_from_settings(
        "comparable-groups", {"features": ["age"], "fit": "people.csv", "group": "case"}, folder
    )
    pairs = similarity_from_settings(
        "comparable-pairs", {"fit": "pairs.csv", "comparable": "same", "penalty": 0.01}, folder
    )

    assert subspace.encoding_.columns == groups.encoding_.columns == ("age",)
    assert pairs.encoding_.columns == ("age",)
    assert pairs.penalty == 0.01
    table = pd.read_csv(folder / "pairs.csv")
    frames = tuple(table[[f"age_{k}"]].rename(columns={f"age_{k}": "age"}) for k in (1, 2))
    again = ComparablePairs(penalty=0.01).fit(frames, table["same"])
    np.testing.assert_allclose(pairs.sigma_, again.sigma_)


def test_a_single_name_stands_for_a_list_of_one(folder):
    settings = {"sensitive_features": "race", "features": "age", "fit": "people.csv"}
    subspace = similarity_from_settings("sensitive-subspace", settings, folder)
    groups = {"features": "age", "fit": "people.csv", "group": "case"}
    pairs = {"features": "age", "fit": "pairs.csv", "comparable": "same"}
    space = build_space(pd.read_csv(folder / "people.csv"), sensitive_features="race")

    assert subspace.encoding_.columns == ("age",)
    assert similarity_from_settings("comparable-groups", groups, folder).is_fitted
    assert similarity_from_settings("comparable-pairs", pairs, folder).is_fitted
    exact = similarity_from_settings("mixed-tabular", {"exact": "case", "default_scale": 1})
    assert len(exact.geometry(space).members) == 20


def test_a_matrix_is_loaded_from_files(folder):
    loaded = similarity_from_settings(
        "precomputed", {"path": "costs.npz", "points": "points.csv"}, folder
    )

    assert loaded.to_json()["settings"]["columns"] == ["g"]


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("mahalanobis", {}, "`similarity` must be one of 'ignore-sensitive'"),
        ("ignore-sensitive", {"exactly": []}, "`exactly` must be a setting of .* has exact, toler"),
        ("precomputed", {}, "`path` must be the file of costs"),
        ("precomputed", {"file": "x"}, "`file` must be a setting of 'precomputed'"),
        ("sensitive-subspace", {}, "`fit` must be the file that .* is fitted on"),
        (
            "sensitive-subspace",
            {"fit": "people.csv", "hold_out": 0.3},
            "`fit` and `hold_out` must not be given together, got 'people.csv' and 0.3",
        ),
        ("sensitive-subspace", {"hold_out": 2}, "`hold_out` must be .* 0 and below 1.*, got 2"),
        ("comparable-groups", {"fit": "people.csv"}, "`group` must name the column"),
        (
            "comparable-pairs",
            {"fit": "pairs.csv"},
            "`comparable` must name a column of 'pairs.csv'",
        ),
        ("comparable-pairs", {"fit": "people.csv", "comparable": "case", "height": 1}, "`height`"),
        (
            "sensitive-subspace",
            {"fit": "no.csv", "sensitive_features": ["race"]},
            "there is no file .* for `fit`",
        ),
    ],
)
def test_settings_that_make_no_sense_are_refused(name, settings, message, folder):
    with pytest.raises(ft.InputError, match=message):
        similarity_from_settings(name, settings, folder)


def test_a_file_of_pairs_has_both_halves(folder):
    pd.DataFrame({"age_1": [1.0], "job_2": [1.0], "comparable": [1]}).to_csv(
        folder / "odd.csv", index=False
    )

    with pytest.raises(ft.InputError, match="`fit` must be pairs, each column with _1 and _2"):
        similarity_from_settings("comparable-pairs", {"fit": "odd.csv"}, folder)
