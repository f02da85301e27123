"""Folders and patterns of files are read as the one file with the same rows."""

import datetime as dt

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from tests.messages import raises

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.data.sample_space import data_sha256
from fairtransport.data.sources import read_table

PEOPLE = pd.DataFrame(
    {
        "race": ["a", "b", None, "a b", "b", "a", "é/x", "b"],
        "member": [True, False, True, True, False, True, False, False],
        "year": [2019, 2020, 2020, 2019, 2021, 2020, 2019, 2021],
        "income": [1.0, 2.0, 3.0, None, 1.0, 2.0, 3.5, 1.0],
        "day": [dt.date(2020, 1, 31), dt.date(2021, 5, 1)] * 4,
        "good": [0, 1, 0, 1, 0, 1, 1, 1],
    }
)


def written(frame, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path)
    elif path.suffix in {".csv", ".tsv"}:
        frame.to_csv(path, index=False, sep="," if path.suffix == ".csv" else "\t")
    else:
        frame.astype({"day": str}).to_json(path, orient="records", lines=True)
    return path


def digest(path):
    return data_sha256(build_space(path, "good", sensitive_features="race", missing="level"))


KINDS = [".parquet", ".csv", ".tsv", ".jsonl"]


@pytest.mark.slow
@pytest.mark.versions
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("many", [1, 40])
def test_a_folder_is_the_one_file_with_the_same_rows(kind, many, tmp_path):
    folder = tmp_path / "cases"
    parts = [PEOPLE.iloc[:2], PEOPLE.iloc[2:3], PEOPLE.iloc[3:]]
    for at, part in enumerate(parts):
        repeated = pd.concat([part] * many)
        written(repeated, folder / f"part-{at}{kind}")
    one = written(pd.concat([PEOPLE] * many), tmp_path / f"one{kind}")

    assert digest(folder) == digest(one)
    assert digest(str(folder)) == digest(one)
    assert digest(folder / f"*{kind}") == digest(one)
    assert digest(folder / f"part-?{kind}") == digest(one)
    assert digest(tmp_path / "**" / f"part*{kind}") == digest(one)
    assert len(read_table(folder, "X")) == len(PEOPLE) * many


def test_files_of_others_are_left_aside(tmp_path):
    folder = tmp_path / "cases"
    written(PEOPLE, folder / "part-0.parquet")
    before = digest(folder)
    for name in ("_SUCCESS", ".part-0.crc", "_temporary/part-9.parquet"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("?")

    assert digest(folder) == before
    assert digest(folder / "*") == before


@pytest.mark.parametrize("kind", [".csv", ".tsv", ".jsonl"])
def test_a_late_decimal_in_another_file_counts_for_the_column(kind, tmp_path):
    written(PEOPLE.assign(year=1), tmp_path / "cases" / f"a{kind}")
    written(PEOPLE.assign(year=1.5), tmp_path / "cases" / f"b{kind}")
    space = build_space(tmp_path / "cases", sensitive_features="race", missing="level")

    assert sorted(set(space.columns["year"].to_list())) == [1, 1.5]


BAD = {
    "empty": ({}, "there is no data file in '.*cases': `X` must be a file, a folder"),
    "aside": ({"_SUCCESS": ""}, "`X` must be .* a folder with files in it"),
    "kinds": (
        {"a.csv": "g\n1\n", "b.tsv": "g\n1\n"},
        "`X` must be files of one type .*, got 'a.csv' and 'b.tsv'",
    ),
    "others": ({"a.csv": "g\n1\n", "notes.md": "?"}, "got 'a.csv' and 'notes.md'"),
    "unknown": ({"notes.md": "?"}, r"`X` must be files of one type \(.csv, .*\), got 'notes.md'"),
    "no bytes": ({"a.csv": "", "b.csv": ""}, "the files of '.*cases' are empty"),
    "fewer": (
        {"a.csv": "g,x\n1,2\n", "b.csv": "g\n1\n"},
        "must have the same columns, but '.*b.csv' lacks 'x', which '.*a.csv' has",
    ),
    "more": (
        {"a.csv": "g,x\n1,2\n", "b.csv": "g,x,z\n1,2,3\n"},
        "must have the same columns, but '.*a.csv' lacks 'z', which '.*b.csv' has",
    ),
    "order": (
        {"a.csv": "g,x\n1,2\n", "b.csv": "x,g\n1,2\n"},
        "columns in the same order, but 'g' stands elsewhere in '.*b.csv' than in '.*a.csv'",
    ),
    "a bad row": (
        {"a.csv": "g,x\n1,2\n", "b.csv": "g,x\n1,2\n1,2,3\n"},
        "line 3 of .*b.csv. has 3 values and line 1 has 2",
    ),
    "other names in JSON": (
        {"a.jsonl": '{"g": 1, "x": 2}\n', "b.jsonl": '{"g": 1}\n'},
        "must have the same columns, but '.*b.jsonl' lacks 'x', which '.*a.jsonl' has",
    ),
    "partitions": (
        {"race=a/a.csv": "g\n1\n"},
        "`X` must be Parquet files where folders name a column, as race=… does, got .csv",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_files_that_are_no_table_are_refused_in_one_sentence(case, tmp_path):
    files, message = BAD[case]
    (tmp_path / "cases").mkdir()
    for name, text in files.items():
        (tmp_path / "cases" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "cases" / name).write_text(text)
    with pytest.raises((ft.InputError, ft.DataError), match=message) as caught:
        build_space(tmp_path / "cases", sensitive_features="g")
    assert "\n" not in str(caught.value)


def test_a_pattern_that_nothing_matches_is_told(tmp_path):
    with raises(ft.InputError, "there is no data file in '", "*.csv': `X` must be"):
        build_space(tmp_path / "*.csv", sensitive_features="g")


OTHER = {
    "type": (PEOPLE.assign(year="x"), "'year' is VARCHAR in '.*b.parquet' and BIGINT in '.*a.par"),
    "fewer": (PEOPLE.drop(columns="year"), "'.*b.parquet' lacks 'year', which '.*a.parquet' has"),
    "more": (PEOPLE.assign(z=1), "'.*a.parquet' lacks 'z', which '.*b.parquet' has"),
}


@pytest.mark.parametrize("case", OTHER)
def test_parquet_files_that_differ_are_told_by_file_and_column(case, tmp_path):
    written(PEOPLE, tmp_path / "a.parquet")
    written(OTHER[case][0], tmp_path / "b.parquet")
    with pytest.raises(ft.DataError, match=OTHER[case][1]):
        build_space(tmp_path, sensitive_features="race")


def test_columns_of_parquet_files_may_stand_in_another_order(tmp_path):
    written(PEOPLE.iloc[:4], tmp_path / "cases" / "a.parquet")
    written(PEOPLE.iloc[4:][PEOPLE.columns[::-1]], tmp_path / "cases" / "b.parquet")

    assert digest(tmp_path / "cases") == digest(written(PEOPLE, tmp_path / "one.parquet"))


@pytest.mark.parametrize("by", [["race"], ["year"], ["day"], ["member"], ["race", "year"]])
@pytest.mark.parametrize("writer", ["pyarrow", "polars"])
def test_folders_of_partitions_tell_columns(by, writer, tmp_path):
    """As pyarrow, Dask and Spark write them, and as polars does, which keeps them in the files."""
    order = list(PEOPLE)
    if writer == "pyarrow":
        order = [name for name in PEOPLE if name not in by] + by
        table = pa.Table.from_pandas(PEOPLE, preserve_index=False)
        split = ds.partitioning(table.select(by).schema, flavor="hive")
        ds.write_dataset(table, tmp_path / "cases", format="parquet", partitioning=split)
    else:
        pl.DataFrame(PEOPLE).write_parquet(tmp_path / "cases", partition_by=by)
    one = written(PEOPLE[order], tmp_path / "one.parquet")

    assert digest(tmp_path / "cases") == digest(one)
    assert digest(tmp_path / "cases" / "**" / "*.parquet") == digest(one)


def test_folder_names_may_stand_for_line_breaks(tmp_path):
    people = PEOPLE.drop(columns="race")
    for name in ("x%0D1", "y", "z%0A%222%22"):
        written(people, tmp_path / f"race={name}" / "a.parquet")
    space = build_space(tmp_path, sensitive_features="race", missing="level")
    assert space.columns["race"].levels.tolist() == ["x\r1", "y", 'z\n"2"']


def test_folders_above_the_given_one_tell_nothing(tmp_path):
    written(PEOPLE, tmp_path / "race=z" / "year=1" / "a.parquet")
    for path in ("race=z/year=1", "race=z/year=1/*.parquet", "race=z/year=1/a.parquet"):
        found = build_space(tmp_path / path, sensitive_features="race", missing="level")
        assert set(found.columns["year"].to_list()) == {2019, 2020, 2021}


def test_folders_that_tell_different_columns_are_refused(tmp_path):
    written(PEOPLE, tmp_path / "site=a" / "a.parquet")
    written(PEOPLE, tmp_path / "b.parquet")
    with pytest.raises(
        ft.InputError, match=r"must name the same columns, .* 'b.parquet' and 'site"
    ):
        build_space(tmp_path, sensitive_features="race")


@pytest.mark.parametrize("first", ["typed", "untyped"])
def test_a_column_in_which_a_file_has_nothing_is_of_the_type_of_the_others(first, tmp_path):
    typed = pa.table({"race": ["a", "b"], "income": [1.5, 2.0], "good": [0, 1]})
    untyped = pa.table({"race": pa.nulls(2), "income": pa.nulls(2), "good": [0, 1]})
    folder = tmp_path / "cases"
    folder.mkdir()
    for at, one in enumerate((typed, untyped) if first == "typed" else (untyped, typed)):
        pq.write_table(one, folder / f"{at}.parquet")
    whole = pa.table({"race": ["a", "b", None, None], "income": [1.5, 2.0, None, None],
                      "good": [0, 1, 0, 1]})  # fmt: skip
    pq.write_table(whole, tmp_path / "whole.parquet")

    assert digest(folder) == digest(tmp_path / "whole.parquet")


@pytest.mark.parametrize("first", ["typed", "untyped"])
def test_truth_values_are_not_read_as_numbers_beside_a_file_that_has_none(first, tmp_path):
    tables = [pa.table({"race": [True], "good": [0]}), pa.table({"race": pa.nulls(1), "good": [0]})]
    for at, one in enumerate(tables if first == "typed" else tables[::-1]):
        pq.write_table(one, tmp_path / f"{at}.parquet")

    with pytest.raises(ft.DataError, match=r"'race' is .* in .* and BOOLEAN in "):
        digest(tmp_path)
