"""The full simulation behind the docs' table: `make validity` writes docs/validity.json."""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("NUMBA_NUM_THREADS", "1")
TARGET = Path(__file__).parents[2] / "docs" / "validity.json"
SIZES = (200, 1000, 5000)
REPETITIONS, RESAMPLES = 1000, 1000


def _row(job: tuple[int, str, int]) -> dict[str, object]:
    from tests.validity.cases import CASES
    from tests.validity.simulation import measure

    at, method, n = job
    return measure(CASES[at](), method, n, REPETITIONS, RESAMPLES).as_json()


def main() -> None:
    """Measure all cases, sizes and methods; write the rows in a fixed order."""
    from tests.validity.cases import CASES
    from tests.validity.simulation import METHODS, applies

    wanted = sys.argv[1:] or METHODS
    jobs = [
        (at, method, n)
        for at, make in enumerate(CASES)
        for n in SIZES
        for method in METHODS
        if method in wanted and applies(make(), method)
    ]
    # spawned, since compiled loops that ran in this process do not survive a fork
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        rows = []
        for row in pool.map(_row, jobs):
            rows.append(row)
            print(row, flush=True)
    draft = TARGET.with_suffix(".draft")
    draft.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")
    draft.replace(TARGET)


if __name__ == "__main__":
    main()
