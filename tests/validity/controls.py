"""Errors of audits with controls: ``python -m tests.validity.controls 500``.

A person's answer flips with a chance of its own at any edit. Each person has 4 sensitive and 2
control edits; the difference Δ of the mean shifts is known. Δ = 0 without an effect, and then
"rejected" is wrong.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from scipy.integrate import quad
from scipy.stats import beta, norm

import fairtransport as ft

ALPHA, DELTA, PEOPLE = 0.05, 0.05, 300
GROUPS, CONTROLS = 5, ("weekday", "colour")
CHANCES = beta(0.5, 2.0)
"""The law of people's chances of a flip."""
WORLDS = {
    "no effect": (0.0, False),
    "no effect, controls alike": (0.0, True),
    "groups flip .10 more": (0.1, False),
}
"""By how much more sensitive edits flip, and whether both controls have the same answer."""


def true_difference(name):
    """Return Δ: what the chance of a flip rises by, where it cannot go beyond 1."""
    extra, _ = WORLDS[name]
    beyond = quad(lambda p: (p + extra - 1) * CHANCES.pdf(p), 1 - extra, 1)[0] if extra else 0.0
    return extra - beyond


def run_world(name, run, **settings):
    """Audit one sample of a world."""
    extra, is_alike = WORLDS[name]
    rng = np.random.default_rng([11, run])
    chance = CHANCES.rvs(PEOPLE, random_state=rng)
    own = {"group": rng.integers(GROUPS, size=PEOPLE)}
    own |= {column: rng.integers(2, size=PEOPLE) for column in CONTROLS}
    groups = rng.random((PEOPLE, GROUPS)) < np.minimum(chance + extra, 1)[:, None]
    controls = rng.random((PEOPLE, 2)) < chance[:, None]
    if is_alike:
        controls[:, 1] = controls[:, 0]

    def answer(asked):
        """Return 1, which is right, unless an edit flips the answer."""
        person = asked["person"].to_numpy()
        flips = groups[person, asked["group"]] & (asked["group"] != own["group"][person])
        for place, column in enumerate(CONTROLS):
            flips |= controls[person, place] & (asked[column] != own[column][person])
        return 1 - flips.astype(int)

    people = pd.DataFrame({"person": np.arange(PEOPLE), **own, "good": 1})
    return ft.audit(
        people, "good", model=answer, features=["person", "group", *CONTROLS],
        sensitive_features="group", levels={"group": range(GROUPS)}, controls=list(CONTROLS),
        delta=DELTA, alpha=ALPHA, rng=run, queries=ft.Queries(repeats=0), **settings,
    )  # fmt: skip


def normal_bounds(result):
    """Return the normal bounds of Δ, for their width."""
    means = [result.shifts.means(result.points, control=kind) for kind in (False, True)]
    d = (means[0] - means[1])[result.space.observed]
    error = norm.ppf(1 - ALPHA) * d.std(ddof=1) / np.sqrt(len(d))
    return d.mean() - error, d.mean() + error


def simulate(name, runs):
    """Return shares of errors, and mean bounds beside normal ones."""
    truth, rows = true_difference(name), []
    for run in range(runs):
        result = run_world(name, run)
        found, (low, high) = result.controls, normal_bounds(result)
        rows.append((
            result.verdict == "rejected", found.lower_bound > truth, found.upper_bound < truth,
            found.lower_bound, found.upper_bound, low > truth, high < truth, low, high,
            found.permutation_pvalue <= ALPHA, result.law.rejects(DELTA, ALPHA),
        ))  # fmt: skip
    return np.mean(rows, axis=0)


def main(runs):
    """Print the table of the docs."""
    sys.stdout.write(
        f"| world, {runs} samples | Δ | rejected without controls | rejected | L > Δ | U < Δ "
        "| mean L | mean U | normal L > Δ | normal U < Δ | normal L | normal U "
        "| permutation p ≤ .05 |\n"
    )
    for name in WORLDS:
        one = simulate(name, runs)
        sys.stdout.write(
            f"| {name} | {true_difference(name):.3f} | {one[10]:.3f} | {one[0]:.3f} | {one[1]:.3f} "
            f"| {one[2]:.3f} | {one[3]:.3f} | {one[4]:.3f} | {one[5]:.3f} | {one[6]:.3f} "
            f"| {one[7]:.3f} | {one[8]:.3f} | {one[9]:.3f} |\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
