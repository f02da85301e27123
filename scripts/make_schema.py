"""Write the schema of the audit document to docs/audit.schema.json."""

import json
from pathlib import Path

from fairtransport.report import audit_schema

TARGET = Path(__file__).parents[1] / "docs" / "audit.schema.json"


def page() -> str:
    """Return the schema as text."""
    return json.dumps(audit_schema(), ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
