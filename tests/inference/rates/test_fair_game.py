"""The lemma, computed: the mean wealth of the bets as they run, over everything that can happen."""

from itertools import product

import numpy as np
import pytest
from tests.inference.rates.scripted import ScriptedUrns, all_losses, rises

from fairtransport.inference.rates import kernels as bets
from fairtransport.inference.rates.betting import bet_after_pilot, has_mixed_signs, sum_observed
from fairtransport.inference.rates.kernels import ObservedLosses

ROUNDING = 1e-12


def random_pilot(rng, shape, people):
    counts = rng.multinomial(people, rng.dirichlet(np.ones(np.prod(shape)))).reshape(shape)
    losses = rng.binomial(counts, rng.random(shape))
    strata = rng.integers(0, 2, shape[0])
    strata[0] = 0
    return counts.astype(float), losses.astype(float), strata


def bet(past, design, urns, alpha):
    return bet_after_pilot(past, sum_observed(past), design, urns, alpha)


def mean_wealth(pilot, design, means, alpha):
    """Return E[W | pilot, design] and λ."""
    people, losses, strata = pilot
    total, stake = 0.0, 0.0
    for fared, chance in all_losses(design, means):
        seen = ObservedLosses(people.copy(), losses.copy(), strata)
        log_wealth, stake, many, _ = bet(seen, design, ScriptedUrns(fared), alpha)
        assert many == design.sum()
        total += chance * np.exp(log_wealth)
    return total, stake


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_given_pilot_and_design_the_mean_wealth_is_at_most_the_product(seed, groups):
    rng = np.random.default_rng([seed, groups])
    shape = (2, groups)
    pilot = random_pilot(rng, shape, int(rng.integers(0, 40)))
    design = rng.multinomial(9, rng.dirichlet(np.full(2 * groups, 2.0))).reshape(shape)
    means = rng.choice([0.0, 0.1, 0.3, 0.5, 0.9, 1.0], shape)
    means[1] = means[1, 0] if seed % 3 == 0 else means[1]
    wealth, stake = mean_wealth(pilot, design, means, 0.05)
    most = np.prod((1 + stake * rises(means, design)) ** design)

    assert wealth <= most * (1 + ROUNDING)


def test_without_differences_the_mean_wealth_is_exactly_one():
    rng = np.random.default_rng(5)
    played = 0
    for _ in range(10):
        pilot = random_pilot(rng, (2, 2), 30)
        design = np.array([[2, 3], [3, 1]])
        means = np.repeat(rng.random((2, 1)), 2, axis=1)
        wealth, _ = mean_wealth(pilot, design, means, 0.05)
        assert wealth == pytest.approx(1, abs=1e-12)
        seen = ObservedLosses(*pilot[:2], pilot[2])
        fared = [np.ones(many) for many in design.ravel()]
        fared[0] = np.zeros(design[0, 0])
        played += abs(bet(seen, design, ScriptedUrns(fared), 0.05)[0]) > 0.01
    assert played >= 8


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_over_all_samples_of_five_people_the_evidence_has_a_mean_of_at_most_one(seed):
    """All sequences of people, the pilot with its choice of length included, at δ = R."""
    rng = np.random.default_rng(seed)
    frequencies = rng.dirichlet(np.full(4, 2.0)).reshape(2, 2)
    means = rng.choice([0.1, 0.4, 0.8], (2, 2))
    strata = np.array([0, seed % 2])
    value = float((frequencies * rises(means)).sum())
    chances = np.stack([frequencies * (1 - means), frequencies * means], axis=-1).ravel()
    total, longer = 0.0, set()
    for people in product(range(8), repeat=5):
        cells, losses = np.array(people) // 2, np.array(people) % 2

        def shown(first, cells=cells, losses=losses):
            count = np.bincount(cells[:first], minlength=4).reshape(2, 2)
            sums = np.bincount(cells[:first], losses[:first], minlength=4).reshape(2, 2)
            return ObservedLosses(count.astype(float), sums, strata)

        first = 3 if has_mixed_signs(sum_observed(shown(2))) else 2
        longer.add(first)
        design = np.bincount(cells[first:], minlength=4).reshape(2, 2)
        urns = ScriptedUrns([losses[first:][cells[first:] == cell] for cell in range(4)])
        log_wealth, stake, many, _ = bet(shown(first), design, urns, 0.05)
        total += np.prod(chances[list(people)]) * np.exp(log_wealth) / (1 + stake * value) ** many

    assert total <= 1 + ROUNDING
    assert longer == {2, 3}


def test_the_enumeration_notices_a_look_at_sealed_losses():
    """The same sum for a bettor who peeks exceeds the bound: the test can fail."""
    means, design, stake = np.full((1, 2), 0.5), np.array([[1, 1]]), 0.5
    peeking = sum(
        chance * (1 + stake * abs(fared[0][0] - fared[1][0]))
        for fared, chance in all_losses(design, means)
    )
    assert peeking > 1.2 > np.prod((1 + stake * rises(means)) ** design) == 1


def test_no_bet_exceeds_what_movers_allow():
    rng = np.random.default_rng(3)
    seen_large = False
    for _ in range(500):
        groups = int(rng.integers(2, 5))
        means, people = rng.random(groups), rng.integers(0, 6, groups)
        stake = float(rng.uniform(0, 0.75))
        g, f = bets.choose_target(means, 0.2, people, 1, stake)
        if g < 0:
            assert (people > 0).sum() < 2
            continue
        movers = people[(means <= means[g]) & (np.arange(groups) != g)].sum()
        assert people[g] > 0
        assert 0 <= f <= min(stake * movers, 0.9) + 1e-15
        seen_large |= f > 0.5
    assert seen_large


def test_a_plan_uses_nobody_twice_and_has_targets_and_movers_in_each_tuple():
    rng = np.random.default_rng(4)
    for _ in range(200):
        shape = int(rng.integers(1, 6)), int(rng.integers(2, 4))
        sealed = rng.integers(0, 30, shape) * rng.integers(0, 2, shape)
        block, take = bets.plan_tuples(sealed, rng.random(shape), np.full(shape[0], 0.2), 0.1)
        used = np.zeros(shape, int)
        np.add.at(used, block, take)
        assert (used <= sealed).all()
        assert ((take > 0).sum(axis=1) >= 2).all()
        shared = (sealed > 0).sum(axis=1) > 1
        assert (used[shared] == sealed[shared]).all()


def played_game(rng):
    """Return what is observed after a pilot, its sums, and tuples with their losses."""
    shape = int(rng.integers(1, 30)), int(rng.integers(2, 5))
    past = ObservedLosses(*random_pilot(rng, shape, int(rng.integers(1, 200))))
    design = rng.integers(0, 12, shape) * rng.integers(0, 2, shape)
    block, take = bets.plan_tuples(design, rng.random(shape), np.full(shape[0], 0.2), 0.05)
    return past, bets.sum_blocks(past, 2), block, take, rng.binomial(take, 0.4).astype(float)


def test_sums_that_follow_the_tuples_are_those_of_all_blocks():
    rng = np.random.default_rng(6)
    for _ in range(50):
        past, sums, block, take, losses = played_game(rng)
        bets.bet_on_tuples(past, sums, block, take, losses, 0.05)
        for ours, anew in zip(sums, bets.sum_blocks(past, 2), strict=True):
            assert ours == pytest.approx(anew, abs=1e-9)


def test_a_tuple_costs_its_own_block_and_no_fit_of_all(monkeypatch):
    """The work is counted, not timed: a tuple takes its block out and adds it once more."""
    changed, fits = [], []
    add, fit = bets._add_block, bets.fit_effects
    past, sums, block, take, losses = played_game(np.random.default_rng(7))
    monkeypatch.setattr(bets, "_add_block", lambda *given: (changed.append(given[2]), add(*given)))
    monkeypatch.setattr(bets, "fit_effects", lambda given: (fits.append(1), fit(given))[1])
    bets.bet_on_tuples.py_func(past, sums, block, take, losses, 0.05)
    assert changed == np.repeat(block, 2).tolist()
    rounds = 1 + int((np.diff(block) <= 0).sum())
    assert len(block) > 20
    assert len(fits) <= 2 + bets.REFITS * 2 + rounds


def test_guesses_are_those_of_their_definition():
    """Mantel and Haenszel's differences, and moments of cells, block by block."""
    rng = np.random.default_rng(8)
    for _ in range(30):
        past, _, _, _, _ = played_game(rng)
        means, variances = np.zeros(past.people.shape), np.zeros(len(past.people))
        bets.fit_cell_means(past, 2, means, variances)
        fit = bets.fit_effects(bets.sum_blocks(past, 2))
        overall = (past.losses.sum() + 1) / (past.people.sum() + 2)
        sigma = max(overall * (1 - overall), 0.01)
        difference, weight = np.zeros((2, means.shape[1])), np.zeros((2, means.shape[1]))
        cells = []
        for n, loss, y in zip(*past, strict=True):
            level = (loss.sum() + bets.BLOCK_WEIGHT * overall) / (n.sum() + bets.BLOCK_WEIGHT)
            for s in np.flatnonzero((n > 0) & (n < n.sum())):
                w = n[s] * (n.sum() - n[s]) / n.sum()
                rest = (loss.sum() - loss[s]) / (n.sum() - n[s])
                difference[y, s] += w * (loss[s] / n[s] - rest)
                weight[y, s] += w
                cells.append((n, loss, y, s, level * (1 - level) + bets.MIN_LOSS_VARIANCE))
        people = np.array([past.people[past.strata == y].sum(axis=0) for y in range(2)])
        others = 1 - people / np.maximum(people.sum(axis=1, keepdims=True), 1)
        effect = others * difference / (weight + sigma / bets.GROUP_SPREAD**2)
        excess = noise = 0.0
        for n, loss, y, s, variance in cells:
            z = loss[s] / n[s] - effect[y, s] - (loss - n * effect[y]).sum() / n.sum()
            excess += n[s] * z**2 - (1 - n[s] / n.sum()) * variance
            noise += 2 * ((1 - n[s] / n.sum()) * variance) ** 2
        assert fit.spread == pytest.approx(excess / max(weight.sum(), 1), abs=1e-12)
        assert fit.error == pytest.approx(np.sqrt(noise) / max(weight.sum(), bets.TINY), rel=1e-9)
