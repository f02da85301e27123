"""Differences of two audits: fair games, bounds that cover, and what pairing is worth."""

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.inference.finite.enumeration import COSTS, outcomes_at, samples_by_cells, true_prices

from fairtransport import AuditProblem, Geometry
from fairtransport.errors import InputError
from fairtransport.inference import difference_law, sampling_law
from fairtransport.inference.finite.bets import Rejection
from fairtransport.inference.finite.difference import pair_evidence
from fairtransport.inference.finite.evidence import (
    EvenLadder,
    Evidence,
    find_loss_limits,
    find_space_limits,
)

ROUNDING = 1e-12


def random_pair(rng):
    """Two problems on the same points, with losses and sometimes costs of their own."""
    cells, further = int(rng.integers(2, 5)), 2
    size = cells + further
    chances = np.r_[rng.dirichlet(np.ones(cells)), np.zeros(further)]

    def one():
        losses = np.r_[rng.choice([0.0, 0.0, 0.3, 1.0], cells), rng.choice([0.0, 0.5, 1.0], 2)]
        if rng.random() < 0.3:
            return AuditProblem(losses, Geometry(rng.integers(0, 2, size)))
        costs = rng.choice(COSTS, (size, size), p=[0.1, 0.1, 0.15, 0.15, 0.15, 0.15, 0.2])
        np.fill_diagonal(costs, 0)
        return AuditProblem(losses, costs, budget=float(rng.choice([0.01, 0.05, 0.1, 0.3])))

    return one(), one(), chances, cells


def paired_samples(first, second, chances, cells, n, *, known_space, nested=False):
    """Yield every sample as bets on a difference see it, with its sequences' probabilities."""
    for evidence, chance in samples_by_cells(first, chances, cells, n, known_space=known_space):
        limits = find_space_limits(second) if known_space else find_loss_limits(
            second, (0.0, 1.0), binary=False
        )  # fmt: skip
        other = Evidence(second, evidence.units, limits, adaptive=True, rng=evidence.rng)
        both = pair_evidence(evidence, other, nested=nested)
        both.__dict__["orders"] = evidence.__dict__["orders"]
        yield both, chance


def mean_wealths(first, second, chances, cells, n, level, **known):
    """Return the mean wealth against Δ <= Δ(f*) at the first audit's true prices."""
    truth, totals = first.value(chances) - second.value(chances), {}
    for evidence, chance in paired_samples(first, second, chances, cells, n, **known):
        if not evidence.min_value < truth < evidence.max_value:
            return {}
        rejection, above = Rejection(evidence), min(truth + 0.2, (evidence.max_value + truth) / 2)
        plans = {
            "aimed at the truth": rejection._build_plan(truth, level),
            "aimed at the top of a rung": rejection._build_plan(min(truth + 0.03, above), level),
            "aimed at a larger difference": rejection._build_plan(above, level),
        }
        for price in true_prices(first, chances):
            outcomes = outcomes_at(evidence, price)[None, :]
            for kind, plan in plans.items():
                stakes = rejection._choose_stakes(plan, plan.part_of(price))
                wealth = np.exp(evidence.log_wealths(stakes, truth, outcomes)[0])
                totals[kind, price] = totals.get((kind, price), 0.0) + float(wealth @ chance)
    return totals


def check_pairs(many, n, seed, **known):
    rng, staked, played = np.random.default_rng(seed), 0, 0
    while played < many:
        first, second, chances, cells = random_pair(rng)
        for level in (0.05, 0.3):
            totals = mean_wealths(first, second, chances, cells, n, level, **known)
            assert all(total <= 1 + ROUNDING for total in totals.values())
            played += bool(totals)
            staked += any(abs(total - 1) > ROUNDING for total in totals.values())
    # with both budgets 0 the bet is a martingale, else it loses a little
    assert staked > many / 4


def test_mean_wealth_is_at_most_one_in_every_small_population():
    check_pairs(20, 5, seed=1, known_space=False)
    check_pairs(10, 5, seed=2, known_space=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_mean_wealth_is_at_most_one_in_hundreds_of_small_populations(seed):
    check_pairs(80, 6, seed=10 + seed, known_space=False)
    check_pairs(40, 6, seed=20 + seed, known_space=True)


def test_a_bet_that_looks_ahead_is_found_out():
    """The enumeration can fail: prices of the second audit taken from the record itself."""
    rng = np.random.default_rng(4)
    worst = 0.0
    for _ in range(40):
        first, second, chances, cells = random_pair(rng)
        if second.budget == 0:
            continue
        truth, total = first.value(chances) - second.value(chances), 0.0
        for evidence, chance in paired_samples(first, second, chances, cells, 4, known_space=False):
            if not evidence.min_value < truth < evidence.max_value:
                break
            peeked = evidence.other_outcomes.entries.copy()
            at_best = np.min(
                [outcomes_at(evidence.other, price) for price in np.linspace(0, 2, 21)], axis=0
            )
            peeked[:] = at_best[evidence.orders.cell]
            evidence.__dict__["other_outcomes"] = evidence.other_outcomes._replace(entries=peeked)
            rejection = Rejection(evidence)
            price = next(iter(true_prices(first, chances)))
            plan = rejection._build_plan(truth, 0.3)
            stakes = rejection._choose_stakes(plan, plan.part_of(price))
            rows = evidence.log_wealths(stakes, truth, outcomes_at(evidence, price)[None, :])
            total += float(np.exp(rows[0]) @ chance)
        worst = max(worst, total)
    assert worst > 1.01


def twins(seed=3, same=0.9):
    """72 cells in blocks of four twins, two models that agree on most of them."""
    rng = np.random.default_rng(seed)
    first = (rng.random(72) < 0.25).astype(float)
    second = np.where(rng.random(72) < same, first, 1 - first)
    blocks, f = np.repeat(np.arange(18), 4), rng.dirichlet(np.full(72, 2.0))
    return AuditProblem(first, Geometry(blocks)), AuditProblem(second, Geometry(blocks)), f


def test_the_difference_of_a_model_to_itself_is_nothing_with_narrow_bounds():
    problem, _, f = twins()
    counts = np.random.default_rng(0).multinomial(2000, f)
    law = difference_law(problem, problem, counts, rng=0, loss_range=(0, 1))
    assert law.estimate == 0
    assert -0.01 < law.lower_bound() <= 0 <= law.upper_bound() < 0.01
    assert law.guarantee == "finite-sample"


def test_exchanging_the_audits_turns_the_bounds_round():
    first, second, f = twins()
    counts = np.random.default_rng(0).multinomial(500, f)
    law = difference_law(first, second, counts, rng=0, loss_range=(0, 1))
    turned = difference_law(second, first, counts, rng=1, loss_range=(0, 1))
    assert turned.estimate == -law.estimate
    width = law.upper_bound() - law.lower_bound()
    # but for the random orders
    assert turned.upper_bound() == pytest.approx(-law.lower_bound(), abs=0.1 * width)
    assert turned.lower_bound() == pytest.approx(-law.upper_bound(), abs=0.1 * width)


@pytest.mark.slow
def test_bounds_and_p_values_never_contradict_each_other():
    first, second, f = twins()
    rng, both = np.random.default_rng(1), set()
    for n in (60, 400):
        counts = rng.multinomial(n, f)
        law = difference_law(first, second, counts, rng=2, loss_range=(0, 1))
        for shift in np.linspace(-0.12, 0.12, 13):
            at = law.estimate + shift
            below, above = law.lower_bound(0.05) > at, law.upper_bound(0.05) < at
            assert below == law.rejects(at) == (law.pvalue(at) <= 0.05)
            assert above == law.certifies(at) == (law.pvalue(at, "less") <= 0.05)
            both |= {(below, above)}
    assert both == {(True, False), (False, False), (False, True)}


def test_a_smaller_level_gives_wider_bounds():
    first, second, f = twins()
    law = difference_law(
        first, second, np.random.default_rng(1).multinomial(300, f), rng=0, loss_range=(0, 1)
    )
    for small, large in ((0.005, 0.05), (0.05, 0.3)):
        assert law.lower_bound(small) < law.lower_bound(large) < law.estimate
        assert law.estimate < law.upper_bound(large) < law.upper_bound(small)


def test_the_same_seed_gives_the_same_bounds_whichever_comes_first():
    first, second, f = twins()
    counts = np.random.default_rng(1).multinomial(300, f)
    one, two = (difference_law(first, second, counts, rng=5, loss_range=(0, 1)) for _ in range(2))
    upper = two.upper_bound()
    assert (one.lower_bound(), one.upper_bound()) == (two.lower_bound(), upper)


def test_knowing_that_moves_are_nested_narrows_the_lower_bound():
    problem, _, f = twins()
    # those who keep a column that splits each block in two
    fewer = AuditProblem(problem.losses, Geometry(np.repeat(np.arange(36), 2)))
    counts = np.random.default_rng(1).multinomial(200, f)
    plain, nested = (
        difference_law(problem, fewer, counts, rng=5, loss_range=(0, 1), nested=nested)
        for nested in (False, True)
    )
    assert 0 < plain.lower_bound() < nested.lower_bound() < nested.estimate


def test_pairing_is_worth_more_than_two_intervals():
    first, second, f = twins(same=0.95)
    counts = np.random.default_rng(1).multinomial(1000, f)
    paired_width = np.diff(
        difference_law(first, second, counts, rng=0, loss_range=(0, 1)).interval()
    )
    apart = sum(
        np.diff(sampling_law(one, counts, rng=0, loss_range=(0, 1)).interval(0.025))
        for one in (first, second)
    )
    assert paired_width < 0.6 * apart


def test_audits_that_find_the_same_everywhere_are_told_from_audits_that_cannot_differ():
    free = Geometry([0, 0])
    none = AuditProblem([0.0, 0.0], free)
    law = difference_law(none, none, [3, 4])
    assert (law.lower_bound(), law.upper_bound(), law.pvalue(0.0)) == (0.0, 0.0, 1.0)
    assert law.pvalue(-0.1) < 0.05


def test_other_points_are_refused():
    first, second = (AuditProblem([0.0] * k, Geometry([0] * k)) for k in (2, 3))
    with pytest.raises(InputError, match=r"`other` must be about the 2 points of `problem`, got 3"):
        difference_law(first, second, [1, 1])


@pytest.mark.parametrize(("least", "most", "n"), [(-1.0, 1.0, 50), (-0.3, 1.0, 777), (0.0, 0.5, 9)])
def test_rungs_of_even_steps_reach_from_end_to_end(least, most, n):
    ladder = EvenLadder(n, most, least)
    steps = np.array([ladder.threshold(rung) for rung in range(ladder.rungs + 1)])
    assert steps[0] == least
    assert steps[-1] == most
    assert (np.diff(steps) > 0).all()
    for rung in range(ladder.rungs + 1):
        assert ladder.rung_below(steps[rung]) == rung
        assert ladder.rung_below(np.nextafter(steps[rung], 9)) == rung
        assert ladder.rung_below(np.nextafter(steps[rung], -9)) == max(rung - 1, 0)


def corners(second_budget=0.065):
    """A rare profile whose move the budget just allows, under two models."""
    costs = np.full((5, 5), np.inf)
    np.fill_diagonal(costs, 0)
    costs[1, 3] = costs[2, 4] = 1
    first = AuditProblem([0, 0, 0, 1, 1.0], costs, budget=0.09)
    second = AuditProblem([0, 0, 0, 1, 0.5], costs, budget=second_budget)
    return first, second, np.array([0.9, 0.05, 0.05, 0, 0])


@pytest.mark.slow
@pytest.mark.parametrize("case", [twins, corners])
def test_bounds_cover_in_samples(case):
    first, second, f = case()
    truth, misses, samples = first.value(f) - second.value(f), np.zeros(2, int), 150
    rng = np.random.default_rng(6)
    for seed in range(samples):
        law = difference_law(first, second, rng.multinomial(120, f), rng=seed, loss_range=(0, 1))
        misses += law.lower_bound() > truth, law.upper_bound() < truth
    for miss in misses:
        assert binomtest(int(miss), samples, 0.05, alternative="greater").pvalue > 1e-3
