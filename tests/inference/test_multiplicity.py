"""Families of tests: Holm's p-values, shared levels, and what they promise together."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtransport import AuditProblem, Geometry
from fairtransport.inference import sampling_law
from fairtransport.inference.finite.bets import Rejection
from fairtransport.inference.laws import reach_verdict
from fairtransport.inference.multiplicity import Family, holm

SHARES = st.floats(0, 1)


def stepped_down(pvalues, levels):
    """Return who is rejected, by the words of Holm's procedure."""
    rejected, left = set(), set(range(len(pvalues)))
    while left:
        smallest = min(left, key=lambda at: pvalues[at])
        if pvalues[smallest] > levels[len(rejected)]:
            break
        rejected.add(smallest)
        left.remove(smallest)
    return rejected


@given(st.lists(SHARES, min_size=1, max_size=8))
def test_holms_pvalues_reject_whom_holms_steps_reject(pvalues):
    adjusted = holm(np.array(pvalues))
    for alpha in (0.013, 0.05, 0.3):
        levels = [alpha / (len(pvalues) - step) for step in range(len(pvalues))]
        close = np.isclose(adjusted, alpha, rtol=1e-9)
        found = set(np.flatnonzero((adjusted <= alpha) & ~close).tolist())
        wanted = stepped_down(pvalues, levels) - set(np.flatnonzero(close).tolist())
        assert found == wanted


@given(
    st.lists(SHARES | st.sampled_from([0.0, 0.0025, 0.005]), min_size=2, max_size=8),
    st.integers(0, 8),
    st.integers(0, 4),
)
def test_adjusted_pvalues_reject_whom_the_familys_steps_reject(pvalues, certifiable, untested):
    size = len(pvalues)
    family = Family(0.05, size + untested, size, min(certifiable, size))
    adjusted = family.adjusted(pvalues)

    assert set(np.flatnonzero(adjusted <= 0.05).tolist()) == stepped_down(
        pvalues, family.step_levels
    )
    assert (adjusted >= np.array(pvalues)).all()
    order = np.argsort(pvalues, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


def test_a_pvalue_on_a_level_is_rejected_whatever_rounding_does():
    for size, certifiable in product(range(2, 30), (0, 3, 30)):
        family = Family(0.05, size, size, min(certifiable, size))
        assert (family.adjusted(family.step_levels) <= 0.05).all()


def test_where_nothing_can_be_certified_the_levels_are_holms():
    family = Family(0.05, 7, 7, 0)
    pvalues = [0.001, 0.3, 0.007, 0.9, 0.02, 0.0001, 0.011]

    np.testing.assert_allclose(family.step_levels, 0.05 / np.arange(7, 0, -1))
    np.testing.assert_allclose(family.adjusted(pvalues), holm(np.array(pvalues)))


@pytest.mark.parametrize(("size", "tested", "certifiable"), [(10, 10, 10), (10, 10, 4), (7, 5, 5)])
def test_the_levels_of_everything_that_can_be_wrong_sum_to_at_most_alpha(size, tested, certifiable):
    """With h audits at or below δ: h rejections at the h-th last step, and the certificates."""
    family = Family(0.05, size, tested, certifiable)
    alpha, end = Fraction(0.05), Fraction(0.05) / (2 * size)
    for below in range(1, tested + 1):
        step = family.step_levels[tested - below]
        certificates = min(certifiable, tested - below) * end
        assert math.isclose(below * step + float(certificates), float(alpha), rel_tol=1e-12)
    assert certifiable * float(end) <= 0.05
    assert family.end_level == float(end)


def test_steps_grow_and_the_first_is_bonferronis():
    family = Family(0.05, 10, 10, 10)

    assert (np.diff(family.step_levels) > 0).all()
    assert family.step_levels[0] == pytest.approx(0.05 / 10)
    assert family.levels[0] == 0.05
    assert list(family.levels) == sorted(family.levels, reverse=True)


@pytest.mark.slow
def test_large_families_have_few_levels_and_the_smallest_is_among_them():
    family = Family(0.05, 5000, 5000, 5000)

    assert len(family.levels) < 250
    assert family.levels[-1] == family.step_levels[0]
    for level in family.step_levels:
        below = max(one for one in family.levels if one <= level)
        assert level / below < 1.06


def wrong_where_two_conspire(family, rejects, certificate_level):
    """Return how often a verdict is wrong in a world that each level by itself allows.

    Audit 1 has ψ <= δ, and its p-value is u, uniform. Audit 2 has ψ a little above δ: it is
    rejected, rightly, where that lets audit 1 pass the second step, and certified, wrongly, with
    the probability of its level, where nothing else is wrong.
    """
    u = (np.arange(20_000) + 0.5) / 20_000
    first, last = family.step_levels if rejects is None else rejects
    second_pvalue = np.where((u > first) & (u <= last), first, 1.0)
    certified = (u > last) & (u <= last + certificate_level)
    rejected = (u <= first) | ((second_pvalue <= first) & (u <= last))
    assert np.mean(second_pvalue <= first) <= first + 1e-9  # no more than for a null
    return float(np.mean(rejected | certified))


def test_holm_beside_certificates_at_the_same_share_would_be_wrong_too_often():
    family = Family(0.05, 2, 2, 2)

    holms = wrong_where_two_conspire(family, (0.025, 0.05), 0.025)
    shared = wrong_where_two_conspire(family, None, family.end_level)

    assert holms == pytest.approx(0.075, abs=1e-4)
    assert shared == pytest.approx(0.05, abs=1e-4)


def test_verdicts_are_those_of_the_two_tests():
    family = Family(0.05, 4, 4, 4)

    found = family.verdicts([0.05, 0.06, 0.01, 1.0], [False, True, True, False])

    assert found == ("rejected", "certified", "inconclusive", "inconclusive")
    assert found[2] == reach_verdict(rejected=True, certified=True)


# -- p-values at the levels of a family


@pytest.fixture(scope="module")
def law():
    problem = AuditProblem([0.0, 0.3, 1.0], [[0, 0, 1], [0, 0, 1], [1, 1, 0]], budget=0.2)
    return sampling_law(problem, [120, 60, 20], loss_range=(0.0, 1.0), rng=3, alpha=0.05)


@pytest.mark.parametrize("delta", [0.1, 0.2, 0.25, 0.3])
def test_a_graded_pvalue_is_the_last_level_down_to_which_all_tests_reject(law, delta):
    levels = Family(0.05, 6, 6, 6).levels
    found = law.graded_pvalue(delta, levels)
    # the bound decides at α, tests that are aimed at δ at the levels below it
    rejection = Rejection(law._evidence)
    outcomes = [law.rejects(delta, 0.05), *(rejection.rejects(delta, one) for one in levels[1:])]

    if not outcomes[0]:
        assert found == law.pvalue(delta) > 0.05
    elif all(outcomes):
        assert found <= levels[-1]
    else:
        assert found == levels[outcomes.index(False) - 1]
    assert (found <= 0.05) == (law.pvalue(delta) <= 0.05) == law.rejects(delta, 0.05)


def test_where_pvalues_are_exact_they_are_not_graded():
    twins = AuditProblem([0.0, 1.0], Geometry([0, 0]))
    known = {"loss_range": (0.0, 1.0), "binary_losses": True}
    exact = sampling_law(twins, [30, 70], rng=0, **known)
    drawn = sampling_law(twins, [30, 70], method="limit-law")

    assert exact.graded_pvalue(0.25, (0.05, 0.01)) == exact.pvalue(0.25)
    assert drawn.graded_pvalue(0.25, (0.05, 0.01)) == drawn.pvalue(0.25)
    assert drawn.evalue(0.2) is None
