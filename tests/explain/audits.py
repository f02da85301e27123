"""Small audits whose moves can be counted by hand."""

from functools import cache

import numpy as np
import pandas as pd

import fairtransport as ft
from fairtransport.reproduce.compas import audit_of_split

compas_audit = cache(audit_of_split)


def random_people(seed, n=60):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "group": rng.choice(["a", "b", "c"], n),
            "sex": rng.choice(["f", "m"], n),
            "x": rng.integers(0, 3, n),
            "good": rng.integers(0, 2, n),
            "guess": rng.integers(0, 2, n),
        }
    )


def priced_audit(seed=0, budget=0.2, **options):
    """Everyone can be moved to everyone, at a price."""
    people = random_people(seed)
    # one answer for each profile
    people["guess"] = people.groupby(["group", "sex", "x"])["guess"].transform("first")
    profiles = people[["group", "sex", "x"]].drop_duplicates()
    costs = np.abs(np.subtract.outer(profiles["x"].to_numpy(), profiles["x"].to_numpy())) + 0.5
    np.fill_diagonal(costs, 0)
    similarity = ft.similarity.Precomputed(costs.astype(float), profiles)
    return ft.audit(
        people, "good", y_pred="guess", sensitive_features=["group", "sex"], loss="absolute",
        loss_range=(0, 1), similarity=similarity, budget=budget, rng=seed, **options,
    )  # fmt: skip
