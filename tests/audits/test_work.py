"""How often an audit with all its documents does what takes time: counted, not timed."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.inference.finite.bets import Rejection
from fairtransport.transport import AuditProblem, BudgetCurve
from fairtransport.transport import problem as problems
from fairtransport.transport.frontiers import PriceSearch

SUMMARISE = "fairtransport.audits.summarise"


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, 3)).round(3), columns=["x", "y", "z"])
    table["race"], table["sex"] = rng.integers(0, 2, (2, n))
    table["good"] = rng.integers(0, 2, n)
    table["score"] = rng.random(n).round(4)
    return table


def everything(result, folder):
    """Ask for all that a report, a document and a screen show."""
    _ = result.verdict, result.interval, result.moves, str(result)
    result.to_html(folder / "report.html")
    result.to_json(folder / "audit.json")
    return result.to_markdown()


@pytest.fixture
def calls(monkeypatch):
    """Count calls by name; of frontiers, the blocks that they were built for."""
    counted = Counter()

    def count(owner, name, told=lambda *_, **__: None):
        inner = getattr(owner, name)

        def outer(*args, **kwargs):
            counted[name, told(*args, **kwargs)] += 1
            return inner(*args, **kwargs)

        monkeypatch.setattr(owner, name, outer)

    count(problems, "build_frontiers", lambda _, geometry: geometry.blocks.tobytes())
    count(AuditProblem, "count_best_targets")
    count(AuditProblem, "best_by_search", lambda _, price, rows: price)
    count(Rejection, "bound", lambda _, alpha: alpha)
    count(BudgetCurve, "thin")
    summarise = __import__(SUMMARISE, fromlist=["summarise"])
    for name in ("data_sha256", "worst_pair", "check_space", "describe_moves"):
        count(summarise, name)
    for name in ("flow_table",):
        count(summarise, name, lambda moved, space, feature, **_: feature)
    return counted


def of(calls, name):
    return {told: number for (called, told), number in calls.items() if called == name}


@pytest.mark.parametrize("sensitive", [["race"], ["race", "sex"]])
def test_a_distance_is_searched_once_for_each_question(calls, sensitive, tmp_path):
    result = ft.audit(
        people(), "good", y_score="score", sensitive_features=sensitive, budget=0.05, delta=0.1,
        loss="brier", rng=0,
        similarity=ft.similarity.MixedTabular(
            scales=dict.fromkeys("xyz", 1.0),
            mismatch=dict.fromkeys({"race", "sex"} - {*sensitive}, 1.0),
        ),
    )  # fmt: skip
    everything(result, tmp_path)

    # as it is, with all sensitive features held fixed, and with each of several
    built = of(calls, "build_frontiers")
    assert len(built) == {1: 2, 2: 4}[len(sensitive)]
    assert set(calls.values()) == {1}
    assert of(calls, "count_best_targets") == {None: 1}
    assert of(calls, "best_by_search") == {result.price: 1}
    # the level and its half, for the interval
    assert set(of(calls, "bound")) == {0.05, 0.025}
    assert len(of(calls, "flow_table")) == len(result.summary.flows)


def test_twins_need_frontiers_once(calls, tmp_path):
    def model(points):
        return 1 / (1 + np.exp(-(points["x"] + points["race"]).to_numpy(float)))

    table = people().drop(columns="score")
    result = ft.audit(table, "good", model=model, sensitive_features=["race", "sex"],
                      loss="brier", delta=0.1, rng=0)  # fmt: skip
    everything(result, tmp_path)

    assert len(of(calls, "build_frontiers")) == 1
    assert set(calls.values()) == {1}


def test_a_known_best_is_not_searched_for_again(monkeypatch):
    rng = np.random.default_rng(1)
    losses, place = rng.random(200), rng.normal(size=(200, 3))
    geometry, rows = ft.Geometry(np.zeros(200, int), ft.Embedding(place)), np.arange(0, 200, 3)
    problem = AuditProblem(losses, geometry)
    best = problem.best_by_search(0.3, rows)
    expected = problem.count_best_targets(0.3, rows)
    monkeypatch.setattr(PriceSearch, "find_best_targets", None)

    assert problem.count_best_targets(0.3, rows, best).tolist() == expected.tolist()


def test_documents_need_no_drawing(monkeypatch, tmp_path):
    result = ft.audit(
        people(), "good", y_score="score", sensitive_features="race", budget=0.05, delta=0.1,
        loss="brier", rng=0,
        similarity=ft.similarity.MixedTabular(
            scales=dict.fromkeys("xyz", 1.0), mismatch={"sex": 1.0}
        ),
    )  # fmt: skip

    def never(*_, **__):
        msg = "a chart was drawn for a document"
        raise AssertionError(msg)

    monkeypatch.setattr("altair.TopLevelMixin.to_dict", never)
    page = result.to_html(tmp_path / "report.html").read_text("utf-8")

    # the law, the methods and the curve are there, each with its data
    assert page.count('"rows-0":[') == 3


@pytest.mark.slow
@pytest.mark.parametrize("columns", [10, 80])
def test_a_page_stays_small_however_many_columns_people_have(columns):
    from tests.report.samples import sample

    from fairtransport.report import render

    one = sample()
    profile = {f"column {at}": "a value of it" for at in range(columns)}
    move = replace(one.moves[0], from_profile=profile, to_profile=profile)
    many = replace(one, moves=(move,) * 500, moves_found=10**6)
    page = render(many, "html")

    assert len(page.encode()) < 2_000_000
    listed = 4_000 // columns
    assert f"{listed} of 1,000,000 swaps are shown" in page
    asked_for = render(replace(many, moves=(move,) * 600), "html")
    assert "600 of 1,000,000 swaps are shown" in asked_for
