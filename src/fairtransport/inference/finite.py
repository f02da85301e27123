"""Bounds, tests and certificates that hold at every sample size, by betting."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.inference.clopper_pearson import (
    p_share_at_least,
    p_share_at_most,
    share_at_least,
    share_at_most,
)
from fairtransport.inference.ladder import Ladder
from fairtransport.inference.laws import SamplingLaw
from fairtransport.inference.orders import Orders, draw_orders, no_order
from fairtransport.inference.prices import (
    Least,
    ObservedFrontiers,
    least_log_wealth,
    log_mean,
    observed_frontiers,
)
from fairtransport.threads import threads_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.transport import AuditProblem

MOST_BLOCKS, FEWEST_BLOCKS = 60, 20
"""Times that stakes are chosen anew, in samples up to and beyond ``LARGE``."""
LARGE, MEDIUM = 100_000, 10_000
"""Beyond the one blocks are fewer; beyond the other prices are searched for less often."""
LOWER_WEIGHT, UPPER_WEIGHT = 5.0, 2.0
"""Records that the prior guess of a variance counts for."""
CAP = 0.75
"""Largest share of wealth that one record can lose."""
SURE = 6.0
"""Standard errors from the estimate at which the search for a start begins."""
SMALLEST_LEVEL = 1e-6
RUNG_POINTS = 17
MOST_HINTS = 6
"""Prices of earlier searches with which a search over prices begins."""
PRECISION = 0.05
"""To which the logarithm of a wealth that does not reject is computed."""
FIXED_STAKES = 40
"""Stakes in the mixture for targets that depend on the sample."""
LIMIT_PRICES = 64
"""Prices at which the largest gain of a declared sample space is computed."""


@dataclass(frozen=True, eq=False)
class FiniteSampleLaw(SamplingLaw):
    """Inference about ψ(f*) with guarantees at every n.

    Attributes
    ----------
    problem, counts
        The audit problem and the sample.
    gain_limits
        Rising prices, the first 0, and upper limits of φ_ν from each on, known before the data.
    alpha
        The level that p-values are aimed at.
    rng
        Draws the random orders in which the sample is bet on.

    Notes
    -----
    Write Y_ν = φ_ν + εν. H0: ψ(f*) <= δ says that E Y_ν <= δ at *some* price ν, so it is rejected
    when that is rejected at *every* price, each at level α (an intersection–union test). Each is
    tested by a wealth process (`bets`), averaged over random orders of the sample. H0':
    ψ(f*) >= δ implies E Y_ν >= δ at *every* price, so one that is chosen from earlier records
    will do. Bounds come from testing a ladder of δ, fixed beforehand, one rung after the other
    until the first that is not rejected; on a rung the stakes are the same for all δ, so that
    wealth is monotone in δ. Where gains are two-valued and free, everything is Clopper–Pearson.
    Where targets are observed points, φ is smaller than over the whole space; a mixture of
    fixed stakes grows with φ, so that its lower bounds still hold.
    """

    problem: AuditProblem
    counts: IntArray
    gain_limits: tuple[FloatArray, FloatArray]
    alpha: float
    rng: np.random.Generator

    @property
    def guarantee(self) -> str:
        """What the bounds promise: their level at every n."""
        return "finite-sample"

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return L with P(L <= ψ(f*)) >= 1 − α at every n."""
        alpha = self._level(alpha)
        if self.most_gain == 0:
            return 0.0
        if self._is_two_valued:
            return self.most_gain * share_at_least(self._full_gains, self.n, alpha)
        return self._cached("lower", alpha, self._climb)

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return U with P(U >= ψ(f*)) >= 1 − α at every n; infinite without fixed targets."""
        alpha = self._level(alpha)
        if not self.fixed_targets:
            return math.inf
        if self.most_gain == 0:
            return 0.0
        if self._is_two_valued:
            return self.most_gain * share_at_most(self._any_gains, self.n, alpha)
        return self._cached("upper", alpha, self._descend)

    def _p_greater(self, delta: float) -> float:
        if self._is_two_valued:
            return p_share_at_most(self._full_gains, self.n, delta / self.most_gain)
        if delta < 0:
            return SMALLEST_LEVEL
        if delta >= self.most_gain:
            return 1.0
        return self._search_level(lambda level: self._log_wealth_against_fair(delta, level))

    def _p_less(self, delta: float) -> float:
        if not self.fixed_targets:
            return 1.0
        if self._is_two_valued:
            return p_share_at_least(self._any_gains, self.n, delta / self.most_gain)
        if delta > self._data_free_bound:
            return SMALLEST_LEVEL
        if delta <= 0:
            return 1.0
        return self._search_level(lambda level: self._log_wealth_for_certificate(delta, level))

    def _search_level(self, log_wealth: Callable[[float], float]) -> float:
        """Return α/2^k for the last k up to which the test at that level rejects; else 1/wealth."""
        at_alpha = log_wealth(Ladder.main_level(self.alpha))
        if at_alpha < -math.log(Ladder.main_level(self.alpha)):
            return min(1.0, max(math.exp(-at_alpha), self.alpha))
        level = self.alpha
        while level / 2 >= SMALLEST_LEVEL:
            smaller = Ladder.main_level(level / 2)
            if log_wealth(smaller) < -math.log(smaller):
                break
            level /= 2
        return level

    # -- the sample as the bets see it

    @property
    def most_gain(self) -> float:
        """An upper limit of every gain."""
        return float(self.gain_limits[1][0])

    @cached_property
    def _occupied(self) -> IntArray:
        return np.flatnonzero(self.counts)

    @cached_property
    def _frontiers(self) -> ObservedFrontiers:
        return observed_frontiers(self.problem, self._occupied)

    @cached_property
    def _orders(self) -> Orders:
        counts = self.counts[self._occupied]
        if not self.fixed_targets:
            return no_order(counts, FIXED_STAKES)
        sweeps = self._blocks // self._every * len(self._frontiers.row)
        return draw_orders(counts, self._blocks, sweeps, self.rng)

    # how stakes are chosen must not depend on the data but through earlier records: n is known

    @property
    def _blocks(self) -> int:
        return MOST_BLOCKS if self.n <= LARGE else FEWEST_BLOCKS

    @property
    def _every(self) -> int:
        """The number of blocks for which a price that was searched for is kept."""
        return 1 if self.n <= MEDIUM else 4

    @cached_property
    def _is_linear(self) -> bool:
        """Whether only free moves matter, so that ψ is linear in f."""
        return self.problem.budget == 0 or not len(self.problem.frontiers.row)

    @cached_property
    def _is_two_valued(self) -> bool:
        gains = self.problem.frontiers.base_gain
        return (
            self.most_gain > 0
            and self._is_linear
            and bool(np.all((gains == 0) | (gains >= self.most_gain)))
        )

    @property
    def _full_gains(self) -> int:
        gains = self.problem.frontiers.base_gain
        return int(self.counts[gains >= self.most_gain].sum())

    @property
    def _any_gains(self) -> int:
        return int(self.counts[self.problem.frontiers.base_gain > 0].sum())

    @property
    def _data_free_bound(self) -> float:
        prices, bounds = self.gain_limits
        return float(np.min(self.problem.budget * prices + bounds))

    def _cached(self, side: str, alpha: float, compute: Callable[[float], float]) -> float:
        key = f"_{side}_{alpha!r}"
        if key not in self.__dict__:
            self.__dict__[key] = compute(alpha)
        return float(self.__dict__[key])

    @cached_property
    def _ladder(self) -> Ladder:
        return Ladder(self.n, self.most_gain)

    # -- the lower bound

    def _climb(self, alpha: float) -> float:
        ladder, level = self._ladder, Ladder.main_level(alpha)
        rung = ladder.climb(alpha, self._rejects_below, self._guesses[0])
        bottom, top = ladder.threshold(rung), ladder.threshold(rung + 1)
        if top >= self.most_gain:
            return bottom
        return self._within(self._stakes(top, level), bottom, top, level)

    def _rejects_below(self, rung: int, level: float) -> bool:
        """Whether ψ <= δ is rejected for all δ below the given rung."""
        top = self._ladder.threshold(rung)
        if top >= self.most_gain:
            return False
        stakes = self._stakes(top, level)
        return self._least(stakes, top, -math.log(level)).value >= -math.log(level)

    @cached_property
    def _guesses(self) -> tuple[int, int]:
        """Rungs below and above which everything is very probably rejected."""
        sweep = self.problem.sweep(self.counts / self.n)
        budget = self.problem.budget
        offset = np.zeros_like(sweep.prices) if budget == 0 else budget * sweep.prices
        usable = np.isfinite(offset)
        means, spreads = (offset + sweep.mean)[usable], sweep.spread()[usable]
        slack = SURE * spreads / math.sqrt(self.n)
        low, high = float(np.min(means - slack)), float(np.min(means + slack))
        return self._ladder.below(low), self._ladder.below(high) + 1

    def _within(self, stakes: FloatArray, bottom: float, top: float, level: float) -> float:
        """Return the largest δ of a rung up to which all prices are rejected, from below."""
        target, high = -math.log(level), top
        for _ in range(12):
            least = self._least(stakes, high, target)
            if least.value >= target:
                return high
            # where the price that failed stops failing; then whether the others agree
            low = bottom
            while high - low > (top - bottom) / 16:
                middle = (low + high) / 2
                passes = self._at_price(stakes, middle, least.price) >= target
                low, high = (middle, high) if passes else (low, middle)
            high = low
            if high <= bottom:
                break
        return bottom

    def _log_wealth_against_fair(self, delta: float, level: float) -> float:
        stakes = self._stakes(self._ladder.threshold(self._ladder.below(delta) + 1), level)
        target = -math.log(level)
        while (least := self._least(stakes, delta, target)).value < target:
            # what was found is no limit yet: ask for a little less
            target = least.value - PRECISION
        return least.value

    def _stakes(self, top: float, level: float) -> FloatArray:
        """Choose stakes for all δ up to the top of a rung, where they are aimed."""
        from fairtransport.inference import bets

        if not self.fixed_targets:
            return np.geomspace(CAP / top, CAP / top / (10 * math.sqrt(self.n)), FIXED_STAKES)[
                :, None
            ]
        orders, frontiers = self._orders, self._frontiers
        stakes = np.zeros(orders.before.shape)
        aim, most = top, CAP / top
        sample = (orders.start, orders.cell, orders.count, orders.before, orders.n)
        if self._is_linear:
            prior = 0.5 * aim * max(self.most_gain - aim, 1e-3 * self.most_gain)
            bets.stakes_on_gains(
                *sample, frontiers.base, aim, level, prior, LOWER_WEIGHT, most, 1.0, stakes
            )
        else:
            arguments: tuple[Any, ...] = (
                *sample, *frontiers.in_slope_order, *frontiers.by_point, self.problem.budget,
                self.most_gain, aim, level, LOWER_WEIGHT, most, self._every, stakes,
            )  # fmt: skip
            with threads_for(len(stakes) * self._blocks // self._every * len(frontiers.row)):
                bets.stakes_over_prices(*arguments)
        return stakes

    def _wealths(self, stakes: FloatArray, delta: float, outcomes: FloatArray) -> FloatArray:
        from fairtransport.inference import bets

        orders = self._orders
        result = np.empty((len(outcomes), len(stakes)))
        with threads_for(len(outcomes) * len(orders.cell)):
            bets.log_wealths(
                orders.start, orders.cell, orders.count, stakes, outcomes, delta, result
            )
        return result

    def _least(self, stakes: FloatArray, delta: float, target: float) -> Least:
        """Say whether the average wealth reaches a target at all prices that δ allows."""
        if self._is_linear:
            logs = self._wealths(stakes, delta, self._frontiers.base[None, :])
            return Least(log_mean(logs[0]), 0.0)
        budget = self.problem.budget
        least = least_log_wealth(
            self._frontiers, budget, delta / budget,
            lambda outcomes: self._wealths(stakes, delta, outcomes), target, self._hints,
        )  # fmt: skip
        # the least wealth of the next test will be near here again
        if least.price not in self._hints:
            self._hints[:] = [*self._hints[1 - MOST_HINTS :], least.price]
        return least

    @cached_property
    def _hints(self) -> list[float]:
        return []

    def _at_price(self, stakes: FloatArray, delta: float, price: float) -> float:
        if self._is_linear:
            outcomes = self._frontiers.base
        else:
            outcomes = self._frontiers.at(price).gains + self.problem.budget * price
        return log_mean(self._wealths(stakes, delta, outcomes[None, :])[0])

    # -- the upper bound

    def _descend(self, alpha: float) -> float:
        """Climb down the same ladder, counted from its top."""
        ladder, level = self._ladder, Ladder.main_level(alpha)
        last = ladder.rungs
        rung = last - ladder.climb(
            alpha,
            lambda down, at_level: self._rejects_above(last - down, at_level),
            last - self._guesses[1],
        )
        # on the rung that was not rejected as a whole, the lowest point that is
        bottom, top = ladder.threshold(rung - 1), ladder.threshold(rung)
        deltas = np.linspace(bottom, top, RUNG_POINTS + 1)[1:-1]
        rows = self._certificate(bottom, deltas, level)
        passed = np.array([log_mean(row) >= -math.log(level) for row in rows])
        return float(min([self._data_free_bound, top, *deltas[passed]]))

    def _rejects_above(self, rung: int, level: float) -> bool:
        """Whether ψ >= δ is rejected for all δ above the given rung."""
        if rung <= 0:
            return False
        bottom = self._ladder.threshold(rung)
        if bottom > self._data_free_bound:
            return True
        (row,) = self._certificate(bottom, np.array([bottom]), level)
        return log_mean(row) >= -math.log(level)

    def _certificate(self, aim: float, deltas: FloatArray, level: float) -> FloatArray:
        from fairtransport.inference.certificate_bets import certificate_wealths

        orders, frontiers = self._orders, self._frontiers
        result = np.empty((len(deltas), len(orders.before)))
        budget = 0.0 if self._is_linear else self.problem.budget
        arguments: tuple[Any, ...] = (
            orders.start, orders.cell, orders.count, orders.before, orders.n,
            *frontiers.in_slope_order, *frontiers.by_point, budget, *self.gain_limits,
            aim, deltas, level, UPPER_WEIGHT, CAP, self._every, result,
        )  # fmt: skip
        with threads_for(len(orders.cell) + len(orders.before) * len(frontiers.row)):
            certificate_wealths(*arguments)
        return result

    def _log_wealth_for_certificate(self, delta: float, level: float) -> float:
        bottom = self._ladder.threshold(max(self._ladder.below(delta * (1 - 1e-12)), 1))
        (row,) = self._certificate(bottom, np.array([delta]), level)
        return log_mean(row)


def declared_gain_limits(problem: AuditProblem) -> tuple[FloatArray, FloatArray]:
    """Return limits of φ_ν over all points of a problem, where these are the whole sample space."""
    frontiers = problem.frontiers
    if problem.budget == 0 or not len(frontiers.row):
        return np.array([0.0]), np.array([float(frontiers.base_gain.max())])
    inner = np.unique(np.quantile(frontiers.slope, np.linspace(0, 1, LIMIT_PRICES)))
    prices = np.r_[0.0, inner[inner > 0]]
    return prices, np.array([float(frontiers.net_gains(price).max()) for price in prices])
