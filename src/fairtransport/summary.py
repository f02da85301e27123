"""AuditSummary: everything an audit says, as one frozen document, which is also the JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from fairtransport.localise import (
    Affected,
    Flow,
    FlowTable,
    GroupFlow,
    Move,
    Profile,
    Suppression,
    Value,
    WorstPair,
)

__all__ = [
    "SCHEMA",
    "Affected",
    "AuditSummary",
    "CostRule",
    "CurvePoint",
    "FeatureRole",
    "Flow",
    "FlowTable",
    "GroupComparison",
    "GroupFlow",
    "Law",
    "LawBin",
    "Limits",
    "MethodLimits",
    "Move",
    "Profile",
    "Provenance",
    "Suppression",
    "Value",
    "WorstPair",
    "to_plain",
]

SCHEMA = "fairtransport-audit/1"
"""The name and version of the JSON document's schema."""


@dataclass(frozen=True)
class Limits:
    """A confidence interval; an end that does not exist is None."""

    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class MethodLimits:
    """One method's two-sided interval and one-sided bounds."""

    method: str
    guarantee: str
    lower: float | None
    upper: float | None
    lower_bound: float | None
    upper_bound: float | None


@dataclass(frozen=True)
class GroupComparison:
    """Group metrics by one sensitive feature.

    With a favourable label and a privileged group the differences are unprivileged minus
    privileged, else the largest difference between two groups. What a group cannot tell
    (no positives, say) is None. A document that is shared has coarse ones, or no comparison.
    """

    feature: str
    favourable: Value
    privileged: Value
    accuracy: float
    accuracy_by_group: dict[str, float | None]
    statistical_parity_difference: float | None
    equal_opportunity_difference: float | None
    average_odds_difference: float | None
    demographic_parity_difference: float | None
    equalized_odds_difference: float | None


@dataclass(frozen=True)
class CostRule:
    """What a change of one column costs, in words."""

    column: str
    change: str
    cost: str


@dataclass(frozen=True)
class FeatureRole:
    """The statistic when a sensitive feature may not change.

    ``share`` of the statistic is lost then; None where the statistic is 0.
    """

    feature: str
    statistic: float
    share: float | None


@dataclass(frozen=True)
class CurvePoint:
    """The statistic at a budget."""

    budget: float
    value: float


@dataclass(frozen=True)
class LawBin:
    """A bin of the sampling law's histogram, around the estimate."""

    left: float
    right: float
    density: float


@dataclass(frozen=True)
class Law:
    """What the statistic could be in other samples, for a picture; the bounds do not use it."""

    method: str
    bins: tuple[LawBin, ...]


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How the audit was done.

    ``data_sha256`` is of the canonical table of counts, ``similarity_record`` has the
    similarity's settings and what it was fitted to; they and the seed are None in a document
    that is shared, so that nobody can try guesses of the data. ``settings_taken`` are the flags
    of the command line whose values came from a settings file.
    """

    version: str
    libraries: dict[str, str]
    seed: int | None
    data_sha256: str | None = None
    similarity: str
    similarity_record: dict[str, Any] | None = None
    loss: str
    loss_range: tuple[float, float] | None
    loss_is_error: bool
    model: str
    features: tuple[str, ...]
    sensitive: tuple[str, ...]
    label: str | None
    resamples: int
    settings_taken: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AuditSummary:
    """Everything an audit says.

    The fields are those of the published JSON schema. An infinite number is None. ``moved``
    people are in ``moves_found`` moves, of which ``moves`` are the largest. In a document
    that is shared every number that depends on the counts is rounded (``suppression`` tells
    how much), and numbers of points, questions and moves are None.
    """

    schema: str
    statistic: float
    baseline_risk: float
    worst_case_risk: float
    n: int
    points: int | None
    observed_points: int | None
    queried: int | None
    target_scope: str
    budget: float
    price: float
    price_interval: Limits
    delta: float | None
    alpha: float
    method: str
    guarantee: str
    interval: Limits
    lower_bound: float | None
    upper_bound: float | None
    pvalue: float | None
    verdict: str | None
    methods: tuple[MethodLimits, ...] = ()
    plan_is_unique: bool
    duality_gap: float
    disagreement: float
    moved: float
    moves_found: int | None
    moves: tuple[Move, ...]
    flows: tuple[FlowTable, ...] = ()
    most_affected: tuple[Affected, ...] = ()
    groups: tuple[GroupFlow, ...] = ()
    group_metrics: tuple[GroupComparison, ...] = ()
    worst_pair: WorstPair | None = None
    budget_in_words: str
    budget_curve: tuple[CurvePoint, ...] = ()
    costs: tuple[CostRule, ...] = ()
    without_feature: tuple[FeatureRole, ...] = ()
    law: Law | None = None
    warnings: tuple[str, ...]
    suppression: Suppression | None = None
    provenance: Provenance

    def as_json(self) -> dict[str, Any]:
        """Return the document as plain lists and dicts."""
        plain = to_plain(self)
        assert isinstance(plain, dict)  # noqa: S101
        return plain

    def to_json(self) -> str:
        """Return the document as JSON text, the same bytes for the same audit."""
        document = self.as_json()
        text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:  # half a character in the data has no bytes, but an escape
            text = json.dumps(document, indent=1, allow_nan=False)
        return text + "\n"


def to_plain(value: Any) -> Any:
    """Return nested dataclasses as plain JSON values; what is not finite becomes None."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
