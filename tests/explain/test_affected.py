"""Who is affected: what profiles and groups add to the statistic."""

import numpy as np
import pytest
from tests.explain.audits import compas_audit, priced_audit


@pytest.mark.parametrize("make", [compas_audit, priced_audit])
def test_contributions_of_profiles_and_of_groups_add_up_to_the_statistic(make):
    result = make()
    summary = result.summary

    assert sum(row.contribution for row in summary.groups) == pytest.approx(result.statistic)
    assert sum(row.people for row in summary.groups) == result.n
    risk = sum(row.people * row.risk for row in summary.groups) / result.n
    after = sum(row.people * row.risk_after for row in summary.groups) / result.n
    assert risk == pytest.approx(result.baseline_risk)
    assert after == pytest.approx(result.worst_case_risk)
    assert sum(row.change for row in summary.groups) == pytest.approx(0)


def test_white_women_are_those_whom_others_would_have_to_be():
    groups = {tuple(row.group.values()): row for row in compas_audit().summary.groups}

    into = {group: row.into for group, row in groups.items()}
    out = {group: row.out for group, row in groups.items()}
    assert max(into, key=into.get) == ("Caucasian", "Female")
    assert max(out, key=out.get) == ("African-American", "Male")
    assert np.isclose(sum(into.values()), sum(out.values()))
