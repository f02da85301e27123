"""FamilySummary: several audits together as one frozen document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from fairtransport._core.schema import Doc, Document, Schema, json_schema
from fairtransport.documents.audit import GUARANTEES, AuditSummary, SampledUnits
from fairtransport.documents.verdicts import VERDICT_VALUES
from fairtransport.explain.decisions import ShareOfPeople  # noqa: TC001 - the schema reads it

__all__ = ["FAMILY_SCHEMA", "FamilySummary", "Member", "family_schema"]

FAMILY_SCHEMA = "fairtransport-family/1"
"""The name and version of the JSON document's schema."""


@dataclass(frozen=True, kw_only=True)
class Member:
    """One audit of a family: its numbers, and its joint verdict."""

    name: Annotated[str, Doc("What the audit is called.")]
    model: Annotated[str, Doc("The model, in words.")]
    n: Annotated[int, Doc("The number of people.")]
    units: Annotated[
        SampledUnits | None,
        Doc("The independent units that they belong to; null: every person is one."),
    ]
    changed: Annotated[
        ShareOfPeople | None, Doc("People whose decision would change; null if not known.")
    ]
    statistic: Annotated[float, Doc("The FaiTH statistic.")]
    lower: Annotated[float | None, Doc("The lower end of the interval; null if there is none.")]
    upper: Annotated[float | None, Doc("The upper end of the interval; null if there is none.")]
    delta: Annotated[float | None, Doc("The limit δ; null if none was given.")]
    pvalue: Annotated[
        float | None,
        Doc("The p-value of δ-fairness, as fine as the family needs it; null without delta."),
    ]
    pvalue_adjusted: Annotated[
        float | None,
        Doc("The p-value adjusted for all audits; rejected if it is at most alpha."),
    ]
    verdict: Annotated[
        str | None,
        Doc("The verdict among all audits together; null without delta.", one_of=VERDICT_VALUES),
    ]
    guarantee: Annotated[str, Doc("What the bounds promise.", one_of=GUARANTEES)]


@dataclass(frozen=True, kw_only=True)
class FamilySummary(Document):
    """Several audits together. Infinite numbers are null."""

    DEFAULT_TITLE: ClassVar[str] = "Audits for individual bias"

    schema: Annotated[str, Doc("The name and version of this schema.", one_of=(FAMILY_SCHEMA,))]
    alpha: Annotated[
        float,
        Doc(
            "The largest probability that any verdict is wrong, and that any interval misses its "
            "value."
        ),
    ]
    certificate_level: Annotated[float, Doc("The level of the verdict certified.")]
    members: Annotated[tuple[Member, ...], Doc("The audits, in the order they were declared.")]
    queried: Annotated[int, Doc("Different rows models were queried for; 0 with predictions only.")]
    warnings: Annotated[tuple[str, ...], Doc("What a reader of the numbers should know.")]
    version: Annotated[str, Doc("The version of fairtransport.")]
    audits: Annotated[
        tuple[AuditSummary, ...],
        Doc("Each audit's own document, with the verdict it would have alone."),
    ] = ()

    @property
    def guarantee(self) -> str:
        """The joint guarantee of all verdicts."""
        exact = all(one.guarantee == GUARANTEES[0] for one in self.members)
        return GUARANTEES[0] if exact else GUARANTEES[1]

    @property
    def package_version(self) -> str:
        """The version of fairtransport that created the document."""
        return self.version


def family_schema() -> Schema:
    """Return the JSON Schema of the document."""
    return json_schema(FamilySummary, "A family of fairtransport audits")
