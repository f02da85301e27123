"""Moves: the plan in people's terms, counted a second time."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.explain.audits import compas_audit, priced_audit, random_people

import fairtransport as ft


def test_everyone_who_is_right_but_has_a_twin_who_is_wrong_is_moved_to_such_a_twin():
    result = compas_audit()
    moves = result.moves

    assert moves["people"].sum() == round(result.statistic * result.n)
    assert (moves["loss"] == 0).all()
    assert (moves["loss_after"] == 1).all()
    assert (moves["prediction"] == moves["label"]).all()
    assert (moves["prediction_after"] != moves["label"]).all()
    others = ["age_cat", "priors", "charge"]
    for name in others:
        assert (moves[f"from_{name}"] == moves[f"to_{name}"]).all()
    assert moves["people"].is_monotonic_decreasing


@pytest.mark.parametrize("seed", range(6))
def test_moves_add_up_to_the_statistic_and_to_the_budget(seed):
    result = priced_audit(seed, budget=0.04)
    moves = result.moves

    gained = (moves["people"] * (moves["loss_after"] - moves["loss"])).sum()
    assert gained / result.n == pytest.approx(result.statistic, abs=1e-12)
    spent = (moves["people"] * moves["cost"]).sum() / result.n
    assert spent <= result.problem.budget + 1e-12
    assert spent == pytest.approx(result.problem.budget)


@pytest.mark.parametrize("seed", range(4))
def test_nobody_is_moved_twice(seed):
    result = priced_audit(seed)
    leaving = np.bincount(result.moved.sources, result.moved.people, result.points)

    assert (leaving <= result.space.counts + 1e-9).all()
    after = result.plan.sum(axis=0) * result.n
    arriving = np.bincount(result.moved.targets, result.moved.people, result.points)
    np.testing.assert_allclose(result.space.counts - leaving + arriving, after, atol=1e-9)


def audit_with_ties(model):
    people = pd.DataFrame({"race": list("aabcc"), "sex": list("fmmff"), "y": [1, 1, 1, 1, 0]})
    return ft.audit(
        people, "y", model=model, features=["race", "sex"], sensitive_features=["race", "sex"]
    )


def test_among_equally_bad_twins_the_one_with_fewest_changes_is_taken_and_flagged():
    result = audit_with_ties(lambda points: (points["race"] == "a").astype(int))
    moves = result.moves[result.moves["label"] == 1]

    assert (moves["from_race"] == "a").all()
    assert (moves["from_sex"] == moves["to_sex"]).all()
    assert moves["tied"].all()
    assert not result.solution.plan_is_unique
    assert "race: a → b" in list(result.moves["changed"])


def test_the_only_bad_twin_is_no_tie():
    only = lambda points: 1 - ((points["race"] == "c") & (points["sex"] == "m")).astype(int)  # noqa: E731
    moves = audit_with_ties(only).moves
    moves = moves[moves["label"] == 1]

    assert set(moves["to_race"]) == {"c"}
    assert not moves["tied"].any()


def test_different_predictions_for_one_profile_are_moves_in_which_nothing_changes():
    people = pd.DataFrame({"race": ["a", "a"], "y": [1, 1], "guess": [1, 0]})
    result = ft.audit(people, "y", y_pred="guess", sensitive_features="race")

    assert result.moves["changed"].tolist() == ["nothing"]
    assert result.moves["prediction"].tolist() == [1]
    assert result.moves["prediction_after"].tolist() == [0]


def test_tables_come_back_in_the_library_of_the_data():
    result = ft.audit(
        pl.from_pandas(random_people(1)), "good", y_pred="guess", sensitive_features="group"
    )

    assert isinstance(result.moves, pl.DataFrame)
    assert isinstance(result.flows("x"), pl.DataFrame)
    assert isinstance(result.methods, pl.DataFrame)


def test_an_audit_that_finds_nothing_has_an_empty_table_of_moves():
    result = audit_with_ties(lambda points: np.ones(len(points), int))
    assert result.baseline_risk == 1 / 5

    assert len(result.moves) == 0
    assert {"people", "tied", "from_race", "to_race"} <= set(result.moves.columns)
    assert result.summary.moves == ()


def test_scores_are_shown_class_by_class():
    people = pd.DataFrame({"race": ["a", "b"], "y": [1, 0]})
    scores = lambda points: np.where(points["race"] == "a", 0.9, 0.2)  # noqa: E731
    result = ft.audit(people, "y", model=scores, sensitive_features="race", features=["race"],
                      loss="brier")  # fmt: skip
    found = {move.label: (move.prediction, move.prediction_after) for move in result.summary.moves}

    assert found[1] == (pytest.approx((0.1, 0.9)), pytest.approx((0.8, 0.2)))
    assert found[0] == (pytest.approx((0.8, 0.2)), pytest.approx((0.1, 0.9)))
