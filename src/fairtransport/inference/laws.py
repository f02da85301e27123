"""SamplingLaw: bounds, intervals and p-values of ψ(f*), and the verdict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from fairtransport._core.validation import check_choice, check_number

if TYPE_CHECKING:
    from collections.abc import Sequence


ALTERNATIVES = ("greater", "less", "two-sided")
MAX_LOG_EVIDENCE = 690.0
"""Largest logarithm of an e-value that is reported: a float has to hold it."""


class Interval(NamedTuple):
    """A confidence interval.

    Attributes
    ----------
    lower, upper
        The ends of the interval.

    Examples
    --------
    >>> import fairtransport as ft
    >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
    >>> lower, upper = ft.inference.sampling_law(problem, [30, 70]).interval()
    >>> round(lower, 3), round(upper, 3)
    (0.212, 0.4)
    """

    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class SamplingLaw(ABC):
    """Inference about ψ(f*) from a sample: bounds at any level, and p-values.

    Attributes
    ----------
    method
        The name of the method.
    estimate
        ψ(f_n).
    n
        The size of the audit sample.
    notes
        Notes on how the numbers were computed.
    fixed_targets
        Whether the targets do not depend on the sample; if they do, the upper bound is infinite.
    fixed_levels
        Whether the levels that twins take do not depend on the sample.

    Examples
    --------
    >>> import fairtransport as ft
    >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
    >>> law = ft.inference.sampling_law(problem, [30, 70])
    >>> law.method, law.estimate, law.n
    ('finite-sample', 0.3, 100)
    """

    method: str
    estimate: float
    n: int
    notes: tuple[str, ...]
    fixed_targets: bool = field(default=True, kw_only=True)
    fixed_levels: bool = field(default=True, kw_only=True)

    @property
    def guarantee(self) -> str:
        """Guarantee of the bounds: "asymptotic", as n grows, or "finite-sample", at every n."""
        return "asymptotic"

    @property
    def has_pvalue(self) -> bool:
        """Whether there are p-values."""
        return True

    @property
    def smallest_level(self) -> float:
        """The smallest level that a one-sided bound can have."""
        return 0.0

    @abstractmethod
    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return L with P(L <= ψ(f*)) >= 1 − α, the lower end of a one-sided interval."""

    @abstractmethod
    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return U with P(U >= ψ(f*)) >= 1 − α: a certificate of δ-fairness if it is <= δ.

        Infinite if targets depend on the sample.
        """

    def rejects(self, delta: float, alpha: float = 0.05) -> bool:
        """Return whether δ-fairness, H0: ψ(f*) <= δ, is rejected at level α.

        >>> law.rejects(0.1), law.rejects(0.25)
        (True, False)
        """
        return self.lower_bound(alpha) > delta

    def certifies(self, delta: float, alpha: float = 0.05) -> bool:
        """Return whether ψ(f*) <= δ is certified at level α.

        >>> law.certifies(0.35), law.certifies(0.5)
        (False, True)
        """
        return self.upper_bound(alpha) <= delta

    def interval(self, alpha: float = 0.05) -> Interval:
        """Return the two-sided equal-tailed confidence interval at level 1 − α."""
        half = self._level(alpha, sides=2) / 2
        return Interval(self.lower_bound(half), self.upper_bound(half))

    def pvalue(self, delta: float, alternative: str = "greater") -> float:
        """Return the p-value of a test about δ.

        "greater" tests H0: ψ(f*) <= δ (δ-fairness), "less" tests H0': ψ(f*) >= δ, "two-sided"
        tests ψ(f*) = δ. A bound beyond δ at level α means a p-value of at most α.

        Parameters
        ----------
        delta
            δ.
        alternative
            "greater", "less" or "two-sided".

        Returns
        -------
        float
            The p-value.

        Raises
        ------
        InputError
            If δ is not a number, or the alternative is unknown.

        Examples
        --------
        >>> import fairtransport as ft
        >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
        >>> law = ft.inference.sampling_law(problem, [30, 70])
        >>> [round(law.pvalue(0.2, words), 3) for words in ("greater", "less", "two-sided")]
        [0.011, 0.994, 0.022]
        """
        delta = check_number("delta", delta)
        check_choice("alternative", alternative, ALTERNATIVES)
        if alternative == "greater":
            return self._p_greater(delta)
        if alternative == "less":
            return self._p_less(delta)
        return min(1.0, 2 * min(self._p_greater(delta), self._p_less(delta)))

    def graded_pvalue(self, delta: float, levels: Sequence[float]) -> float:  # noqa: ARG002
        """Return a p-value of δ-fairness that is exact at some levels, such as those of a family.

        For tests made for one level each, it is the smallest level down to which all tests reject.
        """
        return self.pvalue(delta)

    def evalue(self, delta: float) -> float | None:  # noqa: ARG002
        """Return an e-value against ψ(f*) <= δ, with mean at most 1 under it; None if unknown.

        Values of 20 or more reject at level 5 %; those of independent audits may be multiplied.
        """
        return None

    @abstractmethod
    def _p_greater(self, delta: float) -> float: ...

    @abstractmethod
    def _p_less(self, delta: float) -> float: ...

    def _level(self, alpha: float, sides: int = 1) -> float:  # noqa: ARG002
        """Return a level, checked to be between 0 and 1."""
        return check_number("alpha", alpha, above=0, below=1)


Verdict: TypeAlias = Literal["rejected", "certified", "inconclusive", "not-applicable"]
"""The first three come from bounds; the last means that these could find nothing."""


def reach_verdict(*, rejected: bool, certified: bool) -> Verdict:
    """Return the verdict about ψ(f*) <= δ from two one-sided bounds at level α each.

    For any ψ(f*), only one of "rejected" and "certified" can be wrong, so each bound may use all of
    α. If they contradict each other, neither counts.
    """
    if rejected == certified:
        return "inconclusive"
    return "rejected" if rejected else "certified"


def reaches(law: SamplingLaw, goal: str, delta: float, alpha: float) -> bool:
    """Return whether an audit with this law reaches its goal, by the rule of `reach_verdict`.

    Only the bound that the goal needs is computed.
    """
    if goal == "certify":
        return law.certifies(delta, alpha)
    return law.rejects(delta, alpha)
