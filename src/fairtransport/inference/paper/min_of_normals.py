"""The law of the minimum of two correlated centred normals, in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray

ALMOST_ONE = 1 - 1e-12
"""Correlations beyond this are taken to be ±1."""


@dataclass(frozen=True)
class MinOfNormals:
    """The law of min(X, Y) for centred, jointly normal X and Y.

    Parameters
    ----------
    sd_x, sd_y
        Standard deviations; 0 makes that variable the constant 0.
    correlation
        Between X and Y; without meaning where a standard deviation is 0.

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
        """Whether X and Y are the same variable, so that their minimum is normal.

        Returns
        -------
        bool

        Examples
        --------
        >>> law.is_gaussian, ft.inference.MinOfNormals(1.0, 1.0).is_gaussian
        (False, True)
        """
        return self.sd_x == self.sd_y and (self.sd_x == 0 or self.correlation > ALMOST_ONE)

    def cdf(self, t: object) -> FloatArray:
        """Return P(min <= t).

        Parameters
        ----------
        t
            A number or an array.

        Returns
        -------
        ndarray of float
            Probabilities.

        Examples
        --------
        >>> law.cdf([-1.0, 0.0, 1.0]).round(3).tolist()
        [0.37, 0.667, 0.903]
        """
        t = np.asarray(t, dtype=float)
        return np.asarray(1.0 - self._both_above(t, strictly=True))

    def at_least(self, t: object) -> FloatArray:
        """Return P(min >= t), which exceeds 1 − cdf(t) at the atom 0 only.

        Parameters
        ----------
        t
            A number or an array.

        Returns
        -------
        ndarray of float
            Probabilities.

        Examples
        --------
        >>> law.at_least([-1.0, 0.0, 1.0]).round(3).tolist()
        [0.63, 0.333, 0.097]
        """
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
        if rho > ALMOST_ONE:
            scale = np.where(t < 0, large, small)
            return np.asarray(_normal_pdf(t / scale) / scale)
        if rho < -ALMOST_ONE:
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
            A number.

        Examples
        --------
        >>> round(float(law.cdf(law.quantile(0.2))), 6)
        0.2
        """
        if q <= 0:
            return -math.inf
        if q >= 1:
            return 0.0 if min(self.sd_x, self.sd_y) == 0 else math.inf
        # a variable without spread puts an atom at 0, which bisection would only come near to
        if 1 - float(self.at_least(0.0)) < q <= float(self.cdf(0.0)):
            return 0.0
        # beyond 38 standard deviations a normal tail is no float any more
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
            How many draws.
        rng
            Draws them.

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

        Parameters
        ----------
        t
            Any shape.
        strictly
            Which of the two; they differ at t = 0 where a variable is the constant 0.

        Notes
        -----
        Degenerate cases first, where Owen's formula divides by 0: a constant, X and Y proportional
        (then the one with the larger scale is below the other left of 0 and above it right of it),
        X and Y opposed (then their minimum is never above 0). Otherwise, with h = −t/sd_x, k =
        −t/sd_y,

            P(X > t, Y > t) = ½(Φ(h) + Φ(k)) − T(h, a_h) − T(k, a_k),

        where the slants a depend on the standard deviations and the correlation alone. h and k have
        the same sign, so that Owen's further term of ½ does not arise.
        """
        small, large = sorted((self.sd_x, self.sd_y))
        below_zero = t < 0 if strictly else t <= 0
        if large == 0:
            return np.where(below_zero, 1.0, 0.0)
        if small == 0:
            return np.where(below_zero, _normal_cdf(-t / large), 0.0)
        rho = self.correlation
        if rho > ALMOST_ONE:
            return np.asarray(_normal_cdf(-t / np.where(t < 0, large, small)))
        if rho < -ALMOST_ONE:
            apart = _normal_cdf(-t / large) - _normal_cdf(t / small)
            return np.where(t < 0, apart, 0.0)
        from scipy.special import owens_t

        # 1 − ρ² loses its digits near ±1, the product does not
        rest = math.sqrt((1 - rho) * (1 + rho))
        h, k = -t / self.sd_x, -t / self.sd_y
        slant_h = (self.sd_x / self.sd_y - rho) / rest
        slant_k = (self.sd_y / self.sd_x - rho) / rest
        halves = (_normal_cdf(h) + _normal_cdf(k)) / 2
        both = halves - owens_t(h, slant_h) - owens_t(k, slant_k)
        # a difference of nearly equal numbers far in the tail
        return np.asarray(np.clip(both, 0.0, 1.0))


def _normal_cdf(x: FloatArray) -> FloatArray:
    """Return Φ(x)."""
    from scipy.special import ndtr

    return np.asarray(ndtr(x))


def _normal_pdf(x: FloatArray) -> FloatArray:
    """Return the standard normal density."""
    return np.asarray(np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi))
