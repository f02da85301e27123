"""The line that is run, for what reads it a second time."""

from __future__ import annotations

from contextvars import ContextVar

LINE: ContextVar[tuple[str, ...]] = ContextVar("line", default=())
