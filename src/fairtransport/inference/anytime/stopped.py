"""What people who came in random order say about ψ(f*) at the moment the asking stopped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import number
from fairtransport.inference.anytime.eprocess import (
    Bets,
    lower_limit,
    stakes_for,
    threshold_grid,
    upper_limit,
)
from fairtransport.inference.laws import SamplingLaw

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray

MOST_LOG = 690.0
"""The largest logarithm of evidence that is told."""


@dataclass(frozen=True, eq=False)
class StoppedLaw(SamplingLaw):
    """Bounds from a confidence sequence: valid whenever, and why ever, the asking stopped.

    Attributes
    ----------
    gains
        (n,) what each person gains when swapped with the worst-treated twin, in their order.
    most_gain
        The largest gain there can be, known before the data.
    delta
        The threshold at which the asking was to stop.

    Notes
    -----
    A bound is the running one: what was ever rejected on the way stays rejected. By Ville's
    inequality that is wrong with probability at most α, over all times together.
    """

    gains: FloatArray
    most_gain: float
    delta: float

    @property
    def guarantee(self) -> str:
        """The bounds hold at every n and at every time to stop."""
        return "finite-sample"

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return the lower limit; of a δ-fairness that was rejected, δ at least."""
        bound = lower_limit(self._crossed(1.0, self._level(alpha)), self.most_gain)
        return max(bound, self.delta) if self.rejects(self.delta, alpha) else bound

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return the upper limit; of a δ-fairness that was certified, δ at most."""
        if not self.fixed_targets:
            return math.inf
        bound = upper_limit(self._crossed(-1.0, self._level(alpha)), self.most_gain)
        return min(bound, self.delta) if self.certifies(self.delta, alpha) else bound

    def rejects(self, delta: float, alpha: float = 0.05) -> bool:
        """Whether ψ(f*) <= δ was ever rejected at level α."""
        return self._p_greater(delta) <= self._level(alpha)

    def certifies(self, delta: float, alpha: float = 0.05) -> bool:
        """Whether ψ(f*) >= δ was ever rejected at level α."""
        return self._p_less(delta) <= self._level(alpha)

    def evalue(self, delta: float) -> float | None:
        """Return the evidence against ψ(f*) <= δ at the moment the asking stopped."""
        delta = number("delta", delta, at_least=0)
        path = log_wealth_path(self.gains, delta, 1.0, self.most_gain)
        return math.exp(min(float(path[-1]), MOST_LOG))

    def _p_greater(self, delta: float) -> float:
        """Return the p-value of ψ(f*) <= δ: one over the largest wealth on the way."""
        if delta >= self.most_gain:
            return 1.0
        return _pvalue(log_wealth_path(self.gains, max(delta, 0.0), 1.0, self.most_gain))

    def _p_less(self, delta: float) -> float:
        """Return the p-value of ψ(f*) >= δ; 1 without fixed targets."""
        if not self.fixed_targets or delta <= 0:
            return 1.0
        if delta >= self.most_gain:  # at most the largest gain there can be
            return 1.0 if delta == self.most_gain else 0.0
        return _pvalue(log_wealth_path(self.gains, delta, -1.0, self.most_gain))

    @cached_property
    def _bets(self) -> dict[tuple[float, float], IntArray]:
        """Crossings of the grid that were computed, by side and level."""
        return {}

    def _crossed(self, sign: float, alpha: float) -> IntArray:
        """Return when each threshold of the grid was rejected, 0 if never.

        Parameters
        ----------
        sign
            +1 against ψ <= δ, −1 against ψ >= δ.
        alpha
            The level of each side.
        """
        if (sign, alpha) not in self._bets:
            grid = threshold_grid(self.most_gain)
            bets = Bets(
                grid, np.full(len(grid), sign), np.full(len(grid), alpha), self.most_gain,
                np.zeros(len(grid)),
            )  # fmt: skip
            bets.take(self.gains)
            self._bets[sign, alpha] = bets.crossed
        return self._bets[sign, alpha]


def log_wealth_path(gains: FloatArray, delta: float, sign: float, most_gain: float) -> FloatArray:
    """Return the logarithm of the mixture's wealth after each person, as `Bets` has it.

    Parameters
    ----------
    gains
        What each person gains, in their order.
    delta
        The threshold.
    sign
        +1 against ψ <= δ, −1 against ψ >= δ.
    most_gain
        The largest gain there can be.

    Returns
    -------
    ndarray
        (n,) log of the mean over the 16 stakes.
    """
    room = np.array([delta if sign > 0 else most_gain - delta])
    stakes = sign * stakes_for(room, most_gain)
    logs = np.cumsum(np.log1p(stakes * (gains - delta)[None, :]), axis=1)
    top = logs.max(axis=0)
    return np.asarray(top + np.log(np.mean(np.exp(logs - top), axis=0)))


def _pvalue(path: FloatArray) -> float:
    """Return one over the largest wealth on a path, at most 1."""
    return math.exp(-min(max(float(path.max()), 0.0), MOST_LOG))
