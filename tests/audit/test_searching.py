"""A search finds steps on people who are set aside; what it finds is measured on the others."""

import numpy as np
import pytest
from tests.validity import proxies

from fairtransport import similarity
from fairtransport.similarity.twins import Twins

LIKE = similarity.SensitiveSubspace(["sex"]).fit(proxies.history())
FEW = Twins("search", per_person=4, plausibility=0, questions=3000)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [0.0, 0.02])
def test_few_searched_twins_show_more_than_few_fixed_ones(budget):
    cases = proxies.draw(500, np.random.default_rng(0))
    fixed = proxies.audited(cases, LIKE, budget=budget, twins=Twins(per_person=4, plausibility=0))
    found = proxies.audited(cases, LIKE, budget=budget, twins=FEW)

    assert found.statistic > 1.3 * fixed.statistic
    assert found.n + found.made.aside == 500
    assert 0 < found.made.searched <= FEW.questions
    assert found.summary.made_twins.kind == "search"
    assert f"{found.made.aside} people who were set aside" in found.to_markdown()


def test_what_is_found_depends_on_the_set_aside_alone():
    cases = proxies.draw(300, np.random.default_rng(1))
    found = proxies.audited(cases, LIKE, twins=FEW)
    again = proxies.audited(cases, LIKE, twins=FEW)
    assert np.array_equal(found.made.steps.rows, again.made.steps.rows)
    assert found.statistic == again.statistic


def test_nothing_is_asked_about_people_set_aside_whom_the_search_does_not_use():
    cases = proxies.draw(3000, np.random.default_rng(2))
    few = Twins("search", per_person=4, plausibility=0, questions=300)
    found = proxies.audited(cases, LIKE, twins=few)
    fixed = proxies.audited(cases, LIKE, twins=Twins(per_person=4, plausibility=0))

    assert found.made.aside > few.questions
    assert found.made.searched <= few.questions
    assert len(found.made.steps.rows) == 4
    assert found.statistic > fixed.statistic
