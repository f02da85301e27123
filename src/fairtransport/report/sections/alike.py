"""Rates among similar people as lines of a first screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.explain.alike import DECISION, ERROR, OTHER_DECISION, PREDICTION
from fairtransport.report.text import (
    AMBIGUOUS,
    about,
    is_telling,
    loss_name,
    people,
    percent,
    shorten,
    value_text,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.documents.audit import (
        AuditSummary,
        GroupBesideReference,
        Profile,
        RatesAmongAlike,
        RatesFound,
    )

MAX_LINE_GROUPS = 3
"""Further groups of a feature in the line below its first comparison."""
MAX_LINE_COLUMNS, MAX_NAMED_COLUMNS = 4, 8
"""Columns that people are compared at equal values of: named in a line that says more, and once."""


def select_tables(rates: RatesFound) -> list[RatesAmongAlike]:
    """Return the tables of a first screen: by measure, the largest difference first.

    The bound is about the last measure, and about combinations of the features. Their table is
    included if a difference is established and no single feature differs as much. It comes first in
    its measure if the bound exceeds all those differences, which then do not show the finding.
    """
    alone = [one for one in rates.by_group if len(one.features) == 1]
    measures = list(dict.fromkeys(map(measure_key, alone)))
    tables = sorted(alone, key=lambda one: (measures.index(measure_key(one)), -_gap(one)))
    together = rates.by_group[-1] if rates.by_group else None
    if together is None or len(together.features) == 1 or rates.lower_bound <= 0:
        return tables
    gaps = [_gap(one) for one in tables if measure_key(one) == measure_key(together)]
    largest = max(gaps, default=0.0)
    if _gap(together) > largest:
        place = len(tables) - len(gaps) if rates.lower_bound > largest else len(tables)
        tables.insert(place, together)
    return tables


def measure_key(table: RatesAmongAlike) -> tuple[str, str]:
    """Return the key of a table's measure."""
    return table.measure, value_text(table.decision)


def _gap(table: RatesAmongAlike) -> float:
    """Return the difference of the first comparison."""
    return abs(table.groups[0].difference)


def group_lines(summary: AuditSummary, table: RatesAmongAlike) -> list[str]:
    """Return the first comparison of a feature, and a line with some of its other groups."""
    first, *others = table.groups
    lines = [
        f"{measure_title(summary, table)}, among people {equal_text(table.alike)}: "
        f"{_pair_text(summary, table, first)} people compared)."
        if table.alike
        else f"{measure_title(summary, table)}: {_pair_text(summary, table, first)} people)."
    ]
    if others:
        texts = [_other_text(summary, table, one) for one in others[:MAX_LINE_GROUPS]]
        if len(others) > MAX_LINE_GROUPS:
            more = len(others) - MAX_LINE_GROUPS
            texts.append(f"and {more} more group{'s' if more > 1 else ''}")
        reference = _level_text(table.reference)
        beside = f", each beside {reference} with equal values" if table.alike else ""
        lines.append(f"Other groups{beside}: {'; '.join(texts)}.")
    return lines


def _other_text(summary: AuditSummary, table: RatesAmongAlike, one: GroupBesideReference) -> str:
    """Return a further group with its rate, and that of the reference among similar people."""
    near = about(summary)
    text = f"{_level_text(one.group)} {near}{rate_text(table, one.rate)}"
    if not table.alike:  # the reference's rate is that of the first comparison
        return f"{text} ({near}{people(one.people)})"
    beside = f"{near}{rate_text(table, one.reference_rate)}"
    both = f"{near}{people(one.people)} and {near}{people(one.reference_people)}"
    return f"{text} beside {beside} ({both})"


def _pair_text(summary: AuditSummary, table: RatesAmongAlike, one: GroupBesideReference) -> str:
    """Return two groups with their rates, the higher first, and how many people they are."""
    sides = [(one.group, one.rate, one.people),
             (table.reference, one.reference_rate, one.reference_people)]  # fmt: skip
    if one.difference < 0:
        sides.reverse()
    near = about(summary)
    rates = ", ".join(
        f"{_level_text(group)} {near}{rate_text(table, rate)}" for group, rate, _ in sides
    )
    return f"{rates} ({near}{people(sides[0][2])} and {near}{people(sides[1][2])}"


def rate_text(table: RatesAmongAlike, rate: float) -> str:
    """Return a rate as a percentage, a mean in the prediction's unit."""
    if table.measure in {DECISION, OTHER_DECISION, ERROR}:
        return percent(rate, 1)
    return f"{rate:.4g}"


def _level_text(group: Profile) -> str:
    """Return a group in the file's own words; with the column if a level is ambiguous."""
    texts = []
    for name, value in group.items():
        text = shorten(value_text(value))
        texts.append(text if is_telling(value) else f"{shorten(visible(name))} = {text}")
    return " and ".join(texts)


def measure_title(summary: AuditSummary, table: RatesAmongAlike) -> str:
    """Return the measure as the beginning of a line."""
    if table.measure == ERROR:
        return "Errors"
    if table.measure in {DECISION, OTHER_DECISION}:
        text = decision_text(table)
        text = f"not {text}" if table.measure == OTHER_DECISION else text
        return text[:1].upper() + text[1:] if isinstance(table.decision, str) else text
    if table.measure == PREDICTION:
        return f"Mean {shorten(visible(table.column))}"
    return f"Mean {loss_name(summary.provenance.loss)} loss"


def decision_text(table: RatesAmongAlike) -> str:
    """Return a decision in the file's own words; a number or a "yes" with its column."""
    text = shorten(value_text(table.decision))
    if isinstance(table.decision, str) and text.lower() not in AMBIGUOUS:
        return text
    return f"{shorten(visible(table.column))} = {text}"


def equal_text(names: Sequence[str]) -> str:
    """Return in which columns people are equal, as in "with equal age and income"."""
    if len(names) > MAX_LINE_COLUMNS:
        return f"equal in all {len(names)} other columns"
    return f"with equal {columns_text(names)}"


def columns_text(names: Sequence[str]) -> str:
    """Return the columns that people are compared at equal values of."""
    texts = [shorten(visible(name), 40) for name in names]
    if len(texts) > MAX_NAMED_COLUMNS:
        texts[MAX_NAMED_COLUMNS - 1 :] = [f"{len(texts) - MAX_NAMED_COLUMNS + 1} more columns"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
