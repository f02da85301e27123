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
    "ten audits", "n", "anything wrong", "to reject", "rejected", "by Holm alone", "by Bonferroni",
)  # fmt: skip


def families(rows: list[Row]) -> str:
    """Return the errors, in per cent, and the powers of families of audits."""
    powers = ("rejected", "holm_rejected", "bonferroni_rejected")
    return format_table(FAMILY_TITLES, (
        (
            row["case"].removesuffix(", free moves, 0-1 loss"), f"{row['n']}",
            format_percent(row["wrong"]), f"{row['to_reject']}",
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
    """Return coverage, in per cent, and relative widths of bounds of differences by n."""
    rows = results["coverage"]
    by_key = {(row["case"], row["n"]): row for row in rows}
    sizes = sorted({row["n"] for row in rows})
    titles = (
        "models", *(f"L, U cover, n = {n}" for n in sizes), *(f"width, n = {n}" for n in sizes),
    )  # fmt: skip
    return format_table(titles, (
        (
            case,
            *(
                ", ".join(format_percent(by_key[case, n][side]) for side in ("lower", "upper"))
                for n in sizes
            ),
            *(f"{by_key[case, n]['paired_over_apart']:.2f}" for n in sizes),
        )
        for case in dict.fromkeys(row["case"] for row in rows)
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
            y=alt.Y("power", title="share of samples", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("method", title=None, sort=order),
            strokeDash=alt.StrokeDash("method", legend=None, sort=order),
            column=alt.Column("n", title=None, sort=["n = 300", "n = 1000"]),
        )
    )
    chart.save(path, scale_factor=2)


# ------------------------------------------------------------------ questions.json


def questions_draws(results: Row) -> str:
    """Return rejections, in per cent, about the population and about these cases."""
    by_key: dict[tuple[str, int], dict[str, Row]] = {}
    for row in results["draws"]:
        by_key.setdefault((row["box"], row["draws"]), {})[row["about"]] = row
    titles = ("system", "draws", "ψ", "wrong", "power", "worst twin known: bets, normal")

    def cells(box: str, draws: int) -> tuple[str, ...]:
        """Return the cells of a row."""
        pair = [by_key[box, draws][about] for about in ("population", "these")]
        wrong = ", ".join(format_percent(row["false alarms"] / row["runs"]) for row in pair)
        power = ", ".join(f"{100 * row['found'] / row['runs']:.0f}" for row in pair if row["psi"])
        oracle = ", ".join(f"{100 * share:.0f}" for share in pair[0]["oracle"] or ())
        psi = f"{pair[0]['psi']:.3g}"
        return box, f"{draws}", psi, wrong, power or "–", oracle or "–"

    return format_table(titles, (cells(*key) for key in by_key))


def questions_stops(results: Row) -> str:
    """Return the mean number of queries of audits that stop at the verdict, by ψ/δ."""
    parts = [
        {round(row["psi"] / row["delta"], 6): row for row in results[name]}
        for name in ("many", "stops")
    ]
    ratios = sorted({ratio for part in parts for ratio in part})

    def cells(part: dict[float, Row]) -> tuple[str, ...]:
        """Return the cells of a row."""
        (possible,) = {row["all questions"] for row in part.values()}
        queries = (f"{part[one]['questions']:.0f}" if one in part else "–" for one in ratios)
        return f"of {possible:,}", *queries

    titles = ("mean queries, by ψ/δ", *(f"{ratio:g}" for ratio in ratios))
    return format_table(titles, map(cells, parts))


# ------------------------------------------------------------------ designs.json, controls.json


def designs(rows: list[Row]) -> str:
    """Return errors and power, in per cent, and mean upper bounds of clusters and weights."""
    titles = (
        "sample", "by rows: L wrong", "L, U wrong", "robust: L, U wrong", "power", "robust: power",
        "mean U", "robust: mean U",
    )  # fmt: skip
    return format_table(titles, (
        (
            row["world"], format_percent(row["by rows"]),
            *(_format_misses(row, name) for name in ("", "robust ")),
            *(f"{100 * row[f'{name}found']:.0f}" for name in ("", "robust ")),
            *(format_value(row[f"{name}upper"]) for name in ("", "robust ")),
        )
        for row in rows
    ))  # fmt: skip


def controls(rows: list[Row]) -> str:
    """Return the errors of audits with controls, in per cent."""
    titles = (
        "population", "Δ", "rejected", "L, U wrong", "normal: L, U wrong", "permutation test",
    )  # fmt: skip
    return format_table(titles, (
        (
            row["world"], f"{row['difference']:.3g}", format_percent(row["rejected"]),
            *(_format_misses(row, name) for name in ("", "normal ")),
            format_percent(row["permutation"]),
        )
        for row in rows
    ))  # fmt: skip


def _format_misses(row: Row, name: str) -> str:
    """Return how often the lower and the upper bound are wrong, in per cent."""
    return ", ".join(format_percent(row[f"{name}{side} misses"]) for side in ("lower", "upper"))


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

VERSIONS = {"python": "Python", "numpy": "NumPy", "numba": "Numba"}
LP_SIZES = 100, 400
AUDIT_SIZES = 1_000, 10_000, 100_000
"""The numbers of points that are shown."""
VERDICT_ROWS = 10_000, 1_000_000, 10_000_000


def speed_measured(parts: Row) -> str:
    """Return the versions that were measured and how busy the machine was."""
    versions = ", ".join(
        f"{name} {' and '.join(sorted({part['of'][key] for part in parts.values()}))}"
        for key, name in VERSIONS.items()
    )
    busiest = max(part["cores_used_by_others"] or 0 for part in parts.values())
    return f"{versions}; other processes used at most {busiest:.1f} of the two cores."


def speed_starting(parts: Row) -> str:
    """Return the CPU seconds of commands from their start."""
    return format_table(("command", "first run", "later runs, median"), (
        (f"`{name}`", format_seconds(seconds["first"]), format_seconds(seconds["median"]))
        for name, seconds in parts["starting"]["commands"].items()
        if not name.endswith(("--version", "--help"))
    ))  # fmt: skip


def speed_audits(parts: Row) -> str:
    """Return the CPU seconds of audits with their reports, by similarity, loss and points."""
    titles = (
        "comparable by", "loss", "points", "audit and bounds", "moves", "report", "total",
        "peak MiB",
    )  # fmt: skip
    rows = [
        _audit_row("distance", "Brier", row)
        for row in parts["afterwards"]["audits"]
        if row["points"] in AUDIT_SIZES
    ]
    rows += [_audit_row("distance", loss, row) for loss, row in parts["million"]["audits"].items()]
    questions = parts["questions"]
    rows.append(_audit_row("twins", "0-1", questions | {"points": questions["questions"]}))
    return format_table(titles, rows) + (
        f"\n\nThe time of the last row includes {format_seconds(questions['model'])} "
        "of the model itself."
    )


def _audit_row(similarity: str, loss: str, row: Row) -> tuple[str, ...]:
    """Return the cells of an audit; stages that were not measured are left open."""
    seconds = row["seconds"]
    stages = (("audit", "bounds"), ("moves",), ("summary", "html"))
    times = [sum(seconds.get(stage, 0) for stage in names) for names in stages]
    return (
        similarity, loss, f"{row['points']:,}",
        *(format_seconds(time) if time else "–" for time in times),
        format_seconds(sum(times)), f"{row['peak_mib']:,.0f}",
    )  # fmt: skip


def speed_growth(parts: Row) -> str:
    """Return the time of ψ at the largest size by kind of losses and number of dimensions."""
    growths = parts["growth"]["growths"]
    by_losses: dict[str, list[Row]] = {}
    for growth in growths:
        by_losses.setdefault(growth["losses"], []).append(growth)
    dimensions = sorted({growth["dimensions"] for growth in growths})
    table = format_table(("losses", *(f"{count} dim." for count in dimensions), "peak MiB"), (
        (
            losses, *(format_seconds(growth["sizes"][-1]["solve"]) for growth in rows),
            f"{max(growth['sizes'][-1]['peak_bytes'] for growth in rows) / MIB:.0f}",
        )
        for losses, rows in by_losses.items()
    ))  # fmt: skip
    ratios = [growth["sizes"][-1]["solve"] / growth["sizes"][-2]["solve"] for growth in growths]
    grows = f"{min(ratios):.0f} to {max(ratios):.0f} times"
    return f"{table}\n\nFrom 10,000 to 100,000 points the time grows {grows}."


def speed_lp(parts: Row) -> str:
    """Return our solver beside LP solvers."""
    part = parts["lp"]
    times = {
        ("fairtransport", row["points"]): (
            row["value_with_build"], row["value_after_build"], row["resamples"],
        )
        for row in part["ours"]
    } | {
        (row["peer"], row["points"]): (row["first_value"], row["further_value"], row["resamples"])
        for row in part["peers"]
    }  # fmt: skip
    small, large = LP_SIZES
    titles = (
        "solver", f"first value, K = {small}", f"K = {large}", "further value", "1000 resamples",
    )  # fmt: skip
    return format_table(titles, (
        (solver, *map(format_seconds, (times[solver, small][0], *times[solver, large])))
        for solver in dict.fromkeys(solver for solver, _ in times)
    ))  # fmt: skip


def speed_monitor(parts: Row) -> str:
    """Return the records a second that a monitor processes."""
    row = parts["monitor"]
    return (
        f"A monitor of {row['points']} points processes {row['in_batches']:,.0f} records a second "
        f"in batches of {row['batch']:,}, and {row['one_by_one']:,.0f} one by one, with a "
        "confidence bound after each record."
    )


def speed_threads(parts: Row) -> str:
    """Return what a second thread is worth."""
    gains = " and ".join(
        f"{row['ratio']:.1f} times as fast for {row['points']:,} points"
        for row in parts["spreading"]["sizes"]
    )
    return f"With two threads the search among points is {gains}, by the clock."


def speed_counting(parts: Row) -> str:
    """Return the CPU seconds from a file to a finished audit."""
    titles = ("file", "rows", "distinct", "audit", "times the group-by", "peak MiB")
    return format_table(titles, (
        (
            row["file"] + (" with an ID column" if row["identifier"] else ""),
            f"{row['rows']:,}", f"{row['points']:,}", format_seconds(row["audit"]),
            f"{row['ratio']:.2f}", f"{row['audit_mib']:.0f}",
        )
        for row in parts["counting"]["files"]
    ))  # fmt: skip


def speed_verdicts(parts: Row) -> str:
    """Return the CPU seconds of audits of predictions with a verdict."""
    titles = ("rows", "distinct", "audit with verdict", "times the group-by")
    return format_table(titles, (
        (
            f"{row['rows']:,}", f"{row['points']:,}", format_seconds(row["verdict"]),
            f"{row['verdict'] / row['bare']:.0f}",
        )
        for growth in parts["counting"]["verdicts"]
        for row in growth["sizes"]
        if row["rows"] in VERDICT_ROWS
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


# ------------------------------------------------------------------ reproduction/table1.json


def table1(document: Row) -> str:
    """Return the paper's Table 1 beside ours."""
    import pandas as pd

    from fairtransport.reproduce.table1 import Table1, format_markdown

    summary = pd.DataFrame(document["summary"])
    table = Table1(
        tuple(document["splits"]), tuple(summary["method"].unique()), summary, document["claims"],
        document["settings"],
    )  # fmt: skip
    return format_markdown(table).rstrip()


# ------------------------------------------------------------------ the registry


def exit_codes(_: None) -> str:
    """Return what the exit codes of an audit mean, and those of a program that a signal ended."""
    from fairtransport.documents.verdicts import EXIT_CODES

    ended = ("130, 141", "interrupted from the keyboard; the reader of a pipe has gone")
    codes = [*((str(code), meaning) for code, meaning in EXIT_CODES.items()), ended]
    return format_table(("exit code", "meaning"), codes)


TABLES: dict[str, tuple[str | None, Callable[[Any], str]]] = {
    "exit-codes": (None, exit_codes),
    "table1": ("reproduction/table1.json", table1),
    "validity-coverage": ("validity.json", validity_coverage),
    "validity-populations": ("validity.json", validity_populations),
    "validity-further": ("further.json", validity_coverage),
    "validity-verdicts": ("verdicts.json", validity_verdicts),
    "families": ("families.json", families),
    "differences-coverage": ("differences.json", differences_coverage),
    "designs": ("designs.json", designs),
    "controls": ("controls.json", controls),
    "questions-draws": ("questions.json", questions_draws),
    "questions-stops": ("questions.json", questions_stops),
    "rates-compas": ("rates.json", rates_compas),
    "rates-blind": ("rates.json", rates_blind),
    "rates-differing": ("rates.json", rates_differing),
    "rates-audits": ("rate_audits.json", rates_audits),
    "speed-measured": ("speed.json", speed_measured),
    "speed-starting": ("speed.json", speed_starting),
    "speed-counting": ("speed.json", speed_counting),
    "speed-verdicts": ("speed.json", speed_verdicts),
    "speed-audits": ("speed.json", speed_audits),
    "speed-growth": ("speed.json", speed_growth),
    "speed-lp": ("speed.json", speed_lp),
    "speed-monitor": ("speed.json", speed_monitor),
    "speed-threads": ("speed.json", speed_threads),
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
