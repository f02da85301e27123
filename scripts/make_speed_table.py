"""Write the tables of docs/speed.md from what `make bench` measures."""

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


def million_table(found: dict[str, Any]) -> str:
    """Return the CPU seconds of every stage of audits of very many points, with their brackets."""
    lines = [f"| loss | {' | '.join(STAGES)} | whole | peak MiB | page, MB | width |"]
    lines.append("|---" * 10 + "|")
    for name, one in found["audits"].items():
        seconds = one["seconds"]
        cells = [f"{seconds[stage]:.1f}" for stage in STAGES]
        width = "exact" if one["width"] is None else f"{one['width']:.0e}"
        lines.append(
            f"| {name} | {' | '.join(cells)} | {sum(seconds.values()):.0f} | "
            f"{one['peak_mib']:.0f} | {one['page_mb']:.2f} | {width} |"
        )
    if (bare := found.get("random")) is None:  # the longest, which may be left out
        return "\n".join(lines)
    lines.append(
        f"| at random, bracket, the value alone | {bare['seconds']:.1f} | | | | | | "
        f"{bare['peak_mib']:.0f} | | {bare['bracket']['width']:.0e} |"
    )
    return "\n".join(lines)


TABLES = {"afterwards": stages_table, "million": million_table}
"""The tables by the names of their marks, and of the files that they come from."""


def page_with_table(page: str, found: dict[str, Any], name: str = "afterwards") -> str:
    """Return the page with one of its tables renewed."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, after = page.split(start, maxsplit=1)[0], page.split(end)[1]
    return f"{before}{start}\n{TABLES[name](found)}\n{end}{after}"


if __name__ == "__main__":
    place = DOCS / "speed.md"
    page = place.read_text("utf-8")
    for name in TABLES:
        found = json.loads((DOCS / f"{name}.json").read_text("utf-8"))
        page = page_with_table(page, found, name)
    place.write_text(page, encoding="utf-8")
