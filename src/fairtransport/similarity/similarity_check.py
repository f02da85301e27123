"""check(): describe whom a similarity calls comparable, before any model is queried."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from fairtransport._core.schema import Doc
from fairtransport._core.validation import check_generator, check_integer, check_number
from fairtransport.data import build_space
from fairtransport.errors import DataError, InputError, param
from fairtransport.geometry.geometry import reaches_other
from fairtransport.similarity.base import plain
from fairtransport.similarity.registry import as_similarity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairtransport._core.validation import IntArray
    from fairtransport.data import SampleSpace
    from fairtransport.data.sources import TableLike
    from fairtransport.geometry import Geometry
    from fairtransport.similarity.base import Similarity

DEFAULT_PAIRS = 8
"""Number of pairs by default."""
TRIES_PER_PAIR = 5
"""Number of people tried for each pair; some have nobody comparable."""
COLUMN_CHANGES = 40
"""Number of random changes of each column."""


@dataclass(frozen=True)
class SimilarPair:
    """A person and the nearest comparable one of another sensitive group.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 50, "age": [30, 31, 40, 41] * 25})
    >>> summary = ft.similarity.check(ft.similarity.MixedTabular(scales={"age": 5}), people,
    ...                               sensitive_features="sex", budget=0.1, rng=0)
    >>> pair = summary.pairs[0]
    >>> round(pair.squared_distance, 2)
    0.04
    """

    first: Annotated[dict[str, str | int | float | bool | None], Doc("The one.")]
    second: Annotated[dict[str, str | int | float | bool | None], Doc("The other.")]
    squared_distance: Annotated[float, Doc("How far apart they are, as a squared distance.")]

    @property
    def words(self) -> str:
        """The pair in one line: what differs, the distance and what is the same."""
        differ = [name for name, value in self.first.items() if self.second[name] != value]
        changes = ", ".join(
            f"{name} {_format_value(self.first[name])} → {_format_value(self.second[name])}"
            for name in differ
        )
        same = ", ".join(
            f"{name} {_format_value(value)}"
            for name, value in self.first.items()
            if name not in differ
        )
        far = "distance 0"
        if self.squared_distance:
            far = f"squared distance {self.squared_distance:.3g}"
        return f"{changes} ({far}); the same: {same or 'nothing'}"


@dataclass(frozen=True)
class ColumnDistance:
    """Cost of giving people another person's value in one column.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 50, "age": [30, 31, 40, 41] * 25})
    >>> summary = ft.similarity.check(ft.similarity.MixedTabular(scales={"age": 5}), people,
    ...                               sensitive_features="sex", budget=0.1, rng=0)
    >>> [(one.column, one.free, one.cost and round(one.cost, 2)) for one in summary.columns]
    [('sex', 1.0, None), ('age', 0.0, 4.0)]
    """

    column: Annotated[str, Doc("The column.")]
    free: Annotated[float | None, Doc("The share of such changes that are free; null: unknown.")]
    forbidden: Annotated[float | None, Doc("The share of them that are not allowed.")]
    cost: Annotated[float | None, Doc("The median squared distance of the others; null if none.")]

    @property
    def words(self) -> str:
        """The cost of a change, as text."""
        if self.free is None or self.forbidden is None:
            return "not known for values that nobody has"
        parts = []
        if self.cost is not None:
            rest = 1 - self.free - self.forbidden
            parts.append(f"squared distance {self.cost:.3g} (median)" + _format_share(rest))
        if self.free:
            parts.append("free" + _format_share(self.free))
        if self.forbidden:
            parts.append("not allowed" + _format_share(self.forbidden))
        return ", ".join(parts)


@dataclass(frozen=True, repr=False)
class SimilarityCheck:
    """Summary of whom a similarity calls comparable.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 50, "age": [30, 31, 40, 41] * 25})
    >>> summary = ft.similarity.check(ft.similarity.MixedTabular(scales={"age": 5}), people,
    ...                               sensitive_features="sex", budget=0.1, rng=0)
    >>> summary.n, summary.comparable_share
    (100, 1.0)
    >>> summary.columns[0].words
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
        """The share of variance that a learned distance counts, as text; None if not learned."""
        if self.kept_variance is None:
            return None
        return (
            f"The distance counts {100 * self.kept_variance:.3g} % of the variance of the features "
            f"and leaves out {100 * (1 - self.kept_variance):.3g} %."
        )

    def __repr__(self) -> str:
        freely = "" if self.budget > 0 else ", at distance 0"
        lines = [
            f"Similarity of {self.n:,} people",
            self.description,
            (
                f"{100 * self.comparable_share:.3g} % of them have a similar person with another "
                f"{' or '.join(self.sensitive)}{freely}."
            ),
            *filter(None, [self.variance_words]),
            "",
            "The nearest similar person of another group, for people drawn at random:",
            *(f"  {pair.words}" for pair in self.pairs),
            *([] if self.pairs else ["  nobody has one"]),
            "",
            "Distance to the same person with somebody else's value in one column:",
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
    pairs: int = DEFAULT_PAIRS,
    rng: object = 0,
) -> SimilarityCheck:
    """Describe whom a similarity calls comparable among the people of a table.

    Parameters
    ----------
    similarity
        A name, or a similarity object that is fitted if it needs to be.
    X, y, features, counts, bins, missing
        The people, as in `audit`; with ``y``, people of different labels are not comparable.
    sensitive_features
        As in `audit`; default: those of the fitted similarity.
    budget
        As in `audit`: without one, only people to whom a move is free count as comparable.
    pairs
        Number of pairs.
    rng
        Seed or generator for people and changes.

    Returns
    -------
    SimilarityCheck
        Its fields hold what the example below prints.

    Raises
    ------
    InputError
        If the similarity is not fitted, or names unknown columns.

    Notes
    -----
    People are compared with people of the table. A column's cost is the median squared distance
    from a random person to the same person with somebody else's value.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m", "f"], "age": [30, 30, 52]})
    >>> ft.similarity.check("ignore-sensitive", people, sensitive_features="sex", pairs=1)
    Similarity of 3 people
    Two people are similar if they differ only in sensitive features and have the same true label,
    if one is used. Their distance is 0.
    66.7 % of them have a similar person with another sex, at distance 0.
    <BLANKLINE>
    The nearest similar person of another group, for people drawn at random:
      sex f → m (distance 0); the same: age 30
    <BLANKLINE>
    Distance to the same person with somebody else's value in one column:
      sex: free
      age: not allowed
    """
    metric = as_similarity(similarity)
    sensitive = sensitive_features
    if sensitive is None:
        sensitive = getattr(metric, "sensitive_features", None)
    if sensitive is None or (isinstance(sensitive, list | tuple) and not sensitive):
        msg = (
            f"{param('sensitive_features')} must be given where the similarity was not fitted with "
            "any"
        )
        raise InputError(msg)
    budget = check_number("budget", budget, at_least=0)
    space = build_space(
        X, y, sensitive_features=sensitive, features=features, counts=counts, bins=bins,
        missing=missing,
    )  # fmt: skip
    draws = check_generator("rng", rng)
    return check_space(
        metric,
        space,
        metric.geometry(space),
        budget,
        draws,
        check_integer("pairs", pairs, at_least=0),
    )


def check_space(
    similarity: Similarity, space: SampleSpace, geometry: Geometry, budget: float,
    rng: np.random.Generator, pairs: int = DEFAULT_PAIRS, share: float | None = None,
) -> SimilarityCheck:  # fmt: skip
    """Check the similarity on a space with its geometry; ``share`` is used if it is known."""
    measure = getattr(similarity, "kept_variance", None)
    return SimilarityCheck(
        similarity.describe(),
        space.n,
        space.sensitive,
        budget,
        comparable_share(space, geometry, budget) if share is None else share,
        None if measure is None else float(measure(space)),
        tuple(_draw_pairs(space, geometry, pairs, rng)),
        tuple(_measure_column(similarity, space, name, rng) for name in space.profile),
    )


def comparable_share(space: SampleSpace, geometry: Geometry, budget: float) -> float:
    """Return the share of people with somebody comparable of another sensitive group.

    Without a budget only free moves count.
    """
    has_partner = reaches_other(geometry, space.sensitive_groups, freely=budget == 0)
    return float(space.counts[has_partner].sum() / space.n)


def _draw_pairs(
    space: SampleSpace, geometry: Geometry, most: int, rng: np.random.Generator
) -> list[SimilarPair]:
    """Draw people, each with the nearest comparable person of another group."""
    kinds = space.sensitive_groups
    tries = min(TRIES_PER_PAIR * most, int(space.observed.sum()))
    pairs: list[SimilarPair] = []
    for person in rng.choice(space.size, tries, replace=False, p=space.frequencies):
        if len(pairs) == most:
            break
        block = np.flatnonzero(geometry.blocks == geometry.blocks[person])
        others = geometry.targets_in(block[kinds[block] != kinds[person]])
        if not len(others):
            continue
        costs = geometry.costs(np.array([person]), others)[0]
        if np.isfinite(costs.min()):
            other = int(others[costs.argmin()])
            pairs.append(
                SimilarPair(
                    get_profile(space, person), get_profile(space, other), float(costs.min())
                )
            )
    return pairs


def get_profile(space: SampleSpace, point: int) -> dict[str, Any]:
    """Return the profile of a point as plain values."""
    return {name: plain(space.columns[name].at(point)) for name in space.profile}


def _measure_column(
    similarity: Similarity, space: SampleSpace, name: str, rng: np.random.Generator
) -> ColumnDistance:
    """Return the cost of replacing a column's value by another person's, for random people."""
    people, donors = rng.choice(space.size, (2, COLUMN_CHANGES), p=space.frequencies)
    codes = space.columns[name].codes
    # a donor with the same value changes nothing
    other = codes[people] != codes[donors]
    people, donors = people[other], donors[other]
    if not len(people):
        return ColumnDistance(name, None, None, None)
    # a subclass may have its own geometry
    restrict = vars(type(similarity)).get("on_column")
    try:
        if restrict is None:
            geometry = similarity.geometry(_replace_values(space, name, people, donors))
        else:
            column = _replace_values(_keep_column(space, name), name, people, donors)
            geometry = restrict(similarity, name).geometry(column)
    except (InputError, DataError):  # it covers only certain people
        return ColumnDistance(name, None, None, None)
    rows = np.arange(len(people))
    # the diagonal pairs each person with the same person after the change
    costs = geometry.costs(rows, rows + len(people)).diagonal()
    priced = costs[np.isfinite(costs) & (costs > 0)]
    return ColumnDistance(
        name, float((costs == 0).mean()), float(np.isinf(costs).mean()),
        float(np.median(priced)) if len(priced) else None,
    )  # fmt: skip


def _keep_column(space: SampleSpace, name: str) -> SampleSpace:
    """Return a space with a single column of the profile."""
    return replace(
        space, columns={name: space.columns[name]},
        features=(name,) if name in space.features else (),
        sensitive=(name,) if name in space.sensitive else (), label=None, predictions=(),
    )  # fmt: skip


def _replace_values(
    space: SampleSpace, name: str, people: IntArray, donors: IntArray
) -> SampleSpace:
    """Return a space of people, followed by the same people with the donors' values."""
    twice = np.r_[people, people]
    columns = {one: column.take(twice) for one, column in space.columns.items()}
    columns[name] = space.columns[name].take(np.r_[people, donors])
    return replace(
        space, columns=columns, counts=np.ones(len(twice), np.int64), targets=None, reference=None,
        has_twins=False, origin=None,
    )  # fmt: skip


def _format_value(value: object) -> str:
    """Return a value as text, numbers with four digits."""
    if value is None:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _format_share(share: float) -> str:
    """Return a share as the end of a phrase; empty if it is 1."""
    return "" if share == 1 else f" for {100 * share:.0f} %"
