"""Monitor: the audit of a stream, which can be examined and stopped at any time."""

from fairtransport.monitor.monitor import Look, Monitor, MonitorState

__all__ = ["Look", "Monitor", "MonitorState"]
