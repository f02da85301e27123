"""E-processes: evidence about ψ(f*) that may be looked at after every record.

A wealth that is multiplied by 1 + λ(Y − δ) for every record, with 0 <= λ < 1/δ fixed beforehand,
has mean at most 1 at every time if E Y <= δ, and so has a mixture of such wealths. By Ville's
inequality it *ever* reaches 1/α with probability at most α.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray

CAP = 0.9
"""Largest share of wealth that one record can lose."""
FRACTIONS = CAP * 0.5 ** np.arange(16)
"""Stakes as shares of the largest possible one; the smallest serves samples of about 10⁸."""
MOST_FACTOR = 1e4
"""No record multiplies wealth by more: 32 of these do not overflow."""
FOLD = 32
"""Records after which products move into logarithms."""
GRID = 200
"""Steps of the confidence sequence's grid."""


def threshold_grid(most_gain: float) -> FloatArray:
    """Return the δ that the confidence sequence decides about, equally spaced in √δ.

    Parameters
    ----------
    most_gain
        The largest gain there can be.

    Returns
    -------
    ndarray
        199 rising thresholds, none of them 0 or the largest gain.

    Examples
    --------
    >>> threshold_grid(1.0)[[0, 99, -1]].round(4).tolist()
    [0.0, 0.25, 0.99]
    """
    return most_gain * (np.arange(1, GRID) / GRID) ** 2


@njit(cache=True)
def advance(
    values: FloatArray, n: int, intercept: FloatArray, slope: FloatArray, log_wealth: FloatArray,
    product: FloatArray, threshold: FloatArray, crossed: IntArray,
) -> None:  # fmt: skip
    """Bet on records one by one and note when a mixture first reaches its threshold.

    Parameters
    ----------
    values
        The records' outcomes Y.
    n
        How many records came before.
    intercept, slope
        (stakes, columns): a record multiplies wealth by intercept + slope · Y.
    log_wealth, product
        (stakes, columns): wealth is exp(log_wealth) · product; updated.
    threshold, crossed
        (columns,) the logarithm to reach, and the first record at which it was, or 0; updated.
    """
    stakes, columns = slope.shape
    weight = np.empty((stakes, columns))
    level, total = np.empty(columns), np.empty(columns)
    _weigh(log_wealth, threshold, weight, level)
    for t in range(len(values)):
        value = values[t]
        n += 1
        for c in range(columns):
            total[c] = 0.0
        for j in range(stakes):
            # rows of their own, so that the compiler sees plain vectors
            wealth, share, start, rise = product[j], weight[j], intercept[j], slope[j]
            for c in range(columns):
                wealth[c] *= start[c] + rise[c] * value
                total[c] += share[c] * wealth[c]
        for c in range(columns):
            # compared in units of the column's largest wealth at the last fold: no exponential a
            # record
            if total[c] >= level[c] and crossed[c] == 0:
                # what was ever reached stays reached: Ville's inequality is about the whole path
                crossed[c] = n
        # at fixed record numbers, so that the way records are batched changes no bit
        if n % FOLD == 0:
            for j in range(stakes):
                for c in range(columns):
                    log_wealth[j, c] += math.log(product[j, c])
                    product[j, c] = 1.0
            _weigh(log_wealth, threshold, weight, level)


@njit(cache=True)
def _weigh(
    log_wealth: FloatArray, threshold: FloatArray, weight: FloatArray, level: FloatArray
) -> None:
    """Fill the mixture's weights and its threshold, both relative to the largest wealth.

    Parameters
    ----------
    log_wealth
        (stakes, columns).
    threshold
        By column: the logarithm to reach.
    weight
        (stakes, columns), filled: each stake's wealth over the column's largest, as its part
        of an equal mixture.
    level
        By column, filled: what the weighted sum of products has to reach.

    Notes
    -----
    Between two folds the loop over records needs no exponential: mean wealth >= exp(threshold)
    is Σ weight · product >= level. The clamp at 700 keeps the threshold of a hopeless column a
    number; no sum reaches it.
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

    Parameters
    ----------
    old, new
        The outcomes before and after.
    counts
        How many records had each.
    intercept, slope
        (stakes, columns): a record multiplies wealth by intercept + slope · Y.
    log_wealth
        (stakes, columns), changed in place.

    Notes
    -----
    A wealth of fixed stakes is a product over records in any order, so that a factor can be
    taken out and another put in.
    """
    stakes, columns = slope.shape
    for j in range(stakes):
        for c in range(columns):
            a, s = intercept[j, c], slope[j, c]
            for k in range(len(counts)):
                log_wealth[j, c] += counts[k] * (
                    math.log(a + s * new[k]) - math.log(a + s * old[k])
                )


class Bets:
    """Many mixtures of fixed stakes on the same records, one a column.

    Parameters
    ----------
    deltas
        (columns,) the thresholds δ.
    signs
        (columns,) +1: against ψ <= δ; −1: against ψ >= δ.
    levels
        (columns,) the error probabilities α.
    most_gain
        The largest gain there can be, known before the data.
    kept
        (columns,) which go on after they reached 1/α, since their wealth is reported.

    Notes
    -----
    Against ψ <= δ the stakes are λ = x/δ with x in `FRACTIONS`, against ψ >= δ they are
    x/(T − δ), where T is the largest possible outcome. So each factor is monotone in δ, and of
    the thresholds on a grid a beginning (or an end) is rejected.
    """

    def __init__(
        self, deltas: FloatArray, signs: FloatArray, levels: FloatArray, most_gain: float,
        kept: FloatArray,
    ) -> None:  # fmt: skip
        self.deltas, self.signs, self.most_gain = deltas, signs, most_gain
        self.kept = kept.astype(bool)
        self.threshold: FloatArray = -np.log(levels)
        self.n = 0
        self.log_wealth: FloatArray = np.zeros((len(FRACTIONS), len(deltas)))
        self.product: FloatArray = np.ones_like(self.log_wealth)
        self.crossed: IntArray = np.zeros(len(deltas), np.int64)

    def take(self, values: FloatArray, top: float | None = None) -> None:
        """Bet on records with outcomes ``values`` <= ``top`` (default: the largest gain).

        Parameters
        ----------
        values
            The outcomes Y, in the order in which records came.
        top
            The largest that they can be, known before them. Stakes against ψ >= δ depend on it.
        """
        columns = self._open
        part = (self.log_wealth[:, columns], self.product[:, columns], self.crossed[columns])
        advance(
            np.ascontiguousarray(values, np.float64), self.n, *self._factors(columns, top),
            part[0], part[1], self.threshold[columns], part[2],
        )  # fmt: skip
        self.log_wealth[:, columns], self.product[:, columns], self.crossed[columns] = part
        self.n += len(values)

    def skip(self, records: int) -> None:
        """Let records pass without a bet on them.

        Parameters
        ----------
        records
            How many; the times at which thresholds are crossed count them too.
        """
        self.n += records

    def revise(self, old: FloatArray, new: FloatArray, counts: IntArray) -> None:
        """Replace the outcomes of earlier records; they may only grow.

        Parameters
        ----------
        old, new
            What the outcomes were and what they are since a new target was seen, new >= old.
        counts
            How many records had each.

        Notes
        -----
        Outcomes that grow are those of targets taken from the sample: what was bet on so far was
        too small. The wealth that results is at most that of the whole space's outcomes, at every
        time. Crossings are not looked for here; the next record's are.
        """
        columns = self._open
        part = self.log_wealth[:, columns]
        revise(old, new, counts.astype(np.float64), *self._factors(columns, None), part)
        self.log_wealth[:, columns] = part

    def log_mixture(self, column: int) -> float:
        """Return the logarithm of a column's wealth.

        Parameters
        ----------
        column
            Which threshold and side; one that is ``kept``, or wealth stands still after a crossing.
        """
        logs = self.log_wealth[:, column] + np.log(self.product[:, column])
        top = float(np.max(logs))
        return top + math.log(float(np.mean(np.exp(logs - top))))

    @property
    def _open(self) -> IntArray:
        """The columns that are still bet on: not decided, or kept because they are reported."""
        return np.flatnonzero((self.crossed == 0) | self.kept)

    def _factors(self, columns: IntArray, top: float | None) -> tuple[FloatArray, FloatArray]:
        """Return intercepts and slopes of the factors as functions of the outcome.

        Parameters
        ----------
        columns
            Which columns.
        top
            The largest outcome, if it is not the largest gain.

        Returns
        -------
        intercept, slope
            (stakes, columns): 1 + λ(Y − δ) or 1 − λ(Y − δ), written as intercept + slope · Y.
        """
        deltas, signs = self.deltas[columns], self.signs[columns]
        highest = self.most_gain if top is None else top
        # the most a record can lose a unit of stake: Y >= 0 against ψ <= δ, Y <= top against ψ >= δ
        room = np.where(signs > 0, deltas, highest - deltas)
        slope = signs * stakes_for(room, self.most_gain)
        return 1 - slope * deltas, slope

    def as_json(self) -> dict[str, Any]:
        """Return the wealths; arrays in base64, so that not a bit is lost.

        Notes
        -----
        Thresholds, sides and levels are not part of it: they follow from the settings, which the
        state file keeps. The product since the last fold is, so that a run that is taken up again
        folds where the first one would have.
        """
        return {
            "n": self.n,
            "log_wealth": _packed(self.log_wealth),
            "product": _packed(self.product),
            "crossed": self.crossed.tolist(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Take over what `as_json` returned.

        Parameters
        ----------
        saved
            Of bets with the same thresholds; shapes must agree.
        """
        self.n = int(saved["n"])
        self.log_wealth = _unpacked(saved["log_wealth"], self.log_wealth.shape)
        self.product = _unpacked(saved["product"], self.product.shape)
        self.crossed = np.array(saved["crossed"], np.int64)


def stakes_for(room: FloatArray, most_gain: float) -> FloatArray:
    """Return (stakes, columns) the stakes λ where a record can lose ``room`` per unit of λ.

    Parameters
    ----------
    room
        By column: the largest loss of a record for a stake of 1: δ, or T − δ.
    most_gain
        The largest gain, which limits how much one record can win.

    Returns
    -------
    ndarray
        ``FRACTIONS`` of 1/room, so that a record loses at most 90 % of a wealth; cut where a
        record could multiply wealth by more than ``MOST_FACTOR``.

    Examples
    --------
    >>> stakes = stakes_for(np.array([0.5]), most_gain=1.0)[:, 0]
    >>> len(stakes), float(stakes[0]), float(stakes[1])
    (16, 1.8, 0.9)
    """
    # a threshold at the largest outcome leaves no room: the stake is endless, and the second limit
    # below takes over
    shares = FRACTIONS[:, None] / np.maximum(room, 1e-300)[None, :]
    return np.asarray(np.minimum(shares, MOST_FACTOR / most_gain))


def grid_bets(
    delta: float, alpha: float, most_gain: float, *, lower: bool = True, upper: bool = True
) -> Bets:
    """Return the bets behind a confidence sequence at α/2 a side and a verdict at α a side.

    Columns: the grid against ψ <= δ, δ itself against ψ <= δ, then both against ψ >= δ.

    Parameters
    ----------
    delta, alpha
        The threshold and the level of the verdict.
    most_gain
        The largest gain there can be, known before the data.
    lower, upper
        Which sides are wanted; columns of the other are left out.
    """
    grid = np.r_[threshold_grid(most_gain), delta]
    sides = [sign for sign, wanted in ((1.0, lower), (-1.0, upper)) if wanted]
    one = np.r_[np.full(len(grid) - 1, alpha / 2), alpha]
    kept = np.r_[np.zeros(len(grid) - 1), 1.0]
    return Bets(
        np.tile(grid, len(sides)), np.repeat(sides, len(grid)), np.tile(one, len(sides)),
        most_gain, np.tile(kept, len(sides)),
    )  # fmt: skip


def verdict_bets(delta: float, alpha: float, most_gain: float) -> Bets:
    """Return the bets behind a verdict alone: against ψ <= δ, then against ψ >= δ, at α each.

    Parameters
    ----------
    delta, alpha
        The threshold and the level.
    most_gain
        The largest gain there can be, known before the data.

    Examples
    --------
    Two hundred people who gain nothing certify δ = .05, and cannot reject it.

    >>> bets = verdict_bets(0.05, 0.05, 1.0)
    >>> bets.take(np.zeros(200))
    >>> int(bets.crossed[0]), 0 < int(bets.crossed[1]) < 200
    (0, True)
    """
    both = np.ones(2)
    return Bets(delta * both, np.array([1.0, -1.0]), alpha * both, most_gain, both)


class FreeMoves:
    """The e-processes where moves are free or the budget is 0, so that ψ(f*) = E b.

    Every record is a look.

    Parameters
    ----------
    delta, alpha
        The threshold and the level of the verdict.
    most_gain
        The largest gain there can be, known before the data.
    fixed_targets
        Whether gains do not depend on the sample; without, nothing can be certified.
    """

    def __init__(
        self, delta: float, alpha: float, most_gain: float, *, fixed_targets: bool
    ) -> None:
        self.most_gain, self.fixed_targets = most_gain, fixed_targets
        self.bets = grid_bets(delta, alpha, most_gain, upper=fixed_targets)

    @property
    def n(self) -> int:
        """How many records were taken in."""
        return self.bets.n

    @property
    def log_e_value(self) -> float:
        """The log-wealth against ψ <= δ."""
        return self.bets.log_mixture(GRID - 1)

    @property
    def log_e_value_certificate(self) -> float | None:
        """The log-wealth against ψ >= δ; None where nothing can be certified."""
        return self.bets.log_mixture(2 * GRID - 1) if self.fixed_targets else None

    @property
    def rejected_at(self) -> int:
        """The first record at which ψ <= δ was rejected; 0: never."""
        return int(self.bets.crossed[GRID - 1])

    @property
    def certified_at(self) -> int:
        """The first record at which ψ >= δ was rejected; 0: never."""
        return int(self.bets.crossed[2 * GRID - 1]) if self.fixed_targets else 0

    @property
    def lower(self) -> float:
        """The running lower limit of ψ(f*)."""
        return lower_limit(self.bets.crossed[: GRID - 1], self.most_gain)

    @property
    def upper(self) -> float | None:
        """The running upper limit of ψ(f*)."""
        if not self.fixed_targets:
            return None
        return upper_limit(self.bets.crossed[GRID : 2 * GRID - 1], self.most_gain)


def lower_limit(crossed: IntArray, most_gain: float) -> float:
    """Return the largest δ of the grid up to which all are rejected.

    Parameters
    ----------
    crossed
        By threshold of the grid: the record at which it was rejected, 0 if never.
    most_gain
        The largest gain, which the grid is made from.

    Notes
    -----
    If ψ lies between two neighbours of the grid, "ψ <= the upper neighbour" is true and is
    ever rejected with probability at most α/2; unless it is, the limit stays below ψ.

    Examples
    --------
    >>> crossed = np.zeros(GRID - 1, int)
    >>> crossed[:100] = 1
    >>> lower_limit(crossed, most_gain=1.0)
    0.25
    """
    grid = np.r_[0.0, threshold_grid(most_gain)]
    return float(grid[np.argmin(np.r_[crossed > 0, False])])


def upper_limit(crossed: IntArray, most_gain: float) -> float:
    """Return the smallest δ of the grid from which on all are rejected.

    Parameters
    ----------
    crossed
        By threshold of the grid: the record at which it was rejected, 0 if never.
    most_gain
        The largest gain, which is the limit if nothing is rejected.

    Examples
    --------
    >>> crossed = np.zeros(GRID - 1, int)
    >>> crossed[100:] = 1
    >>> round(upper_limit(crossed, most_gain=1.0), 4)
    0.255
    """
    grid = np.r_[threshold_grid(most_gain), most_gain]
    return float(grid[::-1][np.argmin(np.r_[crossed[::-1] > 0, False])])


def _packed(array: FloatArray) -> str:
    """Return an array as base64 of its little-endian doubles."""
    return b64encode(np.ascontiguousarray(array, "<f8").tobytes()).decode("ascii")


def _unpacked(text: str, shape: tuple[int, ...]) -> FloatArray:
    """Return the array of a shape that `_packed` wrote; ValueError if the size does not fit."""
    return np.frombuffer(b64decode(text), "<f8").reshape(shape).astype(np.float64)
