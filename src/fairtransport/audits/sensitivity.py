"""What a verdict depends on: threshold, budget, metric, features; the attributable part."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.ranks import number_rows
from fairtransport.documents.audit import FeatureRole
from fairtransport.inference import Interval, difference_law
from fairtransport.inference.laws import Verdict, reach_verdict, reaches
from fairtransport.transport import AuditProblem
from fairtransport.transport.robustness import MetricSensitivity, metric_sensitivity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.audits.result import AuditResult
    from fairtransport.geometry import Geometry
    from fairtransport.inference.finite.difference import DifferenceLaw


NOTHING_KNOWN = Interval(-math.inf, math.inf)


@dataclass(frozen=True)
class Attributable:
    """The decrease of the statistic when all sensitive features are held fixed.

    Attributes
    ----------
    value
        ψ − ψ', where ψ' is the statistic with all sensitive features held fixed.
    same_group
        ψ': the gain from people of the same sensitive group.
    lower_bound, upper_bound
        One-sided confidence bounds at level 1 − α each; infinite if there are none.
    interval
        The two-sided confidence interval.
    pvalue
        The p-value of a part of at most δ; None without δ or bounds.
    verdict
        The verdict on the part at δ; None without δ.

    Notes
    -----
    Both statistics are about the same people, so that bets are paired (`difference_law`). If no two
    people of one group are comparable, ψ' is 0 for every sample, and the part is ψ itself with its
    bounds. With targets from the sample a difference can err either way, so that there are no
    bounds.

    Examples
    --------
    People are swapped with their own twins only, so that the whole statistic needs the sensitive
    feature to change.

    >>> import fairtransport as ft, pandas as pd
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 20, "good": [1, 1, 0, 0] * 10})
    >>> result = ft.audit(people, "good", model=lambda rows: (rows["sex"] == "m").astype(int),
    ...                   sensitive_features="sex", rng=0)
    >>> result.attributable.value == result.statistic, result.attributable.same_group
    (True, 0.0)
    """

    value: float
    same_group: float
    lower_bound: float = -math.inf
    upper_bound: float = math.inf
    interval: Interval = NOTHING_KNOWN
    pvalue: float | None = None
    verdict: Verdict | None = None


def find_attributable(result: AuditResult) -> Attributable:
    """Return the part of an audit's statistic that needs sensitive features to change."""
    same_group_problem = hold_fixed(result)
    apart = _are_apart(same_group_problem.geometry)
    same_group = 0.0 if apart else same_group_problem.value(result.space.frequencies)
    value = max(result.statistic - same_group, 0.0)
    if result.target_scope in ("twins", "counterparts") and apart:
        return Attributable(
            value, same_group, result.lower_bound, result.upper_bound, result.interval,
            result.pvalue, result.bounds_verdict,
        )  # fmt: skip
    once = result.query_record.once_about_everybody
    units = result.space.units
    # given unequal sizes no stake may depend on the past, as those of a difference do
    is_fixed = result.fixed_targets and (units is None or units.is_adaptive)
    if not is_fixed or result.loss.range is None or not once:
        open_one: Verdict | None = None if result.delta is None else "inconclusive"
        return Attributable(value, same_group, verdict=open_one)
    law = difference_law(
        result.problem,
        same_group_problem,
        result.space.counts,
        rng=result.seed,
        alpha=result.alpha,
        loss_range=result.loss.range,
        most_gains=(result.most_gain, result.most_gain),
        nested=True,
        units=units,
    )
    return Attributable(
        value, same_group, law.lower_bound(result.alpha), law.upper_bound(result.alpha),
        law.interval(result.alpha), *_test_part(law, result),
    )  # fmt: skip


def _test_part(law: DifferenceLaw, result: AuditResult) -> tuple[float | None, Verdict | None]:
    """Return the p-value and verdict of the part at the audit's δ; None for both without δ."""
    if result.delta is None:
        return None, None
    verdict = reach_verdict(
        rejected=law.rejects(result.delta, result.alpha),
        certified=law.certifies(result.delta, result.alpha),
    )
    return law.pvalue(result.delta), verdict


def hold_fixed(result: AuditResult, *names: str) -> AuditProblem:
    """Return the audit's problem with some sensitive features held fixed; by default all.

    Blocks are split by the levels of these features, which leaves fewer moves at the same costs, so
    that no gain increases.
    """
    geometry, space = result.problem.geometry, result.space
    fixed_names = frozenset(names or space.sensitive)
    if fixed_names not in result.restricted_problems:
        columns = [space.columns[name].codes for name in space.sensitive if name in fixed_names]
        # holding a feature fixed compares people inside its levels only: finer blocks
        fixed = replace(geometry, blocks=number_rows([geometry.blocks, *columns]))
        result.restricted_problems[fixed_names] = AuditProblem(
            result.problem.losses, fixed, budget=result.problem.budget
        )
    return result.restricted_problems[fixed_names]


def _are_apart(geometry: Geometry) -> bool:
    """Return whether no two points are comparable; blocks are numbered from 0."""
    moves = geometry.list_moves()
    if moves is not None:
        return bool(np.all(moves.row == moves.col))
    return int(geometry.blocks.max()) + 1 == geometry.size


BUDGETS = (0.0, *(2.0 ** (step / 2) for step in range(-32, 13)))
"""Budgets at which the verdict is examined, fixed before any data: 0, then from 2⁻¹⁶ to 64."""


@dataclass(frozen=True)
class Flips:
    """Thresholds and budgets at which the verdict changes; None if it does not."""

    rejected_below: float
    certified_from: float | None
    budget_rejected_from: float | None
    budget_certified_until: float | None


@dataclass(frozen=True, repr=False)
class Sensitivity:
    """How much an audit depends on the auditor's choices.

    Attributes
    ----------
    metric
        Bounds on the change of the statistic with the metric, and changes observed.
    flips
        Thresholds and budgets at which the verdict changes, each kind with a joint guarantee.
    features
        The statistic with each sensitive feature held fixed in turn.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "good": [1] * 400})
    >>> result = ft.audit(people, "good", model=lambda x: (x["sex"] == "m").astype(int),
    ...                   sensitive_features="sex", delta=0.1, rng=0)
    >>> sensitivity = result.sensitivity(draws=3)
    >>> round(sensitivity.flips.rejected_below, 3), round(sensitivity.flips.certified_from, 3)
    (0.458, 0.542)
    """

    metric: MetricSensitivity
    flips: Flips
    features: tuple[FeatureRole, ...]

    def __repr__(self) -> str:
        metric, flips = self.metric, self.flips
        lines = [
            "What the audit depends on",
            (
                f"  metric: {metric.value:.4f} becomes {metric.lowest:.4f} to {metric.highest:.4f} "
                f"if squared distances are wrong by up to {100 * metric.eta:g} %"
            ),
            f"  threshold: rejected for every δ below {flips.rejected_below:.4f}; "
            + _or_never("certified from {:.4f} on", flips.certified_from, "certified for none"),
            "  budget: "
            + _or_never("rejected from {:.4g} on", flips.budget_rejected_from, "rejected at none")
            + "; "
            + _or_never(
                "certified up to {:.4g}", flips.budget_certified_until, "certified at none"
            ),
            *(f"  {one.feature} held fixed: {one.statistic:.4f}" for one in self.features),
        ]
        return "\n".join(lines)


def _or_never(words: str, value: float | None, never: str) -> str:
    """Return words with a value in them, or other words without a value."""
    return never if value is None else words.format(value)


def find_sensitivity(result: AuditResult, eta: float, draws: int) -> Sensitivity:
    """Return the sensitivity of an audit; metrics are drawn with the audit's seed."""
    metric = metric_sensitivity(
        result.problem, result.space.frequencies, eta=eta, draws=draws, rng=result.seed
    )
    return Sensitivity(metric, find_flips(result), without_each_feature(result))


def without_each_feature(result: AuditResult) -> tuple[FeatureRole, ...]:
    """Return the statistic with each sensitive feature held fixed in turn."""
    roles: list[FeatureRole] = []
    for name in result.space.sensitive:
        value = hold_fixed(result, name).value(result.space.frequencies)
        share = max(1 - value / result.statistic, 0.0) if result.statistic > 0 else None
        roles.append(FeatureRole(name, value, share))
    return tuple(roles)


def find_flips(result: AuditResult) -> Flips:
    """Return the thresholds and budgets at which the verdict changes, with a joint guarantee.

    ψ never decreases with the budget, so that the hypotheses H0(ε): ψ_ε <= δ are nested: one that
    is true at a budget is true at all smaller ones. They are tested downwards from the largest
    budget of a grid, each at level α, until the first that is not rejected. If any rejection is
    false, so is that of the largest budget of the grid at which H0 is true, which has probability
    at most α, as the grid does not depend on the data. So with probability 1 − α no rejection is
    false, at all budgets from the last on, also between those of the grid. Certificates are sought
    upwards from 0 in the same way. Whatever α means at one budget (at every n, or for large
    samples) it means for all of them.
    """
    exceeds = result.controls is None or result.controls.exceeds
    upper = result.upper_bound if np.isfinite(result.upper_bound) else None
    rejected = certified = None
    if result.delta is not None and _is_free_or_forbidden(result):
        verdict = result.bounds_verdict if result.applicability is None else None
        rejected = 0.0 if verdict == "rejected" else None
        # no move has a price, so the verdict is the same at every budget
        certified = np.inf if verdict == "certified" else None
    elif result.delta is not None:
        rising = sorted({*BUDGETS, result.problem.budget})
        # the difference from controls does not depend on the budget
        falling = rising[::-1] if exceeds else ()
        rejected = _last_reached(result, result.delta, "reject", falling)
        certified = _last_reached(result, result.delta, "certify", rising)
    return Flips(result.lower_bound if exceeds else 0.0, upper, rejected, certified)


def _is_free_or_forbidden(result: AuditResult) -> bool:
    """Return whether a budget can buy nothing in any sample."""
    return not result.problem.geometry.cost.charges


def _last_reached(
    result: AuditResult, delta: float, goal: str, budgets: Sequence[float]
) -> float | None:
    """Return the last budget up to which each reaches a goal; None if the first fails."""
    last = None
    for budget in budgets:
        # a fixed sequence of tests, each at α: ψ increases in ε, so that hypotheses are nested, and
        # stopping at the first failure keeps the joint level
        if not reaches(result.at_budget(budget).law, goal, delta, result.alpha):
            break
        last = budget
    return last
