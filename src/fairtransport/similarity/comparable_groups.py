"""ComparableGroups (FACE): ignore what varies inside groups of comparable people."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fairtransport._core.validation import check_integer, check_unmasked, shape_of, short_repr
from fairtransport.data.columns import encode, is_hashable, object_array, plain_list
from fairtransport.data.sources import encode_columns, read_table
from fairtransport.errors import DataError, InputError, param
from fairtransport.similarity.base import check_column_names
from fairtransport.similarity.encoding import fit_encoding
from fairtransport.similarity.learned import LearnedSimilarity, orthogonal_bases, select_columns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import narwhals as nw
    from narwhals.typing import IntoDataFrame

    from fairtransport._core.validation import FloatArray, IntArray


@dataclass(eq=False)
class ComparableGroups(LearnedSimilarity):
    """Squared distance in the directions in which groups of comparable people agree.

    Parameters
    ----------
    dimensions
        Number of directions to remove.
    features
        Columns of the distance; default: all columns of the data of `fit`. Other sensitive columns
        of an audit change for free.

    Attributes
    ----------
    directions_
        (coordinates, dimensions) orthonormal basis of the removed directions.
    explained_
        (coordinates,) share of the variance inside groups in each direction, largest first. Remove
        those before a sharp drop.

    Raises
    ------
    InputError
        If a parameter is invalid.

    Notes
    -----
    FACE of Mukherjee, Yurochkin, Banerjee and Sun (2020). In the factor model
    z = A u + B v + noise, comparable people share what is relevant, v. Their differences
    from the group's mean show the sensitive factor's loadings A, whose span is estimated by
    the top right singular vectors of the centred data.

    Examples
    --------
    People of the same grade are comparable although their heights differ.

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
        check_integer("dimensions", self.dimensions)
        if self.features is not None:
            check_column_names("features", self.features)

    def fit(self, X: object, y: object) -> Self:  # noqa: N803
        """Estimate the directions from groups of comparable people.

        Parameters
        ----------
        X
            A data frame or a file of people.
        y
            Groups: a column name or one value per row. People of one group are comparable; people
            of different groups may or may not be.

        Returns
        -------
        ComparableGroups
            The similarity itself.

        Raises
        ------
        DataError
            If people of one group differ in fewer directions than ``dimensions``.

        Examples
        --------
        >>> again = ft.similarity.ComparableGroups(features=["height", "grade"])
        >>> again.fit(people.assign(team=[0, 0, 1, 1]), "team").is_fitted
        True
        """
        frame = read_table(X, "X")
        groups = _group_codes(frame, y)
        others = [name for name in frame.columns if not (isinstance(y, str) and name == y)]
        names = select_columns(self.features, others)
        columns = encode_columns(frame, names, "X")
        encoding = fit_encoding(columns)
        points = encoding.coordinates(columns)
        # people of a group are comparable, so differences inside it must not count
        centred = points - group_means(points, groups)[groups]
        spread = np.linalg.svd(centred, full_matrices=False)
        # smaller singular values are rounding errors
        least = 1e-8 * max(1.0, float(spread.S[0]))
        rank = int(np.count_nonzero(least < spread.S))
        if rank < self.dimensions:
            msg = (
                f"{param('dimensions')} must be at most {rank}, the number of directions in which "
                f"people of one group differ, got {self.dimensions}"
            )
            raise DataError(msg)
        self.encoding_ = encoding
        self.directions_, self.matrix_ = orthogonal_bases(
            spread.Vh[: self.dimensions], points.shape[1]
        )
        self.explained_ = spread.S**2 / (spread.S**2).sum()
        self._store_fit_data(columns)
        return self

    @classmethod
    def split_settings(
        cls, settings: dict[str, object]
    ) -> tuple[dict[str, object], dict[str, object]]:
        """Split off ``group``, the column that holds the groups."""
        if not isinstance(settings.get("group"), str):
            msg = f"{param('group')} must name the column that holds the groups"
            raise InputError(msg)
        rest = {name: value for name, value in settings.items() if name != "group"}
        return rest, {"group": settings["group"]}

    def fit_file(self, path: Path, **words: object) -> Self:
        """Fit on a file of people with a column ``group``."""
        return self.fit(path, words["group"])

    def describe(self) -> str:
        """Return one sentence for the report."""
        if not self.is_fitted:
            return "Differences inside groups of comparable people do not count (not yet fitted)."
        share = float(self.explained_[: self.dimensions].sum())
        return (
            f"Distances are those of the features ({', '.join(self.encoding_.columns)}; numbers in "
            f"standard deviations, a different value counts 1), without the {self.dimensions} "
            f"directions in which comparable people differ most ({100 * share:.0f} % of the "
            "variance inside groups)."
        )

    def fitted(self) -> dict[str, object] | None:
        """Return encoding, matrix, removed directions and their shares; None before `fit`."""
        document = super().fitted()
        if document is None:
            return None
        return {**document, "directions": self.directions_, "explained": self.explained_}


def group_means(points: FloatArray, groups: IntArray) -> FloatArray:
    """Return the mean of each group's points."""
    size = np.bincount(groups)
    total = [np.bincount(groups, values, len(size)) for values in points.T]
    return np.column_stack(total) / size[:, None]


def _group_codes(frame: nw.DataFrame[IntoDataFrame], groups: object) -> IntArray:
    """Return the group number of each row."""
    if isinstance(groups, str):
        column = encode_columns(frame, [groups], "X")[groups]
    else:
        check_unmasked("y", groups)
        if (shape := shape_of(groups)) != (len(frame),):
            msg = f"{param('y')} must have one group per row, {len(frame)} in all, got {shape}"
            raise InputError(msg)
        values = plain_list(groups)
        for group in values:
            if not is_hashable(group):
                msg = f"{param('y')} must have one group per row, got {short_repr(group)}"
                raise InputError(msg)
        # NaN is missing: it differs from itself
        is_missing = [value is None or value != value for value in values]  # noqa: PLR0124
        missing = np.array(is_missing, bool)
        column = encode(object_array(values), missing)
    if column.has_missing:
        msg = f"{param('y')} must not have missing groups"
        raise DataError(msg)
    return column.codes
