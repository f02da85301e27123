"""The l1 path and Figures 3 and 4, on one split."""

import numpy as np
import pandas as pd
import pytest

from fairtransport.cli import main
from fairtransport.datasets.compas import DELTA, LABEL, split_compas
from fairtransport.reproduce.compas import SELECTABLE, audit_model, encode_people
from fairtransport.reproduce.fair_path import STRENGTHS, FairPath, PathModel, fair_path
from fairtransport.reproduce.figures import (
    coefficient_table,
    figure3_chart,
    figure4_chart,
    path_table,
)

SEED = 0


@pytest.fixture(scope="module")
def training():
    return split_compas(SEED).training


@pytest.fixture(scope="module")
def path(training):
    return fair_path(training, SEED)


def test_the_grid_is_the_papers():
    assert STRENGTHS[[0, 28, -1]].tolist() == [0.0005, 0.0145, 0.05]


def test_the_path_is_audited_on_people_it_was_not_fitted_on(path, training):
    fitted = round(5 / 7 * len(training))
    assert fitted == 2639
    validation = training.iloc[fitted:]
    for place in (0, 35, 99):
        result = audit_model(path.models[place], validation, SEED)
        assert path.statistic[place] == result.statistic
        assert path.lower_bound[place] == result.lower_bound
        assert path.accuracy[place] == pytest.approx(1 - result.baseline_risk)


def test_models_are_optimal_for_the_penalised_loss(path, training):
    """Subgradient conditions of |w| + |b| + C Σ loss, which is what liblinear minimises."""
    fitted = training.iloc[: round(5 / 7 * len(training))]
    features = np.column_stack([encode_people(fitted, SELECTABLE), np.ones(len(fitted))])
    labels = fitted[LABEL].to_numpy()
    for place in (10, 40, 99):
        model = path.models[place]
        weights = np.array([*model.coefficients, model.intercept])
        chance = 1 / (1 + np.exp(-features @ weights))
        slope = STRENGTHS[place] * features.T @ (chance - labels)
        used = weights != 0
        assert np.allclose(slope[used], -np.sign(weights[used]), atol=0.02)
        assert (np.abs(slope[~used]) <= 1.02).all()


def test_the_choice_is_the_best_candidate_with_the_least_strength(path):
    best = max(path.accuracy[path.lower_bound <= DELTA])
    for place, accuracy in enumerate(path.accuracy):
        if path.lower_bound[place] <= DELTA and accuracy == best:
            assert path.chosen == place
            break


def made_path(coefficients, accuracy, lower):
    models = tuple(PathModel(np.array(row, float), 0.0) for row in coefficients)
    lower = np.array(lower)
    return FairPath(np.arange(len(models)) + 1.0, models, np.array(accuracy), lower, lower, DELTA)


def test_a_rejected_model_is_not_chosen_and_ties_go_to_the_first():
    rows = np.zeros((4, 7))
    path = made_path(rows, [0.5, 0.6, 0.6, 0.9], [0, DELTA, 0, DELTA + 1e-9])
    assert path.candidates.tolist() == [True, True, True, False]
    assert path.chosen == 1


def test_entry_order_breaks_ties_by_size_and_leaves_out_who_never_enters():
    rows = np.zeros((3, 7))
    rows[1, [2, 4]] = 0.1, -0.3
    rows[2] = [0.5, 0, 0, 0.1, -0.4, 0.2, 0]
    path = made_path(rows, [0.5, 0.5, 0.6], [0, 0, 0])
    assert path.entry_order() == (
        "misdemeanor", "race", "no priors", "age < 25", "age > 45",
    )  # fmt: skip
    assert path.selected == ("no priors", "age > 45", "misdemeanor", "age < 25")
    table = coefficient_table(path)
    names = {row.variable: row.entry for row in table.itertuples()}
    assert names["race"] == 2
    assert pd.isna(names["female"])
    assert "sex (female)" in figure4_chart(table).to_json(ensure_ascii=False)


def test_charts_name_the_chosen_model_and_hold_all_rows(path):
    chosen = f"chosen: 1/λ = {path.strengths[path.chosen]:g}"
    table = path_table(path)
    assert table["chosen"].sum() == 1
    assert len(table) == len(STRENGTHS)
    for chart in (figure3_chart(table), figure4_chart(coefficient_table(path))):
        assert chosen in chart.to_json(ensure_ascii=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["figure3", "figure4"])
def test_the_commands_write_all_three_files(name, tmp_path, capsys, path):
    assert main(["reproduce", name, "--output", str(tmp_path), "--seed", str(SEED)]) == 0
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == [f"{name}.csv", f"{name}.png", f"{name}.svg"]
    table = path_table(path) if name == "figure3" else coefficient_table(path)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / f"{name}.csv"), table, check_dtype=False)
    assert capsys.readouterr().out.count("Wrote") == 3
