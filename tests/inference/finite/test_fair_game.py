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
from fairtransport.inference.finite.certificate import Certificate
from fairtransport.inference.finite.least_wealth import log_best_mean, log_mean
from fairtransport.inference.finite.rejection import Rejection

ROUNDING = 1e-12
LEVELS = (0.05, 0.3)
"""At the larger one bets are won within a few records, and the surplus goes on betting."""


def mean_wealths_against_fairness(problem, chances, cells, n, level, **known):
    """Return the mean wealth against ψ <= ψ(f*) at the true prices, for every kind of stakes."""
    truth, totals = problem.value(chances), {}
    for evidence, chance in samples_by_cells(problem, chances, cells, n, **known):
        own = Rejection(evidence, truth)
        above = Rejection(evidence, min(1.3 * truth, (1 + truth) / 2))
        rung = min(1.05 * truth, above.declared)
        declared = above._declared_plan(level)
        plans = {
            "aimed at the truth": own._declared_plan(level),
            "aimed at the top of a rung": own._plan(rung, level),
            "laid for a larger δ": declared,
            "after those for a larger δ": own._plan(rung, level, held=declared),
        }
        for price in true_prices(problem, chances):
            outcomes = outcomes_at(evidence, price)[None, :]
            for kind, plan in plans.items():
                stakes = own._stakes(plan, plan.part_of(price))
                wealth = np.exp(evidence.wealth_logs(stakes, truth, outcomes)[0])
                key = (kind, price)
                totals[key] = totals.get(key, 0.0) + float(wealth @ chance)
    return totals


def mean_wealths_for_certificates(problem, chances, cells, n, level, **known):
    """Return the mean wealth against ψ >= ψ(f*), for every kind of path."""
    truth, totals = problem.value(chances), {}
    for evidence, chance in samples_by_cells(problem, chances, cells, n, **known):
        certificate = Certificate(evidence, 0.7 * truth)
        below, path = certificate._declared_run(level)
        deltas = np.array([truth])
        runs = {
            "aimed at the truth": certificate._run(truth, deltas, level)[0],
            "aimed at the bottom of a rung": certificate._run(0.95 * truth, deltas, level)[0],
            "laid for a smaller δ": below,
            "after that for a smaller δ": certificate._run(0.95 * truth, deltas, level, held=path)[
                0
            ],
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
        rejection, certificate = Rejection(evidence, 0.37), Certificate(evidence, 0.37)
        path, plan = certificate._declared_run(0.05)[1], rejection._declared_plan(0.05)
        stakes.append(
            (
                *(rejection._stakes(plan, part).values[0].tolist() for part in (0, 1)),
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
                                                                evidence.occupied),
            )  # fmt: skip
            part = AuditProblem(problem.losses, seen, budget=problem.budget)
            orders = evidence.orders
            restricted = replace(evidence, problem=part)
            rejection = Rejection(restricted, truth)
            stakes = rejection._stakes(rejection._declared_plan(0.05), 0).values[:, 0]
            cells_of = orders.cell.reshape(-1, 5)
            for price in true_prices(problem, chances):
                outcomes = restricted.frontiers.at(price).gains + problem.budget * price
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
                np.searchsorted(law._evidence.occupied, orders)
            )
            rejection = Rejection(law._evidence, truth)
            plan = rejection._declared_plan(alpha)
            for price in true_prices(problem, chances):
                stakes = rejection._stakes(plan, plan.part_of(price))
                logs = rejection.evidence.wealth_logs(
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
@pytest.mark.parametrize("declared", [None, 0.8, 1.0, 1.25])
def test_whole_bounds_err_with_at_most_their_level(declared, monkeypatch):
    """All samples in all their orders: the ladder with its start, declared δ and verdicts."""
    # all orders at once, none before the others
    monkeypatch.setattr("fairtransport.inference.finite.evidence.FEWEST_SHARES", (1, 1))
    alpha = 0.2
    for problem, chances, cells in interesting_populations(6, seed=4):
        truth = problem.value(chances)
        delta = None if declared is None else declared * truth
        wrong = {"lower": 0.0, "upper": 0.0, "rejected": 0.0, "certified": 0.0}
        for records, orders in every_sample(cells, 5):
            counts = np.bincount(records, minlength=problem.size)
            chance = len(orders) * math.prod(chances[records].tolist())
            law = sampling_law(
                problem, counts, rng=0, alpha=alpha, loss_range=(0.0, 1.0), delta=delta
            )
            cells_of = np.searchsorted(law._evidence.occupied, orders)
            law._evidence.__dict__["orders"] = as_orders(cells_of)
            wrong["lower"] += chance * (law.lower_bound(alpha) > truth + 1e-12)
            wrong["upper"] += chance * (law.upper_bound(alpha) < truth - 1e-12)
            if delta is not None and delta >= truth:
                wrong["rejected"] += chance * law.rejects(delta, alpha)
            if delta is not None and delta < truth:
                wrong["certified"] += chance * law.certifies(delta, alpha)
        assert max(wrong.values()) <= alpha + 1e-12


def test_wealth_against_a_rung_is_at_least_that_against_the_declared_threshold():
    gave_up = 0
    for problem, chances, cells in interesting_populations(15, seed=5):
        truth = problem.value(chances)
        for evidence, _ in samples_by_cells(problem, chances, cells, 6):
            declared = 1.5 * truth if 1.5 * truth < 1 else (1 + truth) / 2
            rejection = Rejection(evidence, declared)
            plan = rejection._declared_plan(0.05)
            below = rejection._plan(0.8 * declared, 0.05, held=plan)
            prices = np.linspace(0, 0.8 * declared / problem.budget, 5) if problem.budget else [0]
            for price in prices:
                stakes, held = (rejection._stakes(one, one.part_of(price)) for one in (plan, below))
                gave_up += int(stakes.lost.sum())
                outcomes = outcomes_at(evidence, price)[None, :]
                against_declared = rejection.evidence.wealth_logs(stakes, declared, outcomes)
                against_declared[:, stakes.lost] = -np.inf
                against_rung = rejection.evidence.wealth_logs(held, 0.8 * declared, outcomes)
                assert (against_rung >= against_declared - ROUNDING).all()
            certificate = Certificate(evidence, 0.5 * truth)
            rows, path = certificate._declared_run(0.05)
            rows = np.where(path.until < path.stakes.shape[1], -np.inf, rows)
            gave_up += int((path.until < path.stakes.shape[1]).sum())
            above, _ = certificate._run(0.6 * truth, np.array([0.6 * truth]), 0.05, held=path)
            assert (above >= rows - ROUNDING).all()
    assert gave_up > 0
