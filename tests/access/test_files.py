"""Models from files: what is read, what is refused, and what is remembered."""

import hashlib
import os
import pickle
import re
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io as skops

import fairtransport as ft
from fairtransport.access import load
from fairtransport.access.files import REVIEWED

KINDS = ".skops, .pkl, .pickle, .joblib"


class Surprise:
    """An object whose pickle runs code when it is read."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (self.mark,)


class OwnModel:
    """A model of the user's own, of which no list can know."""

    def predict(self, points):
        return np.ones(len(points), int)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"race": rng.choice(["a", "b"], 200), "age": rng.integers(18, 80, 200).astype(float)}
    )
    frame["good"] = ((frame["age"] > 40) ^ (rng.random(200) < 0.2)).astype(int)
    return frame


def pipeline(last, people):
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    columns = make_column_transformer((OneHotEncoder(), ["race"]), (SimpleImputer(), ["age"]))
    return make_pipeline(columns, last).fit(people[["race", "age"]], people["good"])


def tree(people):
    from sklearn.tree import DecisionTreeClassifier

    return pipeline(DecisionTreeClassifier(random_state=0), people)


def ordinary():
    from sklearn import calibration, ensemble, linear_model, neighbors, neural_network, svm
    from sklearn.model_selection import GridSearchCV

    return [
        linear_model.LogisticRegression(),
        ensemble.RandomForestClassifier(5, random_state=0),
        ensemble.GradientBoostingClassifier(n_estimators=5, random_state=0),
        ensemble.HistGradientBoostingClassifier(max_iter=5, random_state=0),
        ensemble.VotingClassifier([("a", linear_model.LogisticRegression())]),
        neighbors.KNeighborsClassifier(),
        neighbors.KNeighborsClassifier(algorithm="ball_tree"),
        neural_network.MLPClassifier((3,), max_iter=2, random_state=0),
        neural_network.MLPClassifier((3,), solver="sgd", max_iter=2, random_state=0),
        calibration.CalibratedClassifierCV(linear_model.LogisticRegression()),
        svm.SVC(),
        GridSearchCV(linear_model.LogisticRegression(), {"C": [0.1, 1]}),
    ]


@pytest.mark.parametrize("model", ordinary(), ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_ordinary_models_come_back_from_skops_files(model, people, tmp_path):
    fitted = pipeline(model, people)
    path = tmp_path / "model.skops"
    skops.dump(fitted, path)
    frame = people[["race", "age"]]

    loaded = load(path)

    assert loaded.name == type(model).__name__
    assert loaded.features == ("race", "age")
    assert np.array_equal(loaded.answer(frame, "label"), fitted.predict(frame))


def test_every_reviewed_name_exists_and_none_is_more_than_it_seems():
    from importlib import import_module

    import sklearn.tree

    for name in sorted(REVIEWED):
        module, _, part = name.rpartition(".")
        assert hasattr(import_module(module), part), name
        assert name.startswith(("sklearn.", "numpy."))
    assert sklearn.tree._tree.Tree.__module__ + ".Tree" in REVIEWED


def test_an_audit_with_a_loaded_model_is_the_audit_with_the_model(people, tmp_path):
    model = tree(people)
    skops.dump(model, tmp_path / "model.skops")
    options = dict(sensitive_features=["race"], rng=0)

    from_file = ft.audit(people, "good", model=load(str(tmp_path / "model.skops")), **options)

    assert from_file.statistic == ft.audit(people, "good", model=model, **options).statistic


def test_the_hash_is_remembered_and_the_path_is_not(people, tmp_path):
    path = tmp_path / "very-secret.skops"
    skops.dump(tree(people), path)

    loaded = load(path)

    assert loaded.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    steps = "ColumnTransformer, then DecisionTreeClassifier"
    assert loaded.description == f"{steps}; file with SHA-256 {loaded.sha256}"
    assert "very-secret" not in repr(vars(loaded))
    assert str(tmp_path) not in repr(vars(loaded))


@pytest.mark.parametrize("ending", ["pkl", "pickle", "joblib", "PKL"])
def test_pickles_are_read_only_when_allowed(ending, people, tmp_path):
    model, path = tree(people), tmp_path / f"model.{ending}"
    if ending == "joblib":
        joblib.dump(model, path, compress=3)
    else:
        path.write_bytes(pickle.dumps(model))
    frame = people[["race", "age"]]

    with pytest.raises(
        ft.InputError, match=rf"`allow_pickle` must be set to read 'model.{ending}'"
    ):
        load(path)
    assert np.array_equal(
        load(path, allow_pickle=True).answer(frame, "label"), model.predict(frame)
    )


@pytest.mark.parametrize("ending", ["pkl", "joblib", "skops"])
def test_no_code_runs_from_a_file_that_is_refused(ending, tmp_path):
    path, mark = tmp_path / f"model.{ending}", str(tmp_path / "ran")
    path.write_bytes(pickle.dumps(Surprise(mark)))

    with pytest.raises(ft.FairtransportError):
        load(path)
    assert not os.path.exists(mark)  # noqa: PTH110


def test_types_that_nobody_vouched_for_are_named(tmp_path):
    path = tmp_path / "model.skops"
    skops.dump(OwnModel(), path)
    name = f"{OwnModel.__module__}.OwnModel"

    with pytest.raises(ft.ModelError, match=rf"nobody has vouched for: {re.escape(name)}; name "):
        load(path)
    assert load(path, trusted=[name]).name == "OwnModel"
    assert load(path, trusted=name).name == "OwnModel"


def test_allowing_pickles_trusts_no_skops_type(tmp_path):
    path = tmp_path / "model.skops"
    skops.dump(OwnModel(), path)

    with pytest.raises(ft.ModelError, match="nobody has vouched for"):
        load(path, allow_pickle=True)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (7, "`path` must be the path of a model file, got 7"),
        ("absent.skops", "`path` must be an existing file, got 'absent.skops'"),
        ("model.txt", "`path` must end in .skops, .pkl, .pickle, .joblib, got 'model.txt'"),
        ("model", "`path` must end in .skops, .pkl, .pickle, .joblib, got 'model'"),
        (
            "some/model.onnx",
            f"`path` must end in {KINDS}; ONNX files are not supported yet, got 'model.onnx'",
        ),
        (
            "https://host/model",
            f"`path` must be a file ({KINDS}); endpoints are not supported yet, got 'https://host/model'",
        ),
    ],
)
def test_paths_that_are_no_model(path, message):
    with pytest.raises(ft.InputError) as caught:
        load(path)
    assert str(caught.value) == message


def test_a_name_to_trust_is_a_full_name(tmp_path):
    (tmp_path / "model.skops").touch()
    with pytest.raises(ft.InputError, match=r"`trusted` must hold full names .* got 'Tree'"):
        load(tmp_path / "model.skops", trusted=["Tree"])


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half a zip", b"\x80\x05not a pickle"])
@pytest.mark.parametrize("ending", ["skops", "pkl", "joblib"])
def test_damaged_files_are_one_sentence(content, ending, tmp_path):
    path = tmp_path / f"model.{ending}"
    path.write_bytes(content)

    with pytest.raises(ft.ModelError, match=rf"^'model.{ending}' could not be read as a model: "):
        load(path, allow_pickle=True)


def test_a_truncated_skops_file_is_damaged(people, tmp_path):
    path = tmp_path / "model.skops"
    skops.dump(tree(people), path)
    path.write_bytes(path.read_bytes()[:-100])

    with pytest.raises(ft.ModelError, match="could not be read as a model: BadZipFile"):
        load(path)


@pytest.mark.parametrize(
    ("thing", "got"),
    [({"a": 1}, "an object of type dict"), (dict, "the class dict")],
)
def test_a_model_has_predict(thing, got, tmp_path):
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(thing))

    with pytest.raises(ft.ModelError, match=f"in 'model.pkl' must have `predict`, got {got}"):
        load(tmp_path / "model.pkl", allow_pickle=True)


def test_a_package_that_the_model_needs_is_named(tmp_path):
    (tmp_path / "model.pkl").write_bytes(b"cno_such_package\nModel\n.")

    with pytest.raises(ft.ModelError, match="needs the package 'no_such_package', which is not"):
        load(tmp_path / "model.pkl", allow_pickle=True)


def test_the_extra_is_named_when_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    (tmp_path / "model.skops").touch()

    with pytest.raises(ft.ModelError, match=r"pip install 'fairtransport\[skops\]'"):
        load(tmp_path / "model.skops")
