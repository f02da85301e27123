"""The figures that the docs quote are those of the files beside them."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

DOCS = Path(__file__).parents[2] / "docs"


def page(name):
    text = (DOCS / name).read_text("utf-8").replace("−", "-")
    return " ".join(text.split())


def short(number, digits=3):
    """Write a number as the pages do: .05, -.053."""
    return f"{number:.{digits}f}".replace("0.", ".", 1)


@pytest.fixture(scope="module")
def claims():
    document = json.loads((DOCS / "reproduction" / "table1.json").read_text("utf-8"))
    return document["claims"]


def test_the_claims_about_the_path_are_those_of_the_splits(claims):
    path, text = claims["l1_path"], page("reproduction.md")

    def share(name):
        return f"{100 * path[name]:.0f} %"

    assert f"exactly so in {share('entry_order_as_in_the_paper')}" in text
    assert f"the first two in {share('first_two_as_in_the_paper')}" in text
    assert f"sex is not among the first six in {share('sex_enters_last')}" in text
    unselected = f"sex not selected in {share('sex_unselected')}"
    low, middle, high = (short(part, 4).rstrip("0") for part in path["strength_quartiles"])
    assert f"median {middle}, half between {low[:4]} and {high}; {unselected}" in text
    assert f"{unselected}, race in {share('race_unselected')}" in text
    rejected = share("rejected_at_the_weakest_penalty")
    assert f"rejected on the validation part in {rejected}" in text


def test_the_claims_about_race_are_those_of_the_splits(claims):
    race, text = claims["race_coefficient"], page("reproduction.md")

    assert race["larger_than_plain"] == 1
    assert race["largest_of_all"] == 0
    means = f"mean {short(race['reweighed_mean'], 2)} for Caucasian people, LR "
    assert means + short(race["plain_mean"], 2) in text
    assert (race["variables"], race["median_rank"]) == (7, 5)


def test_the_blocks_of_splits_are_those_of_the_sweep():
    table = pd.read_csv(DOCS / "reproduction" / "lr_blocks.csv")
    blocks, whole = table.iloc[:-1], table.iloc[-1]
    text = page("reproduction/baselines.md")

    assert len(blocks) == 10
    assert blocks["faith"].idxmax() == 0
    spread = f"({short(blocks['faith'].min())} to {short(blocks['faith'].max())})"
    assert f"the highest of ten blocks of 50 {spread}" in text
    means = f"{short(whole['faith'])} and {short(whole['interval_upper'])}"
    assert f"over 500 splits the two means are {means}, which agree" in text
    # the rule of Table 1, with 50 splits of the paper's and 500 of ours
    assert abs(whole["faith"] - 0.06) <= 0.01
    assert abs(whole["interval_upper"] - 0.07) <= 0.01


def test_the_settings_tried_are_those_of_the_sweep():
    table = pd.read_csv(DOCS / "reproduction" / "lfr_sweep.csv")
    text = page("reproduction/baselines.md")
    for row in table.itertuples():
        faith = f"{short(row.faith)} ± {short(row.faith_sd)}"
        odds = f"{short(row.aod)} ± {short(row.aod_sd)}"
        shown = re.search(rf"\| {row.k} \| {row.Az:g} \| ([^|]+) \| [^|]+ \| ([^|]+) \|", text)
        assert shown.groups() == (faith, odds)


def test_what_the_rules_choose_is_what_the_page_says():
    table = pd.read_csv(DOCS / "selection_rules.csv")
    text = page("selection.md")
    parts = dict(iter(table.groupby(["rule", "method"])))
    assert [len(part) for part in parts.values()] == [50, 50, 50]
    words = ("certified", "inconclusive", "rejected")
    for rule, audits in (("not-rejected", "the final audits were "), ("certified", "")):
        part = parts[rule, "finite-sample"]
        counts = ", ".join(f"{sum(part['verdict'] == word)} {word}" for word in words)
        accuracy = f"{100 * part['accuracy'].mean():.1f} % accuracy"
        assert f'- `"{rule}"`: {accuracy}; {audits}{counts}.' in text
    faith = parts["not-rejected", "m-out-of-n"]["faith"]
    assert f"test: ψ = {short(faith.mean())} ± {short(faith.std())} on the audit part" in text
