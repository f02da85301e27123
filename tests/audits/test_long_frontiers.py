"""Audits of smooth losses, whose frontiers are too long to be listed, run to the end."""

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.transport import column_generation


def score(rows):
    """Return two classes' probabilities by a logistic curve of the first column."""
    share = 1 / (1 + np.exp(-pd.DataFrame(rows, columns=["x", "sex"]).x.astype(float)))
    return np.column_stack([1 - share, share])


def run_audit():
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    people = pd.DataFrame(
        {"x": x, "sex": rng.choice(["f", "m"], 80), "y": (rng.random(80) < 0.5).astype(int)}
    )
    return ft.audit(
        people, "y", model=score, sensitive_features="sex", loss="brier", budget=0.05, rng=0,
        similarity=ft.similarity.MixedTabular(scales={"x": 1}), delta=0.02,
    )  # fmt: skip


def test_a_summary_needs_no_listed_frontiers(monkeypatch):
    listed = run_audit()
    monkeypatch.setattr(column_generation, "MAX_FRONTIER_CORNERS", 0)
    monkeypatch.setattr(column_generation, "MAX_CORNERS_PER_POINT", 0)
    result = run_audit()
    summary = result.summary

    assert result.problem.columns is not None
    assert "frontiers" not in result.problem.__dict__
    assert result.statistic == pytest.approx(listed.statistic, rel=1e-12)
    assert result.price == pytest.approx(listed.price, rel=1e-9)
    assert result.compared_laws == (result.law,)
    assert any("has the budget curve at" in str(note) for note in summary.warnings)
