"""sample_size(): how many cases an audit needs to reject δ-fairness, or to certify it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.checks import choice, finite, float_array, number, shown, whole
from fairtransport.errors import InputError
from fairtransport.inference.binomial_power import BinomialTest
from fairtransport.inference.methods import METHODS
from fairtransport.inference.simulated_power import Simulation
from fairtransport.transport import AuditProblem

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray

GOALS = ("reject", "certify")
CLOPPER_PEARSON = "clopper-pearson"
CURVE_POINTS = 400
ALARM = 3.0
"""Standard errors by which the check may miss the wanted power before a note says so."""


@dataclass(frozen=True, eq=False)
class PowerCurve:
    """The power of an audit at several sizes.

    Attributes
    ----------
    n
        The sizes, rising.
    power
        The probability to reach the goal, exact or simulated.
    error
        Its Monte-Carlo standard error; 0 where it is exact.
    low, high
        A 95 % interval for the power (Clopper–Pearson); the power itself where it is exact.
    """

    n: IntArray
    power: FloatArray
    error: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class SamplePlan:
    """How many cases an audit needs.

    Attributes
    ----------
    n
        The number of cases.
    achieved, achieved_error
        The power with n cases and its Monte-Carlo standard error, 0 where it is exact. If
        simulated, it comes from audits that had no part in the choice of n.
    n_error
        The Monte-Carlo standard error of n; 0 where it is exact.
    goal
        "reject" or "certify".
    value
        The true ψ that is planned for.
    delta, alpha, power
        The threshold, the level and the wanted power.
    method
        "clopper-pearson" (exact), or the method of the simulated audits.
    curve
        The power around n.
    notes
        What a reader of the numbers should know.
    """

    n: int
    achieved: float
    achieved_error: float
    n_error: float
    goal: str
    value: float
    delta: float
    alpha: float
    power: float
    method: str
    curve: PowerCurve
    notes: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The plan in a sentence."""
        what = "rejects" if self.goal == "reject" else "certifies"
        cases = "1 case" if self.n == 1 else f"{self.n:,} cases"
        if self.method == CLOPPER_PEARSON:
            about, chance = "", f"{100 * self.achieved:.1f} %"
        else:
            about = "about "
            error = f"Monte-Carlo error {100 * self.achieved_error:.1f} %"
            chance = f"{100 * self.achieved:.1f} % ({error})"
        return (
            f"With {about}{cases}, an audit {what} δ-fairness for δ = {self.delta:g} at level "
            f"{self.alpha:g} with probability {chance} if the true value is {self.value:.4g}."
        )


def sample_size(
    *,
    delta: float,
    value: float | None = None,
    problem: AuditProblem | None = None,
    frequencies: Any = None,
    counts: Any = None,
    goal: str = "reject",
    alpha: float = 0.05,
    power: float = 0.8,
    method: str = "finite-sample",
    loss_range: tuple[float, float] | None = None,
    n_simulations: int = 200,
    n_resamples: int = 1000,
    rng: Any = None,
) -> SamplePlan:
    """Return how many cases an audit needs to reach its goal with a given power.

    Parameters
    ----------
    delta
        δ, the threshold of δ-fairness.
    value
        The true ψ where it is the share of people who can be swapped into an error: no
        budget (ε = 0) and 0-1 loss. The answer is then exact.
    problem
        Instead of ``value``: the audit problem of a pilot, with ``frequencies`` or ``counts``.
    frequencies, counts
        The pilot's distribution over the points of the problem. A pilot's frequencies are
        themselves an estimate: the plan is for a population that looks like the pilot, and a
        small pilot can be far from the truth. Plan for several if in doubt.
    goal
        "reject": the lower bound exceeds δ; needs ψ > δ. "certify": the upper bound is at
        most δ; needs ψ < δ.
    alpha, power
        The level of the bounds, and the probability with which the goal is to be reached.
    method, loss_range
        With a pilot: as the planned audit will use them, see `sampling_law`. The planned
        audit's targets are taken to be fixed, those of the pilot's problem.
    n_simulations
        With a pilot: how many audits are simulated at each of about ten sizes. By betting
        (method "finite-sample" with a budget or other losses) one takes tens of milliseconds.
    n_resamples
        With a pilot: the number of resamples in each of them, for methods that resample.
    rng
        A seed or a numpy generator.

    Notes
    -----
    The exact power is a saw-tooth in n. The answer is the smallest n from which on it never
    falls below ``power``; a smaller n may reach it by luck of the integers.

    With a pilot, audits of people drawn from its frequencies are simulated, on a grid of sizes
    and each growing through it. The grid's centre comes from doubling and halving; the answer
    is where Φ(a + b√n), fitted to the shares near the wanted one, reaches it. Where such an
    audit is Clopper–Pearson's (method "finite-sample", gains 0 or 1, only free moves), the
    exact route is taken.

    Examples
    --------
    >>> plan = sample_size(value=0.06, delta=0.0365)
    >>> print(plan.words)
    With 555 cases, an audit rejects δ-fairness for δ = 0.0365 at level 0.05 with probability
    80.3 % if the true value is 0.06.
    >>> sample_size(value=0.0, delta=0.01, goal="certify").n
    299
    """
    choice("goal", goal, GOALS)
    alpha = number("alpha", alpha, above=0, below=1)
    power = number("power", power, above=0, below=1)
    delta = number("delta", delta, at_least=0)
    if (value is None) == (problem is None):
        got = "neither" if value is None else "both"
        msg = f"`value` or `problem` must be given, and not both, got {got}"
        raise InputError(msg)
    if problem is None:
        if frequencies is not None or counts is not None:
            msg = "`frequencies` and `counts` must come with `problem`, got `value`"
            raise InputError(msg)
        return _exact_plan(_check_share(value), delta, alpha, power, goal)
    f = _check_pilot(problem, frequencies, counts)
    choice("method", method, METHODS)
    if method == "finite-sample" and _is_share(problem, loss_range):
        truth = min(problem.value(f), 1.0)
        plan = _exact_plan(truth, delta, alpha, power, goal, what="the pilot's value")
    else:
        _check_side(problem.value(f), delta, goal, "the pilot's value")
        simulation = Simulation(
            problem, f, delta, alpha, goal == "certify", method,
            whole("n_resamples", n_resamples), loss_range,
            whole("n_simulations", n_simulations), np.random.default_rng(rng),
        )  # fmt: skip
        plan = _simulated_plan(simulation, power, goal)
    return plan


def _exact_plan(
    share: float, delta: float, alpha: float, power: float, goal: str, what: str = "`value`"
) -> SamplePlan:
    _check_side(share, number("delta", delta, below=1), goal, what)
    test = BinomialTest(share, delta, alpha, goal == "certify")
    n = test.sample_size(power)
    sizes = np.unique(np.linspace(max(1, n // 4), max(2 * n, 20), CURVE_POINTS).astype(np.int64))
    sizes = np.union1d(sizes, [n])
    exact = test.power(sizes)
    curve = PowerCurve(sizes, exact, np.zeros(len(sizes)), exact, exact)
    notes = [_least_possible(test, n)] if goal == "certify" else []
    return SamplePlan(
        n, float(test.power(np.array([n]))[0]), 0.0, 0.0, goal, share, delta, alpha, power,
        CLOPPER_PEARSON, curve, tuple(notes),
    )  # fmt: skip


def _least_possible(test: BinomialTest, n: int) -> str:
    """Return the rule of three: what even the best sample needs."""
    least = test.least_certifying()
    text = (
        f"Even if nobody in the sample is affected, fewer than {least:,} cases cannot certify: "
        f"n >= log(α)/log(1 − δ) is needed."
    )
    if least >= n / 2:
        text += " The plan leaves room for next to no affected person."
    return text


def _simulated_plan(simulation: Simulation, power: float, goal: str) -> SamplePlan:
    n, n_error = simulation.sample_size(power)
    check = simulation.count_afresh(n)
    of = simulation.n_simulations
    achieved = check / of
    # as if half an audit more had gone either way: an error of 0 would be a boast
    smooth = (check + 0.5) / (of + 1)
    error = math.sqrt(smooth * (1 - smooth) / of)
    notes = []
    if n == 1 and goal == "certify" and check == of:
        notes.append("δ is so large that one case is enough: the problem allows no larger value.")
    if achieved < power - ALARM * error:
        notes.append(
            f"A check with {of} further audits found a power of {100 * achieved:.1f} %: it does "
            "not rise smoothly with n here. Plan for more."
        )
    return SamplePlan(
        n, achieved, error, n_error, goal, simulation.problem.value(simulation.frequencies),
        simulation.delta, simulation.alpha, power, simulation.method, _curve(simulation),
        tuple(notes),
    )  # fmt: skip


def _curve(simulation: Simulation) -> PowerCurve:
    from scipy.special import betaincinv

    sizes = np.array(sorted(simulation.counted))
    good, of = np.array([simulation.counted[n] for n in sizes.tolist()]).T
    share = good / of
    low = np.where(good == 0, 0.0, betaincinv(np.maximum(good, 1), of - good + 1, 0.025))
    high = np.where(good == of, 1.0, betaincinv(good + 1, np.maximum(of - good, 1), 0.975))
    return PowerCurve(sizes, share, np.sqrt(share * (1 - share) / of), low, high)


def _is_share(problem: AuditProblem, loss_range: tuple[float, float] | None) -> bool:
    """Return whether ψ is the share of people who can be swapped, for free, into an error."""
    frontiers = problem.frontiers
    free = problem.budget == 0 or not len(frontiers.row)
    known = loss_range is None or tuple(loss_range) == (0, 1)
    return (
        free
        and known
        and all(
            bool(np.isin(values, (0.0, 1.0)).all())
            for values in (frontiers.base_gain, problem.losses)
        )
    )


def _check_share(value: Any) -> float:
    share = number("value", value, at_least=0)
    if share > 1:
        msg = f"`value` must be a share, at most 1, got {shown(value)}"
        raise InputError(msg)
    return share


def _check_side(value: float, delta: float, goal: str, what: str) -> None:
    """Refuse a truth on the wrong side of δ: power would never exceed the level there."""
    if (value > delta) if goal == "reject" else (value < delta):
        return
    sign = "<" if goal == "reject" else ">"
    msg = f'`delta` must be {sign} {what} {value:.6g} for the goal "{goal}", got {delta:g}'
    raise InputError(msg)


def _check_pilot(problem: Any, frequencies: Any, counts: Any) -> FloatArray:
    if not isinstance(problem, AuditProblem):
        msg = f"`problem` must be an AuditProblem, got {shown(problem)}"
        raise InputError(msg)
    if (frequencies is None) == (counts is None):
        got = "neither" if counts is None else "both"
        msg = f"`frequencies` or `counts` must be given, and not both, got {got}"
        raise InputError(msg)
    name, given = ("counts", counts) if frequencies is None else ("frequencies", frequencies)
    shares = finite(name, float_array(name, given, (problem.size,)), nonnegative=True)
    total = float(shares.sum())
    if not total > 0 or (frequencies is not None and abs(total - 1) > 1e-6):  # noqa: PLR2004
        rule = "have a positive sum" if frequencies is None else "sum to 1"
        msg = f"`{name}` must {rule}, got {total:g}"
        raise InputError(msg)
    return shares / total
