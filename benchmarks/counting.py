"""From files to a finished audit, beside DuckDB's bare group-by of them: CPU seconds and memory.

Each file in a process of its own, bare and ours in turn; ``python benchmarks/counting.py
--parquet-rows 20_000_000 --csv-rows 5_000_000`` measures that alone.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

from measure import exponent, in_fresh_process, peak_mib
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

PARQUET_ROWS, CSV_ROWS = 20_000_000, 5_000_000
QUICK_ROWS = 200_000
FEW, MANY = 10, 2_431
"""Ages: with the other columns 2,880 and 700,128 distinct rows."""
FEATURES = ("race", "sex", "age", "priors", "kids")
TURNS = 3
VERDICT_ROWS, QUICK_VERDICT_ROWS = (10_000, 100_000, 1_000_000, 10_000_000), (1_000, 2_000)
DELTA = 0.01


@dataclass(frozen=True)
class Counting:
    """A file, and what it costs: medians of CPU seconds, and what the audit adds to the peak.

    Attributes
    ----------
    identifier
        Whether a further column, which is not audited, makes every line distinct.
    bare
        Of the group-by of all other columns, fetched.
    audit
        Of an audit with given predictions and no limit δ, so that there is no verdict to find.
    ratio
        The median ratio of the two, turn by turn.
    least, most
        The range of that ratio.
    """

    file: str
    identifier: bool
    rows: int
    points: int
    bare: float
    audit: float
    ratio: float
    least: float
    most: float
    bare_mib: float
    audit_mib: float


def measure(
    parquet_rows: int, csv_rows: int, progress: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Return what each kind of file costs."""
    found = []
    for ending, rows in (("parquet", parquet_rows), ("csv", csv_rows)):
        for ages, identifier in ((FEW, False), (MANY, False), (FEW, True)):
            progress(f"{rows:,} rows of {ending}, {ages:,} ages, identifier: {identifier}")
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / f"cases.{ending}"
                _write(file, rows, ages, identifier=identifier)
                bare_mib = in_fresh_process(_bare_peak, str(file))
                turns = in_fresh_process(_turns, str(file), rows, bare_mib, identifier)
                found.append(asdict(turns))
    return found


def _write(file: Path, rows: int, ages: int, *, identifier: bool = False) -> None:
    import duckdb

    def number(factor: int, levels: int) -> str:
        return f"(hash(i * {factor}) % {levels})::BIGINT"

    columns = {
        "race": f"['white', 'black', 'asian', 'other'][1 + {number(3, 4)}]",
        "sex": f"['f', 'm'][1 + {number(5, 2)}]",
        "age": f"18 + {number(7, ages)}",
        "priors": f"['0', '1 to 3', 'more'][1 + {number(11, 3)}]",
        "kids": number(13, 3),
        "good": number(17, 2),
        "guess": number(19, 2),
    } | ({"id": "i"} if identifier else {})
    keys = ", ".join(f"{value} AS {name}" for name, value in columns.items())
    duckdb.sql(f"COPY (SELECT {keys} FROM range({rows}) t(i)) TO '{file}'")  # noqa: S608


def _bare_peak(file: str) -> float:
    _bare(file)
    return peak_mib()


def _turns(file: str, rows: int, bare_mib: float, identifier: bool) -> Counting:  # noqa: FBT001
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.parquet"
        _write(small, 10_000, FEW)
        _audit(str(small))  # loads libraries and compiled code
    bare, own, points = [], [], 0
    for _ in range(TURNS):
        bare.append(_bare(file))
        seconds, points = _audit(file)
        own.append(seconds)
    ratios = [mine / theirs for mine, theirs in zip(own, bare, strict=True)]
    return Counting(
        Path(file).suffix, identifier, rows, points, median(bare), median(own), median(ratios),
        min(ratios), max(ratios), bare_mib, peak_mib(),
    )  # fmt: skip


def measure_verdicts(
    rows: tuple[int, ...], progress: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Return what a verdict adds for few and many profiles: CPU seconds, the least of the turns."""
    growths = []
    for name, ages in (("few", FEW), ("many", MANY)):
        sizes = []
        for many in rows:
            progress(f"{many:,} rows, {ages:,} ages, with a verdict")
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "cases.parquet"
                _write(file, many, ages)
                sizes.append(in_fresh_process(_verdict_turns, str(file), many))
        exponents = {
            part: exponent(rows, [size[part] for size in sizes])
            for part in ("bare", "audit", "verdict")
        }
        growths.append({"profiles": name, "sizes": sizes, "exponents": exponents})
    return growths


def _verdict_turns(file: str, rows: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.parquet"
        _write(small, 1_000, FEW)
        _audit(str(small), DELTA)
    turns, points = [], 0
    for _ in range(TURNS):
        seconds, points = _audit(file)
        turns.append((_bare(file), seconds, _audit(file, DELTA)[0]))
    bare, audit, verdict = (min(times) for times in zip(*turns, strict=True))
    return {"rows": rows, "points": points, "bare": bare, "audit": audit, "verdict": verdict}


def _bare(file: str) -> float:
    import duckdb

    columns = ", ".join((*FEATURES, "good", "guess"))
    start = process_time()
    with duckdb.connect() as connection:
        connection.execute(
            f"SELECT {columns}, count(*) FROM '{file}' GROUP BY ALL"  # noqa: S608
        ).fetchnumpy()
    return process_time() - start


def _audit(file: str, delta: float | None = None) -> tuple[float, int]:
    """Audit a file; with δ, find the verdict and everything that its summary shows."""
    import fairtransport as ft

    start = process_time()
    result = ft.audit(
        file, "good", y_pred="guess", features=FEATURES, sensitive_features=["race", "sex"],
        delta=delta, rng=0,
    )  # fmt: skip
    _ = result.verdict if delta is None else (result.verdict, str(result.summary))
    return process_time() - start, result.space.size


def table(found: list[dict[str, Any]]) -> Table:
    """Return the files as a table."""
    made = Table(title="From a file to a finished audit, CPU seconds")
    for name in ("file", "ID column", "rows", "points", "group-by", "audit", "ratio", "peak MiB"):
        made.add_column(name, justify="right")
    for one in found:
        made.add_row(
            one["file"], "yes" if one["identifier"] else "no", f"{one['rows']:,}",
            f"{one['points']:,}", f"{one['bare']:.2f}", f"{one['audit']:.2f}",
            f"{one['ratio']:.2f} ({one['least']:.2f} to {one['most']:.2f})",
            f"{one['bare_mib']:.0f}, {one['audit_mib']:.0f}",
        )  # fmt: skip
    return made


def verdict_table(found: list[dict[str, Any]]) -> Table:
    """Return what a verdict adds as a table."""
    made = Table(title="With and without a verdict, CPU seconds")
    for name in ("rows", "points", "group-by", "without δ", "with δ"):
        made.add_column(name, justify="right")
    for growth in found:
        for size in growth["sizes"]:
            times = (f"{size[name]:.3f}" for name in ("bare", "audit", "verdict"))
            made.add_row(f"{size['rows']:,}", f"{size['points']:,}", *times)
        exponents = (f"n^{value:.2f}" for value in growth["exponents"].values())
        made.add_row("grows as", "", *exponents)
    return made


def main() -> None:
    """Measure this part alone, and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--parquet-rows", type=int, default=PARQUET_ROWS)
    parser.add_argument("--csv-rows", type=int, default=CSV_ROWS)
    options = parser.parse_args()
    found = measure(options.parquet_rows, options.csv_rows, lambda _: None)
    verdicts = measure_verdicts(VERDICT_ROWS, lambda _: None)
    print(json.dumps({"files": found, "verdicts": verdicts}, indent=1))


if __name__ == "__main__":
    main()
