"""One group-by: weights, zero counts, missing values, files that cannot be read."""

import os
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairtransport as ft
from fairtransport.space import build_space
from fairtransport.space.reader import read_table

ENGINES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "DuckDB": lambda columns: duckdb.from_arrow(pa.table(columns)),
}
GROUPS = {"g": ["a", "b", "a", "b"], "x": [1, 1, 2, 2]}


def in_engine(engine, columns, folder):
    """Return the columns as a frame, or as a Parquet file in a folder."""
    if engine != "Parquet":
        return ENGINES[engine](columns)
    pq.write_table(pa.table(columns), folder / "rows.parquet")
    return folder / "rows.parquet"


def table(space):
    values = zip(*(column.to_list() for column in space.columns.values()), strict=True)
    return dict(zip(values, space.counts.tolist(), strict=True))


rows = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from([1, 2, None]), st.integers(0, 3)),
    min_size=1,
    max_size=12,
).filter(lambda rows: any(count for *_, count in rows))


@given(rows)
def test_frequency_weights_are_the_same_as_repeated_rows(rows):
    names = ["g", "x", "people"]
    weighted = pl.DataFrame(rows, schema=names, orient="row")
    repeated = pl.DataFrame(
        [row[:2] for row in rows for _ in range(row[2])], schema=names[:2], orient="row"
    )
    options = {"sensitive_features": "g", "missing": "level", "twins": True}

    one = build_space(weighted, counts="people", **options)
    other = build_space(repeated, **options)

    assert table(one) == table(other)
    assert one.n == sum(count for *_, count in rows)


@pytest.mark.parametrize("engine", [*ENGINES, "Parquet"])
def test_a_row_that_stands_for_nobody_is_no_row(engine, tmp_path):
    data = in_engine(engine, GROUPS | {"people": [0, 2, 0, 3]}, tmp_path)
    space = build_space(data, sensitive_features="g", counts="people")

    assert table(space) == {("b", 1): 2, ("b", 2): 3}


@pytest.mark.parametrize("engine", [*ENGINES, "Parquet"])
@pytest.mark.parametrize(
    "weights",
    [[1, -1, 1, 1], [0.5, 1.0, 1.0, 1.0], [1.0, float("nan"), 1.0, 1.0], [1, None, 1, 1],
     [1.0, float("inf"), 1.0, 1.0], [1.0, 1e300, 1.0, 1.0]],
    ids=["negative", "fractional", "NaN", "null", "infinite", "too large to add up"],
)  # fmt: skip
def test_counts_that_are_no_whole_numbers_are_refused(engine, weights, tmp_path):
    data = in_engine(engine, GROUPS | {"people": weights}, tmp_path)

    with pytest.raises(ft.DataError, match=r"counts in 'people' must be whole .* 1 rows break"):
        build_space(data, sensitive_features="g", counts="people")


@pytest.mark.parametrize("engine", [*ENGINES, "Parquet"])
@pytest.mark.parametrize("weights", [["1", "2", "3", "4"], [True] * 4], ids=["text", "bool"])
def test_counts_must_be_numbers(engine, weights, tmp_path):
    data = in_engine(engine, GROUPS | {"people": weights}, tmp_path)

    with pytest.raises(ft.DataError, match=r"counts in 'people' must be whole numbers >= 0, but"):
        build_space(data, sensitive_features="g", counts="people")


@pytest.mark.parametrize("engine", [*ENGINES, "Parquet"])
def test_data_without_people_is_refused(engine, tmp_path):
    data = in_engine(engine, GROUPS | {"people": [0] * 4}, tmp_path)

    with pytest.raises(ft.DataError, match="at least one row, got none"):
        build_space(data, sensitive_features="g", counts="people")


@pytest.mark.parametrize("engine", [*ENGINES, "Parquet"])
def test_nan_and_null_are_one_missing_level(engine, tmp_path):
    columns = {"g": ["a"] * 4, "x": [None, float("nan"), 1.0, None]}
    space = build_space(
        in_engine(engine, columns, tmp_path), sensitive_features="g", missing="level"
    )

    assert table(space) == {("a", 1.0): 1, ("a", None): 3}


@pytest.mark.parametrize("engine", [*ENGINES, "Parquet"])
def test_missing_values_are_an_error_that_names_the_column_and_the_people(engine, tmp_path):
    columns = GROUPS | {"income": [1.0, None, None, 2.0], "people": [1, 2, 3, 4]}
    data = in_engine(engine, columns, tmp_path)

    with pytest.raises(ft.DataError, match=r"'income' must not have missing values, got 5; miss"):
        build_space(data, sensitive_features="g", counts="people")


@pytest.mark.parametrize("engine", [*ENGINES, "Parquet"])
def test_a_missing_label_is_an_error_also_where_missing_is_a_level(engine, tmp_path):
    data = in_engine(engine, GROUPS | {"good": [1, None, 0, 1]}, tmp_path)

    with pytest.raises(ft.DataError, match=r"'good' must not have missing values, got 1$"):
        build_space(data, "good", sensitive_features="g", missing="level")


@pytest.mark.parametrize("engine", ["polars", "polars, lazy", "pyarrow", "DuckDB", "Parquet"])
@pytest.mark.parametrize(
    "values", [[[1], [1], [2], [2]], [{"k": 1}] * 4], ids=["lists", "structures"]
)
def test_a_column_of_nested_values_is_refused_by_name(engine, values, tmp_path):
    data = in_engine(engine, GROUPS | {"nested": values}, tmp_path)

    with pytest.raises(ft.DataError, match="'nested' must hold single values, but it is"):
        build_space(data, sensitive_features="g")


def test_pandas_objects_that_cannot_be_grouped_are_refused():
    data = pd.DataFrame(GROUPS | {"nested": [[1], [1], [2], [2]]})

    with pytest.raises(ft.DataError, match="g, x, nested must hold single values: unhashable"):
        build_space(data, sensitive_features="g")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.ones((2, 2)), "`X` must be a data frame or a path to a file, got array"),
        (pd.Series([1]), "`X` must be a data frame or a path"),
        (3, "`X` must be a data frame or a path to a file, got 3"),
        (pd.DataFrame([[1, 2]], columns=["g", "g"]), "`X` must have distinct column names.*'g'"),
        (pd.DataFrame([[1, 2]]), "`X` must have text as column names, got 0"),
        ("rows.xlsx", r"`X` must be a file of type .csv, .* got 'rows.xlsx'"),
        ("absent.csv", "`X` must be an existing file, got 'absent.csv'"),
    ],
)
def test_data_of_the_wrong_kind_is_refused(data, message):
    with pytest.raises(ft.InputError, match=message):
        build_space(data, sensitive_features="g")


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


def test_a_pattern_is_no_file(tmp_path):
    (tmp_path / "data1.csv").write_text("g\n1\n")
    for name in ("data*.csv", "data?.csv", "data[1].csv"):
        with pytest.raises(ft.InputError, match="`X` must be an existing file, got "):
            build_space(tmp_path / name, sensitive_features="g")


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


@pytest.mark.parametrize("place", ["value", "name", "array"])
def test_half_a_character_is_told(place):
    half = pd.Series(["a", "b\ud800"], dtype=object)
    frame = pd.DataFrame({"g": half if place == "value" else [1, 2]})
    if place == "name":
        frame.columns = pd.Index(["g\ud800"], dtype=object)
    label = list(half) if place == "array" else None
    with pytest.raises((ft.InputError, ft.DataError), match="whole characters"):
        build_space(frame, label, sensitive_features=list(frame.columns))


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


@pytest.mark.parametrize(
    ("engine", "reason"), [("polars, lazy", "the data frame is lazy"), ("Parquet", "a file")]
)
@pytest.mark.parametrize("parameter", ["y", "y_pred", "y_score", "sensitive_features"])
def test_rows_that_are_not_in_memory_take_no_arrays(engine, reason, parameter, tmp_path):
    data = in_engine(engine, GROUPS | {"good": [0, 1, 0, 1]}, tmp_path)
    arrays = {
        "y": np.array([0, 1, 0, 1]),
        "y_pred": np.array([0, 1, 0, 1]),
        "y_score": np.array([0.0, 1.0, 0.0, 1.0]),
        "sensitive_features": pd.DataFrame({"h": [0, 1, 0, 1]}),
    }
    options = {"y": "good", "sensitive_features": "g", "loss": "absolute"}
    options |= {parameter: arrays[parameter]}
    if not {"y_pred", "y_score"} & set(options):
        options["y_pred"] = "x"

    with pytest.raises(
        ft.InputError, match=f"`{parameter}` must be a column's name when .*{reason}"
    ):
        ft.audit(data, **options)
