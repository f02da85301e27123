"""AuditSummary: the whole audit as one frozen document, also written as JSON."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, replace
from typing import Annotated, Any, ClassVar, NamedTuple

from fairtransport._core.schema import Doc, Document, Schema, json_schema
from fairtransport._core.units import PEOPLE, TARGETS, Units
from fairtransport.documents.verdicts import VERDICT_VALUES
from fairtransport.explain.alike import GroupBesideReference, RatesAmongAlike
from fairtransport.explain.decisions import Decisions
from fairtransport.explain.disclosure import Suppression
from fairtransport.explain.flows import Flow, FlowTable, GroupFlow
from fairtransport.explain.groups import GroupRate, RateTable
from fairtransport.explain.moves import Move, Profile, Value, WorstPair
from fairtransport.explain.proxies import Proxies
from fairtransport.inference.sample_plan import Outlook
from fairtransport.similarity.counterpart_model import GateRow
from fairtransport.similarity.similarity_check import ColumnDistance, SimilarityCheck, SimilarPair

__all__ = [
    "SCHEMA",
    "AttributablePart",
    "AuditSummary",
    "ColumnDistance",
    "ControlsFound",
    "CostRule",
    "CounterpartPair",
    "CounterpartsFound",
    "CurvePoint",
    "Decisions",
    "FeatureRate",
    "FeatureRole",
    "Flow",
    "FlowTable",
    "GateRow",
    "GroupBesideReference",
    "GroupComparison",
    "GroupFlow",
    "GroupRate",
    "JudgedFigures",
    "Law",
    "LawBin",
    "Limits",
    "MethodLimits",
    "Move",
    "Outlook",
    "Profile",
    "Provenance",
    "Proxies",
    "QuestionsAsked",
    "RateTable",
    "RatesAmongAlike",
    "RatesFound",
    "SampledUnits",
    "SimilarPair",
    "SimilarityCheck",
    "Suppression",
    "Value",
    "WorstPair",
    "audit_schema",
]

SCHEMA = "fairtransport-audit/1"
"""The name and version of the JSON document's schema."""
WHY_STOPPED = {
    "rejected": "δ-fairness was rejected",
    "certified": "δ-fairness was certified",
    "budget": "the limit of queries was reached",
    "everybody": "the model had been queried for everybody",
}
"""Why the queries stopped, and in words: at a verdict, out of queries, or out of people."""
JUDGED = ("statistic", "attributable")
"""The figures that a verdict can be on."""
SCOPES = ("twins", "reference", "observed", "counterparts")
"""Whom people can be compared with."""
GUARANTEES = ("finite-sample", "asymptotic", "approximate")
"""What bounds can promise."""
ABOUT_WORDS = {
    "population": "the population that these people were drawn from",
    "these": "these people only",
}
"""What a bound is about, in words."""


@dataclass(frozen=True)
class Limits:
    """A confidence interval; an end that does not exist is null."""

    lower: Annotated[float | None, Doc("The lower end; null if there is none.")]
    upper: Annotated[float | None, Doc("The upper end; null if there is none.")]


@dataclass(frozen=True, kw_only=True)
class AttributablePart:
    """The part of the statistic that is lost when all sensitive features are held fixed.

    A bound that does not exist is null; all are null if shared.
    """

    value: Annotated[float, Doc("The part: the statistic minus what is left of it then.")]
    same_group: Annotated[float, Doc("What is left then: swaps inside one group.")]
    interval: Annotated[Limits, Doc("The two-sided confidence interval at level 1 − alpha.")]
    lower_bound: Annotated[float | None, Doc("The one-sided lower confidence bound.")]
    upper_bound: Annotated[float | None, Doc("The one-sided upper confidence bound.")]
    pvalue: Annotated[
        float | None, Doc("The p-value of a part of at most delta; null without delta or bounds.")
    ]
    verdict: Annotated[
        str | None,
        Doc(
            "The verdict on the part at the limit delta; null without delta.", one_of=VERDICT_VALUES
        ),
    ]


class JudgedFigures(NamedTuple):
    """The figures of a verdict: of the statistic, or of its attributable part."""

    value: float
    interval: Limits
    lower_bound: float | None
    upper_bound: float | None
    pvalue: float | None


def is_part_judged(judge: str, target_scope: str, same_group: float, *, has_rates: bool) -> bool:
    """Return whether a verdict is on the attributable part, and that differs from the whole.

    Notes
    -----
    All of R needs sensitive features to change, and so does the statistic if people are swapped
    with their own twins or counterparts only.
    """
    is_whole = target_scope in {"twins", "counterparts"} and same_group == 0
    return judge == "attributable" and not has_rates and not is_whole


@dataclass(frozen=True, kw_only=True)
class ControlsFound:
    """Sensitive edits compared with edits that should not matter, for the same people.

    An edit changes one column, and its shift is the increase of a person's loss.
    """

    columns: Annotated[tuple[str, ...], Doc("The control columns.")]
    margin: Annotated[float, Doc("The tolerated difference of the mean shifts.")]
    people: Annotated[int | None, Doc("How many people have edits of both kinds; null if shared.")]
    sensitive_shift: Annotated[
        float, Doc("The mean shift of the sensitive edits; rounded if shared.")
    ]
    control_shift: Annotated[float, Doc("The mean shift of the control edits; rounded if shared.")]
    difference: Annotated[
        float, Doc("The sensitive shift minus the control shift; rounded if shared.")
    ]
    interval: Annotated[
        Limits, Doc("The two-sided confidence interval of the difference; null if shared.")
    ]
    lower_bound: Annotated[float | None, Doc("Its one-sided lower bound; null if shared.")]
    upper_bound: Annotated[float | None, Doc("Its one-sided upper bound; null if shared.")]
    pvalue: Annotated[
        float | None, Doc("The p-value of a difference of at most the margin; null if shared.")
    ]
    permutation_pvalue: Annotated[
        float | None,
        Doc(
            "The p-value of a permutation test that exchanges the edits of a person at random; "
            "null if shared."
        ),
    ]
    exceeds: Annotated[
        bool, Doc("Whether the difference is shown to be above the margin, at level alpha.")
    ]


@dataclass(frozen=True, kw_only=True)
class FeatureRate:
    """R of one sensitive feature, among people with equal values of the others."""

    feature: Annotated[str, Doc("The sensitive feature.")]
    value: Annotated[float, Doc("The cross-fitted estimate.")]
    lower_bound: Annotated[float, Doc("The lower confidence bound at level 1 − level.")]
    level: Annotated[
        float,
        Doc(
            "The part of alpha for this bound, so that all of these bounds and that of R are "
            "simultaneous."
        ),
    ]
    pvalue: Annotated[
        float,
        Doc(
            "The p-value of the permutation test of no difference: 20/l if the 20th deal that is "
            "at least as extreme as the sample is deal l, else (g + 1)/2000 for g such deals of "
            "1999 (Besag and Clifford)."
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class RatesFound:
    """R: how much the mean loss rises if all are treated like the worst-treated group.

    The groups are compared among people with equal values in all other columns.
    It is no proof that a sensitive feature is used, and there is no upper bound.
    """

    groups: Annotated[
        tuple[str, ...], Doc("The sensitive features whose combinations are the groups.")
    ]
    value: Annotated[
        float | None,
        Doc("The cross-fitted estimate, at least the lower bound; null if shared."),
    ]
    lower_bound: Annotated[
        float, Doc("The lower confidence bound at level 1 − alpha; weaker if shared.")
    ]
    pvalue: Annotated[
        float | None,
        Doc(
            "The p-value of permutation tests of no difference: 20/l if the 20th deal that is at "
            "least as extreme as the sample is deal l, else (g + 1)/2000 for g such deals of 1999 "
            "(Besag and Clifford); the least over its share of alpha; null if deterministic, or "
            "if shared and few people are counted elsewhere; coarse if shared."
        ),
    ]
    pvalue_at_delta: Annotated[
        float | None, Doc("The p-value of R at most delta; null without delta; coarse if shared.")
    ]
    features: Annotated[
        tuple[FeatureRate, ...],
        Doc(
            "R of each sensitive feature, the others being equal; empty if deterministic or shared."
        ),
    ]
    by_group: Annotated[
        tuple[RatesAmongAlike, ...],
        Doc(
            "What each group gets, compared with the largest group among people with equal values "
            "in all other columns: by each sensitive feature, then by their combinations; only "
            "rates of many people if shared."
        ),
    ]
    deterministic: Annotated[
        bool,
        Doc(
            "Whether predictions were declared to depend on the audited columns only: R is then "
            "the statistic, and so is its bound."
        ),
    ]
    largest_possible: Annotated[
        float | None,
        Doc(
            "The largest possible R with these people, where it is not above delta and no verdict "
            "is possible; else null. Coarse if shared."
        ),
    ]


@dataclass(frozen=True)
class MethodLimits:
    """One method's two-sided interval and one-sided bounds."""

    method: Annotated[str, Doc("The method.")]
    guarantee: Annotated[str, Doc("What its bounds promise.", one_of=GUARANTEES)]
    lower: Annotated[float | None, Doc("The lower end; null if there is none.")]
    upper: Annotated[float | None, Doc("The upper end; null if there is none.")]
    lower_bound: Annotated[float | None, Doc("The one-sided lower bound.")]
    upper_bound: Annotated[float | None, Doc("The one-sided upper bound.")]


@dataclass(frozen=True, kw_only=True)
class CounterpartPair:
    """A person and a counterpart."""

    profile: Annotated[Profile, Doc("The person.")]
    changes: Annotated[Profile, Doc("What the counterpart has instead.")]
    changes_answer: Annotated[bool, Doc("Whether the model's prediction differs.")]


@dataclass(frozen=True, kw_only=True)
class ToldCounterparts:
    """How well a classifier tells counterparts from people who are recorded in their group."""

    feature: Annotated[str, Doc("The sensitive feature.")]
    group: Annotated[Value, Doc("The group.")]
    accuracy: Annotated[float, Doc("The balanced accuracy on people it was not fitted on.")]
    lower: Annotated[float, Doc("The lower end of its interval; guessing has 0.5.")]
    upper: Annotated[float, Doc("The upper end of its interval.")]


@dataclass(frozen=True, kw_only=True)
class CounterpartsFound:
    """Which columns depend on the group, which change, and what counterparts look like."""

    held_out: Annotated[int, Doc("The people that the gate and the maps were fitted on.")]
    legitimate: Annotated[
        tuple[str, ...], Doc("Columns that may rightly count; they stay as they are.")
    ]
    gate_level: Annotated[
        float, Doc("The level of the tests of dependence, for all columns together.")
    ]
    gate: Annotated[tuple[GateRow, ...], Doc("The columns and how they depend on the group.")]
    detectable_shift: Annotated[
        dict[str, float],
        Doc("By sensitive feature, the difference of groups (SD) found with 80 % probability."),
    ]
    spread: Annotated[
        float, Doc("Standard deviation of the statistic over maps of resampled hold-outs.")
    ]
    told: Annotated[
        tuple[ToldCounterparts, ...], Doc("How well a classifier tells counterparts from others.")
    ]
    pairs: Annotated[tuple[CounterpartPair, ...], Doc("Some people beside their counterparts.")]


@dataclass(frozen=True)
class GroupComparison:
    """Rates and group metrics by sensitive features; what is undefined is null.

    With a favourable label the signed differences are those of all others minus the reference
    group. A shared document has coarse numbers, or no comparison.
    """

    features: Annotated[
        tuple[str, ...], Doc("The sensitive feature, or all whose combinations are the groups.")
    ]
    favourable: Annotated[Value, Doc("The favourable label; null if none was given.")]
    reference: Annotated[
        Profile | None,
        Doc("The reference group of signed differences; null without a favourable label."),
    ]
    accuracy: Annotated[float | None, Doc("The accuracy for everybody; null without true labels.")]
    accuracy_by_group: Annotated[
        dict[str, float | None], Doc("The accuracy by group; empty without true labels.")
    ]
    statistical_parity_difference: Annotated[
        float | None, Doc("Rates of favourable predictions, others − reference (AIF360).")
    ]
    equal_opportunity_difference: Annotated[
        float | None, Doc("True positive rates, others − reference (AIF360).")
    ]
    average_odds_difference: Annotated[
        float | None, Doc("Mean difference of true and of false positive rates (AIF360).")
    ]
    demographic_parity_difference: Annotated[
        float | None, Doc("Largest difference of rates between two groups (Fairlearn).")
    ]
    equalized_odds_difference: Annotated[
        float | None, Doc("Largest difference of true or of false positive rates (Fairlearn).")
    ]
    rates: Annotated[
        tuple[RateTable, ...],
        Doc("Who gets which decision, and who a wrong one, by group, with intervals."),
    ]


@dataclass(frozen=True)
class CostRule:
    """How much a difference in one column counts, in words."""

    column: Annotated[str, Doc("The column.")]
    change: Annotated[str, Doc("The difference.")]
    cost: Annotated[str, Doc("How much it counts, as a squared distance.")]


@dataclass(frozen=True)
class FeatureRole:
    """The statistic with a sensitive feature held fixed."""

    feature: Annotated[str, Doc("The sensitive feature that may not change.")]
    statistic: Annotated[float, Doc("The statistic then.")]
    share: Annotated[
        float | None,
        Doc("The share of the statistic that is lost then; null where the statistic is 0."),
    ]


@dataclass(frozen=True)
class CurvePoint:
    """The statistic at a budget."""

    budget: Annotated[float, Doc("The budget.")]
    value: Annotated[float, Doc("The statistic.")]


@dataclass(frozen=True)
class LawBin:
    """A bin of the sampling law's histogram."""

    left: Annotated[float, Doc("Left end.")]
    right: Annotated[float, Doc("Right end.")]
    density: Annotated[float, Doc("Height.")]


@dataclass(frozen=True)
class Law:
    """The sampling distribution of the statistic, for a chart.

    It is centred at the estimate; the bounds do not use it.
    """

    method: Annotated[str, Doc("How it was made.")]
    bins: Annotated[tuple[LawBin, ...], Doc("The histogram.")]


@dataclass(frozen=True, kw_only=True)
class QuestionsAsked:
    """How the model was queried, if not once for everybody."""

    repeated: Annotated[int, Doc("How many queries were repeated.")]
    differed: Annotated[int, Doc("How many of these got a different answer.")]
    differed_at_most: Annotated[
        float | None,
        Doc("Exact upper bound of the share of all that would; null if none was repeated."),
    ]
    draws: Annotated[
        int | None, Doc("Answers to each query, where they are random; null: one for all.")
    ]
    unit: Annotated[
        float | None,
        Doc("Differences of two losses are clipped at this value; null: the range of the loss."),
    ]
    people: Annotated[
        int | None,
        Doc("People in the data, where queries stopped once there was a verdict; else null."),
    ]
    stopped: Annotated[
        str | None,
        Doc(
            "Why the queries stopped; null where everybody was queried.",
            one_of=tuple(WHY_STOPPED),
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How the audit was done.

    A document that is shared has neither seed nor hash, so that nobody can try guesses of the data.
    """

    version: Annotated[str, Doc("The version of fairtransport.")]
    libraries: Annotated[dict[str, str], Doc("Versions of the libraries that matter.")]
    seed: Annotated[int | None, Doc("The random seed; null in a shared document.")]
    data_sha256: Annotated[
        str | None, Doc("SHA-256 hash of the data (canonical counts); null in a shared document.")
    ] = None
    similarity: Annotated[str, Doc("Who counts as similar, in words.")]
    similarity_record: Annotated[
        dict[str, Any] | None, Doc("The similarity's settings and what was fitted; null if shared.")
    ] = None
    loss: Annotated[str, Doc("The loss.")]
    loss_range: Annotated[
        tuple[float, float] | None,
        Doc("The smallest and largest possible loss; null if unbounded."),
    ]
    pos_label: Annotated[Value, Doc("The positive label; null if none was named.")]
    loss_is_error: Annotated[bool, Doc("Whether mean losses are shares of errors.")]
    model: Annotated[str, Doc("The model, in words.")]
    features: Annotated[tuple[str, ...], Doc("The columns the model receives.")]
    sensitive: Annotated[tuple[str, ...], Doc("The sensitive features.")]
    label: Annotated[str | None, Doc("The column of true labels; null if there is none.")]
    classes: Annotated[
        tuple[Value, ...], Doc("The labels that scores belong to, in their order; none if shared.")
    ] = ()
    title: Annotated[str | None, Doc("The report's heading, if one was given.")] = None
    date: Annotated[str | None, Doc("The date, if one was given.")] = None
    data_name: Annotated[str | None, Doc("The name of the data, if one was given.")] = None
    auditor: Annotated[str | None, Doc("The auditor, if one was given.")] = None
    resamples: Annotated[int, Doc("The number of resamples of resampling methods.")]
    settings_taken: Annotated[
        tuple[str, ...], Doc("The flags whose values came from a settings file, by their names.")
    ] = ()


@dataclass(frozen=True, kw_only=True)
class SampledUnits:
    """The independent units of the sample: clusters of people, or people with weights."""

    column: Annotated[str, Doc("The column of clusters or, without clusters, of weights.")]
    has_clusters: Annotated[bool, Doc("Whether a unit is a cluster of several people.")]
    count: Annotated[int, Doc("The number of units.")]
    smallest: Annotated[
        float, Doc("The smallest weight of a unit: of a cluster, its number of people.")
    ]
    largest: Annotated[float, Doc("The largest weight of a unit.")]
    limit: Annotated[
        float | None, Doc("The largest weight in the population, as declared; null if it was not.")
    ]
    target: Annotated[str, Doc("What counts once: each person or each cluster.", one_of=TARGETS)]
    weights: Annotated[str | None, Doc("The column of people's weights; null without one.")] = None

    @classmethod
    def of(cls, units: Units | None) -> SampledUnits | None:
        """Return the units of a sample for a document."""
        if units is None:
            return None
        return cls(
            column=units.name,
            has_clusters=units.has_clusters,
            count=units.n,
            smallest=float(units.weights.min()),
            largest=float(units.weights.max()),
            limit=units.limit,
            target=units.target,
            weights=units.weighed_by,
        )

    @property
    def counts_people_once(self) -> bool:
        """Whether every person counts once."""
        return self.has_clusters and self.target == PEOPLE and self.weights is None

    @property
    def sampled(self) -> str:
        """The independent units that bounds are about, and what they are conditional on."""
        how = "independent" if self.has_clusters else "independently drawn"
        return f"{how} {self.name}{self.given}"

    @property
    def name(self) -> str:
        """Name of the units, as in "100 people"."""
        return f"units of {self.column}" if self.has_clusters else "people"

    @property
    def given(self) -> str:
        """What statements are conditional on; empty if the limit was declared."""
        if self.limit is not None:
            return ""
        return ", given these sizes" if self.has_clusters else ", given these weights"

    @property
    def in_words(self) -> str:
        """What is independent, and what the bounds are about."""
        if not self.has_clusters:
            what = f"People count by their weight in {self.column}"
            return f"{what}. Bounds are valid for {self.sampled}."
        once = "every person counts once"
        if self.weights is not None:
            once = f"people count by their weight in {self.weights}"
        if self.target != PEOPLE:
            inside = (
                "" if self.weights is None else f", its people by their weight in {self.weights}"
            )
            once = f"every unit counts once{inside}"
        return (
            f"Rows with the same {self.column} belong together: {self.count:,} units, and {once}. "
            f"Bounds are valid for independent {self.name}, whatever people of one unit have in "
            f"common{self.given}."
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditSummary(Document):
    """The whole audit. Infinite numbers are null.

    The fields are those of the published JSON schema, each described where it stands. ``moved``
    people are swapped in ``moves_found`` moves, of which ``moves`` are the largest. In a document
    that is shared every number that depends on the counts is rounded; ``suppression`` tells how
    much. A field with a default is a detail: no screen needs it, and no shared document has it
    unless `fairtransport.audits.redaction` says in which form.
    """

    DEFAULT_TITLE: ClassVar[str] = "Audit for individual bias"

    schema: Annotated[str, Doc("The name and version of this schema.", one_of=(SCHEMA,))]
    statistic: Annotated[
        float, Doc("The FaiTH statistic: the rise of the mean loss when people are swapped.")
    ]
    baseline_risk: Annotated[float, Doc("The mean loss on the audit data.")]
    worst_case_risk: Annotated[
        float, Doc("The mean loss after people are swapped with similar people.")
    ]
    n: Annotated[int, Doc("The number of people.")]
    units: Annotated[
        SampledUnits | None,
        Doc("The independent units that they belong to; null: every person is one."),
    ]
    points: Annotated[int | None, Doc("Different rows compared, copies included; null if shared.")]
    observed_points: Annotated[
        int | None, Doc("Those of them that occur in the audit data; null if shared.")
    ]
    queried: Annotated[
        int | None,
        Doc("Different rows the model was queried for; 0 with predictions only, null if shared."),
    ]
    target_scope: Annotated[str, Doc("Whom people are compared with.", one_of=SCOPES)]
    budget: Annotated[float, Doc("Largest mean squared distance of swapped people (ε).")]
    price: Annotated[
        float,
        Doc(
            "What a little more budget would add to the statistic, per unit; one digit if shared.",
            may_be_infinite=True,
        ),
    ]
    price_interval: Annotated[
        Limits, Doc("All slopes of the budget curve at the budget; left out if shared.")
    ]
    delta: Annotated[float | None, Doc("The limit δ; null if none was given.")]
    alpha: Annotated[float, Doc("The significance level of bounds and tests.")]
    method: Annotated[str, Doc("How the bounds are made.")]
    guarantee: Annotated[str, Doc("What the bounds promise.", one_of=GUARANTEES)]
    about: Annotated[
        str,
        Doc(
            "What the bounds are about: the population that the people were drawn from, or these "
            "people only.",
            one_of=tuple(ABOUT_WORDS),
        ),
    ]
    interval: Annotated[Limits, Doc("The two-sided confidence interval at level 1 − alpha.")]
    lower_bound: Annotated[
        float | None,
        Doc("The one-sided lower confidence bound at level 1 − alpha; weaker if shared."),
    ]
    upper_bound: Annotated[
        float | None, Doc("The one-sided upper confidence bound; null if there is none.")
    ]
    pvalue: Annotated[
        float | None,
        Doc("The p-value of δ-fairness; null without delta; if shared, 0.001, 0.01, alpha or 1."),
    ]
    verdict: Annotated[
        str | None,
        Doc(
            "The verdict at the limit delta on what `judge` names, the statistic or its "
            "attributable part; not-applicable if the audit cannot tell; else null without delta.",
            one_of=VERDICT_VALUES,
        ),
    ]
    applicability: Annotated[str | None, Doc("Why the audit cannot tell; null if it can.")]
    advice: Annotated[
        str | None,
        Doc("What to change where the audit cannot tell; null if nothing is advised."),
    ]
    next_audit: Annotated[
        dict[str, Any] | None,
        Doc(
            "The settings of the audit to make instead, as in a settings file; null where none is "
            "advised, or if shared."
        ),
    ]
    judge: Annotated[
        str,
        Doc("What the verdict is on: the statistic, or its attributable part.", one_of=JUDGED),
    ]
    favourable: Annotated[Value, Doc("The favourable label; null if none was given.")]
    decisions: Annotated[
        Decisions | None,
        Doc("Whose decision would change with other sensitive values; null if not known."),
    ]
    decisions_missing: Annotated[
        str | None, Doc("Why there are no decisions to compare; null where there are.")
    ]
    attributable: Annotated[
        AttributablePart, Doc("The part of the statistic that needs sensitive features to change.")
    ]
    outlook: Annotated[
        Outlook | None,
        Doc(
            "About how many people would settle an inconclusive verdict; null with another "
            "verdict, about rates, with several draws, if queries stopped early, or if shared."
        ),
    ]
    controls: Annotated[
        ControlsFound | None,
        Doc(
            "Edits of sensitive columns compared with edits of control columns, whose effect they "
            'must exceed for the verdict "rejected"; the p-value is then the larger of the two. '
            "Null without controls."
        ),
    ]
    controls_advice: Annotated[
        str | None,
        Doc(
            "That any edit may change the answers of such a model, and how to add controls; null "
            "with controls, or where it does not apply."
        ),
    ]
    rates: Annotated[
        RatesFound | None,
        Doc(
            "R, which verdict, bounds and p-values are about if only predictions were given (the "
            "statistic then only describes the data); null with a model, or where R is undefined."
        ),
    ]
    random_swap_risk: Annotated[
        float | None,
        Doc(
            "The mean loss after swaps with a random similar person; null where these are not all "
            "copies that differ in sensitive features alone."
        ),
    ]
    comparable_share: Annotated[
        float, Doc("The share of people with a similar person of another sensitive group.")
    ]
    proxies: Annotated[
        tuple[Proxies, ...],
        Doc(
            "Which columns predict each sensitive feature, and what swaps add through them; empty "
            "if it was not asked for or if shared."
        ),
    ] = ()
    counterparts: Annotated[
        CounterpartsFound | None,
        Doc("Which columns depend on the group, and counterparts; null without or if shared."),
    ] = None
    certificate_pvalue: Annotated[
        float | None,
        Doc("The p-value of a statistic of delta or more; null without delta or if shared."),
    ] = None
    evalue: Annotated[
        float | None,
        Doc(
            "Evidence against δ-fairness: its mean is at most 1 under it, so that those of "
            "independent samples may be multiplied; null without delta, if shared, or where the "
            "guarantee is asymptotic."
        ),
    ] = None
    methods: Annotated[
        tuple[MethodLimits, ...], Doc("Several methods side by side; empty if shared.")
    ] = ()
    questions: Annotated[
        QuestionsAsked | None,
        Doc("How the model was queried; null with predictions only or if shared."),
    ] = None
    plan_is_unique: Annotated[
        bool | None, Doc("Whether no other swaps give the same statistic; null if shared.")
    ]
    duality_gap: Annotated[
        float, Doc("The difference between the two ways of computing the statistic.")
    ]
    disagreement: Annotated[
        float, Doc("The part that comes from different predictions for equal people.")
    ]
    moved: Annotated[float, Doc("How many people are swapped.")]
    moves_found: Annotated[
        int | None, Doc("How many swaps there are, those not listed included; null if shared.")
    ]
    moves: Annotated[tuple[Move, ...], Doc("Who is swapped with whom, the largest swaps first.")]
    flows: Annotated[
        tuple[FlowTable, ...],
        Doc("The change in people by feature and group; if shared, by the swaps shown."),
    ] = ()
    groups: Annotated[
        tuple[GroupFlow, ...], Doc("The same by sensitive group; if shared, by the swaps shown.")
    ] = ()
    group_metrics: Annotated[
        tuple[GroupComparison, ...],
        Doc(
            "Rates and group metrics, by each sensitive feature and by all together; coarse or "
            "none if shared."
        ),
    ] = ()
    worst_pair: Annotated[
        WorstPair | None,
        Doc("The worst pair; null where no two similar people are at a distance above 0."),
    ] = None
    budget_in_words: Annotated[
        str, Doc("What the budget means under the similarity; empty if it does not say.")
    ]
    budget_curve: Annotated[
        tuple[CurvePoint, ...],
        Doc("The corners of the budget curve; if shared, empty or a single one."),
    ] = ()
    costs: Annotated[
        tuple[CostRule, ...],
        Doc("How much a difference in each column counts; empty if the similarity does not say."),
    ] = ()
    similarity_check: Annotated[
        SimilarityCheck | None,
        Doc("Who counts as similar among these people; null if shared."),
    ] = None
    without_feature: Annotated[
        tuple[FeatureRole, ...],
        Doc("The statistic if a sensitive feature may not change; empty if shared."),
    ] = ()
    law: Annotated[
        Law | None, Doc("The sampling law for a picture; null if there is none or if shared.")
    ] = None
    warnings: Annotated[tuple[str, ...], Doc("What a reader of the numbers should know.")]
    suppression: Annotated[
        Suppression | None,
        Doc("What was left out of a document that is shared; null if nothing was."),
    ] = None
    provenance: Annotated[Provenance, Doc("How the audit was done.")]

    def __repr__(self) -> str:
        rows = [
            (
                "verdict",
                f"{self.verdict}" + ("" if self.delta is None else f" (δ = {self.delta:g})"),
            ),
            *self._figures,
            ("sensitive", ", ".join(self.provenance.sensitive)),
            ("loss", self.provenance.loss),
            ("method", f"{self.method}, level {self.alpha:g}, {self.guarantee_words}"),
            ("warnings", f"{len(self.warnings)}"),
        ]
        lines = [f"  {name:<10} {value}" for name, value in rows]
        names = ", ".join(one.name for one in fields(self))
        return "\n".join(["AuditSummary", *lines, f"  all fields: {names}"])

    @property
    def is_about_part(self) -> bool:
        """Whether the verdict is on the attributable part, and that differs from the whole."""
        return is_part_judged(
            self.judge, self.target_scope, self.attributable.same_group,
            has_rates=self.rates is not None,
        )  # fmt: skip

    @property
    def judged(self) -> JudgedFigures:
        """The figures that the verdict is on, unless it is on R."""
        if self.is_about_part:
            part = self.attributable
            return JudgedFigures(
                part.value, part.interval, part.lower_bound, part.upper_bound, part.pvalue
            )
        return JudgedFigures(
            self.statistic, self.interval, self.lower_bound, self.upper_bound, self.pvalue
        )

    @property
    def is_about_these(self) -> bool:
        """Whether the bound is about these cases only, not about a population."""
        return self.about == "these"

    @property
    def guarantee_words(self) -> str:
        """The guarantee of the bounds and, for random answers, what they are about."""
        has_draws = self.questions is not None and self.questions.draws is not None
        if has_draws or self.is_about_these:
            return f"{self.guarantee}, about {ABOUT_WORDS[self.about]}"
        return self.guarantee

    @property
    def _figures(self) -> list[tuple[str, str]]:
        """The numbers of a printed document, beginning with those of the verdict."""
        if self.rates is not None:
            value = "" if self.rates.value is None else f"{self.rates.value:.4f}, "
            return [("R", f"{value}at least {self.rates.lower_bound:.4f}"),
                    ("people", f"{self.n:,}")]  # fmt: skip
        part = self.attributable
        text = f"{part.value:.4f}, interval {_ends(part.interval)}"
        return [
            *([("part", text)] if self.is_about_part else []),
            ("statistic", f"{self.statistic:.4f}, interval {_ends(self.interval)}"),
            ("mean loss", f"{self.baseline_risk:.4f}, at worst {self.worst_case_risk:.4f}"),
            ("people", f"{self.n:,}, {self._moved_words}"),
        ]

    @property
    def _moved_words(self) -> str:
        """The number of people moved; only their share if people have weights."""
        if self.units is None or self.units.counts_people_once:
            return f"{self.moved:g} of them swapped"
        return f"{100 * self.moved / self.n:.1f} % of them swapped (weighted)"

    def without_details(self) -> AuditSummary:
        """Return the document without its optional fields."""
        defaults = {field.name: field.default for field in fields(self)}
        left_out = {name: value for name, value in defaults.items() if value is not MISSING}
        return replace(self, **left_out)

    @property
    def report_title(self) -> str:
        """The title that was set, or the default."""
        return self.provenance.title or self.DEFAULT_TITLE

    @property
    def report_subtitle(self) -> dict[str, str | None]:
        """Model, data, auditor and date; a report carries a date only if one was set."""
        source = self.provenance
        model = source.model if self.queried != 0 else None
        return {
            "Model": model, "Data": source.data_name, "Auditor": source.auditor,
            "Date": source.date,
        }  # fmt: skip

    @property
    def package_version(self) -> str:
        """The version of fairtransport that created the document."""
        return self.provenance.version


def _ends(interval: Limits) -> str:
    lower, upper = (
        "none" if end is None else f"{end:.4f}" for end in (interval.lower, interval.upper)
    )
    return f"{lower} to {upper}"


def audit_schema() -> Schema:
    """Return the JSON Schema of the document."""
    return json_schema(AuditSummary, "A fairtransport audit")
