"""Audit the logistic regression over many splits, for the docs' note on where Table 1 differs.

Writes docs/reproduction/lr_blocks.csv: the means of FaiTH and of the interval's upper end over
blocks of 50 splits, and over all. Run by hand: `python scripts/sweep_lr.py [blocks]`.
"""

import sys
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed

from fairtransport.datasets.compas import logistic_regression, split_compas
from fairtransport.reproduce.compas import audit_model

TARGET = Path(__file__).parents[1] / "docs" / "reproduction" / "lr_blocks.csv"
BLOCK = 50


def one(seed: int) -> dict[str, float]:
    """Return Table 1's FaiTH and upper end for one split."""
    split = split_compas(seed)
    result = audit_model(logistic_regression(split.training), split.audit, seed)
    return {
        "block": seed // BLOCK,
        "faith": result.statistic,
        "interval_upper": result.interval.upper,
    }


def main(blocks: int) -> None:
    """Write one row per block, and one for all of them."""
    rows = Parallel(n_jobs=-1)(delayed(one)(seed) for seed in range(blocks * BLOCK))
    table = pd.DataFrame(rows)
    means = table.groupby("block").mean().reset_index()
    whole = table.drop(columns="block").mean().to_frame().T.assign(block="all")
    together = pd.concat([means, whole], ignore_index=True).round(4)
    together.to_csv(TARGET, index=False, lineterminator="\n")
    print(together)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
