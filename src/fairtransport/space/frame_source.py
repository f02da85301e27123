"""A data frame of any library narwhals knows, as a source of points."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtransport.checks import refuse_masked, shape_of, shown
from fairtransport.errors import DataError, InputError
from fairtransport.space.binning import Bins, bin_expression
from fairtransport.space.columns import encode_series, plain_list
from fairtransport.space.counting import (
    MOST_PEOPLE,
    Counted,
    check_types,
    checked_counts,
    helper_columns,
)
from fairtransport.space.single_values import is_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import narwhals as nw
    from narwhals.typing import IntoDataFrame, IntoLazyFrame

    from fairtransport.space.columns import Value


@dataclass(frozen=True, eq=False)
class FrameSource:
    """A data frame, eager or lazy."""

    frame: nw.DataFrame[IntoDataFrame] | nw.LazyFrame[IntoLazyFrame]

    @property
    def columns(self) -> list[str]:
        """The frame's column names."""
        return list(self.frame.collect_schema().names())

    @property
    def library(self) -> str:
        """The library tables are handed back in: the frame's own, pandas for remote engines."""
        name = self.frame.implementation.name.lower()
        return name if name in {"pandas", "polars", "pyarrow", "modin", "cudf"} else "pandas"

    def attach(self, name: str, values: object, parameter: str) -> FrameSource:
        """Return the frame with a further column."""
        import narwhals as nw

        if not isinstance(self.frame, nw.DataFrame):
            msg = (
                f"`{parameter}` must be a column's name when the data frame is lazy, "
                f"got {shown(values)}"
            )
            raise InputError(msg)
        refuse_masked(parameter, values)
        shape, wanted = shape_of(values), (len(self.frame),)
        if shape != wanted:
            msg = f"`{parameter}` must have one value a row, shape {wanted}, got {shape}"
            raise InputError(msg)
        _refuse_other_index(self.frame, values, parameter)
        listed = plain_list(values)
        with _whole_characters(f"`{parameter}`"):
            series = nw.new_series(name, listed, backend=self.frame.implementation)
        return FrameSource(self.frame.with_columns(series))

    def count(self, names: Sequence[str], bins: Bins, counts: str | None) -> Counted:
        """Count by one narwhals group-by, done by the frame's own engine."""
        import narwhals as nw

        schema = self.frame.collect_schema()
        count, bad = helper_columns(names)
        numeric = {name for name, kind in schema.items() if kind.is_numeric()}
        nested = {name for name, kind in schema.items() if kind.is_nested()}
        check_types(schema, numeric, nested, names, bins, counts)
        weight = nw.lit(1) if counts is None else nw.col(counts)
        usable = weight.is_between(0, MOST_PEOPLE)
        if counts is not None:
            # engines differ in where a null condition leads
            usable = (usable & (weight == weight.round(0))).fill_null(value=False)
        rows = self.frame.select(
            *[self._key(name, bins, schema[name]) for name in names],
            weight.cast(nw.Float64).alias(count),
            nw.when(usable).then(nw.lit(0)).otherwise(nw.lit(1)).alias(bad),
        )
        try:
            with _whole_characters(f"the columns {', '.join(names)}"):
                grouped = rows.group_by(*names, drop_null_keys=False)
                counted = grouped.agg(nw.col(count).sum(), nw.col(bad).sum())
                # a row that stands for nobody is no row
                table = collected(counted.filter((nw.col(count) > 0) | (nw.col(bad) > 0)))
        except TypeError as error:  # a column of mixed objects, some of them not hashable
            msg = f"the columns {', '.join(names)} must hold single values: {error}"
            raise DataError(msg) from error
        columns = {name: encode_series(table[name]) for name in names}
        return checked_counts(columns, table[count].to_numpy(), table[bad].to_numpy(), bins, counts)

    def _key(self, name: str, bins: Bins, kind: nw.dtypes.DType) -> nw.Expr:
        """Return what rows are grouped by; NaN and null are one key, as are 0.0 and -0.0."""
        import narwhals as nw

        # pandas groups by no half precision
        column = nw.col(name).cast(nw.Float32) if str(kind) == "Float16" else nw.col(name)
        if name in bins:
            return bin_expression(column, bins[name], may_be_nan=kind.is_float()).alias(name)
        if kind.is_float() and self.frame.implementation.is_pyarrow():
            column = (column + 0.0).cast(kind)  # pyarrow alone tells the zeros apart
        return column.fill_nan(None) if kind.is_float() else column


def frame_source(data: object, parameter: str) -> FrameSource:
    """Return the source behind a data frame, if its columns have names."""
    import narwhals as nw

    try:
        frame: nw.DataFrame[IntoDataFrame] | nw.LazyFrame[IntoLazyFrame] = nw.from_native(
            data, pass_through=False, eager_only=False, series_only=False, allow_series=None
        )
        source = FrameSource(frame)
        names: Sequence[Value] = source.columns
    except TypeError:
        msg = f"`{parameter}` must be a data frame or a path to a file, got {shown(data)}"
        raise InputError(msg) from None
    except nw.exceptions.DuplicateError as error:
        reason = " ".join(str(error).split())
        msg = f"`{parameter}` must have distinct column names: {reason}"
        raise InputError(msg) from None
    for name in names:
        if not isinstance(name, str):
            msg = f"`{parameter}` must have text as column names, got {shown(name)}"
            raise InputError(msg)
        if not is_text(name):
            msg = f"`{parameter}` must have whole characters in column names, got {shown(name)}"
            raise InputError(msg)
    return source


def _refuse_other_index(frame: nw.DataFrame[IntoDataFrame], values: object, parameter: str) -> None:
    """Refuse rows that are labelled otherwise than the data: whose is whose is not sure."""
    import narwhals as nw

    given = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(given, nw.Series):
        return
    own, other = nw.maybe_get_index(frame), nw.maybe_get_index(given)
    if own is None or other is None or own.equals(other):
        return
    where = next(at for at in range(len(own)) if own[at] != other[at])
    msg = (
        f"`{parameter}` must have the index of `X`, row by row, got {shown(other[where])} beside "
        f"{shown(own[where])} in row {where}; give an array to go by position"
    )
    raise InputError(msg)


@contextmanager
def _whole_characters(what: str) -> Iterator[None]:
    """Say that half a character, which engines cannot store, is none."""
    try:
        yield
    except UnicodeEncodeError as error:
        msg = f"{what} must hold whole characters, got {shown(error.object)}"
        raise DataError(msg) from error


def collected(
    frame: nw.DataFrame[IntoDataFrame] | nw.LazyFrame[IntoLazyFrame],
) -> nw.DataFrame[IntoDataFrame]:
    """Return an eager frame."""
    import narwhals as nw

    if isinstance(frame, nw.DataFrame):
        return frame
    # polars collects to itself; engines without eager frames of their own to pandas
    return frame.collect(backend="polars" if frame.implementation.is_polars() else "pandas")
