"""People of two groups, a biased model, and monitors of both."""

import numpy as np
import pandas as pd

import fairtransport as ft

LEVELS = {"group": ["a", "b"]}


def people(n, seed=0, harmed=0.5):
    """People of two groups; in some profiles the model errs on group b."""
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(n) < harmed, 0, rng.integers(1, 5, n))
    return pd.DataFrame({
        "group": rng.choice(["a", "b"], n), "x": x, "good": rng.integers(0, 2, n)
    })  # fmt: skip


def with_guess(frame):
    wrong = (frame["x"] == 0) & (frame["group"] == "b")
    return frame.assign(guess=np.where(wrong, 1 - frame["good"], frame["good"]))


def biased(points):
    """Says yes to group a whenever x is 0, and to nobody else."""
    return ((points["x"] == 0) & (points["group"] == "a")).astype(int)


def asking(model=biased, **options):
    chosen = dict(y="good", model=model, sensitive_features=["group"], features=["group", "x"],
                  levels=LEVELS, delta=0.1) | options  # fmt: skip
    return ft.Monitor(**chosen)


def told(**options):
    chosen = dict(y="good", y_pred="guess", sensitive_features="group", delta=0.05) | options
    return ft.Monitor(**chosen)


def line(size=5, step=0.3):
    """A similarity over x: squared distances."""
    at = step * np.arange(size)
    return ft.similarity.Precomputed((at[:, None] - at) ** 2, pd.DataFrame({"x": np.arange(size)}))
