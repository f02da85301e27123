"""Telling: which columns tell the sensitive features, and what of the swaps goes through each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.cells import Cell, Table, columns_of
from fairtransport.report.numbers import DOWN, UP, bound, decimal, level
from fairtransport.report.sections import Section
from fairtransport.report.strings import visible

if TYPE_CHECKING:
    from fairtransport.localise.telling import Proxies
    from fairtransport.report.sections import Output
    from fairtransport.summary import AuditSummary

NAME, ALONE, WITHOUT = "Column", "Told by it alone", "Told without it"
THROUGH, REST = "Added if it alone changes", "Added if it alone stays"
HOW = (
    "A predictor (a random forest) was fitted on half of the people and tried on the others. Its "
    "balanced accuracy is the mean share of each level that it tells rightly; another predictor "
    "may tell more. Where two columns tell the same, each has a high accuracy alone, and leaving "
    "one of them out costs little."
)
SWAPS = (
    "The model was asked about everybody in these swaps with one column changed alone, and with "
    "all but that one. Where the figures do not add up, columns act together; somebody with one "
    "column put back need not be anybody who could be."
)


def told_sentence(summary: AuditSummary, one: Proxies) -> str:
    """Return how well a sensitive feature is told by what the model receives."""
    ends = f"{bound(one.lower, DOWN, 2)} to {bound(one.upper, UP, 2)}"
    feature, first = visible(one.feature), visible(one.columns[0].name)
    sees = f" The model receives {feature} itself." if _is_seen(summary, one) else ""
    return (
        f"{feature} is told by the other columns that the model receives with a balanced accuracy "
        f"of {decimal(one.accuracy, 2)} ({ends} at level {level(1 - one.alpha)}; guessing: "
        f"{decimal(one.guessing, 2)}), of single columns best by {first}.{sees}"
    )


def through_sentence(summary: AuditSummary) -> str | None:
    """Return what the swaps add that need sensitive features to change; None if not asked."""
    one = next(iter(summary.proxies), None)
    if one is None or one.statistic is None or one.needing is None:
        return None
    tell = "" if summary.made_twins is None else ", or what tells them,"
    return (
        f"Swaps add {decimal(one.statistic)} to the mean loss; those that need sensitive features"
        f"{tell} to change add {decimal(one.needing)} of it. The attributable part, less what "
        f"other swaps would add in their place, is {decimal(summary.attributable.value)}."
    )


def proxies_sentences(summary: AuditSummary) -> tuple[str, ...]:
    """Return what a screen says of it: how well each feature is told, and what goes through."""
    said = [told_sentence(summary, one) for one in summary.proxies]
    through = through_sentence(summary)
    if through is None:
        return tuple(said)
    most = max(summary.proxies[0].columns, key=lambda one: one.moved_alone or 0.0)
    if most.moved_alone is None or most.moved_alone <= 0:
        return (*said, through)
    name = visible(most.name)
    return (*said, through, f"{decimal(most.moved_alone)} is added if {name} alone changes.")


def columns_table(one: Proxies) -> Table:
    """Return the columns, those that tell most first."""
    titles = [NAME, ALONE, WITHOUT] + ([] if one.statistic is None else [THROUGH, REST])
    rows = []
    for column in one.columns:
        figures = [decimal(column.alone, 2), decimal(column.without, 2)]
        if one.statistic is not None:
            figures += [decimal(column.moved_alone), decimal(column.moved_without)]
        rows.append(tuple(map(Cell, (visible(column.name), *figures))))
    more = f" ({one.left_out} further columns not looked at)" if one.left_out else ""
    caption = f"What tells {visible(one.feature)}{more}"
    return Table("telling", caption, columns_of(titles, titles[1:]), tuple(rows))


def _is_seen(summary: AuditSummary, one: Proxies) -> bool:
    return one.feature in summary.provenance.features


def _contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    if not summary.proxies:
        return {}
    through = through_sentence(summary)
    return {
        "told": [told_sentence(summary, one) for one in summary.proxies],
        "tables": [columns_table(one) for one in summary.proxies],
        "through": through,
        "how_told": HOW,
        "how_asked": None if through is None else SWAPS,
    }


SECTION = Section("proxies", "What tells the sensitive features", 47, _contents)
