"""The follow-up's test on losses that are known in closed form."""

import numpy as np
import pytest
from scipy import stats

from fairtransport.errors import InputError
from fairtransport.reproduce.loss_ratio import loss_ratio_test


def test_the_bound_is_that_of_the_normal_limit():
    rng = np.random.default_rng(0)
    before, after = rng.exponential(size=400) + 0.5, rng.exponential(size=400) + 0.6
    found = loss_ratio_test(before, after, delta=1.2, alpha=0.1)
    ratios = after / before
    # the variance again as the mean of squared differences of all pairs, halved
    variance = ((ratios[:, None] - ratios[None, :]) ** 2).mean() / 2
    assert found.sd == pytest.approx(variance**0.5)
    law = stats.norm(ratios.mean(), (variance / 400) ** 0.5)
    assert found.mean == pytest.approx(ratios.mean())
    assert found.lower_bound == pytest.approx(law.ppf(0.1))
    assert found.pvalue == pytest.approx(law.cdf(1.2))
    assert found.n == 400


def test_it_rejects_where_the_bound_is_beyond_delta_and_the_p_value_below_alpha():
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(200):
        after = np.exp(rng.normal(0.2, 0.3, size=40))
        found = loss_ratio_test(np.ones(40), after)
        assert found.rejected == (found.lower_bound > 1.25) == (found.pvalue < 0.05)
        seen.add(found.rejected)
    assert seen == {True, False}


def test_without_any_spread_the_mean_decides():
    same = np.full(5, 2.0)
    assert loss_ratio_test(same, 1.5 * same).pvalue == 0
    assert loss_ratio_test(same, 1.25 * same).pvalue == 1
    assert not loss_ratio_test(same, 1.25 * same).rejected


def test_its_size_at_the_edge_is_the_level():
    """Ratios with expectation δ are rejected as often as the level says, up to their skewness."""
    rng, runs, n, sigma = np.random.default_rng(2), 2000, 500, 0.3
    law = stats.lognorm(sigma, scale=1.25 * np.exp(-(sigma**2) / 2))
    assert law.mean() == pytest.approx(1.25)
    rejected = sum(
        loss_ratio_test(np.ones(n), ratios).rejected
        for ratios in law.rvs((runs, n), random_state=rng)
    )
    z = stats.norm.ppf(0.95)
    # the first term of the studentised mean's Edgeworth expansion
    missing = stats.norm.pdf(z) * law.stats("s") * (2 * z**2 + 1) / (6 * n**0.5)
    low, high = stats.binom(runs, 0.05 - missing).ppf([0.001, 0.999])
    assert low <= rejected <= high


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ([1.0], [1.0, 2.0], "two losses a person, got arrays of shape (1,) and (2,)"),
        ([], [], "two losses a person"),
        ([1.0, np.nan], [1.0, 1.0], "`before` must be finite numbers, got nan"),
        ([1.0, 1.0], [1.0, np.inf], "`after` must be finite numbers, got inf"),
        ([1.0, 0.0], [1.0, 1.0], "`before` must be above 0, for the ratio to exist, got 0.0"),
    ],
)
def test_losses_without_a_ratio_are_refused(before, after, words):
    with pytest.raises(InputError) as caught:
        loss_ratio_test(np.array(before), np.array(after))
    assert words in str(caught.value)
