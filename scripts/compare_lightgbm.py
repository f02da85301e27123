"""Compare two LightGBM models on Adult from files, by the command line; LightGBM is required.

`python scripts/compare_lightgbm.py FOLDER` writes the models and the held-out people into the
folder, and prints the output of the command.
"""

import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from fairtransport.datasets.adult import FEATURES, LABEL, SENSITIVE, load_adult

TRAINING_SHARE = 0.7


def model(features: list[str]) -> object:
    """Return gradient boosting on dummy-coded columns."""
    coded = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), features))
    boosting = LGBMClassifier(n_estimators=100, num_leaves=15, random_state=0, n_jobs=1, verbose=-1)
    return make_pipeline(coded, boosting)


def main() -> None:
    """Train with and without the sensitive features, and compare on held-out people."""
    folder = Path(sys.argv[1])
    cells = load_adult()
    rng = np.random.default_rng(0)
    trained_on = rng.binomial(cells["count"], TRAINING_SHARE)
    people = cells.assign(count=cells["count"] - trained_on)
    people[people["count"] > 0].to_parquet(folder / "adult.parquet", index=False)
    others = [name for name in FEATURES if name not in SENSITIVE]
    # the second receives race, but not sex
    for name, features in (("full", list(FEATURES)), ("without-sex", [*others, "race"])):
        fitted = model(features).fit(
            cells[features], cells[LABEL], lgbmclassifier__sample_weight=trained_on
        )
        joblib.dump(fitted, folder / f"{name}.joblib")
    subprocess.run(
        [
            Path(sys.executable).with_name("fairtransport"), "compare", "adult.parquet",
            "--label", LABEL, "--counts", "count", "--sensitive", ",".join(SENSITIVE),
            "--model", "full=full.joblib", "--model", "without-sex=without-sex.joblib",
            "--allow-pickle", "--seed", "1", "--report", "adult.html", "--json", "adult.json",
        ], cwd=folder, check=True,
    )  # fmt: skip


if __name__ == "__main__":
    main()
