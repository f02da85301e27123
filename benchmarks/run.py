"""Speed and memory beside the peers: prints tables, writes results/<name>.json.

`make bench` runs everything; `--quick` the small sizes, `--only` one part. The exit code is 1
when a peer's value is not ours.
"""

from __future__ import annotations

import argparse
import os
import sys

import frontiers
import lp
from measure import provenance, shown_seconds, write_result
from rich.console import Console

LARGEST_QUICK_LP = 100


def main() -> int:
    """Run the benchmarks that were asked for."""
    options = _options()
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    load = f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    console.print(f"Load average before we start: {load}; other work on them blurs the numbers.\n")
    right = True
    if options.only != "frontiers":
        right = _run_lp(console, quick=options.quick)
    if options.only != "lp":
        _run_frontiers(console, quick=options.quick)
    return 0 if right else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--only", choices=("lp", "frontiers"), help="one part only")
    return parser.parse_args()


def _run_lp(console: Console, *, quick: bool) -> bool:
    """Measure ours beside the LP solvers; return whether all values agree."""
    compiling = lp.compile_seconds()
    console.print(
        "Numba, not in any number below: a process with an empty cache needs "
        f"{shown_seconds(compiling['empty_cache'])} to compile all kernels, "
        f"later ones {shown_seconds(compiling['filled_cache'])} to load them.\n"
    )
    ours, theirs = [], []
    with console.status("") as status:
        for size in lp.SIZES:
            if quick and size > LARGEST_QUICK_LP:
                continue
            own, peers = lp.measure_size(size, status.update)
            ours.append(own)
            theirs += peers
    console.print(
        lp.our_table(ours), "", lp.peer_table(theirs), "", *lp.best_lines(theirs), sep="\n"
    )
    path = write_result("lp", {**provenance(), **lp.as_json(compiling, ours, theirs)})
    differences = [row for row in [*ours, *theirs] if not row.agrees]
    worst = max(row.largest_difference for row in theirs)
    verdict = f"{len(differences)} DISAGREEMENTS" if differences else "all values agree"
    console.print(f"\n{verdict}; largest relative difference {worst:.1e}. Written: {path.name}\n")
    return not differences


def _run_frontiers(console: Console, *, quick: bool) -> None:
    """Measure how building the frontiers grows."""
    growths = []
    for kind, sizes in (frontiers.QUICK_SIZES if quick else frontiers.SIZES).items():
        with console.status("") as status:
            growth = frontiers.measure_growth(kind, sizes, status.update)
        console.print(frontiers.growth_table(growth), frontiers.growth_line(growth), "", sep="\n")
        growths.append(growth)
    path = write_result("frontiers", {**provenance(), **frontiers.as_json(growths)})
    console.print(f"Written: {path.name}")


if __name__ == "__main__":
    sys.exit(main())
