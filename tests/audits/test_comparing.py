"""compare(): audits of several models on the same people, and their differences."""

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import fairtransport as ft
from fairtransport.documents.comparison import comparison_schema

RACES, AGES = ("a", "b", "c"), (20, 30, 40)


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"race": rng.choice(RACES, n), "age": rng.choice(AGES, n)})
    frame["good"] = (rng.random(n) < 0.2 + 0.2 * (frame["age"] > 20)).astype(int)
    return frame


def fair(frame):
    return (frame["age"] == 40).astype(int)


def biased(frame):
    return ((frame["age"] == 40) & (frame["race"] != "b")).astype(int)


def slightly(frame):
    return ((frame["age"] == 40) | ((frame["race"] == "c") & (frame["age"] == 30))).astype(int)


COMMON = {"sensitive_features": ["race"], "features": ["race", "age"], "rng": 0}


def compared(frame, models, **settings):
    return ft.compare(frame, "good", models=models, **(COMMON | settings))


def row(comparison, first, second):
    table = comparison.differences
    return table[(table["first"] == first) & (table["second"] == second)].iloc[0]


def test_each_model_has_the_numbers_of_its_own_audit():
    frame, models = people(600), {"old": biased, "new": fair, "third": slightly}
    comparison = compared(frame, models)

    assert comparison.table["name"].tolist() == list(models)
    for name, model in models.items():
        alone = ft.audit(frame, "good", model=model, **COMMON)
        told = comparison.table.set_index("name").loc[name]
        assert told["statistic"] == alone.statistic
        assert told["baseline_risk"] == alone.baseline_risk
        assert told["worst_case_risk"] == alone.worst_case_risk
        assert told["queried"] == alone.queried
        # all three hold together
        assert (told["lower"], told["upper"]) == alone.law.interval(0.05 / 3)
    for _, pair in comparison.differences.iterrows():
        statistics = comparison.table.set_index("name")["statistic"]
        expected = statistics[pair["second"]] - statistics[pair["first"]]
        assert pair["difference"] == pytest.approx(expected, abs=1e-15)
        assert pair["lower"] <= pair["difference"] <= pair["upper"]


def test_a_verdict_is_on_the_later_model():
    frame = people(800)
    better = compared(frame, {"old": biased, "new": fair})
    worse = compared(frame, {"old": fair, "new": biased})

    assert (better.verdict, better.not_worse) == ("better", True)
    assert (worse.verdict, worse.not_worse) == ("worse", False)
    for one in (better, worse):
        assert row(one, "old", "new")["pvalue"] <= 0.05


def test_a_model_beside_itself_is_undecided_and_not_worse_within_a_tolerance():
    comparison = compared(people(800), {"old": biased, "new": biased}, tolerance=0.01)
    found = row(comparison, "old", "new")

    assert (comparison.verdict, comparison.not_worse) == ("undecided", True)
    assert found["difference"] == 0
    assert found["pvalue"] > 0.05
    assert -0.02 < found["lower"] < 0 < found["upper"] <= 0.01


def test_within_the_tolerance_more_bias_is_not_called_worse():
    frame = people(2000)
    strict, lenient = (
        compared(frame, {"old": fair, "new": biased}, tolerance=tolerance)
        for tolerance in (0.0, 0.9)
    )

    assert strict.verdict == "worse"
    assert (lenient.verdict, lenient.not_worse) == ("undecided", True)


@pytest.mark.slow
@pytest.mark.parametrize(("tolerance", "alpha"), [(0.0, 0.05), (0.02, 0.05), (0.05, 0.3)])
def test_pvalues_and_intervals_agree(tolerance, alpha):
    models = {"old": slightly, "new": biased, "third": fair}
    for seed in range(3):
        comparison = compared(people(250, seed), models, tolerance=tolerance, alpha=alpha, rng=seed)
        for _, pair in comparison.differences.iterrows():
            decided = pair["verdict"] != "undecided"
            assert decided == (pair["lower"] > tolerance or pair["upper"] < 0)
            assert decided == (pair["pvalue"] <= comparison.alpha)
            assert pair["not_worse"] == (pair["upper"] <= tolerance)


def test_models_receive_the_columns_that_they_were_fitted_on():
    from sklearn.tree import DecisionTreeClassifier

    frame = people(500).assign(group=lambda one: (one["race"] == "b").astype(int))
    full = DecisionTreeClassifier(random_state=0).fit(frame[["group", "age"]], frame["good"])
    blind = DecisionTreeClassifier(random_state=0).fit(frame[["age"]], frame["good"])
    comparison = ft.compare(
        frame, "good", models={"full": full, "blind": blind}, sensitive_features=["group"], rng=0
    )

    assert comparison.audits["full"].space.features == ("group", "age")
    assert comparison.table["queried"].tolist() == [6, 3]
    assert comparison.table["statistic"].tolist()[1] == 0
    (said,) = (note for note in comparison.warnings if "by construction" in note)
    assert said.startswith("blind, not applicable: The model receives no sensitive feature, ")


def test_given_predictions_are_described_without_bounds():
    frame = people(300)
    frame["old_guess"], frame["new_guess"] = biased(frame), fair(frame)
    comparison = ft.compare(
        frame, "good", y_pred={"old": "old_guess", "new": "new_guess"}, **COMMON
    )

    for name in ("old", "new"):
        alone = ft.audit(
            frame.drop(columns=[f"{one}_guess" for one in ("old", "new") if one != name]), "good",
            y_pred=f"{name}_guess", **COMMON,
        )  # fmt: skip
        assert comparison.audits[name].statistic == pytest.approx(alone.statistic, abs=1e-12)
    found = row(comparison, "old", "new")
    assert found[["lower", "upper", "pvalue"]].isna().all()
    assert (comparison.verdict, comparison.not_worse) == ("undecided", False)
    assert any("Differences have no bounds" in note for note in comparison.warnings)


@pytest.mark.slow
def test_scores_with_a_budget_are_compared_too():
    frame = people(300)

    def steep(points):
        return 0.1 + 0.02 * (points["age"] - 20) + 0.3 * (points["race"] == "b")

    def flat(points):
        return 0.1 + 0.02 * (points["age"] - 20)

    comparison = compared(
        frame, {"steep": steep, "flat": flat}, loss="brier", budget=0.05, targets=people(200, 9),
        similarity=ft.similarity.MixedTabular(scales={"age": 10}, mismatch={"race": 0.1}),
    )  # fmt: skip
    assert comparison.audits["steep"].target_scope == "reference"
    assert (comparison.table["statistic"] > 0).all()
    assert comparison.verdict == "better"


def test_documents_are_valid_and_the_same_bytes(tmp_path):
    models = {"old": biased, "new": fair}
    first, second = (compared(people(200), models) for _ in range(2))
    paths = [first.to_json(tmp_path / "a.json"), second.to_json(tmp_path / "b.json")]
    texts = [path.read_text("utf-8") for path in paths]

    assert texts[0] == texts[1]
    document = json.loads(texts[0])
    jsonschema.validate(document, comparison_schema())
    assert document["schema"] == "fairtransport-comparison/1"
    assert document["verdict"] == "better"
    assert [one["name"] for one in document["models"]] == list(models)
    groups = {one["group"]["race"]: one for one in document["groups"]}
    assert sum(one["people"] for one in groups.values()) == 200
    # everybody in a group adds its part to the statistic
    for place, at in (("first", 0), ("last", 1)):
        total = sum(one["people"] * one[place] for one in groups.values()) / 200
        assert total == pytest.approx(document["models"][at]["statistic"], abs=1e-12)
    for render in (first.to_html(tmp_path / "a.html"), second.to_html(tmp_path / "b.html")):
        assert "Less individual bias in new than in old" in render.read_text("utf-8")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_notebook_and_a_repr_show_the_verdict():
    comparison = compared(people(200), {"old": biased, "new": fair})
    assert "Less individual bias in new than in old" in comparison._repr_html_()
    assert repr(comparison).startswith("Comparison(old=0.")
    assert "verdict='better'" in repr(comparison)


def test_names_in_reports_cannot_break_them(tmp_path):
    name = "<script>alert(1)</script>|*x*"
    comparison = compared(people(200), {name: biased, "new": fair})
    page = comparison.to_html(tmp_path / "page.html").read_text("utf-8")
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "|*x*" not in comparison.to_markdown()


WRONG = {
    "none": ({}, "exactly one of `models`, `y_pred` and `y_score` must be given, got none"),
    "two": (
        {"models": {"a": fair, "b": fair}, "y_pred": {"a": "good", "b": "good"}},
        "exactly one of `models`, `y_pred` and `y_score` must be given, got `models` and `y_pred`",
    ),
    "one model": ({"models": {"a": fair}}, "`models` must map at least two names to models, got"),
    "a list": ({"models": [fair, biased]}, "`models` must map at least two names to models, got"),
    "no name": ({"models": {"": fair, "b": fair}}, "`models` must map at least two names"),
    "an array": (
        {"y_pred": {"a": np.ones(50), "b": np.ones(50)}},
        "`y_pred` must map names of models to columns of the data, got",
    ),
    "negative": (
        {"models": {"a": fair, "b": fair}, "tolerance": -0.1},
        "`tolerance` must be a fraction from 0 to below 1 (5 % is 0.05), got -0.1",
    ),
    "no model": ({"models": {"a": fair, "b": 3}}, "`model` must have `predict` or be callable"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_compared_is_refused_in_a_sentence(name):
    settings, sentence = WRONG[name]
    with pytest.raises(ft.InputError) as error:
        ft.compare(people(50), "good", **(COMMON | settings))
    assert str(error.value).startswith(sentence)


def test_a_loss_without_a_range_needs_one():
    frame = people(60)
    models = {"a": lambda x: x["age"] / 10, "b": lambda x: x["age"] / 20}
    with pytest.raises(ft.InputError, match=r"`loss_range` must be given"):
        compared(
            frame, dict.fromkeys(models, lambda _: pytest.fail("it was asked")), loss="squared"
        )
    bounded = compared(frame, models, loss="squared", loss_range=(0, 20))
    assert bounded.verdict == "undecided"


@pytest.mark.slow
def test_intervals_cover_the_difference_through_the_path_that_users_take():
    # among 30 year olds in group c the one model differs, among 40 year olds in group b the other
    whole = people(200_000, 7)
    counted = whole.groupby(["race", "age", "good"]).size().rename("count").reset_index()
    models = {"old": slightly, "new": biased}
    truth = np.diff([
        ft.audit(counted, "good", model=model, counts="count", **COMMON).statistic
        for model in models.values()
    ])[0]  # fmt: skip
    rng, misses, decided, samples = np.random.default_rng(3), 0, 0, 100
    for seed in range(samples):
        drawn = rng.multinomial(200, counted["count"] / counted["count"].sum())
        found = row(
            ft.compare(
                counted.assign(count=drawn)[drawn > 0], "good", models=models, counts="count",
                **(COMMON | {"rng": seed, "levels": {"race": list(RACES)}}),
            ), "old", "new",
        )  # fmt: skip
        misses += not found["lower"] <= truth <= found["upper"]
        decided += found["verdict"] != "undecided"
    assert binomtest(misses, samples, 0.05, alternative="greater").pvalue > 1e-3
    assert decided > 0


def only_age(points):
    return (points["age"] > 2).astype(int)


def test_a_model_that_cannot_tell_twins_apart_has_less_bias_by_construction_alone():
    frame = people(400)
    blind = ft.access.Function(only_age, features=("age",))
    better = compared(frame, {"old": biased, "new": blind})
    worse = compared(frame, {"old": blind, "new": biased})

    assert (better.verdict, better.not_worse) == ("not-applicable", False)
    assert "new: The model receives no sensitive feature" in better.applicability
    assert (worse.verdict, worse.applicability) == ("worse", None)
    title = better.to_markdown().split("**")[1]
    assert title == "This audit cannot tell: new compared with old."


def alternating(points):
    """A model whose answers depend on the place in the table."""
    return np.arange(len(points)) % 2


def always(points):
    return np.ones(len(points), dtype=int)


BLIND = ft.access.Function(only_age, features=("age",))
BLIND_BY_PLACE = ft.access.Function(alternating, features=("age",))
EVERYBODY_GOOD = people(400).assign(good=1)
# the only feature is taken out
SUBSPACE = ft.similarity.SensitiveSubspace(["race"], features=["age"]).fit(people(300, 1))
EMPTY = {
    "blind": (people(400), BLIND, {}, "receives no sensitive feature", "worse"),
    "blind, equal losses": (
        EVERYBODY_GOOD, ft.access.Function(always, features=("age",)), {}, "Every loss is 0",
        "worse",
    ),
    "random": (people(400), alternating, {}, "got a different answer", "not-applicable"),
    "blind and random": (
        people(400), BLIND_BY_PLACE, {}, "got a different answer", "not-applicable",
    ),
    "equal losses": (EVERYBODY_GOOD, always, {}, "Every loss is 0", "not-applicable"),
    "one group": (
        people(400).assign(race="b"), fair, {}, "nobody to compare them with", "not-applicable",
    ),
    "one place": (
        people(400), fair,
        {"similarity": SUBSPACE, "budget": 0.01}, "true label have distance 0", "not-applicable",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("frame", "model", "settings", "reason", "verdict"), EMPTY.values(),
                         ids=EMPTY)  # fmt: skip
def test_of_the_first_model_blindness_alone_leaves_a_verdict(
    frame, model, settings, reason, verdict
):
    first = compared(frame, {"empty": model, "other": biased}, **settings)
    second = compared(frame, {"other": biased, "empty": model}, **settings)

    assert all(reason in one.obstacles["empty"] for one in (first, second))
    assert (first.verdict, second.verdict) == (verdict, "not-applicable")
    assert row(first, "empty", "other")["verdict"] == verdict
    assert (first.not_worse, second.not_worse) == (False, False)
    assert (first.applicability is None) == (verdict == "worse")


def test_a_model_is_not_worse_than_one_that_answers_unsteadily():
    frame = pd.DataFrame({"g": ["a", "b"] * 150, "x": np.arange(300) // 2, "good": [0, 1, 1] * 100})
    models = {
        "unsteady": alternating,
        "steady": lambda one: ((one["x"] > 20) | (one["g"] == "a")).astype(int),
    }
    for order in (models, dict(reversed(models.items()))):
        found = ft.compare(frame, "good", models=order, sensitive_features="g", rng=0)
        assert set(found.obstacles) == {"unsteady"}
        assert (found.verdict, found.not_worse) == ("not-applicable", False)
        assert "8 of 20 repeated queries" in found.applicability


def test_decisions_that_differ_inside_a_profile_leave_no_verdict_on_either_side():
    frame = people(400).assign(noisy=lambda one: np.arange(len(one)) % 2)
    frame["rule"] = biased(frame)
    for order in (("noisy", "rule"), ("rule", "noisy")):
        found = ft.compare(
            frame, "good", y_pred={name: name for name in order}, budget=0.05,
            similarity=ft.similarity.MixedTabular(scales={"age": 10}, mismatch={"race": 0.1}),
            **COMMON,
        )  # fmt: skip
        assert set(found.obstacles) == {"noisy"}
        assert found.verdict == "not-applicable"


def test_a_model_that_leaves_sensitive_features_out_by_itself_is_judged_by_its_bounds():
    found = compared(people(400), {"old": biased, "new": only_age})

    assert (found.verdict, found.applicability) == ("better", None)
    same = "new: The model gives every person the same answer with any other race"
    assert any(note.startswith(same) for note in found.warnings)


def test_a_tolerance_that_nothing_can_exceed_is_refused():
    with pytest.raises(ft.InputError, match=r"`tolerance` must be a fraction .*5 % is 0.05"):
        compared(people(100), {"old": biased, "new": fair}, tolerance=5)


def test_with_a_favourable_decision_each_model_says_who_is_worse_off():
    people = pd.DataFrame({"sex": ["f", "m"] * 100, "grade": [1, 1, 2, 2] * 50, "good": 1})
    models = {
        "old": lambda asked: (asked["grade"] + (asked["sex"] == "m") > 1).astype(int),
        "new": lambda asked: (asked["grade"] > 1).astype(int),
    }
    result = ft.compare(people, "good", models=models, sensitive_features="sex", favourable=1,
                        rng=0)  # fmt: skip
    old, new = result.summary.models

    assert (old.decisions.worse_off.people, old.decisions.better_off.people) == (50, 50)
    assert new.decisions.changed.people == 0
    assert "Worse off" in result.to_markdown()
    with pytest.raises(ft.InputError, match="`favourable` must be one of 1, got 2"):
        ft.compare(people, "good", models=models, sensitive_features="sex", favourable=2, rng=0)
