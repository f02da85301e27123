"""From audit data and a black box to a result."""

from fairtransport.audit.result import AuditResult
from fairtransport.audit.single import audit, audit_with

__all__ = ["AuditResult", "audit", "audit_with"]
