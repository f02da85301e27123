"""The lemma, computed: the mean wealth of the bets as they run, over everything that can happen."""

from itertools import product

import numpy as np
import pytest
from tests.inference.rates.scripted import (
    ScriptedUrns,
    all_losses,
    line_up,
    line_up_design,
    rises,
)

from fairtransport.inference.rates import cell_means, tuples
from fairtransport.inference.rates.betting import bet_after_pilot, has_mixed_signs, sum_observed

ROUNDING = 1e-12


def random_pilot(rng, shape, people):
    counts = rng.multinomial(people, rng.dirichlet(np.ones(np.prod(shape)))).reshape(shape)
    losses = rng.binomial(counts, rng.random(shape))
    strata = rng.integers(0, 2, shape[0])
    strata[0] = 0
    return counts.astype(float), losses.astype(float), strata


def bet(pilot, design, urns, alpha):
    """Bet on several orders with one pilot and one design, and urns of each order."""
    *seen, strata = pilot
    past = line_up(*(np.tile(part, (len(urns), 1, 1)) for part in seen), strata)
    sums = sum_observed(past, len(urns))
    return bet_after_pilot(
        past, sums, line_up_design(np.tile(design, (len(urns), 1, 1))), urns, alpha
    )


def mean_wealth(pilot, design, means, alpha):
    """Return E[W | pilot, design] and λ."""
    outcomes = list(all_losses(design, means))
    wealths = bet(pilot, design, [ScriptedUrns(fared) for fared, _ in outcomes], alpha)
    assert (wealths.people == design.sum()).all()
    assert np.ptp(wealths.stake) == 0
    return np.array([chance for _, chance in outcomes]) @ np.exp(wealths.log), wealths.stake[0]


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
        fared = [np.ones(many) for many in design.ravel()]
        fared[0] = np.zeros(design[0, 0])
        played += abs(bet(pilot, design, [ScriptedUrns(fared)], 0.05).log[0]) > 0.01
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
    people = np.array(list(product(range(8), repeat=5)))
    cells, losses = people // 2, people % 2

    def count(chosen, worth):
        """Return (sequences, blocks, groups) sums over some people of each sequence."""
        each = [np.where(chosen & (cells == cell), worth, 0).sum(axis=1) for cell in range(4)]
        return np.stack(each, axis=1).reshape(-1, 2, 2)

    def shown(first):
        seen = np.arange(5) < np.reshape(first, (-1, 1))
        past = line_up(count(seen, 1), count(seen, losses), strata)
        return past, sum_observed(past, len(people))

    first = np.where(has_mixed_signs(shown(np.full(len(people), 2))[1]), 3, 2)
    design = count(np.arange(5) >= first[:, None], 1)
    urns = [
        ScriptedUrns([fared[start:][own[start:] == cell] for cell in range(4)])
        for start, own, fared in zip(first, cells, losses, strict=True)
    ]
    wealths = bet_after_pilot(*shown(first), line_up_design(design), urns, 0.05)
    evidence = np.exp(wealths.log) / (1 + wealths.stake * value) ** wealths.people

    assert np.prod(chances[people], axis=1) @ evidence <= 1 + ROUNDING
    assert set(first) == {2, 3}


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
        columns = means[:, None], np.array([0.2]), people[:, None], 1, np.array([stake])
        (g,), (f,) = tuples.choose_target(*columns)
        if g < 0:
            assert (people > 0).sum() < 2
            continue
        movers = people[(means <= means[g]) & (np.arange(groups) != g)].sum()
        assert people[g] > 0
        assert 0 <= f <= min(stake * movers, 0.9) + 1e-15
        seen_large |= f > 0.5
    assert seen_large


def plan_tuples(design, means, stake):
    """Return the tuples of one order, from (blocks, groups) people and guessed means."""
    shared = np.flatnonzero((design > 0).sum(axis=1) > 1)
    rounds = np.zeros(len(design), int)
    rounds[shared] = tuples.cut_blocks(
        design[shared].T, means[shared].T, np.full(len(shared), 0.2), np.full(len(shared), stake)
    )
    return tuples.plan_tuples(design.T.copy(), rounds, 1)


def test_a_plan_uses_nobody_twice_and_has_targets_and_movers_in_each_tuple():
    rng = np.random.default_rng(4)
    for _ in range(200):
        shape = int(rng.integers(1, 6)), int(rng.integers(2, 4))
        sealed = rng.integers(0, 30, shape) * rng.integers(0, 2, shape)
        plan = plan_tuples(sealed, rng.random(shape), 0.1)
        take = plan.people.T
        used = np.zeros(shape, int)
        np.add.at(used, plan.block, take)
        assert (used <= sealed).all()
        assert ((take > 0).sum(axis=1) >= 2).all()
        shared = (sealed > 0).sum(axis=1) > 1
        assert (used[shared] == sealed[shared]).all()


def played_game(rng):
    """Return what is observed after a pilot, its sums, and tuples with their losses."""
    shape = int(rng.integers(1, 30)), int(rng.integers(2, 5))
    people, losses, strata = random_pilot(rng, shape, int(rng.integers(1, 200)))
    past = cell_means.ObservedLosses(people.T.copy(), losses.T.copy(), strata)
    design = rng.integers(0, 12, shape) * rng.integers(0, 2, shape)
    plan = plan_tuples(design, rng.random(shape), 0.05)
    fared = rng.binomial(plan.people, 0.4).astype(float)
    return past, cell_means.sum_blocks(past, 1, 2), plan, fared


def play(past, plan, fared, chosen):
    """Return what is observed once the people of some tuples are."""
    people, losses = past.people.copy(), past.losses.copy()
    np.add.at(people.T, plan.block[chosen], plan.people.T[chosen])
    np.add.at(losses.T, plan.block[chosen], fared.T[chosen])
    return past._replace(people=people, losses=losses)


def test_sums_that_follow_the_tuples_are_those_of_all_blocks(monkeypatch):
    """Those that a fit knows are of tuples of earlier fits, and after the last of all."""
    rng = np.random.default_rng(6)
    followed, follow = [], tuples.sum_before_fits
    monkeypatch.setattr(
        tuples, "sum_before_fits",
        lambda *given: (followed.append(given), follow(*given))[1],
    )  # fmt: skip
    for _ in range(50):
        past, sums, plan, fared = played_game(rng)
        tuples.bet_on_tuples(past, sums, plan, fared, np.array([0.05]))
        before, seen, people, losses, fits = followed.pop()
        assert (seen.strata // 2 == plan.fit).all()
        result = follow(before, seen, people, losses, fits + 1)
        for fit in range(fits + 1):
            anew = cell_means.sum_blocks(play(past, plan, fared, plan.fit < fit), 1, 2)
            for ours, theirs in zip(result, anew, strict=True):
                assert ours[..., [fit], :] == pytest.approx(theirs, abs=1e-9)


def test_guesses_of_a_tuple_know_earlier_tuples_of_its_block_alone(monkeypatch):
    rng = np.random.default_rng(9)
    guessed, guess = [], tuples.guess_means
    monkeypatch.setattr(
        tuples, "guess_means", lambda seen, fit: (guessed.append(seen), guess(seen, fit))[1]
    )
    for _ in range(20):
        past, sums, plan, fared = played_game(rng)
        guessed.clear()
        tuples.bet_on_tuples(past, sums, plan, fared, np.array([0.05]))
        for k, block in enumerate(plan.block):
            earlier = (plan.block == block) & (plan.round < plan.round[k])
            known = play(past, plan, fared, earlier)
            assert guessed[0].people[:, k] == pytest.approx(known.people[:, block])
            assert guessed[0].losses[:, k] == pytest.approx(known.losses[:, block])
            # tuples of one fit are of different blocks: in turn or at once is the same
            assert (plan.fit[earlier] < plan.fit[k]).all()


def test_a_tuple_costs_its_own_block_and_no_fit_of_all(monkeypatch):
    """The work is counted, not timed: a tuple takes its block out and adds it once more."""
    changed, fits = {-1.0: 0, 1.0: 0}, []
    add, fit = tuples.add_blocks, tuples.fit_effects

    def count(sums, blocks, sign):
        changed[sign] += len(blocks.strata)
        add(sums, blocks, sign)

    past, sums, plan, fared = played_game(np.random.default_rng(7))
    monkeypatch.setattr(tuples, "add_blocks", count)
    monkeypatch.setattr(
        tuples, "fit_effects", lambda given: (fits.append(len(given.losses)), fit(given))[1]
    )
    tuples.bet_on_tuples(past, sums, plan, fared, np.array([0.05]))
    assert changed == {-1.0: len(plan.block), 1.0: len(plan.block)}
    assert len(plan.block) > 20
    assert sum(fits) <= 2 + tuples.REFITS * 2 + len(set(plan.round))


def test_guesses_are_those_of_their_definition():
    """Mantel and Haenszel's differences, and moments of cells, block by block."""
    rng = np.random.default_rng(8)
    for _ in range(30):
        past, sums, _, _ = played_game(rng)
        fit = cell_means.fit_effects(sums)
        past = past._replace(people=past.people.T, losses=past.losses.T)
        overall = (past.losses.sum() + 1) / (past.people.sum() + 2)
        sigma = max(overall * (1 - overall), 0.01)
        difference, weight = np.zeros((2, 2, past.people.shape[1]))
        cells, prior = [], cell_means.BLOCK_WEIGHT
        for n, loss, y in zip(*past, strict=True):
            level = (loss.sum() + prior * overall) / (n.sum() + prior)
            for s in np.flatnonzero((n > 0) & (n < n.sum())):
                w = n[s] * (n.sum() - n[s]) / n.sum()
                rest = (loss.sum() - loss[s]) / (n.sum() - n[s])
                difference[y, s] += w * (loss[s] / n[s] - rest)
                weight[y, s] += w
                cells.append((n, loss, y, s, level * (1 - level) + cell_means.MIN_LOSS_VARIANCE))
        people = np.array([past.people[past.strata == y].sum(axis=0) for y in range(2)])
        others = 1 - people / np.maximum(people.sum(axis=1, keepdims=True), 1)
        effect = others * difference / (weight + sigma / cell_means.GROUP_SPREAD**2)
        excess = noise = 0.0
        for n, loss, y, s, variance in cells:
            z = loss[s] / n[s] - effect[y, s] - (loss - n * effect[y]).sum() / n.sum()
            excess += n[s] * z**2 - (1 - n[s] / n.sum()) * variance
            noise += 2 * ((1 - n[s] / n.sum()) * variance) ** 2
        ours = fit.effect[:, 0].T
        assert ours == pytest.approx(effect, abs=1e-12)
        assert fit.spread == pytest.approx(excess / max(weight.sum(), 1), abs=1e-12)
        assert fit.error == pytest.approx(np.sqrt(noise) / max(weight.sum(), 1e-12), rel=1e-9)
