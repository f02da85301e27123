"""The paper's asymptotic laws of √n(ψ(f_n) − ψ(f*)): limit law, plug-in, resampled draws."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.errors import InputError, param
from fairtransport.inference.laws import SamplingLaw

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray


@dataclass(frozen=True, eq=False)
class QuantileLaw(SamplingLaw):
    """An approximation to the law of √n(ψ(f_n) − ψ(f*)), whose quantiles give the bounds.

    Notes
    -----
    Bounds are the paper's: with c_q the q-quantile of the law, the two-sided interval is
    [ψ(f_n) − c_{1−α/2}/√n, ψ(f_n) − c_{α/2}/√n] and the one-sided one [ψ(f_n) − c_{1−α}/√n, ∞).
    They are not clipped to the range of ψ. All levels use the same law, without new draws.
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
        """Return ψ(f_n) − c_{1−α}/√n, the lower end of the one-sided interval at level 1 − α."""
        return self.estimate - self.quantile(1 - self._level(alpha)) / math.sqrt(self.n)

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return ψ(f_n) − c_α/√n, at level 1 − α; infinite where targets depend on the sample."""
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
        The size m of a resample; n for Efron's bootstrap; None without resamples.
    step
        The step ϵ of the numerical derivative; None for other methods.
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
        """The draws, sorted."""
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
        # q·B may miss an integer by a rounding error
        rank = math.ceil(q * len(self.draws) - 1e-9)
        return float(self._ordered[max(rank, 1) - 1])

    def at_most(self, t: float) -> float:
        """Return the share of draws <= t, at least that of one draw: never 0.

        Parameters
        ----------
        t
            A number.

        Returns
        -------
        float
            Between the share of one draw and 1.

        Examples
        --------
        >>> law.at_most(law.quantile(0.9)) >= 0.9, law.at_most(-100.0)
        (True, 0.002)
        """
        below = int(np.searchsorted(self._ordered, t, side="right"))
        # a share of 0 would claim more than the draws can show
        return max(below, 1) / len(self.draws)

    def at_least(self, t: float) -> float:
        """Return the share of draws >= t, at least that of one draw: never 0."""
        above = len(self.draws) - int(np.searchsorted(self._ordered, t, side="left"))
        return max(above, 1) / len(self.draws)

    @property
    def smallest_level(self) -> float:
        """The share of one draw."""
        return 1 / len(self.draws)

    @cached_property
    def gaussianity(self) -> GaussianityCheck:
        """The paper's heuristic: whether the draws look like a centred normal law."""
        return check_gaussianity(self.draws)

    def _level(self, alpha: float, sides: int = 1) -> float:
        """Return a level, checked against the number of draws."""
        level = super()._level(alpha)
        check_resamples(level / sides, len(self.draws), alpha)
        return level


def check_resamples(tail: float, n_resamples: int, alpha: float) -> None:
    """Check that a level's tail holds at least one of the draws."""
    if tail * n_resamples < 1 - 1e-9:
        msg = (
            f"{param('alpha')} must be at least {alpha / tail / n_resamples:g} with "
            f"{n_resamples} resamples, got {alpha:g}"
        )
        raise InputError(msg)


@dataclass(frozen=True, eq=False)
class PlugInLaw(QuantileLaw):
    """Theorem 1's limit with f_n instead of f*: the minimum of two normals.

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
        """Return c_q of the plug-in law."""
        return self.limit.quantile(q)

    def at_most(self, t: float) -> float:
        """Return P(law <= t)."""
        return float(self.limit.cdf(t))

    def at_least(self, t: float) -> float:
        """Return P(law >= t)."""
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
            The error probability, for large samples.

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

        The hypothesis is a union over prices, so the price with the least evidence against it
        decides.
        """
        from scipy.special import ndtr

        excess = math.sqrt(self.n) * (self.means - delta)
        # a constant Y_ν decides without a test
        sure = np.where(excess > 0, np.inf, -np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.where(self.spreads > 0, excess / self.spreads, sure)
        return float(ndtr(-score.min()))


MIN_PERFECT_CORRELATION = 1 - 1e-12
"""Correlations beyond this are taken to be ±1."""


@dataclass(frozen=True)
class MinOfNormals:
    """The law of min(X, Y) for centred, jointly normal X and Y.

    Parameters
    ----------
    sd_x, sd_y
        Standard deviations; 0 makes that variable the constant 0.
    correlation
        Between X and Y; ignored if a standard deviation is 0.

    Notes
    -----
    P(min > t) = P(X > t, Y > t), a bivariate normal probability at a point of the ray
    (t/sd_x, t/sd_y), which Owen's T function gives with arguments that do not depend on t.

    Examples
    --------
    >>> import numpy as np
    >>> import fairtransport as ft
    >>> law = ft.inference.MinOfNormals(1.0, 2.0, correlation=0.5)
    >>> round(law.quantile(0.5), 3)
    -0.544
    """

    sd_x: float
    sd_y: float
    correlation: float = 1.0

    @property
    def is_gaussian(self) -> bool:
        """Whether X and Y are the same variable, so that their minimum is normal."""
        return self.sd_x == self.sd_y and (
            self.sd_x == 0 or self.correlation > MIN_PERFECT_CORRELATION
        )

    def cdf(self, t: object) -> FloatArray:
        """Return P(min <= t) for a number or an array t."""
        t = np.asarray(t, dtype=float)
        return np.asarray(1.0 - self._both_above(t, strictly=True))

    def at_least(self, t: object) -> FloatArray:
        """Return P(min >= t), which exceeds 1 − cdf(t) at the atom 0 only."""
        return np.asarray(self._both_above(np.asarray(t, dtype=float), strictly=False))

    def pdf(self, t: object) -> FloatArray:
        """Return the density of the continuous part.

        Parameters
        ----------
        t
            A number or an array.

        Returns
        -------
        ndarray of float
            Densities.

        Examples
        --------
        >>> law.pdf([-1.0, 0.0, 1.0]).round(3).tolist()
        [0.263, 0.299, 0.155]
        """
        t = np.asarray(t, dtype=float)
        small, large = sorted((self.sd_x, self.sd_y))
        if large == 0:
            return np.zeros_like(t)
        if small == 0:
            return np.where(t < 0, _normal_pdf(t / large) / large, 0.0)
        rho = self.correlation
        if rho > MIN_PERFECT_CORRELATION:
            scale = np.where(t < 0, large, small)
            return np.asarray(_normal_pdf(t / scale) / scale)
        if rho < -MIN_PERFECT_CORRELATION:
            both = _normal_pdf(t / small) / small + _normal_pdf(t / large) / large
            return np.where(t < 0, both, 0.0)
        rest = math.sqrt(1 - rho**2)
        one, other = t / self.sd_x, t / self.sd_y
        return np.asarray(
            _normal_pdf(one) / self.sd_x * _normal_cdf((rho * one - other) / rest)
            + _normal_pdf(other) / self.sd_y * _normal_cdf((rho * other - one) / rest)
        )

    def quantile(self, q: float) -> float:
        """Return inf{t : P(min <= t) >= q}.

        Parameters
        ----------
        q
            Between 0 and 1.

        Returns
        -------
        float
            The quantile.

        Examples
        --------
        >>> round(float(law.cdf(law.quantile(0.2))), 6)
        0.2
        """
        if q <= 0:
            return -math.inf
        if q >= 1:
            return 0.0 if min(self.sd_x, self.sd_y) == 0 else math.inf
        # a variable without spread puts an atom at 0, which bisection would only approach
        if 1 - float(self.at_least(0.0)) < q <= float(self.cdf(0.0)):
            return 0.0
        # a normal tail underflows beyond 38 standard deviations
        reach = 40 * max(self.sd_x, self.sd_y)
        low, high = -reach, reach
        while low < (middle := (low + high) / 2) < high:
            if float(self.cdf(middle)) >= q:
                high = middle
            else:
                low = middle
        return high

    def sample(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw from the law.

        Parameters
        ----------
        size
            The number of draws.
        rng
            The generator of the draws.

        Returns
        -------
        ndarray of float
            (size,).

        Examples
        --------
        >>> draws = law.sample(2000, np.random.default_rng(0))
        >>> bool(abs((draws <= 0).mean() - law.cdf(0.0)) < 0.05)
        True
        """
        first, second = rng.standard_normal((2, size))
        rho = self.correlation
        other = rho * first + math.sqrt(max(0.0, 1 - rho**2)) * second
        return np.asarray(np.minimum(self.sd_x * first, self.sd_y * other))

    def _both_above(self, t: FloatArray, *, strictly: bool) -> FloatArray:
        """Return P(X > t, Y > t), or with >= in place of >.

        Degenerate cases first, where Owen's formula divides by 0: a constant, X and Y proportional
        (then the one with the larger scale is below the other left of 0 and above it right of it),
        X and Y opposed (then their minimum is never above 0). Otherwise, with h = −t/sd_x, k =
        −t/sd_y,

            P(X > t, Y > t) = ½(Φ(h) + Φ(k)) − T(h, a_h) − T(k, a_k),

        where the slants a depend on the standard deviations and the correlation only. h and k have
        the same sign, so that Owen's further term of ½ does not arise.
        """
        small, large = sorted((self.sd_x, self.sd_y))
        below_zero = t < 0 if strictly else t <= 0
        if large == 0:
            return np.where(below_zero, 1.0, 0.0)
        if small == 0:
            return np.where(below_zero, _normal_cdf(-t / large), 0.0)
        rho = self.correlation
        if rho > MIN_PERFECT_CORRELATION:
            return np.asarray(_normal_cdf(-t / np.where(t < 0, large, small)))
        if rho < -MIN_PERFECT_CORRELATION:
            apart = _normal_cdf(-t / large) - _normal_cdf(t / small)
            return np.where(t < 0, apart, 0.0)
        from scipy.special import owens_t

        # near ±1, 1 − ρ² loses digits but the product does not
        rest = math.sqrt((1 - rho) * (1 + rho))
        h, k = -t / self.sd_x, -t / self.sd_y
        slant_h = (self.sd_x / self.sd_y - rho) / rest
        slant_k = (self.sd_y / self.sd_x - rho) / rest
        halves = (_normal_cdf(h) + _normal_cdf(k)) / 2
        both = halves - owens_t(h, slant_h) - owens_t(k, slant_k)
        # far in the tail, the difference of nearly equal numbers may leave [0, 1]
        return np.asarray(np.clip(both, 0.0, 1.0))


def _normal_cdf(x: FloatArray) -> FloatArray:
    """Return Φ(x)."""
    from scipy.special import ndtr

    return np.asarray(ndtr(x))


def _normal_pdf(x: FloatArray) -> FloatArray:
    """Return the standard normal density."""
    return np.asarray(np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi))


MAX_SHIFT, MAX_SKEWNESS, MAX_KURTOSIS = 0.15, 0.35, 0.8
"""Up to these, draws count as centred normal; sampling noise is far smaller."""


@dataclass(frozen=True)
class GaussianityCheck:
    """How far bootstrap draws are from a centred normal law.

    Efron's bootstrap is consistent exactly where ψ is differentiable, and there its limit is a
    centred normal law. Other draws suggest failure; such draws do not prove success: the minimum of
    two similar normals is nearly normal except for its mean.
    """

    shift: float
    skewness: float
    excess_kurtosis: float
    looks_gaussian: bool
    words: str


def check_gaussianity(draws: FloatArray) -> GaussianityCheck:
    """Compare draws with a centred normal law by their moments, which ties do not affect."""
    mean, spread = float(np.mean(draws)), float(np.std(draws))
    if spread <= 1e-12 * max(1.0, abs(mean)):
        words = "All draws are equal: the ordinary bootstrap sees no variation at all."
        return GaussianityCheck(0.0, 0.0, 0.0, looks_gaussian=False, words=words)
    standard = (draws - mean) / spread
    shift, skewness = mean / spread, float(np.mean(standard**3))
    kurtosis = float(np.mean(standard**4)) - 3
    faults = [
        text
        for bad, text in (
            (abs(shift) > MAX_SHIFT, f"off centre by {shift:.2f} standard deviations"),
            (abs(skewness) > MAX_SKEWNESS, f"skewed ({skewness:.2f})"),
            (abs(kurtosis) > MAX_KURTOSIS, f"of excess kurtosis {kurtosis:.2f}"),
        )
        if bad
    ]
    if not faults:
        words = "The bootstrap's draws look like a centred normal law; nothing speaks against it."
    else:
        words = (
            f"The bootstrap's draws are {', '.join(faults)}, not centred normal: "
            "do not trust the ordinary bootstrap here."
        )
    return GaussianityCheck(shift, skewness, kurtosis, not faults, words)
