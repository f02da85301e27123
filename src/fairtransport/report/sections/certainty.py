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
    from fairtransport.documents.audit import AuditSummary
    from fairtransport.report.sections.section import Output
    from fairtransport.similarity.similarity_check import SimilarPair


NOT_SAID = (
    "A verdict is about one definition of similar people, one loss and one limit δ. A model that "
    "is not found over the limit may still be unfair."
)


CONDITION = (
    "Conditions: {sampled} were drawn at random and independently of each other, and their data "
    "were not used to make the model or to define who is similar."
)
GUARANTEES = {
    "finite-sample": (
        f"The bounds are valid at every sample size and for every population, without "
        f"approximation. {CONDITION}"
    ),
    "asymptotic": (
        f"The bounds are approximations for large samples: at the size of this one their level is "
        f"not exact. {CONDITION}"
    ),
    "approximate": (
        "The bound is valid at every sample size for the counterparts as fitted, but only for "
        "people drawn at random and independently of each other, whose data were not used to make "
        "the model. It was lowered for the error of the fit: the variation of the statistic when "
        "counterparts are refitted on resampled hold-outs. This correction is approximate."
    ),
}


OF_THESE_CASES = (
    "The bound is about these people only, and says nothing about others. It is valid at every "
    "number of draws, whoever these people are and however they were chosen, but only if the "
    "model's answers are independent of each other. Nothing is approximated."
)


def guarantee_meaning(summary: AuditSummary) -> str:
    """Return what the bounds promise."""
    wrong = level(summary.alpha)
    if summary.is_about_these:
        return f"{OF_THESE_CASES} It is wrong in at most {wrong} of audits."
    sampled = "people"
    if summary.units is not None:
        sampled = f"{visible(summary.units.name)}{summary.units.given},"
    promise = GUARANTEES.get(summary.guarantee, visible(summary.guarantee)).format(sampled=sampled)
    if summary.questions is not None and summary.questions.draws is not None:
        promise += (
            " The bound is about the population that these people were drawn from, and needs "
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
    resamples = f"up to {summary.provenance.resamples:,} resamples"
    method = shorten(visible(summary.law.method), 60)
    source = f"The histogram was made by the method {method} ({resamples})"
    if summary.law.method == summary.method:
        return f"{source}."
    return f"{source}. It is an illustration: the bounds of {summary.method} do not use it."


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
    hint="statistical test, confidence bounds and their conditions",
)  # fmt: skip


NOTHING_FOLLOWS = "This audit cannot tell: no verdict follows from its bounds."
CHOSEN_LATE = (
    "A limit that is chosen after seeing these numbers tests nothing. To test another limit, "
    "choose it first and audit new people."
)
OVER, WITHIN = "over the limit (rejected)", "within the limit (certified)"


def delta_sentences(summary: AuditSummary) -> tuple[str, ...]:
    """Return for which limits δ the verdict would be which."""
    if summary.applicability is not None:
        return (NOTHING_FOLLOWS,)
    if not finding.has_known_bounds(summary):
        return (f"{finding.PART_IS_NOT_SHARED.capitalize()}.",)
    lower, upper = summary.judged.lower_bound, summary.judged.upper_bound
    sentences = []
    at_least, is_equal = "0.0000", summary.verdict == "rejected" and lower == summary.delta
    exceeds = summary.controls is None or summary.controls.exceeds
    if not exceeds:
        sentences.append(
            f"No δ: {OVER}, because the effect is not shown to exceed that of the control columns."
        )
    elif lower is not None and lower > 0:
        at_least, _ = distinct_decimals(lower, 0.0, rounding=DOWN)
        sentences.append(f"δ {'up to' if is_equal else 'below'} {at_least}: {OVER}.")
    elif lower is not None:
        sentences.append(f"No δ: {OVER}, because the lower bound is not above 0.")
    if upper is None:
        sentences.append(f"No δ: {WITHIN}, because there is no upper bound.")
    else:
        sentences.append(f"δ of {bound(upper, UP)} or more: {WITHIN}.")
    if not exceeds:
        to = "Every δ" if upper is None else f"δ below {bound(upper, UP)}"
        sentences.append(f"{to}: not settled (inconclusive).")
    elif lower is not None and (upper is None or lower < upper):
        start = f"above {at_least}" if is_equal else f"of {at_least} or more"
        to = "" if upper is None else f" and below {bound(upper, UP)}"
        sentences.append(f"δ {start}{to}: not settled (inconclusive).")
    return (*sentences, CHOSEN_LATE)


def budget_sentence(summary: AuditSummary) -> str | None:
    """Return what the budget is and what more of it would do; None where it does not matter."""
    if summary.budget == 0 and len(summary.budget_curve) == 1:
        return None
    what = "how different people may be on average to be swapped, as a squared distance"
    sentences = [f"The budget is ε = {summary.budget:g}: {what}."]
    if len(summary.budget_curve) == 1:
        return f"{sentences[0]} A larger one would not change the result."
    sentences.append(visible(summary.budget_in_words))
    if math.isfinite(summary.price):
        sentences.append(
            f"A slightly larger budget adds {about(summary)}{summary.price:.4g} to the statistic "
            "per unit of budget."
        )
    if not summary.budget_curve:
        sentences.append("The statistic at other budgets is not shown here.")
    return " ".join(filter(None, sentences))


def feature_sentences(summary: AuditSummary) -> tuple[str, ...]:
    """Return the statistic with each sensitive feature held fixed."""
    if summary.rates is not None:  # each feature's rates are shown instead
        return ()
    names = [role.feature for role in summary.without_feature]
    whole, near = _size_text(summary, summary.statistic), about(summary)
    of = " of people" if decisions.counts_people(summary) else ""
    sentences = []
    for role in summary.without_feature:
        others = [visible(name) for name in names if name != role.feature]
        which = f"only {' and '.join(others)} may change" if others else "it may not change"
        size = _size_text(summary, role.statistic)
        sentences.append(f"If {which}, the statistic is {near}{size}{of} instead of {near}{whole}.")
    parts = sum(role.statistic for role in summary.without_feature)
    is_count = decisions.counts_people(summary) and not summary.budget and not is_shared(summary)
    if is_count and len(names) == 2 and parts < summary.statistic - ROUNDING:  # noqa: PLR2004
        sentences.append("For the remaining people both need to change.")
    return tuple(sentences)


def _size_text(summary: AuditSummary, value: float) -> str:
    """Return the statistic as a share of people where it counts them."""
    return f"{100 * value:.1f} %" if decisions.counts_people(summary) else decimal(value)


def costs_table(summary: AuditSummary) -> Table:
    """Return the cost of a change of each column."""
    rows = tuple(
        (Cell(visible(rule.column)), Cell(visible(rule.change)), Cell(visible(rule.cost)))
        for rule in summary.costs
    )
    columns = columns_of(["Column", "Difference", "Squared distance"], [])
    return Table("costs", "How much a difference in a column counts", columns, rows)


def pairs_table(summary: AuditSummary) -> Table:
    """Return people at random with the nearest similar person of another group."""
    pairs = () if summary.similarity_check is None else summary.similarity_check.pairs
    distance = ["Squared distance"] if any(pair.squared_distance for pair in pairs) else []

    def row(pair: SimilarPair) -> tuple[Cell, ...]:
        """Return what two people have in common, what differs, and how far apart they are."""
        differ = tuple(name for name, value in pair.first.items() if pair.second[name] != value)
        far = pair.squared_distance
        cells = (profile_cell(pair.first, differ), changes_cell(pair.first, pair.second, differ))
        return (*cells, *[Cell(f"{far:.4g}", far)] * len(distance))

    columns = columns_of(["Who they are", "How the similar person differs", *distance], [])
    return Table("pairs", "Who counts as similar", columns, tuple(map(row, pairs)))


def distances_table(summary: AuditSummary) -> Table:
    """Return how far another person's value in one column takes somebody."""
    distances = () if summary.similarity_check is None else summary.similarity_check.columns
    rows = tuple((Cell(visible(one.column)), Cell(one.words, one.cost)) for one in distances)
    columns = columns_of(["Column", "Another person's value"], [])
    return Table("distances", "Which columns may differ", columns, rows)


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
    "depends", "What would change the result", "dependence.j2", _dependence_contents, folded=True,
    hint="sensitivity analysis: other limits, features, budgets and similar people",
)  # fmt: skip
