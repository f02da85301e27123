"""The full simulation behind the docs' table: `make validity` writes docs/validity.json.

Rows that are there already are kept, so that a run can be stopped and gone on with;
`--fresh` measures everything anew.
"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("NUMBA_NUM_THREADS", "1")
TARGET = Path(__file__).parents[2] / "docs" / "validity.json"
SIZES = (50, 200, 1000, 5000)
REPETITIONS, RESAMPLES = 1000, 1000

Job = tuple[int, int, str]


def _row(job: Job) -> dict[str, object]:
    from tests.validity.cases import CASES
    from tests.validity.simulation import measure

    at, n, method = job
    return measure(CASES[at](), method, n, REPETITIONS, RESAMPLES).as_json()


def _key(row: dict[str, object]) -> tuple[object, ...]:
    return row["case"], row["n"], row["method"]


def _write(
    found: dict[tuple[object, ...], dict[str, object]], wanted: list[tuple[object, ...]]
) -> None:
    rows = [found[key] for key in wanted if key in found]
    draft = TARGET.with_suffix(".draft")
    draft.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")
    draft.replace(TARGET)


def main() -> None:
    """Measure what is missing; the rows keep a fixed order."""
    from tests.validity.cases import CASES
    from tests.validity.simulation import METHODS, applies

    names = [make().name for make in CASES]
    jobs: list[Job] = [
        (at, n, method)
        for at, make in enumerate(CASES)
        for n in SIZES
        for method in METHODS
        if applies(make(), method)
    ]
    wanted = [(names[at], n, method) for at, n, method in jobs]
    keep = TARGET.exists() and "--fresh" not in sys.argv
    found = {_key(row): row for row in json.loads(TARGET.read_text("utf-8"))} if keep else {}
    missing = [job for job, key in zip(jobs, wanted, strict=True) if key not in found]
    # what takes longest comes last
    missing.sort(key=lambda job: (job[2] == "finite-sample", job[1]))
    # spawned, since compiled loops that ran in this process do not survive a fork
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for done in as_completed([pool.submit(_row, job) for job in missing]):
            row = done.result()
            found[_key(row)] = row
            _write(found, wanted)
            print(row, flush=True)


if __name__ == "__main__":
    main()
