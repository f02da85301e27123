"""Speed and memory beside the peers: prints tables, writes results/<name>.json.

`make bench` runs everything; `--quick` the small sizes, `--only` one part. The exit code is 1
when a peer's value is not ours.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

import afterwards
import counting
import frontiers
import lp
from measure import Neighbours, provenance, shown_seconds, write_result
from rich.console import Console

LARGEST_QUICK_LP = 100


def main() -> int:
    """Run the benchmarks that were asked for."""
    options = _options()
    console = Console(width=None if sys.stdout.isatty() else 130, highlight=False)
    context = {**provenance(), "quick": options.quick}
    right = True
    if options.only in {None, "lp"}:
        right = _run_lp(console, context)
    if options.only in {None, "frontiers"}:
        _run_frontiers(console, context)
    if options.only in {None, "afterwards"}:
        _run_afterwards(console, context)
    if options.only in {None, "counting"}:
        _run_counting(console, context)
    return 0 if right else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parts = ("lp", "frontiers", "afterwards", "counting")
    parser.add_argument("--only", choices=parts, help="one part only")
    return parser.parse_args()


def _run_lp(console: Console, context: dict[str, Any]) -> bool:
    """Measure ours beside the LP solvers; return whether all values agree."""
    neighbours = Neighbours()
    compiling = lp.compile_seconds()
    console.print(
        "Numba, not in any number below: a process with an empty cache needs "
        f"{shown_seconds(compiling['empty_cache'])} to compile all kernels, "
        f"later ones {shown_seconds(compiling['filled_cache'])} to load them.\n"
    )
    ours, theirs = [], []
    with console.status("") as status:
        for size in lp.SIZES:
            if context["quick"] and size > LARGEST_QUICK_LP:
                continue
            own, peers = lp.measure_size(size, status.update)
            ours.append(own)
            theirs += peers
    console.print(
        lp.our_table(ours), "", lp.peer_table(theirs), "", *lp.best_lines(theirs), "", sep="\n"
    )
    content = lp.as_json(compiling, ours, theirs)
    path = write_result("lp", {**context, **_shared(console, neighbours), **content})
    differences = [row for row in [*ours, *theirs] if not row.agrees]
    worst = max(row.largest_difference for row in theirs)
    verdict = f"{len(differences)} DISAGREEMENTS" if differences else "all values agree"
    console.print(f"{verdict}; largest relative difference {worst:.1e}. Written: {path.name}\n")
    return not differences


def _run_frontiers(console: Console, context: dict[str, Any]) -> None:
    """Measure how building the frontiers grows."""
    neighbours = Neighbours()
    growths = []
    wanted = frontiers.QUICK_SIZES if context["quick"] else frontiers.SIZES
    for kind, sizes in wanted.items():
        with console.status("") as status:
            growth = frontiers.measure_growth(kind, sizes, status.update)
        console.print(frontiers.growth_table(growth), frontiers.growth_line(growth), "", sep="\n")
        growths.append(growth)
    content = frontiers.as_json(growths)
    path = write_result("frontiers", {**context, **_shared(console, neighbours), **content})
    console.print(f"Written: {path.name}")


def _run_afterwards(console: Console, context: dict[str, Any]) -> None:
    """Measure what comes after the value."""
    neighbours, quick = Neighbours(), context["quick"]
    sizes = afterwards.QUICK_SIZES if quick else afterwards.SIZES
    with console.status("") as status:
        found = afterwards.measure(sizes, status.update)
    console.print(afterwards.table(found), *afterwards.lines(found), "", sep="\n")
    path = write_result("afterwards", {**context, **_shared(console, neighbours), **found})
    console.print(f"Written: {path.name}")


def _run_counting(console: Console, context: dict[str, Any]) -> None:
    """Measure what it costs to come from a file to an audit."""
    neighbours, quick = Neighbours(), context["quick"]
    rows = (counting.QUICK_ROWS,) * 2 if quick else (counting.PARQUET_ROWS, counting.CSV_ROWS)
    with console.status("") as status:
        found = counting.measure(*rows, status.update)
    console.print(counting.table(found), "", sep="\n")
    content = {"counting": found}
    path = write_result("counting", {**context, **_shared(console, neighbours), **content})
    console.print(f"Written: {path.name}")


def _shared(console: Console, neighbours: Neighbours) -> dict[str, float]:
    """Say how much of the machine was not ours."""
    cores = neighbours.cores()
    console.print(f"While this ran, other processes used {cores:.2f} of {os.cpu_count()} cores.")
    return {"cores_used_by_others": cores}


if __name__ == "__main__":
    sys.exit(main())
