"""All sections of a comparison: verdict, who is affected, and method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.documents.verdicts import VERDICTS, comparison_row
from fairtransport.report.sections.appendix import GLOSSARY, explain_words
from fairtransport.report.sections.decisions import counts_people_once, several_hold_if
from fairtransport.report.sections.finding import CAUTION, worst_swap
from fairtransport.report.sections.section import Fragment, Section
from fairtransport.report.tables import (
    Cell,
    Column,
    Table,
    changed_cell,
    columns_of,
    decimals_for,
    pairs_cell,
    people_cell,
    profile_cell,
)
from fairtransport.report.text import (
    DOWN,
    FOR_INDEPENDENT,
    NONE,
    bound,
    decimal,
    for_units,
    interval_text,
    level,
    loss_name,
    percent,
    short_pvalue,
    value_text,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport.documents.comparison import ComparedModel, ComparisonSummary, Difference
    from fairtransport.report.sections.section import Output


DIFFERENCES = ("Model", "Other", "Difference", "Interval", "p", "Verdict", "Not worse")
WORDS = {"undecided": "not settled", "not-applicable": "cannot tell"}
"""Verdicts on two models as tables have them, where that is another word."""


def ends(summary: ComparisonSummary) -> Difference:
    """Return the difference between the last model and the first."""
    first, last = summary.models[0].name, summary.models[-1].name
    return next(one for one in summary.differences if (one.first, one.second) == (first, last))


def comparison_title(summary: ComparisonSummary) -> str:
    """Return the verdict on the last model in a line."""
    difference = ends(summary)
    first, last = visible(difference.first), visible(difference.second)
    if is_more_within(difference):
        within = "within" if summary.not_worse else "perhaps within"
        return f"More individual bias in {last} than in {first}, {within} the tolerance"
    if summary.verdict == "better":
        return f"Less individual bias in {last} than in {first}"
    if summary.verdict == "worse":
        beyond = f", by more than the tolerance ({summary.tolerance:g})" * (summary.tolerance > 0)
        return f"More individual bias in {last} than in {first}{beyond}"
    if summary.applicability is not None:
        return f"{VERDICTS['not-applicable'].title}: {last} compared with {first}"
    return f"Not settled: {last} compared with {first}"


def is_more_within(difference: Difference) -> bool:
    """Return whether more bias is shown, but not by more than the tolerance."""
    is_more = difference.lower is not None and difference.lower > 0
    return is_more and difference.verdict == "undecided"


def verdict_word(difference: Difference) -> str:
    """Return the verdict on a pair as tables have it."""
    return (
        "more" if is_more_within(difference) else WORDS.get(difference.verdict, difference.verdict)
    )


def applicability_sentence(summary: ComparisonSummary) -> str | None:
    """Return why two models cannot be compared; None if they can."""
    if summary.applicability is None:
        return None
    return f"{visible(summary.applicability)} What follows is no evidence of how they differ."


def comparison_failure(summary: ComparisonSummary) -> str:
    """Return why a comparison fails a pipeline: its verdict, and the reason or the certificate."""
    if summary.applicability is not None:
        return f"{comparison_title(summary)}: {visible(summary.applicability)}"
    return " ".join(filter(None, [f"{comparison_title(summary)}.", certificate_sentence(summary)]))


def difference_sentence(summary: ComparisonSummary) -> str:
    """Return the difference with its interval."""
    difference = ends(summary)
    estimate = (
        f"The FaiTH statistic of {visible(difference.second)} minus that of "
        f"{visible(difference.first)} is {signed_decimal(difference.difference)} in the data"
    )
    if difference.lower is None or difference.upper is None:
        return f"{estimate}. For the population there is no interval here."
    whose = "" if summary.units else FOR_INDEPENDENT
    return (
        f"{estimate}. In the population it is between {signed_decimal(difference.lower)} and "
        f"{signed_decimal(difference.upper)}, with {_confidence(summary)}{whose}, at every sample "
        "size."
    )


def _confidence(summary: ComparisonSummary) -> str:
    """Return the confidence of the intervals, with the units that they are for."""
    return f"{level(1 - summary.alpha)} confidence{for_units(summary.units)}"


def certificate_sentence(summary: ComparisonSummary) -> str | None:
    """Return whether it is certified that the last model is not worse; None if it is worse."""
    if summary.verdict == "worse":
        return None
    difference = ends(summary)
    first, last = visible(difference.first), visible(difference.second)
    if difference.lower is None:
        return f"Without an interval it cannot be shown that {last} is not worse than {first}."
    more = f"at most {summary.tolerance:g} more" if summary.tolerance else "no more"
    claim = f"that {last} has {more} individual bias than {first}"
    if summary.not_worse:
        return f"It is shown (certified) {claim}."
    return f"It is not shown {claim}."


def risks_sentence(summary: ComparisonSummary) -> str:
    """Return the worst-case effect of swaps under both models; for predictions, bounds."""
    ends = (summary.models[0], summary.models[-1])
    if not any(one.queried for one in summary.models):
        bounds = [f"{visible(one.name)} {bound(one.lower, DOWN)}" for one in ends]
        return f"For given predictions there are lower bounds only: {', '.join(bounds)}."
    what, write = _risk_words(summary), _risk_text(summary)
    parts = [
        f"{write(one.baseline_risk)} under {visible(one.name)}, at worst "
        f"{write(one.worst_case_risk)}"
        for one in ends
    ]
    return f"{what}: {'; '.join(parts)}. “At worst”: {worst_swap(summary)}."


def _risk_words(summary: ComparisonSummary) -> str:
    """Return what the mean loss is called."""
    return "Errors" if summary.provenance.loss_is_error else "Mean loss"


def _risk_text(summary: ComparisonSummary) -> Callable[[float], str]:
    """Return what writes a mean loss."""
    return percent if summary.provenance.loss_is_error else decimal


def signed_decimal(number: float) -> str:
    """Return a number with its sign and four decimals."""
    text = decimal(abs(number))
    if float(text) == 0:
        return text
    return f"−{text}" if number < 0 else f"+{text}"


def models_table(summary: ComparisonSummary) -> Table:
    """Return the models, a row each."""
    write = _risk_text(summary)
    has_favourable = any(
        one.decisions is not None and one.decisions.favourable for one in summary.models
    )
    titles = ["Model", "Decision would change", *["Worse off"] * has_favourable]
    titles += ["Statistic", "Interval", _risk_words(summary), "At worst"]

    def row(one: ComparedModel) -> tuple[Cell, ...]:
        """Return one model's cells."""
        decisions = one.decisions
        return (
            Cell(visible(one.name)),
            changed_cell(None if decisions is None else decisions.changed),
            *[changed_cell(None if decisions is None else decisions.worse_off)] * has_favourable,
            Cell(decimal(one.statistic), one.statistic),
            Cell(interval_text(one.lower, one.upper), one.lower),
            Cell(write(one.baseline_risk), one.baseline_risk),
            Cell(write(one.worst_case_risk), one.worst_case_risk),
        )

    columns = columns_of(titles, titles[1:])
    return Table(
        "models",
        "The models",
        columns,
        tuple(map(row, summary.models)),
    )


def differences_table(summary: ComparisonSummary) -> Table:
    """Return all pairs, one per row."""

    def row(one: Difference) -> tuple[Cell, ...]:
        """Return one pair's cells; an interval without an end on a side is left out."""
        between = NONE
        if one.lower is not None and one.upper is not None:
            between = f"{signed_decimal(one.lower)} to {signed_decimal(one.upper)}"
        return (
            Cell(visible(one.second)),
            Cell(visible(one.first)),
            Cell(signed_decimal(one.difference), one.difference),
            Cell(between, one.lower),
            Cell(short_pvalue(one.pvalue), one.pvalue),
            Cell(f"{comparison_row(one.verdict).mark}\u00a0{verdict_word(one)}"),
            Cell("shown" if one.not_worse else "no" if one.verdict == "worse" else "not shown"),
        )

    columns = columns_of(DIFFERENCES, DIFFERENCES[2:5])
    return Table(
        "differences",
        "Differences: statistic of the model minus that of the other",
        columns,
        tuple(map(row, summary.differences)),
    )


def condition_sentence(summary: ComparisonSummary) -> str:
    """Return the assumptions of intervals and verdicts."""
    on_record = not any(one.queried for one in summary.models)
    return visible(several_hold_if([summary.units], on_record=on_record))


def comparison_intervals_sentence(summary: ComparisonSummary) -> str:
    """Return the guarantee of the intervals in the tables."""
    sure = _confidence(summary)
    own = f"The models' intervals are simultaneous, with {sure}."
    holds = condition_sentence(summary)
    if ends(summary).lower is None:
        return f"{own} {holds}"
    same = "for the same people under both models (a paired comparison)"
    if len(summary.differences) == 1:
        return f"{own} The interval of the difference is {same}, with {sure}. {holds}"
    return f"{own} So are the intervals of the differences, which are {same}. {holds}"


def _comparison_finding_contents(summary: ComparisonSummary, _: Output) -> dict[str, object]:
    """Return the contents of the template part ``comparison_finding.j2``, by name."""
    row = comparison_row(summary.verdict)
    return {
        "css_class": row.css_class,
        "mark": row.mark,
        "title": comparison_title(summary),
        "applicability": applicability_sentence(summary),
        "difference": difference_sentence(summary),
        "certificate": certificate_sentence(summary),
        "risks": risks_sentence(summary),
        "models": models_table(summary),
        "differences": differences_table(summary),
        "intervals": comparison_intervals_sentence(summary),
        "caution": CAUTION,
    }


COMPARISON_FINDING = Section(
    "verdict", "", "comparison_finding.j2", _comparison_finding_contents, linked=False
)


def comparison_fragment(summary: ComparisonSummary) -> Fragment:
    """Return the notebook fragment of a comparison."""
    table = differences_table(summary)
    return Fragment(
        colour=comparison_row(summary.verdict).line_colour,
        title=comparison_title(summary),
        lead=difference_sentence(summary),
        table=table,
        caption=table.caption,
        footer=comparison_intervals_sentence(summary),
    )


NOT_SAID = (
    "Less bias than another model has is no proof of fairness. “Not settled” does not mean that "
    "two models are equal."
)
COMPARISON_TERMS = {
    "At worst": (
        "After the swaps with similar people that raise the mean loss most, within the budget."
    ),
    "Difference": "The statistic of one model minus that of another, for the same people.",
    "Individual bias": "The FaiTH statistic.",
    "Not worse": (
        "Whether it is shown (certified) that a model has at most the tolerance more individual "
        "bias than the other."
    ),
    "p": (
        "The p-value of the hypothesis that the model has neither less bias, nor more by over the "
        "tolerance. It is adjusted for all pairs: “better” and “worse” are said only where it is "
        "at most α."
    ),
    "Tolerance": "How much more individual bias than an earlier model a later one may have.",
    "Verdict": (
        "better: less bias than the other model. worse: more, by over the tolerance. more: more, "
        "but not shown to be by over the tolerance. not settled (undecided): none of these is "
        "shown."
    ),
}
REPLACED_TERMS = (
    "p-value",
    "At least, at most (lower and upper bound)",
    *(f"{row.title} ({row.value})" for row in VERDICTS.values()),
)
"""Entries of an audit's glossary that are about its own verdict."""


def facts(summary: ComparisonSummary) -> list[tuple[str, str]]:
    """Return how it was done, as names and values."""
    provenance = summary.provenance
    rows = [
        ("People", f"{summary.n:,}"),
        ("Different rows compared", f"{summary.points:,}"),
        ("Sensitive features", ", ".join(map(visible, provenance.sensitive))),
        ("Features", ", ".join(map(visible, provenance.features)) or "none"),
        ("Similarity", provenance.similarity),
        ("Loss", loss_name(provenance.loss)),
        ("Budget ε", f"{summary.budget:g}" if summary.budget else ""),
        ("Compared with", SCOPE_WORDS[summary.target_scope]),
        (
            "Models",
            "; ".join(f"{visible(one.name)}: {visible(one.model)}" for one in summary.models),
        ),
        ("Random seed", str(provenance.seed)),
        ("Hash of the data (SHA-256)", provenance.data_sha256 or "none"),
        ("fairtransport", provenance.version),
    ]
    return [(name, value) for name, value in rows if value]


SCOPE_WORDS = {
    "twins": "copies that differ in sensitive features alone",
    "reference": "people of a reference table",
    "observed": "people in the data",
    "counterparts": "the same person as typically recorded in another group",
}


def _comparison_method_contents(summary: ComparisonSummary, output: Output) -> dict[str, object]:
    """Return what the template part ``comparison_method.j2`` shows, by name."""
    shared = {name: text for name, text in GLOSSARY.items() if name not in REPLACED_TERMS}
    names = [*(name for pair in facts(summary) for name in pair), NOT_SAID]
    return {
        "facts": facts(summary),
        "not_said": NOT_SAID,
        "glossary": explain_words(" ".join([output.text, *names]), shared | COMPARISON_TERMS),
    }


COMPARISON_METHOD = Section("how", "Method", "comparison_method.j2", _comparison_method_contents)


GROUPS_NOTE = (
    "How much swaps raise each group's mean loss under either model, if they are chosen so that "
    "the mean loss of everybody together rises most."
)


def groups_table(summary: ComparisonSummary) -> Table:
    """Return the sensitive groups with what swaps cost them under the two models."""
    first, last = (visible(summary.models[at].name) for at in (0, -1))
    columns = (
        Column("Group"), Column("People", numeric=True), Column(first, numeric=True),
        Column(last, numeric=True), Column("Change", numeric=True),
    )  # fmt: skip
    rows = tuple(
        (
            pairs_cell((visible(name), value_text(value)) for name, value in one.group.items()),
            people_cell(one.people),
            Cell(decimal(one.first), one.first),
            Cell(decimal(one.last), one.last),
            Cell(signed_decimal(one.last - one.first), one.last - one.first),
        )
        for one in summary.groups
    )
    return Table("groups", "What swaps add to the mean loss, by group", columns, rows)


def profiles_note(summary: ComparisonSummary) -> str:
    """Return what the numbers of people with equal values are."""
    weighted = "" if counts_people_once(summary) else " (weighted)"
    if summary.provenance.loss_is_error:
        return (
            f"How many of the people with equal values{weighted} have a correct decision that is "
            "wrong for the similar person they are swapped with, under each model."
        )
    return "How much swaps raise the total loss of people with equal values, under each model."


def profiles_table(summary: ComparisonSummary) -> Table:
    """Return the profiles in which the two models differ most."""
    first, last = (visible(summary.models[at].name) for at in (0, -1))
    labelled = summary.provenance.label is not None
    columns = (
        Column("Who"), *([Column("True label")] * labelled), Column("People", numeric=True),
        Column(first, numeric=True), Column(last, numeric=True),
    )  # fmt: skip
    losses = [loss for one in summary.profiles for loss in (one.first, one.last)]
    digits = decimals_for([0.0, *losses])
    rows = tuple(
        (
            profile_cell(one.profile),
            *([Cell(value_text(one.label))] * labelled),
            people_cell(one.people),
            Cell(decimal(one.first, digits), one.first),
            Cell(decimal(one.last, digits), one.last),
        )
        for one in summary.profiles
    )
    return Table("profiles", "People for whom the two models differ most", columns, rows)


def _comparison_who_contents(summary: ComparisonSummary, _: Output) -> dict[str, object]:
    """Return the contents of the template part ``comparison_who.j2``, by name."""
    return {
        "groups": groups_table(summary),
        "profiles": profiles_table(summary),
        "groups_note": GROUPS_NOTE,
        "profiles_note": profiles_note(summary),
    }


COMPARISON_WHO = Section(
    "who", "Where the models differ", "comparison_who.j2", _comparison_who_contents
)
