"""Evidence against ψ <= δ: the test at a declared δ, and the lower bound that goes with it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from fairtransport.inference.finite.ladder import Ladder
from fairtransport.inference.finite.least_wealth import Least, least_log_wealth
from fairtransport.inference.finite.plans import Plan, Stakes

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray
    from fairtransport.inference.finite.evidence import Evidence

FINENESS = 16
"""Parts of a rung to which a bound inside it is found."""
MOST_HINTS = 6
"""Prices of earlier searches with which a search over prices begins."""
PRECISION = 0.05
"""To which the logarithm of a wealth that does not reject is computed."""


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

        Parameters
        ----------
        level
            The level whose test this is.

        Raises
        ------
        ValueError
            If no δ was declared.
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
        """Whether ψ <= δ is rejected at the declared δ.

        Parameters
        ----------
        level
            The level of this one test; `Ladder.main_level` of α where a bound goes with it.
        """
        plan = self._declared_plan(level)
        return self._least(plan, plan.aim, plan.target, given_up=True).value >= plan.target

    def bound(self, alpha: float) -> float:
        """Return the first threshold that is not rejected.

        Parameters
        ----------
        alpha
            The level of the bound.

        Returns
        -------
        float
            L with P(L <= ψ(f*)) >= 1 − α. It is at least the declared δ exactly if that is rejected
            at `Ladder.main_level` of α.
        """
        level, declared = Ladder.main_level(alpha), self.declared
        # a δ at or beyond the ends of what ψ can be has no test of its own
        if declared is None or not self.evidence.least < declared < self.evidence.most:
            return self._climb(alpha, self.evidence.least)
        if self.rejects(level):
            return self._climb(alpha, declared)
        return self._climb_below(alpha, declared)

    def _climb(self, alpha: float, floor: float) -> float:
        """Return the bound where everything up to ``floor`` is rejected.

        Parameters
        ----------
        alpha
            The level of the bound.
        floor
            The declared δ if it was rejected, else the least that ψ can be.
        """
        ladder = self.evidence.ladder
        rung = ladder.climb(
            alpha, self._rejects_below, self._rejects_below, self.evidence.guesses[0],
            ladder.below(floor),
        )  # fmt: skip
        bottom, top = ladder.threshold(rung), ladder.threshold(rung + 1)
        # nothing reaches beyond the largest gain: the last rung has no test of its own
        if top >= self.evidence.most:
            return max(bottom, floor)
        # the test of the rung that failed as a whole; inside it the same stakes decide every δ
        plan = self._plan(top, Ladder.main_level(alpha))
        return max(self._within(plan, bottom, top, (top - bottom) / FINENESS), floor)

    def _climb_below(self, alpha: float, declared: float) -> float:
        """Return the bound where the declared threshold is not rejected: less than that.

        Parameters
        ----------
        alpha
            The level of the bound.
        declared
            The declared δ.

        Notes
        -----
        Rungs below δ lay the stakes of the test at δ in every order until that gives the order up,
        and only then their own. Order by order their wealth is at least that against δ, so that no
        d < δ can fail where δ passes: the tests are one family, and the bound agrees with the
        verdict.
        """
        ladder = self.evidence.ladder
        plan, last = self._declared_plan(Ladder.main_level(alpha)), ladder.below(declared)
        # a rung that is δ itself is not below it
        last -= ladder.threshold(last) >= declared
        part = (ladder.threshold(last + 1) - ladder.threshold(last)) / FINENESS
        if not self.evidence.fixed_targets:
            # the mixture for δ serves all below it
            found = self._within(plan, self.evidence.least, declared, part)
            # δ was not rejected, though wealth that counts lost orders too may reach 1/α just there
            return min(found, max(declared - part, self.evidence.least))

        def rejects(rung: int, level: float) -> bool:
            """Whether everything up to a rung below δ is rejected, with δ's stakes held."""
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
        """Whether ψ <= δ is rejected for all δ below the given rung.

        Parameters
        ----------
        rung
            A rung of the ladder. At the largest gain nothing can be rejected: nobody exceeds it.
        level
            The level of this test.
        """
        top = self.evidence.ladder.threshold(rung)
        return top < self.evidence.most and self._rejects_up_to(self._plan(top, level))

    def _rejects_up_to(self, plan: Plan) -> bool:
        """Whether a plan's own threshold is rejected, and with it all below."""
        return self._least(plan, plan.aim, plan.target).value >= plan.target

    def _within(self, plan: Plan, bottom: float, top: float, part: float) -> float:
        """Return the largest δ up to which all prices are rejected by the same stakes.

        Parameters
        ----------
        plan
            Whose stakes are played; they are aimed at ``top``.
        bottom, top
            The ends of the rung. The bottom is rejected already.
        part
            To which the bound is found, on the safe side.

        Notes
        -----
        Stakes are the same for all δ in here, so that wealth falls in δ at every price: tests are
        nested, and halving finds where they stop. After a price was settled others may still
        fail, so the search over prices is repeated, a dozen times at the most; then the bottom is
        the answer, which is always right.
        """
        high = top
        for _ in range(12):
            least = self._least(plan, high, plan.target)
            if least.value >= plan.target:
                return high
            # where the price that failed stops failing; then whether the others agree
            low, outcomes = bottom, self._outcomes(least.price)
            while high - low > part:
                middle = (low + high) / 2
                passes = self._at_price(plan, middle, least.price, outcomes) >= plan.target
                low, high = (middle, high) if passes else (low, middle)
            high = low
            if high <= bottom:
                break
        return bottom

    # -- stakes

    @cached_property
    def _plans(self) -> dict[float, Plan]:
        """The plans at the declared δ, by level: bound and test share their stakes."""
        return {}

    def _declared_plan(self, level: float) -> Plan:
        """Return the plan of the test at the declared δ, made once a level.

        Raises
        ------
        ValueError
            If no δ was declared.
        """
        if self.declared is None:
            msg = "no threshold was declared"
            raise ValueError(msg)
        if level not in self._plans:
            self._plans[level] = self._plan(self.declared, level, gives_up=True)
        return self._plans[level]

    def _plan(
        self, aim: float, level: float, *, held: Plan | None = None, gives_up: bool = False
    ) -> Plan:
        """Return a plan, its stakes not chosen yet.

        Parameters
        ----------
        aim, level
            The threshold and the level.
        held
            The plan whose stakes come first; its cuts are taken over, as stakes belong to a part.
        gives_up
            Whether lost orders stop staking.
        """
        cuts = self.evidence.cuts(aim) if held is None else held.cuts
        return Plan(float(aim), level, cuts, held, gives_up)

    def _stakes(self, plan: Plan, part: int) -> Stakes:
        """Return the stakes for one part of the prices; chosen when first needed.

        Parameters
        ----------
        plan
            Where they are kept.
        part
            Which part, from 0.
        """
        if part not in plan.stakes:
            held = None if plan.held is None else self._stakes(plan.held, part)
            plan.stakes[part] = self.evidence.choose_stakes(plan, part, held)
        return plan.stakes[part]

    # -- wealth

    def _least(self, plan: Plan, delta: float, target: float, *, given_up: bool = False) -> Least:
        """Say whether the average wealth reaches a target at all prices that δ allows.

        ``given_up`` counts the orders that were given up as 0.

        Parameters
        ----------
        plan
            The stakes.
        delta
            The threshold that they are played against, at most the plan's aim.
        target
            The log-wealth that is asked for.
        given_up
            Whether this is the test of the declared δ itself.

        Returns
        -------
        Least
            As soon as one price fails, that one.
        """
        # the population's price cannot be higher, so that higher ones need not be won at
        top = self.evidence.highest_price(delta)
        parts = [part for part, low in enumerate(plan.cuts[:-1]) if part == 0 or low < top]
        # the part that failed last will probably fail again
        parts.sort(key=lambda part: part != self._failed.get("part"))
        # "ψ <= δ" is a union over prices: each part must be won, by stakes of its own
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
        """The part of the prices that failed last; only the order of the search depends on it."""
        return {}

    def _least_of_part(
        self, plan: Plan, part: int, delta: float, top: float, target: float, *, given_up: bool
    ) -> Least:
        """Say whether the average wealth reaches a target at the prices of one part.

        Parameters
        ----------
        plan, delta, target, given_up
            As in `_least`.
        part
            Which part, from 0.
        top
            The highest price that δ allows.
        """
        evidence, stakes = self.evidence, self._stakes(plan, part)

        def wealth(outcomes: FloatArray) -> FloatArray:
            """Return (rows, orders) log-wealths, −∞ for lost orders in the test of δ itself."""
            logs = evidence.wealth_logs(stakes, delta, outcomes)
            if given_up:
                logs[:, stakes.lost] = -math.inf
            return logs

        # no price: Y is the free gain, and one evaluation decides
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

    def _outcomes(self, price: float) -> FloatArray:
        """Return Y_ν of the occupied cells at a price."""
        return self.evidence.frontiers.at(price).gains + self.evidence.budget * price

    def _at_price(self, plan: Plan, delta: float, price: float, outcomes: FloatArray) -> float:
        """Return the average log-wealth against δ at one price.

        Parameters
        ----------
        plan
            The stakes.
        delta
            The threshold.
        price, outcomes
            ν, and Y_ν of the occupied cells.
        """
        evidence, stakes = self.evidence, self._stakes(plan, plan.part_of(price))
        return evidence.average(evidence.wealth_logs(stakes, delta, outcomes[None, :])[0])
