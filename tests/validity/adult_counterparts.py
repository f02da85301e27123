"""Counterparts of the people of Adult: ``python -m tests.validity.adult_counterparts``.

A model without sex and race is audited for sex, with and without legitimate columns, and for coin
tosses. The figures go to docs/adult_counterparts.json; ten counterparts of each audit are printed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

import fairtransport as ft
from fairtransport.datasets.adult import load_adult_people

if TYPE_CHECKING:
    from collections.abc import Sequence

DOCS = Path(__file__).parents[2] / "docs"
LABEL, SENSITIVE = "over_50k", ("sex", "race")
LEGITIMATE = ((), ("age", "education_years", "marital"))
TOSSES, TOSSED_PEOPLE = 10, 8000


class Blind(NamedTuple):
    """A model without sex and race, the columns that it receives, and people to audit."""

    model: object
    features: list[str]
    people: pd.DataFrame


def train_blind() -> Blind:
    """Return gradient boosting on half of the people, and the other half."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    people = load_adult_people()
    people = people.loc[people.index.repeat(people["count"])].drop(columns="count")
    people = people.sample(frac=1, random_state=0, ignore_index=True)
    features = [name for name in people if name not in {LABEL, *SENSITIVE}]
    words = [name for name in features if not pd.api.types.is_numeric_dtype(people[name])]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    model = make_pipeline(
        make_column_transformer((encoder, words), remainder="passthrough"),
        HistGradientBoostingClassifier(random_state=0),
    )
    half = len(people) // 2
    model.fit(people[features][:half], people[LABEL][:half])
    return Blind(model, features, people[half:].reset_index(drop=True))


def audit_sex(blind: Blind, legitimate: Sequence[str]) -> ft.AuditResult:
    """Return the audit for sex."""
    return ft.audit(
        blind.people, LABEL, model=blind.model, features=blind.features, sensitive_features="sex",
        similarity=ft.similarity.Counterparts(legitimate=legitimate), delta=0.02, rng=0,
    )  # fmt: skip


def audit_coin(blind: Blind, seed: int) -> ft.AuditResult:
    """Return the audit for a coin toss, at δ = 0."""
    people = blind.people[:TOSSED_PEOPLE]
    toss = np.random.default_rng(100 + seed).integers(0, 2, len(people)).astype(str)
    return ft.audit(
        people.assign(coin=toss), LABEL, model=blind.model, features=blind.features,
        sensitive_features="coin", similarity="counterparts", delta=0.0, rng=seed,
    )  # fmt: skip


def find_impossible(result: ft.AuditResult) -> dict[str, float]:
    """Return the shares of counterparts whose columns contradict each other."""
    people = result.space.frame()[result.space.counts == 0]
    sex, role = people["sex"], people["relationship"]
    is_married = people["marital"].isin(["Married-civ-spouse", "Married-AF-spouse"])
    return {
        "female_husbands": float(((sex == "Female") & (role == "Husband")).mean()),
        "male_wives": float(((sex == "Male") & (role == "Wife")).mean()),
        "unmarried_spouses": float((role.isin(["Husband", "Wife"]) & ~is_married).mean()),
    }


def measure(blind: Blind, legitimate: Sequence[str]) -> dict[str, object]:
    """Return the figures of the audit for sex, and print ten counterparts."""
    start = process_time()
    result = audit_sex(blind, legitimate)
    seconds = process_time() - start
    found = result.summary.counterparts
    for pair in found.pairs:
        sys.stdout.write(f"{pair.profile} → {pair.changes} ({pair.changes_answer})\n")
    return {
        "legitimate": list(legitimate), "verdict": result.verdict, "n": result.n,
        "held_out": found.held_out, "moving": [row.column for row in found.gate if row.moves],
        "statistic": round(result.statistic, 4), "lower_bound": round(result.lower_bound, 4),
        "changed": result.decisions.changed.people,
        "told": [[round(one.accuracy, 3), round(one.lower, 3), round(one.upper, 3)]
                 for one in found.told],
        "cpu_seconds": round(seconds, 1), **find_impossible(result),
    }  # fmt: skip


def main() -> None:
    """Write the figures."""
    blind = train_blind()
    right = blind.model.predict(blind.people[blind.features]) == blind.people[LABEL]
    audits = [measure(blind, legitimate) for legitimate in LEGITIMATE]
    coins = [audit_coin(blind, seed).verdict for seed in range(TOSSES)]
    figures = {"accuracy": round(float(right.mean()), 4), "audits": audits, "coins": coins}
    (DOCS / "adult_counterparts.json").write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
