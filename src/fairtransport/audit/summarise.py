"""From a result to its document, with everything in it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.audit.dependence import without_each_feature
from fairtransport.audit.grouping import MOST_METRICS, compare_groups, unmeasured
from fairtransport.inference import DrawnLaw
from fairtransport.localise import (
    describe_moves,
    flow_shapes,
    flow_table,
    group_flows,
    most_affected,
    worst_pair,
)
from fairtransport.space.fingerprint import data_sha256
from fairtransport.summary import (
    SCHEMA,
    AuditSummary,
    CostRule,
    CurvePoint,
    FlowTable,
    Law,
    LawBin,
    Limits,
    MethodLimits,
    Provenance,
)

if TYPE_CHECKING:
    from fairtransport.audit.result import AuditResult
    from fairtransport.checks import FloatArray
    from fairtransport.inference import SamplingLaw
    from fairtransport.localise import GroupFlow, Move, Moved
    from fairtransport.space import SampleSpace
    from fairtransport.transport import BudgetCurve

COMPARED = ("finite-sample", "limit-law", "m-out-of-n")
"""The methods that a result shows side by side."""
MOST_MOVES = 1000
"""A document lists this many moves and affected profiles; the tables of a result list all."""
MOST_LEVELS = 40
"""Flows by a feature with more levels are in no document; `AuditResult.flows` gives them."""
MOST_LABELS = 20
"""The same for labels, of which each has a heat map of its own."""
MOST_CELLS = 1000
"""The same for labels times levels times groups."""
MOST_CORNERS = 400
"""A document has so many corners of the budget curve, half of them near the budget."""
NEAR = 10
"""So many times the budget is near, as in the picture."""
MOST_GROUPS = 500
"""The same for sensitive groups; those that add most to the statistic are listed."""
LAW_BINS = 40
LIBRARIES = ("numpy", "scipy", "narwhals", "pandas", "duckdb")


def summarise(result: AuditResult) -> AuditSummary:
    """Return everything a result says."""
    moved, headline = result.moved, summarise_headline(result)
    compared = compare_groups(result)
    notes = [note for one in compared for note in one.notes]
    return replace(
        headline,
        methods=tuple(method_limits(law, result.alpha) for law in result.compared_laws),
        flows=flow_tables(result, moved, fixed=result.targets_are_fixed),
        most_affected=most_affected(moved, result.space)[:MOST_MOVES],
        groups=largest_groups(group_flows(moved, result.space, result.problem.losses)),
        group_metrics=tuple(one.metrics for one in compared),
        worst_pair=worst_pair(
            result.space, result.problem.geometry, result.answers.predictions,
            are_labels=result.loss.needs == "label",
        ),
        budget_curve=_curve(result),
        costs=_costs(result),
        without_feature=without_each_feature(result),
        law=_law(result),
        warnings=(
            *headline.warnings, *notes, *omissions(result, moved), *_omitted_corners(result),
        ),
        provenance=replace(
            headline.provenance,
            data_sha256=data_sha256(result.space),
            similarity_record=_similarity_record(result),
        ),
    )  # fmt: skip


def summarise_headline(result: AuditResult) -> AuditSummary:
    """Return what a screen says of a result, without what takes time and only a document shows."""
    moved, solution = result.moved, result.solution
    return AuditSummary(
        schema=SCHEMA,
        statistic=result.statistic,
        baseline_risk=result.baseline_risk,
        worst_case_risk=result.worst_case_risk,
        n=result.n,
        points=result.points,
        observed_points=int(result.space.observed.sum()),
        queried=result.queried,
        target_scope=result.target_scope,
        budget=result.problem.budget,
        price=result.price,
        price_interval=_limits(*solution.price_interval),
        delta=result.delta,
        alpha=result.alpha,
        method=result.method,
        guarantee=result.guarantee,
        interval=_limits(*result.interval),
        lower_bound=_finite(result.lower_bound),
        upper_bound=_finite(result.upper_bound),
        pvalue=result.pvalue,
        verdict=result.verdict,
        plan_is_unique=solution.plan_is_unique,
        duality_gap=solution.duality_gap,
        disagreement=result.disagreement,
        moved=moved.total,
        moves_found=len(moved),
        moves=listed_moves(result, moved),
        budget_in_words=_budget_in_words(result),
        warnings=(*result.warnings, *result.law.notes),
        provenance=_provenance(result),
    )


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _limits(lower: float, upper: float) -> Limits:
    return Limits(_finite(lower), _finite(upper))


def method_limits(law: SamplingLaw, alpha: float) -> MethodLimits:
    """Return one method's interval and bounds."""
    interval = law.interval(alpha)
    return MethodLimits(
        law.method, law.guarantee, _finite(interval.lower), _finite(interval.upper),
        _finite(law.lower_bound(alpha)), _finite(law.upper_bound(alpha)),
    )  # fmt: skip


def listed_moves(result: AuditResult, moved: Moved) -> tuple[Move, ...]:
    """Return the moves that a document lists."""
    return describe_moves(
        moved.take(slice(MOST_MOVES)), result.space, result.answers.predictions,
        result.problem.losses,
    )  # fmt: skip


def flow_tables(
    result: AuditResult, moved: Moved, *, fixed: bool, space: SampleSpace | None = None
) -> tuple[FlowTable, ...]:
    """Return the flows by each feature that a document has room for.

    ``space`` has the people who are counted; default: all.
    """
    too_long = _too_long(result)
    return tuple(
        flow_table(moved, space or result.space, name, alpha=result.alpha, fixed=fixed)
        for name in _by_features(result)
        if name not in too_long
    )


def largest_groups(groups: tuple[GroupFlow, ...]) -> tuple[GroupFlow, ...]:
    """Return the groups that a document lists, in their own order."""

    def rank(at: int) -> tuple[float, float, int]:
        return -groups[at].contribution, -(groups[at].people or 0.0), at

    return tuple(groups[at] for at in sorted(sorted(range(len(groups)), key=rank)[:MOST_GROUPS]))


def omissions(result: AuditResult, moved: Moved) -> list[str]:
    """Return a sentence for each thing that a document has no room for."""
    notes = [
        f"Flows by {name} are left out here: {reason}."
        for name, reason in _too_long(result).items()
    ]
    if len(moved) > MOST_MOVES:
        notes.append(f"The largest {MOST_MOVES} of {len(moved)} moves are listed here.")
    groups = len(np.unique(result.space.groups(result.space.sensitive)))
    if groups > MOST_GROUPS:
        notes.append(f"{MOST_GROUPS} of {groups} groups are listed here, those that add most.")
    notes += [
        f"Group metrics by {name} are left out here: it has more than {MOST_METRICS} levels."
        for name in unmeasured(result)
    ]
    there = {law.method for law in result.compared_laws}
    lacking = [name for name in COMPARED if name not in there]
    if lacking:
        notes.append(
            f"Not compared here: {', '.join(lacking)}. The loss has no known range for it, or the "
            "level asks for more resamples."
        )
    return notes


def _omitted_corners(result: AuditResult) -> list[str]:
    corners = len(result.budget_curve.budgets)
    if corners <= MOST_CORNERS:
        return []
    curve, below = _thin_curve(result)
    note = (
        f"{len(curve.budgets)} of the budget curve's {corners} corners are listed here; lines "
        f"between them are below the curve by at most {below:.1g}."
    )
    return [note]


def _by_features(result: AuditResult) -> list[str]:
    space = result.space
    return [name for name in space.profile if name not in space.sensitive] or list(space.sensitive)


def _too_long(result: AuditResult) -> dict[str, str]:
    """Return why there is no room for flows, by the features of which that is so."""
    reasons = {}
    shapes = flow_shapes(result.space, _by_features(result))
    for name, (labels, levels, groups) in shapes.items():
        if levels > MOST_LEVELS:
            reasons[name] = f"it has more than {MOST_LEVELS} levels"
        elif labels > MOST_LABELS:
            reasons[name] = f"there are more than {MOST_LABELS} labels"
        elif labels * levels * groups > MOST_CELLS:
            reasons[name] = f"labels, levels and groups make more than {MOST_CELLS} cells"
    return reasons


def _budget_in_words(result: AuditResult) -> str:
    # a user's own similarity need not say more than who is comparable
    describe = getattr(result.similarity, "describe_budget", None)
    return "" if describe is None else str(describe(result.problem.budget))


def _costs(result: AuditResult) -> tuple[CostRule, ...]:
    table = getattr(result.similarity, "cost_table", None)
    return () if table is None else tuple(CostRule(**row) for row in table(result.space))


def _curve(result: AuditResult) -> tuple[CurvePoint, ...]:
    curve, _ = _thin_curve(result)
    corners = zip(curve.budgets.tolist(), curve.values.tolist(), strict=True)
    return tuple(CurvePoint(*corner) for corner in corners)


def _thin_curve(result: AuditResult) -> tuple[BudgetCurve, float]:
    return result.budget_curve.thinned(MOST_CORNERS, NEAR * result.problem.budget)


def _law(result: AuditResult) -> Law | None:
    """Return the histogram of a drawn law, moved and scaled to the statistic's axis."""
    drawn = [law for law in (result.law, *result.compared_laws) if isinstance(law, DrawnLaw)]
    if not drawn or np.ptp(drawn[0].draws) == 0:
        return None
    values = drawn[0].estimate + drawn[0].draws / math.sqrt(result.n)
    density, edges = np.histogram(values, _edges(values), density=True)
    bins = zip(edges[:-1].tolist(), edges[1:].tolist(), density.tolist(), strict=True)
    return Law(drawn[0].method, tuple(LawBin(*one) for one in bins))


def _edges(values: FloatArray) -> FloatArray:
    """Return the edges of bins; around each value where there are few, on a lattice."""
    steps = np.diff(np.unique(values))
    step = steps[steps > np.ptp(values) * 1e-9].min()
    if np.ptp(values) / step < LAW_BINS:
        return np.arange(values.min() - step / 2, values.max() + step, step)
    return np.linspace(values.min(), values.max(), LAW_BINS + 1)


def _similarity_record(result: AuditResult) -> dict[str, Any] | None:
    record = getattr(result.similarity, "to_json", None)
    return None if record is None else record()


def _provenance(result: AuditResult) -> Provenance:
    from importlib.metadata import version

    loss = result.loss
    return Provenance(
        version=version("fairtransport"),
        libraries={name: version(name) for name in LIBRARIES},
        seed=result.seed,
        similarity=result.similarity.describe(),
        loss=loss.name,
        loss_range=None if loss.range is None else (float(loss.range[0]), float(loss.range[1])),
        loss_is_error=loss.name == "zero-one",
        model=result.model,
        features=result.space.features,
        sensitive=result.space.sensitive,
        label=result.space.label,
        resamples=result.n_resamples,
        settings_taken=result.settings_taken,
    )
