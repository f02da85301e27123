"""Mixed columns as coordinates: numbers standardised, levels one-hot, and the record of both."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date, datetime
from numbers import Number
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fairtransport.checks import shown
from fairtransport.errors import DataError
from fairtransport.similarity.base import is_numeric
from fairtransport.space.kinds import NUMBER, TEXT, TRUTH

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from fairtransport.checks import BoolArray, FloatArray, IntArray
    from fairtransport.space.columns import CodedColumn, Value

MOST_COORDINATES = 100_000_000
"""Entries of a column's coordinates: 800 MB."""
HALF = float(np.sqrt(0.5))
"""The size of a one-hot coordinate: two different levels are then at squared distance 1."""


@dataclass(frozen=True)
class Standardised:
    """A numeric column: (x − centre) / scale, and whether it is missing where that occurs.

    Attributes
    ----------
    centre, scale
        Mean and standard deviation of the people of `fit`; a scale of 1 where they do not vary.
    can_miss
        Whether it was missing there: then a second coordinate tells that, and the first is 0.
    """

    centre: float
    scale: float
    can_miss: bool = False

    def coordinates(self, name: str, column: CodedColumn) -> FloatArray:
        """Return one coordinate a point, or two.

        Parameters
        ----------
        name
            The column, for messages.
        column
            The points' values.

        Raises
        ------
        DataError
            If it is not numeric.
        """
        if len(column.levels) and not is_numeric(column.levels):
            msg = f"the column {name!r} must be numeric, as in the data of `fit`"
            raise DataError(msg)
        # the missing value has the last code, -1
        levels = np.r_[(column.levels.astype(float) - self.centre) / self.scale, 0.0]
        told = [levels[column.codes]]
        if self.can_miss:
            told.append((column.codes < 0) * HALF)
        return np.column_stack(told)

    def unknown(self, column: CodedColumn) -> BoolArray:
        """Say at which points the number is missing, if it never was for the people of `fit`."""
        return (column.codes < 0) & (not self.can_miss)

    def names(self, name: str) -> list[str]:
        """Return the coordinates' names."""
        return [name, f"{name}=None"] if self.can_miss else [name]

    def record(self) -> dict[str, object]:
        """Return the standardisation as plain values."""
        return {
            "centre": self.centre,
            "scale": self.scale,
            **({"missing": True} if self.can_miss else {}),
        }


@dataclass(frozen=True)
class OneHot:
    """A column of levels: one coordinate each, so that any two are at squared distance 1.

    Attributes
    ----------
    levels
        Those of the people of `fit`, None for a missing value.
    """

    levels: tuple[Value, ...]

    def coordinates(self, name: str, column: CodedColumn) -> FloatArray:
        """Return one coordinate a level for each point; all are 0 at a level that is unknown.

        Parameters
        ----------
        name
            The column, for messages.
        column
            The points' values.

        Raises
        ------
        DataError
            If an unknown level is of another kind than those of `fit`, as where text became
            numbers: all of them would be new.
        """
        slots = self._slots(column)
        known = {_kind_of(level) for level in self.levels if level is not None}
        for code in np.unique(column.codes[slots == len(self.levels)]).tolist():
            level = None if code < 0 else column.levels[code : code + 1].tolist()[0]
            if level is not None and known and _kind_of(level) not in known:
                msg = (
                    f"the column {name!r} must hold what it holds in the data of `fit` "
                    f"({', '.join(sorted(known))}), got {shown(level)}"
                )
                raise DataError(msg)
        return one_hot(name, slots, len(self.levels)) * HALF

    def unknown(self, column: CodedColumn) -> BoolArray:
        """Say which points have a level that none of the people of `fit` has."""
        return np.asarray(self._slots(column) == len(self.levels))

    def _slots(self, column: CodedColumn) -> IntArray:
        """Return the number of each point's level; that of unknown ones is the next."""
        place = {level: at for at, level in enumerate(self.levels)}
        # the missing value has the last code, -1
        return np.array(
            [place.get(level, len(place)) for level in [*column.levels.tolist(), None]]
        )[column.codes]

    def names(self, name: str) -> list[str]:
        """Return the coordinates' names."""
        return [f"{name}={level}" for level in self.levels]

    def record(self) -> dict[str, object]:
        """Return the levels as plain values."""
        return {"levels": [*self.levels]}


KINDS: dict[type, str] = {
    bool: TRUTH, Number: NUMBER, str: TEXT, datetime: "times", date: "dates",
}  # fmt: skip
"""Of a value that is of several kinds the first counts: a truth value is a number too."""


def _kind_of(level: Value) -> str:
    """Return what kind of value a level is, in words."""
    word = next((word for kind, word in KINDS.items() if isinstance(level, kind)), "other values")
    return f"{word} with a zone" if getattr(level, "tzinfo", None) is not None else word


def one_hot(name: str, slots: IntArray, size: int) -> FloatArray:
    """Return a coordinate a level, 1 at each point's own; too many of them are refused.

    Parameters
    ----------
    name
        The column, for the message.
    slots
        By point: the number of its level; that after the last one is none of them.
    size
        How many levels there are.

    Raises
    ------
    DataError
        If the coordinates would fill the memory.

    Examples
    --------
    >>> one_hot("job", np.array([1, 0]), 2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if len(slots) * size > MOST_COORDINATES:
        msg = (
            f"the column {name!r} has {size:,} levels at {len(slots):,} points, more than can be "
            f"compared level by level ({MOST_COORDINATES:,} coordinates); group its levels"
        )
        raise DataError(msg)
    coordinates = np.zeros((len(slots), size))
    has_one = np.flatnonzero(slots < size)
    coordinates[has_one, slots[has_one]] = 1.0
    return coordinates


Part: TypeAlias = Standardised | OneHot


@dataclass(frozen=True)
class Encoding:
    """How columns become coordinates.

    Attributes
    ----------
    parts
        For each column in order, how it is encoded.
    """

    parts: Mapping[str, Part]

    @property
    def columns(self) -> tuple[str, ...]:
        """The encoded columns."""
        return tuple(self.parts)

    @property
    def names(self) -> list[str]:
        """The name of each coordinate, as "age" or "job=clerk"."""
        return [label for name, part in self.parts.items() for label in part.names(name)]

    @property
    def sizes(self) -> list[int]:
        """How many coordinates each column has."""
        return [len(part.names(name)) for name, part in self.parts.items()]

    def coordinates(self, columns: Mapping[str, CodedColumn]) -> FloatArray:
        """Return the (K, coordinates) array of some points.

        Parameters
        ----------
        columns
            The points' columns; others than the encoded ones are not looked at.
        """
        return np.column_stack(
            [part.coordinates(name, columns[name]) for name, part in self.parts.items()]
        )

    def unknown(self, columns: Mapping[str, CodedColumn]) -> BoolArray:
        """Return (K, columns) where points have a level that none of the people of `fit` has.

        Parameters
        ----------
        columns
            The points' columns. A missing number is such a level too.
        """
        return np.column_stack([part.unknown(columns[name]) for name, part in self.parts.items()])

    def identities(self, columns: Mapping[str, CodedColumn]) -> FloatArray:
        """Return (K, any) the coordinates, and beside them which unknown level a point has.

        Parameters
        ----------
        columns
            The points' columns. Beside the coordinates of the people of `fit` are zeros: points
            are equal to one of them where they have the same values.
        """
        codes = np.column_stack([columns[name].codes for name in self.parts])
        # the missing value has the code -1
        unknown = np.where(self.unknown(columns), codes + 2, 0)
        return np.hstack([self.coordinates(columns), unknown])

    def new_levels(
        self, columns: Mapping[str, CodedColumn], *, told_apart: bool = True
    ) -> FloatArray:  # fmt: skip
        """Return (K, any) coordinates of the levels that none of the people of `fit` has.

        Parameters
        ----------
        columns
            The points' columns. Beside the known coordinates a new level differs from every other
            as levels do before any direction is taken out.
        told_apart
            Whether there is a coordinate for each, or one for all of a column.

        Raises
        ------
        DataError
            If the coordinates would fill the memory.
        """
        found = []
        for name, unknown in zip(self.parts, self.unknown(columns).T, strict=True):
            if not unknown.any():
                continue
            codes = np.where(unknown & told_apart, columns[name].codes, 0)
            new, slots = np.unique(codes[unknown], return_inverse=True)
            at = np.full(len(unknown), len(new))
            at[unknown] = slots
            found.append(one_hot(name, at, len(new)) * HALF)
        return np.hstack([np.zeros((len(unknown), 0)), *found])

    def refuse_unknown(self, columns: Mapping[str, CodedColumn]) -> None:
        """Refuse levels whose distance from the others was not learned.

        Parameters
        ----------
        columns
            The points' columns.

        Raises
        ------
        DataError
            Naming one of them.
        """
        for name, part in self.parts.items():
            at = np.flatnonzero(part.unknown(columns[name]))[:1]
            if not len(at):
                continue
            if isinstance(part, Standardised):
                raise _is_missing(name)
            level = columns[name].take(at).to_list()[0]
            msg = f"the column {name!r} has the level {level!r}, which the data of `fit` has not"
            raise DataError(msg)

    def record(self) -> dict[str, object]:
        """Return what is done with each column, for the provenance."""
        return {name: part.record() for name, part in self.parts.items()}


def fit_encoding(
    columns: Mapping[str, CodedColumn], as_levels: Collection[str] = (), *, may_miss: bool = False
) -> Encoding:
    """Return the encoding of columns by their own means, standard deviations and levels.

    Parameters
    ----------
    columns
        Of the people of `fit`, each row counted once.
    as_levels
        Columns whose numbers are codes, which lie nowhere between each other.
    may_miss
        Whether a number may be missing, which is then told by a coordinate of its own.

    Raises
    ------
    DataError
        If a number is missing and may not.
    """
    parts = {
        name: _fitted_part(column, as_levels=name in as_levels) for name, column in columns.items()
    }
    for name, part in parts.items():
        if isinstance(part, Standardised) and part.can_miss and not may_miss:
            raise _is_missing(name)
    return Encoding(parts)


def _is_missing(name: str) -> DataError:
    return DataError(f"the column {name!r} must not have missing values: it is used as a number")


def _fitted_part(column: CodedColumn, *, as_levels: bool) -> Part:
    """Return how one column is encoded: a number, or levels with the missing one among them."""
    told = column.codes >= 0
    if as_levels or not is_numeric(column.levels) or not told.any():
        used = np.unique(column.codes[told])
        missing = (None,) if column.has_missing else ()
        return OneHot((*column.levels[used].tolist(), *missing))
    numbers = column.levels.astype(float)[column.codes[told]]
    return Standardised(*centre_and_scale(numbers), can_miss=column.has_missing)


def centre_and_scale(values: FloatArray) -> tuple[float, float]:
    """Return mean and standard deviation of numbers of any size; 1 where they do not vary.

    Parameters
    ----------
    values
        Finite numbers, at least one.

    Examples
    --------
    >>> centre_and_scale(np.array([0.0, 2e200]))
    (1e+200, 1e+200)
    """
    # a power of two changes no digit, and squares of numbers near 1 are neither lost nor infinite
    unit = float(np.ldexp(1.0, int(np.frexp(np.abs(values).max(initial=0.0))[1]) - 1))
    near = values / unit
    return float(near.mean()) * unit, float(near.std()) * unit or 1.0


def fingerprint(coordinates: FloatArray, counts: IntArray) -> str:
    """Return a digest of distinct rows and how often each occurs, whatever their order.

    Parameters
    ----------
    coordinates
        (n, coordinates) encoded people.
    counts
        (n,) how many people each row stands for.

    Examples
    --------
    >>> once = fingerprint(np.array([[1.0], [2.0], [1.0]]), np.array([1, 1, 1]))
    >>> once == fingerprint(np.array([[2.0], [1.0]]), np.array([1, 2]))
    True
    """
    rows, inverse = np.unique(coordinates, axis=0, return_inverse=True)
    total = np.bincount(inverse.reshape(-1), counts).astype(np.int64)
    # 0.0 and -0.0 are equal but not the same bytes
    content = (rows + 0.0).tobytes() + total.tobytes()
    return hashlib.sha256(content).hexdigest()
