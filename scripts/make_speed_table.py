"""Write the tables of docs/speed.md from docs/*.json, which `make bench` measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
STAGES = ("audit", "bounds", "moves", "summary", "html")


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


def counting_table(found: dict[str, Any]) -> str:
    """Return what it costs to come from a file to a finished audit."""
    lines = [
        "| file | rows | distinct | group-by | audit | ratio | peak MiB, group-by and audit |",
        "|---" * 7 + "|",
    ]
    for one in found["counting"]:
        cells = [
            one["file"], f"{one['rows']:,}", f"{one['points']:,}", f"{one['bare']:.2f}",
            f"{one['audit']:.2f}", f"{one['least']:.2f} to {one['most']:.2f}",
            f"{one['bare_mib']:.0f}, {one['audit_mib']:.0f}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


TABLES = {"afterwards": stages_table, "counting": counting_table}


def page_with_table(page: str, name: str, found: dict[str, Any]) -> str:
    """Return the page with one of its tables renewed."""
    marks = (f"<!-- {name} -->", f"<!-- end of {name} -->")
    before, after = page.split(marks[0], maxsplit=1)[0], page.split(marks[1])[1]
    return f"{before}{marks[0]}\n{TABLES[name](found)}\n{marks[1]}{after}"


if __name__ == "__main__":
    place = DOCS / "speed.md"
    for name in TABLES:
        found = json.loads((DOCS / f"{name}.json").read_text("utf-8"))
        place.write_text(page_with_table(place.read_text("utf-8"), name, found), encoding="utf-8")
