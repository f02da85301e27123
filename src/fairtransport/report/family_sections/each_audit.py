"""Each audit by itself: what it was asked, what swapping people does, who is swapped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairtransport.report.family_sections.family_finding import verdict_word
from fairtransport.report.sections import Section
from fairtransport.report.sections.finding import meaning
from fairtransport.report.sections.who import moved_sentence, moves_table
from fairtransport.report.strings import loss_name, shorten, visible

if TYPE_CHECKING:
    from fairtransport.family import FamilySummary
    from fairtransport.report.sections import Output
    from fairtransport.summary import AuditSummary

SWAPS = "who is swapped with whom"
MOST_MOVES = 10
"""Moves of which a page tells for each audit; more are in the JSON document."""


def asked(summary: AuditSummary) -> tuple[tuple[str, str], ...]:
    """Return what an audit was asked, name by name.

    Parameters
    ----------
    summary
        One audit's own document.
    """
    made = summary.provenance
    return (
        ("Model", visible(made.model)),
        ("Sensitive features", shorten(", ".join(map(visible, made.sensitive)))),
        ("Loss", loss_name(made.loss)),
        ("Budget", f"{summary.budget:g}"),
        ("People", f"{summary.n:,}"),
        ("Method", f"{visible(summary.method)}, seed {made.seed}"),
        ("Data, SHA-256", made.data_sha256 or "none"),
    )


def _each(summary: FamilySummary) -> list[dict[str, Any]]:
    """Return what is told of each audit, in the order of the table.

    Parameters
    ----------
    summary
        The family, with the summary of every member.

    Returns
    -------
    list of dict
        ``more`` counts the moves that the page leaves out beyond ``MOST_MOVES``; the audit's own
        report has them.
    """
    found = []
    for at, (member, one) in enumerate(zip(summary.members, summary.audits, strict=True), 1):
        name = shorten(visible(member.name))
        moves = moves_table(one, MOST_MOVES)
        # two tables of one page have captions of their own, for those who hear them
        moves = replace(moves, key=f"moves-{at}", caption=f"Audit {at}, {name}: {SWAPS}")
        found.append(
            {
                "name": name,
                "verdict": verdict_word(member),
                "meaning": meaning(one),
                "moved": moved_sentence(one),
                "asked": asked(one),
                "moves": moves,
                "more": max(0, (one.moves_found or 0) - len(moves.rows)),
            }
        )
    return found


def _contents(summary: FamilySummary, _: Output) -> dict[str, object]:
    """Return what the template part ``each_audit.j2`` shows; nothing without documents."""
    return {"each": _each(summary) if summary.audits else []}


SECTION = Section("each", "Each audit", 20, _contents)
