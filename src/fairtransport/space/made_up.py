"""Made-up points: twins that nobody in the data is, beside the people whose twins they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.space.columns import merge_columns
from fairtransport.space.counting import merge_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtransport.checks import BoolArray, IntArray
    from fairtransport.space.columns import CodedColumn
    from fairtransport.space.sample_space import SampleSpace


@dataclass(frozen=True, eq=False)
class MadeUp:
    """Who may be swapped with which made-up twin.

    Attributes
    ----------
    person, twin
        (M,) points of a space: somebody's, and that of a twin of theirs.
    along
        (M,) whether the twin differs in what tells the sensitive features, or in these.
    from_the_sample
        Whether the people whom twins were made to look like are those of the space, or mostly.
    """

    person: IntArray
    twin: IntArray
    along: BoolArray
    from_the_sample: bool = False


def with_made_up(
    space: SampleSpace, person: IntArray, columns: Mapping[str, CodedColumn], along: BoolArray
) -> SampleSpace:
    """Return a space with further points: those of ``person``, changed in some columns.

    Parameters
    ----------
    space
        The points of people, and of their twins over the sensitive levels if it has any.
    person
        (M,) whose twin each further point is.
    columns
        The twins' values in the columns that may differ.
    along
        (M,) whether a twin differs in what tells the sensitive features.

    Returns
    -------
    SampleSpace
        Points are sorted again; a twin that equals somebody in the data is that point. With
        twins over sensitive levels, the pairs of these are listed too.
    """
    size = space.size
    longer = {
        name: (
            merge_columns(column, columns[name]).of_type(column.asked_as or column.levels.dtype)
            if name in columns
            else column.take(np.r_[np.arange(size), person])
        )
        for name, column in space.columns.items()
    }
    counts = np.r_[space.counts, np.zeros(len(person), np.int64)]
    merged, place = merge_rows(longer, counts)
    order = np.lexsort([merged.columns[name].ranks for name in reversed([*space.columns])])
    rank = np.empty(len(order), np.int64)
    # where each old place went
    rank[order] = np.arange(len(order))
    place = rank[place]
    siblings = _siblings(space)
    return replace(
        space,
        columns={name: merged.columns[name].take(order) for name in space.columns},
        counts=merged.counts[order],
        made_up=_distinct(
            np.r_[place[person], place[siblings[0]]],
            np.r_[place[size:], place[siblings[1]]],
            np.r_[along, np.ones(len(siblings[0]), bool)],
        ),
    )


def _siblings(space: SampleSpace) -> tuple[IntArray, IntArray]:
    """Return pairs of an observed point and another one of the same family.

    A model that receives no sensitive feature cannot tell them apart.

    Parameters
    ----------
    space
        The points.

    Returns
    -------
    first, second
        Empty without twins, and where the model cannot tell twins apart.
    """
    if not space.has_twins or not set(space.sensitive) & set(space.features):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    family = space.families
    order = np.argsort(family, kind="stable")
    size = np.bincount(family)
    start = np.cumsum(size) - size
    seen = np.flatnonzero(space.observed)
    many = size[family[seen]]
    first = np.repeat(seen, many)
    within = np.arange(len(first)) - np.repeat(np.cumsum(many) - many, many)
    second = order[np.repeat(start[family[seen]], many) + within]
    other = first != second
    return first[other], second[other]


def _distinct(person: IntArray, twin: IntArray, along: BoolArray) -> MadeUp:
    """Return each pair once, as one that is not along if it can be had so.

    Parameters
    ----------
    person, twin
        Points, pair by pair; nobody is a twin of themselves.
    along
        Whether each pair differs in what tells the sensitive features.
    """
    keep = person != twin
    person, twin, along = person[keep], twin[keep], along[keep]
    # of equal pairs the one that is not along comes first, and is kept
    order = np.lexsort((along, twin, person))
    pairs = np.column_stack([person, twin])[order]
    first = np.ones(len(order), bool)
    first[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    chosen = order[first]
    return MadeUp(person[chosen], twin[chosen], along[chosen])
