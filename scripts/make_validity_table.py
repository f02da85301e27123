"""Write the coverage table of docs/validity.md from docs/validity.json."""

from __future__ import annotations

import json
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
START, END = "<!-- table: start -->", "<!-- table: end -->"


def table(rows: list[dict[str, object]]) -> str:
    """Return one Markdown table: a row a case and size, a column a method."""
    methods = list(dict.fromkeys(str(row["method"]) for row in rows))
    found = {(row["case"], row["n"], row["method"]): row for row in rows}
    keys = list(dict.fromkeys((row["case"], row["n"]) for row in rows))
    lines = [
        "| case | n | " + " | ".join(methods) + " |",
        "|---|---|" + "---|" * len(methods),
    ]
    for case, n in keys:
        cells = [_cell(found.get((case, n, method))) for method in methods]
        lines.append(f"| {case} | {n} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(row: dict[str, object] | None) -> str:
    if row is None:
        return "–"
    return " / ".join(_share(float(str(row[side]))) for side in ("two_sided", "lower", "upper"))


def _share(value: float) -> str:
    """Print a coverage; one that misses 95 % by more than chance and .01 is bold."""
    text = f"{value:.2f}".removeprefix("0")
    return f"**{text}**" if value < 0.95 - 0.01 - 2 * (0.05 * 0.95 / 1000) ** 0.5 else text


def page(text: str, rows: list[dict[str, object]]) -> str:
    """Return the page with its table made anew."""
    before, rest = text.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n{table(rows)}\n{END}{after}"


if __name__ == "__main__":
    target = DOCS / "validity.md"
    rows = json.loads((DOCS / "validity.json").read_text("utf-8"))
    target.write_text(page(target.read_text("utf-8"), rows), encoding="utf-8")
