"""e-values: their mean over all samples is at most 1 where δ-fairness holds."""

import math
from itertools import product

import numpy as np
import pytest
from tests.inference.finite.enumeration import interesting_populations

from fairtransport import AuditProblem, Geometry
from fairtransport.inference import sampling_law

TWINS = AuditProblem([0.0, 1.0], Geometry([0, 0]))


def law_of(problem, counts, **known):
    return sampling_law(problem, counts, loss_range=(0.0, 1.0), rng=0, **known)


def mean_evalue(problem, chances, cells, n, delta):
    """Return the mean over all samples of a small population."""
    total = 0.0
    for sequence in product(range(cells), repeat=n):
        counts = np.bincount(sequence, minlength=problem.size)
        total += float(np.prod(chances[list(sequence)])) * law_of(problem, counts).evalue(delta)
    return total


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_its_mean_is_at_most_one_at_the_largest_value_that_is_fair(seed):
    for problem, chances, cells in interesting_populations(6, seed):
        truth = problem.value(chances)
        assert mean_evalue(problem, chances, cells, 4, truth) <= 1 + 1e-9
        assert mean_evalue(problem, chances, cells, 3, min(1.2 * truth, 0.999)) <= 1 + 1e-9


def test_it_is_the_mean_wealth_of_fixed_stakes():
    counts, delta = np.array([30, 70]), 0.2
    gain, n = np.array([1.0, 0.0]), 100
    stakes = np.geomspace(0.75 / delta, 0.75 / delta / (10 * math.sqrt(n)), 40)
    wealths = [float(np.prod((1 + stake * (gain - delta)) ** counts)) for stake in stakes]

    assert law_of(TWINS, counts).evalue(delta) == pytest.approx(np.mean(wealths))
    assert law_of(TWINS, counts, binary_losses=True).evalue(delta) == pytest.approx(
        np.mean(wealths)
    )


def test_it_depends_on_no_seed_level_or_scope():
    problem = AuditProblem(
        [0.0, 0.4, 1.0], np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0.0]]), budget=0.3
    )
    counts = [50, 30, 20]
    found = law_of(problem, counts).evalue(0.15)
    other = sampling_law(
        problem, counts, loss_range=(0.0, 1.0), rng=9, alpha=0.2, fixed_targets=False
    )

    assert other.evalue(0.15) == found
    assert found > 1


def test_with_a_budget_it_is_the_least_over_all_prices():
    problem = AuditProblem([0.0, 1.0, 0.5], [[0, 1.0, 0.2], [9, 0, 9], [9, 9, 0]], budget=0.1)
    counts, delta, n = np.array([80, 10, 10]), 0.1, 100
    stakes = np.geomspace(0.75 / delta, 0.75 / delta / (10 * math.sqrt(n)), 40)[:, None]
    prices = np.linspace(0, delta / problem.budget, 4001)
    least = min(
        float(np.mean(np.exp(np.log1p(stakes * (gains - delta)) @ counts)))
        for gains in (
            problem.frontiers.net_gains(price) + problem.budget * price for price in prices
        )
    )
    found = law_of(problem, counts).evalue(delta)

    assert found <= least * (1 + 1e-9)
    assert found >= least * math.exp(-0.06)  # looked for to a precision of .05 in the logarithm


def test_the_ends_of_what_can_be_tested():
    assert law_of(TWINS, [30, 70]).evalue(1.0) == 1.0
    assert law_of(TWINS, [30, 70]).evalue(0.0) > 1e9
    assert law_of(TWINS, [0, 70]).evalue(0.0) <= 1.0
    assert math.isfinite(law_of(TWINS, [30_000, 70_000]).evalue(0.01))
