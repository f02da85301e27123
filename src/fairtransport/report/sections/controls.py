"""Sentences on sensitive edits, compared with edits that should not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.text import DOWN, UP, about, bound, decimal, level, pvalue, visible

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
        "No more than irrelevant edits: it is not shown that changing "
        f"{_names(summary.provenance.sensitive)} matters more than changing "
        f"{_names(summary.controls.columns if summary.controls else ())}."
    )


def controls_sentence(summary: AuditSummary) -> str | None:
    """Return the mean shifts of both kinds of edits, or that a model needs controls; else None."""
    controls = summary.controls
    if controls is None or summary.applicability is not None:
        return summary.controls_advice if summary.applicability is None else None
    near, unit, digits = about(summary), 1, 4
    if summary.provenance.loss_is_error:
        unit, digits = 100, 1

    def number(shift: float) -> str:
        """Return a mean shift in the unit of the limit."""
        return f"{100 * shift:.1f} in 100" if unit > 1 else decimal(shift)

    what = "errors of" if unit > 1 else "a mean loss of"
    sentence = (
        f"Changing {_names(summary.provenance.sensitive)} alone adds {what} {near}"
        f"{number(controls.sensitive_shift)} on average, changing {_names(controls.columns)} "
        f"{near}{number(controls.control_shift)}"
    )
    if controls.lower_bound is None or controls.upper_bound is None:
        return f"{sentence}."
    ends = (
        f"at least {bound(unit * controls.lower_bound, DOWN, digits)}, at most "
        f"{bound(unit * controls.upper_bound, UP, digits)}, each with {level(1 - summary.alpha)} "
        "confidence"
    )
    tests = [] if controls.pvalue is None else [pvalue(controls.pvalue)]
    if controls.permutation_pvalue is not None:
        tests.append(f"permutation {pvalue(controls.permutation_pvalue)}")
    beyond = f", tolerated {controls.margin:g}" if controls.margin else ""
    people = "" if controls.people is None else f"; {controls.people:,} people matched"
    return (
        f"{sentence}: a difference of {number(controls.difference)} ({ends}{beyond}; "
        f"{', '.join(tests)}{people})."
    )


def _names(columns: tuple[str, ...]) -> str:
    """Return columns as alternatives."""
    return " or ".join(map(visible, columns))
