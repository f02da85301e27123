"""Shows what is said at the fields of a dataclass as the Attributes of its docstring."""

from dataclasses import is_dataclass
from typing import get_type_hints

from fairtransport._core.schema import Doc


def said_at_fields(kind):
    """Return what is said at each field of a dataclass, by name."""
    try:
        hints = get_type_hints(kind, include_extras=True) if is_dataclass(kind) else {}
    except NameError:  # a type that only a checker knows: no field of a document
        return {}
    return {
        name: said.sentence
        for name, hint in hints.items()
        for said in getattr(hint, "__metadata__", ())
        if isinstance(said, Doc)
    }


def add_attributes(_app, what, _name, kind, _options, lines):
    """Put the section before those that follow it."""
    if what != "class" or "Attributes" in lines:
        return
    said = said_at_fields(kind)
    if said:
        place = lines.index("Examples") if "Examples" in lines else len(lines)
        entries = [line for name, text in said.items() for line in (name, f"    {text}")]
        lines[place:place] = ["Attributes", "----------", *entries, ""]


def setup(app):
    """Come before numpydoc, which reads the sections."""
    app.connect("autodoc-process-docstring", add_attributes, priority=400)
    return {"parallel_read_safe": True}
