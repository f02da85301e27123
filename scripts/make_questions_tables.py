"""Write the tables of docs/questions.md from docs/questions.json.

`python -m tests.validity.asking` measures the figures.
"""

import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"


def draws_table(rows: list[dict[str, Any]]) -> str:
    """Return rejections by box and number of draws."""
    lines = [
        "| system | draws | ψ | rejected at ψ = δ | rejected at 3 δ = ψ |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        found = "–" if row["found"] is None else f"{row['found']} of {row['runs'] // 2}"
        lines.append(
            f"| {row['box']} | {row['draws']} | {row['psi']:.3g} | "
            f"{row['false alarms']} of {row['runs']} | {found} |"
        )
    return "\n".join(lines)


def stops_table(rows: list[dict[str, Any]]) -> str:
    """Return verdicts and questions of audits that ask until sure."""
    lines = [
        "| ψ | audits | rejected | certified | inconclusive | people, mean | questions, mean |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['psi']:g} | {row['runs']} | {row['rejected']} | {row['certified']} | "
        f"{row['inconclusive']} | {row['people']:.0f} | {row['questions']:.0f} of "
        f"{row['all questions']} |"
        for row in rows
    ]
    return "\n".join(lines)


def page(text: str) -> str:
    """Return the page with its tables made anew."""
    found = json.loads((DOCS / "questions.json").read_text("utf-8"))
    tables = {
        "draws": draws_table(found["draws"]),
        "stops": stops_table(found["stops"]),
        "many": stops_table(found["many"]),
    }
    for name, table in tables.items():
        text = re.sub(
            rf"<!-- {name} -->\n.*?<!-- end -->",
            lambda _, name=name, table=table: f"<!-- {name} -->\n{table}\n<!-- end -->",
            text,
            flags=re.DOTALL,
        )
    return text


if __name__ == "__main__":
    path = DOCS / "questions.md"
    path.write_text(page(path.read_text("utf-8")), encoding="utf-8")
