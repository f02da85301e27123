"""Sample sizes: sample_size() plans an audit, Outlook estimates what an open verdict needs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from fairtransport._core.schema import Doc
from fairtransport._core.validation import (
    check_choice,
    check_generator,
    check_integer,
    check_number,
    short_repr,
)
from fairtransport.errors import InputError, param
from fairtransport.inference.methods import METHODS
from fairtransport.inference.pilot import HasPilot, Pilot, as_pilot, build_pilot, is_share
from fairtransport.inference.power import (
    BinomialTest,
    PilotRange,
    Simulation,
    find_share_range,
    find_simulated_range,
)
from fairtransport.inference.resampling import check_n_resamples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtransport._core.units import Units
    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.inference.laws import SamplingLaw
    from fairtransport.transport import AuditProblem


GOALS = ("reject", "certify")
CLOPPER_PEARSON = "clopper-pearson"
CURVE_POINTS = 400
MAX_SIMULATIONS = 1_000_000
ALARM_ERRORS = 3.0
"""Standard errors by which the check may miss the target power without a note."""
CASES = (
    "Cases are independent people. If rows belong together, as those of a household, count "
    "households, not rows."
)
NEGLIGIBLE_CHANCE = 1e-4
"""A probability too small for the percentages of a plan."""
OUTLOOK_POWER = 0.8
"""Probability of a settled verdict, if the population is like the sample."""
MAX_OUTLOOK_CASES = 10_000_000
"""Largest number of cases that is reported."""
MAX_EXACT_CASES = 1_000_000
"""Largest size for which exact power is computed: it takes a tenth of a second."""
OUTLOOK_DIGITS = 2
"""Number of significant digits of an estimate."""


@dataclass(frozen=True, eq=False)
class PowerCurve:
    """The power of an audit at several sizes.

    Attributes
    ----------
    n
        The sizes, increasing.
    power
        The probability of reaching the goal, exact or simulated.
    error
        Its Monte-Carlo standard error; 0 if exact.
    low, high
        A 95 % interval for the power (Clopper–Pearson); the power itself if exact.

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
        The power with n cases and its Monte-Carlo standard error, 0 if exact. If simulated, it
        comes from audits that were not used to choose n.
    n_error
        The Monte-Carlo standard error of n; 0 if exact.
    goal
        "reject" or "certify".
    value
        The assumed true ψ.
    delta, alpha, power
        The threshold, the level and the target power.
    method
        "clopper-pearson" (exact), or the method of the simulated audits.
    curve
        The power around n.
    notes
        Notes for readers of the numbers.
    value_range, n_range, power_range
        Ranges due to the error of a pilot, each with probability 95 %: of ψ, of the cases needed
        (up to None if possibly no number is enough), and of the power with n cases. None for a
        given value, and for frequencies of an unknown number of people.

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
    value_range: tuple[float, float] | None = None
    n_range: tuple[int, int | None] | None = None
    power_range: tuple[float, float] | None = None

    @property
    def words(self) -> str:
        """The plan in a sentence, with the pilot's error and the meaning of a case."""
        return " ".join([self._plan_words, *self._range_words(), CASES])

    def _range_words(self) -> Iterator[str]:
        """Yield the ranges of the plan due to the error of the pilot."""
        if self.n_range is None or self.power_range is None or self.value_range is None:
            return
        (fewest, most), (low, high) = self.n_range, self.power_range
        needed = (
            f"at least {fewest:,} people would be needed, if any number is enough"
            if most is None
            else f"{fewest:,} to {most:,} people would be needed"
        )
        values = " to ".join(f"{value:.4g}" for value in self.value_range)
        yield (
            f"The pilot is itself a sample: with 95 % confidence the true value is {values}. For "
            f"such values {needed}, and {self.n:,} would be enough with a probability of "
            f"{100 * low:.0f} to {100 * high:.0f} %."
        )

    @property
    def _plan_words(self) -> str:
        """The number of people and its effect, in a sentence."""
        what = "rejects" if self.goal == "reject" else "certifies"
        people = "1 person" if self.n == 1 else f"{self.n:,} people"
        if self.method == CLOPPER_PEARSON:
            about, chance = "", f"{100 * self.achieved:.1f} %"
        else:
            about = "about "
            error = f"Monte-Carlo error {100 * self.achieved_error:.1f} %"
            chance = f"{100 * self.achieved:.1f} % ({error})"
        return (
            f"With {about}{people}, an audit {what} δ-fairness for δ = {self.delta:g} at level "
            f"{self.alpha:g} with a probability of {chance} if the true value is {self.value:.4g}."
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

    Cases are independent people; if rows belong together (``clusters`` of `audit`), count the
    clusters, not the rows.

    Parameters
    ----------
    delta
        δ, the threshold of δ-fairness; by default the pilot's.
    value
        The true ψ if it is the share of people who can be swapped into an error: no budget (ε = 0),
        0-1 loss and fixed targets. The answer is then exact.
    pilot
        Instead of ``value``: the result of an audit of a pilot sample. The planned audit has the
        same settings, and more people.
    problem
        Instead of ``pilot``: an audit problem, with ``frequencies`` or ``counts``,
        ``fixed_targets`` and ``loss_range``.
    frequencies, counts
        The pilot's distribution over the points of the problem, which is an estimate: with
        ``counts``, or a result as ``pilot``, the plan has ranges for its error.
    goal
        "reject": δ-fairness is rejected; needs ψ > δ. "certify": the upper bound is at
        most δ; needs ψ < δ and fixed targets.
    alpha, power
        The level of the bounds (default: the pilot's, else .05), and the target probability of
        reaching the goal.
    method, n_resamples
        Those of the planned audit, see `sampling_law`; default: the pilot's, else "finite-sample"
        and 1000.
    loss_range
        With ``problem``: limits of the losses that the planned audit knows before its data. A
        sample's own losses are not such limits.
    fixed_targets
        With ``problem``: True if mass may arrive at all of the problem's targets for any sample
        (twins over declared levels, a reference frame); False if it may arrive only at points of
        the planned audit's own sample, as with given predictions.
    binary_losses
        With ``problem``: whether the planned audit knows that each loss is an end of
        ``loss_range``, as with 0-1 loss; default: it does not.
    n_simulations
        With a pilot: number of simulated audits at each of about ten sizes. With bets (method
        "finite-sample" with a budget or other losses) one takes tens of milliseconds.
    rng
        A seed or a numpy generator.

    Returns
    -------
    SamplePlan
        The number of cases, the power, and both in words.

    Raises
    ------
    InputError
        If the goal cannot be reached, for a value on the wrong side of δ or targets that vary.

    Notes
    -----
    The exact power is a saw-tooth in n. The answer is the smallest n from which on it never falls
    below ``power``; a smaller n may reach it by chance.

    With a pilot, audits of people drawn from its frequencies are simulated, on a grid of sizes and
    each growing through it. Each has what `audit` would have: with targets that depend on its
    sample the points of the sample only, with twins over undeclared levels the observed levels. The
    grid's centre comes from doubling and halving; the answer is where Φ(a + b√n), fitted to the
    shares near the target, reaches it. If such an audit is Clopper–Pearson's (method
    "finite-sample", gains 0 or 1, only free moves, fixed targets), the exact power is used.

    The ranges for a pilot of known size come from a 95 % interval of its ψ: exact if the plan is,
    else by the audit's own bounds, with the pilot's people weighted so that ψ lies at its ends and
    a normal approximation of the power there.

    Examples
    --------
    >>> import fairtransport as ft
    >>> plan = ft.inference.sample_size(value=0.06, delta=0.0365)
    >>> print(plan.words)
    With 555 people, an audit rejects δ-fairness for δ = 0.0365 at level 0.05 with a probability of
    80.3 % if the true value is 0.06. Cases are independent people. If rows belong together, as
    those of a household, count households, not rows.
    >>> ft.inference.sample_size(value=0.0, delta=0.01, goal="certify").n
    299
    """
    check_choice("goal", goal, GOALS)
    draws = check_generator("rng", rng)
    power = check_number("power", power, above=0, below=1)
    details = {"frequencies": frequencies, "counts": counts}
    details |= {"loss_range": loss_range, "fixed_targets": fixed_targets}
    details |= {"binary_losses": binary_losses}
    source = _check_source(value, pilot, problem, details)
    delta = check_number("delta", _first_setting("delta", delta, source), at_least=0)
    alpha = check_number("alpha", _first_setting("alpha", alpha, source, 0.05), above=0, below=1)
    if source is None:
        return _build_exact_plan(_check_share(value), delta, alpha, power, goal)
    method = check_choice(
        "method", _first_setting("method", method, source, "finite-sample"), METHODS
    )
    _check_goal(source, goal, method)
    if method == "finite-sample" and is_share(source):
        truth = min(source.problem.value(source.frequencies), 1.0)
        plan = _build_exact_plan(truth, delta, alpha, power, goal, what="the pilot's value")
        # the exact plan is for twins over all levels; a sample that misses one has fewer of them
        if source.chance_to_miss_a_level(plan.n) < NEGLIGIBLE_CHANCE:
            if source.n is None:
                return plan
            test = BinomialTest(truth, delta, alpha, goal == "certify")
            return _with_range(plan, find_share_range(test, source.n, plan.n, power))
    simulation = Simulation(
        source, goal, delta, alpha, method,
        check_n_resamples(_first_setting("n_resamples", n_resamples, source, 1000)),
        check_integer("n_simulations", n_simulations, at_most=MAX_SIMULATIONS), draws,
    )  # fmt: skip
    _check_side(simulation.value, delta, goal, "the pilot's value")
    plan = _build_simulated_plan(simulation, power, goal)
    if source.n is None:
        return plan
    span = find_simulated_range(simulation, source.n, plan.n, plan.achieved, power)
    return _with_range(plan, span)


def _with_range(plan: SamplePlan, span: PilotRange) -> SamplePlan:
    """Return a plan with the ranges of its pilot."""
    return replace(plan, value_range=span.value, n_range=span.n, power_range=span.power)


def _build_exact_plan(
    share: float, delta: float, alpha: float, power: float, goal: str, what: str = param("value")
) -> SamplePlan:
    """Return the plan for a known share, by the exact power of Clopper–Pearson."""
    _check_side(share, check_number("delta", delta, below=1), goal, what)
    test = BinomialTest(share, delta, alpha, goal == "certify")
    n = test.sample_size(power)
    sizes = np.unique(np.linspace(max(1, n // 4), max(2 * n, 20), CURVE_POINTS).astype(np.int64))
    # the curve must contain the chosen size, which the chart marks
    sizes = np.union1d(sizes, [n])
    exact = test.power(sizes)
    curve = PowerCurve(sizes, exact, np.zeros(len(sizes)), exact, exact)
    notes = [_describe_minimum(test, n)] if goal == "certify" else []
    return SamplePlan(
        n, float(test.power(np.array([n]))[0]), 0.0, 0.0, goal, share, delta, alpha, power,
        CLOPPER_PEARSON, curve, tuple(notes),
    )  # fmt: skip


def _describe_minimum(test: BinomialTest, n: int) -> str:
    """Return the rule of three: what even the best sample needs."""
    least = test.least_certifying()
    text = (
        f"With fewer than {least:,} cases, no audit can certify, even if nobody in the sample is "
        "affected (n ≥ log(α)/log(1 − δ))."
    )
    if least >= n / 2:
        text += " The plan allows hardly any affected person."
    return text


def _build_simulated_plan(simulation: Simulation, power: float, goal: str) -> SamplePlan:
    """Return the plan of simulated audits, checked by further ones."""
    n, n_error = simulation.sample_size(power)
    # new audits, as those used to find n were chosen for their success
    check = simulation.count_afresh(n)
    of = simulation.n_simulations
    achieved = check / of
    # half an audit more either way, so that the error is not 0
    smooth = (check + 0.5) / (of + 1)
    error = math.sqrt(smooth * (1 - smooth) / of)
    notes = [*simulation.pilot.notes]
    if not simulation.pilot.fixed_targets:
        notes.append(
            "Each planned audit compares people only with people of its own sample, and a smaller "
            "sample has fewer."
        )
    if achieved < power - ALARM_ERRORS * error:
        notes.append(
            f"A check with {of} further simulated audits found a power of only "
            f"{100 * achieved:.1f} %: here it does not rise smoothly with n. Plan for more."
        )
    return SamplePlan(
        n, achieved, error, n_error, goal, simulation.value, simulation.delta, simulation.alpha,
        power, simulation.method, _build_curve(simulation), tuple(notes),
    )  # fmt: skip


def _build_curve(simulation: Simulation) -> PowerCurve:
    """Return the power at every size with all simulations, with its intervals."""
    from scipy.special import betaincinv

    sizes = np.array(sorted(simulation.successes))
    good, of = np.array([simulation.successes[n] for n in sizes.tolist()]).T
    share = good / of
    low = np.where(good == 0, 0.0, betaincinv(np.maximum(good, 1), of - good + 1, 0.025))
    high = np.where(good == of, 1.0, betaincinv(good + 1, np.maximum(of - good, 1), 0.975))
    return PowerCurve(sizes, share, np.sqrt(share * (1 - share) / of), low, high)


def _check_share(value: object) -> float:
    """Return a value, checked to be a share."""
    share = check_number("value", value, at_least=0)
    if share > 1:
        msg = f"{param('value')} must be a share of people, at most 1, got {short_repr(value)}"
        raise InputError(msg)
    return share


def _check_side(value: float, delta: float, goal: str, what: str) -> None:
    """Check that the truth is on the goal's side of δ: else power never exceeds the level."""
    if (value > delta) if goal == "reject" else (value < delta):
        return
    sign = "below" if goal == "reject" else "above"
    msg = f'{param("delta")} must be {sign} {what} {value:.6g} for the goal "{goal}", got {delta:g}'
    raise InputError(msg)


def _check_source(
    value: object, pilot: object, problem: object, details: dict[str, Any]
) -> Pilot | None:
    """Return the pilot; None if a plan starts from the value."""
    sources = {"value": value, "pilot": pilot, "problem": problem}
    names = [name for name, source in sources.items() if source is not None]
    if len(names) != 1:
        got = " and ".join(f"{param(name)}" for name in names) or "none"
        msg = (
            f"exactly one of {param('value')}, {param('pilot')} and {param('problem')} must be "
            f"given, got {got}"
        )
        raise InputError(msg)
    if problem is not None:
        return build_pilot(problem, **details)
    for name, setting in details.items():
        if setting is not None:
            msg = f"{param(name)} must come with {param('problem')}, got {param(names[0])}"
            raise InputError(msg)
    return None if pilot is None else as_pilot(pilot)


def _first_setting(name: str, value: object, pilot: Pilot | None, default: object = None) -> Any:
    """Return a setting of the plan, else of its pilot, else the default."""
    own = None if pilot is None else getattr(pilot, name)
    setting = next((one for one in (value, own, default) if one is not None), None)
    if setting is None:
        msg = f"{param(name)} must be given, got None"
        raise InputError(msg)
    return setting


def _check_goal(pilot: Pilot, goal: str, method: str) -> None:
    """Check that the planned audit can reach the goal at some size."""
    if goal == "certify" and not pilot.fixed_targets:
        msg = (
            f'{param("goal")} must be "reject" where people are compared with people in the audit '
            'data alone, got "certify": such an audit certifies nothing at any size. Give a '
            f"{param('model')} to query, or {param('targets')}"
        )
        raise InputError(msg)
    if method == "finite-sample" and pilot.loss_range is None:
        msg = (
            f"{param('loss_range')} must be given for the method 'finite-sample', got None: the "
            "losses of a pilot do not show how large a loss can be"
        )
        raise InputError(msg)


@dataclass(frozen=True)
class Outlook:
    """Estimated cases that settle an open verdict, if the population is like the sample."""

    goal: Annotated[
        str, Doc("What the audit would come to: the estimate is on that side.", one_of=GOALS)
    ]
    cases: Annotated[
        int | None,
        Doc("About how many cases in all; null where that is too many to tell, or never enough."),
    ]
    possible: Annotated[bool, Doc("Whether any number of cases can do that.")]
    power: Annotated[float, Doc("The probability with which so many cases would do.")]


def find_outlook(
    pilot: Pilot, price: float, law: SamplingLaw, delta: float, alpha: float,
    units: Units | None = None,
) -> Outlook:  # fmt: skip
    """Return a cheap estimate of the cases, or units, that settle an inconclusive verdict.

    A plug-in estimate, not a bound: it uses the sample's value for the population's. With N people
    the estimate varies by σ/√N, σ the standard deviation of the net gains φ_ν at the audit's price,
    and the bound is z_{1−α}·σ/√N + b/N away from it: its excess over a normal one decreases faster,
    and b is taken from this n. N solves |ψ − δ| = (z_{1−α} + z_power)·σ/√N + b/N. With stakes fixed
    beforehand, for undeclared levels or given sizes, a bound is wider by a constant factor: all of
    its width decreases as 1/√N. If the audit is Clopper–Pearson's, its exact power determines N
    instead.
    """
    estimate = law.estimate
    goal = "reject" if estimate > delta else "certify"
    bound = law.lower_bound(alpha) if goal == "reject" else law.upper_bound(alpha)
    if not math.isfinite(bound):
        return Outlook(goal, None, possible=False, power=OUTLOOK_POWER)
    n, is_single = law.n, units is None or units.is_single
    is_adaptive = (law.fixed_levels or goal == "certify") and (units is None or units.is_adaptive)
    size = _solve_size(
        abs(estimate - delta), abs(estimate - bound), _gain_deviation(pilot, price, units), n,
        alpha if is_adaptive else None,
    )  # fmt: skip
    exact = law.method == "finite-sample" and is_single and is_share(pilot)
    if size <= MAX_EXACT_CASES and exact:
        size = BinomialTest(min(estimate, 1.0), delta, alpha, goal == "certify").sample_size(
            OUTLOOK_POWER
        )
    cases = None if size > MAX_OUTLOOK_CASES else _round_up(max(size, n + 1))
    return Outlook(goal, cases, possible=True, power=OUTLOOK_POWER)


def _gain_deviation(pilot: Pilot, price: float, units: Units | None) -> float:
    """Return the standard deviation of the net gains at a price, for units of their weighted mean.

    The weighted mean of m units varies by this over √m.
    """
    gains = pilot.problem.net_gains(price)
    if units is not None:
        total, weights = float(units.counts @ units.weights), units.weights
        means = units.means(gains)
        apart = weights * (means - float(units.counts @ (weights * means)) / total)
        return math.sqrt(float(units.counts @ apart**2) * units.n) / total
    mean = float(pilot.frequencies @ gains)
    return math.sqrt(max(float(pilot.frequencies @ gains**2) - mean**2, 0.0))


def _solve_size(apart: float, width: float, spread: float, n: int, alpha: float | None) -> float:
    """Solve for the size at which a bound is as far from the estimate as δ, with the power.

    Without ``alpha`` all of the width decreases as 1/√N.
    """
    if apart == 0:
        return math.inf
    normal = NormalDist()
    power = normal.inv_cdf(OUTLOOK_POWER)
    if alpha is None:
        return ((width * math.sqrt(n) + power * spread) / apart) ** 2
    level = normal.inv_cdf(1 - alpha)
    more = max(width - level * spread / math.sqrt(n), 0.0) * n
    linear = (level + power) * spread
    return ((linear + math.sqrt(linear**2 + 4 * apart * more)) / (2 * apart)) ** 2


def _round_up(size: float) -> int:
    """Return a size rounded up to the digits of an estimate."""
    step = int(10 ** max(0, math.floor(math.log10(size)) + 1 - OUTLOOK_DIGITS))
    return math.ceil(size / step) * step
