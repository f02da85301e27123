"""How many records a second a monitor takes in, each of them a look."""

from __future__ import annotations

from itertools import product
from time import process_time

import numpy as np
import pandas as pd

from fairtransport import Monitor
from fairtransport.datasets.compas import DELTA, FEATURES, LABEL, SENSITIVE, load_compas

BATCH, BATCHES = 1000, 200
SINGLE = 20_000
"""Records that come one by one."""
WANTED, WANTED_SINGLE = 20_000, 5_000
"""Records a second that the project promises, in batches and one by one."""


def _guess(people: pd.DataFrame) -> np.ndarray:
    """Return a rule that treats young people of one race worse."""
    young = people["age_cat"] == "Less than 25"
    return ((people["priors"] == "More than 3") | (young & (people["race"] != "Caucasian"))).astype(
        int
    )


def records_per_second() -> tuple[float, float, int]:
    """Return the speed on COMPAS cells, in batches and one by one, and the number of points."""
    compas = load_compas()
    # all 144 cells of the study, the two empty ones included
    values = [sorted(compas[name].unique()) for name in (*FEATURES, LABEL)]
    cells = pd.DataFrame(list(product(*values)), columns=[*FEATURES, LABEL])
    rng = np.random.default_rng(0)
    share = rng.dirichlet(np.ones(len(cells)))
    batches = [
        cells.iloc[rng.choice(len(cells), BATCH, p=share)].reset_index(drop=True)
        for _ in range(BATCHES)
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
    batched = BATCH * BATCHES / (process_time() - start)
    records = cells.iloc[rng.choice(len(cells), SINGLE, p=share)].to_dict("records")
    watched, start = monitor(), process_time()
    for record in records:
        watched.update(record)
    return batched, SINGLE / (process_time() - start), len(cells)


if __name__ == "__main__":
    batched, single, points = records_per_second()
    print(
        f"{batched:,.0f} records a CPU second in batches of {BATCH} (wanted: {WANTED:,}), "
        f"{single:,.0f} one by one (wanted: {WANTED_SINGLE:,}); K = {points}, budget 0, each "
        "record a look"
    )
