"""The ladder of thresholds δ on which bounds are found, one rung after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

STEP = 0.06
"""Width of a rung in √δ, in units of 1/√n."""
STRIDE = 16
"""Rungs between those that are looked at for a start."""
EVEN_STEP = 0.04
"""Width of a rung of even steps, in units of the largest gain over √n."""
HEAD_START = 0.02
"""Share of α that is spent on finding a rung to start from."""

Rejects: TypeAlias = Callable[[int, float], bool]
"""Whether everything up to a rung is rejected at a level."""


@dataclass(frozen=True)
class Ladder:
    """Thresholds between 0 and the largest gain, equally spaced in √δ.

    They depend on the sample size and the largest gain only, never on the data. Hypotheses about
    ψ(f*) along the ladder are nested, so testing them in order at level α and stopping at the
    first that is not rejected is wrong with probability at most α (fixed-sequence testing).

    Attributes
    ----------
    n
        The sample's size: a rung is ``STEP``/√n wide in √δ.
    most
        The largest gain, at the ladder's top.

    Notes
    -----
    The standard error of a share of size δ grows as √δ, so that a rung is about the same small part
    of a standard error everywhere.

    Examples
    --------
    >>> ladder = Ladder(n=400, most=1.0)
    >>> ladder.rungs, round(ladder.threshold(100), 4), ladder.below(0.09)
    (334, 0.09, 100)
    """

    n: int
    most: float

    @property
    def width(self) -> float:
        """The width of a rung in √(δ/most)."""
        return STEP / math.sqrt(self.n)

    @property
    def rungs(self) -> int:
        """The number of rungs."""
        return math.ceil(1 / self.width)

    def threshold(self, rung: int) -> float:
        """Return δ at a rung.

        Parameters
        ----------
        rung
            From 0, where δ = 0; the last one and all above it are the largest gain.
        """
        return min(self.most, self.most * (rung * self.width) ** 2)

    def below(self, delta: float) -> int:
        """Return the highest rung that does not lie above δ.

        Parameters
        ----------
        delta
            Any threshold; what is below 0 has rung 0.
        """
        rung = self._near(delta)
        # it may be off by a rounding error on either side
        while self.threshold(rung + 1) <= delta and rung < self.rungs:
            rung += 1
        while rung > 0 and self.threshold(rung) > delta:
            rung -= 1
        return rung

    def _near(self, delta: float) -> int:
        """Return about the rung of δ, from the formula alone."""
        return int(math.sqrt(max(delta, 0.0) / self.most) / self.width)

    @staticmethod
    def main_level(alpha: float) -> float:
        """Return what is left of α when a start was found.

        Parameters
        ----------
        alpha
            The level of a bound, or of a test that must agree with one.

        Returns
        -------
        float
            (1 − h)α with h = ``HEAD_START``: the level of every test that the bound is made of.
        """
        return alpha * (1 - HEAD_START)

    def climb(self, alpha: float, quick: Rejects, rejects: Rejects, guess: int, floor: int) -> int:
        """Return the last rung up to which everything is rejected at level α in all.

        Parameters
        ----------
        alpha
            The level.
        quick, rejects
            The tests that look for a start at a small share of α, and those that go on from
            there at the rest of it.
        guess
            Where to look first.
        floor
            A rung up to which everything is known to be rejected, by a test that rejects only
            if ``rejects`` does at every lower rung.

        Notes
        -----
        Climbing from rung 0 would cost hundreds of tests. A start that is wrong, above ψ(f*), has
        probability at most hα; from a right one the first wrong step is the test of the one
        rung that holds ψ(f*), at (1 − h)α.
        """
        rung = max(self._start(alpha, quick, guess), floor)
        # tests are nested along the ladder, so that stopping at the first that does not reject is
        # enough
        while rejects(rung + 1, self.main_level(alpha)):
            rung += 1
        return rung

    def _start(self, alpha: float, rejects: Rejects, guess: int) -> int:
        """Return a rung up to which everything is rejected at a small share of α.

        Every ``STRIDE``-th rung gets an equal part of half that share, so that any of them may be
        looked at in any order, here from a guess outwards. With the other half, steps of a
        quarter stride go on from there.

        Parameters
        ----------
        alpha
            The level of the whole climb.
        rejects
            Whether everything up to a rung is rejected at a level.
        guess
            The rung to begin with; it may come from the sample.

        Returns
        -------
        int
            0 if none was rejected.
        """
        stops = math.ceil(self.rungs / STRIDE)
        # a union bound over all stops, looked at or not: the guess may therefore come from the
        # sample
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
        # a fixed sequence again: of these steps only the first above ψ can be wrong, so that none
        # of them has to share its level
        while rejects(rung + stride, alpha * HEAD_START / 2):
            rung += stride
        return rung


@dataclass(frozen=True)
class EvenLadder(Ladder):
    """Thresholds between what a difference can be at least and at most, equally spaced.

    Attributes
    ----------
    least
        What the difference cannot be less than, on rung 0.

    Notes
    -----
    Differences lie on both sides of 0 and their standard error does not vanish there, so that
    steps in √δ would make no sense.
    """

    least: float

    @property
    def width(self) -> float:
        """The width of a rung: ``EVEN_STEP`` of the larger end over √n."""
        return EVEN_STEP * max(self.most, -self.least) / math.sqrt(self.n)

    @property
    def rungs(self) -> int:
        """The number of rungs."""
        return math.ceil((self.most - self.least) / self.width)

    def threshold(self, rung: int) -> float:
        """Return the difference at a rung.

        Parameters
        ----------
        rung
            From 0, the least difference; the last one and all above it are the largest.
        """
        return min(self.most, self.least + rung * self.width)

    def _near(self, delta: float) -> int:
        """Return about the rung of a difference; ends of the ladder for what lies outside."""
        return min(int((max(delta, self.least) - self.least) / self.width), self.rungs)
