"""A family of audits: each as if made alone, from one counting and one asking."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairtransport as ft
from fairtransport.audits.family import COLUMNS
from fairtransport.documents.family import family_schema
from fairtransport.settings import SETTINGS
from fairtransport.similarity import MixedTabular


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "race": rng.choice(["a", "b"], n), "sex": rng.choice(["f", "m"], n),
        "age": rng.integers(20, 30, n), "site": rng.choice(["x", "y", "z"], n),
        "good": rng.integers(0, 2, n),
    })  # fmt: skip
    frame["old"] = ((frame["race"] == "a") | (frame["age"] > 22)).astype(int)
    frame["new"] = (frame["age"] > 24).astype(int)
    return frame


PEOPLE = people()
PROFILE = ["race", "sex", "age"]
NEAR = 0.15
"""A threshold near the statistic of `Model`."""


class Model:
    """Errs by race; writes down how often it was asked."""

    feature_names_in_ = np.array(PROFILE)
    classes_ = np.array([0, 1])

    def __init__(self, bias=22):
        self.asked, self.bias = [], bias

    def predict(self, points):
        self.asked += map(tuple, points.to_numpy().tolist())
        return ((points["race"] == "a") | (points["age"] > self.bias)).astype(int).to_numpy()


def comparable(result):
    """Return a result's document without what the way it was asked decides."""
    return replace(result.summary, provenance=replace(result.summary.provenance, model=""))


@pytest.mark.slow
def test_each_audit_is_what_it_would_be_alone():
    model = Model()
    common = {"sensitive_features": ["race", "sex"], "delta": 0.05, "rng": 3}
    audits = {
        "all": {},
        "race": {
            "sensitive_features": "race", "bins": {"age": [24]}, "features": ["race", "age"],
            "model": lambda x: (x["race"] == "a").astype(int),
        },
        "x": {"where": {"site": "x"}},
        "two sites": {"where": {"site": ["y", "z"]}, "delta": 0.4},
        "outcome": {"loss": "outcome", "pos_label": 1},
        "distance": {"similarity": MixedTabular({"age": 5}), "budget": 0.2, "method": "limit-law"},
        "given": {"y_pred": "old", "features": PROFILE},
        "array": {"y_pred": PEOPLE["new"].to_numpy(), "features": PROFILE},
    }  # fmt: skip
    found = ft.audit_many(PEOPLE, "good", model=model, audits=audits, **common)

    for name, own in audits.items():
        asked = common | {"model": model} | own
        where = asked.pop("where", None)
        if "y_pred" in own:
            del asked["model"]
        frame = PEOPLE
        if where is not None:
            sites = where["site"]
            frame = frame[frame["site"].isin(sites if isinstance(sites, list) else [sites])]
        alone = ft.audit(frame, "good", **asked)
        assert comparable(found[name]) == comparable(alone), name


def test_a_model_is_asked_once_about_a_person_and_the_data_are_counted_once(monkeypatch):
    from fairtransport.data.sources import FrameSource

    counted = []
    count = FrameSource.count
    monkeypatch.setattr(
        FrameSource, "count", lambda *given: (counted.append(given[1]), count(*given))[1]
    )
    model = Model()
    found = ft.audit_many(
        PEOPLE, "good", model=model, sensitive_features=["race", "sex"], delta=0.05, rng=0,
        audits={
            "all": {}, "strict": {"delta": 0.01}, "race": {"sensitive_features": ["race"]},
            "x": {"where": {"site": "x"}}, "rate": {"loss": "outcome", "pos_label": 1},
        }, queries=ft.Queries(repeats=0),
    )  # fmt: skip

    assert len(counted) == 1
    assert set(counted[0]) == {*PROFILE, "good", "site"}
    assert len(model.asked) == len(set(model.asked)) == found.queried == 40
    assert found["all"].queried == 40


def test_arrays_are_attached_once_and_predictions_describe_nobody():
    labels = PEOPLE["good"].to_numpy()
    frame = PEOPLE.drop(columns=["good", "site"])
    by_array = ft.audit_many(
        frame, labels, sensitive_features=["race"], rng=0,
        audits={"old": {"y_pred": "old"}, "new": {"y_pred": "new"}},
    )  # fmt: skip

    assert [one.space.features for one in by_array.values()] == [("race", "sex", "age")] * 2
    assert {one.space.label for one in by_array.values()} == {"label"}
    series = ft.audit_many(
        frame.drop(columns="new"), PEOPLE["good"], sensitive_features=["race"], rng=0,
        audits={"old": {"y_pred": "old"}, "new": {"y_pred": frame["new"].rename("fresh")}},
    )  # fmt: skip
    assert {one.space.label for one in series.values()} == {"good"}
    for name in ("old", "new"):
        assert series[name].summary.moves == by_array[name].summary.moves
        assert series[name].statistic == by_array[name].statistic


@pytest.fixture(scope="module")
def found():
    return ft.audit_many(
        PEOPLE, "good", model=Model(), sensitive_features=["race", "sex"], rng=0, delta=0.05,
        levels={"race": ["a", "b"], "sex": ["f", "m"]},
        audits={
            "all": {}, "loose": {"delta": 0.5}, "near": {"delta": NEAR},
            "untested": {"delta": None},
            "given": {"y_pred": "old", "features": PROFILE, "levels": None},
            "budget": {"similarity": MixedTabular({"age": 5}), "budget": 0.2, "levels": None},
        },
    )  # fmt: skip


def test_the_table_has_a_row_for_each_audit(found):
    table = found.table

    assert isinstance(table, pd.DataFrame)
    assert tuple(table.columns) == COLUMNS
    assert list(table["name"]) == list(found) == list(found.results)
    assert len(found) == 6
    assert table["verdict"].tolist()[:3] == ["rejected", "certified", "inconclusive"]
    assert pd.isna(table["verdict"][3])
    assert found.verdicts["given"] == "rejected"


def test_verdicts_pvalues_and_intervals_say_the_same(found):
    family = found.family

    assert (family.size, family.tested, family.certifiable) == (6, 5, 3)
    for one in found.members:
        if one.delta is None:
            assert (one.pvalue, one.pvalue_adjusted, one.verdict) == (None, None, None)
            continue
        assert (one.verdict == "rejected") == (one.pvalue_adjusted <= 0.05)
        assert (one.verdict == "certified") == (one.upper is not None and one.upper <= one.delta)
        assert one.pvalue <= one.pvalue_adjusted
        assert (one.pvalue <= 0.05) == (found[one.name].pvalue <= 0.05)
        if one.lower > one.delta:
            assert one.verdict == "rejected"


def test_intervals_are_wider_than_those_of_each_audit_alone(found):
    for one in found.members:
        alone = found[one.name]
        assert one.lower <= alone.interval.lower
        if one.upper is not None:
            assert one.upper >= alone.interval.upper


def test_results_come_in_the_library_of_the_data():
    table = ft.audit_many(
        pl.from_pandas(PEOPLE[[*PROFILE, "good", "old", "new"]]), "good", rng=0,
        sensitive_features="race", audits={"old": {"y_pred": "old"}, "new": {"y_pred": "new"}},
    ).table  # fmt: skip

    assert isinstance(table, pl.DataFrame)


def test_a_file_and_a_frame_give_the_same(tmp_path):
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    asked = {
        "sensitive_features": ["race"], "delta": 0.1, "rng": 1, "features": PROFILE,
        "audits": {"x": {"y_pred": "old", "where": {"site": "x"}}, "all": {"y_pred": "new"}},
    }  # fmt: skip
    from_file = ft.audit_many(tmp_path / "people.csv", "good", **asked)

    assert from_file.summary == ft.audit_many(PEOPLE, "good", **asked).summary


def test_one_seed_is_drawn_for_all_and_recorded():
    found = ft.audit_many(
        PEOPLE, "good", sensitive_features="race", features=PROFILE,
        audits={
            "old": {"y_pred": "old"}, "new": {"y_pred": "new"}, "own": {"y_pred": "new", "rng": 4},
        },
    )  # fmt: skip

    assert found["old"].seed == found["new"].seed
    assert found["own"].seed == 4


def test_it_is_frozen_and_a_mapping(found):
    with pytest.raises(AttributeError):
        found.alpha = 0.1
    with pytest.raises(KeyError, match="there are all, loose"):
        _ = found["nobody"]
    assert "all" in found
    assert repr(found).startswith("Audits(all='rejected', loose='certified'")


def test_the_document_is_the_published_one(found, tmp_path):
    document = json.loads(found.to_json(tmp_path / "family.json").read_text("utf-8"))

    jsonschema.Draft202012Validator(family_schema()).validate(document)
    assert document["schema"] == "fairtransport-family/1"
    assert [one["name"] for one in document["members"]] == list(found)
    assert document["audits"][0] == json.loads(found["all"].summary.to_json())
    assert document["queried"] == found.queried
    assert found.summary.to_json() == Path(found.to_json(tmp_path / "again.json")).read_text(
        "utf-8"
    )


def test_reports_have_a_row_and_a_section_for_each_audit(found, tmp_path):
    page = found.to_html(tmp_path / "family.html").read_text("utf-8")
    text = found.to_markdown()

    for one in found.members:
        assert f"<bdi>{one.name}</bdi>" in page
        assert f"<h3>{one.name}: " in page
        assert f"| {one.name} |" in text
    assert "Over the limit in 3 of 6 audits; 1 not settled, 1 without a limit" in page
    assert "3 over the limit" in page
    assert "With 95 % confidence no verdict here is wrong" in text
    assert "model is fair" not in page + text
    assert found.to_markdown() == text
    fragment = found._repr_html_()
    assert "<script" not in fragment
    assert fragment.count("<tr>") == 7


def of_one(**settings):
    """Return a family of which the first audit has settings of its own."""
    return {"audits": {"a": settings, "b": {}}}


class Elsewhere(Model):
    """Was fitted on a column that is not there."""

    feature_names_in_ = np.array(["race", "height"])


REFUSED = [
    (of_one(model=Elsewhere()), "audit 'a': the model was fitted on the column 'height'"),
    ({"audits": {"one": {}}}, "`audits` must map at least 2 names to settings, got 1"),
    ({"audits": ["a", "b"]}, "`audits` must map at least 2 names to settings, got ['a', 'b']"),
    ({"audits": {"a": {}, " ": {}}}, "`audits` must have names of text, got ' '"),
    ({"audits": {"a": 3, "b": {}}}, "audit 'a': its settings must be a mapping"),
    (of_one(dleta=1), "audit 'a': its settings got an unexpected parameter 'dleta'; did you"),
    (of_one(alpha=0.1), "audit 'a': `alpha` must be the same for all audits"),
    (of_one(X=1), "audit 'a': `X` must be the same for all audits"),
    (of_one(delta=-1), "audit 'a': `delta` must be a fraction from 0 to below 1 "),
    (of_one(where={"town": 1}), "audit 'a': `where` must name columns of the data"),
    (of_one(where="x"), "audit 'a': `where` must map columns to values"),
    (of_one(where={"site": "q"}), "audit 'a': `where['site']` must be values"),
    (of_one(model=None), "audit 'a': exactly one of `model`, `y_pred`"),
    ({"alpha": 0.6}, "`alpha` must be a number above 0 and below 0.5, got 0.6"),
    ({"queries": ft.Queries(draws=2)}, "audit 'a': `queries.draws` is for `audit` alone: a family"),
    (
        of_one(queries=ft.Queries(until_sure=True), delta=0.1),
        "audit 'a': `queries.until_sure` is for `audit` alone: a family queries",
    ),
    ({"alphas": 0.6}, "audit_many() got an unexpected parameter 'alphas'; did you mean 'alpha'?"),
    ({"sensitive_features": None}, "audit 'a': `sensitive_features` must be given"),
    ({"method": "efron", "n_resamples": 79}, "audit 'a': `n_resamples` must be at least 80 for"),
]


@pytest.mark.parametrize(("wrong", "message"), REFUSED, ids=[one[1] for one in REFUSED])
def test_what_is_wrong_is_said_with_the_name_of_the_audit(wrong, message):
    asked = {
        "model": Model(), "sensitive_features": "race", "audits": {"a": {}, "b": {}}, **wrong,
    }  # fmt: skip
    with pytest.raises(ft.InputError) as caught:
        ft.audit_many(PEOPLE, "good", **asked)

    assert str(caught.value).startswith(message)


def test_just_enough_draws_do():
    found = ft.audit_many(
        PEOPLE, "good", model=Model(), sensitive_features="race", delta=0.01, rng=0,
        method="efron", n_resamples=80, audits={"a": {}, "b": {"delta": 0.02}},
    )  # fmt: skip

    assert set(found.verdicts) == {"a", "b"}
    assert found.summary.guarantee == "asymptotic"
    assert "approximately 95 %" in found.to_markdown()


def test_without_thresholds_there_are_intervals_and_no_verdicts():
    found = ft.audit_many(
        PEOPLE, "good", model=Model(), sensitive_features="race", rng=0,
        audits={"a": {}, "b": {"sensitive_features": ["race", "sex"]}},
    )  # fmt: skip

    assert found.verdicts == {}
    assert found.table["lower"].notna().all()
    assert "**No limit set.** Of 2 audits: 2 without a limit." in found.to_markdown()


def test_every_setting_of_an_audit_can_be_given_to_all_or_to_one():
    from fairtransport.audits.family import OF_ONE, OWN, SHARED

    assert set(OWN) | set(SHARED) == {*SETTINGS, "where"} - set(OF_ONE)
