"""From a data frame or a file to a SampleSpace: missing values, reference, twins."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import BoolArray, IntArray, choice, refuse_masked, shape_of, shown
from fairtransport.errors import InputError
from fairtransport.space.binning import Bins, check_bins
from fairtransport.space.columns import (
    MISSING,
    CodedColumn,
    merge_columns,
    plain_list,
    sorted_levels,
)
from fairtransport.space.counting import Counted, merge_rows
from fairtransport.space.overlap import SharedRows
from fairtransport.space.reader import TableLike, as_source
from fairtransport.space.roles import Roles, find_roles, refuse_absent
from fairtransport.space.row_numbers import row_numbers
from fairtransport.space.sample_space import SampleSpace
from fairtransport.space.single_values import (
    is_endless,
    is_hashable,
    refuse_missing,
    refuse_mixed,
    refuse_unusable,
)
from fairtransport.space.twins import check_declared, check_twins

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairtransport.space.columns import Value, Values


def build_space(
    data: TableLike,
    label: object = None,
    *,
    sensitive_features: object,
    predictions: object = None,
    prediction_parameter: str = "predictions",
    features: Sequence[str] | None = None,
    counts: str | None = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    missing: str = "error",
    levels: Mapping[str, Sequence[Value]] | None = None,
    targets: TableLike | None = None,
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

    Returns
    -------
    SampleSpace
        Points are sorted by their values, so that the order of rows, the library and the file
        format leave no trace in any result.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [30, 30, 50], "sex": ["f", "f", "m"], "y": [0, 0, 1]})
    >>> space = build_space(people, "y", sensitive_features=["sex"], twins=True)
    >>> space.size, space.n, space.counts.tolist()
    (4, 3, [2, 0, 0, 1])
    """
    choice("missing", missing, ("error", "level"))
    given = (prediction_parameter, predictions)
    source = as_source(data)
    if by_model and features is not None:
        refuse_absent(features, source.columns)
    source, roles = find_roles(source, label, sensitive_features, given, features, counts)
    if not label_matters:
        roles = replace(roles, label=None)
    edges = check_bins(bins, (*roles.features, *roles.sensitive))
    counted = _checked(source.count(roles.points, edges, roles.counts), roles, missing)
    reference, shared = np.zeros(len(counted.counts), bool), None
    if targets is not None:
        further = _read_reference(targets, roles, edges, missing)
        counted, reference, shared = _with_reference(counted, further, roles)
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
        declared=tuple(name for name in roles.sensitive if name in declared or name in edges),
        targets=None if targets is None else reference[order],
        reference=shared,
        bins=edges,
        library=source.library,
    )


def _checked(counted: Counted, roles: Roles, missing: str) -> Counted:
    """Refuse values that nobody can be compared by, and missing ones unless they are a level.

    Parameters
    ----------
    counted
        The points as they were read.
    roles
        Which column plays which part; labels and predictions may never be missing.
    missing
        "error" or "level".

    Raises
    ------
    DataError
        Naming the column and the first bad value.
    """
    for name in roles.points:
        column = counted.columns[name]
        refuse_unusable(name, column)
        if name == roles.label or name in roles.predictions:
            refuse_mixed(name, column.levels.tolist() if column.levels.dtype == object else [])
        people = int(counted.counts[column.codes == MISSING].sum())
        refuse_missing(name, people, missing, is_profile=name in roles.profile)
    return counted


def _read_reference(targets: TableLike, roles: Roles, bins: Bins, missing: str) -> Counted:
    """Return the points of a reference frame, read as the audit data were.

    Parameters
    ----------
    targets
        The frame or file.
    roles, bins, missing
        Those of the audit data.
    """
    source = as_source(targets, "targets")
    _known_in_reference(roles.points, source.columns)
    return _checked(source.count(roles.points, bins, None), roles, missing)


def _with_reference(
    counted: Counted, further: Counted, roles: Roles
) -> tuple[Counted, BoolArray, SharedRows]:
    """Add the reference frame's points, at count 0, and say which points it holds.

    Parameters
    ----------
    counted
        The audit data's points.
    further
        The reference frame's.
    roles
        Which columns make a point.

    Returns
    -------
    counted, reference, shared
        All points; whether each is in the frame; what the two have in common.
    """
    for name in roles.points:
        refuse_mixed(name, [*counted.columns[name].levels[:1], *further.columns[name].levels[:1]])
    columns = {
        name: merge_columns(counted.columns[name], further.columns[name]) for name in roles.points
    }
    nobody = np.zeros(len(further.counts), np.int64)
    merged, inverse = merge_rows(columns, np.r_[counted.counts, nobody])
    listed = np.r_[np.zeros(len(counted.counts), np.int64), further.counts]
    rows = np.bincount(inverse, listed).astype(np.int64)
    return merged, rows > 0, SharedRows.between(rows, merged.counts)


def _known_in_reference(names: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse a reference frame without the columns that make a point."""
    absent = [name for name in names if name not in columns]
    if absent:
        msg = f"`targets` must have the columns of a point, but lacks {', '.join(absent)}"
        raise InputError(msg)


def _check_levels(
    levels: object, sensitive: Sequence[str], counted: Counted, *, twins: bool
) -> dict[str, list[Value]]:
    """Return declared levels; every observed value must be among them.

    Parameters
    ----------
    levels
        What the user declared, by sensitive feature.
    sensitive
        The sensitive features.
    counted
        The points, with the values that occur.
    twins
        Whether there are twins at all.

    Raises
    ------
    InputError
        If an observed value is not declared: its people would have no twin like themselves.
    """
    declared: dict[str, list[Value]] = {}
    for name, values in check_declared(levels, sensitive, twins=twins).items():
        listed = _listed_levels(f"levels[{name!r}]", values)
        for value in counted.columns[name].levels.tolist():
            if value not in listed:
                msg = f"`levels[{name!r}]` must hold every observed value, but lacks {shown(value)}"
                raise InputError(msg)
        declared[name] = listed
    return declared


def _listed_levels(name: str, values: object) -> list[Value]:
    """Return declared levels as single values that can be told apart.

    Parameters
    ----------
    name
        The parameter, for messages.
    values
        A list or array; None in it declares that the value may be missing.

    Raises
    ------
    InputError
        If it is a single word, a set, whose order is chance, or holds something that is no value.
    """
    refuse_masked(name, values)
    if isinstance(values, str) or shape_of(values) == () or isinstance(values, set):
        msg = f"`{name}` must list values, got {shown(values)}"
        raise InputError(msg)
    listed: list[Value] = []
    for value in plain_list(values):
        if not is_hashable(value):
            msg = f"`{name}` must list single values, got {shown(value)}"
            raise InputError(msg)
        if is_endless(value):
            msg = f"`{name}` must not hold NaN or infinity, got {value}; None is the missing level"
            raise InputError(msg)
        listed.append(value)
    return listed


def _with_twins(
    counted: Counted, reference: BoolArray, roles: Roles, declared: dict[str, list[Value]]
) -> tuple[Counted, BoolArray]:
    """Give every point all combinations of the sensitive levels, with the same label.

    Parameters
    ----------
    counted
        The points.
    reference
        Which of them are in the reference frame; a twin of one is in it too.
    roles
        Which columns are sensitive.
    declared
        Levels beyond those observed, by feature.

    Returns
    -------
    counted, reference
        Families of points, one after the other, people where they were and 0 at the others.

    Raises
    ------
    InputError
        If there would be too many points.
    """
    columns = dict(counted.columns)
    choices: list[Values] = []
    for name in roles.sensitive:
        column = columns[name]
        extra = [value for value in declared.get(name, []) if value is not None]
        if extra:
            levels = _with_declared(column.levels, extra)
            column = columns[name] = column.with_levels(levels)
        missing = [MISSING] if column.has_missing or None in declared.get(name, []) else []
        choices.append(np.array([*range(len(column.levels)), *missing], np.int64))
    rest = [name for name in roles.points if name not in roles.sensitive]
    nothing = np.zeros(len(counted.counts), np.int64)
    group = row_numbers([nothing, *(columns[name].codes for name in rest)])
    first = np.unique(group, return_index=True)[1]
    total = len(first) * check_twins(map(len, choices), len(first))
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


def _with_declared(levels: Values, declared: list[Value]) -> Values:
    """Return observed levels and declared ones; the order of bins is kept.

    Parameters
    ----------
    levels
        Those observed.
    declared
        Those that the user listed.
    """
    new = [value for value in declared if value not in levels.tolist()]
    return sorted_levels([*levels.tolist(), *new]) if new else levels


def _combo_of(
    columns: Mapping[str, CodedColumn], sensitive: Sequence[str], combos: IntArray
) -> IntArray:
    """Return the number of each point's combination of sensitive levels.

    Parameters
    ----------
    columns
        The points' columns.
    sensitive
        The sensitive ones.
    combos
        (combinations, sensitive) codes of all that there are.
    """
    both = [np.r_[combos[:, at], columns[name].codes] for at, name in enumerate(sensitive)]
    inverse = row_numbers(both)
    number = np.empty(len(combos), np.int64)
    number[inverse[: len(combos)]] = np.arange(len(combos))
    return number[inverse[len(combos) :]]
