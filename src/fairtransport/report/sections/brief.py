"""In brief: what the first printed page says besides the verdict, so that it can stand alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.direction_words import direction_sentence
from fairtransport.report.sections import Section
from fairtransport.report.sections.how import facts
from fairtransport.report.sections.who import moved_sentence, scope_meaning

if TYPE_CHECKING:
    from fairtransport.report.sections import Output
    from fairtransport.summary import AuditSummary

TOLD = ("Model", "Sensitive features", "Loss", "Similarity", "Budget", "Guarantee", "Data, SHA-256")
"""Of how the audit was done, what a page has room for."""


def _contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    """Return what the template part ``brief.j2`` shows, by name."""
    said = (moved_sentence(summary), direction_sentence(summary), scope_meaning(summary))
    return {
        "said": [one for one in said if one],
        "brief": [(name, value) for name, value in facts(summary) if name in TOLD],
    }


SECTION = Section("brief", "", 12, _contents, linked=False)
