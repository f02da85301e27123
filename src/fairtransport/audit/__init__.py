"""From audit data and a black box to a result."""

from fairtransport.audit.comparing import compare, compare_with
from fairtransport.audit.comparison import Comparison
from fairtransport.audit.many import Audits, audit_many
from fairtransport.audit.result import AuditResult
from fairtransport.audit.single import audit, audit_with

__all__ = [
    "AuditResult",
    "Audits",
    "Comparison",
    "audit",
    "audit_many",
    "audit_with",
    "compare",
    "compare_with",
]
