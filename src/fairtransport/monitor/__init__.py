"""Monitor: the audit of a stream, which may be looked at and stopped at any time."""

from fairtransport.monitor.stream_audit import Look, Monitor, MonitorState

__all__ = ["Look", "Monitor", "MonitorState"]
