"""DeltaFairSearch chooses by its rule, as a loop by hand does."""

import pickle
from functools import cache

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import check_estimator
from tests.messages import raises

import fairtransport as ft
from fairtransport.datasets.compas import DELTA, FEATURES, LABEL, LEVELS, SENSITIVE, split_compas
from fairtransport.selection import DeltaFairSearch
from fairtransport.selection.rows import Rows, split_rows

COLUMNS = list(FEATURES)
SPLIT = split_compas(0)
TRAINING, VALIDATION = SPLIT.training[:1500], SPLIT.training[1500:2100]
GIVEN = (VALIDATION[COLUMNS], VALIDATION[LABEL])
GRID = {"logisticregression__C": [0.003, 0.01, 0.02, 0.05, 1.0]}


def lasso():
    model = LogisticRegression(solver="liblinear", l1_ratio=1, random_state=0)
    return make_pipeline(OneHotEncoder(drop="first"), model)


def search(**settings):
    fixed = {
        "sensitive_features": list(SENSITIVE), "delta": DELTA, "levels": LEVELS,
        "validation": GIVEN, "random_state": 0,
    }  # fmt: skip
    return DeltaFairSearch(lasso(), GRID, **{**fixed, **settings})


def fitted(**settings):
    return search(**settings).fit(TRAINING[COLUMNS], TRAINING[LABEL])


@cache
def plain():
    """Return the search with no setting changed; tests only look at it."""
    return fitted()


@pytest.fixture(scope="module")
def by_hand():
    """Return each candidate's model, audit and error, from a plain loop."""
    rows = []
    for strength in GRID["logisticregression__C"]:
        model = lasso().set_params(logisticregression__C=strength)
        model.fit(TRAINING[COLUMNS], TRAINING[LABEL])
        result = ft.audit(
            VALIDATION[[*COLUMNS, LABEL]], LABEL, model=model, delta=DELTA, levels=LEVELS,
            sensitive_features=list(SENSITIVE), rng=0,
        )  # fmt: skip
        error = np.mean(model.predict(VALIDATION[COLUMNS]) != VALIDATION[LABEL])
        rows.append((model, result, error))
    return rows


@pytest.mark.parametrize(
    ("rule", "passes"),
    [
        ("not-rejected", lambda result: result.bounds_verdict != "rejected"),
        ("certified", lambda result: result.bounds_verdict == "certified"),
    ],
)
def test_it_chooses_what_a_loop_by_hand_chooses(by_hand, rule, passes):
    done = fitted(rule=rule)

    kept = [at for at, (_, result, _) in enumerate(by_hand) if passes(result)]
    best = min(kept, key=lambda at: (by_hand[at][2], at))
    assert 0 < len(kept) < len(by_hand)
    assert done.best_index_ == best
    assert done.best_params_ == {"logisticregression__C": GRID["logisticregression__C"][best]}
    assert np.flatnonzero(done.results_["passes"]).tolist() == kept
    assert done.results_["rank"].eq(1).idxmax() == best
    assert done.results_["rank"].dropna().sort_values().tolist() == [*range(1, len(kept) + 1)]


def test_its_table_holds_the_figures_of_the_audits(by_hand):
    table = plain().results_

    assert table.columns.tolist() == [
        "params", "validation_error", "statistic", "lower_bound", "upper_bound", "pvalue",
        "verdict", "passes", "rank",
    ]  # fmt: skip
    for row, (_, result, error) in zip(table.itertuples(), by_hand, strict=True):
        assert row.validation_error == pytest.approx(error)
        assert row.verdict == result.bounds_verdict
        for name in ("statistic", "lower_bound", "upper_bound", "pvalue"):
            assert getattr(row, name) == getattr(result, name), name


def test_the_rules_differ_in_what_a_small_sample_passes():
    few = (VALIDATION[COLUMNS][:25], VALIDATION[LABEL][:25])

    assert fitted(validation=few).results_["passes"].all()
    with pytest.raises(ft.NoCandidateError):
        fitted(validation=few, rule="certified")


def test_equal_errors_go_to_the_first_of_the_grid():
    same = {"logisticregression__C": [0.02, 0.0200001, 0.0200002]}
    done = search().set_params(param_grid=same).fit(TRAINING[COLUMNS], TRAINING[LABEL])
    assert len(set(done.results_["validation_error"])) == 1
    assert done.results_["passes"].all()
    assert done.best_index_ == 0
    assert done.results_["rank"].tolist() == [1, 2, 3]


def test_when_nobody_passes_the_nearest_is_named_and_the_table_kept():
    grid = {"logisticregression__C": [0.5, 1.0, 0.1]}
    model = search(delta=0.001).set_params(param_grid=grid)
    with pytest.raises(ft.NoCandidateError) as caught:
        model.fit(TRAINING[COLUMNS], TRAINING[LABEL])

    table = caught.value.results
    nearest = int(table["lower_bound"].idxmin())
    message = str(caught.value)
    assert message.startswith("none of the 3 candidates has a lower bound of at most δ = 0.001;")
    assert str(table["params"][nearest]) in message
    assert f"is {table['lower_bound'][nearest] - 0.001:.4g} above it" in message
    assert isinstance(caught.value, ValueError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == message  # noqa: S301
    with pytest.raises(NotFittedError):
        model.predict(TRAINING[COLUMNS])


def test_without_an_upper_bound_nothing_is_certified():
    points = TRAINING[COLUMNS].drop_duplicates()
    costs = np.where(np.eye(len(points)) == 1, 0.0, 1.0)
    similarity = ft.similarity.Precomputed(costs, points=points)
    with pytest.raises(ft.NoCandidateError, match="no finite upper bound at all"):
        fitted(rule="certified", similarity=similarity, levels=None)


def test_by_default_the_chosen_model_is_the_very_fit_that_was_audited(by_hand):
    done = plain()
    model = by_hand[done.best_index_][0]
    coefficients = [one[-1].coef_ for one in (done.best_estimator_, model)]
    np.testing.assert_array_equal(*coefficients)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_refitting_uses_training_and_validation_people(frame):
    people, labels = frame(TRAINING[COLUMNS].reset_index(drop=True)), TRAINING[LABEL].to_numpy()
    given = (frame(GIVEN[0].reset_index(drop=True)), GIVEN[1].to_numpy())
    done = search(refit=True, validation=given).fit(people, labels)

    both = pd.concat([TRAINING, VALIDATION])
    model = clone(lasso()).set_params(**done.best_params_).fit(both[COLUMNS], both[LABEL])
    np.testing.assert_array_equal(done.best_estimator_[-1].coef_, model[-1].coef_)
    assert done.results_.equals(plain().results_)


def test_shares_are_parted_at_random_without_overlap():
    seen = []

    class Spy(LogisticRegression):
        def fit(self, people, labels):
            seen.append(people[:, 1])
            return super().fit(people, labels)

    people = np.column_stack([np.arange(200) % 2, np.arange(200)])
    labels = np.arange(200) % 3 > 0
    settings = {"sensitive_features": [0], "delta": 0.99, "validation": 0.25}
    grid = {"C": [1.0]}
    done = DeltaFairSearch(Spy(), grid, final=0.3, random_state=1, **settings).fit(people, labels)
    again = DeltaFairSearch(Spy(), grid, final=0.3, random_state=1, refit=True, **settings)
    again.fit(people, labels)
    other = DeltaFairSearch(Spy(), grid, final=0.3, random_state=2, **settings).fit(people, labels)

    training, retraining, refitting, elsewhere = seen
    final = done.final_audit_.space.values("x1")[done.final_audit_.space.observed]
    assert len(training) == 200 - 50 - 60
    assert training.tolist() == retraining.tolist() == sorted(training)
    assert set(training) < set(refitting)
    assert len(refitting) == 200 - 60
    assert set(refitting).isdisjoint(final)
    assert sorted([*refitting, *final]) == people[:, 1].tolist()
    assert set(elsewhere) != set(training)
    assert other.seed_ == 2


def test_the_final_audit_is_of_the_chosen_model_and_says_that_it_was_selected():
    done = fitted(final=(SPLIT.audit[COLUMNS], SPLIT.audit[LABEL]))
    alone = ft.audit(
        SPLIT.audit[[*COLUMNS, LABEL]], LABEL, model=done.best_estimator_, delta=DELTA,
        levels=LEVELS, sensitive_features=list(SENSITIVE), rng=0,
    )  # fmt: skip

    assert done.final_audit_.statistic == alone.statistic
    assert done.final_audit_.verdict == alone.verdict
    assert done.final_audit_.warnings[:-1] == alone.warnings
    assert "selected among 5 on other data" in done.final_audit_.warnings[-1]
    assert plain().final_audit_ is None


def test_a_polars_frame_gives_what_a_pandas_frame_gives():
    people, labels = pl.DataFrame(TRAINING[COLUMNS]), pl.Series(TRAINING[LABEL].to_numpy())
    given = (pl.DataFrame(GIVEN[0]), pl.Series(GIVEN[1].to_numpy()))
    done = search(validation=given).fit(people, labels)

    expected = plain()
    pd.testing.assert_frame_equal(done.results_, expected.results_)
    assert done.feature_names_in_.tolist() == COLUMNS
    assert (done.predict(people) == expected.predict(TRAINING[COLUMNS])).all()


def test_results_are_the_same_for_any_number_of_jobs():
    with joblib.parallel_config(backend="threading"):
        together = fitted(n_jobs=2, method="m-out-of-n", validation=0.3, final=0.2)
    alone = fitted(method="m-out-of-n", validation=0.3, final=0.2)
    pd.testing.assert_frame_equal(together.results_, alone.results_)
    assert together.final_audit_.lower_bound == alone.final_audit_.lower_bound


@pytest.mark.slow
def test_results_are_the_same_in_other_processes():
    together = fitted(n_jobs=2, method="m-out-of-n")
    pd.testing.assert_frame_equal(together.results_, fitted(method="m-out-of-n").results_)


def test_a_scorer_replaces_the_error():
    done = fitted(scoring="neg_log_loss")
    errors = [
        log_loss(GIVEN[1], lasso().set_params(**params).fit(
            TRAINING[COLUMNS], TRAINING[LABEL]).predict_proba(GIVEN[0]))
        for params in done.results_["params"]
    ]  # fmt: skip
    assert done.results_["validation_error"].tolist() == pytest.approx(errors)
    assert done.score(*GIVEN) == pytest.approx(-errors[done.best_index_])


def test_a_score_must_be_a_number():
    with pytest.raises(ft.InputError, match="`scoring` must be a finite number, got nan"):
        fitted(scoring=lambda *_: float("nan"))


def test_it_answers_as_its_chosen_model_does():
    done = plain()
    model = done.best_estimator_
    for method in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(
            getattr(done, method)(GIVEN[0]), getattr(model, method)(GIVEN[0])
        )
    assert done.score(*GIVEN) == model.score(*GIVEN)
    assert done.classes_.tolist() == [0, 1]
    assert is_classifier(done)
    audited = ft.audit(
        VALIDATION[[*COLUMNS, LABEL]], LABEL, model=done, sensitive_features=list(SENSITIVE)
    )
    assert audited.statistic == done.results_["statistic"][done.best_index_]


@pytest.mark.slow
def test_a_regression_is_searched_by_its_own_loss():
    rng = np.random.default_rng(0)
    group, skill = rng.integers(2, size=300), rng.integers(5, size=300)
    people, wage = np.column_stack([group, skill]), skill + group / 2
    done = DeltaFairSearch(
        Ridge(), {"alpha": [0.1, 1000.0]}, sensitive_features=0, delta=0.4, loss="absolute",
        audit_options={"loss_range": (0, 5)}, random_state=0,
    ).fit(people, wage)  # fmt: skip

    # a nearly exact fit gives twins wages half a unit apart, so that ψ is .5
    assert done.results_["statistic"][0] == pytest.approx(0.5, abs=0.01)
    assert done.results_["verdict"].tolist() == ["rejected", "certified"]
    assert is_regressor(done)
    assert not hasattr(done, "predict_proba")


def test_it_clones_and_keeps_its_parameters():
    made = search(rule="certified", alpha=0.1)
    copy = clone(made)
    assert copy.get_params()["rule"] == "certified"
    assert copy.get_params()["estimator__logisticregression__solver"] == "liblinear"
    assert copy.set_params(estimator__logisticregression__tol=0.5).estimator[-1].tol == 0.5
    assert made.estimator[-1].tol != 0.5
    assert pickle.loads(pickle.dumps(plain())).best_params_ == plain().best_params_  # noqa: S301


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"delta": -1}, "`delta` must be a number of at least 0, got -1"),
        ({"delta": None}, "`delta` must be a number of at least 0, got None"),
        ({"rule": "fair"}, "`rule` must be one of 'not-rejected', 'certified', got 'fair'"),
        ({"alpha": 0.7}, "`alpha` must be a number above 0 and below 0.5, got 0.7"),
        ({"validation": 1.5}, "`validation` must be a number above 0 and below 1 (1.5 % is 0.015)"),
        ({"validation": None}, "`validation` must be a share or data, got None"),
        ({"validation": 0.9, "final": 0.9}, "`validation` must be a share with rows in it"),
        ({"validation": 0.5, "final": 0.5}, "must leave rows to train on"),
        ({"final": (1, 2, 3)}, "`final` must be a share or a pair (X, y)"),
        ({"final": (GIVEN[0], [1])}, "`final` must have as many labels as rows, got 1 and 600"),
        ({"sensitive_features": ["rase"]}, "`sensitive_features` must hold names of columns"),
        ({"sensitive_features": [7]}, "places from 0 to 4, got 7"),
        ({"audit_options": {"rng": 1}}, "`audit_options` may only have the keys"),
        ({"loss": "outcome"}, "`scoring` must be given for the loss 'outcome'"),
        ({"refit": "accuracy"}, "`refit` must be True or False, got 'accuracy'"),
        ({"random_state": -1}, "`random_state` must be a number of at least 0, got -1"),
        ({"random_state": "x"}, "`random_state` must be a seed"),
    ],
)
def test_wrong_settings_are_named_before_anything_is_fitted(settings, message):
    unfit = DeltaFairSearch(None, GRID, **{
        "sensitive_features": list(SENSITIVE), "delta": DELTA, "random_state": 0, **settings
    })  # fmt: skip
    with raises(ft.InputError, message):
        unfit.set_params(estimator=lasso()).fit(TRAINING[COLUMNS], TRAINING[LABEL])


def test_labels_are_needed():
    with pytest.raises(ft.InputError, match="`y` must be given"):
        search().fit(TRAINING[COLUMNS])


@pytest.mark.slow
def test_scikit_learns_own_checks_pass():
    """None is expected to fail: with places for names, arrays are audited like frames."""
    estimator = DeltaFairSearch(
        LogisticRegression(), {"C": [0.1, 1.0]}, sensitive_features=[0], delta=0.99, random_state=0
    )
    outcome = check_estimator(estimator, on_skip=None)
    assert len(outcome) > 40
    assert {check["status"] for check in outcome} <= {"passed", "skipped"}


@pytest.mark.slow
def test_the_papers_regularised_regression_has_a_faith_of_about_two_percent():
    """The l1 path over five splits; the mean and spread of 50 splits are .020 and .018."""
    statistics, chosen = [], []
    for seed in range(5):
        split = split_compas(seed)
        done = DeltaFairSearch(
            lasso(), {"logisticregression__C": np.arange(1, 101) * 0.0005},
            sensitive_features=list(SENSITIVE), delta=DELTA, levels=LEVELS, validation=2 / 7,
            final=(split.audit[COLUMNS], split.audit[LABEL]), method="m-out-of-n",
            n_resamples=1000, random_state=seed,
        ).fit(split.training[COLUMNS], split.training[LABEL])  # fmt: skip
        statistics.append(done.final_audit_.statistic)
        chosen.append(done.best_params_["logisticregression__C"])

    assert abs(np.mean(statistics) - 0.02) < 2 * 0.018 / np.sqrt(5)
    # weaker penalties are rejected, so that the path's end is never chosen
    assert max(chosen) < 0.05


def households(n=200, seed=0):
    """People of one to four a household, whose decisions go with a skill and the group."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(n), rng.integers(1, 5, n))
    group, skill = rng.integers(2, size=len(home)), rng.integers(4, size=len(home))
    frame = pd.DataFrame({"home": [f"h{one}" for one in home], "group": group, "skill": skill})
    shuffled = frame.sample(frac=1, random_state=seed)
    return shuffled, (shuffled["skill"] + shuffled["group"] > 2).astype(int)


class Recorder(LogisticRegression):
    """A model that remembers whom it was fitted on."""

    def fit(self, rows, y):
        self.rows_ = rows
        return super().fit(rows, y)


HOMES = ft.Clusters("home", largest=4)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_of_a_cluster_stay_together(library):
    people, labels = households()
    table = people if library == "pandas" else pl.from_pandas(people)
    model = DeltaFairSearch(
        Recorder(C=0.01), {"C": [0.01]}, sensitive_features="group", delta=0.3, clusters=HOMES,
        validation=0.2, final=0.3, random_state=0,
    ).fit(table, labels.to_numpy())  # fmt: skip
    fitted_on = model.best_estimator_.rows_
    assert list(fitted_on.columns) == ["group", "skill"]
    assert model.feature_names_in_.tolist() == ["group", "skill"]
    # shares are of clusters
    assert model.final_audit_.space.units.n == 60
    assert model.final_audit_.space.units.limit == 4
    parts = split_rows(Rows(table, labels.to_numpy(), "home"), 0.2, 0.3, 0)
    homes = [set(part.units) for part in (parts.training, parts.validation, parts.final)]
    assert [len(one) for one in homes] == [100, 40, 60]
    assert not (homes[0] & homes[1] | homes[0] & homes[2] | homes[1] & homes[2])
    assert len(parts.training) == len(fitted_on)
    assert len(parts.training) + len(parts.validation) + len(parts.final) == len(people)
    own = ft.audit(
        parts.final.X, parts.final.y, model=model.best_estimator_, sensitive_features="group",
        features=["group", "skill"], clusters=HOMES, delta=0.3, rng=0,
    )  # fmt: skip
    assert model.final_audit_.interval == own.interval
    # people come with their clusters or without
    assert model.predict(table).tolist() == model.predict(table[["group", "skill"]]).tolist()
    assert model.score(table, labels.to_numpy()) > 0.6


def test_rows_of_a_cluster_stay_together_when_parts_are_given():
    people, labels = households()
    is_late = people["home"].isin([f"h{one}" for one in range(120, 200)])
    late = (people[is_late], labels[is_late])
    given = {"sensitive_features": "group", "delta": 0.3, "clusters": HOMES, "validation": late,
             "random_state": 0}  # fmt: skip
    model = DeltaFairSearch(LogisticRegression(C=0.01), {"C": [0.01]}, refit=True, **given)
    model.fit(people[~is_late], labels[~is_late])
    assert model.best_estimator_.n_features_in_ == 2
    message = "`validation` must have other `clusters` than the other parts, got 80 of theirs"
    with raises(ft.InputError, message):
        DeltaFairSearch(LogisticRegression(), {"C": [1.0]}, **given).fit(people, labels)


@pytest.mark.parametrize(
    ("options", "as_array", "message"),
    [
        ({"clusters": "street"}, False, "a column of a data frame, got 'street'"),
        ({"clusters": "home"}, True, "`clusters` must be a column of a data frame, got 'home'"),
        ({"clusters": "home", "method": "efron"}, False, "must not be given with the `method`"),
        ({"clusters": "home", "sensitive_features": "home"}, False, "`sensitive_features` must"),
    ],
)  # fmt: skip
def test_clusters_of_a_search_are_checked(options, as_array, message):
    people, labels = households(30)
    table = people[["group", "skill"]].to_numpy() if as_array else people
    settings = {"sensitive_features": 0 if as_array else "group", "delta": 0.3} | options
    with raises(ft.InputError, message):
        DeltaFairSearch(LogisticRegression(), {"C": [1.0]}, **settings).fit(table, labels)
