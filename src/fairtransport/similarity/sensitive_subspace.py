"""SensitiveSubspace: remove the directions that predict the sensitive features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fairtransport._core.validation import check_number
from fairtransport.data.sources import encode_columns, read_table
from fairtransport.errors import InputError, param
from fairtransport.similarity.base import check_column_names, is_numeric
from fairtransport.similarity.encoding import centre_and_scale, fit_encoding
from fairtransport.similarity.learned import LearnedSimilarity, orthogonal_bases, select_columns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairtransport._core.validation import FloatArray
    from fairtransport.data import SampleSpace
    from fairtransport.data.columns import CodedColumn


@dataclass(eq=False)
class SensitiveSubspace(LearnedSimilarity):
    """Squared distance after removing the directions that predict sensitive features.

    Parameters
    ----------
    sensitive_features
        The sensitive columns of the data of `fit`.
    features
        Columns of the distance; default: all others.
    penalty
        Weight of the squared coefficients in the regressions.
    hold_out
        Instead of `fit`: share of the audit data, drawn at random, on which the audit fits the
        similarity. These people are not audited.

    Attributes
    ----------
    directions_
        (coordinates, k) orthonormal basis of the removed directions.
    coefficients_
        Regression coefficients of each sensitive feature, one row per direction.

    Raises
    ------
    InputError
        If a parameter is invalid.

    Notes
    -----
    Yurochkin, Bower and Sun (2020). Features are encoded (numbers standardised, levels
    one-hot with any two at squared distance 1); each sensitive feature is predicted from
    them, one with levels or with two values by logistic regression, a numeric one by ridge
    regression. With Q an orthonormal basis of the coefficients' span::

        d²(x, x') = |(I − QQ')(z(x) − z(x'))|²

    The sensitive features themselves change for free.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"group": [0, 0, 1, 1] * 5, "height": [1, 2, 3, 4] * 5,
    ...                        "grade": [1, 2, 1, 2] * 5})
    >>> similarity = ft.similarity.SensitiveSubspace(["group"]).fit(people)
    >>> similarity.directions_.shape
    (2, 1)
    >>> result = ft.audit(people.assign(good=1), "good", budget=0.1, rng=0, similarity=similarity,
    ...                   model=lambda x: (x["height"] > 2).astype(int),
    ...                   features=["height", "grade"], sensitive_features="group")
    >>> round(result.statistic, 2)
    0.35
    """

    name: ClassVar[str] = "sensitive-subspace"
    choice: ClassVar[str] = (
        "People who differ only in what predicts the groups. This is learned from a part of the "
        "people, who are then left out of the audit."
    )

    sensitive_features: Sequence[str] = ()
    features: Sequence[str] | None = None
    penalty: float = 1.0
    hold_out: float | None = None
    directions_: FloatArray = field(init=False, repr=False)
    coefficients_: dict[str, FloatArray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        names = check_column_names("sensitive_features", self.sensitive_features)
        if self.features is not None:
            for name in check_column_names("features", self.features):
                if name in names:
                    msg = f"{param('features')} must not hold sensitive features, got {name!r}"
                    raise InputError(msg)
        check_number("penalty", self.penalty, above=0)
        if self.hold_out is not None:
            check_number("hold_out", self.hold_out, above=0, below=1)

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002, N803
        """Estimate the directions from people who are not in the audit data.

        Parameters
        ----------
        X
            A data frame or a file of people.
        y
            Ignored; for compatibility with scikit-learn.

        Returns
        -------
        SensitiveSubspace
            The similarity itself.

        Raises
        ------
        InputError
            If a sensitive feature is constant, or a column is missing.

        Examples
        --------
        >>> again = ft.similarity.SensitiveSubspace(["group"], penalty=10).fit(people)
        >>> again.is_fitted
        True
        """
        frame = read_table(X, "X")
        sensitive = check_column_names("sensitive_features", self.sensitive_features)
        if not sensitive:
            msg = f"{param('sensitive_features')} must name at least one column, got none"
            raise InputError(msg)
        others = [name for name in frame.columns if name not in sensitive]
        names = select_columns(self.features, others)
        columns = encode_columns(frame, names, "X")
        # the audit has already checked whether values may be missing
        encoding = fit_encoding(columns, allow_missing=self.hold_out is not None)
        points = encoding.coordinates(columns)
        targets = encode_columns(frame, sensitive, "X")
        coefficients = {
            name: _fit_directions(points, name, column, self.penalty)
            for name, column in targets.items()
        }
        self.encoding_, self.coefficients_ = encoding, coefficients
        self.directions_, self.matrix_ = orthogonal_bases(
            np.vstack([*coefficients.values()]), points.shape[1]
        )
        self._store_fit_data(columns)
        return self

    def fit_file(self, path: Path, **words: object) -> Self:
        """Fit on a CSV, Parquet or JSON lines file of people."""
        return self.fit(path, **words)

    def free_columns(self, space: SampleSpace) -> tuple[str, ...]:
        """Return the sensitive features, which must be those of `fit`."""
        fitted = check_column_names("sensitive_features", self.sensitive_features)
        for name in space.sensitive:
            if name not in fitted:
                msg = (
                    f"{param('similarity')} was fitted with the sensitive features "
                    f"{', '.join(fitted)}, but the audit has {name!r} too"
                )
                raise InputError(msg)
        return fitted

    def describe(self) -> str:
        """Return one sentence for the report."""
        names = ", ".join(check_column_names("sensitive_features", self.sensitive_features))
        if not self.is_fitted:
            return (
                f"The part of the features that does not predict {names} counts (not yet fitted)."
            )
        removed = self.directions_.shape[1]
        total = removed + self.matrix_.shape[1]
        return (
            f"Distances are those of the features ({', '.join(self.encoding_.columns)}; numbers in "
            f"standard deviations, a different value counts 1), without the {removed} of {total} "
            f"directions that best predict {names}. A change of {names} counts 0."
        )

    def fitted(self) -> dict[str, object] | None:
        """Return encoding, matrix and removed directions; None before `fit`."""
        document = super().fitted()
        return None if document is None else {**document, "directions": self.directions_}


def _fit_directions(
    points: FloatArray, name: str, column: CodedColumn, penalty: float
) -> FloatArray:
    """Return the coefficients that predict a sensitive feature, one row per direction."""
    codes = np.unique(column.codes)
    if len(codes) < 2:  # noqa: PLR2004
        msg = (
            f"{param('sensitive_features')} must vary in the data of {param('fit')}, but {name!r} "
            "does not"
        )
        raise InputError(msg)
    if is_numeric(column.levels) and not column.has_missing and len(codes) > 2:  # noqa: PLR2004
        values = column.levels.astype(float)[column.codes]
        return ridge_direction(points, values, penalty)
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1 / penalty, max_iter=10_000, tol=1e-8)
    return np.asarray(model.fit(points, column.codes).coef_, dtype=np.float64)


def ridge_direction(points: FloatArray, values: FloatArray, penalty: float) -> FloatArray:
    """Return the coefficients of a ridge regression on standardised values, as one row."""
    # centring removes the intercept, which is not penalised
    centred = points - points.mean(axis=0)
    centre, scale = centre_and_scale(values)
    target = (values - centre) / scale
    gram = centred.T @ centred + penalty * np.eye(points.shape[1])
    return np.linalg.solve(gram, centred.T @ target)[None, :]
