"""The charts of a report, made from the summary's tables."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fairtransport.errors import InputError
from fairtransport.report.charts import (
    budget_curve_chart,
    flow_heatmaps,
    flow_rows,
    law_chart,
    methods_chart,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from altair.typing import ChartType

    from fairtransport.summary import AuditSummary, FlowTable, Law

FEWEST_CORNERS = 2
EMPTY = {
    "flows": "there is no feature to show them by",
    "law": "there is no sampling law to draw",
    "methods": "there is no method to compare",
    "budget": "the statistic is the same at every budget",
}


def chart_specs(summary: AuditSummary) -> dict[str, dict[str, Any]]:
    """Return the charts of a report as Vega-Lite documents by their keys."""
    # the tests check all charts against the schema; here it would take most of the time
    return {key: draw().to_dict(validate=False) for key, draw in _charts(summary)}


def picture(summary: AuditSummary, kind: str, feature: str | None = None) -> ChartType:
    """Return one chart: "flows" (by a feature; default: the first), "law", "methods", "budget"."""
    keys = {"law": "law", "methods": "methods", "budget": "curve"}
    if kind == "flows":
        names = [table.feature for table in summary.flows]
        keys["flows"] = f"flows-{1 if feature is None else names.index(feature) + 1}"
    found = dict(_charts(summary))
    if keys[kind] not in found:
        msg = f"`kind` must be something this audit can show, got {kind!r}: {EMPTY[kind]}"
        raise InputError(msg)
    return found[keys[kind]]()


def _charts(summary: AuditSummary) -> Iterable[tuple[str, Callable[[], ChartType]]]:
    """Yield the charts by their keys, each as a function that draws it."""
    for number, table in enumerate(summary.flows, 1):
        if table.cells:
            yield f"flows-{number}", partial(_flows, summary, table)
    if summary.law is not None and summary.law.bins:
        yield "law", partial(_law, summary, summary.law)
    if summary.methods:
        yield "methods", partial(_methods, summary)
    if len(summary.budget_curve) >= FEWEST_CORNERS:
        yield "curve", partial(_curve, summary)


def _flows(summary: AuditSummary, table: FlowTable) -> ChartType:
    label = summary.provenance.label
    return flow_heatmaps(flow_rows(table), feature=table.feature, label=label)


def _law(summary: AuditSummary, law: Law) -> ChartType:
    return law_chart(
        map(vars, law.bins),
        estimate=summary.statistic,
        lower=summary.lower_bound,
        upper=summary.upper_bound,
        delta=summary.delta,
    )


def _methods(summary: AuditSummary) -> ChartType:
    return methods_chart(
        map(vars, summary.methods), estimate=summary.statistic, delta=summary.delta
    )


def _curve(summary: AuditSummary) -> ChartType:
    return budget_curve_chart(
        map(vars, summary.budget_curve),
        budget=summary.budget,
        statistic=summary.statistic,
        price=summary.price,
    )
