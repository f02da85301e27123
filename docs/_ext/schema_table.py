"""A directive that lists the fields of a document from its JSON schema."""

import json
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive


def fields(schema):
    """Yield name, type and description of every field, nested objects after their own field."""
    for name, field in schema.get("properties", {}).items():
        yield name, kind(field), field.get("description", "")


def kind(field):
    """Return the values of a field as text."""
    if "$ref" in field:
        return field["$ref"].rsplit("/", 1)[-1]
    if "anyOf" in field:
        return " or ".join(kind(one) for one in field["anyOf"])
    if "enum" in field:
        return " or ".join(map(str, field["enum"]))
    if field.get("type") == "array":
        return f"list of {kind(field.get('items', {}))}"
    kinds = field.get("type", "anything")
    named = [kinds] if isinstance(kinds, str) else kinds
    return " or ".join("nothing" if one == "null" else one for one in named)


class SchemaTable(Directive):
    """``schema-table`` and a file of this folder: a table for the document and each part."""

    required_arguments = 1

    def run(self):
        folder = Path(self.state.document.settings.env.srcdir)
        schema = json.loads((folder / self.arguments[0]).read_text("utf-8"))
        parts = {"": schema, **schema.get("$defs", {})}
        if "$ref" in schema:
            first = schema["$ref"].rsplit("/", 1)[-1]
            parts = {first: schema["$defs"][first], **schema["$defs"]}
        return [
            node
            for name, part in parts.items()
            if part.get("properties")
            for node in (*heading(name, part), table(part))
        ]


def heading(name, part):
    """Yield the name and the description of a part of the document."""
    if name:
        yield nodes.rubric(name, name)
    if part.get("description"):
        yield nodes.paragraph("", part["description"])


def table(part):
    """Return the table of name, values and meaning of each field."""
    group = nodes.tgroup(cols=3)
    group += [nodes.colspec(colwidth=width) for width in (22, 22, 56)]
    group += nodes.thead("", row("field", "values", "meaning"))
    group += nodes.tbody("", *(row(*field, literal=True) for field in fields(part)))
    return nodes.table("", group, classes=["fields"])


def row(name, values, meaning, *, literal=False):
    """Return a row of three cells."""
    first = nodes.literal(name, name) if literal else nodes.Text(name)
    cells = (first, nodes.Text(values), nodes.Text(meaning))
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def setup(app):
    """Register the directive."""
    app.add_directive("schema-table", SchemaTable)
    return {"parallel_read_safe": True}
