"""Attacks on shared documents by arithmetic: from a few exact means back to every count.

The attacker has the document and a model to ask, so that the loss and the gain at each point
are known, and looks for whole numbers of people that give the numbers of the document.
"""

from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

import numpy as np
from scipy.optimize import LinearConstraint, milp

NOISE = 1e-15
"""How far a mean in full precision may be off, for a sample of one."""

BITS = 60
"""Means are taken to this many binary places."""
STEP = 6
"""So many places more are looked at in each round; floats then hold all that is computed."""


def reduce_basis(basis, delta=0.99):
    """Return a shorter basis of the same lattice (Lenstra, Lenstra and Lovász), rows as vectors."""
    rows = basis.copy()
    size = len(rows)
    weights, norms = np.eye(size), np.zeros(size)
    away = rows.astype(float)
    for at in range(size):
        for other in range(at):
            weights[at, other] = rows[at] @ away[other] / norms[other]
            away[at] -= weights[at, other] * away[other]
        norms[at] = away[at] @ away[at]
    at = 1
    while at < size:
        for other in range(at - 1, -1, -1):
            times = round(weights[at, other])
            if times:
                rows[at] -= times * rows[other]
                weights[at, : other + 1] -= times * weights[other, : other + 1]
        before = at - 1
        slope = weights[at, before]
        if norms[at] >= (delta - slope**2) * norms[before]:
            at += 1
            continue
        norm = norms[at] + slope**2 * norms[before]
        weights[at, before] = slope * norms[before] / norm
        norms[at] *= norms[before] / norm
        norms[before] = norm
        rows[[before, at]] = rows[[at, before]]
        weights[[before, at], :before] = weights[[at, before], :before]
        later = weights[at + 1 :, [before, at]]
        weights[at + 1 :, at] = later[:, 0] - slope * later[:, 1]
        weights[at + 1 :, before] = later[:, 1] + weights[at, before] * weights[at + 1 :, at]
        at = max(before, 1)
    return rows


def whole_numbers(measures, totals, errors, typical):
    """Return whole numbers >= 0 with given weighted sums, or None where none are found.

    ``measures`` has one row of weights for each of ``totals``, known up to ``errors``;
    ``typical`` is a first guess of each number.
    """
    size = measures.shape[1]
    exact = np.array([[round(w * 2**BITS) for w in row] for row in measures.tolist()], object)
    wanted = np.array([round(total * 2**BITS) for total in totals.tolist()], object)
    wanted -= exact @ typical.astype(object)
    # how often the numbers looked for are in a vector is its last entry before the misses
    weigh = np.vstack([exact.T, -wanted])
    scale = max(1, round(np.median(typical)))
    found = np.diag([1] * size + [scale]).astype(np.int64)
    finest = np.floor(-np.log2(errors)).astype(int)
    for place in range(STEP, finest.max() + STEP, STEP):
        multiples = found.astype(object)
        multiples[:, -1] //= scale
        shifts = BITS - np.minimum(place, finest)
        misses = [
            [int(miss) >> int(shift) for miss, shift in zip(row, shifts, strict=True)]
            for row in (multiples @ weigh).tolist()
        ]
        found = reduce_basis(np.column_stack([found, np.array(misses)]))[:, : size + 1]
    for row in found[np.abs(found[:, -1]) == scale]:
        counts = row[:-1] * (row[-1] // scale) + typical
        if (np.abs(measures @ counts - totals) <= errors).all() and (counts >= 0).all():
            return counts
    return None


@dataclass
class Known:
    """What a document says of sums over people: ``low <= weights @ counts <= high``."""

    weights: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def allows(self, counts):
        """Tell which rows of counts agree with all that is known."""
        sums = np.atleast_2d(counts) @ self.weights.T
        return ((sums >= self.low) & (sums <= self.high)).all(axis=1)


def gains_of(result):
    """Return how much worse the model does at the worst twin of each point, by asking it."""
    space, losses = result.space, result.problem.losses
    others = [name for name in space.columns if name not in space.sensitive]
    blocks = space.groups(others)
    worst = np.full(blocks.max() + 1, -np.inf)
    np.maximum.at(worst, blocks, losses)
    return worst[blocks] - losses


def people_within(number, document, times=1):
    """Return the numbers of people that a number of the document may stand for."""
    room = 0.0 if document.suppression is None else times * document.suppression.at_least / 2
    return number - room - NOISE, number + room + NOISE


def hidden_within(document):
    """Return how many people may be in moves that are not shown."""
    hidden = document.suppression
    if hidden is not None:
        # totals of few-people cells may be told lower than they are
        return hidden.moved_hidden - hidden.at_least, np.inf
    rest = document.moved - sum(move.people for move in document.moves)
    return rest, rest


def known_sums(document, result):
    """Return what a document tells of the counts of a free audit with a model to ask."""
    space, losses, gains = result.space, result.problem.losses, gains_of(result)
    points, n = space.frame(library="pandas"), document.n
    room = n * (NOISE if document.suppression is None else document.suppression.step / 2 + NOISE)
    rows = [(np.ones(space.size), n, n)]
    for weights, mean in ((gains, document.statistic), (losses, document.baseline_risk)):
        rows.append((weights, n * mean - room, n * mean + room))
    for group in document.groups:
        if group.people is not None:
            within = people_within(group.people, document, times=2)
            rows.append((_at(points, group.group), *within))
    others = (gains > 0).astype(float)
    for move in document.moves:
        here = _at(points, {**move.from_profile, space.label: move.label})
        rows.append((here, *people_within(move.people, document)))
        others -= here
    rows.append((others, *hidden_within(document)))
    told = {one.method: one for one in document.methods}.get("limit-law")
    if document.suppression is None and told is not None:
        z = NormalDist().inv_cdf(1 - document.alpha)
        spread = (told.upper_bound - document.statistic) * np.sqrt(n) / z
        squares = n * (spread**2 + document.statistic**2)
        rows.append((gains**2, squares - 4 * room, squares + 4 * room))
    weights, low, high = zip(*rows, strict=True)
    return Known(np.array(weights), np.array(low, float), np.array(high, float))


def _at(points, place):
    found = [points[name] == level for name, level in place.items()]
    return np.logical_and.reduce(found).astype(float)


def invert(document, result):
    """Return counts that the document's sums give by lattice reduction; None if none are found."""
    known = known_sums(document, result)
    known = Known(*(part[np.isfinite(known.high)] for part in vars(known).values()))
    middle, room = (known.low + known.high) / 2, np.maximum((known.high - known.low) / 2, NOISE)
    single = known.weights.sum(axis=1) == 1
    typical = np.zeros(result.space.size)
    typical[known.weights[single].argmax(axis=1)] = middle[single]
    rest = typical == 0
    typical[rest] = (document.n - typical.sum()) / max(1, rest.sum())
    return whole_numbers(known.weights, middle, room, np.round(typical).astype(np.int64))


def limits(known, cell):
    """Return the fewest and the most people that a cell can have, as a whole-number program."""
    ends = []
    for sign in (1, -1):
        aim = np.zeros(known.weights.shape[1])
        aim[cell] = sign
        found = milp(
            aim,
            constraints=LinearConstraint(known.weights, known.low, known.high),
            integrality=np.ones(len(aim)),
        )
        ends.append(round(found.x[cell]))
    return tuple(ends)


def all_counts(size, n):
    """Return all ways to put n people into some cells, one a row."""
    dividers = np.array(list(combinations(range(n + size - 1), size - 1)))
    ends = np.full((len(dividers), 1), n + size - 1)
    return np.diff(np.hstack([-np.ones_like(ends), dividers, ends]), axis=1) - 1
