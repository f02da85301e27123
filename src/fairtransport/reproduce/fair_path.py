"""RLR: the l1 path of logistic regressions and the model chosen under the δ-fairness constraint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.datasets.compas import DELTA, LABEL, all_profiles
from fairtransport.reproduce.coding import SELECTABLE, coded
from fairtransport.reproduce.compas_study import audit_model

if TYPE_CHECKING:
    import pandas as pd

    from fairtransport.checks import BoolArray, FloatArray, IntArray

STRENGTHS: FloatArray = np.arange(1, 101) / 2000
"""The grid of 1/λ, scikit-learn's C."""
FITTED_SHARE = 5 / 7
"""Of the 70 % that are not for the audit, 50 are fitted on and 20 are for validation."""


@dataclass(frozen=True, eq=False)
class PathModel:
    """One logistic regression of the path, as a black box over people's features.

    Attributes
    ----------
    coefficients
        One for each of ``SELECTABLE``.
    intercept
        Liblinear's, which is penalised as the coefficients are.
    """

    coefficients: FloatArray
    intercept: float

    def __call__(self, people: pd.DataFrame) -> IntArray:
        """Return the predicted label of each person.

        Parameters
        ----------
        people
            COMPAS profiles.
        """
        return self.answers(coded(people, SELECTABLE).to_numpy())

    def answers(self, coded_people: FloatArray) -> IntArray:
        """Return the predicted label of each row of 0/1 columns.

        Parameters
        ----------
        coded_people
            (n, 7) columns of ``SELECTABLE``.
        """
        return (coded_people @ self.coefficients + self.intercept > 0).astype(np.int64)


@dataclass(frozen=True, eq=False)
class FairPath:
    """The path over 1/λ, each model with its accuracy and audit on the validation people.

    Attributes
    ----------
    strengths
        1/λ, rising: the first models are penalised most.
    models
        One a strength.
    accuracy, statistic, lower_bound
        Of each model on the validation people.
    delta
        δ.
    """

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
        return int(np.argmax(np.where(self.candidates, self.accuracy, -1)))

    def __call__(self, people: pd.DataFrame) -> IntArray:
        """Return the chosen model's prediction for each person.

        Parameters
        ----------
        people
            COMPAS profiles.
        """
        return self.models[self.chosen](people)

    @property
    def selected(self) -> tuple[str, ...]:
        """The variables that the chosen model uses."""
        used = self.models[self.chosen].coefficients != 0
        return tuple(name for name, is_used in zip(SELECTABLE, used, strict=True) if is_used)

    @property
    def coefficients(self) -> FloatArray:
        """One row a model, one column for each of ``SELECTABLE``."""
        return np.array([model.coefficients for model in self.models])

    def entry_order(self) -> tuple[str, ...]:
        """Return the variables in the order in which their coefficients leave 0.

        Those that do so at the same 1/λ are ordered by size there; those that never do are
        left out.
        """
        away = self.coefficients != 0
        entered = [place for place in range(len(SELECTABLE)) if away[:, place].any()]
        first = away.argmax(axis=0)
        size = np.abs(self.coefficients[first, np.arange(len(SELECTABLE))])
        entered.sort(key=lambda place: (first[place], -size[place]))
        return tuple(SELECTABLE[place] for place in entered)


def fair_path(training: pd.DataFrame, seed: int, *, n_resamples: int = 1000) -> FairPath:
    """Fit the path on 5/7 of shuffled people and audit each model with the others.

    Parameters
    ----------
    training
        Shuffled COMPAS profiles with labels, 70 % of all.
    seed
        Of the audits' bootstrap.
    n_resamples
        Its draws.
    """
    cut = round(FITTED_SHARE * len(training))
    fitted, validation = training.iloc[:cut], training.iloc[cut:]
    models = _path_models(fitted)
    asked, truth = coded(validation, SELECTABLE).to_numpy(), validation[LABEL].to_numpy()
    accuracy = np.array([np.mean(model.answers(asked) == truth) for model in models])
    statistic, lower = np.array(_audits(models, validation, seed, n_resamples)).T
    return FairPath(STRENGTHS, models, accuracy, statistic, lower, DELTA)


def _path_models(fitted: pd.DataFrame) -> tuple[PathModel, ...]:
    """Return the path's models, the most penalised first.

    Parameters
    ----------
    fitted
        People to fit on.
    """
    from sklearn.linear_model import LogisticRegression

    features, labels = coded(fitted, SELECTABLE).to_numpy(), fitted[LABEL].to_numpy()
    models = []
    for strength in STRENGTHS:
        model = LogisticRegression(C=strength, solver="liblinear", l1_ratio=1, random_state=0)
        model.fit(features, labels)
        models.append(PathModel(model.coef_[0], float(model.intercept_[0])))
    return tuple(models)


def _audits(
    models: tuple[PathModel, ...], people: pd.DataFrame, seed: int, n_resamples: int
) -> list[tuple[float, float]]:
    """Return each model's statistic and lower bound; models that answer alike share theirs.

    Parameters
    ----------
    models
        Of the path.
    people
        The validation people.
    seed, n_resamples
        Of the bootstrap.

    Notes
    -----
    There are 72 profiles, and neighbours on the path often answer all of them alike: what an audit
    sees of a model is its answers there, so that a hundred models need far fewer audits.
    """
    known: dict[bytes, tuple[float, float]] = {}
    profiles = coded(all_profiles(), SELECTABLE).to_numpy()
    found = []
    for model in models:
        answers = model.answers(profiles).tobytes()
        if answers not in known:
            result = audit_model(model, people, seed, n_resamples=n_resamples)
            known[answers] = result.statistic, result.lower_bound
        found.append(known[answers])
    return found
