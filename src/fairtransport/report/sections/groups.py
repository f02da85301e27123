"""Rates by group: decisions and errors, compared with a reference group."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairtransport.explain.groups import ERROR_OF_LABEL, SELECTION
from fairtransport.report.sections.section import Section
from fairtransport.report.tables import Cell, Table, columns_of, people_cell
from fairtransport.report.text import (
    DOWN,
    UP,
    bound,
    decimal,
    for_units,
    level,
    percent,
    shorten,
    value_text,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairtransport.documents.audit import AuditSummary, GroupComparison, GroupRate, RateTable
    from fairtransport.explain.moves import Value
    from fairtransport.report.sections.section import Output

MAX_OPEN_ROWS = 12
"""Maximum number of groups in an unfolded table."""
UNDEFINED = "–"
METRICS = {
    "statistical_parity_difference": "Statistical parity difference (AIF360)",
    "equal_opportunity_difference": "Equal opportunity difference (AIF360)",
    "average_odds_difference": "Average odds difference (AIF360)",
    "demographic_parity_difference": "Demographic parity difference (Fairlearn)",
    "equalized_odds_difference": "Equalized odds difference (Fairlearn)",
}
"""Metrics by whose definitions they follow."""
NOT_SAID = (
    "Groups can differ in other columns that the decision is based on. So different rates do not "
    "prove that similar people get different decisions, and equal rates do not prove that they get "
    "the same."
)
METRICS_MEANING = (
    "These numbers are for comparison with other tools, and are not needed to read this report. "
    "They follow the definitions of AIF360{positive} and Fairlearn, and have no intervals."
)


class FeatureTables(NamedTuple):
    """Tables by some features: the rates of decisions, and those of errors."""

    title: str
    decisions: list[Table]
    errors: list[Table]


def group_label(group: Mapping[str, Value]) -> str:
    """Return the levels of a group, without the names of their features."""
    return ", ".join(value_text(value) for value in group.values())


def rate_table(table: RateTable, key: str, by: str) -> Table:
    """Return one rate in each group, with its difference and ratio to the reference group."""
    heading = _heading(table)
    has_ends = table.confidence is not None
    interval = f"{level(table.confidence)} interval" if table.confidence is not None else ""
    reference = "reference" if table.reference is None else group_label(table.reference)
    difference = f"Difference from {shorten(reference, 40)}, percentage points"
    ratio = "Ratio"

    def row(one: GroupRate) -> tuple[Cell, ...]:
        """Return one group's cells."""
        is_reference = one.group == table.reference
        rate = UNDEFINED if one.rate is None else percent(one.rate)
        return (
            Cell(group_label(one.group)),
            *([people_cell(one.people)] if has_ends else []),
            Cell(rate, one.rate),
            *([Cell(_ends(one.lower, one.upper, 100, 1, " %"), one.lower)] if has_ends else []),
            Cell("reference" if is_reference else _compared(
                one.difference, one.difference_lower, one.difference_upper, 100, 1
            ), one.difference),
            Cell("1" if is_reference else _compared(
                one.ratio, one.ratio_lower, one.ratio_upper, 1, 2
            ), one.ratio),
        )  # fmt: skip

    numeric = [*(["People"] if has_ends else []), heading,
               *([interval] if has_ends else []), difference, ratio]  # fmt: skip
    columns = columns_of(["Group", *numeric], numeric)
    return Table(key, f"{_caption(table)}, by {by}", columns, tuple(map(row, table.groups)))


def _heading(table: RateTable) -> str:
    """Return what a rate is the share of, as the heading of its column."""
    if table.kind == SELECTION:
        return f"Decision: {shorten(value_text(table.label), 40)}"
    return "Wrong decisions"


def _caption(table: RateTable) -> str:
    """Return what a rate is the share of, and among whom."""
    if table.kind != ERROR_OF_LABEL:
        return _heading(table)
    label = shorten(value_text(table.label), 40)
    return f"Wrong decisions among people with true label “{label}”"


def _ends(
    lower: float | None, upper: float | None, scale: int, digits: int, unit: str = ""
) -> str:  # fmt: skip
    """Return an interval, rounded outwards."""
    if lower is None:
        return UNDEFINED
    low = bound(scale * lower, DOWN, digits)
    if upper is None:
        return f"{low} or more"
    return f"{low} to {bound(scale * upper, UP, digits)}{unit}"


def _compared(
    value: float | None, lower: float | None, upper: float | None, scale: int, digits: int
) -> str:  # fmt: skip
    """Return a difference or a ratio with its interval."""
    if value is None and lower is None:
        return UNDEFINED
    text = UNDEFINED if value is None else decimal(scale * value, digits)
    return text if lower is None else f"{text} ({_ends(lower, upper, scale, digits)})"


def metrics_table(summary: AuditSummary) -> Table:
    """Return the group metrics, one per row."""

    def rows(one: GroupComparison) -> Iterable[tuple[Cell, ...]]:
        """Yield the metrics by some sensitive features."""
        features = Cell(_join(one.features))
        for name, title in METRICS.items():
            value = getattr(one, name)
            if value is not None:
                yield features, Cell(title + _versus(one, name)), Cell(decimal(value, 3), value)

    return Table(
        "metrics",
        "Group metrics",
        columns_of(["Sensitive feature", "Metric", "Value"], ["Value"]),
        tuple(row for one in summary.group_metrics for row in rows(one)),
    )


def _versus(one: GroupComparison, name: str) -> str:
    """Return the groups of a signed difference."""
    if name.startswith(("demographic", "equalized")) or one.reference is None:
        return ""
    return f", others minus {group_label(one.reference)}"


def _join(features: Iterable[str]) -> str:
    """Return the names of features in words."""
    return " and ".join(shorten(visible(name)) for name in features)


def metrics_meaning(summary: AuditSummary) -> str:
    """Return what the group metrics are for, and whose they are."""
    label = next((one.favourable for one in summary.group_metrics), None)
    positive = "" if label is None else f" (positive label: “{shorten(value_text(label), 40)}”)"
    return METRICS_MEANING.format(positive=positive)


def levels_sentence(summary: AuditSummary) -> str:
    """Return the guarantee of the intervals, and what a rate does not show."""
    levels = {table.confidence for one in summary.group_metrics for table in one.rates} - {None}
    if not levels:
        return f"This report is made to be shared: rates are rounded, without intervals. {NOT_SAID}"
    confidence = level(next(one for one in levels if one is not None))
    return (
        f"{_reference_note(summary)}Intervals are simultaneous: with {confidence} confidence all "
        f"intervals of a table contain the true values{for_units(summary.units)}, however few "
        f"people there are. {NOT_SAID}"
    )


def _reference_note(summary: AuditSummary) -> str:
    """Return with which groups the others are compared; "" where there is none."""
    tables = [
        (metrics, table)
        for metrics in summary.group_metrics
        for table in metrics.rates
        if table.kind == SELECTION and table.reference is not None  # others are of some people only
    ]
    if not tables:
        return ""
    chosen = {}
    for metrics, table in tables:
        largest = max((one.people or 0.0 for one in table.groups), default=0.0)
        for one in table.groups:
            if one.group == table.reference and (one.people or 0.0) < largest:
                chosen[f"{group_label(one.group)} for {_join(metrics.features)}"] = metrics.features
    compared = "Each table compares the groups with a reference group: "
    if not chosen:
        return f"{compared}the largest one. "
    others = {metrics.features for metrics, _ in tables} - set(chosen.values())
    rest = "; the largest group in the other tables" if others else ""
    return f"{compared}{', '.join(chosen)} (as set for this report){rest}. "


def _groups_contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    """Return the contents of the template part ``groups.j2``; empty without decisions."""
    parts = []
    for at, one in enumerate(summary.group_metrics, 1):
        if not one.rates:
            continue
        by = _join(one.features)
        tables = [
            (table.kind == SELECTION, rate_table(table, f"rates-{at}-{place}", by))
            for place, table in enumerate(one.rates, 1)
        ]
        parts.append(
            FeatureTables(
                f"By {by}",
                [table for is_decision, table in tables if is_decision],
                [table for is_decision, table in tables if not is_decision],
            )
        )
    return {
        "parts": parts,
        "most": MAX_OPEN_ROWS,
        "metrics": metrics_table(summary),
        "metrics_meaning": metrics_meaning(summary),
        "has_two_labels": any(
            sum(table.kind == ERROR_OF_LABEL for table in one.rates) == 2  # noqa: PLR2004
            for one in summary.group_metrics
        ),
        "levels": levels_sentence(summary),
    }


GROUP_RATES = Section("group-rates", "Rates by group", "groups.j2", _groups_contents)
