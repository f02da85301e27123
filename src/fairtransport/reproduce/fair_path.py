"""RLR: the l1 path of logistic regressions, the model chosen on it, and the paper's claims."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from fairtransport.datasets.compas import DELTA, LABEL, all_profiles
from fairtransport.reproduce.compas import SELECTABLE, audit_model, encode_people

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pandas as pd

    from fairtransport._core.validation import BoolArray, FloatArray, IntArray


STRENGTHS: FloatArray = np.arange(1, 101) / 2000
"""The grid of 1/λ, scikit-learn's C."""
FITTED_SHARE = 5 / 7
"""Of the 70 % that are not for the audit, 50 are fitted on and 20 are for validation."""


@dataclass(frozen=True, eq=False)
class PathModel:
    """One logistic regression of the path, as a black box over people's features."""

    coefficients: FloatArray
    intercept: float

    def __call__(self, people: pd.DataFrame) -> IntArray:
        """Return the predicted label of each person."""
        return self.answers(encode_people(people, SELECTABLE).to_numpy())

    def answers(self, coded_people: FloatArray) -> IntArray:
        """Return the predicted label of each row of 0/1 columns."""
        return (coded_people @ self.coefficients + self.intercept > 0).astype(np.int64)


@dataclass(frozen=True, eq=False)
class FairPath:
    """The path over 1/λ, each model with its accuracy and audit on the validation people."""

    strengths: FloatArray
    models: tuple[PathModel, ...]
    accuracy: FloatArray
    statistic: FloatArray
    lower_bound: FloatArray
    delta: float

    @property
    def candidates(self) -> BoolArray:
        """The models whose test does not reject δ-fairness: the lower bound is at most δ."""
        return np.asarray(self.lower_bound <= self.delta)

    @property
    def chosen(self) -> int:
        """The candidate of the best validation accuracy; of several the one with the least 1/λ.

        The first models of the path predict the same for everyone, so there is a candidate.
        """
        # accuracies are at least 0, so that −1 is chosen only if no model passes; of equals the
        # strongest penalty
        return int(np.argmax(np.where(self.candidates, self.accuracy, -1)))

    def __call__(self, people: pd.DataFrame) -> IntArray:
        """Return the chosen model's prediction for each person."""
        return self.models[self.chosen](people)

    @property
    def selected(self) -> tuple[str, ...]:
        """The variables that the chosen model uses."""
        nonzero = self.models[self.chosen].coefficients != 0
        return tuple(name for name, is_used in zip(SELECTABLE, nonzero, strict=True) if is_used)

    @property
    def coefficients(self) -> FloatArray:
        """One row per model, one column for each of ``SELECTABLE``."""
        return np.array([model.coefficients for model in self.models])

    def entry_order(self) -> tuple[str, ...]:
        """Return the variables in the order in which their coefficients leave 0.

        Those that do so at the same 1/λ are ordered by size there; those that never do are
        left out.
        """
        away = self.coefficients != 0
        entered = [place for place in range(len(SELECTABLE)) if away[:, place].any()]
        first = away.argmax(axis=0)
        # two that enter at one strength: the larger coefficient has entered before
        size = np.abs(self.coefficients[first, np.arange(len(SELECTABLE))])
        entered.sort(key=lambda place: (first[place], -size[place]))
        return tuple(SELECTABLE[place] for place in entered)


def fair_path(training: pd.DataFrame, seed: int) -> FairPath:
    """Fit the path on 5/7 of shuffled people and audit each model with the others."""
    n_fitted = round(FITTED_SHARE * len(training))
    fitted, validation = training.iloc[:n_fitted], training.iloc[n_fitted:]
    models = _path_models(fitted)
    features, truth = encode_people(validation, SELECTABLE).to_numpy(), validation[LABEL].to_numpy()
    accuracy = np.array([np.mean(model.answers(features) == truth) for model in models])
    statistic, lower = np.array(_audits(models, validation, seed)).T
    return FairPath(STRENGTHS, models, accuracy, statistic, lower, DELTA)


def _path_models(fitted: pd.DataFrame) -> tuple[PathModel, ...]:
    """Return the path's models, the most penalised first."""
    from sklearn.linear_model import LogisticRegression

    features, labels = encode_people(fitted, SELECTABLE).to_numpy(), fitted[LABEL].to_numpy()
    models = []
    for strength in STRENGTHS:
        model = LogisticRegression(C=strength, solver="liblinear", l1_ratio=1, random_state=0)
        model.fit(features, labels)
        models.append(PathModel(model.coef_[0], float(model.intercept_[0])))
    return tuple(models)


def _audits(
    models: tuple[PathModel, ...], people: pd.DataFrame, seed: int
) -> list[tuple[float, float]]:
    """Return each model's statistic and lower bound; models with equal answers share theirs.

    An audit depends on a model's answers at the 72 profiles, and neighbours on the path often have
    the same answers, so that a hundred models need far fewer audits.
    """
    audits: dict[bytes, tuple[float, float]] = {}
    profiles = encode_people(all_profiles(), SELECTABLE).to_numpy()
    results = []
    for model in models:
        answers = model.answers(profiles).tobytes()
        if answers not in audits:
            result = audit_model(model, people, seed)
            audits[answers] = result.statistic, result.lower_bound
        results.append(audits[answers])
    return results


PAPER_ORDER = ("no priors", "> 3 priors", "race", "age > 45", "misdemeanor", "age < 25")
"""The order in which variables enter the l1 path in the paper, in which sex has not entered yet."""
PAPER_STRENGTH = 0.0145
RACE = "race_Caucasian"


class Details(TypedDict, total=False):
    """Facts about a fitted path or regression that the claims are counted from."""

    strength: float
    selected: list[str]
    entry_order: list[str]
    candidates: int
    rejected_at_the_weakest_penalty: bool
    coefficients: dict[str, float]


def find_details(model: object) -> Details:
    """Return the details of a fitted model for the claims."""
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
    """Count claims on the l1 path: the entry order, the choice, whether sex is left out."""
    orders = [tuple(run["entry_order"]) for run in details]
    strengths = np.array([run["strength"] for run in details])
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
        "sex_unselected": share("female" not in run["selected"] for run in details),
        "race_unselected": share("race" not in run["selected"] for run in details),
        "all_six_selected": share(set(PAPER_ORDER) <= set(run["selected"]) for run in details),
        "rejected_at_the_weakest_penalty": share(
            run["rejected_at_the_weakest_penalty"] for run in details
        ),
        "strength_mean": float(strengths.mean()),
        "strength_quartiles": np.quantile(strengths, [0.25, 0.5, 0.75]).tolist(),
        "strength_of_the_paper": PAPER_STRENGTH,
    }


def race_coefficient_claims(
    plain: Sequence[Details], reweighed: Sequence[Details]
) -> dict[str, object]:
    """Compare the race coefficient of reweighing with the plain logistic regression's."""
    before, after = (
        np.array([run["coefficients"][RACE] for run in details]) for details in (plain, reweighed)
    )
    ranks = [_rank(run["coefficients"]) for run in reweighed]
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
    """Return the rank of the race coefficient by size, 1 for the largest."""
    size = abs(coefficients[RACE])
    return 1 + sum(abs(value) > size for value in coefficients.values())


def _share_of(total: int) -> Callable[[Iterable[object]], float]:
    """Return a function that computes the share of true values among ``total``."""
    return lambda holds: sum(map(bool, holds)) / total
