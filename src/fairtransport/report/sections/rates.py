"""Rates: how people who are alike are treated by group, where answers differ inside a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.cells import Cell, Table, columns_of
from fairtransport.report.numbers import DOWN, bound, decimal, level, pvalue
from fairtransport.report.rate_words import NOT_SAID, rate_pvalue
from fairtransport.report.sections import Section
from fairtransport.report.strings import shorten, visible

if TYPE_CHECKING:
    from fairtransport.report.sections import Output
    from fairtransport.summary import AuditSummary, RatesFound

MEANING = (
    "People who are alike in all columns but the sensitive ones (and in the true label, if the "
    "loss uses it) are put side by side, and the mean losses of their groups compared. R is by how "
    "much the mean loss would rise if everybody were treated as the worst-treated group among "
    "those alike."
)


def rates_table(summary: AuditSummary, rates: RatesFound) -> Table:
    """Return R of all groups together, then by each sensitive feature.

    Parameters
    ----------
    summary, rates
        Each row has the confidence of its own bound; all hold together.
    """
    together = " and ".join(shorten(visible(name)) for name in rates.groups)
    rows = [
        (
            Cell(together), Cell("–" if rates.value is None else decimal(rates.value), rates.value),
            Cell(bound(rates.lower_bound, DOWN), rates.lower_bound),
            Cell(level(1 - summary.alpha), 1 - summary.alpha),
            Cell(rate_pvalue(rates.pvalue, summary), rates.pvalue),
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


def _contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    """Return what the template part ``rates.j2`` shows; nothing where there are no rates."""
    rates = summary.rates
    if rates is None:
        return {}
    together = "" if len(rates.groups) == 1 else "All bounds of the table hold together. "
    return {
        "meaning": MEANING,
        "rates": rates_table(summary, rates),
        "levels": f"{together}The permutation test is a statement of its own.",
        "not_said": NOT_SAID,
    }


SECTION = Section("rates", "How people who are alike are treated", 15, _contents)
