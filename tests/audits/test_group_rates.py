"""Rates by group of an audit, beside sums by hand; what has none; what strangers are told."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from jsonschema import validate

import fairtransport as ft
from fairtransport.documents.audit import audit_schema
from fairtransport.explain.disclosure import nice_step


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "sex": rng.choice(["f", "m"], n, p=[0.4, 0.6]),
        "race": rng.choice(["a", "b", "c"], n, p=[0.2, 0.7, 0.1]),
        "score": rng.integers(0, 4, n),
    })  # fmt: skip
    hired = frame["score"] + (frame["sex"] == "m") > 1
    frame["hired"] = np.where(hired, "yes", "no")
    frame["good"] = np.where(rng.random(n) < 0.3, "no", frame["hired"])
    return frame


def audit_decisions(frame, **options):
    """Audit decisions without true labels."""
    settings = {"favourable": "yes", "rng": 0, "sensitive_features": ["sex", "race"]} | options
    return ft.audit(
        frame.drop(columns="good"), y_pred="hired", loss="outcome", pos_label="no", **settings
    )


def rows_of(comparison, kind="selection", label=None):
    (table,) = (one for one in comparison.rates if one.kind == kind and label in {None, one.label})
    return {tuple(row.group.values()): row for row in table.groups}


def test_decisions_without_truth_have_favourable_rates_by_feature_and_by_both():
    frame = people()
    comparisons = audit_decisions(frame).group_metrics()

    assert [one.features for one in comparisons] == [("sex",), ("race",), ("sex", "race")]
    for one in comparisons:
        assert [table.kind for table in one.rates] == ["selection"]
        groups = frame.assign(hit=frame["hired"] == "yes").groupby(list(one.features))["hit"]
        largest = groups.size().idxmax()
        for group, hits in groups:
            row = rows_of(one)[group]
            assert (row.people, row.rate) == (len(hits), pytest.approx(hits.mean()))
            assert row.lower < row.rate < row.upper
            if group == (largest if isinstance(largest, tuple) else (largest,)):
                assert tuple(one.reference.values()) == group
                assert (row.difference, row.ratio, row.ratio_lower) == (0, 1, None)
                continue
            base = rows_of(one)[tuple(one.reference.values())].rate
            assert row.difference == pytest.approx(hits.mean() - base)
            assert row.ratio == pytest.approx(hits.mean() / base)
            assert row.difference_lower < row.difference < row.difference_upper
            assert row.ratio_lower < row.ratio < row.ratio_upper
    assert comparisons[0].accuracy is None
    assert (
        comparisons[0].statistical_parity_difference == comparisons[0].rates[0].groups[0].difference
    )


def test_errors_are_by_true_label_where_there_is_one():
    frame = people()
    result = ft.audit(frame, "good", y_pred="hired", sensitive_features="sex", rng=0)
    (one,) = result.group_metrics()
    wrong = frame["good"] != frame["hired"]

    assert [table.title for table in one.rates] == [
        "Gets yes", "Wrong", "Wrong, true label no", "Wrong, true label yes",
    ]  # fmt: skip
    for sex in "fm":
        is_sex = frame["sex"] == sex
        assert rows_of(one, "error")[(sex,)].rate == pytest.approx(wrong[is_sex].mean())
        part = is_sex & (frame["good"] == "no")
        row = rows_of(one, "error-of-label", "no")[(sex,)]
        assert (row.people, row.rate) == (part.sum(), pytest.approx(wrong[part].mean()))
    assert one.reference is None  # nothing is called favourable


def test_the_reference_is_named_the_largest_or_the_highest():
    frame = people()
    result = audit_decisions(frame)
    rates = frame.assign(hit=frame["hired"] == "yes").groupby("race")["hit"].mean()

    def reference(*arguments, **options):
        return [one.rates[0].reference for one in result.group_metrics(*arguments, **options)]

    assert reference({"race": "a"})[1] == {"race": "a"}
    assert reference({"race": "a", "sex": "f"})[2] == {"sex": "f", "race": "a"}
    assert reference("highest")[1] == {"race": rates.idxmax()}
    assert reference({"race": "highest"})[:2] == [{"sex": "m"}, {"race": rates.idxmax()}]
    ratios = [row.ratio for row in result.group_metrics("highest")[2].rates[0].groups]
    assert all(ratio is None or ratio <= 1 for ratio in ratios)
    assert result.document(reference="highest").group_metrics == result.group_metrics("highest")


def test_small_and_missing_groups_are_listed_and_are_no_reference():
    frame = people().assign(race=lambda one: one["race"].where(one.index % 2 == 0))
    frame.loc[frame.index[:3], ["race", "hired"]] = ["d", "yes"]
    result = audit_decisions(frame, missing="level")

    by_race = rows_of(result.group_metrics("highest", min_share=0.02)[1])
    assert by_race[("d",)].rate == 1
    assert by_race[("d",)].ratio is None
    assert by_race[(None,)].people == frame["race"].isna().sum()
    document = result.document(reference="highest", min_share=0.02)
    assert document.group_metrics == result.group_metrics("highest", min_share=0.02)
    assert document.group_metrics != result.document(reference="highest").group_metrics
    hired = frame["hired"].where(frame["race"].notna(), "yes")
    unknown = audit_decisions(frame.assign(hired=hired), missing="level")
    assert rows_of(unknown.group_metrics("highest")[1])[(None,)].rate == 1
    assert unknown.group_metrics("highest", min_share=0.02)[1].reference["race"] in {"a", "b", "c"}
    largest = result.group_metrics()[1].rates[0].reference
    assert largest == {"race": "b"}
    assert result.group_metrics("highest")[1].rates[0].reference == {"race": "d"}


def test_the_table_is_a_frame_of_the_library_of_the_data():
    frame = people()
    table = audit_decisions(frame).group_metrics().table()
    result = ft.audit(
        pl.DataFrame(frame.drop(columns="good").to_dict("list")), y_pred="hired", loss="outcome",
        pos_label="no", sensitive_features="sex", rng=0,
    )  # fmt: skip

    assert isinstance(table, pd.DataFrame)
    assert len(table) == 2 + 3 + 6
    assert isinstance(result.group_metrics().table(), pl.DataFrame)


def test_numbers_and_scores_are_no_decisions():
    frame = people().assign(chance=lambda one: one["score"] / 4)
    scores = ft.audit(
        frame.drop(columns=["hired", "good"]), y_pred="chance", loss="outcome",
        loss_range=(0, 1), sensitive_features="sex", rng=0,
    )  # fmt: skip
    assert scores.group_metrics() == ()
    bits = frame.assign(bit=(frame["hired"] == "yes") * 1).drop(columns=["hired", "good", "chance"])
    result = ft.audit(bits, y_pred="bit", loss="outcome", loss_range=(0, 1),
                      sensitive_features="sex", rng=0)  # fmt: skip
    assert rows_of(result.group_metrics()[0])[("f",)].rate == bits["bit"][bits["sex"] == "f"].mean()


def test_a_favourable_answer_of_a_model_needs_no_truth():
    frame = people().drop(columns=["hired", "good"])

    def model(points):
        return np.where(points["score"] > 1, "yes", "no")

    options = {"model": model, "loss": "outcome", "pos_label": "no", "sensitive_features": "sex"}
    result = ft.audit(frame, favourable="yes", **options)
    assert rows_of(result.group_metrics()[0])[("m",)].rate == pytest.approx(
        (frame["score"] > 1)[frame["sex"] == "m"].mean()
    )
    with pytest.raises(ft.InputError, match="`favourable` must be one of 'no', 'yes', got 'ja'"):
        ft.audit(frame, favourable="ja", **options)


def test_more_labels_have_a_rate_each():
    frame = people().assign(hired=lambda one: np.array(["no", "maybe", "yes", "yes"])[one["score"]])
    result = ft.audit(frame.drop(columns="good"), y_pred="hired", loss="outcome", pos_label="no",
                      sensitive_features="sex", rng=0)  # fmt: skip
    assert [table.label for table in result.group_metrics()[0].rates] == ["no"]
    labelled = ft.audit(frame, "good", y_pred="hired", sensitive_features="sex", rng=0)
    tables = labelled.group_metrics()[0].rates
    assert [table.label for table in tables if table.kind == "selection"] == ["maybe", "no", "yes"]


def test_strangers_are_told_coarse_rates_without_people_and_intervals():
    result = audit_decisions(people(20_000))
    whole, shared = result.document(), result.document(5)
    validate(shared.as_json(), audit_schema())

    assert [one.features for one in shared.group_metrics] == [("sex",), ("race",), ("sex", "race")]
    for one, other in zip(whole.group_metrics, shared.group_metrics, strict=True):
        step = nice_step(3 * 5 / min(row.people for row in one.rates[0].groups))
        for row, coarse in zip(one.rates[0].groups, other.rates[0].groups, strict=True):
            assert coarse.rate == pytest.approx(row.rate, abs=step / 2 + 1e-9)
            assert (coarse.people, coarse.lower, coarse.ratio_upper) == (None, None, None)
            assert coarse.rate / step == pytest.approx(round(coarse.rate / step))
    assert "rates are rounded, without intervals" in result.to_markdown(share=5)
    # who falls short of a share would tell sizes
    assert result.document(5, min_share=0.9).group_metrics == shared.group_metrics
    assert result.document(min_share=0.9).group_metrics != whole.group_metrics
    few = people(20_000)
    few.loc[few.index[:3], "race"] = "d"
    groups = [row.group for one in audit_decisions(few).document(5).group_metrics
              for row in one.rates[0].groups]  # fmt: skip
    assert groups
    assert not any("d" in group.values() for group in groups)


def test_the_report_says_who_gets_what():
    result = audit_decisions(people())
    text = result.to_markdown(reference="highest")

    assert "## Rates by group" in text
    assert (
        "| Group | People | Decision: yes | 95 % interval | Difference from m, percentage points "
        "| Ratio |" in text
    )
    assert "0.8" not in text.split("## Rates by group")[1].split("|")[0]  # no threshold


def test_a_reference_is_said_to_be_set_only_where_it_was():
    """Among people of one label another group may be the largest."""
    frame = people()
    women = frame["sex"] == "f"
    frame.loc[women, "good"] = "yes"
    frame.loc[~women, "good"] = np.where(frame.loc[~women, "score"] > 2, "yes", "no")
    assert (frame["good"][women] == "yes").sum() > (frame["good"][~women] == "yes").sum()
    options = {"y_pred": "hired", "sensitive_features": "sex", "favourable": "yes", "rng": 0}
    result = ft.audit(frame, "good", **options)
    default, chosen = result.to_markdown(), result.to_markdown(reference={"sex": "f"})

    assert "a reference group: the largest one." in default
    assert "a reference group: f for sex \\(as set for this report\\)." in chosen
