"""What it depends on: threshold, budget, sensitive features, similarity."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtransport.report.cells import Cell, Table, columns_of
from fairtransport.report.numbers import DOWN, UP, bound, decimal, percent, told_apart
from fairtransport.report.sections import Section
from fairtransport.report.sections.finding import about
from fairtransport.report.strings import visible

if TYPE_CHECKING:
    from fairtransport.report.sections import Output
    from fairtransport.summary import AuditSummary


def delta_sentences(summary: AuditSummary) -> tuple[str, ...]:
    """Return for which thresholds δ the verdict would be which."""
    lower, upper = summary.lower_bound, summary.upper_bound
    said = []
    at_least, up_to, from_there = "0.0000", "below", "from"
    if summary.verdict == "rejected" and lower == summary.delta:
        up_to, from_there = "up to", "above"
    if lower is not None and lower > 0:
        at_least, _ = told_apart(lower, 0.0, rounding=DOWN)
        said.append(f"For every δ {up_to} {at_least}: δ-fairness rejected.")
    elif lower is not None:
        said.append("For no δ: δ-fairness rejected; the lower bound is not above 0.")
    if upper is None:
        said.append("For no δ: certified; there is no upper bound.")
    else:
        said.append(f"For every δ from {bound(upper, UP)} on: certified.")
    if lower is not None and (upper is None or lower < upper):
        to = "" if upper is None else f" and below {bound(upper, UP)}"
        on = " on" if from_there == "from" else ""
        said.append(f"For δ {from_there} {at_least}{on}{to}: inconclusive.")
    return tuple(said)


def budget_sentence(summary: AuditSummary) -> str:
    """Return what the budget is and what more of it would do."""
    if len(summary.budget_curve) == 1:
        return (
            f"The budget is ε = {summary.budget:g}. A larger one changes nothing: all that can "
            "be found is found with free moves."
        )
    far = "so far may people be moved on average, as a squared distance."
    said = [f"The budget is ε = {summary.budget:g}: {far}", visible(summary.budget_in_words)]
    if math.isfinite(summary.price):
        said.append(
            f"A little more of it adds {about(summary)}{summary.price:.4g} to the statistic per "
            "unit of budget."
        )
    if not summary.budget_curve:
        said.append("How the statistic depends on the budget is not told here.")
    return " ".join(filter(None, said))


def feature_sentences(summary: AuditSummary) -> tuple[str, ...]:
    """Return how the statistic changes when a sensitive feature may not change."""
    if summary.rates is not None:  # each feature's rates are told instead
        return ()
    return tuple(
        f"If {visible(role.feature)} may not change, the statistic is {decimal(role.statistic)}"
        + ("." if role.share is None else f", {percent(role.share, 0)} less.")
        for role in summary.without_feature
    )


def costs_table(summary: AuditSummary) -> Table:
    """Return what a change of each column costs."""
    rows = tuple(
        (Cell(visible(rule.column)), Cell(visible(rule.change)), Cell(visible(rule.cost)))
        for rule in summary.costs
    )
    columns = columns_of(["Column", "Change", "Squared distance"], [])
    return Table("costs", "What costs what", columns, rows)


def curve_table(summary: AuditSummary) -> Table:
    """Return the corners of the budget curve."""
    rows = tuple(
        (Cell(f"{one.budget:.6g}", one.budget), Cell(decimal(one.value), one.value))
        for one in summary.budget_curve
    )
    titles = ["Budget", "Statistic"]
    return Table("curve", "Corners of the budget curve", columns_of(titles, titles), rows)


def _contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    return {
        "thresholds": delta_sentences(summary),
        "budget": budget_sentence(summary),
        "curve": curve_table(summary),
        "roles": feature_sentences(summary),
        "costs": costs_table(summary),
    }


SECTION = Section("depends", "What it depends on", 40, _contents)
