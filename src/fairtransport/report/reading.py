"""How the parts of a report are to be read: which moves are shown, and what their numbers mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.text import ROUNDING, decimal, people, percent, visible
from fairtransport.report.words import is_outcome

if TYPE_CHECKING:
    from fairtransport.summary import AuditSummary, FlowTable

LARGE = 0.1
"""A share of the statistic that is worth a line beside the verdict."""
OF_THOSE_SHOWN = "of the moves shown"


def titled(summary: AuditSummary, title: str) -> str:
    """Return a heading; where moves are left out it says that the others were counted."""
    return title if summary.suppression is None else f"{title}, {OF_THOSE_SHOWN}"


def hidden_sentence(summary: AuditSummary) -> str | None:
    """Return how many people are in moves that are left out; None if there are none to tell of."""
    hidden = summary.suppression
    if hidden is None or not hidden.moved_hidden:
        return None
    return f"Moves of about {people(hidden.moved_hidden)} people are not shown."


def shows_flows(summary: AuditSummary) -> bool:
    """Tell whether flows are shown: where all moves are left out, zeros would say nothing."""
    return bool(summary.flows) and bool(summary.moves or summary.suppression is None)


def flows_meaning(summary: AuditSummary) -> str:
    """Return what the flows count, and what it means to leave a cell or to enter it."""
    moves = "all moves" if summary.suppression is None else "the moves shown"
    better = "the model does better for the cells that people leave, and worse for those they enter"
    if is_outcome(summary):
        better = (
            "predictions are lower in the cells that people leave, and higher in those they enter"
        )
    return (
        f"How the number of people in each cell changes when {moves} are made: {better}. "
        "Blue cells with + gain people, orange cells with − lose them."
    )


def flows_sentence(table: FlowTable) -> str:
    """Return how the flows by a feature are to be read."""
    if table.kind == "descriptive":
        return "The flows describe these people; no interval says how they would be elsewhere."
    return (
        "The intervals hold for all cells of the table at once: a cell whose interval holds 0 "
        "may be chance."
    )


def ties_sentence(summary: AuditSummary) -> str | None:
    """Return what it means that the plan is not unique; None where it is."""
    if summary.plan_is_unique:
        return None
    return (
        "Other swaps would give the same statistic. Where there was a choice, the fewest columns "
        "were changed, then the least distance; such moves are marked as tied."
    )


def fractions_sentence(summary: AuditSummary) -> str | None:
    """Return why there are parts of a person; None if there are none."""
    numbers = [summary.moved, *(move.people for move in summary.moves)]
    if all(abs(number - round(number)) < ROUNDING for number in numbers):
        return None
    return (
        "The budget ends half way through a profile: only some of its people are moved, and their "
        "number need not be whole."
    )


def disagreement_sentence(summary: AuditSummary) -> str | None:
    """Return how much comes from different predictions for one profile; None if nothing."""
    if summary.disagreement <= 0:
        return None
    share = ""
    if summary.statistic > 0:
        share = f" ({percent(summary.disagreement / summary.statistic, 0)})"
    return (
        f"{decimal(summary.disagreement)} of the statistic{share} comes from different predictions "
        "for one and the same profile, without any change of a sensitive feature."
    )


def has_much_disagreement(summary: AuditSummary) -> bool:
    """Tell whether so much is disagreement that the verdict must not stand without it."""
    return summary.disagreement > 0 and summary.disagreement >= LARGE * summary.statistic


def suppression_sentence(summary: AuditSummary) -> str | None:
    """Return what was left out of a document that is shared; None if nothing was."""
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
