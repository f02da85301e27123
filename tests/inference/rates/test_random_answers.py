"""The bets on draws are a fair game: the mean wealth over all draws is what the proof allows."""

import itertools

import numpy as np
import pytest

from fairtransport.inference.rates.random_answers import (
    LossDraws,
    _TupleBets,
    random_answers_law,
)


def drawn(losses, counts):
    """Two profiles, each with two groups; losses are of shape (4, draws)."""
    blocks, groups = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    return LossDraws(
        np.asarray(losses, float), np.array(counts), blocks, groups, blocks, np.zeros(4, np.int64)
    )


@pytest.mark.parametrize("stake", [0.1, 0.75])
@pytest.mark.parametrize("counts", [(5, 2, 0, 3), (9, 9, 9, 0)])
@pytest.mark.parametrize("chances", [(0.5, 0.5, 0.5, 0.5), (0.2, 0.9, 0.7, 0.1)])
@pytest.mark.parametrize("draws", [1, 2])
def test_the_mean_wealth_over_all_draws_is_at_most_the_product(stake, counts, chances, draws):
    """Exactly, by adding up all 2^(4m) outcomes of the draws."""
    errs, total = np.array(chances), 0.0
    for outcome in itertools.product((0, 1), repeat=4 * draws):
        losses = np.reshape(outcome, (4, draws))
        chance = np.prod(np.where(losses == 1, errs[:, None], 1 - errs[:, None]))
        log_wealth, _ = _TupleBets(drawn(losses, counts)).run_order(np.array([1, 0]), stake)
        total += chance * np.exp(log_wealth)
    rise = np.repeat(errs.reshape(2, 2).max(axis=1), 2) - errs

    assert total <= np.prod((1 + stake * rise) ** np.array(counts)) * (1 + 1e-12)


def test_bounds_and_pvalues_agree_and_fall_with_delta():
    rng = np.random.default_rng(0)
    errs = np.array([0.1, 0.8, 0.1, 0.8])
    losses = (rng.random((4, 30)) < errs[:, None]).astype(float)
    law = random_answers_law(drawn(losses, (60, 60, 60, 60)), alpha=0.05, seed=1, width=2.0)
    bound = law.lower_bound(0.05)

    assert 0 < bound < law.estimate < 2.0
    assert law.pvalue(bound - 1e-6) <= 0.05 < law.pvalue(bound + 1e-6)
    assert law.lower_bound(0.01) <= bound
    assert law.upper_bound(0.05) == np.inf
    assert law.pvalue(0.1, "less") == 1.0
    assert not law.certifies(1.9, 0.05)
