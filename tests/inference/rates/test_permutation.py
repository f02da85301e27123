"""The permutation test against all stratified permutations."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import binom

from fairtransport.inference import rate_table
from fairtransport.inference.rates import permutation
from fairtransport.inference.rates.permutation import (
    combine_pvalues,
    compute_table_statistics,
    permutation_pvalue,
)

BLOCKS = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2])
GROUPS = np.array([0, 0, 1, 1, 2, 0, 1, 1, 1, 0, 1])
STRATA = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0])


def all_tables(losses):
    """Return the sums of losses by cell of all stratified permutations."""
    parts = [
        sorted(set(permutations(losses[block == BLOCKS].tolist()))) for block in np.unique(BLOCKS)
    ]
    tables = []
    for dealt in product(*parts):
        sums = np.bincount(BLOCKS * 3 + GROUPS, np.concatenate(dealt), minlength=9)
        tables.append(sums.reshape(3, 3))
    return np.array(tables)  # distinct arrangements of a multiset are equally likely


@pytest.mark.parametrize("kind", ["people", "counts"])
@pytest.mark.parametrize("seed", range(3))
def test_it_agrees_with_all_permutations(seed, kind, monkeypatch):
    if kind == "counts":
        monkeypatch.setattr(permutation, "MAX_SHUFFLED", 0)
    rng = np.random.default_rng(seed)
    losses = rng.choice([0.0, 1.0] if seed else [0.0, 0.5, 1.0], len(BLOCKS))
    losses[:2], losses[2:4] = 0, 1
    table = rate_table(BLOCKS, GROUPS, losses, strata=STRATA)
    dealt = all_tables(losses)
    observed = compute_table_statistics(table, table.losses[None])
    pool = compute_table_statistics(table, dealt)
    # the exact p-value: where the observed stands among all arrangements
    at = np.flatnonzero((np.round(pool, 9) == np.round(observed, 9)).all(axis=1))[0]
    exact = combine_pvalues(np.r_[pool[at : at + 1], np.delete(pool, at, axis=0)])
    resamples = 20_000
    drawn = permutation_pvalue(table, resamples, np.random.default_rng(9))

    # ranks are estimated as well, so that arrangements at the margin may fall on either side
    assert drawn == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_among_all_permutations_a_share_of_at_most_alpha_has_a_p_value_of_at_most_alpha(seed):
    rng = np.random.default_rng(seed)
    losses = rng.choice([0.0, 1.0], len(BLOCKS))
    table = rate_table(BLOCKS, GROUPS, losses, strata=STRATA)
    pool = compute_table_statistics(table, all_tables(losses))
    pvalues = np.array([
        combine_pvalues(np.r_[pool[at : at + 1], np.delete(pool, at, axis=0)])
        for at in range(len(pool))
    ])  # fmt: skip
    for alpha in np.unique(pvalues):
        assert (pvalues <= alpha).mean() <= alpha + 1e-12


def test_draws_of_the_two_kinds_have_the_moments_of_dealing():
    rng = np.random.default_rng(1)
    losses = rng.choice([0.0, 1.0], len(BLOCKS))
    table = rate_table(BLOCKS, GROUPS, losses, strata=STRATA)
    tables = all_tables(losses)
    for deal in (permutation._deal_by_shuffling, permutation._deal_by_counts):
        drawn = deal(table, 20_000, np.random.default_rng(2))
        assert drawn.mean(axis=0) == pytest.approx(tables.mean(axis=0), abs=0.03)
        assert drawn.var(axis=0) == pytest.approx(tables.var(axis=0), abs=0.03)


def test_it_finds_differences_of_one_sign_and_of_many():
    rng = np.random.default_rng(6)
    block, group = rng.integers(0, 30, 3000), rng.integers(0, 2, 3000)
    signs = rng.choice([-1, 1], 30)
    for sign in (np.ones(30), signs):
        losses = rng.random(3000) < 0.5 + 0.1 * sign[block] * (group - 0.5) * 2
        table = rate_table(block, group, losses)
        # each of the two statistics has one draw that no other exceeds
        assert permutation_pvalue(table, 999, np.random.default_rng(1)) <= 2 / 1000


def test_without_anybody_to_compare_with_it_finds_nothing():
    table = rate_table([0, 1, 2], [0, 1, 0], [0, 1, 1])
    assert permutation_pvalue(table, 99, np.random.default_rng(0)) == 1


def test_its_level_is_exact():
    rng = np.random.default_rng(8)
    rejected = 0
    for _ in range(400):
        block, group = rng.integers(0, 8, 60), rng.integers(0, 2, 60)
        losses = rng.random(60) < np.linspace(0.1, 0.9, 8)[block]
        rejected += permutation_pvalue(rate_table(block, group, losses), 99, rng) <= 0.1
    assert binom.sf(rejected - 1, 400, 0.1) > 1e-4
    assert rejected > 10
