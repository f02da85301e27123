"""For scikit-learn's own searches: a scorer, and a callable for ``GridSearchCV(refit=…)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.validation import check_choice, check_number
from fairtransport.errors import InputError, param
from fairtransport.selection.rows import Rows
from fairtransport.selection.search import (
    audit_candidate,
    build_candidate_settings,
    choose_candidate,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from fairtransport._core.validation import FloatArray
    from fairtransport.selection.rows import People
    from fairtransport.selection.search import Columns, Levels, RandomState
    from fairtransport.settings import AuditSettings, LossLike, SimilarityLike

FIGURES = ("lower_bound", "upper_bound", "statistic")


@dataclass(frozen=True, eq=False)
class FaithScorer:
    """A scikit-learn scorer: minus a figure of the audit, so that greater is better.

    Attributes
    ----------
    figure
        The figure that is scored.
    settings
        The settings of each audit.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> group, skill = rng.integers(2, size=200), rng.integers(4, size=200)
    >>> people = pd.DataFrame({"group": group, "skill": skill})
    >>> hired = (people["skill"] + people["group"] > 2).astype(int)
    >>> model = LogisticRegression().fit(people, hired)
    >>> scorer = ft.selection.faith_scorer(sensitive_features="group", random_state=0)
    >>> scorer(model, people, hired) < 0
    True
    """

    figure: str
    settings: AuditSettings

    def __call__(self, estimator: object, X: People, y: ArrayLike) -> float:  # noqa: N803
        """Audit a fitted estimator on the people of X."""
        result = audit_candidate(self.settings, estimator, Rows(X, np.asarray(y)))
        return -float(getattr(result, self.figure))


def faith_scorer(
    *,
    sensitive_features: Columns,
    figure: str = "lower_bound",
    alpha: float = 0.05,
    method: str = "finite-sample",
    similarity: SimilarityLike = "ignore-sensitive",
    loss: LossLike = "zero-one",
    budget: float = 0.0,
    levels: Levels = None,
    n_resamples: int = 2000,
    audit_options: Mapping[str, object] | None = None,
    random_state: RandomState = None,
) -> FaithScorer:
    """Return a scorer ``scorer(estimator, X, y)`` for ``scoring=`` of scikit-learn's searches.

    Parameters
    ----------
    sensitive_features
        The sensitive columns. Names of columns of X, or places for an array.
    figure
        What is scored, with its sign changed: "lower_bound" (with `delta_fair_refit`: the
        paper's rule), "upper_bound" (the rule "certified") or "statistic".
    alpha, method, similarity, loss, budget, levels, n_resamples, audit_options
        As in `DeltaFairSearch`. In a search with k splits, ``alpha=0.05 / k`` makes the mean of
        the k bounds a bound at level 95 % for the mean of the k models' values.
    random_state
        A seed, a numpy RandomState or None, used once by this function.

    Returns
    -------
    FaithScorer
        A scorer.

    Raises
    ------
    InputError
        If a setting is invalid.

    Examples
    --------
    >>> import fairtransport as ft
    >>> ft.selection.faith_scorer(sensitive_features="group", figure="upper_bound").figure
    'upper_bound'
    """
    check_choice("figure", figure, FIGURES)
    settings = build_candidate_settings(
        audit_options, random_state, sensitive_features=sensitive_features, alpha=alpha,
        method=method, similarity=similarity, loss=loss, budget=budget, levels=levels,
        n_resamples=n_resamples,
    )  # fmt: skip
    return FaithScorer(figure, settings)


@dataclass(frozen=True)
class DeltaFairRefit:
    """Chooses from ``cv_results_`` the best score among candidates that are not above δ.

    Attributes
    ----------
    delta
        δ.
    score, faith
        The names of the maximised score and of the `faith_scorer`.

    Examples
    --------
    >>> import fairtransport as ft
    >>> choose = ft.selection.delta_fair_refit(0.05)
    >>> choose({"mean_test_accuracy": [0.9, 0.8], "mean_test_faith": [-0.2, -0.01],
    ...         "params": [{"C": 1}, {"C": 0.1}]})
    1
    """

    delta: float
    score: str
    faith: str

    def __call__(self, cv_results: Mapping[str, Sequence[object]]) -> int:
        """Return the index of the chosen candidate."""
        scores = self._column(cv_results, "score", self.score)
        bounds = -self._column(cv_results, "faith", self.faith)
        # a candidate that could not be scored does not pass
        bounds[np.isnan(scores)] = np.nan
        words = f"mean {self.faith} (sign changed)"
        return choose_candidate(-scores, bounds, self.delta, cv_results["params"], words)

    def _column(
        self, cv_results: Mapping[str, Sequence[object]], parameter: str, metric: str
    ) -> FloatArray:
        """Return a metric's means over the splits."""
        column = f"mean_test_{metric}"
        if column not in cv_results:
            metrics = [name[10:] for name in cv_results if name.startswith("mean_test_")]
            msg = (
                f"{param(parameter)} must be a metric of the search ({', '.join(metrics)}), got "
                f"{metric!r}"
            )
            raise InputError(msg)
        return np.asarray(cv_results[column], dtype=np.float64)


def delta_fair_refit(
    delta: float, *, score: str = "accuracy", faith: str = "faith"
) -> DeltaFairRefit:  # fmt: skip
    """Return a callable for ``refit=`` of a multi-metric ``GridSearchCV``.

    It keeps the candidates whose bound, scored by `faith_scorer`, is at most δ, and returns the
    index of the one with the highest score; equal scores go to the first. It raises
    NoCandidateError if there is none. With one split and the lower bound this is the paper's
    rule; with several, the bounds are averaged over the splits.

    Parameters
    ----------
    delta
        Largest tolerated increase in the mean loss (δ).
    score, faith
        The names in ``scoring`` of the maximised score and of the `faith_scorer`.

    Returns
    -------
    DeltaFairRefit
        A callable of ``cv_results_``.

    Raises
    ------
    InputError
        If δ is not a number of at least 0.

    Examples
    --------
    >>> import fairtransport as ft
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> rng = np.random.default_rng(0)
    >>> group, skill = rng.integers(2, size=400), rng.integers(4, size=400)
    >>> people = pd.DataFrame({"group": group, "skill": skill})
    >>> hired = (people["skill"] + people["group"] > 2).astype(int)
    >>> faith = ft.selection.faith_scorer(sensitive_features="group", random_state=0)
    >>> search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=2,
    ...                       scoring={"accuracy": "accuracy", "faith": faith},
    ...                       refit=ft.selection.delta_fair_refit(0.1))
    >>> search.fit(people, hired).best_params_
    {'C': 0.01}
    """
    return DeltaFairRefit(check_number("delta", delta, at_least=0), score, faith)
