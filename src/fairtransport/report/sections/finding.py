"""The verdict of an audit, what it means for people, its figures, and notes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from fairtransport.documents.audit import AuditSummary
from fairtransport.documents.verdicts import VERDICTS
from fairtransport.report.sections import rates
from fairtransport.report.sections.controls import is_held_back
from fairtransport.report.sections.section import Section
from fairtransport.report.text import (
    DOWN,
    ERROR,
    OUTCOME,
    UP,
    about,
    bound,
    decimal,
    distinct_decimals,
    distinct_percents,
    for_units,
    interval_text,
    is_shared,
    level,
    loss_name,
    percent,
    pvalue,
    pvalue_text,
    suppression_sentence,
    visible,
)

if TYPE_CHECKING:
    from fairtransport.documents.comparison import ComparisonSummary
    from fairtransport.documents.family import FamilySummary


MIN_DISAGREEMENT_SHARE = 0.1
"""Minimum share of disagreement in the statistic that is shown beside the verdict."""
HALF = 0.5
MIN_COMPARABLE_SHARE = 0.9
"""Maximum share of comparable people that the first screen mentions."""


ONLY_IF = "The audit is valid only if these people were not used to train the model: "
CAUTION = f"{ONLY_IF}on its own training data a model does better than on people it has not seen."
CAUTION_OF_OUTCOMES = (
    f"{ONLY_IF}its predictions for its own training data differ from those for people it has not "
    "seen."
)


CAUTION_OF_RECORDS = (
    "The audit is valid only if these people are an independent random sample of the people it is "
    "about. If a model made the decisions, it must not have been trained on these people."
)


def verdict_title(summary: AuditSummary) -> str:
    """Return the title of the verdict, as in all outputs."""
    return VERDICTS[summary.verdict].title


def verdict_sentence(summary: AuditSummary) -> str:
    """Return the verdict with its bound.

    In this order: that the audit could find nothing; the verdict on rates; without δ, the bounds;
    then the verdict's own evidence.
    """
    row = VERDICTS[summary.verdict]
    if summary.applicability is not None:
        return f"{row.formal}: {_lower_first(summary.applicability)}"
    if summary.rates is not None:
        return rates.rates_verdict(summary, summary.rates, row.formal)
    words = evidence_words(summary)
    formal = formal_verdict(summary)
    if summary.delta is None:
        nothing = f"{formal}: without a limit δ there is nothing to test."
        if not has_known_bounds(summary):
            return nothing
        sure = words["sure"].capitalize()
        return f"{nothing} {sure} {words['bounds']}{for_units(summary.units)}."
    return f"{formal}: {row.evidence.format(**words)}."


def formal_verdict(summary: AuditSummary) -> str:
    """Return the verdict in a statistician's words, with its level and its figure."""
    row = VERDICTS[summary.verdict]
    level_text = "" if summary.delta is None else f" {rates.at_level(summary)}"
    if not summary.is_about_part:
        return f"{row.formal}{level_text}"
    return f"{row.title}{level_text}, by the part that needs {another_group(summary)}"


def another_group(summary: AuditSummary) -> str:
    """Return the people whom the attributable part needs."""
    return f"people of another {' or '.join(map(visible, summary.provenance.sensitive))}"


def evidence_words(summary: AuditSummary) -> dict[str, str]:
    """Return the values for the evidence of a verdict.

    A bound and δ have enough digits to differ, and a bound is rounded to its safe side. A bound
    rounded to δ adds nothing to the verdict and is left out.
    """
    judged = summary.judged
    delta, lower, upper = summary.delta or 0.0, judged.lower_bound, judged.upper_bound
    at_least, above = (
        ("", decimal(delta)) if lower is None else distinct_decimals(lower, delta, rounding=DOWN)
    )
    at_most, below = (
        ("", decimal(delta)) if upper is None else distinct_decimals(upper, delta, rounding=UP)
    )
    whose = "statistic of these cases" if summary.is_about_these else "population's statistic"
    if summary.is_about_part:
        whose = f"this part of the {whose}"
    return {
        "sure": f"with {confidence(summary)} confidence the {whose} is",
        "bounds": _bounds(lower, upper),
        "at_least": f"at least {at_least}, " if lower not in (None, delta) else "",
        "delta_above": above,
        "at_most": f"at most {at_most}, " if upper is not None else "",
        "delta_below": below,
        "pvalue": "" if judged.pvalue is None else f"; {pvalue_text(summary, judged.pvalue)}",
        "undecided": _held_back(summary) or _undecided(delta, lower, upper)
        if has_known_bounds(summary)
        else PART_IS_NOT_SHARED,
    }


def outlook_sentence(summary: AuditSummary) -> str | None:
    """Return the approximate number of people to settle an open verdict; None if none is open."""
    outlook = summary.outlook
    if outlook is None:
        return None
    if not outlook.possible:
        return (
            "What was found is not over the limit. More people would not show that the model is "
            "within it: an audit that compares people with each other has no upper bound."
        )
    if outlook.cases is None:
        return (
            "What was found is so near to the limit that it would take more than ten million "
            "people to settle it."
        )
    side = "over" if outlook.goal == "reject" else "within"
    units = summary.units
    name, count = ("people", summary.n) if units is None else (units.name, units.count)
    return (
        f"About {outlook.cases:,} {name} ({outlook.cases - count:,} more than here) would show "
        f"with a chance of {percent(outlook.power)} that the model is {side} the limit. This is "
        "an estimate from these data."
    )


def delta_sentence(summary: AuditSummary) -> str | None:
    """Return what δ is in people, or in the loss; None without one."""
    if summary.delta is None or summary.applicability is not None or summary.rates is not None:
        return None
    return delta_in_words(summary.delta, summary.provenance.loss, mean_loss_text(summary))


def delta_in_words(delta: float, loss: str, mean_loss: str) -> str:
    """Return what δ is in people, or as a rise of what the mean loss is called."""
    if loss != ERROR:
        return f"δ = {delta:g} is a rise of {mean_loss} by {delta:g} a person on average."
    few = f"at most {100 * delta:.6g} % of all people" if delta else "nobody"
    return (
        f"δ = {delta:g}: {few} may have a correct decision while a similar person would get a "
        "wrong one."
    )


def verdict_line(summary: AuditSummary) -> str:
    """Return the verdict and its evidence, short enough for a line or two of a screen."""
    if summary.applicability is not None:
        return verdict_sentence(summary)
    if summary.rates is not None:
        return rates.rates_line(summary, summary.rates, VERDICTS[summary.verdict].formal)
    row, judged = VERDICTS[summary.verdict], summary.judged
    lower, upper = bound(judged.lower_bound, DOWN), bound(judged.upper_bound, UP)
    figures = {
        "lower": lower if judged.lower_bound is None else f"lower bound {lower}",
        "upper": upper if judged.upper_bound is None else f"upper bound {upper}",
        # without spaces, at which lines break
        "pvalue": "" if judged.pvalue is None else pvalue(judged.pvalue).replace(" ", ""),
    }
    shown = [figures[name] for name in row.figures if figures[name]]
    if not has_known_bounds(summary):
        shown = []
    evidence = ", ".join([f"δ = {summary.delta:g}", *shown])
    if summary.is_about_these:
        evidence += ", about these cases only"
    return f"{formal_verdict(summary)}: {evidence}."


PART_IS_NOT_SHARED = "the bounds of this part are left out of what is shared"


def has_known_bounds(summary: AuditSummary) -> bool:
    """Return whether the document has the bounds of the verdict, if there are any."""
    return not (summary.is_about_part and is_shared(summary))


def _held_back(summary: AuditSummary) -> str | None:
    """Return why a verdict is open although the lower bound exceeds δ; None if it does not."""
    controls = summary.controls
    if controls is None or not is_held_back(summary):
        return None
    test = "" if controls.pvalue is None else f" ({pvalue(controls.pvalue)})"
    return (
        f"the lower bound, {bound(summary.judged.lower_bound, DOWN)}, exceeds δ = "
        f"{decimal(summary.delta or 0.0)}, but it is not shown that sensitive edits have a larger "
        f"mean effect than control edits{test}"
    )


def _undecided(delta: float, lower: float | None, upper: float | None) -> str:
    """Return why a verdict is open: neither bound decides, or the two contradict each other.

    Digits are added until a bound and δ look different, so that a sentence never says that .05 does
    not exceed .05.
    """
    if lower is not None and upper is not None and upper <= delta < lower:
        return (
            f"the bounds contradict each other (at least {bound(lower, DOWN)}, at most "
            f"{bound(upper, UP)}), so δ = {decimal(delta)} is neither rejected nor certified"
        )
    first = "there is no lower bound"
    if lower is not None:
        bound_text, threshold = distinct_decimals(lower, delta, rounding=DOWN)
        first = f"the lower bound, {bound_text}, does not exceed δ = {threshold}"
    if upper is None:
        return f"{first}, and there is no upper bound"
    bound_text, _ = distinct_decimals(upper, delta, rounding=UP)
    return f"{first}, and the upper bound, {bound_text}, does"


def _bounds(lower: float | None, upper: float | None) -> str:
    """Return both bounds in words; each has its own confidence."""
    if lower is None and upper is None:
        return "not bounded"
    if upper is None:
        return f"at least {bound(lower, DOWN)}; there is no upper bound"
    if lower is None:
        return f"at most {bound(upper, UP)}; there is no lower bound"
    return (
        f"at least {bound(lower, DOWN)}, and with as much confidence it is at most "
        f"{bound(upper, UP)}"
    )


def confidence(summary: AuditSummary | FamilySummary) -> str:
    """Return the confidence of a bound, "approximately" if it is asymptotic."""
    near = "" if summary.guarantee == "finite-sample" else "approximately "
    return near + level(1 - summary.alpha)


def is_outcome(summary: AuditSummary | ComparisonSummary) -> bool:
    """Return whether the loss is the prediction itself, of which more may be a benefit."""
    return summary.provenance.loss == OUTCOME


def is_on_record(summary: AuditSummary) -> bool:
    """Return whether decisions on record are compared, without a model to ask."""
    return summary.rates is not None or bool(summary.applicability and summary.queried == 0)


def caution(summary: AuditSummary) -> str:
    """Return what every audit depends on."""
    if is_on_record(summary):
        return CAUTION_OF_RECORDS
    return CAUTION_OF_OUTCOMES if is_outcome(summary) else CAUTION


def meaning(summary: AuditSummary) -> str:
    """Return the effect of swaps on the mean loss; if that means nothing, any advice."""
    if summary.applicability is not None:
        return summary.advice or ""
    if summary.rates is not None:
        return rates.decision_lines(summary)[0]
    return worst_case(summary)


def next_audit_flags(summary: AuditSummary) -> str | None:
    """Return the settings of the recommended next audit, as flags; None without any."""
    settings = summary.next_audit
    if settings is None:
        return None
    flags = ["--similarity", settings["similarity"]]
    if "budget" in settings:
        flags += ["--budget", f"{settings['budget']:g}"]
    for name, rule in settings["similarity_settings"].items():
        flag = f"--similarity-settings.{name}"
        if isinstance(rule, dict):
            flags += [f"{flag}.{column}={value:g}" for column, value in rule.items()]
        else:
            flags += [flag, f"{rule:g}"]
    return shlex.join(flags)


KEPT_SETTINGS = ("legitimate", "level")
"""Settings of counterparts that are part of the question, and stay when others change."""


def advised_settings(summary: AuditSummary, *, in_python: bool) -> list[str]:
    """Return the advised settings, as Python code or as flags, one per line."""
    following = summary.next_audit
    if following is None:
        return _closed_gate_settings(summary, in_python=in_python)
    flags = "ft.audit(..., **result.next_audit)" if in_python else next_audit_flags(summary) or ""
    if following["similarity"] != "counterparts":
        return [flags]
    if in_python:
        return [flags, _counterparts_code(summary, "legitimate=[...]")]
    return [flags, "--similarity-settings.legitimate COLUMN"]


def _closed_gate_settings(summary: AuditSummary, *, in_python: bool) -> list[str]:
    """Return settings of counterparts that may open their gate, besides those in use."""
    record = summary.provenance.similarity_record or {}
    if summary.applicability is None or record.get("name") != "counterparts":
        return []
    if any(row["moves"] for row in record["fitted"]["gate"]):
        return []
    from fairtransport.similarity.counterparts import Counterparts

    settings, share = record["settings"], record["settings"]["fit_share"]
    if share <= Counterparts.fit_share:
        share = (1 + share) / 2  # half of the audited people
    if not in_python:
        flag = "--similarity-settings"
        return [f"{flag}.fit_share {share:.3g} {flag}.given.COLUMN OTHER"]
    stays = [f"{name}={settings[name]!r}" for name in KEPT_SETTINGS if settings[name]]
    given = settings["given"] or {"column": ["other"]}
    return [_counterparts_code(summary, *stays, f"fit_share={share:.3g}", f"given={given!r}")]


def _counterparts_code(summary: AuditSummary, *settings: str) -> str:
    """Return the keyword of `audit` for counterparts with some settings, as Python code."""
    arguments = ", ".join([repr(list(summary.provenance.sensitive)), *settings])
    return f"similarity=ft.similarity.Counterparts({arguments})"


def worst_case(summary: AuditSummary) -> str:
    """Return the effect of swaps with the worst-treated similar people."""
    before, after = _risks(summary)
    what, near = mean_loss_text(summary), about(summary)
    if summary.questions is not None and summary.questions.stopped is not None:
        what = f"among the {summary.n:,} people queried, {what}"
    if summary.statistic > 0:
        go = "rise" if is_outcome(summary) else "go"
        return (
            f"{what[:1].upper()}{what[1:]} would {go} from {near}{before} to {near}{after} "
            f"{worst_swap(summary)}{_random_swap(summary)}."
        )
    what = f"{what[:1].upper()}{what[1:]}"
    swapped = "if people were swapped with similar people"
    if near:
        return f"{what} would stay at {near}{before} {swapped}."
    return f"{what} would not rise above {before} {swapped} within the budget."


def mean_loss_text(summary: AuditSummary) -> str:
    """Return the quantity that increases: errors, the mean prediction or the mean loss."""
    loss = summary.provenance.loss
    if loss == ERROR:
        return "errors"
    return "the mean prediction" if is_outcome(summary) else f"the mean {loss_name(loss)} loss"


def _risks(summary: AuditSummary) -> tuple[str, str]:
    """Return the mean loss before and after the swaps, with enough digits to differ."""
    apart = distinct_percents if summary.provenance.loss == ERROR else distinct_decimals
    return apart(summary.baseline_risk, summary.worst_case_risk)


def worst_swap(summary: AuditSummary | ComparisonSummary) -> str:
    """Return the swaps of the worst case."""
    if summary.budget == 0:
        largest = is_outcome(summary)
        whom = "who gets the largest prediction" if largest else "for whom the model does worst"
        return f"if everybody were judged as the similar person {whom}"
    largest = is_outcome(summary)
    whom = "who get the largest predictions" if largest else "for whom the model does worst"
    return f"if people were swapped, within the budget, with the similar people {whom}"


def _random_swap(summary: AuditSummary) -> str:
    """Return the mean loss to compare the worst case with, in brackets."""
    risk = summary.random_swap_risk
    if risk is None:
        return ""
    risk_text = percent(risk) if summary.provenance.loss == ERROR else decimal(risk)
    return f" ({about(summary)}{risk_text} as a random similar person)"


def parts_sentence(summary: AuditSummary) -> str | None:
    """Return how much needs sensitive features to change; None if all of it does, by design."""
    part = summary.attributable
    if summary.applicability is not None or part.same_group <= 0 or summary.rates is not None:
        return None
    groups = " or ".join(visible(name) for name in summary.provenance.sensitive)
    near = about(summary)
    other, same_ones = another_group(summary), f"people of the same {groups} already"
    rest = f"{near}{decimal(part.value)} of it needs {other}"
    if part.lower_bound is not None or part.upper_bound is not None:
        bounds = _bounds(part.lower_bound, part.upper_bound)
        sure = f"{confidence(summary)} confidence{for_units(summary.units)}"
        rest += f"; in the population it is, with {sure}, {bounds}"
    elif not near:
        rest += ", for which there is no bound"
    same = f"{near}{decimal(part.same_group)} of the statistic comes from {same_ones}"
    return f"{same[:1].upper()}{same[1:]}; {rest}."


def part_verdict_sentence(summary: AuditSummary) -> str | None:
    """Return the verdict on the attributable part, if it is the verdict of the audit."""
    verdict = summary.verdict
    if summary.judge == "statistic" or verdict is None or summary.applicability is not None:
        return None
    if summary.rates is not None:
        return "The verdict is about all of R, since all of it needs sensitive features to change."
    return (
        "The verdict is about the part that needs sensitive features to change: "
        f"{VERDICTS[verdict].part_phrase} {rates.at_level(summary)}."
    )


def _lower_first(sentence: str) -> str:
    """Return a sentence as the end of another one."""
    return sentence[:1].lower() + sentence[1:]


def comparable_sentence(summary: AuditSummary) -> str | None:
    """Return how many people have comparable people; None if nearly all have."""
    if summary.comparable_share >= MIN_COMPARABLE_SHARE or summary.applicability is not None:
        return None
    share = percent(summary.comparable_share, 0 if is_shared(summary) else 1)
    groups = " or ".join(visible(name) for name in summary.provenance.sensitive)
    only = "Only " if summary.comparable_share < HALF else ""
    start = f"{only}{about(summary)}{share}"
    return (
        f"{start[:1].upper()}{start[1:]} of the people could be compared with somebody of another "
        f"{groups}; the others were compared with people of their own group, or with nobody."
    )


def disagreement_sentence(summary: AuditSummary) -> str | None:
    """Return how much is due to different predictions for one profile; None if nothing."""
    if summary.disagreement <= 0:
        return None
    share = ""
    if summary.statistic > 0:
        share = f" ({percent(summary.disagreement / summary.statistic, 0)})"
    return (
        f"{decimal(summary.disagreement)} of the statistic{share} comes from different predictions "
        "for people with equal values in all columns, and from no sensitive feature."
    )


def has_much_disagreement(summary: AuditSummary) -> bool:
    """Return whether disagreement is so large that the verdict must mention it."""
    is_separate = summary.rates is None  # else the verdict is not about it
    return (
        is_separate
        and summary.disagreement > 0
        and summary.disagreement >= MIN_DISAGREEMENT_SHARE * summary.statistic
    )


def interval_words(summary: AuditSummary) -> str:
    """Return the two-sided interval of the verdict's figure."""
    interval = summary.judged.interval
    return interval_text(interval.lower, interval.upper)


def part_figure(summary: AuditSummary) -> dict[str, str]:
    """Return the attributable part by its name, if the verdict is on it."""
    if not summary.is_about_part:
        return {}
    return {f"Part that needs {another_group(summary)}": decimal(summary.judged.value)}


def figures(summary: AuditSummary) -> tuple[tuple[str, str], ...]:
    """Return the statistic, its bounds and its test, or those of the rates, by name."""
    if summary.rates is not None:
        return rates.rate_figures(summary, summary.rates)
    threshold = ("Limit δ", "none given" if summary.delta is None else decimal(summary.delta))
    if summary.applicability is not None:
        return ("FaiTH statistic, no evidence", decimal(summary.statistic)), threshold
    judged = summary.judged
    return (
        ("FaiTH statistic", decimal(summary.statistic)),
        *part_figure(summary).items(),
        (f"Confidence interval, {level(1 - summary.alpha)}", interval_words(summary)),
        ("Lower bound, one-sided", bound(judged.lower_bound, DOWN)),
        ("Upper bound, one-sided", bound(judged.upper_bound, UP)),
        threshold,
        ("p-value", pvalue_text(summary, judged.pvalue)),
    )


def notes(document: AuditSummary | ComparisonSummary | FamilySummary) -> tuple[str, ...]:
    """Return the notes for readers: what was left out, then the warnings."""
    redaction = suppression_sentence(document) if isinstance(document, AuditSummary) else None
    return (*([] if redaction is None else [redaction]), *map(visible, document.warnings))


NOTES = Section(
    "warnings",
    "What to keep in mind",
    "notes.j2",
    lambda document, _: {"notes": notes(document)},
)
