"""Bounds and tests from gains that are known between two limits only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.inference.finite.evidence import CAP, GainLimits
from fairtransport.inference.finite.least_wealth import log_mean
from fairtransport.inference.laws import Interval, SamplingLaw
from fairtransport.transport.bracket import RUNG, price_of_rung

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.inference.finite.finite_sample import FiniteSampleLaw
    from fairtransport.transport.bracket import BracketedProblem

RUNGS = 512
"""Prices of the ladder among which an upper bound's wealth is divided, from the highest that can
be optimal downwards."""
STAKES = 16
"""Stakes at each of these prices, among which it is divided again."""
FINENESS = 1e-4
"""To which an upper bound is found, as a share of the largest gain over √n."""


@dataclass(frozen=True, eq=False)
class BracketedLaw(SamplingLaw):
    """What a sample says about ψ(f*) where ψ(f_n) is known as a bracket.

    Attributes
    ----------
    below
        The law of the targets that were found, made for targets that depend on the sample.
    above
        Bets against ψ >= δ on gains that are at least the true ones.

    Notes
    -----
    Which prices and points were searched depends on the sample, so the limits of gains do, too.
    Stakes and prices that follow earlier records would no longer be honest. All bets here have
    fixed stakes at prices fixed beforehand, and each wealth is monotone in the gains: gains that
    are too small give too little wealth against ψ <= δ, gains that are too large too little
    against ψ >= δ, however they came about.
    """

    below: FiniteSampleLaw
    above: Ceiling

    @property
    def guarantee(self) -> str:
        """What the bounds promise: their level at every n."""
        return "finite-sample"

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return L with P(L <= ψ(f*)) >= 1 − α at every n."""
        return self.below.lower_bound(alpha)

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return U with P(U >= ψ(f*)) >= 1 − α at every n; infinite without fixed targets."""
        return self.above.bound(self._level(alpha)) if self.fixed_targets else math.inf

    def interval(self, alpha: float = 0.05) -> Interval:
        """Return the two-sided confidence interval at level 1 − α."""
        return Interval(self.below.interval(alpha).lower, self.upper_bound(alpha / 2))

    def rejects(self, delta: float, alpha: float = 0.05) -> bool:
        """Whether δ-fairness is rejected at level α."""
        return self.below.rejects(delta, alpha)

    def certifies(self, delta: float, alpha: float = 0.05) -> bool:
        """Whether δ-fairness is certified at level α."""
        return self.fixed_targets and self.above.log_wealth(delta) >= -math.log(alpha)

    def graded_pvalue(self, delta: float, levels: Sequence[float]) -> float:
        """Return the p-value of H0: ψ(f*) <= δ, exact at some levels below α."""
        return self.below.graded_pvalue(delta, levels)

    def evalue(self, delta: float) -> float:
        """Return the wealth of a mixture of fixed stakes against ψ(f*) <= δ."""
        return self.below.evalue(delta)

    def _p_greater(self, delta: float) -> float:
        return self.below.pvalue(delta)

    def _p_less(self, delta: float) -> float:
        return min(1.0, math.exp(-self.above.log_wealth(delta))) if self.fixed_targets else 1.0


@dataclass(frozen=True, eq=False)
class Ceiling:
    """Evidence against ψ >= δ from gains that are known from above.

    Attributes
    ----------
    problem, counts
        What was searched, and the sample.
    limits
        What is known of gains before the data.
    declared
        The δ that was declared before the data, if there is one.

    Notes
    -----
    If ψ(f*) >= δ then E Y_ν >= δ at every price ν, so that Π(1 − λ(Y_ν − δ)) is an e-value for
    each λ and ν that are fixed beforehand, and so is the mean over `RUNGS` prices and `STAKES`
    stakes. Only those prices are bet on at which there was a search; the wealth that was meant
    for the others is given away. Each wealth grows with δ.
    """

    problem: BracketedProblem
    counts: IntArray
    limits: GainLimits
    declared: float | None = None

    def log_wealth(self, delta: float) -> float:
        """Return the logarithm of the wealth against ψ >= δ."""
        if delta > self.limits.most:
            return math.inf
        logs = [
            float(np.log1p(-stake * (outcomes - delta)) @ self._people)
            for outcomes, stakes in self._bets
            for stake in stakes
        ]
        if not logs:
            return -math.inf
        return log_mean(np.array(logs)) + math.log(len(logs) / (self._prices * STAKES))

    def bound(self, alpha: float) -> float:
        """Return the least threshold from which on ψ >= δ is rejected; else the largest gain."""
        target, high = -math.log(alpha), self.limits.most
        if self.log_wealth(high) < target:
            return high
        low, fine = 0.0, FINENESS * high / math.sqrt(self._people.sum())
        while high - low > fine:
            middle = (low + high) / 2
            low, high = (low, middle) if self.log_wealth(middle) >= target else (middle, high)
        # what the search rounds up to must not pass a threshold that is certified
        if self.declared is not None and low < self.declared < high:
            return self.declared if self.log_wealth(self.declared) >= target else high
        return high

    @property
    def _prices(self) -> int:
        return RUNGS if self.problem.budget > 0 else 1

    @cached_property
    def _occupied(self) -> IntArray:
        return np.flatnonzero(self.counts)

    @cached_property
    def _people(self) -> FloatArray:
        return self.counts[self._occupied].astype(np.float64)

    @cached_property
    def _bets(self) -> list[tuple[FloatArray, FloatArray]]:
        """The outcomes Y_ν at each price that is bet on, and the stakes there."""
        budget, most = self.problem.budget, self.limits.most
        if most == 0:
            return []
        if budget == 0:
            return [self._bet(math.inf, 0.0)]
        highest = math.ceil(math.log(most / budget) / math.log(RUNG))
        allowed = {rung for rung in self.problem.rungs if 0 <= highest - rung < RUNGS}
        return [
            self._bet(price_of_rung(rung), budget * price_of_rung(rung)) for rung in sorted(allowed)
        ]

    def _bet(self, price: float, paid: float) -> tuple[FloatArray, FloatArray]:
        outcomes = self.problem.known.most(price)[self._occupied] + paid
        largest = CAP / (self.limits.most + paid)
        stakes = np.geomspace(largest, largest / (10 * math.sqrt(self._people.sum())), STAKES)
        return outcomes, stakes
