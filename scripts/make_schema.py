"""Write the schemas of the published documents to docs/."""

import json
from pathlib import Path

from fairtransport.documents.audit import audit_schema
from fairtransport.documents.comparison import comparison_schema
from fairtransport.documents.family import family_schema

DOCS = Path(__file__).parents[1] / "docs"
SCHEMAS = {
    "audit.schema.json": audit_schema,
    "comparison.schema.json": comparison_schema,
    "family.schema.json": family_schema,
}


def page(name: str) -> str:
    """Return a schema as text."""
    return json.dumps(SCHEMAS[name](), ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    for one in SCHEMAS:
        (DOCS / one).write_text(page(one), encoding="utf-8")
