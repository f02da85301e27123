"""Rates in an audit: what given predictions show of groups if answers differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from fairtransport.errors import InputError, option, param
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
"""Maximum number of decisions whose rates are shown if none is favourable."""
N_BINARY_CLASSES = 2
METHOD = "rates"
"""Name of this kind of bounds in documents."""


class _People(TypedDict):
    """People and their outcomes, as `rate_law` takes them."""

    blocks: IntArray
    losses: FloatArray
    counts: IntArray
    strata: IntArray | None
    loss_range: tuple[float, float]
    rng: int
    units: Units | None


@dataclass(frozen=True)
class FeatureRate:
    """R of one sensitive feature, with the others held fixed."""

    feature: str
    value: float
    lower_bound: float
    level: float
    pvalue: float


@dataclass(frozen=True)
class Rates:
    """R: how much the mean loss rises if all are treated like the worst group among similar people.

    Groups are the combinations of the sensitive features that may change; similar people agree in
    all other columns of the profile and, if the loss uses it, in the true label.

    Attributes
    ----------
    groups
        The sensitive features whose combinations are the groups.
    value
        The cross-fitted estimate, whose expectation is at most R, or the bound if that is larger.
    lower_bound
        Lower confidence bound at level 1 − α, valid at every n; the verdict is based on it.
    pvalue
        The p-value of exact permutation tests of "no difference at all"; None if
        ``deterministic``.
    pvalue_at_delta
        The p-value of R <= δ; None without δ.
    features
        R of each sensitive feature, with the others held fixed; empty if ``deterministic``.
    by_group
        Rates of each group compared with the largest one, among similar people: by each sensitive
        feature, then by their combinations.
    deterministic
        Whether answers were declared to be a function of the audited columns. R is then ψ, with the
        bound of the statistic.

    Notes
    -----
    R > 0 is no proof that the sensitive feature is used. There is no upper bound.

    The rates of a group and of the reference are over the strata with people of both; that of the
    reference is directly standardised to the group's people. They describe these people.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "good": 1, "hire": [0, 1, 1, 1] * 100})
    >>> result = ft.audit(people, "good", y_pred="hire", sensitive_features="sex", delta=0.1, rng=0)
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
    """Return why rates do not apply to the comparisons of this audit; None if they do."""
    geometry = result.problem.geometry
    free = isinstance(geometry.cost, ZeroCost) and geometry.forbidden is None
    if not (result.similarity.moves_only_to_twins and free):
        return "this similarity also compares people whose other columns differ"
    if result.space.targets is not None:
        return "people are compared with those of another file"
    return "the range of the loss is not known" if result.loss.range is None else None


def is_bounded_by_rates(result: AuditResult) -> bool:
    """Return whether the audit's tests and bounds are those of R.

    It depends on settings and declarations, never on the answers: with one man and one woman per
    profile, random answers look like a function of the columns.
    """
    return is_about_rates(result) and not result.settings.deterministic


def check_units(result: AuditResult) -> None:
    """Check that units have a declared limit if the bounds are about rates."""
    units = result.space.units
    if units is None or units.limit is not None or not is_bounded_by_rates(result):
        return
    designs = zip(DESIGN, result.settings.design, strict=True)
    name, column = next(
        (name, one.column) for name, one in designs if one is not None and one.largest is None
    )
    if name == "clusters":
        largest = option(name, f"{column},largest=12", f"ft.Clusters({column!r}, largest=12)")
        clusters = f"ft.Clusters({column!r}, target='clusters')"
        once = option(name, f"{column},target=clusters", clusters)
        example = (
            f"the most rows that any cluster can have, not counted in these data, as in {largest}; "
            f"or count every cluster once: {once}"
        )
    else:
        largest = option(name, f"{column},largest=8", f"ft.Weights({column!r}, largest=8)")
        example = f"the largest weight that there can be, not read off these data, as in {largest}"
    msg = f"{param(name)} needs `largest` where there is no model, got none: {example}"
    raise InputError(msg)


def is_about_rates(result: AuditResult) -> bool:
    """Return whether the audit is about R: given predictions, compared among similar people."""
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
    """Return R and the rates by group; None with a model, or if nobody's group could differ."""
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
    """Return the rates by each sensitive feature, then by all; shared ones only of many people."""
    space, features = result.space, _free_features(result)
    tables = [[name] for name in features]
    if len(features) > 1 and not at_least:  # they would be further equations for the same counts
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
    """Return the measures to average by group: decisions or numbers, then errors or losses."""
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
    """Return the unfavourable decisions; without a favourable one, all decisions."""
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
    """Return the predicted number, or the score of the second of two classes; else nothing."""
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
