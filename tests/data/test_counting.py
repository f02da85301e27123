"""One group-by: weights, zero counts, missing values, data that cannot be counted."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.libraries import ENGINES

import fairtransport as ft
from fairtransport.data import build_space

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

    with pytest.raises(
        ft.DataError, match=r"counts in 'people' must be whole numbers >= 0, got type"
    ):
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

    with pytest.raises(
        ft.DataError, match=r"'income' must not have missing values, but 5 are missing; fill"
    ):
        build_space(data, sensitive_features="g", counts="people")


@pytest.mark.parametrize("engine", [*ENGINES, "Parquet"])
def test_a_missing_label_is_an_error_also_where_missing_is_a_level(engine, tmp_path):
    data = in_engine(engine, GROUPS | {"good": [1, None, 0, 1]}, tmp_path)

    with pytest.raises(
        ft.DataError, match=r"'good' .* 1 is missing; fill them .* leave these people out$"
    ):
        build_space(data, "good", sensitive_features="g", missing="level")


@pytest.mark.parametrize("engine", ["polars", "polars, lazy", "pyarrow", "DuckDB", "Parquet"])
@pytest.mark.parametrize(
    "values", [[[1], [1], [2], [2]], [{"k": 1}] * 4], ids=["lists", "structures"]
)
def test_a_column_of_nested_values_is_refused_by_name(engine, values, tmp_path):
    data = in_engine(engine, GROUPS | {"nested": values}, tmp_path)

    with pytest.raises(ft.DataError, match="'nested' must hold single values, but its type is"):
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
        ("absent.csv", "there is no file 'absent.csv' for `X`"),
    ],
)
def test_data_of_the_wrong_kind_is_refused(data, message):
    with pytest.raises(ft.InputError, match=message):
        build_space(data, sensitive_features="g")


@pytest.mark.parametrize("place", ["value", "name", "array"])
def test_half_a_character_is_told(place):
    half = pd.Series(["a", "b\ud800"], dtype=object)
    frame = pd.DataFrame({"g": half if place == "value" else [1, 2]})
    if place == "name":
        frame.columns = pd.Index(["g\ud800"], dtype=object)
    label = list(half) if place == "array" else None
    with pytest.raises((ft.InputError, ft.DataError), match="valid Unicode text"):
        build_space(frame, label, sensitive_features=list(frame.columns))


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
    options = {"y": "good", "sensitive_features": "g", "loss": "absolute", "loss_range": (0, 9)}
    options |= {parameter: arrays[parameter]}
    if not {"y_pred", "y_score"} & set(options):
        options["y_pred"] = "x"

    with pytest.raises(
        ft.InputError, match=f"`{parameter}` must be a column's name when .*{reason}"
    ):
        ft.audit(data, **options)
