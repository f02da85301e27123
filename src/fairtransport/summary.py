"""AuditSummary: everything an audit says, as one frozen document, which is also the JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

SCHEMA = "fairtransport-audit/1"
"""The name and version of the JSON document's schema."""

Value = str | int | float | bool | None
"""What a cell of the audit data becomes in the document."""
Profile = dict[str, Value]
"""A person's columns by name."""


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
class Move:
    """People of one profile who are swapped with those of another.

    Attributes
    ----------
    from_profile, to_profile
        Who they are, and who they are compared with.
    changed
        The columns in which the two differ.
    label
        The true label, the same for both; None where the loss does without.
    people
        How many are moved; no whole number where the budget ends half way.
    prediction, prediction_after, loss, loss_after
        What the model says of the one and of the other, and what it costs.
    cost
        The squared distance between the two.
    tied
        Whether another target would have been as bad for them.
    """

    from_profile: Profile
    to_profile: Profile
    changed: tuple[str, ...]
    label: Value
    people: float
    prediction: Value | tuple[float, ...]
    prediction_after: Value | tuple[float, ...]
    loss: float
    loss_after: float
    cost: float
    tied: bool


@dataclass(frozen=True)
class Flow:
    """The change in the number of people in one cell: a level of a feature and a group.

    ``people`` are in the cell, ``out`` of them are moved to another cell, ``into`` it come
    others, and ``change`` is the difference. ``lower`` and ``upper`` bound the change that is
    expected of as many people, and ``pvalue`` tests that there is none, all cells of the
    table at once; they are None where the flows only describe the sample.
    """

    label: Value
    level: Value
    group: Profile
    people: float | None
    out: float
    into: float
    change: float
    lower: float | None = None
    upper: float | None = None
    pvalue: float | None = None


@dataclass(frozen=True)
class FlowTable:
    """The flows by one feature: the paper's Figure 2.

    ``kind`` is "simultaneous intervals" or "descriptive".
    """

    feature: str
    kind: str
    cells: tuple[Flow, ...]


@dataclass(frozen=True)
class Affected:
    """People at one point who do worse as someone similar.

    ``gain`` is how much worse each of them does, ``contribution`` what all of them add to
    the statistic.
    """

    profile: Profile
    label: Value
    people: float
    moved: float
    gain: float
    contribution: float


@dataclass(frozen=True)
class GroupFlow:
    """How many people are moved out of a group and into it, and what that adds."""

    group: Profile
    people: float
    out: float
    into: float
    change: float
    contribution: float
    risk: float
    risk_after: float


@dataclass(frozen=True)
class GroupComparison:
    """Group metrics by one sensitive feature.

    With a favourable label and a privileged group the differences are unprivileged minus
    privileged, else the largest difference between two groups. What a group cannot tell
    (no positives, say) is None.
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
class WorstPair:
    """The two comparable people whose predictions differ most for their distance.

    ``ratio`` is the empirical Lipschitz constant of the paper's Definition 1.
    """

    first: Profile
    second: Profile
    prediction: Value | tuple[float, ...]
    prediction_of_second: Value | tuple[float, ...]
    distance: float
    ratio: float


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


@dataclass(frozen=True)
class Suppression:
    """What was left out so that the document can be handed over.

    ``moved_hidden`` is how many people are in moves that are not shown.
    """

    at_least: int
    moves_hidden: int
    moved_hidden: float


@dataclass(frozen=True)
class Provenance:
    """How the audit was done.

    ``data_sha256`` is of the canonical table of counts; None in a document that is shared.
    """

    version: str
    libraries: dict[str, str]
    seed: int
    data_sha256: str | None
    similarity: str
    loss: str
    loss_range: tuple[float, float] | None
    loss_is_error: bool
    model: str
    features: tuple[str, ...]
    sensitive: tuple[str, ...]
    label: str | None
    resamples: int


@dataclass(frozen=True)
class AuditSummary:
    """Everything an audit says.

    The fields are those of the published JSON schema. An infinite number is None.
    """

    schema: str
    statistic: float
    baseline_risk: float
    worst_case_risk: float
    n: int
    points: int
    observed_points: int
    queried: int
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
    methods: tuple[MethodLimits, ...]
    plan_is_unique: bool
    duality_gap: float
    disagreement: float
    moved: float
    moves: tuple[Move, ...]
    flows: tuple[FlowTable, ...]
    most_affected: tuple[Affected, ...]
    groups: tuple[GroupFlow, ...]
    group_metrics: tuple[GroupComparison, ...]
    worst_pair: WorstPair | None
    budget_curve: tuple[CurvePoint, ...]
    law: Law | None
    warnings: tuple[str, ...]
    suppression: Suppression | None
    provenance: Provenance

    def as_json(self) -> dict[str, Any]:
        """Return the document as plain lists and dicts."""
        plain = to_plain(self)
        assert isinstance(plain, dict)  # noqa: S101
        return plain

    def to_json(self) -> str:
        """Return the document as JSON text, the same bytes for the same audit."""
        return json.dumps(self.as_json(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


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
