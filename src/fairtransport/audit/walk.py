"""audit(): the walk from data and a black box to a result, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.access.boxes import choose_access
from fairtransport.access.oracle import Oracle
from fairtransport.audit.result import AuditResult
from fairtransport.audit.warnings import find_warnings
from fairtransport.checks import choice, generator, number, one_of, shown, threshold
from fairtransport.errors import InputError
from fairtransport.inference import METHODS
from fairtransport.inference.methods import check_level
from fairtransport.inference.paper.resampling import check_resamples_wanted
from fairtransport.losses import as_loss
from fairtransport.similarity import Similarity, as_similarity
from fairtransport.space import SampleSpace, build_space
from fairtransport.space.overlap import people_also_in
from fairtransport.transport import AuditProblem

if TYPE_CHECKING:
    from collections.abc import Sequence


def audit(
    X: Any,  # noqa: N803
    y: Any = None,
    *,
    model: Any = None,
    y_pred: Any = None,
    y_score: Any = None,
    sensitive_features: Any,
    features: Sequence[str] | None = None,
    counts: str | None = None,
    pos_label: Any = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    missing: str = "error",
    levels: Mapping[str, Sequence[Any]] | None = None,
    targets: Any = None,
    similarity: Any = "ignore-sensitive",
    loss: Any = "zero-one",
    loss_range: Sequence[float] | None = None,
    budget: float = 0.0,
    delta: float | None = None,
    alpha: float = 0.05,
    method: str = "finite-sample",
    n_resamples: int = 2000,
    rng: Any = None,
    favourable: Any = None,
    privileged: Mapping[str, Any] | None = None,
    train: Any = None,
) -> AuditResult:
    """Audit a model for individual bias.

    Parameters
    ----------
    X
        The audit data: any data frame that narwhals knows (pandas, polars, pyarrow, DuckDB, …)
        or a path to a CSV, Parquet or JSON-lines file.
    y
        The true labels: a column's name, or an array for eager frames.
    model
        Query access: an estimator with ``predict`` (and ``predict_proba``), or a callable that
        takes a frame of points. Exactly one of ``model``, ``y_pred`` and ``y_score`` is given.
    y_pred, y_score
        Predictions only: labels (or numbers), or the positive label's score (or one column a
        class): a column's name or an array.
    sensitive_features
        Column names, or a frame aligned with X.
    features
        The columns the model receives; default: those it was fitted on if it remembers them,
        else all but label, counts and predictions.
    counts
        A column of whole numbers: how many people a row stands for.
    pos_label
        The positive label, as in scikit-learn.
    bins
        Edges for numeric columns, as in ``{"age": [25, 45]}``; the model then receives the
        bins' names.
    missing
        "error", or "level": a missing value is a level of its own.
    levels
        Declared levels of sensitive features; default: those observed.
    targets
        A frame of points that mass may move to instead of the observed ones. It must have been
        chosen without the audit data: from one that is a part of them, or mostly made of them,
        nothing is certified.
    similarity
        Who is comparable: a name or a similarity object.
    loss
        "zero-one", "log", "brier", "absolute", "squared", "outcome", a `Loss`, or a callable
        ``loss(y, prediction)``.
    loss_range
        Limits of a loss that has none of its own.
    budget
        ε, how far people may be moved on average, as a squared distance.
    delta
        δ, how much worse the model may do; there is a verdict only with it.
    alpha
        The level of bounds and tests.
    method
        "finite-sample", whose bounds hold at every sample size, or an asymptotic one:
        "m-out-of-n", "numerical", "subsampling", "limit-law", "efron".
    n_resamples
        The number of draws of the resampling methods, at most ten million.
    rng
        A seed or a numpy generator; None draws a seed. The seed is recorded.
    favourable, privileged
        For group metrics beside the individual ones: the label that is good to receive and,
        by sensitive feature, the group that others are compared with, as in
        ``{"race": "Caucasian"}``.
    train
        The data that the model was trained on, a frame or a path: a warning then tells how
        many of the audit's people could be among them. The audit's guarantees are for people
        whom the model has not seen.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"group": ["a", "a", "b", "b"], "good": [1, 0, 1, 0]})
    >>> result = audit(people, "good", model=lambda x: (x["group"] == "a").astype(int),
    ...                features=["group"], sensitive_features=["group"])
    >>> result.statistic, result.baseline_risk, result.worst_case_risk
    (0.5, 0.5, 1.0)
    """
    chosen_loss = as_loss(loss, loss_range)
    choice("method", method, METHODS)
    level = number("alpha", alpha, above=0, below=0.5)
    check_level(method, level, check_resamples_wanted(n_resamples))
    # before the model is asked, which may take long
    number("budget", budget, at_least=0)
    seed = _seed(rng)
    largest_fair = None if delta is None else threshold(delta, chosen_loss.range)
    chosen_similarity = as_similarity(similarity)
    access = choose_access(model, y_pred, y_score, chosen_loss)
    if chosen_loss.uses_truth and y is None:
        msg = f"`y` must be given for the loss {chosen_loss.name!r}, got None"
        raise InputError(msg)
    space = build_space(
        X,
        y,
        sensitive_features=sensitive_features,
        predictions=access.given,
        prediction_parameter=access.parameter,
        features=access.features if features is None else features,
        by_model=features is None,
        counts=counts,
        bins=bins,
        missing=missing,
        levels=levels,
        targets=targets,
        twins=access.box is not None,
        label_matters=chosen_loss.uses_truth,
    )
    answers = Oracle(access, chosen_loss, pos_label).answer(space)
    if largest_fair is not None:
        threshold(largest_fair, answers.loss.range)
    problem = AuditProblem(answers.losses, chosen_similarity.geometry(space), budget=budget)
    scope = _target_scope(space, chosen_similarity)
    result = AuditResult(
        space, answers, chosen_similarity, problem.solve(space.frequencies), access.name, scope,
        largest_fair, level, method, n_resamples, seed, favourable,
        {} if privileged is None else privileged,
    )  # fmt: skip
    _check_groups(result)
    shared = None if train is None else people_also_in(space, train)
    return replace(result, warnings=tuple(find_warnings(result, shared)))


def _check_groups(result: AuditResult) -> None:
    """Refuse favourable labels and privileged groups that do not occur."""
    space = result.space
    given: Any = result.privileged
    if not isinstance(given, Mapping):
        msg = f"`privileged` must map sensitive features to groups, got {shown(given)}"
        raise InputError(msg)
    if bool(given) != (result.favourable is not None):
        lacking = "privileged" if not given else "favourable"
        msg = "`favourable` and `privileged` must be given together, got no " + f"`{lacking}`"
        raise InputError(msg)
    for name, group in given.items():
        choice("privileged", name, space.sensitive)
        one_of(f"privileged[{name!r}]", group, space.columns[name].levels.tolist())
    if result.favourable is not None:
        labels = [] if space.label is None else space.columns[space.label].levels.tolist()
        one_of("favourable", result.favourable, labels)


def _seed(rng: Any) -> int:
    """Return a seed that can be recorded."""
    drawn = generator("rng", rng)
    return int(rng) if isinstance(rng, int | np.integer) else int(drawn.integers(2**32))


def _target_scope(space: SampleSpace, similarity: Similarity) -> str:
    if space.has_twins and similarity.moves_only_to_twins:
        return "twins"
    return "observed" if space.targets is None else "reference"
