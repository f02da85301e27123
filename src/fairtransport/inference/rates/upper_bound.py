"""A weak upper bound for two groups, for these people in blocks with two or more of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.inference.finite.least_wealth import log_best_mean

if TYPE_CHECKING:
    from fairtransport.checks import BoolArray, FloatArray, IntArray
    from fairtransport.inference.rates.tables import RateTable

GUESSED_VARIANCE = 0.22
"""Of a loss; it guides the choice of sizes and stakes, which the design alone decides."""
MOST = 0.6
"""Largest share of wealth that a pair of parts can lose."""
MOST_PARTS = 100_000
"""Parts that blocks are cut into, in all, if larger parts are possible."""
FEWEST_SHARE = 1 / 8
"""Share of the orders whose mean wealth may decide without the others."""
TWO = 2
"""Groups that the argument is for."""
FEWEST = 2
"""People of each group that a block needs: one for each of two parts."""


@dataclass(frozen=True)
class RateCertificate:
    """For whom an upper bound holds, and the bound.

    Attributes
    ----------
    upper_bound
        What the mean of r over the people below does not exceed, at the level asked for.
    people, blocks
        The people of this sample, and their blocks, that it is about: those in blocks with two
        or more people of both groups. It says nothing of others.
    share
        The share of all people of the sample who are among them.

    Examples
    --------
    >>> import numpy as np
    >>> import fairtransport as ft
    >>> rng = np.random.default_rng(1)
    >>> age, group = rng.integers(0, 5, 1000), rng.integers(0, 2, 1000)
    >>> found = ft.inference.rate_law(age, group, rng.random(1000) < 0.2, rng=0).certificate()
    >>> found.people, found.blocks, found.upper_bound < 0.2
    (1000, 5, True)
    """

    upper_bound: float
    people: int
    blocks: int
    share: float


class Parts(NamedTuple):
    """How the people of each eligible block are cut into parts, and the stakes on pairs of them.

    Attributes
    ----------
    pairs
        Pairs of parts in each block; each group is cut into twice as many parts.
    weight
        What a pair counts for: people of the larger group, a pair.
    stake
        λ.
    """

    pairs: IntArray
    weight: FloatArray
    stake: float


def eligible(table: RateTable) -> BoolArray:
    """Return which blocks have two or more people of both groups.

    Parameters
    ----------
    table
        The sample. This is a property of its design, which the bound is conditional on.
    """
    return np.asarray(table.people.min(axis=1) >= FEWEST)


def certificate(
    table: RateTable, alpha: float, orders: int, rng: np.random.Generator
) -> RateCertificate | None:
    """Return the upper bound at level 1 − α given the design; None without two groups or blocks.

    Parameters
    ----------
    table
        The sample.
    alpha
        The level.
    orders
        How many random ways of cutting.
    rng
        Cuts.

    Notes
    -----
    Δ_b is the difference of the groups' means in block b, c_b the people of its larger group. Two
    disjoint parts of the block give independent differences D, D' with E[D·D'] = Δ_b², so that
    W = Π(1 − λwDD') over pairs, w = c_b a pair, has E W <= exp(−λQ), Q = Σ c_b Δ_b². Hence
    Q <= (log(1/α) − log W)/λ with probability 1 − α, and Σ r_i <= Σ c_b|Δ_b| <= √(Σ c_b · Q).
    """
    if table.groups != TWO or not (fit := eligible(table)).any():
        return None
    blocks = np.flatnonzero(fit)
    people = table.people[blocks]
    larger = people.max(axis=1)
    parts = choose_parts(people, alpha)
    logs = np.array([
        _log_wealth(table, blocks, parts, stream) for stream in rng.spawn(orders)
    ])  # fmt: skip
    log_wealth = log_best_mean(logs, math.ceil(FEWEST_SHARE * orders))
    # Q is a sum of squares: what chance makes negative is 0
    squares = max(math.log(1 / alpha) - log_wealth, 0.0) / parts.stake
    many = int(people.sum())
    # Cauchy and Schwarz; and no r exceeds 1, nor has anybody of a block's worse group any
    bound = min(math.sqrt(larger.sum() * squares) / many, float(larger.sum()) / many)
    return RateCertificate(bound * table.width, many, len(blocks), many / table.n)


def choose_parts(people: IntArray, alpha: float) -> Parts:
    """Return the parts for which the bound is expected to be least without any difference.

    Parameters
    ----------
    people
        (blocks, 2) the people of eligible blocks.
    alpha
        The level.

    Notes
    -----
    Small parts give many pairs, whose products are noisy; large parts few. Sizes grow by a
    third at a time, and the one with the least expected Q is taken. Losses play no part in it.
    """
    smaller, larger = people.min(axis=1), people.max(axis=1).astype(float)
    sizes = [1]
    while sizes[-1] < smaller.max() // 2:
        sizes.append(max(sizes[-1] + 1, sizes[-1] * 4 // 3))
    found: list[tuple[float, Parts]] = []
    for size in sizes:
        pairs = np.maximum(1, smaller // (2 * size))
        if 4 * pairs.sum() > MOST_PARTS and size < sizes[-1]:
            continue
        weight = larger / pairs
        noise = (GUESSED_VARIANCE * (2 * pairs[:, None] / people).sum(axis=1)) ** 2
        spread = float((pairs * weight**2 * noise).sum())
        # |DD'| <= 1, so that λw <= .6 keeps every factor at .4 or more
        stake = min(math.sqrt(2 * math.log(1 / alpha) / spread), MOST / float(weight.max()))
        expected = math.log(1 / alpha) / stake + stake * spread / 2
        found.append((expected, Parts(pairs, weight, stake)))
    return min(found, key=lambda each: each[0])[1]


def _log_wealth(
    table: RateTable, blocks: IntArray, parts: Parts, rng: np.random.Generator
) -> float:
    """Return log W of one random way of cutting.

    Parameters
    ----------
    table, blocks
        The sample and its eligible blocks.
    parts
        How they are cut, and λ.
    rng
        This way's stream.
    """
    from fairtransport.inference.rates.orders import fill_urns

    urns = fill_urns(table, table.count, rng)
    many = 2 * parts.pairs
    row = np.repeat(np.arange(len(blocks)), many)
    place = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
    means = []
    for group in range(TWO):
        total = table.people[blocks, group][row]
        ends = (place + 1) * total // many[row], place * total // many[row]
        take = ends[0] - ends[1]
        sums = urns.unseal(blocks[row] * table.groups + group, take)
        means.append(sums / take)
    difference = means[0] - means[1]
    # neighbours are pairs: parts of one block that share no person
    products = difference[::2] * difference[1::2]
    return float(np.log1p(-parts.stake * parts.weight[row[::2]] * products).sum())
