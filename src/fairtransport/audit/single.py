"""audit(): from data and a black box to a result, one part after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.access.boxes import choose_access
from fairtransport.access.logged import with_log
from fairtransport.access.oracle import Oracle
from fairtransport.access.repeating import to_repeat
from fairtransport.audit.asked import Asked, check_asking, is_random
from fairtransport.audit.making_up import asked_twins, make_up
from fairtransport.audit.narrowing import narrowed
from fairtransport.audit.needs import check_memory
from fairtransport.audit.proxies import check_proxies, find_proxies
from fairtransport.audit.result import AuditResult
from fairtransport.audit.setting_aside import fit_on_some, set_aside
from fairtransport.audit.warnings import find_warnings
from fairtransport.checks import choice, one_of, threshold
from fairtransport.errors import InputError
from fairtransport.memory import working_within
from fairtransport.settings import AuditSettings
from fairtransport.similarity.twins import steps_for
from fairtransport.space import SampleSpace, build_space
from fairtransport.space.overlap import people_also_in
from fairtransport.transport import AuditProblem

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from fairtransport.access.boxes import Access
    from fairtransport.access.oracle import AnsweredPoints
    from fairtransport.access.query_log import QueryLog
    from fairtransport.access.repeating import Repeats
    from fairtransport.audit.making_up import MakingUp
    from fairtransport.geometry import Geometry
    from fairtransport.settings import LossLike, Rng, SimilarityLike, TwinsLike
    from fairtransport.similarity import Similarity
    from fairtransport.space.reader import ColumnLike, ColumnsLike, TableLike


def audit(
    X: TableLike,  # noqa: N803
    y: ColumnLike | None = None,
    *,
    model: object = None,
    y_pred: ColumnLike | None = None,
    y_score: ColumnLike | ColumnsLike | None = None,
    sensitive_features: ColumnsLike,
    features: Sequence[str] | None = None,
    counts: str | None = None,
    pos_label: object = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    missing: str = "error",
    levels: Mapping[str, Sequence[object]] | None = None,
    targets: TableLike | None = None,
    similarity: SimilarityLike = "ignore-sensitive",
    twins: TwinsLike = None,
    loss: LossLike = "zero-one",
    loss_range: Sequence[float] | None = None,
    budget: float = 0.0,
    delta: float | None = None,
    alpha: float = 0.05,
    judge: str = "statistic",
    disagreement: str = "rates",
    method: str = "finite-sample",
    n_resamples: int = 2000,
    rng: Rng = None,
    query_log: str | Path | QueryLog | None = None,
    repeats: int | None = None,
    draws: int = 1,
    ask_until_sure: bool = False,
    budget_of_questions: int | None = None,
    proxies: bool = False,
    favourable: object = None,
    privileged: Mapping[str, object] | None = None,
    time_limit: float | None = None,
    search_rounds: int | None = None,
    memory: int | str | None = None,
    moves_limit: int = 500,
    title: str | None = None,
    date: str | dt.date | None = None,
    data_name: str | None = None,
    auditor: str | None = None,
    train: TableLike | None = None,
) -> AuditResult:
    """Audit a model for individual bias.

    Parameters
    ----------
    X
        The audit data, one case a row. Any data frame that narwhals knows (pandas, polars,
        pyarrow, DuckDB, …) or a path: to a CSV, Parquet or JSON file,
        to a folder of such files, or a pattern that they match (``cases/*.parquet``).
    y
        The true labels. A column's name, or an array for eager frames.
    model
        The model, which is asked about every person. An estimator with ``predict`` (and
        ``predict_proba``), or a callable that takes a frame of points. Exactly one of ``model``,
        ``y_pred`` and ``y_score`` is given.
    y_pred
        Predicted labels or numbers. A column's name or an array, where the model cannot be asked.
    y_score
        The positive label's scores, or one column a class. Columns' names or an array.
    sensitive_features
        The sensitive columns. Their names, or a frame aligned with X.
    features
        The columns that describe a case; default: those the model was fitted on, or all but
        label, counts and predictions. The model receives these.
    counts
        A column of whole numbers: how many cases a row stands for.
    pos_label
        The positive label. As in scikit-learn.
    bins
        Edges for a numeric column, as in ``{"age": [25, 45]}``. The model then receives the
        bins' names.
    missing
        "error", or "level": a missing value is a level of its own.
    levels
        All values a sensitive column can have; default: those that occur.
    targets
        People with whom the cases are compared, instead of with each other; chosen without the
        cases, or nothing is certified. A frame: mass may move to its points alone and, where a
        model can be asked, to their twins over the sensitive levels. From one that is a part of
        the audit data, or mostly made of them, nothing is certified. Under a similarity that
        compares people with their twins alone it is not used.
    similarity
        Who is comparable. A name or a similarity object.
    twins
        Whom people are compared with under a learned or stated distance: people of the audit
        data ("observed"), twins that are made up ("generate"), or made up where the model was
        found to do worse ("search"); default: made up where that is possible. A
        ``ft.similarity.Twins`` also says how many, which are plausible and how many questions a
        search may ask.
    loss
        What an error costs. "zero-one", "log", "brier", "absolute", "squared", "outcome", a
        `Loss`, or a callable ``loss(y, prediction)``.
    loss_range
        Lower and upper limit of a loss that has none of its own.
    budget
        How far people may be moved on average, as a squared distance. It is the paper's ε.
    delta
        How much worse the model may do; there is a verdict only with it. It is the paper's δ.
        With 0-1 loss and 1000 people, .02 are 20 who would be misclassified as a similar person
        and are not as themselves.
    alpha
        The level of bounds and tests. Below one half.
    judge
        What the verdict that counts is on: "statistic", or "attributable", the part of it that
        needs sensitive features to change. Exit codes and ``result.judged`` follow it.
    disagreement
        What different answers inside one profile are: "rates", something that the system knows
        and the audit does not, so that groups' mean losses are compared, or "bias". It matters
        with ``y_pred`` and ``y_score``; "bias" is for a system that is a function of the
        audited columns.
    method
        How bounds are made; those of finite-sample hold at every sample size. The others are
        asymptotic: "m-out-of-n", "numerical", "subsampling", "limit-law", "plug-in", "efron".
    n_resamples
        The number of draws of the resampling methods. At most ten million.
    rng
        The seed of everything random; default: drawn and recorded. A number or a numpy
        generator, from which one is drawn.
    query_log
        A file (.sqlite) that keeps every answer of the model as it arrives, so that an audit that
        was stopped goes on and asks nothing twice. ``ft.access.load`` reads it, for an audit
        without the model. A callable has to be named: ``ft.access.named``.
    repeats
        How many questions are asked a second time, to see whether the answers are the same;
        default: 20 of a model behind an endpoint or a prompt, else none. If answers differ there
        is no verdict without ``draws``.
    draws
        How many answers to each question are asked for, where the model answers at random. With
        several the statistic is about mean losses; choosing the worst twin and measuring it use
        different draws. One answer is taken for good, unless the model says that it answers at
        random.
    ask_until_sure
        Whether people are asked about in random order until there is a verdict. Bounds hold at
        the moment the asking stops.
    budget_of_questions
        The most questions that are asked until there is a verdict.
    proxies
        Whether it is also looked at which columns tell the sensitive features, and what goes
        through each. The report then has a section on it; it asks up to 60,000 further questions.
    favourable
        The favourable label, for the group metrics. These stand beside the individual ones.
    privileged
        The privileged group, as in ``{"race": "Caucasian"}``, for the group metrics. One for each
        sensitive feature by which others are compared with it.
    time_limit
        Seconds that the search for the statistic may take; it then has a lower and an upper value.
        Default: none, and it is exact. ``result.bracket`` has both values, ``result.statistic``
        is the lower one; bounds and verdict hold for the statistic itself. It matters where
        distances are between points in space; elsewhere the statistic is exact at once.
    search_rounds
        Rounds of that search instead of seconds, as an earlier result tells them, to repeat it
        exactly. ``result.bracket.rounds`` has them.
    memory
        The memory that an audit may take, as in "2GB"; default: as much as it needs. Work is cut
        into smaller parts; an audit that cannot fit is refused before the model is asked.
    moves_limit
        How many moves a document lists, those that add most; a result's table has all.
    title
        The report's heading. Default: "Audit for individual bias".
    date
        The date that the report bears, as in 2026-03-31; none is put in otherwise.
    data_name
        What the audit data are called in the report. Text.
    auditor
        Who audits, for the report. Text.
    train
        The model's training data: a note then says how many cases could be in it. A frame or a
        path. The audit's guarantees are for people whom the model has not seen.

    Returns
    -------
    AuditResult
        What was found; printed, it says so in words.

    Raises
    ------
    InputError
        If a setting breaks its rule.
    DataError
        If the data cannot be audited as asked, such as missing values that nobody spoke of.
    ModelError
        If the model fails or answers something that cannot be used.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"group": ["a", "a", "b", "b"], "good": [1, 0, 1, 0]})
    >>> result = ft.audit(people, "good", model=lambda asked: (asked["group"] == "a").astype(int),
    ...                   features=["group"], sensitive_features=["group"])
    >>> result.statistic, result.baseline_risk, result.worst_case_risk
    (0.5, 0.5, 1.0)
    """
    settings = AuditSettings(
        sensitive_features=sensitive_features,
        features=features,
        counts=counts,
        pos_label=pos_label,
        bins=bins,
        missing=missing,
        levels=levels,
        targets=targets,
        similarity=similarity,
        twins=twins,
        loss=loss,
        loss_range=loss_range,
        budget=budget,
        delta=delta,
        alpha=alpha,
        judge=judge,
        disagreement=disagreement,
        method=method,
        n_resamples=n_resamples,
        rng=rng,
        query_log=query_log,
        repeats=repeats,
        draws=draws,
        ask_until_sure=ask_until_sure,
        budget_of_questions=budget_of_questions,
        proxies=proxies,
        favourable=favourable,
        privileged=privileged,
        time_limit=time_limit,
        search_rounds=search_rounds,
        memory=memory,
        moves_limit=moves_limit,
        title=title,
        date=date,
        data_name=data_name,
        auditor=auditor,
    )
    return audit_with(settings, X, y, model=model, y_pred=y_pred, y_score=y_score, train=train)


def audit_with(
    settings: AuditSettings, X: TableLike, y: ColumnLike | None = None, *,  # noqa: N803
    model: object = None, y_pred: ColumnLike | None = None,
    y_score: ColumnLike | ColumnsLike | None = None, train: TableLike | None = None,
) -> AuditResult:  # fmt: skip
    """Audit a model as the settings say; the other arguments are those of `audit`.

    Parameters
    ----------
    settings
        What is asked.
    X, y, model, y_pred, y_score, train
        As in `audit`.

    Returns
    -------
    AuditResult
        With its warnings.
    """
    with working_within(settings.memory_limit):
        result = _walk(settings, X, y, model, y_pred, y_score)
    shared = None if train is None else people_also_in(result.space, train)
    return replace(result, warnings=tuple(find_warnings(result, shared)))


def _walk(
    settings: AuditSettings, X: TableLike, y: object, model: object,  # noqa: N803
    y_pred: object, y_score: object,
) -> AuditResult:  # fmt: skip
    """Count the points, ask the black box about them, and solve.

    Parameters
    ----------
    settings, X, y, model, y_pred, y_score
        As in `audit_with`.

    Notes
    -----
    The walk of ``docs/architecture.md``. Everything that can be refused is refused before the model
    is asked its first question.
    """
    access = choose_access(
        with_log(model, settings.query_log), y_pred, y_score, settings.chosen_loss
    )
    settings, space = fit_on_some(settings, count_people(settings, X, y, access))
    if settings.proxies:
        check_proxies(space)
    oracle = Oracle(access, settings.chosen_loss, settings.pos_label)
    check_asking(settings, space, access, oracle.known_loss())
    check_memory(settings, space)
    space, made = with_twins(settings, space, access, oracle)
    geometry = settings.chosen_similarity.geometry
    if is_random(settings, access):
        drawn = replace(_solve_in_draws(settings, space, oracle, geometry), made=made)
        return _with_proxies(drawn, oracle)
    asked = Asked()
    if settings.ask_until_sure:
        from fairtransport.audit.until_sure import UntilSure

        everybody, people = UntilSure(settings, space, oracle, geometry(space)), space.n
        space, law, why = everybody.ask()
        asked = Asked(people=people, stopped=why, law=law)
    result = solve(settings, space, oracle, geometry)
    asked = replace(asked, repeats=repeated(settings, space, oracle))
    return _with_proxies(replace(result, made=made, asked=asked), oracle)


def _with_proxies(result: AuditResult, oracle: Oracle) -> AuditResult:
    """Return a result that says which columns tell sensitive features, if that was asked."""
    if not result.settings.proxies:
        return result
    # who answers at random, or was not asked about everybody, is not asked what goes through them
    can_be_asked = oracle.access.box is not None and result.asked.once_about_everybody
    found = find_proxies(result, oracle if can_be_asked else None)
    return replace(result, proxies_found=list(found))


def repeated(settings: AuditSettings, space: SampleSpace, oracle: Oracle) -> Repeats:
    """Ask as many questions a second time as the settings say, chosen by their seed.

    Parameters
    ----------
    settings, space, oracle
        What is asked, about whom, of whom.
    """
    rng = np.random.default_rng([settings.seed, 13])
    return oracle.ask_again(space, to_repeat(oracle.access.box, settings.repeats), rng)


def _solve_in_draws(
    settings: AuditSettings, space: SampleSpace, oracle: Oracle,
    geometry: Callable[[SampleSpace], Geometry],
) -> AuditResult:  # fmt: skip
    """Ask for several answers to each question, and solve for the mean losses.

    Parameters
    ----------
    settings, space, oracle
        What is asked, about whom, of whom.
    geometry
        Makes the costs between the points.
    """
    from fairtransport.audit.drawing import answer_in_draws, law_of_draws

    answers, losses = answer_in_draws(oracle, space, settings.draws)
    made, limits = geometry(space), answers.loss.range
    assert limits is not None  # noqa: S101 - it was checked before anything was asked
    law = law_of_draws(settings, space, oracle, made, losses, limits)
    result = solve(settings, space, oracle, lambda _: made, answers)
    return replace(result, asked=Asked(draws=settings.draws, law=law))


def with_twins(
    settings: AuditSettings, space: SampleSpace, access: Access, oracle: Oracle | None = None
) -> tuple[SampleSpace, MakingUp | None]:
    """Return the space with made-up twins, where there are to be any, and an account of them.

    A search asks the oracle about people who are then no longer in the space.

    Parameters
    ----------
    settings, space, access
        What is asked, the people, and where answers come from.
    oracle
        Asked by a search; without it twins are made up as if none was wanted.
    """
    asked = asked_twins(settings, space, access)
    if asked is None:
        return space, None
    twins, making = asked
    if twins.kind != "search" or oracle is None:
        steps = steps_for(making, twins, settings.budget, settings.seed)
        return make_up(settings, space, twins, making, steps)
    from fairtransport.audit.searching import Search

    aside, rest = set_aside(space, "share", twins.share, np.random.default_rng([settings.seed, 21]))
    steps, asked_of_it = Search(settings, aside, oracle, twins, making).steps()
    made, account = make_up(settings, rest, twins, making, steps)
    return made, replace(account, aside=aside.n, searched=asked_of_it)


def count_people(
    settings: AuditSettings, X: TableLike, y: object, access: Access  # noqa: N803
) -> SampleSpace:  # fmt: skip
    """Return the points that are audited, as the settings and the way of access ask for.

    Parameters
    ----------
    settings, X, y
        What is asked, and the audit data.
    access
        Whether there are twins depends on it: a model can be asked about them.

    Raises
    ------
    InputError
        If labels are needed and not given, or a group of the metrics does not occur.
    """
    loss = settings.chosen_loss
    if loss.uses_truth and y is None:
        msg = f"`y` must be given for the loss {loss.name!r}, got None"
        raise InputError(msg)
    space = build_space(
        X,
        y,
        sensitive_features=settings.sensitive_features,
        predictions=access.given,
        prediction_parameter=access.parameter,
        features=access.features if settings.features is None else settings.features,
        by_model=settings.features is None,
        counts=settings.counts,
        bins=settings.bins,
        missing=settings.missing,
        levels=settings.levels,
        targets=settings.targets,
        twins=access.box is not None,
        label_matters=loss.uses_truth,
    )
    _check_groups(settings, space)
    return space


def solve(
    settings: AuditSettings, space: SampleSpace, oracle: Oracle,
    geometry: Callable[[SampleSpace], Geometry], answers: AnsweredPoints | None = None,
) -> AuditResult:  # fmt: skip
    """Ask the oracle about all points of a space, and solve the transport problem.

    Parameters
    ----------
    settings, space, oracle
        What is asked, about whom, of whom.
    geometry
        Makes the costs between the points.
    answers
        Where they are known already.
    """
    answers = oracle.answer(space) if answers is None else answers
    if settings.delta is not None:
        # the answers can tell a range that was not known before
        threshold(settings.delta, answers.loss.range)
    problem = narrowed(
        settings, AuditProblem(answers.losses, geometry(space), budget=settings.budget), space
    )
    solution = problem.solve(space.frequencies)
    # tables can be large, or handles to databases; what matters of them is in the space
    kept = replace(settings, sensitive_features=space.sensitive, targets=None)
    similarity = settings.chosen_similarity
    scope = _target_scope(space, similarity)
    return AuditResult(kept, space, answers, similarity, solution, oracle.access.name, scope)


def _check_groups(settings: AuditSettings, space: SampleSpace) -> None:
    """Refuse favourable labels and privileged groups that do not occur.

    Parameters
    ----------
    settings, space
        What is asked, and the points.

    Raises
    ------
    InputError
        Naming what there is.
    """
    for name, group in (settings.privileged or {}).items():
        choice("privileged", name, space.sensitive)
        one_of(f"privileged[{name!r}]", group, space.columns[name].levels.tolist())
    if settings.favourable is not None:
        labels = [] if space.label is None else space.columns[space.label].levels.tolist()
        one_of("favourable", settings.favourable, labels)


def _target_scope(space: SampleSpace, similarity: Similarity) -> str:
    """Return whom people are compared with: "twins", "reference" or "observed"."""
    if space.made_up is not None or (space.has_twins and similarity.moves_only_to_twins):
        return "twins"
    return "observed" if space.targets is None else "reference"
