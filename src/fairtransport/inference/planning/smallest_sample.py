"""sample_size(): how many cases an audit needs to reject δ-fairness, or to certify it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.checks import choice, generator, number, shown, whole
from fairtransport.errors import InputError
from fairtransport.inference.methods import METHODS
from fairtransport.inference.paper.resampling import check_resamples_wanted
from fairtransport.inference.planning.binomial_power import BinomialTest
from fairtransport.inference.planning.pilot import HasPilot, Pilot, as_pilot, pilot_of
from fairtransport.inference.planning.simulated_power import Simulation

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.transport import AuditProblem

GOALS = ("reject", "certify")
CLOPPER_PEARSON = "clopper-pearson"
CURVE_POINTS = 400
MOST_SIMULATIONS = 1_000_000
ALARM = 3.0
"""Standard errors by which the check may miss the wanted power before a note says so."""
UNLIKELY = 1e-4
"""A chance that a plan's percentages do not show."""


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

    Examples
    --------
    >>> import fairtransport as ft
    >>> curve = ft.inference.sample_size(value=0.06, delta=0.0365).curve
    >>> len(curve.n) == len(curve.power), bool(curve.power.max() > 0.8)
    (True, True)
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

    Examples
    --------
    >>> import fairtransport as ft
    >>> plan = ft.inference.sample_size(value=0.06, delta=0.0365)
    >>> plan.n, round(plan.achieved, 3), plan.method
    (555, 0.803, 'clopper-pearson')
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
        """The plan in a sentence.

        Returns
        -------
        str

        Examples
        --------
        >>> print(plan.words)
        With 555 cases, an audit rejects δ-fairness for δ = 0.0365 at level 0.05 with probability
        80.3 % if the true value is 0.06.
        """
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
    delta: float | None = None,
    value: float | None = None,
    pilot: HasPilot | Pilot | None = None,
    problem: AuditProblem | None = None,
    frequencies: object = None,
    counts: object = None,
    goal: str = "reject",
    alpha: float | None = None,
    power: float = 0.8,
    method: str | None = None,
    loss_range: tuple[float, float] | None = None,
    fixed_targets: bool | None = None,
    binary_losses: bool | None = None,
    n_simulations: int = 200,
    n_resamples: int | None = None,
    rng: object = None,
) -> SamplePlan:
    """Return how many cases an audit needs to reach its goal with a given power.

    Parameters
    ----------
    delta
        δ, the threshold of δ-fairness; with ``pilot`` the pilot's unless told.
    value
        The true ψ where it is the share of people who can be swapped into an error: no
        budget (ε = 0), 0-1 loss and fixed targets. The answer is then exact.
    pilot
        Instead of ``value``: the result of an audit of a pilot sample. The planned audit is
        one like it, with more people: everything it will know and do is taken from there.
    problem
        Instead of ``pilot``: an audit problem, with ``frequencies`` or ``counts``,
        ``fixed_targets`` and ``loss_range``.
    frequencies, counts
        The pilot's distribution over the points of the problem. A pilot's frequencies are
        themselves an estimate: the plan is for a population that looks like the pilot, and a
        small pilot can be far from the truth. Plan for several if in doubt.
    goal
        "reject": δ-fairness is rejected; needs ψ > δ. "certify": the upper bound is at
        most δ; needs ψ < δ and fixed targets.
    alpha, power
        The level of the bounds (default: the pilot's, else .05), and the probability with
        which the goal is to be reached.
    method, n_resamples
        As the planned audit will use them, see `sampling_law`; default: the pilot's, else
        "finite-sample" and 1000.
    loss_range
        With ``problem``: the limits of the losses that the planned audit knows before its
        data, as `audit` takes them from the loss. A sample's own losses are no limits.
    fixed_targets
        With ``problem``: True if mass may arrive at all of the problem's targets, whoever is
        sampled (twins over declared levels, a reference frame); False if it may arrive at
        points of the planned audit's own sample only, as with given predictions.
    binary_losses
        With ``problem``: whether the planned audit knows that each loss is an end of
        ``loss_range``, as with 0-1 loss; default: it does not.
    n_simulations
        With a pilot: how many audits are simulated at each of about ten sizes. By betting
        (method "finite-sample" with a budget or other losses) one takes tens of milliseconds.
    rng
        A seed or a numpy generator.

    Returns
    -------
    SamplePlan
        The number of cases, the power, and both in words.

    Raises
    ------
    InputError
        If the goal cannot be reached: a value on the wrong side of δ, targets that vary.

    Notes
    -----
    The exact power is a saw-tooth in n. The answer is the smallest n from which on it never
    falls below ``power``; a smaller n may reach it by luck of the integers.

    With a pilot, audits of people drawn from its frequencies are simulated, on a grid of sizes
    and each growing through it. Each sees what `audit` would see of its sample: with targets
    that depend on it the points of the sample alone, with twins over levels that were not
    declared those levels that occur. The grid's centre comes from doubling and halving; the
    answer is where Φ(a + b√n), fitted to the shares near the wanted one, reaches it. Where such
    an audit is Clopper–Pearson's (method "finite-sample", gains 0 or 1, only free moves, fixed
    targets), the exact route is taken.

    Examples
    --------
    >>> import fairtransport as ft
    >>> plan = ft.inference.sample_size(value=0.06, delta=0.0365)
    >>> print(plan.words)
    With 555 cases, an audit rejects δ-fairness for δ = 0.0365 at level 0.05 with probability 80.3 %
    if the true value is 0.06.
    >>> ft.inference.sample_size(value=0.0, delta=0.01, goal="certify").n
    299
    """
    choice("goal", goal, GOALS)
    draws = generator("rng", rng)
    power = number("power", power, above=0, below=1)
    told = {"frequencies": frequencies, "counts": counts}
    told |= {"loss_range": loss_range, "fixed_targets": fixed_targets}
    told |= {"binary_losses": binary_losses}
    known = _check_source(value, pilot, problem, told)
    delta = number("delta", _first_given("delta", delta, known), at_least=0)
    alpha = number("alpha", _first_given("alpha", alpha, known, 0.05), above=0, below=1)
    if known is None:
        return _exact_plan(_check_share(value), delta, alpha, power, goal)
    method = choice("method", _first_given("method", method, known, "finite-sample"), METHODS)
    _check_goal(known, goal, method)
    if method == "finite-sample" and is_share(known):
        truth = min(known.problem.value(known.frequencies), 1.0)
        plan = _exact_plan(truth, delta, alpha, power, goal, what="the pilot's value")
        # the exact plan is for twins over all levels; a sample that misses one has fewer of them
        if known.chance_to_miss_a_level(plan.n) < UNLIKELY:
            return plan
    simulation = Simulation(
        known, goal, delta, alpha, method,
        check_resamples_wanted(_first_given("n_resamples", n_resamples, known, 1000)),
        whole("n_simulations", n_simulations, at_most=MOST_SIMULATIONS), draws,
    )  # fmt: skip
    _check_side(simulation.value, delta, goal, "the pilot's value")
    return _simulated_plan(simulation, power, goal)


def _exact_plan(
    share: float, delta: float, alpha: float, power: float, goal: str, what: str = "`value`"
) -> SamplePlan:
    """Return the plan for a known share, by the exact power of Clopper–Pearson.

    Parameters
    ----------
    share
        The true ψ.
    delta, alpha, power
        The threshold, the level and the wanted power.
    goal
        "reject" or "certify".
    what
        What the share is called in messages.
    """
    _check_side(share, number("delta", delta, below=1), goal, what)
    test = BinomialTest(share, delta, alpha, goal == "certify")
    n = test.sample_size(power)
    sizes = np.unique(np.linspace(max(1, n // 4), max(2 * n, 20), CURVE_POINTS).astype(np.int64))
    # the chosen size must be on the curve, or the chart's mark would hang beside it
    sizes = np.union1d(sizes, [n])
    exact = test.power(sizes)
    curve = PowerCurve(sizes, exact, np.zeros(len(sizes)), exact, exact)
    notes = [_least_possible(test, n)] if goal == "certify" else []
    return SamplePlan(
        n, float(test.power(np.array([n]))[0]), 0.0, 0.0, goal, share, delta, alpha, power,
        CLOPPER_PEARSON, curve, tuple(notes),
    )  # fmt: skip


def _least_possible(test: BinomialTest, n: int) -> str:
    """Return the rule of three: what even the best sample needs.

    Parameters
    ----------
    test
        The test that is planned.
    n
        The size that the plan came to.
    """
    least = test.least_certifying()
    text = (
        f"Even if nobody in the sample is affected, fewer than {least:,} cases cannot certify: "
        f"n >= log(α)/log(1 − δ) is needed."
    )
    if least >= n / 2:
        text += " The plan leaves room for next to no affected person."
    return text


def _simulated_plan(simulation: Simulation, power: float, goal: str) -> SamplePlan:
    """Return the plan that simulated audits lead to, checked by further ones.

    Parameters
    ----------
    simulation
        The population, and how audits of it are simulated.
    power
        The wanted power.
    goal
        "reject" or "certify".
    """
    n, n_error = simulation.sample_size(power)
    # audits that played no part in finding n: those that did were chosen for their success
    check = simulation.count_afresh(n)
    of = simulation.n_simulations
    achieved = check / of
    # as if half an audit more had gone either way: an error of 0 would be a boast
    smooth = (check + 0.5) / (of + 1)
    error = math.sqrt(smooth * (1 - smooth) / of)
    notes = [*simulation.pilot.notes]
    if not simulation.pilot.fixed_targets:
        notes.append(
            "Each planned audit compares people with points of its own sample alone, of which "
            "a smaller sample has fewer."
        )
    if achieved < power - ALARM * error:
        notes.append(
            f"A check with {of} further audits found a power of {100 * achieved:.1f} %: it does "
            "not rise smoothly with n here. Plan for more."
        )
    return SamplePlan(
        n, achieved, error, n_error, goal, simulation.value, simulation.delta, simulation.alpha,
        power, simulation.method, _curve(simulation), tuple(notes),
    )  # fmt: skip


def _curve(simulation: Simulation) -> PowerCurve:
    """Return the power at every size that was simulated at full length, with its intervals.

    Parameters
    ----------
    simulation
        Which has counted successes and trials by size.

    Returns
    -------
    PowerCurve
        Intervals are Clopper and Pearson's at 95 %, each by itself: beta quantiles, with an end of
        0 or 1 where no trial or every trial succeeded.
    """
    from scipy.special import betaincinv

    sizes = np.array(sorted(simulation.counted))
    good, of = np.array([simulation.counted[n] for n in sizes.tolist()]).T
    share = good / of
    low = np.where(good == 0, 0.0, betaincinv(np.maximum(good, 1), of - good + 1, 0.025))
    high = np.where(good == of, 1.0, betaincinv(good + 1, np.maximum(of - good, 1), 0.975))
    return PowerCurve(sizes, share, np.sqrt(share * (1 - share) / of), low, high)


def is_share(pilot: Pilot) -> bool:
    """Return whether ψ is the share of people who can be swapped, for free, into an error.

    Parameters
    ----------
    pilot
        The planned audit. Fixed targets, free moves and losses that are known to be 0 or 1: then
        nψ(f_n) is binomial.
    """
    free = pilot.problem.budget == 0 or pilot.problem.geometry.is_free
    known = pilot.binary_losses and tuple(pilot.loss_range or ()) == (0, 1)
    return pilot.fixed_targets and free and known and pilot.most_gain in (None, 1.0)


def _check_share(value: object) -> float:
    """Return a value that is a share, or refuse it."""
    share = number("value", value, at_least=0)
    if share > 1:
        msg = f"`value` must be a share, at most 1, got {shown(value)}"
        raise InputError(msg)
    return share


def _check_side(value: float, delta: float, goal: str, what: str) -> None:
    """Refuse a truth on the wrong side of δ: power would never exceed the level there.

    Parameters
    ----------
    value
        The truth that is planned for.
    delta
        The threshold.
    goal
        "reject" needs value > δ, "certify" value < δ.
    what
        What the value is called in the message.
    """
    if (value > delta) if goal == "reject" else (value < delta):
        return
    sign = "<" if goal == "reject" else ">"
    msg = f'`delta` must be {sign} {what} {value:.6g} for the goal "{goal}", got {delta:g}'
    raise InputError(msg)


def _check_source(
    value: object, pilot: object, problem: object, told: dict[str, Any]
) -> Pilot | None:
    """Return the pilot, if it is not the value that a plan starts from.

    Parameters
    ----------
    value, pilot, problem
        Exactly one of them.
    told
        Settings that only go with a problem; those not given are None.

    Raises
    ------
    InputError
        If there is not one source, or a setting that it has no use for.
    """
    sources = {"value": value, "pilot": pilot, "problem": problem}
    given = [name for name, source in sources.items() if source is not None]
    if len(given) != 1:
        got = " and ".join(f"`{name}`" for name in given) or "none"
        msg = f"exactly one of `value`, `pilot` and `problem` must be given, got {got}"
        raise InputError(msg)
    if problem is not None:
        return pilot_of(problem, **told)
    for name, setting in told.items():
        if setting is not None:
            msg = f"`{name}` must come with `problem`, got `{given[0]}`"
            raise InputError(msg)
    return None if pilot is None else as_pilot(pilot)


def _first_given(name: str, given: object, pilot: Pilot | None, default: object = None) -> Any:
    """Return what a plan was told, else what its pilot was, else the default.

    Parameters
    ----------
    name
        The setting, for the pilot's attribute and the message.
    given
        What the caller said.
    pilot
        The pilot, if there is one.
    default
        For want of both.

    Raises
    ------
    InputError
        If there is none of them.
    """
    own = None if pilot is None else getattr(pilot, name)
    found = next((one for one in (given, own, default) if one is not None), None)
    if found is None:
        msg = f"`{name}` must be given, got None"
        raise InputError(msg)
    return found


def _check_goal(pilot: Pilot, goal: str, method: str) -> None:
    """Refuse what the planned audit cannot do at any size.

    Parameters
    ----------
    pilot
        The planned audit.
    goal, method
        "reject" or "certify", and the method of its bounds.

    Raises
    ------
    InputError
        If it has no fixed targets to certify with, or no limits of losses to bet with.
    """
    if goal == "certify" and not pilot.fixed_targets:
        msg = (
            '`goal` must be "reject" where people are compared with people in the audit data '
            'alone, got "certify": that certifies nothing at any size. Twins that a model is '
            "asked about, or a reference frame in `targets`, do."
        )
        raise InputError(msg)
    if method == "finite-sample" and pilot.loss_range is None:
        msg = (
            "`loss_range` must be given for the method 'finite-sample', as the planned audit "
            "knows it before its data: those of a pilot are no limits of the losses; got None"
        )
        raise InputError(msg)
