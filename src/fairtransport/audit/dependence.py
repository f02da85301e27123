"""What a verdict depends on: threshold, budget, metric, which features may change freely."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.summary import FeatureRole
from fairtransport.transport import AuditProblem
from fairtransport.transport.sensitivity import MetricSensitivity, metric_sensitivity

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport.audit.result import AuditResult

BISECTIONS = 12
"""Halvings of the range of budgets in which a verdict flips: to 1/4096 of it."""


@dataclass(frozen=True)
class Flips:
    """Where the verdict changes; None where it does not.

    Attributes
    ----------
    rejected_below
        δ-fairness is rejected for every δ below this, the lower bound.
    certified_from
        It is certified for every δ from this on, the upper bound.
    budget_rejected_from
        The least budget, to within a step, at which the audit's own δ is rejected.
    budget_certified_until
        The largest budget, to within a step, at which it is certified; infinite if it is at
        every budget.
    """

    rejected_below: float
    certified_from: float | None
    budget_rejected_from: float | None
    budget_certified_until: float | None


@dataclass(frozen=True)
class Sensitivity:
    """How much an audit depends on what the auditor chose.

    Attributes
    ----------
    metric
        How much the statistic can change, and does change, with the metric.
    flips
        The thresholds and budgets at which the verdict changes.
    features
        The statistic with each sensitive feature in turn held fixed.
    """

    metric: MetricSensitivity
    flips: Flips
    features: tuple[FeatureRole, ...]


def find_sensitivity(result: AuditResult, eta: float, draws: int) -> Sensitivity:
    """Return what an audit depends on; metrics are drawn with the audit's seed."""
    metric = metric_sensitivity(
        result.problem, result.space.frequencies, eta=eta, draws=draws, rng=result.seed
    )
    return Sensitivity(metric, find_flips(result), without_each_feature(result))


def without_each_feature(result: AuditResult) -> tuple[FeatureRole, ...]:
    """Return the statistic with each sensitive feature in turn held fixed."""
    space, geometry = result.space, result.problem.geometry
    roles = []
    for name in space.sensitive:
        pairs = np.column_stack([geometry.blocks, space.columns[name].codes])
        blocks = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
        problem = AuditProblem(
            result.problem.losses, replace(geometry, blocks=blocks), budget=result.problem.budget
        )
        value = problem.value(space.frequencies)
        share = 1 - value / result.statistic if result.statistic > 0 else None
        roles.append(FeatureRole(name, value, share))
    return tuple(roles)


def find_flips(result: AuditResult) -> Flips:
    """Return the thresholds and budgets at which the verdict changes.

    Notes
    -----
    Budgets are searched by halving between 0 and the end of the budget curve, after which
    nothing changes any more. The budgets returned are such that the verdict was seen there.
    """
    upper = result.upper_bound if np.isfinite(result.upper_bound) else None
    rejected = certified = None
    if result.delta is not None:
        end = float(result.budget_curve.budgets[-1])

        def verdict_at(budget: float) -> str | None:
            return result.at_budget(budget).verdict

        rejected = _edge(lambda budget: verdict_at(budget) == "rejected", end, 0.0)
        certified = _edge(lambda budget: verdict_at(budget) == "certified", 0.0, end)
        # after its end the curve is flat
        certified = np.inf if certified == end else certified
    return Flips(result.lower_bound, upper, rejected, certified)


def _edge(holds: Callable[[float], bool], inside: float, outside: float) -> float | None:
    """Return how far from ``inside`` towards ``outside`` a verdict holds; None if it does not."""
    if not holds(inside):
        return None
    if holds(outside):
        return outside
    for _ in range(BISECTIONS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside
