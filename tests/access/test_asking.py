"""Answers of a black box are checked before they are used."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fairtransport import InputError, ModelError
from fairtransport.access import Function, ask

POINTS = pd.DataFrame({"x": [1, 2]})


def asked(answer, kind, classes=("no", "yes"), positive="yes", own=None):
    def judge(_points):
        return answer

    return ask(Function(judge, own), POINTS, 2, kind, list(classes), positive).tolist()


@pytest.mark.parametrize(
    "answer",
    [["yes", "no"], np.array([["yes"], ["no"]]), pd.Series(["yes", "no"]), pl.Series(["yes", "no"]),
     pa.chunked_array([["yes", "no"]]), pd.Categorical(["yes", "no"])],
    ids=["list", "column", "pandas", "polars", "pyarrow", "categorical"],
)  # fmt: skip
def test_labels_may_come_in_any_container(answer):
    assert asked(answer, "label") == ["yes", "no"]


def test_one_score_a_point_is_that_of_the_positive_label():
    assert asked([0.25, 1], "score") == [[0.75, 0.25], [0, 1]]
    assert asked([[0.25], [1]], "score", positive="no") == [[0.25, 0.75], [1, 0]]


def test_scores_are_put_into_the_order_of_the_classes():
    answer = [[0.25, 0.75], [1, 0]]

    assert asked(answer, "score", own=["yes", "no"]) == [[0.75, 0.25], [0, 1]]


def test_a_class_that_the_model_does_not_know_has_score_zero():
    scores = asked([[0.25, 0.75], [1, 0]], "score", ("maybe", "no", "yes"), own=["no", "yes"])

    assert scores == [[0, 0.25, 0.75], [0, 1, 0]]


def test_scores_that_sum_to_one_but_for_rounding_are_made_to():
    rows = np.array(asked([[0.5, 0.5004], [0.1, 0.9]], "score"))

    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-15)


def test_numbers_may_be_whole_or_boolean():
    assert asked([True, False], "value") == [1.0, 0.0]
    assert asked([3, 4], "value") == [3.0, 4.0]


def test_anything_goes_where_the_loss_does_not_say():
    assert asked(["perhaps", "never"], "any") == ["perhaps", "never"]


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (["yes"], "label", r"must give one label per row \(2\), got shape \(1,\)"),
        (
            [["yes", "no"]] * 2,
            "label",
            r"must give one label per row \(2\), got shape \(2, 2\)",
        ),
        (None, "label", r"must give one label per row \(2\), got shape \(\)"),
        ([["yes"], ["yes", "no"]], "label", "failed on 2 rows: ValueError: .*inhomogeneous"),
        (["yes", "maybe"], "label", "gave the unknown label 'maybe'; known: 'no', 'yes'"),
        ([0, 1], "label", "gave the unknown label 0; known: 'no', 'yes'"),
        (["1", "b"], "value", "must give numbers for this loss, got "),
        ([1, np.nan], "value", "must give finite numbers, got nan for 1 of 2"),
        ([np.inf, np.inf], "value", "must give finite numbers, got inf for 2 of 2"),
        ([0.5, np.nan], "score", "must give finite numbers, got nan for 1 of 2"),
        ([0.5, 1.5], "score", r"must give probabilities in \[0, 1\], got 1.5 for 1 of 2"),
        ([[0.5, 0.4], [0, 1]], "score", "must give .* that sum to 1, got 0.9 for 1 of 2"),
        ([[0.1, 0.2, 0.7]] * 2, "score", r"must give 2 rows of 2 prob.*, got shape \(2, 3\)"),
        ([[0.5, 0.5]], "score", r"must give 2 rows of 2 probabilities, got shape \(1, 2\)"),
        ("high", "score", "must give numbers for this loss, got "),
        (None, "score", "must give finite numbers, got nan"),
    ],
)
def test_an_answer_that_cannot_be_used_is_refused(answer, kind, message):
    with pytest.raises(ModelError, match=f"the model judge {message}"):
        asked(answer, kind)


@pytest.mark.parametrize(
    ("classes", "positive"), [(("a", "b", "c"), "a"), (("a", "b"), None), (("a", "b"), "c")]
)
def test_one_score_a_point_needs_two_classes_and_a_positive_one(classes, positive):
    with pytest.raises(ModelError, match=r"needs two classes and `pos_label` among them; classes"):
        asked([0.5, 0.5], "score", classes, positive)


def failing(_points):
    return 1 / 0


def refusing(_points):
    msg = "`key` must be given"
    raise InputError(msg)


def test_a_model_that_raises_is_named_with_what_it_said():
    with pytest.raises(
        ModelError, match="the model failing failed on 2 rows: ZeroDivisionError"
    ) as caught:
        ask(Function(failing), POINTS, 2, "label", [], None)

    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_our_own_errors_pass_through():
    with pytest.raises(InputError, match="`key` must be given"):
        ask(Function(refusing), POINTS, 2, "label", [], None)
