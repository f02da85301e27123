"""Simultaneous exact intervals for the rates of groups, their differences and their ratios.

Notes
-----
Given the sizes of the groups, the successes of each are binomial and independent. Let U be the
randomised probability transform of group g at its true rate, and N_g = Φ⁻¹(U), which is exactly
normal. The Clopper–Pearson p-values against a smaller and against a larger rate, as normal
quantiles, are at most N_g and at most −N_g. So the true rates lie in every region

    {z_g ≤ c for all g}   and   {a_g z_g + a_r z_r ≤ c for all g},   a_g² + a_r² = 1,

as soon as the independent normals N_g do, whatever the sizes and rates: c is the quantile of a
maximum of normals, as in Dunnett's procedure, and no approximation. The first part gives the rates,
and both together the differences to a reference r and the ratios: a_g is proportional to 1/√n_g,
with which the second part is a statement about the difference where both rates vary alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtransport._core.units import Units
    from fairtransport._core.validation import BoolArray, FloatArray, IntArray

CELLS = 48
"""Number of pieces of the boundary to minimise a difference on; each piece is bounded exactly."""
INTEGRATION_POINTS = 2001
TOLERANCE = 1e-5
"""Added to the quantile for the error of the integral."""


@dataclass(frozen=True, eq=False)
class RateIntervals:
    """Joint ends by group; NaN for the reference, inf for a ratio without an upper end."""

    lower: FloatArray
    upper: FloatArray
    difference_lower: FloatArray
    difference_upper: FloatArray
    ratio_lower: FloatArray
    ratio_upper: FloatArray


def rate_intervals(
    successes: IntArray, sizes: IntArray, reference: int, alpha: float, *, is_fixed: bool = True
) -> RateIntervals:
    """Return intervals for all rates, differences and ratios, jointly at level 1 − α.

    ``is_fixed``: the reference does not depend on the successes. Otherwise differences and ratios
    follow from the intervals of the rates only, which hold for every choice of it.
    """
    others = np.arange(len(sizes)) != reference
    weights = _contrast_weights(sizes, reference)[others] if is_fixed else None
    limit = critical_value(len(sizes), weights, alpha)
    pairs = (successes[others], sizes[others]), (successes[reference], sizes[reference])
    ends = np.full((4, len(sizes)), np.nan)
    if others.any():
        own = None if weights is None else weights[:, :1]
        other = None if weights is None else weights[:, 1:]
        below = _minimise(*pairs, own, other, limit)
        above = _minimise(*pairs[::-1], other, own, limit)
        with np.errstate(divide="ignore"):
            ends[:, others] = below[0], -above[0], below[1], 1 / above[1]
    return RateIntervals(
        _lower(successes, sizes, limit), _upper(successes, sizes, limit), *ends
    )  # fmt: skip


def unit_rate_intervals(
    units: Units, is_hit: BoolArray, members: list[BoolArray], reference: int, alpha: float,
    rng: int,
) -> RateIntervals:  # fmt: skip
    """Return intervals for the rates of groups whose people belong to units, jointly at 1 − α.

    A unit can have people of several groups, so that groups are not independent: each interval has
    its share of α, and differences and ratios follow from those of the rates.
    """
    from fairtransport.inference.methods import unit_share_interval

    level = alpha / len(members)
    lower, upper = np.array(
        [unit_share_interval(units.among(inside), is_hit, level, rng) for inside in members]
    ).T
    ends = np.full((4, len(members)), np.nan)
    others = np.arange(len(members)) != reference
    with np.errstate(divide="ignore", invalid="ignore"):
        ends[:, others] = np.array([
            lower - upper[reference], upper - lower[reference], lower / upper[reference],
            upper / lower[reference],
        ])[:, others]  # fmt: skip
    return RateIntervals(lower, upper, *ends)


def critical_value(groups: int, weights: FloatArray | None, alpha: float) -> float:
    """Return c with P(all |N_g| ≤ c and all |a_g N_g − a_r N_r| ≤ c) = 1 − α."""
    from scipy.special import ndtri

    # independent groups: Šidák's level is exact
    plain = -float(ndtri(-math.expm1(math.log1p(-alpha) / groups) / 2))
    if weights is None or not len(weights):
        return plain
    low, high = plain, -float(ndtri(alpha / (2 * (groups + len(weights))))) + TOLERANCE
    while high - low > TOLERANCE:
        middle = (low + high) / 2
        is_enough = _joint_chance(middle, weights) >= 1 - alpha
        low, high = (low, middle) if is_enough else (middle, high)
    return high + TOLERANCE


def _joint_chance(limit: float, weights: FloatArray) -> float:
    """Return the probability that all normals and contrasts are within a limit."""
    from scipy.special import ndtr

    x = np.linspace(0.0, limit, INTEGRATION_POINTS)
    own, other = weights[:, :1], weights[:, 1:]
    # at x >= 0 the upper limit of N_g is c itself
    least = np.maximum(-limit, (other * x - limit) / own)
    inside = np.prod(ndtr(limit) - ndtr(least), axis=0)
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    return float(2 * np.trapezoid(density * inside, x))


def _contrast_weights(sizes: IntArray, reference: int) -> FloatArray:
    """Return a_g and a_r of each group."""
    spread = 1 / np.sqrt(sizes)
    norm = np.hypot(spread, spread[reference])
    return np.column_stack([spread / norm, spread[reference] / norm])


def _minimise(
    first: tuple[IntArray, IntArray], second: tuple[IntArray, IntArray],
    own: FloatArray | None, other: FloatArray | None, limit: float,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Return the least difference and the least ratio of two rates in the joint region.

    The boundary is split into pieces. On a piece the distance of the rates is bounded by its two
    ends, so that the minimum is never overestimated.
    """
    if own is None or other is None:
        first_z = second_z = np.array([[limit]])
    else:
        start = limit * (1 - other) / own
        z = start + (limit - start) * np.linspace(0.0, 1.0, CELLS + 1)
        first_z, second_z = z[:, 1:], ((limit - own * z) / other)[:, :-1]
    low = _lower(first[0][..., None], first[1][..., None], first_z)
    high = _upper(second[0][..., None], second[1][..., None], second_z)
    return (low - high).min(axis=-1), (low / high).min(axis=-1)


def _lower(successes: IntArray, sizes: IntArray, z: FloatArray | float) -> FloatArray:
    """Return exact lower bounds at the level of a normal quantile."""
    from scipy.special import betaincinv, ndtr

    is_none: BoolArray = successes == 0
    least = betaincinv(np.maximum(successes, 1), sizes - successes + 1, ndtr(-np.asarray(z)))
    return np.where(is_none, 0.0, least)


def _upper(successes: IntArray, sizes: IntArray, z: FloatArray | float) -> FloatArray:
    """Return exact upper bounds at the level of a normal quantile."""
    return 1 - _lower(sizes - successes, sizes, z)
