"""Build a SampleSpace from a table: roles, missing values, reference, twins; overlap of tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from fairtransport._core.ranks import sort_rows
from fairtransport._core.validation import (
    BoolArray,
    IntArray,
    check_choice,
    check_unmasked,
    list_values,
    nearest_hint,
    shape_of,
    short_repr,
)
from fairtransport.data.columns import (
    MISSING,
    Bins,
    check_bins,
    check_not_missing,
    check_not_mixed,
    check_one_spelling,
    check_usable,
    merge_columns,
)
from fairtransport.data.database import RowCounts, merge_rows
from fairtransport.data.design import build_units
from fairtransport.data.independence import check_groups, find_dependence, find_possible_units
from fairtransport.data.one_hot import find_one_hot
from fairtransport.data.sample_space import ColumnSet, SampleSpace
from fairtransport.data.sources import TableLike, as_source
from fairtransport.data.twins import add_twins, build_sets, check_level_names, check_together
from fairtransport.errors import InputError, param

if TYPE_CHECKING:
    import narwhals as nw
    from narwhals.typing import IntoDataFrame, IntoSeries

    from fairtransport._core.units import Units
    from fairtransport.data.columns import Value
    from fairtransport.data.database import Source
    from fairtransport.data.design import Clusters, Weights
    from fairtransport.data.one_hot import OneHot
    from fairtransport.data.twins import Together


MAX_OWN_SHARE = 0.5
"""Maximum share of a reference frame's rows that may be the audit data's own."""
STANDARD_ERRORS = 3.0
"""Standard errors subtracted from the estimated overlap."""


@dataclass(frozen=True)
class SharedRows:
    """Rows that a reference frame shares with the audit data.

    Equal points alone prove nothing: two samples of one population share most of few points. By
    Good and Turing a new person is at a point of the audit data with probability c = 1 − f₁/n,
    where f₁ people are alone at theirs; of m rows of the audit data and R − m new ones, m + (R −
    m)c are shared on average. ``own`` solves this for m, less three standard errors of the share of
    shared rows and of c (Esty 1983).
    """

    rows: int
    shared: int
    is_contained: bool
    own: float

    @classmethod
    def between(cls, frame_rows: IntArray, counts: IntArray) -> Self:
        """Compare the counts of each point in the frame and in the audit data."""
        rows, shared = int(frame_rows.sum()), int(frame_rows[counts > 0].sum())
        n, alone, pairs = int(counts.sum()), *np.bincount(np.minimum(counts, 3), minlength=3)[1:3]
        chance = 1 - alone / n
        variance = chance * (1 - chance) / rows + (alone * chance + 2 * pairs) / n**2
        excess = shared / rows - chance - STANDARD_ERRORS * math.sqrt(variance)
        own = 0.0 if alone == 0 else rows * min(1.0, max(0.0, excess / (1 - chance)))
        return cls(rows, shared, bool(np.all(frame_rows <= counts)), float(own))

    @property
    def is_from_the_sample(self) -> bool:
        """Whether the frame adds too little to the audit data to certify anything."""
        return self.is_contained or self.is_mostly_own

    @property
    def is_mostly_own(self) -> bool:
        """Whether at least half of the frame's rows are the audit data's."""
        return self.own >= MAX_OWN_SHARE * self.rows


def count_shared_people(space: SampleSpace, train: TableLike) -> int:
    """Count the people whose profile and label occur in the training data."""
    source, space = as_source(train, "train"), space.encoded
    lacking = [name for name in space.profile if name not in source.columns]
    if lacking:
        msg = f"{param('train')} must have the audited columns, but lacks {lacking[0]!r}"
        raise InputError(msg)
    label = [] if space.label is None or space.label not in source.columns else [space.label]
    names = [*space.profile, *label]
    columns = source.count(names, space.bins, None).columns
    profiles = set(zip(*(columns[name].to_list() for name in names), strict=True))
    rows = np.flatnonzero(space.observed)
    people = zip(*(space.columns[name].take(rows).to_list() for name in names), strict=True)
    counts = space.counts[rows].tolist()
    return sum(count for person, count in zip(people, counts, strict=True) if person in profiles)


def build_space(
    data: TableLike,
    label: object = None,
    *,
    sensitive_features: object,
    predictions: object = None,
    prediction_parameter: str = "predictions",
    features: Sequence[str] | None = None,
    counts: str | None = None,
    clusters: Clusters | None = None,
    sample_weight: Weights | None = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    missing: str = "error",
    levels: Mapping[str, Sequence[Value]] | None = None,
    together: object = None,
    targets: TableLike | None = None,
    twins: bool = False,
    label_matters: bool = True,
    by_model: bool = False,
) -> SampleSpace:
    """Build the sample space of an audit."""
    check_choice("missing", missing, ("error", "level"))
    prediction_values = (prediction_parameter, predictions)
    source = as_source(data)
    if by_model and features is not None:
        check_model_columns(features, source.columns)
    source, roles = find_roles(
        source, label, sensitive_features, prediction_values, features, counts,
        (clusters, sample_weight),
    )  # fmt: skip
    if not label_matters:
        roles = replace(roles, label=None)
    edges = check_bins(bins, (*roles.features, *roles.sensitive))
    rows, units = _count_rows(source, roles, edges, clusters, sample_weight)
    rows = _check_values(rows, roles, missing)
    check_groups(roles, rows)
    places = np.arange(len(rows.counts))
    notes = tuple(find_dependence(source, roles, rows))
    possible_units = {} if notes else find_possible_units(source, roles, rows, edges)
    reference, shared = np.zeros(len(rows.counts), bool), None
    if targets is not None:
        reference_rows = _read_reference(targets, roles, edges, missing)
        rows, reference, shared, places = _add_reference(rows, reference_rows, roles)
    sets_together = check_together("together", together) or {}
    # people of one cluster are not independent
    independent = rows.counts * (1.0 if units is None else units.n / rows.counts.sum())
    one_hot = find_one_hot(
        rows.columns, independent, roles.profile, roles.sensitive, list(sets_together), twins=twins
    )
    rows, model_features = _decode(rows, roles, one_hot), roles.features
    roles = _add_sets(_rename(roles, one_hot), sets_together, twins=twins)
    sets, origin = tuple(ColumnSet((name,), is_declared=False) for name in roles.sensitive), None
    if twins:
        rows, twin_sets = build_sets(rows, roles.sensitive, edges, levels, sets_together, one_hot)
        others = [name for name in roles.points if name not in roles.sensitive]
        rows, reference, origin, moved = add_twins(rows, reference, others, twin_sets)
        places = moved[places]
        sets = tuple(one.column_set for one in twin_sets)
    else:
        check_level_names(levels, roles.sensitive, twins=twins)
    # sorted by value, so that the order of rows does not matter
    keys = [rows.columns[name].ranks for name in roles.points]
    order = sort_rows(keys if origin is None else [*keys, origin])
    place_of = np.empty_like(order)
    place_of[order] = np.arange(len(order))
    return SampleSpace(
        columns={name: rows.columns[name].take(order) for name in roles.points},
        counts=rows.counts[order],
        features=roles.features,
        sensitive=roles.sensitive,
        label=roles.label,
        predictions=roles.predictions,
        has_twins=twins,
        column_sets=sets,
        origin=None if origin is None else origin[order],
        one_hot=one_hot,
        model_features=model_features,
        targets=None if targets is None else reference[order],
        reference=shared,
        bins=edges,
        library=source.library,
        notes=notes,
        units=None if units is None else units.move(place_of[places]),
        possible_units={name: one.move(place_of[places]) for name, one in possible_units.items()},
    )


def _count_rows(
    source: Source, roles: Roles, bins: Bins, clusters: Clusters | None, weights: Weights | None
) -> tuple[RowCounts, Units | None]:
    """Count the points, and the units that people belong to."""
    if not roles.design:
        return source.count(roles.points, bins, roles.counts), None
    rows = source.count([*roles.points, *roles.design], bins, None)
    points, place = merge_rows({name: rows.columns[name] for name in roles.points}, rows.counts)
    return points, build_units(rows, place, clusters, weights)


def _decode(rows: RowCounts, roles: Roles, one_hot: Sequence[OneHot]) -> RowCounts:
    """Return rows with one column for each one-hot feature."""
    columns = {name: rows.columns[name] for name in roles.points}
    for feature in one_hot:
        columns[feature.name] = feature.decode(rows.columns)
        columns = {name: one for name, one in columns.items()
                   if name == feature.name or name not in feature.columns}  # fmt: skip
    return RowCounts(columns, rows.counts)


def _rename(roles: Roles, one_hot: Sequence[OneHot]) -> Roles:
    """Return roles that name one-hot features instead of their columns."""
    names = {column: feature.name for feature in one_hot for column in feature.columns}
    features, sensitive = (
        tuple(dict.fromkeys(names.get(name, name) for name in columns))
        for columns in (roles.features, roles.sensitive)
    )
    return replace(roles, features=features, sensitive=sensitive)


def _add_sets(roles: Roles, together: Together, *, twins: bool) -> Roles:
    """Return roles in which every column of a set with a sensitive one is sensitive."""
    if together and not twins:
        msg = (
            f"{param('together')} needs {param('model')}: only a model can be queried for people "
            "with other sensitive values"
        )
        raise InputError(msg)
    for names in together:
        _check_columns("together", names, roles.profile)
        if not set(names) & set(roles.sensitive):
            msg = (
                f"{param('together')} must have a sensitive feature in each set "
                f"({', '.join(roles.sensitive)}), got {', '.join(names)}"
            )
            raise InputError(msg)
    columns = (name for names in together for name in names)
    return replace(roles, sensitive=tuple(dict.fromkeys((*roles.sensitive, *columns))))


def _check_values(rows: RowCounts, roles: Roles, missing: str) -> RowCounts:
    """Check the values of every column; missing values are allowed only as a level."""
    for name in roles.points:
        column = rows.columns[name]
        check_usable(name, column)
        if name == roles.label or name in roles.predictions:
            labels = column.levels.tolist() if column.levels.dtype == object else []
            check_not_mixed(name, labels)
            check_one_spelling(name, labels)
        people = int(rows.counts[column.codes == MISSING].sum())
        check_not_missing(
            name, people, missing, is_profile=name in roles.profile,
            is_numeric=column.levels.dtype.kind in "iuf",
        )  # fmt: skip
    return rows


def _read_reference(targets: TableLike, roles: Roles, bins: Bins, missing: str) -> RowCounts:
    """Count a reference frame in the same way as the audit data."""
    source = as_source(targets, "targets")
    _check_reference_columns(roles.points, source.columns)
    return _check_values(source.count(roles.points, bins, None), roles, missing)


def _add_reference(
    sample: RowCounts, reference: RowCounts, roles: Roles
) -> tuple[RowCounts, BoolArray, SharedRows, IntArray]:
    """Add the points of the reference frame with count 0, and mark them as targets."""
    for name in roles.points:
        both = sample.columns[name], reference.columns[name]
        check_not_mixed(name, [level for column in both for level in column.levels[:1]])
    columns = {
        name: merge_columns(sample.columns[name], reference.columns[name]) for name in roles.points
    }
    for name, column in columns.items():
        check_usable(name, column)
    nobody = np.zeros(len(reference.counts), np.int64)
    merged, inverse = merge_rows(columns, np.r_[sample.counts, nobody])
    # rows of the reference are possible targets, not people
    reference_counts = np.r_[np.zeros(len(sample.counts), np.int64), reference.counts]
    rows = np.bincount(inverse, reference_counts).astype(np.int64)
    places = inverse[: len(sample.counts)]
    return merged, rows > 0, SharedRows.between(rows, merged.counts), places


def _check_reference_columns(names: Sequence[str], columns: Sequence[str]) -> None:
    """Check that the reference frame has all columns of a point."""
    absent = [name for name in names if name not in columns]
    if absent:
        msg = f"{param('targets')} must have all audited columns, but lacks {', '.join(absent)}"
        raise InputError(msg)


@dataclass(frozen=True)
class Roles:
    """The column of each role."""

    features: tuple[str, ...]
    sensitive: tuple[str, ...]
    label: str | None
    predictions: tuple[str, ...]
    counts: str | None
    design: tuple[str, ...] = ()

    @property
    def profile(self) -> tuple[str, ...]:
        """The columns that describe a person: the features, then other sensitive columns."""
        return tuple(dict.fromkeys((*self.features, *self.sensitive)))

    @property
    def points(self) -> tuple[str, ...]:
        """The columns of a point, in the order that points are sorted by."""
        label = () if self.label is None else (self.label,)
        return tuple(dict.fromkeys((*self.profile, *label, *self.predictions)))


def find_roles(
    source: Source, label: object, sensitive: object, predictions: tuple[str, object],
    features: object, counts: object, design: Sequence[Clusters | Weights | None] = (),
) -> tuple[Source, Roles]:  # fmt: skip
    """Find the column of each role; arrays are attached to the source as columns."""
    own = list(source.columns)
    source, label_name = _resolve_column(source, "y", label, "label")
    source, prediction_names = _resolve_predictions(source, *predictions)
    if label_name in prediction_names:
        msg = (
            f"{param(predictions[0])} must not be the column of the true labels, got {label_name!r}"
        )
        raise InputError(msg)
    counts_name = None
    if counts is not None:
        (counts_name,) = _check_columns("counts", [counts], own)
        if counts_name in {label_name, *prediction_names}:
            msg = (
                f"{param('counts')} must not be the column of labels or predictions, got {counts!r}"
            )
            raise InputError(msg)
    reserved = reserve_columns(label_name, prediction_names, predictions[0])
    reserved |= {} if counts_name is None else {counts_name: "counts"}
    design_names = _resolve_design(design, own, reserved)
    source, sensitive_names = _resolve_sensitive(source, sensitive, reserved)
    if features is None:
        feature_names = [name for name in own if name not in reserved]
    else:
        feature_names = _check_columns("features", _check_names("features", features), own)
    if not sensitive_names:
        msg = f"{param('sensitive_features')} must name at least one column, got none"
        raise InputError(msg)
    # with predictions, sensitive features alone are enough
    if not feature_names and not prediction_names:
        msg = f"{param('features')} must name at least one column, got none"
        raise InputError(msg)
    check_no_overlap("features", feature_names, reserved)
    roles = Roles(
        tuple(feature_names),
        tuple(sensitive_names),
        label_name,
        tuple(prediction_names),
        counts_name,
        tuple(design_names),
    )
    return source, roles


def _resolve_design(
    design: Sequence[Clusters | Weights | None], columns: Sequence[str],
    reserved: dict[str, str],
) -> list[str]:  # fmt: skip
    """Return the columns of clusters and weights, and reserve them."""
    names: list[str] = []
    for parameter, one in zip(("clusters", "sample_weight"), design, strict=False):
        if one is not None:
            names += _check_columns(parameter, [one.column], columns)
            check_no_overlap(parameter, names[-1:], reserved)
            reserved[names[-1]] = parameter
    return names


def _resolve_column(
    source: Source, parameter: str, value: object, default_name: str
) -> tuple[Source, str | None]:
    """Return the name of a column; an array is attached to the source."""
    if value is None:
        return source, None
    if isinstance(value, str):
        _check_columns(parameter, [value], source.columns)
        return source, value
    own_name = getattr(value, "name", None)
    if own_name is not None:
        return _attach_named(source, parameter, str(own_name), value), str(own_name)
    name = _free_name(default_name, source.columns)
    return source.attach(name, value, parameter), name


def _attach_named(source: Source, parameter: str, name: str, values: object) -> Source:
    """Attach values as a column, unless the data have the same column."""
    place = _free_name(name, source.columns)
    attached = source.attach(place, values, parameter)
    if place == name:
        return attached
    columns = attached.count([name, place], {}, None).columns
    if columns[name].to_list() != columns[place].to_list():
        msg = (
            f"{param(parameter)} has the name {name!r} of a column of the data, but different "
            "values: pass the column's name, or rename one of them"
        )
        raise InputError(msg)
    return source


def _resolve_predictions(source: Source, parameter: str, value: object) -> tuple[Source, list[str]]:
    """Return the columns of the predictions; arrays are attached to the source."""
    if value is None:
        return source, []
    if isinstance(value, str):
        value = [value]
    elif not _are_names(value, parameter, source.columns):
        return _attach_predictions(source, parameter, value)
    return source, _check_columns(parameter, _check_names(parameter, value), source.columns)


def _are_names(value: object, parameter: str, columns: Sequence[str]) -> bool:
    """Return whether a list of strings names columns, and does not hold predicted labels."""
    if not isinstance(value, list | tuple) or not value:
        return False
    is_text = all(isinstance(item, str) for item in value)
    return is_text and (parameter == "y_score" or all(item in columns for item in value))


def _attach_predictions(source: Source, parameter: str, value: object) -> tuple[Source, list[str]]:
    """Attach an array of predictions: one column, or one per class."""
    check_unmasked(parameter, value)
    shape = shape_of(value)
    if isinstance(shape, str) or len(shape) <= 1:
        name = _free_name("prediction", source.columns)
        return source.attach(name, value, parameter), [name]
    names = []
    for at, part in enumerate(_score_columns(value)):
        names.append(_free_name(f"score_{at}", source.columns))
        source = source.attach(names[-1], part, parameter)
    return source, names


def _score_columns(value: object) -> Iterable[object]:
    """Return the columns of a table of scores; those of a frame keep their index."""
    import narwhals as nw

    frame = nw.from_native(value, eager_only=True, pass_through=True)
    return frame.iter_columns() if isinstance(frame, nw.DataFrame) else np.asarray(value).T


def _resolve_sensitive(
    source: Source, value: object, reserved: Mapping[str, str]
) -> tuple[Source, list[str]]:
    """Return the sensitive columns; those of an aligned frame are attached to the source."""
    if isinstance(value, str) or (
        isinstance(value, Sequence) and all(isinstance(name, str) for name in value)
    ):
        names = _check_names("sensitive_features", value)
        _check_columns("sensitive_features", names, source.columns)
        check_no_overlap("sensitive_features", names, reserved)
        return source, names
    return _attach_sensitive(source, value, reserved)


def _attach_sensitive(
    source: Source, value: object, reserved: Mapping[str, str]
) -> tuple[Source, list[str]]:
    """Attach the columns of a frame of sensitive features."""
    import narwhals as nw

    try:
        native: nw.DataFrame[IntoDataFrame] | nw.Series[IntoSeries] = nw.from_native(
            value, eager_only=True, allow_series=True, pass_through=False, series_only=False
        )
    except TypeError:
        msg = (
            f"{param('sensitive_features')} must be column names, or a data frame with a row for "
            f"each row of {param('X')}, got {short_repr(value)}"
        )
        raise InputError(msg) from None
    if isinstance(native, nw.Series):
        native = native.alias(str(native.name or "sensitive")).to_frame()
    frame = native
    check_no_overlap("sensitive_features", frame.columns, reserved)
    for name in frame.columns:
        source = _attach_named(source, "sensitive_features", name, frame[name])
    return source, list(frame.columns)


def _check_names(parameter: str, value: object) -> list[str]:
    """Return one name or several as a list of distinct names."""
    items = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
    names = [name for name in items if isinstance(name, str)]
    if len(set(names)) < len(items):
        msg = f"{param(parameter)} must be distinct column names, got {list_values(items)}"
        raise InputError(msg)
    return names


def _check_columns(parameter: str, names: Iterable[object], columns: Sequence[str]) -> list[str]:
    """Check that all names are columns of the data, and return them."""
    column_names = []
    for name in names:
        if not isinstance(name, str) or name not in columns:
            choices = ", ".join(columns)
            msg = (
                f"{param(parameter)} must name columns of the data ({choices}), got "
                f"{short_repr(name)}{nearest_hint(name, columns)}"
            )
            raise InputError(msg)
        column_names.append(name)
    return column_names


def reserve_columns(
    label: str | None, predictions: Iterable[str], parameter: str
) -> dict[str, str]:
    """Return the columns hidden from the model, with the parameter of each."""
    return dict.fromkeys(predictions, parameter) | ({} if label is None else {label: "y"})


def check_no_overlap(parameter: str, names: Sequence[str], reserved: Mapping[str, str]) -> None:
    """Check that no column is that of another parameter, which would show the model the answer."""
    for name in names:
        if name in reserved:
            msg = (
                f"{param(parameter)} and {param(reserved[name])} must not name the same column, "
                f"got {name!r} for both"
            )
            raise InputError(msg)


def check_model_columns(model_columns: Sequence[str], columns: Sequence[str]) -> None:
    """Check that the data have all columns which the model was fitted on."""
    for name in model_columns:
        if name not in columns:
            choices = ", ".join(columns)
            msg = (
                f"the model was fitted on the column {name!r}, which is not in the data; the data "
                f"has {choices}"
            )
            raise InputError(msg)


def _free_name(stem: str, columns: Sequence[str]) -> str:
    """Return an unused column name: the stem, with underscores where needed."""
    name = stem
    while name in columns:
        name += "_"
    return name
