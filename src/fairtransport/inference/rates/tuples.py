"""Bets on tuples: their members, the group that is bet on, and the wealth, for several orders.

A tuple has some people of a target group and A movers of other groups of the same block. Wealth
is multiplied by 1 + f·D, D the mean loss of the targets minus that of the movers. The members of a
tuple, its target and f depend on the design and on losses observed before, and f <= λA with a λ
that the pilot fixed. So the mean wealth is at most Π(1 + λ r_i) over all people, for any rule: see
"Rates" in ``docs/theory.md``.

The blocks of all orders form one row, as in `cell_means`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.inference.rates.cell_means import (
    BlockSums,
    ObservedLosses,
    add_blocks,
    find_occupied,
    fit_effects,
    guess_means,
    split_blocks,
    sum_nothing,
)

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray, IntArray

TUPLE_ROUNDS = 8
"""Number of tuples of a block with enough people."""
MAX_TUPLE_STAKE = 0.8
"""Tuples are split further until λA is at most this."""
REFITS = 32
"""Number of refits of effects, besides those at the beginning of each round."""
MAX_BET = 0.9
"""Maximum f."""
MAX_KELLY_MULTIPLE = 4.0
"""Maximum f as a multiple of Kelly's fraction by the guessed means."""


class Tuples(NamedTuple):
    """Tuples block by block: their round, and (groups, tuples) people, in earlier rounds and here.

    ``fit`` is the number, within its order, of the fit for a tuple's guesses.
    """

    block: IntArray
    round: IntArray
    earlier: IntArray
    people: IntArray
    fit: IntArray


def plan_tuples(people: IntArray, rounds: IntArray, orders: int) -> Tuples:
    """Split the (groups, blocks) people of each block into the given numbers of tuples.

    The members of a tuple depend on the design and the pilot, never on unobserved losses.
    """
    block = np.repeat(np.arange(len(rounds)), rounds)
    many, own = rounds[block], people.take(block, axis=1)
    j = np.arange(len(block)) - np.repeat(np.cumsum(rounds) - rounds, rounds)
    # differences of a rounded line: sizes differ by one at most and add up to the group
    earlier = own * j // many
    own = own * (j + 1) // many - earlier
    return Tuples(block, j, earlier, own, _number_fits(block // (len(rounds) // orders), j, orders))


def _number_fits(order: IntArray, rounds: IntArray, orders: int) -> IntArray:
    """Return the number of each tuple's fit: one per round, and ``REFITS`` besides.

    Bets go by round, not by block, so that each block's later tuples profit from all earlier ones.
    A block has one tuple per round, so that no two tuples of a fit are of one block.
    """
    place = np.argsort(order * (rounds.max(initial=0) + 1) + rounds, kind="stable")
    tuples = np.bincount(order, minlength=orders)
    start = (np.cumsum(tuples) - tuples)[order]
    k = np.arange(len(order)) - start
    interval = np.maximum(tuples // REFITS, 1)[order]
    starts = (k == 0) | (k % interval == 0) | (np.diff(rounds[place], prepend=-1) != 0)
    fits = np.cumsum(starts)
    result = np.empty_like(fits)
    result[place] = fits - fits[start]
    return result


def count_rounds(
    past: ObservedLosses, sums: BlockSums, people: IntArray, stake: FloatArray
) -> IntArray:
    """Return the number of tuples of each block, from the pilot and the design."""
    fit, rounds = fit_effects(sums), np.zeros(people.shape[1], np.int64)
    shared = np.flatnonzero(np.count_nonzero(people, axis=0) > 1)
    for part in split_blocks(len(shared)):
        blocks = shared[part]
        seen = past.select(blocks)
        own_stake = stake[seen.strata // sums.losses.shape[1]]
        rounds[blocks] = cut_blocks(people.take(blocks, axis=1), *guess_means(seen, fit), own_stake)
    return rounds


def cut_blocks(
    people: IntArray, means: FloatArray, variances: FloatArray, stake: FloatArray
) -> IntArray:
    """Return the number of tuples of blocks with people of two groups or more.

    A block has at most as many tuples as people of its likely target group, and of the largest
    other group; each group is spread over them evenly.
    """
    total, largest = people.sum(axis=0), people.max(axis=0)
    # A is at most a tuple's people: this number of tuples, if there are enough people, keeps λA
    # below its limit
    parts = np.maximum(np.ceil(stake * total / MAX_TUPLE_STAKE).astype(np.int64), TUPLE_ROUNDS)
    g, _ = choose_target(means, variances, people, np.minimum(parts, total - largest), stake)
    others = np.where(np.arange(len(people))[:, None] == g, 0, people)
    targets = people[g, np.arange(len(g))]
    return np.asarray(np.minimum(parts, np.minimum(targets, others.max(axis=0))))


def choose_target(
    means: FloatArray, variance: FloatArray, people: IntArray, parts: IntArray | int,
    stake: FloatArray,
) -> tuple[IntArray, FloatArray]:  # fmt: skip
    """Return the group to bet on and f, by the guessed growth of wealth; -1 if there is none.

    The people of each group are split into ``parts``. Groups whose guessed mean is not above the
    target's are its movers.
    """
    # a tuple has at least one person of every group with people
    part = np.where(people > 0, np.maximum(people / parts, 1.0), 0.0)
    best = np.full(people.shape[1], -1.0)
    group, bet = np.full(len(best), -1), np.zeros(len(best))
    for g in range(len(people)):
        here = find_occupied(people, g)
        rises = means[g][here] - means[:, here]
        moved = part[:, here] * (rises >= 0.0)
        moved[g] = 0.0
        movers = moved.sum(axis=0)
        # a group without people cannot be the target
        some = np.flatnonzero((movers > 0.0) & (people[g][here] > 0))
        rise = np.einsum("gr,gr->r", moved, rises)[some] / movers[some]
        here, movers = np.arange(len(best))[here][some], movers[some]
        spread = variance[here] * (1.0 / part[g, here] + 1.0 / movers) + rise * rise
        # λA is the lemma's limit, .9 keeps 1 + fD positive as D >= −1; Kelly's is for power
        f = np.minimum(
            np.minimum(stake[here] * movers, MAX_BET), MAX_KELLY_MULTIPLE * rise / spread
        )
        # a cautious rate of growth, as f may exceed Kelly's fraction
        growth = f * rise - 0.5 * f * f * spread / MAX_KELLY_MULTIPLE
        better = growth > best[here]
        here = here[better]
        best[here], group[here], bet[here] = growth[better], g, f[better]
    return group, bet


def bet_on_tuples(
    past: ObservedLosses, sums: BlockSums, tuples: Tuples, losses: FloatArray, stake: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Bet on the tuples of all orders; return log W and the sum of A·D by order.

    ``past`` and its ``sums`` are the observations before all tuples, ``losses`` the sums of the
    people in them.

    A bet is a function of its block's losses in earlier rounds and of sums over tuples of earlier
    fits. As the members of tuples do not depend on the bets, these are known for all tuples at
    once, and nothing is computed in turn.
    """
    fits, (orders, strata) = int(tuples.fit.max(initial=0)) + 1, sums.losses.shape
    order, stratum = np.divmod(past.strata[tuples.block], strata)
    earlier = _sum_earlier(tuples, losses)
    # in these sums each fit counts as an order
    seen = past.select(tuples.block)
    seen = ObservedLosses(
        seen.people + tuples.earlier, seen.losses + earlier,
        (order * fits + tuples.fit) * strata + stratum,
    )  # fmt: skip
    fit = fit_effects(sum_before_fits(sums, seen, tuples.people, losses, fits))
    log_factor, gain = np.zeros((2, len(order)))
    for part in split_blocks(len(order)):
        means, variance = guess_means(seen.select(part), fit)
        # from losses observed before this tuple: E[1 + fD | past] <= 1 + λ Σ r over its movers
        people = tuples.people[:, part]
        g, f = choose_target(means, variance, people, 1, stake[order[part]])
        movers, difference = _compare_target(means, g, people, losses[:, part])
        log_factor[part], gain[part] = np.log1p(f * difference), movers * difference
    log_wealth, gains = (np.bincount(order, part, orders) for part in (log_factor, gain))
    return log_wealth.astype(float), gains.astype(float)


def _sum_earlier(tuples: Tuples, losses: FloatArray) -> FloatArray:
    """Return the sums of the losses of earlier tuples of the same block."""
    sums = np.cumsum(losses, axis=1) - losses
    return sums - sums.take(np.arange(len(tuples.round)) - tuples.round, axis=1)


def sum_before_fits(
    sums: BlockSums, seen: ObservedLosses, people: IntArray, losses: FloatArray, fits: int
) -> BlockSums:
    """Return the sums before each fit of each order, over tuples of earlier fits.

    ``seen`` has the observations of a tuple's block before it.
    """
    orders, strata = sums.losses.shape
    changes = sum_nothing(len(people), orders * fits, strata)
    for part in split_blocks(len(seen.strata)):
        before = seen.select(part)
        add_blocks(changes, before, -1.0)
        after = before.people + people[:, part], before.losses + losses[:, part]
        add_blocks(changes, ObservedLosses(*after, before.strata), 1.0)
    result = []
    for start, change in zip(sums, changes, strict=True):
        by_fit = change.reshape(*change.shape[:-2], orders, fits, strata)
        # without the fit's own tuples, whose losses are not observed yet
        known = start[..., None, :] + np.cumsum(by_fit, axis=-2) - by_fit
        result.append(known.reshape(change.shape))
    return BlockSums(*result)


def _compare_target(
    means: FloatArray, target: IntArray, people: IntArray, losses: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return A and D of tuples; each has people of its target and of a mover."""
    column = np.arange(len(target))
    is_mover = means <= means[target, column]
    is_mover[target, column] = False
    movers = (people * is_mover).sum(axis=0)
    theirs = (losses * is_mover).sum(axis=0)
    own = losses[target, column] / people[target, column]
    return movers, own - theirs / movers
