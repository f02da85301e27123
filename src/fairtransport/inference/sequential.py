"""E-processes: evidence about ψ(f*) that is valid after every record.

A wealth that is multiplied by 1 + λ(Y − δ) for every record, with 0 <= λ < 1/δ fixed beforehand,
has mean at most 1 at every time if E Y <= δ, and so has a mixture of such wealths. By Ville's
inequality it *ever* reaches 1/α with probability at most α.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fairtransport._core.units import Units
from fairtransport._core.validation import check_number
from fairtransport.inference.finite.least_wealth import LeastWealth, least_log_wealth, log_mean
from fairtransport.inference.finite.sample import ObservedFrontiers, observed_frontiers
from fairtransport.inference.laws import MAX_LOG_EVIDENCE, SamplingLaw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport._core.validation import BoolArray, FloatArray, IntArray
    from fairtransport.transport import AuditProblem

MIXTURE_PRIOR = 0.5
"""Both parameters of the beta law over shares in the mixture of a likelihood ratio."""
MAX_SEQUENTIAL_LOSS = 0.9
"""Largest share of wealth that one record can lose."""
FRACTIONS = MAX_SEQUENTIAL_LOSS * 0.5 ** np.arange(16)
"""Stakes as shares of the largest possible one; the smallest serves samples of about 10⁸."""
MAX_RECORD_FACTOR = 1e4
"""Maximum factor of a record: 32 of these do not overflow."""
GRID_STEPS = 200
"""Steps of the confidence sequence's grid."""
FIRST_PRICE_RECORD, PRICE_RECORD_GROWTH = 8, 1.25
"""Records before the first price is chosen, and the growth of n until the next choice."""
PRICE_CAUTION_ERRORS = 2.0
"""Standard errors added to a price's mean before prices are compared."""
MAX_TIGHTENINGS = 12
"""Maximum number of times that a reported e-value is lowered until it is proven."""


class FreeMoves:
    """The e-processes if moves are free or the budget is 0, so that ψ(f*) = E b.

    Evidence is updated after every record.
    """

    def __init__(
        self, delta: float, alpha: float, most_gain: float, *, fixed_targets: bool
    ) -> None:
        self.most_gain, self.fixed_targets = most_gain, fixed_targets
        self.bets = build_grid_bets(delta, alpha, most_gain, upper=fixed_targets)

    @property
    def n(self) -> int:
        """The number of records so far."""
        return self.bets.n

    @property
    def log_e_value(self) -> float:
        """The log-wealth against ψ <= δ."""
        return self.bets.log_mixture(GRID_STEPS - 1)

    @property
    def log_e_value_certificate(self) -> float | None:
        """The log-wealth against ψ >= δ; None if nothing can be certified."""
        return self.bets.log_mixture(2 * GRID_STEPS - 1) if self.fixed_targets else None

    @property
    def rejected_at(self) -> int:
        """The first record at which ψ <= δ was rejected; 0: never."""
        return int(self.bets.crossed[GRID_STEPS - 1])

    @property
    def certified_at(self) -> int:
        """The first record at which ψ >= δ was rejected; 0: never."""
        return int(self.bets.crossed[2 * GRID_STEPS - 1]) if self.fixed_targets else 0

    @property
    def lower(self) -> float:
        """The running lower limit of ψ(f*)."""
        return find_lower_limit(self.bets.crossed[: GRID_STEPS - 1], self.most_gain)

    @property
    def upper(self) -> float | None:
        """The running upper limit of ψ(f*)."""
        if not self.fixed_targets:
            return None
        return find_upper_limit(self.bets.crossed[GRID_STEPS : 2 * GRID_STEPS - 1], self.most_gain)


class CostlyMoves:
    """The e-processes for any budget; evidence against ψ <= δ is updated by `look`.

    Write Y_ν = φ_ν + εν. ψ <= δ says that some price ν in [0, δ/ε] has E Y_ν <= δ, so the least
    wealth over these prices is an e-process. Its stakes are fixed, so it depends on counts only and
    is monotone in φ: if targets are the points seen so far, φ is too small, and so is the wealth,
    at all times. ψ >= δ implies E Y_ν >= δ at every price, so there the price is chosen from
    earlier records, at record numbers fixed beforehand.
    """

    def __init__(
        self, delta: float, alpha: float, most_gain: float, *, fixed_targets: bool
    ) -> None:
        self.delta, self.alpha, self.most_gain = delta, alpha, most_gain
        self.fixed_targets = fixed_targets
        self.bets: Bets = build_grid_bets(delta, alpha, most_gain, lower=False)
        self.n = 0
        self.price: float | None = None
        self.log_e_value = 0.0
        self.rejected_at = 0
        self.rungs = 0

    def take(self, problem: AuditProblem, cells: IntArray, counts: IntArray) -> None:
        """Process records at the points ``cells``, in order, which come after ``counts``."""
        if not self.fixed_targets:
            self.n += len(cells)
            return
        counts, at = counts.copy(), 0
        while at < len(cells):
            # record numbers known beforehand, and the price from earlier records: predictable, and
            # the same for any batches of records
            if self.n in self._choices(self.n):
                self.price = choose_price(problem, counts / self.n, self.n)
            part = cells[at : at + self._until_next_choice()]
            self._bet(problem, part)
            counts += np.bincount(part, minlength=len(counts))
            at += len(part)

    def look(self, problem: AuditProblem, counts: IntArray) -> None:
        """Update the evidence against ψ <= δ, after ``counts`` records at the points.

        Stakes are fixed, so the wealth of the whole sample is computed from counts only, and looks
        may be any distance apart: a missing look can only miss a crossing.
        """
        units = Units.of_people(counts)
        frontiers, weights = observed_frontiers(problem, units), units.counts.astype(np.float64)

        def wealth_against(delta: float) -> MixtureWealth:
            """Return the wealth of these records against ψ <= ``delta``."""
            return MixtureWealth(frontiers, weights, problem.budget, delta, self.most_gain)

        threshold = -math.log(self.alpha)
        self.log_e_value = wealth_against(self.delta).find_proven_wealth(threshold)
        if self.log_e_value >= threshold and not self.rejected_at:
            self.rejected_at = self.n
        # wealth decreases in δ, so rungs can be skipped on the way up
        grid, threshold = threshold_grid(self.most_gain), -math.log(self.alpha / 2)
        # what was ever rejected stays rejected (Ville), so the search begins there
        low, high = self.rungs, len(grid)
        while low < high:
            middle = (low + high) // 2
            if wealth_against(float(grid[middle])).find_least_wealth(threshold).value >= threshold:
                low = middle + 1
            else:
                high = middle
        self.rungs = low

    @property
    def log_e_value_certificate(self) -> float | None:
        """The log-wealth against ψ >= δ; None if nothing can be certified."""
        return self.bets.log_mixture(GRID_STEPS - 1) if self.fixed_targets else None

    @property
    def certified_at(self) -> int:
        """The first record at which ψ >= δ was rejected; 0: never."""
        return int(self.bets.crossed[GRID_STEPS - 1]) if self.fixed_targets else 0

    @property
    def lower(self) -> float:
        """The running lower limit of ψ(f*): the grid's threshold below which all were rejected."""
        return float(np.r_[0.0, threshold_grid(self.most_gain)][self.rungs])

    @property
    def upper(self) -> float | None:
        """The running upper limit of ψ(f*); None if nothing can be certified."""
        if not self.fixed_targets:
            return None
        return find_upper_limit(self.bets.crossed[: GRID_STEPS - 1], self.most_gain)

    def as_json(self) -> dict[str, Any]:
        """Return the state that a later run needs besides the counts.

        The wealth against ψ <= δ is not included: fixed stakes let it be computed from counts.
        """
        names = ("n", "price", "log_e_value", "rejected_at", "rungs")
        bets = self.bets.as_json() if self.fixed_targets else None
        return {"bets": bets, **{name: getattr(self, name) for name in names}}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the state from `as_json`."""
        self.n, self.rungs = int(state["n"]), int(state["rungs"])
        self.price, self.rejected_at = state["price"], int(state["rejected_at"])
        self.log_e_value = float(state["log_e_value"])
        if state["bets"] is not None:
            self.bets.restore(state["bets"])

    def _bet(self, problem: AuditProblem, cells: IntArray) -> None:
        """Bet against ψ >= δ on records at one price."""
        self.n += len(cells)
        if self.price is None:
            # no price yet: without a bet wealth is multiplied by 1
            self.bets.skip(len(cells))
            return
        offset = 0.0 if problem.budget == 0 else problem.budget * self.price
        gains = problem.net_gains(self.price if problem.budget > 0 else math.inf)
        # no outcome at this price can exceed the largest gain plus εν, which limits stakes
        self.bets.take(gains[cells] + offset, self.most_gain + offset)

    @staticmethod
    def _choices(n: int) -> list[int]:
        """Return the record numbers up to n and the next, at which a price is chosen."""
        choices = [FIRST_PRICE_RECORD]
        while choices[-1] <= n:
            choices.append(math.ceil(choices[-1] * PRICE_RECORD_GROWTH))
        return choices

    def _until_next_choice(self) -> int:
        """Return the number of records to bet on until a price is chosen again."""
        return self._choices(self.n)[-1] - self.n


def anytime_share_interval(successes: int, n: int, alpha: float) -> tuple[float, float]:
    """Return an interval that covers a share at all times together with probability 1 − α.

    Under the true share p the likelihood of the records under a beta-binomial law, divided by that
    under p, is a martingale that begins at 1; it ever reaches 1/α with probability at most α. The
    interval has the shares at which it is below 1/α: they lie around successes / n, where the
    likelihood is largest.
    """
    from scipy.optimize import brentq
    from scipy.special import betaln, xlog1py, xlogy

    if n == 0:
        return 0.0, 1.0
    failures, prior = n - successes, MIXTURE_PRIOR
    mixture = betaln(successes + prior, failures + prior) - betaln(prior, prior)

    def excess(share: float) -> float:
        """Return the logarithm of the ratio minus that of 1/α."""
        likelihood = xlogy(successes, share) + xlog1py(failures, -share)
        return float(mixture - likelihood + math.log(alpha))

    centre = successes / n
    # at the ends the likelihood is 0, unless all or none are successes
    tiny = 1e-300
    lower = 0.0 if successes == 0 else brentq(excess, tiny, centre, xtol=1e-14)
    upper = 1.0 if failures == 0 else brentq(excess, centre, 1 - 1e-16, xtol=1e-14)
    return float(lower), float(upper)


@dataclass(frozen=True, eq=False)
class StoppedLaw(SamplingLaw):
    """Bounds from a confidence sequence: valid at any stopping time.

    A bound is the running one: what was ever rejected on the way stays rejected. By Ville's
    inequality that is wrong with probability at most α, over all times together. The wealth against
    ψ <= δ decreases in δ and that against ψ >= δ increases, so that bisection finds the bound to
    the last bit: it lies beyond δ exactly if the p-value at δ is at most α.
    """

    gains: FloatArray
    most_gain: float

    @property
    def guarantee(self) -> str:
        """The bounds hold at every n and at every stopping time."""
        return "finite-sample"

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return the least δ for which ψ(f*) <= δ was never rejected at level α."""
        alpha, low, high = self._level(alpha), 0.0, self.most_gain
        if self._p_greater(low) > alpha:
            return low
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if self._p_greater(middle) <= alpha else (low, middle)
        return high

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return the least δ for which ψ(f*) >= δ was rejected at level α."""
        alpha, low, high = self._level(alpha), 0.0, self.most_gain
        if not self.fixed_targets:
            return math.inf
        while low < (middle := (low + high) / 2) < high:
            low, high = (low, middle) if self._p_less(middle) <= alpha else (middle, high)
        return high

    def evalue(self, delta: float) -> float | None:
        """Return the evidence against ψ(f*) <= δ at the stopping time."""
        delta = check_number("delta", delta, at_least=0)
        path = log_wealth_path(self.gains, delta, 1.0, self.most_gain)
        return math.exp(min(float(path[-1]), MAX_LOG_EVIDENCE))

    def _p_greater(self, delta: float) -> float:
        """Return the p-value of ψ(f*) <= δ: one over the largest wealth on the way."""
        if delta >= self.most_gain:
            return 1.0
        return _pvalue(log_wealth_path(self.gains, max(delta, 0.0), 1.0, self.most_gain))

    def _p_less(self, delta: float) -> float:
        """Return the p-value of ψ(f*) >= δ; 1 without fixed targets."""
        if not self.fixed_targets or delta <= 0:
            return 1.0
        if delta >= self.most_gain:  # ψ is at most the largest possible gain
            return 1.0 if delta == self.most_gain else 0.0
        return _pvalue(log_wealth_path(self.gains, delta, -1.0, self.most_gain))


def log_wealth_path(gains: FloatArray, delta: float, sign: float, most_gain: float) -> FloatArray:
    """Return the logarithm of the mixture's wealth after each person, as in `Bets`."""
    room = np.array([delta if sign > 0 else most_gain - delta])
    stakes = sign * compute_stakes(room, most_gain)
    logs = np.cumsum(np.log1p(stakes * (gains - delta)[None, :]), axis=1)
    top = logs.max(axis=0)
    return np.asarray(top + np.log(np.mean(np.exp(logs - top), axis=0)))


def _pvalue(path: FloatArray) -> float:
    """Return one over the largest wealth on a path, at most 1."""
    return math.exp(-min(max(float(path.max()), 0.0), MAX_LOG_EVIDENCE))


class OpenBets(NamedTuple):
    """The active columns of `Bets`, contiguous for the compiled loop.

    Factors change with the largest outcome ``highest``, weights at folds: neither is computed anew
    for every record.
    """

    columns: IntArray
    highest: float
    intercept: FloatArray
    slope: FloatArray
    log_wealth: FloatArray
    product: FloatArray
    threshold: FloatArray
    weight: FloatArray
    level: FloatArray

    def spread(self, part: FloatArray, others: FloatArray) -> FloatArray:
        """Return an array over all columns, with ``others`` in inactive ones."""
        whole: FloatArray = np.tile(others, (len(part), 1))
        whole[:, self.columns] = part
        return whole


class Bets:
    """Many mixtures of fixed stakes on the same records, one per column.

    Against ψ <= δ the stakes are λ = x/δ with x in `FRACTIONS`, against ψ >= δ they are x/(T − δ),
    where T is the largest possible outcome. So each factor is monotone in δ, and the rejected
    thresholds of a grid are its beginning (or its end).
    """

    def __init__(
        self, deltas: FloatArray, signs: FloatArray, levels: FloatArray, most_gain: float,
        is_reported: FloatArray,
    ) -> None:  # fmt: skip
        self.deltas, self.signs, self.most_gain = deltas, signs, most_gain
        self.is_reported = is_reported.astype(bool)
        self.threshold: FloatArray = -np.log(levels)
        self.n = 0
        self.crossed: IntArray = np.zeros(len(deltas), np.int64)
        shape = (len(FRACTIONS), len(deltas))
        self._open: OpenBets = self._open_bets(np.zeros(shape), np.ones(shape))
        # computed when first needed: a monitor without bets needs no compiled code
        self._is_weighed = False

    @property
    def log_wealth(self) -> FloatArray:
        """(stakes, columns) the log-wealths at the last fold; 0 in decided columns."""
        return self._open.spread(self._open.log_wealth, np.zeros(len(self.deltas)))

    @property
    def product(self) -> FloatArray:
        """(stakes, columns) factors of the wealths since then; 1 in decided columns."""
        return self._open.spread(self._open.product, np.ones(len(self.deltas)))

    def take(self, values: FloatArray, top: float | None = None) -> None:
        """Bet on records with outcomes ``values`` <= ``top`` (default: the largest gain)."""
        from fairtransport.inference.sequential_kernels import advance, weigh

        highest = self.most_gain if top is None else top
        if highest != self._open.highest:
            intercept, slope = self._factors(self._open.columns, highest)
            self._open = self._open._replace(highest=highest, intercept=intercept, slope=slope)
        bets = self._open
        if not self._is_weighed:
            weigh(bets.log_wealth, bets.threshold, bets.weight, bets.level)
            self._is_weighed = True
        crossed = self.crossed[bets.columns]
        advance(np.ascontiguousarray(values, np.float64), self.n, *bets[2:], crossed)
        self.crossed[bets.columns] = crossed
        self.n += len(values)
        # a decided column is not bet on again, or the rest of its batch would depend on batches
        if np.any((crossed > 0) & ~self.is_reported[bets.columns]):
            self._open = self._open_bets(self.log_wealth, self.product)
            self._is_weighed = False

    def skip(self, records: int) -> None:
        """Count records without a bet on them."""
        self.n += records

    def revise(self, old: FloatArray, new: FloatArray, counts: IntArray) -> None:
        """Replace the outcomes of earlier records, which may only increase.

        They increase if targets are taken from the sample: the outcomes so far were too small. The
        resulting wealth is at most that of the whole space's outcomes, at every time. Crossings are
        not checked here, but at the next record.
        """
        from fairtransport.inference.sequential_kernels import revise

        factors = self._factors(self._open.columns, self.most_gain)
        revise(old, new, counts.astype(np.float64), *factors, self._open.log_wealth)
        self._is_weighed = False

    def log_mixture(self, column: int) -> float:
        """Return the logarithm of the wealth of a reported column."""
        place = int(np.searchsorted(self._open.columns, column))
        logs = self._open.log_wealth[:, place] + np.log(self._open.product[:, place])
        top = float(logs.max())
        return top + math.log(float(np.exp(logs - top).sum()) / len(logs))

    def _open_bets(self, log_wealth: FloatArray, product: FloatArray) -> OpenBets:
        """Return the bets from these wealths on, in undecided or reported columns."""
        columns = np.flatnonzero((self.crossed == 0) | self.is_reported)
        return OpenBets(
            columns, self.most_gain, *self._factors(columns, self.most_gain),
            log_wealth=np.ascontiguousarray(log_wealth[:, columns]),
            product=np.ascontiguousarray(product[:, columns]),
            threshold=self.threshold[columns],
            weight=np.empty((len(log_wealth), len(columns))), level=np.empty(len(columns)),
        )  # fmt: skip

    def _factors(self, columns: IntArray, highest: float) -> tuple[FloatArray, FloatArray]:
        """Return intercepts and slopes of the factors as functions of the outcome."""
        deltas, signs = self.deltas[columns], self.signs[columns]
        # the maximum loss of a record per unit of stake: Y >= 0 against ψ <= δ, Y <= top against ψ
        # >= δ
        room = np.where(signs > 0, deltas, highest - deltas)
        slope = signs * compute_stakes(room, self.most_gain)
        return 1 - slope * deltas, slope

    def as_json(self) -> dict[str, Any]:
        """Return the wealths; arrays in base64, without loss.

        Thresholds, sides and levels are not included: they follow from the settings in the state
        file. The product since the last fold is, so that a resumed run folds at the same records.
        """
        return {
            "n": self.n,
            "log_wealth": _encode_array(self.log_wealth),
            "product": _encode_array(self.product),
            "crossed": self.crossed.tolist(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the wealths from `as_json`."""
        self.n = int(state["n"])
        self.crossed = np.array(state["crossed"], np.int64)
        shape = (len(FRACTIONS), len(self.deltas))
        wealths = (_decode_array(state[name], shape) for name in ("log_wealth", "product"))
        self._open, self._is_weighed = self._open_bets(*wealths), False


def build_grid_bets(
    delta: float, alpha: float, most_gain: float, *, lower: bool = True, upper: bool = True
) -> Bets:
    """Return the bets behind a confidence sequence at α/2 per side and a verdict at α per side.

    Columns: the grid against ψ <= δ, δ itself against ψ <= δ, then both against ψ >= δ.
    """
    grid = np.r_[threshold_grid(most_gain), delta]
    sides = [sign for sign, side in ((1.0, lower), (-1.0, upper)) if side]
    levels = np.r_[np.full(len(grid) - 1, alpha / 2), alpha]
    is_reported = np.r_[np.zeros(len(grid) - 1), 1.0]
    return Bets(
        np.tile(grid, len(sides)), np.repeat(sides, len(grid)), np.tile(levels, len(sides)),
        most_gain, np.tile(is_reported, len(sides)),
    )  # fmt: skip


def build_verdict_bets(delta: float, alpha: float, most_gain: float) -> Bets:
    """Return the bets behind a verdict only: against ψ <= δ, then against ψ >= δ, at α each."""
    both = np.ones(2)
    return Bets(delta * both, np.array([1.0, -1.0]), alpha * both, most_gain, both)


def compute_stakes(room: FloatArray, most_gain: float) -> FloatArray:
    """Return (stakes, columns) the stakes λ if a record can lose ``room`` per unit of λ."""
    # a threshold at the largest outcome leaves no room: the stake is infinite, and the second limit
    # below applies
    shares = FRACTIONS[:, None] / np.maximum(room, 1e-300)[None, :]
    return np.asarray(np.minimum(shares, MAX_RECORD_FACTOR / most_gain))


@lru_cache(maxsize=16)
def threshold_grid(most_gain: float) -> FloatArray:
    """Return the thresholds of the confidence sequence, equally spaced in √δ."""
    grid = most_gain * (np.arange(1, GRID_STEPS) / GRID_STEPS) ** 2
    grid.flags.writeable = False  # shared by all callers
    return np.asarray(grid)


def find_lower_limit(crossed: IntArray, most_gain: float) -> float:
    """Return the largest δ of the grid up to which all are rejected.

    If ψ lies between two neighbours of the grid, "ψ <= the upper neighbour" is true and is
    ever rejected with probability at most α/2; unless it is, the limit stays below ψ.
    """
    count = _count_beginning(crossed > 0)
    return float(threshold_grid(most_gain)[count - 1]) if count else 0.0


def find_upper_limit(crossed: IntArray, most_gain: float) -> float:
    """Return the smallest δ of the grid from which on all are rejected."""
    count = _count_beginning(crossed[::-1] > 0)
    return float(threshold_grid(most_gain)[-count]) if count else most_gain


def _count_beginning(flags: BoolArray) -> int:
    """Return the number of set flags before the first that is not."""
    return len(flags) if flags.all() else int(np.argmin(flags))


def choose_price(problem: AuditProblem, frequencies: FloatArray, n: int) -> float:
    """Return the price at which the mean of Y_ν is least, plus some standard errors."""
    if problem.budget == 0:
        return 0.0  # only free moves matter, at any price
    sweep = problem.sweep(frequencies)
    usable = np.isfinite(sweep.prices)
    spread = sweep.spread()[usable]
    prices = sweep.prices[usable]
    # the minimum of many noisy means is too optimistic; the standard errors counteract that
    score = (
        problem.budget * prices + sweep.mean[usable] + PRICE_CAUTION_ERRORS * spread / math.sqrt(n)
    )
    return float(prices[np.argmin(score)])


class MixtureWealth:
    """The mixture's log-wealth against E Y_ν <= δ as a function of the price."""

    def __init__(
        self, frontiers: ObservedFrontiers, counts: FloatArray, budget: float, delta: float,
        most_gain: float,
    ) -> None:  # fmt: skip
        self.frontiers, self.counts, self.budget, self.delta = frontiers, counts, budget, delta
        self.stakes = compute_stakes(np.array([delta]), most_gain)[:, 0]
        free = budget == 0 or not len(frontiers.row)
        # εν* <= ψ <= δ, so the population's price is no higher; without a budget there is none
        self.top = 0.0 if free else delta / budget

    def find_least_wealth(self, target: float, hints: Sequence[float] = ()) -> LeastWealth:
        """Return a lower limit of the wealth at all prices if it reaches ``target``, else less."""
        return least_log_wealth(
            self.frontiers, self.budget, (0.0, self.top), self._wealths, log_mean, target,
            list(hints),
        )  # fmt: skip

    def log_wealth(self, price: float) -> float:
        """Return the log-wealth at a price."""
        outcomes = self.frontiers.evaluate(price).gains + self.budget * price
        return log_mean(self._wealths(outcomes[None, :])[0])

    def find_proven_wealth(self, threshold: float) -> float:
        """Return a lower limit of the log-wealth at all prices, as large as is found quickly."""
        price, hints = self.find_least_wealth(math.inf).price, [0.0]
        for attempt in range(MAX_TIGHTENINGS):
            # no limit can exceed this price's wealth; try a little less
            target = self.log_wealth(price) - 0.01 * 2.0**attempt
            hints.append(price)
            limit = self.find_least_wealth(target, hints)
            if limit.value >= target:
                return limit.value
            price = limit.price
        # otherwise only a decisive limit matters
        decisive = self.find_least_wealth(threshold).value
        return decisive if decisive >= threshold else self.find_least_wealth(-math.inf).value

    def _wealths(self, outcomes: FloatArray) -> FloatArray:
        """Return (rows, stakes) log-wealths of the fixed stakes on rows of outcomes."""
        logs = np.empty((len(outcomes), len(self.stakes)))
        # along a tangent a factor may become negative: nothing is left then
        with np.errstate(divide="ignore", invalid="ignore"):
            for j, stake in enumerate(self.stakes):
                # 0 is a lower limit of the wealth as well, so the bound is only conservative
                factors = np.maximum(1 + stake * (outcomes - self.delta), 0.0)
                logs[:, j] = np.log(factors) @ self.counts
        return logs


def _encode_array(array: FloatArray) -> str:
    """Return an array as base64 of its little-endian doubles."""
    return b64encode(np.ascontiguousarray(array, "<f8").tobytes()).decode("ascii")


def _decode_array(text: str, shape: tuple[int, ...]) -> FloatArray:
    """Return an array that `_encode_array` wrote; ValueError if the size does not fit."""
    return np.frombuffer(b64decode(text), "<f8").reshape(shape).astype(np.float64)
