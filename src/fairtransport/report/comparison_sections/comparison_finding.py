"""What was found: whether the last model has less or more bias than the first, and how sure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.cells import Cell, Table, columns_of
from fairtransport.report.numbers import (
    NONE,
    decimal,
    interval_text,
    level,
    percent,
    short_pvalue,
)
from fairtransport.report.sections import Section
from fairtransport.report.sections.finding import CAUTION, MARKS, worst_swap
from fairtransport.report.strings import visible

if TYPE_CHECKING:
    from fairtransport.comparison_summary import ComparedModel, ComparisonSummary, Difference
    from fairtransport.report.sections import Output

LIKE = {
    "better": "certified",
    "worse": "rejected",
    "undecided": "inconclusive",
    "not-applicable": "not-applicable",
}
"""The verdict on a single model whose mark and colour a verdict on two has."""
MODELS = ("Model", "Statistic", "Interval", "As they are", "At worst", "Questions")
DIFFERENCES = ("Model", "Over", "Difference", "Interval", "p", "Verdict", "Not worse")


def ends(summary: ComparisonSummary) -> Difference:
    """Return the difference between the last model and the first."""
    first, last = summary.models[0].name, summary.models[-1].name
    return next(one for one in summary.differences if (one.first, one.second) == (first, last))


def comparison_title(summary: ComparisonSummary) -> str:
    """Return the verdict on the last model in a line.

    Parameters
    ----------
    summary
        What the comparison says. More bias that was shown, but not to be more than the tolerance,
        is said so: "undecided" alone would hide it.
    """
    found = ends(summary)
    first, last = visible(found.first), visible(found.second)
    if summary.verdict == "better":
        return f"Less individual bias: {last} than {first}"
    if summary.verdict == "worse":
        beyond = f", by more than the tolerance {summary.tolerance:g}" * (summary.tolerance > 0)
        return f"More individual bias: {last} than {first}{beyond}"
    if summary.applicability is not None:
        return f"Not applicable: {last} beside {first}"
    if found.lower is not None and found.lower > 0:
        within = "within" if summary.not_worse else "perhaps within"
        return f"More individual bias, {within} the tolerance: {last} than {first}"
    return f"Undecided: {last} beside {first}"


def applicability_sentence(summary: ComparisonSummary) -> str | None:
    """Return why two models cannot be compared; None if they can."""
    if summary.applicability is None:
        return None
    return f"{visible(summary.applicability)} What follows is no evidence on how they differ."


def difference_sentence(summary: ComparisonSummary) -> str:
    """Return the difference with its interval.

    Parameters
    ----------
    summary
        Without bounds, as with given predictions, the sentence is about the data alone.
    """
    found = ends(summary)
    told = (
        f"The statistic of {visible(found.second)} minus that of {visible(found.first)} is "
        f"{signed_decimal(found.difference)} in the data"
    )
    if found.lower is None or found.upper is None:
        return f"{told}; what it is in the population cannot be bounded here."
    return (
        f"{told}; in the population it is between {signed_decimal(found.lower)} and "
        f"{signed_decimal(found.upper)} with {level(1 - summary.alpha)} confidence, "
        "at every sample size."
    )


def certificate_sentence(summary: ComparisonSummary) -> str:
    """Return whether it is certified that the last model is not worse.

    Parameters
    ----------
    summary
        "Not certified" is never said as "worse".
    """
    found = ends(summary)
    if found.lower is None:
        return "Without bounds nothing is certified."
    more = f"at most {summary.tolerance:g} more" if summary.tolerance else "no more"
    said = f"that {visible(found.second)} has {more} individual bias than {visible(found.first)}"
    if summary.not_worse:
        return f"It is certified {said}."
    return f"It is not certified {said}."


def risks_sentence(summary: ComparisonSummary) -> str:
    """Return what swaps at worst do under each end of the comparison.

    Parameters
    ----------
    summary
        Errors are told as percentages, other losses as means.
    """
    what = "Errors" if summary.provenance.loss_is_error else "The mean loss"
    write = percent if summary.provenance.loss_is_error else decimal
    parts = [
        f"from {write(one.baseline_risk)} to {write(one.worst_case_risk)} under {visible(one.name)}"
        for one in (summary.models[0], summary.models[-1])
    ]
    return f"{what} would go {' and '.join(parts)}, at worst: {worst_swap(summary)}."


def signed_decimal(number: float) -> str:
    """Return a number with its sign and four decimals.

    Parameters
    ----------
    number
        What rounds to 0 has no sign.

    Examples
    --------
    >>> signed_decimal(-0.01234), signed_decimal(0.5), signed_decimal(0.0)
    ('−0.0123', '+0.5000', '0.0000')
    """
    text = decimal(abs(number))
    if float(text) == 0:
        return text
    return f"−{text}" if number < 0 else f"+{text}"


def models_table(summary: ComparisonSummary) -> Table:
    """Return the models, a row each.

    Parameters
    ----------
    summary
        The comparison. Risks are written as percentages where the loss is the error rate, else as
        decimals.
    """
    write = percent if summary.provenance.loss_is_error else decimal

    def row(one: ComparedModel) -> tuple[Cell, ...]:
        """Return one model's cells."""
        return (
            Cell(visible(one.name)),
            Cell(decimal(one.statistic), one.statistic),
            Cell(interval_text(one.lower, one.upper), one.lower),
            Cell(write(one.baseline_risk), one.baseline_risk),
            Cell(write(one.worst_case_risk), one.worst_case_risk),
            Cell(str(one.queried) if one.queried else "none", one.queried),
        )

    columns = columns_of(MODELS, MODELS[1:])
    return Table("models", "The models", columns, tuple(map(row, summary.models)))


def differences_table(summary: ComparisonSummary) -> Table:
    """Return all pairs, a row each.

    Parameters
    ----------
    summary
        The comparison; its differences are of the second model less the first, and all their
        intervals hold together.
    """

    def row(one: Difference) -> tuple[Cell, ...]:
        """Return one pair's cells; an interval that is open on a side is not told."""
        between = NONE
        if one.lower is not None and one.upper is not None:
            between = f"{signed_decimal(one.lower)} to {signed_decimal(one.upper)}"
        return (
            Cell(visible(one.second)),
            Cell(visible(one.first)),
            Cell(signed_decimal(one.difference), one.difference),
            Cell(between, one.lower),
            Cell(short_pvalue(one.pvalue), one.pvalue),
            Cell(f"{MARKS[LIKE[one.verdict]]}\u00a0{one.verdict}"),
            Cell("certified" if one.not_worse else "open"),
        )

    columns = columns_of(DIFFERENCES, DIFFERENCES[2:5])
    return Table(
        "differences", "Differences of statistics", columns, tuple(map(row, summary.differences))
    )


def intervals_sentence(summary: ComparisonSummary) -> str:
    """Return what the intervals of the tables promise.

    Parameters
    ----------
    summary
        With several pairs, their intervals hold together.
    """
    sure = level(1 - summary.alpha)
    own = f"The intervals of the models hold together with {sure} confidence."
    if ends(summary).lower is None:
        return own
    one_pair = len(summary.differences) == 1
    together = "" if one_pair else ", for all pairs together"
    return (
        f"{own} That of a difference is about the same people under both models; it holds with "
        f"{sure} confidence{together}."
    )


def _contents(summary: ComparisonSummary, _: Output) -> dict[str, object]:
    """Return what the template part ``comparison_finding.j2`` shows, by name.

    Parameters
    ----------
    summary
        The comparison. Its verdict lends mark and colour from the verdicts of single audits.
    """
    like = LIKE[summary.verdict]
    return {
        "like": like,
        "mark": MARKS[like],
        "title": comparison_title(summary),
        "applicability": applicability_sentence(summary),
        "difference": difference_sentence(summary),
        "certificate": certificate_sentence(summary),
        "risks": risks_sentence(summary),
        "models": models_table(summary),
        "differences": differences_table(summary),
        "intervals": intervals_sentence(summary),
        "caution": CAUTION,
    }


SECTION = Section("verdict", "", 10, _contents, linked=False)
