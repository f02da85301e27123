"""Write the tables of docs/speed.md from docs/speed.json, which `make bench` measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Found = dict[str, Any]

DOCS = Path(__file__).parents[1] / "docs"
STAGES = ("audit", "bounds", "moves", "summary", "html")
MIB = 2**20
VERSIONS = {"python": "Python", "numpy": "NumPy", "numba": "Numba"}


def measured(found: Found) -> str:
    """Return what was measured where, and how busy the machine was."""
    of = {key: {part["of"][key] for part in found.values()} for key in VERSIONS}
    known = (part["cores_used_by_others"] for part in found.values())
    busy = [cores for cores in known if cores is not None]
    versions = ", ".join(f"{VERSIONS[key]} {' and '.join(sorted(of[key]))}" for key in VERSIONS)
    return (
        f"{versions}; two cores, of which other processes used {min(busy):.1f} to {max(busy):.1f} "
        "meanwhile, by part."
    )


def starting_table(found: Found) -> str:
    """Return the commands from their start."""
    rows = (
        (f"`{name}`", f"{took['least']:.2f}", f"{took['median']:.2f}")
        for name, took in found["starting"]["commands"].items()
    )
    return table(("command", "least", "median"), rows)


def lp_table(found: Found) -> str:
    """Return ours beside the LP solvers."""
    part, rows = found["lp"], []
    for ours in part["ours"]:
        rows.append((
            f"{ours['points']:,}", "fairtransport", seconds(ours["value_with_build"]), "",
            seconds(ours["value_after_build"]), "", seconds(ours["resamples"]), "",
        ))  # fmt: skip
        rows += [
            (
                f"{one['points']:,}", one["peer"], seconds(one["first_value"]),
                f"{one['first_ratio']:,.0f}", seconds(one["further_value"]),
                f"{one['further_ratio']:,.0f}", f"{seconds(one['resamples'])} ({one['solves']})",
                f"{one['resamples_ratio']:,.0f}",
            )
            for one in part["peers"]
            if one["points"] == ours["points"]
        ]  # fmt: skip
    heads = ("K", "solver", "first value", "ratio", "further value", "ratio", "1000 resamples",
             "ratio")  # fmt: skip
    return table(heads, rows)


def nearest_table(found: Found) -> str:
    """Return ours beside POT's nearest task."""
    rows = (
        (
            f"{one['points']:,}", seconds(one["ours"]), seconds(one["theirs"]),
            f"{one['theirs'] / one['ours']:.2g}", f"{one['difference']:.0e}",
        )
        for one in found["nearest"]["pot"]
    )  # fmt: skip
    return table(("K", "our value", "POT `emd2`", "ratio", "costs differ by"), rows)


def frontiers_table(found: Found) -> str:
    """Return the frontiers beside the bare product of the pairs, and how they grow."""
    rows = []
    for kind, growth in found["frontiers"].items():
        if kind in {"of", "cores_used_by_others"}:
            continue
        rows += [
            (
                kind, f"{one['points']:,}", seconds(one["fastest"]),
                seconds(one["product_seconds"]) if one["product_seconds"] else "",
                f"{one['fastest'] / one['product_seconds']:.1f}" if one["product_seconds"] else "",
                f"{one['pairs'] / one['fastest']:.1e}", f"{one['looked_at'] / one['pairs']:.0%}",
                f"{one['peak_bytes'] / MIB:.0f}",
            )
            for one in growth["builds"]
        ]  # fmt: skip
        exponents = f"K^{growth['fastest_exponent']:.2f}", f"K^{growth['memory_exponent']:.2f}"
        rows.append((kind, "grows as", exponents[0], "", "", "", "", exponents[1]))
    heads = ("costs", "K", "frontiers", "product", "ratio", "pairs a second", "looked at",
             "peak MiB")  # fmt: skip
    return table(heads, rows)


def spreading_table(found: Found) -> str:
    """Return the frontiers with one thread and with two."""
    rows = (
        (
            f"{one['points']:,}", seconds(one["one"]), seconds(one["two"]), f"{one['ratio']:.2f}",
            f"{one['least']:.2f} to {one['most']:.2f}",
        )
        for one in found["spreading"]["sizes"]
    )  # fmt: skip
    return table(("K", "one thread", "two", "median ratio", "in turns"), rows)


def afterwards_table(found: Found) -> str:
    """Return the CPU seconds of every stage by K, and how they grow."""
    part = found["afterwards"]
    rows = [
        (
            f"{one['points']:,}", *(f"{one['seconds'][stage]:.2f}" for stage in STAGES),
            f"{sum(one['seconds'].values()):.1f}", f"{one['html_bytes'] / 1e6:.1f}",
            f"{one['peak_mib']:.0f}",
        )
        for one in part["audits"]
    ]  # fmt: skip
    grown = (f"{part['exponents'][stage]:.2f}" for stage in (*STAGES, "whole"))
    rows.append(("exponent in K, from 10,000 on", *grown, "", ""))
    return table(("K", *STAGES, "whole", "HTML, MB", "peak MiB"), rows)


def million_table(found: Found) -> str:
    """Return the CPU seconds of every stage of audits of very many points, with their brackets."""
    rows = []
    for name, one in found["million"]["audits"].items():
        took = one["seconds"]
        rows.append((
            name, *(f"{took[stage]:.1f}" for stage in STAGES), f"{sum(took.values()):.0f}",
            f"{one['peak_mib']:.0f}", f"{one['page_mb']:.2f}",
            "exact" if one["width"] is None else f"{one['width']:.0e}",
        ))  # fmt: skip
    if (bare := found["million"].get("random")) is not None:  # the longest may be left out
        rows.append((
            "at random, bracket, the value alone", f"{bare['seconds']:.1f}", *[""] * len(STAGES),
            f"{bare['peak_mib']:.0f}", "", f"{bare['bracket']['width']:.0e}",
        ))  # fmt: skip
    return table(("loss", *STAGES, "whole", "peak MiB", "page, MB", "width"), rows)


def counting_table(found: Found) -> str:
    """Return what it costs to come from a file to a finished audit."""
    rows = (
        (
            one["file"], f"{one['rows']:,}", f"{one['points']:,}", f"{one['bare']:.2f}",
            f"{one['audit']:.2f}", f"{one['least']:.2f} to {one['most']:.2f}",
            f"{one['bare_mib']:.0f}, {one['audit_mib']:.0f}",
        )
        for one in found["counting"]["files"]
    )  # fmt: skip
    heads = ("file", "rows", "distinct", "group-by", "audit", "ratio",
             "peak MiB, group-by and audit")  # fmt: skip
    return table(heads, rows)


PARTS: dict[str, Callable[[Found], str]] = {
    "measured": measured,
    "starting": starting_table,
    "lp": lp_table,
    "nearest": nearest_table,
    "frontiers": frontiers_table,
    "spreading": spreading_table,
    "afterwards": afterwards_table,
    "million": million_table,
    "counting": counting_table,
}
"""What stands between which marks of the page."""


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    lines = [tuple(heads), *map(tuple, rows)]
    made = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([made[0], "|---" * len(lines[0]) + "|", *made[1:]])


def seconds(value: float) -> str:
    """Return a duration with three digits and a fitting unit."""
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value:,.0f} s" if value >= 100 else f"{value:.3g} s"


def page_with_tables(page: str, found: Found) -> str:
    """Return the page with all its tables renewed."""
    for name, make in PARTS.items():
        first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, after = page.split(first, maxsplit=1)[0], page.split(last)[1]
        page = f"{before}{first}\n{make(found)}\n{last}{after}"
    return page


def published() -> Found:
    """Return all that was measured for the page."""
    found: Found = json.loads((DOCS / "speed.json").read_text("utf-8"))
    return found


if __name__ == "__main__":
    place = DOCS / "speed.md"
    place.write_text(page_with_tables(place.read_text("utf-8"), published()), encoding="utf-8")
