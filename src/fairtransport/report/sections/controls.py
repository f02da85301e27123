"""Sentences on sensitive edits, compared with edits that should not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.text import DOWN, UP, about, bound, decimal, level, visible

if TYPE_CHECKING:
    from fairtransport.documents.audit import AuditSummary


def is_held_back(summary: AuditSummary) -> bool:
    """Return whether the statistic is over the limit, but not above that of irrelevant edits."""
    controls, lower = summary.controls, summary.judged.lower_bound
    if controls is None or controls.exceeds or summary.delta is None or lower is None:
        return False
    return summary.verdict == "inconclusive" and lower >= summary.delta


def held_back_sentence(summary: AuditSummary) -> str | None:
    """Return why there is no verdict although the statistic is over the limit; else None."""
    if not is_held_back(summary):
        return None
    return (
        "The result is over the limit, but it is not shown that changing "
        f"{_names(summary.provenance.sensitive)} has a larger effect than changing "
        f"{_names(summary.controls.columns if summary.controls else ())} (control columns)."
    )


def controls_sentence(summary: AuditSummary) -> str | None:
    """Return the mean shifts of both kinds of edits, or that a model needs controls; else None."""
    controls = summary.controls
    if controls is None or summary.applicability is not None:
        return summary.controls_advice if summary.applicability is None else None
    near, unit, digits, sign = about(summary), 1, 4, ""
    if summary.provenance.loss_is_error:
        unit, digits, sign = 100, 1, " %"

    def number(shift: float) -> str:
        """Return a mean shift in the unit of the limit."""
        return f"{near}{decimal(unit * shift, digits)}{sign}"

    first = f"a change of {_names(summary.provenance.sensitive)}"
    second = f"a change of {_names(controls.columns)}"
    effects = number(controls.sensitive_shift), number(controls.control_shift)
    sentence = f"On average {first} adds {effects[0]} to a person's loss, {second} {effects[1]}"
    if sign:
        sentence = (
            f"On average {first} makes a correct decision wrong for {effects[0]} of people, "
            f"{second} for {effects[1]}"
        )
    if controls.lower_bound is None or controls.upper_bound is None:
        return f"{sentence}."
    ends = (
        f"at least {bound(unit * controls.lower_bound, DOWN, digits)}, at most "
        f"{bound(unit * controls.upper_bound, UP, digits)}, each with {level(1 - summary.alpha)} "
        "confidence"
    )
    beyond = f"; tolerated: {unit * controls.margin:g}" if controls.margin else ""
    people = "" if controls.people is None else f"; {controls.people:,} people with both changes"
    points = " percentage points" * bool(sign)
    difference = decimal(unit * controls.difference, digits)
    return f"{sentence}. The difference is {difference}{points} ({ends}{beyond}{people})."


def _names(columns: tuple[str, ...]) -> str:
    """Return columns as alternatives."""
    return " or ".join(map(visible, columns))
