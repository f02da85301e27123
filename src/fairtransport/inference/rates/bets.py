"""Compiled betting on tuples: whom to unseal, which group is bet on, and the wealth.

A tuple has some people of a target group and A movers of other groups of the same block. Wealth
is multiplied by 1 + f·D, D the mean loss of the targets less that of the movers. Who is in a
tuple, its target and f depend on the design and on losses unsealed before, and f <= λA with a λ
that the pilot fixed. So the mean wealth is at most Π(1 + λ r_i) over all people, whatever the
rule: see "Rates" in ``docs/theory.md``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from fairtransport.inference.rates.model import Seen, fit

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray

ROUNDS = 8
"""Tuples that a block is cut into, if there are people for so many."""
FILL = 0.8
"""Tuples are cut further until λA is no more than this."""
FITS = 32
"""How often cell means are guessed anew, beside at the beginning of each round."""
MOST = 0.9
"""The largest f."""
MOST_STAKE = 0.75
"""The largest λ: one mover is worth no more, as f is limited."""
KELLY = 4.0
"""f is at most so many times what would make wealth grow fastest by the guess."""


@njit(cache=True)
def target(
    means: FloatArray, variance: float, people: IntArray, parts: int, stake: float
) -> tuple[int, float]:
    """Return the group to bet on and f, by the guessed growth of wealth; -1 if there is none.

    The people of each group are cut into so many parts. Groups whose guessed mean is not above
    the target's are its movers.

    Parameters
    ----------
    means
        By group: the guessed means of losses in the block.
    variance
        The guessed variance of a loss there.
    people
        By group: the people at hand.
    parts
        Into how many tuples they are to be cut.
    stake
        λ, fixed by the pilot.

    Returns
    -------
    group
        The target, −1 if no other group has people to be moved.
    f
        The bet, at most min(λA, .9): λA keeps the promise of the lemma, .9 keeps wealth positive
        as D >= −1.

    Examples
    --------
    The second group is guessed to fare worse: it is the target, the first one's two people move.

    >>> means, people = np.array([0.2, 0.6]), np.array([2, 1])
    >>> group, bet = target(means, 0.2, people, 1, 0.1)
    >>> group, round(bet, 3)
    (1, 0.2)
    """
    best, chosen, bet = -1.0, -1, 0.0
    for g in range(len(means)):
        # nobody of the group is at hand who could be a target
        if people[g] == 0:
            continue
        movers, rise = 0.0, 0.0
        for s in range(len(means)):
            if s != g and people[s] > 0 and means[s] <= means[g]:
                # a tuple has whole people: one at least of every group that has any
                part = max(people[s] / parts, 1.0)
                movers += part
                rise += part * (means[g] - means[s])
        if movers == 0.0:
            continue
        rise /= movers
        spread = variance * (1.0 / max(people[g] / parts, 1.0) + 1.0 / movers) + rise * rise
        # λA is the lemma's limit, .9 keeps 1 + fD positive as D >= −1; Kelly's is for power
        f = min(stake * movers, MOST, KELLY * rise / spread)
        # not quite the growth: as f may exceed Kelly's, so may what it risks
        growth = f * rise - 0.5 * f * f * spread / KELLY
        if growth > best:
            best, chosen, bet = growth, g, f
    return chosen, bet


@njit(cache=True)
def plan(
    sealed: IntArray, means: FloatArray, variances: FloatArray, stake: float
) -> tuple[IntArray, IntArray]:
    """Return the blocks of all tuples, round after round, and (tuples, groups) their people.

    A block has no more tuples than people of the group that is guessed to be the target, nor
    than those of the largest other one; each group is spread over them evenly.

    Parameters
    ----------
    sealed
        (blocks, groups) the people who are not in the pilot.
    means, variances
        Guesses of `fit` from the pilot.
    stake
        λ. Tuples are cut until λA is at most ``FILL``: more would be given away, as f <= .9.

    Returns
    -------
    block
        By tuple: its block.
    take
        (tuples, groups) how many people of each group are unsealed with it. Every person of a
        block with tuples is in one of them.

    Notes
    -----
    Who is in a tuple depends on the design and the pilot, never on a sealed loss.
    """
    blocks, groups = sealed.shape
    rounds = np.zeros(blocks, np.int64)
    for b in range(blocks):
        total = sealed[b].sum()
        others = total - sealed[b].max()
        if others == 0:
            continue
        # A is at most a tuple's people: in so many tuples, if there are people for them, λA <= FILL
        wanted = max(ROUNDS, math.ceil(stake * total / FILL))
        g, _ = target(means[b], variances[b], sealed[b], min(wanted, others), stake)
        partner = 0
        for s in range(groups):
            if s != g:
                partner = max(partner, sealed[b, s])
        rounds[b] = min(wanted, sealed[b, g], partner)
    block = np.empty(rounds.sum(), np.int64)
    take = np.empty((len(block), groups), np.int64)
    at = 0
    # round after round, not block after block: each block's later tuples profit from all earlier
    # ones
    for j in range(rounds.max()):
        for b in range(blocks):
            if j < rounds[b]:
                block[at] = b
                for s in range(groups):
                    many = sealed[b, s]
                    # differences of a rounded line: sizes differ by one at most and add up to the
                    # group
                    take[at, s] = many * (j + 1) // rounds[b] - many * j // rounds[b]
                at += 1
    return block, take


@njit(cache=True)
def play(
    seen: Seen, strata: int, block: IntArray, take: IntArray, sums: FloatArray, stake: float
) -> tuple[float, float]:
    """Unseal the tuples one after the other; return log W and the sum of A·D.

    ``sums`` has the losses of the people in ``take``; those of a tuple are looked at after its
    target and f are chosen. What is unsealed is added to ``seen``.

    Parameters
    ----------
    seen
        What the pilot showed; it grows as tuples are unsealed.
    strata
        How many strata there are.
    block, take
        The tuples, from `plan`.
    sums
        (tuples, groups) sums of the losses of the people in ``take``.
    stake
        λ.

    Returns
    -------
    log_wealth
        log Π(1 + f·D).
    moved
        ΣA·D, of which the estimate is made: its mean is at most the sum of all r.
    """
    blocks, groups = seen.people.shape
    means, variances = np.zeros((blocks, groups)), np.zeros(blocks)
    # beyond any block, so that the first tuple fits
    before, often = blocks, max(len(block) // FITS, 1)
    log_wealth, moved = 0.0, 0.0
    for k in range(len(block)):
        b = block[k]
        if b <= before or k % often == 0:  # a new round, or much was learnt since
            fit(seen, strata, means, variances)
        before = b
        # from losses unsealed before this tuple: E[1 + fD | past] <= 1 + λ Σ r over its movers
        g, f = target(means[b], variances[b], take[k], 1, stake)
        if g >= 0:
            movers, theirs = 0.0, 0.0
            for s in range(groups):
                if s != g and means[b, s] <= means[b, g]:
                    movers += take[k, s]
                    theirs += sums[k, s]
            difference = sums[k, g] / take[k, g] - theirs / movers
            log_wealth += math.log(1.0 + f * difference)
            moved += movers * difference
        for s in range(groups):
            # only now may later guesses know of this tuple
            seen.people[b, s] += take[k, s]
            seen.losses[b, s] += sums[k, s]
    return log_wealth, moved
