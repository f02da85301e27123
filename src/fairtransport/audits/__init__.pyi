from .comparison import Comparison as Comparison
from .comparison import compare as compare
from .comparison import compare_with as compare_with
from .family import Audits as Audits
from .family import audit_many as audit_many
from .result import AuditResult as AuditResult
from .run import audit as audit
from .run import audit_with as audit_with
