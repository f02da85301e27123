"""Evidence: a sample and its limits as bets need them, and the ladder of thresholds for bounds."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fairtransport._core.parallel import threads_for
from fairtransport.inference.finite.least_wealth import log_best_mean, log_mean
from fairtransport.inference.finite.sample import (
    GainCurves,
    ObservedFrontiers,
    Orders,
    build_single_block,
    draw_orders,
    observed_frontiers,
    search_frontiers,
)

if TYPE_CHECKING:
    from fairtransport._core.units import Units
    from fairtransport._core.validation import FloatArray
    from fairtransport.transport import AuditProblem


BLOCKS = ((200, 200), (10_000, 100), (100_000, 60))
"""(records, blocks): number of blocks with a stake each, up to a number of records; beyond all,
``MIN_BLOCKS``."""
MIN_BLOCKS = 20
LARGE_SAMPLE_RECORDS = 10_000
"""Number of records beyond which fewer prices are used."""
CUSHIONS = ((50, 0.8), (200, 0.85), (1_000, 0.95))
"""(records, cushion): cushion of a rejection's aim at 1/α, interpolated in the logarithm."""
CUTS = (0.0, 0.5, 1.0)
"""Ends of the parts of the prices from 0 to δ/ε, each with its own stakes."""
MIN_THRESHOLD_SHARE = 1e-12
"""Smallest threshold that is bet on, as a share of the largest gain; stakes are its inverse."""
MAX_RECORD_LOSS = 0.75
"""Largest share of wealth that one record can lose."""
PRIOR_RECORDS = 4.0
"""Weight of the prior guess of a variance, in records."""
START_ERRORS = 6.0
"""Standard errors from the estimate at which the search for a start begins."""
SMALL_SAMPLE_RECORDS = 200
MIN_ORDER_SHARES = (1 / 8, 1 / 4)
"""Minimum share of the orders whose mean wealth may decide without the others, in small samples and
in larger ones; with less, bounds would vary more with the seed."""
N_FIXED_STAKES = 40
"""Number of stakes in the mixture for targets that depend on the sample."""
N_LIMIT_PRICES = 64
"""Number of prices at which the largest gain of a declared sample space is computed."""


SEARCHED_LIMIT_PRICES = 2.0 ** np.arange(-5, 6)
"""The same if frontiers are too long to list, as multiples of the price of equal frequencies."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """A sample of units and what was known before it, as bets need them.

    ``adaptive``: stakes may depend on the past; otherwise they are a fixed mixture.

    Stakes must depend on the sample only through earlier records. The numbers of blocks, of prices
    and of rungs depend on n and on ``limits`` only. The number of orders depends on the number of
    occupied cells; no stake depends on it, and given the sample's multiset the orders are
    independent and identically distributed, so that any number of wealths is exchangeable.
    """

    problem: AuditProblem
    units: Units
    limits: GainLimits
    adaptive: bool
    rng: np.random.Generator

    @property
    def budget(self) -> float:
        """ε; 0 if only free moves matter."""
        return 0.0 if self.limits.linear else self.problem.budget

    @property
    def n(self) -> int:
        """The number of records, that is of units."""
        return self.units.n

    @cached_property
    def frontiers(self) -> ObservedFrontiers:
        """The frontiers of the units; without segments if only free moves matter."""
        return observed_frontiers(self.problem, self.units, with_costs=not self.limits.linear)

    @cached_property
    def gain_curves(self) -> GainCurves:
        """The gains of the units at any price; of long frontiers by searches, for fixed stakes."""
        if self.adaptive:
            return self.frontiers
        return search_frontiers(self.problem, self.units) or self.frontiers

    @cached_property
    def orders(self) -> Orders:
        """The random orders of the sample."""
        counts = self.units.counts
        if not self.adaptive:
            # stakes from earlier records would not be predictable if φ or sizes depend on later
            # ones: stakes are fixed, and their wealth needs no order
            return build_single_block(counts, N_FIXED_STAKES)
        sweeps = self.blocks // self.price_interval * len(self.frontiers.row)
        return draw_orders(counts, self.blocks, sweeps, self.rng)

    def average(self, logs: FloatArray) -> float:
        """Combine the log-wealths of orders, or of the stakes of a mixture.

        Stakes of a mixture are not exchangeable, so that only their mean is an e-value.
        """
        if not self.adaptive:
            return log_mean(logs)
        # the largest mean of the first k orders is valid for any least k; with a small one it
        # varies with the seed
        share = MIN_ORDER_SHARES[self.n > SMALL_SAMPLE_RECORDS]
        return log_best_mean(logs, math.ceil(share * len(logs)))

    @property
    def blocks(self) -> int:
        """Number of blocks with a stake each; a function of n only."""
        return next((blocks for records, blocks in BLOCKS if self.n <= records), MIN_BLOCKS)

    @property
    def cushion(self) -> float:
        """Cushion of the aim at 1/α against ψ <= δ; it increases with n."""
        sizes, cushions = np.array(CUSHIONS).T
        return float(np.interp(math.log(self.n), np.log(sizes), cushions))

    @property
    def price_interval(self) -> int:
        """The number of blocks for which a certificate's price is kept; a function of n only."""
        return 1 if self.n <= LARGE_SAMPLE_RECORDS else 4

    @property
    def n_prices(self) -> int:
        """Maximum number of prices at which wealth is kept; a function of n only."""
        return 64 if self.n <= LARGE_SAMPLE_RECORDS else 8

    @property
    def min_value(self) -> float:
        """Lower limit of ψ, as nobody has to move."""
        return 0.0

    @property
    def max_value(self) -> float:
        """Upper limit of ψ."""
        return self.limits.max_gain

    def highest_price(self, delta: float) -> float:
        """Return the highest price at which E Y_ν can be ψ if that is at most δ."""
        # φ >= 0, so that εν* <= E Y_ν* = ψ <= δ
        return delta / self.budget if self.budget > 0 else 0.0

    def cuts(self, aim: float) -> tuple[float, ...]:
        """Return the ends of the parts of prices in a bet against ψ <= ``aim``."""
        if self.budget == 0:
            return 0.0, 0.0
        return tuple(share * aim / self.budget for share in CUTS)

    def choose_stakes(self, plan: Plan, part: int) -> FloatArray:
        """Return (orders, blocks) the stakes of a plan for one part of the prices."""
        if not self.adaptive:
            # fixed stakes, one path each, for every price
            return build_fixed_stakes(plan.aim, self.n)[:, None]
        from fairtransport.inference.finite import rejection_kernels as kernels

        orders, frontiers = self.orders, self.frontiers
        stakes = np.zeros(orders.n_before.shape)
        low, high = plan.cuts[part : part + 2]
        # a part with prices above δ/ε has to win only up to it
        if self.budget > 0:
            high = min(high, self.highest_price(plan.aim))
        aim = kernels.Aim(
            plan.aim, plan.level, self.cushion, self.budget, self.limits.max_gain, low,
            high, PRIOR_RECORDS, MAX_RECORD_LOSS / (plan.aim - self.budget * low), self.n_prices,
        )  # fmt: skip
        with threads_for(len(orders.cell) * min(self.n_prices, 2 + len(frontiers.row))):
            kernels.fill_rejection_stakes(orders, frontiers, aim, stakes)
        return stakes

    def log_wealths(self, stakes: FloatArray, delta: float, outcomes: FloatArray) -> FloatArray:
        """Return the log-wealth of each path of stakes on rows of outcomes over δ."""
        from fairtransport.inference.finite import kernels

        orders, thresholds = self.orders, self._thresholds(delta)
        weight = self.gain_curves.weight
        if not np.all(weight == 1.0):
            outcomes, thresholds = outcomes * weight, thresholds * weight[orders.cell]
        result = np.empty((len(outcomes), len(stakes)))
        with threads_for(len(outcomes) * len(orders.cell)):
            if self.adaptive:
                kernels.fill_log_wealths(orders, stakes, outcomes, thresholds, result)
            else:
                # a separate kernel for one block, with the stakes of a record side by side
                mixture = stakes[:, 0].copy()
                kernels.fill_mixture_log_wealths(
                    orders.records, mixture, outcomes, thresholds, result
                )
        return result

    def _thresholds(self, delta: float) -> FloatArray:
        """Return the threshold of each entry's outcome."""
        return np.full(len(self.orders.cell), delta)

    @cached_property
    def ladder(self) -> Ladder:
        """The ladder of thresholds for bounds."""
        return Ladder(self.n, self.limits.max_gain)

    @cached_property
    def start_rungs(self) -> tuple[int, int]:
        """Rungs below and above which everything is very probably rejected.

        min over ν of the sample's mean of Y_ν, ``START_ERRORS`` standard errors down and up. The
        sample may be used for this: a start is tested at a level that is divided among all possible
        starts (`Ladder.climb`), so that a bad guess only costs time. Members of a unit are treated
        as equal.
        """
        means, spreads = self._find_means()
        slack = START_ERRORS * spreads / math.sqrt(self.units.effective_n)
        low, high = float(np.min(means - slack)), float(np.min(means + slack))
        return self.ladder.rung_below(low), self.ladder.rung_below(high) + 1

    def _find_means(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and spread of the sample's Y_ν at its prices; at one for long frontiers."""
        frequencies = self.units.frequencies(self.problem.size)
        budget = self.problem.budget
        if self.problem.columns is not None:
            price = self.problem.solve(frequencies).price if budget > 0 else math.inf
            gains = self.problem.net_gains(price)
            mean = float(frequencies @ gains)
            spread = math.sqrt(float(frequencies @ np.square(gains - mean)))
            return np.array([mean + (budget * price if budget > 0 else 0.0)]), np.array([spread])
        sweep = self.problem.sweep(frequencies)
        offset = np.zeros_like(sweep.prices) if budget == 0 else budget * sweep.prices
        usable = np.isfinite(offset)
        return (offset + sweep.mean)[usable], sweep.spread()[usable]


def build_fixed_stakes(aim: float, n: int) -> FloatArray:
    """Return the stakes of the mixture against "ψ <= aim", the largest allowed one first."""
    largest = MAX_RECORD_LOSS / aim
    return np.geomspace(largest, largest / (10 * math.sqrt(n)), N_FIXED_STAKES)


@dataclass(frozen=True, eq=False)
class GainLimits:
    """Limits of gains that are known before the sample is drawn, also at points outside it."""

    prices: FloatArray
    limits: FloatArray
    linear: bool
    two_valued: bool

    @property
    def max_gain(self) -> float:
        """The largest possible gain: φ_ν decreases in ν, so this is the limit at price 0."""
        return float(self.limits[0])

    def data_free_bound(self, budget: float) -> float:
        """Return an upper limit of ψ for any population: min over ν of εν + max φ_ν.

        ψ <= E Y_ν <= εν + max φ_ν at every price; the limits hold from each known price on, so the
        least over these prices is a bound, though not the least of all.
        """
        return float(np.min(budget * self.prices + self.limits))


def find_space_limits(problem: AuditProblem) -> GainLimits:
    """Return the limits if a problem's points are the whole sample space."""
    if problem.budget == 0 or not (problem.columns or len(problem.frontiers.row)):
        gains = problem.net_gains(math.inf)
        max_gain = float(gains.max())
        # then ψ is a share of people times the largest gain: Clopper and Pearson's bounds are exact
        two_valued = max_gain > 0 and bool(np.all((gains == 0) | (gains >= max_gain)))
        return GainLimits(np.zeros(1), np.array([max_gain]), linear=True, two_valued=two_valued)
    # prices of the declared space, not of the sample, so that caps are known beforehand
    if problem.columns is None:
        inner = np.unique(np.quantile(problem.frontiers.slope, np.linspace(0, 1, N_LIMIT_PRICES)))
        prices = np.r_[0.0, inner[inner > 0]]
        limits = np.array([float(problem.net_gains(price).max()) for price in prices])
    else:
        price = problem.solve(np.full(problem.size, 1 / problem.size)).price
        prices = np.r_[0.0, price * SEARCHED_LIMIT_PRICES] if price > 0 else np.zeros(1)
        limits = problem.columns.find_largest_net_gains(prices)
    return GainLimits(prices, limits, linear=False, two_valued=False)


def find_loss_limits(
    problem: AuditProblem, loss_range: tuple[float, float], *, binary: bool,
    max_gain: float | None = None,
) -> GainLimits:  # fmt: skip
    """Return the limits if points outside the problem may be drawn, too.

    They depend on what is known without the sample: the losses' range, whether they are ``binary``
    (at an end of it), the budget, whether the similarity allows other than free moves, and the
    largest possible gain, ``max_gain``, if that is less than the whole range.
    """
    low, high = loss_range
    # people outside the sample are unknown: their gain can be as large as the range of losses
    reach = high - low if max_gain is None else min(max_gain, high - low)
    linear = problem.budget == 0 or problem.geometry.is_free
    return GainLimits(
        np.zeros(1), np.array([reach]), linear=linear, two_valued=linear and binary and reach > 0
    )


@dataclass(frozen=True, eq=False)
class Plan:
    """A bet against "ψ <= aim" at a level: the parts of prices, each with its own stakes.

    Near a corner of the budget curve two distant prices matter, and stakes that win at one lose at
    the other. Every price is tested separately, so each may have its own stakes.
    """

    aim: float
    level: float
    cuts: tuple[float, ...]
    stakes: dict[int, FloatArray] = field(default_factory=dict)

    @property
    def target(self) -> float:
        """The log-wealth that rejects: log(1/level)."""
        return -math.log(self.level)

    def part_of(self, price: float) -> int:
        """Return the part that a price belongs to."""
        return min(bisect_right(self.cuts, price), len(self.cuts) - 1) - 1


STEP = 0.06
"""Width of a rung in √δ, in units of 1/√n."""
STRIDE = 16
"""Number of rungs between candidates for a start."""
EVEN_STEP = 0.04
"""Width of a rung of even steps, in units of the largest gain over √n."""
HEAD_START = 0.02
"""Share of α that is spent on the search for a start."""


Rejects: TypeAlias = Callable[[int, float], bool]
"""Whether everything up to a rung is rejected at a level."""


@dataclass(frozen=True)
class Ladder:
    """Thresholds between 0 and the largest gain, equally spaced in √δ.

    They depend on the sample size and the largest gain only, never on the data. Hypotheses about
    ψ(f*) along the ladder are nested, so testing them in order at level α and stopping at the
    first that is not rejected is wrong with probability at most α (fixed-sequence testing).

    The standard error of a share of size δ grows as √δ, so that all rungs are about the same small
    part of a standard error.
    """

    n: int
    top: float

    @property
    def width(self) -> float:
        """The width of a rung in √(δ/top)."""
        return STEP / math.sqrt(self.n)

    @property
    def rungs(self) -> int:
        """The number of rungs."""
        return math.ceil(1 / self.width)

    def threshold(self, rung: int) -> float:
        """Return δ at a rung."""
        return min(self.top, self.top * (rung * self.width) ** 2)

    def rung_below(self, delta: float) -> int:
        """Return the highest rung that does not lie above δ."""
        rung = self._nearest_rung(delta)
        # it may be off by a rounding error on either side
        while self.threshold(rung + 1) <= delta and rung < self.rungs:
            rung += 1
        while rung > 0 and self.threshold(rung) > delta:
            rung -= 1
        return rung

    def _nearest_rung(self, delta: float) -> int:
        """Return the approximate rung of δ, by the formula only."""
        return int(math.sqrt(max(delta, 0.0) / self.top) / self.width)

    @staticmethod
    def main_level(alpha: float) -> float:
        """Return the level that remains after the search for a start."""
        return alpha * (1 - HEAD_START)

    def climb(self, alpha: float, rejects: Rejects, guess: int) -> int:
        """Return the last rung up to which everything is rejected at level α in all.

        Climbing from rung 0 would cost hundreds of tests. A wrong start, above ψ(f*), has
        probability at most hα; from a right one the first wrong step is the test of the rung that
        contains ψ(f*), at (1 − h)α.
        """
        rung = self._start(alpha, rejects, guess)
        # tests are nested along the ladder, so that stopping at the first that does not reject is
        # enough
        while rejects(rung + 1, self.main_level(alpha)):
            rung += 1
        return rung

    def _start(self, alpha: float, rejects: Rejects, guess: int) -> int:
        """Return a rung up to which everything is rejected at a small share of α.

        Every ``STRIDE``-th rung gets an equal part of half that share, so that they may be tested
        in any order, here from a guess outwards. The other half is for steps of a quarter stride
        from there.
        """
        stops = math.ceil(self.rungs / STRIDE)
        # a union bound over all stops, tested or not: so the guess may depend on the sample
        level = alpha * HEAD_START / 2 / stops
        # doubling steps from the guess until it is bracketed, then halves: a good guess needs two
        # tests, a bad one the logarithm of its distance
        low, high, step = 0, stops + 1, 1
        at = min(max(guess // STRIDE, 1), stops)
        while high - low > 1:
            if rejects(at * STRIDE, level):
                low, at = at, at + step
            else:
                high, at = at, at - step
            step *= 2
            if not low < at < high:
                at = (low + high) // 2
        rung, stride = low * STRIDE, STRIDE // 4
        # a fixed sequence again: of these steps only the first above ψ can be wrong, so they need
        # not share the level
        while rejects(rung + stride, alpha * HEAD_START / 2):
            rung += stride
        return rung


@dataclass(frozen=True)
class EvenLadder(Ladder):
    """Thresholds between the limits of a difference, equally spaced.

    Differences lie on both sides of 0 and their standard error does not vanish there, so steps in
    √δ would be meaningless.
    """

    bottom: float

    @property
    def width(self) -> float:
        """The width of a rung: ``EVEN_STEP`` of the larger end over √n."""
        return EVEN_STEP * max(self.top, -self.bottom) / math.sqrt(self.n)

    @property
    def rungs(self) -> int:
        """The number of rungs."""
        return math.ceil((self.top - self.bottom) / self.width)

    def threshold(self, rung: int) -> float:
        """Return the difference at a rung."""
        return min(self.top, self.bottom + rung * self.width)

    def _nearest_rung(self, delta: float) -> int:
        """Return the approximate rung of a difference, clipped to the ladder."""
        return min(int((max(delta, self.bottom) - self.bottom) / self.width), self.rungs)
