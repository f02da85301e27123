"""IgnoreSensitive: people who differ only in sensitive features are comparable."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fairtransport._core.validation import check_number
from fairtransport.errors import InputError, entry, param
from fairtransport.geometry import Geometry, WithinTolerance, ZeroCost
from fairtransport.similarity import base

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairtransport.data import SampleSpace


@dataclass
class IgnoreSensitive(base.BaseSimilarity):
    """People are comparable if they differ only in sensitive features: the paper's COMPAS metric.

    Parameters
    ----------
    exact
        Sensitive columns that must agree nevertheless: with ``exact=["sex"]`` and the sensitive
        features race and sex, only race may change.
    tolerance
        Numeric columns that may differ by at most this much, as in ``{"age": 2}``. All other
        columns that are not sensitive must agree.

    Raises
    ------
    InputError
        If a tolerance is negative, or a column is named twice.

    Notes
    -----
    d(x, x') = 0 when x and x' differ in sensitive features only, infinity otherwise (Section 5 of
    the paper). With a tolerance t of column k, ``|x_k − x'_k| <= t`` is enough there. This is not
    an equivalence relation: a chain of free moves need not be free.

    Examples
    --------
    >>> import fairtransport as ft
    >>> similarity = ft.similarity.IgnoreSensitive(exact=["sex"], tolerance={"age": 2})
    >>> similarity.describe()
    'Two people are similar if they differ only in sensitive features (but not in sex) and have the
    same true label, if one is used; they may also differ in age by at most 2. Their distance is 0.'
    """

    name: ClassVar[str] = "ignore-sensitive"
    choice: ClassVar[str] = "People who are equal in all other columns."

    exact: Sequence[str] = ()
    tolerance: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        exact = base.check_column_names("exact", self.exact)
        base.check_mapping("tolerance", self.tolerance)
        for column, limit in self.tolerance.items():
            check_number(entry("tolerance", column), limit, at_least=0)
            if column in exact:
                msg = (
                    f"{param('tolerance')} must not name columns of {param('exact')}, got "
                    f"{column!r}"
                )
                raise InputError(msg)

    @property
    def moves_only_to_twins(self) -> bool:
        """Whether all moves are between twins: if there is no tolerance."""
        return not self.tolerance

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return blocks of equal label and equal other columns, with free moves inside."""
        exact = base.check_column_names("exact", self.exact)
        base.check_profile_columns("exact", exact, space)
        base.check_profile_columns("tolerance", self.tolerance, space)
        matched = tuple(
            column
            for column in space.profile
            if column not in self.tolerance and (column not in space.sensitive or column in exact)
        )
        # complete sets of twins do not depend on the sample: no reference is needed
        complete = space.has_twins and self.moves_only_to_twins
        return Geometry(
            blocks=space.groups_of_twins((*matched, *base.label_columns(space))),
            cost=self._within_tolerance(space) if self.tolerance else ZeroCost(),
            targets=None if complete else space.targets,
            profiles=base.tie_breaking_codes(space),
        )

    def on_column(self, column: str) -> Self:
        """Return the similarity of people who differ in one column only."""
        return replace(
            self,
            exact=base.keep_name(self.exact, column),
            tolerance=base.keep_entry(self.tolerance, column),
        )

    def describe(self) -> str:
        """Return one sentence for the report."""
        exact = base.check_column_names("exact", self.exact)
        but = f" (but not in {' or '.join(exact)})" if exact else ""
        close = [f"{column} by at most {limit:g}" for column, limit in self.tolerance.items()]
        near = f"; they may also differ in {' and '.join(close)}" if close else ""
        return (
            f"Two people are similar if they differ only in sensitive features{but} and have the "
            f"same true label, if one is used{near}. Their distance is 0."
        )

    def describe_budget(self, budget: float) -> str:  # noqa: ARG002
        """Return that a budget does not matter: every move is free or forbidden."""
        return (
            "The budget has no effect: similar people have distance 0, and no others are compared."
        )

    def _within_tolerance(self, space: SampleSpace) -> WithinTolerance:
        """Return the cost that allows small differences in some columns."""
        columns = [base.get_numeric_values("tolerance", column, space) for column in self.tolerance]
        return WithinTolerance(np.column_stack(columns), np.array([*self.tolerance.values()]))
