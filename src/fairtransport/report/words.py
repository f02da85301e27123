"""The sentences that say what an audit found: the same in report, console and notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.text import decimal, people, percent, pvalue, told_apart, visible

if TYPE_CHECKING:
    from fairtransport.summary import AuditSummary

MOST_DIGITS = 6
VERDICTS = {
    "rejected": "δ-fairness rejected",
    "certified": "δ-fairness certified",
    "inconclusive": "Inconclusive",
    None: "No verdict",
}

CAUTION = (
    "The audit is valid only if these cases were not used to train the model: on its own "
    "training data a model does better than on people it has not seen."
)

NOT_SAID = (
    "An audit speaks of the people it compares, the loss it counts and the threshold δ. Not "
    "rejecting δ-fairness is no proof of fairness."
)

SCOPES = {
    "twins": (
        "Everybody is compared with all of their twins: people who differ from them in "
        "sensitive features alone. The model was asked about the twins who are not in the data."
    ),
    "reference": "Everybody is compared with the people of a reference table that was given.",
    "observed": (
        "People are compared only with people in the audit data. The statistic may miss "
        "comparisons with others, so there is no upper bound and nothing can be certified."
    ),
}

GUARANTEES = {
    "finite-sample": (
        "The bounds hold at every sample size, whatever the population: nothing is approximated."
    ),
    "asymptotic": (
        "The bounds hold for large samples; at the size of this one their level is approximate."
    ),
}


def verdict_title(summary: AuditSummary) -> str:
    """Return the verdict in two words."""
    return VERDICTS[summary.verdict]


def verdict_sentence(summary: AuditSummary) -> str:
    """Return the verdict with the bound that it comes from."""
    delta, lower, upper = summary.delta, summary.lower_bound, summary.upper_bound
    if delta is None:
        return (
            "No verdict: without a threshold δ there is nothing to test. "
            f"With {_confidence(summary)} confidence the statistic is {_bounds(lower, upper)}."
        )
    level = percent(summary.alpha)
    if summary.verdict == "rejected" and lower is not None:
        at_least, threshold = told_apart(lower, delta)
        tail = "" if summary.pvalue is None else f"; {pvalue(summary.pvalue)}"
        return (
            f"δ-fairness rejected at level {level}: with {_confidence(summary)} confidence the "
            f"statistic is at least {at_least}, more than δ = {threshold}{tail}."
        )
    if summary.verdict == "certified" and upper is not None:
        at_most, threshold = told_apart(upper, delta)
        return (
            f"δ-fairness certified at level {level}: with {_confidence(summary)} confidence the "
            f"statistic is at most {at_most}, no more than δ = {threshold}."
        )
    return f"Inconclusive at level {level}: {_undecided(delta, lower, upper)}."


def _undecided(delta: float, lower: float | None, upper: float | None) -> str:
    if lower is not None and upper is not None and upper <= delta < lower:
        return (
            f"the bounds contradict each other (at least {decimal(lower)}, at most "
            f"{decimal(upper)}), so δ = {decimal(delta)} is neither rejected nor certified"
        )
    first = "there is no lower bound"
    if lower is not None:
        shown, threshold = told_apart(lower, delta)
        first = f"the lower bound, {shown}, does not exceed δ = {threshold}"
    if upper is None:
        return f"{first}, and there is no upper bound"
    shown, _ = told_apart(upper, delta)
    return f"{first}, and the upper bound, {shown}, does"


def _bounds(lower: float | None, upper: float | None) -> str:
    if lower is None and upper is None:
        return "not bounded"
    if upper is None:
        return f"at least {decimal(lower)}; there is no upper bound"
    if lower is None:
        return f"at most {decimal(upper)}; there is no lower bound"
    # each bound has its own confidence; together they say less
    return f"at least {decimal(lower)}, and with as much confidence it is at most {decimal(upper)}"


def _confidence(summary: AuditSummary) -> str:
    return percent(1 - summary.alpha)


def meaning(summary: AuditSummary) -> str:
    """Return what the statistic means for people."""
    if summary.provenance.loss_is_error:
        before, after = _percents(summary.baseline_risk, summary.worst_case_risk)
        what = "Errors"
    else:
        before, after = told_apart(summary.baseline_risk, summary.worst_case_risk)
        what = f"The mean {visible(summary.provenance.loss)} loss"
    if summary.statistic <= 0:
        return f"{what} would stay at {before} if people were swapped with similar people."
    return f"{what} would go from {before} to {after} if people were swapped with similar people."


def _percents(first: float, second: float) -> tuple[str, str]:
    digits = 1
    while (
        digits < MOST_DIGITS
        and first != second
        and percent(first, digits) == percent(second, digits)
    ):
        digits += 1
    return percent(first, digits), percent(second, digits)


def moved_sentence(summary: AuditSummary) -> str:
    """Return how many people the statistic comes from."""
    if summary.moved <= 0:
        return f"None of the {summary.n:,} people would do worse as someone similar."
    return (
        f"{people(summary.moved)} of {summary.n:,} people ({percent(summary.moved / summary.n)}) "
        "are swapped with someone similar for whom the model does worse."
    )


def scope_meaning(summary: AuditSummary) -> str:
    """Return whom people are compared with."""
    return SCOPES.get(summary.target_scope, visible(summary.target_scope))


def guarantee_meaning(summary: AuditSummary) -> str:
    """Return what the bounds promise."""
    promise = GUARANTEES.get(summary.guarantee, visible(summary.guarantee))
    return (
        f"{promise} Each bound is wrong in at most {percent(summary.alpha)} of audits"
        f"{'' if summary.guarantee == 'finite-sample' else ', if the sample is large enough'}."
    )


def delta_sentences(summary: AuditSummary) -> tuple[str, ...]:
    """Return for which thresholds δ the verdict would be which."""
    lower, upper = summary.lower_bound, summary.upper_bound
    said = []
    if lower is not None and lower > 0:
        said.append(f"For every δ below {decimal(lower)}: δ-fairness rejected.")
    elif lower is not None:
        said.append("For no δ: δ-fairness rejected; the lower bound is not above 0.")
    if upper is None:
        said.append("For no δ: certified; there is no upper bound.")
    else:
        said.append(f"For every δ from {decimal(upper)} on: certified.")
    if lower is not None and (upper is None or lower < upper):
        to = "" if upper is None else f" and below {decimal(upper)}"
        said.append(f"For δ from {decimal(max(lower, 0))} on{to}: inconclusive.")
    return tuple(said)


def budget_sentence(summary: AuditSummary) -> str:
    """Return what the budget is and what more of it would do."""
    if len(summary.budget_curve) == 1:
        return (
            f"The budget is ε = {summary.budget:g}. A larger one changes nothing: all that can "
            "be found is found with free moves."
        )
    return (
        f"The budget is ε = {summary.budget:g}: so far may people be moved on average, as a "
        f"squared distance. {visible(summary.budget_in_words)} A little more of it adds "
        f"{summary.price:.4g} to the statistic per unit of budget."
    ).replace("  ", " ")


def feature_sentences(summary: AuditSummary) -> tuple[str, ...]:
    """Return how the statistic changes when a sensitive feature may not change."""
    return tuple(
        f"If {visible(role.feature)} may not change, the statistic is {decimal(role.statistic)}"
        + ("." if role.share is None else f", {percent(role.share, 0)} less.")
        for role in summary.without_feature
    )


def flows_sentence(kind: str) -> str:
    """Return how the flows by a feature are to be read."""
    if kind == "descriptive":
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


def disagreement_sentence(summary: AuditSummary) -> str | None:
    """Return how much comes from different predictions for one profile; None if nothing."""
    if summary.disagreement <= 0:
        return None
    return (
        f"{decimal(summary.disagreement)} of the statistic comes from different predictions for "
        "one and the same profile, without any change of a sensitive feature."
    )


def suppression_sentence(summary: AuditSummary) -> str | None:
    """Return what was left out of a document that is shared; None if nothing was."""
    hidden = summary.suppression
    if hidden is None:
        return None
    moves = "1 move" if hidden.moves_hidden == 1 else f"{hidden.moves_hidden:,} moves"
    return (
        f"This report is made to be shared. Cells with fewer than {hidden.at_least} people were "
        "left out before it was written, and others from which they could be worked out; so was "
        f"the fingerprint of the data. Not shown: {moves} of {people(hidden.moved_hidden)} people "
        "altogether. The statistic and the bounds are those of everybody."
    )


def notes(summary: AuditSummary) -> tuple[str, ...]:
    """Return what a reader should know: what was left out, then the audit's warnings."""
    hidden = suppression_sentence(summary)
    return (*([] if hidden is None else [hidden]), *map(visible, summary.warnings))
