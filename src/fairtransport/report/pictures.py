"""The charts of a report, made from the summary's tables."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fairtransport.errors import InputError
from fairtransport.report.cells import has_signal
from fairtransport.report.charts import (
    budget_curve_chart,
    flow_heatmaps,
    flow_rows,
    law_chart,
    methods_chart,
)
from fairtransport.report.charts.heatmaps import heatmaps_document
from fairtransport.report.charts.offline import offline

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from altair.typing import ChartType

    from fairtransport.summary import AuditSummary

    Write: TypeAlias = Callable[[], dict[str, Any]]
    Draw: TypeAlias = Callable[[], ChartType]

FEWEST_CORNERS = 2
EMPTY = {
    "flows": "there is no feature to show them by",
    "law": "there is no sampling law to draw",
    "methods": "there is no method to compare",
    "budget": "the statistic is the same at every budget",
}


def chart_specs(summary: AuditSummary) -> dict[str, dict[str, Any]]:
    """Return the charts of a report as Vega-Lite documents by their keys.

    Parameters
    ----------
    summary
        Flows in which every change may be chance have no picture.
    """
    # a picture of noise would be looked at as a finding; its table is still there
    quiet = {f"flows-{at}" for at, one in enumerate(summary.flows, 1) if not has_signal(one)}
    return {key: write() for key, (write, _) in _charts(summary).items() if key not in quiet}


def picture(summary: AuditSummary, kind: str, feature: str | None = None) -> ChartType:
    """Return one chart: "flows" (by a feature; default: the first), "law", "methods", "budget".

    Parameters
    ----------
    summary
        What the audit says.
    kind, feature
        Which chart, and the feature of flows.

    Raises
    ------
    InputError
        If this audit has nothing to draw there, saying why.
    """
    keys = {"law": "law", "methods": "methods", "budget": "curve"}
    if kind == "flows":
        names = [table.feature for table in summary.flows]
        keys["flows"] = f"flows-{1 if feature is None else names.index(feature) + 1}"
    found = _charts(summary)
    if keys[kind] not in found:
        msg = f"`kind` must be something this audit can show, got {kind!r}: {EMPTY[kind]}"
        raise InputError(msg)
    _, draw = found[keys[kind]]
    return offline(draw())


def _charts(summary: AuditSummary) -> dict[str, tuple[Write, Draw]]:
    """Return the charts by their keys: what writes each as a document, and what draws it.

    Parameters
    ----------
    summary
        What the audit says.
    """
    found, delta, label = summary.statistic, summary.delta, summary.provenance.label
    charts: dict[str, tuple[Write, Draw]] = {}
    for number, table in enumerate(summary.flows, 1):
        if table.cells:
            rows, feature = flow_rows(table), table.feature
            charts[f"flows-{number}"] = (
                partial(heatmaps_document, rows, feature=feature, label=label),
                partial(flow_heatmaps, rows, feature=feature, label=label),
            )
    drawn: dict[str, Draw] = {}
    if summary.law is not None and summary.law.bins:
        ends = {"lower": summary.lower_bound, "upper": summary.upper_bound}
        bins = list(map(vars, summary.law.bins))
        drawn["law"] = partial(law_chart, bins, estimate=found, delta=delta, **ends)
    if summary.methods:
        methods = list(map(vars, summary.methods))
        drawn["methods"] = partial(methods_chart, methods, estimate=found, delta=delta)
    if len(summary.budget_curve) >= FEWEST_CORNERS:
        here = {"budget": summary.budget, "statistic": found, "price": summary.price}
        drawn["curve"] = partial(budget_curve_chart, list(map(vars, summary.budget_curve)), **here)
    return charts | {key: (partial(_as_document, draw), draw) for key, draw in drawn.items()}


def _as_document(draw: Draw) -> dict[str, Any]:
    """Return a drawn chart as its document, unchecked."""
    # the tests check all charts against the schema; here it would take most of the time
    document: dict[str, Any] = draw().to_dict(validate=False)
    return document
