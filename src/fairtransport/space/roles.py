"""Which column of the audit data plays which part."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import refuse_masked, shape_of, shown
from fairtransport.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw
    from narwhals.typing import IntoDataFrame, IntoSeries

    from fairtransport.space.counting import Source


@dataclass(frozen=True)
class Roles:
    """Which column plays which part.

    Attributes
    ----------
    features
        What the model receives.
    sensitive
        The sensitive columns; they may be features as well.
    label
        The true label, None if there is none.
    predictions
        Given predictions: one column, or one a class.
    counts
        How many people a row stands for; None: one.
    """

    features: tuple[str, ...]
    sensitive: tuple[str, ...]
    label: str | None
    predictions: tuple[str, ...]
    counts: str | None

    @property
    def profile(self) -> tuple[str, ...]:
        """The columns that describe a person: features, then sensitive ones that are none."""
        return tuple(dict.fromkeys((*self.features, *self.sensitive)))

    @property
    def points(self) -> tuple[str, ...]:
        """The columns that make a point, in the order points are sorted by."""
        label = () if self.label is None else (self.label,)
        return tuple(dict.fromkeys((*self.profile, *label, *self.predictions)))


def find_roles(
    source: Source, label: object, sensitive: object, predictions: tuple[str, object],
    features: object, counts: object,
) -> tuple[Source, Roles]:  # fmt: skip
    """Name the column of each role, attaching what came as an array.

    Parameters
    ----------
    source
        The audit data.
    label
        A column's name, an array or None.
    sensitive
        Column names, or a frame aligned with the data.
    predictions
        The parameter's name, and what came in it.
    features
        Column names; None: all that have no other part.
    counts
        A column's name or None.

    Returns
    -------
    source, roles
        The data with arrays attached as columns.

    Raises
    ------
    InputError
        If a column is unknown, plays two parts that exclude each other, or no column is sensitive.
    """
    own = list(source.columns)
    source, label_name = _one_column(source, "y", label, "label")
    source, prediction_names = _prediction_columns(source, *predictions)
    if label_name in prediction_names:
        msg = f"`{predictions[0]}` must not be the column of the true labels, got {label_name!r}"
        raise InputError(msg)
    counts_name = None
    if counts is not None:
        (counts_name,) = _known("counts", [counts], own)
        if counts_name in {label_name, *prediction_names}:
            msg = f"`counts` must not be the column of labels or predictions, got {counts!r}"
            raise InputError(msg)
    taken = {label_name, counts_name, *prediction_names}
    source, sensitive_names = _sensitive_columns(source, sensitive, taken)
    if features is None:
        chosen = [name for name in own if name not in taken]
    else:
        chosen = _known("features", _names("features", features), own)
    if not sensitive_names:
        msg = "`sensitive_features` must name at least one column, got none"
        raise InputError(msg)
    # given predictions may be about people of whom only sensitive features are known
    if not chosen and not prediction_names:
        msg = "`features` must name at least one column, got none"
        raise InputError(msg)
    refuse_taken("features", chosen, taken)
    roles = Roles(
        tuple(chosen), tuple(sensitive_names), label_name, tuple(prediction_names), counts_name
    )
    return source, roles


def _one_column(
    source: Source, parameter: str, value: object, wanted: str
) -> tuple[Source, str | None]:
    """Attach an array as a column, or look up a column by its name.

    Parameters
    ----------
    source
        The audit data.
    parameter
        Its name, for messages.
    value
        A column's name, an array or None.
    wanted
        What an array without a name is called.

    Raises
    ------
    InputError
        If a named array is a column of the data already: as a feature it would tell the answer.
    """
    if value is None:
        return source, None
    if isinstance(value, str):
        _known(parameter, [value], source.columns)
        return source, value
    name = str(getattr(value, "name", None) or wanted)
    if hasattr(value, "name") and name in source.columns:
        # as a feature the model would be asked with the answer in hand
        msg = f"`{parameter}` is the column {name!r}, which the data has too: pass its name instead"
        raise InputError(msg)
    name = _free_name(name, source.columns)
    return source.attach(name, value, parameter), name


def _prediction_columns(source: Source, parameter: str, value: object) -> tuple[Source, list[str]]:
    """Return the columns of given predictions, attached if they came as arrays.

    Parameters
    ----------
    source
        The audit data.
    parameter
        ``y_pred`` or ``y_score``.
    value
        A column's name, several, an array of labels or numbers, or a table of scores.
    """
    if value is None:
        return source, []
    if isinstance(value, str):
        value = [value]
    elif not _are_names(value, parameter, source.columns):
        return _attached_predictions(source, parameter, value)
    return source, _known(parameter, _names(parameter, value), source.columns)


def _are_names(value: object, parameter: str, columns: Sequence[str]) -> bool:
    """Say whether a list of text names columns; it may also be the predicted labels.

    Parameters
    ----------
    value
        What came.
    parameter
        ``y_score`` is never a list of labels.
    columns
        Those of the data.

    Examples
    --------
    Text that names no column is taken for predicted labels.

    >>> _are_names(["said"], "y_pred", ["said"]), _are_names(["yes", "no"], "y_pred", ["said"])
    (True, False)
    """
    if not isinstance(value, list | tuple) or not value:
        return False
    is_text = all(isinstance(one, str) for one in value)
    return is_text and (parameter == "y_score" or all(one in columns for one in value))


def _attached_predictions(
    source: Source, parameter: str, value: object
) -> tuple[Source, list[str]]:
    """Attach predictions that came as an array: one column, or one a class.

    Parameters
    ----------
    source, parameter, value
        As in `_prediction_columns`.
    """
    refuse_masked(parameter, value)
    shape = shape_of(value)
    if isinstance(shape, str) or len(shape) <= 1:
        name = _free_name("prediction", source.columns)
        return source.attach(name, value, parameter), [name]
    names = []
    for at, part in enumerate(_columns(value)):
        names.append(_free_name(f"score_{at}", source.columns))
        source = source.attach(names[-1], part, parameter)
    return source, names


def _columns(value: object) -> Iterable[object]:
    """Return the columns of a table of scores; those of a frame know which rows they are about.

    Parameters
    ----------
    value
        A data frame or a two-dimensional array.
    """
    import narwhals as nw

    frame = nw.from_native(value, eager_only=True, pass_through=True)
    return frame.iter_columns() if isinstance(frame, nw.DataFrame) else np.asarray(value).T


def _sensitive_columns(
    source: Source, value: object, taken: Container[object]
) -> tuple[Source, list[str]]:
    """Return the sensitive columns: named ones, or those of an aligned frame.

    Parameters
    ----------
    source
        The audit data.
    value
        Names, or a frame or series.
    taken
        Columns that play another part.
    """
    if isinstance(value, str) or (
        isinstance(value, Sequence) and all(isinstance(name, str) for name in value)
    ):
        names = _names("sensitive_features", value)
        _known("sensitive_features", names, source.columns)
        refuse_taken("sensitive_features", names, taken)
        return source, names
    return _aligned_sensitive(source, value)


def _aligned_sensitive(source: Source, value: object) -> tuple[Source, list[str]]:
    """Attach the columns of a frame of sensitive features, row by row.

    Parameters
    ----------
    source
        The audit data.
    value
        An eager frame or series with as many rows.

    Raises
    ------
    InputError
        If it is neither, or a column has a name that the data has too.
    """
    import narwhals as nw

    try:
        given: nw.DataFrame[IntoDataFrame] | nw.Series[IntoSeries] = nw.from_native(
            value, eager_only=True, allow_series=True, pass_through=False, series_only=False
        )
    except TypeError:
        msg = f"`sensitive_features` must be column names or an aligned frame, got {shown(value)}"
        raise InputError(msg) from None
    if isinstance(given, nw.Series):
        given = given.alias(str(given.name or "sensitive")).to_frame()
    frame = given
    for name in frame.columns:
        if name in source.columns:
            msg = (
                f"`sensitive_features` has the column {name!r}, which the data has too: "
                "pass its name instead"
            )
            raise InputError(msg)
        source = source.attach(name, frame[name], "sensitive_features")
    return source, list(frame.columns)


def _names(parameter: str, value: object) -> list[str]:
    """Return distinct names from one name or several.

    Raises
    ------
    InputError
        If something is no name, or occurs twice.

    Examples
    --------
    >>> _names("features", "age"), _names("features", ["age", "sex"])
    (['age'], ['age', 'sex'])
    """
    given = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
    names = [name for name in given if isinstance(name, str)]
    if len(set(names)) < len(given):
        msg = f"`{parameter}` must be distinct column names, got {shown(value)}"
        raise InputError(msg)
    return names


def _known(parameter: str, names: Iterable[object], columns: Sequence[str]) -> list[str]:
    """Return names that all are columns of the data.

    Raises
    ------
    InputError
        Naming the first that is none, and all that there are.
    """
    known = []
    for name in names:
        if not isinstance(name, str) or name not in columns:
            listed = ", ".join(columns)
            msg = f"`{parameter}` must name columns of the data ({listed}), got {shown(name)}"
            raise InputError(msg)
        known.append(name)
    return known


def refuse_taken(parameter: str, names: Sequence[str], taken: Container[object]) -> None:
    """Refuse a column that plays another part: a model would be asked with the answer in hand.

    Parameters
    ----------
    parameter
        Its name, for the message.
    names
        The columns that it names.
    taken
        Label, counts and predictions.

    Raises
    ------
    InputError
        Naming the first that is taken.
    """
    for name in names:
        if name in taken:
            msg = f"`{parameter}` must not hold label, counts or predictions, got {name!r}"
            raise InputError(msg)


def refuse_absent(asked: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse data that lack a column which the model was fitted on.

    Parameters
    ----------
    asked
        The model's columns.
    columns
        Those of the data.

    Raises
    ------
    InputError
        Naming the first that is missing.
    """
    for name in asked:
        if name not in columns:
            listed = ", ".join(columns)
            msg = f"the model was fitted on {name!r}, which the data has not; it has {listed}"
            raise InputError(msg)


def _free_name(wanted: str, taken: Sequence[str]) -> str:
    """Return a name that no column has: the wanted one, with underscores if it is taken.

    Examples
    --------
    >>> _free_name("label", ["label", "label_"])
    'label__'
    """
    name = wanted
    while name in taken:
        name += "_"
    return name
