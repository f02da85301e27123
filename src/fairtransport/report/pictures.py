"""The charts of a report, made from the summary's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtransport.report.charts import (
    budget_curve_chart,
    flow_heatmaps,
    flow_rows,
    law_chart,
    methods_chart,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtransport.summary import AuditSummary

FEWEST_CORNERS = 2


def chart_specs(summary: AuditSummary) -> dict[str, dict[str, Any]]:
    """Return the charts of a report as Vega-Lite documents by their keys."""
    # the tests check all charts against the schema; here it would take most of the time
    return {key: chart.to_dict(validate=False) for key, chart in _charts(summary)}


def _charts(summary: AuditSummary) -> Iterable[tuple[str, Any]]:
    label = summary.provenance.label
    for number, table in enumerate(summary.flows, 1):
        if table.cells:
            yield (
                f"flows-{number}",
                flow_heatmaps(flow_rows(table), feature=table.feature, label=label),
            )
    if summary.law is not None and summary.law.bins:
        yield (
            "law",
            law_chart(
                map(vars, summary.law.bins),
                estimate=summary.statistic,
                lower=summary.lower_bound,
                upper=summary.upper_bound,
                delta=summary.delta,
            ),
        )
    if summary.methods:
        yield (
            "methods",
            methods_chart(
                map(vars, summary.methods), estimate=summary.statistic, delta=summary.delta
            ),
        )
    if len(summary.budget_curve) >= FEWEST_CORNERS:
        yield (
            "curve",
            budget_curve_chart(
                map(vars, summary.budget_curve),
                budget=summary.budget,
                statistic=summary.statistic,
                price=summary.price,
            ),
        )
