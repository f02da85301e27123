"""P-values of bets: the smallest level at which a test that is aimed at its level rejects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.inference.finite.ladder import Ladder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SMALLEST_LEVEL = 1e-6
FINE, FINELY = 4, 3
"""Levels in each halving of α, and for how many halvings; then it is halved."""
ABOVE = (0.7, 0.5, 0.35, 0.25, 0.18, 0.13, 0.09, 0.07)
"""The p-values above α that there are, besides 1; smaller ones follow at the same pace."""
PACE, LEAST_ABOVE = 0.72, 1.3
"""Of one p-value to the next below it, and how far above α the last one is."""


def smallest_level(
    rejects_at: Callable[[float], bool], alpha: float, levels: Sequence[float] = ()
) -> float:
    """Return the p-value of a hypothesis that is bet against anew for each level.

    Parameters
    ----------
    rejects_at
        Whether the bet aimed at a level rejects there.
    alpha
        The level whose test decides whether the p-value is at most α.
    levels
        Further levels below α that the p-value is exact at.

    Returns
    -------
    float
        A level of the sequence, 1 if no test rejects, not less than ``SMALLEST_LEVEL`` unless
        ``levels`` hold less.

    Notes
    -----
    Tests at two levels lay stakes of their own and are not nested. From α down a fixed sequence
    of levels is gone through until the first that does not reject: a p-value of at most one of
    them says that the test there rejected. Above α, those of level x − α are gone through in the
    same way; a p-value of at most x says that one of them or the test at α rejected, which has a
    probability of at most (x − α) + α.

    Examples
    --------
    A test that rejects from .03 on has a p-value a little above it: levels are a quarter of a
    halving apart.

    >>> round(smallest_level(lambda level: level >= 0.03, alpha=0.05), 4)
    0.0354
    """

    def rejects(level: float) -> bool:
        """Whether the test rejects with what a bound at this level leaves for it."""
        return rejects_at(Ladder.main_level(level))

    found = 1.0
    if not rejects(alpha):
        for level in _above(alpha):
            if not rejects(level - alpha):
                break
            found = level
        return found
    found = alpha
    for level in _falling(alpha, levels):
        if not rejects(level):
            break
        found = level
    return found


def _above(alpha: float) -> Iterator[float]:
    """Yield the levels above α that are looked at, the largest first.

    Parameters
    ----------
    alpha
        The level of the test that did not reject.
    """
    yield from (one for one in ABOVE if one > alpha)
    level = ABOVE[-1] * PACE
    while level > LEAST_ABOVE * alpha:
        yield level
        level *= PACE


def _falling(alpha: float, levels: Sequence[float]) -> Iterator[float]:
    """Yield the levels below α that are looked at, the largest first.

    Parameters
    ----------
    alpha
        The level of the test that rejected.
    levels
        Those at which the p-value must be exact, such as the steps of Holm's procedure.
    """
    fine = [alpha * 2.0 ** (-at / FINE) for at in range(1, FINE * FINELY + 1)]
    yield from sorted({*fine, *(level for level in levels if level < alpha)}, reverse=True)
    level = min([*fine, *levels]) / 2
    while level >= SMALLEST_LEVEL:
        yield level
        level /= 2
