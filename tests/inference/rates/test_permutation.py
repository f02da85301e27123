"""The permutation test against all stratified permutations."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import binom, nbinom

from fairtransport.inference import rate_table
from fairtransport.inference.rates import permutation
from fairtransport.inference.rates.permutation import (
    MAX_EXCEEDANCES,
    ROUNDING,
    CountedDeck,
    ShuffledDeck,
    build_deck,
    find_sequential_pvalue,
    fit_standards,
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


def law_of_pvalues(exceedance, resamples):
    """Return Besag and Clifford's p-values and their chances, if deals exceed with one chance."""
    lengths = np.arange(MAX_EXCEEDANCES, resamples + 1)
    counts = np.arange(MAX_EXCEEDANCES)
    stopped = nbinom.pmf(lengths - MAX_EXCEEDANCES, MAX_EXCEEDANCES, exceedance)
    pvalues = np.r_[MAX_EXCEEDANCES / lengths, (counts + 1) / (resamples + 1)]
    return pvalues, np.r_[stopped, binom.pmf(counts, resamples, exceedance)]


@pytest.mark.parametrize("kind", ["people", "counts"])
@pytest.mark.parametrize("seed", range(3))
def test_it_agrees_with_all_permutations(seed, kind, monkeypatch):
    if kind == "counts":
        monkeypatch.setattr(permutation, "MAX_SHUFFLED", 0)
    rng = np.random.default_rng(seed)
    losses = rng.choice([0.0, 1.0] if seed else [0.0, 0.5, 1.0], len(BLOCKS))
    losses[:2], losses[2:4] = 0, 1
    table = rate_table(BLOCKS, GROUPS, losses, strata=STRATA)
    deck = build_deck(table)
    # the first deals of a seed are those that the test standardises by
    standards = fit_standards(deck, np.random.default_rng(9))
    observed = standards.combine(deck.compute_statistics(table.losses[None]))[0]
    pool = standards.combine(deck.compute_statistics(all_tables(losses)))
    exact = np.mean(pool >= observed - ROUNDING)
    monkeypatch.setattr(permutation, "MAX_EXCEEDANCES", 20_001)
    drawn = permutation_pvalue(table, 20_000, np.random.default_rng(9))

    assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact / 20_000))


@pytest.mark.parametrize("seed", range(3))
def test_over_all_permutations_the_sequential_pvalue_has_its_level(seed):
    """The mean, over equally likely tables, of the chance that p is at most α; computed."""
    rng = np.random.default_rng(seed)
    losses = rng.choice([0.0, 1.0], len(BLOCKS))
    deck = build_deck(rate_table(BLOCKS, GROUPS, losses, strata=STRATA))
    pool = fit_standards(deck, rng).combine(deck.compute_statistics(all_tables(losses)))
    exceedance = np.array([np.mean(pool >= own - ROUNDING) for own in pool])
    laws = [law_of_pvalues(chance, 199) for chance in exceedance]
    for alpha in (0.005, 0.02, 0.05, 0.1, 0.1005, 0.3, 0.7):
        level = np.mean([chances[pvalues <= alpha].sum() for pvalues, chances in laws])
        assert level <= alpha + 1e-12


def test_the_sequential_rule_stops_at_the_last_exceedance_that_counts():
    script = np.random.default_rng(0).random(199) < 0.3
    read = iter(script)
    stopped = find_sequential_pvalue(lambda many: np.array([next(read) for _ in range(many)]), 199)
    last = np.flatnonzero(script)[MAX_EXCEEDANCES - 1] + 1
    assert stopped == MAX_EXCEEDANCES / last
    few = np.arange(199) < MAX_EXCEEDANCES - 1
    read = iter(few)
    assert find_sequential_pvalue(
        lambda many: np.array([next(read) for _ in range(many)]), 199
    ) == pytest.approx(MAX_EXCEEDANCES / 200)


def test_deals_end_early_where_nothing_is_to_be_found(monkeypatch):
    """The work is counted, not timed: few deals, and none of blocks that a deal leaves alike."""
    rng = np.random.default_rng(3)
    block, group = rng.integers(0, 3000, 4000), rng.integers(0, 2, 4000)
    table = rate_table(block, group, rng.random(4000) < 0.3)
    dealt, deal = [], permutation.deal_losses

    def count_people(losses, *rest):
        dealt.append(len(losses))
        return deal(losses, *rest)

    monkeypatch.setattr(permutation, "deal_losses", count_people)
    pvalue = permutation_pvalue(table, 1999, np.random.default_rng(1))
    assert pvalue > 0.05
    most = MAX_EXCEEDANCES / pvalue + MAX_EXCEEDANCES + permutation.CALIBRATION_DEALS
    assert len(dealt) <= most < 500
    assert max(dealt) < 0.6 * table.n


@pytest.mark.parametrize("kind", [ShuffledDeck, CountedDeck])
def test_deals_have_the_moments_of_dealing(kind):
    rng = np.random.default_rng(1)
    losses = rng.choice([0.0, 1.0], len(BLOCKS))
    table = rate_table(BLOCKS, GROUPS, losses, strata=STRATA)
    tables = all_tables(losses)
    drawn = kind(table).deal(20_000, np.random.default_rng(2))
    assert drawn.mean(axis=0) == pytest.approx(tables.mean(axis=0), abs=0.03)
    assert drawn.var(axis=0) == pytest.approx(tables.var(axis=0), abs=0.03)


def test_it_finds_differences_of_one_sign_and_of_many():
    rng = np.random.default_rng(6)
    block, group = rng.integers(0, 30, 3000), rng.integers(0, 2, 3000)
    signs = rng.choice([-1, 1], 30)
    for sign in (np.ones(30), signs):
        losses = rng.random(3000) < 0.5 + 0.1 * sign[block] * (group - 0.5) * 2
        table = rate_table(block, group, losses)
        assert permutation_pvalue(table, 999, np.random.default_rng(1)) == 1 / 1000


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
