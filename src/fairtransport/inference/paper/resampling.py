"""Resamples of an audit sample as blocks of frequency vectors, quickly and reproducibly."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fairtransport.checks import whole
from fairtransport.errors import InputError
from fairtransport.progress import track
from fairtransport.workers import count_workers, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from scipy.sparse import csr_array

    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.transport import AuditProblem
    from fairtransport.transport.filling import Filling

BLOCK_ENTRIES = 2_000_000
"""Entries of a block of frequency vectors. Each block has a random stream of its own."""
LARGEST_TABLE = 5_000_000
"""People up to which a table says in which cell each one is."""
MOST_RESAMPLES = 10_000_000
"""More draws would only make numbers exact that the sample does not know so well."""
MOST_LACKING = 20_000_000
"""People of a block of resamples who are drawn one by one."""
MOST_SUBSAMPLED = 10**9
"""People from whom numpy draws without replacement; it takes fewer."""
HEADROOM = 3.0
"""Standard deviations that a Poisson total is aimed below the size of a resample."""

Frequencies: TypeAlias = "FloatArray | csr_array[np.float64]"
"""Frequency vectors, one a row, dense or sparse."""
Draw: TypeAlias = "Callable[[np.random.Generator, int], Frequencies]"
"""Makes so many frequency vectors."""


def check_resamples_wanted(n_resamples: object) -> int:
    """Return the number of draws that a caller wants, if it is one and not too large.

    Parameters
    ----------
    n_resamples
        A whole number from 1 to ``MOST_RESAMPLES``.

    Raises
    ------
    InputError
        If it is not.
    """
    return whole("n_resamples", n_resamples, at_most=MOST_RESAMPLES)


def values_of_resamples(
    problem: AuditProblem, draw: Draw, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return ψ of ``n_resamples`` frequency vectors that ``draw(rng, how many)`` makes.

    The blocks and their random streams are the same whatever the number of threads, or of
    workers where a joblib backend is active.
    """
    check_resamples_wanted(n_resamples)
    block = max(1, min(n_resamples, BLOCK_ENTRIES // problem.size))
    sizes = [min(block, n_resamples - start) for start in range(0, n_resamples, block)]
    # a stream a block, whoever draws it: the same numbers on every machine
    streams = rng.spawn(len(sizes))
    if len(sizes) > 1 and count_workers() > 1:
        filling = problem.filling
        tasks = ((filling, draw, *block) for block in zip(streams, sizes, strict=True))
        return np.concatenate(spread(_values_of_block, tasks))
    drawn = _ahead(draw, streams, sizes)
    return np.concatenate([problem.values(part) for part in track(drawn, len(sizes), "Resampling")])


def _values_of_block(
    filling: Filling, draw: Draw, stream: np.random.Generator, size: int
) -> FloatArray:
    return filling.values(draw(stream, size))


def _ahead(
    draw: Draw, streams: Sequence[np.random.Generator], sizes: Sequence[int]
) -> Iterator[Frequencies]:
    """Draw the blocks in order, the next two while the one before is being used.

    Parameters
    ----------
    draw
        Makes frequency vectors; NumPy's generators release the lock while they draw.
    streams, sizes
        The generator of each block and how many vectors it has.
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=2) as pool:
        waiting: deque[Future[Frequencies]] = deque()
        for stream, size in zip(streams, sizes, strict=True):
            waiting.append(pool.submit(draw, stream, size))
            if len(waiting) > 2:  # noqa: PLR2004
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def with_replacement(counts: IntArray, size: int) -> Draw:
    """Return a function that draws Multinomial(size; counts/n)/size.

    Parameters
    ----------
    counts
        By cell: the people of the sample.
    size
        m, the people of a resample.

    Returns
    -------
    callable
        Person by person, sparse, where resamples are small; else cell by cell.

    Examples
    --------
    >>> draw = with_replacement(np.array([3, 1]), size=100)
    >>> draw(np.random.default_rng(0), 4).sum(axis=1).round(9).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    total = int(counts.sum())
    cell_of = _cells(counts)

    def by_person(rng: np.random.Generator, many: int) -> csr_array[np.float64]:
        """Draw each person of each resample, and count cells in a sparse row."""
        return _frequencies(cell_of(rng.integers(0, total, (many, size))), len(counts))

    mean = max(0.0, size - HEADROOM * math.sqrt(size)) / total * counts

    def by_cell(rng: np.random.Generator, many: int) -> FloatArray:
        """Draw the cells' counts as Poisson ones, and fill up what is lacking person by person."""
        if many * HEADROOM * math.sqrt(size) > MOST_LACKING:
            return np.asarray(rng.multinomial(size, counts / total, many) / size)
        # Poisson cells are multinomial given their total N; size − N further people, drawn
        # one by one, make it Multinomial(size) whatever N is, as long as N <= size
        drawn = rng.poisson(mean, (many, len(counts)))
        # redrawing depends on the total alone, given which the cells are multinomial still
        while len(over := np.flatnonzero(drawn.sum(axis=1) > size)):
            drawn[over] = rng.poisson(mean, (len(over), len(counts)))
        lacking = size - drawn.sum(axis=1)
        row = np.repeat(np.arange(many), lacking)
        cell = cell_of(rng.integers(0, total, len(row)))
        drawn += np.bincount(row * len(counts) + cell, minlength=drawn.size).reshape(drawn.shape)
        return np.asarray(drawn / size)

    # a person costs about a fifth of a Poisson cell
    return by_person if size < 4 * len(counts) else by_cell


def without_replacement(counts: IntArray, size: int) -> Draw:
    """Return a function that draws subsamples of the people, each subset equally likely.

    Parameters
    ----------
    counts
        By cell: the people of the sample.
    size
        m, the people of a subsample.

    Raises
    ------
    InputError
        If there are more people than NumPy draws from without replacement.

    Examples
    --------
    >>> draw = without_replacement(np.array([3, 1]), size=4)
    >>> np.asarray(draw(np.random.default_rng(0), 1)).tolist()
    [[0.75, 0.25]]
    """
    total = int(counts.sum())
    if total >= MOST_SUBSAMPLED:
        msg = (
            f"`method` 'subsampling' must have fewer than {MOST_SUBSAMPLED:,} people, got "
            f"{total:,}; 'm-out-of-n' estimates the same law"
        )
        raise InputError(msg)
    cell_of = _cells(counts)

    def by_person(rng: np.random.Generator, many: int) -> csr_array[np.float64]:
        """Draw each person of each subsample, and count cells in a sparse row."""
        return _frequencies(cell_of(_distinct(rng, total, size, many)), len(counts))

    def by_cell(rng: np.random.Generator, many: int) -> FloatArray:
        """Draw the cells' counts at once, hypergeometrically."""
        drawn = rng.multivariate_hypergeometric(counts, size, many, method="marginals")
        return np.asarray(drawn / size)

    # beyond a quarter of the people, repeats are too many to be drawn again
    return by_person if size < min(4 * len(counts), total // 4) else by_cell


def _cells(counts: IntArray) -> Callable[[IntArray], IntArray]:
    """Return a function that tells the cell of each person, people numbered cell by cell.

    Parameters
    ----------
    counts
        By cell: its people.

    Returns
    -------
    callable
        Looks numbers up in a table, or for very many people in the running sums of counts.

    Examples
    --------
    >>> _cells(np.array([2, 0, 1]))(np.array([0, 1, 2])).tolist()
    [0, 0, 2]
    """
    if counts.sum() <= LARGEST_TABLE:
        table = np.repeat(np.arange(len(counts)), counts)
        return table.__getitem__
    ends = np.cumsum(counts)
    return lambda people: np.searchsorted(ends, people, side="right")


def _frequencies(cells: IntArray, points: int) -> csr_array[np.float64]:
    """Return frequency vectors of resamples that are given as cells, one a person.

    Parameters
    ----------
    cells
        (resamples, size) the cell of each person.
    points
        How many cells there are.

    Examples
    --------
    >>> _frequencies(np.array([[0, 0, 2, 2]]), 3).toarray().tolist()
    [[0.5, 0.0, 0.5]]
    """
    from scipy.sparse import csr_array

    many, size = cells.shape
    start = np.arange(0, many * size + 1, size)
    # a cell may stand several times in a row: sparse sums add up
    return csr_array((np.full(many * size, 1 / size), cells.ravel(), start), shape=(many, points))


def _distinct(rng: np.random.Generator, total: int, size: int, many: int) -> IntArray:
    """Draw rows of distinct numbers below ``total``: repeats are drawn again until none is left.

    The set of numbers then grows as in drawing without replacement.

    Parameters
    ----------
    rng
        Draws.
    total
        Numbers are 0 to total − 1.
    size, many
        How many in a row, and how many rows. A row must be much shorter than ``total``, or
        redrawing would take long.

    Examples
    --------
    >>> rows = _distinct(np.random.default_rng(0), 100, 5, 3)
    >>> [len(set(row)) for row in rows.tolist()]
    [5, 5, 5]
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
