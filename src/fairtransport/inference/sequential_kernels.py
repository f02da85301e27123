"""Compiled bets of the e-processes: fixed stakes on successive records."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray, IntArray

FOLD = 32
"""Records after which products move into logarithms."""


@njit(cache=True)
def advance(
    values: FloatArray, n: int, intercept: FloatArray, slope: FloatArray, log_wealth: FloatArray,
    product: FloatArray, threshold: FloatArray, weight: FloatArray, level: FloatArray,
    crossed: IntArray,
) -> None:  # fmt: skip
    """Bet on successive records and note when a mixture first reaches its threshold.

    ``weight`` and ``level`` are filled by `weigh`; they change at folds only.
    """
    stakes, columns = slope.shape
    total = np.empty(columns)
    for t in range(len(values)):
        value = values[t]
        n += 1
        for c in range(columns):
            total[c] = 0.0
        for j in range(stakes):
            # separate rows, so that the compiler sees plain vectors
            wealth, share, start, rise = product[j], weight[j], intercept[j], slope[j]
            for c in range(columns):
                wealth[c] *= start[c] + rise[c] * value
                total[c] += share[c] * wealth[c]
        for c in range(columns):
            # in units of the column's largest wealth at the last fold, without an exponential per
            # record
            if total[c] >= level[c] and crossed[c] == 0:
                # what was ever reached stays reached: Ville's inequality is about the whole path
                crossed[c] = n
        # at fixed record numbers, so that batches of records do not change any bit
        if n % FOLD == 0:
            for j in range(stakes):
                for c in range(columns):
                    log_wealth[j, c] += math.log(product[j, c])
                    product[j, c] = 1.0
            weigh(log_wealth, threshold, weight, level)


@njit(cache=True)
def weigh(
    log_wealth: FloatArray, threshold: FloatArray, weight: FloatArray, level: FloatArray
) -> None:
    """Fill the mixture's weights and its threshold, both relative to the largest wealth.

    Between two folds the loop over records needs no exponential: mean wealth >= exp(threshold)
    is Σ weight · product >= level. The clamp at 700 keeps the threshold of a hopeless column
    finite; no sum reaches it.
    """
    stakes, columns = log_wealth.shape
    for c in range(columns):
        top = -np.inf
        for j in range(stakes):
            top = max(top, log_wealth[j, c])
        # wealth far below its threshold would overflow here; e⁷⁰⁰ cannot be reached within a fold
        level[c] = math.exp(min(threshold[c] - top, 700.0))
        for j in range(stakes):
            weight[j, c] = math.exp(log_wealth[j, c] - top) / stakes


@njit(cache=True)
def revise(
    old: FloatArray, new: FloatArray, counts: FloatArray, intercept: FloatArray,
    slope: FloatArray, log_wealth: FloatArray,
) -> None:  # fmt: skip
    """Replace the outcomes of earlier records: ``counts`` of them go from ``old`` to ``new``.

    A wealth of fixed stakes is a product over records in any order, so that factors can be
    exchanged.
    """
    stakes, columns = slope.shape
    for j in range(stakes):
        for c in range(columns):
            a, s = intercept[j, c], slope[j, c]
            for k in range(len(counts)):
                log_wealth[j, c] += counts[k] * (
                    math.log(a + s * new[k]) - math.log(a + s * old[k])
                )
