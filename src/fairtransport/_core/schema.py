"""Frozen dataclasses as documents: plain JSON, and a JSON Schema from field descriptions."""

from __future__ import annotations

import json
import math
import types
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, TypeAlias, Union, get_args, get_origin, get_type_hints

Schema: TypeAlias = dict[str, object]


_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


@dataclass(frozen=True)
class Doc:
    """The description of a field, as in ``n: Annotated[int, Doc("The number of people.")]``."""

    sentence: str
    one_of: tuple[str, ...] = ()
    may_be_infinite: bool = False


def to_plain(value: object) -> object:
    """Return nested dataclasses as plain JSON values; non-finite numbers become None."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def to_json_text(value: object) -> str:
    r"""Return nested dataclasses as JSON text, the same bytes for the same values."""
    plain = to_plain(value)
    text = json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate can only be escaped
        text = json.dumps(plain, indent=1, allow_nan=False)
    return text + "\n"


def json_schema(kind: type, title: str) -> Schema:
    """Return the JSON Schema (draft 2020-12) of a dataclass whose fields all have a `Doc`.

    Every field is required and no other is allowed. An object is described by the first line of its
    docstring.
    """
    definitions: dict[str, Schema] = {}
    document = _object(kind, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **document,
        "$defs": dict(sorted(definitions.items())),
    }


def _object(kind: type, definitions: dict[str, Schema]) -> Schema:
    """Return the schema of one dataclass; nested ones go into ``definitions``."""
    hints = get_type_hints(kind, include_extras=True)
    properties = {field.name: _field(hints[field.name], definitions) for field in fields(kind)}
    return {
        "description": (kind.__doc__ or "").partition("\n")[0],
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _field(hint: object, definitions: dict[str, Schema]) -> Schema:
    """Return the schema of a field: its description and its type."""
    plain, doc = get_args(hint)
    if doc.one_of:
        none = [None] if type(None) in get_args(plain) else []
        return {"description": doc.sentence, "enum": [*doc.one_of, *none]}
    if doc.may_be_infinite:
        plain |= None
    return {"description": doc.sentence, **_type(plain, definitions)}


def _type(hint: object, definitions: dict[str, Schema]) -> Schema:
    """Return the schema of a type: plain, a union, a dict, a tuple or a dataclass."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in {Union, types.UnionType}:
        return _union([_type(part, definitions) for part in parts])
    if origin is dict:
        return {"type": "object", "additionalProperties": _type(parts[1], definitions)}
    if origin is tuple:
        fixed = {} if parts[-1] is Ellipsis else {"minItems": len(parts), "maxItems": len(parts)}
        return {"type": "array", "items": _type(parts[0], definitions), **fixed}
    if hint is Any:
        return {}
    if is_dataclass(hint) and isinstance(hint, type):
        if hint.__name__ not in definitions:
            definitions[hint.__name__] = _object(hint, definitions)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    return {"type": next(word for kind, word in _PLAIN.items() if hint is kind)}


def _union(kinds: list[Schema]) -> Schema:
    """Return a list of plain types if possible, else alternatives."""
    if all(set(kind) == {"type"} for kind in kinds):
        return {"type": [kind["type"] for kind in kinds]}
    return {"anyOf": kinds}


class Document:
    """A frozen dataclass that is a JSON document and can be rendered as a report."""

    DEFAULT_TITLE: ClassVar[str]

    @property
    def report_title(self) -> str:
        """The heading of the report."""
        return self.DEFAULT_TITLE

    @property
    def report_subtitle(self) -> dict[str, str | None]:
        """Lines under the heading, by name; None is left out."""
        return {}

    @property
    def package_version(self) -> str:
        """The version of fairtransport that created the document."""
        raise NotImplementedError

    def as_json(self) -> dict[str, Any]:
        """Return the document as plain lists and dicts."""
        plain = to_plain(self)
        assert isinstance(plain, dict)  # noqa: S101
        return plain

    def to_json(self) -> str:
        """Return the document as JSON text, the same bytes for the same result."""
        return to_json_text(self)
