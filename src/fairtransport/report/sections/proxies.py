"""Proxies: columns that predict the sensitive features, and the swaps through each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.sections.section import Section
from fairtransport.report.tables import Cell, Table, columns_of
from fairtransport.report.text import DOWN, UP, bound, decimal, level, pvalue, visible

if TYPE_CHECKING:
    from fairtransport.documents.audit import AuditSummary
    from fairtransport.explain.proxies import Column, Proxies
    from fairtransport.report.sections.section import Output


NAME, ALONE, WITHOUT = "Column", "Accuracy with it alone", "Accuracy without it"
DEPENDS = "Shown to depend"
THROUGH, REST = "Loss added if only it changes", "Loss added if only it stays"
HOW = (
    "How it was done: a random forest was fitted on half of the people and tested on the others. "
    "Balanced accuracy is the share of each group that is predicted correctly, averaged over the "
    "groups. Another predictor may do better. If two columns hold the same information, each has "
    "a high accuracy alone, and leaving one of them out changes little. “Shown to depend” is an "
    "exact permutation test, adjusted for all columns together."
)
SWAPS = (
    "For the last two columns the model was queried again for the people in swaps: with only one "
    "column changed, and with all but that one changed. Where the numbers do not add up, columns "
    "act together. Some of these combinations of values may not exist."
)


def proxy_sentence(summary: AuditSummary, one: Proxies) -> str:
    """Return how well the columns that the model receives predict a sensitive feature."""
    ends = f"{bound(one.lower, DOWN, 2)} to {bound(one.upper, UP, 2)}"
    feature, first = visible(one.feature), one.columns[0]
    sees = f" The model receives {feature} itself." if _is_seen(summary, one) else ""
    return (
        f"The other columns that the model receives predict {feature} with a balanced accuracy "
        f"of {decimal(one.accuracy, 2)} ({level(1 - one.alpha)} interval {ends}; guessing would "
        f"have {decimal(one.guessing, 2)}). {_strongest(feature, first)}{sees}"
    )


def _strongest(feature: str, column: Column) -> str:
    """Return which column depends most on a feature, or that none was shown to."""
    if column.depends is None:
        return f"{visible(column.name)} alone predicts it best."
    if not column.depends:
        return f"No column was shown to depend on {feature}."
    return f"The column that depends most on {feature} is {visible(column.name)}."


def through_sentence(summary: AuditSummary) -> str | None:
    """Return the gain of swaps that need sensitive features to change; None if unknown."""
    one = next(iter(summary.proxies), None)
    if one is None or one.statistic is None or one.needing is None:
        return None
    return (
        f"Swaps add {decimal(one.statistic)} to the mean loss, {decimal(one.needing)} of it in "
        "swaps that need sensitive features to change. The attributable part, which takes off what "
        f"other swaps would add in their place, is {decimal(summary.attributable.value)}."
    )


def proxies_sentences(summary: AuditSummary) -> tuple[str, ...]:
    """Return the sentences of a screen: how well features are predicted, and their swaps."""
    sentences = [proxy_sentence(summary, one) for one in summary.proxies]
    through = through_sentence(summary)
    if through is None:
        return tuple(sentences)
    columns = [one for one in summary.proxies[0].columns if one.depends is not False]
    most = max(columns or summary.proxies[0].columns, key=lambda one: one.moved_alone or 0.0)
    if most.moved_alone is None or most.moved_alone <= 0:
        return (*sentences, through)
    name = visible(most.name)
    return (*sentences, through, f"If only {name} changes, swaps add {decimal(most.moved_alone)}.")


def columns_table(one: Proxies) -> Table:
    """Return the columns, those that predict best first."""
    titles = [NAME, ALONE, WITHOUT, DEPENDS]
    titles += [] if one.statistic is None else [THROUGH, REST]
    rows = []
    for column in one.columns:
        dependence = "not tested" if column.pvalue is None else (
            f"{'yes' if column.depends else 'no'}, {pvalue(column.pvalue)}"
        )  # fmt: skip
        figures = [decimal(column.alone, 2), decimal(column.without, 2), dependence]
        if one.statistic is not None:
            figures += [decimal(column.moved_alone), decimal(column.moved_without)]
        rows.append(tuple(map(Cell, (visible(column.name), *figures))))
    more = f" ({one.left_out} more columns were not examined)" if one.left_out else ""
    caption = f"Columns that predict {visible(one.feature)}{more}"
    return Table("telling", caption, columns_of(titles, titles[1:]), tuple(rows))


def _is_seen(summary: AuditSummary, one: Proxies) -> bool:
    return one.feature in summary.provenance.features


def _proxies_contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    if not summary.proxies:
        return {"parts": ()}
    through = through_sentence(summary)
    notes = HOW if through is None else f"{HOW} {SWAPS}"
    parts = [*(proxy_sentence(summary, one) for one in summary.proxies), through]
    tables = map(columns_table, summary.proxies)
    return {"parts": (*filter(None, parts), *tables, notes)}


PROXIES = Section(
    "proxies",
    "Proxies",
    "parts.j2",
    _proxies_contents,
    folded=True,
    hint="other columns that predict the sensitive features",
)
