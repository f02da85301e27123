"""Eight people, a model, and what swapping does to it, counted by hand."""

import numpy as np
import pandas as pd

import fairtransport as ft

PEOPLE = pd.DataFrame({
    "race": ["a", "b", "a", "b", "a", "b", "a", "b"],
    "age": [20, 20, 20, 20, 30, 30, 40, 40],
    "good": [1, 1, 0, 0, 1, 1, 0, 0],
    "guess": [1, 0, 0, 0, 1, 1, 1, 0],
    "score": [0.9, 0.2, 0.1, 0.1, 0.8, 0.8, 0.7, 0.3],
    "people": [1, 1, 1, 1, 1, 1, 1, 1],
})  # fmt: skip
POINTS = PEOPLE[["race", "age", "good"]]
SWAPPED = 0.25
"""The model errs on one of the two at 30 and on one at 40, so two of eight can be made errors."""


def model(points):
    """Say yes to group a from 30 on."""
    return ((points["race"] == "a") & (points["age"] >= 30)).astype(int)


def scores(points):
    """Return the share of yes."""
    return np.where(model(points) == 1, 0.75, 0.25)


def audit(X=POINTS, y="good", **changed):  # noqa: N803
    """Audit the model, with something changed."""
    asked = {"model": model, "sensitive_features": ["race"], "rng": 0} | changed
    return ft.audit(X, y, **asked)


def statistic(X=POINTS, y="good", **changed):  # noqa: N803
    return audit(X, y, **changed).statistic


def given(X=PEOPLE, y="good", **changed):  # noqa: N803
    """Audit the predictions that came with the data."""
    asked = {"y_pred": "guess", "sensitive_features": ["race"], "features": ["race", "age"]}
    return ft.audit(X, y, rng=0, **(asked | changed)).statistic


def with_column(name, values):
    """Return the points with a column replaced or added."""
    return POINTS.assign(**{name: values})
