"""Write all results that a change of structure must not change to a folder, for comparison.

    python scripts/make_golden.py before   # on the old tree
    python scripts/make_golden.py after    # on the new one
    diff -r before after

Bounds of 22 samples to the last bit; output, files and exit code of each command. Version lines are
left out.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
AUDIT = ("audit", "cases.csv", "--sensitive", "race,sex", "--seed", "1")
LABELLED = (*AUDIT, "--label", "reoffended")
FITTED = "--similarity-settings.fit"
COMMANDS: dict[str, tuple[str, ...]] = {
    "help": ("--help",),
    **{
        f"help-{name}": (name, "--help")
        for name in ("audit", "monitor", "sample-size", "demo", "reproduce")
    },
    "demo": ("demo",),
    "model": (*LABELLED, "--model", "m.skops", "--features", "race,sex,age,priors", "--delta",
              ".03", "--report", "model.html", "--json", "model.json"),
    "markdown": (*LABELLED, "--model", "m.skops", "--features", "race,sex,age,priors", "--delta",
                 ".2", "--report", "model.md", "--share"),
    "predictions": (*LABELLED, "--prediction", "guess", "--features", "race,sex,age,priors",
                    "--fail-on", "not-certified", "--delta", ".01", "--json", "predictions.json",
                    "--report", "predictions.html"),
    "scores": (*LABELLED, "--score", "score", "--loss", "brier", "--similarity", "mixed-tabular",
               "--budget", ".02", "--features", "race,sex,age,priors", "--json", "scores.json",
               "--similarity-settings.default-scale", "1",
               "--report", "scores.html", "--method", "limit-law"),
    "outcome": (*AUDIT, "--prediction", "guess", "--loss", "outcome", "--features",
                "race,sex,priors", "--loss-range", "0,1", "--json", "-"),
    "subspace": (*LABELLED, "--score", "score", "--loss", "log", "--similarity",
                 "sensitive-subspace", FITTED, "history.csv", "--budget", ".1",
                 "--features", "race,sex,age", "--json", "subspace.json"),
    "monitor": ("monitor", "cases.csv", "--state", "audit.state", "--sensitive", "race,sex",
                "--label", "reoffended", "--prediction", "guess", "--features",
                "race,sex,age,priors", "--delta", ".03"),
    "sample-size": ("sample-size", "--value", ".06", "--delta", ".03"),
    "no-file": ("audit", "nowhere.csv", "--sensitive", "race", "--prediction", "guess"),
    "no-column": ("audit", "cases.csv", "--sensitive", "rase", "--label", "reoffended",
                  "--prediction", "guess"),
    "bad-alpha": (*LABELLED, "--prediction", "guess", "--alpha", ".7"),
    "two-models": (*LABELLED, "--prediction", "guess", "--model", "m.skops"),
    "unknown-flag": (*LABELLED, "--prediktion", "guess"),
}  # fmt: skip


def bounds() -> dict[str, list[str]]:
    """Return bounds and p-values of two samples of every population, as exact numbers."""
    import numpy as np
    from tests.validity.cases import CASES
    from tests.validity.simulation import audited

    found = {}
    for make in CASES:
        case = make()
        for n in (60, 700):
            counts = np.random.default_rng([n, *case.name.encode()]).multinomial(
                n, case.frequencies
            )
            for method in ("finite-sample", "limit-law", "m-out-of-n"):
                law = audited(case, counts, method=method, n_resamples=200, rng=3)
                values = (
                    law.lower_bound(0.05), law.upper_bound(0.05), *law.interval(0.1),
                    law.pvalue(0.8 * case.truth + 0.01),
                )  # fmt: skip
                found[f"{case.name}, {n}, {method}"] = [float(value).hex() for value in values]
    return found


def prepare(folder: Path) -> None:
    """Write the files that the commands read."""
    import numpy as np
    import pandas as pd
    import skops.io
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(5)
    n = 900
    frame = pd.DataFrame({
        "race": rng.choice(["black", "white", "other"], n, p=[0.5, 0.35, 0.15]),
        "sex": rng.choice(["f", "m"], n),
        "age": rng.integers(18, 60, n),
        "priors": rng.choice(["0", "1 to 3", "more"], n),
    })  # fmt: skip
    lean = (
        0.7 * (frame["race"] == "black") + (frame["priors"] == "more") - 0.02 * (frame["age"] - 18)
    )
    chance = 1 / (1 + np.exp(-lean))
    frame["reoffended"] = (rng.random(n) < chance).astype(int)
    frame["score"] = chance.round(3)
    frame["guess"] = (chance > 0.5).astype(int)
    columns = ["race", "sex", "age", "priors"]
    model = make_pipeline(
        OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier(max_depth=5, random_state=0)
    ).fit(frame.loc[:299, columns], frame.loc[:299, "reoffended"])
    skops.io.dump(model, folder / "m.skops")
    frame.loc[:299].to_csv(folder / "history.csv", index=False)
    frame.loc[300:].to_csv(folder / "cases.csv", index=False)


def without_version(text: str) -> str:
    """Remove the version and the model file's own hash from a text."""
    from fairtransport import __version__

    return re.sub(r"\b[0-9a-f]{64}\b", "<sha256>", text).replace(__version__, "<version>")


def main() -> None:
    """Write everything to the given folder."""
    out = Path(sys.argv[1]).resolve()
    out.mkdir(parents=True)
    (out / "bounds.json").write_text(json.dumps(bounds(), indent=1) + "\n", encoding="utf-8")
    prepare(out)
    environment = os.environ | {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    for name, arguments in COMMANDS.items():
        done = subprocess.run(
            [sys.executable, "-m", "fairtransport", *arguments],
            cwd=out, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        text = f"exit {done.returncode}\n--- out\n{done.stdout}\n--- err\n{done.stderr}"
        (out / f"{name}.txt").write_text(without_version(text), encoding="utf-8")
    for path in out.iterdir():
        if path.suffix in {".html", ".md", ".json"}:
            path.write_text(without_version(path.read_text("utf-8")), encoding="utf-8")
    (out / "m.skops").unlink()


if __name__ == "__main__":
    main()
