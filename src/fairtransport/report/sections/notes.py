"""What to keep in mind: what was left out, and the audit's warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.sections import Section
from fairtransport.report.strings import visible

if TYPE_CHECKING:
    from fairtransport.report.sections import Output
    from fairtransport.summary import AuditSummary


def suppression_sentence(summary: AuditSummary) -> str | None:
    """Return what was left out of a document that is shared; None if nothing was.

    Parameters
    ----------
    summary
        What the audit says.
    """
    hidden = summary.suppression
    if hidden is None:
        return None
    return (
        f"This report is made to be shared. Cells with fewer than {hidden.at_least} people were "
        "left out before it was written, and others from which they could be worked out; so were "
        "the fingerprint of the data, the seed, the sampling law, the budget curve, other methods "
        f"and how many points and moves there are. Numbers of people are multiples of "
        f"{hidden.at_least}, and the statistic, risks and bounds are multiples of "
        f"{hidden.step:g} (or δ), so that the counts cannot be worked out from them; bounds are "
        "rounded outwards and still hold. The verdict is that of the numbers before rounding."
    )


def notes(summary: AuditSummary) -> tuple[str, ...]:
    """Return what a reader should know: what was left out, then the audit's warnings."""
    hidden = suppression_sentence(summary)
    return (*([] if hidden is None else [hidden]), *map(visible, summary.warnings))


def _contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    """Return what the template part ``notes.j2`` shows, by name."""
    return {"notes": notes(summary)}


SECTION = Section("warnings", "What to keep in mind", 60, _contents, linked=False)
