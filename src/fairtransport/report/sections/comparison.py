"""All sections of a comparison: verdict, who is affected, and method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.documents.verdicts import VERDICTS, comparison_row
from fairtransport.report.sections.appendix import GLOSSARY
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
    from fairtransport.documents.comparison import ComparedModel, ComparisonSummary, Difference
    from fairtransport.report.sections.section import Output


MODELS = ("Model", "Change", "Statistic", "Interval", "As they are", "At worst")
DIFFERENCES = ("Model", "Over", "Difference", "Interval", "p", "Verdict", "Not worse")


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
        return f"More individual bias, {within} the tolerance: {last} than {first}"
    if summary.verdict == "better":
        return f"Less individual bias: {last} than {first}"
    if summary.verdict == "worse":
        beyond = f", by more than the tolerance {summary.tolerance:g}" * (summary.tolerance > 0)
        return f"More individual bias: {last} than {first}{beyond}"
    if summary.applicability is not None:
        return f"{VERDICTS['not-applicable'].title}: {last} beside {first}"
    return f"Undecided: {last} beside {first}"


def is_more_within(difference: Difference) -> bool:
    """Return whether more bias is shown, but not by more than the tolerance."""
    is_more = difference.lower is not None and difference.lower > 0
    return is_more and difference.verdict == "undecided"


def verdict_word(difference: Difference) -> str:
    """Return the verdict on a pair for tables."""
    return "more" if is_more_within(difference) else difference.verdict


def applicability_sentence(summary: ComparisonSummary) -> str | None:
    """Return why two models cannot be compared; None if they can."""
    if summary.applicability is None:
        return None
    return f"{visible(summary.applicability)} What follows is no evidence on how they differ."


def comparison_failure(summary: ComparisonSummary) -> str:
    """Return why a comparison fails a pipeline: its verdict, and the reason or the certificate."""
    if summary.applicability is not None:
        return f"{comparison_title(summary)}: {visible(summary.applicability)}"
    certificate = "" if summary.verdict == "worse" else f" {certificate_sentence(summary)}"
    return f"{comparison_title(summary)}.{certificate}"


def difference_sentence(summary: ComparisonSummary) -> str:
    """Return the difference with its interval."""
    difference = ends(summary)
    estimate = (
        f"The statistic of {visible(difference.second)} minus that of "
        f"{visible(difference.first)} is {signed_decimal(difference.difference)} in the data"
    )
    if difference.lower is None or difference.upper is None:
        return f"{estimate}; what it is in the population cannot be bounded here."
    whose = "" if summary.units else FOR_INDEPENDENT
    return (
        f"{estimate}; in the population it is between {signed_decimal(difference.lower)} and "
        f"{signed_decimal(difference.upper)} with {_confidence(summary)}{whose}, at every sample "
        "size."
    )


def _confidence(summary: ComparisonSummary) -> str:
    """Return the confidence of the intervals, with the units that they are for."""
    return f"{level(1 - summary.alpha)} confidence{for_units(summary.units)}"


def certificate_sentence(summary: ComparisonSummary) -> str:
    """Return whether it is certified that the last model is not worse."""
    difference = ends(summary)
    if difference.lower is None:
        return "Without bounds nothing is certified."
    more = f"at most {summary.tolerance:g} more" if summary.tolerance else "no more"
    first, last = visible(difference.first), visible(difference.second)
    claim = f"that {last} has {more} individual bias than {first}"
    if summary.not_worse:
        return f"It is certified {claim}."
    return f"It is not certified {claim}."


def risks_sentence(summary: ComparisonSummary) -> str:
    """Return the worst-case effect of swaps under both models; for predictions, bounds."""
    ends = (summary.models[0], summary.models[-1])
    if not any(one.queried for one in summary.models):
        bounds = [f"{visible(one.name)} {bound(one.lower, DOWN)}" for one in ends]
        return f"Established of given predictions are lower bounds alone: {', '.join(bounds)}."
    what = "Errors" if summary.provenance.loss_is_error else "The mean loss"
    write = percent if summary.provenance.loss_is_error else decimal
    parts = [
        f"from {write(one.baseline_risk)} to {write(one.worst_case_risk)} under {visible(one.name)}"
        for one in ends
    ]
    return f"{what} would go {' and '.join(parts)}, at worst: {worst_swap(summary)}."


def signed_decimal(number: float) -> str:
    """Return a number with its sign and four decimals."""
    text = decimal(abs(number))
    if float(text) == 0:
        return text
    return f"−{text}" if number < 0 else f"+{text}"


def models_table(summary: ComparisonSummary) -> Table:
    """Return the models, one per row."""
    write = percent if summary.provenance.loss_is_error else decimal
    has_favourable = any(
        one.decisions is not None and one.decisions.favourable for one in summary.models
    )
    titles = [*MODELS[:2], *["Worse off"] * has_favourable, *MODELS[2:]]

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
        "The models; Change: people whose decision would change",
        columns,
        tuple(map(row, summary.models)),
    )


def differences_table(summary: ComparisonSummary) -> Table:
    """Return all pairs, one per row."""

    def row(one: Difference) -> tuple[Cell, ...]:
        """Return one pair's cells; a half-open interval is not shown."""
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
            Cell("certified" if one.not_worse else "open"),
        )

    columns = columns_of(DIFFERENCES, DIFFERENCES[2:5])
    return Table(
        "differences", "Differences of statistics", columns, tuple(map(row, summary.differences))
    )


def condition_sentence(summary: ComparisonSummary) -> str:
    """Return the assumptions of intervals and verdicts."""
    on_record = not any(one.queried for one in summary.models)
    return several_hold_if([summary.units], on_record=on_record)


def comparison_intervals_sentence(summary: ComparisonSummary) -> str:
    """Return the guarantee of the intervals in the tables."""
    sure = _confidence(summary)
    own = f"The intervals of the models hold together with {sure}."
    holds = condition_sentence(summary)
    if ends(summary).lower is None:
        return f"{own} {holds}"
    one_pair = len(summary.differences) == 1
    together = "" if one_pair else ", for all pairs together"
    return (
        f"{own} That of a difference is about the same people under both models; it holds with "
        f"{sure}{together}. {holds}"
    )


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
    "A comparison speaks of the people it compares and of the loss it counts. Less bias than "
    "another model has is no proof of fairness, and undecided does not mean equal."
)
GLOSSARY_TERMS = ("FaiTH statistic, ψ", "Similar, comparable", "Sensitive feature")
COMPARISON_TERMS = {
    "Difference": (
        "The statistic of one model minus that of another, for the same people. What both models "
        "do to a person cancels, so that it is known better than either statistic."
    ),
    "Tolerance": "How much more bias than an earlier model a later one may have.",
    "Verdict": (
        "better: less bias than the other model; worse: more, by over the tolerance; more: more, "
        "not shown to be by over the tolerance; undecided: none of these is shown."
    ),
    "Not worse": (
        "Whether it is certified that a model has at most the tolerance more bias than another; "
        "open where that is not shown."
    ),
    "p": (
        "The p-value of “neither less bias, nor more by over the tolerance”, times twice the "
        "number of pairs: less or more bias is said only where it is at most α."
    ),
}


def facts(summary: ComparisonSummary) -> list[tuple[str, str]]:
    """Return how it was done, as names and values."""
    provenance = summary.provenance
    rows = [
        ("People", f"{summary.n:,}"),
        ("Distinct points", f"{summary.points:,}"),
        ("Sensitive features", ", ".join(map(visible, provenance.sensitive))),
        ("Features", ", ".join(map(visible, provenance.features)) or "none"),
        ("Similarity", provenance.similarity),
        ("Loss", loss_name(provenance.loss)),
        ("Budget", f"{summary.budget:g}"),
        ("Compared with", summary.target_scope),
        (
            "Models",
            "; ".join(f"{visible(one.name)}: {visible(one.model)}" for one in summary.models),
        ),
        ("Seed", str(provenance.seed)),
        ("Fingerprint of the data", provenance.data_sha256 or "none"),
        ("fairtransport", provenance.version),
    ]
    return [(name, value) for name, value in rows if value]


def _comparison_method_contents(summary: ComparisonSummary, _: Output) -> dict[str, object]:
    """Return the contents of the template part ``comparison_method.j2``, by name."""
    return {
        "facts": facts(summary),
        "not_said": NOT_SAID,
        "glossary": {name: GLOSSARY[name] for name in GLOSSARY_TERMS} | COMPARISON_TERMS,
    }


COMPARISON_METHOD = Section(
    "how", "How it was done", "comparison_method.j2", _comparison_method_contents
)


GROUPS_NOTE = (
    "What swaps at worst add to a group's mean loss, under either model. It is what happens to "
    "these people if they are taken for comparable ones, in the plan that is worst for everybody "
    "together."
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
    """Return the meaning of the profiles' numbers."""
    weighted = "" if counts_people_once(summary) else " (weighted)"
    return (
        "What swaps at worst add to the total loss of people with one profile; under 0-1 loss, how "
        f"many of them{weighted} would be misclassified as a comparable person."
    )


def profiles_table(summary: ComparisonSummary) -> Table:
    """Return the profiles in which the two models differ most."""
    first, last = (visible(summary.models[at].name) for at in (0, -1))
    labelled = summary.provenance.label is not None
    columns = (
        Column("Who"), *([Column("Label")] * labelled), Column("People", numeric=True),
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
    return Table("profiles", "Where the two models differ most", columns, rows)


def _comparison_who_contents(summary: ComparisonSummary, _: Output) -> dict[str, object]:
    """Return the contents of the template part ``comparison_who.j2``, by name."""
    return {
        "groups": groups_table(summary),
        "profiles": profiles_table(summary),
        "groups_note": GROUPS_NOTE,
        "profiles_note": profiles_note(summary),
    }


COMPARISON_WHO = Section(
    "who", "Who is treated better, who worse", "comparison_who.j2", _comparison_who_contents
)
