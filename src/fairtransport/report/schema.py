"""The JSON Schema of the audit document, made from the dataclasses that it is made of."""

from __future__ import annotations

import types
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from fairtransport.report.descriptions import DESCRIPTIONS, TITLES
from fairtransport.summary import SCHEMA, AuditSummary

WORDS: dict[str, list[str | None]] = {
    "AuditSummary.schema": [SCHEMA],
    "AuditSummary.target_scope": ["twins", "reference", "observed"],
    "AuditSummary.guarantee": ["finite-sample", "asymptotic"],
    "AuditSummary.verdict": ["rejected", "certified", "inconclusive", None],
    "MethodLimits.guarantee": ["finite-sample", "asymptotic"],
    "FlowTable.kind": ["simultaneous intervals", "descriptive"],
}
"""Fields that take one of a few words."""
MAY_BE_INFINITE = {"AuditSummary.price", "WorstPair.ratio"}
"""Numbers that become null where they are infinite."""
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def audit_schema() -> dict[str, Any]:
    """Return the schema (JSON Schema, draft 2020-12).

    Every field is required and no other is allowed, so that a document that validates holds
    what the documentation says, no more and no less.
    """
    definitions: dict[str, Any] = {}
    document = _object(AuditSummary, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A fairtransport audit",
        **document,
        "$defs": dict(sorted(definitions.items())),
    }


def _object(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    properties = {}
    for field in fields(kind):
        key = f"{kind.__name__}.{field.name}"
        properties[field.name] = {
            "description": DESCRIPTIONS[key],
            **_field(key, hints[field.name], definitions),
        }
    return {
        "description": TITLES[kind.__name__],
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _field(key: str, hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if key in WORDS:
        return {"enum": WORDS[key]}
    return _type(hint | None if key in MAY_BE_INFINITE else hint, definitions)


def _type(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in {Union, types.UnionType}:
        return _union([_type(part, definitions) for part in parts])
    if origin is dict:
        return {"type": "object", "additionalProperties": _type(parts[1], definitions)}
    if origin is tuple:
        items = _type(parts[0], definitions)
        fixed = {} if parts[-1] is Ellipsis else {"minItems": len(parts), "maxItems": len(parts)}
        return {"type": "array", "items": items, **fixed}
    if hint is Any:
        return {}
    if is_dataclass(hint) and isinstance(hint, type):
        if hint.__name__ not in definitions:
            definitions[hint.__name__] = _object(hint, definitions)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    return {"type": _PLAIN[hint]}


def _union(kinds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one type with several names where that says it all, else alternatives."""
    if all(set(kind) == {"type"} for kind in kinds):
        return {"type": [kind["type"] for kind in kinds]}
    return {"anyOf": kinds}
