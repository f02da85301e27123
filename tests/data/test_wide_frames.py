"""Frames of hundreds of columns, counted as narrow ones in time that grows with the columns."""

from time import process_time

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.data.sources import MAX_PANDAS_KEYS
from fairtransport.errors import DataError


def wide_frame(columns, rows=40):
    rng = np.random.default_rng(1)
    few = rng.integers(0, 2, (rows // 4, columns)).repeat(4, axis=0)
    return pd.DataFrame(few, columns=[f"c{at}" for at in range(columns)])


def test_wide_frames_are_counted_as_other_engines_count_them():
    frame = wide_frame(MAX_PANDAS_KEYS + 20).assign(
        group=["a", "b", None, "b"] * 10, x=[0.0, -0.0, np.nan, 2.5] * 10,
        age=list(range(20, 60)), n=[1, 2, 0, 3] * 10,
    )  # fmt: skip
    settings = {"sensitive_features": "group", "missing": "level", "counts": "n",
                "bins": {"age": [30, 45]}}  # fmt: skip
    by_pandas = build_space(frame, **settings)
    by_polars = build_space(pl.from_pandas(frame), **settings)

    assert by_pandas.n == by_polars.n == 60
    assert by_pandas.size < 40
    assert by_pandas.counts.tolist() == by_polars.counts.tolist()
    for name, column in by_pandas.columns.items():
        assert column.to_list() == by_polars.columns[name].to_list(), name


def test_wide_frames_must_hold_single_values_too():
    frame = wide_frame(MAX_PANDAS_KEYS + 20).assign(group=["a", "b"] * 20, x=[[1], {2}] * 20)
    with pytest.raises(DataError, match="must hold single values"):
        build_space(frame, sensitive_features="group")


@pytest.mark.slow
def test_time_grows_with_the_columns_and_not_with_their_square():
    def seconds(columns):
        frame = wide_frame(columns, rows=8).assign(group=["a", "b"] * 4)
        start = process_time()
        ft.audit(frame, [0, 1] * 4, model=lambda points: np.ones(len(points), int),
                 sensitive_features="group", rng=0)  # fmt: skip
        return process_time() - start

    seconds(50)
    # 4 if linear
    assert seconds(4000) / seconds(1000) < 8
