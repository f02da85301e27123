"""Reference solution of the audit problem by HiGHS, for cross-checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray
    from fairtransport.transport.problem import AuditProblem


def reference_value(problem: AuditProblem, frequencies: FloatArray) -> float:
    """Return ψ(f) from the plan's linear program, one variable for each allowed move."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    everyone = np.arange(problem.size)
    costs = problem.geometry.costs(everyone, everyone)
    row, col = np.nonzero(np.isfinite(costs))
    gain = problem.losses[col] - problem.losses[row]
    moves = np.arange(len(row))
    result: Any = linprog(  # type: ignore[call-overload]
        -gain,
        A_ub=csr_array((costs[row, col], (np.zeros_like(row), moves)), shape=(1, len(row))),
        b_ub=[problem.budget],
        A_eq=csr_array((np.ones(len(row)), (row, moves)), shape=(problem.size, len(row))),
        b_eq=np.asarray(frequencies, dtype=float),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if not result.success:
        msg = f"HiGHS did not solve the audit problem: {result.message}"
        raise RuntimeError(msg)
    return float(-result.fun)
