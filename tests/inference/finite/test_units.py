"""Clusters and weights: bets on them are fair games, as the package plays them."""

from itertools import product

import numpy as np
import pytest
from tests.inference.finite.enumeration import as_orders, interesting_populations

from fairtransport import AuditProblem
from fairtransport._core.units import Units
from fairtransport.inference import sampling_law
from fairtransport.inference.finite.bets import Certificate, Rejection
from fairtransport.inference.finite.difference import pair_evidence
from fairtransport.inference.finite.evidence import Evidence, find_loss_limits
from fairtransport.inference.finite.sample import observed_frontiers

ROUNDING = 1e-12
N = 5


def build_units(members, weights, limit=None, **more):
    """Return one unit of each kind, from the points of its members."""
    sizes = np.array([len(one) for one in members])
    return Units(
        np.ones(len(members), np.int64), np.asarray(weights, float),
        np.repeat(np.arange(len(members)), sizes), np.concatenate(members),
        np.repeat(1 / sizes, sizes), np.ones(sizes.sum(), np.int64), limit, is_single=False, **more,
    )  # fmt: skip


def random_units(rng, cells):
    """Return three kinds of clusters with weights of up to 4, and their probabilities."""
    members = [rng.integers(0, cells, rng.integers(1, 4)) for _ in range(3)]
    return build_units(members, rng.choice([1.0, 2.0, 4.0], 3), 4.0), rng.dirichlet(np.ones(3))


def true_price(problem, units, chances):
    """Return ψ of a population of units, and the price at which it is reached."""
    share = chances * units.weights / (chances @ units.weights)
    frontiers = observed_frontiers(problem, units)
    prices = np.unique(np.r_[0.0, frontiers.slope]) if problem.budget > 0 else np.zeros(1)
    means = [
        share @ (frontiers.evaluate(price).gains + problem.budget * price)
        if problem.budget > 0
        else share @ frontiers.base
        for price in prices
    ]
    return float(min(means)), float(prices[int(np.argmin(means))])


def samples(problem, units, chances):
    """Yield the evidence of all samples of the same kinds, and each sample's probability."""
    kinds = len(chances)
    sequences = np.array(list(product(range(kinds), repeat=N)))
    code = np.bitwise_or.reduce(1 << sequences, axis=1)
    limits = find_loss_limits(problem, (0.0, 1.0), binary=False)
    for own in np.unique(code):
        there = np.flatnonzero(own >> np.arange(kinds) & 1)
        counts = np.zeros(kinds, np.int64)
        counts[there] = 1
        counts[there[0]] += N - len(there)
        evidence = Evidence(
            problem, units.take(counts), limits, adaptive=True, rng=np.random.default_rng(0)
        )
        chosen = sequences[code == own]
        evidence.__dict__["orders"] = as_orders(np.searchsorted(there, chosen))
        yield evidence, chances[chosen].prod(axis=1)


def populations(many, seed):
    rng = np.random.default_rng(seed)
    for problem, _, cells in interesting_populations(many, seed):
        yield problem, *random_units(rng, cells), rng


def outcomes_at(evidence, price):
    if evidence.budget == 0:
        return evidence.frontiers.base[None, :]
    return (evidence.frontiers.evaluate(price).gains + evidence.budget * price)[None, :]


def mean_wealths(problem, units, chances, level):
    """Return the mean wealth at ψ = δ of both sides, aimed at δ and beside it."""
    truth, price = true_price(problem, units, chances)
    totals = np.zeros(4)
    for evidence, chance in samples(problem, units, chances):
        rejection, certificate = Rejection(evidence), Certificate(evidence)
        deltas = np.array([truth])
        for at, factor in enumerate((1.0, 1.1)):
            plan = rejection._build_plan(min(factor * truth, (1 + truth) / 2), level)
            stakes = rejection._choose_stakes(plan, plan.part_of(price))
            logs = evidence.log_wealths(stakes, truth, outcomes_at(evidence, price))[0]
            totals[at] += np.exp(logs) @ chance
            rows = certificate._run(truth / factor, deltas, level)[0]
            totals[2 + at] += np.exp(rows[0]) @ chance
    return totals


def mean_paired_wealth(problem, units, chances, rng, level):
    """Return the mean wealth against Δ <= Δ(f*) of two audits of the same units."""
    other = AuditProblem(rng.permutation(problem.losses), problem.geometry, budget=problem.budget)
    truth, price = true_price(problem, units, chances)
    delta, total = truth - true_price(other, units, chances)[0], 0.0
    limits = find_loss_limits(other, (0.0, 1.0), binary=False)
    for evidence, chance in samples(problem, units, chances):
        second = Evidence(other, evidence.units, limits, adaptive=True, rng=evidence.rng)
        both = pair_evidence(evidence, second)
        both.__dict__["orders"] = evidence.__dict__["orders"]
        rejection = Rejection(both)
        plan = rejection._build_plan(delta, level)
        stakes = rejection._choose_stakes(plan, plan.part_of(price))
        logs = both.log_wealths(stakes, delta, outcomes_at(both, price))[0]
        total += float(np.exp(logs) @ chance)
    return total


def check_populations(many, seed):
    with_budget = staked = 0
    for problem, units, chances, rng in populations(many, seed):
        if not 1e-9 < true_price(problem, units, chances)[0] < 1 - 1e-9:
            continue
        for level in (0.05, 0.3):
            totals = mean_wealths(problem, units, chances, level)
            assert totals.max() <= 1 + ROUNDING
            assert totals[0] == pytest.approx(1, abs=ROUNDING)
            staked += bool((totals[2:] != 1).any())
            assert mean_paired_wealth(problem, units, chances, rng, level) <= 1 + ROUNDING
        with_budget += problem.budget > 0
    assert with_budget > many / 3
    assert staked > many / 3


def test_mean_wealth_of_weighted_clusters_is_at_most_one():
    check_populations(6, seed=1)


@pytest.mark.slow
def test_mean_wealth_of_weighted_clusters_is_at_most_one_in_150_populations():
    check_populations(150, seed=2)


def given_sizes(rng, cells):
    """Return five units of given sizes, each with a law of its own over two kinds of members."""
    weights = rng.integers(1, 9, 5).astype(float)
    kinds = [[rng.integers(0, cells, rng.integers(1, 4)) for _ in range(2)] for _ in range(5)]
    return weights, kinds, rng.random(5)


@pytest.mark.parametrize("seed", range(4))
def test_given_the_sizes_mean_wealth_is_at_most_one(seed):
    """Sizes tell something of the gains: only stakes and prices that are fixed are fair."""
    rng = np.random.default_rng(seed)
    for problem, _, cells in interesting_populations(8, seed):
        weights, kinds, chance = given_sizes(rng, cells)
        outcomes = list(product(range(2), repeat=5))
        chances = [np.prod(np.where(np.array(one) == 0, chance, 1 - chance)) for one in outcomes]
        share = np.r_[chance * weights, (1 - chance) * weights] / weights.sum()
        everything = build_units([one[0] for one in kinds] + [one[1] for one in kinds],
                                 np.r_[weights, weights])  # fmt: skip
        psi, price = true_price(problem, everything, share / everything.weights)
        if not 1e-9 < psi < 1 - 1e-9:
            continue
        limits, lower, upper = find_loss_limits(problem, (0.0, 1.0), binary=False), 0.0, 0.0
        for one, p in zip(outcomes, chances, strict=True):
            units = build_units([kinds[r][one[r]] for r in range(5)], weights)
            evidence = Evidence(problem, units, limits, adaptive=False, rng=rng)
            plan = Rejection(evidence)._build_plan(psi, 0.05)
            stakes = evidence.choose_stakes(plan, 0)
            logs = evidence.log_wealths(stakes, psi, outcomes_at(evidence, price))[0]
            lower += p * np.exp(logs).mean()
            rows = Certificate(evidence)._log_wealths(psi, np.array([psi]), 0.05)
            upper += p * np.exp(rows[0]).mean()
        assert lower <= 1 + ROUNDING
        assert upper <= 1 + ROUNDING


def counterexample_rejections(limit, runs=100):
    """Return how often ψ <= ψ is rejected where 1 unit in 300 has 400 members without gains."""
    problem = AuditProblem([0.0, 0.0, 1.0], [[0, np.inf, 0], [np.inf, 0, np.inf], [0, np.inf, 0]])
    psi = 0.3 * (299 / 300) / (299 / 300 + 400 / 300)
    rejections = 0
    for run in range(runs):
        rng = np.random.default_rng([7, run])
        large, gains = rng.random(100) < 1 / 300, rng.random(100) < 0.3
        points = np.where(large, 1, np.where(gains, 0, 1))
        units = build_units([[point] for point in points], np.where(large, 400.0, 1.0))
        if limit == "largest seen":
            units = build_units([[point] for point in points], units.weights, units.weights.max())
        else:
            units = build_units([[point] for point in points], units.weights, limit)
        law = sampling_law(problem, np.bincount(points, minlength=3), units=units, rng=run)
        rejections += law.rejects(psi)
    return rejections


def test_the_largest_size_seen_is_no_limit():
    assert counterexample_rejections("largest seen", 30) > 15
    assert counterexample_rejections(400.0, 30) == 0


def test_single_people_by_chance_do_not_bring_the_binomial_law_back():
    problem = AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
    people = sampling_law(problem, [60, 40], rng=0)
    units = build_units([[0]] * 60 + [[1]] * 40, np.ones(100), 1.0)
    bets = sampling_law(problem, [60, 40], units=units, rng=0)
    assert bets.estimate == pytest.approx(people.estimate)
    assert bets.lower_bound() < people.lower_bound()
    with pytest.raises(ValueError, match="must be 'finite-sample' with units, got 'efron'"):
        sampling_law(problem, [60, 40], units=units, method="efron")
