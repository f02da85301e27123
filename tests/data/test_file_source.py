"""Files of rows: which file is meant, how it is read, what is said where that fails."""

import os
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.data.database import quote_text
from fairtransport.data.files import FileSource
from fairtransport.data.sources import read_table
from fairtransport.data.text_files import READ_CSV


def table(space):
    values = zip(*(column.to_list() for column in space.columns.values()), strict=True)
    return dict(zip(values, space.counts.tolist(), strict=True))


@pytest.mark.parametrize("name", ["rows.parquet", "rows.jsonl"])
def test_a_file_that_is_not_what_its_name_says_is_an_error(name, tmp_path):
    (tmp_path / name).write_text("this is neither\n")

    with pytest.raises(ft.DataError, match=f"the file '{name}' could not be read: "):
        build_space(tmp_path / name, sensitive_features="g")


ODD = [
    "data[1].csv", "data[!a].csv", "data*.csv", "data?.csv", "**.csv", "[a-z]].csv", "a{1,2}.csv",
    "back\\slash.csv", "quo'te.csv", "race=a/rows.csv", "d[1]/rows.csv", "~/rows.csv",
    "file:/rows.csv", "s3:/b/rows.csv", " .csv", "%41.csv", "é\n.csv",
]  # fmt: skip


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
def test_signs_of_a_pattern_in_a_name_are_part_of_it(name, ending, tmp_path, monkeypatch):
    decoys = ["data1.csv", "dataa.csv", "a1.csv", "A.csv", "d1/rows.csv", "rows.csv"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    path = Path(name).with_suffix(ending)
    for where, value in [*((decoy, 7) for decoy in decoys), (name, 1)]:
        # the whole path, as pandas too takes some names for more than that
        one = tmp_path / Path(where).with_suffix(ending)
        one.parent.mkdir(parents=True, exist_ok=True)
        frame = pd.DataFrame({"g": [value], "x": [2]})
        if ending == ".csv":
            frame.to_csv(one, index=False)
        elif ending == ".parquet":
            frame.to_parquet(one)
        else:
            frame.to_json(one, orient="records", lines=True)

    assert table(build_space(path, sensitive_features="g")) == {(1, 2): 1}
    assert read_table(path, "points").rows() == [(1, 2)]


def test_brackets_are_no_pattern(tmp_path):
    (tmp_path / "data1.csv").write_text("g\n1\n")
    with pytest.raises(ft.InputError, match="there is no file "):
        build_space(tmp_path / "data[1].csv", sensitive_features="g")


def test_a_name_that_is_no_text_is_told(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv"))
    path.write_text("g\n1\n")
    with pytest.raises(ft.InputError, match="`X` must have a path of UTF-8 text, got "):
        build_space(path, sensitive_features="g")


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"g\na\n\xff\n", "not utf-8"), (b"g\na\n" + b"x" * 3_000_000, "line size of 2000000")],
)
def test_what_is_wrong_with_a_line_is_said_without_the_line(content, reason, tmp_path):
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(ft.DataError, match=reason) as caught:
        build_space(tmp_path / "rows.csv", sensitive_features="g")
    assert len(str(caught.value)) < 300


def test_the_first_line_of_a_csv_file_is_its_header_also_when_it_looks_like_data(tmp_path):
    (tmp_path / "rows.csv").write_text("2019,2020\n1,2\n3,4\n")
    space = build_space(tmp_path / "rows.csv", sensitive_features="2019")

    assert table(space) == {(1, 2): 1, (3, 4): 1}


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["yes", "no"], ["yes", "no"]),
        (["F", "F"], ["F", "F"]),
        (["T", "F"], ["T", "F"]),
        (["True", "true"], ["True", "true"]),
        (["true", "false"], [True, False]),
        (["True", "False"], [True, False]),
        (["TRUE", ""], [True, None]),
        (["007", "8"], ["007", "8"]),
        (["1", "2"], [1, 2]),
        (["1.5", "2"], [1.5, 2]),
        (["1.5", ""], [1.5, None]),
    ],
)
def test_only_numbers_and_truth_values_in_a_text_file_are_more_than_words(words, values, tmp_path):
    lines = ["g,h", *(f"{word},{at}" for at, word in enumerate(words))]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    space = build_space(
        tmp_path / "rows.csv", sensitive_features="g", features=["h"], missing="level"
    )

    assert space.columns["g"].to_list() == values


def test_names_are_quoted_in_sql(tmp_path):
    columns = {'odd "name"; --': ["a", "b"], "x y": [1, 2]}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    space = build_space(
        tmp_path / "rows.parquet", sensitive_features='odd "name"; --', bins={"x y": [2]}
    )

    assert table(space) == {("a", "< 2"): 1, ("b", ">= 2"): 1}


LATE = [
    "1.5", "1e3", "1.0", " 7", "100000000000000000000", "+3", "007", "abc", "0x10", "", '"8"',
    '"y,z"', '"x\\"y"', "o'neil", "#2", "25/12/2020", "yes",
]  # fmt: skip


@pytest.mark.parametrize("late", LATE)
def test_a_value_after_any_sample_counts_for_what_a_text_file_looks_like(late, tmp_path):
    """Read as DuckDB reads a file that it looks through to the end each time."""
    import duckdb

    path = tmp_path / "rows.csv"
    early = "02/01/2020" if "/" in late else "1"
    path.write_text("a'b,c\n" + f"{early},x\n" * 25_000 + f"{late},y\n")
    source = FileSource(path)
    with duckdb.connect() as connection:
        query = f"FROM {READ_CSV.format(quote_text(str(path)))}"
        described = connection.execute(f"DESCRIBE {query}").fetchall()
        expected = connection.execute(f"SELECT DISTINCT * {query}").fetchnumpy()

    assert "auto_detect = false" in source.relation.rows
    assert list(source.schema.items()) == [row[:2] for row in described]
    counted = source.count(["a'b", "c"], {}, None)
    assert sorted(counted.counts.tolist()) == [1, 25_000]
    found = source.fetch(f"SELECT DISTINCT * FROM {source.relation.rows}")  # noqa: S608
    for name, values in expected.items():
        assert sorted(map(str, values.tolist())) == sorted(map(str, found[name].tolist()))


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json"])
def test_a_late_value_and_a_late_column_of_a_json_file_are_read(name, tmp_path):
    lines = ['{"g": "a", "x": 1}'] * 25_000 + ['{"g": "b", "x": 1.5, "z": "late"}']
    text = "\n".join(lines) if name == "rows.jsonl" else f"[{', '.join(lines)}]"
    (tmp_path / name).write_text(text)
    space = build_space(tmp_path / name, sensitive_features="g", missing="level")

    assert table(space) == {("a", 1, None): 25_000, ("b", 1.5, "late"): 1}
