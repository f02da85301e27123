"""Errors of rates of clusters, R = 0: ``python -m tests.validity.rate_designs 500``.

A system that is blind to the group errs more often in some clusters than in others. All people
of a cluster have one profile and one group, so that rows taken for people show a difference.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import fairtransport as ft

ALPHA = 0.05


def build_world(rng, sizes, effect=0.0, *, mixed=False):
    """Return people in clusters of their own error rate; with ``mixed`` groups inside clusters."""
    unit = np.repeat(np.arange(len(sizes)), sizes)
    block = rng.integers(3, size=len(sizes))[unit]
    group = rng.integers(2, size=len(unit)) if mixed else rng.integers(2, size=len(sizes))[unit]
    rate = rng.beta(0.6, 0.9, len(sizes))[unit] * (1 - effect) + effect * group
    error = rng.random(len(unit)) < rate
    return pd.DataFrame({
        "sex": np.where(group, "f", "m"), "grade": block, "good": 1,
        "guess": 1 - error.astype(int), "unit": unit,
    })  # fmt: skip


WORLDS = {
    "20 × 50": lambda rng: np.full(20, 50),
    "100 × 1–30": lambda rng: rng.integers(1, 31, 100),
}
DESIGNS = {
    "20 × 50": ft.Clusters("unit", largest=50),
    "100 × 1–30": ft.Clusters("unit", largest=30),
    "20 × 50, each cluster once": ft.Clusters("unit", target="clusters"),
    "100 × 1–30, each cluster once": ft.Clusters("unit", target="clusters"),
}


def run_world(name, run, *, by_rows=False, effect=0.0, mixed=False):
    """Audit one sample at δ = 0; ``by_rows`` takes rows for independent people."""
    rng = np.random.default_rng([11, run])
    people = build_world(rng, WORLDS[name.partition(",")[0]](rng), effect, mixed=mixed)
    return ft.audit(
        people, "good", y_pred="guess", features=["sex", "grade"], sensitive_features="sex",
        delta=0.0, rng=run, **({} if by_rows else {"clusters": DESIGNS[name]}),
    )  # fmt: skip


def simulate(name, runs, **options):
    """Return the shares of bounds above 0 and of permutation tests that reject, and mean bounds."""
    results = [run_world(name, run, **options).rates for run in range(runs)]
    rows = [(one.lower_bound > 0, one.pvalue <= ALPHA, one.lower_bound) for one in results]
    return np.mean(rows, axis=0)


def main(runs):
    """Print the table of the docs."""
    sys.stdout.write("| world | by rows: L > 0 | p ≤ .05 | L > 0 | p ≤ .05 | effect: L > 0 | p |\n")
    for name in DESIGNS:
        figures = np.r_[
            simulate(name, runs, by_rows=True)[:2], simulate(name, runs)[:2],
            simulate(name, max(runs // 5, 1), effect=0.5)[:2],
        ]  # fmt: skip
        sys.stdout.write(f"| {name} | {' | '.join(f'{one:.3f}' for one in figures)} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
