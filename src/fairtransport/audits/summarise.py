"""From the result of an audit to its complete document."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport._core.environment import get_version
from fairtransport._core.notes import Count, Note
from fairtransport.audits.applicability import find_limit_below_delta
from fairtransport.audits.counterparts import summarise_counterparts
from fairtransport.audits.decisions import find_audit_decisions, find_missing_reason
from fairtransport.audits.groups import (
    MAX_METRIC_LEVELS,
    compare_groups,
    find_unmeasured_features,
    has_decisions,
)
from fairtransport.audits.sensitivity import without_each_feature
from fairtransport.audits.warnings import list_notes
from fairtransport.data.sample_space import data_sha256
from fairtransport.documents.audit import (
    SCHEMA,
    AttributablePart,
    AuditSummary,
    ControlsFound,
    CostRule,
    CurvePoint,
    FeatureRate,
    Law,
    LawBin,
    Limits,
    MethodLimits,
    Provenance,
    QuestionsAsked,
    RatesFound,
    SampledUnits,
)
from fairtransport.explain.flows import flow_table, group_flows
from fairtransport.explain.moves import describe_moves, to_plain_value, worst_pair
from fairtransport.inference import DrawnLaw
from fairtransport.settings import DocumentOptions
from fairtransport.similarity.similarity_check import check_space

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray
    from fairtransport.audits.result import AuditResult
    from fairtransport.data import SampleSpace
    from fairtransport.explain.flows import FlowTable, GroupFlow
    from fairtransport.explain.moves import Move, MovePlan
    from fairtransport.inference import SamplingLaw
    from fairtransport.similarity import SimilarityCheck


COMPARED_METHODS = ("finite-sample", "limit-law", "m-out-of-n")
"""The methods that a result compares."""
NO_OPTIONS = DocumentOptions()
MAX_FLOW_LEVELS = 40
"""Maximum number of levels of a feature in a document; of more, those with most moves are shown,
and all others as one. `AuditResult.flows` has them all."""
MIN_FLOW_LEVELS = 3
"""Flows are left out if there is no room for this number of levels."""
MAX_FLOW_LABELS = 20
"""Maximum number of labels, each of which has its own heat map."""
MAX_FLOW_CELLS = 1000
"""Maximum number of cells: labels times levels times groups."""
MAX_CURVE_CORNERS = 400
"""Maximum number of corners of the budget curve in a document, half of them near the budget."""
NEAR = 10
"""Corners up to this multiple of the budget are near it, as in the chart."""
MAX_LISTED_GROUPS = 500
"""Maximum number of sensitive groups in a document, those that add most to the statistic."""
LAW_BINS = 40
ROUNDING = 1e-9
"""Values that differ by less, relative to the largest, are equal."""
LIBRARIES = ("numpy", "scipy", "narwhals", "pandas", "duckdb")


def summarise(
    result: AuditResult, headline: AuditSummary, options: DocumentOptions = NO_OPTIONS
) -> AuditSummary:
    """Return the complete document; ``headline`` is what `summarise_headline` returns."""
    moves = result.moved
    comparisons = compare_groups(result, options)
    notes = [note for one in comparisons for note in one.notes]
    curve, omitted_corners = _curve(result)
    return replace(
        headline,
        certificate_pvalue=result.certificate_pvalue,
        evalue=result.evalue,
        # a statistic that is no evidence has no bounds to compare
        methods=() if result.rates else tuple(
            method_limits(law, result.alpha) for law in result.compared_laws
        ),
        flows=build_flow_tables(result, moves, fixed=result.plan_is_fixed),
        moves=headline.moves if options.max_moves == NO_OPTIONS.max_moves
        else list_moves(result, moves, options.max_moves),
        groups=select_largest_groups(group_flows(moves, result.space, result.problem.losses)),
        group_metrics=tuple(one.metrics for one in comparisons),
        worst_pair=worst_pair(
            result.space, result.problem.geometry, result.answers.predictions,
            are_labels=result.loss.needs == "label",
        ),
        budget_curve=curve,
        costs=_costs(result),
        similarity_check=_similarity_check(result),
        counterparts=summarise_counterparts(result),
        without_feature=without_each_feature(result),
        law=_law(result),
        warnings=(
            *headline.warnings, *notes, *list_omissions(result, folds=True), *omitted_corners,
        ),
        provenance=replace(
            headline.provenance,
            data_sha256=data_sha256(result.space),
        ),
    )  # fmt: skip


def summarise_headline(result: AuditResult) -> AuditSummary:
    """Return what a screen shows of an audit, without slow parts that only a document shows."""
    moves, solution = result.moved, result.solution
    return AuditSummary(
        schema=SCHEMA,
        statistic=result.statistic,
        baseline_risk=result.baseline_risk,
        worst_case_risk=result.worst_case_risk,
        n=result.n,
        units=SampledUnits.of(result.space.units),
        points=result.points,
        observed_points=int(result.space.observed.sum()),
        queried=result.queried,
        target_scope=result.target_scope,
        budget=result.problem.budget,
        price=result.price,
        price_interval=_limits(*solution.price_interval),
        delta=result.delta,
        alpha=result.alpha,
        method=result.law.method,
        guarantee=result.guarantee,
        about=result.query_record.about,
        interval=_limits(*result.interval),
        lower_bound=finite(result.lower_bound),
        upper_bound=finite(result.upper_bound),
        pvalue=result.pvalue,
        verdict=result.verdict,
        applicability=result.applicability,
        advice=result.advice,
        next_audit=result.next_settings,
        judge=result.settings.judge,
        favourable=to_plain_value(result.favourable),
        decisions=find_audit_decisions(result, NO_OPTIONS.max_moves),
        decisions_missing=find_missing_reason(result),
        attributable=_attributable(result),
        outlook=result.outlook,
        controls=_controls(result),
        controls_advice=result.controls_advice,
        rates=_rates(result),
        random_swap_risk=result.random_swap_risk,
        comparable_share=result.comparable_share,
        questions=_questions(result),
        plan_is_unique=solution.plan_is_unique,
        duality_gap=solution.duality_gap,
        disagreement=result.disagreement,
        moved=moves.total,
        moves_found=len(moves),
        moves=list_moves(result, moves),
        budget_in_words=_budget_in_words(result),
        warnings=list_notes(result),
        provenance=replace(provenance(result), similarity_record=_similarity_record(result)),
    )


def finite(value: float) -> float | None:
    """Return a number; None if it is infinite."""
    return float(value) if math.isfinite(value) else None


def _attributable(result: AuditResult) -> AttributablePart:
    """Return the attributable part for a document."""
    part = result.attributable
    return AttributablePart(
        value=part.value,
        same_group=part.same_group,
        interval=_limits(*part.interval),
        lower_bound=finite(part.lower_bound),
        upper_bound=finite(part.upper_bound),
        pvalue=part.pvalue,
        verdict=part.verdict,
    )


def _controls(result: AuditResult) -> ControlsFound | None:
    """Return the comparison with control edits for a document."""
    controls = result.controls
    if controls is None:
        return None
    return ControlsFound(**vars(controls) | {"interval": _limits(*controls.interval)})


def _questions(result: AuditResult) -> QuestionsAsked | None:
    """Return how the model was queried; None with given predictions."""
    record = result.query_record
    if result.queried == 0:
        return None
    return QuestionsAsked(
        repeated=record.repeats.count,
        differed=record.repeats.differed,
        differed_at_most=record.differ_at_most(result.alpha),
        draws=record.draws,
        unit=record.unit,
        people=record.people,
        stopped=record.stopped,
    )


def _rates(result: AuditResult) -> RatesFound | None:
    """Return the rates for a document."""
    rates = result.rates
    if rates is None:
        return None
    features = tuple(FeatureRate(**vars(one)) for one in rates.features)
    largest = find_limit_below_delta(result)
    return RatesFound(**vars(rates) | {"features": features}, largest_possible=largest)


def _limits(lower: float, upper: float) -> Limits:
    """Return two ends, None for infinite ones."""
    return Limits(finite(lower), finite(upper))


def method_limits(law: SamplingLaw, alpha: float) -> MethodLimits:
    """Return one method's interval and bounds."""
    interval = law.interval(alpha)
    return MethodLimits(
        law.method, law.guarantee, finite(interval.lower), finite(interval.upper),
        finite(law.lower_bound(alpha)), finite(law.upper_bound(alpha)),
    )  # fmt: skip


def list_moves(
    result: AuditResult, moves: MovePlan, limit: int = NO_OPTIONS.max_moves
) -> tuple[Move, ...]:
    """Return the moves that a document lists."""
    return describe_moves(
        moves.take(slice(limit)), result.space, result.answers.predictions,
        result.problem.losses,
    )  # fmt: skip


def build_flow_tables(
    result: AuditResult, moves: MovePlan, *, fixed: bool, space: SampleSpace | None = None
) -> tuple[FlowTable, ...]:
    """Return the flows by each feature that a document has room for."""
    too_long = _find_too_long(result, folds=space is None)
    most = {name: room for name, room, _ in _find_foldable(result)} if space is None else {}
    return tuple(
        flow_table(
            moves, space or result.space, name, alpha=result.alpha, fixed=fixed, most=most.get(name)
        )
        for name in result.flow_shapes
        if name not in too_long
    )


def select_largest_groups(groups: tuple[GroupFlow, ...]) -> tuple[GroupFlow, ...]:
    """Return the groups that a document lists, in their own order."""

    def rank(at: int) -> tuple[float, float, int]:
        """Return the sort key of a group."""
        return -groups[at].contribution, -(groups[at].people or 0.0), at

    return tuple(
        groups[at] for at in sorted(sorted(range(len(groups)), key=rank)[:MAX_LISTED_GROUPS])
    )


def list_omissions(result: AuditResult, *, folds: bool) -> list[str]:
    """Return a sentence for each thing that a document has no room for."""
    notes: list[str] = [
        Note("This report has no flows by {name}: {reason}.", name=name, reason=reason)
        for name, reason in _find_too_long(result, folds=folds).items()
    ]
    notes += [
        Note(
            "Flows by {name} show the {shown} of {levels} values with most swaps, and all others "
            "as one.",
            name=name,
            shown=most - 1,
            levels=Count(levels),
        )
        for name, most, levels in (_find_foldable(result) if folds else ())
    ]
    groups = len(result.space.first_of_groups)
    if groups > MAX_LISTED_GROUPS:
        notes.append(
            Note(
                "This report lists the {limit} of {count} groups that add most to the statistic.",
                limit=MAX_LISTED_GROUPS,
                count=Count(groups),
            )
        )
    notes += [
        Note(
            "This report has no group metrics by {name}: there are more than {limit} groups.",
            name=" and ".join(features),
            limit=MAX_METRIC_LEVELS,
        )
        for features in find_unmeasured_features(result)
    ]
    if result.answers.labels is not None and not has_decisions(result):
        why = (
            "the audit stopped early" if result.query_record.draws is None
            else "each query has several answers"
        )  # fmt: skip
        notes.append(f"This report has no group metrics, because {why}.")
    there = {law.method for law in result.compared_laws}
    whole = result.query_record.once_about_everybody and result.rates is None
    lacking = [name for name in COMPARED_METHODS if name not in there and whole]
    if lacking:
        notes.append(
            f"This report does not compare the bounds of: {', '.join(lacking)}. They need a known "
            "range of the loss, or more resamples at this level."
        )
    return notes


def _find_too_long(result: AuditResult, *, folds: bool) -> dict[str, str]:
    """Return why there is no room for flows, by feature."""
    reasons = {}
    folded = {name for name, _, _ in _find_foldable(result)} if folds else set()
    shapes = result.flow_shapes
    for name, (labels, levels, groups) in shapes.items():
        if name in folded:
            continue
        if levels > MAX_FLOW_LEVELS:
            reasons[name] = f"it has more than {MAX_FLOW_LEVELS} values"
        elif labels > MAX_FLOW_LABELS:
            reasons[name] = f"there are more than {MAX_FLOW_LABELS} labels"
        elif labels * levels * groups > MAX_FLOW_CELLS:
            reasons[name] = f"labels, values and groups make more than {MAX_FLOW_CELLS} cells"
    return reasons


def _find_foldable(result: AuditResult) -> list[tuple[str, int, int]]:
    """Return features with too many levels, with the room for levels and their number.

    At least two levels must remain beside all others.
    """
    shapes = result.flow_shapes.items()
    rooms = [
        (name, min(MAX_FLOW_LEVELS, MAX_FLOW_CELLS // (labels * groups)), levels)
        for name, (labels, levels, groups) in shapes
        if labels <= MAX_FLOW_LABELS
    ]
    return [
        (name, room, levels) for name, room, levels in rooms if MIN_FLOW_LEVELS <= room < levels
    ]


def _budget_in_words(result: AuditResult) -> str:
    """Return the meaning of the budget under the similarity."""
    # a custom similarity need not describe more than who is comparable
    describe = getattr(result.similarity, "describe_budget", None)
    return "" if describe is None else str(describe(result.problem.budget))


def _costs(result: AuditResult) -> tuple[CostRule, ...]:
    """Return the costs of changes by column, if the similarity lists them."""
    table = getattr(result.similarity, "cost_table", None)
    return () if table is None else tuple(CostRule(**row) for row in table(result.space))


def _similarity_check(result: AuditResult) -> SimilarityCheck:
    """Return what the similarity calls comparable among the audited people."""
    return check_space(
        result.similarity, result.space, result.problem.geometry, result.problem.budget,
        np.random.default_rng(result.seed), share=result.comparable_share,
    )  # fmt: skip


def _curve(result: AuditResult) -> tuple[tuple[CurvePoint, ...], list[str]]:
    """Return the corners of the budget curve for a document, and what it omits."""
    curve, below = result.budget_curve.thin(MAX_CURVE_CORNERS, NEAR * result.problem.budget)
    corners = zip(curve.budgets.tolist(), curve.values.tolist(), strict=True)
    points = tuple(CurvePoint(*corner) for corner in corners)
    corner_count = len(result.budget_curve.budgets)
    if corner_count <= MAX_CURVE_CORNERS and not below:
        return points, []
    sentence = (
        f"This report has the budget curve at {corner_count} budgets"
        if corner_count <= MAX_CURVE_CORNERS
        else f"This report has {len(points)} of the {corner_count} corners of the budget curve"
    )
    note = f"{sentence}. Straight lines between them are below the curve by at most {below:.1g}."
    return points, [note]


def _law(result: AuditResult) -> Law | None:
    """Return the histogram of a drawn law, on the scale of the statistic."""
    laws = () if result.rates else (result.law, *result.compared_laws)
    laws_of_draws = [law for law in laws if isinstance(law, DrawnLaw)]
    if not laws_of_draws:
        return None
    values = laws_of_draws[0].estimate + laws_of_draws[0].draws / math.sqrt(result.n)
    if np.ptp(values) <= ROUNDING * np.abs(values).max():
        return None
    density, edges = np.histogram(values, _edges(values), density=True)
    bins = zip(edges[:-1].tolist(), edges[1:].tolist(), density.tolist(), strict=True)
    return Law(laws_of_draws[0].method, tuple(LawBin(*one) for one in bins))


def _edges(values: FloatArray) -> FloatArray:
    """Return the edges of bins; around each value if there are few, on a lattice."""
    steps = np.diff(np.unique(values))
    step = steps[steps > np.ptp(values) * ROUNDING].min()
    if np.ptp(values) / step < LAW_BINS:
        return np.arange(values.min() - step / 2, values.max() + step, step)
    return np.linspace(values.min(), values.max(), LAW_BINS + 1)


def _similarity_record(result: AuditResult) -> dict[str, Any] | None:
    """Return the settings and the fitted values of the similarity, if it provides them."""
    record = getattr(result.similarity, "to_json", None)
    return None if record is None else record()


def provenance(result: AuditResult) -> Provenance:
    """Return how an audit was done, without the data's fingerprint."""
    loss = result.loss
    return Provenance(
        version=get_version("fairtransport"),
        libraries={name: get_version(name) for name in LIBRARIES},
        seed=result.seed,
        similarity=result.similarity.describe(),
        loss=loss.name,
        pos_label=to_plain_value(result.settings.pos_label),
        loss_range=None if loss.range is None else (float(loss.range[0]), float(loss.range[1])),
        loss_is_error=loss.name == "zero-one",
        model=result.model,
        features=result.space.features,
        sensitive=result.space.sensitive,
        label=result.space.label,
        resamples=result.n_resamples,
        settings_taken=result.settings_taken,
        classes=tuple(map(to_plain_value, result.answers.classes)),
    )
