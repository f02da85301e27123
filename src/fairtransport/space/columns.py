"""A column of points as integer codes over its sorted levels, whatever library it came from."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fairtransport.checks import Values as Values  # noqa: PLC0414, TC001

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw
    from narwhals.typing import IntoSeries

    from fairtransport.checks import BoolArray, IntArray

    Rows: TypeAlias = IntArray | BoolArray | slice

Value: TypeAlias = Hashable
"""A value of a table: text, a number, a truth value, a date; None where it is missing."""
MISSING = -1
"""The code of a missing value."""


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """One column over the points of a space.

    Attributes
    ----------
    levels
        The distinct values, sorted, without the missing one.
    codes
        (K,) the place of each point's value in ``levels``; -1 where it is missing.
    categories
        The categories in their declared order if the column was categorical; those that its
        library does not order are left out.
    asked_as
        The type of number in which a model receives the values, where these are kept more
        precisely; None: as they are.
    """

    levels: Values
    codes: IntArray
    categories: tuple[Value, ...] | None = None
    asked_as: np.dtype[Any] | None = None

    @property
    def ranks(self) -> IntArray:
        """The codes with the missing value last, to sort by."""
        return np.where(self.codes == MISSING, len(self.levels), self.codes)

    @property
    def has_missing(self) -> bool:
        """Whether a point's value is missing."""
        return bool((self.codes == MISSING).any())

    def take(self, rows: Rows) -> CodedColumn:
        """Return the column over some of the points."""
        return replace(self, codes=self.codes[rows])

    def values(self) -> Values:
        """Return the values; missing ones as NaN in a numeric column, else as None."""
        if not self.has_missing:
            return np.asarray(self.levels[self.codes])
        numeric = np.issubdtype(self.levels.dtype, np.number) and len(self.levels)
        kind = self.levels.dtype if self.levels.dtype.kind == "f" else float
        values = np.full(len(self.codes), np.nan if numeric else None, kind if numeric else object)
        there = self.codes != MISSING
        values[there] = self.levels[self.codes[there]]
        return values

    def at(self, point: int) -> Value:
        """Return the value of one point as a plain Python object; None where it is missing."""
        code = self.codes[point]
        return None if code == MISSING else self.levels[code : code + 1].tolist()[0]

    def to_list(self) -> list[Value]:
        """Return the values as plain Python objects; missing ones as None."""
        plain = [*self.levels.tolist(), None]
        return [plain[code] for code in self.codes.tolist()]

    def with_levels(self, levels: Values) -> CodedColumn:
        """Return the same values coded over a larger sorted set of levels."""
        place = {value: at for at, value in enumerate(levels.tolist())}
        new = np.array([place[value] for value in self.levels.tolist()] + [MISSING], np.int64)
        return replace(self, levels=levels, codes=new[self.codes])

    def of_type(self, dtype: np.dtype[Any]) -> CodedColumn:
        """Return the column for a model that is asked in a type of number.

        Numbers take the type where it has room for them: whole ones at once, fractions, which stay
        as precise as they are for distances, when they are asked about.
        """
        kinds = self.levels.dtype.kind + dtype.kind
        if kinds == "ff" and np.abs(self.levels).max(initial=0) <= np.finfo(dtype).max:
            return replace(self, asked_as=None if dtype == self.levels.dtype else dtype)
        if kinds in {"ii", "iu"}:
            levels = self.levels.astype(dtype)
            return replace(self, levels=levels) if np.array_equal(levels, self.levels) else self
        return self


def encode(
    values: Values, missing: BoolArray, categories: tuple[Value, ...] | None = None
) -> CodedColumn:
    """Code an array of values over its sorted distinct levels.

    Examples
    --------
    >>> column = encode(np.array(["b", "a", "b"], object), np.array([False, False, True]))
    >>> column.levels.tolist(), column.codes.tolist()
    (['a', 'b'], [1, 0, -1])
    """
    there: Any = values[~missing]
    if len(there) and all(isinstance(value, Decimal) for value in there):
        there = there.astype(float)  # numbers, as DuckDB reads them from files
    if there.dtype.kind == "f":
        there = there + 0.0  # of -0.0 and 0.0, engines keep whichever comes first
    codes = np.full(len(values), MISSING, np.int64)
    if there.dtype == object:
        levels = sorted_levels(there.tolist())
        place = {value: at for at, value in enumerate(levels.tolist())}
        codes[~missing] = [place[value] for value in there.tolist()]
    else:
        levels, codes[~missing] = np.unique(there, return_inverse=True)
    return CodedColumn(levels, codes, categories)


def code_rows(
    names: Sequence[str], rows: Sequence[tuple[Value, ...]],
    categories: Mapping[str, tuple[Value, ...] | None],
) -> dict[str, CodedColumn]:  # fmt: skip
    """Code points that are tuples of plain values, with None for what is missing.

    Examples
    --------
    >>> columns = code_rows(["group", "x"], [("b", 1), ("a", None)], {})
    >>> columns["group"].codes.tolist(), columns["x"].codes.tolist()
    ([1, 0], [0, -1])
    """
    columns = {}
    for at, name in enumerate(names):
        values = [row[at] for row in rows]
        missing = np.array([value is None for value in values], bool)
        columns[name] = encode(object_array(values), missing, categories.get(name))
    return columns


def encode_series(series: nw.Series[IntoSeries]) -> CodedColumn:
    """Code a narwhals series; NaN counts as missing."""
    import narwhals as nw

    missing = series.is_null()
    categories = None
    if series.dtype.is_float():
        missing = missing | series.is_nan().fill_null(value=True)
    if isinstance(series.dtype, nw.Enum):
        categories = tuple(series.dtype.categories)
    elif isinstance(series.dtype, nw.Categorical):
        pandas_like = series.implementation.is_pandas_like()
        categories = tuple(series.to_pandas().cat.categories) if pandas_like else ()
    mask = np.asarray(missing.to_numpy(), dtype=bool)
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        filler = False if series.dtype == nw.Boolean else 0
        values = series.fill_nan(None) if series.dtype.is_float() else series
        array = np.asarray(values.fill_null(filler).to_numpy() if mask.any() else series.to_numpy())
        if array.dtype != object:
            return encode(array, mask, categories)
    return encode(object_array(series.to_list()), mask, categories)


def merge_columns(first: CodedColumn, *others: CodedColumn) -> CodedColumn:
    """Return one column over the points of all."""
    columns = [first, *others]
    if all(one.levels.dtype.kind in "if" and len(one.levels) for one in columns):
        return _merged_numbers(columns)
    levels = first.levels
    # equal levels may be bins, which have an order of their own
    if any(levels.tolist() != one.levels.tolist() for one in others):
        levels = sorted_levels([level for one in columns for level in one.levels.tolist()])
    codes = np.concatenate([one.with_levels(levels).codes for one in columns])
    return CodedColumn(levels, codes, first.categories)


def _merged_numbers(columns: Sequence[CodedColumn]) -> CodedColumn:
    """Return columns of numbers as one, by sorting them once."""
    each = [one.levels for one in columns]
    together = np.concatenate(each)
    together = together.astype(np.float64 if together.dtype.kind == "f" else np.int64)
    levels, place = np.unique(together, return_inverse=True)
    places = np.split(place.reshape(-1), np.cumsum([len(one) for one in each])[:-1])
    # the missing value has the code -1, which is the last place
    codes = [np.r_[at, MISSING][one.codes] for at, one in zip(places, columns, strict=True)]
    return CodedColumn(levels, np.concatenate(codes).astype(np.int64), columns[0].categories)


def sorted_levels(values: list[Value]) -> Values:
    """Return the distinct values sorted, those of unlike types by the name of the type first."""
    distinct = {value + 0.0 if type(value) is float else value for value in set(values)}
    try:
        ordered = sorted(distinct)  # type: ignore[type-var]
    except TypeError:
        ordered = sorted(distinct, key=lambda value: (type(value).__name__, str(value)))
    if ordered and all(type(value) in (bool, int, float) for value in ordered):
        return np.array(ordered)
    return object_array(ordered)


def plain_list(values: object) -> list[object]:
    """Return a series or array of any library, or a list, as plain Python objects."""
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    # an array of a list would turn values of unlike types into text
    return list(values) if isinstance(values, list | tuple) else list(np.asarray(values).tolist())


def object_array(values: Sequence[Value]) -> Values:
    """Return a one-dimensional object array, also of values that are sequences."""
    array = np.empty(len(values), object)
    array[:] = values
    return array
