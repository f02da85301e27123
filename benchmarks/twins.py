"""Made-up twins: questions asked and CPU seconds; `python benchmarks/twins.py` writes the docs'.

People have a height, a grade, a whole number and a level; the model is a fast function, so that
what is measured is the audit's own work.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

import fairtransport as ft

PEOPLE, TWINS = 10_000, 50
DOCS = Path(__file__).parents[1] / "docs" / "twins_cost.json"
STAGES = ("audit", "bounds", "attributable")
FEATURES = ["height", "grade", "age", "job"]


class Counting:
    """A model that remembers how many rows it was asked about, and how many of them differed."""

    feature_names_in_ = np.array(FEATURES)
    classes_ = np.array([0, 1])

    def __init__(self) -> None:
        self.asked: list[pd.DataFrame] = []

    def predict(self, x: pd.DataFrame) -> np.ndarray:
        """Turn away whoever is not tall enough."""
        self.asked.append(x)
        return ((x["grade"] > 0) & (x["height"] > 165)).astype(int).to_numpy()


def draw(n: int, seed: int) -> pd.DataFrame:
    """Return people whose height tells their sex."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    grade = rng.normal(size=n)
    return pd.DataFrame({
        "sex": sex, "height": rng.normal(np.where(sex == "m", 180, 170), 5), "grade": grade,
        "age": rng.integers(18, 70, n), "job": rng.choice(["cook", "clerk", "nurse"], n),
        "good": (grade > 0).astype(int),
    })  # fmt: skip


def measure(people: int, per_person: int) -> dict[str, Any]:
    """Return the CPU seconds of the audit, its bounds and the attributable part's."""
    like = ft.similarity.SensitiveSubspace(["sex"], FEATURES).fit(draw(2000, 1))
    model, cases = Counting(), draw(people, 2)
    times = [process_time()]
    result = ft.audit(
        cases, "good", model=model, sensitive_features="sex", similarity=like, budget=0.05,
        delta=0.3, twins=ft.similarity.Twins("generate", per_person=per_person), rng=0,
    )  # fmt: skip
    times.append(process_time())
    bounds = (result.verdict, result.interval, result.lower_bound, result.upper_bound)
    times.append(process_time())
    attributable = result.attributable.lower_bound
    times.append(process_time())
    asked = pd.concat(model.asked)
    return {
        "people": people, "per_person": per_person, "proposed": result.made.proposed,
        "questions": len(asked), "distinct": len(asked.drop_duplicates()),
        "verdict": bounds[0], "attributable_lower_bound": attributable,
        "seconds": dict(zip(STAGES, np.diff(times).tolist(), strict=True)),
    }  # fmt: skip


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--output", type=Path, default=DOCS)
    told = parser.parse_args()
    measure(300, TWINS)  # loads libraries and compiled code
    found = measure(told.people, TWINS)
    text = json.dumps(found, indent=1) + "\n"
    told.output.write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
