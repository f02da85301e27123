"""The charts of a report, made from the summary's tables."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fairtransport.errors import InputError, param
from fairtransport.report.charts.curves import budget_document, law_document
from fairtransport.report.charts.flows import flow_rows, heatmaps_document
from fairtransport.report.charts.intervals import methods_document
from fairtransport.report.charts.style import offline, to_altair
from fairtransport.report.tables import has_signal
from fairtransport.report.text import shows_swaps

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from altair.typing import ChartType

    from fairtransport.documents.audit import AuditSummary

    Write: TypeAlias = Callable[[], dict[str, Any]]

MIN_CURVE_CORNERS = 2
EMPTY = {
    "flows": "there is no feature to show them by",
    "law": "there is no sampling law to draw",
    "methods": "there is no method to compare",
    "budget": "the statistic is the same at every budget",
}


def chart_specs(summary: AuditSummary) -> dict[str, dict[str, Any]]:
    """Return the charts of a report as Vega-Lite documents by their keys."""
    # a chart of noise would look like a finding; its table remains
    is_quiet = not shows_swaps(summary)
    quiet = {
        f"flows-{at}" for at, one in enumerate(summary.flows, 1) if is_quiet or not has_signal(one)
    }
    return {key: write() for key, write in _charts(summary).items() if key not in quiet}


def picture(summary: AuditSummary, kind: str, feature: str | None = None) -> ChartType:
    """Return one chart: "flows" (by a feature; default: the first), "law", "methods", "budget"."""
    keys = {"law": "law", "methods": "methods", "budget": "curve"}
    if kind == "flows":
        names = [table.feature for table in summary.flows]
        keys["flows"] = f"flows-{1 if feature is None else names.index(feature) + 1}"
    charts = _charts(summary)
    if keys[kind] not in charts:
        msg = f"{param('kind')} must be something this audit can show, got {kind!r}: {EMPTY[kind]}"
        raise InputError(msg)
    return offline(to_altair(charts[keys[kind]]()))


def _charts(summary: AuditSummary) -> dict[str, Write]:
    """Return what writes each chart as a document, by the charts' keys."""
    statistic, delta = summary.statistic, summary.delta
    label = None if summary.provenance.label is None else "True label"
    charts: dict[str, Write] = {}
    for number, table in enumerate(summary.flows, 1):
        if table.cells:
            charts[f"flows-{number}"] = partial(
                heatmaps_document, flow_rows(table), feature=table.feature, label=label
            )
    if summary.law is not None and summary.law.bins:
        ends = {"lower": summary.lower_bound, "upper": summary.upper_bound}
        bins = list(map(vars, summary.law.bins))
        charts["law"] = partial(law_document, bins, estimate=statistic, delta=delta, **ends)
    if summary.methods:
        methods = list(map(vars, summary.methods))
        charts["methods"] = partial(methods_document, methods, estimate=statistic, delta=delta)
    if len(summary.budget_curve) >= MIN_CURVE_CORNERS:
        here = {"budget": summary.budget, "statistic": statistic, "price": summary.price}
        charts["curve"] = partial(budget_document, list(map(vars, summary.budget_curve)), **here)
    return charts
