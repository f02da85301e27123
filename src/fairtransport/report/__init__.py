"""Pictures and documents of what was computed; nothing is computed here."""

from fairtransport.report.charts import (
    budget_curve_chart,
    confidence_sequence_chart,
    flow_heatmaps,
    law_chart,
    methods_chart,
    power_chart,
    power_table,
    save_chart,
)
from fairtransport.report.html import render_html
from fairtransport.report.markdown import render_markdown
from fairtransport.report.notebook import render_fragment
from fairtransport.summary import audit_schema

__all__ = [
    "audit_schema",
    "budget_curve_chart",
    "confidence_sequence_chart",
    "flow_heatmaps",
    "law_chart",
    "methods_chart",
    "power_chart",
    "power_table",
    "render_fragment",
    "render_html",
    "render_markdown",
    "save_chart",
]
