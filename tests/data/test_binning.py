"""Explicit bins: their names, their edges, and that every engine bins alike."""

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.libraries import ENGINES
from tests.messages import raises

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.data.columns import bin_expression, bin_names, bin_sql, bin_values

AGES = {"g": ["a"] * 6, "age": [24.9, 25.0, 44.0, 45.0, None, float("nan")]}


def binned(data, edges=(25, 45)):
    space = build_space(data, sensitive_features="g", bins={"age": edges}, missing="level")
    return dict(zip(space.columns["age"].to_list(), space.counts.tolist(), strict=True)), space


@pytest.mark.parametrize("engine", ENGINES)
def test_a_bin_contains_its_lower_edge_and_missing_stays_missing(engine):
    counts, _ = binned(ENGINES[engine](AGES))

    assert counts == {"< 25": 1, "25 to < 45": 2, ">= 45": 1, None: 2}


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_files_are_binned_alike(suffix, tmp_path):
    frame, path = pl.DataFrame(AGES | {"age": [24.9, 25, 44, 45, None, None]}), tmp_path / "r"
    path = path.with_suffix(f".{suffix}")
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}[suffix](
        path
    )
    counts, _ = binned(path)

    assert counts == {"< 25": 1, "25 to < 45": 2, ">= 45": 1, None: 2}


EDGES = st.lists(st.integers(-5, 5), min_size=1, max_size=4, unique=True).map(sorted)
NUMBERS = st.one_of(st.none(), st.integers(-6, 6), st.floats(-6, 6))


@given(st.lists(NUMBERS, min_size=1, max_size=20), EDGES)
def test_frames_sql_and_records_are_cut_by_one_rule(values, edges):
    """Also where a value is missing, or just beside an edge."""
    floats = [None if value is None else float(value) for value in values]
    frame = nw.from_native(pl.DataFrame({"age": pl.Series(floats, dtype=pl.Float64)}))
    cut = bin_expression(nw.col("age"), edges, may_be_nan=True).alias("bin")
    by_frame = frame.select(cut)["bin"].to_list()
    rows = duckdb.from_arrow(pa.table({"age": pa.array(floats, pa.float64())}))
    by_sql = [one for (one,) in rows.project(bin_sql("age", edges)).fetchall()]

    assert bin_values("age", values, edges) == by_frame == by_sql


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=20), EDGES)
def test_bins_are_those_of_numpy(values, edges):
    frame = pd.DataFrame({"g": "a", "age": values})
    counts, _ = binned(frame, edges)
    names = np.array(bin_names(edges))[np.digitize(values, edges)]

    assert counts == pd.Series(names).value_counts().to_dict()


def test_edges_are_recorded_and_bins_are_sorted_by_edge_not_by_name():
    _, space = binned(pd.DataFrame(AGES))

    assert space.bins == {"age": (25.0, 45.0)}
    assert space.columns["age"].levels.tolist() == ["< 25", "25 to < 45", ">= 45"]
    assert space.columns["age"].to_list() == ["< 25", "25 to < 45", ">= 45", None]


def test_bins_keep_their_order_when_a_reference_frame_is_added():
    frame = pd.DataFrame({"g": ["a", "b"], "age": [20, 30]})
    space = build_space(
        frame, sensitive_features="g", bins={"age": [25, 45]}, targets=frame.assign(age=50)
    )

    assert space.columns["age"].levels.tolist() == ["< 25", "25 to < 45", ">= 45"]


def test_every_bin_of_a_sensitive_column_is_a_twin_also_unseen_ones():
    frame = pd.DataFrame({"age": [20, 30], "x": [1, 1]})
    space = build_space(frame, sensitive_features="age", bins={"age": [25, 45]}, twins=True)

    assert space.columns["age"].to_list() == ["< 25", "25 to < 45", ">= 45"]
    assert space.counts.tolist() == [1, 1, 0]


def test_edges_that_differ_late_have_different_names():
    assert bin_names([1234567, 1234568.5]) == [
        "< 1234567", "1234567 to < 1234568.5", ">= 1234568.5",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ([25, 45], r"`bins` must map columns to edges, as in .* got \[25, 45\]"),
        ({"height": [1]}, "`bins` must name audited columns .*, got 'height'"),
        ({"age": []}, r"`bins\['age'\]` must be one or more numbers, .* got none"),
        ({"age": [45, 25]}, r"`bins\['age'\]` must be one or more numbers, .* got 45, 25"),
        ({"age": [25, 25]}, r"`bins\['age'\]` must be one or more numbers"),
        ({"age": [25, np.nan]}, r"`bins\['age'\]` must be finite, got nan at \[1\]"),
        ({"age": "old"}, r"`bins\['age'\]` must be numeric, got 'old'"),
        ({"age": 25}, r"`bins\['age'\]` must have shape"),
    ],
)
def test_bins_that_cannot_be_used_are_refused(bins, message):
    with pytest.raises(ft.InputError, match=message):
        build_space(pd.DataFrame(AGES), sensitive_features="g", bins=bins, missing="level")


@pytest.mark.parametrize("suffix", [None, "csv"])
def test_only_numbers_have_bins(suffix, tmp_path):
    data = pd.DataFrame({"g": ["a", "b"]})
    if suffix:
        data.to_csv(tmp_path / "rows.csv", index=False)
        data = tmp_path / "rows.csv"

    with raises(ft.DataError, "`bins['g']` needs a column of numbers, but the type of 'g' is"):
        build_space(data, sensitive_features="g", bins={"g": [1]})
