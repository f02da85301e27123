"""What a verdict depends on: threshold, budget, metric, which features may change freely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.audit.attributable import held_fixed
from fairtransport.audit.narrowing import value_at_most
from fairtransport.inference.verdict import reaches
from fairtransport.summary import FeatureRole
from fairtransport.transport.sensitivity import MetricSensitivity, metric_sensitivity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.audit.concluded import Concluded
    from fairtransport.audit.core import Core

BUDGETS = (0.0, *(2.0 ** (step / 2) for step in range(-32, 13)))
"""The budgets at which a verdict is looked at, fixed before any data: 0, then from 2⁻¹⁶ to 64."""


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
        δ-fairness at the audit's own δ is rejected at this budget and at all larger ones
        together, at level α; a budget of `BUDGETS` or the audit's own.
    budget_certified_until
        It is certified at this budget and at all smaller ones together, at level α; infinite
        where every move that is allowed is free.
    """

    rejected_below: float
    certified_from: float | None
    budget_rejected_from: float | None
    budget_certified_until: float | None


@dataclass(frozen=True, repr=False)
class Sensitivity:
    """How much an audit depends on what the auditor chose.

    Attributes
    ----------
    metric
        How much the statistic can change, and does change, with the metric.
    flips
        The thresholds and budgets at which the verdict changes, each kind with a guarantee for
        all of them together.
    features
        The statistic with each sensitive feature in turn held fixed.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "good": [1] * 400})
    >>> result = ft.audit(people, "good", model=lambda asked: (asked["sex"] == "m").astype(int),
    ...                   sensitive_features="sex", delta=0.1, rng=0)
    >>> found = result.sensitivity(draws=3)
    >>> round(found.flips.rejected_below, 3), round(found.flips.certified_from, 3)
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
    """Return words with a value in them, or other words where there is none."""
    return never if value is None else words.format(value)


def find_sensitivity(core: Concluded, eta: float, draws: int) -> Sensitivity:
    """Return what an audit depends on; metrics are drawn with the audit's seed.

    Parameters
    ----------
    core
        The audit.
    eta, draws
        How wrong squared distances may be, and how many random metrics are tried.
    """
    core.refuse_bracket("sensitivity")
    metric = metric_sensitivity(
        core.problem, core.space.frequencies, eta=eta, draws=draws, rng=core.seed
    )
    return Sensitivity(metric, find_flips(core), without_each_feature(core))


def without_each_feature(core: Core) -> tuple[FeatureRole, ...]:
    """Return the statistic with each sensitive feature in turn held fixed.

    Parameters
    ----------
    core
        The audit.

    Returns
    -------
    tuple of FeatureRole
        Empty where twins were made up along several features: nobody can say along which one.
    """
    roles: list[FeatureRole] = []
    if core.space.made_up is not None and len(core.space.sensitive) > 1:
        # a made-up twin differs in what tells any of them
        return ()
    for name in core.space.sensitive:
        value = value_at_most(core, held_fixed(core, name))
        share = max(1 - value / core.statistic, 0.0) if core.statistic > 0 else None
        roles.append(FeatureRole(name, value, share))
    return tuple(roles)


def find_flips(core: Concluded) -> Flips:
    """Return the thresholds and budgets at which the verdict changes, with a joint guarantee.

    Parameters
    ----------
    core
        The audit.

    Notes
    -----
    ψ never falls when the budget grows, so that the hypotheses H0(ε): ψ_ε <= δ are nested: what
    is true at a budget is true at all smaller ones. They are tested from the largest budget of a
    grid downwards, each at level α, until the first that is not rejected. If any of the
    rejections is false, then so is that of the largest budget of the grid at which H0 is true,
    and that one has probability at most α: the grid does not depend on the data. So with
    probability 1 − α no rejection is false, at all budgets from the last on, those between the
    grid's included. Certificates are sought upwards from 0 in the same way. What α means at one
    budget (at every n, or for large samples) it means for all of them.
    """
    upper = core.upper_bound if np.isfinite(core.upper_bound) else None
    rejected = certified = None
    if core.delta is not None and _is_free_or_forbidden(core):
        rejected = 0.0 if core.verdict == "rejected" else None
        # no move has a price: the verdict is the same at every budget
        certified = np.inf if core.verdict == "certified" else None
    elif core.delta is not None:
        rising = sorted({*BUDGETS, core.problem.budget})
        rejected = _last_reached(core, core.delta, "reject", rising[::-1])
        certified = _last_reached(core, core.delta, "certify", rising)
    return Flips(core.lower_bound, upper, rejected, certified)


def _is_free_or_forbidden(core: Core) -> bool:
    """Whether a budget can buy nothing, whoever is sampled.

    Parameters
    ----------
    core
        The audit, whose cost knows that by its kind, not by the sample.
    """
    return not core.problem.geometry.cost.charges


def _last_reached(
    core: Concluded, delta: float, goal: str, budgets: Sequence[float]
) -> float | None:
    """Return the last of some budgets up to which each reaches a goal; None if the first fails.

    Parameters
    ----------
    core
        The audit, whose frontiers serve all budgets.
    delta, goal
        The threshold, and "reject" or "certify".
    budgets
        In the order in which they are tried.
    """
    last = None
    for budget in budgets:
        # a fixed sequence of tests, each at α: ψ rises in ε, so that hypotheses are nested, and
        # stopping at the first failure keeps the level of all together
        if not reaches(core.at_budget(budget).law, goal, delta, core.alpha):
            break
        last = budget
    return last
