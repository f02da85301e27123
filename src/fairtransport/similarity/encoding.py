"""Encoding of mixed columns as coordinates: standardised numbers and one-hot levels."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date, datetime
from numbers import Number
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fairtransport._core.validation import short_repr
from fairtransport.data.text_files import NUMBER, TEXT, TRUTH
from fairtransport.errors import DataError, param
from fairtransport.similarity.base import is_numeric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtransport._core.validation import BoolArray, FloatArray, IntArray
    from fairtransport.data.columns import CodedColumn, Value

MAX_COORDINATES = 100_000_000
"""Limit on the coordinates of a column: 800 MB."""
LEVEL_COORDINATE = float(np.sqrt(0.5))
"""Value of a one-hot coordinate: two different levels are then at squared distance 1."""
KIND_NAMES: dict[type, str] = {
    bool: TRUTH, Number: NUMBER, str: TEXT, datetime: "times", date: "dates",
}  # fmt: skip
"""The first match counts: a bool is a number, too."""


@dataclass(frozen=True)
class NumericColumn:
    """Encoding of a numeric column: (x − centre) / scale, and an indicator of missing values."""

    centre: float
    scale: float
    has_missing_indicator: bool = False

    def coordinates(self, name: str, column: CodedColumn) -> FloatArray:
        """Return one coordinate per point, or two with the indicator."""
        if len(column.levels) and not is_numeric(column.levels):
            msg = f"the column {name!r} must be numeric, as in the data of {param('fit')}"
            raise DataError(msg)
        # the missing value has the last code, -1
        levels = np.r_[(column.levels.astype(float) - self.centre) / self.scale, 0.0]
        coordinates = [levels[column.codes]]
        if self.has_missing_indicator:
            coordinates.append((column.codes < 0) * LEVEL_COORDINATE)
        return np.column_stack(coordinates)

    def unknown(self, column: CodedColumn) -> BoolArray:
        """Return where a number is missing that never was in the data of `fit`."""
        return (column.codes < 0) & (not self.has_missing_indicator)

    def names(self, name: str) -> list[str]:
        """Return the names of the coordinates."""
        return [name, f"{name}=None"] if self.has_missing_indicator else [name]

    def record(self) -> dict[str, object]:
        """Return the encoding as plain values."""
        return {
            "centre": self.centre,
            "scale": self.scale,
            **({"missing": True} if self.has_missing_indicator else {}),
        }


@dataclass(frozen=True)
class CategoricalColumn:
    """One-hot encoding of a column; any two levels are at squared distance 1."""

    levels: tuple[Value, ...]

    def coordinates(self, name: str, column: CodedColumn) -> FloatArray:
        """Return one coordinate per level for each point; all are 0 at an unknown level."""
        slots = self._slots(column)
        kinds = {_name_kind(level) for level in self.levels if level is not None}
        for code in np.unique(column.codes[slots == len(self.levels)]).tolist():
            level = None if code < 0 else column.levels[code : code + 1].tolist()[0]
            if level is not None and kinds and _name_kind(level) not in kinds:
                msg = (
                    f"the column {name!r} must hold what it holds in the data of {param('fit')} "
                    f"({', '.join(sorted(kinds))}), got {short_repr(level)}"
                )
                raise DataError(msg)
        return one_hot(name, slots, len(self.levels)) * LEVEL_COORDINATE

    def unknown(self, column: CodedColumn) -> BoolArray:
        """Return which points have a level that is not in the data of `fit`."""
        return np.asarray(self._slots(column) == len(self.levels))

    def _slots(self, column: CodedColumn) -> IntArray:
        """Return the index of each point's level; unknown levels have the next index."""
        place = {level: at for at, level in enumerate(self.levels)}
        # the missing value has the last code, -1
        return np.array(
            [place.get(level, len(place)) for level in [*column.levels.tolist(), None]]
        )[column.codes]

    def names(self, name: str) -> list[str]:
        """Return the names of the coordinates."""
        return [f"{name}={level}" for level in self.levels]

    def record(self) -> dict[str, object]:
        """Return the encoding as plain values."""
        return {"levels": [*self.levels]}


def _name_kind(level: Value) -> str:
    """Return the kind of a level as text."""
    word = next(
        (word for kind, word in KIND_NAMES.items() if isinstance(level, kind)), "other values"
    )
    return f"{word} with a zone" if getattr(level, "tzinfo", None) is not None else word


def one_hot(name: str, slots: IntArray, size: int) -> FloatArray:
    """Return one coordinate per level, 1 at each point's own; raise if there are too many."""
    if len(slots) * size > MAX_COORDINATES:
        msg = (
            f"the column {name!r} has {size:,} values in {len(slots):,} different rows, more than "
            f"can be compared one by one ({MAX_COORDINATES:,} coordinates); merge rare values"
        )
        raise DataError(msg)
    coordinates = np.zeros((len(slots), size))
    has_one = np.flatnonzero(slots < size)
    coordinates[has_one, slots[has_one]] = 1.0
    return coordinates


ColumnEncoding: TypeAlias = NumericColumn | CategoricalColumn


@dataclass(frozen=True)
class Encoding:
    """Encoding of several columns."""

    parts: Mapping[str, ColumnEncoding]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        return tuple(self.parts)

    @property
    def names(self) -> list[str]:
        """Names of the coordinates, such as "age" or "job=clerk"."""
        return [label for name, part in self.parts.items() for label in part.names(name)]

    def coordinates(self, columns: Mapping[str, CodedColumn]) -> FloatArray:
        """Return the coordinates of points, shape (K, coordinates)."""
        return np.column_stack(
            [part.coordinates(name, columns[name]) for name, part in self.parts.items()]
        )

    def unknown(self, columns: Mapping[str, CodedColumn]) -> BoolArray:
        """Return where points have a level that is not in the data of `fit`, shape (K, columns)."""
        return np.column_stack([part.unknown(columns[name]) for name, part in self.parts.items()])

    def identities(self, columns: Mapping[str, CodedColumn]) -> FloatArray:
        """Return the coordinates and the codes of unknown levels, side by side."""
        codes = np.column_stack([columns[name].codes for name in self.parts])
        # shifted by 2, as the missing value has the code -1
        unknown = np.where(self.unknown(columns), codes + 2, 0)
        return np.hstack([self.coordinates(columns), unknown])

    def new_levels(
        self, columns: Mapping[str, CodedColumn], *, distinct: bool = True
    ) -> FloatArray:  # fmt: skip
        """Return coordinates of the levels that are not in the data of `fit`."""
        parts = []
        for name, unknown in zip(self.parts, self.unknown(columns).T, strict=True):
            if not unknown.any():
                continue
            codes = np.where(unknown & distinct, columns[name].codes, 0)
            new, slots = np.unique(codes[unknown], return_inverse=True)
            at = np.full(len(unknown), len(new))
            at[unknown] = slots
            parts.append(one_hot(name, at, len(new)) * LEVEL_COORDINATE)
        return np.hstack([np.zeros((len(unknown), 0)), *parts])

    def check_known_levels(self, columns: Mapping[str, CodedColumn]) -> None:
        """Check that all levels are in the data of `fit`."""
        for name, part in self.parts.items():
            at = np.flatnonzero(part.unknown(columns[name]))[:1]
            if not len(at):
                continue
            if isinstance(part, NumericColumn):
                raise _missing_number_error(name)
            level = columns[name].take(at).to_list()[0]
            msg = (
                f"the column {name!r} has the value {level!r}, which is not in the data of "
                f"{param('fit')}"
            )
            raise DataError(msg)

    def record(self) -> dict[str, object]:
        """Return the encoding of each column as plain values, for the provenance."""
        return {name: part.record() for name, part in self.parts.items()}


def fit_encoding(columns: Mapping[str, CodedColumn], *, allow_missing: bool = False) -> Encoding:
    """Fit the encoding of columns to their means, standard deviations and levels."""
    parts = {name: _fit_column(column) for name, column in columns.items()}
    for name, part in parts.items():
        if isinstance(part, NumericColumn) and part.has_missing_indicator and not allow_missing:
            raise _missing_number_error(name)
    return Encoding(parts)


def _missing_number_error(name: str) -> DataError:
    return DataError(f"the column {name!r} must not have missing values: it is used as a number")


def _fit_column(column: CodedColumn) -> ColumnEncoding:
    """Fit the encoding of one column: numeric, or levels with the missing one among them."""
    present = column.codes >= 0
    if not is_numeric(column.levels) or not present.any():
        codes = np.unique(column.codes[present])
        missing = (None,) if column.has_missing else ()
        return CategoricalColumn((*column.levels[codes].tolist(), *missing))
    numbers = column.levels.astype(float)[column.codes[present]]
    return NumericColumn(*centre_and_scale(numbers), has_missing_indicator=column.has_missing)


def centre_and_scale(values: FloatArray) -> tuple[float, float]:
    """Return mean and standard deviation of numbers of any size; 1 if they are constant."""
    # scaling by a power of two is exact, and squares of numbers near 1 cannot under- or overflow
    unit = float(np.ldexp(1.0, int(np.frexp(np.abs(values).max(initial=0.0))[1]) - 1))
    near = values / unit
    return float(near.mean()) * unit, float(near.std()) * unit or 1.0


def fingerprint(coordinates: FloatArray, counts: IntArray) -> str:
    """Return a digest of the distinct rows and their counts, in any order."""
    rows, inverse = np.unique(coordinates, axis=0, return_inverse=True)
    total = np.bincount(inverse.reshape(-1), counts).astype(np.int64)
    # 0.0 and -0.0 are equal but not the same bytes
    content = (rows + 0.0).tobytes() + total.tobytes()
    return hashlib.sha256(content).hexdigest()
