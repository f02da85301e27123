"""The categories that a model was fitted on, where it remembers them: points get them back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from fairtransport.space.columns import Value

CATEGORICAL = re.compile(r"\[categorical_feature: ([\d,]+)\]")


def remembered_categories(model: object) -> dict[int, list[Value]]:
    """Return the categories of a model's columns by their places; empty if it keeps none.

    LightGBM's boosters keep the categories of pandas columns in the columns' order, and the
    places of these among their parameters.

    Parameters
    ----------
    model
        An estimator or a booster; anything else keeps none.
    """
    booster = getattr(model, "booster_", model)
    known = getattr(booster, "pandas_categorical", None)
    if not known or not hasattr(booster, "model_to_string"):
        return {}
    # the parameters are told whatever the number of trees
    found = CATEGORICAL.search(booster.model_to_string(num_iteration=1))
    places = [] if found is None else [int(place) for place in found[1].split(",")]
    return dict(zip(places, known, strict=True)) if len(places) == len(known) else {}


def with_categories(points: pd.DataFrame, categories: dict[int, list[Value]]) -> pd.DataFrame:
    """Return a pandas frame whose columns are categorical where the model's were.

    A level that the model does not know stays one of its own, for the model to decide on.

    Parameters
    ----------
    points
        The frame; a shallow copy is changed.
    categories
        By a column's place: its categories in the model's order.
    """
    import pandas as pd

    made = points.copy(deep=False)
    for place, known in categories.items():
        name = made.columns[place]
        levels = dict.fromkeys([*known, *made[name].dropna().unique().tolist()])
        made[name] = pd.Categorical(made[name], categories=list(levels))
    return made
