"""Pictures and documents of what was computed; nothing is computed here."""

from fairtransport.report.charts import power_chart, power_table, save_chart

__all__ = ["power_chart", "power_table", "save_chart"]
