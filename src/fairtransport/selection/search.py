"""DeltaFairSearch: the most accurate model of a grid that passes its audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias, TypedDict, Unpack, cast

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fairtransport._core.notes import Note
from fairtransport._core.validation import (
    check_choice,
    check_number,
    describe_error,
    explain_failures,
    short_repr,
)
from fairtransport.access import Estimator
from fairtransport.audits import audit_with
from fairtransport.audits.querying import missing_range_error
from fairtransport.errors import FairtransportError, InputError, NoCandidateError, param
from fairtransport.selection.rows import (
    Parts,
    check_rows,
    drop_column,
    find_column_names,
    find_frame_library,
    name_levels,
    split_rows,
    to_audit_frame,
)
from fairtransport.settings import AuditSettings, LossLike, SimilarityLike

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd
    from numpy.typing import ArrayLike
    from sklearn.utils import Tags

    from fairtransport._core.validation import BoolArray, FloatArray, Values
    from fairtransport.audits import AuditResult
    from fairtransport.data import Clusters
    from fairtransport.selection.rows import People, Rows, Share

    Grid: TypeAlias = Mapping[str, Sequence[object]]
    Scorer: TypeAlias = Callable[..., float]


ERROR_TOLERANCE = 1e-12
"""Errors closer than this are equal: they differ by the order of a sum."""


@dataclass(frozen=True)
class Rule:
    """A bound that must be at most δ for a candidate to pass.

    ``words`` is the name of the bound.
    """

    name: str
    words: str

    def bounds(self, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Return the decisive bounds."""
        # bounds that contradict each other certify nothing, as in a verdict
        return lower if self.words == "lower bound" else np.maximum(lower, upper)


RULES = {
    rule.name: rule
    for rule in (
        # the paper's: the test of H0: ψ <= δ does not reject
        Rule("not-rejected", "lower bound"),
        # ours: the test of H0: ψ > δ rejects, which a small sample does not get for free
        Rule("certified", "upper bound"),
    )
}


def find_passing(bounds: FloatArray, delta: float) -> BoolArray:
    """Return which candidates pass: those whose bound is at most δ; NaN never is."""
    return np.asarray(bounds <= delta)


def rank_candidates(errors: FloatArray, passes: BoolArray) -> list[int | None]:
    """Rank the passing candidates by error, 1 the chosen one; equal ones by their order."""
    places: list[int | None] = [None] * len(errors)
    waiting = [int(at) for at in np.flatnonzero(passes)]
    for rank in range(1, len(waiting) + 1):
        least = min(errors[at] for at in waiting)
        first = next(at for at in waiting if errors[at] <= least + ERROR_TOLERANCE)
        places[first] = rank
        waiting.remove(first)
    return places


def choose_candidate(
    errors: FloatArray, bounds: FloatArray, delta: float, candidates: Sequence[object], words: str,
    results: object = None,
) -> int:  # fmt: skip
    """Return the index of the chosen candidate: the least error among those that pass."""
    passes = find_passing(bounds, delta)
    if not passes.any():
        raise NoCandidateError(_describe_no_candidate(bounds, delta, candidates, words), results)
    least = errors[passes].min()
    return int(np.flatnonzero(passes & (errors <= least + ERROR_TOLERANCE))[0])


def _describe_no_candidate(
    bounds: FloatArray, delta: float, candidates: Sequence[object], words: str
) -> str:
    """Return the sentence if no candidate passes, with the nearest one."""
    count = len(candidates)
    start = f"none of the {count} candidates has" if count > 1 else "the only candidate has not"
    start += f" a {words} of at most δ = {delta:g}"
    if not np.isfinite(bounds).any():
        return f"{start}: there is no finite {words} at all"
    nearest = int(np.nanargmin(bounds))
    distance = bounds[nearest] - delta
    return (
        f"{start}; the nearest is {candidates[nearest]}, whose {words} {bounds[nearest]:.4g} "
        f"is {distance:.4g} above it"
    )


Levels: TypeAlias = Mapping[str, Sequence[object]] | Mapping[int, Sequence[object]] | None
"""Declared levels, by the names of columns or their indices in an array."""
RandomState: TypeAlias = int | np.random.RandomState | None
Columns: TypeAlias = str | int | Sequence[str] | Sequence[int]
"""Names of columns of a frame, or indices in an array."""
AUDIT_OPTIONS = ("loss_range", "missing", "pos_label", "targets")
"""Keys of `audit_options`; other settings of an audit are parameters of the search."""
RESULT_COLUMNS = (
    "params", "validation_error", "statistic", "lower_bound", "upper_bound", "pvalue", "verdict",
)  # fmt: skip


def _estimator_has(method: str) -> Callable[[DeltaFairSearch], bool]:
    """Return a check that the chosen model, or before `fit` the estimator, has a method."""

    def check(search: DeltaFairSearch) -> bool:
        """Raise AttributeError, as scikit-learn requires, if the method is missing."""
        getattr(getattr(search, "best_estimator_", search.estimator), method)
        return True

    return check


def build_candidate_settings(
    audit_options: object,
    random_state: object,
    *,
    levels: Levels,
    **settings: Unpack[CandidateSettings],
) -> AuditSettings:
    """Return the settings of every candidate's audit; raise for unknown options."""
    options = {} if audit_options is None else audit_options
    if not isinstance(options, Mapping) or not set(options) <= set(AUDIT_OPTIONS):
        words = ", ".join(AUDIT_OPTIONS)
        msg = f"{param('audit_options')} may only have the keys {words}, got {short_repr(options)}"
        raise InputError(msg)
    # by index until the columns of an audit are known
    by_name = cast("Mapping[str, Sequence[object]] | None", levels)
    audit_settings = AuditSettings(
        **settings, levels=by_name, **options, rng=_recorded_seed(random_state)
    )
    loss = audit_settings.chosen_loss
    if audit_settings.method == "finite-sample" and loss.uses_truth and loss.range is None:
        raise missing_range_error(loss, has_other_methods=True)
    return audit_settings


class CandidateSettings(TypedDict, total=False):
    """Settings of every candidate's audit, as `audit` names them."""

    sensitive_features: Columns
    delta: float
    alpha: float
    method: str
    similarity: SimilarityLike
    loss: LossLike
    budget: float
    n_resamples: int
    clusters: str | Clusters | None


def _recorded_seed(random_state: object) -> int:
    """Return one seed for all random numbers: the number given, or one drawn from it."""
    from sklearn.utils import check_random_state

    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(check_number("random_state", int(random_state), at_least=0))
    if random_state is not None and not isinstance(random_state, np.random.RandomState):
        msg = (
            f"{param('random_state')} must be a seed >= 0, a numpy RandomState or None, "
            f"got {short_repr(random_state)}"
        )
        raise InputError(msg)
    return int(check_random_state(random_state).randint(2**31 - 1))


class Trainable(Protocol):
    """An estimator of scikit-learn's kind: it can be copied and fitted."""

    def fit(self, X: People, y: Values) -> Self:  # noqa: N803
        """Fit and return itself."""
        ...

    def get_params(self) -> Mapping[str, object]:
        """Return the parameters by name."""
        ...

    def set_params(self, **params: object) -> Self:
        """Change parameters and return itself."""
        ...


@dataclass(frozen=True, eq=False)
class Candidate:
    """One candidate: its fit on the training part and its figures on the validation part."""

    params: Mapping[str, object]
    model: Trainable
    validation_error: float
    statistic: float
    lower_bound: float
    upper_bound: float
    pvalue: float
    verdict: str


def run_candidate(
    estimator: Trainable, params: Mapping[str, object], training: Rows, validation: Rows,
    settings: AuditSettings, scorer: Scorer | None,
) -> Candidate:  # fmt: skip
    """Fit one candidate on the training part and audit it on the validation part."""
    try:
        model = copy_with_params(estimator, params).fit(training.people, training.y)
    except Exception as reason:
        # scikit-learn promises plain TypeErrors to callers
        is_type = isinstance(reason, TypeError) and not isinstance(reason, ValueError)
        if is_type or isinstance(reason, FairtransportError):
            raise
        msg = (
            f"{param('estimator')} failed with {short_repr(dict(params))}: {describe_error(reason)}"
        )
        raise InputError(msg) from reason
    result = audit_candidate(settings, model, validation)
    error = (
        compute_mean_loss(result) if scorer is None else -compute_score(scorer, model, validation)
    )
    return Candidate(
        params,
        model,
        error,
        result.statistic,
        result.lower_bound,
        result.upper_bound,
        float("nan") if result.pvalue is None else result.pvalue,
        str(result.bounds_verdict),
    )


def find_cluster_column(settings: AuditSettings) -> str | None:
    """Return the column of clusters; None without."""
    clusters = settings.design[0]
    return None if clusters is None else clusters.column


def audit_candidate(settings: AuditSettings, model: object, people: Rows) -> AuditResult:
    """Audit a fitted estimator on some people."""
    frame, names = to_audit_frame(people.X), people.names
    named_settings = replace(
        settings,
        # else a model without names would receive the column of clusters, too
        features=None if people.clusters is None else names,
        sensitive_features=find_column_names(
            "sensitive_features", settings.sensitive_features, names
        ),
        levels=name_levels(settings.levels, names),
    )
    return audit_with(
        named_settings, frame, people.y, model=Estimator(model, find_frame_library(frame))
    )


def check_estimator(estimator: object) -> None:
    """Check that an estimator can be copied and fitted."""
    methods = ("fit", "get_params", "set_params")
    if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in methods):
        msg = (
            f"{param('estimator')} must be an estimator of scikit-learn's kind, got "
            f"{short_repr(estimator)}"
        )
        raise InputError(msg)


@contextmanager
def explain_rejection(name: str, rule: str) -> Iterator[None]:
    """Raise InputError if scikit-learn rejects an argument."""
    try:
        yield
    except (TypeError, ValueError, AttributeError) as error:
        msg = f"{param(name)} must {rule}: {describe_error(error)}"
        raise InputError(msg) from error


def copy_with_params(estimator: Trainable, params: Mapping[str, object]) -> Trainable:
    """Return an unfitted copy with the parameters set, they too copied."""
    from sklearn.base import clone

    copies = {name: clone(value, safe=False) for name, value in params.items()}
    copy: Trainable = clone(estimator)
    return copy.set_params(**copies)


def compute_score(scorer: Scorer, model: Trainable, people: Rows) -> float:
    """Return a finite score."""
    with explain_failures("scoring"):
        value = scorer(model, people.people, people.y)
    return check_number("scoring", value)


def compute_mean_loss(result: AuditResult) -> float:
    """Return the mean loss, summed so that equal numbers of errors are equal."""
    return float(result.space.counts @ result.problem.losses / result.n)


def get_column(candidates: Sequence[Candidate], name: str) -> FloatArray:
    """Return one figure of all candidates."""
    return np.array([getattr(candidate, name) for candidate in candidates], dtype=np.float64)


def build_results_table(
    candidates: Sequence[Candidate], passes: BoolArray, ranks: Sequence[int | None]
) -> pd.DataFrame:
    """Return one row per candidate, in the order of the grid."""
    import pandas as pd

    columns = {
        name: [getattr(candidate, name) for candidate in candidates] for name in RESULT_COLUMNS
    }
    rank = pd.array(list(ranks), dtype="Int64")
    return pd.DataFrame({**columns, "passes": passes, "rank": rank})


class DeltaFairSearch(MetaEstimatorMixin, BaseEstimator):
    """Model selection under the δ-fairness constraint, as in Section 5.2 of the paper.

    Every candidate is fitted on the training part and audited on one validation part. Among those
    that pass the rule, the lowest validation error wins; ties go to the first candidate in the
    grid.

    Parameters
    ----------
    estimator
        The scikit-learn estimator or pipeline to choose parameters for.
    param_grid
        A dict of lists, or a list of such dicts, as in ``GridSearchCV``. Its order breaks ties.
    sensitive_features
        The sensitive columns. Names of columns of X, or places for an array.
    delta
        As in `audit`: the largest tolerated increase in the mean loss.
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
    clusters
        As in `audit`. A column of X, a data frame, that models do not receive. Rows of a cluster
        stay together: parts are shares of clusters.
    audit_options
        Further arguments of `audit`: ``loss_range``, ``missing``, ``pos_label``, ``targets``.
    scoring
        None: the validation error is the mean loss. Else a scikit-learn scorer or its name;
        the error is minus the score.
    refit
        False: the chosen model is the audited fit, as in the paper. True: it is refitted on the
        training and the validation part; ``results_`` is not about that fit, but ``final_audit_``
        is.
    n_jobs
        Number of candidates fitted in parallel, by joblib. It does not change results.
    random_state
        A seed, a numpy RandomState or None, which draws the parts and seeds the audits, but not the
        estimator.

    Attributes
    ----------
    results_
        A pandas table with one row per candidate: ``params``, ``validation_error``, ``statistic``,
        ``lower_bound``, ``upper_bound``, ``pvalue``, ``verdict``, ``passes`` and ``rank`` (1:
        chosen; missing if it does not pass).
    best_index_, best_params_, best_estimator_
        The chosen candidate: its row, its parameters, its model.
    final_audit_
        The `AuditResult` of ``best_estimator_`` on the final part, or None.
    seed_, n_features_in_, feature_names_in_, classes_
        The seed; the columns of X; the labels of the chosen model.

    Raises
    ------
    NoCandidateError
        If no candidate passes. It names the nearest; its ``results`` is the table.

    Notes
    -----
    The verdicts of ``results_`` hold at level α for each candidate separately, not for the chosen
    one: among m candidates that are not δ-fair one is certified by mistake with probability up to
    mα. ``alpha=0.05 / m`` makes all m hold together. The final part is not used before the final
    audit, which therefore needs no correction for the number of candidates.

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
        clusters: str | Clusters | None = None,
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
        self.clusters = clusters
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
            People, one per row: a data frame (pandas, polars, …) with the sensitive columns, or an
            array.
        y
            Their labels.

        Returns
        -------
        DeltaFairSearch
            The search itself.

        Raises
        ------
        InputError
            If a parameter is invalid.
        NoCandidateError
            If no candidate passes.

        Examples
        --------
        >>> search.fit(people, hired).best_index_
        1
        """
        check_choice("rule", self.rule, RULES)
        check_estimator(self.estimator)
        refit: object = self.refit
        if not isinstance(refit, bool):
            msg = f"{param('refit')} must be True or False, got {short_repr(self.refit)}"
            raise InputError(msg)
        settings = self._settings()
        rows = check_rows(self, X, y, find_cluster_column(settings))
        find_column_names("sensitive_features", self.sensitive_features, rows.names)
        parts = split_rows(rows, self.validation, self.final, settings.seed)
        candidates = self._run_candidates(parts, settings)
        self._choose(candidates)
        if self.refit:
            self.best_estimator_ = copy_with_params(self.estimator, self.best_params_)
            everyone = parts.training.append(parts.validation)
            self.best_estimator_.fit(everyone.people, everyone.y)
        self.seed_ = settings.seed
        self.final_audit_ = self._audit_final(parts, settings, len(candidates))
        return self

    def _settings(self) -> AuditSettings:
        """Return the settings of every candidate's audit, before any of them is fitted."""
        check_number("delta", self.delta, at_least=0)  # required here
        settings = build_candidate_settings(
            self.audit_options, self.random_state, sensitive_features=self.sensitive_features,
            delta=self.delta, alpha=self.alpha, method=self.method, similarity=self.similarity,
            loss=self.loss, budget=self.budget, levels=self.levels, n_resamples=self.n_resamples,
            clusters=self.clusters,
        )  # fmt: skip
        if self.scoring is None and not settings.chosen_loss.uses_truth:
            msg = (
                f"{param('scoring')} must be given for the loss {self.loss!r}, which is no error, "
                "got None"
            )
            raise InputError(msg)
        return settings

    def _run_candidates(self, parts: Parts, settings: AuditSettings) -> list[Candidate]:
        """Return all candidates, each fitted and audited, in the order of the grid."""
        from sklearn.metrics import check_scoring
        from sklearn.model_selection import ParameterGrid
        from sklearn.utils.parallel import Parallel, delayed

        scorer = None
        if self.scoring is not None:
            with explain_rejection("scoring", "be a scorer"):
                scorer = check_scoring(self.estimator, self.scoring)
        with explain_rejection("param_grid", "map parameters of the estimator to lists of values"):
            grid = list(ParameterGrid(self.param_grid))
            for params in grid:
                copy_with_params(self.estimator, params)
        if not grid:
            msg = (
                f"{param('param_grid')} must hold at least one candidate, got "
                f"{short_repr(self.param_grid)}"
            )
            raise InputError(msg)
        candidates: list[Candidate] = Parallel(n_jobs=self.n_jobs)(
            delayed(run_candidate)(
                self.estimator, params, parts.training, parts.validation, settings, scorer
            )
            for params in grid
        )
        return candidates

    def _choose(self, candidates: list[Candidate]) -> None:
        """Choose among candidates, and keep the table, the parameters and the fit."""
        rule = RULES[self.rule]
        errors = get_column(candidates, "validation_error")
        bounds = rule.bounds(
            get_column(candidates, "lower_bound"), get_column(candidates, "upper_bound")
        )
        passes = find_passing(bounds, self.delta)
        results = build_results_table(candidates, passes, rank_candidates(errors, passes))
        grid = [dict(candidate.params) for candidate in candidates]
        self.best_index_ = choose_candidate(errors, bounds, self.delta, grid, rule.words, results)
        self.results_ = results
        self.best_params_ = grid[self.best_index_]
        self.best_estimator_ = candidates[self.best_index_].model

    def _audit_final(
        self, parts: Parts, settings: AuditSettings, n_candidates: int
    ) -> AuditResult | None:
        """Return the chosen model's audit on the final part; None without one."""
        if parts.final is None:
            return None
        result = audit_candidate(settings, self.best_estimator_, parts.final)
        note = Note(
            "The model was selected among {tried} on other data, so this audit needs no correction "
            "for the selection. The {tried} verdicts on the validation data served to select: they "
            "are no valid verdicts on the selected model.",
            tried=n_candidates,
        )
        return replace(result, warnings=(*result.warnings, note))

    @property
    def classes_(self) -> Values:
        """The labels of the chosen model."""
        labels: Values = getattr(self.best_estimator_, "classes_")  # noqa: B009
        return labels

    @available_if(_estimator_has("predict"))
    def predict(self, X: People) -> Values:  # noqa: N803
        """Return the labels that the chosen model predicts, one per row."""
        return self._ask("predict", X)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: People) -> Values:  # noqa: N803
        """Return the chosen model's class probabilities, one column per class."""
        return self._ask("predict_proba", X)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: People) -> Values:  # noqa: N803
        """Return the chosen model's decision function, one value per row."""
        return self._ask("decision_function", X)

    def _ask(self, method: str, X: People) -> Values:  # noqa: N803
        """Return the output of a method of the chosen model."""
        check_is_fitted(self, "best_estimator_")
        answer: Values = getattr(self.best_estimator_, method)(self._drop_clusters(X))
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
            Higher is better.

        Examples
        --------
        >>> round(search.score(people, hired), 2)
        0.85
        """
        from sklearn.metrics import check_scoring

        check_is_fitted(self, "best_estimator_")
        scorer = check_scoring(self.best_estimator_, self.scoring)
        return float(scorer(self.best_estimator_, self._drop_clusters(X), y))

    def _drop_clusters(self, X: People) -> People:  # noqa: N803
        """Return people as the chosen model receives them."""
        clusters = self.clusters
        return drop_column(X, clusters if isinstance(clusters, str | None) else clusters.column)

    def __sklearn_tags__(self) -> Tags:
        """Return the tags of the estimator that is searched over."""
        from sklearn.utils import get_tags

        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        tags.regressor_tags = deepcopy(inner.regressor_tags)
        tags.target_tags.required = True
        return tags
