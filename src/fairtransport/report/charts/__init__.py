"""Charts: each takes a table and draws it, the same for notebook, picture and report."""

from fairtransport.report.charts.budget import budget_curve_chart
from fairtransport.report.charts.family_bounds import family_chart
from fairtransport.report.charts.heatmaps import flow_heatmaps, flow_rows, stacked_heatmaps
from fairtransport.report.charts.law import law_chart
from fairtransport.report.charts.method_bounds import methods_chart
from fairtransport.report.charts.power import power_chart, power_table
from fairtransport.report.charts.saving import chart_bytes, check_ending, save_chart
from fairtransport.report.charts.sequence import confidence_sequence_chart

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
