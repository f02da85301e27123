"""What every similarity offers, and scikit-learn's parameter conventions without its import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from fairtransport.checks import shown
from fairtransport.errors import InputError
from fairtransport.geometry import CostMatrix, Embedding, Geometry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from fairtransport.checks import FloatArray, IntArray, Values
    from fairtransport.geometry import Cost
    from fairtransport.space import SampleSpace
    from fairtransport.space.made_up import MadeUp


@runtime_checkable
class Similarity(Protocol):
    """Says who is comparable with whom, and how far apart they are: a protocol.

    Examples
    --------
    The shortest one of your own: everybody of the same grade, at a price for sex.

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
    >>> result = ft.audit(people, "good", model=lambda asked: (asked["sex"] == "m").astype(int),
    ...                   sensitive_features="sex", similarity=SameGrade(), budget=0.1, rng=0)
    >>> round(result.statistic, 3)
    0.1
    """

    @property
    def moves_only_to_twins(self) -> bool:
        """Whether mass only moves between people who differ in sensitive features alone.

        Returns
        -------
        bool

        Examples
        --------
        >>> SameGrade().moves_only_to_twins
        False
        """
        ...

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return the costs between the points of a space.

        Parameters
        ----------
        space
            The points of an audit.

        Returns
        -------
        Geometry
            Blocks and costs.

        Examples
        --------
        >>> import numpy as np
        >>> SameGrade().geometry(result.space).costs(np.array([0]), np.array([0, 1])).tolist()
        [[0.0, 1.0]]
        """
        ...

    def describe(self) -> str:
        """Return a plain sentence for the report.

        Returns
        -------
        str

        Examples
        --------
        >>> SameGrade().describe()
        'People of the same grade are comparable; another sex costs 1.'
        """
        ...


@dataclass(eq=False)
class Parameters(Similarity):
    """Parameters by name, for dataclasses: what `sklearn.base.clone` and a record need.

    A subclass is a dataclass whose fields are its parameters; it keeps them as they are given
    and checks them in ``__post_init__``. What `fit` learns ends in an underscore.
    """

    name: ClassVar[str]
    """What the similarity is called in settings and documents."""

    def get_params(self, deep: bool = True) -> dict[str, object]:  # noqa: ARG002, FBT001, FBT002
        """Return the parameters by name.

        Parameters
        ----------
        deep
            There for scikit-learn's sake.

        Returns
        -------
        dict[str, object]

        Examples
        --------
        >>> import fairtransport as ft
        >>> ft.similarity.IgnoreSensitive(exact=["sex"]).get_params()
        {'exact': ['sex'], 'tolerance': {}}
        """
        return {name: getattr(self, name) for name in parameter_names(type(self))}

    def set_params(self, **params: object) -> Self:
        """Change parameters, all or none; what was fitted stays as it is.

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
            If there is no such parameter, or a value breaks its rule.

        Examples
        --------
        >>> import fairtransport as ft
        >>> ft.similarity.MixedTabular(scales={"age": 5}).set_params(scales={"age": 10})
        MixedTabular(scales={'age': 10}, mismatch={}, exact=(), default_scale=None,
        default_mismatch=None)
        """
        known = parameter_names(type(self))
        for name in params:
            if name not in known:
                msg = f"`{name}` must be a parameter of {self.name!r} ({', '.join(known)})"
                raise InputError(msg)
        # made once for its checks
        type(self)(**{**self.get_params(), **params})
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def to_json(self) -> dict[str, object]:
        """Return name, settings and what was fitted as plain values, for the provenance.

        Returns
        -------
        dict[str, object]

        Examples
        --------
        >>> import fairtransport as ft
        >>> ft.similarity.IgnoreSensitive(tolerance={"age": 2}).to_json()
        {'name': 'ignore-sensitive', 'settings': {'exact': [], 'tolerance': {'age': 2}}}
        """
        document = {"name": self.name, "settings": plain(self.settings())}
        fitted = self.fitted()
        return document if fitted is None else {**document, "fitted": plain(fitted)}

    def settings(self) -> dict[str, object]:
        """Return the parameters as the provenance shows them.

        Returns
        -------
        dict[str, object]

        Examples
        --------
        >>> import fairtransport as ft
        >>> ft.similarity.IgnoreSensitive(tolerance={"age": 2}).settings()
        {'exact': (), 'tolerance': {'age': 2}}
        """
        return self.get_params()

    def fitted(self) -> dict[str, object] | None:
        """Return what was learned from data; None where nothing is.

        Returns
        -------
        dict[str, object] | None

        Examples
        --------
        Stated costs are not learned.

        >>> import fairtransport as ft
        >>> print(ft.similarity.MixedTabular(scales={"age": 5}).fitted())
        None
        """
        return None

    def describe_budget(self, budget: float) -> str:
        """Return what a budget means under this similarity, as a plain sentence.

        Parameters
        ----------
        budget
            ε.

        Returns
        -------
        str

        Examples
        --------
        >>> import fairtransport as ft
        >>> by_age = ft.similarity.Custom(lambda a, b: (a["age"] - b["age"]) ** 2)
        >>> by_age.describe_budget(0.5)
        'On average, people may be moved by a squared distance of 0.5.'
        """
        return f"On average, people may be moved by a squared distance of {budget:g}."

    def warnings(self, space: SampleSpace) -> tuple[str, ...]:  # noqa: ARG002
        """Return what a reader of an audit of this space should know of the similarity.

        Parameters
        ----------
        space
            The points of the audit.

        Returns
        -------
        tuple[str, ...]

        Examples
        --------
        >>> import pandas as pd
        >>> import fairtransport as ft
        >>> people = pd.DataFrame({"sex": ["f", "m"], "good": [1, 1], "said": [0, 1]})
        >>> result = ft.audit(people, "good", y_pred="said", sensitive_features="sex", rng=0)
        >>> result.similarity.warnings(result.space)
        ()
        """
        return ()

    @classmethod
    def from_settings(cls, settings: Mapping[str, object], folder: Path) -> Self:  # noqa: ARG003
        """Make the similarity from a settings file's table; paths are relative to ``folder``.

        Parameters
        ----------
        settings
            The table, without its name.
        folder
            Where the settings file lies.

        Returns
        -------
        Similarity
            The similarity of this class.

        Raises
        ------
        InputError
            If a setting has no such name or breaks its rule.

        Examples
        --------
        >>> from pathlib import Path
        >>> import fairtransport as ft
        >>> ft.similarity.IgnoreSensitive.from_settings({"tolerance": {"age": 2}}, Path("."))
        IgnoreSensitive(exact=(), tolerance={'age': 2})
        """
        known = parameter_names(cls)
        for name in settings:
            if name not in known:
                listed = f"has {', '.join(known)}" if known else "has none"
                msg = f"`{name}` must be a setting of the similarity {cls.name!r}, which {listed}"
                raise InputError(msg)
        return cls(**settings)


def parameter_names(kind: type[Parameters]) -> tuple[str, ...]:
    """Return the names of a similarity's parameters.

    Parameters
    ----------
    kind
        The class; fields that `fit` fills are none.
    """
    return tuple(field.name for field in fields(kind) if field.init)


def plain(value: object) -> object:
    """Return a value as what JSON knows: functions by name.

    Parameters
    ----------
    value
        Nested in any way; arrays of numbers become lists.

    Examples
    --------
    >>> plain({"scale": np.array([1.0, 2.0]), "function": len})
    {'scale': [1.0, 2.0], 'function': 'len'}
    """
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
    """Return the codes by which a geometry counts changed columns.

    Parameters
    ----------
    space
        The audit's points.
    """
    return space.codes(space.profile)


def label_columns(space: SampleSpace) -> tuple[str, ...]:
    """Return the columns in which comparable points always agree: the true label.

    Parameters
    ----------
    space
        The audit's points; none where the loss does without a label.
    """
    return () if space.label is None else (space.label,)


def distances_between(
    space: SampleSpace, coordinates: FloatArray, agreeing: Sequence[str]
) -> Geometry:
    """Return squared distances between points that agree in some columns.

    Where twins were made up, people move to their own ones alone.

    Parameters
    ----------
    space
        The audit's points.
    coordinates
        (K, dimensions).
    agreeing
        Columns that comparable people share.
    """
    return Geometry(
        blocks=space.groups(agreeing),
        cost=_to_own_twins(space.made_up, Embedding(coordinates)),
        targets=space.targets,
        profiles=tie_breaking_codes(space),
    )


def _to_own_twins(made: MadeUp | None, distances: Embedding) -> Cost:
    """Return the distances of people to their made-up twins, where there are any.

    Parameters
    ----------
    made
        Who may be swapped with which twin; None: nobody was made up.
    distances
        Between all points.
    """
    if made is None:
        return distances
    from scipy.sparse import csr_array

    steps = distances.coordinates[made.person] - distances.coordinates[made.twin]
    costs = (steps**2).sum(axis=1)
    # a twin was made up for one person: nobody else may be moved there, however near
    listed = csr_array((costs, (made.person, made.twin)), (distances.size, distances.size))
    return CostMatrix(listed)


def known_columns(parameter: str, names: Iterable[str], space: SampleSpace) -> None:
    """Refuse names that are no columns of the audit's profile.

    Parameters
    ----------
    parameter
        Its name, for the message.
    names
        What it names.
    space
        The audit's points.

    Raises
    ------
    InputError
        Naming the first that is none.
    """
    for name in names:
        if name not in space.profile:
            listed = ", ".join(space.profile)
            msg = f"`{parameter}` must name columns of the profile ({listed}), got {name!r}"
            raise InputError(msg)


def numeric_values(parameter: str, name: str, space: SampleSpace) -> FloatArray:
    """Return a column as numbers, or say why it has none.

    Parameters
    ----------
    parameter
        Its name, for the message.
    name
        The column.
    space
        The audit's points.

    Raises
    ------
    InputError
        If it was cut into bins, is not numeric or has missing values.
    """
    column = space.columns[name]
    where = f"`{parameter}` must name a numeric column without missing values, but {name!r}"
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
    """Say whether levels are numbers; truth values are not.

    Parameters
    ----------
    levels
        A column's distinct values; without any there are no numbers either.

    Examples
    --------
    >>> is_numeric(np.array([1, 2])), is_numeric(np.array([True])), is_numeric(np.array(["1"]))
    (True, False, False)
    """
    return len(levels) > 0 and bool(np.issubdtype(levels.dtype, np.number))


def check_mapping(parameter: str, value: object) -> None:
    """Refuse what does not map columns to something.

    Parameters
    ----------
    parameter
        Its name, for the message.
    value
        What the user passed.
    """
    if not isinstance(value, Mapping):
        msg = f"`{parameter}` must map columns to numbers, got {shown(value)}"
        raise InputError(msg)


def column_names(parameter: str, value: object) -> tuple[str, ...]:
    """Return a list of distinct column names, or refuse it.

    Parameters
    ----------
    parameter
        Its name, for the message.
    value
        One name, or a list or tuple of them.

    Raises
    ------
    InputError
        If something is no text, or occurs twice.

    Examples
    --------
    >>> column_names("exact", "sex")
    ('sex',)
    """
    listed = [value] if isinstance(value, str) else value
    if (
        not isinstance(listed, list | tuple)
        or not all(isinstance(name, str) for name in listed)
        or len(set(listed)) < len(listed)
    ):
        msg = f"`{parameter}` must be distinct column names, got {shown(value)}"
        raise InputError(msg)
    return tuple(listed)
