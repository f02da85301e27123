"""Random orders of an audit sample, cut into blocks of cells and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray

MOST_ORDERS, FEWEST_ORDERS = 32, 2
MOST_WORK = 300_000
"""Steps for all orders together: heavier samples get fewer orders."""


class Orders(NamedTuple):
    """Several random orders of one sample, each cut into the same number of blocks.

    Attributes
    ----------
    start
        (orders, blocks + 1) where each block's entries begin and end.
    cell, number
        The entries: a cell and how many records of the block are in it.
    before
        (orders, blocks) how many records come before each block.
    n
        The number of records.
    """

    start: IntArray
    cell: IntArray
    number: FloatArray
    before: FloatArray
    n: int


def draw_orders(
    counts: IntArray, blocks: int, further_work: int, rng: np.random.Generator
) -> Orders:
    """Draw random orders that depend on nothing but the seed and the sample's multiset.

    ``further_work`` is what an order costs beside its entries; it tells how many are affordable.

    With as many blocks as records the sample is shuffled. Otherwise each record falls into a
    block at random, independently of the others, so that the blocks' counts are multinomial
    splits of the cells' counts and the cost grows with the number of cells, not with that of
    records. Blocks shrink towards the end, where a hedge needs the most care. Either way the
    records of a block are independent draws from the population given its size. Which way it
    is depends on n only, so that the sample cannot choose its order.

    Parameters
    ----------
    counts
        By cell: the records in it.
    blocks
        How often stakes are chosen; no more than there are records.
    further_work
        Steps that an order costs beside one an entry.
    rng
        Spawns a stream for each order, so that an order does not depend on how many there are.

    Returns
    -------
    Orders
        Between ``FEWEST_ORDERS`` and ``MOST_ORDERS`` of them.

    Examples
    --------
    >>> orders = draw_orders(np.array([3, 1]), 4, 0, np.random.default_rng(1))
    >>> orders.before.shape, orders.n
    ((32, 4), 4)
    >>> sorted(orders.cell[orders.start[0, 0] : orders.start[0, -1]].tolist())
    [0, 0, 0, 1]
    """
    n = int(counts.sum())
    blocks = min(blocks, n)
    occupied = np.flatnonzero(counts)
    entries = min(n, blocks * len(occupied))
    work = entries + further_work
    # how many orders there are may depend on the sample, as no stake depends on their number
    number = int(np.clip(MOST_WORK // work, FEWEST_ORDERS, MOST_ORDERS))
    # few records: one by one. Many: a block's stakes see earlier blocks only, so that the order
    # inside it does not matter, and counts by block and cell are enough
    make = _shuffled if n <= blocks else _split
    parts = [make(counts, occupied, n, blocks, stream) for stream in rng.spawn(number)]
    shift = np.cumsum([0, *(len(part[1]) for part in parts)])
    sizes = np.array([part[3] for part in parts])
    return Orders(
        start=np.array([part[0] for part in parts]) + shift[:-1, None],
        cell=np.concatenate([part[1] for part in parts]),
        number=np.concatenate([part[2] for part in parts]),
        before=np.cumsum(sizes, axis=1) - sizes,
        n=n,
    )


def _shuffled(
    counts: IntArray, occupied: IntArray, n: int, blocks: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return one order, record by record: where blocks begin, cells, ones, the blocks' sizes.

    Parameters
    ----------
    counts, occupied
        The records of all cells, and which cells have any.
    n, blocks
        The same number: a block is one record, so that stakes are chosen anew for each.
    rng
        This order's own stream.
    """
    records = rng.permutation(np.repeat(occupied, counts[occupied]))
    start = np.arange(blocks + 1) * n // blocks
    return start, records, np.ones(n), np.diff(start).astype(float)


def _split(
    counts: IntArray, occupied: IntArray, n: int, blocks: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return one order by counts: where blocks begin, their cells, counts and sizes.

    Parameters
    ----------
    counts, occupied
        The records of all cells, and which cells have any.
    n
        Not needed: a cell is split without looking at the others.
    blocks
        The number of blocks. The t-th begins when a share of 1 − (1 − t/blocks)² of the records
        is expected to be gone.
    rng
        This order's own stream.
    """
    del n
    # blocks shrink towards the end, where wealth is close to its aim and stakes have to follow it
    shares = -np.diff((1 - np.arange(blocks + 1) / blocks) ** 2)
    # each record falls into a block by itself, so that given their sizes blocks are independent
    # draws
    table = rng.multinomial(counts[occupied], shares).T
    block, place = np.nonzero(table)
    start = np.searchsorted(block, np.arange(blocks + 1))
    count = table[block, place].astype(float)
    return start, occupied[place], count, table.sum(axis=1).astype(float)


def no_order(counts: IntArray, paths: int) -> Orders:
    """Return the sample as one block, shared by several paths of fixed stakes.

    Parameters
    ----------
    counts
        By cell: the records in it.
    paths
        How many stakes there are; each sees the whole sample.

    Notes
    -----
    Wealth of a stake that never changes does not depend on the order: nothing is drawn.
    """
    start = np.tile([0, len(counts)], (paths, 1))
    cells = np.arange(len(counts))
    return Orders(start, cells, counts.astype(float), np.zeros((paths, 1)), int(counts.sum()))
