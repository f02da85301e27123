"""Sentences on the direction of the worse treatment: from which group to which, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.numbers import ROUNDING, decimal
from fairtransport.report.sections.finding import about, is_outcome
from fairtransport.report.strings import shorten, value_text, visible

if TYPE_CHECKING:
    from fairtransport.summary import AuditSummary, Direction

ONE_WAY = 2
"""How many times more moves add for each person one way, where only that way is named."""
OF_THOSE_SHOWN = "of the moves shown"


def direction_sentence(summary: AuditSummary) -> str | None:
    """Return for which group the model does worse than for similar people of another.

    Parameters
    ----------
    summary
        The pair of levels that adds most, with its reverse beside it.

    Notes
    -----
    Never said where the audit could find nothing, or where the verdict is about rates: there the
    swaps of single people are no evidence. Where other swaps would do as well, between which groups
    they go hangs on the choice.
    """
    told = summary.applicability is None and summary.rates is None
    if not summary.directions or not told:
        return None
    first = summary.directions[0]
    reverse = (first.feature, first.worse, first.better)
    back = next(
        (one for one in summary.directions if (one.feature, one.better, one.worse) == reverse), None
    )
    near = about(summary)
    shown = "" if summary.suppression is None else f", {OF_THOSE_SHOWN}"
    return (
        f"By {shorten(visible(first.feature))}: {_treatment(summary, first, back)}, which adds "
        f"{near}{decimal(first.contribution)} to the statistic (the other way round: "
        f"{_other_way(summary, first, back)}){shown}.{_flips(summary, first)}{_needed(summary)}"
    )


def _is_open(first: Direction, back: Direction | None) -> bool:
    """Tell whether other swaps with the same statistic could add more the other way round."""
    added = 0.0 if back is None else back.contribution
    return first.back_at_most is None or first.back_at_most > added + ROUNDING


def _is_one_way(first: Direction, back: Direction | None) -> bool:
    """Tell whether moves add much less for each person the other way round, in any such swaps."""
    if back is None:
        return not _is_open(first, back)
    if first.back_at_most is None:
        return False
    # the most that goes back, for each person of the level that it goes from
    most = max(1.0, first.back_at_most / back.contribution) * (back.per_person or 0.0)
    return (first.per_person or 0.0) >= ONE_WAY * most > 0


def _other_way(summary: AuditSummary, first: Direction, back: Direction | None) -> str:
    """Return what moves the other way round add, or how much they could."""
    near = about(summary)
    added = "nothing" if back is None else f"{near}{decimal(back.contribution)}"
    if not _is_open(first, back) or summary.suppression is not None:
        return added
    if first.back_at_most is None:
        return f"{added} in these swaps"
    from_there = "up to" if back is None else f"{added} to"
    return f"{from_there} {near}{decimal(first.back_at_most)}, as targets are tied"


def _treatment(summary: AuditSummary, first: Direction, back: Direction | None) -> str:
    """Return who is treated worse than whom, or, where both are, who would be if swapped.

    What moves add grows with how many people a group has; what they add for each of them tells
    which group fares worse.

    Parameters
    ----------
    summary
        What the audit says.
    first, back
        The direction that adds most, and its reverse if there is one.
    """
    worse, better = (shorten(value_text(one)) for one in (first.worse, first.better))
    if _is_one_way(first, back):
        does = "predictions are higher" if is_outcome(summary) else "the model does worse"
        return f"{does} for {worse} than for similar people of {better}"
    does = "get higher predictions" if is_outcome(summary) else "fare worse"
    return f"people of {better} would {does} as similar people of {worse}"


def _flips(summary: AuditSummary, one: Direction) -> str:
    """Return how much of a direction denies the favourable label and how much grants it.

    Parameters
    ----------
    summary, one
        Nothing where no label is known to be favourable.
    """
    if one.harmful is None or one.lenient is None:
        return ""
    near, favour = about(summary), shorten(value_text(summary.favourable), 40)
    return (
        f" Of this, {near}{decimal(one.harmful)} is harmful (the label {favour} is denied to "
        f"them, which similar people get) and {near}{decimal(one.lenient)} lenient (it is granted "
        "to them, and similar people do not get it)."
    )


def _needed(summary: AuditSummary) -> str:
    """Return how much of the statistic needs another group, where that is less than it adds.

    Parameters
    ----------
    summary
        With directions.
    """
    part = summary.attributable
    if summary.bracket is not None:  # it is known as a lower value only
        return ""
    if part.same_group <= 0 or part.value >= summary.directions[0].contribution:
        return ""
    return f" Only {about(summary)}{decimal(part.value)} of the statistic needs another group."
