"""audit(): from data and a black box to a result; hold-out, and a check of memory."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport._core.parallel import check_fits, format_bytes
from fairtransport._core.progress import print_notice
from fairtransport._core.validation import check_allowed, is_among, list_values, short_repr
from fairtransport.access.answers import advise_on_continuous, check_overlap, labels_in
from fairtransport.access.black_box import choose_access
from fairtransport.access.oracle import Oracle
from fairtransport.access.query_log import with_log
from fairtransport.access.repeats import TOLERANCE, count_repeats
from fairtransport.audits import querying
from fairtransport.audits.controls import (
    add_own_controls,
    advise_controls,
    ask_controls,
    check_controls,
)
from fairtransport.audits.counterparts import build_law, check_counterparts
from fairtransport.audits.rates import check_units
from fairtransport.audits.result import AuditResult
from fairtransport.audits.warnings import find_warnings
from fairtransport.data import SampleSpace, build_space
from fairtransport.data.columns import sort_levels
from fairtransport.data.sources import name_columns
from fairtransport.errors import InputError, param
from fairtransport.settings import AuditSettings, Queries, check_keywords, missing_truth
from fairtransport.similarity.counterpart_model import MIN_GROUP_PEOPLE
from fairtransport.similarity.counterparts import Counterparts
from fairtransport.similarity.learned import LearnedSimilarity
from fairtransport.similarity.sensitive_subspace import SensitiveSubspace
from fairtransport.transport import AuditProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairtransport._core.validation import IntArray, Values
    from fairtransport.access.black_box import Access
    from fairtransport.access.oracle import AnsweredPoints
    from fairtransport.access.repeats import Repeats
    from fairtransport.data.controls import Controls
    from fairtransport.data.design import Clusters, Weights
    from fairtransport.data.sources import ColumnLike, ColumnsLike, TableLike
    from fairtransport.geometry import Geometry
    from fairtransport.settings import LossLike, Rng, SimilarityLike, TogetherLike
    from fairtransport.similarity import Similarity


def fit_on_holdout(
    settings: AuditSettings, space: SampleSpace
) -> tuple[AuditSettings, SampleSpace]:  # fmt: skip
    """Fit a similarity on the share of people that it requests; return the others.

    Every unit is held out with the same probability: given their number, the remaining ones are
    independent draws from the population as before, and the similarity is fixed with respect to
    them.
    """
    similarity = settings.chosen_similarity
    if isinstance(similarity, Counterparts):
        name, share = "fit_share", None if similarity.is_fitted else similarity.fit_share
    elif isinstance(similarity, SensitiveSubspace):
        name, share = "hold_out", None if similarity.is_fitted else similarity.hold_out
    else:
        return settings, space
    if share is None:
        return settings, space
    rng = np.random.default_rng([settings.seed, 19])
    if space.units is None:
        held_out = rng.binomial(space.counts, share)
        parts = (held_out, space.counts - held_out)
        fitting, audited = (_take_people(space, part) for part in parts)
    else:
        held_out = rng.binomial(space.units.counts, share)
        parts = (held_out, space.units.counts - held_out)
        fitting, audited = (_take_units(space, part) for part in parts)
    min_people = MIN_GROUP_PEOPLE if isinstance(similarity, Counterparts) else 1
    if min(fitting.n, audited.n) < min_people:
        some = "some people"
        if min_people > 1:
            some = f"at least {min_people} people each"
        msg = (
            f"{param(name)} must leave {some} to fit on and to audit, got "
            f"{share:g} of {space.n} people"
        )
        raise InputError(msg)
    if isinstance(similarity, Counterparts):
        counterparts = copy.copy(similarity).fit_space(
            fitting, level=settings.alpha / 2, seed=settings.seed
        )
        return replace(settings, similarity=counterparts), audited
    rows = np.repeat(np.arange(fitting.size), fitting.counts)
    fitted = copy.copy(similarity).fit(fitting.encoded.frame(fitting.encoded.profile, rows))
    fitted.held_out_ = fitting.n
    return replace(settings, similarity=fitted), audited


def _take_people(space: SampleSpace, counts: IntArray) -> SampleSpace:
    """Return the space of the counted people, with their twins."""
    family = space.families
    rows = np.bincount(family, counts)[family] > 0
    return space.take(rows, counts)


def _take_units(space: SampleSpace, counts: IntArray) -> SampleSpace:
    """Return the space of some units of each kind."""
    assert space.units is not None  # noqa: S101
    units = space.units.take(counts)
    return _take_people(replace(space, units=units), units.count_people(space.size))


@check_keywords
def audit(
    X: TableLike,  # noqa: N803
    y: ColumnLike | None = None,
    *,
    model: object = None,
    y_pred: ColumnLike | None = None,
    y_score: ColumnLike | ColumnsLike | None = None,
    sensitive_features: ColumnsLike,
    feature_names: Sequence[str] | None = None,
    favourable: object = None,
    features: Sequence[str] | None = None,
    pos_label: object = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    missing: str = "error",
    levels: Mapping[str, Sequence[object]] | None = None,
    together: TogetherLike | None = None,
    counts: str | None = None,
    clusters: str | Clusters | None = None,
    sample_weight: str | Weights | None = None,
    controls: Sequence[str] | Controls | None = None,
    targets: TableLike | None = None,
    similarity: SimilarityLike = "ignore-sensitive",
    loss: LossLike = "zero-one",
    loss_range: Sequence[float] | None = None,
    budget: float = 0.0,
    delta: float | None = None,
    alpha: float = 0.05,
    deterministic: bool = False,
    judge: str = "statistic",
    method: str = "finite-sample",
    n_resamples: int = 2000,
    rng: Rng = None,
    queries: Queries | None = None,
) -> AuditResult:
    """Audit a model for individual bias.

    Parameters
    ----------
    X
        The audit data, one person per row. Any data frame that narwhals knows (pandas, polars,
        pyarrow, DuckDB, …) or a path: to a CSV, Parquet or JSON file,
        to a folder of such files, or a pattern that they match (``cases/*.parquet``). A
        two-dimensional array needs ``feature_names``.
    y
        The true labels. A column's name, or an array for eager frames.
    model
        The model, which is queried for every person. An estimator with ``predict`` (and
        ``predict_proba``), or a callable that takes a frame of points. Answers with pandas' index
        are aligned by it. Exactly one of ``model``, ``y_pred`` and ``y_score`` is given.
    y_pred
        Decisions or predictions: labels or numbers. A column's name or an array, where the model
        cannot be queried.
    y_score
        The positive label's probabilities, or one column per class. Columns' names or an array.
    sensitive_features
        The sensitive columns. Their names, or a frame aligned with X.
    feature_names
        The names of the columns of X, where it is a two-dimensional array.
    favourable
        The label that is good for a person, or all labels from worst to best. People are then
        counted as worse off or better off, not only as changed. With ``y_pred`` and no ``y`` the
        audit is about how often equal people of different groups get different decisions.
    features
        Columns that describe a person. Default: those the model was fitted on, or all but label,
        counts and predictions. The model receives these.
    pos_label
        The positive label. As in scikit-learn.
    bins
        Bin edges of numeric columns, as in ``{"age": [25, 45]}``. The model then receives the
        bins' names.
    missing
        Missing values: "error" refuses them, "level" makes them a value of their own.
    levels
        Values that a sensitive column is changed to. Default: those that occur. People with other
        values keep theirs and are compared at these.
    together
        Columns that change together, as in ``[["sex", "relationship"]]``. Each set has a sensitive
        feature, and all its columns then count as sensitive. People are compared at the
        combinations that occur, and nothing can be certified; a mapping declares combinations:
        ``{("sex", "relationship"): [("Male", "Husband"), ("Female", "Wife")]}``. One-hot columns
        of a sensitive feature, such as race_White and race_Black, are recognised without it.
    counts
        Column of whole numbers: how many people a row stands for.
    clusters
        Column that tells which rows belong together, as those of a household or a template do, or
        an `ft.Clusters`. Bounds then rest on independent clusters, not on independent rows.
    sample_weight
        Column of survey weights, the inverse of each person's chance of being drawn, or an
        `ft.Weights`.
    controls
        Columns whose change should not matter, or an `ft.Controls`. The model is queried for
        people with another value of one of them, as for twins; it is over the limit only if
        sensitive edits are shown to raise the loss by more than these do.
    targets
        People to compare the audited ones with, instead of with each other. Choose them without
        looking at the audit data, or nothing can be certified. A frame: mass may move to its points
        alone and, where a model can be queried, to their twins over the sensitive levels. From one
        that is a part of the audit data, or mostly made of them, nothing is certified. Under a
        similarity that compares people with their twins alone it is not used.
    similarity
        Who counts as similar. A name or a similarity object.
    loss
        How errors are measured. "zero-one", "log", "brier", "absolute", "squared", "outcome", a
        `Loss`, or a callable ``loss(y, prediction)``.
    loss_range
        Smallest and largest possible loss, for a loss without a range of its own.
    budget
        How far apart people and those they are compared with may be on average (ε), as a squared
        distance of the similarity.
    delta
        Largest tolerated increase in the mean loss (δ). Required for a verdict. With 0-1 loss, .02
        is 2 % of all people, whose correct prediction would become wrong as a similar person.
    alpha
        Significance level of the bounds and tests. Below one half.
    deterministic
        Declare that given predictions depend on the audited columns alone. The bounds are then
        those of the statistic, which are sharper; different predictions for equal people are an
        error.
    judge
        What the verdict is about: the "statistic", or its "attributable" part, which needs
        sensitive features to change.
    method
        Method of the confidence bounds; those of finite-sample hold at every sample size. The
        others, listed in `inference.METHODS`, are asymptotic.
    n_resamples
        Number of draws of the resampling methods. At most ten million.
    rng
        Seed of everything random. Default: drawn and recorded. A number or a numpy generator,
        from which one is drawn.
    queries
        How the model is queried: an `ft.Queries`. It says where answers are stored, how many
        queries are repeated, and when they stop.

    Returns
    -------
    AuditResult
        The result; ``print`` shows it in words.

    Raises
    ------
    InputError
        If a setting is invalid.
    DataError
        If the data do not allow the requested audit, such as missing values without ``missing``.
    ModelError
        If the model fails or returns an unusable answer.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"group": ["a", "a", "b", "b"], "good": [1, 0, 1, 0]})
    >>> result = ft.audit(people, "good", model=lambda x: (x["group"] == "a").astype(int),
    ...                   features=["group"], sensitive_features=["group"])
    >>> result.statistic, result.baseline_risk, result.worst_case_risk
    (0.5, 0.5, 1.0)
    """
    settings = AuditSettings(
        sensitive_features=sensitive_features,
        favourable=favourable,
        features=features,
        pos_label=pos_label,
        bins=bins,
        missing=missing,
        levels=levels,
        together=together,
        counts=counts,
        clusters=clusters,
        sample_weight=sample_weight,
        controls=controls,
        targets=targets,
        similarity=similarity,
        loss=loss,
        loss_range=loss_range,
        budget=budget,
        delta=delta,
        alpha=alpha,
        deterministic=deterministic,
        judge=judge,
        method=method,
        n_resamples=n_resamples,
        rng=rng,
        queries=queries or Queries(),
    )
    data = name_columns(X, feature_names)
    return audit_with(settings, data, y, model=model, y_pred=y_pred, y_score=y_score)


def audit_with(
    settings: AuditSettings, X: TableLike, y: ColumnLike | None = None, *,  # noqa: N803
    model: object = None, y_pred: ColumnLike | None = None,
    y_score: ColumnLike | ColumnsLike | None = None,
) -> AuditResult:  # fmt: skip
    """Audit a model with these settings; the other arguments are those of `audit`."""
    settings = settings.without_truth(
        y, has_scores=y_score is not None, has_model=model is not None
    )
    result = _walk(settings, X, y, model, y_pred, y_score)
    return replace(result, warnings=tuple(find_warnings(result)))


def _walk(
    settings: AuditSettings, X: TableLike, y: object, model: object,  # noqa: N803
    y_pred: object, y_score: object,
) -> AuditResult:  # fmt: skip
    """Count the points, query the black box about them, and solve.

    These are the steps of ``docs/architecture.md``. Whatever can be rejected is rejected before the
    first query.
    """
    access = choose_access(
        with_log(model, settings.queries.log), y_pred, y_score, settings.chosen_loss
    )
    settings = add_own_controls(settings, access)
    querying.check_loss_range(settings, access)
    check_counterparts(settings, access)
    settings, space = fit_on_holdout(settings, count_people(settings, X, y, access))
    similarity = settings.chosen_similarity
    if isinstance(similarity, Counterparts):
        space = similarity.add_counterparts(space)
    oracle = Oracle(access, settings.chosen_loss, settings.pos_label, settings.best_label)
    querying.check_asking(settings, space, access)
    check_controls(settings, space, access)
    check_memory(settings, space)
    geometry = settings.chosen_similarity.geometry
    if querying.is_random(settings, access):
        return _solve_in_draws(settings, space, oracle, geometry)
    record = querying.QueryRecord()
    if settings.queries.until_sure:
        everybody, people = querying.UntilSure(settings, space, oracle, geometry(space)), space.n
        space, law, why = everybody.ask()
        record = querying.QueryRecord(people=people, stopped=why, law=law)
    result = solve(settings, space, oracle, geometry)
    check_units(result)
    if isinstance(similarity, Counterparts):
        record = querying.QueryRecord(law=build_law(result, oracle))
    record = replace(record, repeats=repeated(settings, space, oracle))
    return replace(result, query_record=record)


def repeated(settings: AuditSettings, space: SampleSpace, oracle: Oracle) -> Repeats:
    """Repeat the number of questions in the settings, chosen by their seed."""
    box, queries = oracle.access.box, settings.queries
    rng = np.random.default_rng([settings.seed, 13])
    repeats = oracle.ask_again(space, count_repeats(box, queries.repeats, queries.limit), rng)
    is_elsewhere = box is not None and box.points_per_call is not None
    is_notable = is_elsewhere or queries.repeats is not None or repeats.differed > 0
    return replace(repeats, is_notable=is_notable)


def _solve_in_draws(
    settings: AuditSettings, space: SampleSpace, oracle: Oracle,
    geometry: Callable[[SampleSpace], Geometry],
) -> AuditResult:  # fmt: skip
    """Query several answers to each question, and solve for the mean losses."""
    space_geometry = geometry(space)
    answers, losses = querying.answer_in_draws(oracle, space, settings.queries.draws)
    limits = answers.loss.range
    assert limits is not None  # noqa: S101 - checked before any query
    law = querying.law_of_draws(settings, space, oracle, space_geometry, losses, limits)
    result = solve(settings, space, oracle, lambda _: space_geometry, answers)
    queries = settings.queries
    record = querying.QueryRecord(
        draws=queries.draws, about=queries.about, unit=queries.unit, law=law
    )
    return replace(result, query_record=record)


def count_people(
    settings: AuditSettings, X: TableLike, y: object, access: Access  # noqa: N803
) -> SampleSpace:  # fmt: skip
    """Return the audited points for these settings and this access."""
    loss = settings.chosen_loss
    if settings.deterministic and access.box is not None:
        msg = (
            f"{param('deterministic')} is for given predictions ({param('y_pred')} or "
            f"{param('y_score')}), got a model"
        )
        raise InputError(msg)
    if loss.uses_truth and y is None:
        raise InputError(missing_truth(loss.name))
    space = build_space(
        X,
        y,
        sensitive_features=settings.sensitive_features,
        predictions=access.predictions,
        prediction_parameter=access.parameter,
        features=access.features if settings.features is None else settings.features,
        by_model=settings.features is None,
        counts=settings.counts,
        clusters=settings.design[0],
        sample_weight=settings.design[1],
        bins=settings.bins,
        missing=settings.missing,
        levels=settings.levels,
        together=settings.together,
        targets=settings.targets,
        twins=access.box is not None and not isinstance(settings.chosen_similarity, Counterparts),
        label_matters=loss.uses_truth,
    )
    _check_favourable(settings, space)
    similarity = settings.chosen_similarity
    _check_alternatives(space, similarity)
    if isinstance(similarity, LearnedSimilarity) and similarity.is_fitted:
        similarity.check_columns(space)
    return space


def _check_one_answer(space: SampleSpace) -> None:
    """Check that no profile has two answers, if these were declared to be a function of it."""
    profile = space.groups(space.profile)
    order = np.argsort(profile, kind="stable")
    same = profile[order][1:] == profile[order][:-1]
    for name in space.predictions:
        answers = space.values(name)[order]
        if answers.dtype == object:
            differ = answers[1:] != answers[:-1]
        else:
            differ = np.abs(np.diff(answers.astype(np.float64))) > TOLERANCE
        places = np.flatnonzero(same & differ)
        if len(places):
            at = int(places[0])
            columns = {one: space.columns[one].at(int(order[at])) for one in space.profile}
            text = ", ".join(f"{one} {short_repr(value)}" for one, value in columns.items())
            msg = (
                f"{param('deterministic')} must not be declared where equal people have different "
                f"predictions, got {list_values(answers[at : at + 2].tolist())} for {text}"
            )
            raise InputError(msg)


def solve(
    settings: AuditSettings, space: SampleSpace, oracle: Oracle,
    geometry: Callable[[SampleSpace], Geometry], answers: AnsweredPoints | None = None,
) -> AuditResult:  # fmt: skip
    """Query the oracle about all points of a space, and solve the transport problem."""
    # first, as it rejects a similarity that does not fit the columns
    space_geometry = geometry(space)
    shifts = ask_controls(settings, space, oracle) if answers is None else None
    answers = oracle.answer(space) if answers is None else answers
    if answers.labels is not None:
        _check_favourable_answer(settings, space, answers.labels)
    if settings.deterministic:
        _check_one_answer(space)
    problem = AuditProblem(answers.losses, space_geometry, budget=settings.budget)
    solution = problem.solve(space.frequencies)
    # tables can be large, or handles to databases; the space has what is needed of them
    portable_settings = replace(settings, sensitive_features=space.sensitive, targets=None)
    similarity = settings.chosen_similarity
    scope = _target_scope(space, similarity)
    return AuditResult(
        portable_settings, space, answers, similarity, solution, oracle.access.name, scope,
        shifts=shifts, controls_advice=advise_controls(settings, oracle.access),
    )  # fmt: skip


def _check_favourable(settings: AuditSettings, space: SampleSpace) -> None:
    """Check that the favourable label occurs among true labels or given predictions."""
    order = settings.favourable_order
    for name in space.predictions if space.label is not None and order else ():
        predicted = space.columns[name].levels
        # a decision that is no true label is not at fault where labels have words of their own
        if all(is_among(label, predicted.tolist()) for label in order):
            check_overlap(labels_in(space), predicted)
    # without true labels the decisions are the labels; without either, the model's answers are
    # checked once they are known
    columns = space.predictions if space.label is None else (space.label,)
    if columns:
        labels = [label for name in columns for label in space.columns[name].levels.tolist()]
        _check_order(settings, labels)


def _check_favourable_answer(settings: AuditSettings, space: SampleSpace, labels: Values) -> None:
    """Check that the favourable label is among answers, if there are no true labels."""
    if space.label is not None or space.predictions:
        return
    answers = sort_levels(labels.tolist()).tolist()
    # a model with a single answer may never give the favourable one
    if len(answers) > 1:
        _check_order(settings, answers)


def _check_order(settings: AuditSettings, labels: list[Any]) -> None:
    """Check that the favourable label occurs, or that an order has every label once."""
    order = settings.favourable_order
    for label in order:
        advice = "" if is_among(label, labels) else advise_on_continuous(labels)
        if advice:
            msg = f"{param('favourable')} must be a label, got {short_repr(label)}{advice}"
            raise InputError(msg)
        check_allowed("favourable", label, labels)
    if len(order) > 1 and len(order) != len({*labels}):
        msg = (
            f"{param('favourable')} must be one label, or each of {list_values(labels)} once, from "
            f"worst to best, got {list_values(order)}"
        )
        raise InputError(msg)


def _check_alternatives(space: SampleSpace, similarity: Similarity) -> None:
    """Check that nobody is compared with people whose levels are no alternatives."""
    partial = [one.columns for one in space.column_sets if one.is_partial]
    if partial and not similarity.moves_only_to_twins:
        name = param("levels", partial[0][0]) if len(partial[0]) == 1 else param("together")
        msg = (
            f"{name} must have all values of {', '.join(partial[0])} that occur, as this "
            "similarity also compares different people, but lacks some"
        )
        raise InputError(msg)


def _target_scope(space: SampleSpace, similarity: Similarity) -> str:
    """Return whom people are compared with."""
    if space.family is not None:
        return "counterparts"
    if space.has_twins and similarity.moves_only_to_twins:
        return "twins"
    return "observed" if space.targets is None else "reference"


POINT, COLUMN, MOVE = 130, 92, 270
"""Bytes per point, per column of a point, and per move to another point at a cost, measured at the
peak of all stages, the report included."""
MIN_NOTICE_BYTES = 1_000_000_000
"""Memory from which on an audit announces its need."""


def check_memory(settings: AuditSettings, space: SampleSpace) -> None:
    """Check that an audit fits into this machine's memory; announce the need of a large one.

    With a loss of many values points may have many relevant moves; their number is estimated from
    some points once losses are known (`transport.nearest`).
    """
    moves = 0 if settings.chosen_similarity.moves_only_to_twins else MOVE
    what = f"{space.size:,} different rows of {len(space.columns)} columns"
    bytes_needed = check_fits(space.size * (POINT + COLUMN * len(space.columns) + moves), what)
    if bytes_needed >= MIN_NOTICE_BYTES:
        print_notice(
            f"The audit of {what} needs about {format_bytes(bytes_needed, up=True)} of memory."
        )
