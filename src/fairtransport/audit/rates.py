"""Rates inside an audit: what given predictions show of groups where answers differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from fairtransport.geometry import ZeroCost
from fairtransport.inference import rate_law, rate_laws
from fairtransport.inference.rates.sampling import RateBoundLaw

if TYPE_CHECKING:
    from fairtransport.audit.concluded import Concluded
    from fairtransport.audit.core import Core
    from fairtransport.checks import FloatArray, IntArray

METHOD = "rates"
"""What documents call the way in which these bounds are made."""


class _People(TypedDict):
    """Who is alike and what happened to them, as `rate_law` takes it.

    Attributes
    ----------
    blocks
        By observed point: those alike in all but the sensitive features that may change.
    losses, counts
        By observed point.
    strata
        The true label, None without one.
    loss_range
        Limits that no loss can pass.
    rng
        The audit's seed.
    """

    blocks: IntArray
    losses: FloatArray
    counts: IntArray
    strata: IntArray | None
    loss_range: tuple[float, float]
    rng: int


@dataclass(frozen=True)
class FeatureRate:
    """R of one sensitive feature, the others held fixed.

    Attributes
    ----------
    feature
        The sensitive feature.
    value
        The cross-fitted estimate.
    lower_bound
        The lower confidence bound at level 1 − ``level``.
    level
        Such a part of α that all of these bounds and the one of R hold together at level 1 − α.
    pvalue
        The p-value of the permutation test, to be compared with ``level``.
    """

    feature: str
    value: float
    lower_bound: float
    level: float
    pvalue: float


@dataclass(frozen=True)
class Rates:
    """R: how much the mean loss rises if all are treated as the worst-treated group among alikes.

    Groups are the combinations of the sensitive features that may change; people are alike who
    agree in all other columns of the profile and, if the loss uses it, in the true label.

    Attributes
    ----------
    groups
        The sensitive features whose combinations are the groups.
    value
        The cross-fitted estimate, whose expectation is at most R; no less than the bound.
    lower_bound
        The lower confidence bound at level 1 − α, valid at every n; the verdict comes from it.
    pvalue
        The p-value of exact permutation tests of "no difference at all".
    pvalue_at_delta
        The p-value of R <= δ; None without δ.
    features
        Each sensitive feature with the others held fixed.

    Notes
    -----
    R > 0 is no proof that the sensitive feature is used. There is no upper bound.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "good": 1, "said": [0, 1, 1, 1] * 100})
    >>> result = ft.audit(people, "good", y_pred="said", sensitive_features="sex", delta=0.1, rng=0)
    >>> found = result.rates
    >>> round(found.value, 2), found.lower_bound > 0.1, [one.feature for one in found.features]
    (0.25, True, ['sex'])
    """

    groups: tuple[str, ...]
    value: float
    lower_bound: float
    pvalue: float
    pvalue_at_delta: float | None
    features: tuple[FeatureRate, ...]


def why_untestable(core: Core) -> str | None:
    """Return why rates have nothing to say of who is compared with whom here; None if they do.

    Parameters
    ----------
    core
        The audit; its similarity, targets and loss decide, never the answers.
    """
    geometry = core.problem.geometry
    free = isinstance(geometry.cost, ZeroCost) and geometry.forbidden is None
    if not (core.similarity.moves_only_to_twins and free):
        return "this similarity compares others too, or at a price"
    if core.space.targets is not None:
        return "here they are compared with the people of `targets`"
    return "they need a `loss_range`" if core.loss.range is None else None


def is_bounded_by_rates(core: Core) -> bool:
    """Whether the audit's tests and bounds are those of R.

    It depends on what was asked, never on the answers: that they differ decides what is said of
    R, not how it is tested.

    Parameters
    ----------
    core
        The audit.
    """
    asked = core.settings.disagreement == "rates" and bool(core.space.predictions)
    return asked and why_untestable(core) is None


def rate_bound_law(core: Core) -> RateBoundLaw:
    """Return the tests and bounds of R: of all combinations of sensitive features, and of each.

    Parameters
    ----------
    core
        The audit. Sensitive features that the similarity holds exact, and those of one value in
        the sample, make no groups.
    """
    space, exact = core.space, getattr(core.similarity, "exact", ())
    columns = {
        name: space.columns[name].codes[space.observed]
        for name in space.sensitive
        if name not in exact
    }
    free = {name: codes for name, codes in columns.items() if np.ptp(codes) > 0}
    together, each, people = None, {}, _people(core)
    if len(free) > 1:
        together = rate_law(groups=[*free.values()], alpha=core.alpha / 2, **people)
        each = rate_laws(sensitive=free, alpha=core.alpha / (2 * len(free)), **people)
    elif free:
        ((name, codes),) = free.items()
        together = rate_law(groups=codes, alpha=core.alpha, **people)
        each = {name: together}
    return RateBoundLaw(METHOD, core.statistic, core.n, (), together, each, fixed_targets=False)


def find_rates(core: Concluded) -> Rates | None:
    """Return what is said of R; None where no profile shows different answers.

    Parameters
    ----------
    core
        The audit.
    """
    law = core.law
    if not isinstance(law, RateBoundLaw) or law.together is None or not core.answers_differ:
        return None
    level = core.alpha * law.own_share
    return Rates(
        tuple(law.each), max(law.together.estimate, core.lower_bound), core.lower_bound,
        law.permutation_pvalue, core.pvalue,
        tuple(
            FeatureRate(name, one.estimate, one.lower_bound(level), level, one.permutation_pvalue)
            for name, one in law.each.items()
        ),
    )  # fmt: skip


def _people(core: Core) -> _People:
    """Return the observed people as the laws of rates take them.

    Parameters
    ----------
    core
        The audit. Blocks are its comparable sets, strata its labels: a group's disadvantage is
        thought to have one sign among people of one label.
    """
    space, seen = core.space, core.space.observed
    assert core.loss.range is not None  # noqa: S101
    return {
        "blocks": core.problem.geometry.blocks[seen],
        "losses": core.problem.losses[seen],
        "counts": space.counts[seen],
        "strata": None if space.label is None else space.columns[space.label].codes[seen],
        "loss_range": core.loss.range,
        "rng": core.seed,
    }
