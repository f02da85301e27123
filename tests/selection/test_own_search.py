"""The scorer and the refit callable work in scikit-learn's own GridSearchCV."""

import pickle

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.messages import raises

import fairtransport as ft
from fairtransport.datasets.compas import DELTA, FEATURES, LABEL, LEVELS, SENSITIVE, split_compas
from fairtransport.selection import DeltaFairSearch, delta_fair_refit, faith_scorer

COLUMNS = list(FEATURES)
PEOPLE = split_compas(0).training[:2100]
X, Y = PEOPLE[COLUMNS], PEOPLE[LABEL]
GRID = {"logisticregression__C": [0.003, 0.01, 0.02, 0.05, 1.0]}
ONE_SPLIT = PredefinedSplit(np.repeat([-1, 0], [1500, 600]))
WHO = {"sensitive_features": list(SENSITIVE), "levels": LEVELS}


def lasso():
    model = LogisticRegression(solver="liblinear", l1_ratio=1, random_state=0)
    return make_pipeline(OneHotEncoder(drop="first"), model)


def own_search(figure="lower_bound", delta=DELTA, cv=ONE_SPLIT, **names):
    scoring = {"accuracy": "accuracy", "faith": faith_scorer(figure=figure, random_state=0, **WHO)}
    return GridSearchCV(
        lasso(), GRID, cv=cv, scoring=scoring, refit=delta_fair_refit(delta, **names)
    )


@pytest.mark.parametrize(
    ("figure", "rule"), [("lower_bound", "not-rejected"), ("upper_bound", "certified")]
)
def test_with_one_split_a_grid_search_chooses_what_ours_chooses(figure, rule):
    theirs = own_search(figure).fit(X, Y)
    ours = DeltaFairSearch(
        lasso(), GRID, delta=DELTA, rule=rule, validation=(X[1500:], Y[1500:]), random_state=0,
        **WHO,
    ).fit(X[:1500], Y[:1500])  # fmt: skip

    assert theirs.best_index_ == ours.best_index_
    assert (-theirs.cv_results_["mean_test_faith"]).tolist() == ours.results_[figure].tolist()
    assert not ours.results_["passes"].all()


def test_with_several_splits_the_bounds_are_averaged():
    done = own_search(cv=3).fit(X, Y)
    results = done.cv_results_
    bounds = np.mean([-results[f"split{at}_test_faith"] for at in range(3)], axis=0)
    kept = np.flatnonzero(bounds <= DELTA)

    assert 0 < len(kept) < len(bounds)
    best = kept[np.argmax(results["mean_test_accuracy"][kept])]
    assert done.best_index_ == best


def test_the_scorer_is_minus_the_audits_figure_for_any_frame():
    model = lasso().fit(X, Y)
    result = ft.audit(PEOPLE[[*COLUMNS, LABEL]], LABEL, model=model, rng=0, **WHO)
    for figure in ("statistic", "lower_bound", "upper_bound"):
        scorer = faith_scorer(figure=figure, random_state=0, **WHO)
        assert scorer(model, X, Y) == -getattr(result, figure)
        assert scorer(model, pl.DataFrame(X), Y.to_numpy()) == scorer(model, X, Y)
        assert pickle.loads(pickle.dumps(scorer))(model, X, Y) == scorer(model, X, Y)  # noqa: S301


def test_when_nobody_passes_the_nearest_is_named():
    results = {
        "params": [{"C": 1}, {"C": 2}, {"C": 3}],
        "mean_test_accuracy": [0.9, 0.8, 0.7],
        "mean_test_faith": [-0.3, np.nan, -0.2],
    }
    with raises(ft.NoCandidateError, "nearest is {'C': 3}", " 0.2 is 0.1 above it"):
        delta_fair_refit(0.1)(results)
    assert delta_fair_refit(0.25)(results) == 2
    unscored = {**results, "mean_test_accuracy": [np.nan, 0.8, 0.7]}
    assert delta_fair_refit(0.3)(unscored) == 2
    assert delta_fair_refit(0.3)(results) == 0


def test_a_metric_that_the_search_lacks_is_named():
    results = {"mean_test_accuracy": [1], "mean_test_faith": [0], "params": [{}]}
    rule = r"`score` must be a metric of the search \(accuracy, faith\), got 'f1'"
    with pytest.raises(ft.InputError, match=rule):
        delta_fair_refit(0.1, score="f1")(results)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: delta_fair_refit(-0.1), "`delta` must be a number of at least 0, got -0.1"),
        (lambda: faith_scorer(figure="psi", **WHO), "`figure` must be one of 'lower_bound'"),
        (lambda: faith_scorer(alpha=2, **WHO), "`alpha` must be a number above 0"),
    ],
)
def test_wrong_arguments_are_named(make, message):
    with pytest.raises(ft.InputError, match=message):
        make()
