"""FiniteSampleLaw: bounds, tests and certificates that hold at every sample size, by betting."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.validation import check_number
from fairtransport.inference.clopper_pearson import (
    pvalue_share_at_least,
    pvalue_share_at_most,
    share_lower_bound,
    share_upper_bound,
)
from fairtransport.inference.finite.bets import Certificate, Rejection
from fairtransport.inference.finite.evidence import (
    MIN_THRESHOLD_SHARE,
    Evidence,
    GainLimits,
    Ladder,
    build_fixed_stakes,
)
from fairtransport.inference.finite.least_wealth import log_mean
from fairtransport.inference.laws import Interval, SamplingLaw, reaches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairtransport._core.units import Units
    from fairtransport.transport import AuditProblem


MIN_FLOAT_LEVEL = sys.float_info.min
MAX_LOG_WEALTH = 700.0
"""Largest log-wealth that an e-value is computed from: a float has to hold it."""


@dataclass(frozen=True, eq=False)
class FiniteSampleLaw(SamplingLaw):
    """Inference about ψ(f*) with guarantees at every n.

    Write Y_ν = φ_ν + εν. H0: ψ(f*) <= δ says that E Y_ν <= δ at *some* price ν, so it is rejected
    when that is rejected at *every* price, each at level α (an intersection–union test). Each is
    tested by wealth processes over random orders of the sample (`rejection_kernels`); these are
    exchangeable, and the largest mean of the first of them decides (`Evidence.average`). H0': ψ(f*)
    >= δ implies E Y_ν >= δ at *every* price, so one chosen from earlier records suffices
    (`certificate_kernels`). Bounds are the first thresholds that are not rejected, and do not
    depend on δ; the verdict is the bound compared with δ. If gains are known to be two-valued and
    free, and every unit is declared to be one person, everything is Clopper–Pearson. Given sizes of
    units, stakes and prices are fixed beforehand. If targets are observed points or twins take
    observed levels, φ is smaller than over the whole space; a mixture of fixed stakes increases
    with φ, so that its lower bounds still hold.
    """

    problem: AuditProblem
    units: Units
    limits: GainLimits
    alpha: float
    rng: np.random.Generator

    @property
    def guarantee(self) -> str:
        """The bounds hold at every n."""
        return "finite-sample"

    @property
    def most_gain(self) -> float:
        """Upper limit of every gain, and of ψ even if everybody moved for free."""
        return self.limits.max_gain

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return L with P(L <= ψ(f*)) >= 1 − α at every n."""
        alpha = self._level(alpha)
        if self.most_gain == 0:
            return 0.0
        if self.limits.two_valued:
            return self.most_gain * share_lower_bound(self._full_gains, self.n, alpha)
        return self._cached("lower", alpha, self._rejection.bound)

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return U with P(U >= ψ(f*)) >= 1 − α at every n; infinite without fixed targets."""
        alpha = self._level(alpha)
        if not self.fixed_targets:
            return math.inf
        if self.most_gain == 0:
            return 0.0
        if self.limits.two_valued:
            return self.most_gain * share_upper_bound(self._any_gains, self.n, alpha)
        return self._cached("upper", alpha, Certificate(self._evidence).bound)

    def interval(self, alpha: float = 0.05) -> Interval:
        """Return the two-sided interval at level 1 − α, which contains the one-sided ends."""
        half = self._level(alpha) / 2
        return Interval(
            min(self.lower_bound(half), self.lower_bound(alpha)),
            max(self.upper_bound(half), self.upper_bound(alpha)),
        )

    def rejects(self, delta: float, alpha: float = 0.05) -> bool:
        """Whether δ-fairness is rejected at level α: the lower bound is above δ.

        A single gain in the sample refutes ψ <= 0 without error, even if the bound is 0.
        """
        if delta == 0 and not self.limits.two_valued:
            return self._anybody_gains
        return super().rejects(delta, alpha)

    def passes_one_test(self, goal: str, delta: float, alpha: float) -> bool:
        """Whether one test aimed at δ reaches a goal, in a tenth of the time of a bound.

        It does in one or two of a hundred samples more than the bound, which is accurate enough for
        plans.
        """
        if self.limits.two_valued or not 0 < delta < self._data_free_bound:
            return reaches(self, goal, delta, alpha)
        level = Ladder.main_level(alpha)
        if goal == "certify":
            return self.fixed_targets and Certificate(self._evidence).certifies(delta, level)
        return self._rejection.rejects(delta, level)

    def graded_pvalue(self, delta: float, levels: Sequence[float]) -> float:
        """Return the p-value of H0: ψ(f*) <= δ, exact at some levels below α.

        At each of them it is at most that level only if the test at that level rejects.
        """
        if self.limits.two_valued or not 0 < delta < self.most_gain:
            return self.pvalue(delta)
        rejection = self._rejection
        # stakes are the inverse of the threshold; rejecting more than δ rejects δ, too
        threshold = max(delta, MIN_THRESHOLD_SHARE * self.most_gain)
        return find_pvalue(
            lambda level: rejection.rejects(threshold, level), self.alpha, levels,
            rejected=self.rejects(delta, self.alpha),
        )  # fmt: skip

    def evalue(self, delta: float) -> float:
        """Return the wealth of a mixture of fixed stakes against ψ(f*) <= δ.

        Its mean is at most 1 if ψ(f*) <= δ, at every n, so that those of independent samples
        may be multiplied.
        """
        threshold = max(check_number("delta", delta), MIN_THRESHOLD_SHARE * self.most_gain)
        if threshold >= self.most_gain:
            return 1.0
        return math.exp(min(_log_evalue(self._evidence, threshold), MAX_LOG_WEALTH))

    def _p_greater(self, delta: float) -> float:
        """Return the p-value of H0: ψ(f*) <= δ."""
        if self.limits.two_valued:
            return pvalue_share_at_most(self._full_gains, self.n, delta / self.most_gain)
        if delta >= self.most_gain:
            return 1.0
        if delta <= 0:
            return MIN_PVALUE if delta < 0 or self._anybody_gains else 1.0
        return self.graded_pvalue(delta, ())

    def _p_less(self, delta: float) -> float:
        """Return the p-value of H0: ψ(f*) >= δ, whose rejection certifies δ."""
        if not self.fixed_targets:
            return 1.0
        if self.limits.two_valued:
            return pvalue_share_at_least(self._any_gains, self.n, delta / self.most_gain)
        if delta > self._data_free_bound:
            return MIN_PVALUE
        # ψ can equal the data-free bound, so that there is no evidence against ψ >= δ there
        if delta <= 0 or delta == self._data_free_bound:
            return 1.0
        certificate = Certificate(self._evidence)
        return find_pvalue(
            lambda level: certificate.certifies(delta, level), self.alpha,
            rejected=self.certifies(delta, self.alpha),
        )  # fmt: skip

    @cached_property
    def _evidence(self) -> Evidence:
        """The sample for bets; its random orders are drawn once and shared by all tests."""
        adaptive = self.fixed_targets and self.units.is_adaptive and not self._has_long_frontiers
        return Evidence(self.problem, self.units, self.limits, adaptive, self.rng)

    @property
    def _has_long_frontiers(self) -> bool:
        """Whether adaptive stakes would take too long, by the targets only.

        Such stakes use all prices at which frontiers bend, for each block of records.
        """
        if self.problem.columns is not None:
            return True
        return not self.limits.linear and len(self.problem.frontiers.row) > MAX_SWEPT_SEGMENTS

    @cached_property
    def _rejection(self) -> Rejection:
        """Bets against ψ <= δ; with fixed stakes if later people can change earlier gains."""
        if self.fixed_levels:
            return Rejection(self._evidence)
        return Rejection(replace(self._evidence, adaptive=False))

    @property
    def _anybody_gains(self) -> bool:
        """Whether somebody in the sample has a reachable gain, so that ψ > 0.

        With a budget the price is 0, at which everything reachable counts: however expensive a gain
        is, a small share of people could take it. ψ <= 0 is then refuted without error.
        """
        price = math.inf if self.limits.linear else 0.0
        gains = self.problem.net_gains(price)
        return bool(np.any(gains[self.units.point] > 0))

    @property
    def _full_gains(self) -> int:
        """Number of people with the largest gain; smaller gains count as none."""
        gains = self.problem.net_gains(math.inf)
        return int(self.units.counts[gains[self.units.point] >= self.most_gain].sum())

    @property
    def _any_gains(self) -> int:
        """Number of people with a gain; for upper bounds each counts as the largest."""
        gains = self.problem.net_gains(math.inf)
        return int(self.units.counts[gains[self.units.point] > 0].sum())

    @property
    def _data_free_bound(self) -> float:
        """Upper limit of ψ for any population."""
        return self.limits.data_free_bound(self._evidence.budget)

    def _cached(self, side: str, alpha: float, compute: Callable[[float], float]) -> float:
        """Return a bound, computed once for each side and level."""
        key = f"_{side}_{alpha!r}"
        if key not in self.__dict__:
            self.__dict__[key] = compute(alpha)
        return float(self.__dict__[key])


def _log_evalue(evidence: Evidence, delta: float) -> float:
    """Return the logarithm of the wealth of a mixture of fixed stakes against ψ(f*) <= δ.

    At the population's price ν the records' Y_ν are independent with mean at most δ, so each
    fixed stake λ has E Π(1 + λ(Y_ν − δ)) <= 1, and so has the mean over stakes that depend on δ
    and n alone. The least wealth over all prices is no more than that at ν. It depends on no
    order, seed or level. It increases with φ, so that it holds for ψ over all targets even if the
    sample has fewer.
    """
    mixed = replace(evidence, adaptive=False)
    if mixed.budget > 0:
        # no wealth reaches the target of this level, so the search returns the least wealth
        return Rejection(mixed).log_wealth(delta, MIN_FLOAT_LEVEL)
    frontiers = mixed.gain_curves
    # most losses have few values, and records of one value one logarithm
    gains, place = np.unique(frontiers.weight * (frontiers.base - delta), return_inverse=True)
    counts = np.bincount(place.reshape(-1), mixed.units.counts)
    factors = 1 + np.outer(build_fixed_stakes(delta, mixed.n), gains)
    return log_mean(np.asarray(np.log(factors) @ counts))


MAX_SWEPT_SEGMENTS = 100_000
"""Maximum number of segments of all frontiers for adaptive stakes."""
MIN_PVALUE = 1e-6
LEVELS_PER_HALVING, FINE_HALVINGS = 4, 3
"""Number of levels per halving of α, and of such halvings; then α is halved."""
LEVELS_ABOVE_ALPHA = (0.7, 0.5, 0.35, 0.25, 0.18, 0.13, 0.09, 0.07)
"""The possible p-values above α, besides 1; smaller ones follow at the same pace."""
LEVEL_RATIO, MIN_RATIO_ABOVE_ALPHA = 0.72, 1.3
"""Ratio of a p-value to the next above it, and of the last one to α at least."""


def find_pvalue(
    rejects_at: Callable[[float], bool], alpha: float, levels: Sequence[float] = (), *,
    rejected: bool,
) -> float:  # fmt: skip
    """Return the p-value of a hypothesis that is bet against separately at each level.

    ``rejected``: the bound at level α excludes it, so that the p-value is at most α.

    Tests at two levels have different stakes and are not nested. From α down, a fixed sequence of
    levels is tested until the first that does not reject: a p-value of at most one of them means
    that the test there rejected. Above α, levels x − α are tested in the same way: a p-value of at
    most x means that one of them or the bound at α rejected, which has a probability of at most (x
    − α) + α.
    """
    if rejected:
        pvalue, offset, candidates = alpha, 0.0, _list_levels_below(alpha, levels)
    else:
        pvalue, offset, candidates = 1.0, alpha, _list_levels_above(alpha)
    for level in candidates:
        if not rejects_at(level - offset):
            break
        pvalue = level
    return pvalue


def _list_levels_above(alpha: float) -> Iterator[float]:
    """Yield the tested levels above α, the largest first."""
    yield from (level for level in LEVELS_ABOVE_ALPHA if level > alpha)
    level = LEVELS_ABOVE_ALPHA[-1] * LEVEL_RATIO
    while level > MIN_RATIO_ABOVE_ALPHA * alpha:
        yield level
        level *= LEVEL_RATIO


def _list_levels_below(alpha: float, levels: Sequence[float]) -> Iterator[float]:
    """Yield the tested levels below α, the largest first."""
    fine = [
        alpha * 2.0 ** (-step / LEVELS_PER_HALVING)
        for step in range(1, LEVELS_PER_HALVING * FINE_HALVINGS + 1)
    ]
    yield from sorted({*fine, *(level for level in levels if level < alpha)}, reverse=True)
    level = min([*fine, *levels]) / 2
    while level >= MIN_PVALUE:
        yield level
        level /= 2
