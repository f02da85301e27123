"""Bounds, tests and certificates that hold at every sample size, by betting."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import number
from fairtransport.inference.finite.certificate import Certificate
from fairtransport.inference.finite.clopper_pearson import (
    p_share_at_least,
    p_share_at_most,
    share_at_least,
    share_at_most,
)
from fairtransport.inference.finite.evidence import (
    LEAST_THRESHOLD,
    Evidence,
    GainLimits,
    fixed_stakes,
)
from fairtransport.inference.finite.ladder import Ladder
from fairtransport.inference.finite.least_wealth import log_mean
from fairtransport.inference.finite.levels import SMALLEST_LEVEL, smallest_level
from fairtransport.inference.finite.rejection import Rejection
from fairtransport.inference.laws import Interval, SamplingLaw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairtransport.checks import IntArray
    from fairtransport.transport import AuditProblem

LEAST_LEVEL = sys.float_info.min
MOST_LOG_WEALTH = 700.0
"""More evidence than this is told as this much: a number has to hold it."""


@dataclass(frozen=True, eq=False)
class FiniteSampleLaw(SamplingLaw):
    """Inference about ψ(f*) with guarantees at every n.

    Attributes
    ----------
    problem, counts
        The audit problem and the sample.
    limits
        What is known of gains before the data.
    alpha
        The level that p-values are aimed at.
    rng
        Draws the random orders in which the sample is bet on.
    delta
        The threshold that was declared before the data, if there is one.

    Notes
    -----
    Write Y_ν = φ_ν + εν. H0: ψ(f*) <= δ says that E Y_ν <= δ at *some* price ν, so it is rejected
    when that is rejected at *every* price, each at level α (an intersection–union test). Each is
    tested by wealth processes over random orders of the sample (`rejection_bets`); these are
    exchangeable, and the largest mean of the first of them decides (`Evidence.average`).
    H0': ψ(f*) >= δ implies E Y_ν >= δ at *every* price, so one that is chosen from earlier records
    will do (`certificate_bets`). Bounds are the first thresholds that are not rejected; they and
    the tests at the declared δ are one family of tests, so that the lower bound reaches δ exactly
    if δ-fairness is rejected, and the upper bound is at most δ exactly if it is certified. Where
    gains are known to be two-valued and free, everything is Clopper–Pearson. Where targets are
    observed points, φ is smaller than over the whole space; a mixture of fixed stakes grows
    with φ, so that its lower bounds still hold.
    """

    problem: AuditProblem
    counts: IntArray
    limits: GainLimits
    alpha: float
    rng: np.random.Generator
    delta: float | None = None

    @property
    def guarantee(self) -> str:
        """What the bounds promise: their level at every n."""
        return "finite-sample"

    @property
    def most_gain(self) -> float:
        """An upper limit of every gain: what ψ cannot exceed even if everybody moved for free."""
        return self.limits.most

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return L with P(L <= ψ(f*)) >= 1 − α at every n."""
        alpha = self._level(alpha)
        if self.most_gain == 0:
            return 0.0
        if self.limits.two_valued:
            return self.most_gain * share_at_least(self._full_gains, self.n, alpha)
        declared = None if self.delta is None else self._testable(self.delta)
        return self._cached("lower", alpha, Rejection(self._evidence, declared).bound)

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return U with P(U >= ψ(f*)) >= 1 − α at every n; infinite without fixed targets."""
        alpha = self._level(alpha)
        if not self.fixed_targets:
            return math.inf
        if self.most_gain == 0:
            return 0.0
        if self.limits.two_valued:
            return self.most_gain * share_at_most(self._any_gains, self.n, alpha)
        return self._cached("upper", alpha, Certificate(self._evidence, self.delta).bound)

    def interval(self, alpha: float = 0.05) -> Interval:
        """Return the two-sided confidence interval at level 1 − α, no end inside its bound."""
        half = self._level(alpha) / 2
        return Interval(
            min(self.lower_bound(half), self.lower_bound(alpha)),
            max(self.upper_bound(half), self.upper_bound(alpha)),
        )

    def rejects(self, delta: float, alpha: float = 0.05) -> bool:
        """Whether δ-fairness is rejected at level α, by the test at this δ."""
        if delta < 0:
            return True
        if self.limits.two_valued or delta >= self.most_gain:
            return self.lower_bound(alpha) > delta
        if delta == 0:
            return self._anybody_gains
        rejection = Rejection(self._evidence, self._testable(delta))
        return rejection.rejects(Ladder.main_level(self._level(alpha)))

    def certifies(self, delta: float, alpha: float = 0.05) -> bool:
        """Whether δ-fairness is certified at level α, by the test at this δ."""
        if not self.fixed_targets:
            return False
        if delta >= self._data_free_bound:
            return True
        if self.limits.two_valued or delta <= 0:
            return self.upper_bound(alpha) <= delta
        return Certificate(self._evidence, delta).certifies(Ladder.main_level(self._level(alpha)))

    def graded_pvalue(self, delta: float, levels: Sequence[float]) -> float:
        """Return the p-value of H0: ψ(f*) <= δ, exact at some levels below α.

        At each of them it is at most that level only if the test made for it rejects.
        """
        if self.limits.two_valued or not 0 < delta < self.most_gain:
            return self.pvalue(delta)
        rejection = Rejection(self._evidence, self._testable(delta))
        return smallest_level(rejection.rejects, self.alpha, levels)

    def evalue(self, delta: float) -> float:
        """Return the wealth of a mixture of fixed stakes against ψ(f*) <= δ.

        Its mean is at most 1 if ψ(f*) <= δ, at every n, so that those of independent samples
        may be multiplied.
        """
        threshold = max(number("delta", delta), LEAST_THRESHOLD * self.most_gain)
        if threshold >= self.most_gain:
            return 1.0
        return math.exp(min(_log_evalue(self._evidence, threshold), MOST_LOG_WEALTH))

    def _p_greater(self, delta: float) -> float:
        """Return the p-value of H0: ψ(f*) <= δ.

        Parameters
        ----------
        delta
            The threshold. Negative ones are impossible values of ψ and have the smallest p-value
            that is told; at the largest gain or above nothing can be said against H0.

        Returns
        -------
        float
            Exact where gains are two-valued; else one of the levels that `smallest_level` goes
            through.
        """
        if self.limits.two_valued:
            return p_share_at_most(self._full_gains, self.n, delta / self.most_gain)
        if delta >= self.most_gain:
            return 1.0
        if delta <= 0:
            return SMALLEST_LEVEL if delta < 0 or self._anybody_gains else 1.0
        return smallest_level(Rejection(self._evidence, self._testable(delta)).rejects, self.alpha)

    def _p_less(self, delta: float) -> float:
        """Return the p-value of H0: ψ(f*) >= δ, whose rejection certifies δ.

        Parameters
        ----------
        delta
            The threshold. Above what needs no data H0 is impossible; without fixed targets
            nothing is ever certified, and the p-value is 1.
        """
        if not self.fixed_targets:
            return 1.0
        if self.limits.two_valued:
            return p_share_at_least(self._any_gains, self.n, delta / self.most_gain)
        if delta > self._data_free_bound:
            return SMALLEST_LEVEL
        if delta <= 0 or delta >= self.most_gain:
            return 1.0
        return smallest_level(Certificate(self._evidence, delta).certifies, self.alpha)

    def _testable(self, delta: float) -> float:
        """Return δ, or the least that can be staked against: rejecting more rejects δ too.

        Parameters
        ----------
        delta
            The threshold. A stake is at most .75/δ, so that very small ones would ask for numbers
            that floats cannot hold; 0 and less have no bets and are returned as they are.
        """
        return max(delta, LEAST_THRESHOLD * self.most_gain) if delta > 0 else delta

    @cached_property
    def _evidence(self) -> Evidence:
        """The sample as bets see it; its random orders are drawn once and shared by all tests."""
        return Evidence(self.problem, self.counts, self.limits, self.fixed_targets, self.rng)

    @property
    def _anybody_gains(self) -> bool:
        """Whether somebody in the sample has a gain within the budget's reach, so that ψ > 0.

        Notes
        -----
        With a budget the price 0 is asked, at which everything reachable counts: however dear a
        gain is, a small share of people could take it. ψ <= 0 is then refuted without any error.
        """
        price = math.inf if self.limits.linear else 0.0
        gains = self.problem.frontiers.net_gains(price)
        return bool(np.any(gains[self.counts > 0] > 0))

    @property
    def _full_gains(self) -> int:
        """How many people have the largest gain; what is less counts as nothing."""
        gains = self.problem.frontiers.base_gain
        return int(self.counts[gains >= self.most_gain].sum())

    @property
    def _any_gains(self) -> int:
        """How many people have a gain: for upper bounds, whatever it is counts as the largest."""
        return int(self.counts[self.problem.frontiers.base_gain > 0].sum())

    @property
    def _data_free_bound(self) -> float:
        """What ψ cannot exceed whatever the population."""
        return self.limits.data_free_bound(self._evidence.budget)

    def _cached(self, side: str, alpha: float, compute: Callable[[float], float]) -> float:
        """Return a bound, computed once for each side and level.

        Parameters
        ----------
        side
            ``"lower"`` or ``"upper"``.
        alpha
            The level.
        compute
            Maps the level to the bound; seconds, where it has to climb a ladder.
        """
        key = f"_{side}_{alpha!r}"
        if key not in self.__dict__:
            self.__dict__[key] = compute(alpha)
        return float(self.__dict__[key])


def _log_evalue(evidence: Evidence, delta: float) -> float:
    """Return the logarithm of the wealth of a mixture of fixed stakes against ψ(f*) <= δ.

    Parameters
    ----------
    evidence
        The sample; whether its targets are fixed makes no difference here.
    delta
        The threshold, positive and below the largest gain.

    Returns
    -------
    float
        log E with E[E] <= 1 if ψ(f*) <= δ.

    Notes
    -----
    At the population's price ν the records' Y_ν are independent with mean at most δ, so each
    fixed stake λ has E Π(1 + λ(Y_ν − δ)) <= 1, and so has the mean over stakes that depend on δ
    and n alone. The least wealth over all prices is no more than that at ν. It depends on no
    order, seed or level. It grows with φ, so that it holds for ψ over all targets where those of
    the sample are fewer.
    """
    mixed = replace(evidence, fixed_targets=False)
    if mixed.budget > 0:
        # no wealth reaches the target of such a level: the least wealth itself is looked for
        return Rejection(mixed, delta).log_wealth(LEAST_LEVEL)
    counts, gains = mixed.counts[mixed.occupied], mixed.frontiers.base
    factors = 1 + np.outer(fixed_stakes(delta, mixed.n), gains - delta)
    return log_mean(np.asarray(np.log(factors) @ counts.astype(np.float64)))
