"""Write the table of docs/speed.md from docs/afterwards.json, which `make bench` measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
STAGES = ("audit", "bounds", "moves", "summary", "html")
MARKS = ("<!-- afterwards -->", "<!-- end of afterwards -->")


def stages_table(found: dict[str, Any]) -> str:
    """Return the CPU seconds of every stage by K, and how they grow."""
    lines = [f"| K | {' | '.join(STAGES)} | whole | peak MiB |", "|---" * 8 + "|"]
    for one in found["audits"]:
        seconds = one["seconds"]
        cells = [f"{seconds[stage]:.2f}" for stage in STAGES]
        whole = f"{sum(seconds.values()):.1f}"
        lines.append(
            f"| {one['points']:,} | {' | '.join(cells)} | {whole} | {one['peak_mib']:.0f} |"
        )
    grown = " | ".join(f"{found['exponents'][stage]:.2f}" for stage in STAGES)
    return "\n".join([*lines, f"| exponent in K | {grown} | | |"])


def page_with_table(page: str, found: dict[str, Any]) -> str:
    """Return the page with its table renewed."""
    before, after = page.split(MARKS[0], maxsplit=1)[0], page.split(MARKS[1])[1]
    return f"{before}{MARKS[0]}\n{stages_table(found)}\n{MARKS[1]}{after}"


if __name__ == "__main__":
    place = DOCS / "speed.md"
    found = json.loads((DOCS / "afterwards.json").read_text("utf-8"))
    place.write_text(page_with_table(place.read_text("utf-8"), found), encoding="utf-8")
