"""Errors of audits of clusters and weights: ``python -m tests.validity.designs``.

Each world has a known ψ. An audit at δ = ψ must reject in at most 5 % of samples, and its upper
bound must lie below ψ in at most 5 %. The figures go to docs/designs.json.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm

import fairtransport as ft

DOCS = Path(__file__).parents[2] / "docs"
ALPHA, PSI, BUDGET, RUNS = 0.05, 0.1, 0.02, 500
QUANTILE = norm.ppf(1 - ALPHA)


@dataclass(frozen=True)
class World:
    """People of one sample, the design of the audit, its other settings, and ψ."""

    people: pd.DataFrame
    design: dict
    settings: dict
    psi: float = PSI


def answer(asked):
    """Men with a gain are decided correctly, and would not be as women."""
    return np.where(asked["gain"] == 1, (asked["sex"] == "m").astype(int), 1)


def build_world(gains, unit=None, weights=None, **design):
    """Return people who gain or do not; everybody is a man, and women are the alternatives."""
    columns = {"sex": "m", "gain": gains.astype(int), "good": 1}
    columns |= {} if unit is None else {"unit": unit}
    columns |= {} if weights is None else {"weight": weights}
    return World(pd.DataFrame(columns), design, {"model": answer, "features": ["sex", "gain"]})


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


def costly(rng):
    """60 clusters of informative sizes 1 to 10; scores on a line, and a budget."""
    kinds = np.random.default_rng(3).dirichlet(np.full(10, 0.3), 5)
    sizes = np.array([1, 2, 4, 7, 10])
    kind = rng.integers(5, size=60)
    unit = np.repeat(np.arange(60), sizes[kind])
    point = np.array([rng.choice(10, p=kinds[kind[one]]) for one in unit])
    people = pd.DataFrame({"sex": "m", "x": point / 10, "good": 1, "unit": unit})
    # the last point, at which nobody is, adds no loss: it shows that the frame is no sample
    points = pd.DataFrame({"sex": "m", "x": np.arange(11) / 10, "good": 1})
    settings = {
        "model": costly_answer, "features": ["sex", "x"], "targets": points, "budget": BUDGET,
        "similarity": ft.similarity.MixedTabular(scales={"x": 1.0}),
    }  # fmt: skip
    truth = costly_truth(sizes @ kinds / sizes.sum())
    return World(people, {"clusters": ft.Clusters("unit", 10)}, settings, truth)


def costly_answer(asked):
    """Low scores are decided wrongly."""
    return (asked["x"] >= 0.35).astype(int)


def costly_truth(f):
    """Return ψ of the population by a problem of its own."""
    x = np.arange(10) / 10
    losses = (x < 0.35).astype(float)
    problem = ft.AuditProblem(losses, (x[:, None] - x) ** 2, budget=BUDGET)
    return problem.value(f)


WORLDS = {
    "20 × 50": templates,
    "100 × 1–30": households,
    "100 × 1–30, informative": informative,
    "100 × 1–30, informative, given the sizes": given_sizes,
    "100 × 1–30, each cluster once": each_once,
    "150 × 20 copies": copies,
    "weights 1–8": survey,
    f"60 × 1–10, informative, budget {BUDGET}": costly,
}


def run_world(name, run, *, by_rows=False):
    """Audit one sample of a world at δ = ψ, which is returned with the result.

    ``by_rows`` takes rows for independent people.
    """
    world = WORLDS[name](np.random.default_rng([7, run]))
    result = ft.audit(
        world.people, "good", sensitive_features="sex", levels={"sex": ["m", "f"]},
        delta=world.psi, rng=run, **world.settings, **({} if by_rows else world.design),
    )  # fmt: skip
    return result, world.psi


def robust_bounds(result):
    """Return the cluster-robust normal bounds, for their width."""
    units, price = result.space.units, result.price
    gains = result.problem.net_gains(price) + (BUDGET * price if result.problem.budget else 0)
    weights, counts, m = units.weights, units.counts, units.n
    total, mean = counts @ weights, result.statistic
    deviations = weights * (units.means(gains) - mean)
    error = math.sqrt(m / (m - 1) * (counts @ deviations**2)) / total
    return mean - QUANTILE * error, mean + QUANTILE * error


def measure(name, runs=RUNS):
    """Return shares of wrong bounds, mean bounds and powers, beside normal bounds.

    The oracle is a normal bound that knows the standard deviation of the statistic.
    """
    rows = []
    for run in range(runs):
        result, psi = run_world(name, run)
        low, high = robust_bounds(result)
        by_rows, _ = run_world(name, run, by_rows=True)
        rows.append((
            result.lower_bound, result.upper_bound, low, high, result.statistic,
            result.law.rejects(psi / 2, ALPHA), by_rows.lower_bound,
        ))  # fmt: skip
    lower, upper, low, high, statistic, found, by_rows = np.transpose(rows)
    margin = QUANTILE * statistic.std(ddof=1)
    return {
        "world": name, "psi": psi, "samples": runs, "by rows": share(by_rows > psi),
        "lower misses": share(lower > psi), "upper misses": share(upper < psi),
        "lower": share(lower), "upper": share(upper), "found": share(found),
        "robust lower misses": share(low > psi), "robust upper misses": share(high < psi),
        "robust lower": share(low), "robust upper": share(high),
        "robust found": share(low > psi / 2),
        "oracle lower": share(statistic - margin), "oracle upper": share(statistic + margin),
        "oracle found": share(statistic - margin > psi / 2),
    }  # fmt: skip


def share(values):
    """Return a mean as JSON takes it."""
    return round(float(np.mean(values)), 6)


def main(path):
    """Write the figures of all worlds, one after the other."""
    rows = []
    for name in WORLDS:
        rows.append(measure(name))
        path.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(DOCS / "designs.json")
