"""A prompt with columns in it: how each level is worded, and names that stand for groups."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from string import Formatter
from typing import TYPE_CHECKING, TypeAlias

from fairtransport.access.casting import plain_column
from fairtransport.checks import shown
from fairtransport.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from fairtransport.space.columns import Value

Wording: TypeAlias = "Mapping[str, Mapping[Value, str]]"
"""By what stands between braces, the words of each level."""


@dataclass(frozen=True)
class StandIns:
    """Names that stand for groups: those of one place in every group go together.

    Attributes
    ----------
    name
        What stands between braces in the template.
    keys
        The columns that make the groups.
    names
        The names of each group.
    """

    name: str
    keys: tuple[str, ...]
    names: Mapping[tuple[Value, ...], Sequence[str]]

    def of(self, row: Mapping[str, Value]) -> str:
        """Return the name of a person: that of a twin in another group has the same place.

        Which place is decided by the columns that make no groups.

        Parameters
        ----------
        row
            The person's columns.

        Raises
        ------
        ModelError
            If the person's group has no names.

        Notes
        -----
        The place is a hash of the other columns, so that twins share it and it is the same in every
        run.
        """
        group = tuple(row[key] for key in self.keys)
        names = self.names.get(group)
        if names is None:
            msg = f"`stand_ins` must have a {self.name} for {shown(group)}, got none"
            raise ModelError(msg)
        others = [[name, value] for name, value in sorted(row.items()) if name not in self.keys]
        place = int(sha256(json.dumps(others).encode()).hexdigest(), 16) % len(names)
        return names[place]


@dataclass(frozen=True)
class Template:
    """A text with columns in braces, as in "{age} years old; {sex} has {sex:possessive} …".

    Attributes
    ----------
    text
        The text.
    wording
        The words of levels, by what stands between the braces. Text and numbers that are not
        worded stand for themselves.
    stand_ins
        Names that stand for groups.
    """

    text: str
    wording: Wording = field(default_factory=dict)
    stand_ins: StandIns | None = None

    @property
    def places(self) -> tuple[str, ...]:
        """What stands between braces, as "sex" or "sex:possessive", each once."""
        found = Formatter().parse(self.text)
        named = [f"{name}:{form}" if form else name for _, name, form, _ in found if name]
        return tuple(dict.fromkeys(named))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a prompt tells of, in the order of the text."""
        names: list[str] = []
        for place in self.places:
            is_name = self.stand_ins is not None and place == self.stand_ins.name
            names += self.stand_ins.keys if self.stand_ins and is_name else [column_of(place)]
        return tuple(dict.fromkeys(names))

    def prompts(self, points: pd.DataFrame) -> list[str]:
        """Return the prompt for each point.

        Parameters
        ----------
        points
            With the template's columns.
        """
        columns = {name: plain_column(points, name) for name in self.columns}
        rows = zip(*columns.values(), strict=True)
        return [self._filled(dict(zip(columns, row, strict=True))) for row in rows]

    def _filled(self, row: Mapping[str, Value]) -> str:
        """Return the text with one person's columns in it."""
        made = []
        for before, name, form, _ in Formatter().parse(self.text):
            made.append(before)
            if name:
                made.append(self._worded(f"{name}:{form}" if form else name, row))
        return "".join(made)

    def _worded(self, place: str, row: Mapping[str, Value]) -> str:
        """Return the words at a place of the template for one person.

        Parameters
        ----------
        place
            As "sex" or "sex:possessive".
        row
            The person's columns.

        Raises
        ------
        ModelError
            If a level needs words and has none: a missing value or a truth value never stands for
            itself.
        """
        if self.stand_ins is not None and place == self.stand_ins.name:
            return self.stand_ins.of(row)
        value = row[column_of(place)]
        words = self.wording.get(place)
        if words is None and isinstance(value, str | int | float) and not isinstance(value, bool):
            whole = isinstance(value, float) and value.is_integer()
            return str(int(value) if whole else value)
        for key in () if words is None else (value, str(value), str(value).lower()):
            if words is not None and key in words:
                return words[key]
        msg = f"`wording` must say how {place!r} is worded where it is {shown(value)}"
        raise ModelError(msg)


def column_of(place: str) -> str:
    """Return the column of a place in a template: what stands before its form.

    Parameters
    ----------
    place
        What stands between braces.

    Examples
    --------
    >>> column_of("sex:possessive")
    'sex'
    """
    return place.partition(":")[0]


def as_template(text: object, wording: object, stand_ins: object) -> Template:
    """Return the template that a user describes, checked.

    Parameters
    ----------
    text
        With columns in braces.
    wording
        The words of levels by place, or None.
    stand_ins
        A table of groups and names, or None.

    Raises
    ------
    InputError
        If there is no column in braces, or words and names are about something else.

    Examples
    --------
    >>> as_template("A person of {age} years.", None, None).columns
    ('age',)
    """
    try:
        parts = list(Formatter().parse(text)) if isinstance(text, str) else []
    except ValueError as error:
        msg = f"`template` must have columns in braces, as in '{{age}}': {error}"
        raise InputError(msg) from None
    if not any(name for _, name, _, _ in parts) or any(how for _, _, _, how in parts):
        msg = (
            f"`template` must be a text with columns in braces, as in '{{age}}', got {shown(text)}"
        )
        raise InputError(msg)
    if any(name == "" for _, name, _, _ in parts):
        msg = "`template` must name a column in each pair of braces; {{ and }} stand for braces"
        raise InputError(msg)
    found = Template(str(text), _as_wording(wording), _as_stand_ins(stand_ins))
    for place in found.wording:
        if place not in found.places:
            msg = f"`wording` must be about {shown(list(found.places))}, got {shown(place)}"
            raise InputError(msg)
    if found.stand_ins is not None and found.stand_ins.name not in found.places:
        got = found.stand_ins.name
        msg = f"`stand_ins` must end in a column of the template's, got {got!r}, which is not there"
        raise InputError(msg)
    return found


def _as_wording(given: object) -> dict[str, dict[Value, str]]:
    """Return the words of levels by place, checked.

    Raises
    ------
    InputError
        If they are no table of tables of words.

    Examples
    --------
    >>> _as_wording({"sex": {"f": "a woman", "m": "a man"}})
    {'sex': {'f': 'a woman', 'm': 'a man'}}
    """
    rule = "`wording` must map columns to the words of their levels"
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        msg = f"{rule}, got {shown(given)}"
        raise InputError(msg)
    made: dict[str, dict[Value, str]] = {}
    for place, words in given.items():
        if not isinstance(words, Mapping) or not all(isinstance(to, str) for to in words.values()):
            msg = f"{rule}, got {shown(words)} for {shown(place)}"
            raise InputError(msg)
        made[str(place)] = dict(words)
    return made


def _as_stand_ins(given: object) -> StandIns | None:
    """Return the names in a table: its last column are names, the others make groups.

    Parameters
    ----------
    given
        Any eager data frame; None stays None.

    Raises
    ------
    InputError
        If it is none, is empty, or groups have different numbers of names.
    """
    if given is None:
        return None
    import narwhals as nw

    try:
        frame = nw.from_native(given, eager_only=True)  # type: ignore[call-overload]
        *keys, name = frame.columns
        rows = frame.rows()
    except (TypeError, ValueError):
        keys, name, rows = [], "", []
    if not keys or not rows:
        msg = f"`stand_ins` must be a table of groups and, last, names, got {shown(given)}"
        raise InputError(msg)
    names: dict[tuple[Value, ...], list[str]] = {}
    for row in rows:
        names.setdefault(tuple(row[:-1]), []).append(str(row[-1]))
    sizes = sorted({len(of) for of in names.values()})
    if len(sizes) > 1:
        msg = (
            "`stand_ins` must have as many names for each group, so that twins get names of the "
            f"same place, got {sizes[0]} to {sizes[-1]}"
        )
        raise InputError(msg)
    return StandIns(str(name), tuple(map(str, keys)), names)
