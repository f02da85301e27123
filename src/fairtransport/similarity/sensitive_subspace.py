"""SensitiveSubspace: directions that tell the sensitive features are taken out of the distance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fairtransport.checks import number
from fairtransport.errors import InputError
from fairtransport.similarity.base import column_names, is_numeric
from fairtransport.similarity.encoding import centre_and_scale, fit_encoding
from fairtransport.similarity.learned import Learned, columns_to_fit, complement
from fairtransport.space.reader import coded_columns, read_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairtransport.checks import FloatArray
    from fairtransport.space import SampleSpace
    from fairtransport.space.columns import CodedColumn


@dataclass(eq=False)
class SensitiveSubspace(Learned):
    """Squared distance in what the features say beyond the sensitive features.

    Parameters
    ----------
    sensitive_features
        The sensitive columns of the data of `fit`.
    features
        The columns that the distance is about; default: all others.
    penalty
        The weight of the squared coefficients in both kinds of regression.
    fit_share
        Instead of `fit`: the share of the people of an audit, drawn at random, on whom the audit
        fits the similarity. They are then not audited.

    Attributes
    ----------
    directions_
        (coordinates, k) an orthonormal basis of the directions that are taken out.
    coefficients_
        What each sensitive feature's regression found, one row a direction.

    Raises
    ------
    InputError
        If a parameter breaks its rule.

    Notes
    -----
    Yurochkin, Bower and Sun (2020). Features are encoded (numbers standardised, levels
    one-hot with any two at squared distance 1); each sensitive feature is predicted from
    them, one with levels or with two values by logistic regression, a numeric one by ridge
    regression. With Q an orthonormal basis of the coefficients' span::

        d²(x, x') = |(I − QQ')(z(x) − z(x'))|²

    The sensitive features' own coordinates are taken out too, so they change for free.

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
    ...                   model=lambda asked: (asked["height"] > 2).astype(int),
    ...                   features=["height", "grade"], sensitive_features="group")
    >>> round(result.statistic, 2)
    0.5
    """

    name: ClassVar[str] = "sensitive-subspace"

    sensitive_features: Sequence[str] = ()
    features: Sequence[str] | None = None
    penalty: float = 1.0
    fit_share: float | None = None
    directions_: FloatArray = field(init=False, repr=False)
    coefficients_: dict[str, FloatArray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        names = column_names("sensitive_features", self.sensitive_features)
        if self.features is not None:
            for name in column_names("features", self.features):
                if name in names:
                    msg = f"`features` must not hold sensitive features, got {name!r}"
                    raise InputError(msg)
        number("penalty", self.penalty, above=0)
        if self.fit_share is not None:
            number("fit_share", self.fit_share, above=0, below=1)

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002, N803
        """Find the directions from people who are not in the audit data.

        Parameters
        ----------
        X
            A data frame or a file of people.
        y
            Not used; there for scikit-learn's sake.

        Returns
        -------
        SensitiveSubspace
            The similarity itself.

        Raises
        ------
        InputError
            If a sensitive feature has one value alone, or a column is not there.

        Examples
        --------
        >>> again = ft.similarity.SensitiveSubspace(["group"], penalty=10).fit(people)
        >>> again.is_fitted
        True
        """
        frame = read_table(X, "X")
        sensitive = column_names("sensitive_features", self.sensitive_features)
        if not sensitive:
            msg = "`sensitive_features` must name at least one column, got none"
            raise InputError(msg)
        others = [name for name in frame.columns if name not in sensitive]
        names = columns_to_fit(self.features, others)
        columns = coded_columns(frame, names, "X")
        # people of an audit come as that allows: it was asked whether values may be missing
        encoding = fit_encoding(columns, may_miss=self.fit_share is not None)
        points = encoding.coordinates(columns)
        targets = coded_columns(frame, sensitive, "X")
        found = {
            name: _directions(points, name, column, self.penalty)
            for name, column in targets.items()
        }
        self.encoding_, self.coefficients_ = encoding, found
        self.directions_, self.matrix_ = complement(np.vstack([*found.values()]), points.shape[1])
        self._remember(columns)
        return self

    def fit_file(self, path: Path, **words: object) -> Self:
        """Fit on a file of people.

        Parameters
        ----------
        path
            CSV, Parquet or JSON lines.
        **words
            None are known here.

        Returns
        -------
        SensitiveSubspace
            The similarity itself.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "others.csv")
        ...     people.to_csv(file, index=False)
        ...     read = ft.similarity.SensitiveSubspace(["group"]).fit_file(file)
        >>> bool(abs(read.matrix_ - similarity.matrix_).max() < 1e-9)
        True
        """
        return self.fit(path, **words)

    def free_columns(self, space: SampleSpace) -> tuple[str, ...]:
        """Return the sensitive features, which must be those of `fit`.

        Parameters
        ----------
        space
            The points of an audit.

        Returns
        -------
        tuple[str, ...]
            Their names.

        Raises
        ------
        InputError
            If the audit has other sensitive features.

        Examples
        --------
        >>> similarity.free_columns(result.space)
        ('group',)
        """
        fitted = column_names("sensitive_features", self.sensitive_features)
        for name in space.sensitive:
            if name not in fitted:
                msg = (
                    f"`similarity` was fitted with the sensitive features {', '.join(fitted)}, "
                    f"but the audit has {name!r} too"
                )
                raise InputError(msg)
        return fitted

    def describe(self) -> str:
        """Return a plain sentence for the report.

        Returns
        -------
        str

        Examples
        --------
        >>> similarity.describe()
        'People are as far apart as their features (height, grade; numbers in standard deviations, a
        different level counts 1) after the 1 of 2 directions that best tell group were taken out;
        group may change for free.'
        """
        names = ", ".join(column_names("sensitive_features", self.sensitive_features))
        if not self.is_fitted:
            return f"The part of the features that does not tell {names} counts (not yet fitted)."
        taken, left = self.directions_.shape[1], self.matrix_.shape[1]
        return (
            f"People are as far apart as their features "
            f"({', '.join(self.encoding_.columns)}; numbers in standard deviations, a different "
            f"level counts 1) after the {taken} of {taken + left} directions that best tell "
            f"{names} were taken out; {names} may change for free."
        )

    def fitted(self) -> dict[str, object] | None:
        """Return encoding, matrix and the directions that were taken out.

        Returns
        -------
        dict[str, object] | None

        Examples
        --------
        >>> sorted(similarity.fitted())
        ['data_sha256', 'directions', 'encoding', 'matrix']
        """
        document = super().fitted()
        return None if document is None else {**document, "directions": self.directions_}


def _directions(points: FloatArray, name: str, column: CodedColumn, penalty: float) -> FloatArray:
    """Return the coefficients that predict a sensitive feature, one row a direction.

    Parameters
    ----------
    points
        (n, coordinates) encoded people.
    name, column
        The sensitive feature. With more than two numbers it is predicted by ridge regression, else
        by logistic regression, one row a level where there are several.
    penalty
        The weight of the squared coefficients.

    Raises
    ------
    InputError
        If it does not vary.
    """
    used = np.unique(column.codes)
    if len(used) < 2:  # noqa: PLR2004
        msg = f"`sensitive_features` must vary in the data of `fit`, but {name!r} does not"
        raise InputError(msg)
    if is_numeric(column.levels) and not column.has_missing and len(used) > 2:  # noqa: PLR2004
        values = column.levels.astype(float)[column.codes]
        return ridge_direction(points, values, penalty)
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1 / penalty, max_iter=10_000, tol=1e-8)
    return np.asarray(model.fit(points, column.codes).coef_, dtype=np.float64)


def ridge_direction(points: FloatArray, values: FloatArray, penalty: float) -> FloatArray:
    """Return the ridge regression's coefficients as one row.

    Values are standardised, so that the penalty means the same for every scale.

    Parameters
    ----------
    points
        (n, coordinates).
    values
        (n,) what is predicted.
    penalty
        The weight of the squared coefficients, positive: the system has a solution in any case.

    Examples
    --------
    The values follow the first coordinate: the direction does too.

    >>> points = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> ridge_direction(points, np.array([10.0, 20.0, 30.0]), 1.0).round(3).tolist()
    [[0.816, 0.0]]
    """
    # the intercept is not penalised: centring takes it out
    centred = points - points.mean(axis=0)
    centre, scale = centre_and_scale(values)
    wanted = (values - centre) / scale
    gram = centred.T @ centred + penalty * np.eye(points.shape[1])
    return np.linalg.solve(gram, centred.T @ wanted)[None, :]
