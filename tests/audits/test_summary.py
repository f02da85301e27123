"""The document: every promised field, the same bytes every time, nothing that is not JSON."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from tests.explain.audits import compas_audit, priced_audit, random_people

import fairtransport as ft
from fairtransport._core.schema import to_plain
from fairtransport.errors import FairtransportError
from fairtransport.report.charts.specs import chart_specs

PROMISED = {
    "schema", "statistic", "baseline_risk", "worst_case_risk", "n", "points", "queried",
    "target_scope", "budget", "price", "delta", "alpha", "method", "guarantee", "interval",
    "lower_bound", "upper_bound", "pvalue", "verdict", "methods", "moves", "warnings",
    "provenance",
}  # fmt: skip


def test_the_document_has_the_promised_fields():
    document = json.loads(compas_audit().summary.to_json())

    assert set(document) >= PROMISED
    assert set(document["interval"]) == {"lower", "upper"}
    assert [row["method"] for row in document["methods"]] == [
        "finite-sample", "limit-law", "m-out-of-n",
    ]  # fmt: skip
    assert set(document["provenance"]) >= {
        "version", "seed", "data_sha256", "similarity", "loss", "model",
    }  # fmt: skip
    assert document["verdict"] in {"rejected", "certified", "inconclusive"}


def test_the_document_says_what_the_result_says():
    result = compas_audit()
    summary = result.summary

    assert summary.statistic == result.statistic
    assert (summary.lower_bound, summary.upper_bound) == (result.lower_bound, result.upper_bound)
    assert summary.interval.lower == result.interval.lower
    assert summary.moved == result.moves["people"].sum()
    assert summary.methods[0].lower_bound == result.lower_bound
    assert result.methods["lower_bound"].tolist() == [row.lower_bound for row in summary.methods]


def test_what_is_infinite_is_null():
    result = priced_audit(0, delta=0.1)
    document = json.loads(result.summary.to_json())

    assert result.upper_bound == np.inf
    assert document["upper_bound"] is None
    assert document["verdict"] in {"rejected", "inconclusive"}
    assert to_plain({"a": (np.inf, 1.0)}) == {"a": [None, 1.0]}


def test_without_a_threshold_there_is_no_verdict():
    document = json.loads(priced_audit(0).summary.to_json())
    assert document["delta"] is document["pvalue"] is document["verdict"] is None


SCRIPT = """
import sys
from tests.explain.audits import compas_audit
sys.stdout.write(compas_audit(3).summary.to_json())
"""


@pytest.mark.slow
def test_the_same_audit_gives_the_same_bytes_in_another_process():
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )  # fmt: skip
    assert done.stdout == compas_audit(3).summary.to_json().encode()


def test_the_hash_is_of_the_people_not_of_their_order_or_library():
    import polars as pl

    people = random_people(4)
    options = {"y_pred": "guess", "sensitive_features": "group"}
    shuffled = people.sample(frac=1, random_state=1)
    hashes = {
        ft.audit(frame, "good", **options).summary.provenance.data_sha256
        for frame in (people, shuffled, pl.from_pandas(people))
    }
    changed = people.assign(good=1 - people["good"])
    other = ft.audit(changed, "good", **options).summary.provenance.data_sha256

    assert len(hashes) == 1
    assert other not in hashes


def test_a_loss_without_a_range_leaves_out_the_method_that_needs_one():
    people = random_people(6)
    result = ft.audit(
        people, "good", y_pred="guess", sensitive_features="group", loss="squared",
        method="m-out-of-n", rng=0,
    )  # fmt: skip
    assert [row.method for row in result.summary.methods] == ["limit-law", "m-out-of-n"]


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    result = compas_audit()
    path = result.to_json(tmp_path / "audit.json")

    assert json.loads(path.read_text("utf-8"))["n"] == result.n
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FairtransportError, match="`path` could not be written to"):
        result.to_json(tmp_path / "nowhere" / "audit.json")
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(FairtransportError, match="`path` could not be written to"):
        result.to_json(folder)
    assert sorted(tmp_path.iterdir()) == [path, folder]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"favourable": 1, "reference": {"x": 0}}, "`reference` must be one of 'group', got 'x'"),
        (
            {"favourable": 1, "reference": {"group": "z"}},
            "one of 'a', 'b', 'c', 'highest', got 'z'",
        ),
        ({"favourable": 1, "reference": "a"}, "`reference` must map sensitive features to groups"),
        ({"favourable": 7}, "`favourable` must be one of 0, 1"),
    ],
)
def test_labels_and_groups_that_do_not_occur_are_refused(options, message):
    reference = options.pop("reference", None)
    with pytest.raises(ft.InputError, match=message):
        ft.audit(
            random_people(0), "good", y_pred="guess", sensitive_features="group", **options
        ).document(reference=reference)


def test_differences_have_a_sign_with_a_favourable_label_and_are_to_the_largest_group():
    people = random_people(0)
    result = ft.audit(people, "good", y_pred="guess", sensitive_features="group", favourable=1)
    (metrics,) = result.group_metrics()
    largest = people["group"].value_counts().idxmax()
    is_other, rate = people["group"] != largest, people.groupby(people["group"] != largest)["guess"]

    assert metrics.reference == {"group": largest}
    assert metrics.statistical_parity_difference == pytest.approx(np.diff(rate.mean())[0])
    assert is_other.any()
    assert result.summary.group_metrics == (metrics,)
    (other,) = result.group_metrics(reference={"group": "a"})
    assert other.reference == {"group": "a"}
    plain = ft.audit(people, "good", y_pred="guess", sensitive_features="group")
    assert plain.group_metrics()[0].statistical_parity_difference is None


def test_group_metrics_stand_beside_the_individual_ones():
    document = compas_audit().document(reference={"race": "Caucasian"})
    by_feature = {" and ".join(row.features): row for row in document.group_metrics}
    assert compas_audit().group_metrics({"race": "Caucasian"}) == document.group_metrics

    assert by_feature["race"].reference == {"race": "Caucasian"}
    assert by_feature["race"].statistical_parity_difference < 0
    assert by_feature["sex"].reference == {"sex": "Male"}
    assert by_feature["sex"].statistical_parity_difference > 0
    assert list(by_feature) == ["race", "sex", "race and sex"]
    assert by_feature["sex"].demographic_parity_difference > 0
    assert by_feature["race"].accuracy == pytest.approx(1 - compas_audit().baseline_risk)


def test_a_missing_group_overwrites_no_group_called_none():
    people = random_people(1).assign(race=["None", None, "missing"] * 20)
    result = ft.audit(
        people.drop(columns=["group", "sex"]), "good", y_pred="guess", sensitive_features="race",
        missing="level",
    )  # fmt: skip
    (metrics,) = result.summary.group_metrics
    right = people["good"] == people["guess"]

    assert metrics.accuracy_by_group == {
        "None": pytest.approx(right[people["race"] == "None"].mean()),
        "missing": pytest.approx(right[people["race"] == "missing"].mean()),
        "missing (2)": pytest.approx(right[people["race"].isna()].mean()),
    }


def test_a_metric_that_is_undefined_is_told_of():
    people = random_people(1).assign(good=lambda table: np.where(table["group"] == "a", 1, 0))
    result = ft.audit(people, "good", y_pred="guess", sensitive_features="group")
    notes = [note for note in result.summary.warnings if note.startswith("Group metrics by group")]

    assert len(notes) == 3
    assert all("are undefined: there are none." in note for note in notes)


def long_curve_audit(n=300):
    """Scores, stated distances and a number of its own for everybody: a corner for each pair."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {"g": rng.choice(["a", "b"], n), "x": rng.normal(size=n), "good": rng.integers(0, 2, n)}
    )

    def scores(points):
        chance = 1 / (1 + np.exp(-points["x"].to_numpy(float) - (points["g"] == "a")))
        return np.column_stack([1 - chance, chance])

    return ft.audit(
        people, "good", model=scores, sensitive_features="g", loss="brier", rng=0, budget=0.01,
        similarity=ft.similarity.MixedTabular(scales={"x": 1.0}), n_resamples=200,
    )  # fmt: skip


def test_a_long_budget_curve_is_drawn_and_said_to_be_thinned():
    result = long_curve_audit()
    corners = len(result.budget_curve.budgets)
    summary = result.summary

    assert corners > 5000
    assert len(summary.budget_curve) <= 400
    assert any(
        f" of the {corners} corners of the budget curve" in note for note in summary.warnings
    )
    assert chart_specs(summary)["curve"]
    assert summary.budget_curve[-1].value == result.budget_curve(1e9)
    near = [one for one in summary.budget_curve if one.budget <= 10 * summary.budget]
    assert len(near) > 100
    assert not any("corners" in note for note in result.document(5).warnings)


def test_of_many_groups_those_that_add_most_are_listed():
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {
            "post": [f"level {number}" for number in range(1200)],
            "good": 1,
            "said": rng.integers(0, 2, 1200),
        }
    )
    result = ft.audit(people, "good", y_pred="said", sensitive_features="post", rng=0)
    summary = result.summary

    assert len(summary.groups) == 500
    assert all(group.contribution > 0 for group in summary.groups)
    assert summary.group_metrics == ()
    assert (
        "This report lists the 500 of 1200 groups that add most to the statistic."
        in summary.warnings
    )
    assert any("This report has no group metrics by post" in note for note in summary.warnings)
