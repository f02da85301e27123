"""What can be known before the model is asked is refused before, with advice that works."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.messages import raises

import fairtransport as ft
from fairtransport.access.cache import cached
from fairtransport.selection import DeltaFairSearch, faith_scorer
from fairtransport.testing import assert_delta_fair

RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame({"sex": RNG.integers(2, size=60), "grade": RNG.integers(5, size=60)})
PEOPLE["good"] = (PEOPLE["grade"] > 2).astype(int)
ASK = {"sensitive_features": "sex", "rng": 0}


def score(people):
    """Return a probability that depends on sex."""
    rows = np.asarray(people, dtype=float)
    return (rows[:, 1] + rows[:, 0]) / 6


def unasked(_):
    pytest.fail("the model was asked")


def audit(model, **more):
    return ft.audit(PEOPLE, "good", model=model, **ASK | more)


LABELS = audit(lambda people: (score(people) > 0.5).astype(int)).statistic
assert LABELS > 0


class Scores:
    """An object with nothing but class scores."""

    def predict_proba(self, rows):
        return np.column_stack([1 - score(rows), score(rows)])


class Network:
    """An object as Keras has them: probabilities of shape (n, 1), of arrays alone."""

    def predict(self, rows):
        assert isinstance(rows, np.ndarray)
        return score(rows)[:, None].astype(np.float32)

    def __call__(self, _):
        pytest.fail("predict is the way to ask it")


class Softmax(Network):
    """The same with a column a class."""

    def predict(self, rows):
        return np.column_stack([1 - score(rows), score(rows)])


class TextModel:
    """An estimator of text labels."""

    classes_ = np.array(["no", "yes"])

    def predict(self, rows):
        return np.where(score(rows) > 0.5, "yes", "no")


def follow(message, model, before="lambda x: "):
    """Return the function that a message advises to pass."""
    code = before + message.partition(before)[2]
    return eval(code, {"np": np, "model": model})  # noqa: S307


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Scores(), ("the model Scores has no `predict`, which this loss needs: pass "
                   "loss='log' or loss='brier' for probabilities, or a function for `model`")),
        (Network(), "the model Network gave the unknown label 0."),
        (Softmax(), ("must give one label per row (10), got shape (10, 2). Class probabilities "
                    "take loss='log' or loss='brier'; for labels, pass a function")),
        (Scores().predict_proba, "got shape (10, 2). Class probabilities take loss='log'"),
        (TextModel(), "the model answers 'no', 'yes'. Labels and answers"),
        (TextModel().predict, ("gave the unknown label 'no'; known: 0, 1. Labels and answers must "
                              "be of one type: pass `y` as text, or a function for `model`")),
    ],
)  # fmt: skip
def test_labels_come_by_the_advice_that_is_given(model, words):
    with pytest.raises(ft.FairtransportError) as caught:
        audit(model)
    message = str(caught.value)
    assert words in message

    advised = follow(message, model)
    assert set(np.unique(advised(PEOPLE[["sex", "grade"]]))) == {0, 1}
    result = audit(advised)
    # the text that is met first may stand for either label
    assert result.statistic == LABELS or "'no'" in message


def test_text_answers_need_text_labels():
    text = PEOPLE.assign(good=np.where(PEOPLE["good"] == 1, "yes", "no"))
    result = ft.audit(text, "good", model=TextModel(), **ASK)
    assert result.statistic == LABELS


@pytest.mark.parametrize("model", [Scores(), Scores().predict_proba, score])
def test_class_scores_work_where_scores_are_asked_for(model):
    assert audit(model, loss="brier").statistic == pytest.approx(
        audit(score, loss="brier").statistic
    )


def test_probabilities_of_predict_are_passed_by_a_function():
    with pytest.raises(ft.ModelError) as caught:
        audit(Network(), loss="brier")
    advised = follow(str(caught.value), Network())
    assert audit(advised, loss="brier").statistic == pytest.approx(
        audit(score, loss="brier").statistic
    )


def test_a_column_of_several_is_named_where_numbers_are_asked_for():
    more = {"loss": "squared", "loss_range": (0, 1)}
    with pytest.raises(ft.ModelError) as caught:
        audit(Softmax(), **more)
    assert (
        audit(follow(str(caught.value), Softmax()), **more).statistic
        == audit(score, **more).statistic
    )


class NoScores:
    predict = staticmethod(unasked)


@pytest.mark.parametrize(
    ("model", "more", "words"),
    [
        (NoScores(), {"loss": "log"}, "has no `predict_proba`, which this loss needs"),
        (Scores(), {"loss": "outcome", "pos_label": 1}, "has no `predict`"),
        (unasked, {"loss": "squared"}, "`loss_range` must be given for the loss 'squared'"),
        (unasked, {"loss": lambda y, _: y * 1.0}, "`loss_range` must be given for the loss"),
        (unasked, {"loss": "squared", "queries": ft.Queries(draws=2)}, "`loss_range` must be"),
        (unasked, {"loss": "outcome", "pos_label": 1, "delta": 1}, "`delta` must be a fraction"),
        (unasked, {"sensitive_features": "sxe"}, "`sensitive_features` must name columns"),
        (unasked, {"features": ["grad"]}, "`features` must name columns of the data"),
        (unasked, {"bins": {"grad": [1]}}, "`bins` must name audited columns"),
        (unasked, {"similarity": ft.similarity.MixedTabular(scales={"grad": 1})}, "grad"),
        (unasked, {"targets": PEOPLE[["sex"]]}, "`targets` must have all audited columns"),
        (unasked, {"favourable": 7}, "`favourable` must be one of 0, 1, got 7"),
        (ft.access.Function(unasked, classes=[0, 1]), {"loss": "outcome", "pos_label": 5},
         "`pos_label` must be a prediction (0, 1), got 5"),
    ],
)  # fmt: skip
def test_nothing_is_asked_where_it_cannot_help(model, more, words):
    with pytest.raises(ft.FairtransportError) as caught:
        audit(model, **more)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("loss", "advice"),
    [
        ("squared", {"loss_range": (0, 100)}),
        ("absolute", {"loss_range": (0, 10)}),
        ("outcome", {"loss_range": (0, 1)}),
        ("outcome", {"pos_label": 1}),
        (lambda y, predicted: np.abs(y - predicted), {"loss_range": (0, 1)}),
        ("squared", {"method": "limit-law"}),
        ("outcome", {"method": "limit-law"}),
    ],
)
@pytest.mark.parametrize("given", [False, True])
def test_the_advice_on_a_missing_range_works(loss, advice, given):
    people = PEOPLE.assign(guess=(score(PEOPLE) > 0.5).astype(int))
    way = {"y_pred": "guess"} if given else {"model": lambda rows: (score(rows) > 0.5).astype(int)}
    call = {**ASK, **way, "loss": loss, "features": ["sex", "grade"], "delta": 0.05}
    with raises(ft.InputError, "`loss_range` must be given for the loss") as caught:
        ft.audit(people, "good", **call)
    for word in advice:
        assert word in str(caught.value)
    result = ft.audit(people, "good", **call | advice)
    assert result.lower_bound <= result.statistic
    assert str(result)


TWO = {"a": unasked, "b": unasked}


class Unfitted(LogisticRegression):
    def fit(self, *_):
        pytest.fail("it was fitted")


@pytest.mark.parametrize(
    "call",
    [
        lambda more: ft.compare(PEOPLE, "good", models=TWO, **ASK, **more),
        lambda more: ft.audit_many(PEOPLE, "good", audits={"a": {"model": unasked, "loss": "log"},
                                                           "b": {"model": unasked, **more}}, **ASK),
        lambda more: faith_scorer(sensitive_features="sex", **more),
        lambda more: DeltaFairSearch(Unfitted(), {"C": [1]}, sensitive_features="sex", delta=0.1,
                                     **more).fit(PEOPLE, PEOPLE["good"]),
    ],
    ids=["compare", "audit_many", "faith_scorer", "DeltaFairSearch"],
)  # fmt: skip
def test_a_missing_range_is_refused_everywhere_before_work(call):
    with pytest.raises(ft.InputError, match="`loss_range` must be given for the loss 'squared'"):
        call({"loss": "squared"})


MANY = {"a": {"delta": 0.1}, "b": {"delta": 0.2}}


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda more: audit(unasked, **more), "audit"),
        (lambda more: ft.compare(PEOPLE, "good", models=TWO, **ASK, **more), "compare"),
        (lambda more: ft.audit_many(PEOPLE, "good", audits=MANY, model=unasked, **ASK, **more),
         "audit_many"),
        (lambda more: assert_delta_fair(unasked, PEOPLE, "good", delta=0.1, **ASK, **more),
         "audit"),
        (lambda more: ft.Monitor(model=unasked, delta=0.1, sensitive_features="sex", **more),
         "Monitor"),
    ],
)  # fmt: skip
def test_unknown_keywords_say_what_to_pass(call, what):
    rule = "`sample_weight` must be a column's name or an ft.Weights: add the array to X"
    if what == "Monitor":
        rule = "Monitor() got an unexpected parameter 'sample_weight'; it is for independent people"
    with raises(ft.InputError, rule):
        call({"sample_weight": np.ones(60)})
    rule = f"{what}() got an unexpected parameter 'levles'; did you mean 'levels'?"
    with raises(ft.InputError, rule):
        call({"levles": 0.1})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("favorable", "did you mean 'favourable'?"),
        ("random_state", "did you mean 'rng'?"),
        ("estimator", "did you mean 'model'?"),
        ("protected_attributes", "did you mean 'sensitive_features'?"),
        ("weights", "pass survey weights as `sample_weight`"),
        ("train", "call `overlap(train)` of the result"),
        ("legitimate", "pass `similarity=ft.similarity.Counterparts(..., legitimate=...)`"),
        ("draws", "pass `queries=ft.Queries(draws=...)`"),
    ],
)
def test_names_of_other_packages_are_known(name, hint):
    with raises(ft.InputError, f"audit() got an unexpected parameter '{name}'; {hint}"):
        ft.audit(PEOPLE, "good", model=unasked, **ASK, **{name: 1})


def test_names_without_a_hint_are_refused_too():
    with pytest.raises(ft.InputError, match=r"unexpected parameter 'zzz'$"):
        ft.audit(PEOPLE, "good", model=unasked, **ASK, zzz=1)


def test_models_are_passed_by_name():
    rule = "audit() takes only X and y by position: pass the rest by name, as in model=model"
    with raises(ft.InputError, rule):
        ft.audit(unasked, PEOPLE, "good", **ASK)
    with raises(ft.InputError, "Monitor() takes nothing by position"):
        ft.Monitor(unasked, sensitive_features="sex", delta=0.1)
    with raises(ft.InputError, "`X` must be a data frame", "pass a model by name, as `model`"):
        ft.audit(unasked, PEOPLE, **ASK)


@pytest.mark.parametrize("delta", [5, "5%", "5 %"])
def test_percentages_are_told_as_fractions(delta):
    rule = "`delta` must be a fraction from 0 to below 1 (5 % is 0.05), got"
    with raises(ft.InputError, rule):
        ft.audit(PEOPLE, "good", model=unasked, **ASK, delta=delta)


def test_advice_on_scores_returns_labels_of_the_data():
    def scores(people):
        return np.column_stack([1 - score(people), score(people)])

    words = PEOPLE.assign(good=np.where(PEOPLE["good"], "yes", "no"))
    with raises(ft.ModelError, "must give one label per row (10), got shape (10, 2)") as caught:
        ft.audit(words, "good", model=scores, **ASK)
    advised = follow(str(caught.value), scores)
    assert set(advised(PEOPLE[["sex", "grade"]])) == {"no", "yes"}
    result = ft.audit(words, "good", model=advised, **ASK)
    assert result.statistic == LABELS

    class Both(TextModel, Scores):
        pass

    with raises(ft.ModelError, "for labels, pass the estimator itself or its `predict`"):
        ft.audit(words, "good", model=Both().predict_proba, **ASK)


def test_labels_that_the_model_cannot_predict_are_named():
    class Whole(TextModel):
        classes_ = np.array([0, 1])

        def predict(self, rows):
            return (score(rows) > 0.5).astype(int)

    result = ft.audit(PEOPLE.assign(good=PEOPLE["good"] + 1), "good", model=Whole(), **ASK)
    (note,) = [one for one in result.warnings if "cannot predict" in one]
    assert note.startswith("The model cannot predict the true labels [2]. It knows only [0, 1]")
    assert not [one for one in audit(Whole()).warnings if "cannot predict" in one]


def test_labels_without_anything_in_common_are_shown_side_by_side():
    rule = "`y` has 'a', 'b', and the model answers 'no', 'yes'; write both in the same words"
    with raises(ft.DataError, rule):
        ft.audit(PEOPLE.assign(good=list("ab") * 30), "good", model=TextModel(), **ASK)


def test_continuous_labels_are_not_listed():
    wages = PEOPLE.assign(wage=np.arange(60) + 0.5)
    people = wages[["sex", "grade", "wage"]]
    rule = "`favourable` must be a label, got 1. `y` looks continuous, with 60 different numbers"
    with raises(ft.InputError, rule):
        ft.audit(people, "wage", model=unasked, sensitive_features="sex", favourable=1)
    with raises(
        ft.DataError, "`y` has 0.5, 1.5, ", " more, and the predictions are 0, 1. `y` looks"
    ):
        ft.audit(people, "wage", y_pred=[0, 1] * 30, sensitive_features="sex")


@pytest.mark.parametrize("count", [21, 500])
def test_many_choices_are_cut(count):
    people = PEOPLE.loc[PEOPLE.index.repeat(10)].reset_index(drop=True)
    people["good"] = [f"word {at % count}" for at in range(len(people))]
    with raises(ft.InputError, "'word 0', 'word 1',", f"{count - 20} more, got 'x'"):
        ft.audit(people, "good", model=unasked, sensitive_features="sex", favourable="x")


def test_unseen_categories_name_their_column_and_the_pipeline():
    people = pd.DataFrame({"sex": ["f", "m"] * 20, "job": ["a", "b", "b", "a"] * 10})
    encoder = make_column_transformer((OneHotEncoder(), ["sex", "job"]))
    model = make_pipeline(encoder, LogisticRegression()).fit(people, [0, 1] * 20)
    people.loc[0, "job"] = "zzz"
    with raises(
        ft.ModelError, "the pipeline ending in LogisticRegression failed on 6 rows: ValueError: "
        "Found unknown categories ['zzz']", "it received sex (String), job (String). It was not "
        "fitted on all values of job: leave these people out",
    ) as caught:  # fmt: skip
        ft.audit(people, [0, 1] * 20, model=model, sensitive_features="sex")
    assert "astype" not in str(caught.value)


def test_probabilities_are_told_where_they_belong():
    chances = np.linspace(0.1, 0.9, 60)
    with raises(ft.DataError, "Pass probabilities as `y_score` with loss='log' or loss='brier'"):
        ft.audit(PEOPLE, "good", y_pred=chances, **ASK)
    with raises(ft.InputError, "needs labels: give loss='log' or loss='brier', or cut the"):
        ft.audit(PEOPLE, "good", y_score=chances, **ASK)


def test_counts_are_what_to_pass_instead_of_weights():
    counted = PEOPLE.value_counts(["sex", "grade", "good"]).reset_index(name="people")
    result = ft.audit(counted, "good", model=lambda rows: (score(rows) > 0.5).astype(int),
                      counts="people", **ASK)  # fmt: skip
    assert (result.n, result.statistic) == (60, LABELS)


ARRAY, NAMES = PEOPLE[["sex", "grade"]].to_numpy(), ["sex", "grade"]


def test_an_array_with_names_is_audited_as_a_frame():
    model = LogisticRegression().fit(ARRAY, PEOPLE["good"])
    label = PEOPLE["good"].to_numpy()
    by_frame = audit(model)
    by_array = ft.audit(ARRAY, label, model=model, feature_names=NAMES, **ASK)
    compared = ft.compare(ARRAY, label, models={"a": model, "b": score_labels}, feature_names=NAMES,
                          **ASK)  # fmt: skip
    family = ft.audit_many(ARRAY, label, model=model, feature_names=np.array(NAMES),
                           audits=MANY, **ASK)  # fmt: skip

    assert by_array.statistic == by_frame.statistic
    assert by_array.space.features == ("sex", "grade")
    assert compared.audits["a"].statistic == by_frame.statistic
    assert compared.audits["b"].statistic == LABELS
    assert family["a"].statistic == by_frame.statistic


def score_labels(rows):
    return (score(rows) > 0.5).astype(int)


def test_an_array_of_mixed_values_keeps_their_types():
    mixed = np.array([["f", 1.5], ["m", 2.5]] * 10, dtype=object)
    result = ft.audit(mixed, [1, 0] * 10, feature_names=["sex", "grade"], sensitive_features="sex",
                      model=lambda rows: (rows["grade"] + 1 > 3).astype(int))  # fmt: skip
    assert result.n == 20


@pytest.mark.parametrize(
    ("data", "names", "message"),
    [
        (ARRAY, None, ("`X` must be a data frame, a path, or an array with `feature_names` for its "
                       "columns, got an array of shape (60, 2) alone")),
        (ARRAY, ["sex"], "`X` must be a two-dimensional array with a column for each of the 1 "),
        (ARRAY[:, 0], NAMES, "`X` must be a two-dimensional array"),
        (ARRAY, ["sex", "sex"], "`feature_names` must be a list of distinct column names, got ["),
        (ARRAY, "sex", "`feature_names` must be a list of distinct column names, got 'sex'"),
        (ARRAY, [0, 1], "`feature_names` must be a list of distinct column names, got [0, 1]"),
        (PEOPLE, NAMES, "`feature_names` must be left out unless `X` is an array, got ['sex'"),
        ("people.csv", NAMES, "`feature_names` must be left out unless `X` is an array"),
        (np.ma.masked_equal(ARRAY, 0), NAMES, "`X` must not have masked entries"),
    ],
)  # fmt: skip
def test_arrays_need_as_many_names_as_columns(data, names, message):
    with raises(ft.InputError, message):
        ft.audit(data, PEOPLE["good"].to_numpy(), model=unasked, feature_names=names, **ASK)


def test_sparse_arrays_are_told_what_to_pass():
    from scipy.sparse import csr_array

    with raises(ft.InputError, "`X` must be a dense array, got a sparse one: pass its `toarray()`"):
        ft.audit(csr_array(ARRAY), PEOPLE["good"], model=unasked, feature_names=NAMES, **ASK)


def shuffled(answer):
    """Return a function that answers with a table in another order."""
    return lambda rows: answer(rows).sample(frac=1, random_state=1)


def as_series(rows):
    return pd.Series((score(rows) > 0.5).astype(int), index=rows.index)


def as_frame(rows):
    return pd.DataFrame({0: 1 - score(rows), 1: score(rows)}, index=rows.index)


class OwnBox(ft.access.BlackBox):
    def answer(self, points, _):
        return shuffled(as_series)(points)


@pytest.mark.parametrize("model", [shuffled(as_series), OwnBox(), as_series])
def test_a_series_is_aligned_by_its_index(model):
    assert audit(model).statistic == LABELS
    assert audit(cached(model)).statistic == LABELS
    by_many = ft.audit_many(PEOPLE, "good", model=model, audits=MANY, **ASK)
    assert by_many["b"].statistic == LABELS


def test_a_frame_of_scores_is_aligned_by_its_index():
    assert audit(shuffled(as_frame), loss="brier").statistic == pytest.approx(
        audit(score, loss="brier").statistic
    )


@pytest.mark.parametrize(
    "frame",
    [
        lambda rows: as_frame(rows)[[1, 0]],
        lambda rows: as_frame(rows)[[1, 0]].rename(columns=str),
        lambda rows: pl.DataFrame({"1": score(rows), "0": 1 - score(rows)}),
        lambda rows: pl.from_numpy(as_frame(rows).to_numpy()),
        lambda rows: pd.DataFrame({"score": score(rows)}),
        lambda rows: pd.DataFrame({"1": score(rows)}),
    ],
)
def test_columns_of_scores_are_those_of_the_classes(frame):
    by_position = audit(score, loss="brier").statistic
    assert by_position > 0
    assert audit(frame, loss="brier").statistic == pytest.approx(by_position)
    shared = cached(frame)
    for _ in range(2):  # the second takes what the first asked for
        assert audit(shared, loss="brier").statistic == pytest.approx(by_position)


@pytest.mark.parametrize("names", [["no", "yes"], ["0", "2"], ["b", 0]])
def test_columns_of_scores_that_are_no_classes_are_refused(names):
    def model(rows):
        return as_frame(rows).set_axis(names, axis=1)

    with raises(ft.ModelError, "the model model must name the columns of its class probabilities"):
        audit(model, loss="brier")


def test_numbered_columns_of_scores_go_by_position():
    people = PEOPLE.assign(good=PEOPLE["good"].map({0: "no", 1: "yes"}))
    result = ft.audit(people, "good", model=as_frame, loss="brier", **ASK)
    assert result.statistic == pytest.approx(audit(score, loss="brier").statistic)


def test_scores_of_the_other_class_alone_are_refused():
    people = PEOPLE.assign(good=PEOPLE["good"].map({0: "no", 1: "yes"}))

    def model(rows):
        return pd.DataFrame({"no": 1 - score(rows)})

    with raises(ft.ModelError, "the model model must name the columns of its class probabilities"):
        ft.audit(people, "good", model=model, loss="brier", pos_label="yes", **ASK)


def test_a_shared_model_must_keep_its_columns():
    def answer(rows):
        return as_frame(rows)[[1, 0] if rows["grade"].min() == 0 else [0, 1]]

    model = cached(ft.access.Function(answer, classes=[0, 1]))
    ft.audit(PEOPLE[PEOPLE["grade"] > 1], "good", model=model, loss="brier", **ASK)
    with raises(ft.ModelError, "must answer in the same columns each time, got"):
        ft.audit(PEOPLE, "good", model=model, loss="brier", **ASK)


def test_a_stream_aligns_answers_too():
    monitors = [
        ft.Monitor(y="good", model=model, delta=0.1, levels={"sex": [0, 1]},
                   features=["sex", "grade"], sensitive_features="sex").update(PEOPLE)
        for model in (as_series, shuffled(as_series))
    ]  # fmt: skip
    assert monitors[0].statistic == monitors[1].statistic > 0


@pytest.mark.parametrize("index", [lambda n: range(1, n + 1), lambda n: [0] * n])
def test_another_index_is_refused(index):
    def model(rows):
        return as_series(rows).set_axis(index(len(rows)))

    with raises(ft.ModelError, "the model model must answer in the index of the frame it receives"):
        audit(model)
    assert audit(lambda rows: model(rows).to_numpy()).statistic == LABELS


def test_a_second_batch_of_a_shared_model_may_answer_with_a_new_series():
    model = cached(lambda rows: pd.Series((score(rows) > 0.5).astype(int).tolist()))
    some = ft.audit(PEOPLE[PEOPLE["grade"] > 2], "good", model=model, **ASK)
    assert ft.audit(PEOPLE, "good", model=model, **ASK).statistic == LABELS
    assert some.n < len(PEOPLE)
