"""An audit within a limit of time: its statistic is a bracket, and it says so."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.errors import InputError
from fairtransport.transport import bracket

SCALES = {"income": 1.0, "debt": 1.0, "group": 2.0}


def people(size=400, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(size, 2)), columns=["income", "debt"])
    table["group"] = rng.integers(0, 2, size)
    table["good"] = (rng.random(size) < score(table)).astype(int)
    return table


def score(table):
    return 1 / (1 + np.exp(-table["income"].to_numpy() - 0.6 * table["group"].to_numpy()))


def audited(**settings):
    asked = {
        "similarity": ft.similarity.MixedTabular(scales=SCALES), "loss": "brier", "budget": 0.05,
        "delta": 0.02, "rng": 0, "sensitive_features": "group",
    } | settings  # fmt: skip
    return ft.audit(people(), "good", model=score, **asked)


@pytest.fixture(autouse=True)
def small_rounds(monkeypatch):
    monkeypatch.setattr(bracket, "ROUND", 64)


def test_the_statistic_is_the_lower_value_and_the_exact_one_lies_above():
    exact, found = audited(), audited(search_rounds=8)

    assert exact.bracket is None
    assert found.bracket.rounds == 8
    assert found.statistic == found.bracket.lower < exact.statistic < found.bracket.upper
    assert found.lower_bound <= exact.lower_bound * 1.01
    assert found.worst_case_risk == found.baseline_risk + found.statistic
    assert found.attributable.same_group >= exact.attributable.same_group - 1e-9
    assert found.attributable.value <= exact.attributable.value + 1e-9
    assert found.methods["method"].tolist() == ["finite-sample"]
    assert found.summary.duality_gap == pytest.approx(
        found.bracket.upper - found.bracket.lower, abs=1e-9
    )


def test_time_enough_closes_the_bracket():
    exact, found = audited(), audited(time_limit=600)

    assert found.bracket.lower == pytest.approx(exact.statistic, rel=1e-8)
    assert found.bracket.upper == pytest.approx(exact.statistic, rel=1e-8)
    assert not found.summary.bracket.is_open
    assert "or more" not in str(found)


def test_documents_say_that_it_is_a_bracket(tmp_path):
    found = audited(search_rounds=8)
    document = json.loads(found.summary.to_json())
    said = document["bracket"]

    assert said == {"lower": found.statistic, "upper": found.bracket.upper, "rounds": 8}
    assert document["budget_curve"] == []
    assert document["elbow"] is None
    page = found.to_html(tmp_path / "report.html").read_text("utf-8")
    for text in (page, found.to_markdown()):
        assert "The statistic lies between" in text
        assert "or more at worst" in text
        assert f" to {math.ceil(1e4 * found.bracket.upper) / 1e4:.4f}" in text
        assert "The search for the statistic was limited" in text
        assert "Other swaps would give the same statistic" not in text
    assert json.loads(audited().summary.to_json())["bracket"] is None


def test_what_is_shared_brackets_the_rounded_statistic():
    shared = audited(search_rounds=8).document(5)

    assert shared.bracket.lower == shared.statistic <= shared.bracket.upper


def test_recorded_rounds_repeat_an_audit_to_the_byte():
    timed = audited(time_limit=0.05)
    again = audited(search_rounds=timed.bracket.rounds)

    assert again.summary.to_json() == timed.summary.to_json()


def test_a_reference_certifies_within_a_bracket():
    settings = {"targets": people(300, seed=5), "delta": 0.9, "search_rounds": 30}
    found, exact = audited(**settings), audited(**settings | {"search_rounds": None})

    assert found.target_scope == "reference"
    assert found.verdict == exact.verdict == "certified"
    assert exact.statistic < found.upper_bound < 0.9
    # differences of brackets are not bounded
    assert found.attributable.verdict == "inconclusive"


def test_similarities_without_a_search_are_exact_at_once():
    found = audited(similarity="ignore-sensitive", budget=0.0, time_limit=1e-6)

    assert found.bracket is None
    assert found.statistic == audited(similarity="ignore-sensitive", budget=0.0).statistic


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"time_limit": 0}, r"`time_limit` must be a finite number > 0, got 0"),
        ({"search_rounds": 0}, r"`search_rounds` must be a whole number >= 1, got 0"),
        ({"time_limit": 5, "search_rounds": 5}, "must not be given together, got both"),
        ({"time_limit": 5, "method": "limit-law"}, "`method` must be 'finite-sample' with `time_l"),
        ({"search_rounds": 5, "draws": 2}, "`draws` and `search_rounds` must not be given togethe"),
        ({"time_limit": 5, "ask_until_sure": True}, "`ask_until_sure` and `time_limit` must not"),
    ],
)
def test_limits_that_contradict_something_are_refused(settings, words):
    with pytest.raises(InputError, match=words):
        audited(**settings)


def test_what_needs_the_exact_statistic_is_refused():
    found = audited(search_rounds=8)

    for name, ask in {
        "at_budget": lambda: found.at_budget(0.1), "placebo": lambda: found.placebo(draws=1),
        "pilot": found.as_pilot, "sensitivity": found.sensitivity,
        "budget_curve": lambda: found.budget_curve,
    }.items():  # fmt: skip
        with pytest.raises(InputError, match=f"`{name}` needs the exact statistic, got a bracket"):
            ask()
    with pytest.raises(InputError, match="the statistic is a bracket"):
        found.plot("budget")
    for kind in ("flows", "methods"):
        assert found.plot(kind).to_dict()
