"""Bets on draws are a fair game: the mean wealth over all outcomes is at most 1."""

import itertools

import numpy as np
import pytest

from fairtransport.inference.rates.draw_kernels import DrawOrders
from fairtransport.inference.rates.random_answers import (
    LossDraws,
    RandomAnswersLaw,
    build_draw_table,
    find_available,
    random_answers_law,
)

TOLERANCE = 1e-12


def build_sample(losses, counts, *, clusters=(0, 0, 1, 1), open_codes=None):
    """Two blocks with two groups each; losses are of shape (4, draws)."""
    blocks, groups = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    codes = np.empty((4, 0), np.int64) if open_codes is None else np.array(open_codes)
    return LossDraws(
        np.asarray(losses, float), np.asarray(counts), blocks, groups, np.array(clusters),
        np.zeros(4, np.int64), codes,
    )  # fmt: skip


def one_order_law(sample, orders, unit=1.0):
    """Return the law of one order, for its wealth."""
    table = build_draw_table(sample, unit)
    return RandomAnswersLaw("draws", 0.0, sample.n, (), table, orders, 0.2, unit)


def list_outcomes(values, chances):
    """Return all outcomes of independent draws with their probabilities: (cells, draws) each."""
    for picks in itertools.product(range(len(values)), repeat=chances.shape[0] * chances.shape[1]):
        at = np.reshape(picks, chances.shape[:2])
        yield np.take(values, at), np.take_along_axis(chances, at[..., None], axis=2).prod()


def repeat_draws(chances, draws):
    """Return (cells, draws, values) chances, the same in each draw."""
    return np.repeat(np.asarray(chances)[:, None, :], draws, axis=1)


def mean_shifts(values, chances, unit):
    """Return r of the four cells, computed from all pairs of answers."""
    h = np.clip((np.subtract.outer(values, values)) / unit, -1, 1)
    shift = np.einsum("ai,bj,ij->ab", chances, chances, h)
    return np.array([max(0.0, shift[own ^ 1, own]) for own in range(4)])


NO_BATCHES = np.zeros((1, 0, 2, 2), np.int64)
TINY = {
    "two values": ((0.0, 1.0), 1.0, 3),
    "three values, up to a unit": ((0.0, 0.3, 1.0), 0.4, 2),
}


@pytest.mark.parametrize("kind", TINY)
@pytest.mark.parametrize("seed", range(3))
def test_the_mean_wealth_about_these_cases_is_at_most_one(kind, seed):
    """Over all outcomes of the draws of two profiles and two groups."""
    values, unit, draws = TINY[kind]
    rng = np.random.default_rng([100, seed])
    chances = rng.dirichlet(np.ones(len(values)), 4)
    counts = rng.integers(0, 4, 4) + np.array([1, 0, 0, 0])
    rises = mean_shifts(values, chances, unit)
    truth = float(counts @ rises) / counts.sum()
    orders = DrawOrders(
        rng.permutation(draws)[None, :], np.array([[0, 1]]), NO_BATCHES,
        np.full((1, 2, 2), -1, np.int8),
    )  # fmt: skip
    total, most = 0.0, 0.0
    for losses, chance in list_outcomes(values, repeat_draws(chances, draws)):
        wealth = one_order_law(build_sample(losses, counts), orders, unit).evalue(truth * unit)
        total, most = total + chance * wealth, max(most, wealth)
    # something is staked, and yet the mean is at most 1
    assert most > 1
    assert total <= 1 + TOLERANCE


def batch_orders(draws, cells, sample):
    """Return one order in which the first person, the second and the others are batches."""
    batches = np.zeros((1, 3, 4), np.int64)
    for place, cell in enumerate(cells):
        batches[0, min(place, 2), cell] += 1
    batches = batches.reshape(1, 3, 2, 2)
    shifts = np.zeros((1, sample.clusters.max() + 1), np.int64)
    available = find_available(sample, batches)
    return DrawOrders(np.arange(draws)[None, :], shifts, batches, available)


DESIGNS = ("plain", "shared questions", "levels that occur")


def mean_wealth(design, people, seed):
    """Return the mean wealth at ψ over all samples and all outcomes of two draws."""
    rng = np.random.default_rng([200, seed])
    chances, often = rng.dirichlet(np.ones(2), 4), rng.dirichlet(np.ones(4))
    clusters, codes = (0, 0, 1, 1), None
    if design == "shared questions":
        # the second block asks the questions of the first, and its label is the other one
        chances[2:], clusters = chances[:2, ::-1], (0, 0, 0, 0)
    if design == "levels that occur":
        codes = np.array([[0], [1], [0], [1]])
    psi = float(often @ mean_shifts((0.0, 1.0), chances, 1.0))
    asked = repeat_draws(chances[:2] if design == "shared questions" else chances, 2)
    outcomes = list(list_outcomes((0.0, 1.0), asked))
    total = 0.0
    for cells in itertools.product(range(4), repeat=people):
        counts, chance_of_people = np.bincount(cells, minlength=4), np.prod(often[list(cells)])
        for losses, chance in outcomes:
            drawn = np.concatenate([losses, 1 - losses]) if len(losses) == 2 else losses
            sample = build_sample(drawn, counts, clusters=clusters, open_codes=codes)
            law = one_order_law(sample, batch_orders(2, cells, sample))
            total += chance * chance_of_people * law.evalue(psi)
    return total


@pytest.mark.parametrize("design", DESIGNS)
def test_the_mean_wealth_about_the_population_is_at_most_one(design):
    assert 0.1 < mean_wealth(design, 3, 0) <= 1 + TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_the_mean_wealth_of_larger_batches_is_at_most_one(design):
    assert 0.1 < mean_wealth(design, 4, 1) <= 1 + TOLERANCE


def test_bounds_and_pvalues_agree():
    rng = np.random.default_rng(0)
    errs = np.array([0.1, 0.8, 0.1, 0.8])
    losses = (rng.random((4, 30)) < errs[:, None]).astype(float)
    sample = build_sample(losses, (60, 60, 60, 60))
    for about in ("population", "these"):
        law = random_answers_law(sample, alpha=0.05, seed=1, width=2.0, about=about)
        bound = law.lower_bound(0.05)
        assert 0.2 < bound < law.estimate < 2.0
        assert law.pvalue(0.9 * bound) <= 0.05 < law.pvalue(1.2 * bound)
        assert law.lower_bound(0.01) <= bound
        assert law.upper_bound(0.05) == np.inf
        assert law.pvalue(0.1, "less") == 1.0
        assert law.evalue(0.1) > 20
        assert law.evalue(1.5) < 1
        assert not law.certifies(1.9, 0.05)


def test_a_level_is_known_once_somebody_has_it():
    sample = build_sample(np.zeros((4, 2)), (1, 1, 1, 0), open_codes=[[0], [1], [0], [1]])
    people = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0]]).reshape(1, 3, 2, 2)
    assert find_available(sample, people).tolist() == [[[0, 2], [0, 2]]]


def test_a_bound_of_graded_scores_needs_a_unit():
    """Two of a hundred answers are extreme, as a mean of scores must allow for."""
    rng = np.random.default_rng(0)
    scores = np.where(rng.random((4, 60)) < 0.02, 9.0, 0.5 * (rng.random((4, 60)) < 0.5))
    scores[[1, 3]] += 0.4
    sample = build_sample(np.minimum(scores, 9) / 9, (40, 40, 40, 40))
    wide, narrow = (
        random_answers_law(sample, alpha=0.05, seed=0, width=9.0, unit=unit, about="these")
        for unit in (None, 1.0)
    )
    # ψ of differences up to 1 is at most .2: half of the people rise by .4
    assert wide.lower_bound(0.05) == 0 < narrow.lower_bound(0.05) < 0.2
