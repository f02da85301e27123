"""One sample as two audits see it, and the bets on the difference of what they find."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.inference.finite.evidence import CAP, SURE, WEIGHT, Evidence
from fairtransport.inference.finite.ladder import EvenLadder
from fairtransport.inference.finite.orders import Orders, draw_orders
from fairtransport.inference.finite.plans import Stakes
from fairtransport.threads import threads_for

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray
    from fairtransport.inference.finite.paired_bets import Paid
    from fairtransport.inference.finite.plans import Plan
    from fairtransport.transport import AuditProblem

PAIRED_CUTS = (0.0, 1 / 16, 1 / 4, 1.0)
"""Where the prices of the first audit are cut into parts with stakes of their own."""

PAIRED_CUSHION = 0.85
"""How closely wealth is aimed at 1/α: a difference can be skewed either way."""


@dataclass(frozen=True, eq=False)
class PairedEvidence(Evidence):
    """A sample that two audits share, for bets against Δ = ψ − ψ' <= d.

    Attributes
    ----------
    other
        The second audit's problem and limits, ψ', on the same sample.
    nested
        Whether the first audit allows all moves of the second, on the same losses, so that no
        gain is less there than here. It matters where only free moves count.

    Notes
    -----
    Whatever price μ of the second audit is chosen from earlier records, E Y'_μ >= ψ'. So under
    "Δ <= d" there is a price ν of the first at which Y_ν − Y'_μ − d has a mean of at most 0 given
    the past, block after block, and wealth that bets on it has a mean of at most 1 there.
    """

    other: Evidence
    nested: bool

    @property
    def least(self) -> float:
        """What Δ cannot be less than: 0 if moves are nested, else −(the most that ψ' can be)."""
        return 0.0 if self.nested else -self.other.limits.data_free_bound(self.other.budget)

    @property
    def most(self) -> float:
        """What Δ cannot exceed: the first audit's largest gain, as ψ' >= 0."""
        return self.limits.most

    @cached_property
    def orders(self) -> Orders:
        """The orders that the sample is bet on in."""
        segments = len(self.frontiers.row) + len(self.other.frontiers.row)
        sweeps = self.blocks // self.every * segments
        return draw_orders(self.counts[self.occupied], self.blocks, sweeps, self.rng)

    @cached_property
    def ladder(self) -> EvenLadder:
        """The differences on which bounds are found."""
        return EvenLadder(self.n, self.most, self.least)

    def highest_price(self, delta: float) -> float:
        """Return the highest price at which E Y_ν can be ψ, if that is at most δ + ψ'.

        Parameters
        ----------
        delta
            The difference d of the hypothesis.

        Returns
        -------
        float
            (d + the most that ψ' can be)/ε or the largest gain over ε, whichever is less.
        """
        if self.budget == 0:
            return 0.0
        # εν* <= ψ <= d + ψ', and ψ' is at most what needs no data
        reach = delta + self.other.limits.data_free_bound(self.other.budget)
        return max(min(reach, self.limits.most), 0.0) / self.budget

    def cuts(self, aim: float) -> tuple[float, ...]:
        """Return where the prices are cut into parts, whatever is aimed at.

        Parameters
        ----------
        aim
            Not looked at: ψ itself may be anything when a difference is aimed at.

        Returns
        -------
        tuple of float
            Rising, finer near 0, where the prices of most audits are.
        """
        del aim
        if self.budget == 0:
            return 0.0, 0.0
        return tuple(share * self.limits.most / self.budget for share in PAIRED_CUTS)

    @cached_property
    def paid(self) -> Paid:
        """What the second audit takes from the outcomes of each entry of the orders.

        Notes
        -----
        Its price path does not depend on d, so one path serves all tests.
        """
        from fairtransport.inference.finite import paired_bets as kernels

        other, orders = self.other, self.orders
        prices, entries = np.zeros(orders.before.shape), np.zeros(len(orders.cell))
        with threads_for(len(orders.cell) + len(orders.before) * len(other.frontiers.row)):
            if other.budget > 0:
                kernels.price_paths(orders, other.frontiers, other.budget, self.every, prices)
            kernels.outcomes_paid(orders, other.frontiers, other.budget, prices, entries)
        if self.nested and self.budget == 0:
            # the first audit's gain is at least the second's, person by person: their difference is
            # at least 0, and with it what a record can lose is d alone
            return kernels.Paid(entries, np.zeros_like(prices))
        # φ' falls in μ: the limit at the next lower known price holds here too
        at = np.searchsorted(other.limits.prices, prices, side="right") - 1
        return kernels.Paid(entries, other.limits.limits[at] + other.budget * prices)

    def choose_stakes(self, plan: Plan, part: int, held: Stakes | None) -> Stakes:
        """Return the stakes of a plan for one part of the prices, ``held`` ones first.

        Parameters
        ----------
        plan
            The difference that is bet against, the level and the cuts.
        part
            Which part of the first audit's prices, from 0.
        held
            Stakes for the same part that are laid until an order is given up in them.
        """
        from fairtransport.inference.finite import paired_bets as kernels
        from fairtransport.inference.finite.rejection_bets import Aim

        orders, shape, paid = self.orders, self.orders.before.shape, self.paid
        none, result = (Stakes(np.zeros(shape), np.zeros(shape[0], np.int64)) for _ in range(2))
        low, high = plan.cuts[part : part + 2]
        # a difference reaches as far as the larger of the two gains, on either side of 0
        most = max(self.limits.most, self.other.limits.most)
        aim = Aim(
            plan.aim, plan.level, PAIRED_CUSHION, self.budget, most, low,
            min(high, self.highest_price(plan.aim)), WEIGHT, CAP, self.prices, plan.gives_up,
        )  # fmt: skip
        with threads_for(len(orders.cell) * min(self.prices, 2 + len(self.frontiers.row))):
            kernels.paired_stakes(
                orders, self.frontiers, aim, paid.entries, paid.tops, held or none, *result
            )
        return result

    def _over(self, delta: float) -> FloatArray:
        """Return what each entry's Y_ν is bet to exceed: d and what the second audit takes.

        Parameters
        ----------
        delta
            The difference d.
        """
        return self.paid.entries + delta

    @cached_property
    def guesses(self) -> tuple[int, int]:
        """Rungs below and above which everything is very probably rejected.

        Notes
        -----
        The sample's mean of Y_ν − Y'_μ at both audits' own prices, ``SURE`` standard errors down
        and up. A spread of 1/n at least: a sample without any difference is no proof that there is
        none.
        """
        f = self.counts / self.n
        gains = _gains(self.problem, self.budget, f) - _gains(
            self.other.problem, self.other.budget, f
        )
        mean = float(f @ gains)
        # gains that happen to be all alike still leave a start some room
        slack = SURE * math.sqrt(max(float(f @ (gains - mean) ** 2), 1 / self.n**2) / self.n)
        return self.ladder.below(mean - slack), self.ladder.below(mean + slack) + 1


def _gains(problem: AuditProblem, budget: float, f: FloatArray) -> FloatArray:
    """Return Y_ν of every point at the sample's price.

    Parameters
    ----------
    problem
        One of the two audits.
    budget
        Its ε; 0 where only free moves matter.
    f
        The sample's frequencies.
    """
    if budget == 0:
        return problem.frontiers.base_gain
    price = problem.solve(f).price
    return problem.frontiers.net_gains(price) + budget * price


def paired(first: Evidence, second: Evidence, *, nested: bool = False) -> PairedEvidence:
    """Return the evidence about what the first audit finds over the second, of one sample.

    Parameters
    ----------
    first, second
        The same sample under two audit problems with the same points.
    nested
        Whether the first allows all moves of the second on the same losses.
    """
    return PairedEvidence(
        first.problem, first.counts, first.limits, first.fixed_targets, first.rng, second, nested
    )
