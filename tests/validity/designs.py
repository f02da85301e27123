"""Errors of audits of clusters and weights: ``python -m tests.validity.designs 500``.

Each world has a known ψ. An audit at δ = ψ must reject in at most 5 % of samples, and its upper
bound must lie below ψ in at most 5 %.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

import fairtransport as ft

ALPHA = 0.05
PSI = 0.1


@dataclass(frozen=True)
class World:
    """People of one sample, the design of the audit, and further settings."""

    people: pd.DataFrame
    settings: dict
    budget: float = 0.0


def answer(asked):
    """Men with a gain are decided correctly, and would not be as women."""
    return np.where(asked["gain"] == 1, (asked["sex"] == "m").astype(int), 1)


def build_world(gains, unit=None, weights=None, **settings):
    """Return people who gain or do not; everybody is a man, and women are the alternatives."""
    columns = {"sex": "m", "gain": gains.astype(int), "good": 1}
    columns |= {} if unit is None else {"unit": unit}
    columns |= {} if weights is None else {"weight": weights}
    return World(pd.DataFrame(columns), settings)


def templates(rng):
    """20 templates with 50 rows each, and an intraclass correlation of 1/3."""
    often = rng.beta(2 * PSI, 2 * (1 - PSI), 20)
    unit = np.repeat(np.arange(20), 50)
    return build_world(rng.random(1000) < often[unit], unit, clusters=ft.Clusters("unit", 50))


def _sizes(rng):
    size = rng.integers(1, 31, 100)
    return size, np.repeat(np.arange(100), size)


def households(rng, clusters=None):
    """100 clusters of 1 to 30, whose size says nothing."""
    _, unit = _sizes(rng)
    often = rng.beta(2 * PSI, 2 * (1 - PSI), 100)
    gains = rng.random(len(unit)) < often[unit]
    return build_world(gains, unit, clusters=clusters or ft.Clusters("unit", 30))


def informative(rng):
    """100 clusters of 1 to 30; large ones gain more often."""
    size, unit = _sizes(rng)
    sizes = np.arange(1, 31)
    mean = PSI * size / (sizes @ sizes / sizes.sum())
    often = rng.beta(4 * mean, 4 * (1 - mean))
    gains = rng.random(len(unit)) < often[unit]
    return build_world(gains, unit, clusters=ft.Clusters("unit", 30))


def given_sizes(rng):
    """The same sizes in every sample, of which nothing was declared; large ones gain more often."""
    size = np.random.default_rng(1).integers(1, 31, 100)
    unit = np.repeat(np.arange(100), size)
    mean = PSI * size * size.sum() / (size @ size)
    often = rng.beta(4 * mean, 4 * (1 - mean))
    return build_world(rng.random(len(unit)) < often[unit], unit, clusters="unit")


def each_once(rng):
    """100 clusters of 1 to 30, each of which counts once."""
    return households(rng, ft.Clusters("unit", target="clusters"))


def copies(rng):
    """150 people, each of them 20 times in the table."""
    gains, unit = rng.random(150) < PSI, np.repeat(np.arange(150), 20)
    return build_world(np.repeat(gains, 20), unit, clusters="unit")


def survey(rng):
    """400 people of eight strata with weights 1 to 8; those of large weight gain more often."""
    weight = rng.integers(1, 9, 400)
    often = PSI * weight / (np.sum(np.arange(1, 9) ** 2) / 36)
    return build_world(rng.random(400) < often, None, weight, sample_weight=ft.Weights("weight", 8))


WORLDS = {
    "20 × 50": templates,
    "100 × 1–30": households,
    "100 × 1–30, informative": informative,
    "100 × 1–30, informative, given the sizes": given_sizes,
    "100 × 1–30, each cluster once": each_once,
    "150 × 20 copies": copies,
    "weights 1–8": survey,
}
BUDGET = 0.02


def costly(rng):
    """60 clusters of informative sizes 1 to 10; scores on a line, and a budget."""
    kinds = np.random.default_rng(3).dirichlet(np.full(10, 0.3), 5)
    sizes = np.array([1, 2, 4, 7, 10])
    kind = rng.integers(5, size=60)
    unit = np.repeat(np.arange(60), sizes[kind])
    point = np.array([rng.choice(10, p=kinds[kind[one]]) for one in unit])
    return World(
        pd.DataFrame({"sex": "m", "x": point / 10, "good": 1, "unit": unit}),
        {"clusters": ft.Clusters("unit", 10)},
        BUDGET,
    ), sizes @ kinds / sizes.sum()


def costly_answer(asked):
    """Low scores are decided wrongly."""
    return (asked["x"] >= 0.35).astype(int)


def costly_truth(f):
    """Return ψ of the population by a problem of its own."""
    x = np.arange(10) / 10
    losses = (x < 0.35).astype(float)
    problem = ft.AuditProblem(losses, (x[:, None] - x) ** 2, budget=BUDGET)
    return problem.value(f)


def run_costly(run):
    """Audit one sample of the world with a budget."""
    world, f = costly(np.random.default_rng([7, run]))
    # the last point, at which nobody is, adds no loss: it shows that the frame is no sample
    points = pd.DataFrame({"sex": "m", "x": np.arange(11) / 10, "good": 1})
    truth = costly_truth(f)
    result = ft.audit(
        world.people, "good", model=costly_answer, features=["sex", "x"], sensitive_features="sex",
        levels={"sex": ["m", "f"]}, similarity=ft.similarity.MixedTabular(scales={"x": 1.0}),
        targets=points, budget=BUDGET, delta=truth, rng=run, **world.settings,
    )  # fmt: skip
    return result, truth


def run_world(name, run, *, by_rows=False, delta=PSI):
    """Audit one sample of a world at δ = ψ; ``by_rows`` takes rows for independent people."""
    world = WORLDS[name](np.random.default_rng([7, run]))
    return ft.audit(
        world.people, "good", model=answer, features=["sex", "gain"], sensitive_features="sex",
        levels={"sex": ["m", "f"]}, delta=delta, rng=run, **({} if by_rows else world.settings),
    )  # fmt: skip


def robust_bounds(result):
    """Return the cluster-robust normal bounds, for their width."""
    units = result.space.units
    means = units.means(result.problem.frontiers.base_gain)
    weights, counts = units.weights, units.counts
    total, m = counts @ weights, units.n
    mean = counts @ (weights * means) / total
    error = math.sqrt(m / (m - 1) * (counts @ (weights * (means - mean)) ** 2)) / total
    return mean - norm.ppf(1 - ALPHA) * error, mean + norm.ppf(1 - ALPHA) * error


def simulate(name, runs):
    """Return shares of wrong bounds, mean bounds, and the same of robust normal ones."""
    rows = []
    for run in range(runs):
        result = run_world(name, run)
        low, high = robust_bounds(result)
        lower, upper = result.lower_bound, result.upper_bound
        power = result.law.rejects(PSI / 2, ALPHA)
        by_rows = run_world(name, run, by_rows=True).lower_bound > PSI
        rows.append(
            (lower > PSI, upper < PSI, lower, upper, low > PSI, high < PSI, low, high, power,
             low > PSI / 2, by_rows)
        )  # fmt: skip
    return np.mean(rows, axis=0)


def main(runs):
    """Print the table of the docs."""
    sys.stdout.write(
        "| world | by rows: L > ψ | L > ψ | U < ψ | mean L | mean U | robust L > ψ | robust U < ψ "
        "| robust L | robust U | rejects ψ/2 | robust rejects ψ/2 |\n"
    )
    for name in WORLDS:
        one = simulate(name, runs)
        sys.stdout.write(
            f"| {name} | {one[10]:.3f} | {one[0]:.3f} | {one[1]:.3f} | {one[2]:.3f} | {one[3]:.3f} "
            f"| {one[4]:.3f} | {one[5]:.3f} | {one[6]:.3f} | {one[7]:.3f} | {one[8]:.2f} "
            f"| {one[9]:.2f} |\n"
        )
        sys.stdout.flush()
    found = [run_costly(run) for run in range(runs)]
    bad = [(r.lower_bound > t, r.upper_bound < t, r.lower_bound, r.upper_bound) for r, t in found]
    mean = np.mean(bad, axis=0)
    sys.stdout.write(
        f"| 60 × 1–10, informative, budget {BUDGET}, ψ = {found[0][1]:.3f} | – | {mean[0]:.3f} "
        f"| {mean[1]:.3f} | {mean[2]:.3f} | {mean[3]:.3f} | – | – | – | – | – | – |\n"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
