"""compare() and Comparison: the differences between several models on one sample."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport._core.notes import Note
from fairtransport._core.validation import check_threshold, short_repr
from fairtransport.access.black_box import Access, check_box, choose_access, plain_items
from fairtransport.access.oracle import Oracle, check_no_controls, check_not_random
from fairtransport.access.query_log import with_log
from fairtransport.audits.applicability import find_obstacle
from fairtransport.audits.decisions import find_audit_decisions
from fairtransport.audits.querying import QueryRecord, check_loss_range
from fairtransport.audits.rates import check_units
from fairtransport.audits.run import count_people, repeated, solve
from fairtransport.audits.summarise import finite, provenance
from fairtransport.audits.warnings import find_warnings, rates_notes
from fairtransport.data.sample_space import data_sha256
from fairtransport.data.sources import name_columns
from fairtransport.documents.audit import SampledUnits
from fairtransport.documents.comparison import (
    COMPARISON_SCHEMA,
    ComparedModel,
    ComparisonSummary,
    Difference,
    TreatedGroup,
    TreatedProfile,
)
from fairtransport.errors import InputError, param
from fairtransport.explain.moves import Profiles
from fairtransport.inference import difference_law
from fairtransport.report.rendering import Reportable
from fairtransport.settings import AuditSettings, Queries, check_keywords

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.typing import IntoDataFrame

    from fairtransport._core.validation import FloatArray
    from fairtransport.audits.result import AuditResult
    from fairtransport.data import SampleSpace
    from fairtransport.data.columns import Value
    from fairtransport.data.design import Clusters, Weights
    from fairtransport.data.sources import ColumnLike, ColumnsLike, TableLike
    from fairtransport.inference import SamplingLaw
    from fairtransport.settings import LossLike, Rng, SimilarityLike, TogetherLike


MIN_MODELS = 2


@check_keywords
def compare(
    X: TableLike,  # noqa: N803
    y: ColumnLike | None = None,
    *,
    models: Mapping[str, object] | None = None,
    y_pred: Mapping[str, str] | None = None,
    y_score: Mapping[str, str | Sequence[str]] | None = None,
    sensitive_features: ColumnsLike,
    feature_names: Sequence[str] | None = None,
    tolerance: float = 0.0,
    features: Sequence[str] | None = None,
    favourable: object = None,
    pos_label: object = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    missing: str = "error",
    levels: Mapping[str, Sequence[object]] | None = None,
    together: TogetherLike | None = None,
    counts: str | None = None,
    clusters: str | Clusters | None = None,
    sample_weight: str | Weights | None = None,
    targets: TableLike | None = None,
    similarity: SimilarityLike = "ignore-sensitive",
    loss: LossLike = "zero-one",
    loss_range: Sequence[float] | None = None,
    budget: float = 0.0,
    alpha: float = 0.05,
    deterministic: bool = False,
    rng: Rng = None,
    queries: Queries | None = None,
) -> Comparison:
    """Compare models for individual bias on one sample of people.

    Each model is audited on the same people, and the differences between two audits get confidence
    bounds of their own. What both models do to a person cancels, so that these bounds are narrower
    than the difference of two intervals. They hold at every sample size for independent people; if
    rows belong together, name the column with ``clusters``.

    Parameters
    ----------
    X
        As in `audit`.
    y
        As in `audit`.
    models
        The models, by names of your own, the one to compare with first. Each is what `audit`
        takes as ``model``, and receives the columns that it was fitted on. Exactly one of
        ``models``, ``y_pred`` and ``y_score`` is given.
    y_pred
        As in `audit`, by model: columns' names. Without models to ask there are no bounds of a
        difference.
    y_score
        As in `audit`, by model: columns' names.
    sensitive_features
        As in `audit`.
    feature_names
        As in `audit`.
    tolerance
        How much more bias than an earlier model a later one may have.
    features
        As in `audit`; default: all columns that some model was fitted on.
    favourable
        As in `audit`.
    counts
        As in `audit`.
    clusters
        As in `audit`. Without a declared ``largest``, unequal sizes give no bounds of differences.
    sample_weight
        As in `audit`. Without a declared ``largest`` there are no bounds of differences.
    pos_label
        As in `audit`.
    bins
        As in `audit`.
    missing
        As in `audit`.
    levels
        As in `audit`.
    together
        As in `audit`.
    targets
        As in `audit`.
    similarity
        As in `audit`.
    loss
        As in `audit`.
    loss_range
        As in `audit`.
    budget
        As in `audit`.
    alpha
        As in `audit`. All intervals of a table hold together at level 1 − α.
    deterministic
        As in `audit`, of the predictions of every model.
    rng
        As in `audit`.
    queries
        As in `audit`, of which ``log`` (one file for all models) and ``repeats`` (of each model)
        are possible. A model that gives other answers then is compared with none.

    Returns
    -------
    Comparison
        One audit per model, and the differences between them.

    Raises
    ------
    InputError
        If a setting is invalid.
    DataError
        If the data do not allow the requested audit.
    ModelError
        If a model fails or returns an unusable answer.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"group": ["a", "b"] * 50, "good": [1, 0, 1, 1] * 25})
    >>> comparison = ft.compare(
    ...     people, "good", sensitive_features=["group"], features=["group"], rng=0,
    ...     models={
    ...         "old": lambda x: (x["group"] == "a").astype(int),
    ...         "new": lambda x: (x["group"] == "c").astype(int),
    ...     },
    ... )
    >>> row = comparison.differences.iloc[0]
    >>> float(row["difference"]), row["verdict"]
    (-0.75, 'better')
    """
    settings = AuditSettings(
        sensitive_features=sensitive_features,
        features=features,
        favourable=favourable,
        counts=counts,
        clusters=clusters,
        sample_weight=sample_weight,
        pos_label=pos_label,
        bins=bins,
        missing=missing,
        levels=levels,
        together=together,
        targets=targets,
        similarity=similarity,
        loss=loss,
        loss_range=loss_range,
        budget=budget,
        alpha=alpha,
        deterministic=deterministic,
        rng=rng,
        queries=queries or Queries(),
    )
    data = name_columns(X, feature_names)
    return compare_with(
        settings, data, y, models=models, y_pred=y_pred, y_score=y_score, tolerance=tolerance
    )


def compare_with(
    settings: AuditSettings, X: TableLike, y: ColumnLike | None = None, *,  # noqa: N803
    models: object = None, y_pred: object = None, y_score: object = None, tolerance: float = 0.0,
) -> Comparison:  # fmt: skip
    """Compare models as the settings say; the other arguments are those of `compare`.

    All audits share one space and one geometry, so that gains can be compared point by point.
    """
    settings.queries.check_only(("log", "repeats"), "models that are compared answer once")
    within = check_threshold(tolerance, settings.chosen_loss.range, "tolerance")
    accesses = _accesses(settings, {"models": models, "y_pred": y_pred, "y_score": y_score})
    for access in accesses.values():
        check_loss_range(settings, access, has_other_methods=False)
        check_not_random("models", access.box)
        check_no_controls("models", access.box)
    together = _together(list(accesses.values()))
    space = count_people(settings, X, y, together)
    geometry = cache(settings.chosen_similarity.geometry)

    obstacles: dict[str, str] = {}
    blind: set[str] = set()

    def audited(name: str, access: Access) -> AuditResult:
        """Return the audit of one model on the common points; store why it shows nothing."""
        oracle = Oracle(
            access, settings.chosen_loss, settings.pos_label, settings.best_label, partial=True
        )
        # people are distinguished by the predictions of all models; the oracle reads those of one
        model_space = space if access.box is not None else _with_predictions(space, access)
        result = solve(settings, model_space, oracle, lambda _: geometry(space))
        check_units(result)
        record = QueryRecord(repeats=repeated(settings, model_space, oracle))
        result = replace(result, query_record=record)
        warnings = (*rates_notes(result), *find_warnings(result))
        obstacle = find_obstacle(result)
        reason = _blind(result, access)
        # 0 by construction is correct, unless chance or the order of rows changes the answers
        if reason is not None and not record.answers_at_random:
            blind.add(name)
        if obstacle is not None and not obstacle.from_answers:
            reason = obstacle.reason
        if reason is not None:
            obstacles[name] = reason
        elif obstacle is not None:
            # that a model ignores the sensitive features is a difference from other models
            warnings = (obstacle.reason, *warnings)
        return replace(result, warnings=warnings)

    audits = {name: audited(name, one) for name, one in accesses.items()}
    return Comparison(audits, within, obstacles, frozenset(blind))


def _accesses(settings: AuditSettings, ways: dict[str, object]) -> dict[str, Access]:
    """Return the access to the predictions of each model."""
    sources = {name: value for name, value in ways.items() if value is not None}
    if len(sources) != 1:
        got = " and ".join(f"{param(name)}" for name in sources) or "none"
        msg = (
            f"exactly one of {param('models')}, {param('y_pred')} and {param('y_score')} must be "
            f"given, got {got}"
        )
        raise InputError(msg)
    ((parameter, by_name),) = sources.items()
    if (
        not isinstance(by_name, Mapping)
        or len(by_name) < MIN_MODELS
        or not all(isinstance(name, str) and name for name in by_name)
    ):
        msg = f"{param(parameter)} must map at least two names to models, got {short_repr(by_name)}"
        raise InputError(msg)
    if parameter != "models":
        for value in by_name.values():
            _check_columns(parameter, value)
    return {
        name: choose_access(
            with_log(value if parameter == "models" else None, settings.queries.log),
            value if parameter == "y_pred" else None,
            value if parameter == "y_score" else None,
            settings.chosen_loss,
        )
        for name, value in by_name.items()
    }


def _check_columns(parameter: str, value: object) -> None:
    """Reject predictions that are not names of columns, as models share one table."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        msg = (
            f"{param(parameter)} must map names of models to columns of the data, got "
            f"{short_repr(value)}"
        )
        raise InputError(msg)


def _together(accesses: list[Access]) -> Access:
    """Return the common access to all models: the columns that any of them requires or predicts."""
    first = accesses[0]
    if first.box is None:
        prediction_columns = dict.fromkeys(name for one in accesses for name in _columns(one))
        return replace(first, predictions=list(prediction_columns))
    feature_lists = [one.features for one in accesses]
    union = tuple(dict.fromkeys(name for names in feature_lists for name in names or ()))
    columns = None if None in feature_lists else union
    return replace(first, box=replace(check_box(first.box), features=columns))


def _columns(access: Access) -> tuple[str, ...]:
    """Return the columns of a model's given predictions."""
    names = access.predictions
    return (names,) if isinstance(names, str) else tuple(plain_items(names) or ())


def _with_predictions(space: SampleSpace, access: Access) -> SampleSpace:
    """Return the common space with one model's predictions."""
    return replace(space, predictions=_columns(access))


def _blind(result: AuditResult, access: Access) -> str | None:
    """Return why a model cannot tell twins apart, if it receives fewer columns than others."""
    space = result.space.encoded
    columns = space.features if access.features is None else access.features
    received = set(space.sensitive) & set(columns)
    if not result.similarity.moves_only_to_twins or result.target_scope != "twins" or received:
        return None
    return (
        "The model receives no sensitive feature, and people are compared only with copies of "
        "themselves that differ in these: its statistic is 0 by construction."
    )


NOT_APPLICABLE = "not-applicable"
MAX_COMPARED_PROFILES, MAX_COMPARED_GROUPS = 10, 50
UNKNOWN_SIZES = (
    "Differences have no bounds: clusters differ in size, or people in weight, and the largest was "
    "not declared."
)
NO_BOUNDS = (
    "Differences have no bounds: people are compared with people in the audit data, so a "
    "difference can be too large or too small."
)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Reportable):
    """Audits of several models on the same people, and the differences between them.

    Attributes
    ----------
    audits
        The result of each model's audit, by name, in the order given.
    tolerance
        How much more bias than an earlier model a later one may have.
    obstacles
        Why the audit of a model can find nothing, by model.
    blind
        Models among these that cannot tell twins apart, so that they have no bias by construction.
    settings_taken
        Flags whose values came from a settings file.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "grade": [1, 1, 2, 2, 3, 3, 4, 4] * 50})
    >>> people["good"] = (people["grade"] > 2).astype(int)
    >>> def old(x):
    ...     return (x["grade"] > 2 + (x["sex"] == "f")).astype(int)
    >>> def new(x):
    ...     return (x["grade"] > 3).astype(int)
    >>> comparison = ft.compare(people, "good", models={"old": old, "new": new},
    ...                         sensitive_features="sex", rng=0)
    >>> comparison
    Comparison(old=0.1250, new=0.0000, n=400, verdict='better')
    """

    audits: Mapping[str, AuditResult]
    tolerance: float
    obstacles: Mapping[str, str] = field(default_factory=dict)
    blind: frozenset[str] = field(default=frozenset())
    settings_taken: tuple[str, ...] = field(default=())

    @property
    def alpha(self) -> float:
        """Joint significance level: all intervals of a table hold together at level 1 − α."""
        return self._first.alpha

    @property
    def table(self) -> Any:
        """A table of the models: statistic, simultaneous interval, risks."""
        return _table(self._first, [vars(one) for one in self._models])

    @property
    def differences(self) -> Any:
        """A table of all pairs, an earlier model first.

        Columns: first, second, difference (the second's statistic minus the first's), its
        simultaneous interval (lower, upper), pvalue (of "neither less bias, nor more by over the
        tolerance", times the number of pairs), verdict on the second ("better", "worse",
        "undecided", "not-applicable"), not_worse (certified to exceed the first by at most the
        tolerance). If audits are applicable, a verdict is better or worse exactly if the p-value is
        at most α.
        """
        return _table(self._first, [vars(one) for one in self._differences])

    @property
    def verdict(self) -> str:
        """The verdict on the last model compared with the first.

        "better", "worse", "undecided", or "not-applicable" if one of the two audits could find
        nothing, or finds it by construction.
        """
        return self._ends.verdict

    @property
    def applicability(self) -> str | None:
        """Why the verdict is "not-applicable", in a sentence; None for other verdicts."""
        if self.verdict != NOT_APPLICABLE:
            return None
        first, *_, last = self.audits
        of = {name: self.obstacles[name] for name in (first, last) if name in self.obstacles}
        if len(set(of.values())) == 1 and len(of) > 1:
            return next(iter(of.values()))
        return " ".join(f"{name}: {reason}" for name, reason in of.items())

    @property
    def not_worse(self) -> bool:
        """Whether the last model is certified to exceed the first by at most the tolerance."""
        return self._ends.not_worse

    @property
    def warnings(self) -> tuple[str, ...]:
        """Notes for readers of the numbers."""
        notes_by_model = {name: dict.fromkeys(one.warnings) for name, one in self.audits.items()}
        # a note of all audits is about the people or the settings, and shown once
        everywhere = [
            note
            for note in self._first.warnings
            if all(note in one for one in notes_by_model.values())
        ]
        own = [
            Note("{name}: {note}", name=name, note=note)
            for name, notes in notes_by_model.items()
            for note in notes
            if note not in everywhere
        ]
        empty = [f"{name}, not applicable: {why}" for name, why in self.obstacles.items()]
        unbounded = [] if self._first.fixed_targets else [NO_BOUNDS]
        if self._first.fixed_targets and not self._is_bounded:
            unbounded = [UNKNOWN_SIZES]
        return (*empty, *everywhere, *own, *unbounded)

    @property
    def _first(self) -> AuditResult:
        """The audit of the first model, for people and settings common to all."""
        return next(iter(self.audits.values()))

    @property
    def _is_bounded(self) -> bool:
        """Whether differences have bounds: fixed targets, and stakes may depend on the past."""
        units = self._first.space.units
        return self._first.fixed_targets and (units is None or units.is_adaptive)

    @property
    def _ends(self) -> Difference:
        """The difference between the first model and the last."""
        first, *_, last = self.audits
        return next(one for one in self._differences if (one.first, one.second) == (first, last))

    @cached_property
    def _models(self) -> tuple[ComparedModel, ...]:
        """The models' rows; their intervals hold together, each at α over their number."""
        # Bonferroni: the models share their people, and the dependence of their errors is unknown
        level = self.alpha / len(self.audits)

        def described(name: str, one: AuditResult) -> ComparedModel:
            """Return the row of one model."""
            lower, upper = one.law.interval(level)
            return ComparedModel(
                name, one.model, one.statistic, finite(lower), finite(upper), one.baseline_risk,
                one.worst_case_risk, one.queried, find_audit_decisions(one, max_cases=0),
            )  # fmt: skip

        return tuple(described(name, one) for name, one in self.audits.items())

    @cached_property
    def _differences(self) -> tuple[Difference, ...]:
        """The rows of all pairs, each at α over their number."""
        pairs = list(combinations(self.audits, 2))
        if not self._is_bounded:
            return tuple(self._described(*pair) for pair in pairs)
        level = self.alpha / len(pairs)
        return tuple(self._judged(*pair, level) for pair in pairs)

    def _described(self, first: str, second: str) -> Difference:
        """Return a difference without interval and verdict."""
        difference = self.audits[second].statistic - self.audits[first].statistic
        return Difference(
            first, second, difference, None, None, None,
            verdict=self._applied(first, second, "undecided"), not_worse=False,
        )  # fmt: skip

    def _judged(self, first: str, second: str, level: float) -> Difference:
        """Return a difference with interval, p-value and verdict."""
        # each side of each pair has the same share of α as an end of the interval
        share = level / 2
        law = self._law(first, second, share)
        lower, upper = law.interval(level)
        worse, better = law.pvalue(self.tolerance, "greater"), law.pvalue(0.0, "less")
        # times 2 · pairs, written so that p <= share and the reported p-value <= α agree to the
        # last bit
        pvalue = min(1.0, self.alpha * (min(worse, better) / share))
        established = [name for name, p in (("worse", worse), ("better", better)) if p <= share]
        verdict = self._applied(
            first, second, established[0] if len(established) == 1 else "undecided"
        )
        return replace(
            self._described(first, second), lower=lower, upper=upper, pvalue=pvalue,
            verdict=verdict, not_worse=upper <= self.tolerance and verdict != NOT_APPLICABLE,
        )  # fmt: skip

    def _applied(self, first: str, second: str, verdict: str) -> str:
        """Return a verdict, or that none applies.

        A model with more bias than one that has none by construction is a finding nevertheless.
        """
        is_finding = verdict == "worse" and first in self.blind
        empty = second in self.obstacles or (first in self.obstacles and not is_finding)
        return NOT_APPLICABLE if empty else verdict

    def _law(self, first: str, second: str, level: float) -> SamplingLaw:
        """Return the sampling law of the second's statistic minus the first's."""
        old, new = self.audits[first], self.audits[second]
        limits = _common_range(old, new)
        return difference_law(
            new.problem, old.problem, old.space.counts, rng=old.seed, alpha=level,
            loss_range=limits, most_gains=(new.most_gain, old.most_gain), units=old.space.units,
        )  # fmt: skip

    @cached_property
    def summary(self) -> ComparisonSummary:
        """The whole comparison as one document."""
        first, *_, last = self.audits.values()
        with_settings = replace(first, settings_taken=self.settings_taken)
        return ComparisonSummary(
            schema=COMPARISON_SCHEMA,
            n=first.n,
            units=SampledUnits.of(first.space.units),
            points=first.points,
            target_scope=first.target_scope,
            budget=first.problem.budget,
            tolerance=self.tolerance,
            alpha=self.alpha,
            verdict=self.verdict,
            applicability=self.applicability,
            not_worse=self.not_worse,
            models=self._models,
            differences=self._differences,
            groups=_groups(first, last),
            profiles=_profiles(first, last),
            warnings=self.warnings,
            provenance=replace(provenance(with_settings), data_sha256=data_sha256(first.space)),
        )

    def __repr__(self) -> str:
        values = ", ".join(
            f"{name}={one.statistic if one.rates is None else one.rates.value:.4f}"
            for name, one in self.audits.items()
        )
        return f"Comparison({values}, n={self._first.n}, verdict={self.verdict!r})"


def _common_range(first: AuditResult, second: AuditResult) -> tuple[float, float]:
    """Return limits of the losses of both audits, whose outcomes may have different limits."""
    ranges = [one.loss.range for one in (first, second) if one.loss.range is not None]
    lows, highs = zip(*ranges, strict=True)
    return min(lows), max(highs)


def _added(result: AuditResult) -> FloatArray:
    """Return the increase by optimal swaps in the total loss of the people at each point."""
    moves = result.moved
    return np.bincount(
        moves.sources, moves.people * moves.gains, minlength=result.space.size
    ).astype(float)


def _groups(first: AuditResult, last: AuditResult) -> tuple[TreatedGroup, ...]:
    """Return what swaps cost each sensitive group, the largest groups first."""
    space = first.space
    of = space.sensitive_groups
    people, weights, before, after = (
        np.bincount(of, values)
        for values in (space.counts, space.weighted_counts, _added(first), _added(last))
    )
    profiles = Profiles(space)
    place = space.first_of_groups
    largest = [at for at in np.argsort(-people, kind="stable") if people[at] > 0][
        :MAX_COMPARED_GROUPS
    ]
    return tuple(
        TreatedGroup(
            profiles.group(int(place[at])),
            int(people[at]),
            float(before[at] / weights[at]),
            float(after[at] / weights[at]),
        )
        for at in largest
    )


def _profiles(first: AuditResult, last: AuditResult) -> tuple[TreatedProfile, ...]:
    """Return the profiles whose added loss differs most between two models."""
    space = first.space
    before, after = _added(first), _added(last)
    rank = np.argsort(-np.abs(after - before), kind="stable")[:MAX_COMPARED_PROFILES]
    profiles = Profiles(space)
    return tuple(
        TreatedProfile(
            profiles.profile(int(at)),
            profiles.label(int(at)),
            int(space.counts[at]),
            float(before[at]),
            float(after[at]),
        )
        for at in rank
        if not math.isclose(before[at], after[at], abs_tol=1e-9)
    )


def _table(result: AuditResult, rows: list[dict[str, Value]]) -> IntoDataFrame:
    """Return rows as a frame in the library of the audit data."""
    return result.as_table({name: [row[name] for row in rows] for name in rows[0]})
