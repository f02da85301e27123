"""Templates of prompts: columns in braces, wordings of levels, stand-ins for groups, edits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from string import Formatter
from typing import TYPE_CHECKING, TypeAlias

from fairtransport._core.validation import is_among, list_values, short_repr
from fairtransport.access.black_box import plain_items
from fairtransport.access.model_files import plain_column
from fairtransport.errors import InputError, ModelError, param

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from fairtransport.data.columns import Value


Wording: TypeAlias = "Mapping[str, Mapping[Value, str]]"
"""The words of each level, by place in the template."""


@dataclass(frozen=True)
class StandIns:
    """Names that signal groups; names at the same position correspond to each other."""

    name: str
    keys: tuple[str, ...]
    names: Mapping[tuple[Value, ...], Sequence[str]]

    def of(self, row: Mapping[str, Value]) -> str:
        """Return the name for a person.

        The position among a group's names is a hash of the columns that define no groups, so that
        twins share it and every run repeats it.
        """
        group = tuple(row[key] for key in self.keys)
        names = self.names.get(group)
        if names is None:
            msg = f"{param('stand_ins')} must have a {self.name} for {short_repr(group)}, got none"
            raise ModelError(msg)
        others = [[name, value] for name, value in sorted(row.items()) if name not in self.keys]
        place = int(sha256(json.dumps(others).encode()).hexdigest(), 16) % len(names)
        return names[place]


@dataclass(frozen=True)
class Template:
    """A text with columns in braces, as in "{age} years old; {sex} has {sex:possessive} …"."""

    text: str
    wording: Wording = field(default_factory=dict)
    stand_ins: StandIns | None = None

    @property
    def places(self) -> tuple[str, ...]:
        """Distinct contents of braces, such as "sex" or "sex:possessive"."""
        parts = Formatter().parse(self.text)
        names = [f"{name}:{form}" if form else name for _, name, form, _ in parts if name]
        return tuple(dict.fromkeys(names))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a prompt uses, in the order of the text."""
        names: list[str] = []
        for place in self.places:
            is_name = self.stand_ins is not None and place == self.stand_ins.name
            names += self.stand_ins.keys if self.stand_ins and is_name else [column_of(place)]
        return tuple(dict.fromkeys(names))

    def prompts(self, points: pd.DataFrame) -> list[str]:
        """Return the prompt for each point."""
        columns = {name: plain_column(points, name) for name in self.columns}
        rows = zip(*columns.values(), strict=True)
        return [self._fill(dict(zip(columns, row, strict=True))) for row in rows]

    def edit(self, names: Sequence[str]) -> Template:
        """Return the template with predefined edits."""
        text = self.text
        for name in names:
            text = EDITS[name](text)
        return replace(self, text=text)

    def _fill(self, row: Mapping[str, Value]) -> str:
        """Return the text with one person's columns in it."""
        parts = []
        for before, name, form, _ in Formatter().parse(self.text):
            parts.append(before)
            if name:
                parts.append(self._format_value(f"{name}:{form}" if form else name, row))
        return "".join(parts)

    def _format_value(self, place: str, row: Mapping[str, Value]) -> str:
        """Return the words at a place of the template for one person."""
        if self.stand_ins is not None and place == self.stand_ins.name:
            return self.stand_ins.of(row)
        value = row[column_of(place)]
        words = self.wording.get(place)
        if words is None and isinstance(value, str | int | float) and not isinstance(value, bool):
            is_whole = isinstance(value, float) and value.is_integer()
            return str(int(value) if is_whole else value)
        for key in () if words is None else (value, str(value), str(value).lower()):
            if words is not None and key in words:
                return words[key]
        msg = f"{param('wording')} must have words for the value {short_repr(value)} of {place!r}"
        raise ModelError(msg)


SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+(?![^{}]*\})")
"""Spaces between sentences, outside braces."""


def _split_parts(text: str) -> tuple[list[str], str]:
    """Return the lines of a text, or the sentences of a single line, and their separator."""
    lines = text.strip().splitlines()
    return (lines, "\n") if len(lines) > 1 else (SENTENCE_END.split(text.strip()), " ")


def _add_blank_line(text: str) -> str:
    """Return a text with a blank line before its last sentence or line."""
    parts, joint = _split_parts(text)
    return text if len(parts) == 1 else f"{joint.join(parts[:-1])}\n\n{parts[-1]}"


def _reorder(text: str) -> str:
    """Reverse the parts of a text that hold columns; move the first part last if only one does."""
    parts, joint = _split_parts(text)
    places = [place for place, part in enumerate(parts) if "{" in part.replace("{{", "")]
    if len(parts) == 1:
        return text
    if len(places) == 1:
        return joint.join([*parts[1:], parts[0]])
    reordering = dict(zip(places, reversed(places), strict=True))
    return joint.join(parts[reordering.get(place, place)] for place in range(len(parts)))


EDITS: Mapping[str, Callable[[str], str]] = {
    "blank line": _add_blank_line,
    "reordered": _reorder,
}
"""Predefined edits of a template that should not matter."""


UNEDITED, EDITED = "no", "yes"
"""Values of the column of an edit."""


def as_edits(controls: object, template: Template) -> tuple[str, ...]:
    """Return the predefined edits that a user names, each of which changes the template."""
    names = [controls] if isinstance(controls, str) else plain_items(controls)
    is_list = names is not None and len({*map(str, names)}) == len(names)
    unknown = [name for name in names or () if not is_among(name, tuple(EDITS))]
    if not is_list or unknown:
        got = unknown[0] if unknown else controls
        msg = (
            f"{param('controls')} of a prompt must be ready-made edits ({', '.join(EDITS)}), each "
            f"once, got {short_repr(got)}"
        )
        raise InputError(msg)
    for name in names or ():
        if name in template.columns:
            msg = f"{param('controls')} must not be columns of the template, got {name!r}"
            raise InputError(msg)
        if template.edit([name]).text == template.text:
            msg = (
                f"{param('controls')} must change the prompt, but {name!r} leaves "
                f"{short_repr(template.text)} as it is"
            )
            raise InputError(msg)
    return tuple(names or ())


def column_of(place: str) -> str:
    """Return the column of a place in a template, without its form."""
    return place.partition(":")[0]


def as_template(text: object, wording: object, stand_ins: object) -> Template:
    """Return a checked template."""
    try:
        parts = list(Formatter().parse(text)) if isinstance(text, str) else []
    except ValueError as error:
        msg = f"{param('template')} must have columns in braces, as in '{{age}}': {error}"
        raise InputError(msg) from None
    if not any(name for _, name, _, _ in parts) or any(how for _, _, _, how in parts):
        msg = (
            f"{param('template')} must be a text with columns in braces, as in '{{age}}', got "
            f"{short_repr(text)}"
        )
        raise InputError(msg)
    if any(name == "" for _, name, _, _ in parts):
        msg = (
            f"{param('template')} must name a column in each pair of braces; {{{{ and }}}} stand "
            "for braces"
        )
        raise InputError(msg)
    template = Template(str(text), _as_wording(wording), _as_stand_ins(stand_ins))
    for place in template.wording:
        if place not in template.places:
            msg = (
                f"{param('wording')} must be about {list_values(template.places)}, got "
                f"{short_repr(place)}"
            )
            raise InputError(msg)
    if template.stand_ins is not None and template.stand_ins.name not in template.places:
        got = template.stand_ins.name
        msg = f"{param('stand_ins')} must end in a column that the template names, got {got!r}"
        raise InputError(msg)
    return template


def _as_wording(value: object) -> dict[str, dict[Value, str]]:
    """Return the words of levels by place, checked."""
    rule = f"{param('wording')} must map columns to words for their values"
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        msg = f"{rule}, got {short_repr(value)}"
        raise InputError(msg)
    wording: dict[str, dict[Value, str]] = {}
    for place, words in value.items():
        if not isinstance(words, Mapping) or not all(isinstance(to, str) for to in words.values()):
            msg = f"{rule}, got {short_repr(words)} for {short_repr(place)}"
            raise InputError(msg)
        wording[str(place)] = dict(words)
    return wording


def _as_stand_ins(value: object) -> StandIns | None:
    """Return the names in a table: its last column holds names, the others form groups."""
    if value is None:
        return None
    import narwhals as nw

    try:
        frame = nw.from_native(value, eager_only=True)  # type: ignore[call-overload]
        *keys, name = frame.columns
        rows = frame.rows()
    except (TypeError, ValueError):
        keys, name, rows = [], "", []
    if not keys or not rows:
        msg = (
            f"{param('stand_ins')} must be a table of groups and, last, names, got "
            f"{short_repr(value)}"
        )
        raise InputError(msg)
    names: dict[tuple[Value, ...], list[str]] = {}
    for row in rows:
        names.setdefault(tuple(row[:-1]), []).append(str(row[-1]))
    sizes = sorted({len(group) for group in names.values()})
    if len(sizes) > 1:
        msg = (
            f"{param('stand_ins')} must have as many names for each group, so that a person's "
            f"copies get names from the same row, got {sizes[0]} to {sizes[-1]}"
        )
        raise InputError(msg)
    return StandIns(str(name), tuple(map(str, keys)), names)
