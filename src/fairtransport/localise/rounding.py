"""Rounding: no number in a document that is shared is finer than a few people would make it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fairtransport.checks import FloatArray, IntArray

NICE = (1, 2, 5)
NOISE = 9
"""Decimals of a number of steps; what is behind them is the noise of arithmetic."""
TOLD = 3
"""The statistic is told with both ends of its interval: three roundings of about one number."""
PVALUES = (0.001, 0.01)
"""A p-value is told as the next of these, as the level, or as 1."""
SMALLEST_GAP = 1e-12
"""Differences that are noise are told as this one, for noise depends on every count."""
_NUMBER = r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?!\w)"


@dataclass(frozen=True)
class Grain:
    """How coarse the numbers of a shared document are.

    Attributes
    ----------
    at_least
        Numbers of people are rounded to multiples of this.
    step
        Mean losses are rounded to multiples of this.

    Notes
    -----
    A mean over n people of a loss of range R changes by at most kR/n when k people are
    exchanged for others, so a mean that is rounded to a step of at least kR/n leaves room
    for k people, as a number of people does that is rounded to multiples of k. Several
    numbers that are rounded at places of their own and rise and fall together tell as much
    as one with a finer step: with three of them the step is three times as large.
    """

    at_least: int
    step: float

    @classmethod
    def of_mean(cls, at_least: int, n: float, width: float = 1.0) -> Grain:
        """Return the grain of means over n people of a loss of a given range.

        Parameters
        ----------
        at_least
            k, the people that a number must leave room for.
        n
            How many people the means are over.
        width
            The width of the loss's range.

        Examples
        --------
        >>> Grain.of_mean(5, 3000).step
        0.005
        """
        return cls(at_least, nice_step(TOLD * at_least * width / n))

    def nearest(self, mean: float) -> float:
        """Return a mean loss, rounded.

        Parameters
        ----------
        mean
            To the nearest multiple of the step, halves to the even one.
        """
        return self._round(mean, ROUND_HALF_EVEN)

    def down(self, bound: float | None) -> float | None:
        """Return a lower bound, rounded so that it still holds.

        Parameters
        ----------
        bound
            None stays None.
        """
        return None if bound is None else self._round(bound, ROUND_FLOOR)

    def up(self, bound: float | None) -> float | None:
        """Return an upper bound, rounded so that it still holds.

        Parameters
        ----------
        bound
            None stays None.

        Examples
        --------
        >>> grain = Grain(5, 0.01)
        >>> grain.down(0.0312), grain.nearest(0.0312), grain.up(0.0312)
        (0.03, 0.03, 0.04)
        """
        return None if bound is None else self._round(bound, ROUND_CEILING)

    def people(self, numbers: object) -> FloatArray:
        """Return numbers of people, rounded.

        Parameters
        ----------
        numbers
            In any shape; to the nearest multiples of ``at_least``.
        """
        return np.asarray(np.round(np.asarray(numbers) / self.at_least) * self.at_least)

    def total(self, counts: FloatArray | IntArray) -> float:
        """Return how many people several cells have together, rounded; 0 where they are few.

        It is rounded to twice the multiples, so that what is left when one number of people
        is taken off another is no finer than they are. Cells of few people have no more than
        k − 1 each: a total that they could hardly have would tell them all, and is not told.

        Parameters
        ----------
        counts
            The people of each cell.
        """
        step, people = 2 * self.at_least, counts.sum()
        told = float(np.round(people / step) * step)
        if (counts < self.at_least).all():
            # a total near the most that so many small cells can hold would tell that each is at its
            # limit
            room = (counts > 0).sum() * (self.at_least - 1) - self.at_least
            told = min(told, float(room // step * step))
        return max(0.0, told)

    def sentence(self, text: str, names: Iterable[str], told: Collection[float]) -> str:
        """Return a sentence whose numbers are rounded, but for those told and parts of names.

        Parameters
        ----------
        text
            Numbers without a decimal point are taken for numbers of people, others for means.
        names
            Columns and levels, which stay as they are written.
        told
            Numbers that the document tells exactly anyway, as α.

        Examples
        --------
        >>> Grain(5, 0.01).sentence("Only 12 of 300 have x 3: 0.1234.", ["x 3"], [300])
        'Only about 10 of 300 have x 3: about 0.12.'
        """
        # a name that is a number does not make other numbers part of a name
        kept = [re.escape(name) for name in names if not name.isdigit()]
        pattern = "|".join([*sorted(kept, key=len, reverse=True), f"(?P<number>{_NUMBER})"])

        def rounded(match: re.Match[str]) -> str:
            """Return a number in the text, rounded, or a name as it is.

            What the reader may know exactly, such as δ, is in ``told`` and stays; whole numbers
            count as people, numbers with a point as shares.
            """
            if match["number"] is None:
                return match[0]
            number = float(match["number"].replace(",", ""))
            if number in told:
                return match[0]
            if "." in match["number"]:
                return f"about {self.nearest(number):g}"
            people = float(self.people(number))
            return f"about {people:,.0f}" if people else f"fewer than {self.at_least}"

        return re.sub(pattern, rounded, text)

    def _round(self, number: float, rounding: str) -> float:
        """Return a number as a multiple of the step, by decimal arithmetic: 3 · 0.1 is 0.3.

        Parameters
        ----------
        number
            What is within 1e-9 of a multiple counts as one, or noise would push bounds a step away.
        rounding
            One of ``decimal``'s rules.
        """
        step = Decimal(repr(self.step))
        # a quotient that should be whole must not fall to the next step by a rounding error
        steps = Decimal(f"{number / self.step:.{NOISE}f}").to_integral_value(rounding)
        return float(steps * step)


def nice_step(least: float) -> float:
    """Return the smallest of …, 0.1, 0.2, 0.5, 1, 2, 5, 10, … that is not below a number.

    Parameters
    ----------
    least
        The number, positive.

    Examples
    --------
    >>> nice_step(5 / 300), nice_step(0.1), nice_step(7.3)
    (0.02, 0.1, 10.0)
    """
    power = math.floor(math.log10(least)) - 1
    steps = (float(Decimal(nice).scaleb(power + up)) for up in range(3) for nice in NICE)
    return next(step for step in steps if step >= least * (1 - 1e-12))


def coarse_pvalue(pvalue: float, alpha: float) -> float:
    """Return a bound of a p-value that is on its side of the level: 0.001, 0.01, α or 1.

    More digits would tell the statistic more exactly than it is told.

    Parameters
    ----------
    pvalue
        As it was found.
    alpha
        The level. What exceeds it becomes 1, so that nothing near it is told.

    Examples
    --------
    >>> coarse_pvalue(0.0342, 0.05), coarse_pvalue(0.004, 0.005), coarse_pvalue(0.06, 0.05)
    (0.05, 0.005, 1.0)
    """
    told = sorted(value for value in (*PVALUES, alpha) if value <= alpha)
    return next((value for value in told if pvalue <= value), 1.0)


def one_digit(number: float) -> float:
    """Return a number with one digit; what is infinite stays.

    Parameters
    ----------
    number
        Any number.

    Examples
    --------
    >>> one_digit(0.0384), one_digit(162.0)
    (0.04, 200.0)
    """
    return float(f"{number:.0e}") if math.isfinite(number) else number


def coarse_gap(gap: float) -> float:
    """Return a power of ten that a difference does not exceed.

    Parameters
    ----------
    gap
        A duality gap or the like, of either sign.

    Examples
    --------
    >>> coarse_gap(-3e-9), coarse_gap(0.0)
    (1e-08, 1e-12)
    """
    return float(Decimal(1).scaleb(math.ceil(math.log10(max(abs(gap), SMALLEST_GAP)) - 1e-9)))
