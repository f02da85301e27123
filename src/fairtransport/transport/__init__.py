"""The audit problem: exact audit value ψ, optimal plan, price and certificate."""

import fairtransport._core.compilation  # noqa: F401 - before any compiled function
from fairtransport.transport.frontiers import Frontiers
from fairtransport.transport.problem import AuditProblem
from fairtransport.transport.solution import BudgetCurve, Solution

__all__ = ["AuditProblem", "BudgetCurve", "Frontiers", "Solution"]
