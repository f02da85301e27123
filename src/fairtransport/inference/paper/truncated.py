"""Frequencies f_n + ϵZ of the numerical derivative method, truncated to be non-negative."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.errors import InputError

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray

PILOT = 2_000
"""Proposals that tell whether rejection is cheap."""
CHEAP = 0.05
"""Acceptance rate from which plain rejection is used."""
MOST_ENTRIES = 500_000_000
"""Entries of all draws together, which are kept: 4 GB."""
MOST_NORMALS = 20_000_000_000
"""Normal draws beyond which the method is refused instead of running for hours."""
PIECE = 4_000_000
"""Entries of a block of proposals."""


@dataclass(frozen=True, eq=False)
class TruncatedDraws:
    """Draws of f_n + ϵZ >= 0 and how they were had.

    Attributes
    ----------
    frequencies
        One draw a row.
    acceptance
        The share of Algorithm 2's own proposals Z that are non-negative, from a pilot.
    exact
        Whether the exact sampler was used in place of rejection.
    """

    frequencies: FloatArray
    acceptance: float
    exact: bool


def draw_truncated(
    f: FloatArray, step: float, many: int, rng: np.random.Generator
) -> TruncatedDraws:
    """Draw f + ϵZ, Z ~ N(0, Σ(f)), conditioned on being non-negative.

    Parameters
    ----------
    f
        The sample's frequencies f_n.
    step
        ϵ, not the budget ε: n^(−1/4) unless told.
    many
        How many draws.
    rng
        Draws.

    Raises
    ------
    InputError
        If the draws would fill the memory, or hardly any proposal is accepted.

    Notes
    -----
    Algorithm 2 of the paper redraws Z until f + ϵZ >= 0, without a limit; with many points
    that never happens. The law it aims at is that of independent N(f_i, ϵ²f_i) conditioned on
    being non-negative and on summing to 1, for which `_exact` is a sampler.
    Empty cells stay empty.

    Examples
    --------
    >>> drawn = draw_truncated(np.array([0.7, 0.3, 0.0]), 0.1, 5, np.random.default_rng(0))
    >>> bool((drawn.frequencies >= 0).all()), drawn.frequencies[:, 2].tolist()
    (True, [0.0, 0.0, 0.0, 0.0, 0.0])
    """
    if many * len(f) > MOST_ENTRIES:
        msg = (
            f"`n_resamples` must be at most {MOST_ENTRIES // len(f):,} for the method 'numerical' "
            f"at {len(f):,} points, got {many:,}"
        )
        raise InputError(msg)
    cells = np.flatnonzero(f)
    pilot = _proposals(f[cells], step, PILOT, rng)
    good = pilot[(pilot >= 0).all(axis=1)]
    acceptance = len(good) / PILOT
    # both samplers have the same law; which is used decides nothing but time
    exact = acceptance < CHEAP
    draws = (
        _exact(f[cells], step, many, rng)
        if exact
        else _rejection(f[cells], step, many, good[:many], rng)
    )
    frequencies = np.zeros((many, len(f)))
    frequencies[:, cells] = draws
    return TruncatedDraws(frequencies, acceptance, exact)


def _proposals(f: FloatArray, step: float, many: int, rng: np.random.Generator) -> FloatArray:
    """Draw f + ϵZ as Algorithm 2 does, without looking whether it is non-negative.

    Parameters
    ----------
    f
        Positive frequencies.
    step, many, rng
        As in `draw_truncated`.
    """
    # √f·G − f·Σ√f·G has covariance Σ(f), and sums to zero up to rounding
    scaled = rng.standard_normal((many, len(f))) * np.sqrt(f)
    return np.asarray(f + step * (scaled - f * scaled.sum(axis=1, keepdims=True)))


def _rejection(
    f: FloatArray, step: float, many: int, first: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Draw by Algorithm 2 itself: proposals until enough are non-negative.

    Parameters
    ----------
    f, step, many, rng
        As in `_proposals`.
    first
        What the pilot gave already.
    """
    kept, have = [first], len(first)
    while have < many:
        proposals = _proposals(f, step, PILOT, rng)
        good = proposals[(proposals >= 0).all(axis=1)]
        kept.append(good)
        have += len(good)
    return np.concatenate(kept)[:many]


def _exact(f: FloatArray, step: float, many: int, rng: np.random.Generator) -> FloatArray:
    """Draw independent truncated normals, then accept by the density of what is left over.

    Adding the same multiple of f to all means does not change the law given the sum, so the
    means a·f are tilted until the truncated cells sum to 1 on average. All cells but the
    largest are drawn; the largest takes the rest, accepted in proportion to its density.

    Parameters
    ----------
    f
        Positive frequencies.
    step, many, rng
        As in `draw_truncated`.

    Raises
    ------
    InputError
        If ``MOST_NORMALS`` draws do not give half of what is asked for.

    Notes
    -----
    The density of N(a·f_i, ϵ²f_i) is that of N(f_i, ϵ²f_i) times exp((a − 1)x_i/ϵ²) up to a
    constant: given Σ x_i = 1 the tilt is a constant. The largest cell has the widest density, so
    that giving it the rest rejects least.
    """
    from scipy.special import ndtr, ndtri

    spread = step * np.sqrt(f)
    mean = _tilt(f, spread) * f
    last = int(np.argmax(f))
    others = np.delete(np.arange(len(f)), last)
    # P(cell >= 0), the part of the uniform numbers that is kept
    reach = ndtr(mean[others] / spread[others])
    peak = max(mean[last], 0.0)
    kept, have, tried = [], 0, 0
    rows = max(100, PIECE // len(f))
    while have < many:
        tried += rows
        if tried * len(f) > MOST_NORMALS and have < many / 2:
            msg = (
                f"`method` 'numerical' accepts {have} of {tried} draws at {len(f)} points, too few "
                "to finish; 'm-out-of-n' estimates the same law"
            )
            raise InputError(msg)
        # the upper tail by symmetry: a normal above 0, by inversion
        part = mean[others] - spread[others] * ndtri(rng.random((rows, len(others))) * reach)
        # inversion at the very end of the tail may round to a little below 0
        part = np.maximum(part, 0.0)
        rest = 1 - part.sum(axis=1)
        # the density of the rest over the largest that it has on [0, ∞): at its mean, or at 0
        log_ratio = ((peak - mean[last]) ** 2 - (rest - mean[last]) ** 2) / (2 * spread[last] ** 2)
        good = (rest >= 0) & (np.log(rng.random(rows)) < log_ratio)
        draws = np.empty((int(good.sum()), len(f)))
        draws[:, others], draws[:, last] = part[good], rest[good]
        kept.append(draws)
        have += len(draws)
    return np.concatenate(kept)[:many]


def _tilt(f: FloatArray, spread: FloatArray) -> float:
    """Return a such that normals N(a·f_i, spread_i²) above 0 have means that sum to 1.

    Parameters
    ----------
    f, spread
        Frequencies and standard deviations, positive.

    Returns
    -------
    float
        At most 1: truncation raises means, so that they have to be lowered.

    Examples
    --------
    Without truncation to speak of there is nothing to tilt.

    >>> f = np.array([0.5, 0.5])
    >>> round(_tilt(f, 0.01 * np.sqrt(f)), 6)
    1.0
    """
    from scipy.special import log_ndtr

    def total(a: float) -> float:
        """Return the sum of the truncated means at a tilt; it rises with it."""
        z = a * f / spread
        # pdf/cdf by logarithms: far in the tail both underflow, their ratio does not
        hazard = np.exp(-(z**2) / 2 - log_ndtr(z)) / math.sqrt(2 * math.pi)
        return float(np.sum(a * f + spread * hazard))

    low, high = -1.0, 1.0
    # the tilt may be far below 0 where many small cells are cut off at 0
    while total(low) > 1:
        low *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if total(middle) > 1 else (middle, high)
    return high
