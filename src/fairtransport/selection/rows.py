"""Rows of a data frame or an array: column names, and the training, validation and final part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

import numpy as np

from fairtransport._core.validation import IntArray, check_number, shape_of, short_repr
from fairtransport.errors import InputError, param

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.typing import IntoDataFrame
    from numpy.typing import ArrayLike

    from fairtransport._core.validation import Values

    People: TypeAlias = IntoDataFrame | ArrayLike
    Share: TypeAlias = float | tuple[People, ArrayLike] | None


@dataclass(frozen=True, eq=False)
class Rows:
    """People, one per row, and their labels; ``clusters`` is a column that no model receives."""

    X: People
    y: Values
    clusters: str | None = None

    def __len__(self) -> int:
        """Return the number of people."""
        return len(self.y)

    @property
    def names(self) -> list[str]:
        """The names of the columns that models receive, as an audit knows them."""
        return [str(name) for name in to_audit_frame(self.people).columns]

    @property
    def people(self) -> People:
        """The people as models receive them, without the column of clusters."""
        return drop_column(self.X, self.clusters)

    @property
    def units(self) -> Values:
        """The cluster of each row; without clusters every row is one."""
        import narwhals as nw

        if self.clusters is None:
            return np.arange(len(self))
        frame = nw.from_native(self.X, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame) or self.clusters not in frame.columns:
            msg = f"{param('clusters')} must be a column of a data frame, got {self.clusters!r}"
            raise InputError(msg)
        return np.asarray(frame[self.clusters].to_numpy())

    def take(self, places: IntArray) -> Rows:
        """Return some of the people, in the library they came in."""
        from sklearn.utils import _safe_indexing

        return replace(self, X=_safe_indexing(self.X, places), y=self.y[places])

    def append(self, others: Rows) -> Rows:
        """Return these people and others below them."""
        import narwhals as nw

        labels = np.concatenate([self.y, others.y])
        tables = [nw.from_native(X, eager_only=True, pass_through=True) for X in (self.X, others.X)]
        frames = [frame for frame in tables if isinstance(frame, nw.DataFrame)]
        if len(frames) == len(tables):
            return replace(self, X=nw.concat(frames).to_native(), y=labels)
        return Rows(np.concatenate([np.asarray(self.X), np.asarray(others.X)]), labels)


def drop_column(X: People, name: str | None) -> People:  # noqa: N803
    """Return a table without a column, if it has it."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if name is None or not isinstance(frame, nw.DataFrame) or name not in frame.columns:
        return X
    rest: People = frame.drop(name).to_native()
    return rest


def is_frame(X: People) -> TypeGuard[IntoDataFrame]:  # noqa: N803
    """Return whether X is a data frame whose columns are named."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return isinstance(frame, nw.DataFrame) and all(isinstance(name, str) for name in frame.columns)


def to_audit_frame(X: People) -> IntoDataFrame:  # noqa: N803
    """Return X as a frame with named columns; those of an array are x0, x1 and so on."""
    if is_frame(X):
        return X
    import pandas as pd

    array = np.asarray(X)
    return pd.DataFrame(array, columns=[f"x{at}" for at in range(array.shape[1])])


def find_frame_library(X: People) -> str:  # noqa: N803
    """Return the data frame library of the points that a model fitted on X receives."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return str(frame.implementation.value) if isinstance(frame, nw.DataFrame) else "pandas"


def find_column_names(parameter: str, columns: object, names: Sequence[str]) -> list[str]:
    """Return the names of columns from their names or indices."""
    entries = list(columns) if isinstance(columns, list | tuple | np.ndarray) else [columns]
    return [_find_column_name(parameter, column, names) for column in entries]


def name_levels(
    levels: Mapping[str, Sequence[object]] | None, names: Sequence[str]
) -> Mapping[str, Sequence[object]] | None:
    """Return declared levels by the names of their columns."""
    if not isinstance(levels, Mapping):
        return levels
    return {_find_column_name("levels", column, names): values for column, values in levels.items()}


def _find_column_name(parameter: str, column: object, names: Sequence[str]) -> str:
    """Return the name of one column from its name or its index."""
    if isinstance(column, int | np.integer) and not isinstance(column, bool):
        if 0 <= column < len(names):
            return names[int(column)]
    elif isinstance(column, str) and column in names:
        return column
    options = ", ".join(names)
    msg = (
        f"{param(parameter)} must hold names of columns ({options}) or their places from 0 to "
        f"{len(names) - 1}, got {short_repr(column)}"
    )
    raise InputError(msg)


def check_rows(
    estimator: object, X: People, y: ArrayLike | None, clusters: str | None = None  # noqa: N803
) -> Rows:  # fmt: skip
    """Return X and y as rows, and store the columns in the estimator.

    A data frame is unchanged; anything else becomes an array.
    """
    from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

    if y is None:
        who = type(estimator).__name__
        msg = f"{param('y')} must be given: {who} requires y to be passed, but the target y is None"
        raise InputError(msg)
    framed = is_frame(X)
    options = {"skip_check_array": True} if framed else {"dtype": None}
    people = validate_data(estimator, drop_column(X, clusters), **options)
    labels = column_or_1d(y, warn=True)
    check_consistent_length(people, labels)
    return Rows(X if framed else people, labels, clusters)


@dataclass(frozen=True, eq=False)
class Parts:
    """The people to train on, to select with, and for the final audit."""

    training: Rows
    validation: Rows
    final: Rows | None


def split_rows(rows: Rows, validation: Share, final: Share, seed: int) -> Parts:
    """Draw the parts that are given as shares at random; leave the others unchanged.

    Shares are of all clusters, whose rows stay together, or else of all rows. The final part is
    drawn first, so that it does not depend on the size of the others; nothing is stratified, so
    that each part is a sample of the same population.
    """
    values = rows.units.tolist()
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    units = np.array([numbers[value] for value in values], np.int64)
    order = np.random.default_rng(seed).permutation(len(numbers))
    final_rows, order = _draw_part("final", final, rows, units, order)
    validation_rows, order = _draw_part("validation", validation, rows, units, order)
    if validation_rows is None:
        msg = f"{param('validation')} must be a share or data, got {short_repr(validation)}"
        raise InputError(msg)
    if not len(order):
        msg = (
            f"{param('validation')} and {param('final')} must leave rows to train on, got "
            f"n_samples = {len(rows)}"
        )
        raise InputError(msg)
    parts = Parts(rows.take(_find_rows(units, order)), validation_rows, final_rows)
    if rows.clusters is not None:
        _check_apart(parts)
    return parts


def _find_rows(units: IntArray, part: IntArray) -> IntArray:
    """Return the indices of the rows of some units, in their order."""
    return np.flatnonzero(np.isin(units, part))


def _draw_part(
    parameter: str, share: Share, rows: Rows, units: IntArray, order: IntArray
) -> tuple[Rows | None, IntArray]:
    """Return one part and the units that are left."""
    if share is None:
        return None, order
    if isinstance(share, tuple | list):
        return replace(_check_pair(parameter, share), clusters=rows.clusters), order
    total = int(units.max()) + 1
    count = round(check_number(parameter, share, above=0, below=1) * total)
    if not 0 < count <= len(order):
        got = f"{share:g} of n_samples = {total}"
        msg = f"{param(parameter)} must be a share with rows in it, got {got}"
        raise InputError(msg)
    return rows.take(_find_rows(units, order[:count])), order[count:]


def _check_apart(parts: Parts) -> None:
    """Check that no cluster is in two parts, which is possible if one was passed as data."""
    earlier_units = set(parts.training.units.tolist())
    for parameter, part in (("validation", parts.validation), ("final", parts.final)):
        units = set() if part is None else set(part.units.tolist())
        if both := earlier_units & units:
            msg = (
                f"{param(parameter)} must have other {param('clusters')} than the other parts, got "
                f"{len(both)} of theirs, such as {short_repr(min(both, key=str))}"
            )
            raise InputError(msg)
        earlier_units |= units


def _check_pair(parameter: str, pair: Sequence[People]) -> Rows:
    """Return a part that was passed as a pair (X, y)."""
    if len(pair) != len(("X", "y")) or isinstance(pair[1], str) or len(shape_of(pair[1])) != 1:
        msg = f"{param(parameter)} must be a share or a pair (X, y), got {short_repr(pair)}"
        raise InputError(msg)
    X, y = pair  # noqa: N806
    labels = np.asarray(y)
    length = shape_of(X)[0]
    if length != len(labels):
        msg = f"{param(parameter)} must have as many labels as rows, got {len(labels)} and {length}"
        raise InputError(msg)
    return Rows(X, labels)
