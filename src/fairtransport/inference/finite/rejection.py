"""Evidence against ψ <= δ: the test at a declared δ, and the lower bound that goes with it."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.inference.finite.evidence import CAP, FIXED_STAKES, WEIGHT, Evidence
from fairtransport.inference.finite.ladder import Ladder
from fairtransport.inference.finite.least_wealth import Least, least_log_wealth
from fairtransport.threads import threads_for

if TYPE_CHECKING:
    from fairtransport.checks import BoolArray, FloatArray, IntArray

CUTS = (0.0, 0.5, 1.0)
"""Where the prices from 0 to δ/ε are cut into parts with stakes of their own."""
FINENESS = 16
"""Parts of a rung to which a bound inside it is found."""
MOST_HINTS = 6
"""Prices of earlier searches with which a search over prices begins."""
PRECISION = 0.05
"""To which the logarithm of a wealth that does not reject is computed."""


class Stakes(NamedTuple):
    """Paths of stakes for the prices of one part.

    Attributes
    ----------
    values
        (orders, blocks) the stakes.
    until
        (orders,) the block from which on an order was given up, else the number of blocks.
    """

    values: FloatArray
    until: IntArray

    @property
    def lost(self) -> BoolArray:
        """Which orders were given up."""
        return np.asarray(self.until < self.values.shape[1])


@dataclass(frozen=True, eq=False)
class Plan:
    """How "ψ <= aim" is bet against at a level: the prices in parts, each with its own stakes.

    Near a corner of the budget curve two prices far apart both matter, and what wins at the one
    loses at the other. Every price is tested by itself, so each may have its own stakes.

    Attributes
    ----------
    aim, level
        The threshold and the level.
    cuts
        The ends of the parts, rising, known before the data.
    held
        The plan whose stakes are laid until an order is given up there, with the same cuts.
    gives_up
        Whether an order that is as good as lost stakes nothing any more.
    """

    aim: float
    level: float
    cuts: tuple[float, ...]
    held: Plan | None = None
    gives_up: bool = False
    stakes: dict[int, Stakes] = field(default_factory=dict)

    @property
    def target(self) -> float:
        """The log-wealth that rejects."""
        return -math.log(self.level)

    def part_of(self, price: float) -> int:
        """Return the part that a price belongs to."""
        return min(bisect_right(self.cuts, price), len(self.cuts) - 1) - 1


@dataclass(frozen=True, eq=False)
class Rejection:
    """Bets against "ψ <= d" for all d, those at a declared δ first.

    Attributes
    ----------
    evidence
        The sample.
    declared
        The δ that was declared before the data, if there is one.

    Notes
    -----
    The test at δ bets on each order with stakes aimed at δ. An order whose wealth falls to
    next to nothing is given up: it counts 0 for δ. The test of a rung d < δ lays the same
    stakes until then, and from then on stakes of its own. The same stakes win more against
    d than against δ, at every price, so the wealth against d is at least that against δ, and d
    is rejected whenever δ is. So there is one family of tests, one test for each d, and the
    lower bound is the first d that is not rejected. It is below δ exactly if the test at δ
    does not reject.
    """

    evidence: Evidence
    declared: float | None = None
    _hints: list[float] = field(default_factory=list)

    def log_wealth(self, level: float) -> float:
        """Return the log-wealth against ψ <= δ at the declared δ, aimed at a level.

        It rejects at that level if it reaches −log(level); else it is a lower limit of it that
        is good to ``PRECISION``.
        """
        plan = self._declared_plan(level)
        target = plan.target
        while (least := self._least(plan, plan.aim, target, given_up=True)).value < target:
            if least.value == -math.inf:
                return least.value
            # what was found is no limit yet: ask for a little less
            target = least.value - PRECISION
        return least.value

    def rejects(self, level: float) -> bool:
        """Whether ψ <= δ is rejected at the declared δ."""
        plan = self._declared_plan(level)
        return self._least(plan, plan.aim, plan.target, given_up=True).value >= plan.target

    def bound(self, alpha: float) -> float:
        """Return the first threshold that is not rejected."""
        level, declared = Ladder.main_level(alpha), self.declared
        if declared is None or not 0 < declared < self.evidence.limits.most:
            return self._climb(alpha, 0.0)
        if self.rejects(level):
            return self._climb(alpha, declared)
        return self._climb_below(alpha, declared)

    def _climb(self, alpha: float, floor: float) -> float:
        """Return the bound where everything up to ``floor`` is rejected."""
        ladder = self.evidence.ladder
        rung = ladder.climb(
            alpha, self._rejects_below, self._rejects_below, self.evidence.guesses[0],
            ladder.below(floor),
        )  # fmt: skip
        bottom, top = ladder.threshold(rung), ladder.threshold(rung + 1)
        if top >= self.evidence.limits.most:
            return max(bottom, floor)
        plan = self._plan(top, Ladder.main_level(alpha))
        return max(self._within(plan, bottom, top, (top - bottom) / FINENESS), floor)

    def _climb_below(self, alpha: float, declared: float) -> float:
        """Return the bound where the declared threshold is not rejected: less than that."""
        ladder = self.evidence.ladder
        plan, last = self._declared_plan(Ladder.main_level(alpha)), ladder.below(declared)
        last -= ladder.threshold(last) >= declared
        part = (ladder.threshold(last + 1) - ladder.threshold(last)) / FINENESS
        if not self.evidence.fixed_targets:
            # the mixture for δ serves all below it
            found = self._within(plan, 0.0, declared, part)
            return min(found, max(declared - part, 0.0))

        def rejects(rung: int, level: float) -> bool:
            top = ladder.threshold(rung)
            return top < declared and self._rejects_up_to(self._plan(top, level, held=plan))

        guess = self.evidence.guesses[0]
        rung = min(ladder.climb(alpha, self._rejects_below, rejects, guess, 0), last)
        bottom, top = ladder.threshold(rung), ladder.threshold(rung + 1)
        if top >= declared:
            found = self._within(plan, bottom, declared, part)
            return min(found, max(bottom, declared - part))
        own = self._plan(top, plan.level, held=plan)
        return self._within(own, bottom, top, (top - bottom) / FINENESS)

    def _rejects_below(self, rung: int, level: float) -> bool:
        """Whether ψ <= δ is rejected for all δ below the given rung."""
        top = self.evidence.ladder.threshold(rung)
        return top < self.evidence.limits.most and self._rejects_up_to(self._plan(top, level))

    def _rejects_up_to(self, plan: Plan) -> bool:
        return self._least(plan, plan.aim, plan.target).value >= plan.target

    def _within(self, plan: Plan, bottom: float, top: float, part: float) -> float:
        """Return the largest δ up to which all prices are rejected by the same stakes."""
        high = top
        for _ in range(12):
            least = self._least(plan, high, plan.target)
            if least.value >= plan.target:
                return high
            # where the price that failed stops failing; then whether the others agree
            low = bottom
            while high - low > part:
                middle = (low + high) / 2
                passes = self._at_price(plan, middle, least.price) >= plan.target
                low, high = (middle, high) if passes else (low, middle)
            high = low
            if high <= bottom:
                break
        return bottom

    # -- stakes

    @cached_property
    def _plans(self) -> dict[float, Plan]:
        return {}

    def _declared_plan(self, level: float) -> Plan:
        if self.declared is None:
            msg = "no threshold was declared"
            raise ValueError(msg)
        if level not in self._plans:
            self._plans[level] = self._plan(self.declared, level, gives_up=True)
        return self._plans[level]

    def _plan(
        self, aim: float, level: float, *, held: Plan | None = None, gives_up: bool = False
    ) -> Plan:
        evidence = self.evidence
        if held is not None:
            cuts = held.cuts
        elif evidence.budget == 0:
            cuts = (0.0, 0.0)
        else:
            cuts = tuple(share * aim / evidence.budget for share in CUTS)
        return Plan(float(aim), level, cuts, held, gives_up)

    def _stakes(self, plan: Plan, part: int) -> Stakes:
        """Return the stakes for one part of the prices; chosen when first needed."""
        if part not in plan.stakes:
            choose = self._choose if self.evidence.fixed_targets else self._mixture
            plan.stakes[part] = choose(plan, part)
        return plan.stakes[part]

    def _mixture(self, plan: Plan, part: int) -> Stakes:
        """Return fixed stakes, a path each, whatever the part."""
        del part
        most = CAP / plan.aim
        grid = np.geomspace(most, most / (10 * math.sqrt(self.evidence.n)), FIXED_STAKES)
        return Stakes(grid[:, None], np.ones(FIXED_STAKES, np.int64))

    def _choose(self, plan: Plan, part: int) -> Stakes:
        from fairtransport.inference.finite import rejection_bets as kernels

        evidence = self.evidence
        orders, frontiers = evidence.orders, evidence.frontiers
        shape = orders.before.shape
        none, result = (Stakes(np.zeros(shape), np.zeros(shape[0], np.int64)) for _ in range(2))
        held = none if plan.held is None else self._stakes(plan.held, part)
        low, high = plan.cuts[part : part + 2]
        if evidence.budget > 0:
            high = min(high, plan.aim / evidence.budget)
        aim = kernels.Aim(
            plan.aim, plan.level, evidence.cushion, evidence.budget, evidence.limits.most, low,
            high, WEIGHT, CAP / (plan.aim - evidence.budget * low), evidence.prices, plan.gives_up,
        )  # fmt: skip
        with threads_for(len(orders.cell) * min(evidence.prices, 2 + len(frontiers.row))):
            kernels.rejection_stakes(orders, frontiers, aim, held, *result)
        return result

    # -- wealth

    def _wealths(self, stakes: Stakes, delta: float, outcomes: FloatArray) -> FloatArray:
        from fairtransport.inference.finite import bets

        orders = self.evidence.orders
        result = np.empty((len(outcomes), len(stakes.values)))
        with threads_for(len(outcomes) * len(orders.cell)):
            bets.log_wealths(orders, stakes.values, outcomes, delta, result)
        return result

    def _least(self, plan: Plan, delta: float, target: float, *, given_up: bool = False) -> Least:
        """Say whether the average wealth reaches a target at all prices that δ allows.

        ``given_up`` counts the orders that were given up as 0.
        """
        top = delta / self.evidence.budget if self.evidence.budget > 0 else 0.0
        parts = [part for part, low in enumerate(plan.cuts[:-1]) if part == 0 or low < top]
        # the part that failed last will probably fail again
        parts.sort(key=lambda part: part != self._failed.get("part"))
        found = Least(math.inf, 0.0)
        for part in parts:
            least = self._least_of_part(plan, part, delta, top, target, given_up=given_up)
            found = min(found, least)
            if found.value < target:
                self._failed["part"] = part
                break
        return found

    @cached_property
    def _failed(self) -> dict[str, int]:
        return {}

    def _least_of_part(
        self, plan: Plan, part: int, delta: float, top: float, target: float, *, given_up: bool
    ) -> Least:
        evidence, stakes = self.evidence, self._stakes(plan, part)

        def wealth(outcomes: FloatArray) -> FloatArray:
            logs = self._wealths(stakes, delta, outcomes)
            if given_up:
                logs[:, stakes.lost] = -math.inf
            return logs

        if evidence.budget == 0:
            return Least(evidence.average(wealth(evidence.frontiers.base[None, :])[0]), 0.0)
        ends = (plan.cuts[part], min(plan.cuts[part + 1], top))
        least = least_log_wealth(
            evidence.frontiers,
            evidence.budget,
            ends,
            wealth,
            evidence.average,
            target,
            self._hints,
        )
        # the least wealth of the next test will be near here again
        if least.price not in self._hints:
            self._hints[:] = [*self._hints[1 - MOST_HINTS :], least.price]
        return least

    def _at_price(self, plan: Plan, delta: float, price: float) -> float:
        evidence = self.evidence
        outcomes = evidence.frontiers.at(price).gains + evidence.budget * price
        stakes = self._stakes(plan, plan.part_of(price))
        return evidence.average(self._wealths(stakes, delta, outcomes[None, :])[0])
