"""Records per second that a monitor processes, each with an update of the evidence: CPU seconds."""

from __future__ import annotations

from itertools import product
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from measure import in_fresh_process
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

BATCH = 1_000
RECORDS, QUICK_RECORDS = (200_000, 20_000), (3_000, 500)
"""Numbers of records in batches, and of single records."""


def measure(records: tuple[int, int], progress: Callable[[str], None]) -> dict[str, Any]:
    """Return the records per second on COMPAS cells, in batches and singly."""
    progress(f"a monitor, {records[0]:,} and {records[1]:,} records")
    return in_fresh_process(_watch, *records)


def _guess(people: pd.DataFrame) -> np.ndarray:
    """Return a rule that treats young people of one race worse."""
    young = people["age_cat"] == "Less than 25"
    return ((people["priors"] == "More than 3") | (young & (people["race"] != "Caucasian"))).astype(
        int
    )


def _watch(batched: int, single: int) -> dict[str, Any]:
    import pandas as pd

    from fairtransport import Monitor
    from fairtransport.datasets.compas import DELTA, FEATURES, LABEL, SENSITIVE, load_compas

    compas = load_compas()
    # all 144 cells of the study, the two empty ones included
    values = [sorted(compas[name].unique()) for name in (*FEATURES, LABEL)]
    cells = pd.DataFrame(list(product(*values)), columns=[*FEATURES, LABEL])
    rng = np.random.default_rng(0)
    share = rng.dirichlet(np.ones(len(cells)))
    batches = [
        cells.iloc[rng.choice(len(cells), BATCH, p=share)].reset_index(drop=True)
        for _ in range(batched // BATCH)
    ]
    levels = {name: sorted(cells[name].unique()) for name in SENSITIVE}

    def monitor() -> Monitor:
        return Monitor(
            y=LABEL, model=_guess, features=FEATURES, sensitive_features=SENSITIVE,
            levels=levels, delta=DELTA,
        )  # fmt: skip

    monitor().update(batches[0])  # compiles
    watched, start = monitor(), process_time()
    for batch in batches:
        watched.update(batch)
    in_batches = BATCH * len(batches) / (process_time() - start)
    records = cells.iloc[rng.choice(len(cells), single, p=share)].to_dict("records")
    watched, start = monitor(), process_time()
    for record in records:
        watched.update(record)
    alone = single / (process_time() - start)
    return {"points": len(cells), "batch": BATCH, "in_batches": in_batches, "one_by_one": alone}


def table(found: dict[str, Any]) -> Table:
    """Return the records per second as a table."""
    made = Table(title=f"Records a CPU second, K = {found['points']}, each record a look")
    for name in (f"in batches of {found['batch']:,}", "one by one"):
        made.add_column(name, justify="right")
    made.add_row(f"{found['in_batches']:,.0f}", f"{found['one_by_one']:,.0f}")
    return made
