"""Base class of the similarities that are fitted to data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fairtransport._core.notes import Count, Note
from fairtransport.data.files import FileSource
from fairtransport.data.sources import encode_columns, read_table
from fairtransport.errors import InputError, param
from fairtransport.similarity.base import (
    BaseSimilarity,
    build_euclidean,
    check_column_names,
    label_columns,
    parameter_names,
)
from fairtransport.similarity.encoding import fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fairtransport._core.validation import FloatArray
    from fairtransport.data import SampleSpace
    from fairtransport.data.columns import CodedColumn
    from fairtransport.geometry import Geometry
    from fairtransport.similarity.encoding import Encoding

DECIMALS = 10
"""Decimals of embeddings, so that rounding errors do not separate equal people."""

FIT_ON_OTHERS = (
    "Who is similar then depends on the sample, and the bounds do not allow for that: fit the "
    "similarity on other data."
)


@dataclass(eq=False)
class LearnedSimilarity(BaseSimilarity):
    """A squared distance |A'z(x) − A'z(x')|² with encoding z and matrix A from data.

    Attributes
    ----------
    encoding_
        The encoding of the columns.
    matrix_
        (coordinates, dimensions) A.
    fit_rows_
        The distinct people of `fit`, to find them in audit data.
    fingerprint_
        A digest of the data of `fit`; None if these are not a sample of people.
    held_out_
        Number of people that an audit held out for `fit`; None if it had other data.
    """

    accepts_new_levels: ClassVar[bool] = True
    """Whether levels that `fit` did not see are allowed, at full distance from all others."""

    encoding_: Encoding = field(init=False, repr=False)
    matrix_: FloatArray = field(init=False, repr=False)
    fit_rows_: FloatArray = field(init=False, repr=False)
    fingerprint_: str | None = field(init=False, repr=False, default=None)
    held_out_: int | None = field(init=False, repr=False, default=None)

    @property
    def moves_only_to_twins(self) -> bool:
        """False: a learned distance may connect anyone."""
        return False

    @property
    def is_fitted(self) -> bool:
        """Whether `fit` was called."""
        return "matrix_" in self.__dict__

    def check_fitted(self) -> None:
        """Raise InputError if `fit` was not called."""
        if not self.is_fitted:
            share = ", as only `audit` fits on a share" if getattr(self, "hold_out", None) else ""
            msg = (
                f"{param('similarity')} {self.name!r} must be fitted first: call its fit(…){share}"
            )
            raise InputError(msg)

    def free_columns(self, space: SampleSpace) -> tuple[str, ...]:
        """Return the columns that may change for free without being in the data of `fit`."""
        return space.sensitive

    def _store_fit_data(
        self, columns: Mapping[str, CodedColumn], *, is_sample: bool = True
    ) -> None:
        """Store the people of `fit`, to find them in audit data."""
        coordinates = self.encoding_.coordinates(columns)
        self.fit_rows_ = np.unique(coordinates, axis=0)
        people = np.ones(len(coordinates), np.int64)
        self.fingerprint_ = fingerprint(coordinates, people) if is_sample else None

    def embed(self, space: SampleSpace) -> FloatArray:
        """Return the coordinates of the points, shape (K, dimensions)."""
        self.check_fitted()
        self.check_columns(space)
        return self._project(space.encoded.columns)

    def check_columns(self, space: SampleSpace) -> None:
        """Check that the profile has the columns of `fit` and no others."""
        space = space.encoded
        for name in self.encoding_.columns:
            if name not in space.profile:
                msg = (
                    f"{param('similarity')} was fitted on the column {name!r}, which is not among "
                    f"the audited columns ({', '.join(space.profile)})"
                )
                raise InputError(msg)
        names = (*self.encoding_.columns, *self.free_columns(space))
        for name in space.profile:
            if name not in names:
                msg = (
                    f"{param('similarity')} must be fitted on every audited column that is not "
                    f"sensitive, but {name!r} was not in the data of {param('fit')}"
                )
                raise InputError(msg)

    def transform(self, X: object) -> FloatArray:  # noqa: N803
        """Return the coordinates of the rows of a frame; distances are between these.

        A model trained on them treats people alike who are at distance 0.

        Parameters
        ----------
        X
            A frame with the columns of `fit`.

        Returns
        -------
        ndarray of float
            (rows, dimensions).

        Raises
        ------
        InputError
            If `fit` was not called, or a column is missing.

        Examples
        --------
        Heights differ inside groups, so height does not count and grade does.

        >>> import pandas as pd
        >>> import fairtransport as ft
        >>> people = pd.DataFrame({"height": [1.0, 3.0, 2.0, 4.0], "grade": [1.0, 1.0, 2.0, 2.0]})
        >>> similarity = ft.similarity.ComparableGroups().fit(people, [0, 0, 1, 1])
        >>> first, second, third, _ = similarity.transform(people)
        >>> abs(first - second).round(6).tolist(), abs(first - third).round(6).tolist()
        ([0.0], [2.0])
        """
        self.check_fitted()
        columns = encode_columns(read_table(X, "X"), self.encoding_.columns, "X")
        self.encoding_.check_known_levels(columns)
        return self._project(columns)

    def _project(self, columns: Mapping[str, CodedColumn]) -> FloatArray:
        """Return A'z of columns, rounded to ``DECIMALS``, and coordinates of new levels."""
        if not self.accepts_new_levels:
            self.encoding_.check_known_levels(columns)
        learned = np.round(self.encoding_.coordinates(columns) @ self.matrix_, DECIMALS)
        coordinates = np.hstack([learned, self.encoding_.new_levels(columns)])
        # if no direction remains, all points coincide
        return coordinates if coordinates.shape[1] else np.zeros((len(coordinates), 1))

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return squared distances between points of equal label."""
        return build_euclidean(space, self.embed(space), label_columns(space))

    def kept_variance(self, space: SampleSpace) -> float:
        """Return the share of the features' variance that the distance counts, from 0 to 1.

        The metric is scaled so that its largest singular value is 1.
        """
        space = space.encoded
        counts = space.counts.astype(np.float64)
        full = self.encoding_.coordinates(space.columns)
        # the scale of a distance is arbitrary: the largest weight is set to 1
        largest = np.linalg.norm(self.matrix_, 2) if self.matrix_.size else 0.0
        new = _spread(self.encoding_.new_levels(space.columns, distinct=False), counts)
        total, projected = _spread(full, counts) + new, _spread(full @ self.matrix_, counts)
        variance = projected / largest**2 + new if largest else new
        return float(variance / total) if total else 0.0

    def describe_budget(self, budget: float) -> str:
        """Return the meaning of a budget in standard deviations."""
        return (
            f"On average, people may differ from those they are compared with by the equivalent of "
            f"{budget**0.5:.3g} standard deviations of a feature, in the directions that count."
        )

    def warnings(self, space: SampleSpace) -> tuple[str, ...]:
        """Return notes on overlap with the data of `fit`, and on new levels."""
        space = space.encoded
        new = self._notes_on_new_levels(space)
        if self.held_out_ is not None:
            held_out = Note(
                "{people} people, drawn at random, were held out to fit the similarity. The audit "
                "is of the other {n} people.",
                people=Count(self.held_out_), n=space.n,
            )  # fmt: skip
            return (held_out, *new)
        if self._is_fitted_on(space):
            who = "The similarity was fitted on all {n} people of the audit data."
            return (Note(f"{who} {FIT_ON_OTHERS}", n=space.n), *new)
        shared = self._count_alike(space)
        note = Note(
            "{shared} of {n} people have the same {names} as a person in the data that the "
            "similarity was fitted on. The bounds are valid only if they are different people.",
            shared=Count(shared), n=space.n, names=", ".join(self.encoding_.columns),
        )  # fmt: skip
        return (note, *new) if shared else new

    def _is_fitted_on(self, space: SampleSpace) -> bool:
        """Return whether the people of `fit` are exactly those of a space."""
        people = space.observed
        if self.fingerprint_ is None or self.encoding_.unknown(space.columns)[people].any():
            return False
        coordinates = self.encoding_.coordinates(space.columns)[people]
        return fingerprint(coordinates, space.counts[people]) == self.fingerprint_

    def _count_alike(self, space: SampleSpace) -> int:
        """Count the people of a space whose columns occur in the data of `fit`."""
        people = self.encoding_.identities(space.columns)[space.observed]
        size = len(self.fit_rows_)
        fit_people = np.zeros((size, people.shape[1]))
        fit_people[:, : self.fit_rows_.shape[1]] = self.fit_rows_
        number = np.unique(np.r_[fit_people, people], axis=0, return_inverse=True)[1].reshape(-1)
        alike = np.isin(number[size:], number[:size])
        return int(space.counts[space.observed][alike].sum())

    def _notes_on_new_levels(self, space: SampleSpace) -> tuple[str, ...]:
        """Return one sentence for each column with new levels."""
        notes = []
        for name, new in zip(
            self.encoding_.columns, self.encoding_.unknown(space.columns).T, strict=True
        ):
            people = int(space.counts[new].sum())
            if people:
                # the value is left out: it would identify people in shared documents
                notes.append(
                    Note(
                        "{people} of {n} people have a value of {name} that does not occur in the "
                        "data that the similarity was fitted on. It counts as different from every "
                        "other value.",
                        people=Count(people),
                        n=space.n,
                        name=name,
                    )
                )
        return tuple(notes)

    def fitted(self) -> dict[str, object] | None:
        """Return encoding, matrix and fingerprint; None before `fit`."""
        if not self.is_fitted:
            return None
        return {
            "encoding": self.encoding_.record(),
            "matrix": self.matrix_,
            "data_sha256": self.fingerprint_,
        }

    @classmethod
    def from_settings(cls, settings: Mapping[str, object], folder: Path) -> Self:
        """Build the similarity and fit it on the file ``fit``; with ``hold_out`` an audit fits it.

        Parameters
        ----------
        settings
            The table, without its name.
        folder
            Folder that ``fit`` is relative to.

        Returns
        -------
        LearnedSimilarity
            The fitted similarity.

        Raises
        ------
        InputError
            If a setting is unknown, or ``fit`` is missing.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import pandas as pd
        >>> import fairtransport as ft
        >>> people = pd.DataFrame({"height": [1.0, 3.0, 2.0, 4.0], "grade": [1.0, 1.0, 2.0, 2.0]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     people.assign(team=[0, 0, 1, 1]).to_csv(Path(folder, "teams.csv"), index=False)
        ...     similarity = ft.similarity.ComparableGroups.from_settings(
        ...         {"fit": "teams.csv", "group": "team"}, Path(folder))
        >>> similarity.is_fitted
        True
        """
        file = settings.get("fit")
        if "hold_out" in settings and "hold_out" in parameter_names(cls):
            if file is not None:
                msg = (
                    f"{param('fit')} and {param('hold_out')} must not be given together, got "
                    f"{file!r} and "
                )
                msg += f"{settings['hold_out']!r}"
                raise InputError(msg)
            return super().from_settings(settings, folder)
        if not isinstance(file, str):
            msg = f"{param('fit')} must be the file that the similarity {cls.name!r} is fitted on"
            raise InputError(msg)
        path = folder / file
        FileSource(path, "fit")  # checks ending and existence
        rest = {name: value for name, value in settings.items() if name != "fit"}
        own, words = cls.split_settings(rest)
        return super().from_settings(own, folder).fit_file(path, **words)

    @classmethod
    def split_settings(
        cls, settings: dict[str, object]
    ) -> tuple[dict[str, object], dict[str, object]]:
        """Split settings into parameters and arguments of `fit_file`."""
        return settings, {}

    def fit_file(self, path: Path, **words: object) -> Self:
        """Fit on a CSV, Parquet or JSON lines file."""
        raise NotImplementedError


def select_columns(features: Sequence[str] | None, others: Sequence[str]) -> list[str]:
    """Return the columns of a distance: ``features``, or else all others."""
    names = [*(others if features is None else check_column_names("features", features))]
    if not names:
        msg = f"{param('features')} must name at least one column, got none"
        raise InputError(msg)
    return names


def _spread(points: FloatArray, counts: FloatArray) -> float:
    """Return the variance of all coordinates together, each person counted."""
    if not points.shape[1]:
        return 0.0
    mean = np.average(points, axis=0, weights=counts)
    return float(np.average(((points - mean) ** 2).sum(axis=1), weights=counts))


def orthogonal_bases(directions: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Return orthonormal bases of the span of some rows and of its complement."""
    length = np.linalg.norm(directions, axis=1, keepdims=True)
    # directions of length 0 would be scaled up to noise
    usable = length[:, 0] > np.finfo(float).eps * max(1.0, float(length.max(initial=0)))
    unit = directions[usable] / length[usable]
    # a row of zeros, so that the matrix is never empty
    full = np.linalg.svd(np.r_[unit, np.zeros((1, size))], full_matrices=True)
    rank = int((full.S > 1e-8).sum())  # noqa: PLR2004
    return full.Vh[:rank].T, full.Vh[rank:].T
