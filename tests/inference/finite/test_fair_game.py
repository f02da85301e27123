"""Bets are fair games as the package plays them: every sample of a small population, enumerated."""

import math
from dataclasses import replace
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest
from tests.inference.finite.enumeration import (
    as_orders,
    interesting_populations,
    outcomes_at,
    samples_by_cells,
    true_prices,
)

from fairtransport import AuditProblem, Geometry
from fairtransport.inference import sampling_law
from fairtransport.inference.finite.bets import Certificate, Rejection
from fairtransport.inference.finite.least_wealth import log_best_mean, log_mean

ROUNDING = 1e-12
LEVELS = (0.05, 0.3)
"""At the larger one bets are won within a few records, and the surplus goes on betting."""


def mean_wealths_against_fairness(problem, chances, cells, n, level, **known):
    """Return the mean wealth against ψ <= ψ(f*) at the true prices, for every kind of stakes."""
    truth, totals = problem.value(chances), {}
    for evidence, chance in samples_by_cells(problem, chances, cells, n, **known):
        rejection, above = Rejection(evidence), min(1.3 * truth, (1 + truth) / 2)
        plans = {
            "aimed at the truth": rejection._build_plan(truth, level),
            "aimed at the top of a rung": rejection._build_plan(min(1.05 * truth, above), level),
            "aimed at a larger δ": rejection._build_plan(above, level),
        }
        for price in true_prices(problem, chances):
            outcomes = outcomes_at(evidence, price)[None, :]
            for kind, plan in plans.items():
                stakes = rejection._choose_stakes(plan, plan.part_of(price))
                wealth = np.exp(evidence.log_wealths(stakes, truth, outcomes)[0])
                key = (kind, price)
                totals[key] = totals.get(key, 0.0) + float(wealth @ chance)
    return totals


def mean_wealths_for_certificates(problem, chances, cells, n, level, **known):
    """Return the mean wealth against ψ >= ψ(f*), for every kind of path."""
    truth, totals = problem.value(chances), {}
    for evidence, chance in samples_by_cells(problem, chances, cells, n, **known):
        certificate, deltas = Certificate(evidence), np.array([truth])
        runs = {
            "aimed at the truth": certificate._run(truth, deltas, level)[0],
            "aimed at the bottom of a rung": certificate._run(0.95 * truth, deltas, level)[0],
            "aimed at a smaller δ": certificate._run(0.7 * truth, deltas, level)[0],
        }
        for kind, rows in runs.items():
            totals[kind] = totals.get(kind, 0.0) + float(np.exp(rows[0]) @ chance)
    return totals


def check_populations(many, n, seed, **known):
    staked = 0
    for problem, chances, cells in interesting_populations(many, seed):
        for level in LEVELS:
            lower = mean_wealths_against_fairness(problem, chances, cells, n, level, **known)
            upper = mean_wealths_for_certificates(problem, chances, cells, n, level, **known)
            assert max(lower.values()) <= 1 + ROUNDING
            assert max(upper.values()) <= 1 + ROUNDING
            # at the true price E Y = δ: what is bet there is a martingale
            exact = {kind: total for (kind, _), total in lower.items() if "truth" in kind}
            assert exact["aimed at the truth"] == pytest.approx(1, abs=ROUNDING)
            staked += any(total != 1 for total in upper.values())
    assert staked > many / 2


@pytest.mark.slow
def test_mean_wealth_is_at_most_one_in_every_small_population():
    check_populations(20, 5, seed=1)
    check_populations(10, 5, seed=2, known_space=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_mean_wealth_is_at_most_one_in_hundreds_of_small_populations(seed):
    check_populations(80, 6, seed=10 + seed)
    check_populations(20, 7, seed=20 + seed)
    check_populations(20, 6, seed=30 + seed, known_space=True)


def counterexample():
    """A free gain, a gain at a tiny cost, and nothing: which cells come later must not matter."""
    costs = np.full((5, 5), np.inf)
    np.fill_diagonal(costs, 0)
    costs[0, 3], costs[1, 4] = 0, 0.01
    return AuditProblem([0.0, 0.0, 0.0, 1.0, 1.0], costs, budget=0.1)


def test_stakes_do_not_depend_on_later_records():
    problem = counterexample()
    first = [0, 2, 2, 0, 2, 2]
    stakes = []
    for seventh in range(3):
        sequence = np.array([*first, seventh])
        counts = np.bincount(sequence, minlength=5)
        law = sampling_law(problem, counts, rng=0, loss_range=(0.0, 1.0))
        evidence = law._evidence
        occupied = np.flatnonzero(counts)
        evidence.__dict__["orders"] = as_orders(np.searchsorted(occupied, sequence)[None, :])
        rejection, certificate = Rejection(evidence), Certificate(evidence)
        _, path = certificate._run(0.37, np.array([0.37]), 0.05)
        plan = rejection._build_plan(0.37, 0.05)
        stakes.append(
            (
                *(rejection._choose_stakes(plan, part)[0].tolist() for part in (0, 1)),
                path.stakes[0].tolist(),
                path.prices[0].tolist(),
            )
        )
    assert max(stakes[0][0]) > 0
    assert stakes[0] == stakes[1] == stakes[2]


def test_the_counterexample_is_a_fair_game():
    problem = counterexample()
    # ψ = .37: free gains, and gains that the budget pays for with ease
    for share in (0.1, 0.2, 0.3):
        chances = np.array([0.37 - share, share, 0.63, 0, 0])
        for level in LEVELS:
            totals = mean_wealths_against_fairness(problem, chances, 3, 7, level)
            assert max(totals.values()) <= 1 + ROUNDING


def test_a_mixture_of_fixed_stakes_is_a_fair_game_with_targets_from_the_sample():
    """Targets are the sample's own points, so that gains are too small; the truth knows all."""
    for problem, chances, cells in interesting_populations(30, seed=3):
        truth, totals = problem.value(chances), {}
        whole = samples_by_cells(problem, chances, cells, 5, fixed_targets=False)
        for evidence, chance in whole:
            geometry = problem.geometry
            seen = Geometry(
                geometry.blocks, geometry.cost, targets=np.isin(np.arange(problem.size),
                                                                evidence.units.point),
            )  # fmt: skip
            part = AuditProblem(problem.losses, seen, budget=problem.budget)
            orders = evidence.orders
            restricted = replace(evidence, problem=part)
            rejection = Rejection(restricted)
            stakes = rejection._choose_stakes(rejection._build_plan(truth, 0.05), 0)[:, 0]
            cells_of = orders.cell.reshape(-1, 5)
            for price in true_prices(problem, chances):
                outcomes = restricted.frontiers.evaluate(price).gains + problem.budget * price
                factors = 1 + stakes[:, None, None] * (outcomes[cells_of] - truth)
                wealth = factors.prod(axis=2).mean(axis=0)
                totals[price] = totals.get(price, 0.0) + float(wealth @ chance)
        assert max(totals.values()) <= 1 + ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize("fewest", [1, 2])
def test_the_best_mean_of_the_first_orders_errs_with_at_most_its_level(fewest):
    """All samples, and all triples of random orders of each: exchangeable, not independent."""
    alpha, drawn, gained = 0.25, 3, 0
    for problem, chances, cells in interesting_populations(12, seed=6):
        truth, wrong, plainly_wrong = problem.value(chances), {}, {}
        for records, orders in every_sample(cells, 4):
            counts = np.bincount(records, minlength=problem.size)
            chance = len(orders) * math.prod(chances[records].tolist())
            law = sampling_law(problem, counts, rng=0, loss_range=(0.0, 1.0))
            law._evidence.__dict__["orders"] = as_orders(
                np.searchsorted(law._evidence.units.point, orders)
            )
            rejection = Rejection(law._evidence)
            plan = rejection._build_plan(truth, alpha)
            for price in true_prices(problem, chances):
                stakes = rejection._choose_stakes(plan, plan.part_of(price))
                logs = rejection.evidence.log_wealths(
                    stakes, truth, outcomes_at(law._evidence, price)[None, :]
                )
                triples = np.array(list(product(logs[0], repeat=drawn)))
                best = np.array([log_best_mean(row, fewest) for row in triples])
                means = np.array([log_mean(row) for row in triples])
                for totals, values in ((wrong, best), (plainly_wrong, means)):
                    share = float(np.mean(values >= -math.log(alpha)))
                    totals[price] = totals.get(price, 0.0) + chance * share
        assert max(wrong.values()) <= alpha + ROUNDING
        gained += max(wrong.values()) > max(plainly_wrong.values())
    assert gained > 0


def every_sample(cells, n):
    for records in combinations_with_replacement(range(cells), n):
        yield np.array(records), np.array(sorted(set(permutations(records))))


@pytest.mark.slow
def test_whole_bounds_err_with_at_most_their_level(monkeypatch):
    """All samples in all their orders: the ladder with its start, verdicts and p-values."""
    # all orders at once, none before the others
    monkeypatch.setattr("fairtransport.inference.finite.evidence.MIN_ORDER_SHARES", (1, 1))
    alpha = 0.2
    for problem, chances, cells in interesting_populations(6, seed=4):
        truth = problem.value(chances)
        almost = truth * (1 - 1e-9)
        wrong = dict.fromkeys(("lower", "upper", "rejected", "certified", "p", "p less"), 0.0)
        for records, orders in every_sample(cells, 5):
            counts = np.bincount(records, minlength=problem.size)
            chance = len(orders) * math.prod(chances[records].tolist())
            law = sampling_law(problem, counts, rng=0, alpha=alpha, loss_range=(0.0, 1.0))
            cells_of = np.searchsorted(law._evidence.units.point, orders)
            law._evidence.__dict__["orders"] = as_orders(cells_of)
            wrong["lower"] += chance * (law.lower_bound(alpha) > truth + 1e-12)
            wrong["upper"] += chance * (law.upper_bound(alpha) < truth - 1e-12)
            wrong["rejected"] += chance * law.rejects(truth, alpha)
            wrong["certified"] += chance * law.certifies(almost, alpha)
            wrong["p"] += chance * (law.pvalue(truth) <= alpha)
            wrong["p less"] += chance * (law.pvalue(almost, "less") <= alpha)
        assert max(wrong.values()) <= alpha + 1e-12


def test_the_same_stakes_win_more_beyond_the_threshold_they_are_aimed_at():
    """So that rejecting the end of a rung rejects all of it."""
    for problem, chances, cells in interesting_populations(15, seed=5):
        truth = problem.value(chances)
        for evidence, _ in samples_by_cells(problem, chances, cells, 6):
            aim = 1.5 * truth if 1.5 * truth < 1 else (1 + truth) / 2
            rejection = Rejection(evidence)
            plan = rejection._build_plan(aim, 0.05)
            prices = np.linspace(0, 0.8 * aim / problem.budget, 5) if problem.budget else [0]
            for price in prices:
                stakes = rejection._choose_stakes(plan, plan.part_of(price))
                outcomes = outcomes_at(evidence, price)[None, :]
                against_aim = evidence.log_wealths(stakes, aim, outcomes)
                below = evidence.log_wealths(stakes, 0.8 * aim, outcomes)
                assert (below >= against_aim - ROUNDING).all()
            rows, _ = Certificate(evidence)._run(0.5 * truth, np.array([0.5, 0.6]) * truth, 0.05)
            assert (rows[1] >= rows[0] - ROUNDING).all()
