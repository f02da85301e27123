"""Where twins are looked for: fixed steps in the coordinates, the same for everybody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtransport.checks import BoolArray, FloatArray

GRID = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 1.5, -1.5, 3.0, -3.0)
"""How far twins go along each free direction, in standard deviations of the fitting data."""
REACH = (1.0, 4.0, 0.25, 16.0)
"""What steps that are not free cost, in budgets: those who move far are few."""
GRID_SHARE, SINGLE_SHARE = 0.5, 0.25
"""The most that steps along the grid, and steps of one coordinate, are of all steps."""
DUST = 1e-12
FREE = 1e-9
"""A step is free whose squared length under the metric, or its part off the free directions,
is no more than this."""
ALONG = 0.05
"""Directions are estimated, so that nearly every step has some part along them: one that has no
more of its squared length there counts as going beside them."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps in the coordinates, one a row, and which of them go along free directions."""

    rows: FloatArray
    along: BoolArray


def fixed_steps(
    people: FloatArray, metric: FloatArray, budget: float, many: int, rng: np.random.Generator
) -> Steps:
    """Return steps that depend on the similarity, the budget and the seed alone.

    Parameters
    ----------
    people
        (any, coordinates) the people of the fitting data, encoded.
    metric
        (coordinates, dimensions) A: a step s costs |A's|².
    budget
        What a step should cost, about.
    many
        How many steps to make, at most.
    rng
        Draws the steps that are not on the grid.

    Notes
    -----
    With F an orthonormal basis of the steps that are free, A's = 0: first a grid along every
    column of F, in standard deviations of the people's coordinates; with a budget, then steps of
    one coordinate that cost some multiple of it; then differences between two people drawn at
    random, of which the free part is kept and what is left is scaled to cost as much at most, and
    with a budget each of these without its free part too: what can be had without going along
    free directions is looked for as well as what needs them.
    """
    free = free_directions(metric)
    grid = _grid(people, free)[: max(1, int(GRID_SHARE * many))]
    single = np.zeros((0, people.shape[1]))
    if budget > 0:
        single = _single(metric, budget)
        single = single[rng.permutation(len(single))[: int(SINGLE_SHARE * many)]]
    left = many - len(grid) - len(single)
    drawn = _drawn(people, metric, free, budget, left, rng)
    rows = np.vstack([grid, single, drawn])
    # what rounding leaves of a coordinate is no change
    rows[np.abs(rows) < DUST] = 0.0
    rows = rows[np.abs(rows).max(axis=1, initial=0) > 0]
    return Steps(rows, goes_along(rows, free))


def free_directions(metric: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the steps that cost nothing, as columns.

    Examples
    --------
    >>> np.abs(free_directions(np.array([[1.0], [0.0]]))).tolist()
    [[0.0], [1.0]]
    """
    full = np.linalg.svd(metric, full_matrices=True)
    rank = int((1e-8 * max(1.0, float(full.S.max(initial=0.0))) < full.S).sum())
    return np.asarray(full.U[:, rank:])


def goes_along(rows: FloatArray, free: FloatArray) -> BoolArray:
    """Say which steps go along free directions: more of their squared length than chance gives."""
    along, whole = ((rows @ free) ** 2).sum(axis=1), (rows**2).sum(axis=1)
    return np.asarray(along > np.maximum(ALONG * whole, FREE))


def _grid(people: FloatArray, free: FloatArray) -> FloatArray:
    spread = (people @ free).std(axis=0)
    lengths = np.outer(GRID, spread)[:, :, None]
    return np.asarray(lengths * free.T[None]).reshape(-1, people.shape[1])


def _single(metric: FloatArray, budget: float) -> FloatArray:
    """Return steps of one coordinate, forth and back, each at some multiples of the budget."""
    cost = np.maximum((metric**2).sum(axis=1), FREE)
    size = np.sqrt(budget / cost)
    sized = np.diag(size)
    return np.vstack([sign * np.sqrt(reach) * sized for reach in REACH for sign in (1.0, -1.0)])


def _drawn(
    people: FloatArray, metric: FloatArray, free: FloatArray, budget: float, many: int,
    rng: np.random.Generator,
) -> FloatArray:  # fmt: skip
    pairs = max(many, 0) if budget == 0 else (max(many, 0) + 1) // 2
    first, second = rng.integers(len(people), size=(2, pairs))
    steps = people[first] - people[second]
    along = (steps @ free) @ free.T
    rest = steps - along
    cost = ((rest @ metric) ** 2).sum(axis=1)
    allowed = budget * np.resize(REACH, len(steps))
    factor = np.sqrt(np.minimum(1.0, allowed / np.maximum(cost, FREE)))
    scaled = (factor * (cost > FREE))[:, None] * rest
    if budget == 0:
        return np.asarray(along + scaled)
    both = np.stack([along + scaled, scaled], axis=1).reshape(-1, people.shape[1])
    return np.asarray(both[:many])
