"""Speed and memory compared with the peers, by part: prints tables, updates docs/speed.json.

`make bench` runs everything, and `scripts/make_tables.py` makes the docs' tables from the results;
`--only` runs some parts, `--quick` small sizes, which are not published. The exit code is 1 if a
peer's value differs from ours, or two threads give other bits than one.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import afterwards
import counting
import frontiers
import growth
import lp
import million
import nearest
import spreading
import starting
from measure import (
    ONE_THREAD,
    PUBLISHED,
    QUICK,
    RESULTS,
    Neighbours,
    provenance,
    shown_seconds,
    write_result,
)
from rich.console import Console

import monitor

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType

    Progress = Callable[[str], None]


class Measured(NamedTuple):
    """Results of a part, as JSON and as text; the number of values that must not differ but do."""

    found: dict[str, Any]
    shown: list[RenderableType]
    wrong: int = 0


def run_lp(quick: bool, progress: Progress) -> Measured:  # noqa: FBT001
    """Measure ours and the LP solvers."""
    compiling = lp.compile_seconds(quick=quick)
    ours, theirs = [], []
    for size in lp.QUICK_SIZES if quick else lp.SIZES:
        own, peers = lp.measure_size(size, progress)
        ours.append(own)
        theirs += peers
    wrong = sum(not row.agrees for row in [*ours, *theirs])
    worst = max(row.largest_difference for row in theirs)
    loading = (
        "Numba, not in any number below: a process with an empty cache needs "
        f"{shown_seconds(compiling['empty_cache'])} to compile all kernels, "
        f"later ones {shown_seconds(compiling['filled_cache'])} to load them."
    )
    verdict = f"{wrong} DISAGREEMENTS" if wrong else "all values agree"
    shown = [
        loading, lp.our_table(ours), lp.peer_table(theirs), *lp.best_lines(theirs),
        f"{verdict}; largest relative difference {worst:.1e}.",
    ]  # fmt: skip
    return Measured(lp.as_json(compiling, ours, theirs), shown, wrong)


def run_nearest(quick: bool, progress: Progress) -> Measured:  # noqa: FBT001
    """Measure ours and the nearest task that POT has."""
    found = nearest.measure(nearest.QUICK_SIZES if quick else nearest.SIZES, progress)
    wrong = sum(not one.agrees for one in found)
    return Measured(nearest.as_json(found), [nearest.table(found)], wrong)


def run_frontiers(quick: bool, progress: Progress) -> Measured:  # noqa: FBT001
    """Measure the growth of building the frontiers, and the bare product of the pairs."""
    wanted = frontiers.QUICK_SIZES if quick else frontiers.SIZES
    growths = [frontiers.measure_growth(kind, sizes, progress) for kind, sizes in wanted.items()]
    shown = [
        part
        for growth in growths
        for part in (frontiers.growth_table(growth), frontiers.growth_line(growth))
    ]
    return Measured(frontiers.as_json(growths), shown)


def run_growth(quick: bool, progress: Progress) -> Measured:  # noqa: FBT001
    """Measure the growth of solutions and bounds by kind of losses and number of dimensions."""
    found = growth.measure(growth.QUICK_SIZES if quick else growth.SIZES, progress)
    return Measured(found, [growth.table(found)])


def run_spreading(quick: bool, progress: Progress) -> Measured:  # noqa: FBT001
    """Measure the gain of a second thread."""
    found = spreading.measure(spreading.QUICK_SIZES if quick else spreading.SIZES, progress)
    wrong = sum(not one["same"] for one in found["sizes"])
    return Measured(found, [spreading.table(found)], wrong)


def run_starting(quick: bool, progress: Progress) -> Measured:  # noqa: FBT001
    """Measure the commands from their start."""
    found = starting.measure(starting.QUICK_RUNS if quick else starting.RUNS, progress)
    return Measured(found, [starting.table(found)])


def run_afterwards(quick: bool, progress: Progress) -> Measured:  # noqa: FBT001
    """Measure the stages after the value."""
    sizes = afterwards.QUICK_SIZES if quick else afterwards.SIZES
    found = afterwards.measure(sizes, progress)
    return Measured(found, [afterwards.table(found)])


def run_counting(quick: bool, progress: Progress) -> Measured:  # noqa: FBT001
    """Measure the cost from a file to an audit."""
    rows = (counting.QUICK_ROWS,) * 2 if quick else (counting.PARQUET_ROWS, counting.CSV_ROWS)
    found = counting.measure(*rows, progress)
    verdicts = counting.measure_verdicts(
        counting.QUICK_VERDICT_ROWS if quick else counting.VERDICT_ROWS, progress
    )
    tables = [counting.table(found), counting.verdict_table(verdicts)]
    return Measured({"files": found, "verdicts": verdicts}, tables)


def run_million(quick: bool, progress: Progress) -> Measured:  # noqa: FBT001
    """Measure audits of a million points."""
    found = million.measure(million.QUICK_PEOPLE if quick else million.PEOPLE, progress)
    return Measured(found, [million.table(found)])


def run_questions(quick: bool, progress: Progress) -> Measured:  # noqa: FBT001
    """Measure an audit with a million questions and the model that answers them."""
    people = million.QUICK_PEOPLE if quick else million.PEOPLE
    found = million.measure_questions(people, progress)
    return Measured(found, [million.question_table(found)])


def run_monitor(quick: bool, progress: Progress) -> Measured:  # noqa: FBT001
    """Measure the records per second that a monitor processes."""
    found = monitor.measure(monitor.QUICK_RECORDS if quick else monitor.RECORDS, progress)
    return Measured(found, [monitor.table(found)])


PARTS: dict[str, Callable[[bool, Progress], Measured]] = {
    "starting": run_starting,
    "lp": run_lp,
    "nearest": run_nearest,
    "frontiers": run_frontiers,
    "growth": run_growth,
    "spreading": run_spreading,
    "afterwards": run_afterwards,
    "counting": run_counting,
    "million": run_million,
    "questions": run_questions,
    "monitor": run_monitor,
}
"""All parts, in this order; a new part is a line here."""


def main() -> int:
    """Run the requested benchmarks."""
    options = _options()
    os.environ |= ONE_THREAD  # of all processes started here
    if options.quick:
        os.environ[QUICK] = "1"
    console = Console(width=None if sys.stdout.isatty() else 130, highlight=False)
    wrong = 0
    for name in options.only or PARTS:
        neighbours = Neighbours()
        with console.status("") as status:
            measured = PARTS[name](options.quick, status.update)
        cores = neighbours.cores()
        console.print(*measured.shown, sep="\n")
        console.print(f"Other processes used {cores:.2f} of {os.cpu_count()} cores meanwhile.\n")
        part = {"of": provenance(), "cores_used_by_others": cores, **measured.found}
        wrong += measured.wrong
        write_result(options.into / f"{name}.json", part)
        if not options.quick:
            publish(name, part)
    return 1 if wrong else 0


def publish(name: str, part: dict[str, Any]) -> None:
    """Update the published results of one part only."""
    there = json.loads(PUBLISHED.read_text("utf-8")) if PUBLISHED.exists() else {}
    write_result(PUBLISHED, there | {name: part})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--only", choices=tuple(PARTS), action="append", help="some parts only")
    parser.add_argument("--into", type=Path, default=RESULTS, help="a folder for each part's JSON")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
