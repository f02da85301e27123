"""DeltaFairSearch: the most accurate model of a grid whose audit does not object."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fairtransport.checks import choice, number, shown
from fairtransport.errors import InputError
from fairtransport.selection.candidate_audits import audit_candidate, candidate_settings
from fairtransport.selection.candidates import (
    Candidate,
    check_estimator,
    column,
    refusing,
    results_table,
    try_candidate,
    with_params,
)
from fairtransport.selection.rows import Parts, checked_rows, column_names, part
from fairtransport.selection.rules import RULES, choose, passing, ranks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike
    from sklearn.utils import Tags

    from fairtransport.audit import AuditResult
    from fairtransport.checks import Values
    from fairtransport.selection.candidate_audits import Columns, Levels, RandomState
    from fairtransport.selection.candidates import Trainable
    from fairtransport.selection.rows import People, Share
    from fairtransport.settings import AuditSettings, LossLike, SimilarityLike

    Grid: TypeAlias = Mapping[str, Sequence[object]]


def _estimator_has(method: str) -> Callable[[DeltaFairSearch], bool]:
    """Return the check that a method is there: the chosen model's, or that of the one given.

    Parameters
    ----------
    method
        Its name. Before a fit, a pipeline that will have it is asked.
    """

    def check(search: DeltaFairSearch) -> bool:
        """Raise AttributeError, as scikit-learn wants it, if the method is not there."""
        getattr(getattr(search, "best_estimator_", search.estimator), method)
        return True

    return check


class DeltaFairSearch(MetaEstimatorMixin, BaseEstimator):
    """Model selection under the δ-fairness constraint, as in Section 5.2 of the paper.

    Every candidate is fitted on the training part and audited on one validation part. Those
    that the rule lets pass compete for the lowest validation error; equal errors go to the
    candidate that comes first in the grid.

    Parameters
    ----------
    estimator
        The scikit-learn estimator or pipeline to choose parameters for.
    param_grid
        A dict of lists, or a list of such dicts, as in ``GridSearchCV``. Its order breaks ties.
    sensitive_features
        The sensitive columns. Names of columns of X, or places for an array.
    delta
        As in `audit`: how much worse a model may do when people are swapped with similar ones.
    validation
        The share of the rows to validate with, drawn at random, or a pair (X, y).
    final
        The share of the rows, or a pair (X, y), that neither fits nor selects and that audits
        the chosen model at the end; None: no such audit.
    rule
        "not-rejected", the paper's: pass unless the test rejects δ-fairness at level α; in a
        small sample nearly everything passes. "certified": pass only with an upper bound at
        level 1 − α of at most δ.
    alpha, method, similarity, loss, budget, levels, n_resamples
        As in `audit`. Levels are those that occur in the audited part unless declared.
    audit_options
        Further arguments of `audit`: ``loss_range``, ``missing``, ``pos_label``, ``targets``.
    scoring
        None: the validation error is the mean loss. Else a scikit-learn scorer or its name;
        the error is minus the score.
    refit
        False: the chosen model is the very fit that was audited, as in the paper. True: it is
        fitted again on the training and the validation part, and ``results_`` is not about
        that fit; ``final_audit_`` is.
    n_jobs
        How many candidates are fitted at a time, by joblib. It changes no result.
    random_state
        A seed, a numpy RandomState or None; it draws the parts and seeds the audits. The
        estimator's own randomness is the estimator's.

    Attributes
    ----------
    results_
        A pandas table with one row a candidate: ``params``, ``validation_error``,
        ``statistic``, ``lower_bound``, ``upper_bound``, ``pvalue``, ``verdict``, ``passes`` and
        ``rank`` (1: chosen; missing if it does not pass).
    best_index_, best_params_, best_estimator_
        The chosen candidate: its row, its parameters, its model.
    final_audit_
        The `AuditResult` of ``best_estimator_`` on the final part, or None.
    seed_, n_features_in_, feature_names_in_, classes_
        The seed that was used; what X was; the labels of the chosen model.

    Raises
    ------
    NoCandidateError
        When no candidate passes. It names the nearest; its ``results`` is the table.

    Notes
    -----
    The verdicts of ``results_`` hold at level α for each candidate alone. They serve to choose
    and do not keep that level for the one that is chosen: among m candidates that are not
    δ-fair one is certified by mistake with probability up to mα. ``alpha=0.05 / m`` makes all m
    hold together. Nobody uses the final part before the final audit, which therefore needs no
    correction, however many candidates there were.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> group, skill = rng.integers(2, size=400), rng.integers(4, size=400)
    >>> people = pd.DataFrame({"group": group, "skill": skill})
    >>> hired = (people["skill"] + people["group"] > 2).astype(int)
    >>> grid = {"C": [0.001, 0.01, 0.1, 1.0]}
    >>> search = ft.selection.DeltaFairSearch(
    ...     LogisticRegression(), grid, sensitive_features="group", delta=0.1, random_state=0
    ... ).fit(people, hired)
    >>> search.best_params_
    {'C': 0.01}
    >>> search.results_["verdict"].tolist()
    ['certified', 'certified', 'rejected', 'rejected']
    """

    def __init__(
        self,
        estimator: Trainable,
        param_grid: Grid | Sequence[Grid],
        *,
        sensitive_features: Columns,
        delta: float,
        validation: Share = 0.2,
        final: Share = None,
        rule: str = "not-rejected",
        alpha: float = 0.05,
        method: str = "finite-sample",
        similarity: SimilarityLike = "ignore-sensitive",
        loss: LossLike = "zero-one",
        budget: float = 0.0,
        levels: Levels = None,
        n_resamples: int = 2000,
        audit_options: Mapping[str, object] | None = None,
        scoring: str | Callable[..., float] | None = None,
        refit: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.sensitive_features = sensitive_features
        self.delta = delta
        self.validation = validation
        self.final = final
        self.rule = rule
        self.alpha = alpha
        self.method = method
        self.similarity = similarity
        self.loss = loss
        self.budget = budget
        self.levels = levels
        self.n_resamples = n_resamples
        self.audit_options = audit_options
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: People, y: ArrayLike | None = None) -> DeltaFairSearch:  # noqa: N803
        """Fit and audit all candidates and choose one.

        Parameters
        ----------
        X
            People, one a row: a data frame (pandas, polars, …) with the sensitive columns in
            it, or an array.
        y
            Their labels.

        Returns
        -------
        DeltaFairSearch
            The search itself.

        Raises
        ------
        InputError
            If a parameter breaks its rule.
        NoCandidateError
            If no candidate passes.

        Examples
        --------
        >>> search.fit(people, hired).best_index_
        1
        """
        choice("rule", self.rule, RULES)
        check_estimator(self.estimator)
        refit: object = self.refit
        if not isinstance(refit, bool):
            msg = f"`refit` must be True or False, got {shown(self.refit)}"
            raise InputError(msg)
        settings = self._settings()
        rows = checked_rows(self, X, y)
        column_names("sensitive_features", self.sensitive_features, rows.names)
        parts = part(rows, self.validation, self.final, settings.seed)
        candidates = self._try_all(parts, settings)
        self._choose(candidates)
        if self.refit:
            self.best_estimator_ = with_params(self.estimator, self.best_params_)
            everyone = parts.training.stack(parts.validation)
            self.best_estimator_.fit(everyone.X, everyone.y)
        self.seed_ = settings.seed
        self.final_audit_ = self._audit_at_the_end(parts, settings, len(candidates))
        return self

    def _settings(self) -> AuditSettings:
        """Return what every candidate's audit is asked, before any of them is fitted."""
        number("delta", self.delta, at_least=0)  # here it has to be given
        settings = candidate_settings(
            self.audit_options, self.random_state, sensitive_features=self.sensitive_features,
            delta=self.delta, alpha=self.alpha, method=self.method, similarity=self.similarity,
            loss=self.loss, budget=self.budget, levels=self.levels, n_resamples=self.n_resamples,
        )  # fmt: skip
        if self.scoring is None and not settings.chosen_loss.uses_truth:
            msg = f"`scoring` must be given for the loss {self.loss!r}, which is no error, got None"
            raise InputError(msg)
        return settings

    def _try_all(self, parts: Parts, settings: AuditSettings) -> list[Candidate]:
        """Return all candidates, each fitted and audited, in the order of the grid.

        Parameters
        ----------
        parts, settings
            Who is trained and validated on, and what every audit is asked.

        Raises
        ------
        InputError
            If the scorer or the grid is wrong, before any candidate is fitted.
        """
        from sklearn.metrics import check_scoring
        from sklearn.model_selection import ParameterGrid
        from sklearn.utils.parallel import Parallel, delayed

        scorer = None
        if self.scoring is not None:
            with refusing("scoring", "be a scorer"):
                scorer = check_scoring(self.estimator, self.scoring)
        with refusing("param_grid", "map parameters of the estimator to lists of values"):
            grid = list(ParameterGrid(self.param_grid))
            for params in grid:
                with_params(self.estimator, params)
        if not grid:
            msg = f"`param_grid` must hold at least one candidate, got {shown(self.param_grid)}"
            raise InputError(msg)
        found: list[Candidate] = Parallel(n_jobs=self.n_jobs)(
            delayed(try_candidate)(
                self.estimator, params, parts.training, parts.validation, settings, scorer
            )
            for params in grid
        )
        return found

    def _choose(self, candidates: list[Candidate]) -> None:
        """Choose among candidates, and keep the table, the parameters and the very fit."""
        rule = RULES[self.rule]
        errors = column(candidates, "validation_error")
        bounds = rule.bounds(column(candidates, "lower_bound"), column(candidates, "upper_bound"))
        passes = passing(bounds, self.delta)
        results = results_table(candidates, passes, ranks(errors, passes))
        grid = [dict(candidate.params) for candidate in candidates]
        self.best_index_ = choose(errors, bounds, self.delta, grid, rule.words, results)
        self.results_ = results
        self.best_params_ = grid[self.best_index_]
        self.best_estimator_ = candidates[self.best_index_].model

    def _audit_at_the_end(
        self, parts: Parts, settings: AuditSettings, tried: int
    ) -> AuditResult | None:
        """Return the chosen model's audit on the part that nobody used, None without one.

        Parameters
        ----------
        parts, settings
            The final part, and what every audit was asked.
        tried
            How many candidates there were.
        """
        if parts.final is None:
            return None
        result = audit_candidate(settings, self.best_estimator_, parts.final)
        note = (
            f"The model was selected among {tried} on other data than this audit's, so the audit "
            f"keeps its level without a correction. The {tried} verdicts on the validation data "
            "served to select and do not keep theirs for the selected model."
        )
        return replace(result, warnings=(*result.warnings, note))

    @property
    def classes_(self) -> Values:
        """The labels of the chosen model.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> search.classes_.tolist()
        [0, 1]
        """
        labels: Values = getattr(self.best_estimator_, "classes_")  # noqa: B009
        return labels

    @available_if(_estimator_has("predict"))
    def predict(self, X: People) -> Values:  # noqa: N803
        """Return what the chosen model predicts.

        Parameters
        ----------
        X
            People, as for `fit`.

        Returns
        -------
        ndarray
            One label a row.

        Examples
        --------
        >>> search.predict(people[:3]).tolist()
        [1, 0, 1]
        """
        return self._ask("predict", X)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: People) -> Values:  # noqa: N803
        """Return the chosen model's class probabilities.

        Parameters
        ----------
        X
            People, as for `fit`.

        Returns
        -------
        ndarray
            One column a class.

        Examples
        --------
        >>> search.predict_proba(people[:3]).shape
        (3, 2)
        """
        return self._ask("predict_proba", X)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: People) -> Values:  # noqa: N803
        """Return the chosen model's decision function.

        Parameters
        ----------
        X
            People, as for `fit`.

        Returns
        -------
        ndarray
            One value a row.

        Examples
        --------
        >>> search.decision_function(people[:3]).shape
        (3,)
        """
        return self._ask("decision_function", X)

    def _ask(self, method: str, X: People) -> Values:  # noqa: N803
        """Return what the chosen model answers to one of its methods."""
        check_is_fitted(self, "best_estimator_")
        answer: Values = getattr(self.best_estimator_, method)(X)
        return answer

    def score(self, X: People, y: ArrayLike) -> float:  # noqa: N803
        """Return the chosen model's score: by ``scoring``, or else its own.

        Parameters
        ----------
        X
            People, as for `fit`.
        y
            Their labels.

        Returns
        -------
        float
            The higher the better.

        Examples
        --------
        >>> round(search.score(people, hired), 2)
        0.85
        """
        from sklearn.metrics import check_scoring

        check_is_fitted(self, "best_estimator_")
        return float(check_scoring(self.best_estimator_, self.scoring)(self.best_estimator_, X, y))

    def __sklearn_tags__(self) -> Tags:
        """Say what kind of estimator this is: the kind that it searches over."""
        from sklearn.utils import get_tags

        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        tags.regressor_tags = deepcopy(inner.regressor_tags)
        tags.target_tags.required = True
        return tags
