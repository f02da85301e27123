"""Renew the tables of the docs from the files beside them, and draw images/differences.png.

A table stands between ``<!-- table NAME -->`` and ``<!-- end NAME -->``; names: ``TABLES``.
A new table is a function and a line there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Row = dict[str, Any]

DOCS = Path(__file__).parents[1] / "docs"
MIB = 2**20


def format_table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    titles = tuple(titles)
    lines = (f"| {' | '.join(cells)} |" for cells in (titles, *rows))
    return "\n".join([next(lines), "|---" * len(titles) + "|", *lines])


def format_share(value: float | None) -> str:
    """Return a share in per cent."""
    return "–" if value is None else f"{100 * value:.1f} %"


def format_percent(value: float | None) -> str:
    """Return a share in per cent, for a column whose title has the unit."""
    return format_share(value).removesuffix(" %")


def format_value(value: float | None) -> str:
    """Return a number with three decimals."""
    return "–" if value is None else f"{value:.3f}"


def format_seconds(value: float) -> str:
    """Return a duration with three digits and a fitting unit."""
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value:,.0f} s" if value >= 100 else f"{value:.3g} s"


# ------------------------------------------------------------------ validity: validity.json, …

OURS, NORMAL = "finite-sample", "plug-in"
SIDES = ("two_sided", "lower", "upper")
MIN_COVERAGE = 0.95 - 0.01 - 2 * (0.05 * 0.95 / 1000) ** 0.5
"""A coverage below it misses 95 % by more than chance and .01."""


def validity_coverage(rows: list[Row]) -> str:
    """Return by method and size the worst coverages, and how wide the finite-sample bounds are."""
    sizes = sorted(_unique(rows, "n"))
    cells = [
        (method, *(_format_worst(_select(rows, method=method, n=n)) for n in sizes))
        for method in _unique(rows, "method")
    ]
    cells += [
        (f"{name} width", *(_format_widths(_select(rows, n=n), summarise) for n in sizes))
        for name, summarise in (("median", median), ("largest", max))
    ]
    return format_table(("method", *(f"n = {n}" for n in sizes)), cells)


def validity_populations(rows: list[Row]) -> str:
    """Return the worst coverage of all sides and the sizes that are missed, by population."""
    methods = [method for method in _unique(rows, "method") if method != OURS]
    return format_table(("population", *methods), (
        (case, *(_format_missed(_select(rows, case=case, method=method)) for method in methods))
        for case in _unique(rows, "case")
    ))  # fmt: skip


def validity_verdicts(rows: list[Row]) -> str:
    """Return the largest errors and the power of audits with a declared δ by size."""
    titles = (
        "n", "wrongly rejected", "by the normal test", "wrongly certified", "power: median, least",
        "over normal test: median, least",
    )  # fmt: skip
    errors = ("false_rejections", "normal_false_rejections", "false_certificates")
    table = []
    for n in _unique(rows, "n"):
        some = _select(rows, n=n)
        power = [row["rejected"] for row in some]
        ratios = {
            row["case"]: row["rejected"] / row["normal_rejected"]
            for row in some
            if not _errs(row, "normal_false_rejections")
        }
        least = min(ratios, key=ratios.__getitem__)
        table.append((
            f"{n}", *(_format_errors(some, name) for name in errors),
            f"{_trim(median(power), 2)}, {_trim(min(power), 2)}",
            f"{_trim(median(ratios.values()), 2)}, {_trim(ratios[least], 2)} ({least})",
        ))  # fmt: skip
    return format_table(titles, table)


def _select(rows: list[Row], **known: object) -> list[Row]:
    """Return the rows with known values."""
    return [row for row in rows if all(row[key] == value for key, value in known.items())]


def _unique(rows: list[Row], key: str) -> list[Any]:
    """Return the values of a column in their order."""
    return list(dict.fromkeys(row[key] for row in rows))


def _trim(value: float, digits: int) -> str:
    """Return a share without its leading zero."""
    return f"{value:.{digits}f}".removeprefix("0")


def _find_worst(row: Row) -> float:
    """Return the least of the coverages of the interval and both bounds."""
    worst: float = min(row[side] for side in SIDES)
    return worst


def _format_worst(rows: list[Row]) -> str:
    """Return the worst coverage of each side, and the number of populations that are missed."""
    worst = (min(row[side] for row in rows) for side in SIDES)
    missed = sum(_find_worst(row) < MIN_COVERAGE for row in rows)
    text = ", ".join(
        f"**{_trim(value, 2)}**" if value < MIN_COVERAGE else _trim(value, 2) for value in worst
    )
    return f"{text} ({missed})" if missed else text


def _format_missed(rows: list[Row]) -> str:
    """Return the worst coverage of all sides, and the sizes at which one is missed."""
    if not rows:
        return "–"
    missed = [f"{row['n']}" for row in rows if _find_worst(row) < MIN_COVERAGE]
    sizes = "all n" if len(missed) == len(rows) else ", ".join(missed)
    text = _trim(min(map(_find_worst, rows)), 2)
    return f"**{text}** ({sizes})" if missed else text


def _format_widths(rows: list[Row], summarise: Callable[[list[float]], float]) -> str:
    """Return how far the finite-sample bounds are from the estimate, over the normal ones."""
    normal = {row["case"]: row for row in _select(rows, method=NORMAL)}
    pairs = [(row, normal[row["case"]]) for row in _select(rows, method=OURS)]
    return ", ".join(
        f"{summarise([row[side] / of[side] for row, of in pairs if of[side] > 0]):.2f}"
        for side in ("lower_distance", "upper_distance")
    )


def _errs(row: Row, name: str) -> bool:
    """Tell whether a share of errors is above 5 % by more than two standard errors."""
    return bool(row[name] > 0.05 + 2 * (0.0475 / row["repetitions"]) ** 0.5)


def _format_errors(rows: list[Row], name: str) -> str:
    """Return the largest share of errors, and the number of populations where it is too large."""
    text = _trim(max(row[name] for row in rows), 3)
    missed = sum(_errs(row, name) for row in rows)
    return f"**{text}** ({missed})" if missed else text


# ------------------------------------------------------------------ families.json

FAMILY_TITLES = (
    "ten audits", "n", "families", "anything wrong", "intervals miss", "to reject", "rejected",
    "by Holm alone", "by Bonferroni",
)  # fmt: skip


def families(rows: list[Row]) -> str:
    """Return the errors and powers of families of audits."""
    powers = ("rejected", "holm_rejected", "bonferroni_rejected")
    return format_table(FAMILY_TITLES, (
        (
            row["case"], f"{row['n']}", f"{row['repetitions']}", format_share(row["wrong"]),
            format_share(row["intervals_miss"]), f"{row['to_reject']}",
            *(f"{row[name]:.2f}" if row["to_reject"] else "–" for name in powers),
        )
        for row in rows
    ))  # fmt: skip


# ------------------------------------------------------------------ differences.json

DIFFERENCE_METHODS = {
    "paired": "bounds of the difference",
    "mcnemar": "McNemar's exact test",
    "apart": "two separate intervals",
}


def differences_coverage(results: Row) -> str:
    """Return coverage and relative widths of bounds of differences."""
    titles = (
        "case", "n", "Δ", "samples", "lower / upper bound covers", "width, over two intervals",
    )  # fmt: skip
    return format_table(titles, (
        (
            row["case"], f"{row['n']}", f"{row['truth']:.3f}", f"{row['repetitions']}",
            f"{row['lower']:.3f} / {row['upper']:.3f}", f"{row['paired_over_apart']:.2f}",
        )
        for row in results["coverage"]
    ))  # fmt: skip


def differences_power(results: Row) -> str:
    """Return how often a difference is detected."""
    return format_table(("n", "Δ", *DIFFERENCE_METHODS.values()), (
        (
            f"{row['n']}", f"{row['truth']:.2f}",
            *(format_share(row[method]) for method in DIFFERENCE_METHODS),
        )
        for row in results["power"]
    ))  # fmt: skip


def draw_differences(path: Path) -> None:
    """Draw the powers by the difference, a panel a sample size."""
    import altair as alt
    import pandas as pd

    rows = json.loads((DOCS / "differences.json").read_text("utf-8"))["power"]
    long = pd.DataFrame(
        [
            {"n": f"n = {row['n']}", "difference": row["truth"], "power": row[key], "method": name}
            for row in rows
            for key, name in DIFFERENCE_METHODS.items()
        ]
    )
    order = list(DIFFERENCE_METHODS.values())
    chart = (
        alt.Chart(long, width=320, height=240)
        .mark_line(point=True)
        .encode(
            x=alt.X("difference", title="difference Δ"),
            y=alt.Y("power", title="found", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("method", title=None, sort=order),
            strokeDash=alt.StrokeDash("method", legend=None, sort=order),
            column=alt.Column("n", title=None, sort=["n = 300", "n = 1000"]),
        )
    )
    chart.save(path, scale_factor=2)


# ------------------------------------------------------------------ questions.json


def questions_draws(results: Row) -> str:
    """Return rejections by system, number of draws and what the bound is about."""
    return format_table(
        (
            "system", "draws", "bound about", "ψ", "rejected at ψ = δ", "rejected at 3 δ = ψ",
            "reference", "knows the worst twin: bets, normal",
        ),
        (
            (
                row["box"], f"{row['draws']}", row["about"], f"{row['psi']:.3g}",
                f"{row['false alarms']} of {row['runs']}",
                "–" if row["found"] is None else f"{row['found']} of {row['runs']}",
                *(
                    "–" if shares is None else ", ".join(f"{100 * one:.0f} %" for one in shares)
                    for shares in (row["reference"], row["oracle"])
                ),
            )
            for row in results["draws"]
        ),
    )  # fmt: skip


def questions_stops(results: Row) -> str:
    """Return verdicts and questions of audits that ask until sure."""
    return _stops_table(results["stops"])


def questions_many(results: Row) -> str:
    """Return the same of audits with many questions."""
    return _stops_table(results["many"])


def _stops_table(rows: list[Row]) -> str:
    titles = (
        "ψ", "audits", "rejected", "certified", "inconclusive", "people, mean", "questions, mean",
    )  # fmt: skip
    return format_table(titles, (
        (
            f"{row['psi']:g}", f"{row['runs']}", f"{row['rejected']}", f"{row['certified']}",
            f"{row['inconclusive']}", f"{row['people']:.0f}",
            f"{row['questions']:.0f} of {row['all questions']}",
        )
        for row in rows
    ))  # fmt: skip


# ------------------------------------------------------------------ designs.json, controls.json

SETS_OF_BOUNDS = ("", "robust ", "oracle ")


def designs(rows: list[Row]) -> str:
    """Return errors, mean bounds and power of audits of clusters and weights."""
    titles = (
        "world", "samples", "ψ", "by rows: L > ψ", "L > ψ / U < ψ", "robust: L > ψ / U < ψ",
        "mean L / U", "robust", "oracle", "rejects ψ/2", "robust", "oracle",
    )  # fmt: skip
    return format_table(titles, (
        (
            row["world"], f"{row['samples']}", format_value(row["psi"]),
            format_share(row["by rows"]), _format_misses(row), _format_misses(row, "robust "),
            *(_format_bounds(row, name) for name in SETS_OF_BOUNDS),
            *(format_share(row[f"{name}found"]) for name in SETS_OF_BOUNDS),
        )
        for row in rows
    ))  # fmt: skip


def controls(rows: list[Row]) -> str:
    """Return errors and mean bounds of audits with controls."""
    titles = (
        "world", "samples", "Δ", "rejected without controls", "rejected", "L > Δ / U < Δ",
        "normal: L > Δ / U < Δ", "mean L / U", "normal", "oracle", "permutation p ≤ .05",
    )  # fmt: skip
    return format_table(titles, (
        (
            row["world"], f"{row['samples']}", format_value(row["difference"]),
            format_share(row["rejected without controls"]), format_share(row["rejected"]),
            _format_misses(row), _format_misses(row, "normal "),
            *(_format_bounds(row, name) for name in ("", "normal ", "oracle ")),
            format_share(row["permutation"]),
        )
        for row in rows
    ))  # fmt: skip


def _format_misses(row: Row, name: str = "") -> str:
    """Return how often the lower and the upper bound are wrong."""
    return " / ".join(format_share(row[f"{name}{side} misses"]) for side in ("lower", "upper"))


def _format_bounds(row: Row, name: str) -> str:
    """Return the mean lower and upper bound."""
    return " / ".join(format_value(row[f"{name}{side}"]) for side in ("lower", "upper"))


# ------------------------------------------------------------------ rates.json, rate_audits.json

COMPAS_TITLES = (
    "loss", "feature", "lower bound (95 %)", "over seeds", "estimate", "permutation p",
    "upper bound", "for people",
)  # fmt: skip
BLIND_TITLES = (
    "n", "blocks", "blind systems", "bound above 0, at most, %", "permutation test rejects, %",
)  # fmt: skip
DIFFERING_TITLES = (
    "difference", "n", "blocks", "groups, %", "R", "mean lower bound", "width",
    "bound above 0, %", "permutation test rejects, %", "mean upper bound", "misses, %",
)  # fmt: skip
RATE_AUDIT_TITLES = (
    "difference", "n", "blocks", "groups", "R", "rejected, %", "bound above 0, %",
    "bound above R, %",
)  # fmt: skip


def rates_compas(results: Row) -> str:
    """Return the rates of the COMPAS scores."""
    return format_table(COMPAS_TITLES, (
        (
            row["loss"], row["feature"], format_value(row["lower"]),
            f"{row['least']:.3f} to {row['most']:.3f}", format_value(row["estimate"]),
            f"{row['permutation']:.2g}", format_value(row["upper"]),
            "–" if row["upper"] is None else f"{row['people']:,}",
        )
        for row in results["compas"]
    ))  # fmt: skip


def rates_blind(results: Row) -> str:
    """Return how often tests of blind systems reject, by size and number of blocks."""
    blind = _select(results["cases"], effect=0)
    table = []
    for n, blocks in sorted({(row["n"], row["blocks"]) for row in blind}):
        found, tests = (
            [row[name] for row in _select(blind, n=n, blocks=blocks)]
            for name in ("found", "permutation")
        )
        table.append((
            f"{n}", f"{blocks}", f"{len(found)}", format_percent(max(found)),
            f"{format_percent(min(tests))} to {format_percent(max(tests))}",
        ))  # fmt: skip
    return format_table(BLIND_TITLES, table)


def rates_differing(results: Row) -> str:
    """Return bounds of systems that differ, and their widths over an oracle's."""
    without_signs = iter(results["without_signs"])
    return format_table(DIFFERING_TITLES, (
        (
            f"{row['effect']:g}, {row['case']}", f"{row['n']}", f"{row['blocks']}",
            "/".join(f"{100 * share:.0f}" for share in row["shares"]),
            *(format_value(row[name]) for name in ("value", "lower")),
            f"{(row['value'] - row['lower']) / (row['value'] - row['oracle']):.2f}"
            + (f" ({next(without_signs):.2f})" if "random" in row["case"] else ""),
            format_percent(row["found"]), format_percent(row["permutation"]),
            format_value(row["upper"]),
            f"{format_percent(row['misses'])}, {format_percent(row['upper_misses'])}",
        )
        for row in results["cases"]
        if row["effect"] > 0
    ))  # fmt: skip


def rates_audits(rows: list[Row]) -> str:
    """Return the verdicts of audits of predictions alone."""
    blind = _select(rows, effect=0)
    rejected, above = (max(row[name] for row in blind) for name in ("rejected", "rejected_at_0"))
    note = (
        f"Audits of {len(blind)} blind systems (R = 0) rejected at most {format_share(rejected)} "
        f"of the samples, and the bound was above 0 in at most {format_share(above)}."
    )
    table = (
        (
            f"{row['effect']:g}", f"{row['n']}", f"{row['blocks']}",
            f"{row['groups']}{' × 3' if row['second'] else ''}", format_value(row["value"]),
            *(format_percent(row[name]) for name in ("rejected", "rejected_at_0", "misses")),
        )
        for row in rows
        if row["effect"] > 0
    )  # fmt: skip
    return f"{note}\n\n{format_table(RATE_AUDIT_TITLES, table)}"


# ------------------------------------------------------------------ speed.json

STAGES = ("audit", "bounds", "moves", "summary", "html")
VERSIONS = {"python": "Python", "numpy": "NumPy", "numba": "Numba"}


def speed_measured(parts: Row) -> str:
    """Return the versions that were measured and how busy the machine was."""
    versions = ", ".join(
        f"{name} {' and '.join(sorted({part['of'][key] for part in parts.values()}))}"
        for key, name in VERSIONS.items()
    )
    cores = [part["cores_used_by_others"] for part in parts.values()]
    busy = [value for value in cores if value is not None]
    return (
        f"{versions}; two cores, of which other processes used {min(busy):.1f} to {max(busy):.1f} "
        "meanwhile, by part."
    )


def speed_starting(parts: Row) -> str:
    """Return the seconds of commands from their start."""
    columns = ("first", "least", "median")
    return format_table(("command", *columns), (
        (f"`{name}`", *(f"{seconds[column]:.2f}" for column in columns))
        for name, seconds in parts["starting"]["commands"].items()
    ))  # fmt: skip


def speed_lp(parts: Row) -> str:
    """Return our solver beside LP solvers."""
    rows: list[tuple[str, ...]] = []
    for ours in parts["lp"]["ours"]:
        rows.append((
            f"{ours['points']:,}", "fairtransport", format_seconds(ours["value_with_build"]), "",
            format_seconds(ours["value_after_build"]), "", format_seconds(ours["resamples"]), "",
        ))  # fmt: skip
        rows += [
            (
                f"{peer['points']:,}", peer["peer"], format_seconds(peer["first_value"]),
                f"{peer['first_ratio']:,.0f}", format_seconds(peer["further_value"]),
                f"{peer['further_ratio']:,.0f}",
                f"{format_seconds(peer['resamples'])} ({peer['solves']})",
                f"{peer['resamples_ratio']:,.0f}",
            )
            for peer in parts["lp"]["peers"]
            if peer["points"] == ours["points"]
        ]  # fmt: skip
    titles = (
        "K", "solver", "first value", "ratio", "further value", "ratio", "1000 resamples", "ratio",
    )  # fmt: skip
    return format_table(titles, rows)


def speed_nearest(parts: Row) -> str:
    """Return our solver beside POT on the nearest task that POT has."""
    return format_table(("K", "our value", "POT `emd2`", "ratio", "costs differ by"), (
        (
            f"{row['points']:,}", format_seconds(row["ours"]), format_seconds(row["theirs"]),
            f"{row['theirs'] / row['ours']:.2g}", f"{row['difference']:.0e}",
        )
        for row in parts["nearest"]["pot"]
    ))  # fmt: skip


def speed_frontiers(parts: Row) -> str:
    """Return the frontiers beside the bare product of the pairs, and how they grow."""
    rows: list[tuple[str, ...]] = []
    for kind, growth in parts["frontiers"].items():
        if kind in {"of", "cores_used_by_others"}:
            continue
        for row in growth["builds"]:
            product = row["product_seconds"]
            rows.append((
                kind, f"{row['points']:,}", format_seconds(row["fastest"]),
                format_seconds(product) if product else "",
                f"{row['fastest'] / product:.1f}" if product else "",
                f"{row['pairs'] / row['fastest']:.1e}", f"{row['looked_at'] / row['pairs']:.0%}",
                f"{row['peak_bytes'] / MIB:.0f}",
            ))  # fmt: skip
        exponents = f"K^{growth['fastest_exponent']:.2f}", f"K^{growth['memory_exponent']:.2f}"
        rows.append((kind, "grows as", exponents[0], "", "", "", "", exponents[1]))
    titles = (
        "costs", "K", "frontiers", "product", "ratio", "pairs a second", "looked at", "peak MiB",
    )  # fmt: skip
    return format_table(titles, rows)


def speed_spreading(parts: Row) -> str:
    """Return the frontiers with one thread and with two."""
    return format_table(("K", "one thread", "two", "median ratio", "in turns"), (
        (
            f"{row['points']:,}", format_seconds(row["one"]), format_seconds(row["two"]),
            f"{row['ratio']:.2f}", f"{row['least']:.2f} to {row['most']:.2f}",
        )
        for row in parts["spreading"]["sizes"]
    ))  # fmt: skip


def speed_afterwards(parts: Row) -> str:
    """Return the CPU seconds of every stage by K, and how they grow."""
    part = parts["afterwards"]
    rows = [
        (
            f"{row['points']:,}", *(f"{row['seconds'][stage]:.2f}" for stage in STAGES),
            f"{sum(row['seconds'].values()):.1f}", f"{row['html_bytes'] / 1e6:.1f}",
            f"{row['peak_mib']:.0f}",
        )
        for row in part["audits"]
    ]  # fmt: skip
    exponents = (f"{part['exponents'][stage]:.2f}" for stage in (*STAGES, "whole"))
    rows.append(("exponent in K, from 10,000 on", *exponents, "", ""))
    return format_table(("K", *STAGES, "whole", "HTML, MB", "peak MiB"), rows)


def speed_million(parts: Row) -> str:
    """Return the CPU seconds of every stage of audits of a million points."""
    return format_table(("loss", *STAGES, "whole", "peak MiB", "page, MB"), (
        (
            name, *(f"{row['seconds'][stage]:.1f}" for stage in STAGES),
            f"{sum(row['seconds'].values()):.0f}", f"{row['peak_mib']:.0f}",
            f"{row['page_mb']:.2f}",
        )
        for name, row in parts["million"]["audits"].items()
    ))  # fmt: skip


def speed_questions(parts: Row) -> str:
    """Return the CPU seconds of an audit beside those of the model that it asks."""
    row = parts["questions"]
    titles = ("questions", "model", *row["seconds"], "whole / model", "peak MiB")
    seconds = (f"{one:.1f}" for one in row["seconds"].values())
    return format_table(titles, [(
        f"{row['questions']:,}", f"{row['model']:.1f}", *seconds, f"{row['ratio']:.1f}",
        f"{row['peak_mib']:.0f}",
    )])  # fmt: skip


def speed_growth(parts: Row) -> str:
    """Return how solutions grow by kind of losses and number of dimensions."""
    growths = parts["growth"]["growths"]
    sizes = sorted({row["points"] for growth in growths for row in growth["sizes"]})
    titles = (
        "losses", "dimensions", *(f"K = {size:,}" for size in sizes), "grows as",
        "peak MiB at the last", "duality gap at most",
    )  # fmt: skip
    rows = []
    for growth in growths:
        seconds = {row["points"]: format_seconds(row["solve"]) for row in growth["sizes"]}
        rows.append((
            growth["losses"], f"{growth['dimensions']}", *(seconds.get(size, "") for size in sizes),
            f"K^{growth['time_exponent']:.2f}", f"{growth['sizes'][-1]['peak_bytes'] / MIB:.0f}",
            f"{max(abs(row['gap']) / row['value'] for row in growth['sizes']):.0e}",
        ))  # fmt: skip
    return format_table(titles, rows)


def speed_monitor(parts: Row) -> str:
    """Return the records a second that a monitor takes in."""
    row = parts["monitor"]
    titles = ("K", f"records a second in batches of {row['batch']:,}", "one by one")
    return format_table(titles, [
        (f"{row['points']}", f"{row['in_batches']:,.0f}", f"{row['one_by_one']:,.0f}")
    ])  # fmt: skip


def speed_verdicts(parts: Row) -> str:
    """Return what a verdict adds to counting, beside the bare group-by."""
    titles = ("rows", "distinct", "group-by", "audit", "with verdict and summary", "ratio")
    rows: list[tuple[str, ...]] = []
    for growth in parts["counting"]["verdicts"]:
        rows += [
            (
                f"{row['rows']:,}", f"{row['points']:,}", f"{row['bare']:.2f}",
                f"{row['audit']:.2f}", f"{row['verdict']:.2f}",
                f"{row['verdict'] / row['bare']:.0f}",
            )
            for row in growth["sizes"]
        ]  # fmt: skip
        exponents = (f"n^{value:.2f}" for value in growth["exponents"].values())
        rows.append(("grow as", "", *exponents, ""))
    return format_table(titles, rows)


def speed_counting(parts: Row) -> str:
    """Return the CPU seconds from a file to a finished audit."""
    titles = (
        "file", "rows", "distinct", "group-by", "audit", "ratio", "peak MiB, group-by and audit",
    )  # fmt: skip
    return format_table(titles, (
        (
            row["file"], f"{row['rows']:,}", f"{row['points']:,}", f"{row['bare']:.2f}",
            f"{row['audit']:.2f}", f"{row['least']:.2f} to {row['most']:.2f}",
            f"{row['bare_mib']:.0f}, {row['audit_mib']:.0f}",
        )
        for row in parts["counting"]["files"]
    ))  # fmt: skip


# ------------------------------------------------------------------ counterparts.json, …


WORLD_TITLES = ("model", "n", "gate open, %", "rejected at δ = 0, %", "0.02", "0.05")


def counterparts_innocent(data: Row) -> str:
    """Return how often audits with counterparts rejected models that use no proxy."""
    level = data["gate_level"]
    return (
        format_table(
            WORLD_TITLES[:-1],
            (_world_cells(row)[:-1] for row in _select(data["worlds"], innocent=True)),
        )
        + f"\n\nThe gate opened in {100 * level['opened']:.2f} % of {level['samples']:,} samples "
        "without dependence (nominal 2.5 %)."
    )


def counterparts_proxies(data: Row) -> str:
    """Return how often audits with counterparts rejected models that use proxies."""
    return format_table((*WORLD_TITLES, "true flips", "mean ψ", "bound above, %"), (
        (
            *_world_cells(row), format_value(row["true_flips"]),
            format_value(row["mean_statistic"]), format_percent(row["above_truth"]),
        )
        for row in _select(data["worlds"], innocent=False)
    ))  # fmt: skip


def _world_cells(row: Row) -> tuple[str, ...]:
    shares = (row["gate_open"], *(row["rejected"][delta] for delta in ("0", "0.02", "0.05")))
    return row["world"], f"{row['n']}", *map(format_percent, shares)


def counterparts_adult(data: Row) -> str:
    """Return the audits of a blind model on Adult, with and without legitimate columns."""
    titles = (
        "legitimate", "columns that move", "ψ", "at least", "decisions that change",
        "female husbands", "male wives", "classifier's accuracy",
    )  # fmt: skip
    shares = ("female_husbands", "male_wives")
    return format_table(titles, (
        (
            ", ".join(one["legitimate"]) or "none", ", ".join(one["moving"]),
            format_value(one["statistic"]), format_value(one["lower_bound"]),
            f"{one['changed']:,} ({100 * one['changed'] / one['n']:.1f} %)",
            *(f"{100 * one[share]:.2f} %" for share in shares),
            ", ".join("{:.3f} ({:.3f}–{:.3f})".format(*told) for told in one["told"]) or "–",
        )
        for one in data["audits"]
    ))  # fmt: skip


# ------------------------------------------------------------------ the registry


def exit_codes(_: None) -> str:
    """Return what the exit codes of an audit mean, and those of a program that a signal ended."""
    from fairtransport.documents.verdicts import EXIT_CODES

    ended = ("130, 141", "interrupted from the keyboard; the reader of a pipe has gone")
    codes = [*((str(code), meaning) for code, meaning in EXIT_CODES.items()), ended]
    return format_table(("exit code", "meaning"), codes)


TABLES: dict[str, tuple[str | None, Callable[[Any], str]]] = {
    "exit-codes": (None, exit_codes),
    "table1": ("reproduction/table1.md", str.rstrip),
    "validity-coverage": ("validity.json", validity_coverage),
    "validity-populations": ("validity.json", validity_populations),
    "validity-further": ("further.json", validity_coverage),
    "validity-verdicts": ("verdicts.json", validity_verdicts),
    "families": ("families.json", families),
    "differences-coverage": ("differences.json", differences_coverage),
    "differences-power": ("differences.json", differences_power),
    "designs": ("designs.json", designs),
    "controls": ("controls.json", controls),
    "questions-draws": ("questions.json", questions_draws),
    "questions-stops": ("questions.json", questions_stops),
    "questions-many": ("questions.json", questions_many),
    "rates-compas": ("rates.json", rates_compas),
    "rates-blind": ("rates.json", rates_blind),
    "rates-differing": ("rates.json", rates_differing),
    "rates-audits": ("rate_audits.json", rates_audits),
    "speed-measured": ("speed.json", speed_measured),
    "speed-starting": ("speed.json", speed_starting),
    "speed-lp": ("speed.json", speed_lp),
    "speed-nearest": ("speed.json", speed_nearest),
    "speed-frontiers": ("speed.json", speed_frontiers),
    "speed-spreading": ("speed.json", speed_spreading),
    "speed-afterwards": ("speed.json", speed_afterwards),
    "speed-million": ("speed.json", speed_million),
    "speed-questions": ("speed.json", speed_questions),
    "speed-growth": ("speed.json", speed_growth),
    "speed-monitor": ("speed.json", speed_monitor),
    "speed-verdicts": ("speed.json", speed_verdicts),
    "speed-counting": ("speed.json", speed_counting),
    "counterparts-innocent": ("counterparts.json", counterparts_innocent),
    "counterparts-proxies": ("counterparts.json", counterparts_proxies),
    "counterparts-adult": ("adult_counterparts.json", counterparts_adult),
}
"""By name of a table: the file in docs, None for the code, and the function that makes it."""

MARKED = re.compile(r"<!-- table (\S+) -->\n.*?<!-- end \1 -->", re.DOTALL)


def make_table(name: str) -> str:
    """Return a table of the registry."""
    source, make = TABLES[name]
    if source is None:
        return make(None)
    text = (DOCS / source).read_text("utf-8")
    return make(json.loads(text) if source.endswith(".json") else text)


def renew_tables(text: str) -> str:
    """Return a page with all its tables of the registry made anew."""

    def renew(match: re.Match[str]) -> str:
        name = match[1]
        return f"<!-- table {name} -->\n{make_table(name)}\n<!-- end {name} -->"

    return MARKED.sub(renew, text)


if __name__ == "__main__":
    for page in DOCS.rglob("*.md"):
        if MARKED.search(text := page.read_text("utf-8")):
            page.write_text(renew_tables(text), encoding="utf-8")
    draw_differences(DOCS / "images" / "differences.png")
