"""Twins: the combinations of sensitive levels that people are compared at, and their points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fairtransport._core.ranks import find_firsts, number_rows
from fairtransport._core.validation import check_unmasked, shape_of, short_repr
from fairtransport.data.columns import (
    MISSING,
    CodedColumn,
    is_hashable,
    is_nonfinite,
    plain_list,
    sort_levels,
)
from fairtransport.data.database import RowCounts
from fairtransport.data.sample_space import ColumnSet
from fairtransport.errors import InputError, entry, param

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtransport._core.validation import BoolArray, IntArray
    from fairtransport.data.columns import Value
    from fairtransport.data.one_hot import OneHot

Together: TypeAlias = Mapping[tuple[str, ...], "list[tuple[Value, ...]] | None"]
"""Sets of columns with their combinations; None: those that occur."""

MAX_TWIN_POINTS = 25_000_000
"""Maximum number of points with twins, whose audit takes minutes and ten gigabytes."""


@dataclass(frozen=True, eq=False)
class TwinSet:
    """Sensitive columns that change together, and the combinations that twins take in them.

    ``combinations`` has one row of codes each; the first ``size`` are alternatives of everybody,
    the others are kept by people who have none of these.
    """

    columns: tuple[str, ...]
    combinations: IntArray
    size: int
    own: IntArray
    is_declared: bool

    @property
    def column_set(self) -> ColumnSet:
        """The set as stored in a space."""
        return ColumnSet(self.columns, self.is_declared, len(self.combinations) > self.size)


def check_together(name: str, value: object) -> Together | None:
    """Return sets of columns with their combinations, None for those that occur."""
    if value is None:
        return None
    pairs = [*value.items()] if isinstance(value, Mapping) else [
        (names, None) for names in (value if isinstance(value, list | tuple) else [value])
    ]  # fmt: skip
    sets: dict[tuple[str, ...], list[tuple[Value, ...]] | None] = {}
    for names, combinations in pairs:
        columns = names if isinstance(names, list | tuple) else ()
        if not columns or not all(isinstance(column, str) for column in columns):
            msg = (
                f"{param(name)} must list sets of columns, as in [['sex', 'relationship']], or map "
                f"them to combinations, got {short_repr(value)}"
            )
            raise InputError(msg)
        repeats = [column for at, column in enumerate(columns)
                   if column in columns[:at] or any(column in other for other in sets)]  # fmt: skip
        if repeats:
            msg = f"{param(name)} must name each column once, got {repeats[0]!r} twice"
            raise InputError(msg)
        sets[tuple(columns)] = (
            None
            if combinations is None
            else _check_combinations(name, tuple(columns), combinations)
        )
    return sets


def _check_combinations(
    name: str, columns: tuple[str, ...], value: object
) -> list[tuple[Value, ...]]:
    """Return the declared combinations of a set as tuples of single values."""
    key = entry(name, ", ".join(columns))
    rows = value if isinstance(value, list | tuple) else []
    combinations: list[tuple[Value, ...]] = []
    for row in rows:
        if not isinstance(row, list | tuple) or len(row) != len(columns):
            msg = (
                f"{param(key)} must list combinations of {len(columns)} values, got "
                f"{short_repr(row)}"
            )
            raise InputError(msg)
        combinations.append(tuple(_list_levels(key, list(row))))
    if not combinations:
        msg = f"{param(key)} must list at least one combination, got {short_repr(value)}"
        raise InputError(msg)
    return list(dict.fromkeys(combinations))


def _list_levels(name: str, values: object) -> list[Value]:
    """Return declared levels as a list of hashable, finite values."""
    check_unmasked(name, values)
    if isinstance(values, str) or shape_of(values) == () or isinstance(values, set):
        msg = f"{param(name)} must list values, got {short_repr(values)}"
        raise InputError(msg)
    levels: list[Value] = []
    for value in plain_list(values):
        if not is_hashable(value):
            msg = f"{param(name)} must list single values, got {short_repr(value)}"
            raise InputError(msg)
        if is_nonfinite(value):
            msg = (
                f"{param(name)} must not hold NaN or infinity, got {value}; None stands for a "
                "missing value"
            )
            raise InputError(msg)
        levels.append(value)
    return levels


def build_sets(
    rows: RowCounts, sensitive: Sequence[str], fixed: Iterable[str], levels: object,
    together: Together, one_hot: Sequence[OneHot],
) -> tuple[RowCounts, list[TwinSet]]:  # fmt: skip
    """Return rows with all levels, and the alternatives of each sensitive column or set.

    ``fixed`` names columns whose levels do not depend on the data.
    """
    names_by_level = check_level_names(levels, sensitive, twins=True)
    tables: dict[tuple[str, ...], list[tuple[Value, ...]] | None] = dict(together)
    for name, values in names_by_level.items():
        if any(name in columns and len(columns) > 1 for columns in together):
            msg = f"{param('levels')} must not name columns of {param('together')}, got {name!r}"
            raise InputError(msg)
        level_list = dict.fromkeys(_list_levels(entry("levels", name), values))
        if not level_list:
            msg = f"{param('levels', name)} must hold at least one value, got none"
            raise InputError(msg)
        tables[name,] = [(value,) for value in level_list]
    columns, features = dict(rows.columns), {feature.name: feature for feature in one_hot}
    single = [(name,) for name in sensitive if not any(name in names for names in tables)]
    sets = []
    # in the order of the sensitive columns, so that points do not depend on that of the sets
    for names in sorted([*tables, *single], key=lambda names: sensitive.index(names[0])):
        combinations = tables.get(names)
        parameter = "levels" if names[0] in names_by_level else "together"
        if combinations is not None:
            for name, values in zip(names, zip(*combinations, strict=True), strict=True):
                _check_known(parameter, name, values, features)
                columns[name] = _add_levels(columns[name], values)
        is_fixed = combinations is not None or (len(names) == 1 and names[0] in (*fixed, *features))
        sets.append(_build_set(columns, names, combinations, is_declared=is_fixed))
        if combinations is not None and np.all(sets[-1].own >= sets[-1].size):
            what = names[0] if parameter == "levels" else ", ".join(names)
            kind = "value" if parameter == "levels" else "combination"
            msg = (
                f"{param(parameter, what)} must hold at least one {kind} that occurs, got "
                f"{short_repr([row[0] if parameter == 'levels' else row for row in combinations])}"
            )
            raise InputError(msg)
    return RowCounts(columns, rows.counts), sets


def _check_known(
    parameter: str, name: str, values: Iterable[Value], features: Mapping[str, OneHot]
) -> None:
    """Check that a one-hot feature has the declared levels: it has no columns for others."""
    if name not in features:
        return
    feature = features[name]
    options = [*feature.levels, *([] if feature.dropped is None else [feature.dropped])]
    for value in values:
        if value not in options:
            msg = (
                f"{param(parameter)} must hold values of {name!r} ({', '.join(options)}), got "
                f"{short_repr(value)}"
            )
            raise InputError(msg)


def _add_levels(column: CodedColumn, values: Iterable[Value]) -> CodedColumn:
    """Return a column with the declared levels added, sorted if any is new."""
    own = column.levels.tolist()
    new = [value for value in values if value is not None and value not in own]
    return column.with_levels(sort_levels([*own, *new])) if new else column


def _build_set(
    columns: Mapping[str, CodedColumn], names: tuple[str, ...],
    combinations: list[tuple[Value, ...]] | None, *, is_declared: bool,
) -> TwinSet:  # fmt: skip
    """Return a set with its combinations: declared, all levels of one column, or observed ones."""
    codes = np.column_stack([columns[name].codes for name in names])
    if combinations is not None:
        places = [{value: code for code, value in enumerate(columns[name].levels.tolist())}
                  | {None: MISSING} for name in names]  # fmt: skip
        table = [[place[value] for place, value in zip(places, row, strict=True)]
                 for row in combinations]  # fmt: skip
        allowed = np.array(table, np.int64)
    elif len(names) == 1:
        column = columns[names[0]]
        missing = [MISSING] if column.has_missing else []
        allowed = np.array([*range(len(column.levels)), *missing], np.int64)[:, None]
    else:
        allowed = np.empty((0, len(names)), np.int64)
    both = np.r_[allowed, codes]
    number = number_rows(list(both.T))
    first = find_firsts(number, int(number.max()) + 1)
    # the allowed ones keep their order; others that occur follow
    order = np.sort(first)
    place = np.empty(len(order), np.int64)
    place[number[order]] = np.arange(len(order))
    size = len(allowed) or len(order)
    return TwinSet(names, both[order], size, place[number[len(allowed) :]], is_declared)


def add_twins(
    rows: RowCounts, reference: BoolArray, others: Sequence[str], sets: Sequence[TwinSet]
) -> tuple[RowCounts, BoolArray, IntArray | None, IntArray]:
    """Add to every point its twins, of the same label.

    Also return which points the reference has, their origins, and where the old points are now.

    A family is a set of points that agree in all other columns, and whose people can be each
    other's twins. People with a level that is no alternative for others keep it beside the
    alternatives: they form a family of their own, with copies of its points.
    """
    columns = rows.columns
    extra = np.array([np.where(one.own >= one.size, one.own, -1) for one in sets])
    origin = number_rows(list(extra))
    group = number_rows([origin, *(columns[name].codes for name in others)])
    first = find_firsts(group, int(group.max()) + 1)
    ways, place_of_way, families_of_way = np.unique(
        origin[first], return_index=True, return_counts=True
    )
    has_extra = extra[:, first[place_of_way]] >= 0
    sizes = np.array([[one.size] for one in sets]) + has_extra
    _check_points([prod(way) for way in sizes.T.tolist()], families_of_way.tolist())
    source, place, start, total = [], [], np.zeros(len(first), np.int64), 0
    for way in range(len(ways)):
        families = np.flatnonzero(origin[first] == ways[way])
        family_extra = extra[:, first[families[0]]].tolist()
        choices = [[*range(one.size), *([own] if own >= 0 else [])]
                   for one, own in zip(sets, family_extra, strict=True)]  # fmt: skip
        combinations = np.array(list(product(*choices)), np.int64)
        source.append(np.repeat(first[families], len(combinations)))
        place.append(np.tile(combinations, (len(families), 1)))
        start[families] = total + len(combinations) * np.arange(len(families))
        total += len(source[-1])
    points, numbers = np.concatenate(source), np.concatenate(place)
    twin_columns = {name: columns[name].take(points) for name in others}
    for one, number in zip(sets, numbers.T, strict=True):
        for name, codes in zip(one.columns, one.combinations.T, strict=True):
            twin_columns[name] = replace(columns[name], codes=codes[number])
    # people stay at their points; their other twins have count 0
    inside = np.zeros(len(rows.counts), np.int64)
    for one, size in zip(sets, sizes, strict=True):
        inside = inside * size[origin] + np.minimum(one.own, one.size)
    moved = start[group] + inside
    counts = np.bincount(moved, rows.counts, minlength=total).astype(np.int64)
    from_reference = (np.bincount(group, reference) > 0)[group[points]]
    is_partial = any(len(one.combinations) > one.size for one in sets)
    ways_of_points = origin[points] if is_partial else None
    return RowCounts(twin_columns, counts), from_reference, ways_of_points, moved


def check_level_names(
    levels: object, sensitive: Sequence[str], *, twins: bool
) -> Mapping[str, object]:
    """Check that ``levels`` maps sensitive features to values, and return it."""
    if levels is None:
        return {}
    if not twins:
        msg = (
            f"{param('levels')} needs {param('model')}: only a model can be queried for people "
            "with other sensitive values"
        )
        raise InputError(msg)
    if not isinstance(levels, Mapping):
        msg = f"{param('levels')} must map sensitive features to values, got {short_repr(levels)}"
        raise InputError(msg)
    for name in levels:
        if name not in sensitive:
            msg = f"{param('levels')} must name sensitive features, got {short_repr(name)}"
            raise InputError(msg)
    return levels


def check_twins(levels: Iterable[int], profiles: int = 1) -> int:
    """Return the number of twins of each profile; raise if there are too many in all."""
    size = prod(levels)
    _check_points([size], [profiles])
    return size


def _check_points(sizes: Sequence[int], families: Sequence[int]) -> None:
    """Raise if families of these sizes have too many points in total."""
    size = max(sizes)
    total = sum(size * count for size, count in zip(sizes, families, strict=True))
    if total > MAX_TWIN_POINTS:
        msg = (
            f"{param('sensitive_features')} have {size:,} combinations, which make {total:,} "
            f"different rows, more than {MAX_TWIN_POINTS:,}; audit a random sample of the rows, "
            f"name fewer {param('levels')}, or cut numbers with {param('bins')}"
        )
        raise InputError(msg)
