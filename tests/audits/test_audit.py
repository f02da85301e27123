"""The walk from data to result: its value, its scope, its warnings."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages import raises

import fairtransport as ft
from fairtransport.datasets.compas import (
    FEATURES,
    LABEL,
    LEVELS,
    SENSITIVE,
    load_compas,
    logistic_regression,
    split_compas,
)
from fairtransport.inference import METHODS


@pytest.mark.parametrize("seed", range(4))
def test_the_compas_audit_counts_people_who_are_right_but_have_a_twin_who_is_wrong(seed):
    split = split_compas(seed)
    model, people = logistic_regression(split.training), split.audit[[*FEATURES, LABEL]]
    result = ft.audit(people, LABEL, model=model, sensitive_features=list(SENSITIVE))

    wrong = [model.predict(people.assign(race=race, sex=sex)[list(FEATURES)]) != people[LABEL]
             for race in people["race"].unique() for sex in people["sex"].unique()]  # fmt: skip
    right = model.predict(people[list(FEATURES)]) == people[LABEL]
    harmed = int((right & np.any(wrong, axis=0)).sum())

    assert harmed > 0
    assert result.statistic == pytest.approx(harmed / len(people), rel=1e-12)
    assert round(result.statistic * result.n) == harmed
    assert result.baseline_risk == pytest.approx(1 - right.mean())
    assert result.solution.duality_gap <= 1e-10


def test_counts_give_the_audit_of_the_people_they_stand_for():
    counts = load_compas()
    people = counts.loc[counts.index.repeat(counts["count"])].drop(columns="count")
    options = {"y_pred": "high_risk", "sensitive_features": list(SENSITIVE)}
    weighted = ft.audit(counts, LABEL, counts="count", **options)
    repeated = ft.audit(people, LABEL, **options)

    assert weighted.n == repeated.n == 5278
    assert weighted.statistic == repeated.statistic > 0
    assert weighted.disagreement == repeated.disagreement > 0


people_lists = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.integers(0, 1), st.integers(0, 1)),
    min_size=1,
    max_size=15,
)


def frame_of(rows):
    return pl.DataFrame(rows, schema=["g", "x", "good", "guess"], orient="row")


@given(people_lists)
def test_with_predictions_only_everyone_takes_the_worst_loss_of_their_equals(rows):
    result = ft.audit(
        frame_of(rows),
        "good",
        y_pred="guess",
        sensitive_features="g",
        loss="absolute",
        loss_range=(0, 99),
    )
    losses = [
        max(abs(other_good - other_guess)
            for _, other_x, other_good, other_guess in rows if (other_x, other_good) == (x, good))
        for _, x, good, _ in rows
    ]  # fmt: skip

    assert result.worst_case_risk == pytest.approx(np.mean(losses))


@given(people_lists, st.permutations("xg"))
def test_the_order_of_rows_and_columns_does_not_matter(rows, order):
    frame = frame_of(rows)
    options = {"y_pred": "guess", "sensitive_features": "g", "loss": "absolute",
               "loss_range": (0, 99)}  # fmt: skip
    one = ft.audit(frame, "good", **options)
    other = ft.audit(frame[::-1].select(*order, "guess", "good"), "good", **options)

    assert one.statistic == pytest.approx(other.statistic)
    assert one.points == other.points


@given(people_lists)
def test_disagreement_is_part_of_the_statistic_and_zero_with_query_access(rows):
    frame = frame_of(rows)
    given_ones = ft.audit(frame, "good", y_pred="guess", sensitive_features="g", loss="absolute",
                          loss_range=(0, 99))  # fmt: skip
    asked = ft.audit(
        frame, "good", features=["g", "x"], sensitive_features="g", loss="absolute",
        loss_range=(0, 99), model=lambda points: np.zeros(len(points)),
    )  # fmt: skip

    assert 0 <= given_ones.disagreement <= given_ones.statistic + 1e-12
    assert asked.disagreement == 0


TWO_GROUPS = pd.DataFrame({"g": ["a", "a", "b", "b"], "x": [1, 2, 1, 2], "good": [1, 1, 1, 0]})


favours_a = ft.access.Function(lambda points: (points["g"] == "a").astype(int), classes=[0, 1])


def test_a_result_shows_its_numbers():
    result = ft.audit(TWO_GROUPS, "good", model=favours_a, sensitive_features="g")

    assert result.statistic == 0.75
    assert (result.baseline_risk, result.worst_case_risk) == (0.25, 1.0)
    assert (result.n, result.points, result.queried) == (4, 6, 4)
    assert (result.target_scope, result.warnings) == ("twins", ())
    assert result.plan.sum() == pytest.approx(1)
    assert result.price == result.solution.price
    assert result.budget_curve(0) == result.statistic
    assert repr(result) == (
        f"AuditResult(verdict=None, statistic=0.7500, lower_bound={result.lower_bound:.4f}, "
        f"upper_bound={result.upper_bound:.4f}, delta=None)"
    )


def test_a_twin_that_is_not_in_the_data_is_found_with_query_access_only():
    alone = TWO_GROUPS[TWO_GROUPS["g"] == "a"]
    levels = {"g": ["a", "b"]}
    asked = ft.audit(alone, "good", model=favours_a, sensitive_features="g", levels=levels)
    given_ones = ft.audit(alone.assign(guess=1), "good", y_pred="guess", sensitive_features="g")

    assert asked.statistic == 1
    assert given_ones.statistic == 0


def test_the_budget_pays_for_costly_moves():
    nearby = ft.similarity.Precomputed([[0, 2], [2, 0]], points=pd.DataFrame({"g": ["a", "b"]}))
    frame = pd.DataFrame({"g": ["a"] * 4, "good": 1})
    result = ft.audit(
        frame, "good", model=favours_a, sensitive_features="g", levels={"g": ["a", "b"]},
        similarity=nearby, budget=0.5,
    )  # fmt: skip

    assert result.statistic == pytest.approx(0.25)
    assert result.price == pytest.approx(0.5)
    assert [result.budget_curve(budget) for budget in (0, 1, 2, 9)] == [0, 0.5, 1, 1]


GUESSED = TWO_GROUPS.assign(guess=[1, 1, 0, 0])


def test_mass_moves_to_reference_points_instead_of_observed_ones():
    def value(targets):
        result = ft.audit(GUESSED, "good", y_pred="guess", sensitive_features="g", targets=targets)
        return result.statistic, result.target_scope

    # the person (a, 1) is right; (b, 1), of the same label, is wrong
    assert value(None) == (0.25, "observed")
    assert value(GUESSED[:1]) == (0, "reference")
    assert value(GUESSED[2:3]) == (0.25, "reference")
    assert value(pd.DataFrame({"g": ["c"], "x": [2], "good": [1], "guess": [0]})) == (
        0.25, "reference",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("similarity", "targets", "scope"),
    [
        ("ignore-sensitive", None, "twins"),
        ("ignore-sensitive", TWO_GROUPS, "twins"),
        ("matrix", None, "observed"),
        ("matrix", TWO_GROUPS.assign(x=3), "reference"),
    ],
)
def test_the_scope_says_whom_people_were_compared_with(similarity, targets, scope):
    if similarity == "matrix":
        points = pd.DataFrame({"g": ["a", "b"]})
        similarity = ft.similarity.Precomputed([[0, 1], [1, 0]], points)
    result = ft.audit(
        TWO_GROUPS, "good", model=favours_a, sensitive_features="g", targets=targets,
        similarity=similarity,
    )  # fmt: skip

    assert result.target_scope == scope
    assert any("nothing can be certified" in text for text in result.warnings) == (
        scope == "observed"
    )


def test_different_predictions_for_one_profile_are_pointed_out():
    twice = pd.DataFrame({"g": ["a", "a"], "good": [1, 1], "guess": [0, 1]})
    # a loss without a range: there are no rates to compare instead
    result = ft.audit(
        twice, "good", y_pred="guess", sensitive_features="g", loss="squared", method="limit-law"
    )

    assert result.disagreement == result.statistic == 0.5
    assert "0.5000 of the statistic" in result.warnings[0]
    assert "only with people in the audit data" in result.warnings[1]


def test_disagreement_without_labels():
    twice = pd.DataFrame({"g": ["a", "a"], "rate": [0.0, 1.0]})
    result = ft.audit(twice, y_pred="rate", sensitive_features="g", loss="outcome",
                      loss_range=(0, 1))  # fmt: skip

    assert result.disagreement == result.statistic == 0.5


def test_the_same_audit_twice_is_the_same():
    one, other = (
        ft.audit(TWO_GROUPS, "good", model=favours_a, sensitive_features="g") for _ in range(2)
    )

    assert one.statistic == other.statistic
    assert (one.plan != other.plan).nnz == 0


def test_an_outcome_nobody_gets_is_refused_as_a_slip():
    people = pd.DataFrame({"group": ["a", "b"], "said": ["yes", "no"]})
    with pytest.raises(ft.InputError, match=r"`pos_label` must be a prediction .* got 'Yes'"):
        ft.audit(
            people, y_pred="said", loss="outcome", pos_label="Yes", sensitive_features=["group"]
        )


def test_printed_results_have_the_lines_of_the_command_line():
    people = pd.DataFrame({"sex": ["f", "m"] * 50, "age": [18, 21, 21, 30] * 25, "w": [1, 3] * 50})
    settings = dict(model=lambda x: (x["age"] > 20) * 1, features=["sex", "age"], rng=0,
                    sensitive_features="age", favourable=1, delta=0.01)  # fmt: skip
    result = ft.audit(people, [1] * 100, budget=1, **settings)
    text = " ".join(str(result).split())
    parts = ("Compared with", "Not covered", "Valid only if", "Notes", "`budget` has no effect")
    for part in parts:
        assert part in text
    # a number says nothing without its column
    assert "age 18: 25 of 25" in text
    assert "People Who they are If recorded as Decision 25 age 18, sex f age 21 0 → 1" in text
    assert repr(result).endswith(f"delta=0.01, notes={len(result.headline.warnings)})")
    assert "has no effect with the similarity" in result._repr_html_()

    settings["model"] = lambda x: ((x["age"] > 20) & (x["sex"] == "m")) * 1
    weighted = ft.audit(people, [1] * 100, sample_weight="w", **settings)
    text = " ".join(str(weighted).split())
    assert "50 of 100 people (weighted: 75 %; with 95 % confidence" in text
    assert "% of people (weighted). In the population: at least" in text


def test_favourable_with_a_loss_of_scores_is_explained():
    people = pd.DataFrame({"sex": ["f", "m"] * 20, "good": [0, 1] * 20})
    result = ft.audit(people, "good", model=lambda x: np.full(len(x), 0.3), loss="log",
                      favourable=1, sensitive_features="sex", rng=0)  # fmt: skip
    assert any("`favourable` chooses the label whose scores are shown" in note
               for note in result.warnings)  # fmt: skip


def test_series_of_the_data_stand_for_their_columns():
    people = pd.DataFrame({"group": ["a", "b", None], "good": [0, 1, 1], "said": [1, 1, 0]})
    settings = {"y_pred": "said", "missing": "level", "rng": 0}
    by_name = ft.audit(people, "good", sensitive_features=["group"], **settings)
    for sensitive in (people["group"], people[["group"]]):
        result = ft.audit(people, people["good"], sensitive_features=sensitive, **settings)
        assert result.document() == by_name.document()
        assert result.space.features == ("group",)


def test_series_with_the_name_of_a_column_and_other_values_are_refused():
    people = pd.DataFrame({"group": ["a", "b"], "good": [0, 1], "said": [1, 1]})
    rule = "has the name '{}' of a column of the data, but different values"
    with pytest.raises(ft.InputError, match="`y` " + rule.format("good")):
        ft.audit(people, 1 - people["good"], y_pred="said", sensitive_features=["group"])
    with pytest.raises(ft.InputError, match="`sensitive_features` " + rule.format("group")):
        ft.audit(people, "good", y_pred="said", sensitive_features=people["group"].str.upper())
    with pytest.raises(ft.InputError, match="`sensitive_features` and `y` must not name the same"):
        ft.audit(people, "good", y_pred="said", sensitive_features=people["good"])


# -- bounds and verdicts


def compas_audit(**settings):
    split = split_compas(0)
    return ft.audit(
        split.audit.drop(columns="high_risk"),
        LABEL,
        model=logistic_regression(split.training),
        sensitive_features=list(SENSITIVE),
        **settings,
    )


@pytest.mark.parametrize(
    ("delta", "verdict"), [(0.0365, "rejected"), (0.05, "inconclusive"), (0.08, "certified")]
)
def test_the_verdict_comes_from_the_bounds(delta, verdict):
    result = compas_audit(delta=delta, rng=0)
    assert result.verdict == verdict
    assert result.guarantee == "finite-sample"
    assert result.interval.lower < result.lower_bound < result.statistic
    assert result.statistic < result.upper_bound < result.interval.upper
    assert (result.pvalue <= 0.05) == (verdict == "rejected")


def test_without_a_threshold_there_is_no_verdict():
    result = compas_audit()
    assert result.verdict is None
    assert result.pvalue is None
    assert result.lower_bound > 0


def test_methods_stand_side_by_side():
    table = compas_audit(rng=0, n_resamples=500).methods
    assert table["method"].tolist() == ["finite-sample", "limit-law", "m-out-of-n"]
    assert (table["lower"] < table["lower_bound"] + 1e-9).all()
    assert (table["upper_bound"] < table["upper"] + 1e-9).all()


def test_the_seed_is_recorded_and_repeats_the_audit():
    drawn = compas_audit(method="m-out-of-n", n_resamples=200)
    again = compas_audit(method="m-out-of-n", n_resamples=200, rng=drawn.seed)
    assert drawn.interval == again.interval
    generator = compas_audit(rng=np.random.default_rng(4))
    assert generator.seed == compas_audit(rng=np.random.default_rng(4)).seed


@pytest.mark.parametrize("method", METHODS)
def test_observed_targets_are_never_certified(method):
    counts = load_compas()
    result = ft.audit(
        counts, LABEL, y_pred="high_risk", counts="count", sensitive_features=list(SENSITIVE),
        delta=0.99, rng=0, method=method, n_resamples=200,
    )  # fmt: skip
    assert result.upper_bound == result.interval.upper == np.inf
    assert result.verdict == "inconclusive"
    assert result.law.pvalue(0.99, alternative="less") == 1
    assert all(row.upper is row.upper_bound is None for row in result.summary.methods)


def test_methods_whose_draws_are_too_few_for_the_level_are_not_compared():
    people = load_compas().drop(columns="high_risk")
    options = dict(counts="count", sensitive_features=list(SENSITIVE), rng=0)
    result = ft.audit(
        people, LABEL, model=lambda x: (x["race"] == "Caucasian").astype(int), n_resamples=20,
        **options,
    )  # fmt: skip
    assert [row.method for row in result.summary.methods] == ["finite-sample", "limit-law"]
    assert [
        note
        for note in result.summary.warnings
        if "does not compare the bounds of: m-out-of-n." in note
    ]
    asked = []
    with raises(ft.InputError, "`alpha` must be at least 0.1 with 20 resamples"):
        ft.audit(
            people, LABEL, model=asked.append, counts="count",
            sensitive_features=list(SENSITIVE), method="m-out-of-n", n_resamples=20,
        )  # fmt: skip
    assert asked == []


def test_data_with_one_label_can_be_audited():
    people = pd.DataFrame({"race": ["a", "b", "b"], "good": [1, 1, 1]})
    result = ft.audit(people, "good", model=lambda x: (x["race"] == "a").astype(int),
                      features=["race"], sensitive_features="race")  # fmt: skip
    assert result.statistic == pytest.approx(1 / 3)


def test_a_threshold_that_no_loss_can_exceed_is_refused():
    people = pd.DataFrame({"group": ["a", "b"], "good": [1, 0], "guess": [1.0, 3.0]})
    call, outcome = dict(sensitive_features="group", rng=0), dict(y_pred="guess", loss="outcome")
    with pytest.raises(ft.InputError, match=r"from 0 to below 1 \(5 % is 0.05\), got 5"):
        ft.audit(people, "good", y_pred="guess", delta=5, **call)
    with pytest.raises(ft.InputError, match=r"`delta` must be below 4, .* got 4$"):
        ft.audit(people, "good", **outcome, loss_range=(0, 4), delta=4, **call)

    assert ft.audit(people, "good", **outcome, method="limit-law", delta=4, **call).statistic == 1


def test_twins_of_observed_people_are_told_of():
    people = pd.DataFrame({"group": ["a", "b"] * 3, "age": [1, 2, 3] * 2, "good": [0, 1] * 3})
    call = dict(
        y="good", model=lambda x: (x["group"] == "a").astype(int), features=["group", "age"],
        sensitive_features="group", rng=0,
    )  # fmt: skip
    near = ft.audit(people, similarity=ft.similarity.MixedTabular(scales={"age": 1}), **call)
    free = ft.audit(people, budget=0.5, **call)

    assert near.target_scope == "observed"
    assert any("in the audit data and with copies of themselves." in one for one in near.warnings)
    assert any(
        one.startswith("`budget` has no effect with the similarity 'ignore-sensitive'")
        for one in free.warnings
    )


def test_unbounded_losses_need_a_range_for_finite_samples():
    people = pd.DataFrame(
        {"group": ["a", "b"] * 20, "pay": [1.0, 2.0] * 20, "said": [1.0, 1.5] * 20}
    )
    call = dict(y_pred="said", loss="squared", sensitive_features="group", rng=0)
    with pytest.raises(ft.InputError, match="`loss_range` must be given for the loss 'squared'"):
        ft.audit(people, "pay", **call)
    assert ft.audit(people, "pay", loss_range=(0, 4), **call).lower_bound == 0
    assert ft.audit(people, "pay", method="limit-law", **call).lower_bound == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(delta=-0.1), "`delta` must be a fraction from 0 to below 1 .*, got -0.1"),
        (dict(alpha=0.5), "`alpha` must be a number above 0 and below 0.5, got 0.5"),
        (dict(method="bayes"), "`method` must be one of 'finite-sample'"),
        (dict(rng="seed"), "`rng` must be a seed >= 0, a numpy generator or None, got 'seed'"),
        (dict(rng=-1), "`rng` must be a seed >= 0"),
    ],
)
def test_bad_levels_thresholds_and_seeds_are_refused(settings, message):
    with pytest.raises(ft.InputError, match=message):
        compas_audit(**settings)


def test_undeclared_levels_are_named_where_a_certificate_is_asked_for():
    (note,) = compas_audit(delta=0.1, rng=0).headline.warnings
    assert "values of race and sex that occur in the data" in note
    assert compas_audit(delta=0.1, levels=LEVELS, rng=0).headline.warnings == ()
    assert compas_audit(rng=0).headline.warnings == ()


def test_people_who_could_be_in_the_training_data_are_counted(tmp_path):
    split = split_compas(0)
    people = split.audit[[*FEATURES, LABEL]]
    training = split.training[[*FEATURES, LABEL]]
    cells = set(map(tuple, training.to_numpy()))
    expected = sum(tuple(person) in cells for person in people.to_numpy())
    training.to_csv(tmp_path / "training.csv", index=False)
    options = {"model": logistic_regression(split.training), "sensitive_features": list(SENSITIVE)}

    assert 0 < expected < len(people)
    audited = ft.audit(people, LABEL, **options)
    for train in (training, pl.from_pandas(training), tmp_path / "training.csv"):
        result = audited.overlap(train)
        assert result.training_overlap == expected
        assert f"{expected} of 1584 people have the same values in all" in result.warnings[-1]
    strangers = training.assign(charge="none")
    alone = audited.overlap(strangers)
    assert not [warning for warning in alone.warnings if "training data" in warning]
    with pytest.raises(ft.InputError, match="`train` must have the audited columns, but"):
        audited.overlap(training.drop(columns="sex"))
