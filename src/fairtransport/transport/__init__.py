"""ψ and everything exact about it: the audit problem, its value, plan, price, certificate."""

import fairtransport.compilation  # noqa: F401 - before any compiled function
from fairtransport.transport.frontiers import Frontiers
from fairtransport.transport.problem import AuditProblem
from fairtransport.transport.solution import BudgetCurve, Solution

__all__ = ["AuditProblem", "BudgetCurve", "Frontiers", "Solution"]
