"""Several answers to each question: their mean losses, and what sample and draws say of these."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.inference.rates.random_answers import DrawnLosses, random_answers_law
from fairtransport.progress import drawing
from fairtransport.similarity.base import label_columns
from fairtransport.space.columns import object_array

if TYPE_CHECKING:
    from fairtransport.access.oracle import AnsweredPoints, Oracle
    from fairtransport.checks import FloatArray, IntArray, Values
    from fairtransport.geometry import Geometry
    from fairtransport.inference.rates.random_answers import RandomAnswersLaw
    from fairtransport.settings import AuditSettings
    from fairtransport.space import SampleSpace

NOTE = (
    "Answers are random: the statistic and its bounds are about mean losses, the worst twin chosen "
    "on some draws and measured on others, so that noise is not counted. The tables of swaps use "
    "the means of all draws, whose noise they contain, and the most frequent answer to a question "
    "as its prediction. Nothing can be certified from draws."
)


def answer_in_draws(
    oracle: Oracle, space: SampleSpace, draws: int
) -> tuple[AnsweredPoints, FloatArray]:
    """Return the answers with their mean losses, and (K, draws) the loss in each draw.

    Parameters
    ----------
    oracle
        Asks.
    space
        The audit's points.
    draws
        How many answers to each question.
    """
    said = []
    for draw in range(draws):
        with drawing(draw, draws):
            said.append(oracle.answer(space, draw))
    losses = np.column_stack([one.losses for one in said])
    together = replace(
        said[0], losses=losses.mean(axis=1),
        predictions=_usual([one.predictions for one in said]),
    )  # fmt: skip
    return together, losses


def law_of_draws(
    settings: AuditSettings, space: SampleSpace, oracle: Oracle, geometry: Geometry,
    losses: FloatArray, limits: tuple[float, float],
) -> RandomAnswersLaw:  # fmt: skip
    """Return what the people and the draws say about ψ of mean losses.

    Parameters
    ----------
    settings
        The level and the seed.
    space, oracle, geometry
        The points, which of them ask the same question, and who is comparable.
    losses
        (K, draws).
    limits
        The least and the largest loss.
    """
    width = limits[1] - limits[0]
    blocks = np.unique(geometry.blocks, return_inverse=True)[1].reshape(-1)
    drawn = DrawnLosses(
        (losses - limits[0]) / width, space.counts, blocks, _places(blocks),
        _clusters(blocks, oracle.questions(space)[1]), space.groups(label_columns(space)),
    )  # fmt: skip
    if (groups := space.sensitive_groups).size and _one_each(blocks, groups):
        drawn = drawn._replace(groups=groups)
    return random_answers_law(
        drawn, alpha=settings.alpha, seed=settings.seed, width=width, notes=(NOTE,)
    )


def _one_each(blocks: IntArray, groups: IntArray) -> bool:
    """Say whether a block has at most one point of each group.

    Parameters
    ----------
    blocks, groups
        By point.

    Examples
    --------
    >>> _one_each(np.array([0, 0, 1]), np.array([0, 1, 0]))
    True
    >>> _one_each(np.array([0, 0]), np.array([1, 1]))
    False
    """
    return len(np.unique(np.column_stack([blocks, groups]), axis=0)) == len(blocks)


def _places(blocks: IntArray) -> IntArray:
    """Return which point of its block each point is.

    Parameters
    ----------
    blocks
        By point, numbered from 0 on.

    Examples
    --------
    >>> _places(np.array([1, 0, 1, 1])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(blocks, kind="stable")
    sizes = np.bincount(blocks)
    places = np.empty(len(blocks), np.int64)
    places[order] = np.concatenate([np.arange(size) for size in sizes])
    return places


def _clusters(blocks: IntArray, questions: IntArray) -> IntArray:
    """Return sets of points whose draws can depend on each other.

    Points that ask the same question share its draws, and blocks are betted on as a whole.

    Parameters
    ----------
    blocks, questions
        By point, numbered from 0 on.

    Examples
    --------
    Points 0 and 1 share a block, 1 and 2 a question; point 3 is on its own.

    >>> _clusters(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2])).tolist()
    [0, 0, 0, 1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = int(blocks.max()) + 1 + int(questions.max()) + 1
    links = coo_array(
        (np.ones(len(blocks)), (blocks, int(blocks.max()) + 1 + questions)), shape=(size, size)
    )
    found = connected_components(links, directed=False)[1][blocks]
    return np.unique(found, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _usual(said: list[Any]) -> Values:
    """Return the mean of numbers, or the most frequent label; the first of several such.

    Parameters
    ----------
    said
        The answers of each draw, point by point.

    Examples
    --------
    >>> _usual([np.array([0.0, 1.0]), np.array([1.0, 1.0])]).tolist()
    [0.5, 1.0]
    >>> _usual([np.array(["no"]), np.array(["yes"]), np.array(["yes"])]).tolist()
    ['yes']
    """
    if all(one.dtype.kind == "f" for one in said):
        return np.asarray(np.mean(said, axis=0))
    votes = zip(*(one.tolist() for one in said), strict=True)
    return object_array([Counter(one).most_common(1)[0][0] for one in votes])
