"""Put the figures of docs/differences.json into docs/compare.md, and draw the powers."""

import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
WAYS = {
    "paired": "bounds of the difference",
    "mcnemar": "McNemar's exact test",
    "apart": "two separate intervals",
}


def coverage_table(rows: list[dict[str, Any]]) -> str:
    """Return coverage and relative widths, a case a row."""
    lines = ["| case | n | Δ | samples | lower / upper bound covers | width, over two intervals |"]
    lines.append("|---" * 6 + "|")
    lines += [
        f"| {row['case']} | {row['n']} | {row['truth']:.3f} | {row['repetitions']} "
        f"| {row['lower']:.3f} / {row['upper']:.3f} | {row['paired_over_apart']:.2f} |"
        for row in rows
    ]
    return "\n".join(lines)


def power_table(rows: list[dict[str, Any]]) -> str:
    """Return the powers, a difference a row."""
    lines = [f"| n | Δ | {' | '.join(WAYS.values())} |", "|---" * (2 + len(WAYS)) + "|"]
    lines += [
        f"| {row['n']} | {row['truth']:.2f} | "
        + " | ".join(f"{100 * row[way]:.1f} %" for way in WAYS)
        + " |"
        for row in rows
    ]
    return "\n".join(lines)


TABLES = {"differences": ("coverage", coverage_table), "power": ("power", power_table)}


def page(text: str) -> str:
    """Return the page with the tables of the figures as they are."""
    found = json.loads((DOCS / "differences.json").read_text("utf-8"))
    for name, (key, make) in TABLES.items():
        start, end = f"<!-- {name}: start -->", f"<!-- {name}: end -->"
        made = f"{start}\n{make(found[key])}\n{end}"
        text = re.sub(f"{start}.*{end}", lambda _, made=made: made, text, flags=re.DOTALL)
    return text


def draw(path: Path) -> None:
    """Draw the powers by the difference, a panel a sample size."""
    import altair as alt
    import pandas as pd

    rows = json.loads((DOCS / "differences.json").read_text("utf-8"))["power"]
    long = pd.DataFrame(
        [
            {"n": f"n = {row['n']}", "difference": row["truth"], "power": row[way], "way": name}
            for row in rows
            for way, name in WAYS.items()
        ]
    )
    chart = (
        alt.Chart(long, width=320, height=240)
        .mark_line(point=True)
        .encode(
            x=alt.X("difference", title="difference Δ"),
            y=alt.Y("power", title="found", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("way", title=None, sort=list(WAYS.values())),
            strokeDash=alt.StrokeDash("way", legend=None, sort=list(WAYS.values())),
            column=alt.Column("n", title=None, sort=["n = 300", "n = 1000"]),
        )
    )
    chart.save(path, scale_factor=2)


if __name__ == "__main__":
    target = DOCS / "compare.md"
    target.write_text(page(target.read_text("utf-8")), encoding="utf-8")
    draw(DOCS / "images" / "differences.png")
