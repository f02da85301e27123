"""The full simulations behind the docs' tables: `make validity` writes docs/*.json.

Rows that are there already are kept, so that a run can be stopped and gone on with, but those of
fewer samples are measured again. `--fresh METHOD …` measures those of some methods anew, "verdicts"
among them; `--samples N` is for a first look.
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"
SIZES = (50, 200, 1000, 5000)
VERDICT_SIZES = (50, 150, 1000)
REPETITIONS, RESAMPLES = 1000, 1000
INTERVALS = 100
"""Samples in which the finite-sample method, which takes longer, makes bounds and not only the
tests that decide whether they cover."""
VERDICTS = "verdicts"
FURTHER_METHODS = ("finite-sample", "plug-in")

Row = dict[str, Any]
Job = tuple[str, int, int, str]
"""Which list a population is in, where, the size, and the method or "verdicts"."""


def population(name: str, at: int, n: int):
    """Return a population of `CASES` or `FURTHER`."""
    from tests.validity.cases import CASES, FURTHER

    return CASES[at]() if name == "cases" else FURTHER[at][0](n)


def all_jobs() -> list[Job]:
    """Return everything that the tables show, in their order."""
    from fairtransport.inference import METHODS
    from tests.validity.cases import CASES, FURTHER
    from tests.validity.simulation import applies

    jobs: list[Job] = [
        ("cases", at, n, method)
        for at, make in enumerate(CASES)
        for n in SIZES
        for method in METHODS
        if applies(make(), method)
    ]
    jobs += [
        ("further", at, n, method)
        for at, (_, sizes) in enumerate(FURTHER)
        for n in sizes
        for method in FURTHER_METHODS
    ]
    both = [("cases", at) for at in range(len(CASES))]
    both += [("further", at) for at in range(len(FURTHER))]
    jobs += [
        (name, at, n, VERDICTS)
        for name, at in both
        for n in VERDICT_SIZES
        if population(name, at, n).truth > 0
    ]
    return jobs


def file_of(job: Job) -> str:
    """Return the file that a row belongs to."""
    name, _, _, method = job
    return "verdicts" if method == VERDICTS else "validity" if name == "cases" else "further"


def _row(job: Job, samples: int) -> Row:
    from tests.validity.simulation import measure, measure_verdicts

    name, at, n, method = job
    case = population(name, at, n)
    if method == VERDICTS:
        return measure_verdicts(case, n, samples).as_json()
    intervals = min(INTERVALS, samples) if method == "finite-sample" else samples
    return measure(case, method, n, samples, RESAMPLES, intervals).as_json()


def _key(row: Row) -> tuple[object, ...]:
    return row["case"], row["n"], row.get("method", VERDICTS)


def _load(stale: list[str]) -> dict[tuple[object, ...], Row]:
    paths = [DOCS / f"{name}.json" for name in ("validity", "further", "verdicts")]
    rows = [row for path in paths if path.exists() for row in json.loads(path.read_text("utf-8"))]
    return {_key(row): row for row in rows if row.get("method", VERDICTS) not in stale}


def _write(found: dict[tuple[object, ...], Row], wanted: dict[Job, tuple[object, ...]]) -> None:
    for name in ("validity", "further", "verdicts"):
        keys = [key for job, key in wanted.items() if file_of(job) == name]
        rows = [found[key] for key in keys if key in found]
        draft = DOCS / f"{name}.draft"
        draft.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")
        draft.replace(DOCS / f"{name}.json")


def main() -> None:
    """Measure what is missing; the rows keep a fixed order."""
    # before anything is compiled; the pool's processes take it over
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    wanted = {job: (population(*job[:3]).name, job[2], job[3]) for job in all_jobs()}
    parser = argparse.ArgumentParser()
    parser.add_argument("--fresh", nargs="*", default=[])
    parser.add_argument("--samples", type=int, default=REPETITIONS)
    told = parser.parse_args()
    found = _load(told.fresh)
    missing = [
        job
        for job, key in wanted.items()
        if key not in found or found[key]["repetitions"] < told.samples
    ]
    # what takes longest comes last
    missing.sort(key=lambda job: (job[3] == "finite-sample", job[3] == VERDICTS, job[2]))
    # spawned, since compiled loops that ran in this process do not survive a fork
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for done in as_completed([pool.submit(_row, job, told.samples) for job in missing]):
            row = done.result()
            found[_key(row)] = row
            _write(found, wanted)
            print(row, flush=True)


if __name__ == "__main__":
    main()
