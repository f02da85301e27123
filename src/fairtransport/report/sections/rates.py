"""Rates: how people who are alike are treated by group, where predictions were given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.explain.alike import DECISION, ERROR, OTHER_DECISION, PREDICTION
from fairtransport.inference.rates.law import WORST, format_rate_sentence
from fairtransport.report.sections import Section
from fairtransport.report.tables import Cell, Table, columns_of
from fairtransport.report.text import (
    DOWN,
    OUTCOME,
    about,
    bound,
    decimal,
    distinct_decimals,
    group_text,
    is_shared,
    level,
    loss_name,
    people,
    percent,
    pvalue,
    pvalue_text,
    shorten,
    value_text,
    visible,
)
from fairtransport.report.text import ERROR as ZERO_ONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.documents.audit import (
        AuditSummary,
        GroupBesideReference,
        Profile,
        RatesAmongAlike,
        RatesFound,
    )
    from fairtransport.report.sections import Output


MEANING = (
    "People who are alike in all columns but the sensitive ones (and in the true label, if the "
    "loss uses it) are put side by side, and the mean losses of their groups are compared. R is "
    "how much the mean loss would rise if everybody were treated like the worst-treated group "
    "among people alike."
)
BY_GROUP = (
    "Each group is compared with the largest one, among people alike. Only people count who have "
    "somebody alike in the other group. The rate of the largest group is weighted as if it had the "
    "group's columns. These rates describe the people of the file and have no interval."
)
DECLARED = (
    "Answers were declared to be a function of the audited columns. R is then the FaiTH statistic, "
    "and the bound is that of the statistic."
)
NO_SIZE = "How large a difference there is, if any, is not established"
NO_ACQUITTAL = "That is no evidence that people alike are treated alike."
NO_REASON = "Not established why: something that is not in the file may explain it."
MAY_DIFFER = (
    "Which group that is may differ from one kind of people to another; the rates above describe "
    "these people and have no interval."
)
CANCELS = (
    "Which group that is differs from one kind of people to another, so that differences cancel in "
    "the rates above."
)
AMBIGUOUS = frozenset({"yes", "no", "true", "false"})
"""Levels that say nothing without the name of their column."""
MAX_LINE_GROUPS = 3
"""Further groups of a feature in the line below its first comparison."""
MAX_LINE_COLUMNS = 8
"""Columns that a line names of those people are alike in."""


def decision_lines(summary: AuditSummary) -> list[str]:
    """Return what the first screen says of given predictions, a sentence or two a line.

    Notes
    -----
    Rates by group among people alike come first, which describe these people; then the limit, and
    what is established: R's lower bound, where it is above 0, and nothing else. Empty where
    predictions were not given, or nothing can be said.
    """
    rates = summary.rates
    if rates is None or summary.applicability is not None:
        return []
    tables = [one for one in rates.by_group if len(one.features) == 1]
    measures = dict.fromkeys((one.measure, value_text(one.decision)) for one in tables)
    lines = []
    for measure in measures:
        same = [one for one in tables if (one.measure, value_text(one.decision)) == measure]
        for table in sorted(same, key=_rank):
            lines.extend(_group_lines(summary, table))
    return [*lines, *_established_lines(summary, rates)]


def _rank(table: RatesAmongAlike) -> float:
    """Return what the features of a measure are ordered by: the largest difference first."""
    return -abs(table.groups[0].difference)


def _group_lines(summary: AuditSummary, table: RatesAmongAlike) -> list[str]:
    """Return the first comparison of a feature, and a line with some of its other groups."""
    first, *others = table.groups
    lines = [
        f"{_measure_title(summary, table)}, among people alike in {_columns_text(table.alike)}: "
        f"{_pair_text(summary, table, first)} people compared)."
        if table.alike
        else f"{_measure_title(summary, table)}: {_pair_text(summary, table, first)} people)."
    ]
    if others:
        texts = [f"{_pair_text(summary, table, one)})" for one in others[:MAX_LINE_GROUPS]]
        if len(others) > MAX_LINE_GROUPS:
            texts.append(f"and {len(others) - MAX_LINE_GROUPS} more groups")
        lines.append(f"The others: {'; '.join(texts)}.")
    return lines


def _pair_text(summary: AuditSummary, table: RatesAmongAlike, one: GroupBesideReference) -> str:
    """Return two groups with their rates, the higher first, and how many people they are."""
    sides = [(one.group, one.rate, one.people),
             (table.reference, one.reference_rate, one.reference_people)]  # fmt: skip
    if one.difference < 0:
        sides.reverse()
    near = about(summary)
    rates = ", ".join(
        f"{_level_text(group)} {near}{_rate_text(table, rate)}" for group, rate, _ in sides
    )
    return f"{rates} ({near}{people(sides[0][2])} and {near}{people(sides[1][2])}"


def _rate_text(table: RatesAmongAlike, rate: float, digits: int = 1) -> str:
    """Return a rate as a percentage, a mean in the prediction's unit."""
    if table.measure in {DECISION, OTHER_DECISION, ERROR}:
        return percent(rate, digits)
    return f"{rate:.4g}"


def _level_text(group: Profile) -> str:
    """Return a group in the file's own words; with the column where a level says nothing alone."""
    texts = []
    for name, value in group.items():
        text = shorten(value_text(value))
        alone = isinstance(value, str) and text.lower() not in AMBIGUOUS
        texts.append(text if alone else f"{shorten(visible(name))} = {text}")
    return ", ".join(texts)


def _measure_title(summary: AuditSummary, table: RatesAmongAlike) -> str:
    """Return what is averaged, as a line begins."""
    if table.measure == ERROR:
        return "Errors"
    if table.measure in {DECISION, OTHER_DECISION}:
        text = _decision_text(table)
        text = f"not {text}" if table.measure == OTHER_DECISION else text
        return text[:1].upper() + text[1:] if isinstance(table.decision, str) else text
    if table.measure == PREDICTION:
        return f"Mean {shorten(visible(table.column))}"
    return f"Mean {loss_name(summary.provenance.loss)} loss"


def _decision_text(table: RatesAmongAlike) -> str:
    """Return a decision in the file's own words; a number or a "yes" with its column."""
    text = shorten(value_text(table.decision))
    if isinstance(table.decision, str) and text.lower() not in AMBIGUOUS:
        return text
    return f"{shorten(visible(table.column))} = {text}"


def _columns_text(names: Sequence[str]) -> str:
    """Return the columns that people are alike in."""
    texts = [shorten(visible(name), 40) for name in names]
    if len(texts) > MAX_LINE_COLUMNS:
        texts[MAX_LINE_COLUMNS - 1 :] = [f"{len(texts) - MAX_LINE_COLUMNS + 1} more columns"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _established_lines(summary: AuditSummary, rates: RatesFound) -> list[str]:
    """Return the limit and what R's lower bound establishes; where it is 0, that nothing is."""
    unit, like = _unit(summary, rates)
    scale, digits = (1.0, 4) if unit.startswith("higher") else (100.0, 1)
    limit = 0.0 if summary.delta is None else scale * summary.delta
    least, threshold = distinct_decimals(scale * rates.lower_bound, limit, digits, DOWN)
    sure = f"{level(1 - summary.alpha)} confidence"
    everyone = f" if, among people alike, everyone were treated like {like}"
    lines = [] if summary.delta is None else [f"Your limit: {_trim(threshold)} {unit}{everyone}."]
    if rates.lower_bound <= 0:
        return [*lines, f"{NO_SIZE} ({sure}). {NO_ACQUITTAL}"]
    evidence = ""
    if summary.verdict == "rejected" and rates.pvalue_at_delta is not None:
        evidence = f"; {pvalue_text(summary, rates.pvalue_at_delta)}"
    same = "" if lines else everyone
    if least == threshold and summary.verdict == "rejected":
        finding = f"Established: more than {_trim(threshold)} {unit}"
    else:
        finding = f"Established: at least {_trim(least)} {unit}"
    which = CANCELS if _differences_cancel(rates) else MAY_DIFFER
    promise = " Answers were declared to be a function of these columns." * rates.deterministic
    return [
        *lines,
        f"{finding}{same} ({sure}{evidence}). {which}{promise}",
        *_feature_lines(rates, scale, digits),
        NO_REASON,
    ]


def _differences_cancel(rates: RatesFound) -> bool:
    """Tell whether more is established than any rates by group differ."""
    last = rates.by_group[-1:]  # what the bound is about comes last
    tables = [one for one in rates.by_group if one.measure == last[0].measure] if last else []
    largest = max((abs(one.difference) for table in tables for one in table.groups), default=None)
    return largest is not None and rates.lower_bound > largest


def _feature_lines(rates: RatesFound, scale: float, digits: int) -> list[str]:
    """Return of which sensitive features a difference is established, where there are several."""
    if len(rates.features) < 2:  # noqa: PLR2004
        return []
    texts = [
        f"by {shorten(visible(one.feature))} at least "
        f"{_trim(bound(scale * one.lower_bound, DOWN, digits))}"
        if one.lower_bound > 0
        else f"by {shorten(visible(one.feature))} not established"
        for one in rates.features
    ]
    return [f"With the other sensitive features held fixed: {'; '.join(texts)}."]


def _trim(number: str) -> str:
    """Return a decimal without zeros at its end."""
    return number.rstrip("0").rstrip(".") if "." in number else number


def _unit(summary: AuditSummary, rates: RatesFound) -> tuple[str, str]:
    """Return what R counts, and the group that everybody would be treated like."""
    loss = summary.provenance.loss
    if loss == ZERO_ONE:
        return "more errors in 100", "the group with most errors"
    if loss != OUTCOME:
        return f"higher mean {loss_name(loss)} loss", "the group with the largest one"
    decision = _unfavourable_text(summary, rates)
    if decision is None:
        return "higher mean prediction", "the group with the largest one"
    return f"more in 100 get {decision}", "the group that gets it most often"


def _unfavourable_text(summary: AuditSummary, rates: RatesFound) -> str | None:
    """Return the decision that R is about, in quotes; None where it is about none."""
    tables = [one for one in rates.by_group if one.measure in {DECISION, OTHER_DECISION}]
    if not tables or summary.favourable is None or summary.provenance.loss != OUTCOME:
        return None
    text = f"“{_decision_text(tables[0])}”"
    return f"another decision than {text}" if tables[0].measure == OTHER_DECISION else text


def by_group_table(summary: AuditSummary, rates: RatesFound) -> Table:
    """Return each group beside the largest one, among people alike."""
    near = "about " if is_shared(summary) else ""
    rows = [
        (
            Cell(_measure_title(summary, one)), Cell(group_text(pair.group)),
            Cell(people(pair.people), pair.people),
            Cell(near + _rate_text(one, pair.rate), pair.rate),
            Cell(group_text(one.reference)), Cell(people(pair.reference_people),
            pair.reference_people),
            Cell(near + _rate_text(one, pair.reference_rate), pair.reference_rate),
        )
        for one in rates.by_group
        for pair in one.groups
    ]  # fmt: skip
    numeric = ["People", "Rate", "People alike", "Their rate"]
    titles = ["What", "Group", "People", "Rate", "Compared with", "People alike", "Their rate"]
    return Table("by-group", "Among people alike, by group", columns_of(titles, numeric),
                 tuple(rows))  # fmt: skip


def rates_table(summary: AuditSummary, rates: RatesFound) -> Table:
    """Return R of all groups together, then by each sensitive feature."""
    together = " and ".join(shorten(visible(name)) for name in rates.groups)
    rows = [
        (
            Cell(together), Cell("–" if rates.value is None else decimal(rates.value), rates.value),
            Cell(bound(rates.lower_bound, DOWN), rates.lower_bound),
            Cell(level(1 - summary.alpha), 1 - summary.alpha),
            Cell("–" if rates.pvalue is None else pvalue_text(summary, rates.pvalue), rates.pvalue),
        ),
        *(
            (
                Cell(f"{shorten(visible(one.feature))}, others held fixed"),
                Cell(decimal(one.value), one.value), Cell(bound(one.lower_bound, DOWN),
                one.lower_bound), Cell(level(1 - one.level), 1 - one.level),
                Cell(pvalue(one.pvalue), one.pvalue),
            )
            for one in (rates.features if len(rates.groups) > 1 else ())
        ),
    ]  # fmt: skip
    numeric = ["Estimate", "Lower bound", "Confidence", "Permutation test"]
    return Table("rates", "R by sensitive feature", columns_of(["Groups", *numeric], numeric),
                 tuple(rows))  # fmt: skip


def _rates_contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    """Return what the template part ``rates.j2`` shows; nothing where there are no rates."""
    rates = summary.rates
    if rates is None:
        return {}
    together = "" if len(rates.groups) == 1 else "All bounds of the table hold together. "
    permuted = "The permutation test asks whether there is any difference at all."
    sentences = [rates_sentence(summary, rates), features_sentence(summary)]
    return {
        "by_group_meaning": BY_GROUP,
        "by_group": by_group_table(summary, rates),
        "meaning": MEANING,
        "sentences": " ".join(one for one in sentences if one),
        "rates": rates_table(summary, rates),
        "levels": DECLARED if rates.deterministic else f"{together}{permuted}",
        "not_said": NOT_SAID,
    }


RATES = Section("rates", "How people who are alike are treated", "rates.j2", _rates_contents)


NOT_SAID = (
    "R above 0 does not prove that a system uses a sensitive feature: a column that is not in the "
    "file and differs by group has the same effect. A bound of 0 does not prove that it uses none. "
    "Groups are compared only where people of several are alike. R has no upper bound, so nothing "
    "is certified."
)
DESCRIPTION = (
    "The statistic, its swaps and who they affect describe these people and are no evidence: what "
    "the file does not have, or noise alone, can do the same."
)


def rates_sentence(summary: AuditSummary, rates: RatesFound) -> str:
    """Return how people who are alike are treated by group."""
    return format_rate_sentence(
        " or ".join(shorten(visible(name)) for name in rates.groups),
        pvalue=None if rates.pvalue is None or rates.pvalue > summary.alpha
        else pvalue_text(summary, rates.pvalue),
        bound=bound(rates.lower_bound, DOWN) if rates.lower_bound > 0 else None,
        alpha=summary.alpha, whom=_whom(summary, rates), what=_mean(summary, rates),
    )  # fmt: skip


def at_level(summary: AuditSummary) -> str:
    """Return the level of a verdict, and the units that it is about where these are no rows."""
    of = "" if summary.units is None else f" for {summary.units.sampled}"
    return f"at level {level(summary.alpha)}{of}"


def rates_verdict(summary: AuditSummary, rates: RatesFound, title: str) -> str:
    """Return the verdict on R with the bound that it comes from."""
    if summary.delta is None:
        return (
            f"{title}: without a threshold δ there is nothing to test. With "
            f"{level(1 - summary.alpha)} confidence R is at least {bound(rates.lower_bound, DOWN)}."
        )
    at_least, threshold = distinct_decimals(rates.lower_bound, summary.delta, rounding=DOWN)
    at = at_level(summary)
    if summary.verdict == "rejected":
        lower_text = "" if rates.lower_bound == summary.delta else f"at least {at_least}, "
        tail = f"; {pvalue_text(summary, rates.pvalue_at_delta or 0.0)}"
        return (
            f"{title} {at}: with {level(1 - summary.alpha)} confidence R, how much "
            f"{_mean(summary, rates)} would rise if all were treated like "
            f"{_whom(summary, rates)} among people alike, is {lower_text}more than "
            f"δ = {threshold}{tail}."
        )
    return (
        f"{title} {at}: the lower bound of R, {at_least}, does not exceed δ = {threshold}. "
        "That R is small cannot be shown: from predictions alone nothing is certified."
    )


def rates_line(summary: AuditSummary, rates: RatesFound, title: str) -> str:
    """Return the verdict on R and its evidence, short enough for a line of a screen."""
    # without blanks, at which a line would be broken
    tested = "" if rates.pvalue_at_delta is None else pvalue(rates.pvalue_at_delta).replace(" ", "")
    lower = f"lower bound of R {bound(rates.lower_bound, DOWN)}"
    evidence = f", {tested}" if summary.verdict == "rejected" else ""
    return f"{title} {at_level(summary)}: δ = {summary.delta:g}, {lower}{evidence}."


def features_sentence(summary: AuditSummary) -> str | None:
    """Return what is said of each sensitive feature; None where there is one, or none is told."""
    rates = summary.rates
    if rates is None or len(rates.features) < 2:  # noqa: PLR2004
        return None

    def feature_text(one: str, lower: float, p: float, own: float) -> str:
        """Return what is said of one feature: a size, a difference, or none established."""
        by = f"By {shorten(visible(one))}, the others held fixed"
        if lower > 0:
            return f"{by}: at least {bound(lower, DOWN)}."
        if p <= own:
            return f"{by}: a difference, of a size that is not established ({pvalue(p)})."
        return f"{by}: no difference established."

    each = [
        feature_text(one.feature, one.lower_bound, one.pvalue, one.level) for one in rates.features
    ]
    return " ".join([*each, "All these bounds hold together."])


def rate_figures(summary: AuditSummary, rates: RatesFound) -> tuple[tuple[str, str], ...]:
    """Return R, its bound and the test that the verdict comes from, name by name."""
    tested = rates.pvalue_at_delta
    return (
        (f"R, lower bound, {level(1 - summary.alpha)}", bound(rates.lower_bound, DOWN)),
        *([] if rates.value is None else [("R, estimate", decimal(rates.value))]),
        ("Threshold δ", "none given" if summary.delta is None else decimal(summary.delta)),
        *([] if tested is None else [("Test of R ≤ δ", pvalue_text(summary, tested))]),
    )


def _whom(summary: AuditSummary, rates: RatesFound) -> str:
    """Return the group that everybody would be treated as."""
    if summary.provenance.loss != OUTCOME:
        return WORST
    decision = _unfavourable_text(summary, rates)
    if decision is None:
        return "the group with the largest mean prediction"
    return f"the group that gets {decision} most often"


def _mean(summary: AuditSummary, rates: RatesFound) -> str:
    """Return what rises then."""
    loss = summary.provenance.loss
    if loss == ZERO_ONE:
        return "the share of errors"
    if loss != OUTCOME:
        return f"the mean {loss_name(loss)} loss"
    decision = _unfavourable_text(summary, rates)
    return "the mean prediction" if decision is None else f"the share of people who get {decision}"
