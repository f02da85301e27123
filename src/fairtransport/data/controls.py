"""Controls: columns whose change should not matter, and the edits of people in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.ranks import number_rows
from fairtransport._core.validation import check_number, short_repr
from fairtransport.data.columns import MISSING, encode, object_array
from fairtransport.data.twins import MAX_TWIN_POINTS
from fairtransport.errors import DataError, InputError, param

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from fairtransport._core.validation import IntArray
    from fairtransport.data.columns import Value
    from fairtransport.data.sample_space import SampleSpace


MAX_CONTROL_LEVELS = 20
"""Maximum number of levels of a control; with more, most levels would occur once."""


@dataclass(frozen=True)
class Controls:
    """Columns whose change should not matter, to compare sensitive edits with.

    The model is queried about people with another value of one control, like about their twins. It
    is then over the limit only if sensitive edits shift its answers by more than control edits do.

    Parameters
    ----------
    columns
        The control columns: not sensitive, and received by the model.
    margin
        How much more sensitive edits may shift the mean loss than control edits.

    Examples
    --------
    >>> import fairtransport as ft
    >>> ft.Controls(["weekday", "car_colour"])
    Controls(columns=('weekday', 'car_colour'), margin=0.0)
    >>> ft.Controls([])
    Traceback (most recent call last):
    fairtransport.errors.InputError: `controls` must list names of columns, each once, got []
    """

    columns: Sequence[str]
    margin: float = 0.0

    def __post_init__(self) -> None:
        names = [self.columns] if isinstance(self.columns, str) else self.columns
        is_list = isinstance(names, list | tuple) and bool(names)
        if not is_list or not all(isinstance(name, str) and name for name in names) or len(
            set(names)
        ) < len(names):  # fmt: skip
            msg = (
                f"{param('controls')} must list names of columns, each once, got "
                f"{short_repr(self.columns)}"
            )
            raise InputError(msg)
        object.__setattr__(self, "columns", tuple(names))
        margin = check_number("controls.margin", self.margin, at_least=0)
        object.__setattr__(self, "margin", margin)


def add_columns(space: SampleSpace, levels: Mapping[str, Sequence[Value]]) -> SampleSpace:
    """Return a space with a model's own columns, all at their first level."""
    names = [name for name in levels if name not in space.columns]
    if not names:
        return space
    columns = dict(space.columns)
    for name in names:
        values = object_array(list(levels[name]))
        column = encode(values, np.zeros(len(values), bool))
        columns[name] = replace(column, codes=np.full(space.size, column.codes[0]))
    return replace(
        space,
        columns=columns,
        features=(*space.features, *names),
        model_features=(*space.model_features, *names) if space.one_hot else (),
    )


def check_control_columns(
    controls: Controls, space: SampleSpace, own: Mapping[str, Sequence[Value]]
) -> None:
    """Check that the model receives every control, and that it varies and is not sensitive."""
    for name in own:
        if name in space.columns:
            msg = f"{param('controls')} of the model must not be columns of the data, got {name!r}"
            raise InputError(msg)
    for name in controls.columns:
        if name in (*space.sensitive, *space.encoded.sensitive):
            msg = f"{param('controls')} must not hold sensitive features, got {name!r}"
            raise InputError(msg)
        if name not in (*space.features, *own):
            msg = (
                f"{param('controls')} must name columns that the model receives "
                f"({', '.join((*space.features, *own))}), got {name!r}"
            )
            raise InputError(msg)
    levels = list_control_levels(controls, add_columns(space, own), own)
    for name, codes in levels.items():
        if len(codes) < 2:  # noqa: PLR2004
            msg = (
                f"{param('controls')} must name columns of two values or more, but {name!r} has one"
            )
            raise DataError(msg)
        if len(codes) > MAX_CONTROL_LEVELS:
            msg = (
                f"{param('controls')} must name columns of at most {MAX_CONTROL_LEVELS} values, "
                f"but {name!r} has {len(codes)}; pass {param('bins')} for a column of numbers"
            )
            raise DataError(msg)
    points = int(space.observed.sum()) * sum(len(codes) - 1 for codes in levels.values())
    if points > MAX_TWIN_POINTS:
        msg = (
            f"{param('controls')} make {points:,} control edits, more than {MAX_TWIN_POINTS:,}; "
            "name fewer columns, or audit a random sample of the rows"
        )
        raise InputError(msg)


def list_control_levels(
    controls: Controls, space: SampleSpace, own: Collection[str]
) -> dict[str, IntArray]:
    """Return the codes that edits give a control: all of a model's own, else the observed ones."""
    return {
        name: np.arange(len(space.columns[name].levels))
        if name in own
        else _list_occurring(space, name)
        for name in controls.columns
    }


def _list_occurring(space: SampleSpace, name: str) -> IntArray:
    """Return the codes of the values that occur in a column."""
    codes = np.unique(space.columns[name].codes[space.observed])
    # a missing value is a level, if missing values are allowed
    return np.concatenate([codes[codes != MISSING], codes[codes == MISSING]]).astype(np.int64)


def list_sensitive_edits(space: SampleSpace) -> tuple[IntArray, IntArray]:
    """Return observed points and their twins in a single sensitive column or set of columns."""
    sets = [space.groups(one.columns) for one in space.column_sets]
    people = np.flatnonzero(space.observed)
    sources, targets = [], []
    for place in range(len(sets)):
        alike = number_rows([space.families, *sets[:place], *sets[place + 1 :]])
        order = np.argsort(alike, kind="stable")
        first = np.searchsorted(alike[order], np.arange(int(alike.max()) + 2))
        sizes = np.diff(first)[alike[people]]
        source = np.repeat(people, sizes)
        inside = np.arange(len(source)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        target = order[first[alike[source]] + inside]
        sources.append(source[target != source])
        targets.append(target[target != source])
    return np.concatenate(sources), np.concatenate(targets)


def build_control_edits(
    levels: Mapping[str, IntArray], space: SampleSpace
) -> tuple[IntArray, SampleSpace]:
    """Return observed points, and their edits to another value of one control."""
    people = np.flatnonzero(space.observed)
    sources: list[IntArray] = []
    codes: dict[str, list[IntArray]] = {name: [] for name in levels}
    for name, values in levels.items():
        source = np.repeat(people, len(values))
        value = np.tile(values, len(people))
        differs = space.columns[name].codes[source] != value
        sources.append(source[differs])
        for other, parts in codes.items():
            own = space.columns[other].codes[sources[-1]]
            parts.append(value[differs] if other == name else own)
    source = np.concatenate(sources)
    edits = replace(space, units=None).take(source)
    columns = {
        name: replace(edits.columns[name], codes=np.concatenate(parts).astype(np.int64))
        for name, parts in codes.items()
    }
    return source, replace(edits, columns={**edits.columns, **columns})
