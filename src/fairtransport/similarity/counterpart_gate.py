"""The gate of counterparts: which columns depend on a sensitive feature, given others.

Notes
-----
Scores of all columns are compared with the groups while these are shuffled within cells of people
who agree in the legitimate columns. Nominal p-values are compared by a step-down of their minimum
over shuffles (Westfall and Young): let K be columns that are independent of the groups within
cells, jointly. The minimum over K and its shuffled copies are exchangeable, and when the step-down
first reaches a column of K all of K is left, so that the probability that any of K passes is at
most the level, at every sample size and for any other columns.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fairtransport._core.validation import FloatArray, IntArray

    GroupCodes = NDArray[np.int16]
    """Groups as single bytes."""

MAX_SHUFFLED_CODES = 100_000_000
"""Number of group codes shuffled at once, one byte each."""
MAX_PRODUCT_CODES = 4_000_000
"""Number of codes multiplied at once."""
MIN_EIGENVALUE = 1e-6
TIE = 1e-9
MIN_LOG_PVALUE = -1e6
"""Nominal p-values below this are equal."""
POWER = 0.8
"""Power at the detectable size of dependence."""


class ColumnTest(NamedTuple):
    """The test of one column: statistic, its mean over shuffles, p-value."""

    statistic: float
    null_mean: float
    pvalue: float


class Scores(NamedTuple):
    """Scores of all columns side by side, uncorrelated within each, and the end of each column."""

    values: FloatArray
    ends: IntArray


def prepare_scores(
    scores: Sequence[FloatArray], cells: IntArray, design: FloatArray | None
) -> Scores:
    """Return scores minus their regression on a design and their means in cells, whitened."""
    blocks, sizes = [], []
    starts, order = _sort_cells(cells)
    counts = np.diff(np.append(starts, len(cells)))
    for block in scores:
        rest = block
        if design is not None:
            rest = rest - design @ np.linalg.lstsq(design, rest, rcond=None)[0]
        means = np.add.reduceat(rest[order], starts, axis=0) / counts[:, None]
        centred = rest.copy()
        centred[order] -= np.repeat(means, counts, axis=0)
        values, vectors = np.linalg.eigh(centred.T @ centred / max(1, len(centred)))
        there = values > MIN_EIGENVALUE
        blocks.append(centred @ vectors[:, there] / np.sqrt(values[there]))
        sizes.append(int(there.sum()))
    return Scores(np.hstack(blocks), np.cumsum(sizes))


def _sort_cells(cells: IntArray) -> tuple[IntArray, IntArray]:
    """Return the start of each cell in the order of cells, and that order."""
    order = np.argsort(cells, kind="stable")
    return np.flatnonzero(np.diff(cells[order], prepend=-1)), order


def run_gate(
    scores: Scores, groups: IntArray, cells: IntArray, draws: int, rng: np.random.Generator,
    units: IntArray | None = None,
) -> list[ColumnTest]:  # fmt: skip
    """Return the step-down test of each column; groups are shuffled within cells.

    The groups of a unit's members stay together: they are permuted among units with as many members
    in each cell. Members are in random order within cells, so that such units are independent draws
    whose groups, under independence, do not depend on the scores.
    """
    from scipy.stats import chi2

    count = int(groups.max()) + 1
    sizes = np.diff(scores.ends, prepend=0)
    freedom = np.maximum(1, sizes * (count - 1))
    observed = _statistics(scores, groups[None, :].astype(np.int16), count)[0]
    shuffled = np.vstack(
        [
            _statistics(scores, part, count)
            for part in _shuffle_groups(groups.astype(np.int16), cells, draws, rng, units)
        ]
    )
    nominal, nominal_shuffled = chi2.logsf(observed, freedom), chi2.logsf(shuffled, freedom)
    pvalues = step_down(nominal, nominal_shuffled)
    return [
        ColumnTest(float(statistic), float(mean), float(pvalue))
        for statistic, mean, pvalue in zip(observed, shuffled.mean(axis=0), pvalues, strict=True)
    ]


def step_down(nominal: FloatArray, shuffled: FloatArray) -> FloatArray:
    """Return adjusted p-values of a step-down by the minimum, from log p-values and their copies.

    >>> step_down(np.array([-5.0, -1.0]), np.array([[-2.0, -0.5], [-0.1, -3.0], [-0.2, -0.3]]))
    array([0.25, 0.5 ])
    """
    order = np.argsort(nominal, kind="stable")
    # the least of each column and of those after it in the order
    least = np.minimum.accumulate(shuffled[:, order[::-1]], axis=1)[:, ::-1]
    least = np.maximum(least, MIN_LOG_PVALUE)
    ordered = np.maximum(nominal[order], MIN_LOG_PVALUE)
    limit = ordered + TIE * (1 + np.abs(ordered))
    adjusted = (1 + (least <= limit).sum(axis=0)) / (1 + len(shuffled))
    pvalues = np.empty(len(nominal))
    pvalues[order] = np.maximum.accumulate(adjusted)
    return pvalues


def _statistics(scores: Scores, groups: GroupCodes, count: int) -> FloatArray:
    """Return (draws, columns) sums over groups of squared score sums, divided by group sizes."""
    sizes = np.bincount(groups[0], minlength=count)
    step = max(1, MAX_PRODUCT_CODES // groups.shape[1])
    parts = []
    for start in range(0, len(groups), step):
        part = groups[start : start + step]
        last = np.zeros((len(part), scores.values.shape[1]))
        squares = np.zeros_like(last)
        for group in range(count - 1):
            sums = (part == group).astype(np.float64) @ scores.values
            squares += sums**2 / sizes[group]
            last -= sums
        parts.append(squares + last**2 / sizes[-1])
    totals = np.cumsum(np.vstack(parts), axis=1)
    ends = np.where(scores.ends[None, :] > 0, totals[:, scores.ends - 1], 0.0)
    return np.maximum(np.diff(ends, axis=1, prepend=0.0), 0.0)


def _shuffle_groups(
    groups: GroupCodes, cells: IntArray, draws: int, rng: np.random.Generator,
    units: IntArray | None = None,
) -> Iterator[GroupCodes]:  # fmt: skip
    """Yield (draws, people) groups shuffled within cells, in batches of draws."""
    if units is not None:
        yield from _shuffle_units(groups, cells, draws, rng, units)
        return
    starts, order = _sort_cells(cells)
    bounds = [*starts.tolist(), len(groups)]
    ordered = groups[order]
    step = max(1, MAX_SHUFFLED_CODES // len(groups))
    for first in range(0, draws, step):
        size = min(step, draws - first)
        codes = np.empty((size, len(groups)), np.int16)
        for start, end in pairwise(bounds):
            inside = ordered[start:end]
            if (inside == inside[0]).all():
                codes[:, order[start:end]] = inside
            else:
                block = np.broadcast_to(inside, (size, end - start))
                codes[:, order[start:end]] = rng.permuted(block, axis=1)
        yield codes


def _shuffle_units(
    groups: GroupCodes, cells: IntArray, draws: int, rng: np.random.Generator, units: IntArray
) -> Iterator[GroupCodes]:
    """Yield (draws, people) groups, those of a unit shuffled together, in batches of draws."""
    blocks = list(_find_blocks(cells, units, rng))
    step = max(1, MAX_SHUFFLED_CODES // len(groups))
    for first in range(0, draws, step):
        size = min(step, draws - first)
        codes = np.broadcast_to(groups, (size, len(groups))).copy()
        for rows in blocks:
            places = np.broadcast_to(np.arange(len(rows)), (size, len(rows)))
            codes[:, rows] = groups[rows][rng.permuted(places, axis=1)]
        yield codes


def _find_blocks(cells: IntArray, units: IntArray, rng: np.random.Generator) -> Iterator[IntArray]:
    """Yield (units, members) rows of units that have as many members in each cell."""
    order = np.lexsort((rng.random(len(units)), cells, units))
    members = np.split(order, np.flatnonzero(np.diff(units[order])) + 1)
    alike: dict[tuple[int, ...], list[IntArray]] = {}
    for rows in members:
        alike.setdefault(tuple(cells[rows].tolist()), []).append(rows)
    yield from (np.stack(blocks) for blocks in alike.values() if len(blocks) > 1)


def find_detectable_shift(
    groups: IntArray, cells: IntArray, columns: int, level: float, per_person: float = 1.0
) -> float:
    """Return the shift, in standard deviations, that the gate detects in one of many columns.

    It is between the smallest group and the others, detected with probability `POWER`; the least
    p-value of the step-down is at about level / columns, and a number has two scores. People in
    cells of a single group carry no information. For clusters, the independent units ``per_person``
    count instead of people.
    """
    from scipy.optimize import brentq
    from scipy.stats import chi2, ncx2

    count = int(groups.max()) + 1
    table = np.zeros((int(cells.max()) + 1, count))
    np.add.at(table, (cells, groups), per_person)
    sizes = np.maximum(table.sum(axis=1, keepdims=True), 1e-9)
    told = (table * (1 - table / sizes)).sum(axis=0)
    freedom = 2 * (count - 1)
    limit = chi2.isf(level / max(1, columns), freedom)
    size = brentq(lambda value: ncx2.sf(limit, freedom, value) - POWER, 1e-6, 1e4)
    return float(np.sqrt(size / max(told.min(), TIE)))
