"""Choose the paper's regularised regression by each rule, for the figures in docs/selection.md.

Writes docs/selection_rules.csv, a row a split and rule. Run by hand:
`python scripts/compare_rules.py [splits]` (about 10 CPU seconds a split).
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from fairtransport.datasets.compas import DELTA, FEATURES, LABEL, LEVELS, SENSITIVE, split_compas
from fairtransport.selection import DeltaFairSearch

TARGET = Path(__file__).parents[1] / "docs" / "selection_rules.csv"
RULES = (
    ("not-rejected", "m-out-of-n"),
    ("not-rejected", "finite-sample"),
    ("certified", "finite-sample"),
)


def choose(seed: int, rule: str, method: str) -> dict[str, object]:
    """Return what the search chose and what the final audit says of it."""
    split = split_compas(seed)
    lasso = LogisticRegression(solver="liblinear", l1_ratio=1, random_state=0)
    search = DeltaFairSearch(
        make_pipeline(OneHotEncoder(drop="first"), lasso),
        {"logisticregression__C": np.arange(1, 101) * 0.0005},
        sensitive_features=list(SENSITIVE),
        delta=DELTA,
        levels=LEVELS,
        validation=2 / 7,
        final=(split.audit[list(FEATURES)], split.audit[LABEL]),
        rule=rule,
        method=method,
        n_resamples=1000,
        random_state=seed,
    ).fit(split.training[list(FEATURES)], split.training[LABEL])
    final = search.final_audit_
    return {
        "seed": seed,
        "rule": rule,
        "method": method,
        "strength": search.best_params_["logisticregression__C"],
        "faith": round(final.statistic, 6),
        "accuracy": round(1 - final.baseline_risk, 6),
        "verdict": final.verdict,
    }


def main(splits: int) -> None:
    """Write a row a split and rule."""
    rows = Parallel(n_jobs=-1)(
        delayed(choose)(seed, rule, method) for seed in range(splits) for rule, method in RULES
    )
    table = pd.DataFrame(rows)
    table.to_csv(TARGET, index=False, lineterminator="\n")
    print(table.groupby(["rule", "method"])[["faith", "accuracy"]].agg(["mean", "std"]))
    print(table.groupby(["rule", "method"])["verdict"].value_counts())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
