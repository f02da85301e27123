"""Renew the tables of the docs from the files beside them, and draw images/differences.png.

A table stands between ``<!-- table NAME -->`` and ``<!-- end NAME -->``; names: ``TABLES``.
A new table is a function and a line there.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
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


def format_percentage(value: float) -> str:
    """Return a share in per cent where the unit is known."""
    return f"{100 * value:.1f}"


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

NORMAL = "plug-in"
SIDES = ("two_sided", "lower", "upper")


def validity_coverage(rows: list[Row]) -> str:
    """Return the coverage of interval, lower bound and upper bound."""
    return _methods_table(rows, lambda row, _: _format_coverages(row))


def validity_width(rows: list[Row]) -> str:
    """Return how far the bounds are from the estimate, over the plug-in normal law's distance."""
    return _methods_table(rows, _format_widths, without=NORMAL)


def validity_further(rows: list[Row]) -> str:
    """Return coverage and widths of the finite-sample method where nothing was chosen."""
    by_key = {(row["case"], row["n"], row["method"]): row for row in rows}
    return format_table(
        ("case", "n", "samples", "interval / lower / upper", "width: lower / upper"),
        (
            (
                case, f"{n}", f"{row['repetitions']}", _format_coverages(row),
                _format_widths(row, by_key[case, n, NORMAL]),
            )
            for (case, n, method), row in by_key.items()
            if method != NORMAL
        ),
    )  # fmt: skip


def validity_verdicts(rows: list[Row]) -> str:
    """Return how often audits with a declared δ reject and certify, rightly and wrongly."""
    titles = (
        "case", "n", "δ", "rejected / normal test", "wrongly rejected / normal",
        "wrongly certified",
    )  # fmt: skip
    return format_table(titles, (
        (
            row["case"], f"{row['n']}", f"{row['delta']:.4g}",
            " / ".join(_trim(row[name], 2) for name in ("rejected", "normal_rejected")),
            " / ".join(
                _format_error(row[name])
                for name in ("false_rejections", "normal_false_rejections")
            ),
            _format_error(row["false_certificates"]),
        )
        for row in rows
    ))  # fmt: skip


def _methods_table(rows: list[Row], cell: Callable[[Row, Row], str], without: str = "") -> str:
    """Return a table with a case and size a row and a method a column."""
    methods = [name for name in dict.fromkeys(row["method"] for row in rows) if name != without]
    by_key = {(row["case"], row["n"], row["method"]): row for row in rows}
    return format_table(
        ("case", "n", *methods),
        (
            (
                case, f"{n}",
                *(
                    cell(by_key[case, n, method], by_key[case, n, NORMAL])
                    if (case, n, method) in by_key
                    else "–"
                    for method in methods
                ),
            )
            for case, n in dict.fromkeys((row["case"], row["n"]) for row in rows)
        ),
    )  # fmt: skip


def _trim(value: float, digits: int) -> str:
    """Return a share without its leading zero."""
    return f"{value:.{digits}f}".removeprefix("0")


def _format_coverages(row: Row) -> str:
    """Return coverages; one that misses 95 % by more than chance and .01 is bold."""
    least = 0.95 - 0.01 - 2 * (0.05 * 0.95 / 1000) ** 0.5
    texts = ((row[side], _trim(row[side], 2)) for side in SIDES)
    return " / ".join(f"**{text}**" if value < least else text for value, text in texts)


def _format_error(value: float) -> str:
    """Return an error rate; one above 5 % by more than chance is bold."""
    text = _trim(value, 3)
    return f"**{text}**" if value > 0.05 + 3 * (0.05 * 0.95 / 1000) ** 0.5 else text


def _format_widths(row: Row, normal: Row) -> str:
    sides = ("lower_distance", "upper_distance")
    return " / ".join(_format_ratio(row[side], normal[side]) for side in sides)


def _format_ratio(ours: float, normal: float) -> str:
    if normal <= 0:
        return "–"
    return f"{ours / normal:.2f}" if math.isfinite(ours) else "∞"


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
            format_percentage(row["wrong"]), f"{row['to_reject']}",
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
                ", ".join(format_percentage(by_key[case, n][side]) for side in ("lower", "upper"))
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
        wrong = ", ".join(format_percentage(row["false alarms"] / row["runs"]) for row in pair)
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
            row["world"], format_percentage(row["by rows"]),
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
            row["world"], f"{row['difference']:.3g}", format_percentage(row["rejected"]),
            *(_format_misses(row, name) for name in ("", "normal ")),
            format_percentage(row["permutation"]),
        )
        for row in rows
    ))  # fmt: skip


def _format_misses(row: Row, name: str) -> str:
    """Return how often the lower and the upper bound are wrong, in per cent."""
    return ", ".join(format_percentage(row[f"{name}{side} misses"]) for side in ("lower", "upper"))


# ------------------------------------------------------------------ rates.json, rate_audits.json

COMPAS_TITLES = (
    "loss", "feature", "lower bound (95 %)", "over seeds", "estimate", "plug-in",
    "permutation test", "upper bound",
)  # fmt: skip
BLIND_TITLES = (
    "blind system, R = 0", "n", "blocks", "shares of groups", "orders", "samples",
    "bound above 0", "permutation test rejects",
)  # fmt: skip
DIFFERING_TITLES = (
    "difference", "n", "blocks", "shares of groups", "orders", "samples", "R", "mean bound",
    "misses", "bound above 0", "permutation test rejects", "oracle's bound above 0", "width",
    "estimate", "mean upper bound", "misses",
)  # fmt: skip
RATE_AUDIT_TITLES = (
    "system", "n", "blocks", "groups", "smallest group", "samples", "R", "differ", "rejected",
    "bound above 0", "bound above R",
)  # fmt: skip


def rates_compas(results: Row) -> str:
    """Return the rates of the COMPAS scores."""
    return format_table(COMPAS_TITLES, (
        (
            row["loss"], row["feature"], format_value(row["lower"]),
            f"{row['least']:.3f} to {row['most']:.3f}", format_value(row["estimate"]),
            format_value(row["plug_in"]), f"p = {row['permutation']:.2g}",
            "–" if row["upper"] is None else f"{row['upper']:.3f} for {row['people']} people",
        )
        for row in results["compas"]
    ))  # fmt: skip


def rates_simulated(results: Row) -> str:
    """Return a table of blind systems and one of systems that differ."""
    blind = (
        (*_rate_case(row), format_share(row["found"]), format_share(row["permutation"]))
        for row in results["cases"]
        if row["effect"] == 0
    )
    differing = (
        (
            f"{row['effect']:g}, {_rate_case(row)[0]}", *_rate_case(row)[1:],
            format_value(row["value"]), format_value(row["lower"]), format_share(row["misses"]),
            format_share(row["found"]), format_share(row["permutation"]),
            format_share(row["oracle_found"]), f"{rate_width(row):.2f}",
            format_value(row["estimate"]), format_value(row["upper"]),
            format_share(row["upper_misses"]),
        )
        for row in results["cases"]
        if row["effect"] > 0
    )  # fmt: skip
    return f"{format_table(BLIND_TITLES, blind)}\n\n{format_table(DIFFERING_TITLES, differing)}"


def rates_audits(rows: list[Row]) -> str:
    """Return the verdicts of audits of predictions alone."""
    return format_table(RATE_AUDIT_TITLES, (
        (
            f"blind, {row['case']}" if row["effect"] == 0 else f"differs by {row['effect']:g}",
            f"{row['n']}", f"{row['blocks']}", f"{row['groups']}{' × 3' if row['second'] else ''}",
            format_share(row["smallest"]), f"{row['samples']}", format_value(row["value"]),
            format_share(row["differ"]), format_share(row["rejected"]),
            format_share(row["rejected_at_0"]), format_share(row["misses"]),
        )
        for row in rows
    ))  # fmt: skip


def rate_width(row: Row) -> float:
    """Return the distance of the mean bound from R over the oracle's."""
    distance: float = row["value"] - row["lower"]
    return distance / (row["value"] - row["oracle"])


def _rate_case(row: Row) -> tuple[str, ...]:
    shares = " : ".join(f"{share:g}" for share in row["shares"])
    return (
        row["case"], f"{row['n']}", f"{row['blocks']}", shares, f"{row['orders']}",
        f"{row['repetitions']}",
    )  # fmt: skip


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


def counterparts(data: Row) -> str:
    """Return how often audits with counterparts rejected, world by world."""
    titles = (
        "world", "n", "true flips", "mean ψ", "gate open", "rejected at δ = 0", "0.01", "0.02",
        "0.05", "bound above the truth", "earlier: true flips; rejected at 0.01 / 0.02 / 0.05",
    )  # fmt: skip
    rows = (
        (
            one["world"] + (" (innocent)" if one["innocent"] else ""), str(one["n"]),
            format_value(one["true_flips"]), format_value(one["mean_statistic"]),
            format_share(one["gate_open"]), *map(format_share, one["rejected"].values()),
            format_share(one["above_truth"]), _format_earlier(*one["earlier"]),
        )
        for one in data["worlds"]
    )  # fmt: skip
    level = data.get("gate_level")
    note = "" if level is None else (
        f"\n\nThe gate opened in {100 * level['opened']:.2f} % of {level['samples']:,} samples "
        "without dependence (nominal 2.5 %)."
    )  # fmt: skip
    return format_table(titles, rows) + note


def _format_earlier(truth: float | None = None, *rejected: float) -> str:
    """Return what an earlier implementation found."""
    if truth is None:
        return "–"
    return f"{truth:.3f}; {' / '.join(f'{100 * share:.0f}' for share in rejected)} %"


def counterparts_adult(data: Row) -> str:
    """Return the audits of a blind model on Adult, with and without legitimate columns."""
    titles = (
        "legitimate", "columns that move", "ψ", "at least", "decisions that change",
        "female husbands", "male wives", "unmarried spouses", "told by a classifier", "CPU s",
    )  # fmt: skip
    shares = ("female_husbands", "male_wives", "unmarried_spouses")
    return format_table(titles, (
        (
            ", ".join(one["legitimate"]) or "none", ", ".join(one["moving"]),
            format_value(one["statistic"]), format_value(one["lower_bound"]),
            f"{one['changed']:,} ({100 * one['changed'] / one['n']:.1f} %)",
            *(f"{100 * one[share]:.2f} %" for share in shares),
            ", ".join("{:.3f} ({:.3f}–{:.3f})".format(*told) for told in one["told"]) or "–",
            f"{one['cpu_seconds']:.0f}",
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
    "validity-width": ("validity.json", validity_width),
    "validity-further": ("further.json", validity_further),
    "validity-verdicts": ("verdicts.json", validity_verdicts),
    "families": ("families.json", families),
    "differences-coverage": ("differences.json", differences_coverage),
    "designs": ("designs.json", designs),
    "controls": ("controls.json", controls),
    "questions-draws": ("questions.json", questions_draws),
    "questions-stops": ("questions.json", questions_stops),
    "rates-compas": ("rates.json", rates_compas),
    "rates-simulated": ("rates.json", rates_simulated),
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
    "counterparts": ("counterparts.json", counterparts),
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
