"""The ways to show a result: report, Markdown, notebook, charts."""

import re

import pytest
from tests.explain.audits import compas_audit, priced_audit

import fairtransport as ft


def test_the_report_is_one_file_with_the_verdict_and_the_moves(tmp_path):
    path = compas_audit().to_html(tmp_path / "report.html")
    page = path.read_text("utf-8").replace("\u00a0", " ")

    assert page.startswith("<!DOCTYPE html>")
    assert "δ-fairness rejected at level 5 %" in page
    assert "Errors would go from 33.5 % to 38.8 %" in page
    text = page[: page.index("<script")]
    assert not re.search(r"<(link|img)[^>]+(src|href)=", text)
    assert list(tmp_path.iterdir()) == [path]


def test_a_shared_report_names_fewer_moves(tmp_path):
    result = compas_audit()
    whole = result.to_html(tmp_path / "whole.html").read_text("utf-8")
    shared = result.to_html(tmp_path / "shared.html", share=5).read_text("utf-8")

    assert result.summary.provenance.data_sha256 in whole
    assert result.summary.provenance.data_sha256 not in shared
    assert "Swaps of about 10 people are not shown" in shared
    assert "are not shown" not in whole


def test_markdown_has_the_same_words():
    text = compas_audit().to_markdown()
    assert (
        "that would become wrong with another race or sex; limit 3.65 %.** 143 of 1,584 people"
        in text
    )
    assert "δ-fairness rejected at level 5 %" in text
    assert "Errors would go from 33.5 % to 38.8 %" in text
    assert "| 23 |" in text


def test_a_notebook_shows_verdict_and_people_without_a_script():
    shown = compas_audit()._repr_html_().replace("\u00a0", " ")

    assert "Over the limit" in shown
    assert "δ-fairness rejected at level 5 %" in shown
    for text in ("<bdi>46</bdi>", "race African-American, sex Male", "race Caucasian, sex Female"):
        assert text in shown
    assert "122 of the 143 people whose decision would change" in shown
    assert "<script" not in shown


@pytest.mark.parametrize("kind", ["flows", "law", "budget", "methods"])
def test_every_kind_of_chart_can_be_drawn(kind):
    chart = priced_audit(0, delta=0.1).plot(kind).to_dict()
    assert chart["description"]


def test_a_chart_of_the_flows_by_a_feature():
    titles = compas_audit().plot("flows", "charge").to_dict()["title"]["text"]
    assert titles == "Change in people by charge"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pie",), "`kind` must be one of 'flows', 'law', 'budget', 'methods', got 'pie'"),
        (("flows", "height"), "`feature` must be one of 'age_cat', 'priors', 'charge'"),
        (("budget",), "the statistic is the same at every budget"),
    ],
)
def test_charts_that_there_are_not_are_refused(arguments, message):
    with pytest.raises(ft.InputError, match=message):
        compas_audit().plot(*arguments)


def test_summary_and_sensitivity_can_be_read():
    result = _small_audit()
    summary, sensitivity = repr(result.summary), repr(result.sensitivity(draws=2))

    assert summary.startswith("AuditSummary\n  verdict    ")
    assert f"{result.statistic:.4f}, interval " in summary
    assert len(summary) < 1500
    assert sensitivity.startswith("What the audit depends on\n  metric: ")
    assert "sex held fixed: 0.0000" in sensitivity
    assert f"rejected for every δ below {result.lower_bound:.4f}" in sensitivity


def _small_audit():
    import numpy as np
    import pandas as pd

    import fairtransport as ft

    rng = np.random.default_rng(2)
    people = pd.DataFrame({"sex": rng.choice(["f", "m"], 200), "age": rng.integers(0, 4, 200)})
    return ft.audit(
        people.assign(good=rng.integers(0, 2, 200)), "good", sensitive_features="sex", delta=0.1,
        model=lambda x: (x["sex"] == "m").astype(int), features=["sex", "age"], rng=0,
    )  # fmt: skip
