"""Flags about made-up twins."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from tests.validity import proxies


@pytest.fixture
def line(tmp_path):
    """The line of an audit with a learned distance, and the folder of its files."""
    rng = np.random.default_rng(0)
    proxies.history()[::5].to_csv(tmp_path / "history.csv", index=False)
    cases = proxies.draw(100, rng)
    cases.to_csv(tmp_path / "cases.csv", index=False)
    model = LogisticRegression().fit(cases[proxies.FEATURES], proxies.model(cases))
    pd.to_pickle(model, tmp_path / "model.pkl")
    return (
        "audit", tmp_path / "cases.csv", "--label", "good", "--model", tmp_path / "model.pkl",
        "--allow-pickle", "--sensitive", "sex", "--seed", "0", "--json", tmp_path / "audit.json",
        "--similarity", "sensitive-subspace", "--similarity-settings.fit", tmp_path / "history.csv",
    )  # fmt: skip


def test_twins_can_be_described(run, line, tmp_path):
    assert run(*line, "--twins", "generate", "--twins-settings.per-person", "7").code == 0
    made = json.loads((tmp_path / "audit.json").read_text("utf-8"))["made_twins"]
    assert (made["kind"], made["steps"]) == ("generate", 7)
    assert len(made["examples"]) == 5

    assert run(*line, "--twins", "observed").code == 0
    assert json.loads((tmp_path / "audit.json").read_text("utf-8"))["made_twins"] is None


def test_a_wrong_description_names_its_flag(run, line):
    wrong = run(*line, "--twins-settings.per-person", "0")
    assert wrong.code == 2
    assert "--twins-settings.per-person" in wrong.err
    unknown = run(*line, "--twins-settings.height", "3")
    assert unknown.code == 2
    assert "must have settings among kind, per_person" in " ".join(unknown.err.split())
