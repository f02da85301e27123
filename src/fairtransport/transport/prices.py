"""Moments of the net gains φ_ν at every price at which they can bend, in one sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray
    from fairtransport.transport.frontiers import Frontiers


@dataclass(frozen=True, eq=False)
class PriceSweep:
    """Weighted moments of φ_ν as functions of the price.

    Attributes
    ----------
    prices
        Falling: infinity, the slopes of the frontiers that carry weight, and 0. Between two
        neighbours every φ_ν(i) with weight is linear in ν.
    mean
        Σ_i w_i φ_ν(i) at each price.
    square
        Σ_i w_i φ_ν(i)² at each price.
    """

    prices: FloatArray
    mean: FloatArray
    square: FloatArray

    def spread(self) -> FloatArray:
        """Return the standard deviations of φ_ν; the weights are probabilities.

        Returns
        -------
        ndarray
            At each price. Differences of sums that rounding made negative count as 0.
        """
        return np.sqrt(np.maximum(self.square - self.mean**2, 0.0))


def sweep_prices(frontiers: Frontiers, weights: FloatArray) -> PriceSweep:
    """Compute the moments for weights of any sign, in one pass over the segments.

    Parameters
    ----------
    frontiers
        The segments of all points.
    weights
        (K,) frequencies, or a direction for a derivative. Points of weight 0 do not show at
        which prices they bend.

    Notes
    -----
    At price ν point i sits at the frontier corner (c_i, g_i) that its segments of slope > ν
    lead to, so φ_ν(i) = g_i − ν c_i. The sums Σ w g, Σ w c, Σ w g², Σ w gc and Σ w c² change
    only in the row of the segment that is passed.

    Examples
    --------
    >>> from fairtransport import AuditProblem
    >>> problem = AuditProblem([0.0, 1.0], [[0.0, 2.0], [2.0, 0.0]])
    >>> sweep = sweep_prices(problem.frontiers, np.array([0.5, 0.5]))
    >>> sweep.prices.tolist(), sweep.mean.tolist()
    ([inf, 0.5, 0.0], [0.0, 0.0, 0.5])
    """
    used = np.flatnonzero(weights[frontiers.row])
    w = weights[frontiers.row[used]]
    far_c, far_g = frontiers.far_cost[used], frontiers.far_gain[used]
    near_c, near_g = far_c - frontiers.cost[used], far_g - frontiers.gain[used]
    slope = frontiers.slope[used]

    def along(start: float, steps: FloatArray) -> FloatArray:
        """Return the running sum of what each passed segment changes, from a start on."""
        return np.asarray(start + np.r_[0.0, np.cumsum(w * steps)])

    base = frontiers.base_gain
    gain = along(float(weights @ base), frontiers.gain[used])
    cost = along(0.0, frontiers.cost[used])
    gain_gain = along(float(weights @ base**2), far_g**2 - near_g**2)
    gain_cost = along(0.0, far_g * far_c - near_g * near_c)
    cost_cost = along(0.0, far_c**2 - near_c**2)
    # after the first k segments the price lies between slope k − 1 and slope k: state k
    # holds at both, and at 0 after the last; price ∞ is state 0
    prices = np.r_[slope, 0.0]
    mean = gain - prices * cost
    square = gain_gain - 2 * prices * gain_cost + prices**2 * cost_cost
    return PriceSweep(np.r_[np.inf, prices], np.r_[gain[0], mean], np.r_[gain_gain[0], square])
