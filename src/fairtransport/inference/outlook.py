"""Outlook: about how many cases would settle an audit's open verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Annotated

from fairtransport._core.schema import Doc
from fairtransport.inference.power import BinomialTest
from fairtransport.inference.sample_plan import GOALS, is_share

if TYPE_CHECKING:
    from fairtransport._core.units import Units
    from fairtransport.inference.laws import SamplingLaw
    from fairtransport.inference.sample_plan import Pilot


POWER = 0.8
"""Probability of a settled verdict, if the population is as the sample."""
MAX_CASES = 10_000_000
"""Largest number of cases that is reported."""
MAX_EXACT_CASES = 1_000_000
"""Largest size for which exact power is computed: it takes a tenth of a second."""
DIGITS = 2
"""An estimate has no more."""


@dataclass(frozen=True)
class Outlook:
    """About how many cases would settle an open verdict, if the population is as the sample."""

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
    """Return about how many cases, or units, would settle an inconclusive verdict, at little cost.

    Notes
    -----
    A plug-in estimate, no bound: it takes the sample's value for the population's. With N people
    the estimate varies by σ/√N, σ the standard deviation of the net gains φ_ν at the audit's
    price, and the bound is z_{1−α}·σ/√N + b/N away from it: what it is wider than a normal one
    falls faster, and b is what it is at this n. N solves
    |ψ − δ| = (z_{1−α} + z_power)·σ/√N + b/N. Where stakes are fixed beforehand, for undeclared
    levels or sizes as given, a bound is wider by a factor that stays: all of its width falls as
    1/√N. Where the audit is Clopper–Pearson's, its exact power tells N instead.
    """
    estimate = law.estimate
    goal = "reject" if estimate > delta else "certify"
    bound = law.lower_bound(alpha) if goal == "reject" else law.upper_bound(alpha)
    if not math.isfinite(bound):
        return Outlook(goal, None, possible=False, power=POWER)
    n, is_single = law.n, units is None or units.is_single
    is_adaptive = (law.fixed_levels or goal == "certify") and (units is None or units.is_adaptive)
    size = _solve_size(
        abs(estimate - delta), abs(estimate - bound), _gain_deviation(pilot, price, units), n,
        alpha if is_adaptive else None,
    )  # fmt: skip
    exact = law.method == "finite-sample" and is_single and is_share(pilot)
    if size <= MAX_EXACT_CASES and exact:
        size = BinomialTest(min(estimate, 1.0), delta, alpha, goal == "certify").sample_size(POWER)
    cases = None if size > MAX_CASES else _round_up(max(size, n + 1))
    return Outlook(goal, cases, possible=True, power=POWER)


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

    Without ``alpha`` all of the width falls as 1/√N.
    """
    if apart == 0:
        return math.inf
    normal = NormalDist()
    power = normal.inv_cdf(POWER)
    if alpha is None:
        return ((width * math.sqrt(n) + power * spread) / apart) ** 2
    level = normal.inv_cdf(1 - alpha)
    more = max(width - level * spread / math.sqrt(n), 0.0) * n
    linear = (level + power) * spread
    return ((linear + math.sqrt(linear**2 + 4 * apart * more)) / (2 * apart)) ** 2


def _round_up(size: float) -> int:
    """Return a size with no more digits than an estimate has, never less than it."""
    step = int(10 ** max(0, math.floor(math.log10(size)) + 1 - DIGITS))
    return math.ceil(size / step) * step
