"""The follow-up's test: the mean ratio of losses after and before an attack, with a lower bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.errors import InputError

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray

DELTA = 1.25
"""The follow-up's threshold, after the four-fifths rule."""
ALPHA = 0.05


@dataclass(frozen=True)
class LossRatio:
    """What the test says of one model.

    Attributes
    ----------
    n
        The number of people.
    mean
        S, the mean ratio.
    sd
        V, the standard deviation of the ratios.
    lower_bound
        T = S − z V/√n, a bound from below of the ratio's expectation, valid as n grows.
    pvalue
        Of the hypothesis that the expectation is at most δ.
    rejected
        Whether T > δ.
    """

    n: int
    mean: float
    sd: float
    lower_bound: float
    pvalue: float
    rejected: bool


def loss_ratio_test(
    before: FloatArray, after: FloatArray, *, delta: float = DELTA, alpha: float = ALPHA
) -> LossRatio:
    """Test whether an attack multiplies losses by more than δ in expectation.

    Parameters
    ----------
    before
        Each person's loss, above 0.
    after
        Each person's loss after the attack.
    delta
        The ratio that is tolerated.
    alpha
        The level.

    Notes
    -----
    Maity, Xue, Yurochkin and Sun (2021). With rᵢ the ratio of person i, S their mean and V²
    their variance, T = S − z_{1−α} V/√n; δ-fairness is rejected if T > δ. People must be
    independent of each other, and neither the model nor the attack may depend on them; the
    ratio needs a second moment. It is asymptotic, and ratios of confident predictions can be
    very large: then n must be too.

    Examples
    --------
    >>> found = loss_ratio_test(np.array([1.0, 2.0, 1.0]), np.array([2.0, 4.0, 2.0]))
    >>> found.mean, found.lower_bound, found.rejected
    (2.0, 2.0, True)
    """
    from scipy.special import ndtr, ndtri

    before, after = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if before.ndim != 1 or before.shape != after.shape or not len(before):
        msg = (
            "`before` and `after` must be two losses a person, "
            f"got arrays of shape {before.shape} and {after.shape}"
        )
        raise InputError(msg)
    for name, losses in (("before", before), ("after", after)):
        if not np.isfinite(losses).all():
            msg = f"`{name}` must be finite numbers, got {losses[~np.isfinite(losses)][0]}"
            raise InputError(msg)
    if before.min() <= 0:
        msg = f"`before` must be above 0, for the ratio to exist, got {before.min()}"
        raise InputError(msg)
    ratios = after / before
    mean, sd, n = float(ratios.mean()), float(ratios.std()), len(ratios)
    error = sd / n**0.5
    lower_bound = mean - float(ndtri(1 - alpha)) * error
    pvalue = float(ndtr((delta - mean) / error)) if error else float(mean <= delta)
    return LossRatio(n, mean, sd, lower_bound, pvalue, lower_bound > delta)
