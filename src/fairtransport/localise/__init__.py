"""Who is affected: what an audit says of groups of people."""

from fairtransport.localise.group_metrics import GroupMetrics, group_metrics

__all__ = ["GroupMetrics", "group_metrics"]
