"""The paper's check of the ordinary bootstrap: whether its law is a centred normal one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray

MOST_SHIFT, MOST_SKEWNESS, MOST_KURTOSIS = 0.15, 0.35, 0.8
"""Up to here draws pass for centred normal ones; sampling noise stays well inside."""


@dataclass(frozen=True)
class GaussianityCheck:
    """How far bootstrap draws are from a centred normal law.

    Attributes
    ----------
    shift
        Mean over standard deviation; 0 for a centred law.
    skewness, excess_kurtosis
        Third and fourth standardised moments; 0 for a normal law.
    looks_gaussian
        Whether all of them are small.
    words
        What that means for the bootstrap.

    Notes
    -----
    Efron's bootstrap is consistent exactly where ψ is differentiable, and there its limit is a
    centred normal law. Draws that are not suggest failure; draws that are do not prove
    success: the minimum of two like normals is nearly normal but for its mean.
    """

    shift: float
    skewness: float
    excess_kurtosis: float
    looks_gaussian: bool
    words: str


def check_gaussianity(draws: FloatArray) -> GaussianityCheck:
    """Compare draws with a centred normal law by their moments, which ties do not disturb.

    Parameters
    ----------
    draws
        Draws of √n(ψ(f*_n) − ψ(f_n)) of Efron's bootstrap.

    Returns
    -------
    GaussianityCheck
        Draws that are all equal pass for no law at all.

    Examples
    --------
    >>> normal = np.random.default_rng(0).standard_normal(4000)
    >>> check_gaussianity(normal).looks_gaussian
    True
    >>> check_gaussianity(np.minimum(normal, 0.0)).looks_gaussian
    False
    """
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
            (abs(shift) > MOST_SHIFT, f"off centre by {shift:.2f} standard deviations"),
            (abs(skewness) > MOST_SKEWNESS, f"skewed ({skewness:.2f})"),
            (abs(kurtosis) > MOST_KURTOSIS, f"of excess kurtosis {kurtosis:.2f}"),
        )
        if bad
    ]
    if not faults:
        words = "The bootstrap's draws look like a centred normal law; nothing speaks against it."
    else:
        words = (
            f"The bootstrap's draws are {', '.join(faults)}, not centred normal: "
            "the ordinary bootstrap is not to be trusted here."
        )
    return GaussianityCheck(shift, skewness, kurtosis, not faults, words)
