"""Learned: what the similarities that are fitted to data have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fairtransport.errors import InputError
from fairtransport.similarity.base import (
    Parameters,
    column_names,
    distances_between,
    label_columns,
    parameter_names,
)
from fairtransport.similarity.twins.support import Making, Support, fit_support
from fairtransport.space.file_source import FileSource
from fairtransport.space.reader import coded_columns, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fairtransport.checks import FloatArray
    from fairtransport.geometry import Geometry
    from fairtransport.similarity.encoding import Encoding
    from fairtransport.space import SampleSpace
    from fairtransport.space.columns import CodedColumn

DECIMALS = 10
"""Embeddings are rounded, so that people who differ in nothing that counts are at distance 0."""

FIT_ON_OTHERS = (
    "Who is comparable then depends on the sample, which the bounds do not allow for: fit the "
    "similarity on other data."
)


@dataclass(eq=False)
class Learned(Parameters):
    """A squared distance |A'z(x) − A'z(x')|² with encoding z and matrix A from data.

    Attributes
    ----------
    encoding_
        How columns become coordinates.
    matrix_
        (coordinates, dimensions) A.
    support_
        What the people of `fit` look like: ranges, kinds, levels, and the distinct ones encoded.
    fingerprint_
        A digest of the data of `fit`; None where it is not a sample of people.
    set_aside_
        How many people of an audit were set aside for `fit`; None where it had data of its own.
    """

    takes_new_levels: ClassVar[bool] = True
    """Whether a level that nobody of `fit` has differs from all others in full. Where distances
    are learned level by level, that of such a level is not known."""

    encoding_: Encoding = field(init=False, repr=False)
    matrix_: FloatArray = field(init=False, repr=False)
    support_: Support = field(init=False, repr=False)
    fingerprint_: str | None = field(init=False, repr=False, default=None)
    set_aside_: int | None = field(init=False, repr=False, default=None)

    @property
    def moves_only_to_twins(self) -> bool:
        """A learned distance may connect anyone.

        Returns
        -------
        bool

        Examples
        --------
        >>> similarity.moves_only_to_twins
        False
        """
        return False

    @property
    def is_fitted(self) -> bool:
        """Whether `fit` was called.

        Returns
        -------
        bool

        Examples
        --------
        >>> import fairtransport as ft
        >>> ft.similarity.ComparablePairs().is_fitted
        False
        """
        return "matrix_" in self.__dict__

    def check_fitted(self) -> None:
        """Refuse to go on without a fit.

        Raises
        ------
        InputError
            If `fit` was not called.

        Examples
        --------
        >>> import fairtransport as ft
        >>> ft.similarity.ComparablePairs().check_fitted()
        Traceback (most recent call last):
        fairtransport.errors.InputError: `similarity` 'comparable-pairs' must be fitted first: call
        its fit(…)
        """
        if not self.is_fitted:
            share = ", as only `audit` fits on a share" if getattr(self, "fit_share", None) else ""
            msg = f"`similarity` {self.name!r} must be fitted first: call its fit(…){share}"
            raise InputError(msg)

    def free_columns(self, space: SampleSpace) -> tuple[str, ...]:
        """Return the columns that may change for free without having been fitted on.

        Parameters
        ----------
        space
            The points of an audit.

        Returns
        -------
        tuple[str, ...]
            Sensitive columns that the distance is not about.

        Examples
        --------
        >>> import pandas as pd
        >>> import fairtransport as ft
        >>> people = pd.DataFrame({"height": [1.0, 3.0, 2.0, 4.0], "grade": [1.0, 1.0, 2.0, 2.0]})
        >>> similarity = ft.similarity.ComparableGroups().fit(people, [0, 0, 1, 1])
        >>> audited = people.assign(sex=["f", "m", "f", "m"], good=1, said=[0, 1, 0, 1])
        >>> space = ft.audit(audited, "good", y_pred="said", sensitive_features="sex", rng=0).space
        >>> similarity.free_columns(space)
        ('sex',)
        """
        return space.sensitive

    def making(self, space: SampleSpace) -> Making | None:  # noqa: ARG002
        """Return how twins are made up: under A, as people of `fit` look.

        Parameters
        ----------
        space
            The points of an audit.

        Returns
        -------
        Making or None
            None where the fit tells of pairs rather than of people.

        Examples
        --------
        >>> similarity.making(result.space) is None
        False
        """
        return Making(self.support_, self.matrix_) if self.is_fitted else None

    def _remember(self, columns: Mapping[str, CodedColumn], *, are_a_sample: bool = True) -> None:
        """Keep whom the similarity was fitted on, to find them in audit data.

        Parameters
        ----------
        columns
            The people of `fit`.
        are_a_sample
            Whether rows are people one by one; of pairs, which repeat them, no digest is kept.
        """
        self.support_ = fit_support(self.encoding_, columns)
        self.fingerprint_ = self.support_.fingerprint if are_a_sample else None

    def embed(self, space: SampleSpace) -> FloatArray:
        """Return the points' coordinates, between which squared distances are the costs.

        Parameters
        ----------
        space
            The points of an audit.

        Returns
        -------
        ndarray of float
            (K, dimensions).

        Examples
        --------
        >>> import pandas as pd
        >>> import fairtransport as ft
        >>> people = pd.DataFrame({"height": [1.0, 3.0, 2.0, 4.0], "grade": [1.0, 1.0, 2.0, 2.0]})
        >>> similarity = ft.similarity.ComparableGroups().fit(people, [0, 0, 1, 1])
        >>> audited = people.assign(sex=["f", "m", "f", "m"], good=1, said=[0, 1, 0, 1])
        >>> space = ft.audit(audited, "good", y_pred="said", sensitive_features="sex", rng=0).space
        >>> similarity.embed(space).shape
        (4, 1)
        """
        self.check_fitted()
        self.check_columns(space)
        return self._placed(space.columns, among_own=space.made_up is not None)

    def check_columns(self, space: SampleSpace) -> None:
        """Refuse points with other columns than the people of `fit` have.

        Parameters
        ----------
        space
            The points of an audit.

        Raises
        ------
        InputError
            Naming a column that is missing on either side.

        Examples
        --------
        >>> similarity.check_columns(result.space)  # the same columns
        """
        for name in self.encoding_.columns:
            if name not in space.profile:
                msg = (
                    f"`similarity` was fitted on the column {name!r}, which the audit's profile "
                    f"({', '.join(space.profile)}) has not"
                )
                raise InputError(msg)
        known = (*self.encoding_.columns, *self.free_columns(space))
        for name in space.profile:
            if name not in known:
                msg = (
                    f"`similarity` must be fitted on every column of the profile that is not "
                    f"sensitive, but {name!r} was not in the data of `fit`"
                )
                raise InputError(msg)

    def transform(self, X: object) -> FloatArray:  # noqa: N803
        """Return the coordinates of a frame's rows, between which squared distances are taken.

        A model that is trained on these treats people alike who are at distance 0.

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
        Heights differ inside groups, so that height counts no longer, and grade does.

        >>> import pandas as pd
        >>> import fairtransport as ft
        >>> people = pd.DataFrame({"height": [1.0, 3.0, 2.0, 4.0], "grade": [1.0, 1.0, 2.0, 2.0]})
        >>> similarity = ft.similarity.ComparableGroups().fit(people, [0, 0, 1, 1])
        >>> first, second, third, _ = similarity.transform(people)
        >>> abs(first - second).round(6).tolist(), abs(first - third).round(6).tolist()
        ([0.0], [2.0])
        """
        self.check_fitted()
        columns = coded_columns(read_table(X, "X"), self.encoding_.columns, "X")
        self.encoding_.refuse_unknown(columns)
        return self._placed(columns)

    def _placed(
        self, columns: Mapping[str, CodedColumn], *, among_own: bool = False
    ) -> FloatArray:  # fmt: skip
        """Return A'z of encoded columns, rounded to ``DECIMALS``, and new levels beside it.

        Parameters
        ----------
        columns
            The points' columns.
        among_own
            Whether people are compared with their own twins alone, who have a new level of the
            person's or none: one coordinate a column tells that.
        """
        if not self.takes_new_levels:
            self.encoding_.refuse_unknown(columns)
        learned = np.round(self.encoding_.coordinates(columns) @ self.matrix_, DECIMALS)
        new = self.encoding_.new_levels(columns, told_apart=not among_own)
        placed = np.hstack([learned, new])
        # with nothing left of the space everybody is in one place
        return placed if placed.shape[1] else np.zeros((len(placed), 1))

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return squared distances between points of equal label.

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
            If `fit` was not called, or the audit lacks a column of the fit.

        Examples
        --------
        >>> similarity.geometry(result.space).size == result.points
        True
        """
        return distances_between(space, self.embed(space), label_columns(space))

    def kept_variance(self, space: SampleSpace) -> float:
        """Return the share of the features' variance that the distance still counts.

        The metric is scaled so that it counts no direction more than once.

        Parameters
        ----------
        space
            The points of an audit.

        Returns
        -------
        float
            Between 0 and 1.

        Examples
        --------
        >>> round(similarity.kept_variance(result.space), 2)
        0.63
        """
        counts = space.counts.astype(np.float64)
        full = self.encoding_.coordinates(space.columns)
        # a distance may be scaled by any factor: what counts most counts 1
        largest = np.linalg.norm(self.matrix_, 2) if self.matrix_.size else 0.0
        new = _spread(self.encoding_.new_levels(space.columns, told_apart=False), counts)
        all_of_it, left = _spread(full, counts) + new, _spread(full @ self.matrix_, counts)
        kept = left / largest**2 + new if largest else new
        return float(kept / all_of_it) if all_of_it else 0.0

    def describe_budget(self, budget: float) -> str:
        """Say what a budget means in standard deviations.

        Parameters
        ----------
        budget
            ε.

        Returns
        -------
        str

        Examples
        --------
        >>> similarity.describe_budget(0.1)
        'On average, people may be moved by the equivalent of 0.316 standard deviations of a
        feature, in the directions that count.'
        """
        return (
            f"On average, people may be moved by the equivalent of {budget**0.5:.3g} standard "
            "deviations of a feature, in the directions that count."
        )

    def warnings(self, space: SampleSpace) -> tuple[str, ...]:
        """Say how many people of the audit data the similarity could have been fitted on.

        Parameters
        ----------
        space
            The points of an audit.

        Returns
        -------
        tuple[str, ...]

        Examples
        --------
        This one was fitted on the very people who are audited.

        >>> similarity.warnings(result.space)
        ('The similarity was fitted on the audit data, all 20 people of them. Who is comparable then
        depends on the sample, which the bounds do not allow for: fit the similarity on other
        data.',)
        """
        new = self._notes_on_new_levels(space)
        if self.set_aside_ is not None:
            aside = (
                f"{self.set_aside_} people, drawn at random, were set aside to fit the similarity"
            )
            return (f"{aside} and are not audited; the audit is of {space.n} others.", *new)
        if self.fingerprint_ is not None and self.support_.is_of(space):
            who = f"The similarity was fitted on the audit data, all {space.n} people of them."
            return (f"{who} {FIT_ON_OTHERS}", *new)
        shared = self.support_.count_alike(space)
        same = f"have the same {', '.join(self.encoding_.columns)} as someone in the data"
        note = (
            f"{shared} of {space.n} people {same} that the similarity was fitted on. The bounds "
            "hold only if they are other people."
        )
        return (note, *new) if shared else new

    def _notes_on_new_levels(self, space: SampleSpace) -> tuple[str, ...]:
        """Say where people have levels that nobody of `fit` has, a sentence a column.

        Parameters
        ----------
        space
            The points of an audit.
        """
        notes = []
        for name, new in zip(
            self.encoding_.columns, self.encoding_.unknown(space.columns).T, strict=True
        ):
            people = int(space.counts[new].sum())
            if people:
                # which value that is, a document for sharing must not tell
                notes.append(
                    f"{people} of {space.n} people have a value of {name!r} that nobody has on "
                    "whom the similarity was fitted: it counts as different from every other."
                )
        return tuple(notes)

    def fitted(self) -> dict[str, object] | None:
        """Return encoding and matrix, once there are any.

        Returns
        -------
        dict[str, object] | None

        Examples
        --------
        >>> import fairtransport as ft
        >>> print(ft.similarity.ComparablePairs().fitted())
        None
        """
        if not self.is_fitted:
            return None
        return {
            "encoding": self.encoding_.record(),
            "matrix": self.matrix_,
            "data_sha256": self.fingerprint_,
        }

    @classmethod
    def from_settings(cls, settings: Mapping[str, object], folder: Path) -> Self:
        """Make and fit the similarity; the setting ``fit`` is the file to fit on.

        Parameters
        ----------
        settings
            The table, without its name.
        folder
            Where the settings file lies; ``fit`` is relative to it.

        Returns
        -------
        Learned
            The similarity, fitted.

        Raises
        ------
        InputError
            If a setting has no such name, or no file to fit on is named.

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
        if isinstance(file, float) and "fit_share" in parameter_names(cls):
            rest = {name: value for name, value in settings.items() if name != "fit"}
            return super().from_settings({**rest, "fit_share": file}, folder)
        if not isinstance(file, str):
            msg = f"`fit` must be the file that the similarity {cls.name!r} is fitted on"
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
        """Split settings into the parameters and those that tell how to read the file.

        Parameters
        ----------
        settings
            A table of settings.

        Returns
        -------
        tuple of dict
            Parameters, and words for `fit_file`.

        Examples
        --------
        >>> import fairtransport as ft
        >>> ft.similarity.SensitiveSubspace.split_settings({"penalty": 2})
        ({'penalty': 2}, {})
        """
        return settings, {}

    def fit_file(self, path: Path, **words: object) -> Self:
        """Fit on a file.

        Parameters
        ----------
        path
            CSV, Parquet or JSON lines.
        **words
            How to read it.

        Returns
        -------
        Learned
            The similarity itself.
        """
        raise NotImplementedError


def columns_to_fit(features: Sequence[str] | None, others: Sequence[str]) -> list[str]:
    """Return the columns that a distance is about: those named, or else all others.

    Parameters
    ----------
    features
        What the user named, None: nothing.
    others
        The columns of the data that have no other part.

    Raises
    ------
    InputError
        If there are none.

    Examples
    --------
    >>> columns_to_fit(None, ["age", "sex"]), columns_to_fit(["age"], ["age", "sex"])
    (['age', 'sex'], ['age'])
    """
    names = [*(others if features is None else column_names("features", features))]
    if not names:
        msg = "`features` must name at least one column, got none"
        raise InputError(msg)
    return names


def _spread(points: FloatArray, counts: FloatArray) -> float:
    """Return the variance of all coordinates together, each person counted.

    Parameters
    ----------
    points
        (K, coordinates).
    counts
        (K,) people.

    Examples
    --------
    >>> _spread(np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([1.0, 1.0]))
    1.0
    """
    if not points.shape[1]:
        return 0.0
    mean = np.average(points, axis=0, weights=counts)
    return float(np.average(((points - mean) ** 2).sum(axis=1), weights=counts))


def complement(directions: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Return orthonormal bases of the span of some rows, and of what is left of the space.

    Parameters
    ----------
    directions
        (any, size) rows; those of almost no length, and those that others span, add nothing.
    size
        The dimension of the space.

    Examples
    --------
    >>> taken, left = complement(np.array([[0.0, 2.0], [0.0, 1.0]]), 2)
    >>> np.abs(taken).round(6).tolist(), np.abs(left).round(6).tolist()
    ([[0.0], [1.0]], [[1.0], [0.0]])
    """
    length = np.linalg.norm(directions, axis=1, keepdims=True)
    # a direction of length 0 tells nothing, and scaled up it would be noise
    usable = length[:, 0] > np.finfo(float).eps * max(1.0, float(length.max(initial=0)))
    unit = directions[usable] / length[usable]
    # a row of zeros, so that there is something to decompose without any direction
    full = np.linalg.svd(np.r_[unit, np.zeros((1, size))], full_matrices=True)
    rank = int((full.S > 1e-8).sum())  # noqa: PLR2004
    return full.Vh[:rank].T, full.Vh[rank:].T
