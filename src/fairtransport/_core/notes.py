"""Note: a sentence that keeps its numbers as values, so that a shared document can round them."""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self


class Count(int):
    """A number of people, or of things counted among them."""

    __slots__ = ()


class Mean(float):
    """A mean loss, or a part of one."""

    __slots__ = ()


class Figure(float):
    """Any other number that depends on the data."""

    __slots__ = ()


class Wording(str):
    """A word for an exact number, and the word for a rounded one."""

    __slots__ = ("rounded",)
    rounded: str

    def __new__(cls, exact: str, rounded: str = "") -> Self:
        """Take both words."""
        self = super().__new__(cls, exact)
        self.rounded = rounded
        return self


class Note(str):
    """A sentence made of a template and values; as text it has the exact values.

    Values that are no `Count`, `Mean`, `Figure` or `Wording` (settings, limits, names) are written
    as they are in every document.

    Examples
    --------
    >>> Note("{shared} of {n} people have {name}", shared=Count(37), n=120, name="c37")
    '37 of 120 people have c37'
    """

    __slots__ = ("template", "values")
    template: str
    values: dict[str, object]

    def __new__(cls, template: str, **values: object) -> Self:
        """Write the values into the template."""
        self = super().__new__(cls, template.format(**values))
        self.template, self.values = template, values
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        return (self.template,), self.values

    def render(self, write: Callable[[object, str], str]) -> str:
        """Return the sentence with each value as ``write`` returns it for a format."""
        return _Writer(write).vformat(self.template, (), self.values)


def join_notes(notes: Sequence[Note]) -> Note:
    """Return notes as one, with "and" between them and the values of each."""
    places = " and ".join(f"{{part{at}}}" for at in range(len(notes)))
    return Note(places, **{f"part{at}": note for at, note in enumerate(notes)})


def keep_private(note: Note) -> Note:
    """Mark a note on few people, which documents for sharing leave out."""
    return Note("{text}", text=Wording(note))


class _Writer(Formatter):
    """Formatter that writes values by a function, also those of nested notes."""

    def __init__(self, write: Callable[[object, str], str]) -> None:
        self.write = write

    def format_field(self, value: object, format_spec: str) -> str:
        """Return one value as text."""
        return (
            value.render(self.write) if isinstance(value, Note) else self.write(value, format_spec)
        )
