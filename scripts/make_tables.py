"""Update the tables of the docs from the files beside them, and draw images/differences.png.

A table is between ``<!-- table NAME -->`` and ``<!-- end NAME -->``; names: ``TABLES``.
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
BY_POPULATION = "m-out-of-n", "plug-in", "limit-law"
"""The methods whose coverage is shown by population."""
SIDES = ("two_sided", "lower", "upper")
MIN_COVERAGE = 0.95 - 0.01 - 2 * (0.05 * 0.95 / 1000) ** 0.5
"""A coverage below it misses 95 % by more than chance and .01."""


def validity_coverage(rows: list[Row]) -> str:
    """Return by method and size the worst coverage, and how wide the finite-sample bounds are."""
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
    """Return the worst coverage and the largest size that is missed, by population."""
    methods = BY_POPULATION
    return format_table(("population", *methods), (
        (case, *(_format_missed(_select(rows, case=case, method=method)) for method in methods))
        for case in _unique(rows, "case")
    ))  # fmt: skip


def validity_further(rows: list[Row]) -> str:
    """Return the worst coverage of two methods, and how wide the finite-sample bounds are."""
    ours, normal = (_select(rows, method=method) for method in (OURS, NORMAL))
    missed = {row["case"] for row in normal if _find_worst(row) < MIN_COVERAGE}
    lowers, uppers = zip(
        *(_find_widths(_select(rows, n=n)) for n in _unique(rows, "n")), strict=True
    )
    lower, upper = ([width for part in parts for width in part] for parts in (lowers, uppers))
    return (
        f"On {len(_unique(rows, 'case'))} further populations the worst coverage of `{OURS}` is "
        f"{_trim(min(map(_find_worst, ours)), 2)}, and of `{NORMAL}` "
        f"{_trim(min(map(_find_worst, normal)), 2)}: it misses in {len(missed)} of them. The "
        f"finite-sample lower bound is at most {max(lower):.2f} times as far from the estimate as "
        f"that of `{NORMAL}`, the upper bound {max(upper):.2f} times (median {median(upper):.2f})."
    )


def validity_verdicts(rows: list[Row]) -> str:
    """Return the largest errors and the power of audits with a declared δ by size."""
    titles = (
        "n", "wrongly rejected", "by the normal test", "wrongly certified", "power: median, least",
    )  # fmt: skip
    errors = ("false_rejections", "normal_false_rejections", "false_certificates")
    table = []
    for n in _unique(rows, "n"):
        some = _select(rows, n=n)
        power = [row["rejected"] for row in some]
        table.append((
            f"{n}", *(_format_errors(some, name) for name in errors),
            f"{_trim(median(power), 2)}, {_trim(min(power), 2)}",
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
    """Return the worst coverage, and the number of populations that are missed."""
    missed = sum(_find_worst(row) < MIN_COVERAGE for row in rows)
    text = _trim(min(map(_find_worst, rows)), 2)
    return f"**{text}** ({missed})" if missed else text


def _format_missed(rows: list[Row]) -> str:
    """Return the worst coverage, and the largest size at which one is missed."""
    missed = [row["n"] for row in rows if _find_worst(row) < MIN_COVERAGE]
    text = _trim(min(map(_find_worst, rows)), 2)
    return f"**{text}** ({max(missed)})" if missed else text


def _find_widths(rows: list[Row]) -> tuple[list[float], list[float]]:
    """Return how far the finite-sample bounds are from the estimate, over the normal ones."""
    normal = {row["case"]: row for row in _select(rows, method=NORMAL)}
    pairs = [(row, normal[row["case"]]) for row in _select(rows, method=OURS)]
    lower, upper = (
        [row[side] / of[side] for row, of in pairs if of[side] > 0]
        for side in ("lower_distance", "upper_distance")
    )
    return lower, upper


def _format_widths(rows: list[Row], summarise: Callable[[list[float]], float]) -> str:
    """Return a summary of how far both finite-sample bounds are from the estimate."""
    return ", ".join(f"{summarise(widths):.2f}" for widths in _find_widths(rows))


def _format_errors(rows: list[Row], name: str) -> str:
    """Return the largest share of errors, and the number of populations where it is too large."""
    text = _trim(max(row[name] for row in rows), 3)
    missed = sum(row[name] > 0.05 + 2 * (0.0475 / row["repetitions"]) ** 0.5 for row in rows)
    return f"**{text}** ({missed})" if missed else text


# ------------------------------------------------------------------ families.json


def families(rows: list[Row]) -> str:
    """Return the errors and the powers of families of audits."""
    wrong = max(row["wrong"] for row in rows)
    (row,) = (row for row in rows if row["to_reject"] == 8)
    return (
        f"At most {format_share(wrong)} of the families of each case had a wrong verdict. Of "
        f"eight audits above δ (n = {row['n']}), {row['rejected']:.2f} were rejected on average, "
        f"and {row['holm_rejected']:.2f} by Holm's method alone, which has no certificates."
    )


# ------------------------------------------------------------------ differences.json

DIFFERENCE_METHODS = {
    "paired": "bounds of the difference",
    "mcnemar": "McNemar's exact test",
    "apart": "two separate intervals",
}


def differences_coverage(results: Row) -> str:
    """Return coverage, in per cent, and relative widths of bounds of differences."""
    rows = results["coverage"]
    covers = [row[side] for row in rows for side in ("lower", "upper")]
    widths = [row["paired_over_apart"] for row in rows]
    return (
        f"L and U each covered the difference in {format_percent(min(covers))} to "
        f"{format_share(max(covers))} of the samples of each case. The interval was "
        f"{min(widths):.2f} to {max(widths):.2f} times as wide as by two separate intervals."
    )


def attributable(rows: list[Row]) -> str:
    """Return coverage and relative widths of bounds of the attributable part."""
    (samples,), (n,) = ({row[key] for row in rows} for key in ("samples", "n"))
    covers = min(row[side] for row in rows for side in ("lower", "upper"))
    widths = [row["paired_over_apart"] for row in rows]
    return (
        f"In {len(rows)} cases of {samples} samples of {n} people, each bound held in at least "
        f"{100 * covers:.0f} % of the samples. The interval was {min(widths):.2f} to "
        f"{max(widths):.2f} times as wide as by two separate intervals."
    )


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
    titles = ("system", "draws", "ψ", "wrong", "power")

    def cells(box: str, draws: int) -> tuple[str, ...]:
        """Return the cells of a row."""
        pair = [by_key[box, draws][about] for about in ("population", "these")]
        wrong = ", ".join(format_percent(row["false alarms"] / row["runs"]) for row in pair)
        power = ", ".join(f"{100 * row['found'] / row['runs']:.0f}" for row in pair if row["psi"])
        psi = f"{pair[0]['psi']:.3g}"
        return box, f"{draws}", psi, wrong, power or "–"

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
    titles = ("sample", "by rows: L wrong", "L, U wrong", "power", "mean U")
    return format_table(titles, (
        (
            row["world"], format_percent(row["by rows"]), _format_misses(row, ""),
            f"{100 * row['found']:.0f}", format_value(row["upper"]),
        )
        for row in rows
    ))  # fmt: skip


def controls(rows: list[Row]) -> str:
    """Return the errors of audits with controls."""
    rejected = max(row["rejected"] for row in rows if row["difference"] == 0)
    ours, normal = (
        max(row[f"{name}{side} misses"] for row in rows for side in ("lower", "upper"))
        for name in ("", "normal ")
    )
    return (
        f"Without an effect the audits rejected in {format_share(rejected)} of the samples. L and "
        f"U were each wrong in at most {format_share(ours)}, normal bounds without a guarantee in "
        f"{format_share(normal)}."
    )


def _format_misses(row: Row, name: str) -> str:
    """Return how often the lower and the upper bound are wrong, in per cent."""
    return ", ".join(format_percent(row[f"{name}{side} misses"]) for side in ("lower", "upper"))


# ------------------------------------------------------------------ rates.json, rate_audits.json

DIFFERING_TITLES = (
    "difference", "n", "blocks", "groups, %", "R", "mean lower bound", "bound above 0, %",
    "mean upper bound", "misses, %",
)  # fmt: skip
MAX_SHOWN = 5_000
"""The largest samples that are shown."""


def rates_blind(results: Row) -> str:
    """Return how often tests of blind systems reject."""
    blind = _select(results["cases"], effect=0)
    found, tests = ([row[name] for row in blind] for name in ("found", "permutation"))
    return (
        f"For {len(blind)} blind systems the bound was above 0 in at most "
        f"{format_share(max(found))} of the samples. The permutation test rejected in "
        f"{format_percent(min(tests))} to {format_share(max(tests))}."
    )


def rates_differing(results: Row) -> str:
    """Return bounds of systems that differ by group."""
    return format_table(DIFFERING_TITLES, (
        (
            f"{row['effect']:g}, {row['case']}", f"{row['n']}", f"{row['blocks']}",
            "/".join(f"{100 * share:.0f}" for share in row["shares"]),
            *(format_value(row[name]) for name in ("value", "lower")),
            format_percent(row["found"]), format_value(row["upper"]),
            f"{format_percent(row['misses'])}, {format_percent(row['upper_misses'])}",
        )
        for row in results["cases"]
        if row["effect"] > 0 and row["n"] <= MAX_SHOWN
    ))  # fmt: skip


def rates_audits(rows: list[Row]) -> str:
    """Return the verdicts of audits of predictions alone."""
    blind = _select(rows, effect=0)
    differing = [row for row in rows if row["effect"] > 0]
    rejected, above = (max(row[name] for row in blind) for name in ("rejected", "rejected_at_0"))
    values, power = ([row[name] for row in differing] for name in ("value", "rejected"))
    misses = max(row["misses"] for row in differing)
    return (
        f"Audits of {len(blind)} blind systems (R = 0) rejected at most {format_share(rejected)} "
        f"of the samples, and the bound was above 0 in at most {format_share(above)}. Of "
        f"{len(differing)} systems with R from {min(values):.2f} to {max(values):.2f}, "
        f"{format_percent(min(power))} to {format_share(max(power))} of the samples were rejected, "
        f"and the bound was above R in at most {format_share(misses)}."
    )


# ------------------------------------------------------------------ speed.json

VERSIONS = {"python": "Python", "numpy": "NumPy", "numba": "Numba"}
LP_SIZE = 400
AUDIT_SIZES = 1_000, 10_000, 100_000
"""The numbers of points that are shown."""


def speed_measured(parts: Row) -> str:
    """Return the measured versions and the load of the machine."""
    versions = ", ".join(
        f"{name} {' and '.join(sorted({part['of'][key] for part in parts.values()}))}"
        for key, name in VERSIONS.items()
    )
    busiest = max(part["cores_used_by_others"] or 0 for part in parts.values())
    return f"{versions}; other processes used at most {busiest:.1f} of the two cores."


def speed_starting(parts: Row) -> str:
    """Return the CPU seconds of commands from their start."""
    commands = parts["starting"]["commands"]
    rows = [row for name, row in commands.items() if not name.endswith(("--version", "--help"))]
    later, first = ([row[key] for row in rows] for key in ("median", "first"))
    return (
        f"A command that audits or compares on COMPAS takes {_format_spread(later)} from its "
        f"start. The first run after an installation compiles and takes {_format_spread(first)}."
    )


def speed_audits(parts: Row) -> str:
    """Return the CPU seconds of audits with their reports, by similarity, loss and points."""
    rows = [
        _audit_row("distance", "Brier", row)
        for row in parts["afterwards"]["audits"]
        if row["points"] in AUDIT_SIZES
    ]
    rows += [_audit_row("distance", loss, row) for loss, row in parts["million"]["audits"].items()]
    questions = parts["questions"]
    rows.append(_audit_row("copies", "0-1", questions | {"points": questions["questions"]}))
    table = format_table(("comparable by", "loss", "points", "time", "peak MiB"), rows)
    model = format_seconds(questions["model"])
    return f"{table}\n\nThe time of the last row includes {model} of the model itself."


def _audit_row(similarity: str, loss: str, row: Row) -> tuple[str, ...]:
    """Return the cells of an audit."""
    stages = ("audit", "bounds", "moves", "summary", "html")
    time = format_seconds(sum(row["seconds"].get(stage, 0) for stage in stages))
    return similarity, loss, f"{row['points']:,}", time, f"{row['peak_mib']:,.0f}"


def speed_growth(parts: Row) -> str:
    """Return the time of ψ at the largest size, and how it grows."""
    pairs = [growth["sizes"][-2:] for growth in parts["growth"]["growths"]]
    ratios = [large["solve"] / small["solve"] for small, large in pairs]
    times = _format_spread([large["solve"] for _, large in pairs])
    return (
        f"The statistic alone takes {times} for 100,000 points in 1 to 10 dimensions. From 10,000 "
        f"to 100,000 points the time grows {min(ratios):.0f} to {max(ratios):.0f} times."
    )


def speed_lp(parts: Row) -> str:
    """Return our solver beside LP solvers."""
    (ours,) = _select(parts["lp"]["ours"], points=LP_SIZE)
    by_hand, *general = _select(parts["lp"]["peers"], points=LP_SIZE)
    firsts, resamples = ([row[key] for row in general] for key in ("first_value", "resamples"))
    return (
        f"For {LP_SIZE} points the statistic takes {format_seconds(ours['value_with_build'])} and "
        f"1000 resamples {format_seconds(ours['resamples'])}. The dual, written by hand in ten "
        f"lines of NumPy, takes {format_seconds(by_hand['first_value'])} and "
        f"{format_seconds(by_hand['resamples'])}; {len(general)} general solvers take "
        f"{_format_spread(firsts)} and {_format_spread(resamples)}."
    )


def _format_spread(times: list[float]) -> str:
    """Return the least and the largest of some durations."""
    return f"{format_seconds(min(times))} to {format_seconds(max(times))}"


def speed_monitor(parts: Row) -> str:
    """Return the records a second that a monitor processes."""
    row = parts["monitor"]
    return (
        f"A monitor of {row['points']} points processes {row['in_batches']:,.0f} records a second "
        f"in batches of {row['batch']:,}, and {row['one_by_one']:,.0f} one by one, with a "
        "confidence bound after each record."
    )


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
    rows = [growth["sizes"][-1] for growth in parts["counting"]["verdicts"]]
    times = " and ".join(
        f"{format_seconds(row['verdict'])} with {row['points']:,} distinct rows" for row in rows
    )
    (count,) = {row["rows"] for row in rows}
    return f"For {count:,} rows of Parquet it takes {times}."


# ------------------------------------------------------------------ counterparts.json, …


OMITTED_WORLDS = {
    "height (2.2 sd)",
    "small shift in whole numbers (20 and 22)",
    "the same in one-hot columns",
    "another spread alone (1 and 2 sd)",
    "mostly 0, of other frequency",
    "interaction of two flags",
    "the same, given the other flag",
}
"""Populations that are in the file alone."""


def counterparts_innocent(data: Row) -> str:
    """Return how often audits with counterparts rejected models that use no proxy."""
    worlds, level = _select(data["worlds"], innocent=True), data["gate_level"]
    at_0, at_2 = (max(row["rejected"][delta] for row in worlds) for delta in ("0", "0.02"))
    return (
        f"At most {format_share(at_0)} of the audits of each rejected at δ = 0, and "
        f"{format_share(at_2)} at δ = 0.02. The gate opened in {100 * level['opened']:.2f} % of "
        f"{level['samples']:,} samples without dependence (nominal 2.5 %)."
    )


def counterparts_proxies(data: Row) -> str:
    """Return how often audits with counterparts rejected models that use proxies."""
    titles = (
        "model", "n", "gate open, %", "rejected at δ = 0, %", "0.02", "true flips",
        "bound above, %",
    )  # fmt: skip
    return format_table(titles, (
        (
            row["world"], f"{row['n']}", format_percent(row["gate_open"]),
            *(format_percent(row["rejected"][delta]) for delta in ("0", "0.02")),
            format_value(row["true_flips"]), format_percent(row["above_truth"]),
        )
        for row in _select(data["worlds"], innocent=False)
        if row["world"] not in OMITTED_WORLDS
    ))  # fmt: skip


def counterparts_adult(data: Row) -> str:
    """Return the audits of a blind model on Adult, with and without legitimate columns."""
    titles = (
        "legitimate", "columns that move", "ψ", "at least", "decisions that change",
    )  # fmt: skip
    table = format_table(titles, (
        (
            ", ".join(one["legitimate"]) or "none", ", ".join(one["moving"]),
            format_value(one["statistic"]), format_value(one["lower_bound"]),
            f"{one['changed']:,} ({100 * one['changed'] / one['n']:.1f} %)",
        )
        for one in data["audits"]
    ))  # fmt: skip
    husbands, wives = (
        max(one[share] for one in data["audits"]) for share in ("female_husbands", "male_wives")
    )
    return (
        f"{table}\n\nAt most {100 * husbands:.2f} % of the counterparts are female husbands, and "
        f"{100 * wives:.2f} % male wives."
    )


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
    """Return the meaning of an audit's exit codes, and of those of a program ended by a signal."""
    from fairtransport.documents.verdicts import EXIT_CODES

    ended = ("130, 141", "interrupted from the keyboard; the reader of a pipe has gone")
    codes = [*((str(code), meaning) for code, meaning in EXIT_CODES.items()), ended]
    return format_table(("exit code", "meaning"), codes)


TABLES: dict[str, tuple[str | None, Callable[[Any], str]]] = {
    "exit-codes": (None, exit_codes),
    "table1": ("reproduction/table1.json", table1),
    "validity-coverage": ("validity.json", validity_coverage),
    "validity-populations": ("validity.json", validity_populations),
    "validity-further": ("further.json", validity_further),
    "validity-verdicts": ("verdicts.json", validity_verdicts),
    "families": ("families.json", families),
    "differences-coverage": ("differences.json", differences_coverage),
    "attributable": ("attributable_audits.json", attributable),
    "designs": ("designs.json", designs),
    "controls": ("controls.json", controls),
    "questions-draws": ("questions.json", questions_draws),
    "questions-stops": ("questions.json", questions_stops),
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
    "counterparts-innocent": ("counterparts.json", counterparts_innocent),
    "counterparts-proxies": ("counterparts.json", counterparts_proxies),
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
