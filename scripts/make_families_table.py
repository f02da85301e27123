"""Put the figures of docs/families.json into docs/families.md."""

import json
import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
START, END = "<!-- families: start -->", "<!-- families: end -->"
TITLES = (
    "ten audits", "n", "families", "anything wrong", "intervals miss", "to reject", "rejected",
    "by Holm alone", "by Bonferroni",
)  # fmt: skip


def table(rows: list[dict]) -> str:
    """Return the figures as a table, a case a row."""
    lines = [f"| {' | '.join(TITLES)} |", "|---" * len(TITLES) + "|"]
    for row in rows:
        misses = row["intervals_miss"]
        powers = [row[name] for name in ("rejected", "holm_rejected", "bonferroni_rejected")]
        cells = [
            row["case"], f"{row['n']}", f"{row['repetitions']}", f"{100 * row['wrong']:.1f} %",
            "–" if misses is None else f"{100 * misses:.1f} %", f"{row['to_reject']}",
            *("–" if not row["to_reject"] else f"{power:.2f}" for power in powers),
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def page(text: str) -> str:
    """Return the page with the table of the figures as they are."""
    rows = json.loads((DOCS / "families.json").read_text("utf-8"))
    made = f"{START}\n{table(rows)}\n{END}"
    return re.sub(f"{START}.*{END}", lambda _: made, text, flags=re.DOTALL)


if __name__ == "__main__":
    path = DOCS / "families.md"
    path.write_text(page(path.read_text("utf-8")), encoding="utf-8")
