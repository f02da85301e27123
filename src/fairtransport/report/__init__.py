"""Pictures and documents of what was computed; nothing is computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.lazy import lazily

if TYPE_CHECKING:
    from fairtransport.comparison_summary import comparison_schema
    from fairtransport.family import family_schema
    from fairtransport.report.charts import (
        budget_curve_chart,
        confidence_sequence_chart,
        family_chart,
        flow_heatmaps,
        law_chart,
        methods_chart,
        power_chart,
        power_table,
        save_chart,
    )
    from fairtransport.report.comparison_pages import (
        render_comparison_html,
        render_comparison_markdown,
    )
    from fairtransport.report.family_pages import render_family_html, render_family_markdown
    from fairtransport.report.html import render_html
    from fairtransport.report.markdown import render_markdown
    from fairtransport.report.notebook import render_fragment
    from fairtransport.summary import audit_schema

__all__ = [
    "audit_schema",
    "budget_curve_chart",
    "comparison_schema",
    "confidence_sequence_chart",
    "family_chart",
    "family_schema",
    "flow_heatmaps",
    "law_chart",
    "methods_chart",
    "power_chart",
    "power_table",
    "render_comparison_html",
    "render_comparison_markdown",
    "render_family_html",
    "render_family_markdown",
    "render_fragment",
    "render_html",
    "render_markdown",
    "save_chart",
]

_HOMES = {
    "audit_schema": "summary",
    "budget_curve_chart": "report.charts",
    "comparison_schema": "comparison_summary",
    "confidence_sequence_chart": "report.charts",
    "family_chart": "report.charts",
    "family_schema": "family",
    "flow_heatmaps": "report.charts",
    "law_chart": "report.charts",
    "methods_chart": "report.charts",
    "power_chart": "report.charts",
    "power_table": "report.charts",
    "render_comparison_html": "report.comparison_pages",
    "render_comparison_markdown": "report.comparison_pages",
    "render_family_html": "report.family_pages",
    "render_family_markdown": "report.family_pages",
    "render_fragment": "report.notebook",
    "render_html": "report.html",
    "render_markdown": "report.markdown",
    "save_chart": "report.charts",
}

__getattr__ = lazily("fairtransport", _HOMES)
