"""Update the tables of the docs from the files beside them, and draw images/differences.png.

A table is between ``<!-- table NAME -->`` and ``<!-- end NAME -->``; names: ``TABLES``.
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
    """Return the distances of the bounds from the estimate, over the plug-in normal law's."""
    return _methods_table(rows, _format_widths, without=NORMAL)


def validity_further(rows: list[Row]) -> str:
    """Return coverage and widths of the finite-sample method if nothing was chosen."""
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
    """Return how often audits with a declared δ reject and certify, correctly and wrongly."""
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
    """Return a table with one row per case and size, and one column per method."""
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
    """Return coverages; one that misses 95 % significantly and by over .01 is bold."""
    least = 0.95 - 0.01 - 2 * (0.05 * 0.95 / 1000) ** 0.5
    texts = ((row[side], _trim(row[side], 2)) for side in SIDES)
    return " / ".join(f"**{text}**" if value < least else text for value, text in texts)


def _format_error(value: float) -> str:
    """Return an error rate; one significantly above 5 % is bold."""
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
    """Draw the powers by the difference, one panel per sample size."""
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
    """Return rejections by system, number of draws and target of the bound."""
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
    """Return verdicts and numbers of questions of audits with until_sure."""
    return _stops_table(results["stops"])


def questions_many(results: Row) -> str:
    """Return the same for audits with many questions."""
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
    """Return the verdicts of audits of predictions only."""
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

STAGES = ("audit", "bounds", "moves", "summary", "html")
VERSIONS = {"python": "Python", "numpy": "NumPy", "numba": "Numba"}


def speed_measured(parts: Row) -> str:
    """Return the measured versions and the load of the machine."""
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
    """Return our solver compared with LP solvers."""
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
    """Return our solver compared with POT on the nearest task that POT has."""
    return format_table(("K", "our value", "POT `emd2`", "ratio", "costs differ by"), (
        (
            f"{row['points']:,}", format_seconds(row["ours"]), format_seconds(row["theirs"]),
            f"{row['theirs'] / row['ours']:.2g}", f"{row['difference']:.0e}",
        )
        for row in parts["nearest"]["pot"]
    ))  # fmt: skip


def speed_frontiers(parts: Row) -> str:
    """Return the frontiers compared with the bare product of the pairs, and their growth."""
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
    """Return the CPU seconds of every stage by K, and their growth."""
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
    """Return the CPU seconds of an audit compared with those of its model."""
    row = parts["questions"]
    titles = ("questions", "model", *row["seconds"], "whole / model", "peak MiB")
    seconds = (f"{one:.1f}" for one in row["seconds"].values())
    return format_table(titles, [(
        f"{row['questions']:,}", f"{row['model']:.1f}", *seconds, f"{row['ratio']:.1f}",
        f"{row['peak_mib']:.0f}",
    )])  # fmt: skip


def speed_growth(parts: Row) -> str:
    """Return the growth of solutions by kind of losses and number of dimensions."""
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
    """Return the records per second that a monitor processes."""
    row = parts["monitor"]
    titles = ("K", f"records a second in batches of {row['batch']:,}", "one by one")
    return format_table(titles, [
        (f"{row['points']}", f"{row['in_batches']:,.0f}", f"{row['one_by_one']:,.0f}")
    ])  # fmt: skip


def speed_verdicts(parts: Row) -> str:
    """Return the cost of a verdict besides counting, compared with the bare group-by."""
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


def counterparts(data: Row) -> str:
    """Return how often audits with counterparts rejected, by world."""
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
    """Return the results of an earlier implementation."""
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


# ------------------------------------------------------------------ the registry


def exit_codes(_: None) -> str:
    """Return the meaning of an audit's exit codes, and of those of a program ended by a signal."""
    from fairtransport.documents.verdicts import EXIT_CODES

    ended = ("130, 141", "interrupted from the keyboard; the reader of a pipe has gone")
    codes = [*((str(code), meaning) for code, meaning in EXIT_CODES.items()), ended]
    return format_table(("exit code", "meaning"), codes)


TABLES: dict[str, tuple[str | None, Callable[[Any], str]]] = {
    "exit-codes": (None, exit_codes),
    "table1": ("reproduction/table1.md", str.rstrip),
    "validity-coverage": ("validity.json", validity_coverage),
    "validity-width": ("validity.json", validity_width),
    "validity-further": ("further.json", validity_further),
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
    "rates-simulated": ("rates.json", rates_simulated),
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
    "counterparts": ("counterparts.json", counterparts),
    "counterparts-adult": ("adult_counterparts.json", counterparts_adult),
}
"""By name of a table: the file in docs, None for the code, and the function that builds it."""

MARKED = re.compile(r"<!-- table (\S+) -->\n.*?<!-- end \1 -->", re.DOTALL)


def make_table(name: str) -> str:
    """Return a table of the registry."""
    source, make = TABLES[name]
    if source is None:
        return make(None)
    text = (DOCS / source).read_text("utf-8")
    return make(json.loads(text) if source.endswith(".json") else text)


def renew_tables(text: str) -> str:
    """Return a page with all its tables of the registry rebuilt."""

    def renew(match: re.Match[str]) -> str:
        name = match[1]
        return f"<!-- table {name} -->\n{make_table(name)}\n<!-- end {name} -->"

    return MARKED.sub(renew, text)


if __name__ == "__main__":
    for page in DOCS.rglob("*.md"):
        if MARKED.search(text := page.read_text("utf-8")):
            page.write_text(renew_tables(text), encoding="utf-8")
    draw_differences(DOCS / "images" / "differences.png")
