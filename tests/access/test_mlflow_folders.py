"""MLflow folders without MLflow: flavours, signatures, and folders that mean harm."""

import json
import os
import pickle

import numpy as np
import pandas as pd
import pytest
import skops.io as skops
import yaml
from tests.access.models_of_people import FEATURES, as_onnx, fitted, people

import fairtransport as ft
from fairtransport.access import load

PEOPLE = people()
TYPES = {"race": "string", "age": "long", "income": "double", "member": "boolean"}
SIGNATURE = [{"type": kind, "name": name, "required": True} for name, kind in TYPES.items()]


@pytest.fixture(scope="module")
def pipeline():
    return fitted()


@pytest.fixture
def folder(tmp_path):
    """Write a folder as MLflow does."""

    def write(flavours, signature=SIGNATURE, files=()):
        told = {"flavors": {"python_function": {"loader_module": "x"}, **flavours}}
        if signature is not None:
            told["signature"] = {"inputs": json.dumps(signature), "params": None}
        (tmp_path / "model").mkdir(exist_ok=True)
        (tmp_path / "model" / "MLmodel").write_text(yaml.safe_dump(told))
        for name, content in dict(files).items():
            (tmp_path / "model" / name).write_bytes(content)
        return tmp_path / "model"

    return write


def sklearn(form, name="model.skops"):
    return {"sklearn": {"pickled_model": name, "serialization_format": form}}


@pytest.mark.parametrize("form", ["skops", "pickle", "cloudpickle", "onnx"])
@pytest.mark.parametrize("ending", ["", "MLmodel"])
def test_an_audit_of_the_folder_is_that_of_the_pipeline(form, ending, pipeline, folder):
    if form == "onnx":
        flavours = {"onnx": {"data": "model.onnx", "onnx_version": "1"}}
        content = as_onnx(pipeline).SerializeToString()
    else:
        flavours = sklearn(form, f"model.{form}")
        content = skops.dumps(pipeline) if form == "skops" else pickle.dumps(pipeline)
    path = folder(flavours, files={f"model.{form}": content}) / ending
    options = dict(sensitive_features=["race"], rng=0)

    box = load(path, allow_pickle="pickle" in form)
    result = ft.audit(PEOPLE, "good", model=box, **options)
    same = ft.audit(PEOPLE, "good", model=pipeline, **options)

    assert box.features == tuple(FEATURES)
    assert (result.statistic, result.interval) == (same.statistic, same.interval)
    assert box.description.endswith("; in an MLflow folder")
    assert str(path) not in repr([box.description, box.identity])


def test_the_signature_gives_types_and_has_a_part_in_the_identity(pipeline, folder):
    files = {"model.skops": skops.dumps(pipeline)}
    box = load(folder(sklearn("skops"), files=files))
    frame = PEOPLE[FEATURES].head(20)
    cast = frame.assign(member=frame["member"].astype(int), age=frame["age"].astype(float))

    assert np.array_equal(box.answer(cast, "score"), pipeline.predict_proba(frame))
    with pytest.raises(ft.ModelError, match=r"takes whole numbers in the column 'age', got 1.5"):
        box.answer(frame.assign(age=1.5), "label")
    other = [{**SIGNATURE[0], "required": False}, *SIGNATURE[1:]]
    assert load(folder(sklearn("skops"), other, files)).identity != box.identity


def test_without_a_signature_the_model_says_its_columns(pipeline, folder):
    box = load(folder(sklearn("skops"), None, {"model.skops": skops.dumps(pipeline)}))

    assert box.features == tuple(FEATURES)
    assert len(box.answer(PEOPLE[FEATURES], "label")) == len(PEOPLE)


def test_a_table_in_onnx_gets_its_names_from_the_signature(folder):
    from tests.access.test_onnx_files import added

    columns = [{"type": "double", "name": name} for name in "ab"]
    path = folder({"onnx": {"data": "m.onnx"}}, columns, {"m.onnx": added().SerializeToString()})

    assert load(path).features == ("a", "b")
    assert load(path).answer(pd.DataFrame({"a": [1], "b": [2]}), "value") == [[4.0]]


class Surprise:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (self.mark,)


def test_a_pickle_is_read_only_when_allowed(folder, tmp_path):
    mark = str(tmp_path / "ran")
    content = pickle.dumps(Surprise(mark))
    for form, name in (("pickle", "model.pkl"), (None, "model.pkl"), ("skops", "model.pkl")):
        path = folder(sklearn(form, name), files={name: content})
        with pytest.raises(ft.FairtransportError, match=r"allow_pickle|is no skops file"):
            load(path)
    assert not (tmp_path / "ran").exists()


def test_types_that_the_folder_trusts_are_not_trusted(folder):
    from tests.access.test_model_files import OwnModel

    name = f"{OwnModel.__module__}.OwnModel"
    flavours = sklearn("skops")
    flavours["sklearn"]["skops_trusted_types"] = [name]
    path = folder(flavours, None, {"model.skops": skops.dumps(OwnModel())})

    with pytest.raises(ft.ModelError, match="not known to be safe"):
        load(path)
    assert load(path, trusted=[name]).name == "OwnModel"


@pytest.mark.parametrize("name", ["../model.skops", "/etc/passwd", "absent.skops", "", ".", 7,
                                  "link.skops", "a" * 5000])  # fmt: skip
def test_a_file_outside_the_folder_is_not_read(name, pipeline, folder, tmp_path):
    (tmp_path / "model.skops").write_bytes(skops.dumps(pipeline))
    path = folder(sklearn("skops", name))
    (path / "link.skops").symlink_to(tmp_path / "model.skops")

    with pytest.raises(ft.ModelError, match="'MLmodel' must name a file of its own folder, got"):
        load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must name the flavours of a model, got None"),
        ("[1, 2]", "must name the flavours"),
        ("flavors: 3", "must name the flavours"),
        ("a: [", "could not be read as a model .ParserError"),
        ("flavors: !!python/object/apply:os.mkdir [ran]", "could not be read as a model .Constr"),
        ("flavors: {sklearn: {}}\nsignature: {inputs: '[3]'}", "the signature of 'MLmodel' must"),
        ("flavors: {sklearn: {}}\nsignature: {inputs: '[{\"type\": \"date\", \"name\": \"a\"}]'}",
         "the signature of 'MLmodel' must name columns of boolean, .*, got"),
        ("# " + "x" * (1 << 20), "must have at most 1 MiB"),
    ],
)  # fmt: skip
def test_descriptions_that_are_none(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "MLmodel").write_text(text)

    with pytest.raises(ft.ModelError, match=message):
        load(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_other_flavours_are_named_with_what_to_do(folder):
    with pytest.raises(ft.InputError, match=r"got 'python_function, torch'; serve the model with"):
        load(folder({"torch": {}}))


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(ft.InputError, match=r"`path` must be an MLflow folder or one of .skops"):
        load(tmp_path)
    with pytest.raises(ft.InputError, match=r"there is no .*file .* for `path`"):
        load(tmp_path / "MLmodel")
