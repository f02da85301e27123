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
    """A confidence interval.

    Attributes
    ----------
    lower, upper
        Its ends.

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

    @property
    def guarantee(self) -> str:
        """What the bounds promise: to hold as n grows, or at every n.

        Returns
        -------
        str

        Examples
        --------
        >>> import fairtransport as ft
        >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
        >>> [ft.inference.sampling_law(problem, [30, 70], method=method).guarantee
        ...  for method in ("finite-sample", "limit-law")]
        ['finite-sample', 'asymptotic']
        """
        return "asymptotic"

    @property
    def smallest_level(self) -> float:
        """The smallest level that a one-sided bound can have.

        Returns
        -------
        float

        Examples
        --------
        A law of 100 draws knows nothing of rarer events.

        >>> import fairtransport as ft
        >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
        >>> ft.inference.sampling_law(problem, [30, 70]).smallest_level
        0.0
        >>> ft.inference.sampling_law(problem, [30, 70], method="m-out-of-n", n_resamples=100,
        ...                           rng=0).smallest_level
        0.01
        """
        return 0.0

    @abstractmethod
    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return the lower end of the one-sided interval at level 1 − α.

        Parameters
        ----------
        alpha
            The probability to be wrong.

        Returns
        -------
        float
            With probability 1 − α at most ψ(f*).

        Raises
        ------
        InputError
            If α is not between 0 and 1, or smaller than draws can tell.

        Examples
        --------
        >>> round(law.lower_bound(), 3), round(law.lower_bound(0.01), 3)
        (0.225, 0.198)
        """

    @abstractmethod
    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return the upper bound at level 1 − α: a certificate of δ-fairness if it is <= δ.

        Parameters
        ----------
        alpha
            The probability to be wrong.

        Returns
        -------
        float
            With probability 1 − α at least ψ(f*); infinite where targets depend on the sample.

        Raises
        ------
        InputError
            If α is not between 0 and 1, or smaller than draws can tell.

        Examples
        --------
        >>> round(law.upper_bound(), 3)
        0.384
        """

    def rejects(self, delta: float, alpha: float = 0.05) -> bool:
        """Whether δ-fairness, H0: ψ(f*) <= δ, is rejected at level α.

        Parameters
        ----------
        delta
            δ.
        alpha
            The probability to reject what is true, at most.

        Returns
        -------
        bool
            True where the lower bound is above δ.

        Examples
        --------
        >>> import fairtransport as ft
        >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
        >>> law = ft.inference.sampling_law(problem, [30, 70])
        >>> law.rejects(0.1), law.rejects(0.25)
        (True, False)
        """
        return self.lower_bound(alpha) > delta

    def certifies(self, delta: float, alpha: float = 0.05) -> bool:
        """Whether ψ(f*) <= δ is certified at level α.

        Parameters
        ----------
        delta
            δ.
        alpha
            The probability to certify what is false, at most.

        Returns
        -------
        bool
            True where the upper bound is at most δ.

        Examples
        --------
        >>> import fairtransport as ft
        >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
        >>> law = ft.inference.sampling_law(problem, [30, 70])
        >>> law.certifies(0.35), law.certifies(0.5)
        (False, True)
        """
        return self.upper_bound(alpha) <= delta

    def interval(self, alpha: float = 0.05) -> Interval:
        """Return the two-sided equal-tailed confidence interval at level 1 − α.

        Parameters
        ----------
        alpha
            The probability to be wrong, half of it at each end.

        Returns
        -------
        Interval
            Lower and upper end.

        Raises
        ------
        InputError
            If α is not between 0 and 1, or smaller than draws can tell.

        Examples
        --------
        >>> import fairtransport as ft
        >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
        >>> lower, upper = ft.inference.sampling_law(problem, [30, 70]).interval(0.1)
        >>> round(lower, 3), round(upper, 3)
        (0.225, 0.384)
        """
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
            Between 0 and 1.

        Raises
        ------
        InputError
            If δ is no number, or the alternative is another word.

        Examples
        --------
        >>> import fairtransport as ft
        >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
        >>> law = ft.inference.sampling_law(problem, [30, 70])
        >>> [round(law.pvalue(0.2, words), 3) for words in ("greater", "less", "two-sided")]
        [0.011, 0.994, 0.022]
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

        Parameters
        ----------
        delta
            δ.
        levels
            The levels that matter, such as those of a family of tests.

        Returns
        -------
        float
            Between 0 and 1.

        Examples
        --------
        >>> import fairtransport as ft
        >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
        >>> law = ft.inference.sampling_law(problem, [30, 70], method="limit-law")
        >>> law.graded_pvalue(0.2, [0.05, 0.025]) == law.pvalue(0.2)
        True
        """
        return self.pvalue(delta)

    def evalue(self, delta: float) -> float | None:  # noqa: ARG002
        """Return evidence against ψ(f*) <= δ whose mean is at most 1 under it; None if unknown.

        Parameters
        ----------
        delta
            δ.

        Returns
        -------
        float | None
            20 and more reject at level 5 %; e-values of independent audits may be multiplied.

        Examples
        --------
        >>> import fairtransport as ft
        >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
        >>> ft.inference.sampling_law(problem, [30, 70], rng=0).evalue(0.1) > 20
        True
        >>> print(ft.inference.sampling_law(problem, [30, 70], method="limit-law").evalue(0.1))
        None
        """
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
