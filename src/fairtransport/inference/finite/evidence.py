"""The sample as bets see it: random orders of the records, the frontiers of occupied cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.inference.finite.ladder import Ladder
from fairtransport.inference.finite.least_wealth import log_best_mean, log_mean
from fairtransport.inference.finite.observed_frontiers import ObservedFrontiers, observed_frontiers
from fairtransport.inference.finite.orders import Orders, draw_orders, no_order
from fairtransport.inference.finite.plans import Stakes
from fairtransport.threads import threads_for

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.inference.finite.plans import Plan
    from fairtransport.transport import AuditProblem

BLOCKS = ((200, 200), (10_000, 100), (100_000, 60))
"""Up to so many records stakes are chosen so often; beyond all, ``FEWEST_BLOCKS`` times."""
FEWEST_BLOCKS = 20
MEDIUM = 10_000
"""Beyond so many records prices are looked at less closely."""
CUSHIONS = ((50, 0.8), (200, 0.85), (1_000, 0.95))
"""How closely wealth is aimed at 1/α with so many records, for a rejection; in between, by the
logarithm."""
CUTS = (0.0, 0.5, 1.0)
"""Where the prices from 0 to δ/ε are cut into parts with stakes of their own."""
LEAST_THRESHOLD = 1e-12
"""Smallest threshold that is bet on, as a share of the largest gain; stakes grow as one over it."""
CAP = 0.75
"""Largest share of wealth that one record can lose."""
WEIGHT = 4.0
"""Records that the prior guess of a variance counts for."""
SURE = 6.0
"""Standard errors from the estimate at which the search for a start begins."""
SMALL = 200
FEWEST_SHARES = (1 / 8, 1 / 4)
"""Share of the orders whose mean wealth may decide without the others, up to ``SMALL`` records
and beyond; with less, bounds would move more with the seed."""
FIXED_STAKES = 40
"""Stakes in the mixture for targets that depend on the sample."""
LIMIT_PRICES = 64
"""Prices at which the largest gain of a declared sample space is computed."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """A sample and what was known before it, as bets need them.

    Attributes
    ----------
    problem, counts
        The audit problem and the sample.
    limits
        What is known of gains before the data.
    fixed_targets
        Whether the targets do not depend on the sample.
    rng
        Draws the random orders in which the sample is bet on.

    Notes
    -----
    How stakes are chosen must not depend on the sample but through earlier records. The number
    of blocks, of prices that are looked at and of rungs depend on n and on ``limits`` only. The
    number of orders depends on the number of occupied cells; it is no part of any stake, and
    given the sample's multiset the orders are independent and alike, so that their wealths are
    exchangeable, however many they are.
    """

    problem: AuditProblem
    counts: IntArray
    limits: GainLimits
    fixed_targets: bool
    rng: np.random.Generator

    @property
    def budget(self) -> float:
        """ε; 0 where only free moves matter."""
        return 0.0 if self.limits.linear else self.problem.budget

    @cached_property
    def n(self) -> int:
        """The size of the sample."""
        return int(self.counts.sum())

    @cached_property
    def occupied(self) -> IntArray:
        """The points that records are at: rising indices into ``counts``."""
        return np.flatnonzero(self.counts)

    @cached_property
    def frontiers(self) -> ObservedFrontiers:
        """The frontiers of these points; without segments where only free moves matter."""
        return observed_frontiers(self.problem, self.occupied, with_costs=not self.limits.linear)

    @cached_property
    def orders(self) -> Orders:
        """The orders that the sample is bet on in."""
        counts = self.counts[self.occupied]
        if not self.fixed_targets:
            # stakes chosen from earlier records would not be predictable where φ depends on later
            # ones: fixed stakes, whose wealth needs no order
            return no_order(counts, FIXED_STAKES)
        sweeps = self.blocks // self.every * len(self.frontiers.row)
        return draw_orders(counts, self.blocks, sweeps, self.rng)

    def average(self, logs: FloatArray) -> float:
        """Put the log-wealths of orders, or of the stakes of a mixture, together.

        Parameters
        ----------
        logs
            One log-wealth for each order or stake, at one price.

        Returns
        -------
        float
            For orders the largest log-mean of the first k of them, k from a share of
            ``FEWEST_SHARES`` on (`log_best_mean`); for a mixture the log-mean of all.

        Notes
        -----
        Stakes of a mixture are not exchangeable, so that only their mean is an e-value.
        """
        if not self.fixed_targets:
            return log_mean(logs)
        # the largest mean of the first k orders is valid from any k on; from few on it moves with
        # the seed
        share = FEWEST_SHARES[self.n > SMALL]
        return log_best_mean(logs, math.ceil(share * len(logs)))

    @property
    def blocks(self) -> int:
        """How often stakes are chosen; a function of n alone."""
        return next((blocks for most, blocks in BLOCKS if self.n <= most), FEWEST_BLOCKS)

    @property
    def cushion(self) -> float:
        """How closely the wealth against ψ <= δ is aimed at 1/α; it grows with n."""
        sizes, cushions = np.array(CUSHIONS).T
        return float(np.interp(math.log(self.n), np.log(sizes), cushions))

    @property
    def every(self) -> int:
        """The number of blocks for which a certificate's price is kept; a function of n alone."""
        return 1 if self.n <= MEDIUM else 4

    @property
    def prices(self) -> int:
        """The number of prices that wealth is kept at, at the most; a function of n alone."""
        return 64 if self.n <= MEDIUM else 8

    @property
    def least(self) -> float:
        """What ψ cannot be less than: nobody has to move."""
        return 0.0

    @property
    def most(self) -> float:
        """What ψ cannot exceed."""
        return self.limits.most

    def highest_price(self, delta: float) -> float:
        """Return the highest price at which E Y_ν can be ψ if that is at most δ.

        Parameters
        ----------
        delta
            The threshold.

        Returns
        -------
        float
            δ/ε, since εν <= E Y_ν; 0 where only free moves matter and there is but one hypothesis.
        """
        # φ >= 0, so that εν* <= E Y_ν* = ψ <= δ
        return delta / self.budget if self.budget > 0 else 0.0

    def cuts(self, aim: float) -> tuple[float, ...]:
        """Return where the prices are cut into parts in a bet against ψ <= ``aim``.

        Parameters
        ----------
        aim
            The threshold that stakes are made for.

        Returns
        -------
        tuple of float
            Rising ends of the parts, from 0 to aim/ε, at the shares ``CUTS``: known beforehand.
        """
        if self.budget == 0:
            return 0.0, 0.0
        return tuple(share * aim / self.budget for share in CUTS)

    def choose_stakes(self, plan: Plan, part: int, held: Stakes | None) -> Stakes:
        """Return the stakes of a plan for one part of the prices, ``held`` ones first.

        Parameters
        ----------
        plan
            The threshold, the level and the cuts.
        part
            Which part of the prices, from 0.
        held
            Stakes for the same part that are laid until an order is given up in them.

        Returns
        -------
        Stakes
            Those that the kernel chose from the past, or the fixed grid of a mixture where targets
            depend on the sample: there no stake may look at the past, whose φ depend on who comes
            later.
        """
        if not self.fixed_targets:
            return self._mixture(plan.aim)
        from fairtransport.inference.finite import rejection_bets as kernels

        orders, frontiers, shape = self.orders, self.frontiers, self.orders.before.shape
        none, result = (Stakes(np.zeros(shape), np.zeros(shape[0], np.int64)) for _ in range(2))
        low, high = plan.cuts[part : part + 2]
        # a part that holds prices above δ/ε has to win only below it
        if self.budget > 0:
            high = min(high, self.highest_price(plan.aim))
        aim = kernels.Aim(
            plan.aim, plan.level, self.cushion, self.budget, self.limits.most, low,
            high, WEIGHT, CAP / (plan.aim - self.budget * low), self.prices, plan.gives_up,
        )  # fmt: skip
        with threads_for(len(orders.cell) * min(self.prices, 2 + len(frontiers.row))):
            kernels.rejection_stakes(orders, frontiers, aim, held or none, *result)
        return result

    def _mixture(self, aim: float) -> Stakes:
        """Return fixed stakes, a path each, whatever the price.

        Parameters
        ----------
        aim
            The threshold that the largest stake just survives.
        """
        grid = fixed_stakes(aim, self.n)
        return Stakes(grid[:, None], np.ones(FIXED_STAKES, np.int64))

    def wealth_logs(self, stakes: Stakes, delta: float, outcomes: FloatArray) -> FloatArray:
        """Return the log-wealth of each path of stakes on rows of outcomes over δ.

        Parameters
        ----------
        stakes
            The paths: an order each, or a stake of the mixture each.
        delta
            What outcomes are bet to exceed.
        outcomes
            (rows, occupied cells) Y_ν at a price, or a tangent below it.

        Returns
        -------
        ndarray
            (rows, paths).
        """
        from fairtransport.inference.finite import bets

        orders, over = self.orders, self._over(delta)
        result = np.empty((len(outcomes), len(stakes.values)))
        with threads_for(len(outcomes) * len(orders.cell)):
            if self.fixed_targets:
                bets.log_wealths(orders, stakes.values, outcomes, over, result)
            else:
                # a kernel of its own: one block, and the stakes of a record side by side
                mixed = stakes.values[:, 0].copy()
                bets.log_wealths_of_mixture(orders.number, mixed, outcomes, over, result)
        return result

    def _over(self, delta: float) -> FloatArray:
        """Return what the outcome of each entry of the orders is bet to exceed.

        Parameters
        ----------
        delta
            The threshold, the same for all records of a single audit.
        """
        return np.full(len(self.orders.cell), delta)

    @cached_property
    def ladder(self) -> Ladder:
        """The thresholds on which bounds are found."""
        return Ladder(self.n, self.limits.most)

    @cached_property
    def guesses(self) -> tuple[int, int]:
        """Rungs below and above which everything is very probably rejected.

        Notes
        -----
        min over ν of the sample's mean of Y_ν, ``SURE`` standard errors down and up. The sample may
        be looked at for this: a start is tested at a level that is divided among all rungs that
        could have been one (`Ladder.climb`), so that a bad guess costs time and nothing else.
        """
        sweep = self.problem.sweep(self.counts / self.n)
        budget = self.problem.budget
        offset = np.zeros_like(sweep.prices) if budget == 0 else budget * sweep.prices
        usable = np.isfinite(offset)
        means, spreads = (offset + sweep.mean)[usable], sweep.spread()[usable]
        slack = SURE * spreads / math.sqrt(self.n)
        low, high = float(np.min(means - slack)), float(np.min(means + slack))
        return self.ladder.below(low), self.ladder.below(high) + 1


def fixed_stakes(aim: float, n: int) -> FloatArray:
    """Return the stakes of the mixture against "ψ <= aim", from the largest that is allowed.

    Parameters
    ----------
    aim
        The threshold, positive.
    n
        The sample's size, which says how small a stake can still be of use.

    Returns
    -------
    ndarray
        ``FIXED_STAKES`` falling stakes, equally spaced in their logarithms, from .75/aim to a
        10√n-th of it.

    Examples
    --------
    >>> stakes = fixed_stakes(0.05, 400)
    >>> len(stakes), [round(float(stakes[at]), 3) for at in (0, -1)]
    (40, [15.0, 0.075])
    """
    most = CAP / aim
    return np.geomspace(most, most / (10 * math.sqrt(n)), FIXED_STAKES)


@dataclass(frozen=True, eq=False)
class GainLimits:
    """What is known of gains before the sample is drawn, for points outside it too.

    Attributes
    ----------
    prices, limits
        Rising prices, the first 0, and upper limits of φ_ν from each on.
    linear
        Whether only free moves matter, so that ψ is linear in f.
    two_valued
        Whether each gain is 0 or the largest.
    """

    prices: FloatArray
    limits: FloatArray
    linear: bool
    two_valued: bool

    @property
    def most(self) -> float:
        """The largest gain there can be: φ_ν falls in ν, so the limit at price 0."""
        return float(self.limits[0])

    def data_free_bound(self, budget: float) -> float:
        """Return what ψ cannot exceed whatever the population: min over ν of εν + max φ_ν.

        Parameters
        ----------
        budget
            ε; 0 where only free moves matter.

        Notes
        -----
        ψ <= E Y_ν <= εν + max φ_ν at every price; the limits hold from each known price on, so the
        least over these prices is a bound, if not the least of all.
        """
        return float(np.min(budget * self.prices + self.limits))


def limits_of_space(problem: AuditProblem) -> GainLimits:
    """Return the limits where a problem's points are the whole sample space.

    Parameters
    ----------
    problem
        Declared points, all that people can be at, with their losses and moves.

    Returns
    -------
    GainLimits
        With costs, the largest φ_ν at some 64 prices spread as the slopes are; these are fixed
        by the problem, not by who is in the sample.
    """
    frontiers = problem.frontiers
    if problem.budget == 0 or not len(frontiers.row):
        gains = frontiers.base_gain
        most = float(gains.max())
        # then ψ is a share of people times the largest gain: Clopper and Pearson's bounds are exact
        two_valued = most > 0 and bool(np.all((gains == 0) | (gains >= most)))
        return GainLimits(np.zeros(1), np.array([most]), linear=True, two_valued=two_valued)
    # prices of the declared space, not of the sample: what is known beforehand may fix a cap
    inner = np.unique(np.quantile(frontiers.slope, np.linspace(0, 1, LIMIT_PRICES)))
    prices = np.r_[0.0, inner[inner > 0]]
    limits = np.array([float(frontiers.net_gains(price).max()) for price in prices])
    return GainLimits(prices, limits, linear=False, two_valued=False)


def limits_of_losses(
    problem: AuditProblem, loss_range: tuple[float, float], *, binary: bool,
    most: float | None = None,
) -> GainLimits:  # fmt: skip
    """Return the limits where points outside the problem may be drawn too.

    What decides is known without the sample: the losses' range, whether they are ``binary``
    (at an end of it), the budget, whether the similarity allows other than free moves, and
    what is the ``most`` that can be gained, if that is less than the whole range.

    Parameters
    ----------
    problem
        The audit problem; only its budget and whether its geometry is free are looked at.
    loss_range
        The least and the largest loss that the loss function can give.
    binary
        Whether no loss lies between these two.
    most
        A limit of every gain that holds by construction, if there is one.

    Returns
    -------
    GainLimits
        One limit for all prices: nothing is known of how costs shrink gains outside the sample.
    """
    low, high = loss_range
    # nobody outside the sample is known: their gain can be as wide as the range of losses
    reach = high - low if most is None else min(most, high - low)
    linear = problem.budget == 0 or problem.geometry.is_free
    return GainLimits(
        np.zeros(1), np.array([reach]), linear=linear, two_valued=linear and binary and reach > 0
    )
