"""ComparableGroups (FACE): what varies inside groups of comparable people does not count."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fairtransport.checks import refuse_masked, shape_of, shown, whole
from fairtransport.errors import DataError, InputError
from fairtransport.similarity.base import column_names
from fairtransport.similarity.encoding import fit_encoding
from fairtransport.similarity.learned import Learned, columns_to_fit, complement
from fairtransport.space.columns import encode, object_array, plain_list
from fairtransport.space.reader import coded_columns, read_table
from fairtransport.space.single_values import is_hashable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import narwhals as nw
    from narwhals.typing import IntoDataFrame

    from fairtransport.checks import FloatArray, IntArray


@dataclass(eq=False)
class ComparableGroups(Learned):
    """Squared distance in the directions that groups of comparable people agree in.

    Parameters
    ----------
    dimensions
        How many directions are taken out.
    features
        The columns that the distance is about; default: all of the data of `fit`. Sensitive
        columns of an audit that are not among them change for free.

    Attributes
    ----------
    directions_
        (coordinates, dimensions) an orthonormal basis of the directions that are taken out.
    explained_
        (coordinates,) the share of the variance inside groups that lies in each direction, the
        largest first: those before a sharp drop are the ones to take out.

    Raises
    ------
    InputError
        If a parameter breaks its rule.

    Notes
    -----
    FACE of Mukherjee, Yurochkin, Banerjee and Sun (2020). In the factor model
    z = A u + B v + noise, comparable people share what is relevant, v. Their differences
    from the group's mean show the sensitive factor's loadings A, whose span is estimated by
    the top right singular vectors of the centred data.

    Examples
    --------
    Twins of the same grade were judged comparable, though their heights differ.

    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"height": [1.0, 3.0, 2.0, 4.0], "grade": [1.0, 1.0, 2.0, 2.0]})
    >>> similarity = ft.similarity.ComparableGroups().fit(people, [0, 0, 1, 1])
    >>> abs(similarity.directions_).round(2).tolist(), similarity.explained_.round(2).tolist()
    ([[1.0], [0.0]], [1.0, 0.0])
    """

    name: ClassVar[str] = "comparable-groups"

    dimensions: int = 1
    features: Sequence[str] | None = None
    directions_: FloatArray = field(init=False, repr=False)
    explained_: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        whole("dimensions", self.dimensions)
        if self.features is not None:
            column_names("features", self.features)

    def fit(self, X: object, y: object) -> Self:  # noqa: N803
        """Find the directions from groups of comparable people.

        Parameters
        ----------
        X
            A data frame or a file of people.
        y
            The group of each of them: a column's name or one value a row. People of one group
            are comparable; nothing is said of people of different groups.

        Returns
        -------
        ComparableGroups
            The similarity itself.

        Raises
        ------
        DataError
            If no group has two people, or fewer directions vary than are to be taken out.

        Examples
        --------
        >>> again = ft.similarity.ComparableGroups(features=["height", "grade"])
        >>> again.fit(people.assign(team=[0, 0, 1, 1]), "team").is_fitted
        True
        """
        frame = read_table(X, "X")
        groups = _group_codes(frame, y)
        others = [name for name in frame.columns if not (isinstance(y, str) and name == y)]
        names = columns_to_fit(self.features, others)
        columns = coded_columns(frame, names, "X")
        encoding = fit_encoding(columns)
        points = encoding.coordinates(columns)
        # inside groups people are comparable: what varies there is what must not count
        centred = points - group_means(points, groups)[groups]
        spread = np.linalg.svd(centred, full_matrices=False)
        # smaller singular values are rounding errors of a direction in which groups agree
        least = 1e-8 * max(1.0, float(spread.S[0]))
        rank = int(np.count_nonzero(least < spread.S))
        if rank < self.dimensions:
            msg = (
                f"`dimensions` must be at most {rank}, the number of directions in which people "
                f"of one group differ, got {self.dimensions}"
            )
            raise DataError(msg)
        self.encoding_ = encoding
        self.directions_, self.matrix_ = complement(spread.Vh[: self.dimensions], points.shape[1])
        self.explained_ = spread.S**2 / (spread.S**2).sum()
        self._remember(columns)
        return self

    @classmethod
    def split_settings(
        cls, settings: dict[str, object]
    ) -> tuple[dict[str, object], dict[str, object]]:
        """Set ``group`` apart, the column of the file that holds the groups.

        Parameters
        ----------
        settings
            A table of settings.

        Returns
        -------
        tuple of dict
            Parameters, and the column of groups.

        Examples
        --------
        >>> ft.similarity.ComparableGroups.split_settings({"dimensions": 1, "group": "team"})
        ({'dimensions': 1}, {'group': 'team'})
        """
        if not isinstance(settings.get("group"), str):
            msg = "`group` must name the column that holds the groups"
            raise InputError(msg)
        rest = {name: value for name, value in settings.items() if name != "group"}
        return rest, {"group": settings["group"]}

    def fit_file(self, path: Path, **words: object) -> Self:
        """Fit on a file of people with a column ``group``.

        Parameters
        ----------
        path
            CSV, Parquet or JSON lines.
        **words
            ``group``, the column that holds the groups.

        Returns
        -------
        ComparableGroups
            The similarity itself.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "teams.csv")
        ...     people.assign(team=[0, 0, 1, 1]).to_csv(file, index=False)
        ...     read = ft.similarity.ComparableGroups().fit_file(file, group="team")
        >>> abs(read.directions_).round(2).tolist()
        [[1.0], [0.0]]
        """
        return self.fit(path, words["group"])

    def describe(self) -> str:
        """Return a plain sentence for the report.

        Returns
        -------
        str

        Examples
        --------
        >>> similarity.describe()
        'People are as far apart as their features (height, grade; numbers in standard deviations, a
        different level counts 1) after the 1 directions in which comparable people differ most were
        taken out (100% of the variance inside groups).'
        """
        if not self.is_fitted:
            return "What varies inside groups of comparable people does not count (not yet fitted)."
        share = float(self.explained_[: self.dimensions].sum())
        return (
            f"People are as far apart as their features ({', '.join(self.encoding_.columns)}; "
            f"numbers in standard deviations, a different level counts 1) after the "
            f"{self.dimensions} directions in which comparable people differ most were taken "
            f"out ({share:.0%} of the variance inside groups)."
        )

    def fitted(self) -> dict[str, object] | None:
        """Return encoding, matrix, the directions that were taken out and their shares.

        Returns
        -------
        dict[str, object] | None

        Examples
        --------
        >>> sorted(similarity.fitted())
        ['data_sha256', 'directions', 'encoding', 'explained', 'matrix']
        """
        document = super().fitted()
        if document is None:
            return None
        return {**document, "directions": self.directions_, "explained": self.explained_}


def group_means(points: FloatArray, groups: IntArray) -> FloatArray:
    """Return the mean of each group's points.

    Parameters
    ----------
    points
        (n, coordinates).
    groups
        (n,) numbers from 0 on, each with somebody in it.

    Examples
    --------
    >>> group_means(np.array([[0.0], [2.0], [5.0]]), np.array([0, 0, 1])).tolist()
    [[1.0], [5.0]]
    """
    size = np.bincount(groups)
    total = [np.bincount(groups, values, len(size)) for values in points.T]
    return np.column_stack(total) / size[:, None]


def _group_codes(frame: nw.DataFrame[IntoDataFrame], groups: object) -> IntArray:
    """Return the number of each row's group.

    Parameters
    ----------
    frame
        The people.
    groups
        A column's name, or one value a row.

    Raises
    ------
    InputError
        If there is not one value a row.
    DataError
        If a group is missing.
    """
    if isinstance(groups, str):
        column = coded_columns(frame, [groups], "X")[groups]
    else:
        refuse_masked("y", groups)
        if (shape := shape_of(groups)) != (len(frame),):
            msg = f"`y` must have one group a row, {len(frame)} in all, got {shape}"
            raise InputError(msg)
        listed = plain_list(groups)
        for group in listed:
            if not is_hashable(group):
                msg = f"`y` must have one group a row, got {shown(group)}"
                raise InputError(msg)
        # a group without a name is no group; NaN differs from itself
        unnamed = [value is None or value != value for value in listed]  # noqa: PLR0124
        missing = np.array(unnamed, bool)
        column = encode(object_array(listed), missing)
    if column.has_missing:
        msg = "`y` must not have missing groups"
        raise DataError(msg)
    return column.codes
