"""How many records a second a monitor takes in, each of them a look."""

from __future__ import annotations

from itertools import product
from time import perf_counter

import numpy as np
import pandas as pd

from fairtransport import Monitor
from fairtransport.datasets.compas import DELTA, FEATURES, LABEL, SENSITIVE, load_compas

BATCH, BATCHES = 1000, 200
WANTED = 20_000
"""Records a second that the project promises."""


def _guess(people: pd.DataFrame) -> np.ndarray:
    """Return a rule that treats young people of one race worse."""
    young = people["age_cat"] == "Less than 25"
    return ((people["priors"] == "More than 3") | (young & (people["race"] != "Caucasian"))).astype(
        int
    )


def records_per_second() -> tuple[float, int]:
    """Return the speed on COMPAS cells, and the number of points."""
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
    watched, start = monitor(), perf_counter()
    for batch in batches:
        watched.update(batch)
    return BATCH * BATCHES / (perf_counter() - start), len(cells)


if __name__ == "__main__":
    speed, points = records_per_second()
    print(
        f"{speed:,.0f} records a second, K = {points}, budget 0, batches of {BATCH}, "
        f"each record a look; wanted: {WANTED:,}"
    )
