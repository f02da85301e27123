"""From a result to its document, with everything in it or with small cells left out."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.audit.dependence import without_each_feature
from fairtransport.audit.grouping import compare_groups
from fairtransport.inference import DrawnLaw
from fairtransport.localise import (
    describe_moves,
    flow_table,
    group_flows,
    hide_small_moves,
    most_affected,
    too_small,
    worst_pair,
)
from fairtransport.localise.flows import DESCRIPTIVE
from fairtransport.space.fingerprint import data_sha256
from fairtransport.summary import (
    SCHEMA,
    AuditSummary,
    CostRule,
    CurvePoint,
    FlowTable,
    GroupFlow,
    Law,
    LawBin,
    Limits,
    MethodLimits,
    Provenance,
    Suppression,
    WorstPair,
)

if TYPE_CHECKING:
    from fairtransport.audit.result import AuditResult
    from fairtransport.checks import FloatArray
    from fairtransport.inference import SamplingLaw
    from fairtransport.localise import Moved

MOST_MOVES = 1000
"""A document lists this many moves and affected profiles; the tables of a result list all."""
MOST_LEVELS = 40
"""Flows by a feature with more levels are in no document; `AuditResult.flows` gives them."""
LAW_BINS = 40
CURVE_POINTS = 21
"""A shared document shows the budget curve at this many budgets: its corners would tell counts."""
LIBRARIES = ("numpy", "scipy", "narwhals", "pandas", "duckdb")


def summarise(result: AuditResult, at_least: int | None = None) -> AuditSummary:
    """Return everything a result says; with ``at_least``, no cell of fewer people."""
    moved, gone = result.moved, None
    if at_least is not None:
        moved, gone = hide_small_moves(moved, at_least)
    shown = moved.take(slice(MOST_MOVES))
    solution = result.solution
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
        methods=tuple(_method_limits(law, result.alpha) for law in result.compared_laws),
        plan_is_unique=solution.plan_is_unique,
        duality_gap=solution.duality_gap,
        disagreement=result.disagreement,
        moved=result.moved.total,
        moves_found=len(result.moved),
        moves=describe_moves(
            shown, result.space, result.answers.predictions, result.problem.losses
        ),
        flows=_flows(result, moved, gone),
        most_affected=most_affected(moved, result.space)[:MOST_MOVES],
        groups=_groups(result, moved, gone),
        group_metrics=compare_groups(result, at_least),
        worst_pair=_worst_pair(result, gone),
        budget_in_words=_budget_in_words(result),
        budget_curve=_curve(result, gone),
        costs=_costs(result),
        without_feature=without_each_feature(result),
        law=_law(result),
        warnings=(*result.warnings, *result.law.notes, *_omissions(result)),
        suppression=gone,
        provenance=_provenance(result, gone),
    )


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _limits(lower: float, upper: float) -> Limits:
    return Limits(_finite(lower), _finite(upper))


def _method_limits(law: SamplingLaw, alpha: float) -> MethodLimits:
    interval = law.interval(alpha)
    return MethodLimits(
        law.method, law.guarantee, _finite(interval.lower), _finite(interval.upper),
        _finite(law.lower_bound(alpha)), _finite(law.upper_bound(alpha)),
    )  # fmt: skip


def _is_too_long(result: AuditResult, feature: str) -> bool:
    column = result.space.columns[feature]
    return column.levels.dtype == object and len(column.levels) > MOST_LEVELS


def _omissions(result: AuditResult) -> list[str]:
    long = [name for name in _by_features(result) if _is_too_long(result, name)]
    notes = [
        f"Flows by {name} are left out here: it has more than {MOST_LEVELS} levels."
        for name in long
    ]
    if len(result.moved) > MOST_MOVES:
        notes.append(f"The largest {MOST_MOVES} of {len(result.moved)} moves are listed here.")
    return notes


def _by_features(result: AuditResult) -> list[str]:
    space = result.space
    return [name for name in space.profile if name not in space.sensitive] or list(space.sensitive)


def _flows(result: AuditResult, moved: Moved, gone: Suppression | None) -> tuple[FlowTable, ...]:
    fixed = result.targets_are_fixed and gone is None
    tables = [
        flow_table(moved, result.space, name, alpha=result.alpha, fixed=fixed)
        for name in _by_features(result)
        if not _is_too_long(result, name)
    ]
    if gone is None:
        return tuple(tables)
    # how many people there are in a cell is told by nothing that is left
    return tuple(
        FlowTable(
            table.feature, DESCRIPTIVE, tuple(replace(cell, people=None) for cell in table.cells)
        )
        for table in tables
    )


def _groups(result: AuditResult, moved: Moved, gone: Suppression | None) -> tuple[GroupFlow, ...]:
    groups = group_flows(moved, result.space, result.problem.losses)
    if gone is None:
        return groups
    few = too_small(np.array([group.people for group in groups]), gone.at_least)
    return tuple(
        replace(group, people=None if hidden else group.people, risk=None, risk_after=None)
        for group, hidden in zip(groups, few, strict=True)
    )


def _worst_pair(result: AuditResult, gone: Suppression | None) -> WorstPair | None:
    if gone is not None:
        return None  # two people, each of them one of few
    return worst_pair(result.space, result.problem.geometry, result.answers.predictions)


def _budget_in_words(result: AuditResult) -> str:
    # a user's own similarity need not say more than who is comparable
    describe = getattr(result.similarity, "describe_budget", None)
    return "" if describe is None else str(describe(result.problem.budget))


def _costs(result: AuditResult) -> tuple[CostRule, ...]:
    table = getattr(result.similarity, "cost_table", None)
    return () if table is None else tuple(CostRule(**row) for row in table(result.space))


def _curve(result: AuditResult, gone: Suppression | None) -> tuple[CurvePoint, ...]:
    curve = result.budget_curve
    budgets, digits = curve.budgets, None
    if gone is not None and len(budgets) > 1:
        budgets, digits = np.linspace(0, budgets[-1], CURVE_POINTS), 3
    points = [(float(budget), curve(float(budget))) for budget in budgets]
    return tuple(
        CurvePoint(budget, value if digits is None else round(value, digits))
        for budget, value in points
    )


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


def _provenance(result: AuditResult, gone: Suppression | None) -> Provenance:
    from importlib.metadata import version

    loss: Any = result.loss
    record = getattr(result.similarity, "to_json", None)
    return Provenance(
        version=version("fairtransport"),
        libraries={name: version(name) for name in LIBRARIES},
        seed=result.seed,
        data_sha256=None if gone is not None else data_sha256(result.space),
        similarity=result.similarity.describe(),
        similarity_record=None if gone is not None or record is None else record(),
        loss=loss.name,
        loss_range=None if loss.range is None else (float(loss.range[0]), float(loss.range[1])),
        loss_is_error=loss.name == "zero-one",
        model=result.model,
        features=result.space.features,
        sensitive=result.space.sensitive,
        label=result.space.label,
        resamples=result.n_resamples,
    )
