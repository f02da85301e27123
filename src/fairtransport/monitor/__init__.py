"""Monitor: the audit of a stream, which may be looked at and stopped at any time."""

from fairtransport.monitor.monitor import Look, Monitor, MonitorState

__all__ = ["Look", "Monitor", "MonitorState"]
