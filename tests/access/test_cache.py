"""A model that several audits ask is asked about a point once."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairtransport.access import BlackBox, Estimator
from fairtransport.access.cache import cached
from fairtransport.errors import InputError


class Counting:
    """An estimator that writes down what it was asked."""

    feature_names_in_ = np.array(["a", "b"])
    classes_ = np.array([0, 1])

    def __init__(self):
        self.asked = []

    def predict(self, points):
        self.asked += points.to_numpy().tolist()
        return (points["a"] > 1).astype(int).to_numpy()

    def predict_proba(self, points):
        self.asked += points.to_numpy().tolist()
        share = points["a"].to_numpy() / 10
        return np.column_stack([1 - share, share])


POINTS = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, np.nan, 1.0]})


def test_only_new_points_are_asked_about_and_answers_come_in_order():
    model = Counting()
    box = cached(model)

    first = box.answer(POINTS.iloc[:2], "label")
    second = box.answer(POINTS.iloc[[2, 1, 0]], "label")

    assert first.tolist() == [0, 1]
    assert second.tolist() == [1, 1, 0]
    assert len(model.asked) == box.queried == 3


def test_kinds_of_answers_are_asked_for_once_each():
    model = Counting()
    box = cached(model)
    for kind in ("label", "value", "any", "score", "score"):
        box.answer(POINTS, kind)

    assert box.queried == 6
    np.testing.assert_allclose(box.answer(POINTS, "score")[:, 1], [0.1, 0.2, 0.3])


def test_other_columns_are_other_questions():
    box = cached(lambda points: [0] * len(points))
    box.answer(POINTS, "label")
    box.answer(POINTS[["b", "a"]], "label")

    assert box.queried == 6


def test_text_and_numbers_stay_what_they_are():
    box = cached(lambda points: list(points["a"]))
    box.answer(pl.DataFrame({"a": [1, 2]}), "any")
    found = box.answer(pl.DataFrame({"a": ["x"]}), "any")
    both = cached(lambda points: ["no"] if len(points) == 1 else [1, 2])
    both.answer(POINTS.iloc[:2], "any")

    assert found.tolist() == ["x"]
    assert both.answer(POINTS, "any").tolist() == [1, 2, "no"]


@pytest.mark.parametrize("answer", [[0], 7, np.ma.masked_array([0, 1, 1], [0, 1, 0])])
def test_a_wrong_answer_is_handed_on_and_not_remembered(answer):
    box = cached(lambda _: answer)

    assert box.answer(POINTS, "label") is answer
    assert box.queried == 0


def test_it_describes_itself_as_the_model_does():
    box = cached(Counting())
    own = Estimator(Counting())

    assert isinstance(box, BlackBox)
    for name in ("name", "description", "library", "features", "classes"):
        assert getattr(box, name) == getattr(own, name)
    with pytest.raises(InputError, match="`model` must be a fitted estimator"):
        cached(Counting)
