"""The Similarity protocol and the base class of the package's similarities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from fairtransport._core.validation import short_repr
from fairtransport.errors import InputError, param
from fairtransport.geometry import Embedding, Geometry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from fairtransport._core.validation import FloatArray, IntArray, Values
    from fairtransport.data import SampleSpace


@runtime_checkable
class Similarity(Protocol):
    """Protocol of a similarity: who is comparable with whom, and at which cost.

    Examples
    --------
    A custom similarity: people of the same grade are comparable, another sex has a cost.

    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> class SameGrade:
    ...     moves_only_to_twins = False
    ...     def geometry(self, space):
    ...         sex = space.codes(["sex"]).astype(float)
    ...         return ft.Geometry(space.groups(["grade", "good"]), ft.Embedding(sex))
    ...     def describe(self):
    ...         return "People of the same grade are comparable; another sex costs 1."
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 20, "grade": [1] * 40, "good": [1] * 40})
    >>> result = ft.audit(people, "good", model=lambda x: (x["sex"] == "m").astype(int),
    ...                   sensitive_features="sex", similarity=SameGrade(), budget=0.1, rng=0)
    >>> round(result.statistic, 3)
    0.1
    """

    @property
    def moves_only_to_twins(self) -> bool:
        """Whether mass moves only between people who differ in sensitive features only."""
        ...

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return the blocks and costs over the points of a space."""
        ...

    def describe(self) -> str:
        """Return one sentence for the report."""
        ...


@dataclass(eq=False)
class BaseSimilarity(Similarity):
    """Base class with scikit-learn's parameter methods, without importing scikit-learn.

    A subclass is a dataclass whose fields are its parameters. It stores them unchanged and checks
    them in ``__post_init__``. Attributes that `fit` sets end in an underscore.
    """

    name: ClassVar[str]
    """Name of the similarity in settings and documents."""
    choice: ClassVar[str] = ""
    """Description of the choice in the app; empty if its form lacks the settings."""

    def get_params(self, deep: bool = True) -> dict[str, object]:  # noqa: ARG002, FBT001, FBT002
        """Return the parameters by name; ``deep`` is ignored."""
        return {name: getattr(self, name) for name in parameter_names(type(self))}

    def set_params(self, **params: object) -> Self:
        """Change parameters, all or none; fitted attributes do not change.

        Parameters
        ----------
        **params
            New values by name.

        Returns
        -------
        Similarity
            The similarity itself.

        Raises
        ------
        InputError
            If there is no such parameter, or a value is invalid.

        Examples
        --------
        >>> import fairtransport as ft
        >>> ft.similarity.MixedTabular(scales={"age": 5}).set_params(scales={"age": 10})
        MixedTabular(scales={'age': 10}, mismatch={}, exact=(), default_scale=None,
        default_mismatch=None)
        """
        names = parameter_names(type(self))
        for name in params:
            if name not in names:
                msg = f"{param(name)} must be a parameter of {self.name!r} ({', '.join(names)})"
                raise InputError(msg)
        # constructed for its checks
        type(self)(**{**self.get_params(), **params})
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def to_json(self) -> dict[str, object]:
        """Return name, settings and fitted values as plain values, for the provenance."""
        document = {"name": self.name, "settings": plain(self.settings())}
        fitted = self.fitted()
        return document if fitted is None else {**document, "fitted": plain(fitted)}

    def settings(self) -> dict[str, object]:
        """Return the parameters as the provenance shows them."""
        return self.get_params()

    def fitted(self) -> dict[str, object] | None:
        """Return the fitted values; None if nothing is fitted."""
        return None

    def describe_budget(self, budget: float) -> str:
        """Return one sentence on the meaning of a budget ε."""
        return (
            "On average, people may have a squared distance of "
            f"{budget:g} to those they are compared with."
        )

    def warnings(self, space: SampleSpace) -> tuple[str, ...]:  # noqa: ARG002
        """Return notes for the report of an audit of this space."""
        return ()

    @classmethod
    def from_settings(cls, settings: Mapping[str, object], folder: Path) -> Self:  # noqa: ARG003
        """Build the similarity from a table of a settings file.

        Parameters
        ----------
        settings
            The table, without its name.
        folder
            Folder that paths are relative to.

        Returns
        -------
        Similarity
            A similarity of this class.

        Raises
        ------
        InputError
            If a setting is unknown or invalid.

        Examples
        --------
        >>> from pathlib import Path
        >>> import fairtransport as ft
        >>> ft.similarity.IgnoreSensitive.from_settings({"tolerance": {"age": 2}}, Path("."))
        IgnoreSensitive(exact=(), tolerance={'age': 2})
        """
        names = parameter_names(cls)
        for name in settings:
            if name not in names:
                choices = f"has {', '.join(names)}" if names else "has none"
                msg = (
                    f"{param(name)} must be a setting of the similarity {cls.name!r}, which "
                    f"{choices}"
                )
                raise InputError(msg)
        return cls(**settings)


def parameter_names(kind: type[BaseSimilarity]) -> tuple[str, ...]:
    """Return the names of a similarity's parameters."""
    return tuple(field.name for field in fields(kind) if field.init)


def plain(value: object) -> object:
    """Return a value as JSON types; functions by name."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind in "fiub":
        return value.tolist()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return getattr(value, "__qualname__", str(value))


def tie_breaking_codes(space: SampleSpace) -> IntArray:
    """Return the codes by which a geometry counts changed columns."""
    return space.codes(space.profile)


def label_columns(space: SampleSpace) -> tuple[str, ...]:
    """Return the columns in which comparable points must agree: the true label."""
    return () if space.label is None else (space.label,)


def build_euclidean(
    space: SampleSpace, coordinates: FloatArray, agreeing: Sequence[str]
) -> Geometry:
    """Return the geometry of squared distances between points that agree in some columns."""
    return Geometry(
        blocks=space.groups(agreeing),
        cost=Embedding(coordinates),
        targets=space.targets,
        profiles=tie_breaking_codes(space),
    )


def check_profile_columns(parameter: str, names: Iterable[str], space: SampleSpace) -> None:
    """Check that names are columns of the profile."""
    profile = dict.fromkeys(space.profile)
    for name in names:
        if name not in profile:
            choices = ", ".join(profile)
            msg = f"{param(parameter)} must name audited columns ({choices}), got {name!r}"
            raise InputError(msg)


def get_numeric_values(parameter: str, name: str, space: SampleSpace) -> FloatArray:
    """Return a numeric column without missing values as floats."""
    column = space.columns[name]
    where = f"{param(parameter)} must name a numeric column without missing values, but {name!r}"
    if name in space.bins:
        msg = f"{where} was cut into bins"
        raise InputError(msg)
    if not is_numeric(column.levels):
        msg = f"{where} is not numeric"
        raise InputError(msg)
    if column.has_missing:
        msg = f"{where} has missing values"
        raise InputError(msg)
    return column.levels.astype(np.float64)[column.codes]


def is_numeric(levels: Values) -> bool:
    """Return whether levels are numbers; bools are not."""
    return len(levels) > 0 and bool(np.issubdtype(levels.dtype, np.number))


def check_mapping(parameter: str, value: object) -> None:
    """Check that a value is a mapping."""
    if not isinstance(value, Mapping):
        msg = f"{param(parameter)} must map columns to numbers, got {short_repr(value)}"
        raise InputError(msg)


def keep_entry(rules: Mapping[str, float], column: str) -> dict[str, float]:
    """Return the rule of one column, if it has one."""
    return {column: rules[column]} if column in rules else {}


def keep_name(names: str | Sequence[str], column: str) -> tuple[str, ...]:
    """Return one column if it is among some."""
    return (column,) if column in ([names] if isinstance(names, str) else names) else ()


def check_column_names(parameter: str, value: object) -> tuple[str, ...]:
    """Check that a value lists distinct column names, and return them."""
    names = [value] if isinstance(value, str) else value
    if (
        not isinstance(names, list | tuple)
        or not all(isinstance(name, str) for name in names)
        or len(set(names)) < len(names)
    ):
        msg = f"{param(parameter)} must be distinct column names, got {short_repr(value)}"
        raise InputError(msg)
    return tuple(names)
