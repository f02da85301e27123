"""Precomputed: costs from a matrix, keyed by the profiles of its rows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fairtransport.checks import shown
from fairtransport.errors import DataError, InputError
from fairtransport.geometry import CostFunction, CostMatrix, Geometry
from fairtransport.similarity.base import Parameters, label_columns, tie_breaking_codes
from fairtransport.similarity.cost_files import load_costs
from fairtransport.space.reader import coded_columns, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from narwhals.typing import IntoDataFrame
    from scipy.sparse import csr_array

    from fairtransport.checks import FloatArray, IntArray, Values
    from fairtransport.similarity.cost_files import Costs
    from fairtransport.space import SampleSpace
    from fairtransport.space.columns import Value


@dataclass(eq=False)
class Precomputed(Parameters):
    """Costs handed in as a matrix over profiles.

    Parameters
    ----------
    matrix
        Squared distances: a square array in which infinity forbids a move, or a scipy sparse
        matrix in which an absent entry does and an explicit 0 is a free move.
    points
        A data frame with one row for each row of the matrix; its columns (features, sensitive
        ones or both) tell which profile a row is about.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> profiles = pd.DataFrame({"sex": ["f", "m"], "grade": [1, 1]})
    >>> similarity = ft.similarity.Precomputed(np.array([[0.0, 0.5], [0.5, 0.0]]), profiles)
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 20, "grade": [1] * 40, "good": [1] * 40})
    >>> result = ft.audit(people, "good", model=lambda asked: (asked["sex"] == "m").astype(int),
    ...                   sensitive_features="sex", similarity=similarity, budget=0.1, rng=0)
    >>> round(result.statistic, 3)
    0.2
    """

    name: ClassVar[str] = "precomputed"

    matrix: Costs
    points: IntoDataFrame

    @classmethod
    def from_file(cls, path: str | Path, points: object = None) -> Precomputed:
        """Load costs from a file; see `load_precomputed`.

        Parameters
        ----------
        path, points
            As for `load_precomputed`.

        Returns
        -------
        Precomputed
            Its costs.

        Raises
        ------
        InputError
            If the file is of another kind, or does not tell the profiles.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.savez(f"{folder}/costs.npz", matrix=[[0, 0.5], [0.5, 0]], sex=["f", "m"])
        ...     ft.similarity.Precomputed.from_file(f"{folder}/costs.npz").describe()
        'Costs between 2 profiles were handed in as a matrix of squared distances.'
        """
        return load_precomputed(path, points)

    @property
    def moves_only_to_twins(self) -> bool:
        """A matrix may connect anyone.

        Returns
        -------
        bool

        Examples
        --------
        >>> similarity.moves_only_to_twins
        False
        """
        return False

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return the matrix's costs between the space's points of equal label.

        Parameters
        ----------
        space
            The points of an audit.

        Returns
        -------
        Geometry
            What the solver needs.

        Raises
        ------
        InputError
            If the matrix is not square, holds negative costs, or does not fit its points.
        DataError
            If a profile of the audit is not in the matrix.

        Examples
        --------
        >>> similarity.geometry(result.space).costs(np.array([0]), np.array([0, 1])).tolist()
        [[0.0, 0.5]]
        """
        matrix = CostMatrix(self.matrix)
        row_of = self._rows(space, matrix.matrix.shape[0])

        def between(rows: IntArray, cols: IntArray) -> FloatArray:
            part = matrix.between(row_of[rows], row_of[cols])
            # one profile with different predictions is a free move, also without a diagonal
            part[row_of[rows][:, None] == row_of[cols][None, :]] = 0.0
            return part

        return Geometry(
            blocks=space.groups(label_columns(space)),
            cost=CostFunction(between)
            if isinstance(matrix.matrix, np.ndarray)
            else CostMatrix(over_points(matrix.matrix, row_of)),
            targets=space.targets,
            profiles=tie_breaking_codes(space),
        )

    def describe(self) -> str:
        """Return a plain sentence for the report.

        Returns
        -------
        str

        Examples
        --------
        >>> similarity.describe()
        'Costs between 2 profiles were handed in as a matrix of squared distances.'
        """
        size = np.shape(self.matrix)[0]
        return f"Costs between {size} profiles were handed in as a matrix of squared distances."

    def settings(self) -> dict[str, object]:
        """Return how large the matrix is, what it is about, and a digest of it.

        Returns
        -------
        dict[str, object]

        Examples
        --------
        >>> sorted(similarity.settings())
        ['columns', 'profiles', 'sha256']
        """
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
        """Load costs from the file ``path``; ``points`` may be another.

        Parameters
        ----------
        settings
            ``path`` and, if need be, ``points``.
        folder
            Where the settings file lies.

        Returns
        -------
        Precomputed
            Its costs.

        Raises
        ------
        InputError
            If a setting has no such name, or the file cannot be read.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.savez(f"{folder}/costs.npz", matrix=[[0, 0.5], [0.5, 0]], sex=["f", "m"])
        ...     read = ft.similarity.Precomputed.from_settings({"path": "costs.npz"}, Path(folder))
        >>> read.matrix.tolist()
        [[0.0, 0.5], [0.5, 0.0]]
        """
        for name in settings:
            if name not in {"path", "points"}:
                msg = f"`{name}` must be a setting of {cls.name!r}, which has path, points"
                raise InputError(msg)
        file, points = settings.get("path"), settings.get("points")
        if not isinstance(file, str):
            msg = f"`path` must be the file of costs of the similarity {cls.name!r}"
            raise InputError(msg)
        if points and isinstance(points, str):
            points = folder / points
        return cls(*load_costs(folder / file, points))

    def _rows(self, space: SampleSpace, size: int) -> IntArray:
        """Return the matrix row of each point of the space.

        Parameters
        ----------
        space
            The audit's points.
        size
            How many rows the matrix has.

        Raises
        ------
        InputError
            If the profiles are not as many, not distinct or have other columns.
        DataError
            If a point has no row.
        """
        frame = read_table(self.points, "points")
        if len(frame) != size:
            msg = f"`points` must have one row for each of the matrix's {size}, got {len(frame)}"
            raise InputError(msg)
        names = list(frame.columns)
        unknown = [name for name in names if name not in space.profile]
        if unknown or not names:
            msg = f"`points` must have columns of the profile {space.profile}, got {names}"
            raise InputError(msg)
        place: dict[tuple[Value, ...], int] = {}
        columns = coded_columns(frame, names, "points").values()
        for at, key in enumerate(zip(*(column.to_list() for column in columns), strict=True)):
            if place.setdefault(key, at) != at:
                msg = f"`points` must be distinct profiles, got {key} twice"
                raise InputError(msg)
        keys = list(zip(*(space.columns[name].to_list() for name in names), strict=True))
        found = [place.get(key, -1) for key in keys]
        if -1 in found:
            absent = dict(zip(names, keys[found.index(-1)], strict=True))
            msg = f"the matrix has no row for {found.count(-1)} points, one is {absent}"
            raise DataError(msg)
        return np.array(found, np.int64)


def load_precomputed(path: object, points: object = None) -> Precomputed:
    """Load costs that another program wrote.

    Parameters
    ----------
    path
        An ``.npz`` of `scipy.sparse.save_npz`; an ``.npz`` with the array ``matrix`` and, for
        each column of the profile, one array of its values; or a table (Parquet, CSV, …) of
        edges with a column ``cost`` and, for each column of the profile, two that end in
        ``_from`` and ``_to``.
    points
        A data frame or a file with the profile of each row of the matrix, where the file
        itself does not tell.

    Returns
    -------
    Precomputed
        A similarity for `audit`.

    Raises
    ------
    InputError
        If the file is of another kind, or does not tell the profiles.

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
        msg = f"`path` must be the path of a file of costs, got {shown(path)}"
        raise InputError(msg)
    return Precomputed(*load_costs(Path(path), points))


def over_points(matrix: csr_array[np.float64], row_of: IntArray) -> csr_array[np.float64]:
    """Return a sparse matrix over profiles as one over points, free inside a profile.

    No arithmetic is done on it: scipy would drop the explicit zeros, which are free moves.

    Parameters
    ----------
    matrix
        Over profiles.
    row_of
        By point: its row of the matrix.

    Returns
    -------
    csr_array
        An entry between profiles becomes one between every two of their points.

    Examples
    --------
    Two profiles at cost 2; the first has two points, between which a move is free.

    >>> from scipy.sparse import csr_array
    >>> made = over_points(csr_array([[0.0, 2.0], [2.0, 0.0]]), np.array([0, 0, 1]))
    >>> made.toarray().tolist()
    [[0.0, 0.0, 2.0], [0.0, 0.0, 2.0], [2.0, 2.0, 0.0]]
    """
    from scipy.sparse import csr_array

    size = len(row_of)
    order = np.argsort(row_of, kind="stable")
    held = np.bincount(row_of, minlength=matrix.shape[0])
    start = np.cumsum(held) - held
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    col, cost = matrix.indices.astype(np.int64), np.asarray(matrix.data)
    other = row != col
    row, col, cost = row[other], col[other], cost[other]
    everyone = np.arange(matrix.shape[0])
    row, col = np.r_[row, everyone], np.r_[col, everyone]
    cost = np.r_[cost, np.zeros(len(everyone))]
    # every edge between profiles becomes all edges between their points
    copies = held[row] * held[col]
    edge = np.repeat(np.arange(len(row)), copies)
    within = np.arange(len(edge)) - np.repeat(np.cumsum(copies) - copies, copies)
    width = held[col[edge]]
    source = order[start[row[edge]] + within // width]
    target = order[start[col[edge]] + within % width]
    return csr_array((cost[edge], (source, target)), shape=(size, size))
