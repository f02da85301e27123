"""The upper concave hull of one point's candidates, which come in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.transport.kernels import changed, cheapest_first, uncounted

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray

MARGIN = 1e-12
"""Candidates below a hull by less stay on it until all are known: products round."""


class Hull(NamedTuple):
    """Room for corners, of which the first n are the hull; n is told beside it.

    Losses fall strictly, so do costs, and the last corner is free. Before any candidate that is
    the point itself.

    Attributes
    ----------
    level, price, corner
        Losses, costs and targets of the corners.
    """

    level: FloatArray
    price: FloatArray
    corner: IntArray


class Newcomer(NamedTuple):
    """A target that may become a corner.

    Attributes
    ----------
    target, cost, loss
        Which one, what moving there costs, and the loss there.
    """

    target: int
    cost: float
    loss: float


@uncounted()
def cost_at(loss: float, level: FloatArray, price: FloatArray, n: int) -> float:
    """Return the cost at which a hull reaches a loss; no candidate that costs more is a corner.

    Parameters
    ----------
    loss
        A candidate's loss.
    level, price
        Losses and costs of the hull's corners, both falling.
    n
        How many corners there are.

    Returns
    -------
    float
        Infinite above the highest corner: whatever it costs, it is one. −1 below the lowest:
        nothing there can be. Otherwise the cost on the line between two corners, a little more of
        it.

    Examples
    --------
    A hull with corners at losses 1 and 0, at costs 2 and 0:

    >>> level, price = np.array([1.0, 0.0]), np.array([2.0, 0.0])
    >>> [round(cost_at(loss, level, price, 2), 6) for loss in (1.5, 1.0, 0.5, -1.0)]
    [inf, 2.0, 1.0, -1.0]
    """
    if loss > level[0]:
        return np.inf
    if loss < level[n - 1]:
        return -1.0
    low, high = 0, n - 1
    # level[low] >= loss, and what follows `high` is smaller
    while low < high:
        # rounded up, so that `low = middle` moves on: rounded down the loop might not end
        middle = (low + high + 1) // 2
        if level[middle] >= loss:
            low = middle
        else:
            high = middle - 1
    if level[low] == loss:
        return float(price[low])
    # on the line from the corner below to the one above, with a margin: a candidate that lies on
    # it up to rounding must be looked at, or the answer would depend on the order of the search
    share = (loss - level[low + 1]) / (level[low] - level[low + 1])
    return float((price[low + 1] + (price[low] - price[low + 1]) * share) * (1 + MARGIN))


@uncounted()
def place_of(loss: float, level: FloatArray, n: int) -> int:
    """Return how many corners have a larger loss."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if level[middle] > loss:
            low = middle + 1
        else:
            high = middle
    return low


@uncounted()
def insert(i: int, new: Newcomer, profiles: IntArray, hull: Hull, n: int) -> int:  # noqa: C901
    """Take a candidate into the hull of point ``i``, if it is a corner; return the new length.

    Parameters
    ----------
    i
        The point.
    new
        The candidate.
    profiles
        (K, columns) codes of the sensitive features: of equal targets the one that changes fewer
        of them is kept, then the one that comes first. No columns: only the order decides.
    hull
        Changed in place; room for one corner more.
    n
        Its length.

    Returns
    -------
    int
        The length afterwards: unchanged, one more, or less, as corners go that the new one hides.

    Notes
    -----
    Slopes are compared as products, cross-multiplied, so that nothing is divided by a cost
    difference that may be tiny.

    Examples
    --------
    Into the hull of point 0, which holds itself alone, go a far target and then a nearer one as
    bad.

    >>> hull = Hull(np.zeros(4), np.zeros(4), np.zeros(4, np.int64))
    >>> none = np.zeros((3, 0), np.int64)
    >>> n = insert(0, Newcomer(1, cost=3.0, loss=1.0), none, hull, 1)
    >>> n = insert(0, Newcomer(2, cost=2.0, loss=1.0), none, hull, n)
    >>> hull.corner[:n].tolist(), hull.price[:n].tolist()
    ([2, 0], [2.0, 0.0])
    """
    level, price, corner = hull.level, hull.price, hull.corner
    j, c, loss = new.target, new.cost, new.loss
    p = q = place_of(loss, level, n)
    if p > 0 and price[p - 1] <= c:
        return n
    if p < n and level[p] == loss:
        if c > price[p]:
            return n
        if c == price[p]:
            fewer = changed(profiles, i, j) - changed(profiles, i, corner[p])
            if fewer < 0 or (fewer == 0 and j < corner[p]):
                corner[p] = j
            return n
    # the new corner lies between p - 1 and q; what pays as much for less goes
    while q < n and price[q] >= c:
        q += 1
    if p > 0 and q < n:
        rise, run = level[p - 1] - level[q], price[p - 1] - price[q]
        # below the line between its neighbours: no corner. The margin keeps what is on the line up
        # to rounding
        if (loss - level[q]) * run < rise * (c - price[q]) * (1 - MARGIN):
            return n
    # neighbours on either side that fell below the lines through the new corner
    while p > 1:
        rise, run = level[p - 2] - loss, price[p - 2] - c
        if (level[p - 1] - loss) * run >= rise * (price[p - 1] - c) * (1 - MARGIN):
            break
        p -= 1
    while q < n - 1:
        rise, run = loss - level[q + 1], c - price[q + 1]
        if (level[q] - level[q + 1]) * run >= rise * (price[q] - price[q + 1]) * (1 - MARGIN):
            break
        q += 1
    return _replace(p, q, new, hull, n)


@uncounted()
def _replace(p: int, q: int, new: Newcomer, hull: Hull, n: int) -> int:
    """Put one corner where p to q - 1 were; return the new length.

    Parameters
    ----------
    p, q
        The corners that go; q = p: none does, and one is put in between.
    new
        The new corner.
    hull, n
        Changed in place, and its length before.
    """
    level, price, corner = hull.level, hull.price, hull.corner
    # several go: close the gap. None goes: make room, from the end so that nothing is overwritten
    if q > p + 1:
        for a in range(q, n):
            to = a + p + 1 - q
            level[to], price[to], corner[to] = level[a], price[a], corner[a]
    elif q == p:
        for a in range(n - 1, q - 1, -1):
            level[a + 1], price[a + 1], corner[a + 1] = level[a], price[a], corner[a]
    level[p], price[p], corner[p] = new.loss, new.cost, new.target
    return n + p + 1 - q


@uncounted()
def finish(i: int, losses: FloatArray, price: FloatArray, corner: IntArray, n: int) -> int:
    """Turn a hull into the frontier, in place, cheapest corner first; return its length.

    Parameters
    ----------
    i
        The point.
    losses
        Of all points.
    price, corner
        The hull's costs and targets, changed in place.
    n
        Its length.

    Notes
    -----
    The margin kept candidates that may lie a rounding error below the hull; `cheapest_first`
    drops them now that all are known, so that every way of searching ends with the same corners.
    """
    # the point itself is where a frontier starts, not a target of it
    own = 1 if corner[n - 1] == i else 0
    return cheapest_first(i, n - own, losses, corner, price)
