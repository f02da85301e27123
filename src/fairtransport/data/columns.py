"""Columns as integer codes over sorted levels, bins of numeric columns, and checks of values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import filterfalse, pairwise
from math import isfinite, isinf
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fairtransport._core.validation import (
    Values,
    check_finite,
    check_float_array,
    nearest_hint,
    short_repr,
    shorten,
)
from fairtransport.errors import DataError, InputError, entry, option, param

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd
    from narwhals.typing import IntoSeries

    from fairtransport._core.validation import BoolArray, IntArray

    Rows: TypeAlias = IntArray | BoolArray | slice


Value: TypeAlias = Hashable
"""A value of a table: text, number, bool or date; None if missing."""
MISSING = -1
"""The code of a missing value."""
Bins = dict[str, tuple[float, ...]]
NONFINITE_WORDS = ("inf", "infinity", "nan")
"""Spellings of infinite numbers and NaN."""
INTEGER_RANGE = range(-(2**63), 2**64)
"""Integers that fit into 64 bits, signed or unsigned."""
MAX_EXACT = 2**53
"""Up to here floats hold all integers exactly."""
ROUNDING_ADVICE = "write them as text, such as 'n123', or leave the column out"


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column as integer codes over its sorted levels.

    ``is_ordered``: whether the order of the categories is meaningful.
    """

    levels: Values
    codes: IntArray
    categories: tuple[Value, ...] | None = None
    is_ordered: bool = False

    @property
    def ranks(self) -> IntArray:
        """Sort keys: the codes, with the missing value last."""
        return np.where(self.codes == MISSING, len(self.levels), self.codes)

    @property
    def has_missing(self) -> bool:
        """Whether any value is missing."""
        return bool((self.codes == MISSING).any())

    def take(self, rows: Rows) -> CodedColumn:
        """Return the column restricted to some rows."""
        return replace(self, codes=self.codes[rows])

    def without_unused(self) -> CodedColumn:
        """Return the column without unused levels."""
        # the missing code is -1, which indexes the last entry
        is_used = np.zeros(len(self.levels) + 1, bool)
        is_used[self.codes] = True
        place = np.r_[np.cumsum(is_used[:-1]) - 1, MISSING]
        return replace(self, levels=self.levels[is_used[:-1]], codes=place[self.codes])

    def values(self) -> Values:
        """Return the values; missing ones are NaN in a numeric column, otherwise None."""
        if not self.has_missing:
            return np.asarray(self.levels[self.codes])
        numeric = np.issubdtype(self.levels.dtype, np.number) and len(self.levels)
        kind = self.levels.dtype if self.levels.dtype.kind == "f" else float
        values = np.full(len(self.codes), np.nan if numeric else None, kind if numeric else object)
        present = self.codes != MISSING
        values[present] = self.levels[self.codes[present]]
        return values

    def at(self, point: int) -> Value:
        """Return the value of one point as a plain Python object; None if missing."""
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


def encode(
    values: Values, missing: BoolArray, categories: tuple[Value, ...] | None = None
) -> CodedColumn:
    """Encode an array of values over its sorted distinct levels."""
    present: Any = values[~missing]
    if len(present) and all(isinstance(value, Decimal) for value in present):
        floats = present.astype(float)  # numbers, as DuckDB reads them from files
        # `check_usable` rejects different numbers that are equal as floats
        present = floats if len(set(floats.tolist())) == len(set(present.tolist())) else present
    if present.dtype.kind == "f":
        present = present + 0.0  # engines keep whichever of -0.0 and 0.0 comes first
    codes = np.full(len(values), MISSING, np.int64)
    if present.dtype == object:
        levels = sort_levels(present.tolist())
        place = {value: at for at, value in enumerate(levels.tolist())}
        codes[~missing] = [place[value] for value in present.tolist()]
    else:
        levels, codes[~missing] = np.unique(present, return_inverse=True)
    return CodedColumn(levels, codes, categories)


def code_rows(
    names: Sequence[str], rows: Sequence[tuple[Value, ...]],
    categories: Mapping[str, tuple[Value, ...] | None],
) -> dict[str, CodedColumn]:  # fmt: skip
    """Encode rows of plain values as columns; None is missing."""
    columns = {}
    for at, name in enumerate(names):
        values = [row[at] for row in rows]
        missing = np.array([value is None for value in values], bool)
        columns[name] = encode(object_array(values), missing, categories.get(name))
    return columns


def encode_series(series: nw.Series[IntoSeries]) -> CodedColumn:
    """Encode a narwhals series; NaN is missing."""
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
    if series.dtype == nw.String and series.implementation.is_pandas_like():
        return _encode_text(series.to_pandas())
    items = series.to_list()
    if isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None:
        items = list(map(exact_moment, items))
    column = encode(object_array(items), mask, categories)
    return replace(column, is_ordered=isinstance(series.dtype, nw.Enum))


def _encode_text(series: pd.Series[str]) -> CodedColumn:
    """Encode a column of text, of which pandas finds the distinct words."""
    import pandas as pd

    codes, words = pd.factorize(series)
    levels = sort_levels(words.tolist())
    place = {word: at for at, word in enumerate(levels.tolist())}
    # the missing code is -1, which indexes the last entry
    return CodedColumn(levels, np.array([*map(place.__getitem__, words), MISSING])[codes])


def merge_columns(first: CodedColumn, *others: CodedColumn) -> CodedColumn:
    """Concatenate columns."""
    columns = [first, *others]
    kinds = {one.levels.dtype.kind if len(one.levels) else "" for one in columns}
    if kinds in ({"i"}, {"f"}) or (kinds == {"i", "f"} and all(map(_are_exact, columns))):
        return _merge_numbers(columns)
    levels = first.levels
    # equal levels may be bins, which have their own order
    if any(levels.tolist() != one.levels.tolist() for one in others):
        levels = sort_levels([level for one in columns for level in one.levels.tolist()])
    codes = np.concatenate([one.with_levels(levels).codes for one in columns])
    return CodedColumn(levels, codes, first.categories)


def _are_exact(column: CodedColumn) -> bool:
    """Return whether the numbers of a column are exact as floats."""
    levels = column.levels
    return levels.dtype.kind == "f" or -MAX_EXACT <= levels[0] <= levels[-1] <= MAX_EXACT


def _merge_numbers(columns: Sequence[CodedColumn]) -> CodedColumn:
    """Concatenate columns of numbers; their levels are sorted once."""
    each = [one.levels for one in columns]
    together = np.concatenate(each)
    together = together.astype(np.float64 if together.dtype.kind == "f" else np.int64)
    levels, place = np.unique(together, return_inverse=True)
    places = np.split(place.reshape(-1), np.cumsum([len(one) for one in each])[:-1])
    # the missing code is -1, which indexes the last entry
    codes = [np.r_[at, MISSING][one.codes] for at, one in zip(places, columns, strict=True)]
    return CodedColumn(levels, np.concatenate(codes).astype(np.int64), columns[0].categories)


def sort_levels(values: list[Value]) -> Values:
    """Return the distinct values sorted; values of different types by type name first."""
    distinct = {value + 0.0 if type(value) is float else value for value in set(values)}
    try:
        ordered = sorted(distinct)  # type: ignore[type-var]
    except TypeError:
        ordered = sorted(distinct, key=lambda value: (type(value).__name__, str(value)))
    if ordered and all(type(value) in (bool, int, float) for value in ordered):
        array = np.array(ordered)
        if array.dtype.kind != "f" or array.tolist() == ordered:  # not rounded
            return array
    return object_array(ordered)


def plain_list(values: object) -> list[object]:
    """Return a series, array or list as a list of plain Python objects."""
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    # NumPy would convert values of mixed types to text
    return list(values) if isinstance(values, list | tuple) else list(np.asarray(values).tolist())


def object_array(values: Sequence[Value]) -> Values:
    """Return a one-dimensional object array, even if the values are sequences."""
    array = np.empty(len(values), object)
    array[:] = values
    return array


MAX_BIN_EDGES = 1_000
"""Limit on the edges of a column; engines compare every row with each."""


def check_bins(bins: object, columns: Sequence[str]) -> Bins:
    """Return the edges of each binned column."""
    if bins is None:
        return {}
    if not isinstance(bins, Mapping):
        msg = (
            f"{param('bins')} must map columns to edges, as in {{'age': [25, 45]}}, got "
            f"{short_repr(bins)}"
        )
        raise InputError(msg)
    checked: Bins = {}
    for name, edges in bins.items():
        if name not in columns:
            choices = ", ".join(dict.fromkeys(columns))
            msg = (
                f"{param('bins')} must name audited columns ({choices}), got "
                f"{short_repr(name)}{nearest_hint(name, columns)}"
            )
            raise InputError(msg)
        array = check_finite(
            entry("bins", name), check_float_array(entry("bins", name), edges, (None,))
        )
        if not len(array) or np.any(np.diff(array) <= 0):
            got = ", ".join(f"{edge:g}" for edge in array) or "none"
            msg = (
                f"{param('bins', name)} must be one or more numbers, from small to large, got "
                f"{shorten(got)}"
            )
            raise InputError(msg)
        if len(array) > MAX_BIN_EDGES:
            msg = (
                f"{param('bins', name)} must have at most {MAX_BIN_EDGES:,} edges, got "
                f"{len(array):,}"
            )
            raise InputError(msg)
        checked[name] = tuple(array.tolist())
    return checked


def bin_names(edges: Sequence[float]) -> list[str]:
    """Return the names of the bins; each contains its lower edge."""
    # all digits, so that different edges have different names
    shortest = [np.format_float_positional(edge, trim="-") for edge in edges]
    inner = [f"{low} to < {high}" for low, high in pairwise(shortest)]
    return [f"< {shortest[0]}", *inner, f">= {shortest[-1]}"]


def bin_rule(edges: Sequence[float]) -> tuple[list[tuple[float, str]], str]:
    """Return pairs of an upper edge and a bin name, and the name of the last bin."""
    *below, others = bin_names(edges)
    return list(zip(edges, below, strict=True)), others


def bin_expression(column: nw.Expr, edges: Sequence[float], *, may_be_nan: bool) -> nw.Expr:
    """Return the narwhals expression that bins a column."""
    import narwhals as nw

    names = bin_names(edges)

    def choose(low: int, high: int) -> nw.Expr:
        """Return the bin by bisection, as engines fail on deeply nested conditions."""
        if low == high:
            return nw.lit(names[low])
        middle = (low + high) // 2
        lower, upper = choose(low, middle), choose(middle + 1, high)
        return nw.when(column < edges[middle]).then(lower).otherwise(upper)

    binned = choose(0, len(edges))
    present = ~column.is_null()
    if may_be_nan:
        present = present & ~column.is_nan()
    return nw.when(present).then(binned)


def bin_sql(column: str, edges: Sequence[float]) -> str:
    """Return the SQL expression that bins a column."""
    below, others = bin_rule(edges)
    cases = " ".join(f"WHEN {column} < {edge!r} THEN '{name}'" for edge, name in below)
    unknown = f"WHEN {column} IS NULL OR isnan({column}::DOUBLE) THEN NULL"
    return f"CASE {unknown} {cases} ELSE '{others}' END"


def bin_values(column: str, values: Sequence[Value], edges: Sequence[float]) -> list[Value]:
    """Return the bin of each plain value; None if missing."""
    below, others = bin_rule(edges)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            msg = f"{param('bins', column)} needs a column of numbers, got {short_repr(value)}"
            raise DataError(msg)
    names: dict[Value, str] = {
        value: next((name for edge, name in below if value < edge), others)
        for value in values
        if isinstance(value, int | float)
    }
    return [names.get(value) for value in values]


def check_usable(name: str, column: CodedColumn) -> None:
    """Check that a column holds finite real numbers or valid text."""
    _check_not_merged(name, column)
    if column.levels.dtype.kind in "biuUSM":
        return
    if column.levels.dtype.kind == "f" and np.isfinite(column.levels).all():
        return
    for level in column.levels.tolist():
        if is_nonfinite(level):
            msg = f"the column {name!r} must hold finite numbers, got {level}"
            raise DataError(msg)
        if isinstance(level, complex):
            msg = f"the column {name!r} must hold text or real numbers, got {level}"
            raise DataError(msg)
        if isinstance(level, str) and not is_text(level):
            msg = f"the column {name!r} must hold valid Unicode text, got {short_repr(level)}"
            raise DataError(msg)
    words = [level for level in column.levels.tolist() if isinstance(level, str)]
    endless = [word for word in words if word.strip().lower().lstrip("+-") in NONFINITE_WORDS]
    # DuckDB reads a column with an infinity as text
    if endless and all(_is_number(word) for word in words):
        msg = f"the column {name!r} must hold finite numbers, got {endless[0]!r}"
        raise DataError(msg)


def _check_not_merged(name: str, column: CodedColumn) -> None:
    """Check that no two numbers of a column are equal as floats."""
    kind, levels = column.levels.dtype.kind, column.levels
    if kind == "O":
        types = set(map(type, levels.tolist()))
        if types <= {bool, int} or not types <= {bool, int, float, Decimal}:
            return
        floats = np.array([float(Decimal(level)) for level in levels.tolist()])
    elif kind in "iu" and column.has_missing:
        floats = levels.astype(np.float64)
    else:
        return
    for place in np.flatnonzero(floats[1:] == floats[:-1])[:1]:
        first, second = levels[place : place + 2].tolist()
        raise merging_error(name, f", as {first} and {second}")


def merging_error(name: str, examples: str = "") -> DataError:
    """Return the error for numbers of a column that are equal as floats."""
    msg = (
        f"the column {name!r} has numbers with too many digits to be told apart{examples}; "
        f"{ROUNDING_ADVICE}"
    )
    return DataError(msg)


def check_not_mixed(name: str, levels: list[Value]) -> None:
    """Check that a column does not mix text and numbers: "1" would not equal 1."""
    text = [level for level in levels if isinstance(level, str)]
    others = [level for level in levels if not isinstance(level, str)]
    if text and others:
        msg = (
            f"the column {name!r} must be all text or all numbers, got {text[0]!r} and {others[0]}"
        )
        raise DataError(msg)


def find_same_words(levels: Iterable[Value]) -> tuple[str, str] | None:
    """Return two texts that differ only in spaces or case; None without such texts."""
    words: dict[str, str] = {}
    for level in levels:
        if isinstance(level, str):
            other = words.setdefault(" ".join(level.split()).casefold(), level)
            if other != level:
                return other, level
    return None


def check_one_spelling(name: str, levels: list[Value]) -> None:
    """Check that no label has two spellings, which would count as two decisions."""
    same = find_same_words(levels)
    if same is not None:
        msg = (
            f"the column {name!r} must spell each word in one way, got {same[0]!r} and "
            f"{same[1]!r}, which differ only in capital letters or spaces"
        )
        raise DataError(msg)


def check_not_missing(
    name: str, people: int, missing: str, *, is_profile: bool, is_numeric: bool
) -> None:
    """Check that no value is missing, unless ``missing="level"`` makes it a level of a profile."""
    if not people or (is_profile and missing == "level"):
        return
    way_out = ""
    if is_profile:
        keep = option("missing", "level")
        way_out = (
            f", or pass {keep} if the model takes missing numbers"
            if is_numeric
            else f", or pass {keep}, which treats missing as a value of its own"
        )
    msg = (
        f"the column {name!r} must not have missing values, but {people:,} "
        f"{'is' if people == 1 else 'are'} missing; fill them in or leave these people out{way_out}"
    )
    raise DataError(msg)


def plain_values(who: str, values: list[Value]) -> list[Value]:
    """Return plain values, None if missing; ``who`` names the column in messages."""
    values = list(map(exact_moment, values))
    if len(values) == 1 and is_hashable(values[0]):
        return [plain_value(who, values[0])]
    try:
        # values of different types may be equal, such as 1 and True
        distinct = set(zip(map(type, values), values, strict=True))
    except (TypeError, ValueError):
        raise _single_value_error(who, next(filterfalse(is_hashable, values))) from None
    plain = {pair: plain_value(who, pair[1]) for pair in distinct}
    if all(value is pair[1] for pair, value in plain.items()):
        return values
    return [plain[type(value), value] for value in values]


def plain_value(who: str, value: object) -> Value:
    """Return one plain value, None if missing; ``who`` names the column in messages."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        value = value.astype(f"{value.dtype.str[1:3]}[us]")  # nanoseconds would become an int
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or _is_missing(value):
        return None
    if isinstance(value, str):
        if not is_text(value):
            msg = f"{who} must hold valid Unicode text, got {short_repr(value)}"
            raise DataError(msg)
    elif isinstance(value, int):
        if int(value) not in INTEGER_RANGE:
            msg = f"{who} must hold whole numbers of 64 bits, got {_format_bits(value)}"
            raise DataError(msg)
    elif isinstance(value, float | Decimal):
        _check_number(who, value)
    elif not isinstance(value, date | time | timedelta):
        raise _single_value_error(who, value)
    return value


def _check_number(who: str, value: float | Decimal) -> None:
    """Check that a number is finite, and that a decimal is exact as a float."""
    if isinf(value):
        msg = f"{who} must hold finite numbers, got {short_repr(float(value))}"
        raise DataError(msg)
    if isinstance(value, Decimal) and Decimal(repr(float(value))) != value:
        msg = f"{who} must hold numbers of at most 15 digits, got {short_repr(value)}"
        raise DataError(msg)


def exact_moment(value: Value) -> Value:
    """Return a datetime with a zone as a pandas Timestamp; other values unchanged.

    Python's datetimes are equal in the hour that clocks repeat in autumn.
    """
    if not isinstance(value, datetime) or value.tzinfo is None:
        return value
    import pandas as pd

    moment: Value = pd.Timestamp(value)
    return moment


def is_nonfinite(value: object) -> bool:
    """Return whether a value is NaN or infinite."""
    return isinstance(value, float | np.floating) and not isfinite(value)


def is_text(text: str) -> bool:
    """Return whether text is valid Unicode, without lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_number(word: str) -> bool:
    """Return whether Python reads a text as a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def _is_missing(value: object) -> bool:
    """Return whether a value is NaN, NaT or pandas' NA."""
    # pandas' NA is neither equal to itself nor unequal
    is_na = type(value).__name__ == "NAType"
    return is_na or (isinstance(value, float | Decimal | date) and value != value)  # noqa: PLR0124


def is_hashable(value: object) -> bool:
    """Return whether a value is hashable."""
    try:
        hash(value)
    except (TypeError, ValueError):
        return False
    return True


def _single_value_error(who: str, value: object) -> DataError:
    """Return the error for a value that is not a single value."""
    msg = (
        f"{who} must hold single values (text, numbers, truth values, dates), got "
        f"{short_repr(value)}"
    )
    return DataError(msg)


def _format_bits(value: int) -> str:
    """Return the size of a number in bits."""
    # Python refuses to print numbers of thousands of digits
    return f"one of {value.bit_length()} bits"
