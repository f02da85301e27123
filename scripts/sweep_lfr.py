"""Try settings of learning fair representations, for the docs' note on what is not reproduced.

Writes docs/reproduction/lfr_sweep.csv: for each setting the means of Table 1's columns over a
few splits. Run by hand: `python scripts/sweep_lfr.py [splits]` (about 10 CPU seconds per split and
setting); it needs the extra `reproduce`.
"""

import sys
from pathlib import Path

import pandas as pd

from fairtransport.datasets.compas import split_compas
from fairtransport.reproduce.compas import evaluate
from fairtransport.reproduce.methods import RepresentationSettings, lfr

TARGET = Path(__file__).parents[1] / "docs" / "reproduction" / "lfr_sweep.csv"
SETTINGS = (
    *((5, weight) for weight in (0.03, 0.1, 0.3, 1.0, 50.0)),
    *((10, weight) for weight in (0.1, 0.3, 0.6, 1.0)),
)
"""Numbers of prototypes, k, and weights of parity, Az."""


def main(splits: int) -> None:
    """Write one row per setting, each at once so that nothing is lost; existing rows are kept."""
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    rows = pd.read_csv(TARGET).to_dict("records") if TARGET.exists() else []
    done = {(row["k"], row["Az"]) for row in rows}
    for prototypes, parity in SETTINGS:
        if (prototypes, parity) in done:
            continue
        settings = RepresentationSettings(prototypes=prototypes, parity=parity)
        found = []
        for seed in range(splits):
            split = split_compas(seed)
            found.append(evaluate(lfr(split.training, seed, settings), split.audit, seed))
        table = pd.DataFrame(found).astype(float)
        rows.append(
            {"k": prototypes, "Az": parity, "splits": splits}
            | table.mean().round(4).to_dict()
            | {"faith_sd": round(table["faith"].std(), 4), "aod_sd": round(table["aod"].std(), 4)}
        )
        print(rows[-1], flush=True)
        pd.DataFrame(rows).to_csv(TARGET, index=False, lineterminator="\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
