"""The instrument's own scores, and the page's claims of who is favoured."""

from pathlib import Path

import pandas as pd
import pytest

from fairtransport.datasets.compas import (
    FEATURES,
    LABEL,
    SENSITIVE,
    load_compas,
    logistic_regression,
    split_compas,
)
from fairtransport.reproduce.compas import (
    audit_instrument,
    audit_of_split,
    audit_rates,
    errors_as,
    privilege,
)

DOCS = Path(__file__).parents[2] / "docs"
INSTRUMENT = DOCS / "reproduction" / "instrument.md"
PAGE = DOCS / "reproduction.md"


def test_nearly_all_of_the_instruments_statistic_is_disagreement():
    result = audit_instrument()
    counts = load_compas()
    others = ["age_cat", "priors", "charge", LABEL]
    wrong = counts[counts["high_risk"] != counts[LABEL]]
    # everybody has an equal, up to race and sex, who is misclassified
    assert set(map(tuple, counts[others].to_numpy())) == set(map(tuple, wrong[others].to_numpy()))
    assert result.worst_case_risk == pytest.approx(1)
    same = counts.merge(wrong[[*others, *SENSITIVE]].drop_duplicates(), on=[*others, *SENSITIVE])
    right = same[same["high_risk"] == same[LABEL]]["count"].sum()
    assert result.disagreement == pytest.approx(right / 5278)
    assert round(result.statistic, 3) == 0.658
    assert round(result.disagreement, 3) == 0.638


def test_the_page_says_what_rates_the_instrument_has():
    result = audit_instrument()
    text = INSTRUMENT.read_text("utf-8")
    race, sex = result.rates.features
    assert (race.feature, sex.feature, sex.lower_bound) == ("race", "sex", 0)
    for name, lower, one in (
        ("race and sex", result.lower_bound, result.rates),
        ("race, sex held fixed", race.lower_bound, race),
        ("sex, race held fixed", None, sex),
    ):
        bound = "not established" if lower is None else f"{lower:.4f}"[1:]
        row = f"| {name} | {bound} | {one.value:.4f} | p = {one.pvalue:g} |"
        assert row.replace("0.", ".") in text
    assert result.verdict == "inconclusive"
    assert f"with p = {result.pvalue:.3f}".replace("0.", ".") in text


def test_errors_as_counts_people_who_would_be_misclassified_as_one_of_a_group():
    split = split_compas(4)
    model, people = logistic_regression(split.training), split.audit
    right = model.predict(people[list(FEATURES)]) == people[LABEL]
    found = errors_as(audit_of_split(4)).set_index(["label", "group"])["people"]
    for race in people["race"].unique():
        for sex in people["sex"].unique():
            swapped = people.assign(race=race, sex=sex)[list(FEATURES)]
            harmed = right & (model.predict(swapped) != people[LABEL])
            for label in (0, 1):
                assert found[label, f"{race}, {sex}"] == (harmed & (people[LABEL] == label)).sum()


def test_the_pages_largest_flows_are_what_comes_out():
    flows = audit_rates().flows("charge")
    change = flows.groupby(["race", "sex", "label"])["change"].sum().round().astype(int)
    text = INSTRUMENT.read_text("utf-8").replace("−", "-")
    black_men, white_men = change["African-American", "Male"], change["Caucasian", "Male"]
    white_women = change["Caucasian", "Female"]
    assert f"white men ({white_men[1]:+}), mostly from black men ({black_men[1]:+})" in text
    others = f"white women ({white_women[0]:+}) and black men ({black_men[0]:+})"
    assert f"{others}, from white men ({white_men[0]:+})" in text


@pytest.mark.slow
def test_the_pages_claims_are_what_comes_out():
    found = privilege(50)
    text = PAGE.read_text("utf-8")

    assert found["white_women_favoured"].all()
    assert found["black_men_disfavoured"].all()
    assert (found["moved_aged_25_to_45"] == 0).all()
    moved = found["moved_with_1_to_3_priors"]
    assert f"{moved.mean():.0f} of them are moved on average, up to {moved.max():.0f}" in text
    assert f"rejected in {found['rejected'].sum()} of 50 splits" in text
    assert isinstance(found, pd.DataFrame)
