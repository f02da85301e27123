"""Laws of √n(ψ(f_n) − ψ(f*)), by draws or in closed form, whose quantiles make bounds."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.errors import InputError
from fairtransport.inference.laws import SamplingLaw

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray
    from fairtransport.inference.paper.gaussianity import GaussianityCheck
    from fairtransport.inference.paper.min_of_normals import MinOfNormals


@dataclass(frozen=True, eq=False)
class QuantileLaw(SamplingLaw):
    """An approximation to the law of √n(ψ(f_n) − ψ(f*)), whose quantiles make the bounds.

    Notes
    -----
    Bounds are the paper's: with c_q the q-quantile of the law, the two-sided interval is
    [ψ(f_n) − c_{1−α/2}/√n, ψ(f_n) − c_{α/2}/√n] and the one-sided one [ψ(f_n) − c_{1−α}/√n, ∞).
    They are shown as they come, not clipped to the range of ψ. Every level is read from the
    same law: nothing is resampled again.
    """

    @abstractmethod
    def quantile(self, q: float) -> float:
        """Return c_q = inf{c : P(law <= c) >= q}.

        Parameters
        ----------
        q
            A probability.
        """

    @abstractmethod
    def at_most(self, t: float) -> float:
        """Return P(law <= t).

        Parameters
        ----------
        t
            On the scale of √n(ψ(f_n) − ψ(f*)).
        """

    @abstractmethod
    def at_least(self, t: float) -> float:
        """Return P(law >= t).

        Parameters
        ----------
        t
            On the scale of √n(ψ(f_n) − ψ(f*)).
        """

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return the lower end of the one-sided interval at level 1 − α.

        Parameters
        ----------
        alpha
            The probability to be wrong, for large samples.

        Returns
        -------
        float
            ψ(f_n) − c_{1−α}/√n.

        Raises
        ------
        InputError
            If α is not between 0 and 1, or smaller than draws can tell.

        Examples
        --------
        >>> import fairtransport as ft
        >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
        >>> law = ft.inference.sampling_law(problem, [30, 70], method="plug-in")
        >>> round(law.lower_bound(), 3)
        0.225
        """
        return self.estimate - self.quantile(1 - self._level(alpha)) / math.sqrt(self.n)

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return the upper bound at level 1 − α: the paper's asymptotic certificate.

        Parameters
        ----------
        alpha
            The probability to be wrong, for large samples.

        Returns
        -------
        float
            ψ(f_n) − c_α/√n; infinite where targets depend on the sample.

        Raises
        ------
        InputError
            If α is not between 0 and 1, or smaller than draws can tell.

        Examples
        --------
        >>> import fairtransport as ft
        >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
        >>> law = ft.inference.sampling_law(problem, [30, 70], method="plug-in")
        >>> round(law.upper_bound(), 3)
        0.375
        """
        lowest = self.quantile(self._level(alpha))
        return self.estimate - lowest / math.sqrt(self.n) if self.fixed_targets else math.inf

    def _p_greater(self, delta: float) -> float:
        """Return P(law >= √n(ψ(f_n) − δ)), the p-value of ψ(f*) <= δ."""
        return self.at_least(math.sqrt(self.n) * (self.estimate - delta))

    def _p_less(self, delta: float) -> float:
        """Return P(law <= √n(ψ(f_n) − δ)), the p-value of ψ(f*) >= δ; 1 without fixed targets."""
        if not self.fixed_targets:
            return 1.0
        return self.at_most(math.sqrt(self.n) * (self.estimate - delta))


@dataclass(frozen=True, eq=False)
class DrawnLaw(QuantileLaw):
    """A law known by draws from it.

    Attributes
    ----------
    draws
        Draws of the scaled and centred statistic.
    size
        The size m of a resample; n for Efron's bootstrap; None where there is none.
    step
        The step ϵ of the numerical derivative; None elsewhere.
    acceptance
        The share of proposals that the numerical method's sampler accepted.

    Examples
    --------
    >>> import fairtransport as ft
    >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
    >>> law = ft.inference.sampling_law(problem, [30, 70], method="m-out-of-n", n_resamples=500,
    ...                                 rng=0)
    >>> law.size, len(law.draws)
    (20, 500)
    """

    draws: FloatArray
    size: int | None = None
    step: float | None = None
    acceptance: float | None = None

    @cached_property
    def _ordered(self) -> FloatArray:
        """The draws, rising."""
        return np.sort(self.draws)

    def quantile(self, q: float) -> float:
        """Return c_q = inf{c : P(law <= c) >= q} of the draws.

        Parameters
        ----------
        q
            Between 0 and 1.

        Returns
        -------
        float
            One of the draws.

        Examples
        --------
        >>> law.quantile(0.05) < 0 < law.quantile(0.95)
        True
        """
        if q <= 0:
            return -math.inf
        # q·B is a whole number up to rounding whenever it should be one
        rank = math.ceil(q * len(self.draws) - 1e-9)
        return float(self._ordered[max(rank, 1) - 1])

    def at_most(self, t: float) -> float:
        """Return the share of draws <= t, at least one draw's worth: never 0.

        Parameters
        ----------
        t
            A number.

        Returns
        -------
        float
            Between one draw's worth and 1.

        Examples
        --------
        >>> law.at_most(law.quantile(0.9)) >= 0.9, law.at_most(-100.0)
        (True, 0.002)
        """
        below = int(np.searchsorted(self._ordered, t, side="right"))
        # a share of 0 would claim more than so many draws can tell
        return max(below, 1) / len(self.draws)

    def at_least(self, t: float) -> float:
        """Return the share of draws >= t, at least one draw's worth: never 0.

        Parameters
        ----------
        t
            A number.

        Returns
        -------
        float
            Between one draw's worth and 1.

        Examples
        --------
        >>> law.at_least(-100.0), law.at_least(100.0)
        (1.0, 0.002)
        """
        above = len(self.draws) - int(np.searchsorted(self._ordered, t, side="left"))
        return max(above, 1) / len(self.draws)

    @property
    def smallest_level(self) -> float:
        """One draw's worth.

        Returns
        -------
        float

        Examples
        --------
        >>> law.smallest_level
        0.002
        """
        return 1 / len(self.draws)

    @cached_property
    def gaussianity(self) -> GaussianityCheck:
        """The paper's heuristic: whether the draws look like a centred normal law.

        Returns
        -------
        GaussianityCheck

        Examples
        --------
        >>> law.gaussianity.looks_gaussian, law.gaussianity.words
        (True, "The bootstrap's draws look like a centred normal law; nothing speaks against it.")
        """
        from fairtransport.inference.paper.gaussianity import check_gaussianity

        return check_gaussianity(self.draws)

    def _level(self, alpha: float, sides: int = 1) -> float:
        """Return a level that so many draws can tell about.

        Parameters
        ----------
        alpha
            The level.
        sides
            Over how many tails it is shared.

        Raises
        ------
        InputError
            If a tail would be thinner than one draw.
        """
        level = super()._level(alpha)
        check_resamples(level / sides, len(self.draws), alpha)
        return level


def check_resamples(tail: float, n_resamples: int, alpha: float) -> None:
    """Refuse a level whose tail is thinner than one of the draws.

    Parameters
    ----------
    tail
        The level of one tail.
    n_resamples
        How many draws there are, or will be.
    alpha
        The level as the caller gave it, for the message.

    Raises
    ------
    InputError
        If tail · n_resamples < 1.
    """
    if tail * n_resamples < 1 - 1e-9:
        msg = (
            f"`alpha` must be at least {alpha / tail / n_resamples:g} with "
            f"{n_resamples} resamples, got {alpha:g}"
        )
        raise InputError(msg)


@dataclass(frozen=True, eq=False)
class PlugInLaw(QuantileLaw):
    """Theorem 1's limit with f_n in the place of f*: the minimum of two normals.

    Attributes
    ----------
    limit
        The law of the minimum.

    Examples
    --------
    >>> import fairtransport as ft
    >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
    >>> law = ft.inference.sampling_law(problem, [30, 70], method="plug-in")
    >>> law.limit.is_gaussian, round(law.upper_bound(), 3)
    (True, 0.375)
    """

    limit: MinOfNormals

    def quantile(self, q: float) -> float:
        """Return c_q of the limit.

        Parameters
        ----------
        q
            Between 0 and 1.

        Returns
        -------
        float
            A number.

        Examples
        --------
        >>> import fairtransport as ft
        >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
        >>> law = ft.inference.sampling_law(problem, [30, 70], method="plug-in")
        >>> round(law.quantile(0.95), 3)
        0.754
        """
        return self.limit.quantile(q)

    def at_most(self, t: float) -> float:
        """Return P(law <= t).

        Parameters
        ----------
        t
            A number.

        Returns
        -------
        float
            A probability.

        Examples
        --------
        >>> import fairtransport as ft
        >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
        >>> law = ft.inference.sampling_law(problem, [30, 70], method="plug-in")
        >>> round(law.at_most(law.quantile(0.9)), 6)
        0.9
        """
        return float(self.limit.cdf(t))

    def at_least(self, t: float) -> float:
        """Return P(law >= t).

        Parameters
        ----------
        t
            A number.

        Returns
        -------
        float
            A probability.

        Examples
        --------
        >>> import fairtransport as ft
        >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
        >>> law = ft.inference.sampling_law(problem, [30, 70], method="plug-in")
        >>> round(law.at_least(0.0), 6)
        0.5
        """
        return float(self.limit.at_least(t))


@dataclass(frozen=True, eq=False)
class LimitLaw(PlugInLaw):
    """Theorem 1's limit, with a lower bound that also holds near corners.

    Attributes
    ----------
    means, spreads
        Mean and standard deviation of Y_ν = φ_ν + εν under f_n at each price where φ bends.

    Notes
    -----
    f_n almost never sits at a corner exactly, so the plug-in law misses the second normal
    when f* is near one. ψ(f*) <= δ means that E Y_ν <= δ at *some* price; it is rejected when
    that is rejected at *every* price (an intersection–union test), which needs no correction:

        L = min over ν of { mean of Y_ν − z_{1−α} sd(Y_ν)/√n }.

    The minimum sits at a price where φ bends, since between two such the bracket is concave.

    Examples
    --------
    >>> import fairtransport as ft
    >>> problem = ft.AuditProblem([0.0, 0.6, 1.0], [[0, 1, 4], [1, 0, 1], [4, 1, 0]], budget=0.5)
    >>> law = ft.inference.sampling_law(problem, [60, 30, 10], method="limit-law")
    >>> plug_in = ft.inference.sampling_law(problem, [60, 30, 10], method="plug-in")
    >>> law.lower_bound() <= plug_in.lower_bound()
    True
    """

    means: FloatArray
    spreads: FloatArray

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return the intersection–union lower bound.

        Parameters
        ----------
        alpha
            The probability to be wrong, for large samples.

        Returns
        -------
        float
            The smallest of the bounds at all prices.

        Raises
        ------
        InputError
            If α is not between 0 and 1.

        Examples
        --------
        >>> round(law.lower_bound(), 3), round(law.lower_bound(0.01), 3)
        (0.3, 0.297)
        """
        from scipy.special import ndtri

        z = float(ndtri(1 - self._level(alpha)))
        return float(np.min(self.means - z * self.spreads / math.sqrt(self.n)))

    def _p_greater(self, delta: float) -> float:
        """Return the p-value of ψ(f*) <= δ: the largest of the pointwise normal ones.

        Notes
        -----
        The hypothesis is a union over prices, so that the price which speaks least against it
        decides.
        """
        from scipy.special import ndtr

        excess = math.sqrt(self.n) * (self.means - delta)
        # a constant Y_ν decides by itself
        sure = np.where(excess > 0, np.inf, -np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.where(self.spreads > 0, excess / self.spreads, sure)
        return float(ndtr(-score.min()))
