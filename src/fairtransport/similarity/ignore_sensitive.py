"""IgnoreSensitive: people who differ only in sensitive features are the same person."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fairtransport.checks import number
from fairtransport.errors import InputError
from fairtransport.geometry import Geometry, WithinTolerance, ZeroCost
from fairtransport.similarity.base import (
    Parameters,
    check_mapping,
    column_names,
    known_columns,
    label_columns,
    numeric_values,
    tie_breaking_codes,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairtransport.space import SampleSpace


@dataclass
class IgnoreSensitive(Parameters):
    """The paper's COMPAS metric, with what an auditor may tighten or loosen.

    Parameters
    ----------
    exact
        Sensitive columns that must agree all the same: with ``exact=["sex"]`` and the
        sensitive features race and sex, only race may change.
    tolerance
        Numeric columns that need not agree but only be this close, as in ``{"age": 2}``. All
        other columns that are not sensitive must agree.

    Raises
    ------
    InputError
        If a tolerance is negative, or a column is named twice.

    Notes
    -----
    d(x, x') = 0 when x and x' differ in sensitive features alone, infinity otherwise
    (Section 5 of the paper). With a tolerance t of column k, ``|x_k − x'_k| <= t`` is enough
    there. That is no longer an equivalence: chains of free moves are not free.

    Examples
    --------
    >>> import fairtransport as ft
    >>> similarity = ft.similarity.IgnoreSensitive(exact=["sex"], tolerance={"age": 2})
    >>> similarity.describe()
    'Two people are comparable when they differ in nothing but the sensitive features (of which sex
    must agree too) and have the same true label; they may also differ in age by at most 2; moving
    between them is free.'
    """

    name: ClassVar[str] = "ignore-sensitive"

    exact: Sequence[str] = ()
    tolerance: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = column_names("exact", self.exact)
        check_mapping("tolerance", self.tolerance)
        for column, limit in self.tolerance.items():
            number(f"tolerance[{column!r}]", limit, at_least=0)
            if column in named:
                msg = f"`tolerance` must not name columns of `exact`, got {column!r}"
                raise InputError(msg)

    @property
    def moves_only_to_twins(self) -> bool:
        """All moves are between twins, unless a tolerance lets other columns change.

        Returns
        -------
        bool

        Examples
        --------
        >>> similarity.moves_only_to_twins, ft.similarity.IgnoreSensitive().moves_only_to_twins
        (False, True)
        """
        return not self.tolerance

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return blocks of equal label and equal other columns, free inside.

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
            If a named column is not there, or is no numeric one where it has to be.

        Examples
        --------
        >>> import pandas as pd
        >>> people = pd.DataFrame({"sex": ["f", "m", "m"], "grade": [1, 1, 2], "good": [0, 0, 1]})
        >>> space = ft.audit(people, "good", model=lambda asked: [1] * len(asked),
        ...                  sensitive_features="sex", rng=0).space
        >>> [block.tolist() for block in ft.similarity.IgnoreSensitive().geometry(space).members]
        [[0, 2], [1, 3]]
        """
        exact = column_names("exact", self.exact)
        known_columns("exact", exact, space)
        known_columns("tolerance", self.tolerance, space)
        matched = tuple(
            column
            for column in space.profile
            if column not in self.tolerance and (column not in space.sensitive or column in exact)
        )
        # full sets of twins are the same whatever the sample; others obey the reference
        complete = space.has_twins and self.moves_only_to_twins
        return Geometry(
            blocks=space.groups((*matched, *label_columns(space))),
            cost=self._within_tolerance(space) if self.tolerance else ZeroCost(),
            targets=None if complete else space.targets,
            profiles=tie_breaking_codes(space),
        )

    def describe(self) -> str:
        """Return a plain sentence for the report.

        Returns
        -------
        str

        Examples
        --------
        >>> ft.similarity.IgnoreSensitive().describe()
        'Two people are comparable when they differ in nothing but the sensitive features and have
        the same true label; moving between them is free.'
        """
        exact = column_names("exact", self.exact)
        but = f" (of which {', '.join(exact)} must agree too)" if exact else ""
        close = [f"{column} by at most {limit:g}" for column, limit in self.tolerance.items()]
        near = f"; they may also differ in {' and '.join(close)}" if close else ""
        return (
            f"Two people are comparable when they differ in nothing but the sensitive features{but}"
            f" and have the same true label{near}; moving between them is free."
        )

    def describe_budget(self, budget: float) -> str:  # noqa: ARG002
        """Say that a budget buys nothing where every move is free or forbidden.

        Parameters
        ----------
        budget
            ε.

        Returns
        -------
        str
            A sentence.

        Examples
        --------
        >>> similarity.describe_budget(0.1)
        'Moves are free or not allowed, so the budget does not matter.'
        """
        return "Moves are free or not allowed, so the budget does not matter."

    def _within_tolerance(self, space: SampleSpace) -> WithinTolerance:
        """Return the cost that lets people be close in some columns."""
        columns = [numeric_values("tolerance", column, space) for column in self.tolerance]
        return WithinTolerance(np.column_stack(columns), np.array([*self.tolerance.values()]))
