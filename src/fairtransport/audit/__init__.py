"""From audit data and a black box to a result."""

from fairtransport.audit.result import AuditResult
from fairtransport.audit.walk import audit

__all__ = ["AuditResult", "audit"]
