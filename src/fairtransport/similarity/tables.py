"""Rows of a data frame or a file, in their order, as coded columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtransport.checks import shown
from fairtransport.errors import DataError, InputError
from fairtransport.space.columns import Column, encode_series, refuse_unusable
from fairtransport.space.counting import READERS, FileSource

if TYPE_CHECKING:
    import narwhals as nw


def read_table(data: Any, parameter: str) -> nw.DataFrame[Any]:
    """Return an eager data frame, or the rows of a file."""
    import narwhals as nw

    if isinstance(data, str | Path):
        return _read_file(Path(data), parameter)
    try:
        frame: nw.DataFrame[Any] = nw.from_native(data, eager_only=True)
    except TypeError:
        msg = f"`{parameter}` must be an eager data frame, got {shown(data)}"
        raise InputError(msg) from None
    return frame


def coded_columns(
    frame: nw.DataFrame[Any], names: list[str] | tuple[str, ...], parameter: str
) -> dict[str, Column]:
    """Return some columns of a frame, coded, row by row."""
    if not len(frame):
        msg = f"`{parameter}` must have at least one row, got none"
        raise DataError(msg)
    for name in names:
        if name not in frame.columns:
            listed = ", ".join(frame.columns)
            msg = f"`{parameter}` must have the column {name!r}, got {listed}"
            raise InputError(msg)
    return {name: _coded(frame[name], name) for name in names}


def _coded(series: nw.Series[Any], name: str) -> Column:
    try:
        column = encode_series(series)
    except TypeError as error:  # lists and other values that cannot be told apart
        msg = f"the column {name!r} must hold single values: {error}"
        raise DataError(msg) from error
    refuse_unusable(name, column)
    return column


def _read_file(path: Path, parameter: str) -> nw.DataFrame[Any]:
    import duckdb
    import narwhals as nw

    source = FileSource(path, parameter)  # checks ending and existence
    query = f"SELECT * FROM {READERS[path.suffix.lower()]}"  # noqa: S608
    try:
        with duckdb.connect() as connection:
            frame = connection.execute(query, [source.location]).df()
    except duckdb.Error as error:
        raise source.unreadable(error) from error
    return nw.from_native(frame, eager_only=True)
