"""Who is affected: what profiles and groups add to the statistic."""

import numpy as np
import pytest
from tests.localise.audits import compas_audit, priced_audit

from fairtransport.localise import most_affected
from fairtransport.report.sections.who import affected_meaning, affected_table


@pytest.mark.parametrize("make", [compas_audit, priced_audit])
def test_contributions_of_profiles_and_of_groups_add_up_to_the_statistic(make):
    result = make()
    summary = result.summary

    assert sum(row.contribution for row in summary.most_affected) == pytest.approx(result.statistic)
    assert sum(row.contribution for row in summary.groups) == pytest.approx(result.statistic)
    assert sum(row.people for row in summary.groups) == result.n
    risk = sum(row.people * row.risk for row in summary.groups) / result.n
    after = sum(row.people * row.risk_after for row in summary.groups) / result.n
    assert risk == pytest.approx(result.baseline_risk)
    assert after == pytest.approx(result.worst_case_risk)
    assert sum(row.change for row in summary.groups) == pytest.approx(0)


def test_the_worst_off_come_first():
    rows = most_affected(priced_audit(2).moved, priced_audit(2).space)
    gains = [row.gain for row in rows]

    assert gains == sorted(gains, reverse=True)
    assert all(row.moved > 0 for row in rows)


@pytest.mark.parametrize("make", [compas_audit, priced_audit])
def test_the_most_affected_are_those_who_are_treated_worse(make):
    result = make()
    moves, names = result.moves, list(result.space.profile)
    ends = [f"to_{name}" for name in names]
    better = moves.groupby([*ends, "label"], dropna=False, observed=True)["people"].sum()
    people = result.space.frame([*names, result.space.label]).assign(people=result.space.counts)
    there = people.groupby([*names, result.space.label], dropna=False, observed=True)[
        "people"
    ].sum()

    assert result.summary.most_affected
    for row in result.summary.most_affected:
        who = (*row.profile.values(), row.label)
        assert row.moved == pytest.approx(better[who])
        # people with one profile may have been given different predictions
        assert row.people == there[who] or (result.space.predictions and row.people < there[who])


def test_what_is_a_fact_is_told_apart_from_what_is_not():
    summary = compas_audit().summary
    said = affected_meaning(summary)

    assert "that is a fact" in said
    assert "it is a counterfactual" in said
    assert any(row.people == 0 for row in summary.most_affected)
    assert any(row.people > 0 for row in summary.most_affected)
    cells = {row[-4].text for row in affected_table(summary).rows}
    assert "nobody" in cells


def test_white_women_are_those_whom_others_would_have_to_be():
    groups = {tuple(row.group.values()): row for row in compas_audit().summary.groups}

    into = {group: row.into for group, row in groups.items()}
    out = {group: row.out for group, row in groups.items()}
    assert max(into, key=into.get) == ("Caucasian", "Female")
    assert max(out, key=out.get) == ("African-American", "Male")
    assert np.isclose(sum(into.values()), sum(out.values()))
