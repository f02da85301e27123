"""Controls: columns whose change should not matter, and the edits of people in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.ranks import number_rows
from fairtransport._core.validation import check_number, short_repr
from fairtransport.data.columns import MISSING
from fairtransport.data.twins import MAX_TWIN_POINTS
from fairtransport.errors import DataError, InputError, param

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport._core.validation import IntArray
    from fairtransport.data.sample_space import SampleSpace


MAX_CONTROL_LEVELS = 20
"""Levels of a control; with more, most would be seen once, and edits would be other people's."""


@dataclass(frozen=True)
class Controls:
    """Columns whose change should not matter: edits to compare the sensitive ones with.

    The model is asked about people with another value of one control, as about their twins. With
    controls a model is over the limit only if sensitive edits shift its answers by more than
    control edits do.

    Parameters
    ----------
    columns
        The control columns. The model receives them, and none of them is sensitive.
    margin
        By how much more sensitive edits may shift the loss, on average, than control edits.

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


def check_control_columns(controls: Controls, space: SampleSpace) -> None:
    """Check that the model receives every control, and that it varies and is not sensitive."""
    raw = space.encoded
    for name in controls.columns:
        if name in (*space.sensitive, *raw.sensitive):
            msg = f"{param('controls')} must not hold sensitive features, got {name!r}"
            raise InputError(msg)
        if name not in space.features:
            msg = (
                f"{param('controls')} must name columns that the model receives "
                f"({', '.join(space.features)}), got {name!r}"
            )
            raise InputError(msg)
        levels = len(_list_levels(space, name))
        if levels < 2:  # noqa: PLR2004
            msg = (
                f"{param('controls')} must name columns of two values or more, but {name!r} has one"
            )
            raise DataError(msg)
        if levels > MAX_CONTROL_LEVELS:
            msg = (
                f"{param('controls')} must name columns of at most {MAX_CONTROL_LEVELS} values, "
                f"but {name!r} has {levels}; pass {param('bins')} for a column of numbers"
            )
            raise DataError(msg)
    _check_size(controls, space)


def _list_levels(space: SampleSpace, name: str) -> IntArray:
    """Return the codes of the values that occur in a column."""
    codes = np.unique(space.columns[name].codes[space.observed])
    # a missing value is a value like others where missing values are allowed
    return np.concatenate([codes[codes != MISSING], codes[codes == MISSING]]).astype(np.int64)


def _check_size(controls: Controls, space: SampleSpace) -> None:
    """Check that people have not too many control edits in all."""
    edits = sum(len(_list_levels(space, name)) - 1 for name in controls.columns)
    points = int(space.observed.sum()) * edits
    if points > MAX_TWIN_POINTS:
        msg = (
            f"{param('controls')} make {points:,} control edits, more than {MAX_TWIN_POINTS:,}; "
            "name fewer columns, or sample rows at random"
        )
        raise InputError(msg)


def list_sensitive_edits(space: SampleSpace) -> tuple[IntArray, IntArray]:
    """Return observed points and their twins in one sensitive column, or set of columns, alone."""
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


def build_control_edits(controls: Controls, space: SampleSpace) -> tuple[IntArray, SampleSpace]:
    """Return observed points, and the points that each becomes by another value of one control."""
    people = np.flatnonzero(space.observed)
    sources: list[IntArray] = []
    codes: dict[str, list[IntArray]] = {name: [] for name in controls.columns}
    for name in controls.columns:
        levels = _list_levels(space, name)
        source = np.repeat(people, len(levels))
        value = np.tile(levels, len(people))
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
