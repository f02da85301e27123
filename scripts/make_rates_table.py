"""Put the figures of docs/rates.json and docs/rate_audits.json into docs/rates.md."""

import json
import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
COMPAS_TITLES = (
    "loss", "feature", "lower bound (95 %)", "over seeds", "estimate", "plug-in",
    "permutation test", "upper bound",
)  # fmt: skip
BLIND_TITLES = (
    "blind system, R = 0", "n", "blocks", "shares of groups", "orders", "samples",
    "bound above 0", "permutation test rejects",
)  # fmt: skip
TITLES = (
    "difference", "n", "blocks", "shares of groups", "orders", "samples", "R", "mean bound",
    "misses", "bound above 0", "permutation test rejects", "oracle's bound above 0", "width",
    "estimate", "mean upper bound", "misses",
)  # fmt: skip
AUDIT_TITLES = (
    "system", "n", "blocks", "groups", "smallest group", "samples", "R", "differ", "rejected",
    "bound above 0", "bound above R", "rejected as bias",
)  # fmt: skip


def lines(titles: tuple[str, ...], rows: list[list[str]]) -> str:
    """Return a table."""
    head = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)])


def share(value: float | None) -> str:
    """Return a share in per cent."""
    return "–" if value is None else f"{100 * value:.1f} %"


def size(value: float | None) -> str:
    """Return a number of three digits."""
    return "–" if value is None else f"{value:.3f}"


def width(row: dict) -> float:
    """Return the distance of the mean bound from R over the oracle's."""
    return (row["value"] - row["lower"]) / (row["value"] - row["oracle"])


def compas_table(rows: list[dict]) -> str:
    """Return what is said of the COMPAS scores."""
    return lines(COMPAS_TITLES, [
        [
            row["loss"], row["feature"], size(row["lower"]),
            f"{row['least']:.3f} to {row['most']:.3f}", size(row["estimate"]),
            size(row["plug_in"]), f"p = {row['permutation']:.2g}",
            "–" if row["upper"] is None else f"{row['upper']:.3f} for {row['people']} people",
        ]
        for row in rows
    ])  # fmt: skip


def table(rows: list[dict]) -> str:
    """Return the figures as two tables, a case a row."""
    blind = [
        [*_where(row), share(row["found"]), share(row["permutation"])]
        for row in rows
        if row["effect"] == 0
    ]
    differing = [
        [
            f"{row['effect']:g}, {_where(row)[0]}", *_where(row)[1:], size(row["value"]),
            size(row["lower"]), share(row["misses"]), share(row["found"]),
            share(row["permutation"]), share(row["oracle_found"]), f"{width(row):.2f}",
            size(row["estimate"]), size(row["upper"]), share(row["upper_misses"]),
        ]
        for row in rows
        if row["effect"] > 0
    ]  # fmt: skip
    return f"{lines(BLIND_TITLES, blind)}\n\n{lines(TITLES, differing)}"


def audits_table(rows: list[dict]) -> str:
    """Return what audits of samples said, a case a row."""
    return lines(AUDIT_TITLES, [
        [
            f"blind, {row['case']}" if row["effect"] == 0 else f"differs by {row['effect']:g}",
            f"{row['n']}", f"{row['blocks']}", f"{row['groups']}{' × 3' if row['second'] else ''}",
            share(row["smallest"]), f"{row['samples']}", size(row["value"]), share(row["differ"]),
            share(row["rejected"]), share(row["rejected_at_0"]), share(row["misses"]),
            share(row["as_bias"]),
        ]
        for row in rows
    ])  # fmt: skip


def _where(row: dict) -> list[str]:
    shares = " : ".join(f"{one:g}" for one in row["shares"])
    numbers = [f"{row[name]}" for name in ("n", "blocks", "orders", "repetitions")]
    return [row["case"], *numbers[:2], shares, *numbers[2:]]


def page(text: str) -> str:
    """Return the page with the tables of the figures as they are."""
    found = json.loads((DOCS / "rates.json").read_text("utf-8"))
    audits = json.loads((DOCS / "rate_audits.json").read_text("utf-8"))
    made = {
        "rates": table(found["cases"]),
        "compas": compas_table(found["compas"]),
        "audits": audits_table(audits),
    }
    for name, content in made.items():
        start, end = f"<!-- {name}: start -->", f"<!-- {name}: end -->"
        text = re.sub(
            f"{start}.*{end}", lambda _, put=f"{start}\n{content}\n{end}": put, text,
            flags=re.DOTALL,
        )  # fmt: skip
    return text


if __name__ == "__main__":
    path = DOCS / "rates.md"
    path.write_text(page(path.read_text("utf-8")), encoding="utf-8")
