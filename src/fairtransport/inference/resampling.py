"""Resamples of an audit sample: bootstraps, subsamples, and truncated normal frequencies."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fairtransport._core.parallel import count_workers, spread
from fairtransport._core.progress import track
from fairtransport._core.validation import check_integer
from fairtransport.errors import InputError, param

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from scipy.sparse import csr_array

    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.transport import AuditProblem
    from fairtransport.transport.problem import Filling


BLOCK_ENTRIES = 2_000_000
"""Number of entries of a block of frequency vectors, each with its own random stream."""
MAX_TABLE_PEOPLE = 5_000_000
"""Maximum number of people in a lookup table of their cells."""
MAX_RESAMPLES = 10_000_000
"""Maximum number of draws; more would be more exact than the sample."""
MAX_SINGLE_DRAWS = 20_000_000
"""Maximum number of people of a block of resamples that are drawn singly."""
MAX_SUBSAMPLED_PEOPLE = 10**9
"""Number of people up to which numpy draws without replacement."""
POISSON_HEADROOM = 3.0
"""Standard deviations of a Poisson total between its mean and the size of a resample."""


Frequencies: TypeAlias = "FloatArray | csr_array[np.float64]"
"""Frequency vectors, one per row, dense or sparse."""
Draw: TypeAlias = "Callable[[np.random.Generator, int], Frequencies]"
"""Draws a number of frequency vectors."""


def check_n_resamples(n_resamples: object) -> int:
    """Return a checked number of draws."""
    return check_integer("n_resamples", n_resamples, at_most=MAX_RESAMPLES)


def compute_resampled_values(
    problem: AuditProblem, draw: Draw, n_resamples: int, rng: np.random.Generator, people: int
) -> FloatArray:
    """Return ψ of ``n_resamples`` resamples of ``people`` people, made by ``draw(rng, number)``.

    The blocks and their random streams do not depend on the number of threads, or of workers of an
    active joblib backend.
    """
    check_n_resamples(n_resamples)
    # sparse where people are fewer than points
    block = max(1, min(n_resamples, BLOCK_ENTRIES // min(problem.size, people)))
    sizes = [min(block, n_resamples - start) for start in range(0, n_resamples, block)]
    # one stream per block: the same numbers on every machine
    streams = rng.spawn(len(sizes))
    if len(sizes) > 1 and count_workers() > 1:
        filling = problem.filling
        tasks = ((filling, draw, *block) for block in zip(streams, sizes, strict=True))
        return np.concatenate(spread(_values_of_block, tasks))
    blocks = _draw_ahead(draw, streams, sizes)
    return np.concatenate(
        [problem.values(part) for part in track(blocks, len(sizes), "Resampling")]
    )


def _values_of_block(
    filling: Filling, draw: Draw, stream: np.random.Generator, size: int
) -> FloatArray:
    return filling.values(draw(stream, size))


def _draw_ahead(
    draw: Draw, streams: Sequence[np.random.Generator], sizes: Sequence[int]
) -> Iterator[Frequencies]:
    """Draw the blocks in order, two blocks ahead."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=2) as pool:
        waiting: deque[Future[Frequencies]] = deque()
        for stream, size in zip(streams, sizes, strict=True):
            waiting.append(pool.submit(draw, stream, size))
            if len(waiting) > 2:  # noqa: PLR2004
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def draw_with_replacement(counts: IntArray, size: int) -> Draw:
    """Return a function that draws Multinomial(size; counts/n)/size."""
    total = int(counts.sum())
    cell_of = _build_cell_lookup(counts)

    def by_person(rng: np.random.Generator, many: int) -> csr_array[np.float64]:
        """Draw each person of each resample, and count cells in a sparse row."""
        return _count_frequencies(cell_of(rng.integers(0, total, (many, size))), len(counts))

    mean = max(0.0, size - POISSON_HEADROOM * math.sqrt(size)) / total * counts

    def by_cell(rng: np.random.Generator, many: int) -> FloatArray:
        """Draw Poisson counts of the cells, and add the missing people singly."""
        if many * POISSON_HEADROOM * math.sqrt(size) > MAX_SINGLE_DRAWS:
            return np.asarray(rng.multinomial(size, counts / total, many) / size)
        # Poisson cells are multinomial given their total N; size − N further people, drawn singly,
        # make it Multinomial(size) for any N <= size
        cell_counts = rng.poisson(mean, (many, len(counts)))
        # redrawing depends on the total only, given which the cells are still multinomial
        while len(over := np.flatnonzero(cell_counts.sum(axis=1) > size)):
            cell_counts[over] = rng.poisson(mean, (len(over), len(counts)))
        lacking = size - cell_counts.sum(axis=1)
        row = np.repeat(np.arange(many), lacking)
        cell = cell_of(rng.integers(0, total, len(row)))
        cell_counts += np.bincount(row * len(counts) + cell, minlength=cell_counts.size).reshape(
            cell_counts.shape
        )
        return np.asarray(cell_counts / size)

    # a person costs about a fifth of a Poisson cell
    return by_person if size < 4 * len(counts) else by_cell


def draw_without_replacement(counts: IntArray, size: int) -> Draw:
    """Return a function that draws subsamples of the people, each subset equally likely."""
    total = int(counts.sum())
    if total >= MAX_SUBSAMPLED_PEOPLE:
        msg = (
            f"{param('method')} 'subsampling' must have fewer than {MAX_SUBSAMPLED_PEOPLE:,} "
            f"people, got {total:,}; 'm-out-of-n' estimates the same law"
        )
        raise InputError(msg)
    cell_of = _build_cell_lookup(counts)

    def by_person(rng: np.random.Generator, many: int) -> csr_array[np.float64]:
        """Draw each person of each subsample, and count cells in a sparse row."""
        return _count_frequencies(cell_of(_draw_distinct(rng, total, size, many)), len(counts))

    def by_cell(rng: np.random.Generator, many: int) -> FloatArray:
        """Draw the cells' counts at once, hypergeometrically."""
        cell_counts = rng.multivariate_hypergeometric(counts, size, many, method="marginals")
        return np.asarray(cell_counts / size)

    # beyond a quarter of the people, there are too many repeats to redraw
    return by_person if size < min(4 * len(counts), total // 4) else by_cell


def _build_cell_lookup(counts: IntArray) -> Callable[[IntArray], IntArray]:
    """Return a function from people's numbers to cells, people numbered cell by cell."""
    if counts.sum() <= MAX_TABLE_PEOPLE:
        table = np.repeat(np.arange(len(counts)), counts)
        return table.__getitem__
    ends = np.cumsum(counts)
    return lambda people: np.searchsorted(ends, people, side="right")


def _count_frequencies(cells: IntArray, points: int) -> csr_array[np.float64]:
    """Return frequency vectors of resamples given as cells, one per person."""
    from scipy.sparse import csr_array

    many, size = cells.shape
    start = np.arange(0, many * size + 1, size)
    # a cell may occur repeatedly in a row: sparse arrays sum duplicates, quickly in sorted rows
    columns = np.sort(cells, axis=1).ravel()
    return csr_array((np.full(many * size, 1 / size), columns, start), shape=(many, points))


def _draw_distinct(rng: np.random.Generator, total: int, size: int, many: int) -> IntArray:
    """Draw rows of distinct numbers below ``total``: repeats are drawn again until none is left.

    The set of numbers then grows as in drawing without replacement.
    """
    rows = rng.integers(0, total, (many, size))
    unfinished = np.arange(many)
    while len(unfinished):
        part = rows[unfinished]
        order = np.argsort(part, axis=1)
        ranked = np.take_along_axis(part, order, axis=1)
        later = np.c_[np.zeros(len(part), bool), ranked[:, 1:] == ranked[:, :-1]]
        repeats = np.zeros(part.shape, bool)
        np.put_along_axis(repeats, order, later, axis=1)
        part[repeats] = rng.integers(0, total, int(repeats.sum()))
        rows[unfinished] = part
        unfinished = unfinished[repeats.any(axis=1)]
    return rows


PILOT_PROPOSALS = 2_000
"""Number of proposals to find out whether rejection is cheap."""
MIN_ACCEPTANCE = 0.05
"""Minimum acceptance rate for plain rejection."""
MAX_TRUNCATED_ENTRIES = 500_000_000
"""Maximum number of entries of all stored draws: 4 GB."""
MAX_NORMALS = 20_000_000_000
"""Maximum number of normal draws, instead of running for hours."""
PROPOSAL_ENTRIES = 4_000_000
"""Number of entries of a block of proposals."""


@dataclass(frozen=True, eq=False)
class TruncatedDraws:
    """Draws of f_n + ϵZ >= 0, and how they were made."""

    frequencies: FloatArray
    acceptance: float
    exact: bool


def draw_truncated(
    f: FloatArray, step: float, many: int, rng: np.random.Generator
) -> TruncatedDraws:
    """Draw f + ϵZ, Z ~ N(0, Σ(f)), conditioned on being non-negative.

    Algorithm 2 of the paper redraws Z until f + ϵZ >= 0, without a limit; with many points
    that never happens. The law it aims at is that of independent N(f_i, ϵ²f_i) conditioned on
    being non-negative and on summing to 1, for which `_draw_exactly` is a sampler.
    Empty cells stay empty.
    """
    if many * len(f) > MAX_TRUNCATED_ENTRIES:
        msg = (
            f"{param('n_resamples')} must be at most {MAX_TRUNCATED_ENTRIES // len(f):,} for the "
            f"method 'numerical' at {len(f):,} points, got {many:,}"
        )
        raise InputError(msg)
    cells = np.flatnonzero(f)
    pilot = _draw_proposals(f[cells], step, PILOT_PROPOSALS, rng)
    good = pilot[(pilot >= 0).all(axis=1)]
    acceptance = len(good) / PILOT_PROPOSALS
    # both samplers have the same law, and differ in time only
    exact = acceptance < MIN_ACCEPTANCE
    draws = (
        _draw_exactly(f[cells], step, many, rng)
        if exact
        else _draw_by_rejection(f[cells], step, many, good[:many], rng)
    )
    frequencies = np.zeros((many, len(f)))
    frequencies[:, cells] = draws
    return TruncatedDraws(frequencies, acceptance, exact)


def _draw_proposals(f: FloatArray, step: float, many: int, rng: np.random.Generator) -> FloatArray:
    """Draw f + ϵZ as in Algorithm 2, without the check that it is non-negative."""
    # √f·G − f·Σ√f·G has covariance Σ(f), and sums to zero up to rounding
    scaled = rng.standard_normal((many, len(f))) * np.sqrt(f)
    return np.asarray(f + step * (scaled - f * scaled.sum(axis=1, keepdims=True)))


def _draw_by_rejection(
    f: FloatArray, step: float, many: int, first: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Draw by Algorithm 2 itself: proposals until enough are non-negative."""
    parts, have = [first], len(first)
    while have < many:
        proposals = _draw_proposals(f, step, PILOT_PROPOSALS, rng)
        good = proposals[(proposals >= 0).all(axis=1)]
        parts.append(good)
        have += len(good)
    return np.concatenate(parts)[:many]


def _draw_exactly(f: FloatArray, step: float, many: int, rng: np.random.Generator) -> FloatArray:
    """Draw independent truncated normals, then accept by the density of the remainder.

    Adding the same multiple of f to all means does not change the law given the sum, so the
    means a·f are tilted until the truncated cells sum to 1 on average. All cells but the
    largest are drawn; the largest takes the rest, accepted in proportion to its density.

    The density of N(a·f_i, ϵ²f_i) is that of N(f_i, ϵ²f_i) times exp((a − 1)x_i/ϵ²) up to a
    constant: given Σ x_i = 1 the tilt is a constant. The largest cell has the widest density, so
    that giving it the rest rejects least.
    """
    from scipy.special import ndtr, ndtri

    spread = step * np.sqrt(f)
    mean = _find_tilt(f, spread) * f
    last = int(np.argmax(f))
    others = np.delete(np.arange(len(f)), last)
    # P(cell >= 0), the part of the uniform numbers that is kept
    reach = ndtr(mean[others] / spread[others])
    peak = max(mean[last], 0.0)
    parts, have, tried = [], 0, 0
    rows = max(100, PROPOSAL_ENTRIES // len(f))
    while have < many:
        tried += rows
        if tried * len(f) > MAX_NORMALS and have < many / 2:
            msg = (
                f"{param('method')} 'numerical' accepts {have} of {tried} draws at {len(f)} "
                "points, too few to finish; 'm-out-of-n' estimates the same law"
            )
            raise InputError(msg)
        # the upper tail by symmetry: a normal above 0, by inversion
        part = mean[others] - spread[others] * ndtri(rng.random((rows, len(others))) * reach)
        # inversion at the very end of the tail may round to slightly below 0
        part = np.maximum(part, 0.0)
        rest = 1 - part.sum(axis=1)
        # the density of the rest over the largest that it has on [0, ∞): at its mean, or at 0
        log_ratio = ((peak - mean[last]) ** 2 - (rest - mean[last]) ** 2) / (2 * spread[last] ** 2)
        good = (rest >= 0) & (np.log(rng.random(rows)) < log_ratio)
        draws = np.empty((int(good.sum()), len(f)))
        draws[:, others], draws[:, last] = part[good], rest[good]
        parts.append(draws)
        have += len(draws)
    return np.concatenate(parts)[:many]


def _find_tilt(f: FloatArray, spread: FloatArray) -> float:
    """Return a such that normals N(a·f_i, spread_i²) above 0 have means that sum to 1."""
    from scipy.special import log_ndtr

    def total(a: float) -> float:
        """Return the sum of the truncated means at a tilt, in which it increases."""
        z = a * f / spread
        # pdf/cdf by logarithms: far in the tail both underflow, their ratio does not
        hazard = np.exp(-(z**2) / 2 - log_ndtr(z)) / math.sqrt(2 * math.pi)
        return float(np.sum(a * f + spread * hazard))

    low, high = -1.0, 1.0
    # the tilt may be far below 0 if many small cells are truncated at 0
    while total(low) > 1:
        low *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if total(middle) > 1 else (middle, high)
    return high
