"""Rates inside an audit: what given predictions show of groups where answers differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from fairtransport.errors import InputError, param
from fairtransport.explain.alike import (
    DECISION,
    ERROR,
    LOSS,
    OTHER_DECISION,
    PREDICTION,
    Measure,
    RatesAmongAlike,
    rates_among_alike,
)
from fairtransport.explain.moves import to_plain_value
from fairtransport.geometry import ZeroCost
from fairtransport.inference import rate_law, rate_laws
from fairtransport.inference.rates.law import RateBoundLaw
from fairtransport.settings import DESIGN
from fairtransport.similarity.base import label_columns

if TYPE_CHECKING:
    from fairtransport._core.units import Units
    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.audits.result import AuditResult

MAX_DECISIONS = 6
"""Decisions whose rates are shown where none is called favourable."""
N_BINARY_CLASSES = 2
METHOD = "rates"
"""What documents call the way in which these bounds are made."""


class _People(TypedDict):
    """Who is alike and what happened to them, as `rate_law` takes it."""

    blocks: IntArray
    losses: FloatArray
    counts: IntArray
    strata: IntArray | None
    loss_range: tuple[float, float]
    rng: int
    units: Units | None


@dataclass(frozen=True)
class FeatureRate:
    """R of one sensitive feature, the others held fixed."""

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
        The p-value of exact permutation tests of "no difference at all"; None if
        ``deterministic``.
    pvalue_at_delta
        The p-value of R <= δ; None without δ.
    features
        Each sensitive feature with the others held fixed; none if ``deterministic``.
    by_group
        What each group gets beside the largest one, among people alike: by each sensitive
        feature, then by their combinations.
    deterministic
        Whether answers were declared to be a function of the audited columns. R is then ψ, and
        its bound that of the statistic.

    Notes
    -----
    R > 0 is no proof that the sensitive feature is used. There is no upper bound.

    The rates of a group and of the reference are over the strata that have people of both; that
    of the reference is directly standardised to the group's people. They describe these people.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "good": 1, "said": [0, 1, 1, 1] * 100})
    >>> result = ft.audit(people, "good", y_pred="said", sensitive_features="sex", delta=0.1, rng=0)
    >>> rates = result.rates
    >>> round(rates.value, 2), rates.lower_bound > 0.1, [one.feature for one in rates.features]
    (0.25, True, ['sex'])
    >>> errors = rates.by_group[-1]
    >>> errors.measure, errors.worst, errors.groups[0].rate, errors.groups[0].reference_rate
    ('error', {'sex': 'f'}, 0.0, 0.5)
    """

    groups: tuple[str, ...]
    value: float
    lower_bound: float
    pvalue: float | None
    pvalue_at_delta: float | None
    features: tuple[FeatureRate, ...]
    by_group: tuple[RatesAmongAlike, ...]
    deterministic: bool


def why_untestable(result: AuditResult) -> str | None:
    """Return why rates have nothing to say of who is compared with whom here; None if they do."""
    geometry = result.problem.geometry
    free = isinstance(geometry.cost, ZeroCost) and geometry.forbidden is None
    if not (result.similarity.moves_only_to_twins and free):
        return "this similarity also compares people whose other columns differ"
    if result.space.targets is not None:
        return "people are compared with those of another file"
    return "the range of the loss is not known" if result.loss.range is None else None


def is_bounded_by_rates(result: AuditResult) -> bool:
    """Whether the audit's tests and bounds are those of R.

    It depends on what was asked and declared, never on the answers: with one man and one woman a
    profile the toss of a coin looks like a function of the columns.
    """
    return is_about_rates(result) and not result.settings.deterministic


def check_units(result: AuditResult) -> None:
    """Refuse units without a declared limit where the bounds are about rates."""
    units = result.space.units
    if units is None or units.limit is not None or not is_bounded_by_rates(result):
        return
    designs = zip(DESIGN, result.settings.design, strict=True)
    name = next(name for name, one in designs if one is not None and one.largest is None)
    once = f", or every cluster counts once with {param('clusters.target')}" * units.has_clusters
    msg = (
        f"{param(f'{name}.largest')} must be declared where rates of given predictions are about "
        f"people, got None: units are drawn in proportion to it{once}"
    )
    raise InputError(msg)


def is_about_rates(result: AuditResult) -> bool:
    """Whether the audit is about R: given predictions, and people compared with those alike."""
    return bool(result.space.predictions) and why_untestable(result) is None


def rate_bound_law(result: AuditResult) -> RateBoundLaw:
    """Return the tests and bounds of R: of all combinations of sensitive features, and of each."""
    space = result.space
    free = {name: space.columns[name].codes[space.observed] for name in _free_features(result)}
    together, each, people = None, {}, _people(result)
    if len(free) > 1:
        together = rate_law(groups=[*free.values()], alpha=result.alpha / 2, **people)
        each = rate_laws(sensitive=free, alpha=result.alpha / (2 * len(free)), **people)
    elif free:
        ((name, codes),) = free.items()
        together = rate_law(groups=codes, alpha=result.alpha, **people)
        each = {name: together}
    return RateBoundLaw(METHOD, result.statistic, result.n, (), together, each, fixed_targets=False)


def find_rates(result: AuditResult) -> Rates | None:
    """Return R and the rates by group; None where nobody's group could differ, or with a model."""
    features = _free_features(result) if is_about_rates(result) else []
    if not features:
        return None
    law, lower = result.law, max(result.lower_bound, 0.0)
    rates = Rates(
        tuple(features), result.statistic, lower, None, result.pvalue, (), compare_alike(result),
        deterministic=True,
    )  # fmt: skip
    if not isinstance(law, RateBoundLaw) or law.together is None:
        return rates
    level = result.alpha * law.own_share
    return replace(
        rates,
        value=max(law.together.estimate, lower),
        pvalue=law.permutation_pvalue,
        features=tuple(
            FeatureRate(name, one.estimate, one.lower_bound(level), level, one.permutation_pvalue)
            for name, one in law.each.items()
        ),
        deterministic=False,
    )


def compare_alike(result: AuditResult, at_least: int = 0) -> tuple[RatesAmongAlike, ...]:
    """Return the rates by each sensitive feature, then by all; of many people alone if shared."""
    space, features = result.space, _free_features(result)
    tables = [[name] for name in features]
    if len(features) > 1 and not at_least:  # further equations for the same counts
        tables.append(features)
    rates = []
    for measure in _measures(result):
        for names in tables:
            fixed = [name for name in features if name not in names]
            alike = [name for name in (*space.profile, *label_columns(space)) if name not in names]
            rates.append(
                rates_among_alike(
                    space, result.problem.geometry.blocks, names, fixed, measure, alike=alike,
                    at_least=at_least,
                )
            )  # fmt: skip
    return tuple(one for one in rates if one is not None)


def _free_features(result: AuditResult) -> list[str]:
    """Return the sensitive features that may change and differ between the audited people."""
    space, exact = result.space, getattr(result.similarity, "exact", ())
    names = [name for name in space.sensitive if name not in exact]
    return [name for name in names if np.ptp(space.columns[name].codes[space.observed]) > 0]


def _measures(result: AuditResult) -> list[Measure]:
    """Return what is averaged by group: decisions or numbers, then errors or losses."""
    loss, losses = result.loss, result.problem.losses
    is_rate = not loss.uses_truth and (loss.binary or result.settings.pos_label is not None)
    if loss.needs == "label" or (is_rate and len(result.space.predictions) == 1):
        answers = _decision_measures(result)
    else:
        answers = _number_measures(result)
    if not loss.uses_truth:
        return answers
    return [*answers, Measure(ERROR if loss.binary else LOSS, losses, more_is_worse=True)]


def _decision_measures(result: AuditResult) -> list[Measure]:
    """Return the unfavourable decisions; without a favourable one, each decision by its label."""
    space, favourable = result.space, result.favourable
    column = space.columns[space.predictions[0]]
    values = column.values()
    labels = [to_plain_value(label) for label in column.levels.tolist()]
    if favourable is None:
        return [
            Measure(DECISION, np.asarray(values == label, dtype=np.float64), label)
            for label in labels[:MAX_DECISIONS]
        ]
    others = [label for label in labels if label != favourable]
    if not others:
        return []
    kind, label = DECISION, others[0]
    if len(others) > 1:
        kind, label = OTHER_DECISION, to_plain_value(favourable)
    unfavourable = np.asarray(values != favourable, dtype=np.float64)
    return [Measure(kind, unfavourable, label, more_is_worse=True)]


def _number_measures(result: AuditResult) -> list[Measure]:
    """Return the predicted number, or the score of the second of two classes; none of several."""
    predictions = result.answers.predictions
    if predictions.ndim > 1:
        if predictions.shape[1] != N_BINARY_CLASSES:
            return []
        predictions = predictions[:, 1]
    return [] if predictions.dtype == object else [Measure(PREDICTION, predictions.astype(float))]


def _people(result: AuditResult) -> _People:
    """Return the observed people as the laws of rates take them."""
    space, rows = result.space, result.space.observed
    assert result.loss.range is not None  # noqa: S101
    return {
        "blocks": result.problem.geometry.blocks[rows],
        "losses": result.problem.losses[rows],
        "counts": space.counts[rows],
        "strata": None if space.label is None else space.columns[space.label].codes[rows],
        "loss_range": result.loss.range,
        "rng": result.seed,
        "units": None if space.units is None else space.units.move(np.cumsum(rows) - 1),
    }
