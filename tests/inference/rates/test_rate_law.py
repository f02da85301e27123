"""Bounds, p-values and estimates of R."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logsumexp

from fairtransport.errors import InputError
from fairtransport.inference import outcome_rate_law, rate_law, rate_laws

RNG = np.random.default_rng(0)
N = 3000
AGE, SEX, RACE = RNG.integers(0, 6, N), RNG.integers(0, 2, N), RNG.integers(0, 2, N)
ERRORS = (RNG.random(N) < 0.2 + 0.2 * RACE).astype(float)
LAW = rate_law(AGE, RACE, ERRORS, rng=1)


def test_the_bound_is_where_the_evidence_falls_to_one_over_alpha():
    log, stake, people, _ = LAW.wealths

    def best_mean(delta):
        logs = log - people * np.log1p(stake * delta)
        return max(
            logsumexp(logs[:k]) - math.log(k)
            for k in range(math.ceil(LAW.orders / 8), LAW.orders + 1)
        )

    for alpha in (0.01, 0.05, 0.2):
        root = brentq(lambda delta: best_mean(delta) - math.log(1 / alpha), 0, 1, xtol=1e-14)  # noqa: B023
        assert LAW.lower_bound(alpha) == pytest.approx(root, abs=1e-10)


def test_bound_and_p_value_agree():
    bound = LAW.lower_bound(0.05)
    assert 0.02 < bound < 0.1
    assert LAW.pvalue(bound - 1e-6) <= 0.05 < LAW.pvalue(bound + 1e-6)
    assert LAW.pvalue(1) == 1
    assert LAW.evalue(bound) <= 20.0001
    assert LAW.evalue() > 20


def test_what_is_said_of_these_people_is_less_than_of_the_population():
    assert 0 < LAW.lower_bound_here() < LAW.lower_bound()


def test_the_estimate_lies_between_the_bounds():
    assert LAW.lower_bound() < LAW.estimate < LAW.plug_in + 0.01
    assert LAW.plug_in == pytest.approx(0.1, abs=0.03)
    assert LAW.certificate().upper_bound > LAW.estimate
    assert LAW.comparable_share == 1


def test_rows_with_counts_are_people():
    rows = np.stack([AGE, RACE, ERRORS], axis=1)
    cells, counts = np.unique(rows, axis=0, return_counts=True)
    again = rate_law(cells[:, 0], cells[:, 1], cells[:, 2], counts=counts, rng=1)
    assert again.lower_bound() == LAW.lower_bound()
    assert again.permutation_pvalue == LAW.permutation_pvalue == 0.0005


def test_the_same_seed_gives_the_same_whatever_is_asked_first():
    again = rate_law(AGE, RACE, ERRORS, rng=1)
    assert again.certificate() == LAW.certificate()
    assert again.certificate() == again.certificate()
    assert again.lower_bound() == LAW.lower_bound()


def test_names_of_levels_do_not_matter():
    names = np.array(["b", "a"], dtype=object)[1 - RACE]
    again = rate_law([AGE, np.zeros(N)], names, ERRORS, rng=1)
    assert again.lower_bound() == pytest.approx(LAW.lower_bound(), abs=0.01)


def test_a_loss_of_another_range_is_scaled():
    again = rate_law(AGE, RACE, 10 * ERRORS - 5, loss_range=(-5, 5), rng=1)
    assert again.lower_bound() == pytest.approx(10 * LAW.lower_bound())
    assert again.pvalue(0.3) == pytest.approx(LAW.pvalue(0.03))
    assert again.estimate == pytest.approx(10 * LAW.estimate)
    assert again.plug_in == pytest.approx(10 * LAW.plug_in)
    assert again.certificate().upper_bound == pytest.approx(10 * LAW.certificate().upper_bound)


def test_each_feature_alone_holds_the_others_fixed():
    laws = rate_laws([AGE], {"race": RACE, "sex": SEX}, ERRORS, rng=3)
    assert list(laws) == ["race", "sex"]
    assert laws["race"].table.blocks == 12
    assert laws["race"].lower_bound() > 0.02
    assert laws["sex"].lower_bound() == 0
    assert laws["sex"].permutation_pvalue > 0.05
    assert (laws["race"].table.people == rate_law([AGE, SEX], RACE, ERRORS).table.people).all()


def test_outcomes_are_compared_with_the_best_or_the_worst_group():
    decisions = 1 - ERRORS
    best = outcome_rate_law(AGE, RACE, decisions, rng=1)
    worst = outcome_rate_law(AGE, RACE, decisions, towards="worst", rng=1)
    assert worst.lower_bound() == LAW.lower_bound()
    assert 0.02 < best.lower_bound() < 0.1
    with pytest.raises(InputError, match="`favourable` must be 0 or 1 for each row, got 2"):
        outcome_rate_law([0, 0], [0, 1], [1, 2])
    with pytest.raises(InputError, match="`towards` must be one of 'best', 'worst', got 'up'"):
        outcome_rate_law([0, 0], [0, 1], [1, 0], towards="up")


def test_words_never_say_why_nor_that_all_is_well():
    said = [
        LAW.sentence("race"),
        rate_laws(AGE, {"sex": SEX}, ERRORS, rng=1)["sex"].sentence("sex"),
    ]
    assert "equal values in the other audited columns, treatment differs by race" in said[0]
    assert "at least 0.0" in said[0]
    assert said[1].startswith("No difference by sex was shown")
    assert "no evidence that they are treated equally" in said[1]
    for sentence in said:
        assert "because" not in sentence
        assert "fair" not in sentence


def test_a_difference_may_be_established_without_a_size():
    rng = np.random.default_rng(7)
    block, group = rng.integers(0, 40, 600), (rng.random(600) < 0.25).astype(int)
    law = rate_law(block, group, rng.random(600) < 0.3 + 0.1 * group, rng=0)
    assert law.lower_bound() == 0
    assert law.permutation_pvalue <= 0.05
    assert "by how much is not known" in law.sentence("sex")


def test_nobody_to_compare_with_gives_nothing():
    law = rate_law(np.arange(50), np.arange(50) % 2, np.arange(50) % 2, rng=0)
    assert (law.lower_bound(), law.estimate, law.pvalue(), law.certificate()) == (0, 0, 1, None)
    assert law.comparable_share == 0


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_tiny_samples_are_no_trouble(n):
    law = rate_law(np.zeros(n + 1), np.r_[np.zeros(n), 1], np.r_[np.zeros(n), 1], rng=0)
    assert law.lower_bound() == 0
    assert 0 < law.permutation_pvalue <= 1


def test_the_largest_difference_is_found_and_not_exceeded():
    group = np.arange(4000) % 2
    law = rate_law(np.zeros(4000), group, group, rng=0)
    assert 0.4 < law.lower_bound() < 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(losses=[0, 1, 2]), "`losses` must lie in `loss_range`, 0 to 1, got 2"),
        (dict(losses=[0, 1, np.nan]), "`losses` must be finite, got nan at [2]"),
        (dict(losses=[]), "`losses` must have one row or more, got none"),
        (dict(losses=["a", "b", "c"]), "`losses` must be numeric, got ['a', 'b', 'c']"),
        (dict(counts=[1, 1, 0.5]), "`counts` must be whole numbers, got 0.5"),
        (dict(counts=[1, 1, -1]), "`counts` must be finite and >= 0, got -1 at [2]"),
        (dict(counts=[0, 0, 0]), "`counts` must have a number above 0, got none"),
        (dict(counts=[10**9, 1, 1]), "`counts` must add up to less than 10**9 in a cell"),
        (dict(groups=[1, 1, 1]), "`groups` must have two values or more, got one"),
        (dict(groups=[1, 1]), "`groups` must have a value for each of 3 losses, got "),
        (dict(groups=[1.0, 2.0, np.nan]), "`groups` must not have missing values, got NaN"),
        (dict(blocks=[]), "`blocks` must have a column, got none"),
        (dict(strata=[0, 1, 1]), "`strata` must have one value in each block, got two in one"),
        (dict(loss_range=(1, 0)), "`loss_range` must be two finite numbers, the smaller first"),
        (dict(loss_range=3), "`loss_range` must be two finite numbers, the smaller first, got 3"),
        (dict(alpha=1), "`alpha` must be a number above 0 and below 1, got 1"),
        (dict(orders=0), "`orders` must be a whole number of at least 1, got 0"),
        (dict(rng="x"), "`rng` must be a seed >= 0, a numpy generator or None, got 'x'"),
    ],
)
def test_bad_input_is_named(change, message):
    given = dict(blocks=[0, 0, 1], groups=[0, 1, 1], losses=[0, 1, 1]) | change
    with pytest.raises(InputError) as error:
        rate_law(**given)
    assert message in str(error.value)


def test_sensitive_features_have_names():
    with pytest.raises(InputError, match="`sensitive` must map names of features to columns"):
        rate_laws([0, 0], [[0, 1]], [0, 1])


def test_bad_questions_are_named():
    with pytest.raises(InputError, match="`delta` must be a number of at least 0, got -1"):
        LAW.pvalue(-1)
    with pytest.raises(InputError, match="`alpha` must be"):
        LAW.lower_bound(0)
