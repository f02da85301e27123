"""ComparisonSummary: the whole comparison of models as one frozen document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from fairtransport._core.schema import Doc, Document, Schema, json_schema
from fairtransport.documents.audit import SCOPES, Provenance, SampledUnits
from fairtransport.documents.verdicts import COMPARISON_VERDICTS
from fairtransport.explain.decisions import Decisions  # noqa: TC001 - the schema reads it
from fairtransport.explain.moves import Profile, Value  # noqa: TC001 - the schema reads them

COMPARISON_SCHEMA = "fairtransport-comparison/1"
"""The name and version of the JSON document's schema."""


@dataclass(frozen=True)
class ComparedModel:
    """The results of one model's audit."""

    name: Annotated[str, Doc("The name that it was given.")]
    model: Annotated[str, Doc("The model, in words.")]
    statistic: Annotated[float, Doc("Its FaiTH statistic.")]
    lower: Annotated[float | None, Doc("The lower end of its interval; null if there is none.")]
    upper: Annotated[float | None, Doc("The upper end of its interval; null if there is none.")]
    baseline_risk: Annotated[float, Doc("Its mean loss on the data.")]
    worst_case_risk: Annotated[float, Doc("Its mean loss after the swaps that raise it most.")]
    queried: Annotated[int, Doc("Different rows it was queried for; 0 with predictions only.")]
    decisions: Annotated[
        Decisions | None,
        Doc(
            "Whose decision would change under it; null if not known. Its own audit has the people."
        ),
    ]


@dataclass(frozen=True)
class Difference:
    """The statistic of one model minus that of another."""

    first: Annotated[str, Doc("The model it is compared with.")]
    second: Annotated[str, Doc("The model that is judged.")]
    difference: Annotated[float, Doc("The statistic of the second minus that of the first.")]
    lower: Annotated[float | None, Doc("The lower end of its interval; null if there is none.")]
    upper: Annotated[float | None, Doc("The upper end of its interval; null if there is none.")]
    pvalue: Annotated[
        float | None,
        Doc(
            "The p-value of 'neither less bias, nor more by over the tolerance', times the "
            "number of differences; null without an interval."
        ),
    ]
    verdict: Annotated[
        str,
        Doc(
            "better: the interval is below 0; worse: it is above the tolerance; undecided: neither "
            "is shown; not-applicable: an audit of the two cannot tell.",
            one_of=tuple(COMPARISON_VERDICTS),
        ),
    ]
    not_worse: Annotated[
        bool,
        Doc("Whether it is certified that the second exceeds the first by the tolerance at most."),
    ]


@dataclass(frozen=True)
class TreatedGroup:
    """A group of people and how much swaps raise its mean loss, under two models."""

    group: Annotated[Profile, Doc("The sensitive group.")]
    people: Annotated[int, Doc("How many there are.")]
    first: Annotated[
        float, Doc("How much swaps raise its mean loss at worst, under the first model.")
    ]
    last: Annotated[float, Doc("The same under the last model.")]


@dataclass(frozen=True)
class TreatedProfile:
    """People whom the first and the last model treat most differently."""

    profile: Annotated[Profile, Doc("Who they are.")]
    label: Annotated[Value, Doc("Their true label; null where the loss does without.")]
    people: Annotated[int, Doc("How many there are.")]
    first: Annotated[float, Doc("How much swaps raise their total loss at worst, first model.")]
    last: Annotated[float, Doc("The same under the last model.")]


@dataclass(frozen=True, kw_only=True)
class ComparisonSummary(Document):
    """The whole comparison of models on one sample. Infinite numbers are null."""

    DEFAULT_TITLE: ClassVar[str] = "Models compared for individual bias"

    schema: Annotated[str, Doc("The name and version of this schema.", one_of=(COMPARISON_SCHEMA,))]
    n: Annotated[int, Doc("The number of people.")]
    units: Annotated[
        SampledUnits | None,
        Doc("The independent units that they belong to; null: every person is one."),
    ]
    points: Annotated[int, Doc("Different rows compared, copies included.")]
    target_scope: Annotated[str, Doc("Whom people are compared with.", one_of=SCOPES)]
    budget: Annotated[float, Doc("Largest mean squared distance of swapped people (ε).")]
    tolerance: Annotated[float, Doc("How much more bias a later model may have.")]
    alpha: Annotated[
        float,
        Doc(
            "The intervals of models are simultaneous at level 1 − alpha; so are those of "
            "differences."
        ),
    ]
    verdict: Annotated[
        str,
        Doc(
            "What was shown of the last model compared with the first.",
            one_of=tuple(COMPARISON_VERDICTS),
        ),
    ]
    applicability: Annotated[
        str | None, Doc("Why the verdict is not-applicable, in a sentence; null if it is not.")
    ]
    not_worse: Annotated[bool, Doc("Whether that is certified of the last model and the first.")]
    models: Annotated[tuple[ComparedModel, ...], Doc("The models, in the order given.")]
    differences: Annotated[tuple[Difference, ...], Doc("All pairs, an earlier model first.")]
    groups: Annotated[tuple[TreatedGroup, ...], Doc("Sensitive groups, the largest first.")]
    profiles: Annotated[
        tuple[TreatedProfile, ...],
        Doc("Where the first and the last model differ most, the largest difference first."),
    ]
    warnings: Annotated[tuple[str, ...], Doc("What a reader of the numbers should know.")]
    provenance: Annotated[Provenance, Doc("How the comparison was done.")]

    @property
    def package_version(self) -> str:
        """The version of fairtransport that created the document."""
        return self.provenance.version


def comparison_schema() -> Schema:
    """Return the JSON Schema of the document."""
    return json_schema(ComparisonSummary, "A fairtransport comparison of models")
