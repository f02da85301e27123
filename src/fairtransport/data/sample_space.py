"""SampleSpace: the distinct points of an audit with their counts, and its fingerprint."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fairtransport._core.ranks import find_firsts, number_rows
from fairtransport.data.columns import INTEGER_RANGE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw
    from narwhals.typing import EagerAllowed, IntoDataFrame

    from fairtransport._core.units import Units
    from fairtransport._core.validation import BoolArray, FloatArray, IntArray, Values
    from fairtransport.data.build import SharedRows
    from fairtransport.data.columns import Bins, CodedColumn, Rows, Value
    from fairtransport.data.one_hot import OneHot

_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


@dataclass(frozen=True)
class ColumnSet:
    """Sensitive columns, mostly a single one, that twins change together.

    ``is_declared``: the combinations do not depend on the data; ``is_partial``: some people have
    none of them and keep their own.
    """

    columns: tuple[str, ...]
    is_declared: bool
    is_partial: bool = False


@dataclass(frozen=True, eq=False)
class SampleSpace:
    """The K distinct points of an audit, sorted by features, then label; missing values last.

    Attributes
    ----------
    columns
        The columns of the points by name, as integer codes.
    counts
        (K,) number of people at each point; 0 at points that are only targets.
    features
        The columns that the model receives.
    sensitive
        The sensitive columns.
    label
        The column of the true label; None if the loss does not need one.
    predictions
        The columns of predictions, which are part of a point; empty if a model is queried.
    has_twins
        Whether all combinations of the sensitive levels were added.
    column_sets
        The sensitive columns, in the sets in which twins change them.
    origin
        (K,) number of the combination of own levels that a family keeps although they are no
        alternatives for others; None if there are none. Such families have copies of other
        families' points.
    family
        (K,) family of each point if other columns change too, as in counterparts; None: a family
        agrees in all columns that are not sensitive.
    one_hot
        The features stored as 0/1 columns.
    model_features
        The columns that the model receives, if some of them are one-hot.
    targets
        (K,) whether mass may move to each point; None: to all points.
    reference
        Rows that the reference frame shares with the audit data; None without one.
    bins
        The edges of the binned columns.
    library
        The data frame library in which tables are returned.
    notes
        Signs that the rows of the table are not independent people.
    units
        The independent units that people belong to; None: every person is one.
    possible_units
        People by the values of unaudited columns that could identify units, for a warning.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m", "m"], "grade": [1, 1, 2], "good": [0, 0, 1]})
    >>> result = ft.audit(people, "good", model=lambda x: [1] * len(x),
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
    column_sets: tuple[ColumnSet, ...] = ()
    origin: IntArray | None = None
    family: IntArray | None = None
    one_hot: tuple[OneHot, ...] = ()
    model_features: tuple[str, ...] = ()
    targets: BoolArray | None = None
    reference: SharedRows | None = None
    bins: Bins = field(default_factory=dict)
    library: str = "pandas"
    notes: tuple[str, ...] = ()
    units: Units | None = None
    possible_units: Mapping[str, Units] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of points, K."""
        return len(self.counts)

    @cached_property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @property
    def observed(self) -> BoolArray:
        """Which points occur in the audit data."""
        return self.counts > 0

    @property
    def frequencies(self) -> FloatArray:
        """The empirical distribution f_n over the points, weighted where people have weights."""
        return self.counts / self.n if self.units is None else self.units.frequencies(self.size)

    @property
    def weighted_counts(self) -> IntArray | FloatArray:
        """Number of the n people at each point, by weight if people have weights."""
        return self.counts if self.units is None else self.n * self.frequencies

    @property
    def profile(self) -> tuple[str, ...]:
        """The columns that describe a person: the features and the sensitive columns."""
        return (*self.features, *(name for name in self.sensitive if name not in self.features))

    @property
    def open_levels(self) -> tuple[str, ...]:
        """The sensitive columns whose twins take the observed levels."""
        sets = [one.columns for one in self.column_sets if not one.is_declared]
        return tuple(name for names in sets for name in names)

    @property
    def open_codes(self) -> IntArray:
        """(K, sets) number of the combination in each set with observed combinations."""
        sets = [self.groups(one.columns) for one in self.column_sets if not one.is_declared]
        return np.column_stack(sets) if sets else np.empty((self.size, 0), np.int64)

    @property
    def observed_sets(self) -> tuple[tuple[str, ...], ...]:
        """The sets of several columns in which twins take the observed combinations."""
        return tuple(
            one.columns for one in self.column_sets if not one.is_declared and len(one.columns) > 1
        )

    @cached_property
    def families(self) -> IntArray:
        """(K,) number of each point's family, the set of its alternatives."""
        if self.family is not None:
            return self.family
        varied = self.sensitive if self.has_twins else ()
        return self.groups_of_twins([name for name in self.columns if name not in varied])

    @cached_property
    def alternatives(self) -> IntArray:
        """(K,) number of other points in each point's family."""
        families = self.families
        return np.bincount(families)[families] - 1

    @cached_property
    def originals(self) -> IntArray:
        """(K,) the point with the same columns that has the people; its copies have none."""
        if self.origin is None and self.family is None:
            return np.arange(self.size)
        rows = self.groups(list(self.columns))
        order = np.lexsort((-self.counts, rows))
        return order[np.unique(rows[order], return_index=True)[1]][rows]

    @cached_property
    def encoded(self) -> SampleSpace:
        """The same points in the columns of the data, one-hot ones included."""
        if not self.one_hot:
            return self
        columns = dict(self.columns)
        sensitive = dict.fromkeys(self.sensitive)
        for feature in self.one_hot:
            raw = feature.encode(columns.pop(feature.name))
            columns |= raw
            if feature.name in sensitive:
                del sensitive[feature.name]
                sensitive |= dict.fromkeys(raw)
        order = [
            *self.model_features,
            *(name for name in columns if name not in self.model_features),
        ]
        return replace(
            self,
            columns={name: columns[name] for name in order},
            features=self.model_features,
            sensitive=tuple(sensitive),
            one_hot=(),
        )

    @cached_property
    def sensitive_groups(self) -> IntArray:
        """(K,) number of the combination of sensitive levels at each point, from 0."""
        return self.groups(self.sensitive)

    @cached_property
    def first_of_groups(self) -> IntArray:
        """The first point of each combination of sensitive levels."""
        groups = self.sensitive_groups
        return find_firsts(groups, int(groups.max()) + 1)

    def codes(self, names: Sequence[str]) -> IntArray:
        """Return the codes of some columns, shape (K, columns).

        Parameters
        ----------
        names
            Columns of the space.

        Returns
        -------
        ndarray of int
            One row per point, one column per name; equal codes are equal values.

        Examples
        --------
        >>> space.codes(["sex", "grade"]).tolist()
        [[0, 0], [0, 1], [1, 0], [1, 1]]
        """
        if not names:
            return np.empty((self.size, 0), np.int64)
        return np.column_stack([self.columns[name].codes for name in names])

    def groups(self, names: Sequence[str]) -> IntArray:
        """Return (K,) group numbers; points of a group agree in all of ``names``.

        Parameters
        ----------
        names
            Columns of the space; if empty, all points are one group.

        Returns
        -------
        ndarray of int
            Numbers from 0.

        Examples
        --------
        >>> space.groups(["grade", "good"]).tolist()
        [0, 1, 0, 1]
        """
        if not names:
            return np.zeros(self.size, np.int64)
        return number_rows([self.columns[name].codes for name in names])

    def groups_of_twins(self, names: Sequence[str]) -> IntArray:
        """Return (K,) group numbers like `groups`, separate for families that keep levels."""
        groups = self.groups(names)
        return groups if self.origin is None else number_rows([groups, self.origin])

    def take(self, points: Rows, counts: IntArray | None = None) -> SampleSpace:
        """Return a space of some of the points, with other counts if they are given.

        Units are not changed, see `take_units`.
        """
        places = np.full(self.size, -1)
        places[points] = np.arange(len(np.arange(self.size)[points]))
        return replace(
            self,
            units=None if self.units is None else self.units.move(places),
            possible_units={},
            columns={name: column.take(points) for name, column in self.columns.items()},
            counts=(self.counts if counts is None else counts)[points],
            targets=None if self.targets is None else self.targets[points],
            origin=None if self.origin is None else self.origin[points],
            family=None if self.family is None else self.family[points],
        )

    def values(self, name: str) -> Values:
        """Return the values of a column, one per point."""
        return self.columns[name].values()

    def frame(
        self,
        names: Sequence[str] | None = None,
        rows: Rows | None = None,
        library: str | None = None,
    ) -> IntoDataFrame:
        """Return points as a data frame.

        Parameters
        ----------
        names
            Columns; default: all.
        rows
            Points; default: all.
        library
            The data frame library, such as "polars"; default: that of the audit data.

        Returns
        -------
        DataFrame
            One row per point.

        Examples
        --------
        >>> space.frame(["sex", "grade"], rows=[0, 3])
          sex  grade
        0   f      1
        1   m      2
        """
        column_names = list(self.columns) if names is None else list(names)
        points = slice(None) if rows is None else rows
        frame: IntoDataFrame = native_frame(
            {name: self.columns[name].take(points) for name in column_names},
            library or self.library,
        )
        return frame


def _from_columns(
    columns: Mapping[str, Values | Sequence[Value]], library: str
) -> nw.DataFrame[IntoDataFrame]:
    """Return columns as a narwhals frame of the given library."""
    import narwhals as nw

    frame: nw.DataFrame[IntoDataFrame] = nw.from_dict(
        columns, backend=cast("EagerAllowed", library)
    )
    return frame


def plain_frame(columns: Mapping[str, Sequence[Value]], library: str) -> IntoDataFrame:
    """Return lists of plain values as a data frame of the given library."""
    return _from_columns(columns, library).to_native()


def native_frame(columns: Mapping[str, CodedColumn], library: str) -> Any:
    """Return coded columns as a data frame of the given library, with their categories."""
    data = {name: _series_data(name, column, library) for name, column in columns.items()}
    frame: Any = _from_columns(data, library).to_native()
    if library == "pandas":
        import pandas as pd

        for name, column in columns.items():
            if column.categories is not None:
                # declared levels may go beyond the categories
                categories = dict.fromkeys([*column.categories, *column.levels.tolist()])
                frame[name] = pd.Categorical(frame[name], categories=list(categories))
    return frame


def _series_data(name: str, column: CodedColumn, library: str) -> Any:
    """Return a column as its library takes it, converting each level of text once."""
    import narwhals as nw

    levels = column.levels
    zone = getattr(levels[0], "tzinfo", None) if levels.dtype == object and len(levels) else None
    # some versions of polars convert times with a zone to UTC
    kind = nw.Datetime("us", str(zone)) if zone is not None and library == "polars" else None
    is_repeated = levels.dtype == object and 0 < len(levels) < len(column.codes)
    if is_repeated or kind is not None:
        plain = [*levels.tolist(), *([None] if column.has_missing else [])]
        series = nw.new_series(name, plain, kind, backend=cast("EagerAllowed", library))
        # of a narwhals series, pandas makes an array, in which times lose their zone
        return nw.maybe_reset_index(series[column.ranks]).to_native()
    values = column.values()
    # text and mixed values as lists: some libraries treat object arrays as opaque
    return values.tolist() if values.dtype == object else values


def data_sha256(space: SampleSpace) -> str:
    """Return the SHA-256 of the observed points and their counts, in the order of the points.

    The order of rows and the library or file format do not matter.
    """
    points = np.flatnonzero(space.observed)
    digest = hashlib.sha256()
    for name, column in space.columns.items():
        used = column.take(points).without_unused()
        kind, levels = _level_bytes(used.levels)
        digest.update(_ENCODER.encode([name, kind, len(levels), len(points)]).encode())
        digest.update(levels)
        digest.update(used.codes.astype("<i8").tobytes())
    digest.update(space.counts[points].astype("<i8").tobytes())
    return digest.hexdigest()


def _level_bytes(levels: Values) -> tuple[str, bytes]:
    """Return levels as bytes that depend on their values and kind."""
    kind = levels.dtype.kind
    if kind == "u" and max(levels.tolist(), default=0) < INTEGER_RANGE.stop // 2:
        kind = "i"  # numbers are equal in all integer types
    if kind in "biuf":
        return kind, levels.astype("<i1" if kind == "b" else f"<{kind}8").tobytes()
    # JSON has no line breaks inside a value
    return "json", "\n".join(map(_ENCODER.encode, levels.tolist())).encode()
