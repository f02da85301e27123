"""Precomputed: costs from a matrix over profiles, and files of costs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self, TypeAlias, cast

import numpy as np

from fairtransport._core import files
from fairtransport._core.validation import describe_error, is_real, list_values, short_repr
from fairtransport.data.columns import CodedColumn, merge_columns
from fairtransport.data.sample_space import native_frame
from fairtransport.data.sources import encode_columns, read_table
from fairtransport.errors import DataError, InputError, param
from fairtransport.geometry import CostFunction, CostMatrix, Geometry
from fairtransport.similarity.base import BaseSimilarity, label_columns, tie_breaking_codes

if TYPE_CHECKING:
    from collections.abc import Mapping

    import narwhals as nw
    import pandas as pd
    from narwhals.typing import IntoDataFrame
    from scipy.sparse import csr_array

    from fairtransport._core.validation import FloatArray, IntArray, Values
    from fairtransport.data import SampleSpace
    from fairtransport.data.columns import Value

    Costs: TypeAlias = FloatArray | csr_array[np.float64]

EDGE_SUFFIXES = ("_from", "_to")
"""Suffixes of the columns of a table of edges."""


@dataclass(eq=False)
class Precomputed(BaseSimilarity):
    """Costs from a matrix over profiles.

    Parameters
    ----------
    matrix
        Squared distances: a square array in which infinity forbids a move, or a scipy sparse
        matrix in which an absent entry does and an explicit 0 is a free move.
    points
        A data frame with one row for each row of the matrix; its columns (features, sensitive
        ones or both) are the profile of each row.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> profiles = pd.DataFrame({"sex": ["f", "m"], "grade": [1, 1]})
    >>> similarity = ft.similarity.Precomputed(np.array([[0.0, 0.5], [0.5, 0.0]]), profiles)
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 20, "grade": [1] * 40, "good": [1] * 40})
    >>> result = ft.audit(people, "good", model=lambda x: (x["sex"] == "m").astype(int),
    ...                   sensitive_features="sex", similarity=similarity, budget=0.1, rng=0)
    >>> round(result.statistic, 3)
    0.2
    """

    name: ClassVar[str] = "precomputed"

    matrix: Costs
    points: IntoDataFrame

    @property
    def moves_only_to_twins(self) -> bool:
        """False: a matrix may connect anyone."""
        return False

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return the costs of the matrix between points of equal label."""
        space, matrix = space.encoded, CostMatrix(self.matrix)
        row_index = self._find_rows(space, matrix.matrix.shape[0])

        def between(rows: IntArray, cols: IntArray) -> FloatArray:
            part = matrix.between(row_index[rows], row_index[cols])
            # one profile with different predictions is a free move, also without a diagonal
            part[row_index[rows][:, None] == row_index[cols][None, :]] = 0.0
            return part

        return Geometry(
            blocks=space.groups(label_columns(space)),
            cost=CostFunction(between)
            if isinstance(matrix.matrix, np.ndarray)
            else CostMatrix(expand_to_points(matrix.matrix, row_index)),
            targets=space.targets,
            profiles=tie_breaking_codes(space),
        )

    def describe(self) -> str:
        """Return one sentence for the report."""
        size = np.shape(self.matrix)[0]
        return f"Squared distances between {size} different rows were given as a matrix."

    def settings(self) -> dict[str, object]:
        """Return size, columns and a digest of the matrix."""
        costs = CostMatrix(self.matrix).matrix
        arrays: list[Values] = (
            [costs] if isinstance(costs, np.ndarray) else [costs.indptr, costs.indices, costs.data]
        )
        return {
            "profiles": costs.shape[0],
            "columns": list(read_table(self.points, "points").columns),
            "sha256": hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest(),
        }

    @classmethod
    def from_settings(cls, settings: Mapping[str, object], folder: Path) -> Self:
        """Load costs from the file ``path``, with profiles from ``points`` if need be."""
        for name in settings:
            if name not in {"path", "points"}:
                msg = f"{param(name)} must be a setting of {cls.name!r}, which has path, points"
                raise InputError(msg)
        file, points = settings.get("path"), settings.get("points")
        if not isinstance(file, str):
            msg = f"{param('path')} must be the file of costs of the similarity {cls.name!r}"
            raise InputError(msg)
        if points and isinstance(points, str):
            points = folder / points
        return cls(*load_costs(folder / file, points))

    def _find_rows(self, space: SampleSpace, size: int) -> IntArray:
        """Return the matrix row of each point of the space."""
        frame = read_table(self.points, "points")
        if len(frame) != size:
            msg = (
                f"{param('points')} must have one row for each of the matrix's {size}, got "
                f"{len(frame)}"
            )
            raise InputError(msg)
        names = list(frame.columns)
        unknown = [name for name in names if name not in space.profile]
        if unknown or not names:
            msg = (
                f"{param('points')} must have audited columns ({', '.join(space.profile)}), got "
                f"{list_values(names)}"
            )
            raise InputError(msg)
        place: dict[tuple[Value, ...], int] = {}
        columns = encode_columns(frame, names, "points").values()
        for at, key in enumerate(zip(*(column.to_list() for column in columns), strict=True)):
            if place.setdefault(key, at) != at:
                msg = f"{param('points')} must have each row once, got {key} twice"
                raise InputError(msg)
        keys = list(zip(*(space.columns[name].to_list() for name in names), strict=True))
        rows = [place.get(key, -1) for key in keys]
        if -1 in rows:
            absent = dict(zip(names, keys[rows.index(-1)], strict=True))
            msg = f"the matrix lacks {rows.count(-1)} of the audited rows, such as {absent}"
            raise DataError(msg)
        return np.array(rows, np.int64)


def load_precomputed(path: object, points: object = None) -> Precomputed:
    """Load costs from a file.

    Parameters
    ----------
    path
        An ``.npz`` of `scipy.sparse.save_npz`; an ``.npz`` with the array ``matrix`` and, for
        each column of the profile, one array of its values; or a table (Parquet, CSV, …) of
        edges with a column ``cost`` and, for each column of the profile, two that end in
        ``_from`` and ``_to``.
    points
        A data frame or a file with the profile of each row of the matrix, if the file itself has
        none.

    Returns
    -------
    Precomputed
        A similarity for `audit`.

    Raises
    ------
    InputError
        If the file type is not supported, or the profiles are missing.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> edges = pd.DataFrame({"sex_from": ["f"], "sex_to": ["m"], "cost": [0.5]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     edges.to_csv(f"{folder}/edges.csv", index=False)
    ...     similarity = ft.similarity.load_precomputed(f"{folder}/edges.csv")
    >>> similarity.matrix.toarray().tolist()
    [[0.0, 0.5], [0.0, 0.0]]
    """
    if not isinstance(path, str | Path):
        msg = f"{param('path')} must be the path of a file of costs, got {short_repr(path)}"
        raise InputError(msg)
    return Precomputed(*load_costs(Path(path), points))


def expand_to_points(matrix: csr_array[np.float64], row_index: IntArray) -> csr_array[np.float64]:
    """Expand a sparse matrix over profiles to points; moves inside a profile are free.

    No arithmetic is done on the matrix: scipy would drop the explicit zeros, which are free moves.
    """
    from scipy.sparse import csr_array

    size = len(row_index)
    order = np.argsort(row_index, kind="stable")
    sizes = np.bincount(row_index, minlength=matrix.shape[0])
    start = np.cumsum(sizes) - sizes
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    col, cost = matrix.indices.astype(np.int64), np.asarray(matrix.data)
    other = row != col
    row, col, cost = row[other], col[other], cost[other]
    everyone = np.arange(matrix.shape[0])
    row, col = np.r_[row, everyone], np.r_[col, everyone]
    cost = np.r_[cost, np.zeros(len(everyone))]
    # every edge between profiles becomes all edges between their points
    copies = sizes[row] * sizes[col]
    edge = np.repeat(np.arange(len(row)), copies)
    within = np.arange(len(edge)) - np.repeat(np.cumsum(copies) - copies, copies)
    width = sizes[col[edge]]
    source = order[start[row[edge]] + within // width]
    target = order[start[col[edge]] + within % width]
    return csr_array((cost[edge], (source, target)), shape=(size, size))


def load_costs(path: Path, points: object = None) -> tuple[Costs, IntoDataFrame]:
    """Return the matrix of a file and the frame of its profiles."""
    if path.suffix.lower() == ".npz":
        matrix, own = _read_npz(path)
        frame = own if points is None else read_table(points, "points").to_native()
        if frame is None:
            msg = (
                f"{param('points')} must be given: {path.name!r} does not say whom its rows are "
                "about"
            )
            raise InputError(msg)
        return matrix, frame
    if points is not None:
        msg = (
            f"{param('points')} must be left out for a table of edges, which names its rows itself"
        )
        raise InputError(msg)
    return _read_edges(read_table(path, "path"), path.name)


def _read_npz(path: Path) -> tuple[Costs, pd.DataFrame | None]:
    """Return the matrix of an ``.npz`` file, and its profiles if it has them."""
    files.check_file("path", path)
    try:
        most = files.max_unpacked_bytes(path.stat().st_size)
        files.unpacked_sizes(path, most, inner=False)
        # without pickle, so that a file cannot run code
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: np.asarray(archive[name]) for name in archive.files}
        if {"format", "shape", "data"} <= set(arrays):
            from scipy.sparse import load_npz

            # any sparse format: `CostMatrix` converts it
            return cast("csr_array[np.float64]", load_npz(path)), None
    except files.TooLargeError:
        msg = f"the file {path.name!r} {files.describe_unpacked_limit(most)}"
        raise DataError(msg) from None
    except Exception as error:  # a damaged file can raise anything
        msg = f"the file {short_repr(path.name)} could not be read: {describe_error(error)}"
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


def _read_edges(table: nw.DataFrame[IntoDataFrame], file: str) -> tuple[Costs, IntoDataFrame]:
    """Return the sparse matrix of a table of edges; other moves are forbidden."""
    from scipy.sparse import csr_array

    names = [
        name.removesuffix(EDGE_SUFFIXES[0])
        for name in table.columns
        if name.endswith(EDGE_SUFFIXES[0])
    ]
    expected = {"cost", *(f"{name}{end}" for name in names for end in EDGE_SUFFIXES)}
    if not names or expected != set(table.columns):
        msg = (
            f"{file!r} must have the column cost and, for each audited column, two that "
            f"end in {EDGE_SUFFIXES[0]} and {EDGE_SUFFIXES[1]}, got {', '.join(table.columns)}"
        )
        raise DataError(msg)
    sides = [
        encode_columns(table, [f"{name}{end}" for name in names], file) for end in EDGE_SUFFIXES
    ]
    both = {
        name: merge_columns(
            sides[0][f"{name}{EDGE_SUFFIXES[0]}"], sides[1][f"{name}{EDGE_SUFFIXES[1]}"]
        )
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
