"""What the model says at every point: asked once each, given with the data, refused if unusable."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC
from tests.messages import raises

import fairtransport as ft
from fairtransport.access import oracle
from fairtransport.access.black_box import choose_access
from fairtransport.access.oracle import Oracle
from fairtransport.data import build_space
from fairtransport.losses import LOSSES, log_loss

LABELS = {
    "text": ["no", "yes"],
    "int": [0, 1],
    "signed": [-1, 1],
    "bool": [False, True],
    "float": [0.0, 1.0],
    "other numbers": [3, 7],
}
MANY_LABELS = {"text": ["a", "b", "c"], "int": [0, 1, 2], "float": [0.0, 1.0, 2.0]}


def cases(labels, size=60):
    """People with a feature that says something of their label."""
    rng = np.random.default_rng(11)
    label = rng.integers(len(labels), size=size)
    frame = pd.DataFrame({
        "g": rng.integers(2, size=size),
        "x": label + rng.integers(3, size=size),
    })  # fmt: skip
    return frame, np.array(labels)[label]


class Counting:
    """A model that remembers every row it was asked about."""

    def __init__(self):
        self.calls = []

    def __call__(self, points):
        self.calls.append(points)
        return ((points["x"] + points["g"]) % 2).to_numpy()


@pytest.mark.parametrize("copies", [1, 300])
def test_each_distinct_point_is_asked_once_however_many_rows_there_are(copies):
    frame, label = cases([0, 1])
    model = Counting()
    rows = pd.concat([frame.assign(good=label)] * copies)
    queries = ft.Queries(repeats=0)
    result = ft.audit(rows, "good", model=model, sensitive_features="g", queries=queries)
    (asked,) = model.calls

    assert not asked.duplicated().any()
    # the twins of every feature value, not of every label
    assert len(asked) == 2 * frame["x"].nunique() == result.queried
    assert result.points > result.queried


def test_people_who_look_the_same_to_the_model_are_one_question():
    frame, label = cases([0, 1])
    seen = []
    result = ft.audit(
        frame.assign(z=np.arange(len(frame))), label, features=["x"], sensitive_features="g",
        model=lambda points: seen.append(points) or np.zeros(len(points), int),
    )  # fmt: skip

    assert seen[0].columns.tolist() == ["x"]
    assert seen[0]["x"].tolist() == sorted(frame["x"].unique())
    assert result.queried == frame["x"].nunique()


@pytest.mark.parametrize("labels", [*LABELS.values(), *MANY_LABELS.values()])
def test_zero_one_takes_labels_of_any_type(labels):
    frame, label = cases(labels)
    model = LogisticRegression().fit(frame, label)
    result = ft.audit(frame, label, model=model, sensitive_features="g")

    assert result.baseline_risk == pytest.approx(1 - model.score(frame, label))


@pytest.mark.parametrize("labels", [*LABELS.values(), *MANY_LABELS.values()])
def test_log_and_brier_are_those_of_scikit_learn_for_labels_of_any_type(labels):
    frame, label = cases(labels)
    model = LogisticRegression().fit(frame, label)
    scores = model.predict_proba(frame)
    audited = {
        loss: ft.audit(frame, label, model=model, sensitive_features="g", loss=loss).baseline_risk
        for loss in ("log", "brier")
    }

    assert audited["log"] == pytest.approx(metrics.log_loss(label, scores))
    assert audited["brier"] == pytest.approx(
        metrics.brier_score_loss(
            label, scores, scale_by_half=True, labels=sorted(set(label.tolist()))
        )
        if len(labels) > 2
        else metrics.brier_score_loss(label, scores[:, 1], pos_label=labels[1])
    )


@pytest.mark.parametrize("labels", LABELS.values())
@pytest.mark.parametrize("form", ["one column", "two columns", "names"])
def test_given_scores_count_as_the_models_own(labels, form):
    frame, label = cases(labels)
    scores = LogisticRegression().fit(frame, label).predict_proba(frame)
    named = frame.assign(p0=scores[:, 0], p1=scores[:, 1])
    data, given = {
        "one column": (frame, scores[:, 1]),
        "two columns": (frame, scores),
        "names": (named, ["p0", "p1"]),
    }[form]
    result = ft.audit(
        data, label, y_score=given, sensitive_features="g", loss="brier", pos_label=labels[1]
    )

    assert result.baseline_risk == pytest.approx(
        metrics.brier_score_loss(label, scores[:, 1], pos_label=labels[1])
    )


def test_given_scores_of_several_classes_have_one_column_a_class():
    frame, label = cases(MANY_LABELS["text"])
    scores = LogisticRegression().fit(frame, label).predict_proba(frame)
    result = ft.audit(frame, label, y_score=scores, sensitive_features="g", loss=log_loss(1e-6))

    assert result.baseline_risk == pytest.approx(metrics.log_loss(label, scores))
    assert result.loss.settings == {"clip": 1e-6}


def test_a_class_that_the_model_never_saw_is_predicted_with_score_zero():
    frame, label = cases([0, 1])
    model = LogisticRegression().fit(frame, label)
    label[:3] = 2
    result = ft.audit(frame, label, model=model, sensitive_features="g", loss="log")
    at_unseen = result.problem.losses[result.space.values("label") == 2]

    np.testing.assert_allclose(at_unseen, -np.log(0.01))


def test_a_model_may_be_wrong_about_everyone():
    frame, _ = cases([0, 1])
    truth = np.zeros(len(frame), int)
    always_one = ft.access.Function(lambda points: np.ones(len(points), int), classes=[0, 1])
    result = ft.audit(frame, truth, model=always_one, sensitive_features="g")

    assert result.baseline_risk == 1


@pytest.mark.parametrize(
    ("loss", "expected"),
    [("absolute", metrics.mean_absolute_error), ("squared", metrics.mean_squared_error)],
)
def test_losses_on_numbers_are_those_of_scikit_learn(loss, expected):
    frame, _ = cases([0, 1])
    truth = frame["x"] * 0.5 + frame["g"]
    model = LinearRegression().fit(frame[["x"]], truth)
    asked = ft.audit(frame, truth, model=model, sensitive_features="g", loss=loss,
                     loss_range=(0, 99))  # fmt: skip
    given = ft.audit(
        frame,
        truth,
        y_pred=model.predict(frame[["x"]]),
        sensitive_features="g",
        loss=loss,
        loss_range=(0, 99),
    )

    assert asked.baseline_risk == pytest.approx(expected(truth, model.predict(frame[["x"]])))
    assert given.baseline_risk == pytest.approx(asked.baseline_risk)


def test_a_callable_loss_sees_labels_and_predictions_as_they_are():
    frame, label = cases(LABELS["text"])

    def missed(truth, predicted):
        return 2.0 * ((truth == "yes") & (predicted == "no"))

    result = ft.audit(
        frame, label, model=lambda points: np.full(len(points), "no"), sensitive_features="g",
        loss=missed, loss_range=(0, 2),
    )  # fmt: skip

    assert result.baseline_risk == pytest.approx(2 * np.mean(label == "yes"))
    assert (result.loss.name, result.loss.range) == ("missed", (0.0, 2.0))


FRAME = pd.DataFrame({"g": ["a", "b"], "x": [1, 1], "good": [1, 0], "guess": ["yes", "no"],
                      "number": [2.5, 0.5], "share": [0.75, 0.25]})  # fmt: skip


def outcome(**options):
    result = ft.audit(FRAME, sensitive_features="g", features=["g", "x"], loss="outcome", **options)
    return result.statistic, result.loss.range


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"y_pred": "guess", "pos_label": "yes"}, (0.5, (0.0, 1.0))),
        ({"y_pred": "guess", "pos_label": "no"}, (0.5, (0.0, 1.0))),
        ({"y_pred": "number", "method": "limit-law"}, (1.0, None)),
        ({"y_pred": "number", "loss_range": (0, 5)}, (1.0, (0.0, 5.0))),
        ({"y_score": "share"}, (0.25, (0.0, 1.0))),
        ({"y_score": "share", "pos_label": "yes"}, (0.25, (0.0, 1.0))),
        ({"model": lambda points: np.where(points["g"] == "a", 3, 1), "method": "limit-law"},
         (1.0, None)),
        ({"model": lambda points: np.where(points["g"] == "a", "yes", "no"), "pos_label": "yes"},
         (0.5, (0.0, 1.0))),
        ({"model": ft.access.Function(lambda points: (points["g"] == "a") * 2 - 1, [-1, 1])},
         (1.0, (-1.0, 1.0))),
        ({"model": ft.access.Function(lambda points: points["g"] == "a", ["yes", "no"]),
          "method": "limit-law"}, (0.5, None)),
    ],
)  # fmt: skip
def test_the_outcome_is_the_prediction_itself(options, expected):
    assert outcome(**options) == expected


def test_the_outcome_neither_needs_labels_nor_lets_them_block_moves():
    with_label, without = (
        ft.audit(FRAME, y, y_pred="number", sensitive_features="g", loss="outcome",
                 loss_range=(0, 9), features=["g", "x"])
        for y in ("good", None)
    )  # fmt: skip

    assert with_label.statistic == without.statistic > 0
    assert with_label.space.label is None


def zeros(points):
    return np.zeros(len(points), int)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ft.InputError, "exactly one of `model`, `y_pred` and `y_score` .* got none"),
        ({"model": zeros, "y_pred": "good"}, ft.InputError, "exactly .* got `model` and `y_pred`"),
        ({"y_score": "share"}, ft.InputError, "'zero-one' needs labels: give loss='log'"),
        ({"y_pred": "good", "loss": "log"}, ft.InputError, "'log' needs probabilities: give `y_sc"),
        ({"y_pred": "good", "y": None}, ft.InputError, "`favourable` must be given: .* as `y`"),
        ({"y_pred": "guess"}, ft.DataError, r"`y` has 0, 1, and the predictions are 'no'"),
        ({"y_pred": ["number", "x"]}, ft.InputError, "`y_pred` must be one column .* got 2"),
        ({"y_pred": "guess", "loss": "absolute", "loss_range": (0, 9)}, ft.ModelError,
         "`y_pred` must give numbers"),
        ({"y_pred": "guess", "loss": "outcome", "loss_range": (0, 9)}, ft.ModelError,
         "`y_pred` must give numbers"),
        ({"y_pred": "number", "y": "guess", "loss": "squared", "loss_range": (0, 9)},
         ft.DataError, "`y` must be num"),
        ({"model": lambda _: pytest.fail("it was asked"), "y": "guess", "loss": "squared",
          "loss_range": (0, 9)}, ft.DataError, "`y` must be num"),
        ({"y_score": "number", "loss": "brier"}, ft.ModelError, "`y_score` must give prob"),
        ({"y_score": "number", "loss": "outcome"}, ft.DataError, r"must lie in \[0, 1\], got 2.5"),
        ({"y_score": "shares", "loss": "log"}, ft.InputError, "`y_score` must .* got 'shares'"),
        ({"y_score": ["nope"], "loss": "log"}, ft.InputError, "`y_score` must name .* got 'nope'"),
        ({"y_score": ["share", "x", "number"], "loss": "log"}, ft.ModelError, "`y_score` must"),
        ({"y_score": "share", "loss": "log", "pos_label": 5}, ft.InputError, "`pos_label` must be"),
        ({"y_score": "share", "y": "guess", "loss": "log"}, ft.ModelError, "`pos_label` among"),
        ({"model": lambda p: p["g"]}, ft.ModelError, "gave the unknown label 'a'; known: 0, 1"),
        ({"model": lambda p: [0]}, ft.ModelError, r"per row \(\d+\), got shape \(1,\)"),
        ({"model": lambda p: p["nope"]}, ft.ModelError, "failed on .* rows: KeyError"),
        ({"model": lambda p: p["x"] * np.nan, "loss": "log"}, ft.ModelError, "finite numbers"),
        ({"model": LogisticRegression}, ft.InputError, "`model` must be a fitted .* the class"),
        ({"model": LogisticRegression()}, ft.ModelError, "NotFittedError"),
        ({"model": 5}, ft.InputError, "`model` must have `predict` or be callable, got 5"),
        ({"model": ft.access.Function(zeros, ["u", "v"])}, ft.DataError, "have the same values"),
        ({"model": zeros, "loss": "hinge"}, ft.InputError, "`loss` must be one of"),
        ({"model": zeros, "similarity": "x"}, ft.InputError, "`similarity` must be one of"),
        ({"model": zeros, "budget": -1}, ft.InputError, "`budget` must be .* at least 0, got -1"),
        ({"y_pred": "guess", "levels": {"g": ["a", "b"]}}, ft.InputError, "`levels` needs `model`"),
    ],
)  # fmt: skip
def test_an_audit_that_cannot_be_done_says_why(options, error, message):
    with pytest.raises(error, match=message):
        ft.audit(FRAME, **({"y": "good", "sensitive_features": "g"} | options))


def test_a_model_without_scores_is_refused_for_losses_on_scores():
    frame, label = cases([0, 1])
    model = LinearSVC().fit(frame, label)

    with pytest.raises(ft.ModelError, match="LinearSVC has no `predict_proba`, which this loss"):
        ft.audit(frame, label, model=model, sensitive_features="g", loss="brier")


@pytest.mark.parametrize("features", [["x"], ["g", "x", "z"]])
def test_features_must_be_those_the_model_was_fitted_on(features):
    frame, label = cases([0, 1])
    model = LogisticRegression().fit(frame, label)

    with raises(ft.InputError, "`features` must be the columns that ", " (g, x), got"):
        ft.audit(frame.assign(z=1), label, model=model, sensitive_features="g", features=features)


def test_a_model_receives_its_columns_in_its_order_whatever_the_data_has_besides():
    frame, label = cases([0, 1])
    model = LogisticRegression().fit(frame[["x", "g"]], label)
    plain = ft.audit(frame, label, model=model, sensitive_features="g")
    more = ft.audit(frame.assign(z=1), label, model=model, sensitive_features="g")
    told = ft.audit(frame, label, model=model, sensitive_features="g", features=["g", "x"])

    assert more.space.features == ("x", "g")
    assert plain.statistic == more.statistic == told.statistic


PEOPLE = pd.DataFrame({"g": ["a", "b"] * 4, "x": [1, 1, 2, 2] * 2, "good": [1, 0] * 4})


def oracle_of(model, loss="zero-one", pos_label=None):
    chosen = LOSSES[loss]
    return Oracle(choose_access(model, None, None, chosen), chosen, pos_label)


def spaces(*frames):
    return [build_space(frame, "good", sensitive_features="g", twins=True) for frame in frames]


def test_an_oracle_asks_each_question_once_over_all_spaces():
    asked = []

    def model(points):
        asked.append(len(points))
        return (points["g"] == "a").astype(int)

    several = spaces(PEOPLE, PEOPLE, PEOPLE.assign(x=[1, 1, 3, 3] * 2))
    oracle = oracle_of(model)
    answers = [oracle.answer(space) for space in several]

    assert asked == [4, 2]
    assert [one.queried for one in answers] == [4, 4, 6]
    for space, one in zip(several, answers, strict=True):
        np.testing.assert_array_equal(one.predictions, space.values("g") == "a")
        np.testing.assert_array_equal(one.losses, space.values("good") != one.predictions)


def test_scores_are_asked_anew_where_there_are_other_classes():
    oracle = oracle_of(lambda points: np.full(len(points), 0.75), "brier", pos_label=1)
    first, second = spaces(PEOPLE, PEOPLE.assign(good=PEOPLE["good"] + 1))

    assert oracle.answer(first).predictions[0].tolist() == [0.25, 0.75]
    assert oracle.answer(second).predictions[0].tolist() == [0.75, 0.25]


@pytest.mark.parametrize("answer", [lambda x: x % 2, lambda x: np.where(x % 2, "yes", "no")])
def test_a_model_in_this_process_is_asked_in_blocks(monkeypatch, answer):
    frame = pd.DataFrame({"g": [0, 1] * 20, "x": np.arange(40) // 2})
    sizes = []

    def model(points):
        sizes.append(len(points))
        return answer((points["x"] + points["g"]).to_numpy())

    more = {"sensitive_features": "g", "queries": ft.Queries(repeats=0), "rng": 0}
    label = answer(np.arange(40))
    whole = ft.audit(frame, label, model=model, **more)
    monkeypatch.setattr(oracle, "MAX_POINTS_PER_CALL", 15)
    parts = ft.audit(frame, label, model=model, **more)

    assert sizes == [40, 15, 15, 10]
    assert parts.document().to_json() == whole.document().to_json()


@pytest.mark.slow
def test_hundreds_of_thousands_of_people_at_ten_combinations_need_nothing_to_be_set():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({
        "sex": rng.choice(["f", "m"], 250_000), "race": rng.choice(list("abcde"), 250_000),
        "income": np.arange(250_000), "good": rng.integers(2, size=250_000),
    })  # fmt: skip
    result = ft.audit(
        people, "good", model=lambda points: (points["income"] % 2).to_numpy(),
        sensitive_features=["sex", "race"], rng=0,
    )  # fmt: skip

    assert (result.n, result.points) == (250_000, 2_500_000)
