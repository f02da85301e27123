"""The paper's claims about coefficients, counted over the splits as they come out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from fairtransport.reproduce.fair_path import FairPath

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PAPER_ORDER = ("no priors", "> 3 priors", "race", "age > 45", "misdemeanor", "age < 25")
"""The order in which variables enter the l1 path, says the paper; sex does not by then."""
PAPER_STRENGTH = 0.0145
RACE = "race_Caucasian"


class Details(TypedDict, total=False):
    """What the claims need to know of a fitted model: of a path, or of a regression.

    Attributes
    ----------
    strength, selected, candidates
        1/λ of the chosen model, the variables that it uses, and how many models passed.
    entry_order
        The variables as they enter the path.
    rejected_at_the_weakest_penalty
        Whether the least penalised model is rejected.
    coefficients
        Of a plain regression, by variable.
    """

    strength: float
    selected: list[str]
    entry_order: list[str]
    candidates: int
    rejected_at_the_weakest_penalty: bool
    coefficients: dict[str, float]


def details_of(model: object) -> Details:
    """Return what the claims need to know of a fitted model.

    Parameters
    ----------
    model
        A path or a pipeline; of others there is nothing to tell.
    """
    if isinstance(model, FairPath):
        return {
            "strength": float(model.strengths[model.chosen]),
            "selected": list(model.selected),
            "entry_order": list(model.entry_order()),
            "candidates": int(model.candidates.sum()),
            "rejected_at_the_weakest_penalty": bool(model.lower_bound[-1] > model.delta),
        }
    steps = getattr(model, "named_steps", None)
    if steps is None:
        return {}
    names = steps["onehotencoder"].get_feature_names_out()
    return {
        "coefficients": dict(zip(names, steps["logisticregression"].coef_[0].tolist(), strict=True))
    }


def path_claims(details: Sequence[Details]) -> dict[str, object]:
    """Count what holds of the l1 path: the entry order, the choice, whether sex is left out.

    Parameters
    ----------
    details
        A split each.

    Returns
    -------
    dict
        Shares of the splits, as they come out.
    """
    orders = [tuple(one["entry_order"]) for one in details]
    chosen = np.array([one["strength"] for one in details])
    common, times = Counter(order[: len(PAPER_ORDER)] for order in orders).most_common(1)[0]
    share = _share_of(len(details))
    return {
        "entry_order_as_in_the_paper": share(
            order[: len(PAPER_ORDER)] == PAPER_ORDER for order in orders
        ),
        "first_two_as_in_the_paper": share(order[:2] == PAPER_ORDER[:2] for order in orders),
        "sex_enters_last": share("female" not in order[: len(PAPER_ORDER)] for order in orders),
        "most_common_entry_order": list(common),
        "most_common_entry_order_share": times / len(details),
        "sex_unselected": share("female" not in one["selected"] for one in details),
        "race_unselected": share("race" not in one["selected"] for one in details),
        "all_six_selected": share(set(PAPER_ORDER) <= set(one["selected"]) for one in details),
        "rejected_at_the_weakest_penalty": share(
            one["rejected_at_the_weakest_penalty"] for one in details
        ),
        "strength_mean": float(chosen.mean()),
        "strength_quartiles": np.quantile(chosen, [0.25, 0.5, 0.75]).tolist(),
        "strength_of_the_paper": PAPER_STRENGTH,
    }


def race_coefficient_claims(
    plain: Sequence[Details], reweighed: Sequence[Details]
) -> dict[str, object]:
    """Compare the race coefficient of reweighing with the plain logistic regression's.

    Parameters
    ----------
    plain, reweighed
        A split each, in the same order.
    """
    before, after = (
        np.array([one["coefficients"][RACE] for one in details]) for details in (plain, reweighed)
    )
    ranks = [_rank(one["coefficients"]) for one in reweighed]
    share = _share_of(len(ranks))
    return {
        "plain_mean": float(before.mean()),
        "reweighed_mean": float(after.mean()),
        "larger_than_plain": share(np.abs(after) > np.abs(before)),
        "largest_of_all": share(rank == 1 for rank in ranks),
        "median_rank": float(np.median(ranks)),
        "variables": len(reweighed[0]["coefficients"]),
    }


def _rank(coefficients: dict[str, float]) -> int:
    """Return which in size the race coefficient is, 1 the largest."""
    size = abs(coefficients[RACE])
    return 1 + sum(abs(value) > size for value in coefficients.values())


def _share_of(total: int) -> Callable[[Iterable[object]], float]:
    """Return what tells the share of true ones among so many."""
    return lambda holds: sum(map(bool, holds)) / total
