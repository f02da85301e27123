"""Search: which steps make a model do worse, found by asking about people who are set aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.audit.making_up import beside_people
from fairtransport.audit.setting_aside import with_counts
from fairtransport.similarity.twins import Steps, free_directions, goes_along, steps_for
from fairtransport.transport import AuditProblem

if TYPE_CHECKING:
    from fairtransport.access.oracle import Oracle
    from fairtransport.checks import FloatArray
    from fairtransport.settings import AuditSettings
    from fairtransport.similarity.twins import Making, Twins
    from fairtransport.space import SampleSpace

PARENTS = 5
"""New steps begin at one of so many that gained most."""
SPREAD = 0.5
"""How far from there they go, in standard deviations of the fitting data."""
FEWEST_STEPS, TIMES_KEPT = 20, 3
"""People who are set aside are asked about as far as questions suffice for so many steps, and for
so many times as many as are kept: else there would be no choice."""
GIVEN_UP = 20
"""The search ends after so many new steps in turn that ask nothing new."""


@dataclass(eq=False)
class Search:
    """Black-box ascent over steps: what gained is changed a little and asked about again.

    Parameters
    ----------
    settings, aside, oracle, twins, making
        What is asked, about whom, of whom, for which twins, and how these are made up.

    Notes
    -----
    A step's gain for a person is l(twin) − l(person) − νc, or 0 if that is less, ν being the price
    of the budget with the steps of "generate". All that is used is asked about people who are not
    audited.
    """

    settings: AuditSettings
    aside: SampleSpace
    oracle: Oracle
    twins: Twins
    making: Making

    def steps(self) -> tuple[Steps, int]:
        """Return the steps that were found, and how many questions that took."""
        before = self.oracle.queried
        rng = np.random.default_rng([self.settings.seed, 20])
        tries = max(FEWEST_STEPS, TIMES_KEPT * self.twins.per_person)
        self.aside = _some_of(self.aside, max(1, self.twins.questions // tries), rng)
        people = int(self.aside.observed.sum())
        first = steps_for(self.making, self.twins, self.settings.budget, self.settings.seed)
        # each step asks about everybody once; a half is kept for the search itself
        many = max(1, self.twins.questions // (2 * people) - 1)
        price = self._price(Steps(first.rows[:many], first.along[:many]))
        rows: list[FloatArray] = []
        gains: list[FloatArray] = []
        totals: list[float] = []
        idle = 0
        most = before + self.twins.questions - people
        while self.oracle.queried <= most and idle < GIVEN_UP:
            known = self.oracle.queried
            tried = len(rows)
            step = first.rows[tried] if tried < len(first.rows) else self._child(rows, totals, rng)
            rows.append(step)
            gains.append(self._gains(step, price))
            totals.append(float(gains[-1].sum()))
            idle = 0 if self.oracle.queried > known or tried < len(first.rows) else idle + 1
        if not rows:
            return first, self.oracle.queried - before
        chosen = most_together(np.array(gains), self.twins.per_person)
        found = np.array(rows)[chosen]
        along = goes_along(found, free_directions(self.making.metric))
        return Steps(found, along), self.oracle.queried - before

    def _price(self, first: Steps) -> float:
        """Return what a unit of budget is worth with the steps to begin with."""
        if self.settings.budget == 0:
            return 0.0
        space, _ = beside_people(self.settings, self.aside, self.twins, self.making, first)
        losses = self.oracle.answer(space).losses
        geometry = self.settings.chosen_similarity.geometry(space)
        problem = AuditProblem(losses, geometry, budget=self.settings.budget)
        return problem.solve(space.frequencies).price

    def _gains(self, step: FloatArray, price: float) -> FloatArray:
        """Return what a step gains for each point of people."""
        one = Steps(step[None, :], np.ones(1, bool))
        space, _ = beside_people(self.settings, self.aside, self.twins, self.making, one)
        moves = self.settings.chosen_similarity.geometry(space).listed_moves()
        assert moves is not None  # noqa: S101 - made-up twins are listed
        losses = self.oracle.answer(space).losses
        net = losses[moves.col] - losses[moves.row] - price * moves.cost
        best = np.zeros(space.size)
        np.maximum.at(best, moves.row, net)
        # points keep their order when twins come in between
        return np.asarray((best * space.counts)[space.observed])

    def _child(
        self, rows: list[FloatArray], totals: list[float], rng: np.random.Generator
    ) -> FloatArray:
        """Return a step near one that gained much, no farther off than the budget allows."""
        best = np.argsort(-np.array(totals), kind="stable")[:PARENTS]
        people = self.making.support.rows
        change = SPREAD * people.std(axis=0) * rng.normal(size=people.shape[1])
        free = free_directions(self.making.metric)
        along = (change @ free) @ free.T
        rest = change - along
        cost = float(((rest @ self.making.metric) ** 2).sum())
        scale = min(1.0, (self.settings.budget / cost) ** 0.5) if cost > 0 else 0.0
        return np.asarray(rows[int(rng.choice(best))] + along + scale * rest)


def _some_of(space: SampleSpace, most: int, rng: np.random.Generator) -> SampleSpace:
    """Return the points of so many people at most; of the others nothing is asked."""
    seen = np.flatnonzero(space.observed)
    kept = np.isin(np.arange(space.size), rng.permutation(seen)[:most])
    return with_counts(space, np.where(kept, space.counts, 0))


def most_together(gains: FloatArray, many: int) -> list[int]:
    """Return the steps that together gain most, each person taking the best of them.

    One after the other is chosen, the one that adds most to those before.

    Examples
    --------
    >>> most_together(np.array([[3.0, 0.0], [2.0, 1.0], [0.0, 2.5]]), 2)
    [0, 2]
    """
    chosen: list[int] = []
    best = np.zeros(gains.shape[1])
    for _ in range(min(many, len(gains))):
        added = np.maximum(gains - best, 0.0).sum(axis=1)
        added[chosen] = -1.0
        chosen.append(int(added.argmax()))
        best = np.maximum(best, gains[chosen[-1]])
    return chosen
