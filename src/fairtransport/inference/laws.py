"""Sampling laws of ψ(f_n): what intervals, bounds and p-values are read from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from fairtransport.checks import choice, number

if TYPE_CHECKING:
    from collections.abc import Sequence

ALTERNATIVES = ("greater", "less", "two-sided")


class Interval(NamedTuple):
    """A confidence interval."""

    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class SamplingLaw(ABC):
    """What a sample says about ψ(f*): bounds at any level, and p-values.

    Attributes
    ----------
    method
        The method that made it.
    estimate
        ψ(f_n).
    n
        The size of the audit sample.
    notes
        What a reader of the numbers should know of how they came about.
    fixed_targets
        Whether the targets do not depend on the sample; without, there is no upper bound:
        it is infinite.
    """

    method: str
    estimate: float
    n: int
    notes: tuple[str, ...]
    fixed_targets: bool = field(default=True, kw_only=True)

    @property
    def guarantee(self) -> str:
        """What the bounds promise: to hold as n grows, or at every n."""
        return "asymptotic"

    @property
    def smallest_level(self) -> float:
        """The smallest level that a one-sided bound can have."""
        return 0.0

    @abstractmethod
    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return the lower end of the one-sided interval at level 1 − α."""

    @abstractmethod
    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return the upper bound at level 1 − α: a certificate of δ-fairness if it is <= δ."""

    def rejects(self, delta: float, alpha: float = 0.05) -> bool:
        """Whether δ-fairness, H0: ψ(f*) <= δ, is rejected at level α."""
        return self.lower_bound(alpha) > delta

    def certifies(self, delta: float, alpha: float = 0.05) -> bool:
        """Whether ψ(f*) <= δ is certified at level α."""
        return self.upper_bound(alpha) <= delta

    def interval(self, alpha: float = 0.05) -> Interval:
        """Return the two-sided equal-tailed confidence interval at level 1 − α."""
        half = self._level(alpha, sides=2) / 2
        return Interval(self.lower_bound(half), self.upper_bound(half))

    def pvalue(self, delta: float, alternative: str = "greater") -> float:
        """Return the p-value of a test about δ.

        "greater" tests H0: ψ(f*) <= δ (δ-fairness), "less" tests H0': ψ(f*) >= δ, "two-sided"
        tests ψ(f*) = δ. A bound beyond δ at level α means a p-value of at most α.
        """
        delta = number("delta", delta)
        choice("alternative", alternative, ALTERNATIVES)
        if alternative == "greater":
            return self._p_greater(delta)
        if alternative == "less":
            return self._p_less(delta)
        return min(1.0, 2 * min(self._p_greater(delta), self._p_less(delta)))

    def graded_pvalue(self, delta: float, levels: Sequence[float]) -> float:  # noqa: ARG002
        """Return a p-value of δ-fairness that is no coarser than need be at some levels.

        For tests that are made for one level each, it is the last of the levels, coming from
        the largest, at which all reject.
        """
        return self.pvalue(delta)

    def evalue(self, delta: float) -> float | None:  # noqa: ARG002
        """Return evidence against ψ(f*) <= δ whose mean is at most 1 under it; None if unknown."""
        return None

    @abstractmethod
    def _p_greater(self, delta: float) -> float: ...

    @abstractmethod
    def _p_less(self, delta: float) -> float: ...

    def _level(self, alpha: float, sides: int = 1) -> float:  # noqa: ARG002
        """Return a level between 0 and 1, or refuse it.

        Parameters
        ----------
        alpha
            The level.
        sides
            Over how many tails it is shared; laws known by draws look whether these suffice.
        """
        return number("alpha", alpha, above=0, below=1)
