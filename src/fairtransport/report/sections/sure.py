"""How sure that is: what the bounds promise, and several methods side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.cells import Cell, Table, columns_of
from fairtransport.report.numbers import DOWN, UP, bound, interval_text, level
from fairtransport.report.rate_words import NOT_SAID as RATES_NOT_SAID
from fairtransport.report.sections import Section
from fairtransport.report.sections.finding import figures, interval_words, one_sided, pvalue_words
from fairtransport.report.strings import shorten, visible

if TYPE_CHECKING:
    from fairtransport.report.sections import Output
    from fairtransport.summary import AuditSummary

NOT_SAID = (
    "An audit speaks of the people it compares, the loss it counts and the threshold δ. Not "
    "rejecting δ-fairness is no proof of fairness."
)

GUARANTEES = {
    "finite-sample": (
        "The bounds hold at every sample size, whatever the population, for people drawn at random "
        "who had no part in making the model or the similarity: nothing is approximated."
    ),
    "asymptotic": (
        "The bounds hold for large samples of people drawn at random who had no part in making the "
        "model or the similarity; at the size of this one their level is approximate."
    ),
}


def guarantee_meaning(summary: AuditSummary) -> str:
    """Return what the bounds promise.

    Parameters
    ----------
    summary
        At every sample size, or for large ones approximately.
    """
    promise = GUARANTEES.get(summary.guarantee, visible(summary.guarantee))
    wrong = level(summary.alpha)
    if summary.guarantee == "finite-sample":
        return f"{promise} Each bound is wrong in at most {wrong} of audits."
    return f"{promise} Each bound is wrong in approximately {wrong} of audits, or in fewer."


def law_sentence(summary: AuditSummary) -> str | None:
    """Return what the histogram is for; None if there is none.

    Parameters
    ----------
    summary
        That it is for the eye is said where the bounds come from another method.
    """
    if summary.law is None:
        return None
    unused = f"; the bounds of {summary.method} do not use it"
    return (
        f"The histogram is drawn by {shorten(visible(summary.law.method), 60)} for the eye"
        f"{'' if summary.law.method == summary.method else unused}."
    )


def methods_table(summary: AuditSummary) -> Table:
    """Return the methods' intervals and bounds side by side.

    Parameters
    ----------
    summary
        The audit, with the methods that were run for comparison. The verdict rests on one of them,
        chosen beforehand.
    """
    rows = tuple(
        (
            Cell(visible(one.method)), Cell(visible(one.guarantee)),
            Cell(interval_text(one.lower, one.upper), one.lower),
            Cell(bound(one.lower_bound, DOWN), one.lower_bound),
            Cell(bound(one.upper_bound, UP), one.upper_bound),
        )
        for one in summary.methods
    )  # fmt: skip
    numeric = ["Interval", "Lower bound", "Upper bound"]
    columns = columns_of(["Method", "Guarantee", *numeric], numeric)
    return Table("methods", "Methods side by side", columns, rows)


def _contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    """Return what the template part ``sure.j2`` shows, by name.

    Parameters
    ----------
    summary
        The audit. With rates or an obstacle the facts are those of the finding, without bounds of
        ψ.
    """
    facts: list[tuple[str, str]] = [
        (f"Interval, {level(1 - summary.alpha)}", interval_words(summary)),
        *one_sided(summary),
    ]
    if summary.rates is not None or summary.applicability is not None:
        facts = list(figures(summary))
    elif summary.pvalue is not None:
        facts.append(("Test of δ-fairness", pvalue_words(summary)))
    return {
        "guarantee": guarantee_meaning(summary),
        "facts": facts,
        "not_said": NOT_SAID if summary.rates is None else RATES_NOT_SAID,
        "law": law_sentence(summary),
        "methods": methods_table(summary),
    }


SECTION = Section("sure", "How sure", 30, _contents)
