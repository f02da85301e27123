"""What stands at the head of a report: its title, and what was audited, by whom, when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.strings import shorten, visible

if TYPE_CHECKING:
    from fairtransport.summary import AuditSummary

TITLE = "Audit for individual bias"


def heading_of(summary: AuditSummary) -> str:
    """Return the title that was given, or the usual one."""
    return summary.provenance.title or TITLE


def about_line(summary: AuditSummary) -> str:
    """Return data, auditor and date as far as they were given; there is no clock in a report."""
    made = summary.provenance
    told = (("Data", made.data_name), ("Auditor", made.auditor), ("Date", made.date))
    return " · ".join(f"{name}: {shorten(visible(value))}" for name, value in told if value)
