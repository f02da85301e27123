"""Charts: each takes a table and draws it, the same for notebook, picture and report."""

from fairtransport.report.charts.curves import (
    budget_curve_chart,
    confidence_sequence_chart,
    law_chart,
    power_chart,
    power_table,
)
from fairtransport.report.charts.flows import flow_heatmaps, flow_rows, stacked_heatmaps
from fairtransport.report.charts.intervals import family_chart, methods_chart
from fairtransport.report.charts.style import chart_bytes, check_ending, save_chart

__all__ = [
    "budget_curve_chart",
    "chart_bytes",
    "check_ending",
    "confidence_sequence_chart",
    "family_chart",
    "flow_heatmaps",
    "flow_rows",
    "law_chart",
    "methods_chart",
    "power_chart",
    "power_table",
    "save_chart",
    "stacked_heatmaps",
]
