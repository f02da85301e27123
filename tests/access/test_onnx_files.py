"""Models in ONNX files: what they answer, what they take, and what is refused before it runs."""

import os
import resource
import sys

import numpy as np
import onnx
import pandas as pd
import pytest
from onnx import TensorProto, helper
from sklearn.ensemble import RandomForestClassifier
from tests.access.models_of_people import FEATURES, as_onnx, fitted, people
from tests.messages import raises

import fairtransport as ft
from fairtransport.access import load
from fairtransport.access.onnx_files import IN_SINGLE_PRECISION

PEOPLE = people()


@pytest.fixture(scope="module")
def pipeline():
    return fitted()


def written(model, path):
    path.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
    return path


@pytest.mark.parametrize("maps", [True, False])
def test_labels_and_scores_of_mixed_columns(maps, pipeline, tmp_path):
    box = load(written(as_onnx(pipeline, maps=maps), tmp_path / "model.onnx"))
    frame = PEOPLE[FEATURES]

    assert box.features == tuple(FEATURES)
    assert box.classes == [0, 1]
    assert np.array_equal(box.answer(frame, "label"), pipeline.predict(frame))
    assert np.allclose(box.answer(frame, "score"), pipeline.predict_proba(frame), atol=1e-6)


def test_an_audit_of_the_file_is_that_of_the_pipeline_and_tells_of_single_precision(
    pipeline, tmp_path
):
    path = written(as_onnx(pipeline), tmp_path / "very-secret.onnx")
    options = dict(sensitive_features=["race"], rng=0, delta=0.1)
    from_file = ft.audit(PEOPLE, "good", model=load(path), **options)
    in_memory = ft.audit(PEOPLE, "good", model=pipeline, **options)

    for name in ("statistic", "interval", "lower_bound", "upper_bound", "pvalue", "verdict"):
        assert getattr(from_file, name) == getattr(in_memory, name)
    assert IN_SINGLE_PRECISION in from_file.warnings
    assert IN_SINGLE_PRECISION not in in_memory.warnings
    assert "very-secret" not in from_file.summary.provenance.model
    assert load(path).identity == f"onnx {load(path).sha256}"


@pytest.mark.slow
@pytest.mark.versions
def test_a_forest_in_single_precision_has_other_scores(tmp_path):
    # thresholds between two numbers that single precision cannot tell apart
    forest = fitted(RandomForestClassifier(100, random_state=0))
    box = load(written(as_onnx(forest), tmp_path / "model.onnx"))
    frame = people(3000, seed=5)[FEATURES]
    difference = np.abs(box.answer(frame, "score") - forest.predict_proba(frame))

    assert difference.max() > 0.05
    assert 0 < np.mean(box.answer(frame, "label") != forest.predict(frame)) < 0.05
    assert box.notes_on(np.zeros(1), [0, 1]) == (IN_SINGLE_PRECISION,)


def graph(nodes, inputs, outputs, constants=(), sparse=()):
    made = helper.make_graph(
        nodes, "graph",
        [helper.make_tensor_value_info(*one) for one in inputs],
        [helper.make_tensor_value_info(*one) for one in outputs],
        list(constants), sparse_initializer=list(sparse),
    )  # fmt: skip
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 9
    return model


def added(number=TensorProto.DOUBLE, width=2, value=1.0):
    """Return a model that adds one to the sum of a table's columns."""
    nodes = [
        helper.make_node("ReduceSum", ["table", "axis"], ["sum"], keepdims=1),
        helper.make_node("Add", ["sum", "one"], ["value"]),
    ]
    constants = [
        helper.make_tensor("axis", TensorProto.INT64, [1], [1]),
        helper.make_tensor("one", number, [1], [value]),
    ]
    return graph(
        nodes, [("table", number, [None, width])], [("value", number, [None, 1])], constants
    )


def test_a_table_without_names_and_numbers_in_double_precision(tmp_path):
    box = load(written(added(), tmp_path / "model.onnx"))
    frame = pd.DataFrame({"a": [1, 2], "b": [True, False]})

    assert box.features is None
    assert np.array_equal(box.answer(frame, "value"), [[3.0], [3.0]])
    assert box.notes_on(np.zeros(1), []) == ()
    with raises(ft.ModelError, "takes 2 columns, got 1: 'a'"):
        box.answer(frame[["a"]], "value")
    with pytest.raises(ft.ModelError, match="has no output that holds labels, got value"):
        box.answer(frame, "label")


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("race", [1, 2], "takes text in the column 'race', got 1"),
        ("race", ["a", None], "takes text in the column 'race', got None"),
        ("age", [1.5, 2], "takes whole numbers in the column 'age', got 1.5"),
        ("age", ["old", "young"], "takes whole numbers in the column 'age', got 'old'"),
        ("age", [10**30, 2], "takes whole numbers in the column 'age', got 1000"),
        ("age", [np.nan, 2], "takes whole numbers in the column 'age', got None"),
        ("income", ["1", "2"], "takes numbers in the column 'income', got '1'"),
        ("member", [2, 0], "takes truth values in the column 'member', got 2"),
    ],
)
def test_values_that_the_file_does_not_take(column, values, message, pipeline, tmp_path):
    box = load(written(as_onnx(pipeline), tmp_path / "model.onnx"))
    frame = (
        PEOPLE[FEATURES].head(2).astype(object).assign(**{column: pd.Series(values, dtype=object)})
    )

    with pytest.raises(ft.ModelError, match=f"^the model ONNX {message}"):
        box.answer(frame, "label")


def test_truth_values_are_numbers_and_the_other_way_round(pipeline, tmp_path):
    box = load(written(as_onnx(pipeline), tmp_path / "model.onnx"))
    frame = PEOPLE[FEATURES].head(20)
    cast = frame.assign(member=frame["member"].astype(int), age=frame["age"].astype(float))

    assert np.array_equal(box.answer(cast, "label"), box.answer(frame, "label"))


# -- files that mean harm


def outside(location, offset="0", length="8"):
    """Return a model one of whose constants is in another file."""
    model = added(number=TensorProto.DOUBLE)
    one = model.graph.initializer[1]
    one.ClearField("double_data")
    one.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        one.external_data.add(key=key, value=value)
    return model


@pytest.mark.parametrize("location", ["../secret.bin", "/etc/hostname", "link.bin", "", "no.bin",
                                      "folder/../../secret.bin", "\x00"])  # fmt: skip
def test_data_outside_the_folder_is_not_read(location, tmp_path):
    folder = tmp_path / "models"
    (folder / "folder").mkdir(parents=True)
    (tmp_path / "secret.bin").write_bytes(np.array([41.0]).tobytes())
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")

    with pytest.raises(
        ft.ModelError, match=r"'m.onnx' must keep its data in files of its own folder"
    ):
        load(written(outside(location), folder / "m.onnx"))


def test_data_in_the_folder_is_read_wherever_the_program_runs(tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    (tmp_path / "weights.bin").write_bytes(np.array([41.0]).tobytes())
    box = load(written(outside("weights.bin"), tmp_path / "m.onnx"))

    assert box.answer(pd.DataFrame({"a": [1.0], "b": [0.0]}), "value") == [[42.0]]
    before = box.identity
    (tmp_path / "weights.bin").write_bytes(np.array([40.0]).tobytes())
    assert load(tmp_path / "m.onnx").identity != before
    with pytest.raises(ft.ModelError, match="or too short"):
        load(written(outside("weights.bin", length="800"), tmp_path / "m.onnx"))


def huge_initializer():
    model = added()
    model.graph.initializer[1].dims[:] = [1 << 40]
    return model


def huge_sparse():
    values = helper.make_tensor("s", TensorProto.DOUBLE, [1], [1.0])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [0])
    sparse = helper.make_sparse_tensor(values, indices, [1 << 36])
    model = added()
    ends = [("table", TensorProto.DOUBLE, [None, 2])], [("value", TensorProto.DOUBLE, [None, 1])]
    return graph(model.graph.node, *ends, model.graph.initializer, [sparse])


def huge_in_a_node():
    model = added()
    value = helper.make_tensor("v", TensorProto.DOUBLE, [1], [1.0])
    value.dims[:] = [1 << 40]
    model.graph.node.append(helper.make_node("Constant", [], ["c"], value=value))
    return model


@pytest.mark.parametrize("model", [huge_initializer(), huge_sparse(), huge_in_a_node()],
                         ids=["initializer", "sparse", "node"])  # fmt: skip
def test_tensors_that_the_file_merely_claims_are_not_filled(model, tmp_path):
    path = written(model, tmp_path / "m.onnx")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with pytest.raises(ft.ModelError, match=r"^'m.onnx' must (hold its tensors|not unpack)"):
        load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 << 10


def test_a_tensor_that_is_made_while_it_runs_has_a_limit(tmp_path):
    shape = helper.make_tensor("shape", TensorProto.INT64, [1], [1 << 33])
    one = helper.make_tensor("v", TensorProto.FLOAT, [1], [1.0])
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["big"], value=one),
        helper.make_node("ReduceSum", ["big"], ["sum"], keepdims=0),
        helper.make_node("Add", ["table", "sum"], ["value"]),
    ]
    model = graph(nodes, [("table", TensorProto.FLOAT, [None, 2])],
                  [("value", TensorProto.FLOAT, [None, 2])], [shape])  # fmt: skip
    box = load(written(model, tmp_path / "m.onnx"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    frame = pd.DataFrame({"g": ["a", "b"], "x": [1.0, 2.0], "z": [0.0, 1.0], "y": [0.0, 1.0]})
    with pytest.raises(ft.ModelError, match="the model ONNX failed on 4 rows: Fail"):
        ft.audit(frame, "y", model=box, features=["x", "z"], sensitive_features=["x"],
                 loss="squared", loss_range=(0, 1))  # fmt: skip
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 << 10


@pytest.mark.parametrize("content", [b"", b"not a model", b"\xff" * 100, b"\x3a\xff\xff\xff\x7f"])
def test_damaged_files_are_one_sentence(content, tmp_path):
    with pytest.raises(ft.ModelError, match=r"^'m.onnx' (could not be read as a model|must)"):
        load(written(content, tmp_path / "m.onnx"))


def test_a_file_cut_short_is_damaged(pipeline, tmp_path):
    data = as_onnx(pipeline).SerializeToString()
    for size in (len(data) // 3, len(data) - 3):
        with pytest.raises(ft.ModelError, match="could not be read as a model"):
            load(written(data[:size], tmp_path / "m.onnx"))


def test_operators_from_elsewhere_are_not_run(tmp_path):
    model = added()
    model.graph.node[1].domain, model.graph.node[1].op_type = "evil", "Run"
    model.opset_import.append(helper.make_opsetid("evil", 1))

    with pytest.raises(ft.ModelError, match="could not be read as a model"):
        load(written(model, tmp_path / "m.onnx"))


def test_what_goes_in_are_columns(tmp_path):
    node = helper.make_node("Identity", ["picture"], ["same"])
    cube = [None, 3, 8, 8]
    model = graph(
        [node], [("picture", TensorProto.FLOAT, cube)], [("same", TensorProto.FLOAT, cube)]
    )

    with pytest.raises(ft.ModelError, match=r"must take columns of .*got the input 'picture'"):
        load(written(model, tmp_path / "m.onnx"))


def test_the_extra_is_named_when_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with raises(ft.ModelError, "pip install 'fairtransport[onnx]'"):
        load(written(b"", tmp_path / "m.onnx"))


def test_nothing_is_written_beside_a_file(pipeline, tmp_path):
    load(written(as_onnx(pipeline), tmp_path / "m.onnx")).answer(PEOPLE[FEATURES], "label")

    assert os.listdir(tmp_path) == ["m.onnx"]  # noqa: PTH208
    onnx.checker.check_model(onnx.load(tmp_path / "m.onnx"))
