"""MixedTabular: costs stated column by column."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fairtransport._core.validation import check_number
from fairtransport.errors import InputError, entry, param
from fairtransport.geometry import check_coordinates
from fairtransport.similarity import base
from fairtransport.similarity.encoding import one_hot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairtransport._core.validation import FloatArray
    from fairtransport.data import SampleSpace
    from fairtransport.geometry import Geometry


@dataclass(eq=False)
class MixedTabular(base.BaseSimilarity):
    """Numeric columns cost by scale, others by mismatch; sensitive columns are free.

    Parameters
    ----------
    scales
        Numeric columns: the difference that costs 1, as in ``{"age": 5}``. Twice the difference
        costs 4, as costs are squared distances.
    mismatch
        Other columns: the cost of different levels, as in ``{"job": 1.0}``; 0 is free. A missing
        value is a level.
    exact
        Columns in which comparable people must agree.
    default_scale, default_mismatch
        The same for columns that are not named. Sensitive columns are free unless they are named.

    Raises
    ------
    InputError
        If a scale is not positive, a cost is negative, or a column is named twice.

    Notes
    -----
    d²(x, x') = Σ_numeric ((x_k − x'_k) / scale_k)² + Σ_others cost_k·[x_k ≠ x'_k].

    Each level's indicator times √(cost/2) makes this a squared Euclidean distance.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> similarity = ft.similarity.MixedTabular(scales={"age": 5}, mismatch={"job": 1.0})
    >>> similarity.describe()
    'Squared distances add up: a difference of 5 in age counts 1 (twice as much counts 4); another
    job counts 1; sensitive features that are not named count 0.'
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 50, "age": [30, 31, 40, 41] * 25})
    >>> people = people.assign(job="nurse", good=1)
    >>> result = ft.audit(people, "good", model=lambda x: (x["sex"] == "m").astype(int),
    ...                   sensitive_features="sex", similarity=similarity, budget=0.05, rng=0)
    >>> round(result.statistic, 3)
    0.5
    """

    name: ClassVar[str] = "mixed-tabular"
    choice: ClassVar[str] = (
        "People who differ a little: state below how much a difference in each column counts."
    )

    scales: Mapping[str, float] = field(default_factory=dict)
    mismatch: Mapping[str, float] = field(default_factory=dict)
    exact: Sequence[str] = ()
    default_scale: float | None = None
    default_mismatch: float | None = None

    def __post_init__(self) -> None:
        for parameter in ("scales", "mismatch"):
            base.check_mapping(parameter, getattr(self, parameter))
        for column, scale in self.scales.items():
            check_number(entry("scales", column), scale, above=0)
        for column, cost in self.mismatch.items():
            check_number(entry("mismatch", column), cost, at_least=0)
        names = [*self.scales, *self.mismatch, *base.check_column_names("exact", self.exact)]
        for column in names:
            if names.count(column) > 1:
                msg = (
                    f"{param('scales')}, {param('mismatch')} and {param('exact')} must name a "
                    f"column once, got {column!r} twice"
                )
                raise InputError(msg)
        if self.default_scale is not None:
            check_number("default_scale", self.default_scale, above=0)
        if self.default_mismatch is not None:
            check_number("default_mismatch", self.default_mismatch, at_least=0)

    @property
    def moves_only_to_twins(self) -> bool:
        """False: anyone can be moved at a cost."""
        return False

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return squared distances between points that agree in the exact columns."""
        scales, mismatch, exact = self._rules(space)
        parts = [np.zeros((space.size, 0))]
        for column, scale in scales.items():
            name = entry("scales", column)
            with np.errstate(over="ignore"):
                values = base.get_numeric_values(name, column, space)[:, None] / scale
            parts.append(check_coordinates(name, values))
        for column, cost in mismatch.items():
            values = _indicators(space, column) * np.sqrt(cost / 2)
            parts.append(check_coordinates(entry("mismatch", column), values))
        coordinates = np.hstack(parts)
        # without any priced column all moves inside a block are free
        coordinates = coordinates if coordinates.shape[1] else np.zeros((space.size, 1))
        return base.build_euclidean(space, coordinates, (*exact, *base.label_columns(space)))

    def on_column(self, column: str) -> Self:
        """Return the similarity of people who differ in one column only."""
        return replace(
            self,
            scales=base.keep_entry(self.scales, column),
            mismatch=base.keep_entry(self.mismatch, column),
            exact=base.keep_name(self.exact, column),
        )

    def cost_table(self, space: SampleSpace | None = None) -> list[dict[str, str]]:
        """Return the cost of a change in each column, one row per column.

        Parameters
        ----------
        space
            The points of an audit; None: only the stated columns, without the defaults.

        Returns
        -------
        list[dict[str, str]]
            The column, the change and its cost, as text.

        Examples
        --------
        >>> similarity.cost_table()
        [{'column': 'age', 'change': '5', 'cost': '1 (grows with the square)'}, {'column': 'job',
        'change': 'another value', 'cost': '1'}]
        """
        exact: Sequence[str]
        if space is None:
            scales, mismatch = dict(self.scales), dict(self.mismatch)
            exact, free = base.check_column_names("exact", self.exact), []
        else:
            scales, mismatch, exact = self._rules(space)
            priced = {*scales, *mismatch, *exact}
            free = [column for column in space.profile if column not in priced]
        rows = [
            {"column": column, "change": f"{scale:g}", "cost": "1 (grows with the square)"}
            for column, scale in scales.items()
        ]
        rows += [
            {"column": column, "change": "another value", "cost": f"{cost:g}" if cost else "free"}
            for column, cost in mismatch.items()
        ]
        rows += [{"column": column, "change": "any", "cost": "not allowed"} for column in exact]
        rows += [{"column": column, "change": "any", "cost": "free"} for column in free]
        return rows

    def describe(self) -> str:
        """Return one sentence for the report."""
        words = [
            f"a difference of {scale:g} in {column} counts 1"
            for column, scale in self.scales.items()
        ]
        if self.default_scale is not None:
            words.append(f"one of {self.default_scale:g} in any other number counts 1")
        if words:
            words[-1] += " (twice as much counts 4)"
        words += [f"another {column} counts {cost:g}" for column, cost in self.mismatch.items()]
        if self.default_mismatch is not None:
            words.append(f"another value of any other column counts {self.default_mismatch:g}")
        words += [
            f"{column} must be equal" for column in base.check_column_names("exact", self.exact)
        ]
        words.append("sensitive features that are not named count 0")
        return f"Squared distances add up: {'; '.join(words)}."

    def describe_budget(self, budget: float) -> str:
        """Return the meaning of a budget in each stated column."""
        words = [f"{scale * budget**0.5:.3g} of {name}" for name, scale in self.scales.items()]
        words += [
            f"another {name} for {min(1.0, budget / cost):.3g} of the people"
            for name, cost in self.mismatch.items()
            if cost > 0
        ]
        if not words:
            return super().describe_budget(budget)
        return (
            "On average, people may differ from those they are compared with by the equivalent of "
            f"{', or '.join(words)}."
        )

    def _rules(
        self, space: SampleSpace
    ) -> tuple[dict[str, float], dict[str, float], tuple[str, ...]]:
        """Return the scales, the mismatch costs and the exact columns of a space."""
        exact = base.check_column_names("exact", self.exact)
        for parameter, names in (
            ("scales", self.scales), ("mismatch", self.mismatch), ("exact", exact),
        ):  # fmt: skip
            base.check_profile_columns(parameter, names, space)
        scales, mismatch = dict(self.scales), dict(self.mismatch)
        with_rule = {*scales, *mismatch, *exact, *space.sensitive}
        for column in space.profile:
            if column in with_rule:
                continue
            numeric = base.is_numeric(space.columns[column].levels)
            default = self.default_scale if numeric else self.default_mismatch
            if default is None:
                rule, meaning, fallback, others = (
                    (
                        "scales",
                        "how large a difference counts as a distance of 1",
                        "default_scale",
                        "numbers",
                    )
                    if numeric
                    else (
                        "mismatch",
                        "how large a distance another value counts",
                        "default_mismatch",
                        "words",
                    )
                )
                msg = (
                    f"{param(rule, column)} must be given: a number that says {meaning}; or give "
                    f"{param(fallback)} for all columns of {others}"
                )
                raise InputError(msg)
            (scales if numeric else mismatch)[column] = default
        return scales, mismatch, exact


def _indicators(space: SampleSpace, column: str) -> FloatArray:
    """Return one-hot coordinates of the levels that occur, the missing one included."""
    slot = np.unique(space.columns[column].codes, return_inverse=True)[1].reshape(-1)
    return one_hot(column, slot, int(slot.max(initial=0)) + 1)
