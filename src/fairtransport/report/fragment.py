"""The verdict and the largest moves for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report import words
from fairtransport.report.html import environment
from fairtransport.report.tables import moves_table

if TYPE_CHECKING:
    from fairtransport.summary import AuditSummary

MOST_MOVES = 5


def render_fragment(summary: AuditSummary) -> str:
    """Return a piece of HTML without scripts that reads well in light and dark notebooks."""
    return (
        environment()
        .get_template("fragment.html.j2")
        .render(
            s=summary,
            words=words,
            moves=moves_table(summary, MOST_MOVES),
            more=max(0, len(summary.moves) - MOST_MOVES),
        )
    )
