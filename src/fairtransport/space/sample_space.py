"""SampleSpace: the distinct points of an audit, their counts and where mass may go."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fairtransport.space.row_numbers import row_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw
    from narwhals.typing import EagerAllowed, IntoDataFrame

    from fairtransport.checks import BoolArray, FloatArray, IntArray
    from fairtransport.space.binning import Bins
    from fairtransport.space.columns import CodedColumn, Rows, Value, Values
    from fairtransport.space.made_up import MadeUp
    from fairtransport.space.overlap import SharedRows


@dataclass(frozen=True, eq=False)
class SampleSpace:
    """The K distinct points of an audit, sorted: features in order, then label, missing last.

    Attributes
    ----------
    columns
        Every column of the points by name, coded.
    counts
        (K,) how many people are at each point; 0 at points that only are targets.
    features
        The columns the model receives.
    sensitive
        The sensitive columns.
    label
        The column of the true label; None where the loss does without.
    predictions
        The columns of given predictions, which are part of a point; empty with query access.
    has_twins
        Whether all combinations of the sensitive levels were added.
    declared
        The sensitive columns whose levels do not come from the data.
    targets
        (K,) where mass may arrive, when a reference frame says so; None: at all points.
    reference
        What the reference frame has in common with the audit data; None without one.
    made_up
        Who may be swapped with which made-up twin; None where nobody was made up.
    bins
        The edges of the columns that were binned.
    library
        The data frame library that tables are handed back in.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m", "m"], "grade": [1, 1, 2], "good": [0, 0, 1]})
    >>> result = ft.audit(people, "good", model=lambda asked: [1] * len(asked),
    ...                   sensitive_features="sex", rng=0)
    >>> space = result.space
    >>> space.frame().assign(count=space.counts)
      sex  grade  good  count
    0   f      1     0      1
    1   f      2     1      0
    2   m      1     0      1
    3   m      2     1      1
    """

    columns: Mapping[str, CodedColumn]
    counts: IntArray
    features: tuple[str, ...]
    sensitive: tuple[str, ...]
    label: str | None = None
    predictions: tuple[str, ...] = ()
    has_twins: bool = False
    declared: tuple[str, ...] = ()
    targets: BoolArray | None = None
    reference: SharedRows | None = None
    made_up: MadeUp | None = None
    bins: Bins = field(default_factory=dict)
    library: str = "pandas"

    @property
    def size(self) -> int:
        """The number of points, K.

        Returns
        -------
        int

        Examples
        --------
        >>> space.size
        4
        """
        return len(self.counts)

    @cached_property
    def n(self) -> int:
        """The number of people.

        Returns
        -------
        int

        Examples
        --------
        >>> space.n
        3
        """
        return int(self.counts.sum())

    @property
    def observed(self) -> BoolArray:
        """Which points occur in the audit data.

        Returns
        -------
        ndarray of bool

        Examples
        --------
        The woman of grade 2 is a twin who is not in the data.

        >>> space.observed.tolist()
        [True, False, True, True]
        """
        return self.counts > 0

    @property
    def frequencies(self) -> FloatArray:
        """The empirical distribution f_n over the points.

        Returns
        -------
        ndarray of float

        Examples
        --------
        >>> space.frequencies.round(3).tolist()
        [0.333, 0.0, 0.333, 0.333]
        """
        return self.counts / self.n

    @property
    def profile(self) -> tuple[str, ...]:
        """The columns that describe a person: the features and the sensitive columns.

        Returns
        -------
        tuple[str, ...]

        Examples
        --------
        >>> space.profile
        ('sex', 'grade')
        """
        return (*self.features, *(name for name in self.sensitive if name not in self.features))

    @property
    def open_levels(self) -> tuple[str, ...]:
        """The sensitive columns whose twins take the levels that occur in the data.

        Returns
        -------
        tuple[str, ...]

        Examples
        --------
        >>> space.open_levels
        ('sex',)
        """
        return tuple(name for name in self.sensitive if name not in self.declared)

    @property
    def families(self) -> IntArray:
        """(K,) numbers of the sets of points that come in together: with twins, all twins.

        Returns
        -------
        ndarray of int

        Examples
        --------
        >>> space.families.tolist()
        [0, 1, 0, 1]
        """
        given = self.sensitive if self.has_twins else ()
        return self.groups([name for name in self.columns if name not in given])

    @cached_property
    def sensitive_groups(self) -> IntArray:
        """(K,) numbers, from 0 on, of the combinations of sensitive levels that occur.

        Returns
        -------
        ndarray of int

        Examples
        --------
        >>> space.sensitive_groups.tolist()
        [0, 0, 1, 1]
        """
        return self.groups(self.sensitive)

    @cached_property
    def first_of_groups(self) -> IntArray:
        """The first point of each combination of sensitive levels.

        Returns
        -------
        ndarray of int

        Examples
        --------
        >>> space.first_of_groups.tolist()
        [0, 2]
        """
        return np.unique(self.sensitive_groups, return_index=True)[1].astype(np.int64)

    def codes(self, names: Sequence[str]) -> IntArray:
        """Return the (K, columns) codes of some columns.

        Parameters
        ----------
        names
            Columns of the space.

        Returns
        -------
        ndarray of int
            One row a point, one column a name; equal codes are equal values.

        Examples
        --------
        >>> space.codes(["sex", "grade"]).tolist()
        [[0, 0], [0, 1], [1, 0], [1, 1]]
        """
        if not names:
            return np.empty((self.size, 0), np.int64)
        return np.column_stack([self.columns[name].codes for name in names])

    def groups(self, names: Sequence[str]) -> IntArray:
        """Return (K,) numbers that are equal exactly where the points agree in all of ``names``.

        Parameters
        ----------
        names
            Columns of the space; none: all points are one group.

        Returns
        -------
        ndarray of int
            Numbers from 0 on.

        Examples
        --------
        >>> space.groups(["grade", "good"]).tolist()
        [0, 1, 0, 1]
        """
        if not names:
            return np.zeros(self.size, np.int64)
        return row_numbers([self.columns[name].codes for name in names])

    def values(self, name: str) -> Values:
        """Return a column's values, one a point.

        Parameters
        ----------
        name
            A column of the space.

        Returns
        -------
        ndarray
            The values as they were given.

        Examples
        --------
        >>> space.values("grade").tolist()
        [1, 2, 1, 2]
        """
        return self.columns[name].values()

    def frame(
        self,
        names: Sequence[str] | None = None,
        rows: Rows | None = None,
        library: str | None = None,
    ) -> IntoDataFrame:
        """Return points as a native data frame, in the library of the audit data unless told.

        Parameters
        ----------
        names
            Which columns; default: all.
        rows
            Which points; default: all.
        library
            The data frame library, such as "polars"; default: that of the audit data.

        Returns
        -------
        DataFrame
            One row a point.

        Examples
        --------
        >>> space.frame(["sex", "grade"], rows=[0, 3])
          sex  grade
        0   f      1
        1   m      2
        """
        chosen = list(self.columns) if names is None else list(names)
        taken = slice(None) if rows is None else rows
        frame: IntoDataFrame = native_frame(
            {name: self.columns[name].take(taken) for name in chosen}, library or self.library
        )
        return frame


def _from_columns(
    columns: Mapping[str, Values | Sequence[Value]], library: str
) -> nw.DataFrame[IntoDataFrame]:
    """Return columns as a narwhals frame over a library's own."""
    import narwhals as nw

    frame: nw.DataFrame[IntoDataFrame] = nw.from_dict(
        columns, backend=cast("EagerAllowed", library)
    )
    return frame


def plain_frame(columns: Mapping[str, Sequence[Value]], library: str) -> IntoDataFrame:
    """Return lists of plain values as a data frame of the given library.

    Parameters
    ----------
    columns
        Values by name, all of one length.
    library
        As narwhals calls it.
    """
    return _from_columns(columns, library).to_native()


def native_frame(columns: Mapping[str, CodedColumn], library: str) -> Any:
    """Return coded columns as a data frame of the given library, categories restored.

    Parameters
    ----------
    columns
        By name.
    library
        As narwhals calls it. Only pandas gets its categories back: a model that was fitted on
        them asks for their order.
    """
    plain = {
        name: column.values().astype(column.asked_as) if column.asked_as else column.values()
        for name, column in columns.items()
    }
    data = {
        # text and mixed values go in as lists: some libraries keep object arrays opaque
        name: array.tolist() if array.dtype == object else array
        for name, array in plain.items()
    }
    frame: Any = _from_columns(data, library).to_native()
    if library == "pandas":
        import pandas as pd

        for name, column in columns.items():
            if column.categories is not None:
                # declared levels may go beyond the categories
                known = dict.fromkeys([*column.categories, *column.levels.tolist()])
                frame[name] = pd.Categorical(frame[name], categories=list(known))
    return frame
