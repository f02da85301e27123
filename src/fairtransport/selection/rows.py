"""Rows of a data frame or an array: named, parted, stacked, and made ready for an audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

import numpy as np

from fairtransport.checks import IntArray, number, shape_of, shown
from fairtransport.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.typing import IntoDataFrame
    from numpy.typing import ArrayLike

    from fairtransport.checks import Values

    People: TypeAlias = IntoDataFrame | ArrayLike
    Share: TypeAlias = float | tuple[People, ArrayLike] | None


@dataclass(frozen=True, eq=False)
class Rows:
    """People, one a row, and their labels.

    Attributes
    ----------
    X
        A data frame or an array.
    y
        (n,) labels.
    """

    X: People
    y: Values

    def __len__(self) -> int:
        """Return the number of people."""
        return len(self.y)

    @property
    def names(self) -> list[str]:
        """The names of the columns, as an audit knows them."""
        return [str(name) for name in audit_frame(self.X).columns]

    def take(self, places: IntArray) -> Rows:
        """Return some of the people, in the library they came in.

        Parameters
        ----------
        places
            Of the rows.
        """
        from sklearn.utils import _safe_indexing

        return Rows(_safe_indexing(self.X, places), self.y[places])

    def stack(self, others: Rows) -> Rows:
        """Return these people and others below them.

        Parameters
        ----------
        others
            With the same columns; of frames and arrays an array is made.
        """
        import narwhals as nw

        labels = np.concatenate([self.y, others.y])
        given = [nw.from_native(X, eager_only=True, pass_through=True) for X in (self.X, others.X)]
        frames = [frame for frame in given if isinstance(frame, nw.DataFrame)]
        if len(frames) == len(given):
            return Rows(nw.concat(frames).to_native(), labels)
        return Rows(np.concatenate([np.asarray(self.X), np.asarray(others.X)]), labels)


def is_frame(X: People) -> TypeGuard[IntoDataFrame]:  # noqa: N803
    """Say whether X is a data frame whose columns are named.

    Parameters
    ----------
    X
        What the user passed.
    """
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return isinstance(frame, nw.DataFrame) and all(isinstance(name, str) for name in frame.columns)


def audit_frame(X: People) -> IntoDataFrame:  # noqa: N803
    """Return X as a frame with named columns; those of an array are x0, x1 and so on.

    Parameters
    ----------
    X
        A data frame stays what it is.
    """
    if is_frame(X):
        return X
    import pandas as pd

    array = np.asarray(X)
    return pd.DataFrame(array, columns=[f"x{at}" for at in range(array.shape[1])])


def frame_library(X: People) -> str:  # noqa: N803
    """Return the library in which a model fitted on X wants its points.

    Parameters
    ----------
    X
        What it was fitted on.

    Examples
    --------
    >>> frame_library(np.zeros((2, 2)))
    'pandas'
    """
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return str(frame.implementation.value) if isinstance(frame, nw.DataFrame) else "pandas"


def column_names(parameter: str, columns: object, known: Sequence[str]) -> list[str]:
    """Return the names of columns that a user named or gave the places of.

    Parameters
    ----------
    parameter
        Its name, for the message.
    columns
        One or several, by name or by place.
    known
        All names.

    Raises
    ------
    InputError
        If one is not there.

    Examples
    --------
    >>> column_names("sensitive_features", [1, "age"], ["age", "sex"])
    ['sex', 'age']
    """
    listed = list(columns) if isinstance(columns, list | tuple | np.ndarray) else [columns]
    return [_column_name(parameter, column, known) for column in listed]


def named_levels(
    levels: Mapping[str, Sequence[object]] | None, known: Sequence[str]
) -> Mapping[str, Sequence[object]] | None:
    """Return declared levels by the names of their columns.

    Parameters
    ----------
    levels
        By name or by place; None stays None.
    known
        All names.

    Examples
    --------
    >>> named_levels({1: ["f", "m"]}, ["age", "sex"])
    {'sex': ['f', 'm']}
    """
    if not isinstance(levels, Mapping):
        return levels
    return {_column_name("levels", column, known): values for column, values in levels.items()}


def _column_name(parameter: str, column: object, known: Sequence[str]) -> str:
    """Return the name of one column, told by its name or its place.

    Parameters
    ----------
    parameter
        Which setting, for the message.
    column
        A name, or a place from 0; True and False are neither, though Python counts them as numbers.
    known
        The names of X's columns, in their order.

    Raises
    ------
    InputError
        If there is no such column.

    Examples
    --------
    >>> _column_name("sensitive_features", 1, ["age", "sex"])
    'sex'
    """
    if isinstance(column, int | np.integer) and not isinstance(column, bool):
        if 0 <= column < len(known):
            return known[int(column)]
    elif isinstance(column, str) and column in known:
        return column
    listed = ", ".join(known)
    msg = (
        f"`{parameter}` must hold names of columns ({listed}) or their places from 0 to "
        f"{len(known) - 1}, got {shown(column)}"
    )
    raise InputError(msg)


def checked_rows(estimator: object, X: People, y: ArrayLike | None) -> Rows:  # noqa: N803
    """Return X and y as rows and let the estimator remember the columns.

    A data frame stays what it is; anything else becomes an array.

    Parameters
    ----------
    estimator
        The search, whose ``n_features_in_`` and ``feature_names_in_`` are set.
    X, y
        What the user passed.

    Raises
    ------
    InputError
        If there are no labels; scikit-learn's own errors for wrong shapes pass.
    """
    from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

    if y is None:
        who = type(estimator).__name__
        msg = f"`y` must be given: {who} requires y to be passed, but the target y is None"
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
    """Who is trained on, who selects, and who was kept for the final audit.

    Attributes
    ----------
    training, validation, final
        Disjoint where they are shares of the same rows; ``final`` is None if none was asked for.
    """

    training: Rows
    validation: Rows
    final: Rows | None


def part(rows: Rows, validation: Share, final: Share, seed: int) -> Parts:
    """Draw the parts that are given as shares at random; take the others as they are.

    Shares are of all rows. The final part is drawn first, so that it does not depend on the
    size of the others; nothing is stratified, so that each part is a sample of the same people.

    Parameters
    ----------
    rows
        Everybody who is not given apart.
    validation, final
        Shares, pairs (X, y), or None for no final part.
    seed
        Of the order.

    Raises
    ------
    InputError
        If a share is empty, or nobody is left to train on.
    """
    order = np.random.default_rng(seed).permutation(len(rows))
    kept, order = _draw("final", final, rows, order)
    chosen, order = _draw("validation", validation, rows, order)
    if chosen is None:
        msg = f"`validation` must be a share or data, got {shown(validation)}"
        raise InputError(msg)
    if not len(order):
        msg = f"`validation` and `final` must leave rows to train on, got n_samples = {len(rows)}"
        raise InputError(msg)
    return Parts(rows.take(np.sort(order)), chosen, kept)


def _draw(
    parameter: str, wanted: Share, rows: Rows, order: IntArray
) -> tuple[Rows | None, IntArray]:  # fmt: skip
    """Return one part and the places that are left.

    Parameters
    ----------
    parameter, wanted
        Its name for messages, and the share, the data or None.
    rows, order
        Everybody, and the places that are left, in random order.
    """
    if wanted is None:
        return None, order
    if isinstance(wanted, tuple | list):
        return _given(parameter, wanted), order
    count = round(number(parameter, wanted, above=0, below=1) * len(rows))
    if not 0 < count <= len(order):
        got = f"{wanted:g} of n_samples = {len(rows)}"
        msg = f"`{parameter}` must be a share with rows in it, got {got}"
        raise InputError(msg)
    return rows.take(np.sort(order[:count])), order[count:]


def _given(parameter: str, wanted: Sequence[People]) -> Rows:
    """Return a part that was given as data.

    Raises
    ------
    InputError
        If it is no pair of people and as many labels.
    """
    pair = 2
    if len(wanted) != pair or isinstance(wanted[1], str) or len(shape_of(wanted[1])) != 1:
        msg = f"`{parameter}` must be a share or a pair (X, y), got {shown(wanted)}"
        raise InputError(msg)
    X, y = wanted  # noqa: N806
    labels = np.asarray(y)
    length = shape_of(X)[0]
    if length != len(labels):
        msg = f"`{parameter}` must have as many labels as rows, got {len(labels)} and {length}"
        raise InputError(msg)
    return Rows(X, labels)
