"""Ask until sure: people in random order, evidence that may be looked at, a stop at the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.errors import InputError
from fairtransport.inference.anytime.eprocess import verdict_bets
from fairtransport.inference.anytime.stopped import StoppedLaw

if TYPE_CHECKING:
    from fairtransport.access.oracle import Oracle
    from fairtransport.checks import BoolArray, FloatArray, IntArray
    from fairtransport.geometry import Geometry
    from fairtransport.settings import AuditSettings
    from fairtransport.space import SampleSpace

GROWTH = 0.1
"""Between two looks the people asked about grow by this share, so that requests stay few."""
NOTE = (
    "People came in random order, and the asking stopped at a moment that depends on the answers: "
    "bounds and verdict hold all the same, as those of a confidence sequence. The statistic is "
    "that of the people asked about, and tends to be further from δ than that of everybody."
)


class UntilSure:
    """The people in random order, and what was asked about them so far.

    Parameters
    ----------
    settings, space, oracle, geometry
        What is asked, about whom, of whom, and who is comparable.

    Notes
    -----
    The audit data are an independent sample, so that in a random order the first t people are
    one too, whatever t is; the evidence after each of them is an e-process. Whom to ask next,
    and how many before the next look, depends on the order and on what was asked, so that the
    moment of the stop is a stopping time.
    """

    def __init__(
        self, settings: AuditSettings, space: SampleSpace, oracle: Oracle, geometry: Geometry
    ) -> None:
        self.settings, self.space, self.oracle = settings, space, oracle
        rng = np.random.default_rng([settings.seed, 14])
        self.people: IntArray = rng.permutation(np.repeat(np.arange(space.size), space.counts))
        self.blocks = np.unique(geometry.blocks, return_inverse=True)[1].reshape(-1)
        self.question: IntArray = oracle.questions(space)[1]
        self.asked: BoolArray = np.zeros(int(self.question.max()) + 1, bool)
        order = np.argsort(self.blocks, kind="stable")
        ends = np.cumsum(np.bincount(self.blocks))
        self.members = np.split(order, ends[:-1])
        self.losses: FloatArray = np.full(space.size, np.nan)

    def ask(self) -> tuple[SampleSpace, StoppedLaw, str]:
        """Ask until there is a verdict, no question or nobody is left.

        Returns
        -------
        The people asked about, what they say, and why the asking stopped.
        """
        settings, limits = self.settings, self.oracle.known_loss().range
        assert settings.delta is not None and limits is not None  # noqa: S101, PT018
        most_gain = limits[1] - limits[0]
        evidence = verdict_bets(settings.delta, settings.alpha, most_gain)
        done, gains, why = 0, np.empty(0), "everybody"
        while done < len(self.people):
            # how many people before the next look depends on their number alone, never on what they
            # would say
            ready = self._ready(done, max(1, int(GROWTH * done)))
            if ready == 0:
                why = "budget"
                break
            new = self._gains(self.people[done : done + ready])
            # in the random order drawn beforehand, record by record: Ville's inequality covers
            # every stop
            evidence.take(new)
            gains, done = np.r_[gains, new], done + ready
            rejected, certified = evidence.crossed
            if rejected or certified:
                why = "rejected" if rejected else "certified"
                break
        if done == 0:
            needed = len(np.unique(self.question[self.members[self.blocks[self.people[0]]]]))
            msg = (
                f"`budget_of_questions` must be enough for a person and all twins ({needed}), "
                f"got {settings.budget_of_questions}"
            )
            raise InputError(msg)
        law = StoppedLaw(
            "anytime", float(gains.mean()), done, (NOTE,), gains, most_gain,
            settings.delta,
        )  # fmt: skip
        return self._part(self.people[:done]), law, why

    def _ready(self, done: int, wanted: int) -> int:
        """Return how many of the next people there are questions left for, and note these.

        Parameters
        ----------
        done
            How many were asked about.
        wanted
            How many to look at.
        """
        limit = self.settings.budget_of_questions
        many = 0
        for person in self.people[done : done + wanted].tolist():
            needed = np.unique(self.question[self.members[self.blocks[person]]])
            new = needed[~self.asked[needed]]
            # a person counts once all twins are known: half of them asked about would be questions
            # wasted
            if limit is not None and int(self.asked.sum()) + len(new) > limit:
                break
            self.asked[new] = True
            many += 1
        return many

    def _gains(self, people: IntArray) -> FloatArray:
        """Return what people gain when swapped with the twin whom the model treats worst.

        Parameters
        ----------
        people
            Points, in their random order; new ones are asked about, with all twins.
        """
        points = np.concatenate([self.members[block] for block in np.unique(self.blocks[people])])
        # twins are shared: a block that was asked about needs no further question
        new = np.sort(points[np.isnan(self.losses[points])])
        if len(new):
            self.losses[new] = self.oracle.answer(restricted(self.space, new)).losses
        worst = {block: self.losses[self.members[block]].max() for block in self.blocks[people]}
        return np.array([worst[self.blocks[person]] - self.losses[person] for person in people])

    def _part(self, people: IntArray) -> SampleSpace:
        """Return the points of the people asked about and of their twins.

        Parameters
        ----------
        people
            Those whom the evidence is about.
        """
        counts = np.bincount(people, minlength=self.space.size)
        kept = np.flatnonzero(~np.isnan(self.losses))
        return replace(restricted(self.space, kept), counts=counts[kept])


def restricted(space: SampleSpace, points: IntArray) -> SampleSpace:
    """Return a space of some of the points.

    Parameters
    ----------
    space
        All points.
    points
        Which, rising.
    """
    columns = {name: column.take(points) for name, column in space.columns.items()}
    return replace(space, columns=columns, counts=space.counts[points])
