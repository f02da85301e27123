"""Files of costs that another program wrote: matrices and tables of edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from fairtransport.archives import TooLargeError, in_words, most_unpacked, unpacked_sizes
from fairtransport.checks import is_real, said, shown
from fairtransport.errors import DataError, InputError
from fairtransport.space.columns import CodedColumn, merge_columns
from fairtransport.space.reader import coded_columns, read_table
from fairtransport.space.sample_space import native_frame

if TYPE_CHECKING:
    from pathlib import Path

    import narwhals as nw
    import pandas as pd
    from narwhals.typing import IntoDataFrame
    from scipy.sparse import csr_array

    from fairtransport.checks import FloatArray

    Costs: TypeAlias = FloatArray | csr_array[np.float64]

ENDS = ("_from", "_to")
"""How the columns of a table of edges end."""


def load_costs(path: Path, points: object = None) -> tuple[Costs, IntoDataFrame]:
    """Return the matrix of a file and the frame of profiles it is about.

    Parameters
    ----------
    path
        An ``.npz`` file, or a table of edges.
    points
        The profiles, where an ``.npz`` does not hold them.

    Raises
    ------
    InputError
        If nobody says what rows are about, or two do.
    DataError
        If the file cannot be read.
    """
    if path.suffix.lower() == ".npz":
        matrix, own = _from_npz(path)
        frame = own if points is None else read_table(points, "points").to_native()
        if frame is None:
            msg = f"`points` must be given: {path.name!r} does not say whom its rows are about"
            raise InputError(msg)
        return matrix, frame
    if points is not None:
        msg = "`points` must be left out for a table of edges, which names its profiles itself"
        raise InputError(msg)
    return _from_edges(read_table(path, "path"), path.name)


def _from_npz(path: Path) -> tuple[Costs, pd.DataFrame | None]:
    """Return the matrix of an ``.npz`` file, and the profiles if it holds them.

    Parameters
    ----------
    path
        As scipy saves sparse matrices, or with an array ``matrix`` and one for each column.

    Raises
    ------
    DataError
        If it is damaged, unpacks to too much or has arrays of other lengths.
    """
    if not path.is_file():
        msg = f"`path` must be an existing file, got {str(path)!r}"
        raise InputError(msg)
    try:
        most = most_unpacked(path.stat().st_size)
        unpacked_sizes(path, most, inner=False)
        # without pickle: a file of costs must not be able to run code
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: np.asarray(archive[name]) for name in archive.files}
        if {"format", "shape", "data"} <= set(arrays):
            from scipy.sparse import load_npz

            # of whichever format: `CostMatrix` makes rows of it
            return cast("csr_array[np.float64]", load_npz(path)), None
    except TooLargeError:
        msg = f"the file {path.name!r} {in_words(most)}"
        raise DataError(msg) from None
    except Exception as error:  # whatever a damaged file makes its readers raise
        msg = f"the file {shown(path.name)} could not be read: {said(error)}"
        raise DataError(msg) from error
    if "matrix" not in arrays:
        msg = f"{path.name!r} must hold the array 'matrix', got {', '.join(arrays)}"
        raise DataError(msg)
    matrix = arrays.pop("matrix")
    if not is_real(matrix):
        msg = f"the array 'matrix' of {path.name!r} must be numeric, got {matrix.dtype}"
        raise DataError(msg)
    size = len(matrix) if matrix.ndim else 0
    for name, values in arrays.items():
        if values.shape != (size,):
            msg = f"{name!r} must have one value for each of the {size} rows, got {values.shape}"
            raise DataError(msg)
    import pandas as pd

    frame = {name: values.tolist() for name, values in arrays.items()}
    return matrix, pd.DataFrame(frame) if frame else None


def _from_edges(table: nw.DataFrame[IntoDataFrame], file: str) -> tuple[Costs, IntoDataFrame]:
    """Return the sparse matrix of a table of edges; what is not listed is forbidden.

    Parameters
    ----------
    table
        Columns that end in ``_from`` and ``_to``, and ``cost``.
    file
        Its name, for messages.

    Raises
    ------
    DataError
        If columns are missing, an edge is listed twice or has no cost.
    """
    from scipy.sparse import csr_array

    names = [name.removesuffix(ENDS[0]) for name in table.columns if name.endswith(ENDS[0])]
    wanted = {"cost", *(f"{name}{end}" for name in names for end in ENDS)}
    if not names or wanted != set(table.columns):
        msg = (
            f"{file!r} must have the column cost and, for each column of the profile, two that "
            f"end in {ENDS[0]} and {ENDS[1]}, got {', '.join(table.columns)}"
        )
        raise DataError(msg)
    sides = [coded_columns(table, [f"{name}{end}" for name in names], file) for end in ENDS]
    both = {
        name: merge_columns(sides[0][f"{name}{ENDS[0]}"], sides[1][f"{name}{ENDS[1]}"])
        for name in names
    }
    codes = np.column_stack([column.codes for column in both.values()])
    profiles, first, inverse = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    source, target = np.split(inverse.reshape(-1), 2)
    edges = np.unique(source * len(profiles) + target)
    if len(edges) < len(table):
        msg = f"{file!r} must list an edge once, got {len(table) - len(edges)} again"
        raise DataError(msg)
    size = (len(profiles), len(profiles))
    if not table["cost"].dtype.is_numeric() or table["cost"].is_null().any():
        msg = f"{file!r} must have a number as the cost of every edge"
        raise DataError(msg)
    cost = np.asarray(table["cost"].to_numpy(), dtype=np.float64)
    columns: dict[str, CodedColumn] = {name: column.take(first) for name, column in both.items()}
    return csr_array((cost, (source, target)), shape=size), native_frame(columns, "pandas")
