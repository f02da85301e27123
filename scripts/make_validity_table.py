"""Write the tables of docs/validity.md from docs/validity.json."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DOCS = Path(__file__).parents[1] / "docs"
NORMAL = "plug-in"
Row = dict[str, Any]


def coverage_table(rows: list[Row]) -> str:
    """Return the coverage of interval, lower bound and upper bound."""
    return _table(rows, lambda row, _: _join(row, ("two_sided", "lower", "upper"), _share))


def width_table(rows: list[Row]) -> str:
    """Return how far the bounds are from the estimate, over the plug-in normal law's distance."""

    def cell(row: Row, normal: Row) -> str:
        sides = ("lower_distance", "upper_distance")
        return " / ".join(_ratio(row[side], normal[side]) for side in sides)

    return _table(rows, cell, without=NORMAL)


def _table(rows: list[Row], cell: Callable[[Row, Row], str], without: str = "") -> str:
    methods = [m for m in dict.fromkeys(row["method"] for row in rows) if m != without]
    found = {(row["case"], row["n"], row["method"]): row for row in rows}
    keys = list(dict.fromkeys((row["case"], row["n"]) for row in rows))
    lines = ["| case | n | " + " | ".join(methods) + " |", "|---|---|" + "---|" * len(methods)]
    for case, n in keys:
        normal = found[case, n, NORMAL]
        cells = [
            cell(found[case, n, method], normal) if (case, n, method) in found else "–"
            for method in methods
        ]
        lines.append(f"| {case} | {n} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _join(row: Row, sides: tuple[str, ...], show: Callable[[float], str]) -> str:
    return " / ".join(show(row[side]) for side in sides)


def _share(value: float) -> str:
    """Print a coverage; one that misses 95 % by more than chance and .01 is bold."""
    text = f"{value:.2f}".removeprefix("0")
    return f"**{text}**" if value < 0.95 - 0.01 - 2 * (0.05 * 0.95 / 1000) ** 0.5 else text


def _ratio(ours: float, normal: float) -> str:
    if normal <= 0:
        return "–"
    return f"{ours / normal:.2f}" if math.isfinite(ours) else "∞"


def further_table(rows: list[Row]) -> str:
    """Return coverage and widths of the finite-sample method where nothing was chosen."""
    found = {(row["case"], row["n"], row["method"]): row for row in rows}
    lines = [
        "| case | n | samples | interval / lower / upper | width: lower / upper |",
        "|---|---|---|---|---|",
    ]
    for (case, n, method), row in found.items():
        if method != NORMAL:
            normal = found[case, n, NORMAL]
            covered = _join(row, ("two_sided", "lower", "upper"), _share)
            sides = ("lower_distance", "upper_distance")
            width = " / ".join(_ratio(row[side], normal[side]) for side in sides)
            lines.append(f"| {case} | {n} | {row['repetitions']} | {covered} | {width} |")
    return "\n".join(lines)


def verdict_table(rows: list[Row]) -> str:
    """Return how often audits with a declared δ reject and certify, rightly and wrongly."""
    lines = [
        "| case | n | δ | rejected / normal test | wrongly rejected / normal | wrongly certified |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        right = _join(row, ("rejected", "normal_rejected"), _plain)
        wrong = _join(row, ("false_rejections", "normal_false_rejections"), _error)
        lines.append(
            f"| {row['case']} | {row['n']} | {row['delta']:.4g} | {right} | {wrong} "
            f"| {_error(row['false_certificates'])} |"
        )
    return "\n".join(lines)


def _plain(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _error(value: float) -> str:
    """Print an error rate; one above 5 % by more than chance is bold."""
    text = f"{value:.3f}".removeprefix("0")
    return f"**{text}**" if value > 0.05 + 3 * (0.05 * 0.95 / 1000) ** 0.5 else text


TABLES = {
    "coverage": ("validity", coverage_table),
    "width": ("validity", width_table),
    "further": ("further", further_table),
    "verdicts": ("verdicts", verdict_table),
}


def read(name: str) -> list[Row]:
    """Return the rows of a simulation."""
    rows: list[Row] = json.loads((DOCS / f"{name}.json").read_text("utf-8"))
    return rows


def page(text: str) -> str:
    """Return the page with its tables made anew."""
    for name, (source, make) in TABLES.items():
        start, end = f"<!-- {name}: start -->", f"<!-- {name}: end -->"
        before, rest = text.split(start)
        _, after = rest.split(end)
        text = f"{before}{start}\n{make(read(source))}\n{end}{after}"
    return text


if __name__ == "__main__":
    target = DOCS / "validity.md"
    target.write_text(page(target.read_text("utf-8")), encoding="utf-8")
