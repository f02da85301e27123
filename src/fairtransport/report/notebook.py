"""The verdict and the largest moves for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.html import html_environment
from fairtransport.report.sections.finding import caution, meaning, verdict_sentence, verdict_title
from fairtransport.report.sections.who import moved_sentence, moves_table, shown_sentence

if TYPE_CHECKING:
    from fairtransport.summary import AuditSummary

MOST_MOVES = 5


def render_fragment(summary: AuditSummary) -> str:
    """Return a piece of HTML without scripts that reads well in light and dark notebooks.

    Parameters
    ----------
    summary
        What the audit says; the five largest moves are shown, or none where swaps are no evidence.
    """
    # swaps of single people are no evidence where answers differ inside profiles
    most = 0 if summary.rates is not None else MOST_MOVES
    template = html_environment().get_template("notebook.html.j2")
    return template.render(
        s=summary,
        verdict=verdict_title(summary),
        meaning=meaning(summary),
        verdict_sentence=verdict_sentence(summary),
        moved=moved_sentence(summary),
        moves=moves_table(summary, most),
        shown=shown_sentence(summary, most),
        caution=caution(summary),
    )
