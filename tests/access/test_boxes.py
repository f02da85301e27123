"""Estimators and callables as black boxes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fairtransport import InputError, ModelError
from fairtransport.access import BlackBox, Estimator, Function, as_black_box

POINTS = pd.DataFrame({"x": [0.0, 1, 2, 3], "z": [1.0, 0, 1, 0]})
LABELS = np.array(["no", "no", "yes", "yes"])


def test_an_estimator_fitted_on_names_remembers_them_and_gets_a_frame():
    box = as_black_box(LogisticRegression().fit(POINTS[["z", "x"]], LABELS))

    assert (box.name, box.library) == ("LogisticRegression", "pandas")
    assert box.features == ("z", "x")
    assert box.classes == ["no", "yes"]
    assert box.answer(POINTS[["z", "x"]], "label").tolist() == LABELS.tolist()


def test_an_estimator_fitted_on_an_array_gets_an_array():
    box = Estimator(LogisticRegression().fit(POINTS.to_numpy(), LABELS))

    assert box.features is None
    assert box.answer(POINTS, "score").shape == (4, 2)


def test_a_pipeline_is_named_after_its_last_step():
    pipeline = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(POINTS, LABELS)
    box = as_black_box(pipeline)

    assert box.name == "LogisticRegression"
    assert box.features == ("x", "z")
    assert box.classes == ["no", "yes"]


def test_a_regression_has_no_classes_and_no_scores():
    box = as_black_box(LinearRegression().fit(POINTS, [0.0, 1, 2, 3]))

    assert box.classes is None
    np.testing.assert_allclose(box.answer(POINTS, "value"), [0, 1, 2, 3], atol=1e-12)
    with pytest.raises(ModelError, match="LinearRegression has no `predict_proba`, which this"):
        box.answer(POINTS, "score")


def test_a_callable_answers_whatever_is_asked():
    box = as_black_box(lambda points: points["x"] * 2, classes=("no", "yes"))

    assert (box.name, box.library, box.features) == ("<lambda>", None, None)
    assert box.classes == ["no", "yes"]
    assert box.answer(POINTS, "value").tolist() == [0, 2, 4, 6]


def test_a_callable_object_is_named_after_its_class():
    class Judge:
        def __call__(self, points):
            return np.zeros(len(points))

    box = as_black_box(Judge())

    assert box.name == "Judge"
    assert box.classes is None


def test_a_black_box_is_taken_as_it_is():
    box = Function(len)

    assert isinstance(box, BlackBox)
    assert as_black_box(box) is box


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogisticRegression, "`model` must be a fitted .* got the class LogisticRegression"),
        ("model.onnx", "`model` must have `predict` or be callable, got 'model.onnx'"),
        (StandardScaler(), "`model` must have `predict` or be callable, got StandardScaler"),
    ],
)
def test_what_cannot_answer_is_refused(model, message):
    with pytest.raises(InputError, match=message):
        as_black_box(model)
