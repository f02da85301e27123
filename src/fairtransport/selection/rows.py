"""Rows of a data frame or an array: column names, and the training, validation and final part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
    """People, one a row, and their labels."""

    X: People
    y: Values

    def __len__(self) -> int:
        """Return the number of people."""
        return len(self.y)

    @property
    def names(self) -> list[str]:
        """The names of the columns, as an audit knows them."""
        return [str(name) for name in to_audit_frame(self.X).columns]

    def take(self, places: IntArray) -> Rows:
        """Return some of the people, in the library they came in."""
        from sklearn.utils import _safe_indexing

        return Rows(_safe_indexing(self.X, places), self.y[places])

    def append(self, others: Rows) -> Rows:
        """Return these people and others below them."""
        import narwhals as nw

        labels = np.concatenate([self.y, others.y])
        tables = [nw.from_native(X, eager_only=True, pass_through=True) for X in (self.X, others.X)]
        frames = [frame for frame in tables if isinstance(frame, nw.DataFrame)]
        if len(frames) == len(tables):
            return Rows(nw.concat(frames).to_native(), labels)
        return Rows(np.concatenate([np.asarray(self.X), np.asarray(others.X)]), labels)


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
    """Return the library in which a model fitted on X wants its points."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return str(frame.implementation.value) if isinstance(frame, nw.DataFrame) else "pandas"


def find_column_names(parameter: str, columns: object, names: Sequence[str]) -> list[str]:
    """Return the names of columns from their names or places."""
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
    """Return the name of one column from its name or its place."""
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


def check_rows(estimator: object, X: People, y: ArrayLike | None) -> Rows:  # noqa: N803
    """Return X and y as rows and let the estimator remember the columns.

    A data frame stays what it is; anything else becomes an array.
    """
    from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

    if y is None:
        who = type(estimator).__name__
        msg = f"{param('y')} must be given: {who} requires y to be passed, but the target y is None"
        raise InputError(msg)
    framed = is_frame(X)
    rows = validate_data(
        estimator, X, **({"skip_check_array": True} if framed else {"dtype": None})
    )
    labels = column_or_1d(y, warn=True)
    check_consistent_length(rows, labels)
    return Rows(rows, labels)


@dataclass(frozen=True, eq=False)
class Parts:
    """The people to train on, to select with, and for the final audit."""

    training: Rows
    validation: Rows
    final: Rows | None


def split_rows(rows: Rows, validation: Share, final: Share, seed: int) -> Parts:
    """Draw the parts that are given as shares at random; take the others as they are.

    Shares are of all rows. The final part is drawn first, so that it does not depend on the
    size of the others; nothing is stratified, so that each part is a sample of the same people.
    """
    order = np.random.default_rng(seed).permutation(len(rows))
    final_rows, order = _draw_part("final", final, rows, order)
    validation_rows, order = _draw_part("validation", validation, rows, order)
    if validation_rows is None:
        msg = f"{param('validation')} must be a share or data, got {short_repr(validation)}"
        raise InputError(msg)
    if not len(order):
        msg = (
            f"{param('validation')} and {param('final')} must leave rows to train on, got "
            f"n_samples = {len(rows)}"
        )
        raise InputError(msg)
    return Parts(rows.take(np.sort(order)), validation_rows, final_rows)


def _draw_part(
    parameter: str, share: Share, rows: Rows, order: IntArray
) -> tuple[Rows | None, IntArray]:  # fmt: skip
    """Return one part and the places that are left."""
    if share is None:
        return None, order
    if isinstance(share, tuple | list):
        return _check_pair(parameter, share), order
    count = round(check_number(parameter, share, above=0, below=1) * len(rows))
    if not 0 < count <= len(order):
        got = f"{share:g} of n_samples = {len(rows)}"
        msg = f"{param(parameter)} must be a share with rows in it, got {got}"
        raise InputError(msg)
    return rows.take(np.sort(order[:count])), order[count:]


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
