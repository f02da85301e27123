"""Put the figures of docs/proxies.json and docs/twins_cost.json into docs/proxies.md."""

import json
import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
COVERAGE = (
    "twins", "n", "samples", "mean estimate", "mean truth", "lower bound too high",
    "upper bound too low",
)  # fmt: skip
POWER = ("n", "compared with", "samples", "statistic", "lower bound", "rejected")
WORDS = {"observed": "observed people", "generate": "generated twins", "search": "searched twins"}


def coverage(found: dict) -> str:
    """Return how often bounds miss the value of the stated twins."""
    return _table(COVERAGE, [
        [
            row["name"], f"{row['n']}", f"{row['runs']}", f"{row['statistic']:.4f}",
            f"{row['truth']:.4f}", *(f"{100 * row[one] / row['runs']:.1f} %"
                                     for one in ("above", "below")),
        ]
        for row in found["coverage"]
    ])  # fmt: skip


def power(found: dict) -> str:
    """Return how often δ-fairness is rejected, by whom people are compared with."""
    rows = []
    for row in (one for one in found["power"] if one["runs"]):
        many = "" if row["twins"] == "observed" else f", {row['per_person']} each"
        figures = [f"{row[one]:.3f}" for one in ("statistic", "lower_bound")]
        rows.append([
            f"{row['n']:,}", WORDS[row["twins"]] + many, f"{row['runs']}", *figures,
            f"{100 * row['rejected']:.0f} %",
        ])  # fmt: skip
    return _table(POWER, rows)


def cost(found: dict) -> str:
    """Return what made-up twins cost, in a sentence."""
    seconds = found["seconds"]
    once = "each once" if found["questions"] == found["distinct"] else "some of them again"
    return (
        f"Of {found['people']:,} people with a height, a grade, an age and a job and "
        f"{found['per_person']} twins each, {found['questions']:,} questions were asked, {once}; "
        f"making up, asking a fast function and solving took {seconds['audit']:.1f} CPU s, the "
        f"bounds {seconds['bounds']:.1f} s, those of the attributable part "
        f"{seconds['attributable']:.1f} s more (`benchmarks/twins.py`)."
    )


def _table(titles: tuple[str, ...], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def page(text: str) -> str:
    """Return the page with the figures as they are."""
    found = json.loads((DOCS / "proxies.json").read_text("utf-8"))
    costs = json.loads((DOCS / "twins_cost.json").read_text("utf-8"))
    parts = {"coverage": coverage(found), "power": power(found), "cost": cost(costs)}
    for name, part in parts.items():
        start, end = f"<!-- {name}: start -->", f"<!-- {name}: end -->"
        made = f"{start}\n{part}\n{end}"
        text = re.sub(f"{start}.*{end}", lambda _, made=made: made, text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    path = DOCS / "proxies.md"
    path.write_text(page(path.read_text("utf-8")), encoding="utf-8")
