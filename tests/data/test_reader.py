"""One reader: what a table holds does not depend on who reads it."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fairtransport as ft
from fairtransport.data.sources import as_source, encode_columns, read_table
from fairtransport.monitor.growing_file import GrowingFile

RNG = np.random.default_rng(3)
PEOPLE = pd.DataFrame(
    {
        "member": RNG.random(80) < 0.5,
        "age": RNG.integers(18, 60, 80),
        "sex": RNG.choice(["f", "m"], 80),
        "day": RNG.choice([dt.date(2020, 1, 31), dt.date(2021, 5, 1)], 80),
        "good": RNG.integers(0, 2, 80),
    }
)
PROFILE = ["member", "age", "sex", "day"]
PEOPLE["guess"] = PEOPLE["good"].where(PEOPLE["sex"] == "f", 1 - PEOPLE["good"])


def kept(path, frame=PEOPLE):
    """Write a frame to a file of the kind that its name says."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path)
    elif path.suffix == ".jsonl":
        frame.astype({"day": str} if "day" in frame else {}).to_json(
            path, orient="records", lines=True
        )
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_counts_rows_and_records_have_the_same_values(tmp_path, ending):
    path = kept(tmp_path / f"cases.{ending}")
    names = list(PEOPLE)
    counted = as_source(path).count(names, {}, None).columns
    listed = encode_columns(read_table(path, "X"), names, "X")

    for name in names:
        levels = counted[name].levels.tolist()
        assert listed[name].levels.tolist() == levels
        assert listed[name].levels.dtype.kind == counted[name].levels.dtype.kind
    assert listed["member"].to_list() == PEOPLE["member"].tolist()
    assert listed["age"].to_list() == PEOPLE["age"].tolist()


def test_a_growing_file_has_them_too(tmp_path):
    path = kept(tmp_path / "cases.csv", PEOPLE.drop(columns="day"))
    (records, _), *_ = GrowingFile(path).pieces()

    assert records == read_table(path, "X").to_native().to_dict("records")


def subspace(path):
    path = kept(path, PEOPLE.iloc[::-1])
    return ft.similarity.SensitiveSubspace(["sex"], ["member", "age", "day"]).fit(path)


def groups(path):
    return ft.similarity.ComparableGroups(features=PROFILE).fit(kept(path), "good")


def pairs(path):
    first = PEOPLE[PROFILE].add_suffix("_1")
    second = PEOPLE[PROFILE].sample(frac=1, random_state=0, ignore_index=True).add_suffix("_2")
    judged = pd.concat([first, second], axis=1)
    alike = (judged["sex_1"] == judged["sex_2"]) | (judged["age_1"] == judged["age_2"])
    path = kept(path, judged.assign(comparable=alike.astype(int)))
    return ft.similarity.ComparablePairs(features=PROFILE).fit_file(path, comparable="comparable")


def precomputed(path):
    points = PEOPLE[PROFILE].drop_duplicates()
    return ft.similarity.Precomputed(1 - np.eye(len(points)), kept(path, points))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("fitted", [subspace, groups, pairs, precomputed])
def test_a_similarity_that_was_fitted_on_a_file_fits_the_audit_of_one(tmp_path, fitted, ending):
    """Truth values, numbers, text and dates in the one are those in the other."""
    data = kept(tmp_path / f"cases.{ending}")
    result = ft.audit(
        data, "good", y_pred="guess", sensitive_features="sex", features=PROFILE,
        similarity=fitted(tmp_path / f"other.{ending}"), budget=0.1, rng=0,
    )  # fmt: skip

    assert result.n == 80
    assert result.statistic > 0


def test_columns_that_nobody_looks_at_may_hold_anything(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": [1, 2], "tags": [["a"], []], "y": [True, None]}), path)
    table = read_table(path, "X")

    assert table.columns == ["x", "tags", "y"]
    assert encode_columns(table, ["x", "y"], "X")["y"].to_list() == [True, None]
    with pytest.raises(ft.DataError, match="the column 'tags' must hold single values"):
        encode_columns(table, ["tags"], "X")
