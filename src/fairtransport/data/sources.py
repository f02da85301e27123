"""Sources of audit data: data frames of any library that narwhals supports, and paths."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from fairtransport._core.validation import check_unmasked, describe_error, shape_of, short_repr
from fairtransport.data import database
from fairtransport.data.columns import (
    Bins,
    CodedColumn,
    bin_expression,
    check_usable,
    encode_series,
    is_text,
    merging_error,
    plain_list,
)
from fairtransport.data.files import FILE_KINDS, FileSource
from fairtransport.errors import DataError, FairtransportError, InputError, param

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import narwhals as nw
    from narwhals.typing import IntoDataFrame, IntoFrame, IntoLazyFrame, IntoSeries
    from numpy.typing import ArrayLike

    from fairtransport.data.columns import Value


TableLike: TypeAlias = "IntoFrame | str | Path | FileSource | database.CountedSource"
"""A data frame of any library that narwhals supports, a path, or a source."""


MATRIX_DIMENSIONS = 2

ColumnLike: TypeAlias = "str | IntoSeries | ArrayLike"
"""A column name, or one value per row."""
ColumnsLike: TypeAlias = "str | Sequence[str] | IntoDataFrame | IntoSeries"
"""Column names, or a frame that is aligned with the data."""


def as_source(data: TableLike, parameter: str = "X") -> database.Source:
    """Return a data frame or a path as a source, which counts distinct rows."""
    if isinstance(data, database.CountedSource | FileSource):
        return data
    if isinstance(data, str | Path):
        return _file_source(data, parameter)
    return frame_source(data, parameter)


def name_columns(data: object, feature_names: object) -> TableLike:
    """Return a two-dimensional array as a frame with these column names; tables unchanged."""
    if not isinstance(data, np.ndarray) and not hasattr(data, "toarray"):
        if feature_names is not None:
            msg = (
                f"{param('feature_names')} must be left out unless {param('X')} is an array, got "
                f"{short_repr(feature_names)}"
            )
            raise InputError(msg)
        if callable(data) or hasattr(data, "predict"):
            msg = (
                f"{param('X')} must be a data frame or a path to a file, got {short_repr(data)}; "
                f"pass a model by name, as {param('model')}"
            )
            raise InputError(msg)
        return cast("TableLike", data)
    shape = tuple(data.shape)  # type: ignore[attr-defined,unused-ignore]
    if feature_names is None:
        msg = (
            f"{param('X')} must be a data frame, a path, or an array with {param('feature_names')} "
            f"for its columns, got an array of shape {shape} alone"
        )
        raise InputError(msg)
    return _frame_of_array(data, shape, _check_feature_names(feature_names))


def _frame_of_array(data: object, shape: tuple[int, ...], names: list[str]) -> TableLike:
    """Return an array as a pandas frame."""
    import pandas as pd

    if len(shape) != MATRIX_DIMENSIONS or shape[1] != len(names):
        msg = (
            f"{param('X')} must be a two-dimensional array with a column for each of the "
            f"{len(names)} {param('feature_names')}, got shape {shape}"
        )
        raise InputError(msg)
    if hasattr(data, "toarray"):
        msg = f"{param('X')} must be a dense array, got a sparse one: pass its `toarray()`"
        raise InputError(msg)
    check_unmasked("X", data)
    return cast("TableLike", pd.DataFrame(np.asarray(data), columns=names).infer_objects())


def _check_feature_names(names: object) -> list[str]:
    items = [] if isinstance(names, str) or shape_of(names) == () else plain_list(names)
    texts = [name for name in items if isinstance(name, str)]
    if not items or len(set(texts)) < len(items):
        msg = (
            f"{param('feature_names')} must be a list of distinct column names, got "
            f"{short_repr(names)}"
        )
        raise InputError(msg)
    return texts


def read_table(data: object, parameter: str) -> nw.DataFrame[IntoDataFrame]:
    """Return all rows of an eager data frame or a file, in their order."""
    if isinstance(data, str | Path):
        return _file_source(data, parameter).table()
    import narwhals as nw

    try:
        frame: nw.DataFrame[IntoDataFrame] = nw.from_native(
            data, eager_only=True, pass_through=False, series_only=False, allow_series=None
        )
    except TypeError:
        msg = f"{param(parameter)} must be an eager data frame, got {short_repr(data)}"
        raise InputError(msg) from None
    return frame


def _file_source(data: str | Path, parameter: str) -> FileSource:
    if not str(data):  # Path("") would be the current folder
        msg = f"{param(parameter)} must be a file of type {', '.join(FILE_KINDS)}, got ''"
        raise InputError(msg)
    return FileSource(Path(data), parameter)


def encode_columns(
    frame: nw.DataFrame[IntoDataFrame], names: Sequence[str], parameter: str
) -> dict[str, CodedColumn]:
    """Encode columns of a frame, checking that their values are usable."""
    if not len(frame):
        msg = f"{param(parameter)} must have at least one row, got none"
        raise DataError(msg)
    for name in names:
        if name not in frame.columns:
            choices = ", ".join(frame.columns)
            msg = f"{param(parameter)} must have the column {name!r}, got {choices}"
            raise InputError(msg)
    columns = {name: encode_column(frame, name) for name in names}
    for name, column in columns.items():
        check_usable(name, column)
    return columns


def encode_column(frame: nw.DataFrame[IntoDataFrame], name: str) -> CodedColumn:
    """Encode one column of a frame, which must hold single values."""
    try:
        return encode_series(frame[name])
    except TypeError as error:  # lists and the like
        msg = f"the column {name!r} must hold single values: {error}"
        raise DataError(msg) from error


MAX_PANDAS_KEYS = 100
"""Maximum number of columns for pandas' group-by, whose time grows with its square."""


@dataclass(frozen=True, eq=False)
class FrameSource:
    """A data frame as a source, eager or lazy."""

    frame: nw.DataFrame[IntoDataFrame] | nw.LazyFrame[IntoLazyFrame]

    @property
    def columns(self) -> list[str]:
        """The frame's column names."""
        return list(self.frame.collect_schema().names())

    @property
    def library(self) -> str:
        """The library in which tables are returned: the frame's own; pandas for remote engines."""
        name = self.frame.implementation.name.lower()
        return name if name in {"pandas", "polars", "pyarrow", "modin", "cudf"} else "pandas"

    def attach(self, name: str, values: object, parameter: str) -> FrameSource:
        """Return the frame with a further column."""
        import narwhals as nw

        if not isinstance(self.frame, nw.DataFrame):
            msg = (
                f"{param(parameter)} must be a column's name when the data frame is lazy, "
                f"got {short_repr(values)}"
            )
            raise InputError(msg)
        check_unmasked(parameter, values)
        shape, expected = shape_of(values), (len(self.frame),)
        if shape != expected:
            msg = f"{param(parameter)} must have one value per row, shape {expected}, got {shape}"
            raise InputError(msg)
        _check_index(self.frame, values, parameter)
        items = plain_list(values)
        with _translate_unicode_errors(f"{param(parameter)}"):
            series = nw.new_series(name, items, backend=self.frame.implementation)
        return FrameSource(self.frame.with_columns(series))

    def count(self, names: Sequence[str], bins: Bins, counts: str | None) -> database.RowCounts:
        """Count the distinct rows over ``names`` in the frame's own engine."""
        import narwhals as nw

        schema = self.frame.collect_schema()
        count, bad = database.helper_columns(names)
        numeric = {name for name, kind in schema.items() if kind.is_numeric()}
        nested = {name for name, kind in schema.items() if kind.is_nested()}
        database.check_types(schema, numeric, nested, names, bins, counts)
        self._check_not_merged([name for name in names if name not in bins])
        weight = nw.lit(1) if counts is None else nw.col(counts)
        usable = weight.is_between(0, database.MAX_TOTAL_PEOPLE)
        if counts is not None:
            # engines differ on null conditions
            usable = (usable & (weight == weight.round(0))).fill_null(value=False)
        rows = self.frame.select(
            *[self._key(name, bins, schema[name]) for name in names],
            weight.cast(nw.Float64).alias(count),
            nw.when(usable).then(nw.lit(0)).otherwise(nw.lit(1)).alias(bad),
        )
        try:
            with _translate_unicode_errors(f"the columns {', '.join(names)}"):
                totals = rows
                is_wide = len(names) > MAX_PANDAS_KEYS and rows.implementation.is_pandas_like()
                if not is_wide:
                    # an empty name must not be the first
                    grouped = rows.group_by(*sorted(names, reverse=True), drop_null_keys=False)
                    totals = grouped.agg(nw.col(count).sum(), nw.col(bad).sum())
                # rows with count 0 are dropped
                table = collect_frame(totals.filter((nw.col(count) > 0) | (nw.col(bad) > 0)))
            columns = {name: encode_series(table[name]) for name in names}
        except TypeError as error:  # a column of mixed objects, some of them not hashable
            msg = f"the columns {', '.join(names)} must hold single values: {error}"
            raise DataError(msg) from error
        except (FairtransportError, MemoryError):
            raise
        except Exception as error:  # types and values that the engine has no operation for
            msg = (
                f"the columns {', '.join(names)} must have types that {self.library} can group by: "
                f"{describe_error(error)}"
            )
            raise DataError(msg) from error
        points = database.check_counts(
            columns, table[count].to_numpy(), table[bad].to_numpy(), bins, counts
        )
        return database.merge_rows(points.columns, points.counts)[0] if is_wide else points

    def _check_not_merged(self, names: Sequence[str]) -> None:
        """Check numbers that remote engines return as floats."""
        import narwhals as nw

        schema = self.frame.collect_schema()
        wide = nw.Decimal, nw.Int128, nw.UInt128
        for name in names:
            if isinstance(schema[name], wide) and not isinstance(self.frame, nw.DataFrame):
                exact = self.frame.select(nw.col(name)).unique()
                rounded = exact.select(nw.col(name).cast(nw.Float64)).unique()
                sizes = {collect_frame(one.select(nw.len())).item() for one in (exact, rounded)}
                if len(sizes) > 1:
                    raise merging_error(name)

    def _key(self, name: str, bins: Bins, kind: nw.dtypes.DType) -> nw.Expr:
        """Return the group-by key of a column; NaN equals null, and 0.0 equals -0.0."""
        import narwhals as nw

        # pandas cannot group by half precision
        column = nw.col(name).cast(nw.Float32) if str(kind) == "Float16" else nw.col(name)
        if name in bins:
            return bin_expression(column, bins[name], may_be_nan=kind.is_float()).alias(name)
        if kind.is_float() and self.frame.implementation.is_pyarrow():
            column = (column + 0.0).cast(kind)  # pyarrow distinguishes the zeros
        return column.fill_nan(None) if kind.is_float() else column


def frame_source(data: object, parameter: str) -> FrameSource:
    """Return a data frame as a source; its columns must have distinct names."""
    import narwhals as nw

    try:
        frame: nw.DataFrame[IntoDataFrame] | nw.LazyFrame[IntoLazyFrame] = nw.from_native(
            data, pass_through=False, eager_only=False, series_only=False, allow_series=None
        )
        source = FrameSource(frame)
        names: Sequence[Value] = source.columns
    except TypeError:
        msg = f"{param(parameter)} must be a data frame or a path to a file, got {short_repr(data)}"
        raise InputError(msg) from None
    except nw.exceptions.DuplicateError as error:
        reason = " ".join(str(error).split())
        msg = f"{param(parameter)} must have distinct column names: {reason}"
        raise InputError(msg) from None
    for name in names:
        if not isinstance(name, str):
            msg = f"{param(parameter)} must have text as column names, got {short_repr(name)}"
            raise InputError(msg)
        if not is_text(name):
            msg = (
                f"{param(parameter)} must have valid Unicode text as column names, got "
                f"{short_repr(name)}"
            )
            raise InputError(msg)
    return source


def _check_index(frame: nw.DataFrame[IntoDataFrame], values: object, parameter: str) -> None:
    """Check that a series has the index of the data."""
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return
    own, other = nw.maybe_get_index(frame), nw.maybe_get_index(series)
    if own is None or other is None or own.equals(other):
        return
    where = next(at for at in range(len(own)) if own[at] != other[at])
    msg = (
        f"{param(parameter)} must have the index of {param('X')}, row by row, got "
        f"{short_repr(other[where])} beside {short_repr(own[where])} in row {where}; give an array "
        "to go by position"
    )
    raise InputError(msg)


@contextmanager
def _translate_unicode_errors(what: str) -> Iterator[None]:
    """Raise encoding errors of an engine as a DataError."""
    try:
        yield
    except UnicodeEncodeError as error:
        msg = f"{what} must hold valid Unicode text, got {short_repr(error.object)}"
        raise DataError(msg) from error


def collect_frame(
    frame: nw.DataFrame[IntoDataFrame] | nw.LazyFrame[IntoLazyFrame],
) -> nw.DataFrame[IntoDataFrame]:
    """Return a lazy frame as an eager one."""
    import narwhals as nw

    if isinstance(frame, nw.DataFrame):
        return frame
    # polars frames stay polars; engines without eager frames collect to pandas
    return frame.collect(backend="polars" if frame.implementation.is_polars() else "pandas")
