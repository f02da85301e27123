"""AuditSummary: everything an audit says, as one frozen document, which is also the JSON."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, replace
from typing import Annotated, Any

from fairtransport.documents import Doc, Schema, json_schema, to_json_text, to_plain
from fairtransport.inference.planning.outlook import Outlook
from fairtransport.localise import (
    Affected,
    Direction,
    Flow,
    FlowTable,
    GroupFlow,
    Move,
    Profile,
    Proxies,
    Suppression,
    Value,
    WorstPair,
)
from fairtransport.similarity.checking import ColumnDistance, SimilarityCheck, SimilarPair

__all__ = [
    "SCHEMA",
    "Affected",
    "AttributablePart",
    "AuditSummary",
    "ColumnDistance",
    "CostRule",
    "CurvePoint",
    "Direction",
    "FeatureRate",
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
    "Outlook",
    "Profile",
    "Provenance",
    "Proxies",
    "QuestionsAsked",
    "RatesFound",
    "SimilarPair",
    "SimilarityCheck",
    "Suppression",
    "TwinsMade",
    "Value",
    "WorstPair",
    "audit_schema",
]

SCHEMA = "fairtransport-audit/1"
"""The name and version of the JSON document's schema."""
ROUNDING = 1e-9
"""Values that differ by no larger share of themselves are one value."""
VERDICTS = ("rejected", "certified", "inconclusive", "not-applicable")
"""What an audit can say of δ-fairness."""
WHY_STOPPED = {
    "rejected": "δ-fairness was rejected",
    "certified": "δ-fairness was certified",
    "budget": "`budget_of_questions` was spent",
    "everybody": "everybody had been asked about",
}
"""Why the asking stopped, and in words: at a verdict, out of questions, or out of people."""
JUDGED = ("statistic", "attributable")
"""What the verdict that counts can be on."""
DISAGREEMENTS = ("rates", "bias")
"""What different answers inside one profile can be taken for."""
SCOPES = ("twins", "reference", "observed")
"""Whom people can be compared with."""
GUARANTEES = ("finite-sample", "asymptotic")
"""What bounds can promise."""


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
    same_group: Annotated[float, Doc("What is left: what people of the same group give already.")]
    interval: Annotated[Limits, Doc("The two-sided confidence interval at level 1 − alpha.")]
    lower_bound: Annotated[float | None, Doc("The one-sided lower confidence bound.")]
    upper_bound: Annotated[float | None, Doc("The one-sided upper confidence bound.")]
    pvalue: Annotated[
        float | None, Doc("The p-value of a part of at most delta; null without delta or bounds.")
    ]
    verdict: Annotated[
        str | None,
        Doc("What the tests at delta say of the part; null without delta.", one_of=VERDICTS),
    ]


@dataclass(frozen=True, kw_only=True)
class FeatureRate:
    """R of one sensitive feature, the others held fixed."""

    feature: Annotated[str, Doc("The sensitive feature.")]
    value: Annotated[float, Doc("The cross-fitted estimate.")]
    lower_bound: Annotated[float, Doc("The lower confidence bound at level 1 − level.")]
    level: Annotated[
        float, Doc("The part of alpha with which all of these bounds and that of R hold together.")
    ]
    pvalue: Annotated[float, Doc("The p-value of the permutation test of no difference.")]


@dataclass(frozen=True, kw_only=True)
class RatesFound:
    """R: how much the mean loss rises if all are treated as the worst-treated group among alikes.

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
        float,
        Doc("The p-value of permutation tests of no difference; coarse if shared."),
    ]
    pvalue_at_delta: Annotated[
        float | None, Doc("The p-value of R at most delta; null without delta; coarse if shared.")
    ]
    features: Annotated[
        tuple[FeatureRate, ...],
        Doc("Each sensitive feature with the others held fixed; empty if shared."),
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


@dataclass(frozen=True)
class GroupComparison:
    """Group metrics by one sensitive feature; what cannot be told is null.

    With a favourable label and a privileged group the differences are unprivileged minus
    privileged, else the largest difference between two groups. A group without positives, say,
    cannot tell all of them. A document that is shared has coarse ones, or no comparison.
    """

    feature: Annotated[str, Doc("The sensitive feature.")]
    favourable: Annotated[Value, Doc("The favourable label; null if none was given.")]
    privileged: Annotated[Value, Doc("The privileged group; null if none was given.")]
    accuracy: Annotated[float, Doc("The accuracy for everybody.")]
    accuracy_by_group: Annotated[dict[str, float | None], Doc("The accuracy by group.")]
    statistical_parity_difference: Annotated[
        float | None, Doc("Rates of favourable predictions, others − privileged.")
    ]
    equal_opportunity_difference: Annotated[
        float | None, Doc("True positive rates, others − privileged.")
    ]
    average_odds_difference: Annotated[
        float | None, Doc("Mean difference of true and false positive rates.")
    ]
    demographic_parity_difference: Annotated[
        float | None, Doc("Largest difference of rates between two groups.")
    ]
    equalized_odds_difference: Annotated[
        float | None, Doc("Largest difference of error rates between two groups.")
    ]


@dataclass(frozen=True)
class CostRule:
    """What a change of one column costs, in words."""

    column: Annotated[str, Doc("The column.")]
    change: Annotated[str, Doc("The change.")]
    cost: Annotated[str, Doc("What it costs, as a squared distance.")]


@dataclass(frozen=True)
class FeatureRole:
    """The statistic when a sensitive feature may not change."""

    feature: Annotated[str, Doc("The sensitive feature that may not change.")]
    statistic: Annotated[float, Doc("The statistic then.")]
    share: Annotated[
        float | None,
        Doc("The share of the statistic that is lost then; null where the statistic is 0."),
    ]


@dataclass(frozen=True)
class StatisticBracket:
    """The values between which a statistic lies whose search was limited."""

    lower: Annotated[float, Doc("What the swaps that were found add.")]
    upper: Annotated[float, Doc("What no swaps within the budget can exceed.")]
    rounds: Annotated[
        int, Doc("The rounds of the search; `search_rounds` repeats them with the same seed.")
    ]

    @property
    def is_open(self) -> bool:
        """Whether more than rounding lies between the values."""
        return self.upper - self.lower > ROUNDING * self.upper


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
    """What the statistic could be in other samples, for a picture.

    It is around the estimate; the bounds do not use it.
    """

    method: Annotated[str, Doc("How it was made.")]
    bins: Annotated[tuple[LawBin, ...], Doc("The histogram.")]


@dataclass(frozen=True, kw_only=True)
class QuestionsAsked:
    """How the model was asked, beyond once about everybody."""

    repeated: Annotated[int, Doc("How many questions were asked a second time.")]
    differed: Annotated[int, Doc("How many of these got another answer.")]
    differed_at_most: Annotated[
        float | None,
        Doc("The exact upper limit of the share of all that would; null if none was repeated."),
    ]
    draws: Annotated[
        int | None, Doc("Answers to each question, where they are random; null: one, for good.")
    ]
    people: Annotated[
        int | None, Doc("People in the data, where the asking stopped when it was sure; else null.")
    ]
    stopped: Annotated[
        str | None,
        Doc(
            "Why the asking stopped; null where everybody was asked about.",
            one_of=tuple(WHY_STOPPED),
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class TwinsMade:
    """How twins were made up whom nobody observed; the bounds are about these."""

    kind: Annotated[str, Doc("How their directions were found.", one_of=("generate", "search"))]
    steps: Annotated[int, Doc("By how many steps, the same for everybody, they were proposed.")]
    plausibility: Annotated[
        float, Doc("The share of the fitting data that passes as plausible; 0: all twins count.")
    ]
    twins: Annotated[
        int | None, Doc("How many twins there are, each person's own counted; null if shared.")
    ]
    proposed: Annotated[int | None, Doc("How many the steps proposed; null if shared.")]
    equal: Annotated[int | None, Doc("How many of these were nobody new; null if shared.")]
    costly: Annotated[
        int | None,
        Doc("How many were not at distance 0, where the budget is 0; null if shared."),
    ]
    implausible: Annotated[int | None, Doc("How many were not plausible; null if shared.")]
    aside: Annotated[int, Doc("How many people were set aside, who are not audited.")]
    searched: Annotated[int, Doc("How many questions a search asked about them.")]
    examples: Annotated[
        tuple[SimilarPair, ...], Doc("Some people at random beside a twin; none if shared.")
    ]


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How the audit was done.

    A document that is shared has neither seed nor fingerprint, so that nobody can try guesses of
    the data.
    """

    version: Annotated[str, Doc("The version of fairtransport.")]
    libraries: Annotated[dict[str, str], Doc("Versions of the libraries that matter.")]
    seed: Annotated[int | None, Doc("The seed of everything random; null in a shared document.")]
    data_sha256: Annotated[
        str | None, Doc("Fingerprint of the canonical table of counts; null in a shared document.")
    ] = None
    similarity: Annotated[str, Doc("Who is comparable, in words.")]
    similarity_record: Annotated[
        dict[str, Any] | None, Doc("The similarity's settings and what was fitted; null if shared.")
    ] = None
    loss: Annotated[str, Doc("The loss.")]
    loss_range: Annotated[tuple[float, float] | None, Doc("Its limits; null if there are none.")]
    loss_is_error: Annotated[bool, Doc("Whether mean losses are shares of errors.")]
    model: Annotated[str, Doc("The model, in words.")]
    features: Annotated[tuple[str, ...], Doc("The columns the model receives.")]
    sensitive: Annotated[tuple[str, ...], Doc("The sensitive features.")]
    label: Annotated[str | None, Doc("The label's column; null if there is none.")]
    classes: Annotated[
        tuple[Value, ...], Doc("The labels that scores belong to, in their order; none if shared.")
    ] = ()
    title: Annotated[str | None, Doc("The report's heading, if one was given.")] = None
    date: Annotated[str | None, Doc("The date that was given; null if none was.")] = None
    data_name: Annotated[str | None, Doc("What the data are called, if that was given.")] = None
    auditor: Annotated[str | None, Doc("Who audits, if that was given.")] = None
    resamples: Annotated[int, Doc("The number of draws of resampling methods.")]
    disagreement: Annotated[
        str,
        Doc("What different answers inside one profile were taken for.", one_of=DISAGREEMENTS),
    ] = "rates"
    settings_taken: Annotated[
        tuple[str, ...], Doc("The flags whose values came from a settings file, by their names.")
    ] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditSummary:
    """Everything an audit says. An infinite number is null.

    The fields are those of the published JSON schema, each described where it stands. ``moved``
    people are in ``moves_found`` moves, of which ``moves`` are the largest. In a document that is
    shared every number that depends on the counts is rounded; ``suppression`` tells how much. A
    field with a default is a detail: no screen needs it, and no shared document has it unless
    `fairtransport.audit.shared` says in which form.
    """

    schema: Annotated[str, Doc("The name and version of this schema.", one_of=(SCHEMA,))]
    statistic: Annotated[
        float, Doc("The FaiTH statistic: how much worse the model does when people are swapped.")
    ]
    bracket: Annotated[
        StatisticBracket | None,
        Doc(
            "The values between which the statistic lies where the search for it was limited; "
            "`statistic` is then the lower one. Null where it is exact."
        ),
    ] = None
    baseline_risk: Annotated[float, Doc("The mean loss on the audit data.")]
    worst_case_risk: Annotated[
        float, Doc("The mean loss after people were swapped with similar ones.")
    ]
    n: Annotated[int, Doc("The number of people.")]
    points: Annotated[
        int | None, Doc("The number of distinct points, targets included; null if shared.")
    ]
    observed_points: Annotated[
        int | None, Doc("The number of distinct points in the audit data; null if shared.")
    ]
    queried: Annotated[
        int | None,
        Doc("Distinct questions to the model; 0 with predictions only, else null if shared."),
    ]
    target_scope: Annotated[str, Doc("Whom people are compared with.", one_of=SCOPES)]
    budget: Annotated[float, Doc("How far people may be moved on average, as a squared distance.")]
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
    delta: Annotated[float | None, Doc("The threshold of δ-fairness; null if none was given.")]
    alpha: Annotated[float, Doc("The level of bounds and tests.")]
    method: Annotated[str, Doc("How the bounds are made.")]
    guarantee: Annotated[str, Doc("What the bounds promise.", one_of=GUARANTEES)]
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
            "What the tests at delta say of δ-fairness, or that they could find nothing; else null "
            "without delta.",
            one_of=VERDICTS,
        ),
    ]
    applicability: Annotated[str | None, Doc("Why the audit cannot find anything; null if it can.")]
    instead: Annotated[
        str | None,
        Doc("What to do instead where the audit cannot find anything; else null."),
    ]
    ready: Annotated[
        tuple[str, ...],
        Doc("Settings of another audit to paste, in Python and as flags; none if shared."),
    ]
    judge: Annotated[
        str,
        Doc("Which verdict counts: on the statistic or on the part.", one_of=JUDGED),
    ]
    favourable: Annotated[Value, Doc("The favourable label; null if none was given.")]
    attributable: Annotated[
        AttributablePart, Doc("The part of the statistic that needs sensitive features to change.")
    ]
    outlook: Annotated[
        Outlook | None,
        Doc(
            "About how many cases would settle an inconclusive verdict; null where it is another, "
            "about rates, of several draws or of people who were asked about until sure, or if "
            "shared."
        ),
    ]
    rates: Annotated[
        RatesFound | None,
        Doc(
            "R, which verdict, bounds and p-values are about where given answers differ inside a "
            "profile, the statistic being a description then; else null."
        ),
    ]
    random_swap_risk: Annotated[
        float | None,
        Doc(
            "The mean loss after swaps with a random comparable person; null where these are not "
            "all twins."
        ),
    ]
    comparable_share: Annotated[
        float, Doc("The share of people with somebody comparable of another sensitive group.")
    ]
    made_twins: Annotated[
        TwinsMade | None,
        Doc("How twins were made up whom nobody observed; null where nobody was made up."),
    ] = None
    proxies: Annotated[
        tuple[Proxies, ...],
        Doc(
            "Which columns tell each sensitive feature, and what goes through them; empty if it "
            "was not asked or if shared."
        ),
    ] = ()
    certificate_pvalue: Annotated[
        float | None,
        Doc("The p-value of a value of delta or more; null without delta or if shared."),
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
        Doc("How the model was asked; null with predictions only or if shared."),
    ] = None
    plan_is_unique: Annotated[
        bool | None, Doc("Whether no other swaps give the same statistic; null if shared.")
    ]
    duality_gap: Annotated[
        float, Doc("The difference between the two ways of computing the statistic.")
    ]
    disagreement: Annotated[
        float, Doc("The part of the statistic that is different predictions for one profile.")
    ]
    moved: Annotated[float, Doc("How many people are moved.")]
    moves_found: Annotated[
        int | None, Doc("How many moves there are, those not listed included; null if shared.")
    ]
    moves: Annotated[tuple[Move, ...], Doc("Who is swapped with whom, the largest moves first.")]
    directions: Annotated[
        tuple[Direction, ...],
        Doc(
            "Between which levels of each sensitive feature people are moved, those that add most "
            "first; if shared, by the moves shown."
        ),
    ]
    flows: Annotated[
        tuple[FlowTable, ...],
        Doc("The change in counts by feature and group; if shared, by the moves shown."),
    ] = ()
    most_affected: Annotated[
        tuple[Affected, ...],
        Doc(
            "Whom the model does worse for than for similar people; if shared, by the moves shown."
        ),
    ] = ()
    groups: Annotated[
        tuple[GroupFlow, ...], Doc("Flows by sensitive group; if shared, by the moves shown.")
    ] = ()
    group_metrics: Annotated[
        tuple[GroupComparison, ...],
        Doc("Group metrics beside the individual ones; coarse or none if shared."),
    ] = ()
    worst_pair: Annotated[
        WorstPair | None,
        Doc("The worst pair; null where no two comparable people are at a distance."),
    ] = None
    budget_in_words: Annotated[
        str, Doc("What the budget means under the similarity; empty if it does not say.")
    ]
    budget_curve: Annotated[
        tuple[CurvePoint, ...],
        Doc("The corners of the statistic by the budget; if shared, empty or a single one."),
    ] = ()
    elbow: Annotated[
        CurvePoint | None,
        Doc("Where the budget curve bends most; null where it is flat or if shared."),
    ] = None
    costs: Annotated[
        tuple[CostRule, ...],
        Doc("What a change of each column costs; empty if the similarity does not say."),
    ] = ()
    similarity_check: Annotated[
        SimilarityCheck | None,
        Doc("What the similarity calls comparable among these people; null if shared."),
    ] = None
    without_feature: Annotated[
        tuple[FeatureRole, ...],
        Doc("The statistic with each sensitive feature held fixed; empty if shared."),
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
        found = [
            (
                "verdict",
                f"{self.verdict}" + ("" if self.delta is None else f" (δ = {self.delta:g})"),
            ),
            ("statistic", f"{self.statistic:.4f}, interval {_ends(self.interval)}"),
            ("mean loss", f"{self.baseline_risk:.4f}, at worst {self.worst_case_risk:.4f}"),
            ("people", f"{self.n:,}, {self.moved:g} of them moved"),
            ("sensitive", ", ".join(self.provenance.sensitive)),
            ("loss", self.provenance.loss),
            ("method", f"{self.method}, level {self.alpha:g}, {self.guarantee}"),
            ("warnings", f"{len(self.warnings)}"),
        ]
        told = [f"  {name:<10} {value}" for name, value in found]
        names = ", ".join(one.name for one in fields(self))
        return "\n".join(["AuditSummary", *told, f"  all fields: {names}"])

    def without_details(self) -> AuditSummary:
        """Return the document without every field that can be left out, as defaults say."""
        defaults = {field.name: field.default for field in fields(self)}
        left_out = {name: value for name, value in defaults.items() if value is not MISSING}
        return replace(self, **left_out)

    def as_json(self) -> dict[str, Any]:
        """Return the document as plain lists and dicts."""
        plain = to_plain(self)
        assert isinstance(plain, dict)  # noqa: S101
        return plain

    def to_json(self) -> str:
        """Return the document as JSON text, the same bytes for the same audit."""
        return to_json_text(self)


def _ends(interval: Limits) -> str:
    lower, upper = (
        "none" if end is None else f"{end:.4f}" for end in (interval.lower, interval.upper)
    )
    return f"{lower} to {upper}"


def audit_schema() -> Schema:
    """Return the JSON Schema of the document."""
    return json_schema(AuditSummary, "A fairtransport audit")
