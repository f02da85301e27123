"""Notes on whom people are compared with: declared and observed combinations, impossible twins."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport._core.notes import Figure, Note
from fairtransport.data.one_hot import MAX_FALSE_ALARM, find_feature_name, find_rare_cells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtransport._core.validation import BoolArray, IntArray
    from fairtransport.data import SampleSpace

MAX_TABLE_LEVELS = 1000
"""Columns with more levels are not searched: each of them has too few people."""
MIN_IMPOSSIBLE_SHARE = 0.1
"""Rare combinations are worth a note from this share of the alternatives on."""


class ImpossibleTwins(NamedTuple):
    """A sensitive column and another one with combinations that hardly anybody has."""

    sensitive: str
    other: str
    share: float
    example: str


def describe_alternatives(space: SampleSpace) -> Iterator[str]:
    """Say which combinations of sensitive features people are compared at."""
    for names in space.observed_sets:
        yield Note(
            "Twins take the combinations of {names} that occur in the data, which depend on the "
            "sample: nothing can be certified. Declare the combinations in `together` if you know "
            "them all.",
            names=" and ".join(names),
        )
    for one in space.column_sets:
        if one.is_partial:
            yield Note(
                "People are compared only at the declared values of {names}; those who have others "
                "keep them and are compared at these only.",
                names=" and ".join(one.columns),
            )
    only_twins = space.has_twins and space.family is None
    for pair in find_impossible_twins(space) if only_twins else ():
        yield Note(
            "About {percent:.0f} % of the alternatives combine {first} and {second} as hardly "
            "anybody in the data does, if anybody, such as {example}. If the two can only change "
            "together, pass `together=[[{first!r}, {second!r}]]`.",
            percent=Figure(100 * pair.share), first=pair.sensitive, second=pair.other,
            example=pair.example,
        )  # fmt: skip


def find_impossible_twins(space: SampleSpace) -> list[ImpossibleTwins]:
    """Return the columns that a sensitive one restricts so much that many twins cannot exist.

    Notes
    -----
    A combination counts as impossible if it occurs at most a hundredth as often as independent
    columns would make it occur, and an exact binomial test, at a level that is shared by all
    combinations, says that this is no chance. So independent columns make a note with probability
    .001 at most, whatever their number and that of the people.
    """
    sets = {name: one.columns for one in space.column_sets for name in one.columns}
    others = [name for name in space.profile if name not in space.sensitive]
    # what the model does not receive changes no answer
    received = [name for name in space.sensitive if name in space.features]
    pairs = [*combinations(received, 2)]
    pairs += [(name, other) for name in received for other in others]
    tables = {
        (name, other): _count_pairs(space, name, other)
        for name, other in pairs
        if other not in sets[name] and len(space.columns[other].levels) <= MAX_TABLE_LEVELS
    }
    cells = sum(table.size for table in tables.values())
    impossible: dict[tuple[str, str], ImpossibleTwins] = {}
    for (name, other), table in tables.items():
        rare = find_rare_cells(table, MAX_FALSE_ALARM / cells)
        # people with a level of the other column who would get the sensitive level
        changes = (table.sum(axis=0) - table) * _has_points(space, name)[:, None]
        share = float((changes * rare).sum() / max(1, changes.sum()))
        if not share:
            continue
        row, column = divmod(int((changes * rare).argmax()), table.shape[1])
        example = f"{name} = {_level(space, name, row)} with {other} = "
        pair = ImpossibleTwins(
            name, find_feature_name(other, space.columns), share,
            example + _level(space, other, column),
        )  # fmt: skip
        # each column of a one-hot feature has people of its own
        former = impossible.get(pair[:2])
        larger = pair if former is None or former.share < share else former
        total = share + (0.0 if former is None else former.share)
        impossible[pair[:2]] = larger._replace(share=min(1.0, total))
    pairs_of_note = [pair for pair in impossible.values() if pair.share >= MIN_IMPOSSIBLE_SHARE]
    return sorted(pairs_of_note, key=lambda pair: -pair.share)


def _has_points(space: SampleSpace, name: str) -> BoolArray:
    """Return which levels of a column some point has; the missing one comes last."""
    column = space.columns[name]
    return np.bincount(column.ranks, minlength=len(column.levels) + 1) > 0


def _count_pairs(space: SampleSpace, name: str, other: str) -> IntArray:
    """Return (levels, levels) how many people have each combination; missing values come last."""
    rows = space.observed
    first, second = space.columns[name].take(rows), space.columns[other].take(rows)
    shape = len(first.levels) + 1, len(second.levels) + 1
    places = np.ravel_multi_index((first.ranks, second.ranks), shape)
    counts = np.bincount(places, space.counts[rows], minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.int64)


def _level(space: SampleSpace, name: str, place: int) -> str:
    """Return a level of a column in words."""
    levels = space.columns[name].levels.tolist()
    return "missing" if place == len(levels) else str(levels[place])
