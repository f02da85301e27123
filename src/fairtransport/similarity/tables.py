"""Rows of a data frame or a file, in their order, as coded columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtransport.checks import shown
from fairtransport.errors import DataError, InputError
from fairtransport.space.columns import Column, encode_series
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
    return {name: encode_series(frame[name]) for name in names}


def _read_file(path: Path, parameter: str) -> nw.DataFrame[Any]:
    import duckdb
    import narwhals as nw

    FileSource(path, parameter)  # checks ending and existence
    query = f"SELECT * FROM {READERS[path.suffix.lower()]}"  # noqa: S608
    try:
        with duckdb.connect() as connection:
            frame = connection.execute(query, [str(path)]).df()
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        msg = f"the file {path.name!r} could not be read: {reason}"
        raise DataError(msg) from error
    return nw.from_native(frame, eager_only=True)
