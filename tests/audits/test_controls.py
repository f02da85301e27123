"""Controls: sensitive edits beside edits that should not matter."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest
from tests.messages import raises

import fairtransport as ft
from fairtransport.cli.options import read_controls

COLUMNS = ["person", "sex", "weekday", "colour"]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    return pd.DataFrame({
        "person": np.arange(200), "sex": rng.choice(["f", "m"], 200),
        "weekday": rng.choice(["Mon", "Tue", "Wed"], 200),
        "colour": rng.choice(["red", "blue"], 200),
        "constant": 1, "many": np.arange(200) % 30, "unit": np.arange(200) // 2,
        "weight": 1.0 + np.arange(200) % 4, "good": 1,
    })  # fmt: skip


def by_sex(asked):
    """Two in five need to be men."""
    return ((asked["person"] % 5 > 1) | (asked["sex"] == "m")).astype(int)


def at_random(asked):
    """Return an answer that any edit may change."""
    names = [name for name in COLUMNS if name in asked]
    rows = asked[names].astype(str).agg("-".join, axis=1)
    return rows.map(lambda row: int(hashlib.sha256(row.encode()).hexdigest(), 16) % 10 > 3).astype(
        int
    )


def audit(people, model=by_sex, **settings):
    options = {"features": COLUMNS, "sensitive_features": "sex", "delta": 0.02, "rng": 0,
               "controls": ["weekday", "colour"]}  # fmt: skip
    return ft.audit(people, "good", model=model, **options | settings)


def test_mean_shifts_are_those_of_single_edits(people):
    result = audit(people, at_random)
    own = at_random(people).to_numpy()

    def shift(column, levels):
        """Return the sum over people and other levels of what an edit adds to their loss."""
        edits = [(people.assign(**{column: one}), people[column] != one) for one in levels]
        return sum(
            np.where(there, np.maximum(own - at_random(edit), 0), 0) for edit, there in edits
        )

    sensitive = shift("sex", ["f", "m"])
    control = (shift("weekday", ["Mon", "Tue", "Wed"]) + shift("colour", ["red", "blue"])) / 3
    found = result.controls
    assert found.sensitive_shift == pytest.approx(sensitive.mean())
    assert found.control_shift == pytest.approx(control.mean())
    assert found.difference == pytest.approx(sensitive.mean() - control.mean())
    assert found.lower_bound < found.difference < found.upper_bound
    assert found.people == 200


def test_no_more_than_irrelevant_edits_is_inconclusive(people):
    result, without = audit(people, at_random), audit(people, at_random, controls=None)
    assert without.verdict == "rejected"
    assert (result.verdict, result.bounds_verdict, result.attributable.verdict) == (
        "inconclusive",
    ) * 3
    assert result.pvalue == max(without.pvalue, result.controls.pvalue)
    assert result.pvalue > 0.05
    assert (result.lower_bound, result.statistic) == (without.lower_bound, without.statistic)
    assert result.outlook is None
    assert result.sensitivity(draws=1).flips.rejected_below == 0
    assert "it is not shown that changing sex has a larger effect" in " ".join(str(result).split())
    assert "it is not shown that changing sex has a larger effect" in result.to_markdown()
    assert json.loads(result.document().to_json())["controls"]["exceeds"] is False


def test_more_than_irrelevant_edits_is_rejected(people):
    result = audit(people)
    assert result.verdict == "rejected"
    assert result.controls.exceeds
    assert result.controls.permutation_pvalue == 0.001
    assert audit(people, controls=ft.Controls(["weekday"], margin=0.5)).verdict == "inconclusive"


def test_certification_needs_the_statistic_alone(people):
    assert audit(people, lambda asked: at_random(asked[["person", "weekday"]]),
                 delta=0.5).bounds_verdict == "certified"  # fmt: skip
    assert audit(people, at_random, delta=0.5).verdict == "certified"


def test_both_kinds_are_asked_in_one_run_and_mixed(people):
    calls = []

    def model(asked):
        calls.append(asked)
        return by_sex(asked)

    result = audit(people, model, queries=ft.Queries(repeats=0))
    (questions,) = calls
    assert len(questions) == result.queried == len(questions.drop_duplicates()) == 200 * 5
    own = people.set_index("person").loc[questions["person"]].reset_index()
    is_control = (own["weekday"] != questions["weekday"].to_numpy()) | (
        own["colour"] != questions["colour"].to_numpy()
    )
    # sorted by kind there would be one change of kind
    assert np.sum(np.diff(is_control.astype(int)) != 0) > 200


def test_weights_and_clusters_weigh_the_shifts(people):
    plain = audit(people, at_random)
    means = [plain.shifts.means(plain.points, control=kind) for kind in (False, True)]
    d = (means[0] - means[1])[plain.space.observed]
    order = plain.space.values("person")[plain.space.observed]
    weights = people["weight"].to_numpy()[order.astype(int)]
    weighted = audit(people, at_random, sample_weight=ft.Weights("weight", largest=4))
    assert weighted.controls.difference == pytest.approx(np.average(d, weights=weights))
    pairs = audit(people, at_random, clusters=ft.Clusters("unit", target="clusters"))
    assert pairs.controls.difference == pytest.approx(plain.controls.difference)
    assert pairs.controls.lower_bound < pairs.controls.difference


def test_shared_documents_have_no_bounds_of_the_difference(people):
    found = json.loads(audit(people, at_random).document(share=5).to_json())["controls"]
    assert found["lower_bound"] is found["pvalue"] is found["people"] is None
    assert found["exceeds"] is False


def test_flag_has_columns_and_a_margin():
    assert read_controls("--controls", ["weekday", "margin=0.01"]) == ft.Controls(["weekday"], 0.01)
    assert read_controls("--controls", ["weekday"]) == ft.Controls(["weekday"])


BAD = {
    "sensitive": ({"controls": ["sex"]}, "must not hold sensitive features, got 'sex'"),
    "unknown": ({"controls": ["day"]}, "must name columns that the model receives"),
    "label": ({"controls": ["good"]}, "must name columns that the model receives"),
    "cluster": ({"controls": ["unit"], "clusters": ft.Clusters("unit", 2)},
                "that the model receives"),
    "weight": (
        {"controls": ["weight"], "sample_weight": ft.Weights("weight", 4)},
        "that the model receives",
    ),
    "not received": ({"controls": ["constant"]}, "must name columns that the model receives"),
    "constant": (
        {"controls": ["constant"], "features": [*COLUMNS, "constant"]},
        "must name columns of two values or more, but 'constant' has one",
    ),
    "many": (
        {"controls": ["many"], "features": [*COLUMNS, "many"]},
        "must name columns of at most 20 values, but 'many' has 30",
    ),
    "none": ({"controls": []}, r"must list names of columns, each once, got \[\]"),
    "twice": ({"controls": ["weekday", "weekday"]}, "must list names of columns, each once"),
    "no list": ({"controls": 3}, "must list columns or be an ft.Controls, got 3"),
    "draws": ({"queries": ft.Queries(draws=2)}, "must not be given with"),
    "until sure": ({"queries": ft.Queries(until_sure=True)}, "must not be given with"),
    "sizes": ({"sample_weight": "weight"}, "with a declared `largest`, got none"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_controls_are_refused_before_the_model_is_asked(people, case):
    settings, message = BAD[case]

    def model(_):
        pytest.fail("the model was asked")

    with pytest.raises(ft.FairtransportError, match=message):
        audit(people, model, **settings)


def test_controls_need_a_model(people):
    with pytest.raises(ft.InputError, match="`controls` needs a `model` to query, got predictions"):
        ft.audit(people.assign(guess=1), "good", y_pred="guess", features=COLUMNS,
                 sensitive_features="sex", controls=["weekday"])  # fmt: skip


def test_families_and_comparisons_take_no_controls(people):
    with raises(ft.InputError, "`controls` is for `audit` alone: all verdicts of a family"):
        ft.audit_many(people, "good", model=by_sex, sensitive_features="sex", features=COLUMNS,
                      controls=["weekday"], audits={"a": {}, "b": {}})  # fmt: skip
    rule = "compare() got an unexpected parameter 'controls'; `audit` alone takes it"
    with raises(ft.InputError, rule):
        ft.compare(people, "good", models={"a": by_sex, "b": by_sex}, controls=["weekday"],
                   sensitive_features="sex")  # fmt: skip
