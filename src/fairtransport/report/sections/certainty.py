"""The certainty of the result (bounds and methods), and its dependence on settings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtransport.report.sections import decisions, finding
from fairtransport.report.sections.rates import NOT_SAID as RATES_NOT_SAID
from fairtransport.report.sections.section import Section
from fairtransport.report.tables import Cell, Table, changes_cell, columns_of, profile_cell
from fairtransport.report.text import (
    DOWN,
    ROUNDING,
    UP,
    about,
    bound,
    decimal,
    distinct_decimals,
    interval_text,
    is_shared,
    level,
    shorten,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtransport.documents.audit import AuditSummary
    from fairtransport.report.sections.section import Output
    from fairtransport.similarity.similarity_check import SimilarPair


NOT_SAID = (
    "An audit speaks of the people it compares, the loss it counts and the threshold δ. A model "
    "that is not found over the limit may still be unfair."
)


GUARANTEES = {
    "finite-sample": (
        "The bounds hold at every sample size, whatever the population, for {sampled} drawn at "
        "random and independently of each other, whose data were not used to make the model or the "
        "similarity: nothing is approximated."
    ),
    "asymptotic": (
        "The bounds hold for large samples of {sampled} drawn at random and independently of each "
        "other, whose data were not used to make the model or the similarity; at the size of this "
        "one their level is approximate."
    ),
    "approximate": (
        "The bound holds at every sample size for the counterparts as fitted, for people drawn at "
        "random and independently of each other, whose data were not used to make the model; it "
        "was lowered for how much the statistic varies when counterparts are refitted on resampled "
        "hold-outs, which is approximate."
    ),
}


OF_THESE_CASES = (
    "The bound is about these cases only. It holds at every number of draws, whatever the cases "
    "are and however they were chosen, for answers that are independent of each other: nothing is "
    "approximated, and nothing is said of other cases."
)


def guarantee_meaning(summary: AuditSummary) -> str:
    """Return the guarantee of the bounds."""
    if summary.is_about_these:
        return f"{OF_THESE_CASES} It is wrong in at most {level(summary.alpha)} of audits."
    sampled = "people" if summary.units is None else f"{summary.units.name}{summary.units.given},"
    promise = GUARANTEES.get(summary.guarantee, visible(summary.guarantee)).format(sampled=sampled)
    wrong = level(summary.alpha)
    if summary.questions is not None and summary.questions.draws is not None:
        promise += (
            " The bound is about the population of cases that these were drawn from, and needs "
            "answers that are independent of each other."
        )
    if summary.units is None:
        promise += f" {decisions.CLUSTERS_HINT}"
    if summary.guarantee == "finite-sample":
        return f"{promise} Each bound is wrong in at most {wrong} of audits."
    return f"{promise} Each bound is wrong in approximately {wrong} of audits, or in fewer."


def law_sentence(summary: AuditSummary) -> str | None:
    """Return the purpose of the histogram; None if there is none."""
    if summary.law is None:
        return None
    unused = f" It is an illustration: the bounds of {summary.method} do not use it."
    return (
        f"The histogram comes from {shorten(visible(summary.law.method), 60)}."
        f"{'' if summary.law.method == summary.method else unused}"
    )


def methods_table(summary: AuditSummary) -> Table:
    """Return the methods' intervals and bounds side by side."""
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


def formal_sentences(summary: AuditSummary) -> list[str]:
    """Return the verdict in a statistician's words, and the meaning of the statistic."""
    is_evidence = summary.applicability is None and summary.rates is None
    sentences = [
        finding.verdict_sentence(summary),
        finding.outlook_sentence(summary),
        finding.worst_case(summary) if is_evidence else None,
        finding.delta_sentence(summary),
    ]
    if is_evidence and not finding.has_much_disagreement(summary):  # else it is beside the verdict
        sentences.append(finding.disagreement_sentence(summary))
    return [sentence for sentence in sentences if sentence]


def _certainty_contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    """Return the contents of the template part ``certainty.j2``, by name."""
    return {
        "formal": formal_sentences(summary),
        "facts": finding.figures(summary),
        "guarantee": guarantee_meaning(summary),
        "not_said": NOT_SAID if summary.rates is None else RATES_NOT_SAID,
        "law": law_sentence(summary),
        "methods": methods_table(summary),
    }


CERTAINTY = Section(
    "sure", "How sure", "certainty.j2", _certainty_contents, folded=True,
    hint="the test, bounds, what they assume",
)  # fmt: skip


NOTHING_FOLLOWS = "This audit cannot tell: no verdict follows from its bounds."
CHOSEN_LATE = "A limit that is chosen after seeing this is no test: set it before."


def delta_sentences(summary: AuditSummary) -> tuple[str, ...]:
    """Return the verdicts for other thresholds δ."""
    if summary.applicability is not None:
        return (NOTHING_FOLLOWS,)
    if not finding.has_known_bounds(summary):
        return (f"{finding.PART_IS_NOT_SHARED.capitalize()}.",)
    lower, upper = summary.judged.lower_bound, summary.judged.upper_bound
    sentences = []
    at_least, up_to, from_there = "0.0000", "below", "from"
    if summary.verdict == "rejected" and lower == summary.delta:
        up_to, from_there = "up to", "above"
    exceeds = summary.controls is None or summary.controls.exceeds
    if not exceeds:
        sentences.append("For no δ: δ-fairness rejected; no more than irrelevant edits.")
    elif lower is not None and lower > 0:
        at_least, _ = distinct_decimals(lower, 0.0, rounding=DOWN)
        sentences.append(f"For every δ {up_to} {at_least}: δ-fairness rejected.")
    elif lower is not None:
        sentences.append("For no δ: δ-fairness rejected; the lower bound is not above 0.")
    if upper is None:
        sentences.append("For no δ: within the limit (certified); there is no upper bound.")
    else:
        sentences.append(f"For every δ from {bound(upper, UP)} on: within the limit (certified).")
    if not exceeds:
        to = "For every δ" if upper is None else f"For every δ below {bound(upper, UP)}"
        sentences.append(f"{to}: not settled.")
    elif lower is not None and (upper is None or lower < upper):
        to = "" if upper is None else f" and below {bound(upper, UP)}"
        on = " on" if from_there == "from" else ""
        sentences.append(f"For δ {from_there} {at_least}{on}{to}: not settled.")
    return (*sentences, CHOSEN_LATE)


def budget_sentence(summary: AuditSummary) -> str:
    """Return the budget, and the effect of a larger one."""
    if len(summary.budget_curve) == 1:
        return f"The budget is ε = {summary.budget:g}. A larger one would find nothing more."
    far = "so far may people be moved on average, as a squared distance."
    sentences = [f"The budget is ε = {summary.budget:g}: {far}", visible(summary.budget_in_words)]
    if math.isfinite(summary.price):
        sentences.append(
            f"A little more of it adds {about(summary)}{summary.price:.4g} to the statistic per "
            "unit of budget."
        )
    if not summary.budget_curve:
        sentences.append("How the statistic depends on the budget is not told here.")
    return " ".join(filter(None, sentences))


def feature_sentences(summary: AuditSummary) -> tuple[str, ...]:
    """Return the statistic with each sensitive feature held fixed."""
    if summary.rates is not None:  # each feature's rates are shown instead
        return ()
    names = [role.feature for role in summary.without_feature]
    whole, near = _size_text(summary, summary.statistic), about(summary)
    sentences = []
    for role in summary.without_feature:
        others = [visible(name) for name in names if name != role.feature]
        which = f"only {' and '.join(others)} may change" if others else "it may not change"
        size = _size_text(summary, role.statistic)
        sentences.append(f"If {which}: {near}{size} instead of {near}{whole}.")
    parts = sum(role.statistic for role in summary.without_feature)
    is_count = decisions.counts_people(summary) and not summary.budget and not is_shared(summary)
    if is_count and len(names) == 2 and parts < summary.statistic - ROUNDING:  # noqa: PLR2004
        sentences.append("For all others both need to change at once.")
    return tuple(sentences)


def _size_text(summary: AuditSummary, value: float) -> str:
    """Return the statistic in people if it counts them."""
    return (
        f"{100 * value:.1f} in 100 people" if decisions.counts_people(summary) else decimal(value)
    )


def costs_table(summary: AuditSummary) -> Table:
    """Return the cost of a change of each column."""
    rows = tuple(
        (Cell(visible(rule.column)), Cell(visible(rule.change)), Cell(visible(rule.cost)))
        for rule in summary.costs
    )
    columns = columns_of(["Column", "Change", "Squared distance"], [])
    return Table("costs", "What costs what", columns, rows)


def pairs_table(summary: AuditSummary) -> Table:
    """Return people at random with the nearest comparable person of another group."""
    pairs = () if summary.similarity_check is None else summary.similarity_check.pairs
    columns = columns_of(["Who they are", "Comparable with", "Squared distance"], [])
    return Table("pairs", "Who counts as comparable", columns, rows_of_pairs(pairs))


def rows_of_pairs(pairs: Iterable[SimilarPair]) -> tuple[tuple[Cell, ...], ...]:
    """Return one pair per row: common values, differences, distance."""

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
    """Return the costs of taking somebody else's value in one column."""
    distances = () if summary.similarity_check is None else summary.similarity_check.columns
    rows = tuple((Cell(visible(one.column)), Cell(one.words, one.cost)) for one in distances)
    columns = columns_of(["Column", "Somebody else's value"], [])
    return Table("distances", "The distance column by column", columns, rows)


def curve_table(summary: AuditSummary) -> Table:
    """Return the corners of the budget curve."""
    rows = tuple(
        (Cell(f"{one.budget:.6g}", one.budget), Cell(decimal(one.value), one.value))
        for one in summary.budget_curve
    )
    titles = ["Budget", "Statistic"]
    return Table("curve", "Corners of the budget curve", columns_of(titles, titles), rows)


def _dependence_contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    """Return the contents of the template part ``dependence.j2``, by name."""
    checked = summary.similarity_check
    return {
        "thresholds": delta_sentences(summary),
        "budget": budget_sentence(summary),
        "curve": curve_table(summary),
        "roles": feature_sentences(summary),
        "costs": costs_table(summary),
        "similar_pairs": pairs_table(summary),
        "distances": distances_table(summary),
        "variance": None if checked is None else checked.variance_words,
    }


DEPENDENCE = Section(
    "depends", "What it depends on", "dependence.j2", _dependence_contents, folded=True,
    hint="other limits, budgets, similarities",
)  # fmt: skip
