"""FamilySummary: everything several audits say together, as one frozen document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fairtransport.documents import Doc, Schema, json_schema, to_json_text
from fairtransport.summary import GUARANTEES, VERDICTS, AuditSummary

__all__ = ["FAMILY_SCHEMA", "FamilySummary", "Member", "Multiplied", "family_schema"]

FAMILY_SCHEMA = "fairtransport-family/1"
"""The name and version of the JSON document's schema."""


@dataclass(frozen=True, kw_only=True)
class Member:
    """One audit of a family: its numbers, and its verdict among the others."""

    name: Annotated[str, Doc("What the audit is called.")]
    model: Annotated[str, Doc("The model, in words.")]
    n: Annotated[int, Doc("The number of people.")]
    statistic: Annotated[float, Doc("The FaiTH statistic.")]
    lower: Annotated[float | None, Doc("The lower end of the interval; null if there is none.")]
    upper: Annotated[float | None, Doc("The upper end of the interval; null if there is none.")]
    delta: Annotated[float | None, Doc("The threshold of δ-fairness; null if none was given.")]
    pvalue: Annotated[
        float | None,
        Doc("The p-value of δ-fairness, as fine as the family needs it; null without delta."),
    ]
    pvalue_adjusted: Annotated[
        float | None,
        Doc("The p-value adjusted for the whole family; at most alpha where it is rejected."),
    ]
    evalue: Annotated[
        float | None,
        Doc("Evidence against δ-fairness that may be multiplied; null if nothing is multiplied."),
    ] = None
    verdict: Annotated[
        str | None,
        Doc("What the family says of δ-fairness here; null without delta.", one_of=VERDICTS),
    ]
    guarantee: Annotated[str, Doc("What the bounds promise.", one_of=GUARANTEES)]


@dataclass(frozen=True, kw_only=True)
class Multiplied:
    """The evidence of independent samples about one question, multiplied."""

    hypothesis: Annotated[str, Doc("The hypothesis that the evidence is against.")]
    evalue: Annotated[float, Doc("The product of the e-values.", may_be_infinite=True)]
    pvalue: Annotated[float, Doc("One over it, at most 1.")]
    rejected: Annotated[bool, Doc("Whether the hypothesis is rejected at level alpha.")]


@dataclass(frozen=True, kw_only=True)
class FamilySummary:
    """Everything that several audits say together. An infinite number is null."""

    schema: Annotated[str, Doc("The name and version of this schema.", one_of=(FAMILY_SCHEMA,))]
    alpha: Annotated[float, Doc("The probability that any verdict is wrong, at most.")]
    intervals_miss: Annotated[
        float, Doc("The probability that any of the intervals misses its value, at most.")
    ]
    certificate_level: Annotated[float, Doc("The level of a certificate.")]
    members: Annotated[tuple[Member, ...], Doc("The audits, in the order they were declared.")]
    multiplied: Annotated[
        Multiplied | None, Doc("Evidence multiplied over the audits; null if it was not.")
    ] = None
    queried: Annotated[
        int | None,
        Doc("Distinct questions to all models; null where earlier audits were put together."),
    ] = None
    warnings: Annotated[tuple[str, ...], Doc("What a reader of the numbers should know.")]
    version: Annotated[str, Doc("The version of fairtransport.")]
    audits: Annotated[
        tuple[AuditSummary, ...],
        Doc(
            "Each audit's own document, with the verdict it would have alone; empty where earlier "
            "audits were put together."
        ),
    ] = ()

    @property
    def guarantee(self) -> str:
        """What all verdicts together promise."""
        exact = all(one.guarantee == GUARANTEES[0] for one in self.members)
        return GUARANTEES[0] if exact else GUARANTEES[1]

    @property
    def are_earlier(self) -> bool:
        """Whether these are audits that were made before, each by itself."""
        return self.queried is None

    def to_json(self) -> str:
        """Return the document as JSON text, the same bytes for the same audits."""
        return to_json_text(self)


def family_schema() -> Schema:
    """Return the JSON Schema of the document."""
    return json_schema(FamilySummary, "A family of fairtransport audits")
