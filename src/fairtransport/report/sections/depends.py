"""What it depends on: threshold, budget, sensitive features, similarity."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtransport.report.cells import Cell, Table, changes_cell, columns_of, profile_cell
from fairtransport.report.numbers import DOWN, UP, bound, decimal, percent, told_apart
from fairtransport.report.sections import Section
from fairtransport.report.sections.finding import about
from fairtransport.report.strings import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtransport.report.sections import Output
    from fairtransport.summary import AuditSummary, SimilarPair


def delta_sentences(summary: AuditSummary) -> tuple[str, ...]:
    """Return for which thresholds δ the verdict would be which.

    Parameters
    ----------
    summary
        Its one-sided bounds are the ends of the ranges.
    """
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
    """Return what the budget is and what more of it would do.

    Parameters
    ----------
    summary
        A curve of one corner says that a budget buys nothing; an empty one, that it is not told.
    """
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


def elbow_sentence(summary: AuditSummary) -> str | None:
    """Return where the budget curve bends most; None where it has no bend to tell of.

    Parameters
    ----------
    summary
        The audit; its ``elbow`` is the corner farthest above the line from the curve's first corner
        to its last.
    """
    if summary.elbow is None:
        return None
    at, last = summary.elbow, summary.budget_curve[-1]
    return (
        f"The curve bends most at ε = {at.budget:.3g}, where the statistic is {decimal(at.value)}: "
        "up to there a unit of budget adds more than on average until everything is found (at "
        f"ε = {last.budget:.3g}), beyond it less."
    )


def feature_sentences(summary: AuditSummary) -> tuple[str, ...]:
    """Return how the statistic changes when a sensitive feature may not change.

    Parameters
    ----------
    summary
        The audit; shares are of the statistic with all features free, and left out where that is 0.
    """
    if summary.rates is not None:  # each feature's rates are told instead
        return ()
    most, least = ("", "") if summary.bracket is None else ("at most ", "at least ")
    told = "" if summary.made_twins is None else " and what tells it"
    return tuple(
        f"If {visible(role.feature)}{told} may not change, the statistic is {most}"
        f"{decimal(role.statistic)}"
        + ("." if role.share is None else f", {least}{percent(role.share, 0)} less.")
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


def pairs_table(summary: AuditSummary) -> Table:
    """Return people at random with the nearest comparable person of another group.

    Parameters
    ----------
    summary
        A shared document has none.
    """
    found = () if summary.similarity_check is None else summary.similarity_check.pairs
    columns = columns_of(["Who they are", "Comparable with", "Squared distance"], [])
    return Table("pairs", "Who counts as comparable", columns, rows_of_pairs(found))


def rows_of_pairs(pairs: Iterable[SimilarPair]) -> tuple[tuple[Cell, ...], ...]:
    """Return two people a row: what they have in common, what differs, how far apart they are.

    Parameters
    ----------
    pairs
        Two profiles each, with their squared distance.
    """

    def row(pair: SimilarPair) -> tuple[Cell, ...]:
        """Return one pair's cells."""
        differ = tuple(name for name, value in pair.first.items() if pair.second[name] != value)
        far = pair.squared_distance
        return (
            profile_cell(pair.first, differ), changes_cell(pair.first, pair.second, differ),
            Cell(f"{far:.4g}" if far else "free", far),
        )  # fmt: skip

    return tuple(map(row, pairs))


def distances_table(summary: AuditSummary) -> Table:
    """Return what it costs to have somebody else's value in one column."""
    found = () if summary.similarity_check is None else summary.similarity_check.columns
    rows = tuple((Cell(visible(one.column)), Cell(one.words, one.cost)) for one in found)
    columns = columns_of(["Column", "Somebody else's value"], [])
    return Table("distances", "The distance column by column", columns, rows)


def curve_table(summary: AuditSummary) -> Table:
    """Return the corners of the budget curve.

    Parameters
    ----------
    summary
        The audit; between two corners ψ is linear in ε, so that the table is the whole curve.
    """
    rows = tuple(
        (Cell(f"{one.budget:.6g}", one.budget), Cell(decimal(one.value), one.value))
        for one in summary.budget_curve
    )
    titles = ["Budget", "Statistic"]
    return Table("curve", "Corners of the budget curve", columns_of(titles, titles), rows)


def _contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    """Return what the template part ``depends.j2`` shows, by name.

    Parameters
    ----------
    summary
        The audit. Parts that it has nothing to say about are None or empty, and the template leaves
        them out.
    """
    checked = summary.similarity_check
    return {
        "thresholds": delta_sentences(summary),
        "budget": budget_sentence(summary),
        "elbow": elbow_sentence(summary),
        "curve": curve_table(summary),
        "roles": feature_sentences(summary),
        "costs": costs_table(summary),
        "similar_pairs": pairs_table(summary),
        "distances": distances_table(summary),
        "variance": None if checked is None else checked.variance_words,
    }


SECTION = Section("depends", "What it depends on", 40, _contents)
