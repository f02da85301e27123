"""Shows the descriptions of a dataclass's fields as the Attributes of its docstring."""

from dataclasses import is_dataclass
from typing import get_type_hints

from fairtransport._core.schema import Doc


def read_descriptions(kind):
    """Return the description of each field of a dataclass, by name."""
    try:
        hints = get_type_hints(kind, include_extras=True) if is_dataclass(kind) else {}
    except NameError:  # a type that only a checker knows: not a field of a document
        return {}
    return {
        name: doc.sentence
        for name, hint in hints.items()
        for doc in getattr(hint, "__metadata__", ())
        if isinstance(doc, Doc)
    }


def add_attributes(_app, what, _name, kind, _options, lines):
    """Insert the section before the sections that follow it."""
    if what != "class" or "Attributes" in lines:
        return
    descriptions = read_descriptions(kind)
    if descriptions:
        place = lines.index("Examples") if "Examples" in lines else len(lines)
        entries = [line for name, text in descriptions.items() for line in (name, f"    {text}")]
        lines[place:place] = ["Attributes", "----------", *entries, ""]


def setup(app):
    """Run before numpydoc, which reads the sections."""
    app.connect("autodoc-process-docstring", add_attributes, priority=400)
    return {"parallel_read_safe": True}
