"""E-processes where moves cost: the least wealth over prices, and certificates at chosen prices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.inference.anytime.eprocess import (
    GRID,
    Bets,
    grid_bets,
    stakes_for,
    threshold_grid,
    upper_limit,
)
from fairtransport.inference.finite.least_wealth import Least, least_log_wealth, log_mean
from fairtransport.inference.finite.observed_frontiers import ObservedFrontiers, observed_frontiers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.transport import AuditProblem

FIRST_PRICE, NEXT_PRICE = 8, 1.25
"""Records before the first price is chosen, and the growth of n until the next choice."""
CAUTION = 2.0
"""Standard errors that a price's mean is raised by before prices are compared."""
TIGHTER = 12
"""How often a reported e-value is lowered until it is proven."""


class CostlyMoves:
    """The e-processes for any budget; for ψ <= δ a look is taken when `look` is called.

    Parameters
    ----------
    delta, alpha
        The threshold and the level of the verdict.
    most_gain
        The largest gain there can be, known before the data.
    fixed_targets
        Whether targets do not depend on the sample; without, nothing can be certified.

    Notes
    -----
    Write Y_ν = φ_ν + εν. ψ <= δ says that some price ν in [0, δ/ε] has E Y_ν <= δ, so the least
    wealth over these prices is an e-process. Its stakes are fixed, so it depends on counts
    only and is monotone in φ: where targets are the points seen so far, φ is too small and
    the wealth with it, at all times. ψ >= δ implies E Y_ν >= δ at every price, so there the
    price is chosen from earlier records, anew at record numbers that are fixed beforehand.
    """

    def __init__(
        self, delta: float, alpha: float, most_gain: float, *, fixed_targets: bool
    ) -> None:
        self.delta, self.alpha, self.most_gain = delta, alpha, most_gain
        self.fixed_targets = fixed_targets
        self.bets: Bets = grid_bets(delta, alpha, most_gain, lower=False)
        self.n = 0
        self.price: float | None = None
        self.log_e_value = 0.0
        self.rejected_at = 0
        self.rungs = 0

    def take(self, problem: AuditProblem, cells: IntArray, counts: IntArray) -> None:
        """Take in records at the points ``cells`` that come after ``counts``, in order.

        Parameters
        ----------
        problem
            The audit problem; points may have been added since the last call.
        cells
            The points that the new records are at, as they came.
        counts
            By point: the records before them.
        """
        if not self.fixed_targets:
            self.n += len(cells)
            return
        counts, at = counts.copy(), 0
        while at < len(cells):
            # record numbers known beforehand, and the price from records before them: predictable,
            # and the same however records are batched
            if self.n in self._choices(self.n):
                self.price = best_price(problem, counts / self.n, self.n)
            part = cells[at : at + self._until_next_choice()]
            self._bet(problem, part)
            counts += np.bincount(part, minlength=len(counts))
            at += len(part)

    def look(self, problem: AuditProblem, counts: IntArray) -> None:
        """Look at the evidence against ψ <= δ, after ``counts`` records at the points.

        Parameters
        ----------
        problem
            The audit problem as it is now.
        counts
            By point: all records so far.

        Notes
        -----
        Stakes are fixed, so the wealth of the whole sample is computed from counts alone, and
        looks may be as far apart as one likes: a look that is left out can only miss a crossing.
        """
        occupied = np.flatnonzero(counts)
        frontiers = observed_frontiers(problem, occupied)
        weights = counts[occupied].astype(np.float64)

        def mixture(delta: float) -> Mixture:
            """Return the wealth of these records against ψ <= ``delta``."""
            return Mixture(frontiers, weights, problem.budget, delta, self.most_gain)

        threshold = -math.log(self.alpha)
        self.log_e_value = mixture(self.delta).proven(threshold)
        if self.log_e_value >= threshold and not self.rejected_at:
            self.rejected_at = self.n
        # wealth falls with δ, so rungs can be skipped on the way up
        grid, threshold = threshold_grid(self.most_gain), -math.log(self.alpha / 2)
        # what was ever rejected stays rejected (Ville), so that the search begins there
        low, high = self.rungs, len(grid)
        while low < high:
            middle = (low + high) // 2
            if mixture(float(grid[middle])).least(threshold).value >= threshold:
                low = middle + 1
            else:
                high = middle
        self.rungs = low

    @property
    def log_e_value_certificate(self) -> float | None:
        """The log-wealth against ψ >= δ; None where nothing can be certified."""
        return self.bets.log_mixture(GRID - 1) if self.fixed_targets else None

    @property
    def certified_at(self) -> int:
        """The first record at which ψ >= δ was rejected; 0: never."""
        return int(self.bets.crossed[GRID - 1]) if self.fixed_targets else 0

    @property
    def lower(self) -> float:
        """The running lower limit of ψ(f*): the grid's threshold below which all were rejected."""
        return float(np.r_[0.0, threshold_grid(self.most_gain)][self.rungs])

    @property
    def upper(self) -> float | None:
        """The running upper limit of ψ(f*); None where nothing can be certified."""
        if not self.fixed_targets:
            return None
        return upper_limit(self.bets.crossed[: GRID - 1], self.most_gain)

    def as_json(self) -> dict[str, Any]:
        """Return all that a later run needs beside the counts.

        The wealth against ψ <= δ is not part of it: fixed stakes let it be computed from counts.
        """
        names = ("n", "price", "log_e_value", "rejected_at", "rungs")
        bets = self.bets.as_json() if self.fixed_targets else None
        return {"bets": bets, **{name: getattr(self, name) for name in names}}

    def restore(self, saved: dict[str, Any]) -> None:
        """Take over what `as_json` returned.

        Parameters
        ----------
        saved
            Read back from a state file whose settings were the same.
        """
        self.n, self.rungs = int(saved["n"]), int(saved["rungs"])
        self.price, self.rejected_at = saved["price"], int(saved["rejected_at"])
        self.log_e_value = float(saved["log_e_value"])
        if saved["bets"] is not None:
            self.bets.restore(saved["bets"])

    def _bet(self, problem: AuditProblem, cells: IntArray) -> None:
        """Bet against ψ >= δ on records at one price.

        Parameters
        ----------
        problem
            The audit problem.
        cells
            The points of records that come before the next choice of a price.
        """
        self.n += len(cells)
        if self.price is None:
            # no price yet: these records are not bet on, which multiplies wealth by 1
            self.bets.skip(len(cells))
            return
        offset = 0.0 if problem.budget == 0 else problem.budget * self.price
        gains = problem.frontiers.net_gains(self.price if problem.budget > 0 else math.inf)
        # no outcome at this price can exceed the largest gain plus εν: stakes stay within it
        self.bets.take(gains[cells] + offset, self.most_gain + offset)

    @staticmethod
    def _choices(n: int) -> list[int]:
        """Return the record numbers up to n and the next, at which a price is chosen.

        Parameters
        ----------
        n
            How many records there were.

        Returns
        -------
        list of int
            8, 10, 13, …: each a quarter more than the one before.

        Examples
        --------
        >>> CostlyMoves._choices(20)
        [8, 10, 13, 17, 22]
        """
        choices = [FIRST_PRICE]
        while choices[-1] <= n:
            choices.append(math.ceil(choices[-1] * NEXT_PRICE))
        return choices

    def _until_next_choice(self) -> int:
        """Return how many records may be bet on before a price is chosen again."""
        return self._choices(self.n)[-1] - self.n


def best_price(problem: AuditProblem, frequencies: FloatArray, n: int) -> float:
    """Return the price at which the mean of Y_ν is least, plus some standard errors.

    Parameters
    ----------
    problem
        The audit problem.
    frequencies
        By point: the shares of earlier records.
    n
        How many they were.

    Returns
    -------
    float
        One of the prices at which some gain bends. Any would be valid; ``CAUTION`` keeps
        away from those that look good in few records.
    """
    if problem.budget == 0:
        return 0.0  # only free moves matter, whatever the price
    sweep = problem.sweep(frequencies)
    usable = np.isfinite(sweep.prices)
    spread = sweep.spread()[usable]
    prices = sweep.prices[usable]
    # the least of many noisy means looks too good; the standard errors weigh against that
    score = problem.budget * prices + sweep.mean[usable] + CAUTION * spread / math.sqrt(n)
    return float(prices[np.argmin(score)])


class Mixture:
    """The mixture's log-wealth against E Y_ν <= δ as a function of the price.

    Parameters
    ----------
    frontiers, counts
        The observed points and how many records there were at each.
    budget, delta, most_gain
        ε, δ and the largest gain there can be.
    """

    def __init__(
        self, frontiers: ObservedFrontiers, counts: FloatArray, budget: float, delta: float,
        most_gain: float,
    ) -> None:  # fmt: skip
        self.frontiers, self.counts, self.budget, self.delta = frontiers, counts, budget, delta
        self.stakes = stakes_for(np.array([delta]), most_gain)[:, 0]
        free = budget == 0 or not len(frontiers.row)
        # εν* <= ψ <= δ, so that the population's price is no higher; without a budget there is none
        self.top = 0.0 if free else delta / budget

    def least(self, target: float, hints: Sequence[float] = ()) -> Least:
        """Return a limit below all prices' wealths if it reaches ``target``, else less.

        Parameters
        ----------
        target
            The log-wealth that is asked for.
        hints
            Prices to begin with.
        """
        return least_log_wealth(
            self.frontiers, self.budget, (0.0, self.top), self._wealths, log_mean, target,
            list(hints),
        )  # fmt: skip

    def at(self, price: float) -> float:
        """Return the log-wealth at a price.

        Parameters
        ----------
        price
            ν in [0, δ/ε].
        """
        outcomes = self.frontiers.at(price).gains + self.budget * price
        return log_mean(self._wealths(outcomes[None, :])[0])

    def proven(self, threshold: float) -> float:
        """Return a log-wealth that no price falls below, as large as is found quickly.

        Parameters
        ----------
        threshold
            log(1/α). Whether this is reached is always found out.

        Returns
        -------
        float
            A rigorous lower limit of the least wealth over all prices, as e-values are told.
        """
        price, hints = self.least(math.inf).price, [0.0]
        for attempt in range(TIGHTER):
            # no limit can be above this price's wealth; a little less is perhaps one
            target = self.at(price) - 0.01 * 2.0**attempt
            hints.append(price)
            limit = self.least(target, hints)
            if limit.value >= target:
                return limit.value
            price = limit.price
        # what is left matters only if it decides
        decisive = self.least(threshold).value
        return decisive if decisive >= threshold else self.least(-math.inf).value

    def _wealths(self, outcomes: FloatArray) -> FloatArray:
        """Return (rows, stakes) log-wealths of the fixed stakes on rows of outcomes.

        Parameters
        ----------
        outcomes
            (rows, cells) Y_ν at a price, or a tangent below it.
        """
        logs = np.empty((len(outcomes), len(self.stakes)))
        # along a tangent a factor may end below 0: nothing is left then
        with np.errstate(divide="ignore", invalid="ignore"):
            for j, stake in enumerate(self.stakes):
                # 0 is a lower limit of the wealth as well: with it the bound is only cautious
                factors = np.maximum(1 + stake * (outcomes - self.delta), 0.0)
                logs[:, j] = np.log(factors) @ self.counts
        return logs
