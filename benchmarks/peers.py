"""The audit's linear program in general-purpose solvers, each set up as well as possible.

The program has a variable for each of the K² moves, an equation for each point's mass and one
row for the budget. A peer is prepared from an instance and returns a function from
frequencies to the value; what can be kept between calls (model, basis) is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy.sparse import csr_matrix
    from workloads import FloatArray, Instance

SIMPLEX_TOLERANCE = 1e-8
INTERIOR_POINT_TOLERANCE = 1e-6
FIRST_ORDER_TOLERANCE = 1e-6
PDLP_GAP = 1e-8


Solver: TypeAlias = "Callable[[FloatArray], float]"
"""From frequencies to the audit value."""


@dataclass(frozen=True)
class Peer:
    """A general-purpose solver.

    Attributes
    ----------
    name
        Name in the tables.
    first
        Prepares the instance for one value, from arrays to number as fast as possible.
    again
        Prepares it for many values, with whatever warm start the solver has.
    tolerance
        Accepted relative difference from our value.
    largest
        Maximum K: beyond it one value takes minutes.
    """

    name: str
    first: Callable[[Instance], Solver]
    again: Callable[[Instance], Solver]
    tolerance: float
    largest: int


def numpy_dual(instance: Instance) -> Solver:
    """Prepare the hand-written solution: the dual, a convex function of the price, by tangents.

    The next price is where the tangents on both sides of the minimum meet, so that the search ends
    with the exact value after about ten passes over the costs.
    """
    losses, costs, budget = instance.losses, instance.costs, instance.budget
    rows = np.arange(instance.size)

    def solve(frequencies: FloatArray) -> float:
        def find_tangent(price: float) -> tuple[float, float]:
            target = np.argmax(losses - price * costs, axis=1)
            return frequencies @ (losses[target] - losses), budget - frequencies @ costs[
                rows, target
            ]

        falling, rising = find_tangent(0.0), (0.0, budget)
        while falling[1] < 0:
            price = (falling[0] - rising[0]) / (rising[1] - falling[1])
            tangent = find_tangent(price)
            value, known = (start + slope * price for start, slope in (tangent, falling))
            if value <= known + 1e-12:
                return float(value)
            falling, rising = (tangent, rising) if tangent[1] < 0 else (falling, tangent)
        return float(falling[0])

    return solve


def scipy_linprog(instance: Instance) -> Solver:
    """Prepare `scipy.optimize.linprog`, without a warm start."""
    from scipy.optimize import linprog

    objective, matrix = -instance.gains, _matrix(instance)
    budget_row, mass_rows = matrix[-1:], matrix[:-1]

    def solve(frequencies: FloatArray) -> float:
        answer: Any = linprog(
            objective,
            A_ub=budget_row,
            b_ub=[instance.budget],
            A_eq=mass_rows,
            b_eq=frequencies,
            method="highs",
        )
        _require(answer.success, answer.message)
        return float(-answer.fun)

    return solve


def highspy_warm(instance: Instance) -> Solver:
    """Prepare HiGHS: the model is passed once, then only the bounds of its rows change.

    The first solve is by the primal simplex (several times faster here than HiGHS' choice,
    the dual), the following ones by the dual from the last basis, which stays dual feasible.
    """
    import highspy

    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)  # noqa: FBT003
    highs.setOptionValue("simplex_strategy", 4)
    highs.passModel(_highs_model(instance))
    rows = np.arange(instance.size, dtype=np.int32)

    def solve(frequencies: FloatArray) -> float:
        highs.changeRowsBounds(instance.size, rows, frequencies, frequencies)
        highs.run()
        status = highs.getModelStatus()
        _require(status == highspy.HighsModelStatus.kOptimal, status)
        highs.setOptionValue("simplex_strategy", 1)
        return float(highs.getInfo().objective_function_value)

    return solve


def _highs_model(instance: Instance) -> Any:
    import highspy

    size, moves = instance.size, instance.size**2
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = moves, size + 1
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_ = instance.gains
    model.col_lower_, model.col_upper_ = np.zeros(moves), np.full(moves, np.inf)
    model.row_lower_ = np.r_[instance.frequencies, -np.inf]
    model.row_upper_ = np.r_[instance.frequencies, instance.budget]
    columns = model.a_matrix_
    columns.format_ = highspy.MatrixFormat.kColwise
    columns.start_ = np.arange(moves + 1) * 2
    columns.index_ = np.stack([np.repeat(np.arange(size), size), np.full(moves, size)], 1).ravel()
    columns.value_ = np.stack([np.ones(moves), instance.costs.ravel()], axis=1).ravel()
    return model


def glop_once(instance: Instance) -> Solver:
    """Prepare GLOP through OR-tools' bulk model builder: quick to build, no warm start."""
    return _ortools(instance, "GLOP", "")


def pdlp(instance: Instance) -> Solver:
    """Prepare PDLP, a first-order method, in the same way.

    At its own tolerances (1e-6) values are outside the accepted difference.
    """
    wanted = f"eps_optimal_absolute: {PDLP_GAP} eps_optimal_relative: {PDLP_GAP}"
    return _ortools(
        instance, "PDLP", f"termination_criteria {{ simple_optimality_criteria {{ {wanted} }} }}"
    )


def _ortools(instance: Instance, name: str, parameters: str) -> Solver:
    from ortools.linear_solver.python import model_builder_helper as builder

    moves = instance.size**2
    matrix, gains = _matrix(instance), instance.gains

    def solve(frequencies: FloatArray) -> float:
        model = builder.ModelBuilderHelper()
        model.fill_model_from_sparse_data(
            np.zeros(moves), np.full(moves, np.inf), gains,
            np.r_[frequencies, -np.inf], np.r_[frequencies, instance.budget], matrix,
        )  # fmt: skip
        model.set_maximize(True)
        solver = builder.ModelSolverHelper(name)
        solver.set_solver_specific_parameters(parameters)
        solver.solve(model)
        _require(solver.status() == builder.SolveStatus.OPTIMAL, solver.status())
        return float(solver.objective_value())

    return solve


def glop_warm(instance: Instance) -> Solver:
    """Prepare GLOP through `pywraplp`: slow to build, but it continues from the last basis.

    Presolving would throw the basis away, so it is off; after the first solve the dual
    simplex takes over.
    """
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver("GLOP")
    free = solver.infinity()
    rows = [solver.Constraint(0.0, 0.0) for _ in range(instance.size)]
    budget, objective = solver.Constraint(-free, instance.budget), solver.Objective()
    objective.SetMaximization()
    pairs = np.repeat(np.arange(instance.size), instance.size)
    for i, gain, cost in zip(pairs, instance.gains, instance.costs.ravel(), strict=True):
        move = solver.NumVar(0.0, free, "")
        rows[i].SetCoefficient(move, 1.0)
        budget.SetCoefficient(move, cost)
        objective.SetCoefficient(move, gain)
    solver.SetSolverSpecificParametersAsString("use_preprocessing: false")

    def solve(frequencies: FloatArray) -> float:
        for row, mass in zip(rows, frequencies, strict=True):
            row.SetBounds(mass, mass)
        status = solver.Solve()
        _require(status == pywraplp.Solver.OPTIMAL, status)
        solver.SetSolverSpecificParametersAsString(
            "use_dual_simplex: true use_preprocessing: false"
        )
        return float(objective.Value())

    return solve


def cvxpy_clarabel(instance: Instance) -> Solver:
    """Prepare a cvxpy problem with the frequencies as its parameter, solved by Clarabel.

    At Clarabel's own tolerances (1e-8) values were off by more than 1e-6, so they are 1e-9.
    """
    import cvxpy as cp

    plan = cp.Variable((instance.size, instance.size), nonneg=True)
    mass = cp.Parameter(instance.size, nonneg=True)
    problem = cp.Problem(
        cp.Maximize(cp.sum(plan @ instance.losses) - instance.losses @ mass),
        [
            cp.sum(plan, axis=1) == mass,
            cp.sum(cp.multiply(instance.costs, plan)) <= instance.budget,
        ],
    )

    def solve(frequencies: FloatArray) -> float:
        mass.value = frequencies
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
        _require(problem.status == cp.OPTIMAL, problem.status)
        return float(problem.value)

    return solve


PEERS = (
    Peer("NumPy, the dual in ten lines", numpy_dual, numpy_dual, SIMPLEX_TOLERANCE, 1_000),
    Peer("scipy linprog (HiGHS)", scipy_linprog, scipy_linprog, SIMPLEX_TOLERANCE, 400),
    Peer("highspy, warm start", highspy_warm, highspy_warm, SIMPLEX_TOLERANCE, 1_000),
    Peer("OR-tools GLOP", glop_once, glop_warm, SIMPLEX_TOLERANCE, 1_000),
    Peer("OR-tools PDLP", pdlp, pdlp, FIRST_ORDER_TOLERANCE, 400),
    Peer("cvxpy + Clarabel", cvxpy_clarabel, cvxpy_clarabel, INTERIOR_POINT_TOLERANCE, 400),
)


def _matrix(instance: Instance) -> csr_matrix:
    """Return the program's rows: each point's mass, then the budget."""
    from scipy.sparse import csr_matrix

    size, moves = instance.size, instance.size**2
    every = np.arange(moves, dtype=np.int32)
    return csr_matrix(
        (
            np.r_[np.ones(moves), instance.costs.ravel()],
            np.r_[every, every],
            np.r_[np.arange(size) * size, moves, 2 * moves].astype(np.int32),
        ),
        shape=(size + 1, moves),
    )


def _require(solved: bool, status: object) -> None:  # noqa: FBT001
    if not solved:
        msg = f"a peer did not solve the audit problem: {status}"
        raise RuntimeError(msg)
