"""The e-value of a sample against ψ <= δ: evidence that may be multiplied."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.inference.finite.evidence import fixed_stakes
from fairtransport.inference.finite.least_wealth import log_mean
from fairtransport.inference.finite.rejection import Rejection

if TYPE_CHECKING:
    from fairtransport.inference.finite.evidence import Evidence

LEAST_LEVEL = sys.float_info.min


def log_evalue(evidence: Evidence, delta: float) -> float:
    """Return the logarithm of the wealth of a mixture of fixed stakes against ψ(f*) <= δ.

    Parameters
    ----------
    evidence
        The sample; whether its targets are fixed makes no difference here.
    delta
        The threshold, positive and below the largest gain.

    Returns
    -------
    float
        log E with E[E] <= 1 if ψ(f*) <= δ.

    Notes
    -----
    At the population's price ν the records' Y_ν are independent with mean at most δ, so each
    fixed stake λ has E Π(1 + λ(Y_ν − δ)) <= 1, and so has the mean over stakes that depend on δ
    and n alone. The least wealth over all prices is no more than that at ν. It depends on no
    order, seed or level. It grows with φ, so that it holds for ψ over all targets where those of
    the sample are fewer.
    """
    mixed = replace(evidence, fixed_targets=False)
    if mixed.budget > 0:
        # no wealth reaches the target of such a level: the least wealth itself is looked for
        return Rejection(mixed, delta).log_wealth(LEAST_LEVEL)
    counts, gains = mixed.counts[mixed.occupied], mixed.frontiers.base
    factors = 1 + np.outer(fixed_stakes(delta, mixed.n), gains - delta)
    return log_mean(np.asarray(np.log(factors) @ counts.astype(np.float64)))
