"""Flags that limit time and memory."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def line(tmp_path):
    """The line of an audit under a distance, with scores and labels in a file."""
    rng = np.random.default_rng(0)
    cases = pd.DataFrame(rng.normal(size=(300, 2)), columns=["income", "debt"])
    cases["sex"] = rng.choice(["f", "m"], 300)
    cases["score"] = 1 / (1 + np.exp(-cases["income"] - (cases["sex"] == "m")))
    cases["good"] = (rng.random(300) < cases["score"]).astype(int)
    cases.to_csv(tmp_path / "cases.csv", index=False)
    return (
        "audit", tmp_path / "cases.csv", "--label", "good", "--score", "score", "--loss", "brier",
        "--sensitive", "sex", "--seed", "0", "--json", tmp_path / "audit.json", "--budget", "0.05",
        "--disagreement", "bias",
        "--similarity", "mixed-tabular", "--similarity-settings.scales.income", "1",
        "--similarity-settings.scales.debt", "1",
    )  # fmt: skip


def document(tmp_path):
    return json.loads((tmp_path / "audit.json").read_text("utf-8"))


def test_rounds_that_were_recorded_repeat_an_audit(run, line, tmp_path):
    assert run(*line).code == 0
    exact = document(tmp_path)
    assert exact["bracket"] is None

    assert run(*line, "--time-limit", "1e-9").code == 0
    first = (tmp_path / "audit.json").read_bytes()
    bracket = document(tmp_path)["bracket"]
    assert bracket["lower"] <= exact["statistic"] <= bracket["upper"]

    done = run(*line, "--search-rounds", str(bracket["rounds"]))
    assert done.code == 0
    assert (tmp_path / "audit.json").read_bytes() == first
    assert "The statistic lies between" in done.words


def test_memory_is_kept_to_or_refused(run, line, tmp_path):
    assert run(*line, "--memory", "8GB").code == 0
    assert document(tmp_path)["statistic"] > 0
    refused = run(*line, "--memory", "20MB")
    assert refused.code == 2
    assert "`--memory` must be at least" in refused.err
    assert "got 20 MB" in " ".join(refused.err.split())
    odd = run(*line, "--memory", "a lot")
    assert odd.code == 2
    assert "`--memory` must be an amount of memory" in " ".join(odd.err.split())


def test_limits_are_not_for_families(run, line, tmp_path):
    (tmp_path / "family.toml").write_text(
        '[[audits]]\nname = "one"\n[[audits]]\nname = "two"\nbudget = 0.1\n', "utf-8"
    )
    refused = run(*line, "--config", tmp_path / "family.toml", "--search-rounds", "3")
    assert refused.code == 2
    assert "`--search-rounds` must not be given for several audits" in refused.err
