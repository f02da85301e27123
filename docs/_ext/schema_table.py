"""A directive that lists the fields of a document from its JSON schema."""

import json
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive


def fields(schema):
    """Yield name, type and description of every field, those of nested objects after theirs."""
    for name, told in schema.get("properties", {}).items():
        yield name, kind(told), told.get("description", "")


def kind(told):
    """Say in words what values a field takes."""
    if "$ref" in told:
        return told["$ref"].rsplit("/", 1)[-1]
    if "anyOf" in told:
        return " or ".join(kind(one) for one in told["anyOf"])
    if "enum" in told:
        return " or ".join(map(str, told["enum"]))
    if told.get("type") == "array":
        return f"list of {kind(told.get('items', {}))}"
    kinds = told.get("type", "anything")
    named = [kinds] if isinstance(kinds, str) else kinds
    return " or ".join("nothing" if one == "null" else one for one in named)


class SchemaTable(Directive):
    """``schema-table`` and a file of this folder: a table for the document and for each part."""

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
    """Name a part of the document, and say what it is."""
    if name:
        yield nodes.rubric(name, name)
    if part.get("description"):
        yield nodes.paragraph("", part["description"])


def table(part):
    """Show name, values and meaning of each field."""
    group = nodes.tgroup(cols=3)
    group += [nodes.colspec(colwidth=width) for width in (22, 22, 56)]
    group += nodes.thead("", row("field", "values", "meaning"))
    group += nodes.tbody("", *(row(*told, literal=True) for told in fields(part)))
    return nodes.table("", group, classes=["fields"])


def row(name, values, meaning, *, literal=False):
    """Make a row of three cells."""
    first = nodes.literal(name, name) if literal else nodes.Text(name)
    cells = (first, nodes.Text(values), nodes.Text(meaning))
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def setup(app):
    """Make the directive known."""
    app.add_directive("schema-table", SchemaTable)
    return {"parallel_read_safe": True}
