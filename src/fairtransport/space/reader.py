"""The one reader: every table comes in here, a frame or a file, with the same types."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from fairtransport.checks import shown
from fairtransport.errors import DataError, InputError
from fairtransport.space.columns import CodedColumn, encode_series
from fairtransport.space.counted_source import CountedSource
from fairtransport.space.file_source import FileSource
from fairtransport.space.frame_source import frame_source
from fairtransport.space.shards import KINDS
from fairtransport.space.single_values import refuse_unusable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw
    from narwhals.typing import IntoDataFrame, IntoFrame, IntoSeries
    from numpy.typing import ArrayLike

    from fairtransport.space.counting import Source


TableLike: TypeAlias = "IntoFrame | str | Path | FileSource | CountedSource"
"""A data frame of any library narwhals knows, a path, or a source of which something is known."""

ColumnLike: TypeAlias = "str | IntoSeries | ArrayLike"
"""A column's name, or its values row by row."""
ColumnsLike: TypeAlias = "str | Sequence[str] | IntoDataFrame | IntoSeries"
"""Names of columns, or a frame of them that is aligned with the data."""


def as_source(data: TableLike, parameter: str = "X") -> Source:
    """Return the source behind a data frame of any library narwhals knows, or a path.

    A source counts its distinct rows without keeping the others.
    """
    if isinstance(data, CountedSource | FileSource):
        return data
    if isinstance(data, str | Path):
        return _files(data, parameter)
    return frame_source(data, parameter)


def read_table(data: object, parameter: str) -> nw.DataFrame[IntoDataFrame]:
    """Return an eager data frame, or all rows of a file, in their order."""
    if isinstance(data, str | Path):
        return _files(data, parameter).table()
    import narwhals as nw

    try:
        frame: nw.DataFrame[IntoDataFrame] = nw.from_native(
            data, eager_only=True, pass_through=False, series_only=False, allow_series=None
        )
    except TypeError:
        msg = f"`{parameter}` must be an eager data frame, got {shown(data)}"
        raise InputError(msg) from None
    return frame


def _files(data: str | Path, parameter: str) -> FileSource:
    if not str(data):  # which would be the folder that one is in
        msg = f"`{parameter}` must be a file of type {', '.join(KINDS)}, got ''"
        raise InputError(msg)
    return FileSource(Path(data), parameter)


def coded_columns(
    frame: nw.DataFrame[IntoDataFrame], names: Sequence[str], parameter: str
) -> dict[str, CodedColumn]:
    """Return some columns of a frame, coded, row by row."""
    if not len(frame):
        msg = f"`{parameter}` must have at least one row, got none"
        raise DataError(msg)
    for name in names:
        if name not in frame.columns:
            listed = ", ".join(frame.columns)
            msg = f"`{parameter}` must have the column {name!r}, got {listed}"
            raise InputError(msg)
    columns = {name: coded_column(frame, name) for name in names}
    for name, column in columns.items():
        refuse_unusable(name, column)
    return columns


def coded_column(frame: nw.DataFrame[IntoDataFrame], name: str) -> CodedColumn:
    """Return one column of a frame, coded, if its values can be told apart."""
    try:
        return encode_series(frame[name])
    except TypeError as error:  # lists and the like
        msg = f"the column {name!r} must hold single values: {error}"
        raise DataError(msg) from error
