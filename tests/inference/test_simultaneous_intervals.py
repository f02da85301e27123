"""Intervals for rates, differences and ratios: exact coverage, and the region by brute force."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm
from tests.validity.group_rates import holds

from fairtransport.inference.simultaneous_intervals import (
    _contrast_weights,
    critical_value,
    rate_intervals,
)

ALPHA = 0.1


@pytest.mark.parametrize("is_fixed", [True, False])
@pytest.mark.parametrize("sizes", [(6, 5), (12, 2), (6, 3, 2)])
def test_all_intervals_hold_together_as_often_as_promised(sizes, is_fixed):
    outcomes = np.array(list(product(*(range(size + 1) for size in sizes))))
    counts = np.array(sizes)
    places = [0 if is_fixed else int(np.argmax(one / counts)) for one in outcomes]
    tables = [
        rate_intervals(one, counts, place, ALPHA, is_fixed=is_fixed)
        for one, place in zip(outcomes, places, strict=True)
    ]
    for rates in product((0.0, 0.03, 0.2, 0.5, 0.77, 0.98, 1.0), repeat=len(sizes)):
        chances = binom.pmf(outcomes, counts, rates).prod(axis=1)
        hits = [holds(*one, place) for one, place in zip(
            [(table, np.array(rates)) for table in tables], places, strict=True)]  # fmt: skip
        assert chances[hits].sum() >= 1 - ALPHA - 1e-9, rates


@pytest.mark.parametrize("sizes", [(50, 50), (1000, 10), (30, 60, 20, 5)])
def test_the_critical_value_is_that_of_normals(sizes):
    weights = _contrast_weights(np.array(sizes), 0)[1:]
    limit = critical_value(len(sizes), weights, ALPHA)
    normals = np.random.default_rng(0).normal(size=(400_000, len(sizes)))
    contrasts = weights[:, 0] * normals[:, 1:] - weights[:, 1] * normals[:, :1]
    inside = (np.abs(np.hstack([normals, contrasts])) <= limit).all(axis=1).mean()
    assert inside == pytest.approx(1 - ALPHA, abs=0.0025)


@pytest.mark.parametrize(("successes", "sizes"), [((9, 14), (30, 25)), ((0, 3), (8, 9))])
def test_differences_and_ratios_are_the_ends_of_the_joint_region(successes, sizes):
    (x, y), (n, m) = successes, sizes
    ours = rate_intervals(np.array(successes), np.array(sizes), 1, ALPHA)
    own, other = _contrast_weights(np.array(sizes), 1)[0]
    limit = critical_value(2, np.array([[own, other]]), ALPHA)
    grid = np.linspace(0.0005, 0.9995, 1000)
    first, second = np.meshgrid(grid, grid, indexing="ij")
    above, below = norm.isf(binom.sf(x - 1, n, first)), norm.isf(binom.cdf(y, m, second))
    region = (above <= limit) & (below <= limit)
    with np.errstate(invalid="ignore"):
        region &= ~(own * above + other * below > limit)
    for end, value in ((ours.difference_lower, first - second), (ours.ratio_lower, first / second)):
        least = value[region].min()
        assert end[0] <= least + 1e-3
        assert end[0] == pytest.approx(least, abs=0.01)


def test_without_a_fixed_reference_rates_are_clopper_pearson_and_the_rest_arithmetic():
    successes, sizes = np.array([3, 0, 12]), np.array([20, 7, 15])
    ours = rate_intervals(successes, sizes, 2, ALPHA, is_fixed=False)
    level = 0.9 ** (1 / 3)
    for at, (x, n) in enumerate(zip(successes, sizes, strict=True)):
        low, high = binomtest(x, n).proportion_ci(level, "exact")
        assert (ours.lower[at], ours.upper[at]) == pytest.approx((low, high))
    assert ours.difference_lower[:2] == pytest.approx(ours.lower[:2] - ours.upper[2])
    assert ours.ratio_upper[:2] == pytest.approx(ours.upper[:2] / ours.lower[2])
    assert np.isnan(ours.difference_lower[2])


def test_a_reference_that_may_have_rate_0_leaves_ratios_open():
    ours = rate_intervals(np.array([2, 0]), np.array([5, 6]), 1, ALPHA)
    assert ours.ratio_upper[0] == np.inf
    alone = rate_intervals(np.array([2]), np.array([5]), 0, ALPHA)
    assert (alone.lower[0], alone.upper[0]) == pytest.approx(
        tuple(binomtest(2, 5).proportion_ci(0.9, "exact"))
    )
