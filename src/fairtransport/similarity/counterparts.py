"""Counterparts: the same person as typically recorded in another group, to audit proxies.

On a hold-out, the dependence of each column on each sensitive feature is tested, given the
legitimate columns (`gate`). Columns that do not pass never move. Those that pass move from the law
of the person's group to that of the other by the minimal coupling (`counterpart_maps`), by the
James–Stein share of the way. Each person has one counterpart per other group, made with uniform
numbers of their own: given the hold-out, people with their counterparts are independent draws, so
that bounds for fixed twins apply. The variation of the maps with the hold-out is measured by
refitting them on resampled hold-outs (`audits.counterparts`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fairtransport._core.notes import Count, Note
from fairtransport._core.validation import check_number, list_values, short_repr
from fairtransport.data.build import SharedRows, build_space
from fairtransport.data.sample_space import plain_frame
from fairtransport.errors import InputError, param
from fairtransport.geometry import Geometry, ZeroCost
from fairtransport.similarity.base import BaseSimilarity, check_column_names, tie_breaking_codes
from fairtransport.similarity.counterpart_model import CounterpartModel, explain_family

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from narwhals.typing import IntoDataFrame

    from fairtransport._core.validation import IntArray
    from fairtransport.data import SampleSpace
    from fairtransport.data.sources import TableLike

DEFAULT_LEVEL = 0.025
"""Family-wise level of the gate, half of an audit's default level."""
FIT_ON_OTHERS = (
    "The counterparts seem to be fitted on people who are also audited. The test of the columns "
    "and the bounds are valid only if they are other people."
)


@dataclass(eq=False)
class Counterparts(BaseSimilarity):
    """People are compared with themselves as typically recorded in another group.

    Parameters
    ----------
    sensitive_features
        The sensitive columns. Default: those of the audit.
    legitimate
        Columns that may rightly count. They never move, and other columns move only as far as they
        depend on the group among people alike in these.
    given
        Columns given which another is tested, as in ``{"height": ["age"]}``, for dependence that
        shows only jointly.
    fit_share
        Share of the audited people, drawn at random, on which the audit fits. These people are
        not audited. Not used after `fit`.
    features
        Columns to test in `fit`. Default: all that are not sensitive.
    level
        Family-wise level of the gate. Default: half of the audit's ``alpha``.

    Attributes
    ----------
    model_
        The fitted gate and maps, and the number of people they were fitted on.

    Raises
    ------
    InputError
        If a parameter is invalid.

    Notes
    -----
    Let the columns K be jointly independent of the sensitive features given the legitimate
    columns, which are levels. A model that uses only K and the legitimate columns is rejected with
    probability at most α/2, for any model, n and δ: no column of K moves unless the gate
    errs. Numbers among the legitimate columns make the gate approximate. Nothing is certified.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], 1000)
    >>> people = pd.DataFrame({"sex": sex, "grade": rng.integers(1, 7, 1000)})
    >>> people["height"] = (167 + 12 * (sex == "m") + rng.normal(0, 6, 1000)).round()
    >>> counterparts = ft.similarity.Counterparts(["sex"]).fit(people)
    >>> counterparts.gate_[["column", "pvalue", "moves"]]
       column  pvalue  moves
    0   grade  0.0280  False
    1  height  0.0005   True
    >>> counterparts.explain({"sex": "f", "grade": 2, "height": 165.0})
    'The same person as typically recorded with sex m: height 165 → 177; all else equal.'
    """

    name: ClassVar[str] = "counterparts"
    choice: ClassVar[str] = (
        "The same person as typically recorded in another group, also in other columns that depend "
        "on it. For models that do not receive the groups."
    )

    sensitive_features: Sequence[str] = ()
    legitimate: Sequence[str] = ()
    given: Mapping[str, Sequence[str]] | None = None
    fit_share: float = 0.4
    features: Sequence[str] | None = None
    level: float | None = None
    model_: CounterpartModel = field(init=False, repr=False)
    fit_people_: SampleSpace | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sensitive = check_column_names("sensitive_features", self.sensitive_features)
        legitimate = check_column_names("legitimate", self.legitimate)
        for name in legitimate:
            if name in sensitive:
                msg = f"{param('legitimate')} must not hold sensitive features, got {name!r}"
                raise InputError(msg)
        for name, columns in _check_given(self.given).items():
            if name in (*legitimate, *sensitive, *columns):
                msg = (
                    f"{param('given')} must map columns that can move to others, got {name!r} of "
                    f"{list_values(columns)}"
                )
                raise InputError(msg)
        check_number("fit_share", self.fit_share, above=0, below=1)
        if self.level is not None:
            check_number("level", self.level, above=0, below=1)

    @property
    def moves_only_to_twins(self) -> bool:
        """False: other columns move, too."""
        return False

    @property
    def is_fitted(self) -> bool:
        """Whether `fit` was called."""
        return "model_" in self.__dict__

    def fit(self, X: TableLike, y: object = None) -> Self:  # noqa: ARG002, N803
        """Fit gate and maps on people who are not in the audit data.

        Parameters
        ----------
        X
            A data frame or a file of people.
        y
            Ignored; for compatibility with scikit-learn.

        Returns
        -------
        Counterparts
            The similarity itself.

        Raises
        ------
        InputError
            If a column is unknown, or a group has too few people.

        Examples
        --------
        >>> ft.similarity.Counterparts(["sex"], legitimate=["grade"]).fit(people).is_fitted
        True
        """
        if not self.sensitive_features:
            msg = f"{param('sensitive_features')} must name at least one column, got none"
            raise InputError(msg)
        sensitive = check_column_names("sensitive_features", self.sensitive_features)
        space = build_space(
            X, None, sensitive_features=list(sensitive), missing="level", twins=False,
            features=self.features, label_matters=False,
        )  # fmt: skip
        self.fit_space(space)
        self.fit_people_ = space
        return self

    def fit_space(self, space: SampleSpace, *, level: float | None = None, seed: int = 0) -> Self:
        """Fit gate and maps on the people of a space."""
        self._check_sensitive(space)
        self._check_legitimate(space)
        self.model_ = CounterpartModel(
            space, check_column_names("legitimate", self.legitimate), _check_given(self.given),
            self.level or level or DEFAULT_LEVEL, seed,
        )  # fmt: skip
        self.fit_people_ = None
        return self

    def _check_sensitive(self, space: SampleSpace) -> None:
        """Check that the sensitive features are those of the space."""
        names = set(check_column_names("sensitive_features", self.sensitive_features))
        if names and names not in ({*space.sensitive}, {*space.encoded.sensitive}):
            msg = (
                f"{param('sensitive_features')} of the similarity must be those of the audit "
                f"({', '.join(space.sensitive)}), got {', '.join(sorted(names))}"
            )
            raise InputError(msg)

    def _check_legitimate(self, space: SampleSpace) -> None:
        """Check that legitimate and given columns are known, and leave something to move."""
        sensitive = {*space.sensitive, *space.encoded.sensitive}
        named = {"legitimate": [*check_column_names("legitimate", self.legitimate)]}
        named["given"] = [
            name for key, names in _check_given(self.given).items() for name in (key, *names)
        ]
        for parameter, names in named.items():
            for name in names:
                if name in sensitive:
                    msg = f"{param(parameter)} must not hold sensitive features, got {name!r}"
                    raise InputError(msg)
                if name not in space.columns:
                    choices = ", ".join(one for one in space.columns if one not in sensitive)
                    msg = f"{param(parameter)} must name columns ({choices}), got {name!r}"
                    raise InputError(msg)
        columns = [name for name in space.features if name not in sensitive]
        if all(name in named["legitimate"] for name in columns):
            what = "all of them" if columns else "none that is not sensitive"
            msg = (
                f"{param('legitimate')} must leave columns that could stand in for "
                f"{' or '.join(space.sensitive)}, got {what}"
            )
            raise InputError(msg)

    @property
    def gate_(self) -> IntoDataFrame:
        """Which columns depend on each sensitive feature, how strongly, and which move."""
        self.check_fitted()
        names = ("feature", "column", "strength", "statistic", "pvalue", "moves", "share")
        columns = {name: [getattr(row, name) for row in self.model_.gate] for name in names}
        return plain_frame(columns, self.model_.library)

    def check_fitted(self) -> None:
        """Raise InputError if `fit` was not called."""
        if not self.is_fitted:
            msg = f"{param('similarity')} 'counterparts' must be fitted first: call its fit(…)"
            raise InputError(msg)

    def add_counterparts(self, space: SampleSpace) -> SampleSpace:
        """Return the people of a space with their counterparts."""
        self.check_fitted()
        self._check_sensitive(space)
        return self.model_.add_counterparts(space)

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return a block for each person with their counterparts, and free moves inside."""
        if space.family is None:
            msg = f"{param('similarity')} 'counterparts' is for `audit` and `audit_many` alone"
            raise InputError(msg)
        return Geometry(blocks=space.families, cost=ZeroCost(), profiles=tie_breaking_codes(space))

    def explain(self, person: Mapping[str, object] | TableLike) -> str:
        """Describe what changes in a person's counterparts.

        Parameters
        ----------
        person
            The person's columns: a mapping, or a data frame of one row.

        Returns
        -------
        str
            A sentence for each other group.

        Raises
        ------
        InputError
            If `fit` was not called, or a column is missing.

        Examples
        --------
        >>> counterparts.explain(people.head(1))
        'The same person as typically recorded with sex f: height 180 → 169; all else equal.'
        """
        self.check_fitted()
        if isinstance(person, Mapping):
            columns = {name: [value] for name, value in person.items()}
            frame: TableLike = plain_frame(columns, self.model_.library)
        else:
            frame = person
        space = build_space(
            frame, None, sensitive_features=list(self.model_.groups),
            features=list(self.model_.columns), missing="level", twins=False, label_matters=False,
        )  # fmt: skip
        if space.n != 1:
            msg = f"{param('person')} must be one person, got {space.n}"
            raise InputError(msg)
        return " ".join(explain_family(self.add_counterparts(space), 0))

    def describe(self) -> str:
        """Return one sentence for the report."""
        names = " or ".join(self.sensitive_features) or "sensitive group"
        if not self.is_fitted:
            return f"Each person is compared with the same person as recorded with another {names}."
        names = " or ".join(self.model_.groups)
        moving = list(dict.fromkeys(row.column for row in self.model_.gate if row.moves))
        counts = ", ".join(kind.name for kind in self.model_.legitimate)
        among = f" among people with equal {counts}" if counts else ""
        if not moving:
            return f"No column was shown to depend on {names}{among}: nobody has a counterpart."
        return (
            f"Each person is compared with the same person as typically recorded with another "
            f"{names}: {', '.join(moving)} {'changes' if len(moving) == 1 else 'change'} as far "
            f"as {'it depends' if len(moving) == 1 else 'they depend'} on {names}{among}; all else "
            "stays equal."
        )

    def describe_budget(self, budget: float) -> str:  # noqa: ARG002
        """Return that a budget does not matter: counterparts are free."""
        return "The budget has no effect: a person and their counterparts have distance 0."

    def fitted(self) -> dict[str, object] | None:
        """Return the fitted values; None before `fit`."""
        if not self.is_fitted:
            return None
        return {
            "people": self.model_.size,
            "level": self.model_.level,
            "gate": [vars(row) for row in self.model_.gate],
        }

    def warnings(self, space: SampleSpace) -> tuple[str, ...]:
        """Return who was held out, columns of one value, and whether the gate is approximate."""
        held_out = self.fit_people_ is None
        notes = [
            Note(
                "{people} people were {held_out} to find which columns depend on {names}, and how. "
                "The audit is of {other}{n} people.",
                people=Count(self.model_.size), held_out="held out" if held_out else "given",
                names=" or ".join(space.sensitive), other="the other " if held_out else "",
                n=space.n,
            )
        ]  # fmt: skip
        if self.fit_people_ is not None and _are_shared(self.fit_people_, space):
            notes.append(Note(FIT_ON_OTHERS))
        if self.model_.constant:
            notes.append(
                Note(
                    "The held-out people all have the same {names}, so it stays equal in copies.",
                    names=" and ".join(self.model_.constant),
                )
            )
        if not all(row.is_exact for row in self.model_.gate):
            notes.append(
                Note(
                    "The test of which columns depend on the groups is an approximation, because "
                    "the columns that may count have numbers or rare combinations."
                )
            )
        return tuple(notes)

    @classmethod
    def from_settings(cls, settings: Mapping[str, object], folder: Path) -> Self:
        """Build the similarity from a table of a settings file; ``fit`` is a file of people."""
        others = {name: value for name, value in settings.items() if name != "fit"}
        similarity = super().from_settings(others, folder)
        path = settings.get("fit")
        if path is None:
            return similarity
        if not isinstance(path, str):
            msg = f"{param('fit')} must be a path, got {short_repr(path)}"
            raise InputError(msg)
        return similarity.fit(folder / path)


def _check_given(value: object) -> dict[str, tuple[str, ...]]:
    """Return the columns given which others are tested."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        msg = f"{param('given')} must map columns to columns, got {short_repr(value)}"
        raise InputError(msg)
    return {name: check_column_names("given", columns) for name, columns in value.items()}


def _are_shared(fitted: SampleSpace, audited: SampleSpace) -> bool:
    """Return whether the people of a fit seem to be taken from the audited ones."""
    names = [name for name in fitted.profile if name in audited.columns]
    counts: dict[tuple[object, ...], IntArray] = {}
    for place, space in enumerate((fitted, audited)):
        rows = np.flatnonzero(space.observed)
        people = zip(*(space.columns[name].take(rows).to_list() for name in names), strict=True)
        for person, count in zip(people, space.counts[rows].tolist(), strict=True):
            counts.setdefault(person, np.zeros(2, np.int64))[place] += count
    fit_counts, audit_counts = np.array(list(counts.values())).T
    return SharedRows.between(fit_counts, audit_counts).is_from_the_sample
