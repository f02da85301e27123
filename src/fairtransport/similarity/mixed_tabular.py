"""MixedTabular: what an auditor can state in words, column by column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fairtransport.checks import number
from fairtransport.errors import DataError, InputError
from fairtransport.geometry import check_coordinates
from fairtransport.similarity.base import (
    Parameters,
    check_mapping,
    column_names,
    distances_between,
    is_numeric,
    known_columns,
    label_columns,
    numeric_values,
)
from fairtransport.similarity.encoding import Standardised, fit_encoding, one_hot
from fairtransport.similarity.twins.support import Making, fit_support
from fairtransport.space.file_source import FileSource
from fairtransport.space.reader import coded_columns, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fairtransport.checks import FloatArray
    from fairtransport.geometry import Geometry
    from fairtransport.space import SampleSpace
    from fairtransport.space.columns import CodedColumn


@dataclass(eq=False)
class MixedTabular(Parameters):
    """Numeric columns by a scale, others by the cost of a mismatch, sensitive ones free.

    Parameters
    ----------
    scales
        Numeric columns: what difference counts 1, as in ``{"age": 5}``. Twice that counts 4:
        costs are squared distances.
    mismatch
        Other columns: what different levels cost, as in ``{"job": 1.0}``; 0 is free. A missing
        value is a level.
    exact
        Columns in which comparable people must agree.
    default_scale, default_mismatch
        The same for numeric and other columns that are not named. Sensitive columns are free
        unless they are named.

    Attributes
    ----------
    people_
        The columns of the people of `fit`, as whom twins may look; None: nobody can be made up.

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
    'Squared distances add up: 5 of age count 1 (twice as much counts 4); another job costs 1;
    sensitive features that are not named and equal people cost nothing.'
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 50, "age": [30, 31, 40, 41] * 25})
    >>> people = people.assign(job="nurse", good=1)
    >>> result = ft.audit(people, "good", model=lambda asked: (asked["sex"] == "m").astype(int),
    ...                   sensitive_features="sex", similarity=similarity, budget=0.05, rng=0)
    >>> round(result.statistic, 3)
    0.5
    """

    name: ClassVar[str] = "mixed-tabular"

    scales: Mapping[str, float] = field(default_factory=dict)
    mismatch: Mapping[str, float] = field(default_factory=dict)
    exact: Sequence[str] = ()
    default_scale: float | None = None
    default_mismatch: float | None = None
    people_: dict[str, CodedColumn] | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        for parameter in ("scales", "mismatch"):
            check_mapping(parameter, getattr(self, parameter))
        for column, scale in self.scales.items():
            number(f"scales[{column!r}]", scale, above=0)
        for column, cost in self.mismatch.items():
            number(f"mismatch[{column!r}]", cost, at_least=0)
        named = [*self.scales, *self.mismatch, *column_names("exact", self.exact)]
        for column in named:
            if named.count(column) > 1:
                msg = (
                    "`scales`, `mismatch` and `exact` must name a column once, "
                    f"got {column!r} twice"
                )
                raise InputError(msg)
        if self.default_scale is not None:
            number("default_scale", self.default_scale, above=0)
        if self.default_mismatch is not None:
            number("default_mismatch", self.default_mismatch, at_least=0)

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002, N803
        """See from people who are not in the audit data what made-up twins may look like.

        Costs stay as they are stated.

        Parameters
        ----------
        X
            A data frame or a file of people, with the columns that have a cost.
        y
            Not used; there for scikit-learn's sake.

        Returns
        -------
        MixedTabular
            The similarity itself.

        Raises
        ------
        InputError
            If ``X`` is no table of people.

        Examples
        --------
        >>> similarity.fit(people).people_ is not None
        True
        """
        frame = read_table(X, "X")
        self.people_ = coded_columns(frame, frame.columns, "X")
        return self

    @classmethod
    def from_settings(cls, settings: Mapping[str, object], folder: Path) -> Self:
        """Make the similarity; the setting ``fit`` is the file that shows what people look like.

        Parameters
        ----------
        settings
            The table, without its name.
        folder
            Where the settings file lies; ``fit`` is relative to it.

        Returns
        -------
        MixedTabular
            The similarity, fitted where ``fit`` names a file.

        Raises
        ------
        InputError
            If a setting has no such name or breaks its rule.

        Examples
        --------
        >>> from pathlib import Path
        >>> ft.similarity.MixedTabular.from_settings({"scales": {"age": 5}}, Path("."))
        MixedTabular(scales={'age': 5}, mismatch={}, exact=(), default_scale=None,
        default_mismatch=None)
        """
        rest = {name: value for name, value in settings.items() if name != "fit"}
        made = super().from_settings(rest, folder)
        if "fit" not in settings:
            return made
        path = folder / str(settings["fit"])
        FileSource(path, "fit")  # checks ending and existence
        return made.fit(path)

    def making(self, space: SampleSpace) -> Making | None:
        """Return how twins are made up: by the stated costs, as people of `fit` look.

        Parameters
        ----------
        space
            The points of the audit.

        Returns
        -------
        Making or None
            None where `fit` was not called, or people must be alike in every column.

        Examples
        --------
        >>> print(ft.similarity.MixedTabular(scales={"age": 5}).making(result.space))
        None
        """
        if self.people_ is None:
            return None
        scales, mismatch, _ = self._rules(space)
        for name in (*scales, *mismatch):
            if name not in self.people_:
                msg = f"`similarity` must be fitted on the column {name!r}, which `fit` did not get"
                raise InputError(msg)
        named = [name for name in space.profile if name in (*scales, *mismatch)]
        columns = {name: self.people_[name] for name in named}
        if not columns:
            return None
        encoding = fit_encoding(columns, as_levels=mismatch)
        roots: list[float] = []
        for name, part in encoding.parts.items():
            if name not in scales:
                unit = mismatch[name] ** 0.5
            elif isinstance(part, Standardised):
                unit = part.scale / scales[name]
            else:
                msg = f"the column {name!r} has a scale, but no numbers in the data of `fit`"
                raise DataError(msg)
            roots += [unit] * len(part.names(name))
        return Making(fit_support(encoding, columns), np.diag(roots))

    @property
    def moves_only_to_twins(self) -> bool:
        """At a price, anyone may be moved.

        Returns
        -------
        bool

        Examples
        --------
        >>> similarity.moves_only_to_twins
        False
        """
        return False

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return the embedding's squared distances between points that agree where they must.

        Parameters
        ----------
        space
            The points of an audit.

        Returns
        -------
        Geometry
            What the solver needs.

        Raises
        ------
        InputError
            If a column of the audit has no cost, or one with a scale is not numeric.

        Examples
        --------
        >>> import numpy as np
        >>> geometry = similarity.geometry(result.space)
        >>> geometry.costs(np.array([0]), np.array([0, 1, 2])).round(2).tolist()
        [[0.0, 0.04, 4.0]]
        """
        scales, mismatch, exact = self._rules(space)
        parts = [np.zeros((space.size, 0))]
        for column, scale in scales.items():
            name = f"scales[{column!r}]"
            with np.errstate(over="ignore"):
                values = numeric_values(name, column, space)[:, None] / scale
            parts.append(check_coordinates(name, values))
        for column, cost in mismatch.items():
            values = _indicators(space, column) * np.sqrt(cost / 2)
            parts.append(check_coordinates(f"mismatch[{column!r}]", values))
        coordinates = np.hstack(parts)
        # without any priced column all moves inside a block are free
        placed = coordinates if coordinates.shape[1] else np.zeros((space.size, 1))
        return distances_between(space, placed, (*exact, *label_columns(space)))

    def cost_table(self, space: SampleSpace | None = None) -> list[dict[str, str]]:
        """Return what costs what, a row a column; with a space also by the defaults.

        Parameters
        ----------
        space
            The points of an audit; None: what was stated alone.

        Returns
        -------
        list[dict[str, str]]
            A row a column: its name and what a change costs, in words.

        Examples
        --------
        >>> similarity.cost_table()
        [{'column': 'age', 'change': '5', 'cost': '1 (grows with the square)'}, {'column': 'job',
        'change': 'another level', 'cost': '1'}]
        """
        exact: Sequence[str]
        if space is None:
            scales, mismatch = dict(self.scales), dict(self.mismatch)
            exact, free = column_names("exact", self.exact), []
        else:
            scales, mismatch, exact = self._rules(space)
            priced = {*scales, *mismatch, *exact}
            free = [column for column in space.profile if column not in priced]
        rows = [
            {"column": column, "change": f"{scale:g}", "cost": "1 (grows with the square)"}
            for column, scale in scales.items()
        ]
        rows += [
            {"column": column, "change": "another level", "cost": f"{cost:g}" if cost else "free"}
            for column, cost in mismatch.items()
        ]
        rows += [{"column": column, "change": "any", "cost": "not allowed"} for column in exact]
        rows += [{"column": column, "change": "any", "cost": "free"} for column in free]
        return rows

    def describe(self) -> str:
        """Return a plain sentence for the report.

        Returns
        -------
        str

        Examples
        --------
        >>> similarity.describe()
        'Squared distances add up: 5 of age count 1 (twice as much counts 4); another job costs 1;
        sensitive features that are not named and equal people cost nothing.'
        """
        words = [f"{scale:g} of {column} count 1" for column, scale in self.scales.items()]
        if self.default_scale is not None:
            words.append(f"{self.default_scale:g} of any other number count 1")
        if words:
            words[-1] += " (twice as much counts 4)"
        words += [f"another {column} costs {cost:g}" for column, cost in self.mismatch.items()]
        if self.default_mismatch is not None:
            words.append(f"another level of any other column costs {self.default_mismatch:g}")
        words += [f"{column} must agree" for column in column_names("exact", self.exact)]
        words.append("sensitive features that are not named and equal people cost nothing")
        return f"Squared distances add up: {'; '.join(words)}."

    def describe_budget(self, budget: float) -> str:
        """Say what a budget means in each stated column.

        Parameters
        ----------
        budget
            ε.

        Returns
        -------
        str

        Examples
        --------
        >>> similarity.describe_budget(0.04)
        'On average, people may be moved by the equivalent of 1 of age, or another job for 0.04 of
        the people.'
        """
        words = [f"{scale * budget**0.5:.3g} of {name}" for name, scale in self.scales.items()]
        words += [
            f"another {name} for {min(1.0, budget / cost):.3g} of the people"
            for name, cost in self.mismatch.items()
            if cost > 0
        ]
        if not words:
            return super().describe_budget(budget)
        return f"On average, people may be moved by the equivalent of {', or '.join(words)}."

    def _rules(
        self, space: SampleSpace
    ) -> tuple[dict[str, float], dict[str, float], tuple[str, ...]]:
        """Return the scale or the mismatch cost of every column that has one.

        Parameters
        ----------
        space
            The audit's points.

        Returns
        -------
        scales, mismatch, exact
            By column, defaults filled in. Sensitive columns that are not named have neither.

        Raises
        ------
        InputError
            If a column is unknown, or one of the profile has no cost.
        """
        exact = column_names("exact", self.exact)
        for parameter, names in (
            ("scales", self.scales), ("mismatch", self.mismatch), ("exact", exact),
        ):  # fmt: skip
            known_columns(parameter, names, space)
        scales, mismatch = dict(self.scales), dict(self.mismatch)
        for column in space.profile:
            if column in {*scales, *mismatch, *exact, *space.sensitive}:
                continue
            numeric = is_numeric(space.columns[column].levels)
            default = self.default_scale if numeric else self.default_mismatch
            if default is None:
                what = "scales" if numeric else "mismatch"
                msg = (
                    f"`{what}` must say what a change of {column!r} costs "
                    f"(or `default_{'scale' if numeric else 'mismatch'}` must be given)"
                )
                raise InputError(msg)
            (scales if numeric else mismatch)[column] = default
        return scales, mismatch, exact


def _indicators(space: SampleSpace, column: str) -> FloatArray:
    """Return one-hot coordinates of the levels that occur, the missing one included.

    Parameters
    ----------
    space
        The audit's points.
    column
        Its name.
    """
    slot = np.unique(space.columns[column].codes, return_inverse=True)[1].reshape(-1)
    return one_hot(column, slot, int(slot.max(initial=0)) + 1)
