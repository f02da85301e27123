"""The exact power of an audit by Clopper–Pearson, and the sample size that it asks for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport.checks import BoolArray, FloatArray, IntArray

MOST_CASES = 10**9
"""Nobody audits more; a search that goes beyond is given up."""
WINDOW = 64
"""Teeth looked at on either side of a crossing, at least."""


@dataclass(frozen=True)
class BinomialTest:
    """Clopper–Pearson's bound against δ, when a share ``share`` of people is affected.

    Attributes
    ----------
    share
        The true share p that is planned for.
    delta, alpha
        The threshold and the level.
    certify
        Whether the goal is to certify δ-fairness, else to reject it.

    Notes
    -----
    To reject, the lower bound exceeds δ: at least c affected people among n, c the smallest
    number with P(Bin(n, δ) >= c) < α. To certify, the upper bound is at most δ: at most c of
    them, c the largest number with P(Bin(n, δ) <= c) <= α (−1: none will do). As n grows, c
    never falls. While it stays, on a *tooth*, the power to reject rises and that to certify
    falls; where it steps, the power jumps the other way.

    Examples
    --------
    With nobody affected, 299 cases are needed to certify δ = 1 %, and then they always do.

    >>> test = BinomialTest(share=0.0, delta=0.01, alpha=0.05, certify=True)
    >>> test.least_certifying(), test.power(np.array([298, 299])).tolist()
    (299, [0.0, 1.0])
    """

    share: float
    delta: float
    alpha: float
    certify: bool

    def power(self, n: IntArray) -> FloatArray:
        """Return the probability that the bound reaches its goal, at each of many n.

        Parameters
        ----------
        n
            Sample sizes.
        """
        return self._power(n, self.critical(n))

    def critical(self, n: IntArray) -> IntArray:
        """Return c at each n.

        Parameters
        ----------
        n
            Sample sizes.

        Returns
        -------
        ndarray
            How many affected people reject at least, n + 1 if none suffice; or certify at the most,
            −1 if not even nobody does.
        """
        if self.certify:
            # the first number for which it fails, less one
            return _first(lambda k: at_most(k, n, self.delta) > self.alpha, 0 * n - 1, n) - 1
        return _first(lambda k: at_least(k, n, self.delta) < self.alpha, 0 * n, n + 1)

    def least_certifying(self) -> int:
        """Return the least n that certifies if nobody is affected: n >= log(α)/log(1 − δ)."""
        return math.ceil(math.log(self.alpha) / math.log1p(-self.delta))

    def sample_size(self, wanted: float) -> int:
        """Return the smallest n from which on the power never falls below ``wanted``.

        Parameters
        ----------
        wanted
            The power, between 0 and 1.

        Raises
        ------
        InputError
            If more than ``MOST_CASES`` would be needed.

        Notes
        -----
        Each tooth is known by its ends, so teeth are searched and not sizes: a crossing by
        bisection, then all teeth near it. The least power of a tooth is a rising curve plus what
        comes from its end being a whole number. In standard errors of the share, that is at most
        p/√(np(1 − p)), while the curve rises by |p − δ|/(2δ√(np(1 − p))) a tooth: successes and
        failures mix on about 2pδ/|p − δ| teeth. Four times as many are looked at either way, and
        more until the last quarter of them holds no failure.
        """
        n = self._without_tolerance(wanted) if self.delta == 0 else self._search(wanted)
        if n < MOST_CASES:
            return n
        msg = (
            f"`delta` must be farther from the value {self.share:g}, got {self.delta:g}: more than "
            f"{MOST_CASES:,} cases would be needed"
        )
        raise InputError(msg)

    def _search(self, wanted: float) -> int:
        """Return the smallest n with the wanted power from there on, for δ > 0.

        Parameters
        ----------
        wanted
            The power.

        Returns
        -------
        int
            ``MOST_CASES`` if it is beyond reach.
        """
        crossing = self._crossing(wanted)
        # the tooth before fails; if it lies beyond reach, so does the answer
        if self._tooth_start(np.array([crossing - 1]))[0] >= MOST_CASES:
            return MOST_CASES
        gap = abs(self.share - self.delta)
        ahead = WINDOW + math.ceil(8 * self.share * self.delta / gap)
        while True:
            teeth = np.arange(max(self._first_tooth, crossing - ahead), crossing + ahead)
            failures = np.flatnonzero(self._least_power(teeth) < wanted)
            # the tooth before the crossing fails, unless there is none
            last = int(teeth[failures[-1]]) if len(failures) else self._first_tooth - 1
            if last < crossing + ahead // 2:
                return self._on_tooth(last, wanted)
            ahead *= 2

    @property
    def _first_tooth(self) -> int:
        """The lowest critical number there is: −1 to certify, 1 to reject."""
        return -1 if self.certify else 1

    def _power(self, n: IntArray, critical: IntArray) -> FloatArray:
        """Return the probability to reach the goal at sizes whose critical numbers are known."""
        return (at_most if self.certify else at_least)(critical, n, self.share)

    def _tooth_start(self, tooth: IntArray) -> IntArray:
        """Return the least n whose critical number is at least ``tooth``, within `MOST_CASES`.

        Parameters
        ----------
        tooth
            Critical numbers.
        """

        def done(n: IntArray) -> BoolArray:
            """Whether n is large enough for each of the teeth."""
            if self.certify:
                return at_most(tooth, n, self.delta) <= self.alpha
            # one affected person fewer no longer rejects
            return at_least(tooth - 1, n, self.delta) >= self.alpha

        high = np.clip(2 * tooth, 1, MOST_CASES)
        while not (enough := done(high) | (high == MOST_CASES)).all():
            high = np.where(enough, high, np.minimum(2 * high, MOST_CASES))
        return _first(done, np.clip(tooth - 2, -1, MOST_CASES - 1), high)

    def _least_power(self, teeth: IntArray) -> FloatArray:
        """Return the least power on each tooth: at its end to certify, at its start to reject.

        Parameters
        ----------
        teeth
            Critical numbers.
        """
        where = self._tooth_start(teeth + 1) - 1 if self.certify else self._tooth_start(teeth)
        return self._power(where, teeth)

    def _crossing(self, wanted: float) -> int:
        """Return a tooth that is good, the one before being not, near where that changes.

        Parameters
        ----------
        wanted
            The power. Doubling finds a good tooth, bisection one whose neighbour below fails; it
            need not be the last such one.
        """
        low, high = self._first_tooth - 1, 1
        while not self._least_power(np.array([high]))[0] >= wanted:
            if high > MOST_CASES:
                break
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            good = self._least_power(np.array([middle]))[0] >= wanted
            low, high = (low, middle) if good else (middle, high)
        return high

    def _on_tooth(self, last_failing: int, wanted: float) -> int:
        """Return the first n that is good up to the end of the tooth that fails last.

        Parameters
        ----------
        last_failing
            The highest tooth whose least power is too small.
        wanted
            The power.
        """
        start, after = self._tooth_start(np.array([last_failing, last_failing + 1])).tolist()
        if self.certify or last_failing < self._first_tooth:
            return int(max(after, 1))

        # power rises on this tooth: it may be good from somewhere on
        def good(n: IntArray) -> BoolArray:
            """Whether the power at n is enough, while this many affected people reject."""
            return at_least(np.array([last_failing]), n, self.share) >= wanted

        if not good(np.array([after - 1]))[0]:
            return int(after)
        return int(_first(good, np.array([start - 1]), np.array([after - 1]))[0])

    def _without_tolerance(self, wanted: float) -> int:
        """Return the n at which one affected person, who is enough, is likely enough.

        Parameters
        ----------
        wanted
            The power, that of "somebody is affected": 1 − (1 − p)^n >= wanted.
        """
        if self.share == 1:
            return 1
        return max(1, math.ceil(math.log1p(-wanted) / math.log1p(-self.share)))


def at_least(k: IntArray, n: IntArray, share: float) -> FloatArray:
    """Return P(Bin(n, share) >= k).

    Parameters
    ----------
    k, n
        Whole numbers, broadcast; any k, also below 0 or above n.
    share
        The chance of a success.

    Examples
    --------
    >>> at_least(np.array([0, 1, 3]), np.array([2, 2, 2]), 0.5).tolist()
    [1.0, 0.75, 0.0]
    """
    from scipy.special import betainc

    inside = (k > 0) & (k <= n)
    tail = betainc(np.where(inside, k, 1), np.where(inside, n - k + 1, 1), share)
    return np.where(inside, tail, k <= 0)


def at_most(k: IntArray, n: IntArray, share: float) -> FloatArray:
    """Return P(Bin(n, share) <= k).

    Parameters
    ----------
    k, n
        Whole numbers, broadcast; any k, also below 0 or above n.
    share
        The chance of a success.

    Examples
    --------
    >>> at_most(np.array([-1, 0, 2]), np.array([2, 2, 2]), 0.5).tolist()
    [0.0, 0.25, 1.0]
    """
    from scipy.special import betaincc

    inside = (k >= 0) & (k < n)
    tail = betaincc(np.where(inside, k + 1, 1), np.where(inside, n - k, 1), share)
    return np.where(inside, tail, k >= n)


def _first(holds: Callable[[IntArray], BoolArray], low: IntArray, high: IntArray) -> IntArray:
    """Return the least numbers in (low, high] at which a condition holds, as it does at high.

    Parameters
    ----------
    holds
        Maps numbers to whether it does; false, then true, as numbers grow.
    low, high
        The ends of each search; all are halved together.

    Examples
    --------
    >>> _first(lambda n: n * n >= 50, np.array([0]), np.array([100])).tolist()
    [8]
    """
    low, high = np.broadcast_arrays(low, high)
    while (open_ := high - low > 1).any():
        middle = (low + high) // 2
        true = holds(middle)
        high = np.where(open_ & true, middle, high)
        low = np.where(open_ & ~true, middle, low)
    return np.asarray(high)
