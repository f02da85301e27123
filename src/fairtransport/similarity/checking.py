"""check(): what a similarity calls comparable, in words and figures, before any model is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from fairtransport.checks import generator, number, whole
from fairtransport.documents import Doc
from fairtransport.errors import DataError, InputError
from fairtransport.geometry.reach import reaches_other
from fairtransport.similarity.base import plain
from fairtransport.similarity.registry import as_similarity
from fairtransport.space import build_space

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairtransport.checks import IntArray
    from fairtransport.geometry import Geometry
    from fairtransport.similarity.base import Similarity
    from fairtransport.space import SampleSpace
    from fairtransport.space.reader import TableLike

PAIRS = 8
"""So many pairs are told."""
TRIES = 5
"""For each pair so many people are looked at; some have nobody."""
CHANGES = 40
"""So many changes of a column are tried."""


@dataclass(frozen=True)
class SimilarPair:
    """A person and the nearest comparable one of another sensitive group.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 50, "age": [30, 31, 40, 41] * 25})
    >>> found = ft.similarity.check(ft.similarity.MixedTabular(scales={"age": 5}), people,
    ...                             sensitive_features="sex", budget=0.1, rng=0)
    >>> pair = found.pairs[0]
    >>> round(pair.squared_distance, 2)
    0.04
    """

    first: Annotated[dict[str, str | int | float | bool | None], Doc("The one.")]
    second: Annotated[dict[str, str | int | float | bool | None], Doc("The other.")]
    squared_distance: Annotated[float, Doc("How far apart they are, as a squared distance.")]

    @property
    def words(self) -> str:
        """The pair in a line: what differs, how far that is, and what is the same.

        Returns
        -------
        str

        Examples
        --------
        >>> pair.words
        'sex m → f, age 31 → 30 (squared distance 0.04); the same: nothing'
        """
        differ = [name for name, value in self.first.items() if self.second[name] != value]
        changed = ", ".join(
            f"{name} {_word(self.first[name])} → {_word(self.second[name])}" for name in differ
        )
        same = ", ".join(
            f"{name} {_word(value)}" for name, value in self.first.items() if name not in differ
        )
        far = f"squared distance {self.squared_distance:.3g}" if self.squared_distance else "free"
        return f"{changed} ({far}); the same: {same or 'nothing'}"


@dataclass(frozen=True)
class ColumnDistance:
    """What it costs to give people somebody else's value in one column.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 50, "age": [30, 31, 40, 41] * 25})
    >>> found = ft.similarity.check(ft.similarity.MixedTabular(scales={"age": 5}), people,
    ...                             sensitive_features="sex", budget=0.1, rng=0)
    >>> [(one.column, one.free, one.cost and round(one.cost, 2)) for one in found.columns]
    [('sex', 1.0, None), ('age', 0.0, 4.0)]
    """

    column: Annotated[str, Doc("The column.")]
    free: Annotated[float | None, Doc("The share of such changes that are free; null: unknown.")]
    forbidden: Annotated[float | None, Doc("The share of them that are not allowed.")]
    cost: Annotated[float | None, Doc("The median squared distance of the others; null if none.")]

    @property
    def words(self) -> str:
        """What a change costs, without the column's name.

        Returns
        -------
        str

        Examples
        --------
        >>> [one.words for one in found.columns]
        ['free', 'squared distance 4 (median)']
        """
        if self.free is None or self.forbidden is None:
            return "not known for values that nobody has"
        parts = []
        if self.cost is not None:
            rest = 1 - self.free - self.forbidden
            parts.append(f"squared distance {self.cost:.3g} (median)" + _of_changes(rest))
        if self.free:
            parts.append("free" + _of_changes(self.free))
        if self.forbidden:
            parts.append("not allowed" + _of_changes(self.forbidden))
        return ", ".join(parts)


@dataclass(frozen=True, repr=False)
class SimilarityCheck:
    """What a similarity calls comparable among some people.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 50, "age": [30, 31, 40, 41] * 25})
    >>> found = ft.similarity.check(ft.similarity.MixedTabular(scales={"age": 5}), people,
    ...                             sensitive_features="sex", budget=0.1, rng=0)
    >>> found.n, found.comparable_share
    (100, 1.0)
    >>> found.columns[0].words
    'free'
    """

    description: Annotated[str, Doc("Who is comparable, in words.")]
    n: Annotated[int, Doc("The number of people.")]
    sensitive: Annotated[tuple[str, ...], Doc("The sensitive features.")]
    budget: Annotated[float, Doc("The budget; without one, only free moves count for the share.")]
    comparable_share: Annotated[
        float, Doc("The share of people with somebody comparable of another sensitive group.")
    ]
    kept_variance: Annotated[
        float | None,
        Doc("The share of the features' variance that a learned distance counts; else null."),
    ]
    pairs: Annotated[
        tuple[SimilarPair, ...],
        Doc("People at random, each with the nearest comparable person of another group."),
    ]
    columns: Annotated[tuple[ColumnDistance, ...], Doc("What a change of each column alone costs.")]

    @property
    def variance_words(self) -> str | None:
        """How much a learned distance took out; None where nothing was learned.

        Returns
        -------
        str | None

        Examples
        --------
        >>> print(found.variance_words)
        None
        """
        if self.kept_variance is None:
            return None
        return (
            f"The distance counts {100 * self.kept_variance:.3g} % of the features' variance; "
            f"{100 * (1 - self.kept_variance):.3g} % were taken out."
        )

    def __repr__(self) -> str:
        freely = "" if self.budget > 0 else ", to whom a move is free"
        lines = [
            f"Similarity of {self.n:,} people",
            self.description,
            (
                f"{100 * self.comparable_share:.3g} % of them have somebody comparable with "
                f"another {' or '.join(self.sensitive)}{freely}."
            ),
            *filter(None, [self.variance_words]),
            "",
            "Nearest comparable people of another group, for people at random:",
            *(f"  {pair.words}" for pair in self.pairs),
            *([] if self.pairs else ["  nobody has one"]),
            "",
            "What it costs to have somebody else's value in one column:",
            *(f"  {one.column}: {one.words}" for one in self.columns),
        ]
        return "\n".join(lines)


def check(
    similarity: object,
    X: TableLike,  # noqa: N803
    y: object = None,
    *,
    sensitive_features: object = None,
    features: Sequence[str] | None = None,
    counts: str | None = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    missing: str = "error",
    budget: float = 0.0,
    pairs: int = PAIRS,
    rng: object = 0,
) -> SimilarityCheck:
    """Say what a similarity calls comparable among the people of a table.

    Parameters
    ----------
    similarity
        A name or a similarity object, fitted where it has to be.
    X, y, features, counts, bins, missing
        The people, as in `audit`; with ``y``, people of different labels are not comparable.
    sensitive_features
        As in `audit`; default: those that the similarity was fitted with.
    budget
        As in `audit`: without one, only people to whom a move is free count as comparable.
    pairs
        How many pairs to tell.
    rng
        The seed of the choice of people and changes.

    Returns
    -------
    SimilarityCheck
        It prints as below; its fields hold the same.

    Raises
    ------
    InputError
        If the similarity is not fitted, or names columns that are not there.

    Notes
    -----
    People are compared with people of the table, no twins are made up. A column's cost is the
    median squared distance from a random person to the same person with the value of somebody
    else there.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m", "f"], "age": [30, 30, 52]})
    >>> ft.similarity.check("ignore-sensitive", people, sensitive_features="sex", pairs=1)
    Similarity of 3 people
    Two people are comparable when they differ in nothing but the sensitive features and have the
    same true label; moving between them is free.
    66.7 % of them have somebody comparable with another sex, to whom a move is free.
    <BLANKLINE>
    Nearest comparable people of another group, for people at random:
      sex f → m (free); the same: age 30
    <BLANKLINE>
    What it costs to have somebody else's value in one column:
      sex: free
      age: not allowed
    """
    chosen = as_similarity(similarity)
    told = sensitive_features
    if told is None:
        told = getattr(chosen, "sensitive_features", None)
    if told is None or (isinstance(told, list | tuple) and not told):
        msg = "`sensitive_features` must be given where the similarity was not fitted with any"
        raise InputError(msg)
    budget = number("budget", budget, at_least=0)
    space = build_space(
        X, y, sensitive_features=told, features=features, counts=counts, bins=bins, missing=missing,
    )  # fmt: skip
    draws = generator("rng", rng)
    return check_space(
        chosen, space, chosen.geometry(space), budget, draws, whole("pairs", pairs, at_least=0)
    )


def check_space(
    similarity: Similarity, space: SampleSpace, geometry: Geometry, budget: float,
    rng: np.random.Generator, pairs: int = PAIRS, share: float | None = None,
) -> SimilarityCheck:  # fmt: skip
    """Return the same of a space whose geometry is there; ``share`` is taken where it is known.

    Parameters
    ----------
    similarity, space, geometry
        The similarity, the audit's points and the costs between them.
    budget
        ε.
    rng
        Draws people and changes.
    pairs
        How many pairs to tell.
    share
        The share of comparable people, if it was computed before.
    """
    measure = getattr(similarity, "kept_variance", None)
    return SimilarityCheck(
        similarity.describe(),
        space.n,
        space.sensitive,
        budget,
        comparable_share(space, geometry, budget) if share is None else share,
        None if measure is None else float(measure(space)),
        tuple(_pairs(space, geometry, pairs, rng)),
        tuple(_distance_of(similarity, space, name, rng) for name in space.profile),
    )


def comparable_share(space: SampleSpace, geometry: Geometry, budget: float) -> float:
    """Return the share of people with somebody comparable of another sensitive group.

    Without a budget only those count to whom moving is free. A made-up twin is somebody else
    whatever it differs in.

    Parameters
    ----------
    space
        The audit's points.
    geometry
        The costs between them.
    budget
        ε.
    """
    # a made-up twin is somebody else whatever group it is in
    kinds = space.sensitive_groups if space.made_up is None else np.arange(space.size)
    reached = reaches_other(geometry, kinds, freely=budget == 0)
    return float(space.counts[reached].sum() / space.n)


def _pairs(
    space: SampleSpace, geometry: Geometry, most: int, rng: np.random.Generator
) -> list[SimilarPair]:
    """Return people at random, each with the nearest comparable one of another group.

    Parameters
    ----------
    space, geometry
        The points and the costs between them.
    most
        How many pairs; fewer where most people have nobody.
    rng
        Draws people, as often as they occur.
    """
    kinds = space.sensitive_groups
    tries = min(TRIES * most, int(space.observed.sum()))
    found: list[SimilarPair] = []
    for person in rng.choice(space.size, tries, replace=False, p=space.frequencies):
        if len(found) == most:
            break
        block = np.flatnonzero(geometry.blocks == geometry.blocks[person])
        others = geometry.targets_in(block[kinds[block] != kinds[person]])
        if not len(others):
            continue
        costs = geometry.costs(np.array([person]), others)[0]
        if np.isfinite(costs.min()):
            other = int(others[costs.argmin()])
            found.append(
                SimilarPair(profile_of(space, person), profile_of(space, other), float(costs.min()))
            )
    return found


def profile_of(space: SampleSpace, point: int) -> dict[str, Any]:
    """Return what a point's person looks like, column by column.

    Parameters
    ----------
    space
        The points.
    point
        Its number.
    """
    return {name: plain(space.columns[name].at(point)) for name in space.profile}


def _distance_of(
    similarity: Similarity, space: SampleSpace, name: str, rng: np.random.Generator
) -> ColumnDistance:
    """Return what it costs people at random to have somebody else's value in a column.

    Parameters
    ----------
    similarity, space
        The similarity and the points.
    name
        The column.
    rng
        Draws people and donors.
    """
    people, donors = rng.choice(space.size, (2, CHANGES), p=space.frequencies)
    codes = space.columns[name].codes
    # a donor with the same value would change nothing
    other = codes[people] != codes[donors]
    people, donors = people[other], donors[other]
    if not len(people):
        return ColumnDistance(name, None, None, None)
    try:
        changed = _changed(space, name, people, donors)
        geometry = similarity.geometry(changed)
    except (InputError, DataError):  # it knows certain people alone
        return ColumnDistance(name, None, None, None)
    rows = np.arange(len(people))
    # person i beside the changed person i alone; the others' costs are not of interest
    costs = geometry.costs(rows, rows + len(people)).diagonal()
    priced = costs[np.isfinite(costs) & (costs > 0)]
    return ColumnDistance(
        name, float((costs == 0).mean()), float(np.isinf(costs).mean()),
        float(np.median(priced)) if len(priced) else None,
    )  # fmt: skip


def _changed(space: SampleSpace, name: str, people: IntArray, donors: IntArray) -> SampleSpace:
    """Return a space of people, and then of the same with the donors' values in a column.

    Parameters
    ----------
    space
        The points.
    name
        The column.
    people, donors
        Points, pair by pair.
    """
    twice = np.r_[people, people]
    columns = {one: column.take(twice) for one, column in space.columns.items()}
    columns[name] = space.columns[name].take(np.r_[people, donors])
    return replace(
        space, columns=columns, counts=np.ones(len(twice), np.int64), targets=None, reference=None,
        has_twins=False, made_up=None,
    )  # fmt: skip


def _word(value: object) -> str:
    """Return a value in words, numbers with four digits."""
    if value is None:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _of_changes(share: float) -> str:
    """Return a share as the end of a phrase; nothing where it is all.

    Examples
    --------
    >>> _of_changes(0.25), _of_changes(1)
    (' for 25 %', '')
    """
    return "" if share == 1 else f" for {100 * share:.0f} %"
