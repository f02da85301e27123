"""From audit data and a black box to a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.audit.result import AuditResult
from fairtransport.audit.single import audit, audit_with
from fairtransport.lazy import lazily

if TYPE_CHECKING:
    from fairtransport.audit.comparing import compare, compare_with
    from fairtransport.audit.comparison import Comparison
    from fairtransport.audit.many import Audits, audit_many

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

_HOMES = {
    "Audits": "many",
    "Comparison": "comparison",
    "audit_many": "many",
    "compare": "comparing",
    "compare_with": "comparing",
}

__getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
