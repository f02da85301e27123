"""From a data frame or a file to a SampleSpace: roles, missing values, twins, reference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.checks import BoolArray, IntArray, choice, shown
from fairtransport.errors import DataError, InputError
from fairtransport.space.binning import Bins, check_bins
from fairtransport.space.columns import MISSING, Column, merge_columns, plain_list, sorted_levels
from fairtransport.space.counting import Counted, Source, as_source
from fairtransport.space.sample_space import SampleSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_POINTS = 20_000_000
"""Twins beyond this many points are refused: a sensitive feature then wants bins."""


@dataclass(frozen=True)
class Roles:
    """Which column plays which part."""

    features: tuple[str, ...]
    sensitive: tuple[str, ...]
    label: str | None
    predictions: tuple[str, ...]
    counts: str | None

    @property
    def points(self) -> tuple[str, ...]:
        """The columns that make a point, in the order points are sorted by."""
        label = () if self.label is None else (self.label,)
        return tuple(dict.fromkeys((*self.features, *self.sensitive, *label, *self.predictions)))


def build_space(
    data: Any,
    label: Any = None,
    *,
    sensitive_features: Any,
    predictions: Any = None,
    prediction_parameter: str = "predictions",
    features: Sequence[str] | None = None,
    counts: str | None = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    missing: str = "error",
    levels: Mapping[str, Sequence[Any]] | None = None,
    targets: Any = None,
    twins: bool = False,
    label_matters: bool = True,
    by_model: bool = False,
) -> SampleSpace:
    """Build the sample space of an audit.

    Parameters
    ----------
    data
        Any data frame that narwhals knows, or a path.
    label, predictions
        A column's name or, for eager frames, an array; predictions also several columns.
    prediction_parameter
        The name of the argument that predictions came in, for error messages.
    sensitive_features
        Column names, or a frame aligned with the data.
    features
        The columns the model receives; default: all but label, counts and predictions.
    counts
        A column of whole numbers: how many people a row stands for.
    bins
        Rising edges for numeric columns.
    missing
        "error", or "level": a missing value is a level of its own.
    levels
        Declared levels of sensitive features for the twins; default: those observed.
    targets
        A frame of further points; mass may then arrive at these (and at twins) only.
    twins
        Whether to add every combination of the sensitive levels to each point.
    label_matters
        Whether the label is part of a point; if not, its column is left aside.
    by_model
        Whether it was the model that named the features, for error messages.
    """
    choice("missing", missing, ("error", "level"))
    given = (prediction_parameter, predictions)
    source = as_source(data)
    if by_model and features is not None:
        _refuse_absent(features, source.columns)
    source, roles = _roles(source, label, sensitive_features, given, features, counts)
    if not label_matters:
        roles = replace(roles, label=None)
    edges = check_bins(bins, (*roles.features, *roles.sensitive))
    counted = _checked_missing(source.count(roles.points, edges, roles.counts), roles, missing)
    reference = np.zeros(len(counted.counts), bool)
    if targets is not None:
        counted, reference = _with_reference(counted, targets, roles, edges, missing)
    declared = _check_levels(levels, roles.sensitive, counted, twins=twins)
    if twins:
        counted, reference = _with_twins(counted, reference, roles, declared)
    order = np.lexsort([counted.columns[name].ranks for name in reversed(roles.points)])
    return SampleSpace(
        columns={name: counted.columns[name].take(order) for name in roles.points},
        counts=counted.counts[order],
        features=roles.features,
        sensitive=roles.sensitive,
        label=roles.label,
        predictions=roles.predictions,
        has_twins=twins,
        targets=None if targets is None else reference[order],
        bins=edges,
        library=source.library,
    )


def _roles(
    source: Source, label: Any, sensitive: Any, predictions: tuple[str, Any], features: Any,
    counts: Any,
) -> tuple[Source, Roles]:  # fmt: skip
    """Name the column of each role, attaching what came as an array."""
    own = list(source.columns)
    source, label_name = _one_column(source, "y", label, "label")
    source, prediction_names = _prediction_columns(source, *predictions)
    if label_name in prediction_names:
        msg = f"`{predictions[0]}` must not be the column of the true labels, got {label_name!r}"
        raise InputError(msg)
    if counts is not None:
        _known("counts", [counts], own)
    taken = {label_name, counts, *prediction_names}
    source, sensitive_names = _sensitive_columns(source, sensitive, taken)
    if features is None:
        chosen = [name for name in own if name not in taken]
    else:
        chosen = _names("features", features)
        _known("features", chosen, own)
    if not sensitive_names:
        msg = "`sensitive_features` must name at least one column, got none"
        raise InputError(msg)
    # given predictions may be about people of whom only sensitive features are known
    if not chosen and not prediction_names:
        msg = "`features` must name at least one column, got none"
        raise InputError(msg)
    for name in chosen:
        if name in taken:
            msg = f"`features` must not hold label, counts or predictions, got {name!r}"
            raise InputError(msg)
    roles = Roles(
        tuple(chosen), tuple(sensitive_names), label_name, tuple(prediction_names), counts
    )
    return source, roles


def _one_column(source: Source, parameter: str, value: Any, wanted: str) -> tuple[Source, Any]:
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


def _prediction_columns(source: Source, parameter: str, value: Any) -> tuple[Source, list[str]]:
    if value is None:
        return source, []
    if isinstance(value, str):
        value = [value]
    elif not _are_names(value, parameter, source.columns):
        return _attached_predictions(source, parameter, value)
    names = _names(parameter, value)
    _known(parameter, names, source.columns)
    return source, names


def _are_names(value: Any, parameter: str, columns: Sequence[str]) -> bool:
    """Say whether a list of text names columns; it may also be the predicted labels."""
    is_list = isinstance(value, list | tuple) and len(value) > 0
    is_text = is_list and all(isinstance(one, str) for one in value)
    return is_text and (parameter == "y_score" or all(one in columns for one in value))


def _attached_predictions(source: Source, parameter: str, value: Any) -> tuple[Source, list[str]]:
    if np.ndim(value) <= 1:
        name = _free_name("prediction", source.columns)
        return source.attach(name, value, parameter), [name]
    names = []
    for at, part in enumerate(np.asarray(value).T):
        names.append(_free_name(f"score_{at}", source.columns))
        source = source.attach(names[-1], part, parameter)
    return source, names


def _sensitive_columns(source: Source, value: Any, taken: set[Any]) -> tuple[Source, list[str]]:
    if isinstance(value, str) or (
        isinstance(value, Sequence) and all(isinstance(name, str) for name in value)
    ):
        names = _names("sensitive_features", value)
        _known("sensitive_features", names, source.columns)
        for name in names:
            if name in taken:
                msg = (
                    f"`sensitive_features` must not hold label, counts or predictions, got {name!r}"
                )
                raise InputError(msg)
        return source, names
    return _aligned_sensitive(source, value)


def _aligned_sensitive(source: Source, value: Any) -> tuple[Source, list[str]]:
    import narwhals as nw

    try:
        given = nw.from_native(value, eager_only=True, allow_series=True)
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


def _names(parameter: str, value: Any) -> list[str]:
    names = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        msg = f"`{parameter}` must be distinct column names, got {shown(value)}"
        raise InputError(msg)
    return names


def _known(parameter: str, names: Sequence[Any], columns: Sequence[str]) -> None:
    for name in names:
        if not isinstance(name, str) or name not in columns:
            listed = ", ".join(columns)
            msg = f"`{parameter}` must name columns of the data ({listed}), got {shown(name)}"
            raise InputError(msg)


def _refuse_absent(asked: Sequence[str], columns: Sequence[str]) -> None:
    for name in asked:
        if name not in columns:
            listed = ", ".join(columns)
            msg = f"the model was fitted on {name!r}, which the data has not; it has {listed}"
            raise InputError(msg)


def _free_name(wanted: str, taken: Sequence[str]) -> str:
    name = wanted
    while name in taken:
        name += "_"
    return name


def _checked_missing(counted: Counted, roles: Roles, missing: str) -> Counted:
    for name in roles.points:
        column = counted.columns[name]
        if not column.has_missing:
            continue
        is_profile = name in roles.features or name in roles.sensitive
        if missing == "level" and is_profile:
            continue
        people = int(counted.counts[column.codes == MISSING].sum())
        way_out = "; missing='level' makes it a level of its own" if is_profile else ""
        msg = f"the column {name!r} must not have missing values, got {people}{way_out}"
        raise DataError(msg)
    return counted


def _with_reference(
    counted: Counted, targets: Any, roles: Roles, bins: Bins, missing: str
) -> tuple[Counted, BoolArray]:
    """Add the reference frame's points, at count 0, and say which points it holds."""
    source = as_source(targets, "targets")
    _known_in_reference(roles.points, source.columns)
    further = _checked_missing(source.count(roles.points, bins, None), roles, missing)
    columns = {
        name: merge_columns(counted.columns[name], further.columns[name]) for name in roles.points
    }
    counts = np.r_[counted.counts, np.zeros(len(further.counts), np.int64)]
    is_reference = np.r_[np.zeros(len(counted.counts), bool), np.ones(len(further.counts), bool)]
    return _merged(columns, counts, is_reference)


def _known_in_reference(names: Sequence[str], columns: Sequence[str]) -> None:
    absent = [name for name in names if name not in columns]
    if absent:
        msg = f"`targets` must have the columns of a point, but lacks {', '.join(absent)}"
        raise InputError(msg)


def _merged(
    columns: dict[str, Column], counts: IntArray, is_reference: BoolArray
) -> tuple[Counted, BoolArray]:
    """Add up the counts of equal rows."""
    codes = np.column_stack([column.codes for column in columns.values()])
    _, first, inverse = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    total = np.bincount(inverse, counts).astype(np.int64)
    reference = np.bincount(inverse, is_reference) > 0
    return Counted({name: column.take(first) for name, column in columns.items()}, total), reference


def _check_levels(
    levels: Any, sensitive: Sequence[str], counted: Counted, *, twins: bool
) -> dict[str, list[Any]]:
    """Return declared levels; every observed value must be among them."""
    if levels is None:
        return {}
    if not twins:
        msg = "`levels` needs `model`: without one there are no twins to ask about"
        raise InputError(msg)
    if not isinstance(levels, Mapping):
        msg = f"`levels` must map sensitive features to values, got {shown(levels)}"
        raise InputError(msg)
    declared: dict[str, list[Any]] = {}
    for name, values in levels.items():
        if name not in sensitive:
            msg = f"`levels` must name sensitive features, got {shown(name)}"
            raise InputError(msg)
        if isinstance(values, str) or np.ndim(values) != 1:
            msg = f"`levels[{name!r}]` must list values, got {shown(values)}"
            raise InputError(msg)
        listed = plain_list(values)
        for value in counted.columns[name].levels.tolist():
            if value not in listed:
                msg = f"`levels[{name!r}]` must hold every observed value, but lacks {shown(value)}"
                raise InputError(msg)
        declared[name] = listed
    return declared


def _with_twins(
    counted: Counted, reference: BoolArray, roles: Roles, declared: dict[str, list[Any]]
) -> tuple[Counted, BoolArray]:
    """Give every point all combinations of the sensitive levels, with the same label."""
    columns = dict(counted.columns)
    choices: list[NDArray[Any]] = []
    for name in roles.sensitive:
        column = columns[name]
        extra = [value for value in declared.get(name, []) if value is not None]
        if extra:
            levels = _with_declared(column.levels, extra)
            column = columns[name] = column.with_levels(levels)
        missing = [MISSING] if column.has_missing or None in declared.get(name, []) else []
        choices.append(np.array([*range(len(column.levels)), *missing], np.int64))
    rest = [name for name in roles.points if name not in roles.sensitive]
    codes = np.column_stack(
        [np.zeros(len(counted.counts), np.int64)] + [columns[name].codes for name in rest]
    )
    _, first, group = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    size = prod(len(choice) for choice in choices)
    total = len(first) * size
    if total > MOST_POINTS:
        msg = (
            f"`sensitive_features` make {size:,} combinations and so {total:,} points, "
            f"more than {MOST_POINTS:,}; `bins` or fewer levels make this feasible"
        )
        raise InputError(msg)
    combos = np.array(list(product(*choices)), np.int64)
    twin_columns = {}
    for at, name in enumerate(roles.sensitive):
        twin_columns[name] = replace(columns[name], codes=np.tile(combos[:, at], len(first)))
    for name in rest:
        twin_columns[name] = columns[name].take(np.repeat(first, len(combos)))
    place = group * len(combos) + _combo_of(columns, roles.sensitive, combos)
    counts = np.bincount(place, counted.counts, minlength=total).astype(np.int64)
    from_reference = np.bincount(group, reference) > 0
    return Counted(twin_columns, counts), np.repeat(from_reference, len(combos))


def _with_declared(levels: NDArray[Any], declared: list[Any]) -> NDArray[Any]:
    """Return observed levels and declared ones; the order of bins is kept."""
    new = [value for value in declared if value not in levels.tolist()]
    return sorted_levels([*levels.tolist(), *new]) if new else levels


def _combo_of(
    columns: Mapping[str, Column], sensitive: Sequence[str], combos: IntArray
) -> IntArray:
    """Return the number of each point's combination of sensitive levels."""
    codes = np.column_stack([columns[name].codes for name in sensitive])
    both = np.r_[combos, codes]
    _, inverse = np.unique(both, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    number = np.empty(len(combos), np.int64)
    number[inverse[: len(combos)]] = np.arange(len(combos))
    return number[inverse[len(combos) :]]
