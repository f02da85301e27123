"""Several tests at once: levels, p-values and verdicts that hold for all of them together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.inference.laws import Verdict, reach_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport._core.validation import FloatArray

MIN_LEVEL_GAP = 1.05
"""Levels of a family within this ratio are merged into the smaller."""


def holm(pvalues: FloatArray) -> FloatArray:
    """Return Holm's adjusted p-values, valid for all hypotheses together."""
    return _step_down(pvalues, len(pvalues) - np.arange(len(pvalues), dtype=float))


def _step_down(pvalues: FloatArray, factors: FloatArray) -> FloatArray:
    """Return step-down p-values: the smallest times the first factor etc., never decreasing."""
    order = np.argsort(pvalues, kind="stable")
    adjusted = np.empty(len(pvalues))
    adjusted[order] = np.minimum(np.maximum.accumulate(pvalues[order] * factors), 1.0)
    return adjusted


@dataclass(frozen=True)
class Family:
    """A declared family of audits, with the levels of its tests and bounds.

    Both ends of every audit's interval have level α/2m, so that all 2m hold together with
    probability 1 − α.

    Verdicts: a certificate has level α/2m, too, so that an audit is certified exactly if its upper
    end is at most δ. Rejections are stepped down as Holm's: with h audits not rejected yet, each is
    tested at level

        α_h = α (1 − min(k, t − h)/2m) / h.

    With probability 1 − α no verdict is wrong. A rejection can be wrong if ψ <= δ, say in h audits,
    and a certificate if ψ > δ, in the t − h others; no audit can have both errors. The first wrong
    rejection comes after rejections of the others only, so at a level of at most α_h; h of these
    are α(1 − min(k, t − h)/2m). Of the others at most min(k, t − h) can be certified, each wrongly
    with probability α/2m. Together that is α, for any dependence between the audits. If nothing can
    be certified, α_h is Holm's α/h. Holm's levels with certificates at α/m could be wrong with
    probability up to (2 − 1/m)α: the level saved by rejecting an audit would be spent again by
    certifying it.
    """

    alpha: float
    size: int
    tested: int
    certifiable: int

    @property
    def end_level(self) -> float:
        """The level of each end of an interval, and of a certificate: α/2m."""
        return self.alpha / (2 * self.size)

    @property
    def step_levels(self) -> FloatArray:
        """(t,) the level of a rejection with all audits left, with one rejected, and so on."""
        return self.alpha / self._factors

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels at which p-values have to be exact, decreasing from α.

        Steps within a ratio of ``MIN_LEVEL_GAP`` are merged into the smaller.
        """
        levels: list[float] = []
        for level in self.step_levels.tolist():
            if not levels or level >= MIN_LEVEL_GAP * levels[-1]:
                levels.append(level)
        return tuple(sorted({*levels, self.alpha}, reverse=True))

    def adjusted(self, pvalues: Sequence[float]) -> FloatArray:
        """Return adjusted p-values, at most α exactly if the family rejects the audit."""
        raw = np.array(pvalues, dtype=float)
        products = _step_down(raw, self._factors)
        rejected = np.zeros(len(raw), bool)
        order = np.argsort(raw, kind="stable")
        # the decision itself, at the levels of the tests; products only report it
        rejected[order] = np.logical_and.accumulate(raw[order] <= self.step_levels)
        # a product may be off by a rounding error on either side
        above = math.nextafter(self.alpha, 1.0)
        return np.where(rejected, np.minimum(products, self.alpha), np.maximum(products, above))

    def verdicts(self, adjusted: Sequence[float], certified: Sequence[bool]) -> tuple[Verdict, ...]:
        """Return the verdicts from adjusted p-values and certificates at `end_level`."""
        pairs = zip(adjusted, certified, strict=True)
        return tuple(
            reach_verdict(rejected=bool(p <= self.alpha), certified=bool(sure)) for p, sure in pairs
        )

    @property
    def _factors(self) -> FloatArray:
        """(t,) α over the level of each step."""
        remaining = self.tested - np.arange(self.tested, dtype=float)
        # if h true hypotheses are left, the others can only err by a certificate, at level α/2m
        # each, if they can be certified at all
        others = np.minimum(self.certifiable, self.tested - remaining)
        return np.asarray(remaining / (1 - others / (2 * self.size)))
