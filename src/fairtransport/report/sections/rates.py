"""Rates: how similar people are treated by group, for given predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from fairtransport.explain.alike import DECISION, OTHER_DECISION
from fairtransport.inference.rates.law import WORST, format_rate_sentence
from fairtransport.report.sections import alike
from fairtransport.report.sections.section import Section
from fairtransport.report.tables import Cell, Table, columns_of
from fairtransport.report.text import (
    DOWN,
    OUTCOME,
    about,
    bound,
    decimal,
    distinct_decimals,
    for_units,
    group_text,
    is_shared,
    level,
    loss_name,
    people,
    pvalue,
    pvalue_text,
    shorten,
    visible,
)
from fairtransport.report.text import ERROR as ZERO_ONE

if TYPE_CHECKING:
    from fairtransport.documents.audit import AuditSummary, RatesFound
    from fairtransport.report.sections.section import Output


MEANING = (
    "People with equal values in all columns but the sensitive ones (and with the same true label, "
    "if the loss uses it) are compared, group by group. R is how much the mean loss would rise if "
    "everybody were treated like the worst-treated group among them."
)
BY_GROUP = (
    "Each group is compared with the largest group, the reference. Only people who have somebody "
    "with equal values in the other group are counted. The rate of the reference is weighted to "
    "the same mix of people. The rates are those of this file, and have no interval."
)
DECLARED = (
    "The decisions were declared to depend on the audited columns only. R is then the FaiTH "
    "statistic, and so is its bound."
)
NOTHING_SHOWN = "We could not show a difference"
NO_SIZE = "There is a difference, but we could not show how large it is"
NO_ACQUITTAL = "This does not mean there is none."
NO_REASON = "This does not say why: something that was not compared may explain it."
OF_THIS_FILE = (
    "The {rates} by group are those of this file; how far they hold for other people is not known."
)
SPREAD = (
    "This is less than the {gap} between the groups above: it is averaged over everybody, and "
    "nothing changes for the group with the highest {rate}."
)
CANCELS = (
    "This is more than the {gap} between the groups above: the group with the highest {rate} may "
    "depend on {columns}, and differences then cancel in the {rates} by group."
)


def decision_lines(summary: AuditSummary) -> list[str]:
    """Return the lines of the first screen on given predictions.

    A limit that nothing could exceed comes first. Rates by group among similar people follow, which
    describe these people; then the limit, and what is established: only R's lower bound, if it is
    above 0. Empty without given predictions, or if nothing can be said.
    """
    rates = summary.rates
    if rates is None or summary.applicability is not None:
        return []
    lines = [
        line for table in alike.select_tables(rates) for line in alike.group_lines(summary, table)
    ]
    return [*_beyond_lines(summary, rates), *lines, *_established_lines(summary, rates)]


def _beyond_lines(summary: AuditSummary, rates: RatesFound) -> list[str]:
    """Return that nothing could exceed the limit, if so."""
    if rates.largest_possible is None:
        return []
    unit, near = _unit(summary, rates), about(summary)
    scale, digits = _scale(unit)
    limit, most = (
        _trim(decimal(scale * number, digits))
        for number in (summary.delta or 0.0, rates.largest_possible)
    )
    beyond = f"A limit of {limit} tests nothing here"
    return [f"{beyond}: {unit.possible.of(f'at most {near}{most}')}."]


@dataclass(frozen=True)
class RateFigures:
    """R, its bound and the limit in the unit of a first screen, as text."""

    least: str
    limit: str
    scale: float
    digits: int

    def text(self, number: float) -> str:
        """Return an estimate in the unit."""
        return _trim(decimal(self.scale * number, self.digits))


def _rate_figures(summary: AuditSummary, rates: RatesFound) -> RateFigures:
    """Return the figures; the bound has enough digits to differ from the limit."""
    scale, digits = _scale(_unit(summary, rates))
    limit = 0.0 if summary.delta is None else scale * summary.delta
    least, threshold = distinct_decimals(scale * rates.lower_bound, limit, digits, DOWN)
    if rates.lower_bound > 0 and not float(least):  # no bound above 0 is shown as 0
        least, _ = distinct_decimals(scale * rates.lower_bound, 0.0, digits, DOWN)
    return RateFigures(_trim(least), _trim(threshold), scale, digits)


def _scale(unit: RateUnit) -> tuple[float, int]:
    """Return the factor of numbers, and their decimals."""
    return (1.0, 4) if unit.is_mean else (100.0, 1)


def rates_finding(summary: AuditSummary, rates: RatesFound) -> str:
    """Return the text beside the limit, for the line of the verdict."""
    unit, figures = _unit(summary, rates), _rate_figures(summary, rates)
    finding = "no difference shown"
    if rates.lower_bound > 0:
        worst = "the group with the largest" if unit.is_mean else "the worst-treated group"
        found = unit.more.of(_least_text(summary, figures, unit))
        finding = f"{found} if all were treated like {worst}"
    elif _is_shown(summary, rates):
        finding = "a difference, but its size is not known"
    return f"{finding}; limit {figures.limit}"


def _least_text(summary: AuditSummary, figures: RateFigures, unit: RateUnit) -> str:
    """Return the bound; one that was rounded to the limit is more than that."""
    if figures.least == figures.limit and summary.verdict == "rejected":
        return f"{'more than' if unit.is_mean else 'over'} {figures.least}"
    return f"at least {figures.least}"


def _is_shown(summary: AuditSummary, rates: RatesFound) -> bool:
    """Return whether there is a difference, of any size."""
    return rates.pvalue is not None and rates.pvalue <= summary.alpha


def _established_lines(summary: AuditSummary, rates: RatesFound) -> list[str]:
    """Return the limit, the estimate of R and its lower bound; or that nothing is shown."""
    unit, figures = _unit(summary, rates), _rate_figures(summary, rates)
    sure = f"with {level(1 - summary.alpha)} confidence{for_units(summary.units)}"
    condition = f"if everyone were treated like {unit.worst}{_among(rates)}"
    lines = []
    if summary.delta is not None:
        lines.append(f"Your limit: {condition}, {unit.allowed.of(f'at most {figures.limit}')}.")
    if rates.lower_bound <= 0:
        if _is_shown(summary, rates):
            return [*lines, f"{NO_SIZE} ({sure})."]
        return [*lines, f"{NOTHING_SHOWN} ({sure}). {NO_ACQUITTAL}"]
    more, supposed = (unit.found, "") if lines else (unit.more, f"{condition}, ")
    least = _least_text(summary, figures, unit)
    number = more.of(least)
    if rates.value is not None:
        number = f"{more.of(f'an estimated {figures.text(rates.value)}')}; {least}"
    promise = "The decisions were declared to depend on these columns only." * rates.deterministic
    found = f"Found: {supposed}{number}, {sure}."
    return [
        *lines,
        " ".join(filter(None, [found, _which_group(summary, rates), promise])),
        *_feature_lines(rates, figures.scale, figures.digits),
        NO_REASON,
    ]


def _among(rates: RatesFound) -> str:
    """Return among whom people are compared, as in " among people with equal income"."""
    columns = _equal_columns(rates)
    return f" among people {alike.equal_text(columns)}" if columns else ""


def _equal_columns(rates: RatesFound) -> list[str]:
    """Return the columns that people compared by all sensitive features together agree in."""
    columns = rates.by_group[-1].alike if rates.by_group else ()  # if shared, by one of them
    return [name for name in columns if name not in rates.groups]


def _which_group(summary: AuditSummary, rates: RatesFound) -> str:
    """Return how R goes together with the rates by group of the first screen."""
    rate = "mean" if _unit(summary, rates).is_mean else "rate"
    words, tables = {"rate": rate, "rates": f"{rate}s"}, alike.select_tables(rates)
    same = [one for one in tables if alike.measure_key(one) == alike.measure_key(tables[-1])]
    gaps = [
        abs(one.difference) for table in same for one in table.groups[: alike.MAX_LINE_GROUPS + 1]
    ]
    of_this_file = OF_THIS_FILE.format(**words)
    if not gaps:
        return ""
    gap = "difference" if len(gaps) == 1 else "largest difference"
    if len(same) < len(tables):
        title = alike.measure_title(summary, same[0])
        gap += f" in {title[:1].lower()}{title[1:]}"
    equal = _equal_columns(rates)
    is_long = len(equal) > alike.MAX_LINE_COLUMNS
    columns = "the other columns" if is_long else " or ".join(shorten(visible(x)) for x in equal)
    if columns and rates.lower_bound > max(gaps):
        return f"{CANCELS.format(gap=gap, columns=columns, **words)} {of_this_file}"
    if rates.value is None or rates.value >= max(gaps):
        return of_this_file
    may_depend = [f"Another group may have it at other values of {columns}."] if columns else []
    return " ".join([SPREAD.format(gap=gap, **words), *may_depend, of_this_file])


def _feature_lines(rates: RatesFound, scale: float, digits: int) -> list[str]:
    """Return which sensitive features have an established difference, if there are several."""
    if len(rates.features) < 2:  # noqa: PLR2004
        return []
    texts = [
        f"{shorten(visible(one.feature))} at least "
        f"{_trim(bound(scale * one.lower_bound, DOWN, digits))}"
        if one.lower_bound > 0
        else f"{shorten(visible(one.feature))} not shown"
        for one in rates.features
    ]
    return [f"By one feature, among people equal in the others too: {'; '.join(texts)}."]


def _trim(number: str) -> str:
    """Return a decimal without zeros at its end."""
    return number.rstrip("0").rstrip(".") if "." in number else number


class Phrase(NamedTuple):
    """What is said of a number, before it and after it."""

    before: str
    after: str

    def of(self, number: str) -> str:
        """Return the phrase with its number."""
        return f"{self.before}{number}{self.after}"


class RateUnit(NamedTuple):
    """What R counts, in the words of a first screen."""

    found: Phrase
    more: Phrase
    allowed: Phrase
    possible: Phrase
    worst: str
    is_mean: bool = False


def _unit(summary: AuditSummary, rates: RatesFound) -> RateUnit:
    """Return what R counts, and which group everybody would be treated like."""
    loss = summary.provenance.loss
    decision = _unfavourable_text(summary, rates)
    if loss != ZERO_ONE and decision is None:
        mean = "mean prediction" if loss == OUTCOME else f"mean {loss_name(loss)} loss"
        return RateUnit(
            Phrase("a rise of ", ""), Phrase(f"the {mean} would rise by ", ""),
            Phrase(f"the {mean} may rise by ", ""), Phrase(f"the {mean} can rise by ", ""),
            f"the group with the largest {mean}", is_mean=True,
        )  # fmt: skip
    more, happen, worst = "more errors in 100 people", "occur", "the group with the most errors"
    if loss != ZERO_ONE:
        more, happen = "more people in 100", f"get {decision}"
        worst = f"the group that gets {decision} most often"
    return RateUnit(
        Phrase("", f" {more}"), Phrase("", f" {more} would {happen} than now"),
        Phrase("", f" {more} may {happen} than now"), Phrase("", f" {more} can {happen}"), worst,
    )  # fmt: skip


def _unfavourable_text(summary: AuditSummary, rates: RatesFound) -> str | None:
    """Return the decision that R is about, in quotes; None if it is about none."""
    tables = [one for one in rates.by_group if one.measure in {DECISION, OTHER_DECISION}]
    if not tables or summary.favourable is None or summary.provenance.loss != OUTCOME:
        return None
    text = f"“{alike.decision_text(tables[0])}”"
    return f"another decision than {text}" if tables[0].measure == OTHER_DECISION else text


def by_group_table(summary: AuditSummary, rates: RatesFound) -> Table:
    """Return each group compared with the largest one, among similar people."""
    near = "about " if is_shared(summary) else ""
    rows = [
        (
            Cell(alike.measure_title(summary, one)), Cell(group_text(pair.group)),
            Cell(people(pair.people), pair.people),
            Cell(near + alike.rate_text(one, pair.rate), pair.rate),
            Cell(group_text(one.reference)), Cell(people(pair.reference_people),
            pair.reference_people),
            Cell(near + alike.rate_text(one, pair.reference_rate), pair.reference_rate),
        )
        for one in rates.by_group
        for pair in one.groups
    ]  # fmt: skip
    numeric = ["People", "Rate", "Compared people", "Their rate"]
    titles = ["What", "Group", "People", "Rate", "Reference", "Compared people", "Their rate"]
    return Table("by-group", "Groups, among people with equal values", columns_of(titles, numeric),
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
                Cell(f"{shorten(visible(one.feature))}, the others equal"),
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
    """Return the contents of the template part ``rates.j2``; empty without rates."""
    rates = summary.rates
    if rates is None:
        return {}
    together = "" if len(rates.groups) == 1 else f"{TOGETHER} "
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


RATES = Section("rates", "How people with equal values are treated", "rates.j2", _rates_contents)
TOGETHER = "The bounds are simultaneous: their confidence is for all of them together."


NOT_SAID = (
    "R above 0 does not prove that a sensitive feature was used: a column that was not compared "
    "and differs by group has the same effect. A bound of 0 does not prove that none was used. R "
    "has no upper bound, so this audit can never find “within the limit”."
)


def rates_sentence(summary: AuditSummary, rates: RatesFound) -> str:
    """Return how similar people are treated by group."""
    return format_rate_sentence(
        " or ".join(shorten(visible(name)) for name in rates.groups),
        pvalue=None if rates.pvalue is None or rates.pvalue > summary.alpha
        else pvalue_text(summary, rates.pvalue),
        bound=bound(rates.lower_bound, DOWN) if rates.lower_bound > 0 else None,
        alpha=summary.alpha, whom=_whom(summary, rates), what=_mean(summary, rates),
    )  # fmt: skip


def at_level(summary: AuditSummary) -> str:
    """Return the level of a verdict, and its units if these are not rows."""
    return f"at level {level(summary.alpha)}{for_units(summary.units)}"


def rates_verdict(summary: AuditSummary, rates: RatesFound, title: str) -> str:
    """Return the verdict on R with its bound."""
    if summary.delta is None:
        return (
            f"{title}: without a limit δ there is nothing to test. With "
            f"{level(1 - summary.alpha)} confidence R is at least {bound(rates.lower_bound, DOWN)}"
            f"{for_units(summary.units)}."
        )
    at_least, threshold = distinct_decimals(rates.lower_bound, summary.delta, rounding=DOWN)
    at = at_level(summary)
    if summary.verdict == "rejected":
        lower_text = "" if rates.lower_bound == summary.delta else f"at least {at_least}, "
        tail = f"; {pvalue_text(summary, rates.pvalue_at_delta or 0.0)}"
        return (
            f"{title} {at}: with {level(1 - summary.alpha)} confidence R, how much "
            f"{_mean(summary, rates)} would rise if all were treated like "
            f"{_whom(summary, rates)} among people with equal values, is {lower_text}more than "
            f"δ = {threshold}{tail}."
        )
    return (
        f"{title} {at}: the lower bound of R, {at_least}, does not exceed δ = {threshold}. "
        "No audit of decisions alone can show that R is small."
    )


def rates_line(summary: AuditSummary, rates: RatesFound, title: str) -> str:
    """Return the verdict on R and its evidence, short enough for a line of a screen."""
    # without spaces, at which lines break
    tested = "" if rates.pvalue_at_delta is None else pvalue(rates.pvalue_at_delta).replace(" ", "")
    lower = f"lower bound of R {bound(rates.lower_bound, DOWN)}"
    evidence = f", {tested}" if summary.verdict == "rejected" else ""
    return f"{title} {at_level(summary)}: δ = {summary.delta:g}, {lower}{evidence}."


def features_sentence(summary: AuditSummary) -> str | None:
    """Return the sentence on each sensitive feature; None for a single one, or if none is shown."""
    rates = summary.rates
    if rates is None or len(rates.features) < 2:  # noqa: PLR2004
        return None

    def feature_text(one: str, lower: float, p: float, own: float) -> str:
        """Return what is said of one feature: a size, a difference, or none established."""
        by = f"By {shorten(visible(one))}, among people equal in the others"
        if lower > 0:
            return f"{by}: at least {bound(lower, DOWN)}."
        if p <= own:
            return f"{by}: a difference, but its size is not known ({pvalue(p)})."
        return f"{by}: no difference shown."

    each = [
        feature_text(one.feature, one.lower_bound, one.pvalue, one.level) for one in rates.features
    ]
    return " ".join([*each, TOGETHER])


def rate_figures(summary: AuditSummary, rates: RatesFound) -> tuple[tuple[str, str], ...]:
    """Return R, its bound and the test of the verdict, by name."""
    tested = rates.pvalue_at_delta
    return (
        (f"R, lower bound, {level(1 - summary.alpha)}", bound(rates.lower_bound, DOWN)),
        *([] if rates.value is None else [("R, estimate", decimal(rates.value))]),
        ("Limit δ", "none given" if summary.delta is None else decimal(summary.delta)),
        *([] if tested is None else [("Test of R ≤ δ", pvalue_text(summary, tested))]),
    )


def _whom(summary: AuditSummary, rates: RatesFound) -> str:
    """Return the group that everybody would be treated like."""
    if summary.provenance.loss != OUTCOME:
        return WORST
    decision = _unfavourable_text(summary, rates)
    if decision is None:
        return "the group with the largest mean prediction"
    return f"the group that gets {decision} most often"


def _mean(summary: AuditSummary, rates: RatesFound) -> str:
    """Return the quantity that then rises."""
    loss = summary.provenance.loss
    if loss == ZERO_ONE:
        return "the share of errors"
    if loss != OUTCOME:
        return f"the mean {loss_name(loss)} loss"
    decision = _unfavourable_text(summary, rates)
    return "the mean prediction" if decision is None else f"the share of people who get {decision}"
