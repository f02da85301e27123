"""What to keep in mind of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.sections import Section
from fairtransport.report.strings import visible

if TYPE_CHECKING:
    from fairtransport.comparison_summary import ComparisonSummary
    from fairtransport.report.sections import Output


def _contents(summary: ComparisonSummary, _: Output) -> dict[str, object]:
    """Return what the template part ``comparison_notes.j2`` shows, by name."""
    return {"notes": tuple(map(visible, summary.warnings))}


SECTION = Section("warnings", "What to keep in mind", 40, _contents)
