"""From a table to wealth: random orders of the people, a pilot, and tuples unsealed after it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.inference.rates import bets, model
from fairtransport.inference.rates.orders import draw_share, fill_urns

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.inference.rates.tables import RateTable

PILOT, LONG_PILOT = 0.2, 0.45
"""Share of the people who are unsealed first and not bet on; the second where the first shows
that signs differ from block to block."""
SURE = 0.5
"""Standard errors by which cells must be seen to differ for the long pilot."""


class Wealths(NamedTuple):
    """What bets on random orders of the people came to, an entry an order.

    Attributes
    ----------
    log
        log W.
    stake
        λ.
    people
        N, the people who are not in the pilot.
    moved
        Σ A·D over the tuples, whose mean is at most N·R.
    """

    log: FloatArray
    stake: FloatArray
    people: FloatArray
    moved: FloatArray


def unseal(table: RateTable, orders: int, alpha: float, rng: np.random.Generator) -> Wealths:
    """Return what bets on so many random orders come to."""
    rows = [one_order(table, alpha, stream) for stream in rng.spawn(orders)]
    return Wealths(*np.array(rows).T.copy())


def one_order(
    table: RateTable, alpha: float, rng: np.random.Generator
) -> tuple[float, float, float, float]:
    """Return log W, λ, N and Σ A·D of one random order.

    First the pilot is drawn, and drawn further or not by what it shows. It fixes λ and, with the
    design of the others, who is in which tuple. The rest is `bets.play`.
    """
    pilot, seen = _pilot(table, rng)
    strata = int(table.strata.max()) + 1
    left = table.count - pilot
    people = int(left.sum())
    stake = _stake(seen, strata, people, alpha)
    means, variances = np.zeros(table.people.shape), np.zeros(table.blocks)
    model.fit(seen, strata, means, variances)
    sealed = table.added(left).astype(np.int64)
    block, take = bets.plan(sealed, means, variances, stake)
    cells = (block[:, None] * table.groups + np.arange(table.groups)).ravel()
    sums = fill_urns(table, left, rng).unseal(cells, take.ravel()).reshape(take.shape)
    log_wealth, moved = bets.play(seen, strata, block, take, sums, stake)
    return log_wealth, stake, float(people), moved


def _pilot(table: RateTable, rng: np.random.Generator) -> tuple[IntArray, model.Seen]:
    """Return how many people of each entry are in the pilot, and what it shows."""
    strata = int(table.strata.max()) + 1
    pilot = draw_share(table.count, PILOT, rng)
    seen = model.Seen(table.added(pilot), table.added(pilot * table.value), table.strata)
    means, variances = np.zeros(table.people.shape), np.zeros(table.blocks)
    spread, error, effect = model.fit(seen, strata, means, variances)
    if spread > SURE * error and 2 * spread > effect**2:
        pilot = pilot + draw_share(table.count - pilot, (LONG_PILOT - PILOT) / (1 - PILOT), rng)
        seen = model.Seen(table.added(pilot), table.added(pilot * table.value), table.strata)
    return pilot, seen


def _stake(seen: model.Seen, strata: int, people: int, alpha: float) -> float:
    """Return λ: the best against a normal sum with the variance that the pilot lets expect."""
    size = model.block_size(seen.people, float(people))
    variance = max(people, 1) * model.variance_of_gains(seen, strata, size)
    return min(math.sqrt(2 * math.log(1 / alpha) / variance), bets.MOST_STAKE)
