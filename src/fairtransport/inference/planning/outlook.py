"""Outlook: about how many cases would settle a verdict that is still open."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Annotated

from fairtransport.documents import Doc
from fairtransport.inference.planning.binomial_power import BinomialTest
from fairtransport.inference.planning.smallest_sample import GOALS, is_share

if TYPE_CHECKING:
    from fairtransport.inference.laws import SamplingLaw
    from fairtransport.inference.planning.pilot import Pilot

POWER = 0.8
"""The probability with which so many cases settle it, if the population is as the sample."""
MOST_CASES = 10_000_000
"""More than these are told as more."""
MOST_EXACT = 1_000_000
"""Up to so many the power is worked out exactly where it can be, which takes a tenth of a second.
"""
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
    pilot: Pilot, price: float, n: int, law: SamplingLaw, delta: float, alpha: float
) -> Outlook:
    """Return about how many cases would settle an inconclusive verdict, at next to no cost.

    Parameters
    ----------
    pilot
        The audit as a plan sees it.
    price
        ν, the audit's price of the budget.
    n
        The size of the audit's sample.
    law
        What the sample says.
    delta, alpha
        The threshold and the level.

    Returns
    -------
    Outlook
        Towards the side of δ that the estimate is on; impossible where no bound on that side
        exists.

    Notes
    -----
    A plug-in estimate, no bound: it takes the sample's value for the population's. With N people
    the estimate varies by σ/√N, σ the standard deviation of the net gains φ_ν at the audit's
    price, and the bound is z_{1−α}·σ/√N + b/N away from it: what it is wider than a normal one
    falls faster, and b is what it is at this n. N solves
    |ψ − δ| = (z_{1−α} + z_power)·σ/√N + b/N. Where the audit is Clopper–Pearson's, its exact power
    tells N instead.
    """
    found = law.estimate
    goal = "reject" if found > delta else "certify"
    bound = law.lower_bound(alpha) if goal == "reject" else law.upper_bound(alpha)
    if not math.isfinite(bound):
        return Outlook(goal, None, possible=False, power=POWER)
    size = _size_for(abs(found - delta), abs(found - bound), _spread(pilot, price), n, alpha)
    if size <= MOST_EXACT and law.method == "finite-sample" and is_share(pilot):
        size = BinomialTest(min(found, 1.0), delta, alpha, goal == "certify").sample_size(POWER)
    cases = None if size > MOST_CASES else _rounded_up(max(size, n + 1))
    return Outlook(goal, cases, possible=True, power=POWER)


def _spread(pilot: Pilot, price: float) -> float:
    """Return the standard deviation of the net gains at a price.

    Parameters
    ----------
    pilot
        The problem and the sample's frequencies.
    price
        ν; infinite where only free moves count.
    """
    gains = pilot.problem.frontiers.net_gains(price)
    mean = float(pilot.frequencies @ gains)
    return math.sqrt(max(float(pilot.frequencies @ gains**2) - mean**2, 0.0))


def _size_for(apart: float, width: float, spread: float, n: int, alpha: float) -> float:
    """Solve for the size at which a bound is as far from the estimate as δ, with the power.

    Parameters
    ----------
    apart
        |ψ − δ|; at 0 no size is enough.
    width
        How far the bound is from the estimate now.
    spread
        σ.
    n, alpha
        The size now, and the level.

    Returns
    -------
    float
        The root in √N of apart·N − linear·√N − more = 0, squared.
    """
    if apart == 0:
        return math.inf
    normal = NormalDist()
    level = normal.inv_cdf(1 - alpha)
    more = max(width - level * spread / math.sqrt(n), 0.0) * n
    linear = (level + normal.inv_cdf(POWER)) * spread
    return ((linear + math.sqrt(linear**2 + 4 * apart * more)) / (2 * apart)) ** 2


def _rounded_up(size: float) -> int:
    """Return a size with no more digits than an estimate has, never less than it.

    Examples
    --------
    >>> _rounded_up(1234), _rounded_up(87)
    (1300, 87)
    """
    step = int(10 ** max(0, math.floor(math.log10(size)) + 1 - DIGITS))
    return math.ceil(size / step) * step
