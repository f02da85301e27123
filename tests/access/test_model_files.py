"""Models from files: what is read, what is refused, and what is remembered."""

import hashlib
import io
import json
import os
import pickle
import resource
import struct
import sys
import zipfile

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io as skops
from tests.messages import raises

import fairtransport as ft
from fairtransport.access import load
from fairtransport.access.loading import PLACES
from fairtransport.access.model_files import REVIEWED

KINDS = ", ".join(PLACES)


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

    with pytest.raises(ft.InputError, match=rf"^'model.{ending}' was not read.*`allow_pickle`"):
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

    with raises(ft.ModelError, f"not known to be safe: {name}; name "):
        load(path)
    assert load(path, trusted=[name]).name == "OwnModel"
    assert load(path, trusted=name).name == "OwnModel"


def test_allowing_pickles_trusts_no_skops_type(tmp_path):
    path = tmp_path / "model.skops"
    skops.dump(OwnModel(), path)

    with pytest.raises(ft.ModelError, match="not known to be safe"):
        load(path, allow_pickle=True)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (7, "`path` must be the path of a model file, got 7"),
        ("absent.skops", "there is no model file 'absent.skops' for `path`"),
        ("model.txt", f"`path` must be an MLflow folder or one of {KINDS}, got 'model.txt'"),
        ("model", f"`path` must be an MLflow folder or one of {KINDS}, got 'model'"),
        ("some/absent.onnx", "there is no model file 'some/absent.onnx' for `path`"),
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

    reason = "is no skops file" if ending == "skops" else "could not be read as a model ."
    with pytest.raises(ft.ModelError, match=rf"^'model.{ending}' {reason}"):
        load(path, allow_pickle=True)


def test_a_truncated_skops_file_is_damaged(people, tmp_path):
    path = tmp_path / "model.skops"
    skops.dump(tree(people), path)
    path.write_bytes(path.read_bytes()[:-100])

    with pytest.raises(ft.ModelError, match="is no skops file, or is damaged; save"):
        load(path)


@pytest.mark.parametrize(
    ("thing", "got"),
    [({"a": 1}, "an object of type dict"), (dict, "the class dict")],
)
def test_a_model_has_predict(thing, got, tmp_path):
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(thing))

    with pytest.raises(ft.ModelError, match=f"must hold a model with `predict`, got {got}; save"):
        load(tmp_path / "model.pkl", allow_pickle=True)


def test_a_package_that_the_model_needs_is_named(tmp_path):
    (tmp_path / "model.pkl").write_bytes(b"cno_such_package\nModel\n.")

    with pytest.raises(ft.ModelError, match="needs the package 'no_such_package', which is not"):
        load(tmp_path / "model.pkl", allow_pickle=True)


def test_the_extra_is_named_when_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    (tmp_path / "model.skops").touch()

    with raises(ft.ModelError, "pip install 'fairtransport[skops]'"):
        load(tmp_path / "model.skops")


# -- files that unpack to more than they should


def array_header(size):
    """Return how a file of so many small numbers begins."""
    made = io.BytesIO()
    header = {"descr": "|u1", "fortran_order": False, "shape": (size,)}
    np.lib.format.write_array_header_1_0(made, header)
    return made.getvalue()


def node(file):
    return {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode",
            "__id__": 1, "type": "numpy", "file": file}  # fmt: skip


def archive_of(path, files, compression=zipfile.ZIP_DEFLATED, schema=None):
    """Write a skops file of arrays by hand."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        parts = [node(name) for name in files] if schema is None else schema
        whole = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode",
                 "__id__": 0, "content": parts, "protocol": 2}  # fmt: skip
        archive.writestr("schema.json", json.dumps(whole))
    return path


SIZE = 10 << 20
KIB = 1 << 10


@pytest.mark.parametrize(
    "compression",
    [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA],
)
def test_a_file_may_unpack_to_so_much(compression, tmp_path):
    content = array_header(SIZE) + bytes(SIZE)
    path = archive_of(tmp_path / "a.skops", {"a.npy": content}, compression)

    # an array that is held once is counted in the archive and where it is held
    with pytest.raises(ft.ModelError, match=r"^'a.skops' must not unpack to more than 10 MiB; "):
        load(path, max_unpacked=SIZE)
    with pytest.raises(ft.ModelError, match="a model with `predict`, got an object of type list"):
        load(path, max_unpacked=2 * SIZE + 100 * KIB)


def test_the_limit_grows_with_the_file(monkeypatch, tmp_path):
    monkeypatch.setattr("fairtransport._core.files.MAX_UNPACKED_BYTES", 1000)
    content = array_header(SIZE) + bytes(SIZE)
    stored = archive_of(tmp_path / "stored.skops", {"a.npy": content}, zipfile.ZIP_STORED)
    packed = archive_of(tmp_path / "packed.skops", {"a.npy": content})

    with pytest.raises(ft.ModelError, match="must hold a model with `predict`"):
        load(stored)
    with pytest.raises(ft.ModelError, match=r"'packed.skops' must not unpack to more than"):
        load(packed)


def test_an_archive_inside_the_archive_counts(tmp_path):
    inner = io.BytesIO()
    np.savez_compressed(inner, data=np.zeros(SIZE, np.uint8))
    path = archive_of(tmp_path / "a.skops", {"a.bin": inner.getvalue()})

    with pytest.raises(ft.ModelError, match="must not unpack to more than 10 MiB"):
        load(path, max_unpacked=SIZE)


def test_an_array_that_is_held_often_counts_as_often(tmp_path):
    content = array_header(100 * KIB) + bytes(100 * KIB)
    path = archive_of(tmp_path / "a.skops", {"a.npy": content}, schema=[node("a.npy")] * 200)

    with pytest.raises(ft.ModelError, match="must not unpack to more than 10 MiB"):
        load(path, max_unpacked=SIZE)


@pytest.mark.parametrize("limit", [None, SIZE])
def test_what_an_archive_says_of_its_sizes_is_not_believed(limit, tmp_path):
    content = array_header(SIZE) + bytes(SIZE)
    path = archive_of(tmp_path / "a.skops", {"a.npy": content})
    data = path.read_bytes()
    lie = data.replace(struct.pack("<I", len(content)), struct.pack("<I", 200))
    assert lie != data
    path.write_bytes(lie)

    with pytest.raises(ft.ModelError, match=r"could not be read as a model|must not unpack"):
        load(path, max_unpacked=limit)


@pytest.mark.parametrize("says", [60 << 20, 1 << 20])
def test_a_bomb_takes_little_memory(says, tmp_path):
    path = tmp_path / "bomb.skops"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("a.npy", "w") as file:
            for _ in range(60):
                file.write(bytes(1 << 20))
        archive.writestr("schema.json", "{}")
    data = path.read_bytes()
    path.write_bytes(data.replace(struct.pack("<I", 60 << 20), struct.pack("<I", says)))

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ft.ModelError, match="must not unpack to more than 10 MiB"):
        load(path, max_unpacked=SIZE)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * KIB


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit(), BaseException("x" * 10_000)])
def test_a_pickle_cannot_end_the_program(error, tmp_path, monkeypatch):
    def broken(_):
        raise error

    monkeypatch.setattr(joblib, "load", broken)
    (tmp_path / "model.pkl").touch()
    with pytest.raises(ft.ModelError, match=r"could not be read as a model \(") as caught:
        load(tmp_path / "model.pkl", allow_pickle=True)
    assert len(str(caught.value)) < 300
