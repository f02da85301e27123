"""DifferenceLaw: bounds and tests of Δ = ψ − ψ' of two audits of one sample, valid at every n."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.parallel import threads_for
from fairtransport.inference.finite.bets import Rejection
from fairtransport.inference.finite.evidence import (
    MAX_RECORD_LOSS,
    MIN_THRESHOLD_SHARE,
    PRIOR_RECORDS,
    START_ERRORS,
    EvenLadder,
    Evidence,
)
from fairtransport.inference.finite.law import MIN_PVALUE, find_pvalue
from fairtransport.inference.finite.sample import Orders, draw_orders
from fairtransport.inference.laws import SamplingLaw

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray
    from fairtransport.inference.finite.difference_kernels import OtherOutcomes
    from fairtransport.inference.finite.evidence import Plan
    from fairtransport.transport import AuditProblem


@dataclass(frozen=True, eq=False)
class DifferenceLaw(SamplingLaw):
    """Inference about Δ = ψ(f*) − ψ'(f*) with guarantees at every n.

    As in `FiniteSampleLaw` for one audit, "Δ <= d" is rejected when wealth reaches 1/α at every
    price of the first audit, while the second's price is chosen from earlier records
    (`difference_kernels`). An upper bound is minus a lower bound of ψ' − ψ.
    """

    forward: PairedEvidence
    backward: PairedEvidence
    alpha: float

    @property
    def guarantee(self) -> str:
        """The bounds hold at every n."""
        return "finite-sample"

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return L with P(L <= Δ) >= 1 − α at every n."""
        return self._bound(self.forward, self._level(alpha))

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return U with P(U >= Δ) >= 1 − α at every n."""
        # an upper bound of Δ is minus a lower bound of ψ' − ψ
        return -self._bound(self.backward, self._level(alpha))

    @cached_property
    def _bounds(self) -> dict[tuple[bool, float], float]:
        """Cache of bounds, by whether they are lower ones and by their level."""
        return {}

    def _bound(self, evidence: PairedEvidence, alpha: float) -> float:
        """Return the lower bound of the first audit's statistic minus the second's."""
        key = evidence is self.forward, alpha
        if key not in self._bounds:
            # nobody can gain: Δ is known without a sample
            never = evidence.min_value >= evidence.max_value
            self._bounds[key] = evidence.min_value if never else Rejection(evidence).bound(alpha)
        return self._bounds[key]

    def _p_greater(self, delta: float) -> float:
        return self._p(self.forward, delta)

    def _p_less(self, delta: float) -> float:
        return self._p(self.backward, -delta)

    def _p(self, evidence: PairedEvidence, delta: float) -> float:
        """Return the p-value of "the first statistic exceeds the second by at most ``delta``"."""
        if delta >= evidence.max_value:
            return 1.0
        if delta < evidence.min_value:
            return MIN_PVALUE
        rejection, threshold = Rejection(evidence), _testable(evidence, delta)
        return find_pvalue(
            lambda level: rejection.rejects(threshold, level), self.alpha,
            rejected=self._bound(evidence, self.alpha) > delta,
        )  # fmt: skip


def _testable(evidence: PairedEvidence, delta: float) -> float:
    """Return a difference, or the least above it that can be bet against.

    Rejecting a larger one rejects it, too. At the least possible difference, stakes have no limit.
    """
    if delta != evidence.min_value:
        return delta
    return evidence.min_value + MIN_THRESHOLD_SHARE * (evidence.max_value - evidence.min_value)


PAIRED_CUTS = (0.0, 1 / 16, 1 / 4, 1.0)
"""Ends of the parts of the first audit's prices, each with its own stakes."""


PAIRED_CUSHION = 0.85
"""Cushion of the aim at 1/α: a difference can be skewed either way."""


@dataclass(frozen=True, eq=False)
class PairedEvidence(Evidence):
    """A sample that two audits share, for bets against Δ = ψ − ψ' <= d.

    For any price μ of the second audit chosen from earlier records, E Y'_μ >= ψ'. So under "Δ <= d"
    there is a price ν of the first at which Y_ν − Y'_μ − d has a mean of at most 0 given the past,
    block after block, and wealth that bets on it has a mean of at most 1.
    """

    other: Evidence
    nested: bool

    @property
    def min_value(self) -> float:
        """Lower limit of Δ: 0 if moves are nested, otherwise minus the upper limit of ψ'."""
        return 0.0 if self.nested else -self.other.limits.data_free_bound(self.other.budget)

    @property
    def max_value(self) -> float:
        """Upper limit of Δ: the first audit's largest gain, as ψ' >= 0."""
        return self.limits.max_gain

    @cached_property
    def orders(self) -> Orders:
        """The random orders of the sample."""
        segments = len(self.frontiers.row) + len(self.other.frontiers.row)
        sweeps = self.blocks // self.price_interval * segments
        return draw_orders(self.units.counts, self.blocks, sweeps, self.rng)

    @cached_property
    def ladder(self) -> EvenLadder:
        """The ladder of differences for bounds."""
        return EvenLadder(self.n, self.max_value, self.min_value)

    def highest_price(self, delta: float) -> float:
        """Return the highest price at which E Y_ν can be ψ, if that is at most δ + ψ'."""
        if self.budget == 0:
            return 0.0
        # εν* <= ψ <= d + ψ', and ψ' is at most its data-free bound
        reach = delta + self.other.limits.data_free_bound(self.other.budget)
        return max(min(reach, self.limits.max_gain), 0.0) / self.budget

    def cuts(self, aim: float) -> tuple[float, ...]:
        """Return the ends of the parts of prices, the same for every aim."""
        del aim
        if self.budget == 0:
            return 0.0, 0.0
        return tuple(share * self.limits.max_gain / self.budget for share in PAIRED_CUTS)

    @cached_property
    def other_outcomes(self) -> OtherOutcomes:
        """The second audit's outcomes at each entry of the orders, which are subtracted.

        Its price path does not depend on d, so one path serves all tests.
        """
        from fairtransport.inference.finite import difference_kernels as kernels

        other, orders = self.other, self.orders
        prices, entries = np.zeros(orders.n_before.shape), np.zeros(len(orders.cell))
        with threads_for(len(orders.cell) + len(orders.n_before) * len(other.frontiers.row)):
            if other.budget > 0:
                kernels.fill_price_paths(
                    orders, other.frontiers, other.budget, self.price_interval, prices
                )
            kernels.fill_other_outcomes(orders, other.frontiers, other.budget, prices, entries)
        if self.nested and self.budget == 0:
            # the first audit's gain is at least the second's for every person: their difference is
            # at least 0, so that a record can lose d only
            return kernels.OtherOutcomes(entries, np.zeros_like(prices))
        # φ' decreases in μ: the limit at the next lower known price holds here, too
        at = np.searchsorted(other.limits.prices, prices, side="right") - 1
        return kernels.OtherOutcomes(entries, other.limits.limits[at] + other.budget * prices)

    def choose_stakes(self, plan: Plan, part: int) -> FloatArray:
        """Return (orders, blocks) the stakes of a plan for one part of the prices."""
        from fairtransport.inference.finite import difference_kernels as kernels
        from fairtransport.inference.finite.rejection_kernels import Aim

        orders, other = self.orders, self.other_outcomes
        stakes = np.zeros(orders.n_before.shape)
        low, high = plan.cuts[part : part + 2]
        # a difference can be as large as the larger of the two gains, on either side of 0
        max_gain = max(self.limits.max_gain, self.other.limits.max_gain)
        aim = Aim(
            plan.aim, plan.level, PAIRED_CUSHION, self.budget, max_gain, low,
            min(high, self.highest_price(plan.aim)), PRIOR_RECORDS, MAX_RECORD_LOSS, self.n_prices,
        )  # fmt: skip
        with threads_for(len(orders.cell) * min(self.n_prices, 2 + len(self.frontiers.row))):
            kernels.fill_paired_stakes(
                orders,
                self.frontiers,
                aim,
                other.entries * self.frontiers.weight[orders.cell],
                other.tops,
                stakes,
            )
        return stakes

    def _thresholds(self, delta: float) -> FloatArray:
        """Return the threshold of each entry's Y_ν: d plus the second audit's outcome."""
        return self.other_outcomes.entries + delta

    @cached_property
    def start_rungs(self) -> tuple[int, int]:
        """Rungs below and above which everything is very probably rejected.

        The sample's mean of Y_ν − Y'_μ at both audits' own prices, ``START_ERRORS`` standard errors
        down and up. The spread is at least 1/n, as a sample without differences does not prove that
        there are none.
        """
        f = self.units.frequencies(self.problem.size)
        gains = _outcomes_at_solution(self.problem, self.budget, f) - _outcomes_at_solution(
            self.other.problem, self.other.budget, f
        )
        mean = float(f @ gains)
        # equal gains still leave a start some room
        slack = START_ERRORS * math.sqrt(
            max(float(f @ (gains - mean) ** 2), 1 / self.n**2) / self.units.effective_n
        )
        return self.ladder.rung_below(mean - slack), self.ladder.rung_below(mean + slack) + 1


def _outcomes_at_solution(problem: AuditProblem, budget: float, f: FloatArray) -> FloatArray:
    """Return Y_ν of every point at the sample's price."""
    if budget == 0:
        return problem.net_gains(math.inf)
    price = problem.solve(f).price
    return problem.net_gains(price) + budget * price


def pair_evidence(first: Evidence, second: Evidence, *, nested: bool = False) -> PairedEvidence:
    """Return the evidence on the difference between two audits of one sample."""
    return PairedEvidence(
        first.problem, first.units, first.limits, first.adaptive, first.rng, second, nested
    )
