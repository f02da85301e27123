"""What was found: the verdict, what it means for people, and the figures behind it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtransport.report.numbers import (
    DOWN,
    NONE,
    ROUNDING,
    UP,
    bound,
    decimal,
    interval_text,
    level,
    percent,
    percents_apart,
    pvalue,
    told_apart,
)
from fairtransport.report.rate_words import (
    features_sentence,
    rate_figures,
    rates_line,
    rates_sentence,
    rates_verdict,
)
from fairtransport.report.sections import Section
from fairtransport.report.sections.notes import notes
from fairtransport.report.strings import ERROR, OUTCOME, loss_name, visible

if TYPE_CHECKING:
    from fairtransport.comparison_summary import ComparisonSummary
    from fairtransport.report.sections import Output
    from fairtransport.summary import AuditSummary

LARGE = 0.1
"""A share of the statistic that is worth a line beside the verdict."""
VERDICTS = {
    "rejected": "δ-fairness rejected",
    "certified": "δ-fairness certified",
    "inconclusive": "Inconclusive",
    "not-applicable": "Not applicable",
    None: "No verdict",
}
PART_VERDICTS = {
    "rejected": "rejected that it is at most δ",
    "certified": "certified that it is at most δ",
    "inconclusive": "inconclusive",
}
MARKS = {"rejected": "✕", "certified": "✓", "inconclusive": "?", "not-applicable": "⊘", None: "–"}
MOST = 0.9
"""Where fewer people have somebody to be compared with, the first screen says so."""

PER = (1_000, 10_000, 100_000, 1_000_000)
"""People among whom a share is told as a whole number, as far as it is one."""

ONLY_IF = "The audit is valid only if these cases were not used to train the model: "
CAUTION = f"{ONLY_IF}on its own training data a model does better than on people it has not seen."
CAUTION_OF_OUTCOMES = (
    f"{ONLY_IF}its predictions for its own training data differ from those for people it has not "
    "seen."
)


def verdict_title(summary: AuditSummary) -> str:
    """Return the verdict in two words."""
    return VERDICTS[summary.verdict]


def verdict_sentence(summary: AuditSummary) -> str:
    """Return the verdict with the bound that it comes from.

    Parameters
    ----------
    summary
        What the audit says.

    Notes
    -----
    In this order: that the audit could find nothing; the verdict on rates; without δ, the bounds;
    then rejected, certified or inconclusive. A bound and δ are shown with as many digits as tell
    them apart, and a bound is rounded to its safe side.
    """
    delta, lower, upper = summary.delta, summary.lower_bound, summary.upper_bound
    if summary.applicability is not None:
        return f"Not applicable: {_lower_first(summary.applicability)}"
    if summary.rates is not None:
        return rates_verdict(summary, summary.rates)
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


def outlook_sentence(summary: AuditSummary) -> str | None:
    """Return about how many cases would settle an open verdict; None where none is open.

    Parameters
    ----------
    summary
        An estimate, and said to be one: it takes the sample for the population.
    """
    found = summary.outlook
    if found is None:
        return None
    would, side = ("reject", "above") if found.goal == "reject" else ("certify", "below")
    if not found.possible:
        return (
            "The estimate is not above δ, and no number of cases would certify: there is no upper "
            "bound where those whom people are compared with depend on the audit data."
        )
    if found.cases is None:
        return (
            "The estimate is so near to δ that more than ten million cases would be needed to "
            "settle it."
        )
    return (
        f"About {found.cases:,} cases in all, {found.cases - summary.n:,} more, would probably "
        f"{would}: an estimate, with a chance of {percent(found.power)}, for a population like "
        f"this sample, whose statistic is {side} δ."
    )


def delta_sentence(summary: AuditSummary) -> str | None:
    """Return what the threshold is in people, or in the loss; None without one.

    Parameters
    ----------
    summary
        With 0-1 loss δ is told among so many people that it is a whole number of them.
    """
    if summary.delta is None or summary.applicability is not None or summary.rates is not None:
        return None
    return delta_in_words(summary.delta, summary.provenance.loss, _lower_first(_mean_loss(summary)))


def delta_in_words(delta: float, loss: str, mean_loss: str) -> str:
    """Return what a threshold is in people, or as a rise of what the mean loss is called."""
    if loss != ERROR:
        return f"δ = {delta:g} is a rise of {mean_loss} by {delta:g} a person on average."
    whole = (of for of in PER if abs(of * delta - round(of * delta)) < ROUNDING)
    of = next((of for of in whole if round(of * delta)), PER[-1])
    few = f"is {of * delta:,.6g} of {of:,} people" if delta else "is nobody"
    return (
        f"δ = {delta:g} {few} who would be misclassified as a similar person and are not as "
        "themselves."
    )


def verdict_line(summary: AuditSummary) -> str:
    """Return the verdict and its evidence, short enough for a line or two of a screen.

    Parameters
    ----------
    summary
        With a threshold, or not applicable.
    """
    if summary.applicability is not None:
        return verdict_sentence(summary)
    if summary.rates is not None:
        return rates_line(summary, summary.rates, verdict_title(summary))
    at = f"at level {level(summary.alpha)}: δ = {summary.delta:g}"
    lower = f"lower bound {bound(summary.lower_bound, DOWN)}"
    upper = bound(summary.upper_bound, UP)
    known = upper if summary.upper_bound is None else f"upper bound {upper}"
    title = verdict_title(summary)
    if summary.verdict == "rejected":
        # without blanks, at which a line would be broken
        evidence = pvalue(summary.pvalue or 0.0).replace(" ", "")
        return f"{title} {at}, {lower}, {evidence}."
    if summary.verdict == "certified":
        return f"{title} {at}, {known}."
    return f"{title} {at}, {lower}, {known}."


def pvalue_words(summary: AuditSummary) -> str:
    """Return the p-value; in a shared document, which side of a round number it is on.

    Parameters
    ----------
    summary
        What the audit says.
    """
    if summary.pvalue is None:
        return NONE
    if summary.suppression is None:
        return pvalue(summary.pvalue)
    if summary.pvalue > summary.alpha:
        return f"p > {summary.alpha:g}"
    return f"p ≤ {summary.pvalue:g}"


def _undecided(delta: float, lower: float | None, upper: float | None) -> str:
    """Return why a verdict is open: neither bound decides, or the two contradict each other.

    Parameters
    ----------
    delta
        The threshold.
    lower, upper
        One-sided bounds, None where there is none. They can contradict each other with probability
        at most the sum of their levels.

    Notes
    -----
    Digits are added until a bound and δ look different, so that a sentence never says that .05 does
    not exceed .05.

    Examples
    --------
    >>> _undecided(0.05, 0.02, None)
    'the lower bound, 0.0200, does not exceed δ = 0.0500, and there is no upper bound'
    """
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
    """Return both bounds in words; each has its own confidence.

    Parameters
    ----------
    lower, upper
        One-sided bounds, None where there is none; rounded outwards.

    Examples
    --------
    >>> _bounds(0.02, None)
    'at least 0.0200; there is no upper bound'
    """
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
    """Return the confidence of a bound, "approximately" where it is asymptotic."""
    near = "" if summary.guarantee == "finite-sample" else "approximately "
    return near + level(1 - summary.alpha)


def is_outcome(summary: AuditSummary | ComparisonSummary) -> bool:
    """Tell whether the loss is the prediction itself, of which more may be a benefit.

    Parameters
    ----------
    summary
        Then nothing is said of "worse" or "errors".
    """
    return summary.provenance.loss == OUTCOME


def caution(summary: AuditSummary) -> str:
    """Return what every audit depends on."""
    return CAUTION_OF_OUTCOMES if is_outcome(summary) else CAUTION


def meaning(summary: AuditSummary) -> str:
    """Return what swapping people does to the mean loss, or what to do where that says nothing.

    Parameters
    ----------
    summary
        What the audit says.
    """
    if summary.applicability is not None:
        return summary.instead or ""
    if summary.rates is not None:
        return rates_sentence(summary, summary.rates)
    return worst_case(summary)


def worst_case(summary: AuditSummary) -> str:
    """Return what swapping people with the worst-treated of those similar does.

    Parameters
    ----------
    summary
        It is a worst case and called so; a random swap stands beside it where that is known.
    """
    before, after = _risks(summary)
    what, near = _mean_loss(summary), about(summary)
    if summary.questions is not None and summary.questions.stopped is not None:
        what = f"Among the {summary.n:,} people asked about, {what[0].lower()}{what[1:]}"
    if summary.statistic > 0:
        go, most = ("rise", "at most") if is_outcome(summary) else ("go", "at worst")
        if summary.bracket is not None and summary.bracket.is_open:
            most = f"or more {most}"
        return (
            f"{what} would {go} from {near}{before} to {near}{after} {most}: {worst_swap(summary)}"
            f"{_random_swap(summary)}."
        )
    swapped = "if people were swapped with similar people"
    if near:
        return f"{what} would stay at {near}{before} {swapped}."
    return f"{what} would not rise above {before} {swapped} within the budget."


def _mean_loss(summary: AuditSummary) -> str:
    """Return what goes up, as a sentence begins: errors, the mean prediction or the mean loss."""
    loss = summary.provenance.loss
    if loss == ERROR:
        return "Errors"
    return "The mean prediction" if is_outcome(summary) else f"The mean {loss_name(loss)} loss"


def _risks(summary: AuditSummary) -> tuple[str, str]:
    """Return the mean loss before and after the swaps, with digits that tell them apart."""
    apart = percents_apart if summary.provenance.loss == ERROR else told_apart
    return apart(summary.baseline_risk, summary.worst_case_risk)


def worst_swap(summary: AuditSummary | ComparisonSummary) -> str:
    """Return which swaps the worst case is about.

    Parameters
    ----------
    summary
        Made-up twins, free moves to everybody's worst twin, or a budget that only some can use.
    """
    if getattr(summary, "made_twins", None) is not None:
        whom = "who gets the largest" if is_outcome(summary) else "for whom the model does worst"
        within = "" if summary.budget == 0 else ", within the budget,"
        return f"if everybody were swapped{within} with the made-up twin of theirs {whom}"
    if summary.budget == 0:
        whom = "who gets the largest" if is_outcome(summary) else "for whom the model does worst"
        return f"if everybody were swapped with the similar person {whom}"
    whom = "who get the largest" if is_outcome(summary) else "for whom the model does worst"
    return f"if people were swapped, within the budget, with the similar people {whom}"


def _random_swap(summary: AuditSummary) -> str:
    """Return the mean loss beside which the worst case is read, in brackets.

    Parameters
    ----------
    summary
        Nothing where people are compared with others than twins.
    """
    risk = summary.random_swap_risk
    if risk is None:
        return ""
    shown = percent(risk) if summary.provenance.loss == ERROR else decimal(risk)
    return f" (a random similar person: {about(summary)}{shown})"


def parts_sentence(summary: AuditSummary) -> str | None:
    """Return how much needs sensitive features to change; None where all of it does, by design.

    Parameters
    ----------
    summary
        Where the rest is disagreement, which another sentence tells, it is not told twice.
    """
    part = summary.attributable
    if summary.applicability is not None or part.same_group <= 0 or summary.rates is not None:
        return None
    groups = " or ".join(visible(name) for name in summary.provenance.sensitive)
    near = about(summary)
    told = math.isclose(part.same_group, summary.disagreement)
    of = "of the statistic" if told else "of it"
    other, same_ones = f"people of another {groups}", f"people of the same {groups} already"
    if summary.made_twins is not None:
        other = f"a change of {groups} or of what tells it"
        same_ones = f"twins made by steps beside what tells {groups}"
    least, most = ("at least ", "at most ") if summary.bracket is not None else (near, near)
    rest = f"{least}{decimal(part.value)} {of} needs {other}"
    if part.lower_bound is not None or part.upper_bound is not None:
        known = _bounds(part.lower_bound, part.upper_bound)
        rest += f"; in the population it is, with {_confidence(summary)} confidence, {known}"
    elif not near:
        rest += ", for which there is no bound"
    if told:
        # another sentence tells the other part
        return f"{rest[:1].upper()}{rest[1:]}."
    same = f"{most}{decimal(part.same_group)} of the statistic comes from {same_ones}"
    return f"{same[:1].upper()}{same[1:]}; {rest}."


def bracket_sentence(summary: AuditSummary) -> str | None:
    """Return between which values the statistic lies; None where it is exact."""
    found = summary.bracket
    if found is None or summary.applicability is not None:
        return None
    lower, upper = bound(found.lower, DOWN), bound(found.upper, UP)
    return (
        f"The statistic lies between {lower}, which the swaps that were found add, and {upper}, "
        "which no swaps within the budget exceed: the search for it was limited."
    )


def judged_sentence(summary: AuditSummary) -> str | None:
    """Return the verdict on the attributable part, where that is the one that counts.

    Parameters
    ----------
    summary
        What the audit says.
    """
    verdict = summary.attributable.verdict
    if summary.judge == "statistic" or verdict is None or summary.applicability is not None:
        return None
    if summary.rates is not None:
        return "All of R needs sensitive features to change: the verdict on it is what counts."
    tell = "" if summary.made_twins is None else ", or what tells them,"
    return (
        f"What counts here is the part that needs sensitive features{tell} to change: "
        f"{PART_VERDICTS[verdict]} at level {level(summary.alpha)}."
    )


def _lower_first(sentence: str) -> str:
    """Return a sentence as the end of another one.

    Examples
    --------
    >>> _lower_first("The statistic is 0.")
    'the statistic is 0.'
    """
    return sentence[:1].lower() + sentence[1:]


def comparable_sentence(summary: AuditSummary) -> str | None:
    """Return how many people have somebody to be compared with; None where nearly all have.

    Parameters
    ----------
    summary
        What the audit says.
    """
    if summary.comparable_share >= MOST or summary.applicability is not None:
        return None
    share = percent(summary.comparable_share, 0 if summary.suppression else 1)
    if summary.made_twins is not None:
        return f"{about(summary).capitalize()}{share} of the people have a made-up twin."
    groups = " or ".join(visible(name) for name in summary.provenance.sensitive)
    return (
        f"{about(summary).capitalize()}{share} of the people have somebody comparable with another "
        f"{groups}; the others are compared with people of their own group, or with nobody."
    )


def about(summary: AuditSummary) -> str:
    """Return what stands before a number: what a shared document tells is rounded."""
    return "" if summary.suppression is None else "about "


def disagreement_sentence(summary: AuditSummary) -> str | None:
    """Return how much comes from different predictions for one profile; None if nothing.

    Parameters
    ----------
    summary
        The audit. Its ``disagreement`` is a part of the statistic, in the same unit.
    """
    if summary.disagreement <= 0:
        return None
    share = ""
    if summary.statistic > 0:
        share = f" ({percent(summary.disagreement / summary.statistic, 0)})"
    return (
        f"{decimal(summary.disagreement)} of the statistic{share} comes from different predictions "
        "for one and the same profile, without any change of a sensitive feature."
    )


def description_sentence(summary: AuditSummary) -> str | None:
    """Return what the statistic describes where the verdict is about rates; else None.

    Parameters
    ----------
    summary
        The audit. With an obstacle nothing is described either.
    """
    if summary.rates is None or summary.applicability is not None:
        return None
    noise = disagreement_sentence(summary)
    return (
        f"As a description of these people, and no evidence: {_lower_first(worst_case(summary))}"
        f"{'' if noise is None else ' ' + noise}"
    )


def has_much_disagreement(summary: AuditSummary) -> bool:
    """Tell whether so much is disagreement that the verdict must not stand without it.

    Parameters
    ----------
    summary
        At least a tenth of the statistic.
    """
    told = summary.rates is None  # else it is told with the description
    return told and summary.disagreement > 0 and summary.disagreement >= LARGE * summary.statistic


def statistic_words(summary: AuditSummary) -> str:
    """Return the statistic, or the values between which it lies."""
    found = summary.bracket
    if found is None or not found.is_open:
        return decimal(summary.statistic)
    return f"{bound(found.lower, DOWN)} to {bound(found.upper, UP)}"


def interval_words(summary: AuditSummary) -> str:
    """Return the two-sided interval."""
    return interval_text(summary.interval.lower, summary.interval.upper)


def one_sided(summary: AuditSummary) -> tuple[tuple[str, str], ...]:
    """Return the one-sided bounds, name by name."""
    return (
        ("Lower bound, one-sided", bound(summary.lower_bound, DOWN)),
        ("Upper bound, one-sided", bound(summary.upper_bound, UP)),
    )


def figures(summary: AuditSummary) -> tuple[tuple[str, str], ...]:
    """Return the statistic, its bounds and its test, name by name; or those of the rates.

    Parameters
    ----------
    summary
        Of an audit that could find nothing the statistic is told as no evidence.
    """
    if summary.rates is not None:
        return rate_figures(summary, summary.rates)
    threshold = ("Threshold δ", "none given" if summary.delta is None else decimal(summary.delta))
    if summary.applicability is not None:
        return ("FaiTH statistic, no evidence", decimal(summary.statistic)), threshold
    return (
        ("FaiTH statistic", statistic_words(summary)),
        (f"Confidence interval, {level(1 - summary.alpha)}", interval_words(summary)),
        *one_sided(summary),
        threshold,
        ("p-value", pvalue_words(summary)),
    )


def _contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    """Return what the template part ``finding.j2`` shows, by name.

    Parameters
    ----------
    summary
        The audit. Disagreement is told here only if it is much; else in the part on people.
    """
    return {
        "verdict": verdict_title(summary),
        "mark": MARKS[summary.verdict],
        "meaning": meaning(summary),
        "verdict_sentence": verdict_sentence(summary),
        "outlook": outlook_sentence(summary),
        "threshold": delta_sentence(summary),
        "comparable": comparable_sentence(summary),
        "parts": [
            one
            for one in (
                bracket_sentence(summary),
                features_sentence(summary),
                parts_sentence(summary),
                judged_sentence(summary),
                description_sentence(summary),
            )
            if one
        ],
        "disagreement": disagreement_sentence(summary) if has_much_disagreement(summary) else None,
        "statistic": statistic_words(summary),
        "interval": interval_words(summary),
        "figures": figures(summary),
        "caution": caution(summary),
        "notes": notes(summary),
    }


SECTION = Section("verdict", "", 10, _contents, linked=False)
