"""Sections of reports: their sentences and tables, built from a document only, in their order.

The template of a section is written once for HTML and once for Markdown, without its heading; empty
sections are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtransport.documents.audit import AuditSummary
from fairtransport.documents.comparison import ComparisonSummary
from fairtransport.documents.family import FamilySummary
from fairtransport.report.sections import (
    appendix,
    certainty,
    comparison,
    counterparts,
    decisions,
    family,
    finding,
    first_screen,
    groups,
    moves,
    proxies,
    rates,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport.report.sections.section import Fragment, Section


SECTIONS: dict[type, tuple[Section, ...]] = {
    AuditSummary: (
        first_screen.FIRST_SCREEN,
        rates.RATES,
        decisions.PEOPLE,
        counterparts.COUNTERPARTS,
        groups.GROUP_RATES,
        finding.NOTES,
        certainty.CERTAINTY,
        moves.FLOWS,
        certainty.DEPENDENCE,
        proxies.PROXIES,
        appendix.METHOD,
        appendix.GLOSSARY_SECTION,
    ),
    ComparisonSummary: (
        comparison.COMPARISON_FINDING,
        comparison.COMPARISON_WHO,
        comparison.COMPARISON_METHOD,
        finding.NOTES,
    ),
    FamilySummary: (
        family.FAMILY_FINDING,
        family.EACH_AUDIT,
        family.FAMILY_MEANING,
        finding.NOTES,
    ),
}
"""The sections of each kind of document, in their order."""
FRAGMENTS: dict[type, Callable[[Any], Fragment]] = {
    AuditSummary: first_screen.audit_fragment,
    ComparisonSummary: comparison.comparison_fragment,
    FamilySummary: family.family_fragment,
}
"""The notebook fragments of each kind of document."""
