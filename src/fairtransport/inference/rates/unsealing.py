"""From a table to wealth: random orders of the people, a pilot, and tuples unsealed after it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.inference.rates import bets, model
from fairtransport.inference.rates.orders import draw_share, fill_urns

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.inference.rates.orders import Urns
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
    """Return what bets on so many random orders come to.

    Parameters
    ----------
    table
        The sample.
    orders
        How many orders; each has a random stream of its own.
    alpha
        The level that stakes are made for.
    rng
        Where the streams come from.
    """
    rows = [one_order(table, alpha, stream) for stream in rng.spawn(orders)]
    return Wealths(*np.array(rows).T.copy())


def one_order(
    table: RateTable, alpha: float, rng: np.random.Generator
) -> tuple[float, float, float, float]:
    """Return log W, λ, N and Σ A·D of one random order.

    Parameters
    ----------
    table
        The sample.
    alpha
        The level that stakes are made for.
    rng
        This order's stream.

    Notes
    -----
    Whether the pilot grows depends on what it showed, and who joins it on chance alone: the
    others are still independent draws from the population.
    """
    pilot = draw_share(table.count, PILOT, rng)
    seen = _shown(table, pilot)
    if signs_differ(seen):
        # the chance of those left over that makes LONG_PILOT in all
        pilot = pilot + draw_share(table.count - pilot, (LONG_PILOT - PILOT) / (1 - PILOT), rng)
        seen = _shown(table, pilot)
    sealed = table.count - pilot
    design = table.added(sealed).astype(np.int64)
    return bet_after(seen, design, fill_urns(table, sealed, rng), alpha)


def bet_after(
    seen: model.Seen, design: IntArray, urns: Urns, alpha: float
) -> tuple[float, float, float, float]:
    """Return log W, λ, N and Σ A·D of the people who are not in the pilot.

    What the pilot has ``seen`` fixes λ and, with the (blocks, groups) ``design`` of the others,
    who is in which tuple. Their losses are in the urns. What is unsealed is added to ``seen``.

    Parameters
    ----------
    seen
        The pilot's losses.
    design
        (blocks, groups) how many people are sealed: known, as their losses are not.
    urns
        The sealed losses.
    alpha
        The level that λ is made for.

    Returns
    -------
    log_wealth, stake, people, moved
        An entry of `Wealths`.
    """
    strata = _strata(seen)
    # λ from the pilot and N alone: were it to see the design, people with a large r could come
    # under a large λ, and the lemma would fail
    stake = _stake(seen, strata, int(design.sum()), alpha)
    means, variances = np.zeros(design.shape), np.zeros(len(design))
    model.fit(seen, strata, means, variances)
    block, take = bets.plan(design, means, variances, stake)
    groups = design.shape[1]
    cells = (block[:, None] * groups + np.arange(groups)).ravel()
    # drawn all at once, as who is in which tuple is fixed; `play` looks at them one by one
    sums = urns.unseal(cells, take.ravel()).reshape(take.shape)
    log_wealth, moved = bets.play(seen, strata, block, take, sums, stake)
    return log_wealth, stake, float(design.sum()), moved


def signs_differ(seen: model.Seen) -> bool:
    """Say whether cells of the pilot differ by more than their groups' effects do.

    Parameters
    ----------
    seen
        The pilot's losses.

    Notes
    -----
    Then the group that fares worst has to be found block by block, which takes more people
    than finding one for a stratum: a longer pilot pays.
    """
    means, variances = np.zeros(seen.people.shape), np.zeros(len(seen.people))
    spread, error, effect = model.fit(seen, _strata(seen), means, variances)
    return bool(spread > SURE * error and 2 * spread > effect**2)


def _shown(table: RateTable, pilot: IntArray) -> model.Seen:
    """Return the losses of the pilot's people by block and group.

    Parameters
    ----------
    table
        The sample.
    pilot
        By entry of the table: how many people are in the pilot.
    """
    return model.Seen(table.added(pilot), table.added(pilot * table.value), table.strata)


def _strata(seen: model.Seen) -> int:
    """Return the number of strata."""
    return int(seen.strata.max()) + 1


def _stake(seen: model.Seen, strata: int, people: int, alpha: float) -> float:
    """Return λ: the best against a normal sum with the variance that the pilot lets expect.

    Parameters
    ----------
    seen, strata
        The pilot's losses, and how many strata there are.
    people
        N, how many are sealed.
    alpha
        The level.
    """
    size = model.block_size(seen.people, float(people))
    variance = max(people, 1) * model.variance_of_gains(seen, strata, size)
    return min(math.sqrt(2 * math.log(1 / alpha) / variance), bets.MOST_STAKE)
