"""Note: a sentence that keeps its numbers as values, so that a shared document can round them."""

from __future__ import annotations

from dataclasses import fields, replace
from string import Formatter
from typing import TYPE_CHECKING, Any, TypeVar

from fairtransport._core.schema import Document
from fairtransport.errors import render_message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

DocumentT = TypeVar("DocumentT", bound=Document)


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
    as they are in every document. References to parameters (`errors.param`, `errors.option`) are
    as in Python in the text, and as flags or fields in `spell`.

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
        self = super().__new__(cls, render_message(_Writer(format).fill(template, values)))
        self.template, self.values = template, values
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        return (self.template,), self.values

    def render(self, write: Callable[[object, str], str]) -> Note:
        """Return the sentence with each value as ``write`` returns it for a format."""
        return Note("{text}", text=_Writer(write).fill(self.template, self.values))

    def spell(self, names: Mapping[str, str]) -> str:
        """Return the sentence with parameters named as a surface names them."""
        return render_message(self.message, names)

    @property
    def message(self) -> str:
        """The sentence, its references to parameters not yet written out."""
        return _Writer(format).fill(self.template, self.values)


def spell_notes(document: DocumentT, names: Mapping[str, str]) -> DocumentT:
    """Return a document whose notes name parameters as a surface names them."""

    def spell(value: Any) -> Any:
        if isinstance(value, Note):
            return value.spell(names)
        if isinstance(value, Document):
            return spell_notes(value, names)
        return tuple(map(spell, value)) if type(value) is tuple else value

    plain: Any = document  # every kind of document is a dataclass
    values = {field.name: spell(getattr(plain, field.name)) for field in fields(plain)}
    spelled: DocumentT = replace(plain, **values)
    return spelled


def join_notes(notes: Sequence[Note], joint: str = " ") -> Note:
    """Return notes as one, with the values of each."""
    places = joint.join(f"{{part{at}}}" for at in range(len(notes)))
    return Note(places, **{f"part{at}": note for at, note in enumerate(notes)})


def keep_private(note: Note) -> Note:
    """Return a note that documents for sharing leave out: it would tell of few people."""
    return Note("{text}", text=Wording(note.message))


class _Writer(Formatter):
    """A formatter that writes values by a function; references to parameters stay marked."""

    def __init__(self, write: Callable[[Any, str], str]) -> None:
        self.write = write

    def fill(self, template: str, values: Mapping[str, object]) -> str:
        """Return a template with its values, and the values of notes among these."""
        return self.vformat(template, (), values)

    def format_field(self, value: object, format_spec: str) -> str:
        """Return one value as text."""
        if isinstance(value, Note):
            return self.fill(value.template, value.values)
        return self.write(value, format_spec)
