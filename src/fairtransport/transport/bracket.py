"""A lower and an upper value around ψ, from searches at single prices, in rounds.

At any price ν, εν + Σ f_i φ_ν(i) is at least ψ, and any plan that keeps to the budget gains at
most ψ. Targets that are best at prices near the optimal one make nearly optimal plans.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.errors import InputError
from fairtransport.threads import threads_for
from fairtransport.transport.known_gains import KnownGains
from fairtransport.transport.problem import AuditProblem
from fairtransport.transport.solution import Solution, price_interval, spend

if TYPE_CHECKING:
    from fairtransport.checks import BoolArray, FloatArray, IntArray

ROUND = 32_768
"""Points that are searched for in a round, at one price."""
PILOT = 8_192
"""Points at random whose optimal price is found first."""
FEWEST = 8
"""Times as many points as in a pilot below which there is none."""
PILOT_WIDTH = 1e-3
"""The width of the pilot's bracket, as a share of its value, at which its price is good."""
OVER = 0.05
"""How much more than the budget is spent at the first price for all points, so that it most
likely lies below the optimal one: what is too much can be left undone, the last gains first."""
RUNG = 1.04
"""The ratio of the prices of a ladder that is the same for all data: upper bounds are made from
gains at such prices, so two of the searches are at the ladder's prices around the optimal one."""
RUNGS_SEARCHED = 2
NEAR = 0.1
"""Width of a bracket, as a share of its upper value, from which on its price is nearly optimal."""
SHARE = 1 - 1e-6
"""The part of the gap at a price that is searched for; what is left may close by itself."""
STEP = 4.0
"""By how much a price may lie outside those that were searched."""
CLOSED = 1e-10
"""Width of a bracket, as a share of its upper value, that is rounding."""
NOISE = 1e-13
"""The same for the gain of a single point, as a share of the largest loss."""


@dataclass(frozen=True)
class Bracket:
    """ψ(f) lies between two values.

    Attributes
    ----------
    lower
        What a plan within the budget gains.
    upper
        The least value of the dual problem that was found, its gains bounded from above.
    rounds
        The rounds of the search, by which it can be repeated.
    """

    lower: float
    upper: float
    rounds: int

    @property
    def width(self) -> float:
        """The width as a share of the upper value."""
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0


@dataclass
class Rounds:
    """How long to search: some seconds, or a number of rounds, which can be repeated exactly."""

    seconds: float | None = None
    most: int | None = None
    made: int = 0
    _started: float = field(default_factory=time.monotonic)
    _last: float = 0.0

    def another(self) -> bool:
        """Whether there is room for one more round, as long as the last; for one there always is.

        It counts as made.
        """
        now = time.monotonic()
        lasted, self._last = now - self._last, now
        if self.made > 0:
            if self.most is not None and self.made >= self.most:
                return False
            if self.seconds is not None and now - self._started + lasted > self.seconds:
                return False
        self.made += 1
        return True


class BracketedProblem(AuditProblem):
    """A problem whose frontiers hold only what searches at some prices have found.

    Its values are those of plans that are allowed, so that they are at most the problem's;
    `bracket` says how much may be missing at the frequencies that were searched for. ``rungs``
    are the prices of the ladder at which all points were searched, or would have been.
    """

    def __init__(
        self, problem: AuditProblem, known: KnownGains, bracket: Bracket, rungs: tuple[int, ...]
    ) -> None:
        self.losses, self.geometry, self.budget = problem.losses, problem.geometry, problem.budget
        self.known, self.bracket, self.rungs = known, bracket, rungs
        self.__dict__["frontiers"] = known.frontiers

    def with_budget(self, budget: float) -> AuditProblem:
        """Refuse another budget: what was found is near the optimal price of this one."""
        msg = (
            f"`budget` must stay {self.budget:g} in an audit whose statistic is a bracket, got "
            f"{budget:g}; audit without `time_limit` and `search_rounds`"
        )
        raise InputError(msg)

    def solve(self, frequencies: object) -> Solution:
        """Return the best plan that was found."""
        found = super().solve(frequencies)
        return BracketedSolution(**vars(found))


class BracketedSolution(Solution):
    """The best plan that was found, with the bracket as its certificate."""

    problem: BracketedProblem

    @property
    def duality_gap(self) -> float:
        """The upper value minus what the plan gains."""
        return self.problem.bracket.upper - self.plan_gain

    @property
    def plan_is_unique(self) -> bool:
        """False: whether other swaps are as good, or better, was not searched for."""
        return False

    def tied(self, rows: IntArray) -> BoolArray:
        """Mark no point as tied: it was not looked for."""
        return np.zeros(len(rows), bool)


def can_be_bracketed(problem: AuditProblem) -> bool:
    """Whether a problem's targets can be searched for at a price; others are solved at once."""
    return problem.geometry.searchable is not None and not problem.geometry.is_free


def bracketed(
    problem: AuditProblem, frequencies: FloatArray, rounds: Rounds, rng: np.random.Generator
) -> BracketedProblem:
    """Search for as many rounds as there are, or until the bracket closes."""
    narrowing = _Narrowing(problem, rounds)
    if problem.budget == 0:
        return narrowing.result(narrowing.until(frequencies, np.inf, CLOSED))
    price = narrowing.by_pilot(frequencies, rng)
    bracket = narrowing.until(frequencies, price, CLOSED, rungs=RUNGS_SEARCHED)
    return narrowing.result(bracket)


def price_of_rung(rung: int) -> float:
    """Return a price of the ladder."""
    return float(RUNG**rung)


class PriceSearch:
    """All targets of a problem whose costs are squared distances, planted once for many searches.

    At one price a search leaves out far more than one for whole frontiers, which have to know
    the best target at every price.
    """

    def __init__(self, problem: AuditProblem) -> None:
        from fairtransport.transport.forest import by_place, plant
        from fairtransport.transport.forest_search import Points

        points = problem.geometry.searchable
        assert points is not None  # noqa: S101 - the caller's duty
        self.forest = plant(problem.losses, problem.geometry, points, flat=False)
        profiles = np.empty((problem.size, 0), np.int64)
        self.points = Points(np.ascontiguousarray(points), problem.losses, profiles)
        # where each point stands when neighbours are close together
        self.place = np.empty(problem.size, np.int64)
        self.place[by_place(self.forest.place, problem.geometry.blocks)] = np.arange(problem.size)

    def best(
        self, price: float, rows: IntArray, begin: IntArray
    ) -> tuple[IntArray, FloatArray, IntArray]:
        """Return points, neighbours close together, max_j (l_j − ν c_ij) of each, and who has it.

        Parameters
        ----------
        price
            ν above 0, which may be infinite.
        rows
            The points, in any order.
        begin
            For each a target that is known to be good.
        """
        from fairtransport.transport.forest_search import best_in_forest

        order = np.argsort(self.place[rows])
        near, best, target = rows[order], np.empty(len(rows)), begin[order]
        with threads_for(float(len(rows)) * len(self.forest.target)):
            best_in_forest(near, self.forest, self.points, price, best, target)
        return near, best, target


class _Narrowing:
    """Searches at one price after the other, each where the bracket may be narrowed most."""

    def __init__(self, problem: AuditProblem, rounds: Rounds) -> None:
        self.problem, self.rounds = problem, rounds
        self.known, self.search = KnownGains(problem), PriceSearch(problem)
        self.noise = NOISE * float(np.abs(problem.losses).max())
        self.rungs: list[int] = []
        self.piloted = False

    def result(self, bracket: Bracket) -> BracketedProblem:
        """Return the problem with what was found."""
        return BracketedProblem(self.problem, self.known, bracket, tuple(self.rungs))

    def by_pilot(self, frequencies: FloatArray, rng: np.random.Generator) -> float:
        """Return a price a little below the optimal one, as found with some points at random."""
        points = np.flatnonzero(frequencies)
        # ψ is at least εν at its price, and at most what it would be if moves were free
        highest = float(frequencies @ self.known.at_no_price) / self.problem.budget
        if highest == 0 or len(points) < FEWEST * PILOT:
            return highest
        some = rng.choice(points, PILOT, replace=False)
        pilot = np.zeros(len(frequencies))
        pilot[some] = frequencies[some] * (frequencies.sum() / frequencies[some].sum())
        self.until(pilot, highest, PILOT_WIDTH)
        self.piloted = True
        return self._price(pilot, self.problem.budget * (1 + OVER)) or highest / STEP

    def until(self, frequencies: FloatArray, price: float, width: float, rungs: int = 0) -> Bracket:
        """Search at a price and at those that follow from it, until the bracket is that narrow.

        The next price is the one that would be optimal if nothing but what was found existed:
        there the lower limit of the dual function is least. So many ``rungs`` of the ladder are
        searched as soon as it is nearly optimal, first the one below it, then the one above.
        """
        budget, known = self.problem.budget, self.known
        upper = float(frequencies @ known.at_no_price)
        if upper == 0:
            return Bracket(0.0, 0.0, self.rounds.made)
        tried: list[float] = []
        near = self.piloted
        while True:
            on_ladder = near and len(self.rungs) < rungs
            if on_ladder:
                price = self._on_the_ladder(price)
            before = self.rounds.made
            finished = self._search_at(price, frequencies)
            nothing_new = not on_ladder and self.rounds.made == before and price in tried
            tried.append(price)
            spent = budget * price if budget > 0 else 0.0
            upper = min(upper, spent + float(frequencies @ known.most(price)))
            lower = self._value(frequencies)
            near = near or nothing_new or upper - lower <= NEAR * upper
            closed = nothing_new or upper - lower <= width * upper
            if (closed and len(self.rungs) >= rungs) or not finished:
                return Bracket(lower, max(lower, upper), self.rounds.made)
            if budget > 0:  # without one, only free moves are made, at whatever price
                optimal = self._price(frequencies, budget)
                price = float(np.clip(optimal, min(tried) / STEP, max(tried) * STEP))

    def _on_the_ladder(self, price: float) -> float:
        """Return the price of the ladder below, and the second time the one on the other side.

        In between the optimal price may have fallen below the first of them.
        """
        rung = math.log(price) / math.log(RUNG)
        if not self.rungs:
            self.rungs.append(math.floor(rung))
        else:
            self.rungs.append(self.rungs[0] + (1 if rung >= self.rungs[0] else -1))
        return price_of_rung(self.rungs[-1])

    def _search_at(self, price: float, frequencies: FloatArray) -> bool:
        """Search for the points that matter most first; return whether there was time for all."""
        known = self.known
        gap = known.most(price) - known.frontiers.net_gains(price)
        gap = np.where(gap > self.noise, frequencies * gap, 0.0)
        rows = np.argsort(-gap, kind="stable")[: np.count_nonzero(gap)]
        reached = np.cumsum(gap[rows])
        if len(rows):
            rows = rows[: int(np.searchsorted(reached, SHARE * reached[-1])) + 1]
        begin = known.frontiers.targets_at(price)
        for at in range(0, len(rows), ROUND):
            if not self.rounds.another():
                return False
            part = rows[at : at + ROUND]
            known.add(price, *self.search.best(price, part, begin[part]))
        return True

    def _price(self, frequencies: FloatArray, budget: float) -> float:
        """Return the optimal price of what was found, at a budget."""
        spending = spend(self.known.frontiers, frequencies, budget)
        return price_interval(self.known.frontiers, spending, budget)[0]

    def _value(self, frequencies: FloatArray) -> float:
        """Return the value of what was found."""
        problem = AuditProblem(
            self.problem.losses, self.problem.geometry, budget=self.problem.budget
        )
        problem.__dict__["frontiers"] = self.known.frontiers
        return problem.value(frequencies)
