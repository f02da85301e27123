"""The sentences that say what an audit found: the same in report, console and notebook."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtransport.report.text import (
    DOWN,
    NONE,
    UP,
    bound,
    decimal,
    level,
    loss_name,
    people,
    percent,
    pvalue,
    told_apart,
    visible,
)

if TYPE_CHECKING:
    from fairtransport.summary import AuditSummary

ERROR, OUTCOME = "zero-one", "outcome"
"""Losses whose mean is a share of errors, or the mean prediction."""

MOST_DIGITS = 6
VERDICTS = {
    "rejected": "δ-fairness rejected",
    "certified": "δ-fairness certified",
    "inconclusive": "Inconclusive",
    None: "No verdict",
}

ONLY_IF = "The audit is valid only if these cases were not used to train the model: "
CAUTION = f"{ONLY_IF}on its own training data a model does better than on people it has not seen."
CAUTION_OF_OUTCOMES = (
    f"{ONLY_IF}its predictions for its own training data differ from those for people it has not "
    "seen."
)

NOT_SAID = (
    "An audit speaks of the people it compares, the loss it counts and the threshold δ. Not "
    "rejecting δ-fairness is no proof of fairness."
)

SCOPES = {
    "twins": (
        "Everybody is compared with all of the twins that the similarity allows: people who "
        "differ from them in sensitive features alone. The model was asked about the twins who "
        "are not in the data."
    ),
    "reference": (
        "Everybody is compared with the people of a reference table that was given. It must have "
        "been chosen without the audit data: nothing can be certified from one that was taken from "
        "them."
    ),
    "observed": (
        "People are compared only with people in the audit data{more}. The statistic may miss "
        "comparisons with others, so there is no upper bound and nothing can be certified."
    ),
}
TWINS_TOO = " and with the twins of these, about whom the model was asked"

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


def verdict_title(summary: AuditSummary) -> str:
    """Return the verdict in two words."""
    return VERDICTS[summary.verdict]


def verdict_sentence(summary: AuditSummary) -> str:
    """Return the verdict with the bound that it comes from."""
    delta, lower, upper = summary.delta, summary.lower_bound, summary.upper_bound
    sure = f"with {_confidence(summary)} confidence the population's statistic is"
    if delta is None:
        return (
            "No verdict: without a threshold δ there is nothing to test. "
            f"{sure.capitalize()} {_bounds(lower, upper)}."
        )
    at = f"at level {level(summary.alpha)}"
    if summary.verdict == "rejected" and lower is not None:
        at_least, threshold = told_apart(lower, delta, rounding=DOWN)
        tail = "" if summary.pvalue is None else f"; {pvalue_words(summary)}"
        # a bound that was rounded down to δ says no more than the verdict
        known = "" if lower == delta else f"at least {at_least}, "
        return f"δ-fairness rejected {at}: {sure} {known}more than δ = {threshold}{tail}."
    if summary.verdict == "certified" and upper is not None:
        at_most, threshold = told_apart(upper, delta, rounding=UP)
        return f"δ-fairness certified {at}: {sure} at most {at_most}, no more than δ = {threshold}."
    return f"Inconclusive {at}: {_undecided(delta, lower, upper)}."


def pvalue_words(summary: AuditSummary) -> str:
    """Return the p-value; in a shared document, which side of a round number it is on."""
    if summary.pvalue is None:
        return NONE
    if summary.suppression is None:
        return pvalue(summary.pvalue)
    if summary.pvalue > summary.alpha:
        return f"p > {summary.alpha:g}"
    return f"p ≤ {summary.pvalue:g}"


def _undecided(delta: float, lower: float | None, upper: float | None) -> str:
    if lower is not None and upper is not None and upper <= delta < lower:
        return (
            f"the bounds contradict each other (at least {bound(lower, DOWN)}, at most "
            f"{bound(upper, UP)}), so δ = {decimal(delta)} is neither rejected nor certified"
        )
    first = "there is no lower bound"
    if lower is not None:
        shown, threshold = told_apart(lower, delta, rounding=DOWN)
        first = f"the lower bound, {shown}, does not exceed δ = {threshold}"
    if upper is None:
        return f"{first}, and there is no upper bound"
    shown, _ = told_apart(upper, delta, rounding=UP)
    return f"{first}, and the upper bound, {shown}, does"


def _bounds(lower: float | None, upper: float | None) -> str:
    if lower is None and upper is None:
        return "not bounded"
    if upper is None:
        return f"at least {bound(lower, DOWN)}; there is no upper bound"
    if lower is None:
        return f"at most {bound(upper, UP)}; there is no lower bound"
    # each bound has its own confidence; together they say less
    return (
        f"at least {bound(lower, DOWN)}, and with as much confidence it is at most "
        f"{bound(upper, UP)}"
    )


def _confidence(summary: AuditSummary) -> str:
    about = "" if summary.guarantee == "finite-sample" else "approximately "
    return about + level(1 - summary.alpha)


def is_outcome(summary: AuditSummary) -> bool:
    """Tell whether the loss is the prediction itself, of which more may be a benefit."""
    return summary.provenance.loss == OUTCOME


def caution(summary: AuditSummary) -> str:
    """Return what every audit depends on."""
    return CAUTION_OF_OUTCOMES if is_outcome(summary) else CAUTION


def meaning(summary: AuditSummary) -> str:
    """Return what the statistic means for people."""
    return change_in_words(
        summary.provenance.loss, summary.statistic, summary.baseline_risk,
        summary.worst_case_risk, about=_about(summary),
    )  # fmt: skip


def _about(summary: AuditSummary) -> str:
    # what a shared document tells is rounded
    return "" if summary.suppression is None else "about "


def change_in_words(
    loss: str, statistic: float, baseline: float, worst_case: float, *, about: str = ""
) -> str:
    """Return what swapping people does to the mean loss; ``about`` stands before the numbers.

    Examples
    --------
    >>> change_in_words("zero-one", 0.06, 0.33, 0.39)
    'Errors would go from 33 % to 39 % if people were swapped with similar people.'
    >>> change_in_words("outcome", 0.1, 0.2, 0.3)
    'The mean prediction would rise from 0.2000 to 0.3000 if people were swapped with ...'
    """
    if loss == ERROR:
        before, after = _percents(baseline, worst_case)
        what = "Errors"
    else:
        before, after = told_apart(baseline, worst_case)
        what = "The mean prediction" if loss == OUTCOME else f"The mean {loss_name(loss)} loss"
    if statistic <= 0 and about:
        return f"{what} would stay at {about}{before} if people were swapped with similar people."
    if statistic <= 0:
        return (
            f"{what} would not rise above {before} if people were swapped with similar people "
            "within the budget."
        )
    go = "rise" if loss == OUTCOME else "go"
    return (
        f"{what} would {go} from {about}{before} to {about}{after} if people were swapped with "
        "similar people."
    )


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
    made, who = "makes the model do worse", "for whom the model does worse"
    if is_outcome(summary):
        made, who = "leads to a higher prediction", "who gets a higher prediction"
    hidden = summary.suppression
    if hidden is not None and summary.moved < hidden.at_least:
        number = f"Fewer than {hidden.at_least} of {summary.n:,} people"
        return f"{number} are swapped with someone similar {who}."
    if summary.moved <= 0:
        return f"No move that this budget allows {made} for any of the {summary.n:,} people."
    return (
        f"{_about(summary).capitalize()}{people(summary.moved)} of {summary.n:,} people "
        f"({percent(summary.moved / summary.n)}) are swapped with someone similar {who}."
    )


def scope_meaning(summary: AuditSummary) -> str:
    """Return whom people are compared with."""
    more = TWINS_TOO if _has_twins(summary) else ""
    return SCOPES.get(summary.target_scope, visible(summary.target_scope)).replace("{more}", more)


def _has_twins(summary: AuditSummary) -> bool:
    """Tell whether there are points that nobody in the audit data is at, which are twins."""
    if summary.points is None or summary.observed_points is None:  # not told
        return summary.queried != 0
    return summary.queried != 0 and summary.points > summary.observed_points


def guarantee_meaning(summary: AuditSummary) -> str:
    """Return what the bounds promise."""
    promise = GUARANTEES.get(summary.guarantee, visible(summary.guarantee))
    wrong = level(summary.alpha)
    if summary.guarantee == "finite-sample":
        return f"{promise} Each bound is wrong in at most {wrong} of audits."
    return f"{promise} Each bound is wrong in approximately {wrong} of audits, or in fewer."


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
            f"A little more of it adds {_about(summary)}{summary.price:.4g} to the statistic per "
            "unit of budget."
        )
    if not summary.budget_curve:
        said.append("How the statistic depends on the budget is not told here.")
    return " ".join(filter(None, said))


def feature_sentences(summary: AuditSummary) -> tuple[str, ...]:
    """Return how the statistic changes when a sensitive feature may not change."""
    return tuple(
        f"If {visible(role.feature)} may not change, the statistic is {decimal(role.statistic)}"
        + ("." if role.share is None else f", {percent(role.share, 0)} less.")
        for role in summary.without_feature
    )
