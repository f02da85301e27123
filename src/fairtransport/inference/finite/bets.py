"""Evidence against ψ <= δ and ψ >= δ: the tests at one threshold, and the bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.parallel import threads_for
from fairtransport.inference.finite.evidence import (
    MAX_RECORD_LOSS,
    N_FIXED_STAKES,
    PRIOR_RECORDS,
    Evidence,
    Ladder,
    Plan,
    build_fixed_stakes,
)
from fairtransport.inference.finite.least_wealth import LeastWealth, least_log_wealth

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray
    from fairtransport.inference.finite.certificate_kernels import Path


RUNG_PARTS = 16
"""Number of parts of a rung that resolve a bound inside it."""
MAX_HINTS = 6
"""Maximum number of prices of earlier searches with which a search over prices begins."""
PRECISION = 0.05
"""Precision of the logarithm of a wealth that does not reject."""


@dataclass(frozen=True, eq=False)
class Rejection:
    """Bets against "ψ <= d", for any d.

    The test at d bets on each order with stakes aimed at d. The same stakes win more against a
    smaller d, at every price, so that rejecting the top of a rung rejects all of it.
    """

    evidence: Evidence
    _hints: list[float] = field(default_factory=list)

    def log_wealth(self, delta: float, level: float) -> float:
        """Return the log-wealth against ψ <= δ, aimed at a level.

        It rejects at that level if it reaches −log(level); otherwise it is a lower limit that is
        accurate to ``PRECISION``.
        """
        plan = self._build_plan(delta, level)
        target = plan.target
        while (least := self._find_least_wealth(plan, delta, target)).value < target:
            if least.value == -math.inf:
                return least.value
            # not a lower limit yet: lower the target
            target = least.value - PRECISION
        return least.value

    def rejects(self, delta: float, level: float) -> bool:
        """Whether ψ <= δ, and with it every smaller threshold, is rejected at a level."""
        plan = self._build_plan(delta, level)
        return self._find_least_wealth(plan, delta, plan.target).value >= plan.target

    def bound(self, alpha: float) -> float:
        """Return the first threshold that is not rejected."""
        ladder = self.evidence.ladder
        rung = ladder.climb(alpha, self._rejects_rung, self.evidence.start_rungs[0])
        bottom, top = ladder.threshold(rung), ladder.threshold(rung + 1)
        # ψ cannot exceed the largest gain, so the last rung has no test
        if top >= self.evidence.max_value:
            return bottom
        # the test that failed to reject the whole rung; inside it the same stakes decide every δ
        plan = self._build_plan(top, Ladder.main_level(alpha))
        return self._bisect_rung(plan, bottom, top, (top - bottom) / RUNG_PARTS)

    def _rejects_rung(self, rung: int, level: float) -> bool:
        """Whether ψ <= δ is rejected for all δ up to a rung."""
        top = self.evidence.ladder.threshold(rung)
        return top < self.evidence.max_value and self.rejects(top, level)

    def _bisect_rung(self, plan: Plan, bottom: float, top: float, part: float) -> float:
        """Return the largest δ up to which all prices are rejected by the same stakes.

        As stakes are the same for all δ here, wealth decreases in δ at every price: tests are
        nested, and bisection finds where they stop. Once a price is settled others may still fail,
        so the search over prices is repeated, at most a dozen times; then the bottom is returned,
        which is always valid.
        """
        high = top
        for _ in range(12):
            least = self._find_least_wealth(plan, high, plan.target)
            if least.value >= plan.target:
                return high
            # first where the price that failed stops failing, then whether the others agree
            low, outcomes = bottom, self._outcomes(least.price)
            while high - low > part:
                middle = (low + high) / 2
                passes = (
                    self._log_wealth_at_price(plan, middle, least.price, outcomes) >= plan.target
                )
                low, high = (middle, high) if passes else (low, middle)
            high = low
            if high <= bottom:
                break
        return bottom

    # -- stakes

    def _build_plan(self, aim: float, level: float) -> Plan:
        """Return a plan without stakes."""
        return Plan(float(aim), level, self.evidence.cuts(aim))

    def _choose_stakes(self, plan: Plan, part: int) -> FloatArray:
        """Return the stakes for one part of the prices; chosen when first needed."""
        if part not in plan.stakes:
            plan.stakes[part] = self.evidence.choose_stakes(plan, part)
        return plan.stakes[part]

    # -- wealth

    def _find_least_wealth(self, plan: Plan, delta: float, target: float) -> LeastWealth:
        """Bound the least average wealth over all prices that δ allows, if it reaches a target."""
        # the population's price cannot be higher, so higher prices need no win
        top = self.evidence.highest_price(delta)
        parts = [part for part, low in enumerate(plan.cuts[:-1]) if part == 0 or low < top]
        # the part that failed last will probably fail again
        parts.sort(key=lambda part: part != self._failed.get("part"))
        # "ψ <= δ" is a union over prices: each part must be won, by its own stakes
        lowest = LeastWealth(math.inf, 0.0)
        for part in parts:
            least = self._find_least_in_part(plan, part, delta, top, target)
            lowest = min(lowest, least)
            if lowest.value < target:
                self._failed["part"] = part
                break
        return lowest

    @cached_property
    def _failed(self) -> dict[str, int]:
        """The part of the prices that failed last; only the order of the search depends on it."""
        return {}

    def _find_least_in_part(
        self, plan: Plan, part: int, delta: float, top: float, target: float
    ) -> LeastWealth:
        """Bound the least average wealth over the prices of one part, if it reaches a target."""
        evidence, stakes = self.evidence, self._choose_stakes(plan, part)

        def wealth(outcomes: FloatArray) -> FloatArray:
            """Return (rows, orders) log-wealths."""
            return evidence.log_wealths(stakes, delta, outcomes)

        # no price: Y is the free gain, and one evaluation decides
        if evidence.budget == 0:
            return LeastWealth(evidence.average(wealth(evidence.gain_curves.base[None, :])[0]), 0.0)
        curves = evidence.gain_curves
        ends = curves.widen(plan.cuts[part], min(plan.cuts[part + 1], top))
        least = least_log_wealth(
            curves,
            evidence.budget,
            ends,
            wealth,
            evidence.average,
            target,
            self._hints,
        )
        # the least wealth of the next test will be near here again
        if least.price not in self._hints:
            self._hints[:] = [*self._hints[1 - MAX_HINTS :], least.price]
        return least

    def _outcomes(self, price: float) -> FloatArray:
        """Return Y_ν of the occupied cells at a price."""
        return self.evidence.gain_curves.evaluate(price).gains + self.evidence.budget * price

    def _log_wealth_at_price(
        self, plan: Plan, delta: float, price: float, outcomes: FloatArray
    ) -> float:
        """Return the average log-wealth against δ at one price."""
        evidence, stakes = self.evidence, self._choose_stakes(plan, plan.part_of(price))
        return evidence.average(evidence.log_wealths(stakes, delta, outcomes[None, :])[0])


CUSHION = 0.75
"""Cushion of the aim at 1/α, smaller than for a rejection, as the price is a guess, too."""
FIXED_PRICES = np.arange(10) / 10
"""Prices of a mixture, as shares of the price at which the cost of the budget is the aim."""
POINTS = 16
"""Number of thresholds inside a rung at which a bound may lie."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """Bets against "ψ >= d", for any d.

    The mirror image of `Rejection`: the same prices and stakes win more against a larger d.
    """

    evidence: Evidence

    def certifies(self, delta: float, level: float) -> bool:
        """Whether ψ >= δ, and with it every larger threshold, is rejected at a level."""
        rows = self._log_wealths(delta, np.array([delta]), level)
        return self.evidence.average(rows[0]) >= -math.log(level)

    def bound(self, alpha: float) -> float:
        """Return the threshold from which on all are rejected."""
        ladder, level = self.evidence.ladder, Ladder.main_level(alpha)
        last = ladder.rungs

        def rejects(down: int, level: float) -> bool:
            """Whether everything above a rung, counted from the top, is rejected."""
            return self._rejects_above(last - down, level)

        rung = last - ladder.climb(alpha, rejects, last - self.evidence.start_rungs[1])
        # inside the rung that was not rejected as a whole, the lowest point that is
        bottom, top = ladder.threshold(rung - 1), ladder.threshold(rung)
        deltas = np.linspace(bottom, top, POINTS + 2)[1:-1]
        rows = self._log_wealths(bottom, deltas, level)
        return min(self._data_free, self._lowest(rows, deltas, top, level))

    @property
    def _data_free(self) -> float:
        """Upper limit of ψ for any population, min over ν of εν + max φ_ν."""
        return self.evidence.limits.data_free_bound(self.evidence.budget)

    def _rejects_above(self, rung: int, level: float) -> bool:
        """Whether ψ >= δ is rejected for all δ above the given rung.

        One path aimed at the rung's threshold decides: against a larger δ it wins more.
        """
        if rung <= 0:
            return False
        bottom = self.evidence.ladder.threshold(rung)
        if bottom > self._data_free:
            return True
        return self.certifies(bottom, level)

    def _lowest(self, rows: FloatArray, deltas: FloatArray, top: float, level: float) -> float:
        """Return the lowest of some thresholds that a run rejected, else the top of their rung."""
        # one path for all of them, so wealth grows with δ: those that pass are the upper ones
        passed = np.array([self.evidence.average(row) >= -math.log(level) for row in rows])
        return float(min([top, *deltas[passed]]))

    def _log_wealths(self, aim: float, deltas: FloatArray, level: float) -> FloatArray:
        """Return log-wealths against some thresholds of bets aimed at one, a row for each."""
        if self.evidence.adaptive:
            return self._run(aim, deltas, level)[0]
        return self._run_mixture(aim, deltas)

    def _run_mixture(self, aim: float, deltas: FloatArray) -> FloatArray:
        """Return (deltas, prices × stakes) log-wealths of bets that ignore the past.

        Given sizes w_r, "ψ >= δ" says Σ w_r(μ_r(ν) − δ) >= 0 at every ν, so that the mean wealth
        of a fixed stake at a fixed price is at most exp(−λ Σ w_r(μ_r(ν) − δ)) <= 1.
        """
        from fairtransport.inference.finite import kernels

        evidence = self.evidence
        frontiers, limits, budget = evidence.gain_curves, evidence.limits, evidence.budget
        prices = FIXED_PRICES * aim / budget if budget > 0 else np.array([math.inf])
        prices = np.array([frontiers.widen(0.0, price)[1] for price in prices])
        counts, rows = evidence.units.counts.astype(float), []
        for price in prices.tolist():
            offset = budget * price if budget > 0 else 0.0
            outcomes = frontiers.evaluate(price).gains + offset if budget > 0 else frontiers.base
            # φ decreases in ν: the limit at the next lower known price holds here, too
            at = np.searchsorted(limits.prices, price, side="right") - 1
            # a price at which nothing is at risk needs no bet: `_data_free` knows it
            reach = max(float(limits.limits[at]) + offset - aim, 1e-9 * limits.max_gain)
            excess = -frontiers.weight * (outcomes - deltas[:, None])
            result = np.empty((len(deltas), N_FIXED_STAKES))
            with threads_for(excess.size):
                kernels.fill_mixture_log_wealths(
                    counts, build_fixed_stakes(reach, evidence.n), excess, np.zeros(len(counts)),
                    result,
                )  # fmt: skip
            rows.append(result)
        return np.concatenate(rows, axis=1)

    def _run(self, aim: float, deltas: FloatArray, level: float) -> tuple[FloatArray, Path]:
        """Return (deltas, orders) log-wealths of a path aimed at ``aim``, and the path."""
        from fairtransport.inference.finite import certificate_kernels as kernels

        evidence = self.evidence
        orders, frontiers, limits = evidence.orders, evidence.frontiers, evidence.limits
        shape = orders.n_before.shape
        result, path = np.empty((len(deltas), shape[0])), kernels.Path(*np.zeros((2, *shape)))
        target = kernels.CertificateAim(
            float(aim), level, CUSHION, deltas, evidence.budget, limits.prices, limits.limits,
            PRIOR_RECORDS, MAX_RECORD_LOSS, evidence.price_interval,
        )  # fmt: skip
        with threads_for(len(orders.cell) + len(orders.n_before) * len(frontiers.row)):
            kernels.fill_certificate_wealths(orders, frontiers, target, *path, result)
        return result, path
