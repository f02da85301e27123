"""Errors of audits with controls: ``python -m tests.validity.controls``.

A person's answer flips with a chance of its own at any edit. Each person has 4 sensitive and 2
control edits; the difference Δ of the mean shifts is known. Δ = 0 without an effect, and then
"rejected" is wrong. The figures go to docs/controls.json.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.integrate import quad
from scipy.stats import beta, norm

import fairtransport as ft

DOCS = Path(__file__).parents[2] / "docs"
ALPHA, DELTA, PEOPLE, RUNS = 0.05, 0.05, 300, 500
QUANTILE = norm.ppf(1 - ALPHA)
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
    error = QUANTILE * d.std(ddof=1) / np.sqrt(len(d))
    return d.mean() - error, d.mean() + error


def measure(name, runs=RUNS):
    """Return shares of errors, and mean bounds beside normal ones.

    The oracle is a normal bound that knows the standard deviation of the difference.
    """
    truth, rows = true_difference(name), []
    for run in range(runs):
        result = run_world(name, run)
        found, (low, high) = result.controls, normal_bounds(result)
        rows.append((
            result.law.rejects(DELTA, ALPHA), result.verdict == "rejected", found.lower_bound,
            found.upper_bound, low, high, found.difference, found.permutation_pvalue <= ALPHA,
        ))  # fmt: skip
    alone, rejected, lower, upper, low, high, difference, permutation = np.transpose(rows)
    margin = QUANTILE * difference.std(ddof=1)
    figures = {
        "difference": truth, "rejected without controls": alone, "rejected": rejected,
        "lower misses": lower > truth, "upper misses": upper < truth,
        "normal lower misses": low > truth, "normal upper misses": high < truth,
        "lower": lower, "upper": upper, "normal lower": low, "normal upper": high,
        "oracle lower": difference - margin, "oracle upper": difference + margin,
        "permutation": permutation,
    }  # fmt: skip
    means = {key: round(float(np.mean(values)), 6) for key, values in figures.items()}
    return {"world": name, "samples": runs, **means}


if __name__ == "__main__":
    text = json.dumps([measure(name) for name in WORLDS], indent=1) + "\n"
    (DOCS / "controls.json").write_text(text, "utf-8")
