"""Sentences where the verdict is about rates: what R says, and what it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.inference.rates.words import WORST, rate_sentence
from fairtransport.report.numbers import DOWN, bound, decimal, level, pvalue, told_apart
from fairtransport.report.strings import ERROR, OUTCOME, loss_name, shorten, visible

if TYPE_CHECKING:
    from fairtransport.summary import AuditSummary, RatesFound

NOT_SAID = (
    "R above 0 is no proof that a system uses a sensitive feature: a column that the audit lacks "
    "and that differs by group does the same. A bound of 0 is no proof of the contrary. Groups are "
    "compared only where people of several are alike, and no upper bound of R can be had: nothing "
    "is certified."
)
DESCRIPTION = (
    "The statistic, its swaps and who they affect describe these people and are no evidence: "
    "answers differ inside profiles, which noise alone can do."
)


def rates_sentence(summary: AuditSummary, rates: RatesFound) -> str:
    """Return how people who are alike are treated by group.

    Parameters
    ----------
    summary, rates
        A size is told if its bound is above 0, else a difference if the permutation test rejects.
    """
    return rate_sentence(
        " or ".join(shorten(visible(name)) for name in rates.groups),
        pvalue=rate_pvalue(rates.pvalue, summary) if rates.pvalue <= summary.alpha else None,
        bound=bound(rates.lower_bound, DOWN) if rates.lower_bound > 0 else None,
        alpha=summary.alpha, whom=_whom(summary), what=_mean(summary),
    )  # fmt: skip


def rates_verdict(summary: AuditSummary, rates: RatesFound) -> str:
    """Return the verdict on R with the bound that it comes from.

    Parameters
    ----------
    summary, rates
        Without δ the bound alone is told; "certified" there is never.
    """
    if summary.delta is None:
        return (
            "No verdict: without a threshold δ there is nothing to test. With "
            f"{level(1 - summary.alpha)} confidence R is at least {bound(rates.lower_bound, DOWN)}."
        )
    at_least, threshold = told_apart(rates.lower_bound, summary.delta, rounding=DOWN)
    at = f"at level {level(summary.alpha)}"
    if summary.verdict == "rejected":
        known = "" if rates.lower_bound == summary.delta else f"at least {at_least}, "
        tail = f"; {rate_pvalue(rates.pvalue_at_delta or 0.0, summary)}"
        return (
            f"δ-fairness rejected {at}: with {level(1 - summary.alpha)} confidence R, by how much "
            f"{_mean(summary)} would rise if all fared as {_whom(summary)} among those alike, is "
            f"{known}more than δ = {threshold}{tail}."
        )
    return (
        f"Inconclusive {at}: the lower bound of R, {at_least}, does not exceed δ = {threshold}. "
        "That R is small cannot be shown: from predictions alone nothing is certified."
    )


def rates_line(summary: AuditSummary, rates: RatesFound, title: str) -> str:
    """Return the verdict on R and its evidence, short enough for a line of a screen.

    Parameters
    ----------
    summary, rates
        What was found.
    title
        The verdict in two words.
    """
    # without blanks, at which a line would be broken
    tested = "" if rates.pvalue_at_delta is None else pvalue(rates.pvalue_at_delta).replace(" ", "")
    lower = f"lower bound of R {bound(rates.lower_bound, DOWN)}"
    evidence = f", {tested}" if summary.verdict == "rejected" else ""
    return f"{title} at level {level(summary.alpha)}: δ = {summary.delta:g}, {lower}{evidence}."


def features_sentence(summary: AuditSummary) -> str | None:
    """Return what is said of each sensitive feature; None where there is one, or none is told.

    Parameters
    ----------
    summary
        What the audit says.
    """
    rates = summary.rates
    if rates is None or len(rates.features) < 2:  # noqa: PLR2004
        return None

    def said(one: str, lower: float, p: float, own: float) -> str:
        """Return what is said of one feature: a size, a difference, or none established."""
        by = f"By {shorten(visible(one))}, the others held fixed"
        if lower > 0:
            return f"{by}: at least {bound(lower, DOWN)}."
        if p <= own:
            return f"{by}: a difference, of a size that is not established ({pvalue(p)})."
        return f"{by}: no difference established."

    each = [said(one.feature, one.lower_bound, one.pvalue, one.level) for one in rates.features]
    return " ".join([*each, "All these bounds hold together."])


def rate_pvalue(value: float, summary: AuditSummary) -> str:
    """Return a p-value; in a shared document, which side of a round number it is on.

    Parameters
    ----------
    value
        The p-value, or the round number that it does not exceed.
    summary
        Whether it is shared.
    """
    if summary.suppression is None:
        return pvalue(value)
    return f"p ≤ {value:g}" if value <= summary.alpha else f"p > {summary.alpha:g}"


def rate_figures(summary: AuditSummary, rates: RatesFound) -> tuple[tuple[str, str], ...]:
    """Return R, its bound and its tests, and the statistic as a description, name by name.

    Parameters
    ----------
    summary
        The audit, for δ, its level and the statistic.
    rates
        What was found of rates. An estimate or a test at δ that there is none of is left out.

    Notes
    -----
    The statistic comes last and is named a description: where rates are tested, it counts noise
    too.
    """
    tested = rates.pvalue_at_delta
    return (
        (f"R, lower bound, {level(1 - summary.alpha)}", bound(rates.lower_bound, DOWN)),
        *([] if rates.value is None else [("R, estimate", decimal(rates.value))]),
        ("Threshold δ", "none given" if summary.delta is None else decimal(summary.delta)),
        *([] if tested is None else [("Test of R ≤ δ", rate_pvalue(tested, summary))]),
        ("Permutation test of no difference", rate_pvalue(rates.pvalue, summary)),
        ("FaiTH statistic, a description", decimal(summary.statistic)),
    )


def _whom(summary: AuditSummary) -> str:
    """Return the group that everybody would be treated as."""
    is_outcome = summary.provenance.loss == OUTCOME
    return "the group with the largest mean prediction" if is_outcome else WORST


def _mean(summary: AuditSummary) -> str:
    """Return what rises then."""
    loss = summary.provenance.loss
    if loss == ERROR:
        return "the share of errors"
    return "the mean prediction" if loss == OUTCOME else f"the mean {loss_name(loss)} loss"
